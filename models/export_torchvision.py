"""Exports torchvision architectures to ONNX with BatchNormalization left unfolded.

    /usr/bin/python3 export_torchvision.py OUTDIR [NAME...]

Needs Debian's python3-torch and python3-torchvision. Weights are seeded at random and BatchNorm is made non-trivial,
then its statistics are set from a pass over 1/f-noise images, so that activations keep a natural scale and the output
depends on the image. There is no accuracy to measure on such a model: judge it by deviation (RMS, SQNR) from the
original, never by its argmax. Writes NAME.onnx (batch 1) and NAME_dyn.onnx (symbolic batch), opset 13.
"""

import sys
from pathlib import Path

import torch
import torchvision

NAMES = [
    "resnet18",
    "resnet50",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "vgg11_bn",
    "squeezenet1_1",
    "efficientnet_b0",
    "shufflenet_v2_x1_0",
    "densenet121",
    "vit_b_16",
]


def noise_images(count: int) -> torch.Tensor:
    """Images [count, 3, 224, 224] with a 1/f spectrum, mean 0, deviation about 1: photographs have such a spectrum."""
    row = torch.fft.fftfreq(224)
    frequency = torch.sqrt(row[:, None] ** 2 + row[None, :] ** 2).clamp(min=1 / 224)
    spectrum = torch.fft.fft2(torch.randn(count, 3, 224, 224)) / frequency
    image = torch.fft.ifft2(spectrum).real
    return (image - image.mean((2, 3), keepdim=True)) / image.std((2, 3), keepdim=True)


def build(name: str) -> torch.nn.Module:
    """The architecture of this name with seeded weights and settled BatchNorm statistics."""
    torch.manual_seed(0)
    model = getattr(torchvision.models, name)(weights=None)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.weight.data.uniform_(0.5, 1.5)
            module.bias.data.normal_(0, 0.1)
            module.momentum = None  # running statistics = plain average
            module.reset_running_stats()
        if isinstance(module, (torch.nn.Dropout, torchvision.ops.StochasticDepth)):
            module.p = 0.0
    model.train()
    with torch.no_grad():
        model(noise_images(16))
    return model.eval()


def export(model: torch.nn.Module, path: Path, dynamic_batch: bool) -> None:
    """Writes one ONNX file."""
    axes = {"x": {0: "N"}, "y": {0: "N"}} if dynamic_batch else {}
    torch.onnx.export(
        model,
        torch.randn(1, 3, 224, 224),
        str(path),
        opset_version=13,
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
        input_names=["x"],
        output_names=["y"],
        dynamic_axes=axes,
    )


def main() -> None:
    """Exports what the command line names."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or NAMES:
        model = build(name)
        export(model, out / f"{name}.onnx", dynamic_batch=False)
        export(model, out / f"{name}_dyn.onnx", dynamic_batch=True)
        print(name, (out / f"{name}.onnx").stat().st_size // 1000, "kB", flush=True)


if __name__ == "__main__":
    main()
