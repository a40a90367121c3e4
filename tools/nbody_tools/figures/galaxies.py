"""Draws two colliding galaxies, each in its own colour, brighter where its stars are denser."""

from __future__ import annotations

from pathlib import Path

import numpy

from nbody_tools.figures.style import dates, machines, pyplot, save
from nbody_tools.measure.galaxies import CELLS, HALF_WIDTH, STATES, read_grey_map
from nbody_tools.records.record import Record

COLOURS = ((1.0, 0.72, 0.35), (0.4, 0.7, 1.0))  # red, green and blue for each galaxy
BRIGHT = 0.998  # this share of the non-empty cells is below full brightness


def draw(record: Record, folder: Path, path: Path) -> Path:
    maps = [
        [
            numpy.array(
                read_grey_map(folder / f"galaxy{number}_{step:08d}.pgm"), dtype=float
            ).reshape(CELLS, CELLS)
            for number in (1, 2)
        ]
        for step in STATES
    ]
    stars = numpy.concatenate([one[one > 0] for state in maps for one in state])
    white = numpy.log1p(numpy.quantile(stars, BRIGHT))
    figure, grid = pyplot.subplots(2, 2, figsize=(10, 10), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.01)
    for axes, step, state in zip(grid.flat, STATES, maps):
        colours = (numpy.multiply.outer(numpy.log1p(one) / white, colour)
                   for one, colour in zip(state, COLOURS))
        light = sum(colours, start=numpy.zeros((CELLS, CELLS, 3)))
        axes.imshow(light.clip(0, 1), extent=2 * (-HALF_WIDTH, HALF_WIDTH), interpolation="nearest")
        axes.text(
            0.03,
            0.95,
            f"t = {step * record.data['dt']:.0f}",
            color="white",
            fontsize=14,
            transform=axes.transAxes,
        )
        axes.set_axis_off()
    change = max(map(abs, record.data["energies"]["change"]))
    return save(
        figure,
        path,
        f"Two disks in their halos, {record.problem.bodies:,} bodies, step 15 with theta "
        f"{record.data['approximation']['theta']:g}: the stars of each disk, from above it. In "
        f"{record.problem.steps} time steps the energy changed by {change:.1e} of itself. "
        f"{machines([record])}, {dates([record])}.",
    )
