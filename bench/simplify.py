#!/usr/bin/env python3
"""`rlc simplify` beside onnxsim, OnnxSlim, onnxoptimizer and ONNX Runtime's own basic level.

    .venv/bin/python bench/simplify.py [MODEL...] [--repeats 3] [--no-latency] [--markdown | --json]

MODEL: files, or names of `scripts/fetch_models.py --all` (default: all that are there). The peers are put into
.deps/simplify-peers at first use, pinned. For each model and tool: nodes of the result (Constant nodes not counted),
nodes of what ONNX Runtime makes of it at level extended, wall time and peak memory of the whole process (median of the
repeats, tools in turn), and the time of a run of the result under ORT_ENABLE_ALL as a share of the original's
(interleaved, one thread, with its 95 % interval). A tool that fails is "-". Exit code 1: a result of rlc's has more
extended nodes than the best peer's, or is slower than another's by more than the interval.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

import onnx
import onnxruntime

ROOT = Path(__file__).resolve().parent.parent
RLC = ROOT / "build" / "release" / "rlc"
VENV = ROOT / ".deps" / "simplify-peers"
PEERS = ["onnxsim==0.8.1", "onnxslim==0.1.98", "onnxoptimizer==0.4.2", "onnx==1.23.2", "onnxruntime==1.32.0"]
SIZES = {  # of free dimensions, by model and place
    "ppocr_cls": (1, 3, 48, 192),
    "ppocr_v4_det": (1, 3, 480, 640),
    "ppocr_v4_rec": (1, 3, 48, 320),
    "ppocr_v6_det": (1, 3, 480, 640),
    "layout": (1, 3, 800, 608),
}
OPTIMIZE = """
import sys, onnx, onnxoptimizer
passes = onnxoptimizer.get_fuse_and_elimination_passes()
onnx.save(onnxoptimizer.optimize(onnx.load(sys.argv[1]), passes, fixed_point=True), sys.argv[2])
"""
# A process counts the memory of the one that started it as its own peak, so a small one starts the tools.
LAUNCHER = """
import os, sys, time
started = time.perf_counter()
child = os.fork()
if child == 0:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), time.perf_counter() - started, usage.ru_maxrss)
"""
BIN = VENV / "bin"
TOOLS = {
    "rlc": [RLC, "simplify", "{in}", "-o", "{out}", "--quiet"],
    "onnxsim": [BIN / "onnxsim", "{in}", "{out}"],
    "onnxslim": [BIN / "onnxslim", "{in}", "{out}"],
    "onnxoptimizer": [BIN / "python", "-c", OPTIMIZE, "{in}", "{out}"],
    "ort basic": [RLC, "inspect", "{in}", "--ort-level", "basic", "--save-runtime-graph", "{out}"],
}


def make_peers() -> None:
    """The environment of the peers, made at first use."""
    if (VENV / "done").exists() and (VENV / "done").read_text() == "\n".join(PEERS):
        return
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([BIN / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *PEERS], check=True)
    (VENV / "done").write_text("\n".join(PEERS))


def run_tool(tool: str, model: Path, out: Path) -> tuple[float, float] | None:
    """Seconds and peak megabytes of the whole process; nothing if it failed or wrote no file."""
    out.unlink(missing_ok=True)
    words = [str(word) for word in TOOLS[tool]]
    command = [{"{in}": str(model), "{out}": str(out)}.get(word, word) for word in words]
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *command]
    done = subprocess.run(launcher, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True)
    code, seconds, kilobytes = done.stdout.split()
    return (float(seconds), int(kilobytes) / 1024) if code == "0" and out.exists() else None


def count_nodes(graph: onnx.GraphProto) -> int:
    """Nodes of the graph and its bodies, Constant nodes left out."""
    bodies = [a for node in graph.node for attribute in node.attribute for a in (*attribute.graphs, attribute.g)]
    own = sum(node.op_type != "Constant" for node in graph.node)
    return own + sum(count_nodes(body) for body in bodies if body.node)


def extended_nodes(model: Path, folder: Path) -> int | None:
    """Nodes of what ONNX Runtime makes of the model at level extended; nothing if it does not load."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / "extended.onnx")
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception:  # whatever is wrong with it, the tool made it
        return None
    return count_nodes(onnx.load(folder / "extended.onnx", load_external_data=False).graph)


def shape_flags(model: Path) -> list[str]:
    """--shape for an input with free dimensions."""
    flags = []
    for entry in onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs():
        if all(isinstance(size, int) for size in entry.shape):
            continue
        sizes = SIZES.get(model.stem, (1, 3, 224, 224))
        flags += ["--shape", f"{entry.name}:{','.join(map(str, sizes))}"]
    return flags


def measure(model: Path, repeats: int, latency: bool, folder: Path) -> dict:
    """One model with all tools."""
    folder.mkdir(parents=True, exist_ok=True)
    runs: dict[str, list] = {tool: [] for tool in TOOLS}
    for _ in range(repeats):
        for tool, done in runs.items():
            done.append(run_tool(tool, model, folder / f"{tool.replace(' ', '-')}.onnx"))
    rows = {"original": {"nodes": count_nodes(onnx.load(model).graph), "extended": extended_nodes(model, folder)}}
    files = {"original": model}
    for tool, done in runs.items():
        if None in done:
            continue
        path = folder / f"{tool.replace(' ', '-')}.onnx"
        row = {"seconds": statistics.median(s for s, _ in done), "megabytes": statistics.median(m for _, m in done)}
        rows[tool] = row | {"nodes": count_nodes(onnx.load(path).graph), "extended": extended_nodes(path, folder)}
        if rows[tool]["extended"] is not None:
            files[tool] = path
    if latency:
        command = [RLC, "bench", *files.values(), "--budget", "40s", "--json", *shape_flags(model)]
        timed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for tool, row in zip(files, timed["models"], strict=True):
            rows[tool]["share"] = row["ratio"]
    return {"model": model.stem, "tools": rows}


def faults(result: dict) -> list[str]:
    """Where rlc's file loses to a peer's."""
    ours = result["tools"]["rlc"]
    found = []
    for name, row in result["tools"].items():
        if name == "rlc" or row.get("extended") is None:
            continue
        if ours["extended"] > row["extended"]:
            found.append(f"{ours['extended']} extended nodes, {name} {row['extended']}")
        if "share" in row and ours["share"]["low"] > 1.02 * row["share"]["high"]:
            found.append(f"slower than {name}")
    return found


def markdown(results: list[dict]) -> str:
    """The table of the documentation: nodes / extended nodes, seconds, megabytes, share of the original's time."""
    names = ["original", *TOOLS]
    lines = ["| model | " + " | ".join(names) + " |", "|" + "---|" * (len(names) + 1)]
    for result in results:
        cells = []
        for name in names:
            row = result["tools"].get(name)
            if row is None:
                cells.append("-")
                continue
            text = f"{row['nodes']} / {row['extended'] if row['extended'] is not None else '-'}"
            if "seconds" in row:
                text += f"; {row['seconds']:.2f} s, {row['megabytes']:.0f} MB"
            if "share" in row and name != "original":
                text += f"; {row['share']['value']:.2f}"
            cells.append(text)
        lines.append(f"| {result['model']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-latency", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="only print the table, at the end")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    make_peers()
    store = ROOT / ".deps" / "models"
    names = arguments.models or sorted(str(path) for path in [*store.glob("*.onnx"), *(ROOT / "models").glob("*.onnx")])
    paths = [Path(name) if name.endswith(".onnx") else store / f"{name}.onnx" for name in names]
    results, bad = [], False
    for path in paths:
        result = measure(
            path, arguments.repeats, not arguments.no_latency, ROOT / "build" / "bench-simplify" / path.stem
        )
        results.append(result)
        lost = faults(result)
        bad = bad or bool(lost)
        if not (arguments.json or arguments.markdown):
            print(markdown([result]).splitlines()[-1], *lost, sep="\n  ", flush=True)
    if arguments.json:
        print(json.dumps(results, indent=2))
    if arguments.markdown:
        print(markdown(results))
    sys.exit(bad)


if __name__ == "__main__":
    main()
