"""The sorted clouds: every configuration of a step, from the fastest to the slowest."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

from nbody_tools.figures.style import BLUE, VERMILION, dates, machines, pyplot, save
from nbody_tools.records.record import Record
from nbody_tools.sweep.cloud import Cloud


def draw(clouds: Sequence[Cloud], path: Path) -> Path:
    figure, grid = pyplot.subplots(2, (len(clouds) + 1) // 2, figsize=(14, 7), layout="constrained", squeeze=False)
    for axes, cloud in zip(grid.flat, clouds):
        share = [100 * rate / cloud.rates[cloud.best] for rate in cloud.rates.values()]
        axes.plot(range(1, len(share) + 1), share, "-o", color=BLUE, markersize=4)
        place = list(cloud.rates).index(cloud.default)
        axes.plot([place + 1], [share[place]], "D", color=VERMILION, markersize=9)
        axes.set(title=cloud.step[4:].replace("_", " "), ylim=(0, 105))
        axes.set_xticks([1, len(share)])
        axes.grid(color="#E5E5E5")
    for axes in list(grid.flat)[len(clouds):]:
        axes.set_axis_off()
    figure.supxlabel("configurations, the fastest first")
    figure.supylabel("% of the fastest")
    records = [Record(data) for cloud in clouds for data in cloud.records]
    return save(figure, path, "Throughput of every configuration of a step, sorted; the diamond is the default. "
                f"32 systems of 8192 bodies, medians. {machines(records)}, {dates(records)}.")
