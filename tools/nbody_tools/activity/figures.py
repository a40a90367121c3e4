"""Draws the activity map: each cell's share of all positions, on a logarithmic colour scale."""

from __future__ import annotations

from pathlib import Path

import numpy
from matplotlib.colors import LogNorm

from nbody_tools.figures.style import pyplot, save
from nbody_tools.files.bodies import FileError
from nbody_tools.files.diagnostics import Activity

MAX_PIXELS = 1024  # most pixels per side; in larger maps, a pixel sums a square of cells


def draw_activity(activity: Activity, path: Path, note: str = "") -> Path:
    if not activity.shares.any():
        raise FileError("no body was inside this map, so there is nothing to draw")
    shares, merged = coarsened(activity.shares, MAX_PIXELS)
    figure, axes = pyplot.subplots(figsize=(7.4, 6.2), layout="constrained")
    colour_map = pyplot.get_cmap("cividis").copy()
    colour_map.set_bad(colour_map(0.0))  # cells without bodies get the darkest colour, not white
    image = axes.imshow(numpy.ma.masked_equal(shares, 0), origin="lower", cmap=colour_map,
                        extent=2 * (-activity.extent, activity.extent), interpolation="nearest",
                        norm=LogNorm(shares[shares > 0].min() / 2, shares.max()))
    axes.set_xlabel("x (length)")
    axes.set_ylabel("y (length)")
    axes.set_title("Activity map")
    figure.colorbar(image, label="share of all positions in a cell")
    cells = len(activity.shares)
    text = (f"{cells} x {cells} cells; {activity.positions} positions, "
            f"{100 * activity.shares.sum():.3g} % of them inside.")
    if merged > 1:
        text += f" {merged} x {merged} cells are shown as one."
    return save(figure, path, f"{text} {note}".strip())


def coarsened(shares: numpy.ndarray, most: int) -> tuple[numpy.ndarray, int]:
    """Merges squares of cells by adding up their shares, so that the map has at most `most` cells
    per side. Returns the merged map, and the number of cells along the side of each merged
    square."""
    merged = -(-len(shares) // most)
    missing = -len(shares) % merged
    padded = numpy.pad(shares, ((0, missing), (0, missing)))
    side = len(padded) // merged
    return padded.reshape(side, merged, side, merged).sum((1, 3)), merged
