"""Limits on the time of a submission on a GPU. The unit is the time that the GPU needs to copy the
program's input within its memory.

times.csv has the time of each variant's reference in this unit, measured on an H200. A submission
may take FULL_WITHIN times as long as the reference. The copy is timed on the same GPU as the
submission (timing.py), so a limit also holds on another GPU if memory is the bottleneck there too.
"""

from __future__ import annotations

import csv
import functools
from pathlib import Path
from typing import Optional

TIMES = Path(__file__).with_name("times.csv")
FULL_WITHIN = 1.5  # full points up to this multiple of the reference's time
NONE_FROM = 10.0  # no points from this multiple on


@functools.lru_cache
def times_of_references() -> dict[str, float]:
    """Returns the times of all references by the names of their variants. The unit is the time of
    one copy of the input."""
    with TIMES.open(encoding="utf-8", newline="") as file:
        return {row["variant"]: float(row["copies"]) for row in csv.DictReader(file)}


def time_limit(variant: str) -> Optional[float]:
    """Returns the longest time for full points, or None if the reference was not timed. The unit is
    the time of one copy of the input."""
    reference = times_of_references().get(variant)
    return None if reference is None else round(FULL_WITHIN * reference, 2)


def share_of_time(copies: float, limit: float) -> float:
    if copies <= limit:
        return 1.0
    return limit / copies if copies < limit * NONE_FROM / FULL_WITHIN else 0.0
