"""Makes the tables of experiments/activity_map from records: times of the variants for several
numbers of bodies N, and for several numbers D of cells per side of the map."""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean
from typing import Any, Sequence

from nbody_tools.records.record import Record, check_measurement, newest_measured
from nbody_tools.tables import ABSENT, NOT_MEASURED, markdown, seconds

FOLDER = Path("docs") / "results" / "activity_map"
SMALL_MAP, FEW_BODIES = 10, 1024  # D where only N varies, and N where only D varies
Row = tuple[str, int]  # a variant and its number of threads per block


def check_activity(data: Any) -> None:
    check_measurement(data)
    for key, kind in (("rung", str), ("block", int), ("cells", int)):
        if not isinstance(data.get(key), kind):
            raise ValueError(f"'{key}' is {data.get(key)!r}, not a {kind.__name__}")


def newest_records(root: Path) -> list[Record]:
    return newest_measured(root / FOLDER, check_activity)


def measured(root: Path) -> str:
    records = newest_records(root)
    if not records:
        return NOT_MEASURED
    first = records[0]
    over_bodies = [r for r in records if r.data["cells"] == SMALL_MAP]
    over_cells = [r for r in records if r.data["bodies"] == FEW_BODIES and r not in over_bodies]
    tables = [(f"D = {SMALL_MAP}, over N:", over_bodies, "bodies"),
              (f"N = {FEW_BODIES}, over D:", over_cells, "cells")]
    text = (f"The tables show the median compute time of {first.data['steps']} time steps, and the "
            "geometric mean of the speedup over the baseline. Measured on "
            f"{first.machine}, {first.date[:10]}.")
    for title, chosen, key in tables:
        if chosen:
            text += f"\n\n{title}\n\n" + markdown(*table(chosen, key))
    failed = sorted({r.data["rung"] for r in records if r.verdict != "pass"})
    return text + (f"\n\nRejected by their checks: {', '.join(failed)}." if failed else "")


def table(records: Sequence[Record], key: str) -> tuple[list[str], list[list[str]]]:
    sizes = sorted({record.data[key] for record in records})
    times: dict[Row, dict[int, float]] = {}
    for record in records:
        row = record.data["rung"], record.data["block"]
        times.setdefault(row, {})[record.data[key]] = record.data["median"]["compute"]
    base = next((row for row in times if row[0] == "baseline"), None)
    rows = [[row[0], str(row[1]),
             *(seconds(by_size[size]) if size in by_size else ABSENT for size in sizes),
             speedup(times[base] if base else {}, by_size)] for row, by_size in times.items()]
    return ["rung", "block", *map(str, sizes), "speedup"], rows


def speedup(base: dict[int, float], times: dict[int, float]) -> str:
    ratios = [base[size] / times[size] for size in times if size in base]
    return f"{geometric_mean(ratios):.2f}" if ratios else ABSENT
