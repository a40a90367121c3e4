"""Draws our versions of the documents' figures. Also draws the clouds, which show every
configuration of a step, from the fastest to the slowest."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, StrMethodFormatter

from nbody_tools.figures.style import (
    BLUE,
    CYCLE,
    GREY,
    GRID,
    VERMILION,
    dates,
    machines,
    pyplot,
    save,
)
from nbody_tools.records.record import Record
from nbody_tools.sweep.charts import Chart
from nbody_tools.sweep.cloud import Cloud


def draw(clouds: Sequence[Cloud], path: Path) -> Path:
    figure, grid = pyplot.subplots(
        2, (len(clouds) + 1) // 2, figsize=(14, 7), layout="constrained", squeeze=False
    )
    for axes, cloud in zip(grid.flat, clouds):
        share = [100 * rate / cloud.rates[cloud.best] for rate in cloud.rates.values()]
        axes.plot(range(1, len(share) + 1), share, "-o", color=BLUE, markersize=4)
        place = list(cloud.rates).index(cloud.default)
        axes.plot([place + 1], [share[place]], "D", color=VERMILION, markersize=9)
        axes.set(title=cloud.step[4:].replace("_", " "), ylim=(0, 105))
        axes.set_xticks([1, len(share)])
        axes.grid(color=GRID)
    for axes in list(grid.flat)[len(clouds):]:
        axes.set_axis_off()
    figure.supxlabel("configurations, the fastest first")
    figure.supylabel("% of the fastest")
    records = [Record(data) for cloud in clouds for data in cloud.records]
    return save(
        figure,
        path,
        "Throughput of every configuration of a step, sorted; the diamond is the default. "
        f"32 systems of 8192 bodies, medians. {machines(records)}, {dates(records)}.",
    )


def draw_chart(chart: Chart, path: Path) -> Path:
    if chart.bars:
        return save(bars(chart), path, chart.caption)
    records = [Record(data) for data in chart.records]
    caption = f"{chart.caption} {machines(records)}, {dates(records)}."
    return save((rows if isinstance(chart.x[0], str) else lines)(chart), path, caption)


def rows(chart: Chart) -> Figure:
    """Draws one row per program: our value and the published one on a logarithmic axis."""
    figure, grid = pyplot.subplots(
        1,
        len(chart.panels),
        figsize=(15, 1.2 + 0.45 * len(chart.x)),
        sharey=True,
        layout="constrained",
    )
    places = list(range(len(chart.x)))
    for axes, panel in zip(grid, chart.panels):
        for values, style in (
            (panel.published, {"mfc": "white", "color": GREY}),
            (panel.ours, {"color": BLUE}),
        ):
            for name, row in values.items():
                axes.plot(row, places, "o", markersize=9, label=name, **style)
        axes.set(xscale="log", xlabel=panel.label)
        axes.grid(color=GRID)
    grid[0].set_yticks(places, chart.x)
    grid[0].invert_yaxis()
    grid[-1].legend(loc="lower left")
    return figure


def bars(chart: Chart) -> Figure:
    """Draws a group of bars for each profile, on an axis from 0 to 100 %. Each bar is labelled with
    its number."""
    values = chart.panels[0].ours
    height = 0.8 / len(values)
    figure, axes = pyplot.subplots(
        figsize=(10, 1.6 + 0.42 * len(values) * len(chart.x)), layout="constrained"
    )
    for k, (name, row) in enumerate(values.items()):
        there = [(place, value) for place, value in enumerate(row) if value is not None]
        places = [place + (k - (len(values) - 1) / 2) * height for place, _ in there]
        drawn = axes.barh(places, [value for _, value in there], 0.9 * height, color=CYCLE[k],
                          label=name)
        axes.bar_label(drawn, fmt="%.1f", padding=4)
    axes.set(xlim=(0, 105), xlabel=chart.panels[0].label)
    axes.set_yticks(range(len(chart.x)), chart.x)
    axes.invert_yaxis()
    axes.grid(axis="x", color=GRID)
    axes.set_axisbelow(True)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    return figure


OUT_OF_SYNC = Path("docs") / "results" / "claims" / "out_of_sync_10270.csv"
BLOCK = 256  # threads per block of the program that wrote the file


def draw_out_of_sync(source: Path, path: Path) -> Path:
    """Draws the final bodies of experiments/claims/out_of_sync.cu, and circles the bodies of the
    last, partial block."""
    rows = source.read_text(encoding="utf-8").split()[1:]
    points = [tuple(map(float, row.split(",")[:2])) for row in rows]
    last = len(points) // BLOCK * BLOCK
    figure, axes = pyplot.subplots(figsize=(8, 8), layout="constrained")
    axes.plot(*zip(*points[:last]), ".", color=BLUE, markersize=1.5, rasterized=True)
    axes.plot(*zip(*points[last:]), "o", mfc="none", color=VERMILION, markersize=9)
    axes.plot(*zip(*points[last:]), ".", color=VERMILION, markersize=3)
    axes.set(xlabel="x", ylabel="y", aspect="equal",
             title=f"red: the {len(points) - last} bodies of the last block")
    return save(
        figure,
        path,
        f"Figure 12 of the activity map: {len(points):,} bodies, blocks of {BLOCK}, the guard "
        "around the barriers, after 100 steps on an NVIDIA H200, 2026-11-23. The red ones "
        "fall more slowly, since their forces are wrong; with 10,240 bodies none is wrong.",
    )


def lines(chart: Chart) -> Figure:
    """Draws one line per series. Published points are hollow, and dotted lines connect them."""
    figure, axes = pyplot.subplots(figsize=(10, 5), layout="constrained")
    panel = chart.panels[0]
    for k, (name, values) in enumerate(panel.ours.items()):
        points = [(x, value) for x, value in zip(chart.x, values) if value is not None]
        axes.plot(*zip(*points), "-o", color=CYCLE[k], label=name)
    for k, (name, values) in enumerate(panel.published.items()):
        points = [(x, value) for x, value in zip(chart.x, values) if value is not None]
        if points:
            style = {"linestyle": "dotted"} if len(points) > 1 else {"linestyle": "none"}
            axes.plot(
                *zip(*points),
                marker="o",
                mfc="white",
                markersize=11,
                zorder=0,
                label=f"{name}, published" if name in panel.ours else name,
                color=CYCLE[k] if name in panel.ours else GREY,
                **style,
            )
    axes.set(xlabel=chart.x_label, ylabel=panel.label)
    if chart.logarithmic:
        axes.set(xscale="log", yscale="log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    else:
        axes.set(xlim=(0, None), ylim=(0, None))
    axes.set_xticks(chart.x, [str(x) for x in chart.x], rotation=30 if len(chart.x) > 6 else 0)
    axes.minorticks_off()
    axes.grid(color=GRID)
    axes.legend(fontsize=11, loc="upper left", bbox_to_anchor=(1, 1))
    return figure
