"""Compares the default configuration of each step with the step's worst, median and best ones.
Makes the last table of docs/reports.md."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from nbody_tools.sweep.judge import Results, speed
from nbody_tools.sweep.tables import FOLDER, Table, read_tables
from nbody_tools.tables import NOT_MEASURED, markdown, plain

CLOUD = "cloud"
ALLOWED = 0.05  # the default may be slower than the best by this share


@dataclass(frozen=True)
class Cloud:
    step: str
    rates: dict[str, float]  # G interactions/s by configuration, fastest first
    default: str
    all: int  # number of configurations, measured or not
    records: tuple[dict[str, Any], ...]

    @property
    def best(self) -> str:
        return next(iter(self.rates))

    @property
    def loss(self) -> float:
        """Returns the share of the best configuration's speed that the default lacks; 0.05 means
        that the default is 5 % slower."""
        return 1 - self.rates[self.default] / self.rates[self.best]


def steps_of(table: Table) -> list[str]:
    return list(dict.fromkeys(cell.runs.program.source for cell in table.cells))


def of_steps(table: Table, results: Results) -> Results:
    """Returns results for comparing configurations: if one run measured all configurations of a
    step, the records of that step come from this run."""
    return results.of_one_run(
        [cell for cell in table.cells if cell.runs.program.source == step]
        for step in steps_of(table)
    )


def clouds(root: Path) -> list[Cloud]:
    """Returns the rates of all configurations (a cloud) for each step. Omits a step if the
    result of one of its configurations is missing."""
    if not (root / FOLDER).is_dir():
        return []
    table = read_tables(root)[CLOUD]
    results = of_steps(table, Results(root))
    result = []
    for step in steps_of(table):
        cells = [cell for cell in table.cells if cell.runs.program.source == step]
        speeds = {
            cell.series: s.median
            for cell in cells
            if (s := speed(cell, table, results)) is not None
        }
        default = next(cell.series for cell in cells if not cell.runs.program.define)
        if default in speeds and not any(results.of(cell) is None for cell in cells):
            ordered = dict(sorted(speeds.items(), key=lambda item: -item[1]))
            records = tuple(
                data for cell in cells if (data := results.of(cell)) and "failure" not in data
            )
            result.append(Cloud(step, ordered, default, len(cells), records))
    return result


def drawn_clouds(root: Path) -> list[Cloud]:
    """Returns all clouds. If the cloud of any step is missing, returns none, because a picture of
    only some steps would say little."""
    found = clouds(root)
    return found if found and len(found) == len(steps_of(read_tables(root)[CLOUD])) else []


def cloud_table(root: Path) -> str:
    rows = []
    for cloud in clouds(root):
        rates = list(cloud.rates.values())
        rows.append(
            [
                cloud.step,
                f"{len(rates)} of {cloud.all}",
                plain(rates[-1]),
                plain(median(rates)),
                plain(cloud.rates[cloud.default]),
                plain(rates[0]),
                cloud.best.partition(", ")[2] or "the default",
                f"{100 * cloud.loss:.1f} %",
            ]
        )
    if not rows:
        return NOT_MEASURED
    return markdown(
        ["step", "measured", "worst", "median", "default", "best", "best configuration",
         "default slower by"],
        rows,
    )


def listed_slow_defaults(root: Path) -> str:
    slow = [
        f"{cloud.step} ({100 * cloud.loss:.1f} %)" for cloud in clouds(root) if cloud.loss > ALLOWED
    ]
    return ", ".join(slow) or "none"


def default_loss(root: Path, step: str) -> str:
    """Returns, as text, by how much a step's default is slower than its best configuration."""
    found = {cloud.step: cloud for cloud in clouds(root)}
    return f"{100 * found[step].loss:.1f} %" if step in found else NOT_MEASURED


def slow_defaults(root: Path) -> list[str]:
    return [f"{cloud.step}: the default is {100 * cloud.loss:.1f} % slower than {cloud.best}; "
            f"at most {100 * ALLOWED:.0f} % is allowed"
            for cloud in clouds(root) if cloud.loss > ALLOWED]
