"""What ONNX Runtime makes of quantized models: each layer runs as planned, on each runtime version and at each level.

`rlc quantize` reads that back at the levels basic, extended and all, and fails if a layer runs otherwise. Runtimes that
were not fetched are skipped, like models that were not.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RLC = Path(os.environ["RLC_BUILD"]) / "rlc"
RUNTIMES = [ROOT / ".deps" / name for name in ("onnxruntime", "onnxruntime-1.21")]
ZOO = ("mobilenet-like", "simple-conv", "resnet-like")
FETCHED = ("ppocr_cls", "orientation", "efficientnet_lite0")


class RanAs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="rlc-test-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def rlc(self, runtime: Path, *arguments: object) -> str:
        environment = {**os.environ, "ONNXRUNTIME_ROOT": str(runtime), "XDG_CACHE_HOME": str(self.path / "cache")}
        command = [str(RLC), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, env=environment, timeout=600, check=False, text=True)
        self.assertEqual(done.returncode, 0, f"{runtime.name}: {' '.join(command)}\n{done.stderr}")
        return done.stdout

    def quantize(self, runtime: Path, model: Path, *options: str) -> list[dict]:
        shape = ["--shape", "x:1,3,48,192"] if model.stem == "ppocr_cls" else []
        command = ["quantize", model, "-o", self.path / "int8.onnx", "--json", "--quiet", *shape, *options]
        return json.loads(self.rlc(runtime, *command))["layers"]

    def check(self, model: Path) -> None:
        """All layers, then a third of them left float: between int8 ones, so that the runtime is tempted."""
        for runtime in RUNTIMES:
            if not (runtime / "lib").is_dir():
                continue
            layers = self.quantize(runtime, model)
            self.assertTrue(any(layer["planned"] == "int8" for layer in layers))
            spared = [layer["layer"] for layer in layers if layer["layer"] % 3 == 1]
            mixed = self.quantize(runtime, model, "--exclude", ",".join(map(str, spared)))
            for layer in layers + mixed:
                self.assertTrue(layer["as_planned"], f"{model.name} on {runtime.name}: {layer}")
            for layer in mixed:
                if layer["layer"] in spared:
                    self.assertEqual(layer["planned"], "float")
                    self.assertNotIn("QLinear", layer["ran_as"])

    def test_trained_models(self) -> None:
        for name in ("fashion_mobilenet", "fashion_resnet"):
            with self.subTest(name):
                self.check(ROOT / "models" / f"{name}.onnx")

    def test_models_of_the_zoo(self) -> None:
        for name in ZOO:
            with self.subTest(name):
                model = self.path / f"{name}.onnx"
                self.rlc(RUNTIMES[0], "zoo", name, "-o", model)
                self.check(model)

    def test_fetched_models(self) -> None:
        for name in FETCHED:
            model = ROOT / ".deps" / "models" / f"{name}.onnx"
            with self.subTest(name):
                if not model.exists():
                    self.skipTest(f"{name} was not fetched")
                self.check(model)


if __name__ == "__main__":
    unittest.main()
