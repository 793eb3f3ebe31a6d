"""Writes the files beside this script, which the tests of rlc/data read: what numpy and Pillow really write.

Needs numpy, Pillow and safetensors. Run in this folder; the results are committed.
"""

import numpy as np
from PIL import Image
from safetensors.numpy import save_file


def arrays() -> None:
    table = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.save("c_order.npy", table)
    np.save("fortran_order.npy", np.asfortranarray(table))
    np.save("big_endian.npy", table.astype(">f4"))
    np.save("scalar.npy", np.int64(-7))
    np.save("strings.npy", np.array(["a", "b"]))
    np.save("structured.npy", np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]))
    np.save("complex.npy", np.zeros(2, dtype=np.complex64))
    values = {
        "x": table,
        "labels": np.array([1, 0]),
        "flags": np.array([True, False]),
        "half": table.astype(np.float16),
    }
    np.savez("stored.npz", **values)
    np.savez_compressed("deflated.npz", **values)
    save_file({"w": table, "b": np.array([1, 2], dtype=np.int8)}, "python.safetensors", metadata={"made": "by python"})


def picture() -> np.ndarray:
    y, x = np.mgrid[0:31, 0:45]
    return np.stack([x * 5, y * 8, (x * y) % 256], axis=-1).astype(np.uint8)


def images() -> None:
    image = Image.fromarray(picture())
    image.save("rgb.png")
    image.convert("RGBA").save("rgba.png")
    image.convert("L").save("grey.png")
    image.quantize(16).save("palette.png")
    Image.fromarray((picture()[..., 0].astype(np.uint16) << 8) | 0x80).save("grey16.png")
    image.save("rgb.jpg", quality=90)
    image.save("progressive.jpg", quality=90, progressive=True)
    image.convert("CMYK").save("cmyk.jpg")
    np.save("rgb_pixels.npy", picture())
    np.save("grey_pixels.npy", np.asarray(image.convert("L")))
    np.save("palette_pixels.npy", np.asarray(image.quantize(16).convert("RGB")))
    np.save("jpg_pixels.npy", np.asarray(Image.open("rgb.jpg")))
    np.save("smaller_pixels.npy", np.asarray(image.resize((17, 13), Image.BILINEAR)))
    np.save("larger_pixels.npy", np.asarray(image.resize((90, 40), Image.BILINEAR)))


if __name__ == "__main__":
    arrays()
    images()
