"""Tests of make_data.py: what the arrays hold, that a seed decides them, that a failed write leaves nothing behind."""

import tempfile
import unittest
from pathlib import Path

import make_data
import numpy as np
import text_images
from PIL import Image


class Preprocessing(unittest.TestCase):
    def test_line_is_bgr_in_minus_one_to_one_with_zeros_on_the_right(self) -> None:
        x = make_data.prepare_line(Image.new("RGB", (96, 48), (255, 127, 0)))
        self.assertEqual(x.shape, (3, 48, 192))
        np.testing.assert_allclose(x[:, 10, 95], [-1, 127 / 255 * 2 - 1, 1], atol=1e-6)
        np.testing.assert_array_equal(x[:, :, 96:], 0)

    def test_long_line_is_squeezed(self) -> None:
        x = make_data.prepare_line(Image.new("RGB", (960, 48), (255, 255, 255)))
        np.testing.assert_array_equal(x, 1)

    def test_page_is_scaled_by_the_statistics_of_imagenet(self) -> None:
        x = make_data.prepare_page(Image.new("RGB", (300, 400), (255, 0, 0)))
        self.assertEqual(x.shape, (3, 224, 224))
        np.testing.assert_allclose(x[:, 0, 0], [(1 - 0.485) / 0.229, -0.456 / 0.224, -0.406 / 0.225], rtol=1e-5)


class Datasets(unittest.TestCase):
    def test_seed_decides_lines_and_labels(self) -> None:
        first, again, other = (make_data.make_text_lines(8, seed) for seed in (3, 3, 4))
        for name in ("x", "labels"):
            np.testing.assert_array_equal(first[name], again[name])
        self.assertFalse(np.array_equal(first["x"], other["x"]))

    def test_hard_lines_have_less_contrast(self) -> None:
        x = make_data.make_text_lines(40, 0)["x"][:, :, 4:44, 4:40]
        deviation = x.std(axis=(1, 2, 3))
        self.assertLess(deviation[1::2].mean(), 0.6 * deviation[::2].mean())

    def test_label_of_a_page_counts_clockwise_quarter_turns(self) -> None:
        mark = Image.new("RGB", (256, 256))
        mark.paste((255, 255, 255), (16, 16, 128, 128))  # the upper left quarter of an upright page
        drawn, text_images.draw_page = text_images.draw_page, lambda *_, **__: mark
        try:
            arrays = make_data.make_pages(24, 0)
        finally:
            text_images.draw_page = drawn
        self.assertEqual(set(arrays["labels"]), {0, 1, 2, 3})
        corners = {0: (50, 50), 1: (50, 174), 2: (174, 174), 3: (174, 50)}  # row, column
        for x, label in zip(arrays["x"], arrays["labels"], strict=True):
            bright = {turn for turn, (row, column) in corners.items() if x[0, row, column] > 0}
            self.assertEqual(bright, {int(label)})

    @unittest.skipUnless(make_data.FASHION_MNIST.is_dir(), "needs the package dataset-fashion-mnist")
    def test_fashion_mnist_has_every_test_image_once(self) -> None:
        arrays = make_data.make_fashion_mnist(10_000, 0)
        self.assertEqual(arrays["input"].shape, (10_000, 1, 28, 28))
        self.assertEqual((arrays["input"].min(), arrays["input"].max()), (-1, 1))
        np.testing.assert_array_equal(np.bincount(arrays["labels"]), [1000] * 10)


class Saving(unittest.TestCase):
    def test_file_is_read_back(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "new" / "data.npz"
            make_data.save(path, {"x": np.arange(6.0).reshape(2, 3)})
            with np.load(path) as loaded:
                np.testing.assert_array_equal(loaded["x"], [[0, 1, 2], [3, 4, 5]])
            self.assertEqual([p.name for p in path.parent.iterdir()], ["data.npz"])

    def test_failed_write_leaves_the_old_file_and_no_other(self) -> None:
        class Unwritable:
            def __array__(self, *_: object, **__: object) -> np.ndarray:
                raise OSError("no space left")

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.npz"
            path.write_bytes(b"old")
            with self.assertRaises(OSError):
                make_data.save(path, {"x": Unwritable()})
            self.assertEqual(path.read_bytes(), b"old")
            self.assertEqual([p.name for p in path.parent.iterdir()], ["data.npz"])


if __name__ == "__main__":
    unittest.main()
