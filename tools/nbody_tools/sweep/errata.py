"""Recomputes the published results from the published tables, for docs/errata.md."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any, Iterator

from nbody_tools.sweep.tables import Table, read_tables

LAB = {"systems": 32, "bodies": 8192, "steps": 20}
FLOAT_MAX = 3.4028234663852886e38


def published(table: Table, series: str) -> dict[str, float]:
    return {
        cell.point: cell.published
        for cell in table.cells
        if cell.series == series and cell.published is not None
    }


def ratios(before: dict[str, float], after: dict[str, float], over: str) -> list[float]:
    """Returns the ratios before / after at the points whose names start with `over` ("N" or
    "D")."""
    return [before[point] / after[point] for point in before if point.startswith(over)]


def span(values: list[float], digits: int = 1) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def computed(tables: dict[str, Table]) -> Iterator[tuple[str, str]]:
    yield from of_the_lab(tables)
    yield from of_the_map(tables)
    yield from of_the_project(tables)
    yield "softening_length", f"{math.sqrt(1e-9):.1e}"
    yield "overflow_distance", f"{FLOAT_MAX ** (1 / 6):.1e}"
    yield "gems_rate", f"{4 / 72 * 128 * 1.35 * 20:.0f}"


def of_the_lab(tables: dict[str, Table]) -> Iterator[tuple[str, str]]:
    interactions = LAB["systems"] * LAB["bodies"] ** 2 * LAB["steps"] * 1e-9
    steps = {
        name: times[""]
        for name in tables["lab_table_7"].series
        if (times := published(tables["lab_table_7"], name))
    }
    multi, single = steps["multiple GPUs"], steps["further streams"]
    best = max(published(tables["lab_table_1"], name)[""] for name in tables["lab_table_1"].series)
    yield "lab_interactions", f"{interactions:.2f}"
    yield "lab_multi_rate", f"{interactions / multi:.1f}"
    yield "lab_multi_by_time", f"{single / multi:.2f}"
    yield "lab_multi_by_rate", f"{370.1884 / 100.8395:.2f}"
    yield "lab_layout", f"{steps['data layout'] / steps['GPU']:.2f}"
    yield "lab_tiles", f"{best:.1f}"
    yield "lab_tiles_in_all", f"{interactions / steps['tiling']:.1f}"
    yield "lab_tail", str(1000 % 512)


def of_the_map(tables: dict[str, Table]) -> Iterator[tuple[str, str]]:
    types = tables["map_table_04"]
    before, after = (published(types, name) for name in types.series[:2])
    speedups = [before[point] / after[point] for point in before if point.startswith("N")]
    yield "map_types_first", f"{speedups[0]:.4f}"
    yield "map_types_mean", f"{mean(speedups):.4f}"
    yield "map_types_mean_as_printed", f"{mean([1.0003, *speedups[1:]]):.4f}"
    baseline = published(tables["map_table_03"], "32")
    shared = published(tables["map_table_09"], "after")
    large = {
        point: time
        for point, time in baseline.items()
        if point[0] == "N" and int(point[2:]) >= 10000
    }
    small = {
        point: time
        for point, time in baseline.items()
        if point[0] == "N" and int(point[2:]) < 10000
    }
    yield "map_over_n_large", span(ratios(large, shared, "N"))
    yield "map_over_n_small", span(ratios(small, shared, "N"), 0)
    yield "map_over_d", span(ratios(baseline, shared, "D"), 2)
    pairs = tables["map_table_11"]
    slower = ratios(published(pairs, "N x N, atomic"), published(pairs, "N threads"), "N")
    yield "map_atomics", (f"{slower[0]:.1f} at the smallest N, {slower[3]:.1f} at 10,000 and "
                          f"{slower[-1]:.1f} at 50,000")
    yield "map_block", str(2560 // 40)
    yield "map_fewer", f"{10000 ** 2 / (10000 * 10001 / 2):.4f}"


def of_the_project(tables: dict[str, Table]) -> Iterator[tuple[str, str]]:
    cpu, gpu = tables["project_table_a4"], tables["project_table_a2"]
    one, four = (
        ratios_at(cpu, f"CPU0, {threads}", f"CPU1, {threads}")
        for threads in ("1 thread", "4 threads")
    )
    yield "project_100k_one", f"{one['100k']:.2f}"
    yield "project_20k_four", f"{four['20k']:.2f}"
    yield "project_20k_one", f"{one['20k']:.2f}"
    rsqrt = []
    for point in gpu.points:
        of_stage = {name.partition(",")[0]: values[point] for name in gpu.series
                    if point in (values := published(gpu, name))}
        rsqrt.append(of_stage["GPU2"] / of_stage["GPU3"])
    yield "project_rsqrt", span(rsqrt, 2)
    conflicts = ratios_at(tables["project_table_a3"], "GPU5, 4 x 256, 256", "GPU6, 4 x 256, 256")
    yield "project_conflicts", f"{conflicts['200k']:.2f}"


def ratios_at(table: Table, before: str, after: str) -> dict[str, float]:
    first, second = published(table, before), published(table, after)
    return {point: first[point] / second[point] for point in first if point in second}


def words(root: Path) -> dict[str, Any]:
    @cache
    def values() -> dict[str, str]:
        return dict(computed(read_tables(root)))

    return {"recomputed": lambda name: values()[name]}
