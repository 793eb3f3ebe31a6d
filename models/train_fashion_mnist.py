"""Trains the two small Fashion-MNIST classifiers of this folder and exports them to ONNX, BatchNormalization unfolded.

    /usr/bin/python3 models/train_fashion_mnist.py mobilenet|resnet OUT.onnx

Needs Debian's python3-torch and dataset-fashion-mnist; about 20 minutes of one core for each model. Input `input`
[N, 1, 28, 28], pixels scaled by (x / 255 - 0.5) / 0.5; output `logits` [N, 10]. Only the 60,000 training images are
trained on; the 10,000 test images are looked at once, at the end.

Most epochs see images of half the size (14 x 14, a quarter of the work): both networks end in a global average, so they
take any size. The last epochs see the full size and let weights and BatchNorm statistics settle there.
"""

import argparse
import gzip
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

DATASET = Path("/usr/share/datasets/fashion-mnist")
BATCH = 128


def read_idx(path: Path) -> torch.Tensor:
    """Reads a gzip-compressed IDX file of bytes: magic (0, 0, 8, rank), big-endian sizes, values."""
    raw = gzip.decompress(path.read_bytes())
    rank = raw[3]
    shape = np.frombuffer(raw, dtype=">u4", count=rank, offset=4).astype(int)
    return torch.from_numpy(np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * rank).reshape(shape).copy())


def load(split: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled images [count, 1, 28, 28] and labels [count] of the split `train` or `t10k`."""
    images = read_idx(DATASET / f"{split}-images-idx3-ubyte.gz")[:, None].float()
    return (images / 255 - 0.5) / 0.5, read_idx(DATASET / f"{split}-labels-idx1-ubyte.gz").long()


def conv_bn(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution without bias, then BatchNorm."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class InvertedResidual(nn.Module):
    """MobileNetV2's block: expand 1x1, depthwise 3x3, project 1x1, and a skip where the shapes allow it."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        self.skips = stride == 1 and inputs == outputs
        self.expand = conv_bn(inputs, hidden, 1)
        self.depthwise = conv_bn(hidden, hidden, 3, stride, groups=hidden)
        self.project = conv_bn(hidden, outputs, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu6(self.expand(x))
        y = functional.relu6(self.depthwise(y))
        y = self.project(y)
        return x + y if self.skips else y


class BasicBlock(nn.Module):
    """ResNet's basic block: two 3x3 convolutions; a 1x1 convolution on the skip where the shapes change."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = conv_bn(inputs, outputs, 3, stride)
        self.second = conv_bn(outputs, outputs, 3)
        self.skip = conv_bn(inputs, outputs, 1, stride) if stride != 1 or inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.first(x))
        return functional.relu(self.second(y) + self.skip(x))


class MobileNetLike(nn.Module):
    """Inverted residuals with Relu6: 7 depthwise convolutions; little expansion at full size, where it costs most."""

    # (output channels, stride, expansion, repeats) of each stage
    STAGES = ((32, 1, 1, 1), (48, 2, 2, 1), (64, 1, 6, 3), (80, 2, 4, 2))
    STEM, HEAD = 24, 288

    def __init__(self) -> None:
        super().__init__()
        self.stem = conv_bn(1, self.STEM, 3)
        blocks, channels = [], self.STEM
        for outputs, stride, expansion, repeats in self.STAGES:
            for index in range(repeats):
                blocks.append(InvertedResidual(channels, outputs, stride if index == 0 else 1, expansion))
                channels = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = conv_bn(channels, self.HEAD, 1)
        self.classifier = nn.Linear(self.HEAD, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu6(self.stem(x))
        x = functional.relu6(self.head(self.blocks(x)))
        return self.classifier(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class ResNetLike(nn.Module):
    """Basic blocks with Relu, two at each of three resolutions; the first stage works at full size."""

    # (output channels, stride, repeats) of each stage
    STAGES = ((24, 1, 2), (56, 2, 2), (96, 2, 2))
    STEM = 24

    def __init__(self) -> None:
        super().__init__()
        self.stem = conv_bn(1, self.STEM, 3)
        blocks, channels = [], self.STEM
        for outputs, stride, repeats in self.STAGES:
            for index in range(repeats):
                blocks.append(BasicBlock(channels, outputs, stride if index == 0 else 1))
                channels = outputs
        self.blocks = nn.Sequential(*blocks)
        self.classifier = nn.Linear(channels, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(functional.relu(self.stem(x)))
        return self.classifier(functional.adaptive_avg_pool2d(x, 1).flatten(1))


MODELS = {"mobilenet": MobileNetLike, "resnet": ResNetLike}


def augment(images: torch.Tensor) -> torch.Tensor:
    """Mirrors half of the images and shifts the whole batch by up to one pixel each way."""
    images = torch.where((torch.rand(len(images)) < 0.5)[:, None, None, None], images.flip(3), images)
    down, right = (int(torch.randint(0, 3, ())) for _ in range(2))
    padded = functional.pad(images, (1, 1, 1, 1), value=-1.0)
    return padded[:, :, down : down + 28, right : right + 28]


def train(model: nn.Module, small_epochs: int, full_epochs: int, peak: float) -> None:
    """SGD with Nesterov momentum on a one-cycle schedule, label smoothing 0.05; starts at half the size."""
    images, labels = load("train")
    epochs, steps = small_epochs + full_epochs, len(images) // BATCH
    optimizer = torch.optim.SGD(model.parameters(), lr=peak, momentum=0.9, nesterov=True, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=peak, total_steps=epochs * steps, pct_start=0.25)
    model.to(memory_format=torch.channels_last).train()
    start = time.monotonic()
    for epoch in range(epochs):
        order, total = torch.randperm(len(images)), 0.0
        for step in range(steps):
            chosen = order[step * BATCH : (step + 1) * BATCH]
            batch = augment(images[chosen])
            if epoch < small_epochs:
                batch = functional.avg_pool2d(batch, 2)
            scores = model(batch.contiguous(memory_format=torch.channels_last))
            loss = functional.cross_entropy(scores, labels[chosen], label_smoothing=0.05)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
            if step % 100 == 99:
                spent, mean = time.monotonic() - start, total / (step + 1)
                print(f"epoch {epoch + 1}/{epochs}, step {step + 1}: loss {mean:.4f}, {spent:.0f} s", flush=True)


@torch.no_grad()
def accuracy(model: nn.Module) -> float:
    """Share of the 10,000 test images that are classified correctly."""
    images, labels = load("t10k")
    model.eval()
    guesses = torch.cat([model(part).argmax(1) for part in images.split(500)])
    return (guesses == labels).float().mean().item()


def export(model: nn.Module, path: Path) -> None:
    """Writes the model with a symbolic batch and every BatchNormalization still a node of its own."""
    torch.onnx.export(
        model.eval().to(memory_format=torch.contiguous_format),
        torch.zeros(1, 1, 28, 28),
        str(path),
        opset_version=13,
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
        input_names=["input"],
        output_names=["logits"],
        dynamic_axes={"input": {0: "N"}, "logits": {0: "N"}},
    )


def main() -> None:
    """Trains, exports, prints the test accuracy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("output", type=Path)
    parser.add_argument("--small-epochs", type=int, default=4, help="epochs at half the size")
    parser.add_argument("--full-epochs", type=int, default=1, help="epochs at full size, after them")
    parser.add_argument("--peak", type=float, default=0.2, help="highest learning rate")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", type=Path, metavar="WEIGHTS", help="start from weights that --save wrote")
    parser.add_argument("--save", type=Path, metavar="WEIGHTS", help="keep the weights in PyTorch's form as well")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    model = MODELS[arguments.model]()
    if arguments.resume:
        model.load_state_dict(torch.load(arguments.resume))
    train(model, arguments.small_epochs, arguments.full_epochs, arguments.peak)
    if arguments.save:
        torch.save(model.state_dict(), arguments.save)
    print(f"{arguments.model}: test accuracy {accuracy(model):.4f}")
    export(model, arguments.output)


if __name__ == "__main__":
    main()
