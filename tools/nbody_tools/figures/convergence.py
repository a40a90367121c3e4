"""Draws the error of runs against their time step, for each integrator and precision."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence, TYPE_CHECKING

import numpy
from matplotlib.ticker import LogLocator, NullFormatter

from nbody_tools.figures.style import BLUE, CYCLE, GREY, SOFT, VERMILION, pyplot, save
from nbody_tools.files.bodies import Bodies, FileError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"euler, float64": BLUE, "leapfrog, float64": VERMILION}


def position_error(state: Bodies, reference: Bodies) -> float:
    """Returns the RMS distance of the bodies from their reference positions."""
    if state.positions.shape != reference.positions.shape:
        raise FileError(
            f"{state.scenario}: its numbers of systems and bodies differ from the reference's"
        )
    if not numpy.isclose(state.time, reference.time, rtol=1e-4):
        raise FileError(f"{state.scenario}: its time is {state.time:.7g}, but the reference's is "
                        f"{reference.time:.7g}")
    if not state.dt:
        raise FileError(f"{state.scenario}: the file does not give dt")
    distances = numpy.linalg.norm(
        state.synchronised_positions() - reference.synchronised_positions(), axis=-1
    )
    return float(numpy.sqrt((distances ** 2).mean()))


def draw_convergence(
    reference: Bodies, states: Sequence[Bodies], path: Path, note: str = ""
) -> Path:
    series: dict[str, list[tuple[float, float]]] = {}
    for state in states:
        error = position_error(state, reference)
        if error > 0:  # a logarithmic scale cannot show the reference, whose error is 0
            series.setdefault(f"{state.integrator}, {state.precision}", []).append(
                (abs(state.dt), error)
            )
    if not series:
        raise FileError("no state differs from the reference")
    figure, axes = pyplot.subplots(figsize=(6.6, 5.2), layout="constrained")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="time step dt",
        ylabel="error of the positions (length, RMS)",
    )
    others = iter(colour for colour in CYCLE if colour not in COLOURS.values())
    for name in sorted(series):
        dt, error = numpy.array(sorted(series[name])).T
        colour = COLOURS.get(name) or next(others)
        axes.plot(dt, error, "o-", color=colour, linewidth=1.5, markersize=7, label=name)
    orders = _slopes(axes, series)
    steps = [dt for points in series.values() for dt, _ in points]
    if max(steps) < 20 * min(steps):  # otherwise matplotlib labels only powers of ten
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    dashed = " and ".join({1: "to dt", 2: "to its square" if 1 in orders else "to the square of dt"}
                          [order] for order in orders)
    axes.legend(frameon=False)
    return save(
        figure,
        path,
        f"{reference.scenario}: errors of the positions at t = {reference.time:.4g}, relative to a "
        f"{reference.precision} run with dt = {reference.dt:.2g}. Dashed: errors proportional "
        f"{dashed}. {note}".strip(),
    )


def _slopes(axes: Axes, series: dict[str, list[tuple[float, float]]]) -> list[int]:
    """Draws a line with the expected slope for each integrator, below the error at the longest
    time step. Returns the slopes."""
    orders = []
    for integrator, order in (("euler", 1), ("leapfrog", 2)):
        points = [
            point
            for name, found in series.items()
            if name.startswith(integrator)
            for point in found
        ]
        if not points:
            continue
        orders.append(order)
        dt, error = max(points)
        line = numpy.array([min(points)[0], dt])
        axes.plot(line, 0.5 * error * (line / dt) ** order, "--", color=GREY, linewidth=1.3)
        middle = float(numpy.sqrt(line.prod()))
        axes.annotate(
            f"slope {order}",
            (middle, 0.5 * error * (middle / dt) ** order),
            xytext=(8, -14),
            textcoords="offset points",
            color=SOFT,
        )
    return orders
