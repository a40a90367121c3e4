"""Draws a run's conserved quantities, virial ratio and Lagrangian radii over time."""

from __future__ import annotations

from pathlib import Path

import numpy
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from nbody_tools.files.diagnostics import RADII, DiagnosticsTable
from nbody_tools.figures.style import (
    BLACK,
    BLUE,
    CYCLE,
    GREEN,
    GREY,
    VERMILION,
    literal,
    pyplot,
    save,
)
from nbody_tools.files.bodies import FileError


def draw_diagnostics(table: DiagnosticsTable, path: Path, system: int = 0, note: str = "") -> Path:
    """Draws the energy, virial ratio, momenta and radii of one system."""
    _check(table, system)
    time = table.of(system, "time")
    figure, panels = pyplot.subplots(2, 2, figsize=(12, 8), layout="constrained", sharex=True)
    (energy, virial), (momenta, radii) = panels
    energy.plot(time, table.of(system, "energy_error"), color=BLUE, linewidth=2)
    energy.set(title="Energy", ylabel="(E − E₀) / |E₀|")
    energy.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    virial.plot(time, table.of(system, "virial_ratio"), color=BLUE, linewidth=2)
    virial.axhline(1, color=GREY, linewidth=1, linestyle="--")
    virial.set(title="Virial ratio", ylabel="2T / |W|")
    for vector, label, colour, style in (("momentum", "momentum", BLUE, "-"),
                                         ("angular_momentum", "angular momentum", VERMILION, "--"),
                                         ("centre", "centre of mass", GREEN, ":")):
        momenta.plot(
            time, table.change(system, vector), style, color=colour, linewidth=2, label=label
        )
    momenta.set(title="Momenta and centre of mass", ylabel="|change|")
    momenta.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    momenta.legend(frameon=False)
    draw_radii_on(radii, table, system)
    for axes in panels[1]:
        axes.set_xlabel("time (G = 1)")
        axes.locator_params(axis="x", nbins=6)  # with more, labels such as 0.175 would overlap
    return save(figure, path, f"{_which(table, system)}{_worst(table, system)} {note}".strip())


def draw_energies(
    tables: dict[str, DiagnosticsTable], path: Path, system: int = 0, note: str = ""
) -> Path:
    """Draws the energy errors of several runs, one line per run."""
    if len(tables) > len(CYCLE):
        raise FileError(f"{len(tables)} runs, but a figure has colours for at most {len(CYCLE)}")
    figure, axes = pyplot.subplots(figsize=(6.8, 4.6), layout="constrained")
    for (label, table), colour in zip(tables.items(), CYCLE):
        _check(table, system)
        error = abs(table.of(system, "energy_error"))
        axes.plot(table.of(system, "time"), numpy.where(error > 0, error, numpy.nan), color=colour,
                  linewidth=1.6, label=literal(label))
    # An error passes through 0 when it changes sign, so the logarithmic axis needs a lower limit.
    floor = (
        min(float(numpy.median(abs(table.of(system, "energy_error")))) for table in tables.values())
        / 100
    )
    axes.set(
        yscale="log", xlabel="time (G = 1)", ylabel="|E − E₀| / |E₀|", ylim=(floor or None, None)
    )
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    worst = ", ".join(
        f"{label} {numpy.abs(table.of(system, 'energy_error')).max():.1e}"
        for label, table in tables.items()
    )
    which = ("" if all(table.systems == 1 for table in tables.values()) else
             f"System {system + 1} of each run. ")
    return save(figure, path, f"{which}Largest errors: {worst}. {note}".strip())


def draw_radii(table: DiagnosticsTable, path: Path, system: int = 0, note: str = "") -> Path:
    _check(table, system)
    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    draw_radii_on(axes, table, system)
    axes.set_xlabel("time (G = 1)")
    return save(
        figure,
        path,
        f"{_which(table, system)}Radii around the centre of mass that contain 10 to "
        f"90 % of the mass. {_worst(table, system)} {note}".strip(),
    )


def draw_radii_on(axes: Axes, table: DiagnosticsTable, system: int) -> None:
    time = table.of(system, "time")
    radii_by_share = {label: table.of(system, column) for label, column in RADII.items()}
    for (label, radius), colour in zip(radii_by_share.items(), CYCLE):
        axes.plot(time, radius, color=colour, linewidth=2.5 if label == "50 %" else 1.8)
    smallest = min(radius.min() for radius in radii_by_share.values())
    largest = max(radius.max() for radius in radii_by_share.values())
    if smallest > 0 and largest > 4 * smallest:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set(title="Lagrangian radii", ylabel="radius (length)")
    right = int(numpy.argmax(time))  # the first row if time runs backwards
    _label_ends(axes, time[right], {label: r[right] for label, r in radii_by_share.items()})


def _label_ends(axes: Axes, end: float, radii: dict[str, float]) -> None:
    """Labels each line at its right end. Moves a label up if it would cover the one below."""
    axes.figure.canvas.draw()  # computes the layout, which determines the positions of labels
    line = 1.3 * float(axes.xaxis.label.get_fontsize()) * axes.figure.dpi / 72
    lowest = -numpy.inf
    for (label, radius), colour in zip(radii.items(), CYCLE):
        at = axes.transData.transform((end, radius))[1]
        height = max(at, lowest + line)
        lowest = height
        axes.annotate(label, (1.01, axes.transAxes.inverted().transform((0, height))[1]),
                      xycoords="axes fraction", color=colour if colour != BLACK else GREY,
                      va="center", fontweight="bold")


def _check(table: DiagnosticsTable, system: int) -> None:
    if system >= table.systems:
        raise FileError(f"no system {system + 1}: the last system in the file is {table.systems}")
    if len(table.of(system, "time")) < 2:
        raise FileError("only one row per system, so nothing changes over time")


def _which(table: DiagnosticsTable, system: int) -> str:
    return f"System {system + 1} of {table.systems}. " if table.systems > 1 else ""


def _worst(table: DiagnosticsTable, system: int) -> str:
    error = numpy.abs(table.of(system, "energy_error")).max()
    steps = table.of(system, "step")
    return (
        f"{int(steps[-1] - steps[0])} steps; the relative energy change is at most {error:.1e}."
    )
