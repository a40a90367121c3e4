"""Counts the memory accesses of a traced program from memory/."""

from __future__ import annotations

import os
from pathlib import Path

from nbody_tools.inspection.trace import ACCESSES, MEMORIES, Inspection, inspect_program

# Multiples of a warp, a tile, a block and a run, so that every request uses all its lanes.
WORDS = ("--bodies", "4096", "--systems", "32")
AWKWARD = ("--bodies", "1300", "--systems", "7")  # not multiples of a tile


def inspected(program: Path, words: tuple[str, ...] = WORDS, sms: int = 1) -> Inspection:
    os.environ["HOSTCUDA_SMS"] = str(sms)
    return inspect_program(program, words)


def costs(found: Inspection) -> dict[str, float]:
    """Maps "global load" and so on to sectors or wavefronts per request."""
    kernel = found.kernels[0]
    kinds = [(memory, access) for memory in MEMORIES for access in ACCESSES]
    return {
        f"{memory} {access}": kernel.sum("cost", memory, access) / requests
        for memory, access in kinds
        if (requests := kernel.sum("requests", memory, access))
    }


def counts(found: Inspection) -> dict[str, float]:
    """Returns the costs, and the number of barriers that a block passes."""
    kernel = found.kernels[0]
    return {**costs(found), "barriers": kernel.barriers / kernel.blocks}
