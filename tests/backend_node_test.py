"""Every node test of the onnx package, simplified: none is refused, and outputs stay equal under ONNX Runtime.

The onnx wheel makes the models and their inputs in Python. Counts are printed, so that a run that compared nothing
shows.
"""

import concurrent.futures
import os
import subprocess
import tempfile
import unittest
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx.backend.test.case.node import collect_testcases

RLC = Path(os.environ["RLC_BUILD"]) / "rlc"
# Their outputs are drawn, not computed.
RANDOM = ("bernoulli", "randomuniform", "randomnormal", "multinomial")


def run(path: Path, inputs: list) -> list | None:
    """The outputs with optimizations off; nothing when the runtime cannot run the model on them."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [entry.name for entry in session.get_inputs()]
        return session.run(None, {name: value for name, value in zip(names, inputs, strict=True) if value is not None})
    except Exception:  # an operator or a type that this runtime lacks
        return None


def same(expected: object, actual: object) -> bool:
    """Equal, floats up to rounding; sequences by element."""
    if isinstance(expected, list):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    if isinstance(expected, dict) or expected is None:
        return expected == actual
    expected, actual = np.asarray(expected), np.asarray(actual)
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return False
    if expected.dtype.kind not in "fc":
        return np.array_equal(expected, actual)
    rtol, atol = (1e-4, 1e-6) if expected.dtype.itemsize > 2 else (1e-2, 1e-3)
    return np.allclose(expected.astype(complex), actual.astype(complex), rtol, atol, equal_nan=True)


def judge(folder: Path, case: object) -> tuple[str, str]:
    """What became of one case: refused, not run, different or equal; and the reason."""
    before, after = folder / f"{case.name}.onnx", folder / f"{case.name}.out.onnx"
    onnx.save(case.model, before)
    done = subprocess.run(
        [RLC, "simplify", before, "-o", after, "--quiet"], capture_output=True, text=True, timeout=120
    )
    if done.returncode:
        return "refused", done.stderr.strip()
    for inputs, _ in case.data_sets:
        expected = run(before, inputs)
        if expected is None:
            return "not run", ""
        actual = run(after, inputs)
        if actual is None or not same(expected, actual):
            return "different", "does not run" if actual is None else "other numbers"
    return "equal", ""


class BackendNodes(unittest.TestCase):
    maxDiff = None

    def test_all(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # overflows that the cases provoke
            cases = [case for case in collect_testcases() if not any(word in case.name for word in RANDOM)]
        with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda case: judge(Path(name), case), cases))
        counts = Counter(result for result, _ in results)
        print(dict(counts))
        bad = [
            f"{c.name}: {r}: {why}" for c, (r, why) in zip(cases, results, strict=True) if r in ("refused", "different")
        ]
        self.assertEqual(bad, [])
        self.assertGreater(counts["equal"], 1400)


if __name__ == "__main__":
    unittest.main()
