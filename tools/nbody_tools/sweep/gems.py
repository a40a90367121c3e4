"""Computes from our records what the numbers in the text of GPU Gems 3, chapter 31, would be
today."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from nbody_tools.arguments import ToolError
from nbody_tools.sweep.judge import Results, speed
from nbody_tools.sweep.tables import read_tables
from nbody_tools.tables import plain

MACHINE_CODE = Path("docs") / "results" / "sass" / "sm_90_cuda_13.0.jsonl"
FLOPS = 20  # per interaction, by the chapter's count
LEAVES, NEIGHBOURS, BODIES = 512, 27, 512  # octree of depth 3 in the chapter; BODIES per leaf
LANES, CLOCK = 128, 1.35  # the chapter's GPU: lanes per SM, and clock in GHz


def computed(root: Path) -> dict[str, str]:
    tables, results = read_tables(root), Results(root)

    def rate(table: str, series: str, point: str) -> float:
        """Returns a rate in G interactions/s."""
        cell = tables[table].cell(series, point)
        speeds = speed(cell, tables[table], results.of_table(tables[table])) if cell else None
        if speeds is None:
            raise ToolError(f"{table}: '{series}', '{point}' is not measured")
        found = speeds.median
        return found / FLOPS if tables[table].measure == "GFLOP/s" else found

    ours = rate("gems_figure_31_6", "tiles of 256, unrolled by 4", "16384")
    pair_once = rate("gems_figure_31_6", "step 12, each pair once", "262144")
    portable = rate("project_table_a4", "CPU0, 1 thread", "20k") * 20000**2 * 1e-9
    near = LEAVES * NEIGHBOURS * BODIES**2 * 1e-9
    return {
        "rate": plain(ours, 3),
        "steps_per_second": plain(ours * 1e9 / 16384**2),
        "gflops": plain(ours * FLOPS),
        "slots": f"{slots_of(root, 'step07_overlap', 'update_velocities', 4):.1f}",
        "over_portable": plain(ours / portable, 3),
        "near_field": f"{near:.2f}",
        "near_field_pairs": f"{NEIGHBOURS * BODIES ** 2 * 1e-6:.1f}",
        "near_field_time": plain(near / pair_once * 1e3, 3),
        "its_gflops": f"{4 / 72 * LANES * CLOCK * FLOPS:.0f}"
    }


def slots_of(root: Path, step: str, kernel: str, interactions: int) -> float:
    """Returns the issue slots that the kernel's inner loop takes for this many interactions, as
    counted in SASS."""
    lines = map(json.loads, (root / MACHINE_CODE).read_text(encoding="utf-8").splitlines())
    loop = next(line for line in lines if (line["step"], line["kernel"]) == (step, kernel))
    return loop["slots"] / loop["interactions"] * interactions


def words(root: Path) -> dict[str, Any]:

    @cache
    def values() -> dict[str, str]:
        return computed(root)

    return {
        "gems": lambda name: values()[name],
        "machine_slots": lambda step: f"{slots_of(root, step, 'update_velocities', 4):.1f}"
    }
