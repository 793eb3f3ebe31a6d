"""The command line as people use it, wrong input first: exit codes, messages, and what is left on disk."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

RLC = Path(os.environ["RLC_BUILD"]) / "rlc"


def rlc(*arguments: object, **options: object) -> subprocess.CompletedProcess:
    command = [str(RLC), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=300, check=False, **options)


class CommandLine(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="rlc-test-")
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.path / "cache")}
        self.model = self.path / "model.onnx"
        self.out = self.path / "out.onnx"
        made = self.run_rlc("zoo", "custom:1x12x12,conv8,bn,relu,conv8,bn,relu,gap,fc4", "-o", self.model)
        self.assertEqual(made.returncode, 0, made.stderr)

    def run_rlc(self, *arguments: object) -> subprocess.CompletedProcess:
        return rlc(*arguments, env=self.environment)

    def refuse(self, code: int, words: str, *arguments: object) -> None:
        """The command fails with this code and a message of one sentence with these words, and writes nothing."""
        result = self.run_rlc(*arguments)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, code, message)
        self.assertIn(words, message)
        self.assertNotIn("internal error", message)
        self.assertFalse(self.out.exists())
        self.assertEqual([p for p in self.path.iterdir() if "out" in p.name], [], "something was left behind")

    def data(self, samples: int = 40, **changes: np.ndarray) -> Path:
        rng = np.random.default_rng(0)
        arrays = {
            "input": rng.random((samples, 1, 12, 12), dtype=np.float32),
            "labels": rng.integers(0, 4, samples),
        }
        file = self.path / "data.npz"
        np.savez(file, **{**arrays, **changes})
        return file


class BadInput(CommandLine):
    def test_files_that_cannot_be_read(self) -> None:
        noise = self.path / "noise.onnx"
        noise.write_bytes(np.random.default_rng(0).bytes(4096))
        cut = self.path / "cut.onnx"
        cut.write_bytes(self.model.read_bytes()[:-100])
        empty = self.path / "empty.onnx"
        empty.touch()
        for command in ("simplify", "optimize", "quantize"):
            with self.subTest(command=command):
                self.refuse(2, "missing.onnx", command, self.path / "missing.onnx", "-o", self.out)
                self.refuse(2, "folder", command, self.path, "-o", self.out)
                for file in (noise, cut, empty):
                    self.refuse(2, file.name, command, file, "-o", self.out)
        for command in ("inspect", "bench"):
            self.assertEqual(self.run_rlc(command, noise).returncode, 2)

    def test_data_that_does_not_fit(self) -> None:
        quantize = ("quantize", self.model, "-o", self.out, "--data")
        self.refuse(2, "nowhere.npz", *quantize, self.path / "nowhere.npz")
        self.refuse(2, "input", *quantize, self.data(input=np.zeros((40, 3, 12, 12), np.float32)))
        self.refuse(2, "input", *quantize, self.data(input=np.zeros((40, 1, 12, 12), np.int64)))
        self.refuse(
            2, "sample", *quantize, self.data(input=np.zeros((0, 1, 12, 12), np.float32), labels=np.zeros(0, int))
        )
        other = self.path / "other.npz"
        np.savez(other, x=np.zeros((4, 1, 12, 12), np.float32))
        self.refuse(2, "input", *quantize, other)
        labels = np.full(40, 9)
        self.refuse(
            2, "label", "optimize", self.model, "-o", self.out, "--data", self.data(labels=labels), "--metric", "top1"
        )

    def test_values_that_make_no_sense(self) -> None:
        optimize = ("optimize", self.model, "-o", self.out)
        self.refuse(1, "--max-drop", *optimize, "--max-drop", "200%")
        self.refuse(1, "--budget", *optimize, "--budget", "soon")
        self.refuse(1, "--method", *optimize, "--method", "magic")
        self.refuse(1, "--actions", *optimize, "--actions", "everything")
        self.refuse(1, "--shape", *optimize, "--shape", "input")
        self.refuse(1, "threads", *optimize, "--threads", "0")
        self.refuse(1, "no-such-rule", "simplify", self.model, "-o", self.out, "--only", "no-such-rule")
        self.refuse(
            1, "no_layer", "quantize", self.model, "-o", self.out, "--exclude", "no_layer", "--data", self.data()
        )
        self.assertEqual(self.run_rlc("nonsense").returncode, 1)

    def test_free_dimensions_need_a_shape(self) -> None:
        import onnx

        model = onnx.load(self.model)
        model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "H"
        free = self.path / "free.onnx"
        onnx.save(model, free)
        result = self.run_rlc("bench", free, "--budget", "1s")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(b"--shape", result.stderr)

    def test_output_that_cannot_be_written(self) -> None:
        for out in ("/proc/nothing/out.onnx", self.path / "no" / "such" / "folder.onnx", self.path):
            for command in ("simplify", "optimize"):
                result = self.run_rlc(command, self.model, "-o", out)
                self.assertEqual(result.returncode, 6, result.stderr)
        full = self.run_rlc("simplify", self.model, "-o", "/dev/full")
        self.assertEqual(full.returncode, 6, full.stderr)


class Simplify(CommandLine):
    def test_folds_and_checks(self) -> None:
        result = self.run_rlc("simplify", self.model, "-o", self.out, "--check", "2", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertNotIn("BatchNormalization", report["after"]["ops"])
        self.assertLess(report["check"]["largest_relative_rms"], 1e-4)

    def test_works_in_place_and_through_pipes(self) -> None:
        bytes_before = self.model.read_bytes()
        piped = rlc("simplify", "-", "-o", "-", input=bytes_before, env=self.environment)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertEqual(self.run_rlc("simplify", self.model, "-o", self.model).returncode, 0)
        self.assertEqual(self.model.read_bytes(), piped.stdout)

    def peak_bytes(self, model: Path, output: Path) -> int:
        command = [str(RLC), "simplify", str(model), "-o", str(output), "--quiet"]
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return 1024 * usage.ru_maxrss

    @unittest.skipIf(os.environ.get("RLC_SANITIZE"), "sanitizers take memory of their own")
    def test_holds_weights_once(self) -> None:
        values = np.random.default_rng(0).standard_normal((4096, 8192), dtype=np.float32)
        weight = onnx.numpy_helper.from_array(values, "w")
        nodes = [helper.make_node("Identity", ["x"], ["t"]), helper.make_node("MatMul", ["t", "w"], ["y"])]
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4096])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8192])
        large = self.path / "large.onnx"
        onnx.save(
            helper.make_model(
                helper.make_graph(nodes, "g", [x], [y], [weight]),
                opset_imports=[helper.make_opsetid("", 17)],
                ir_version=8,
            ),
            large,
        )
        size = large.stat().st_size
        alone = self.peak_bytes(self.model, self.out)
        # Changed, and written over its input; then once more, when there is nothing left to change.
        for _ in range(2):
            self.assertLess(self.peak_bytes(large, large) - alone, 1.3 * size)
        result = onnx.load(large)
        self.assertEqual([node.op_type for node in result.graph.node], ["MatMul"])
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(result.graph.initializer[0]), values)

    def test_what_is_simple_stays_byte_for_byte(self) -> None:
        self.run_rlc("simplify", self.model, "-o", self.out)
        again = self.path / "again.onnx"
        self.assertEqual(self.run_rlc("simplify", self.out, "-o", again).returncode, 0)
        self.assertEqual(again.read_bytes(), self.out.read_bytes())

    def test_changes_the_interface_on_request_only(self) -> None:
        shapes = ("--fix-shape", "x:2,3", "--check", "2", "--json")
        dynamic = self.save(
            [helper.make_node("Relu", ["x"], ["y"])],
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])],
        )
        result = self.run_rlc("simplify", dynamic, "-o", self.out, *shapes)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(json.loads(result.stdout)["changed"])
        output = onnx.load(self.out).graph.output[0].type.tensor_type.shape
        self.assertEqual([dim.dim_value for dim in output.dim], [2, 3])
        self.out.unlink()
        self.refuse(1, "'x' is float[N,3]", "simplify", dynamic, "-o", self.out, "--fix-shape", "x:2,4")
        self.refuse(1, "no input 'z'", "simplify", dynamic, "-o", self.out, "--fix-shape", "z:2")
        self.refuse(1, "only raises", "simplify", dynamic, "-o", self.out, "--opset", "12")
        raised = self.run_rlc("simplify", dynamic, "-o", self.out, "--opset", "19", "--check", "1")
        self.assertEqual(raised.returncode, 0, raised.stderr)
        self.assertEqual(onnx.load(self.out).opset_import[0].version, 19)

    def test_inlines_functions_on_request(self) -> None:
        body = [helper.make_node("Mul", ["a", "a"], ["b"]), helper.make_node("Relu", ["b"], ["c"])]
        square = helper.make_function("local", "Square", ["a"], ["c"], body, [helper.make_opsetid("", 17)])
        model = self.save(
            [helper.make_node("Square", ["x"], ["y"], domain="local")],
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
            functions=[square],
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("local", 1)],
        )
        kept = self.run_rlc("simplify", model, "-o", self.out)
        self.assertEqual(kept.returncode, 0, kept.stderr)
        self.assertEqual(len(onnx.load(self.out).functions), 1)
        inlined = self.run_rlc("simplify", model, "-o", self.out, "--inline-functions", "--check", "2")
        self.assertEqual(inlined.returncode, 0, inlined.stderr)
        written = onnx.load(self.out)
        self.assertEqual(len(written.functions), 0)
        self.assertEqual(sorted(node.op_type for node in written.graph.node), ["Mul", "Relu"])

    def test_checks_on_own_inputs(self) -> None:
        inputs = self.path / "inputs.npz"
        np.savez(inputs, input=np.ones((1, 1, 12, 12), np.float32))
        result = self.run_rlc("simplify", self.model, "-o", self.out, "--inputs", inputs, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["check"]["runs"], 1)
        self.out.unlink()
        np.savez(inputs, other=np.ones((1, 1, 12, 12), np.float32))
        self.refuse(2, "input", "simplify", self.model, "-o", self.out, "--inputs", inputs)
        np.savez(inputs, input=np.ones((1, 2, 12, 12), np.float32))
        self.refuse(2, "input", "simplify", self.model, "-o", self.out, "--inputs", inputs)

    def save(self, nodes: list, inputs: list, outputs: list, **options: object) -> Path:
        options.setdefault("opset_imports", [helper.make_opsetid("", 17)])
        path = self.path / "made.onnx"
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), ir_version=8, **options), path)
        return path


class Diff(CommandLine):
    def test_says_what_is_different(self) -> None:
        same = self.run_rlc("diff", self.model, self.model)
        self.assertEqual((same.returncode, same.stdout), (0, b"no difference\n"), same.stderr)
        self.run_rlc("simplify", self.model, "-o", self.out)
        changed = self.run_rlc("diff", self.model, self.out, "--json")
        self.assertEqual(changed.returncode, 0, changed.stderr)
        report = json.loads(changed.stdout)
        self.assertFalse(report["same"])
        self.assertTrue(any("BatchNormalization" in row.get("before", "") for row in report["nodes"]))
        self.assertEqual(self.run_rlc("diff", self.model, self.path / "missing.onnx").returncode, 2)
        self.assertEqual(self.run_rlc("diff", "-", "-").returncode, 1)


class Quantize(CommandLine):
    def test_runs_as_planned_and_replays_to_the_same_bytes(self) -> None:
        result = self.run_rlc("quantize", self.model, "-o", self.out, "--data", self.data(), "--exclude", "0", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        layers = json.loads(result.stdout)["layers"]
        self.assertEqual([layer["planned"] for layer in layers], ["float", "int8", "int8"])
        self.assertTrue(all(layer["as_planned"] for layer in layers), layers)
        copies = []
        for name in ("a.onnx", "b.onnx"):
            replay = self.run_rlc("apply", self.model, self.path / "out.plan.json", "-o", self.path / name)
            self.assertEqual(replay.returncode, 0, replay.stderr)
            copies.append((self.path / name).read_bytes())
        self.assertEqual(copies, [self.out.read_bytes()] * 2)

    def test_a_plan_is_for_its_own_model(self) -> None:
        self.run_rlc("quantize", self.model, "-o", self.out, "--data", self.data())
        other = self.path / "other.onnx"
        self.run_rlc("zoo", "simple-conv", "-o", other)
        result = self.run_rlc("apply", other, self.path / "out.plan.json", "-o", self.path / "x.onnx")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"content hash", result.stderr)
        self.assertFalse((self.path / "x.onnx").exists())


class Optimize(CommandLine):
    def test_writes_model_plan_and_reports(self) -> None:
        result = self.run_rlc(
            "optimize",
            self.model,
            "-o",
            self.out,
            "--data",
            self.data(200),
            "--max-drop",
            "50%",
            "--budget",
            "20s",
            "--method",
            "greedy",
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads((self.path / "out.report.json").read_text())
        self.assertEqual(report["data"]["metric"], "top1")
        self.assertGreater(len(report["trials"]), 0)
        page = (self.path / "out.report.html").read_text()
        self.assertIn("<p class='verdict", page)
        self.draws_in_a_narrow_dark_window(self.path / "out.report.html")
        if report["verdict"]["improved"]:
            replay = self.path / "replay.onnx"
            applied = self.run_rlc("apply", self.model, self.path / "out.plan.json", "-o", replay)
            self.assertEqual(applied.returncode, 0, applied.stderr)
            self.assertEqual(replay.read_bytes(), self.out.read_bytes())
        else:
            self.assertEqual(self.out.read_bytes(), self.model.read_bytes())

    def draws_in_a_narrow_dark_window(self, page: Path) -> None:
        """Chromium draws the page in a narrow window: dark all over, and not empty."""
        chromium = shutil.which("chromium")
        if chromium is None:
            print("no chromium: the report was not drawn", file=sys.stderr)
            return
        from PIL import Image

        picture = self.path / "page.png"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-dark-mode"]
        flags += [f"--user-data-dir={self.path / 'chromium'}", "--blink-settings=preferredColorScheme=0"]
        command = [chromium, *flags, "--window-size=500,900", f"--screenshot={picture}", page.as_uri()]
        subprocess.run(command, capture_output=True, timeout=180, check=True)
        with Image.open(picture) as image:
            grey = np.asarray(image.convert("L"))
        self.assertLess(np.median(grey), 64, "the background is not dark")
        self.assertGreater(grey.max(), 160, "nothing is written on it")

    def test_interrupt_leaves_a_model_that_loads(self) -> None:
        command = [
            str(RLC),
            "optimize",
            str(self.model),
            "-o",
            str(self.out),
            "--data",
            str(self.data(200)),
            "--budget",
            "10m",
        ]
        process = subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=120)
        self.assertEqual(code, 130)
        if self.out.exists():
            self.assertEqual(self.run_rlc("inspect", self.out).returncode, 0)


class Doctor(CommandLine):
    def test_names_processor_and_runtime(self) -> None:
        result = self.run_rlc("doctor", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        parts = {finding["part"]: finding for finding in json.loads(result.stdout)["findings"]}
        self.assertTrue(parts["ONNX Runtime"]["good"], parts)


if __name__ == "__main__":
    unittest.main()
