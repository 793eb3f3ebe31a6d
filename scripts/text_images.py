"""Draws labelled text lines and pages with the system's fonts: data for models that tell which way up text is."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONT_FOLDERS = [Path("/usr/share/fonts/truetype") / name for name in ("dejavu", "freefont", "liberation")]
# Files that Debian 12, Debian 13 and Ubuntu 24.04 all have, so that one seed draws the same text everywhere.
FONTS = [
    "DejaVuSans",
    "DejaVuSans-Bold",
    "DejaVuSansMono",
    "DejaVuSansMono-Bold",
    "DejaVuSerif",
    "DejaVuSerif-Bold",
    "FreeMono",
    "FreeMonoBold",
    "FreeSans",
    "FreeSansBold",
    "FreeSansOblique",
    "FreeSerif",
    "FreeSerifBold",
    "FreeSerifItalic",
    "LiberationMono-Regular",
    "LiberationMono-Bold",
    "LiberationSans-Regular",
    "LiberationSans-Bold",
    "LiberationSans-Italic",
    "LiberationSerif-Regular",
    "LiberationSerif-Bold",
    "LiberationSerif-Italic",
]
WORDS = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").split()


@dataclass(frozen=True)
class Harm:
    """What bad light, bad focus and a bad sensor do to an image: the hard half of the data."""

    contrast: tuple[float, float]  # text and background differ by this share of what they did
    blur: tuple[float, float]  # radius, in pixels
    noise: tuple[float, float]  # standard deviation, of 255

    def apply(self, image: Image.Image, rng: np.random.Generator) -> Image.Image:
        """The image after harm drawn at random within the bounds."""
        blurred = image.filter(ImageFilter.GaussianBlur(rng.uniform(*self.blur)))
        pixels = np.asarray(blurred, dtype=np.float32)
        base = rng.uniform(60, 196)
        pixels = base + (pixels - pixels.mean()) * rng.uniform(*self.contrast)
        pixels += rng.standard_normal(pixels.shape, dtype=np.float32) * rng.uniform(*self.noise)
        return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def load_fonts(sizes: range) -> list[ImageFont.FreeTypeFont]:
    """All of FONTS in all of these sizes (pixels); raises FileNotFoundError that says which package is missing."""
    fonts = []
    for name in FONTS:
        path = next((f / f"{name}.ttf" for f in FONT_FOLDERS if (f / f"{name}.ttf").exists()), None)
        if path is None:
            raise FileNotFoundError(
                f"no font {name}.ttf under {FONT_FOLDERS[0].parent}: "
                "install fonts-dejavu-core, fonts-freefont-ttf and fonts-liberation"
            )
        # The basic layout is there in every Pillow; the other one depends on a system library.
        fonts += [ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC) for size in sizes]
    return fonts


def phrase(rng: np.random.Generator, count: int) -> str:
    """`count` words; some are numbers, dates or prices, some begin with a capital."""
    words = []
    for _ in range(count):
        word = WORDS[rng.integers(len(WORDS))]
        kind = rng.random()
        if kind < 0.08:
            word = str(rng.integers(10, 9999))
        elif kind < 0.12:
            word = f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.{rng.integers(1990, 2030)}"
        elif kind < 0.16:
            word = f"{rng.integers(1, 400)}.{rng.integers(0, 100):02d}"
        elif kind < 0.36:
            word = word.capitalize()
        elif kind < 0.42:
            word = word.upper()
        words.append(word)
    return " ".join(words)


def colours(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Background and text colour, far enough apart to read; one time in four light on dark."""
    light = tuple(int(v) for v in rng.integers(185, 256, 3))
    dark = tuple(int(v) for v in rng.integers(0, 90, 3))
    return (dark, light) if rng.random() < 0.25 else (light, dark)


LINE_HARM = Harm(contrast=(0.12, 0.6), blur=(0.6, 2.0), noise=(2, 12))
PAGE_HARM = Harm(contrast=(0.13, 0.6), blur=(0.6, 2.0), noise=(3, 14))


def draw_line(rng: np.random.Generator, fonts: list[ImageFont.FreeTypeFont], hard: bool) -> Image.Image:
    """One upright line of one to three words, cut out with a small uneven margin and a tilt of up to two degrees."""
    font, text = fonts[rng.integers(len(fonts))], phrase(rng, int(rng.integers(1, 4)))
    background, ink = colours(rng)
    left, top, right, bottom = font.getbbox(text)
    margin = rng.integers(2, 8, 4)
    size = (int(right - left + margin[0] + margin[1]), int(bottom - top + margin[2] + margin[3]))
    image = Image.new("RGB", size, background)
    ImageDraw.Draw(image).text((int(margin[0]) - left, int(margin[2]) - top), text, fill=ink, font=font)
    image = image.rotate(rng.uniform(-2, 2), Image.Resampling.BILINEAR, fillcolor=background)
    return LINE_HARM.apply(image, rng) if hard else image


def draw_page(rng: np.random.Generator, fonts: list[ImageFont.FreeTypeFont], hard: bool) -> Image.Image:
    """One upright page: a heading and paragraphs, seen from near or far."""
    width, height = int(rng.integers(300, 420)), int(rng.integers(300, 420))
    background, ink = colours(rng)
    image = Image.new("RGB", (width, height), background)
    draw = ImageDraw.Draw(image)
    font = fonts[rng.integers(len(fonts))]
    left, y = int(rng.integers(8, 32)), int(rng.integers(6, 24))
    step = int(font.size * rng.uniform(1.2, 1.6))
    while y < height - step:
        if rng.random() < 0.12:  # a gap between paragraphs
            y += step
            continue
        text = phrase(rng, int(rng.integers(3, 12)))
        room = int((width - 2 * left) / (font.size * 0.5))
        draw.text((left, y), text[: max(room, 4)], fill=ink, font=font)
        y += step
    image = image.rotate(rng.uniform(-3, 3), Image.Resampling.BILINEAR, fillcolor=background)
    return PAGE_HARM.apply(image, rng) if hard else image
