"""Draws the projected surface density of systems before and after a run, with one colour scale."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import numpy
from matplotlib.colors import LogNorm

from nbody_tools.design.units import length_of, time_text, units_of
from nbody_tools.figures.style import pyplot, save
from nbody_tools.files.bodies import Bodies, FileError, how_it_was_run

PIXELS = 160
DECADES = 3.0  # the colour scale spans this many decades below its maximum
MAX_SYSTEMS = 4  # with more systems, columns would be too small to read
VIEWED_FRACTION = 0.95  # share of the bodies in view; escaped bodies would widen the view
AXES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def surface_density(points: numpy.ndarray, masses: numpy.ndarray, half_width: float,
                    smoothing: float) -> numpy.ndarray:
    """Returns the mass per area on a grid. Spreads the mass of each body over a Gaussian, which is
    wider where bodies are sparse.

    This is Silverman's adaptive kernel estimate (1986). A first estimate smooths all bodies with
    the same width. The width of each Gaussian is then proportional to the inverse square root of
    this first density, so a lone body becomes a haze and a dense core stays sharp.
    """
    pilot = _spread(points, masses, half_width, smoothing)
    pixels = ((points + half_width) / (2 * half_width) * PIXELS).astype(int).clip(0, PIXELS - 1)
    local = numpy.maximum(pilot[pixels[:, 1], pixels[:, 0]], pilot.max() * 1e-6)
    typical = numpy.exp(numpy.log(local).mean())
    # Widths are rounded to powers of sqrt(2), so one smoothing per width suffices for all bodies.
    classes = numpy.round(2 * numpy.log2((typical / local) ** 0.5)).clip(-3, 5)
    maps = (_spread(points[classes == c], masses[classes == c], half_width,
                    max(smoothing * 2 ** (c / 2), half_width / PIXELS))
            for c in numpy.unique(classes))
    return sum(maps, start=numpy.zeros((PIXELS, PIXELS)))


def _spread(points: numpy.ndarray, masses: numpy.ndarray, half_width: float,
            width: float) -> numpy.ndarray:
    edges = numpy.linspace(-half_width, half_width, PIXELS + 1)
    histogram, _, _ = numpy.histogram2d(points[:, 0], points[:, 1], bins=PIXELS,
                                        range=[(-half_width, half_width)] * 2, weights=masses)
    pixel = edges[1] - edges[0]
    reach = int(numpy.ceil(3 * width / pixel))
    kernel = numpy.exp(-0.5 * (numpy.arange(-reach, reach + 1) * pixel / width) ** 2)
    kernel /= kernel.sum()
    for axis in (0, 1):
        histogram = numpy.apply_along_axis(_smoothed, axis, histogram, kernel)
    return histogram.T / pixel ** 2


def _smoothed(line: numpy.ndarray, kernel: numpy.ndarray) -> numpy.ndarray:
    # Mode "same" would return an array as long as the kernel if the kernel is longer than the line.
    start = len(kernel) // 2
    return numpy.convolve(line, kernel)[start:start + len(line)]


def draw_densities(before: Bodies, after: Bodies, path: Path, view: str = "xy",
                   systems: int = MAX_SYSTEMS, note: str = "") -> Path:
    """Draws one column per system, with the state before the run above the state after it."""
    if before.positions.shape != after.positions.shape:
        raise FileError("the two files differ in their numbers of systems or bodies")
    columns = min(systems, MAX_SYSTEMS, before.positions.shape[0])
    for state in (before, after):
        if not (state.masses[:columns].sum(1) > 0).all():
            raise FileError(f"{state.scenario}: all masses of a system are 0, so there is no "
                            "density to draw")
    first, second = AXES[view]
    states = [_centred(state, columns)[..., [first, second]] for state in (before, after)]
    half_width = _half_width(states)
    # The smoothing length is roughly the spacing of the bodies, so it is larger for fewer bodies.
    smoothing = max(
        1.6 * half_width / numpy.sqrt(before.positions.shape[1]), 2 * half_width / PIXELS
    )
    maps = [[surface_density(state[s], bodies.masses[s], half_width, smoothing)
             for s in range(columns)] for state, bodies in zip(states, (before, after))]
    return _draw(maps, (before, after), half_width, smoothing, view, path, note)


def _centred(bodies: Bodies, columns: int) -> numpy.ndarray:
    positions = bodies.synchronised_positions()[:columns]
    masses = bodies.masses[:columns, :, None]
    return positions - (positions * masses).sum(1, keepdims=True) / masses.sum(1, keepdims=True)


def _half_width(states: Sequence[numpy.ndarray]) -> float:
    return 1.15 * max(
        float(numpy.quantile(abs(state).max(-1), VIEWED_FRACTION)) for state in states
    ) or 1.0  # all bodies at the same place


def _draw(maps: Sequence[Sequence[numpy.ndarray]], states: Sequence[Bodies], half_width: float,
          smoothing: float, view: str, path: Path, note: str) -> Path:
    columns = len(maps[0])
    unit = length_of(states[0].units)
    maps = [[density / unit.size**2 for density in row] for row in maps]
    highest = max(density.max() for row in maps for density in row)
    colours = LogNorm(highest / 10 ** DECADES, highest)
    side = 3.4 if columns > 2 else 4.4
    # The two states of a single system are side by side. Several systems get one column each.
    rows, across = (1, 2) if columns == 1 else (2, columns)
    figure, panels = pyplot.subplots(rows, across, squeeze=False, sharex=True, sharey=True,
                                     figsize=(side * across + 1.6, rows * side + 0.4),
                                     layout="constrained")
    panels = panels.reshape(2, columns)
    colour_map = pyplot.get_cmap("cividis").copy()
    colour_map.set_bad(colour_map(0.0))  # cells without mass get the darkest colour, not white
    for row, (name, state) in enumerate(zip(("before", "after"), states)):
        for column in range(columns):
            axes = panels[row][column]
            image = axes.imshow(numpy.ma.masked_less_equal(maps[row][column], 0), origin="lower",
                                extent=2 * (-unit.size * half_width, unit.size * half_width),
                                norm=colours, cmap=colour_map)
            which = f"system {column + 1}, " if columns > 1 else ""
            axes.set_title(f"{which}{name}: {time_text(state)}", fontsize=13)
            axes.locator_params(nbins=5)
    figure.supxlabel(unit.label(view[0]), fontsize=13)
    figure.supylabel(unit.label(view[1]), fontsize=13)
    figure.colorbar(image, ax=panels, label="surface density (mass / "
                    f"{unit.name if units_of(states[0].units) else 'length'}²)", shrink=0.8,
                    extend="min").ax.yaxis.labelpad = 12
    total, bodies = states[0].positions.shape[:2]
    blur = f"{unit.size * smoothing:.2g}{f' {unit.name}' if units_of(states[0].units) else ''}"
    caption = (f"{states[0].scenario}: projected surface density, {columns} of {total} "
               f"systems, {bodies} bodies each, centred on the centre of mass, smoothed: "
               f"Gaussians of about {blur}.")
    return save(figure, path, f"{caption} {how_it_was_run(*states)} {note}".strip())
