#!/usr/bin/env python3
"""What `rlc optimize` reaches on real models, beside exact rewrites alone and ONNX Runtime's own quantization.

    .venv/bin/python bench/optimize.py MODEL=DATA.npz[:MAX_DROP] ... [--budget 5m] [--keep FOLDER] [--json]

For each model: `rlc optimize`, `rlc simplify`, ONNX Runtime's static U8S8 quantization (QDQ, per channel, min-max, 200
rows of the data) and its dynamic one; then all of them timed interleaved by `rlc bench`, one thread, and their top-1
drop against the original over all rows of the data, as the runtime executes each file. MAX_DROP `none`: data without
labels, exact actions only. Exit code 1: rlc's file is slower than the original or than a rival that keeps the limit,
by more than the timing's interval.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

ROOT = Path(__file__).resolve().parent.parent
RLC = ROOT / "build" / "release" / "rlc"
CALIBRATION_ROWS = 200
BATCH = 50


class Rows(CalibrationDataReader):
    """Single rows of the data, for ONNX Runtime's calibration."""

    def __init__(self, name: str, rows: np.ndarray) -> None:
        self.feeds = ({name: row[None]} for row in rows)

    def get_next(self) -> dict[str, np.ndarray] | None:
        """The next feed, None at the end."""
        return next(self.feeds, None)


def call(*command: str) -> str:
    """Runs rlc; its standard output."""
    done = subprocess.run([str(RLC), *command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"rlc {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def quantize_with_runtime(model: Path, rows: np.ndarray, folder: Path) -> dict[str, Path]:
    """ONNX Runtime's own static and dynamic int8 files; one that its tool cannot make is left out, and said so."""
    name = onnx.load(model).graph.input[0].name
    raised, prepared = folder / "opset13.onnx", folder / "prepared.onnx"
    loaded = onnx.load(model)
    opset = next(entry.version for entry in loaded.opset_import if entry.domain in ("", "ai.onnx"))
    onnx.save(onnx.version_converter.convert_version(loaded, 13) if opset < 13 else loaded, raised)
    made = {}
    for kind in ("U8S8", "dynamic"):
        out = folder / f"{kind}.onnx"
        try:
            quant_pre_process(str(raised), str(prepared), skip_symbolic_shape=True)
            if kind == "U8S8":
                quantize_static(
                    prepared,
                    out,
                    Rows(name, rows),
                    quant_format=QuantFormat.QDQ,
                    per_channel=True,
                    activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8,
                )
            else:
                quantize_dynamic(prepared, out, weight_type=QuantType.QInt8)
            made[kind] = out
        except Exception as error:  # whatever the rival's tool raises is its result
            print(f"{model.name}: ONNX Runtime's {kind} quantization failed: {error}", file=sys.stderr)
    return made


def right_answers(model: Path, data: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Which rows the model classifies correctly under full optimization, bool [rows]."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    entry = session.get_inputs()[0]
    batch = entry.shape[0] if isinstance(entry.shape[0], int) else BATCH
    guesses = [
        session.run(None, {entry.name: data[at : at + batch]})[0].argmax(-1) for at in range(0, len(data), batch)
    ]
    return np.concatenate(guesses)[: len(labels)] == labels


def measure(task: str, budget: str, folder: Path) -> dict:
    """One model: all files, their times and drops."""
    model, _, rest = task.partition("=")
    data_path, _, limit = rest.partition(":")
    limit = limit or "1%"
    folder.mkdir(parents=True, exist_ok=True)
    arrays = np.load(data_path)
    labels = arrays.get("labels")
    data = arrays[next(name for name in arrays.files if name != "labels")]
    files = {"original": Path(model), "rlc": folder / "rlc.onnx", "exact": folder / "exact.onnx"}
    goal = ["--actions", "exact"] if limit == "none" else ["--max-drop", limit]
    call("optimize", model, "-o", str(files["rlc"]), "--data", data_path, "--budget", budget, "--quiet", *goal)
    call("simplify", model, "-o", str(files["exact"]), "--check", "0")
    report = json.loads((folder / "rlc.report.json").read_text())
    files |= quantize_with_runtime(Path(model), data[:CALIBRATION_ROWS], folder)
    shape = ["--shape", f"{onnx.load(model).graph.input[0].name}:1,{','.join(map(str, data.shape[1:]))}"]
    timing = json.loads(call("bench", *map(str, files.values()), "--budget", "60s", "--json", *shape))
    result = {"model": Path(model).stem, "verdict": report["verdict"], "files": {}}
    before = right_answers(Path(model), data, labels) if labels is not None else None
    for (name, path), timed in zip(files.items(), timing["models"], strict=True):
        drop = None
        if before is not None:
            drop = float(before.mean() - right_answers(path, data, labels).mean())
        result["files"][name] = {"ratio": timed["ratio"], "drop": drop, "bytes": path.stat().st_size}
    ours = result["files"]["rlc"]["ratio"]
    allowed = 0.0 if limit == "none" else float(limit.rstrip("%")) / (100 if limit.endswith("%") else 1)
    exact = ("original", "exact")
    # Without labels nobody knows what int8 costs, and only exact files compete.
    rivals = [
        file["ratio"]
        for name, file in result["files"].items()
        if name in exact or (name != "rlc" and file["drop"] is not None and file["drop"] <= allowed)
    ]
    result["behind"] = any(ours["low"] > rival["high"] for rival in rivals)
    return result


def show(result: dict) -> None:
    """One model's rows."""
    drop = result["verdict"]["drop"]
    final = f"{drop['samples']} final rows" if drop else "no labels"
    print(f"\n{result['model']} ({final}){': BEHIND A RIVAL' if result['behind'] else ''}")
    for name, file in result["files"].items():
        ratio, drop = file["ratio"], file["drop"]
        points = "" if drop is None else f"  drop {100 * drop:+6.2f} points"
        speed = f"{ratio['value']:.3f} ({ratio['low']:.3f} - {ratio['high']:.3f})"
        print(f"  {name:9} {speed:24} of the original's time{points}  {file['bytes'] / 1e6:6.2f} MB")


def main() -> None:
    """Measures all models and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="+", metavar="MODEL=DATA[:MAX_DROP]")
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "bench-optimize")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = []
    for task in arguments.tasks:
        results.append(measure(task, arguments.budget, arguments.keep / Path(task.partition("=")[0]).stem))
        if not arguments.json:
            show(results[-1])
    if arguments.json:
        print(json.dumps(results, indent=2))
    sys.exit(any(result["behind"] for result in results))


if __name__ == "__main__":
    main()
