"""Draws stars as light: each galaxy in its own colour, brighter where its stars are denser.

A star is drawn as a spot that is as wide as the distance to its neighbours, so sparse tails are a
haze and dense disks are sharp. Brightness is logarithmic, as in the eye, so that a single star
stays visible next to a hundred.
"""

from __future__ import annotations

import functools
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Sequence

import numpy
from PIL import Image

from nbody_tools.arguments import ToolError
from nbody_tools.files.bodies import Bodies

COLOURS = ((1.0, 0.70, 0.36), (0.42, 0.70, 1.0))  # red, green and blue of each galaxy
SPACE = numpy.array((5, 7, 12)) / 255  # tokens.css: --space
WIDTHS = (0.7, 1.2, 2.0, 3.4, 5.8, 10.0)  # widths of the spots, in pixels
# The Fourier transform is periodic. A margin of this many pixels receives the light that leaves the
# picture on one side and would otherwise appear on the other side.
MARGIN = 3 * int(WIDTHS[-1])
STAR = 0.35  # share of a star's light in its own pixel, so that single stars remain visible
BRIGHT = 0.997  # this share of the lit pixels is below full brightness
DIM = 0.02  # above this share of full brightness, the scale is logarithmic instead of linear


def galaxies_of(bodies: Bodies, axes: Sequence[int] = (0, 1)) -> list[numpy.ndarray]:
    """Returns the positions of each galaxy's stars: the bodies of the disks or, if there are none,
    all bodies. In a collision, each galaxy is one half of the bodies (docs/initial_conditions.md).
    """
    points = bodies.synchronised_positions()[0][:, list(axes)]
    kinds = numpy.array(bodies.species[:len(points)] or ["disk"] * len(points))
    first = numpy.arange(len(points)) < len(points) // 2
    if bodies.scenario != "collision":
        first[:] = True
    shown = kinds == "disk" if (kinds == "disk").any() else numpy.ones(len(points), bool)
    return [points[shown & half] for half in (first, ~first) if (shown & half).any()]


def light(points: numpy.ndarray, centre: numpy.ndarray, half: numpy.ndarray,
          size: tuple[int, int]) -> numpy.ndarray:
    """Returns the light of the points in each pixel of an image of `size` = width x height pixels,
    top row first. The image shows the positions from `centre` - `half` to `centre` + `half`."""
    width, height = size
    pixels = (points - centre) / half * (0.5, -0.5) + 0.5
    pixels = (pixels * (width, height)).astype(int)
    inside = ((pixels >= 0) & (pixels < (width, height))).all(1)
    columns, rows = pixels[inside].T
    counts = numpy.zeros((height, width))
    numpy.add.at(counts, (rows, columns), 1.0)
    padded = _padded(height), _padded(width)
    spots = _spots(padded)
    # At a density of d stars per pixel, a star's neighbour is about d ** -0.5 pixels away.
    density = numpy.fft.irfft2(numpy.fft.rfft2(counts, s=padded) * spots[-1], s=padded)
    wanted = 1.1 / numpy.sqrt(numpy.maximum(density[rows, columns], 1e-9))
    classes = numpy.abs(numpy.log(wanted[:, None] / numpy.array(WIDTHS))).argmin(1)
    transformed = numpy.zeros_like(spots[0], dtype=complex)
    for k in numpy.unique(classes):
        of_class = numpy.zeros_like(counts)
        numpy.add.at(of_class, (rows[classes == k], columns[classes == k]), 1 - STAR)
        transformed += numpy.fft.rfft2(of_class, s=padded) * spots[k]
    spread = numpy.fft.irfft2(transformed, s=padded)[:height, :width].clip(0)
    return STAR * counts + spread


def _padded(pixels: int) -> int:
    """Adds a margin to `pixels` and rounds up to a size for which the Fourier transform is fast."""
    size = pixels + MARGIN
    while 30 ** 12 % size:  # true while a prime other than 2, 3 and 5 divides `size`
        size += 1
    return size


@functools.lru_cache(maxsize=8)
def _spots(padded: tuple[int, int]) -> list[numpy.ndarray]:
    """Returns the Fourier transforms of Gaussian spots, one per width."""
    frequencies = numpy.add.outer(
        numpy.fft.fftfreq(padded[0]) ** 2, numpy.fft.rfftfreq(padded[1]) ** 2)
    return [numpy.exp(-2 * (numpy.pi * width) ** 2 * frequencies) for width in WIDTHS]


def picture(galaxies: Sequence[numpy.ndarray], centre: numpy.ndarray, half: numpy.ndarray,
            size: tuple[int, int], white: float = 0) -> Image.Image:
    """Draws the galaxies. Light as bright as `white` becomes fully bright; by default, `white` is
    the brightest light in the picture."""
    lights = [light(points, centre, half, size) for points in galaxies]
    white = white or brightest(lights)
    stretched = [numpy.arcsinh(one / (DIM * white)) / numpy.arcsinh(1 / DIM) for one in lights]
    colours = sum((numpy.multiply.outer(one, colour) for one, colour in zip(stretched, COLOURS)),
                  start=numpy.zeros((*size[::-1], 3)))
    colours = SPACE + (1 - SPACE) * (1 - numpy.exp(-1.6 * colours))
    return Image.fromarray((255 * colours.clip(0, 1)).astype(numpy.uint8), "RGB")


def brightest(lights: Sequence[numpy.ndarray]) -> float:
    lit = numpy.concatenate([one[one > 1e-3] for one in lights])
    return float(numpy.quantile(lit, BRIGHT)) if lit.size else 1.0


def view_of(states: Sequence[Bodies], aspect: float,
            share: float = 0.995) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Returns the centre and the half sizes of a view that contains the stars of every state. Stars
    with a coordinate beyond the quantiles `share` and 1 - `share` may lie outside. The width of the
    view is `aspect` times its height."""
    stars = [numpy.concatenate(galaxies_of(state)) for state in states]
    low = numpy.min([numpy.quantile(p, 1 - share, axis=0) for p in stars], axis=0)
    high = numpy.max([numpy.quantile(p, share, axis=0) for p in stars], axis=0)
    half = 0.54 * (high - low)
    height = max(half[1], half[0] / aspect, 1e-9)
    return (low + high) / 2, numpy.array((aspect * height, height))


def save_picture(image: Image.Image, path: Path, **options: Any) -> Path:
    """Writes the picture, first under a temporary name. Passes `options` to Pillow."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(temporary, format=path.suffix[1:].upper(), **options)
        os.replace(temporary, path)
    except OSError as error:
        raise ToolError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):  # such as a file in place of the folder, which was reported above
            temporary.unlink()
    return path
