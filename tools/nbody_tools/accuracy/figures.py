"""Draws the figures of docs/accuracy.md: force errors against rates, and the change of conserved
quantities during a long run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Sequence

from matplotlib.ticker import LogLocator

from nbody_tools.accuracy.tables import DRIFTS, kind_of, name_of, rate
from nbody_tools.figures.style import (
    BLUE,
    GREEN,
    GREY,
    GRID,
    ORANGE,
    SOFT,
    VERMILION,
    dates,
    machines,
    pyplot,
    save,
)
from nbody_tools.records.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COMPENSATED = "float32, compensated"
STYLES = {"float32, one running sum": (VERMILION, "s"), "float32, a sum per tile": (BLUE, "o"),
          COMPENSATED: (ORANGE, "D"), "float64": (GREEN, "^")}
# The abstract of arXiv 1803.01190 states these numbers for 2^20 bodies and 10,000 steps.
CLAIMED_STEPS = 10000
CLAIMED = {"energy": (1e-3, 1e-5), "momentum": (1e-2, 1e-15), "angular_momentum": (1e-3, 1e-13)}


FLOAT64 = "float64"
VARIANTS = {
    "step11_running_sum": "11, one sum",
    "step11_kahan_tiles": "11, tiles",
    "step11_kahan": "11, all",
}


def draw_errors(records: Sequence[Record], path: Path) -> Path:
    """Draws one column of panels per problem. float64 has its own panel, because its errors are far
    smaller."""
    problems = list(dict.fromkeys((r.problem.systems, r.problem.bodies) for r in records))
    kinds = [kind for kind in STYLES if any(kind_of(r) == kind for r in records)]
    rows = (
        [kinds]
        if FLOAT64 not in kinds or len(kinds) == 1
        else [[k for k in kinds if k != FLOAT64], [FLOAT64]]
    )
    figure, grid = pyplot.subplots(
        len(rows),
        len(problems),
        figsize=(7 * len(problems), 6.5),
        layout="constrained",
        squeeze=False,
        sharex="col",
        sharey="row",
        height_ratios=[3, 1][: len(rows)],
    )
    for row, line in zip(rows, grid):
        for problem, axes in zip(problems, line):
            chosen = [r for r in records if (r.problem.systems, r.problem.bodies) == problem]
            axes.set(xscale="log", yscale="log")
            axes.grid(color=GRID)
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("")
            spread = math.log10(max(map(rate, chosen)) / min(map(rate, chosen)))
            for kind in row:
                draw_kind(
                    axes,
                    kind,
                    sorted((r for r in chosen if kind_of(r) == kind), key=rate),
                    0.06 * spread,
                )
            axes.margins(x=0.08, y=0.25)
    for problem, top, bottom in zip(problems, grid[0], grid[-1]):
        top.set_title(f"{problem[0]} x {problem[1]} bodies")
        bottom.set_xlabel("G interactions/s")
    grid[0][0].set_ylabel("|a − a$_{ref}$| / |a$_{ref}$|")
    for kind in kinds:
        colour, marker = STYLES[kind]
        grid[0][0].plot([], [], marker, color=colour, markersize=8, label=kind)
    grid[0][0].legend(frameon=False, loc="lower left")
    return save(figure, path, "Relative errors of the accelerations, RMS (symbol), from the median "
                              "to the 99.9th percentile "
                "(line), against the rate of the kernels; labels are step numbers. N² "
                f"interactions per step and system. {machines(records)}, {dates(records)}.")


def draw_kind(axes: Axes, kind: str, records: Sequence[Record], near: float) -> None:
    """Draws the programs of one kind. Neighbouring programs with similar rates share a label if the
    upper ends of their error lines differ by less than a factor of two."""
    colour, marker = STYLES[kind]
    groups: list[list[Record]] = []
    for record in records:
        error, x = record.data["force_error"], rate(record)
        axes.plot(
            [x, x], [error["median"], error["p999"]], "-", color=colour, linewidth=1.2, alpha=0.7
        )
        axes.plot([x], [error["rms"]], marker, color=colour, markersize=8, markeredgecolor="white")
        first = groups[-1][0] if groups else None
        if (first and record.step not in VARIANTS and math.log10(x / rate(first)) < near
                and 0.5 < error["p999"] / first.data["force_error"]["p999"] < 2):
            groups[-1].append(record)
        else:
            groups.append([record])
    for group in groups:
        names = sorted(VARIANTS.get(r.step) or r.number for r in group)
        middle = math.sqrt(rate(group[0]) * rate(group[-1]))
        below = kind == COMPENSATED  # there is space for labels below these lines
        end = (min(r.data["force_error"]["median"] for r in group) if below else
               max(r.data["force_error"]["p999"] for r in group))
        axes.annotate(
            "\n".join(in_rows(names)),
            (middle, end),
            xytext=(0, -6 if below else 4),
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
            fontsize=12,
            color=SOFT,
            linespacing=1.1,
        )


def in_rows(names: Sequence[str]) -> list[str]:
    """Arranges names two per row, because a taller label would overlap other lines."""
    return [", ".join(names[k:k + 2]) for k in range(0, len(names), 2)]


def draw_disks(records: Sequence[Record], path: Path) -> Path:
    figure, grid = pyplot.subplots(
        1, len(DRIFTS), figsize=(6 * len(DRIFTS), 5.2), layout="constrained"
    )
    for axes, (key, title) in zip(grid, DRIFTS.items()):
        for record, line in zip(records, ("-", "-", "--", ":")):
            drift, (colour, marker) = record.data["drift"], STYLES[kind_of(record)]
            points = [
                (step, abs(value)) for step, value in zip(drift["step"], drift[key]) if value != 0
            ]
            axes.plot(
                *zip(*points),
                line,
                marker=marker,
                markersize=4,
                color=colour,
                label=name_of(record),
            )
        for claim, kind in zip(CLAIMED[key], ("float32", "float64")):
            axes.plot(
                [CLAIMED_STEPS],
                [claim],
                "x",
                color=GREY,
                markersize=10,
                markeredgewidth=2,
                clip_on=False,
            )
            axes.annotate(
                f"{kind}, arXiv 1803.01190",
                (CLAIMED_STEPS, claim),
                xytext=(-8, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=10,
                color=SOFT,
            )
        axes.set(yscale="log", xlabel="time step", title=title)
    grid[0].set_ylabel("change since the start")
    grid[0].legend(frameon=False, fontsize=10)
    return save(
        figure,
        path,
        "A disk galaxy in a live halo: changes of the energy (relative), of the momentum (in units "
        "of mass times RMS speed) and of the angular momentum (relative). Crosses: what arXiv "
        f"1803.01190 states for a disk of 2^20 bodies. {records[0].problem}. {machines(records)}, "
        f"{dates(records)}.",
    )
