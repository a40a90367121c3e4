"""Draws the diagrams of the documents, at least one per step: docs/figures/diagrams/NAME.svg.

  ./nbody diagrams            redraws diagrams that are out of date
  ./nbody diagrams --check    changes nothing; lists outdated diagrams, and exits 1 if there are any
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Callable

from nbody_tools.arguments import ROOT, existing_folder, write_whole_file
from nbody_tools.diagrams import (bandwidth, blocks, curve, expansions, instructions, launches,
                                  memory, pairs, reports, schedules, shares)
from nbody_tools.diagrams.drawing import Drawing

FOLDER = Path("docs") / "figures" / "diagrams"
# Diagrams of steps, in the order of the steps.
DIAGRAMS: dict[str, Callable[[], Drawing]] = {
    "step00_interactions": launches.interactions,
    "step01_launch": launches.launch,
    "step02_strides": memory.strides,
    "step03_tile": blocks.tile,
    "step04_unrolled": instructions.unrolled,
    "step04b_waves": launches.waves,
    "step05_pageable": schedules.pageable,
    "step06_budget": instructions.budget,
    "step07_pinned": schedules.pinned,
    "step08_devices": schedules.devices,
    "step09_layouts": memory.layouts,
    "step10_chunks": pairs.chunks,
    "step11_registers": blocks.registers,
    "step12_rotation": pairs.rotation,
    "step13_persistent": schedules.persistent,
    "step14_segments": pairs.segments,
    "step15_tree": curve.tree_walk,
    "step15b_openings": curve.tree_openings,
    "step15c_clouds": curve.soft_clouds,
    "step15d_expansions": expansions.expansions,
    "step15e_waiting": schedules.waiting,
    "step16_levels": expansions.levels,
    # Diagrams of other pages, grouped by page.
    "memory_coalescing": bandwidth.coalescing,
    "memory_tile": bandwidth.tile,
    "memory_sums": bandwidth.sums,
    "memory_roofline": bandwidth.roofline,
    "gems_tile": reports.tile,
    "gems_all_pairs": reports.all_pairs,
    "project_blocks": reports.blocks_2d,
    "project_banks": reports.banks,
    "project_partials": shares.partial_sums,
    "project_pairs": shares.each_pair_once,
    "project_shares": shares.shares_of_threads,
    "map_warps": shares.warps_over_blocks,
}


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("--check", action="store_true", help="change nothing, and list stale diagrams")
    p.add_argument(
        "--root", type=existing_folder, default=ROOT, metavar="DIR", help="root of the repository"
    )


def run(options: argparse.Namespace) -> int:
    stale = 0
    for name, draw in DIAGRAMS.items():
        path, text = options.root / FOLDER / f"{name}.svg", draw().svg()
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        if options.check:
            print(f"{FOLDER / name}.svg: is missing or out of date; run ./nbody diagrams")
        else:
            write_whole_file(path, text)
            print(path.relative_to(options.root))
    known = {f"{name}.svg" for name in DIAGRAMS}
    for path in sorted((options.root / FOLDER).glob("*")):
        if path.name not in known:
            stale += 1
            print(f"{FOLDER / path.name}: no diagram has this name")
    return 1 if stale and options.check else 0
