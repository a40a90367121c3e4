"""Draws the time, throughput and speedup of the steps, from one record per step.

The figures have dots instead of bars, because the times span orders of magnitude and the length of
a bar means nothing on a logarithmic axis. Error bars show the quartiles of the repeats.
"""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Optional, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from nbody_tools.figures.style import (
    BLUE,
    GREY,
    GRID,
    PAGE,
    VERMILION,
    dates,
    machines,
    pyplot,
    save,
)
from nbody_tools.records.record import Quartiles, Record
from nbody_tools.records.staircase import Staircase

ROW_HEIGHT = 0.42  # inches
# Style of the background of a number. It hides the lines of the grid and of the peak.
BEHIND_NUMBERS = {"boxstyle": "square,pad=0.1", "facecolor": PAGE, "edgecolor": "none"}
Values = Sequence[Optional[Quartiles]]


def number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def dot_plot(axes: Axes, labels: Sequence[str], filled: Values, hollow: Values = (),
             highlight: Optional[int] = None) -> None:
    """Draws one row per step, with step 00 at the top. Writes the value next to each filled dot.
    Draws no dot for a value of None."""
    for values, face in ((hollow, PAGE), (filled, None)):
        for row, value in enumerate(values):
            if value is None:
                continue
            colour = VERMILION if row == highlight else BLUE
            axes.errorbar(value.median, row, fmt="o", markersize=8, color=colour,
                          markerfacecolor=face or colour, ecolor=colour, capsize=4,
                          xerr=[[value.median - value.low], [value.high - value.median]])
            if face is None:
                # Writes the number to the right of both dots of the row, so that it covers neither.
                others = [found for other in (filled, hollow) if other and (found := other[row])]
                axes.annotate(number(value.median), (max(o.high for o in others), row),
                              xytext=(9, 0), textcoords="offset points", va="center", fontsize=12,
                              bbox=BEHIND_NUMBERS)
    axes.set_xscale("log")
    medians = [v for values in (filled, hollow) for v in values if v is not None]
    low, high = min(v.low for v in medians), max(v.high for v in medians)
    # Leaves space for the numbers on the right.
    # The axis spans at least a factor of ten, so that noise does not look significant.
    span = max(high / low, 10.0)
    axes.set_xlim(low / span ** 0.08, low * span ** 1.3)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if span < 50 else (1.0,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(axis="both", color=GRID, linewidth=0.8)


def execution_time(axes: Axes, staircase: Staircase, highlight: Optional[int] = None) -> None:
    dot_plot(axes, [staircase.label(r) for r in staircase.records],
             [r.seconds("total") for r in staircase.records],
             [r.seconds("compute") for r in staircase.records], highlight)
    axes.set_title("Execution time")
    axes.set_xlabel("time (s), less is better")


def throughput(axes: Axes, staircase: Staircase, highlight: Optional[int] = None) -> None:
    dot_plot(axes, [staircase.label(r) for r in staircase.records],
             [r.giga_interactions_per_second("total") for r in staircase.records],
             [r.giga_interactions_per_second("compute") for r in staircase.records], highlight)
    axes.set_title("Throughput")
    axes.set_xlabel("10⁹ interactions/s, more is better")


def speedup_against_earlier(
    axes: Axes, staircase: Staircase, highlight: Optional[int] = None
) -> None:
    """Draws the speedup of the last step over each earlier step. The last step's own row shows
    1."""
    last = staircase.records[-1]
    dot_plot(axes, [staircase.label(r) for r in staircase.records],
             [last.speedup_over(r) for r in staircase.records], (), highlight)
    axes.axvline(1, color=GREY, linewidth=1)
    axes.set_title("Speedup")
    axes.set_xlabel(f"speedup of {last.number} over each (×)")


def speedup_over_base(axes: Axes, staircase: Staircase) -> None:
    base = staircase.base
    assert base is not None
    dot_plot(axes, [staircase.label(r) for r in staircase.records],
             [r.speedup_over(base) for r in staircase.records],
             [r.speedup_over(base, "compute") for r in staircase.records])
    axes.set_title(f"Speedup over {base.step}")
    axes.set_xlabel("speedup (×), more is better")


def caption(staircase: Staircase, text: str) -> str:
    repeats = sorted({len(record.data["repeats"]) for record in staircase.records})
    doubtful = [f"{r.step} ({r.verdict})" for r in staircase.records if r.verdict != "pass"]
    warning = f" Without a passed validation: {', '.join(doubtful)}." if doubtful else ""
    return (
        f"{text} Median of {' or '.join(map(str, repeats))} repeats, bars from the lower to the "
        f"upper quartile. {staircase.problem}. {machines(staircase.records)}. "
        f"{dates(staircase.records)}.{warning}"
    )


TOTAL_AND_COMPUTE = ("Filled: total time, with transfers and packing on the host. "
                     "Hollow: computation alone.")

PANELS: tuple[tuple[str, Callable[..., None], str], ...] = (
    ("time", execution_time, TOTAL_AND_COMPUTE),
    ("throughput", throughput, TOTAL_AND_COMPUTE + " N² interactions per step and system."),
    ("speedup", speedup_against_earlier, "Ratio of total times."),
)


def draw_step(staircase: Staircase, record: Record, folder: Path, ending: str,
              separate: bool) -> list[Path]:
    """Draws the three figures that compare a step with earlier ones, in one file or in three."""
    part = staircase.up_to(record)
    last = len(part.records) - 1
    height = 1.6 + ROW_HEIGHT * max(2, len(part.records))
    name = (
        f"{record.step}_{record.device_count}gpu"
        if ", " in staircase.label(record)
        else record.step
    )
    if separate:
        paths = []
        for panel, draw, text in PANELS:
            figure, axes = pyplot.subplots(figsize=(8, height))
            draw(axes, part, last)
            paths.append(save(figure, folder / f"{name}_{panel}.{ending}",
                              caption(part, f"{record.step} and the steps before it. {text}")))
        return paths
    figure, all_axes = pyplot.subplots(1, 3, figsize=(15, height), sharey=True,
                                       gridspec_kw={"wspace": 0.08})
    for axes, (_, draw, _) in zip(all_axes, PANELS):
        draw(axes, part, last)
    text = (f"{record.step} (red) and the steps before it. {TOTAL_AND_COMPUTE} "
            "Speedup: ratio of total times.")
    return [save(figure, folder / f"{name}.{ending}", caption(part, text))]


def draw_throughput(staircase: Staircase, path: Path) -> Path:
    figure, axes = pyplot.subplots(figsize=(10, 1.6 + ROW_HEIGHT * len(staircase.records)))
    throughput(axes, staircase)
    return save(figure, path, caption(staircase, "Throughput of all steps. " + TOTAL_AND_COMPUTE
                                      + " N² interactions count per step and system."))


def draw_speedups(staircase: Staircase, path: Path) -> Path:
    figure, axes = pyplot.subplots(figsize=(10, 1.6 + ROW_HEIGHT * len(staircase.records)))
    speedup_over_base(axes, staircase)
    return save(figure, path, caption(
        staircase, "Speedup of all steps over the CPU program of step 00 on a machine of the same "
        "kind. Filled: total time, with transfers and packing on the host. "
        "Hollow: computation alone."))


def draw_all(staircase: Staircase, folder: Path, ending: str = "png",
             separate: bool = False) -> list[Path]:
    paths = [path for record in staircase.records
             for path in draw_step(staircase, record, folder, ending, separate)]
    paths.append(draw_throughput(staircase, folder / f"all_throughput.{ending}"))
    if staircase.base is not None:
        paths.append(draw_speedups(staircase, folder / f"all_speedup.{ending}"))
    return paths
