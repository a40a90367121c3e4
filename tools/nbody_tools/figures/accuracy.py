"""Figures of docs/accuracy.md: force errors against rates, and what a long run keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

from nbody_tools.documents.accuracy import DRIFTS, kind_of, name_of, rate
from nbody_tools.figures.style import BLUE, GREEN, GREY, ORANGE, VERMILION, dates, machines, pyplot, save
from nbody_tools.records.record import Record

STYLES = {"float32, one running sum": (VERMILION, "s"), "float32, a sum per tile": (BLUE, "o"),
          "float32, compensated": (ORANGE, "D"), "float64": (GREEN, "^")}
# arXiv 1803.01190, abstract: 2^20 bodies, 10,000 steps.
CLAIMED_STEPS = 10000
CLAIMED = {"energy": (1e-3, 1e-5), "momentum": (1e-2, 1e-15), "angular_momentum": (1e-3, 1e-13)}


def draw_errors(records: Sequence[Record], path: Path) -> Path:
    """A panel for each problem."""
    problems = list(dict.fromkeys((r.problem.systems, r.problem.bodies) for r in records))
    figure, grid = pyplot.subplots(1, len(problems), figsize=(7 * len(problems), 6), layout="constrained", squeeze=False,
                                   sharey=True)
    for axes, problem in zip(grid[0], problems):
        chosen = [r for r in records if (r.problem.systems, r.problem.bodies) == problem]
        for record in chosen:
            error, (colour, marker) = record.data["force_error"], STYLES[kind_of(record)]
            x = rate(record)
            axes.plot([x, x], [error["median"], error["p999"]], "-", color=colour, linewidth=1.2, alpha=0.7)
            axes.plot([x], [error["rms"]], marker, color=colour, markersize=8, markeredgecolor="white")
        label(axes, chosen)
        axes.set(xscale="log", yscale="log", xlabel="G interactions/s",
                 title=f"{problem[0]} x {problem[1]} bodies")
        axes.grid(axis="y", color="#DDDDDD")
    grid[0][0].set_ylabel("|a − a$_{ref}$| / |a$_{ref}$|")
    for kind, (colour, marker) in STYLES.items():
        grid[0][0].plot([], [], marker, color=colour, markersize=8, label=kind)
    grid[0][0].legend(frameon=False, loc="center left")
    return save(figure, path, "Relative errors of the accelerations, RMS (symbol), from the median to the 99.9th percentile "
                "(line), against the rate of the kernels; N² interactions per step and system. "
                f"{machines(records)}, {dates(records)}.")


def label(axes, records: Sequence[Record]) -> None:
    """Above the line of each program, or below it where the one to its left has its own above."""
    above = True
    for record in sorted(records, key=rate):
        error = record.data["force_error"]
        text = name_of(record).partition(" ")
        words = text[0] if record.step not in VARIANT_LABELS else VARIANT_LABELS[record.step]
        axes.annotate(words, (rate(record), error["p999" if above else "median"]), xytext=(0, 5 if above else -5),
                      textcoords="offset points", ha="center", va="bottom" if above else "top", fontsize=10,
                      color="#333333")
        above = not above


VARIANT_LABELS = {"step11_running_sum": "11, one sum", "step11_kahan_tiles": "11, tiles", "step11_kahan": "11, all"}


def draw_disks(records: Sequence[Record], path: Path) -> Path:
    figure, grid = pyplot.subplots(1, len(DRIFTS), figsize=(6 * len(DRIFTS), 5.2), layout="constrained")
    for axes, (key, title) in zip(grid, DRIFTS.items()):
        for record, line in zip(records, ("-", "-", "--", ":")):
            drift, (colour, marker) = record.data["drift"], STYLES[kind_of(record)]
            points = [(step, abs(value)) for step, value in zip(drift["step"], drift[key]) if value != 0]
            axes.plot(*zip(*points), line, marker=marker, markersize=4, color=colour, label=name_of(record))
        for claim, kind in zip(CLAIMED[key], ("float32", "float64")):
            axes.plot([CLAIMED_STEPS], [claim], "x", color=GREY, markersize=10, markeredgewidth=2, clip_on=False)
            axes.annotate(f"{kind}, arXiv 1803.01190", (CLAIMED_STEPS, claim), xytext=(-8, 0),
                          textcoords="offset points", ha="right", va="center", fontsize=10, color="#555555")
        axes.set(yscale="log", xlabel="time step", title=title)
    grid[0].set_ylabel("change since the start")
    grid[0].legend(frameon=False, fontsize=10)
    return save(figure, path, "A disk galaxy in a live halo: changes of the energy (relative), of the momentum (in units of "
                "mass times RMS speed) and of the angular momentum (relative). Crosses: what arXiv 1803.01190 states for "
                f"a disk of 2^20 bodies. {records[0].problem}. {machines(records)}, {dates(records)}.")
