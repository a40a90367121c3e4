"""Draws two colliding galaxies, each in its own colour, brighter where its stars are denser. The
picture is as dark as space in both themes."""

from __future__ import annotations

from pathlib import Path

import numpy

from nbody_tools.design.tokens import colour
from nbody_tools.design.units import units_of
from nbody_tools.figures.style import dates, machines, pyplot, save
from nbody_tools.measure.galaxies import CELLS, HALF_WIDTH, STATES, read_grey_map
from nbody_tools.records.record import Record

COLOURS = ((1.0, 0.72, 0.35), (0.4, 0.7, 1.0))  # red, green and blue for each galaxy
SHOWN = STATES[:3]  # omits the last state, in which the galaxies are larger than the map
UNITS = "3 kpc, 5e10 Msun"  # units of the scenario (docs/initial_conditions.md)
BRIGHT = 0.998  # this share of the non-empty cells is below full brightness


def draw(record: Record, folder: Path, path: Path) -> Path:
    maps = [
        [
            numpy.array(
                read_grey_map(folder / f"galaxy{number}_{step:08d}.pgm"), dtype=float
            ).reshape(CELLS, CELLS)
            for number in (1, 2)
        ]
        for step in SHOWN
    ]
    units = units_of(UNITS)
    assert units is not None
    stars = numpy.concatenate([one[one > 0] for state in maps for one in state])
    white = numpy.log1p(numpy.quantile(stars, BRIGHT))
    figure, grid = pyplot.subplots(1, len(SHOWN), figsize=(15, 5.1), layout="constrained",
                                   facecolor=colour("space"))
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.01)
    for axes, step, state in zip(grid.flat, SHOWN, maps):
        colours = (numpy.multiply.outer(numpy.log1p(one) / white, hue)
                   for one, hue in zip(state, COLOURS))
        light = sum(colours, start=numpy.zeros((CELLS, CELLS, 3)))
        axes.imshow(light.clip(0, 1), extent=2 * (-HALF_WIDTH, HALF_WIDTH), interpolation="nearest")
        axes.text(
            0.03,
            0.95,
            units.time.text(step * record.data["dt"]),
            color=colour("star-ink"),
            fontsize=20,
            transform=axes.transAxes,
        )
        axes.set_axis_off()
    width = f"{2 * HALF_WIDTH * units.length.size:.0f} {units.length.name}"
    change = max(map(abs, record.data["energies"]["change"]))
    return save(
        figure,
        path,
        f"Two galaxies with dark matter collide: {record.problem.bodies:,} bodies, of which only "
        f"the stars are drawn, seen from above. Each picture is {width} wide. Forces come from a "
        f"tree (step15_barnes_hut); over all {record.problem.steps} time steps the energy changes "
        f"by {100 * change:.2g} %. "
        f"{machines([record])}, {dates([record])}.",
        ink=colour("star-ink"),
    )
