"""Makes the labelled data that the demo, the tests and the benchmarks run on: one .npz for `rlc --data`.

    .venv/bin/python scripts/make_data.py text-lines -o build/data/text_lines.npz
    .venv/bin/python scripts/make_data.py pages -o build/data/pages.npz
    .venv/bin/python scripts/make_data.py fashion-mnist -o build/data/fashion_mnist.npz
    .venv/bin/python scripts/make_data.py natural -o build/data/natural.npz

    text-lines     one rendered line each, upright (label 0) or turned by 180 degrees (1): for ppocr_cls
    pages          one rendered page each, turned clockwise by 0, 90, 180 or 270 degrees (0 to 3): for orientation
    fashion-mnist  the 10,000 test images of Debian's dataset-fashion-mnist: for models/fashion_*.onnx
    natural        crops of six photographs, no labels (fetch_models.py photos): for efficientnet_lite0

Lines and pages alternate between clean (even indices) and hard (odd: low contrast, blur, noise), because clean ones
hide what a smaller model lost. Neighbours are independent of each other, so that any split of the file is fair. The
same seed gives the same arrays on one machine; fonts may differ between distributions. `--verify MODEL` prints the
accuracy that the model has on what was made.
"""

import argparse
import gzip
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import text_images
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PHOTOS = ROOT / ".deps" / "models" / "photos"
FASHION_MNIST = Path("/usr/share/datasets/fashion-mnist")
LINE_SHAPE = (3, 48, 192)
IMAGENET_MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)[:, None, None]
IMAGENET_DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)[:, None, None]

Arrays = dict[str, np.ndarray]


def to_planes(image: Image.Image) -> np.ndarray:
    """Pixels as float32 [3, height, width], RGB, 0 to 255."""
    return np.asarray(image, dtype=np.float32).transpose(2, 0, 1)


def prepare_line(image: Image.Image) -> np.ndarray:
    """PP-OCR's preprocessing: BGR, height 48 keeping the ratio, scaled into [-1, 1], zeros on the right up to 192."""
    _, height, width = LINE_SHAPE
    new_width = min(width, max(1, round(image.width * height / image.height)))
    out = np.zeros(LINE_SHAPE, dtype=np.float32)
    pixels = to_planes(image.resize((new_width, height), Image.Resampling.BILINEAR))
    out[:, :, :new_width] = (pixels[::-1] / 255 - 0.5) / 0.5
    return out


def prepare_page(image: Image.Image) -> np.ndarray:
    """ImageNet's preprocessing: short side 256, centre crop 224, mean and deviation of ImageNet, RGB."""
    scale = 256 / min(image.size)
    width, height = round(image.width * scale), round(image.height * scale)
    left, top = (width - 224) // 2, (height - 224) // 2
    image = image.resize((width, height), Image.Resampling.BILINEAR).crop((left, top, left + 224, top + 224))
    return (to_planes(image) / 255 - IMAGENET_MEAN) / IMAGENET_DEVIATION


def make_text_lines(count: int, seed: int) -> Arrays:
    """x [count, 3, 48, 192], labels [count] in 0..1."""
    rng = np.random.default_rng(seed)
    fonts = text_images.load_fonts(range(20, 37, 2))
    x, labels = np.empty((count, *LINE_SHAPE), dtype=np.float32), rng.integers(0, 2, count)
    for index in range(count):
        image = text_images.draw_line(rng, fonts, hard=index % 2 == 1)
        x[index] = prepare_line(image.transpose(Image.Transpose.ROTATE_180) if labels[index] else image)
    return {"x": x, "labels": labels}


def make_pages(count: int, seed: int) -> Arrays:
    """x [count, 3, 224, 224], labels [count] in 0..3, clockwise quarter turns."""
    turns = [None, Image.Transpose.ROTATE_270, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_90]
    rng = np.random.default_rng(seed)
    fonts = text_images.load_fonts(range(11, 23, 2))
    x, labels = np.empty((count, 3, 224, 224), dtype=np.float32), rng.integers(0, 4, count)
    for index in range(count):
        image, turn = text_images.draw_page(rng, fonts, hard=index % 2 == 1), turns[labels[index]]
        x[index] = prepare_page(image if turn is None else image.transpose(turn))
    return {"x": x, "labels": labels}


def read_idx(path: Path) -> np.ndarray:
    """Reads a gzip-compressed IDX file of bytes: magic (0, 0, 8, rank), big-endian sizes, values."""
    raw = gzip.decompress(path.read_bytes())
    rank = raw[3]
    shape = np.frombuffer(raw, dtype=">u4", count=rank, offset=4)
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * rank).reshape(shape)


def make_fashion_mnist(count: int, seed: int) -> Arrays:
    """input [count, 1, 28, 28] scaled into [-1, 1], labels [count] in 0..9: test images in a shuffled order."""
    if not FASHION_MNIST.is_dir():
        raise FileNotFoundError(f"no {FASHION_MNIST}: install the package dataset-fashion-mnist")
    images = read_idx(FASHION_MNIST / "t10k-images-idx3-ubyte.gz")
    order = np.random.default_rng(seed).permutation(len(images))[:count]
    pixels = images[order][:, None].astype(np.float32)
    labels = read_idx(FASHION_MNIST / "t10k-labels-idx1-ubyte.gz")[order]
    return {"input": (pixels / 255 - 0.5) / 0.5, "labels": labels.astype(np.int64)}


def make_natural(count: int, seed: int) -> Arrays:
    """x [count, 3, 224, 224]: crops of photographs, half of them mirrored, scaled by (x - 127) / 128, RGB."""
    paths = sorted(PHOTOS.glob("*.*"))
    if not paths:
        raise FileNotFoundError(f"no photographs in {PHOTOS}: run scripts/fetch_models.py photos")
    photos = [Image.open(path).convert("RGB") for path in paths]
    rng = np.random.default_rng(seed)
    x = np.empty((count, 3, 224, 224), dtype=np.float32)
    for index in range(count):
        photo = photos[rng.integers(len(photos))]
        side = int(min(photo.size) * rng.uniform(0.35, 1.0))
        left, top = int(rng.integers(photo.width - side + 1)), int(rng.integers(photo.height - side + 1))
        crop = photo.crop((left, top, left + side, top + side)).resize((224, 224), Image.Resampling.BILINEAR)
        if rng.random() < 0.5:
            crop = crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        x[index] = (to_planes(crop) - 127) / 128
    return {"x": x}


# name -> (what makes it, how many by default, how many there are at most)
MAKERS: dict[str, tuple[Callable[[int, int], Arrays], int, int]] = {
    "text-lines": (make_text_lines, 3600, 100_000),
    "pages": (make_pages, 1000, 20_000),
    "fashion-mnist": (make_fashion_mnist, 10_000, 10_000),
    "natural": (make_natural, 400, 20_000),
}


def save(path: Path, arrays: Arrays) -> None:
    """Writes an uncompressed .npz under a temporary name, then renames it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            np.savez(file, **arrays)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def verify(model: Path, arrays: Arrays) -> str:
    """The model's accuracy on even and on odd samples, run by ONNX Runtime one by one."""
    import onnxruntime  # the only part that needs it

    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    guesses = np.array([session.run(None, {name: sample[None]})[0].argmax() for sample in arrays[name]])
    right = guesses == arrays["labels"]
    return f"accuracy {right.mean():.4f}; even samples {right[::2].mean():.4f}, odd samples {right[1::2].mean():.4f}"


def main() -> int:
    """Makes what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=MAKERS)
    parser.add_argument("-o", "--output", type=Path, required=True, help="the .npz to write")
    parser.add_argument("--count", type=int, help="samples (default: 3600, 1000, 10000, 400)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--verify", type=Path, metavar="MODEL", help="print this model's accuracy on the data (labelled kinds)"
    )
    arguments = parser.parse_args()
    make, default_count, most = MAKERS[arguments.kind]
    count = default_count if arguments.count is None else arguments.count
    if not 2 <= count <= most:
        parser.error(f"--count {count}: {arguments.kind} gives 2 to {most} samples")
    try:
        arrays = make(count, arguments.seed)
        save(arguments.output, arrays)
    except OSError as error:
        print(f"make_data: {error}", file=sys.stderr)
        return 6
    shapes = ", ".join(f"{name} {array.dtype}{list(array.shape)}" for name, array in arrays.items())
    print(f"{arguments.output}: {shapes}", file=sys.stderr)
    if arguments.verify:
        if "labels" not in arrays:
            parser.error(f"{arguments.kind} has no labels to verify against")
        print(verify(arguments.verify, arrays))
    return 0


if __name__ == "__main__":
    sys.exit(main())
