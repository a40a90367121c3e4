"""Counts the operations that each source line of a kernel executes: additions, divisions, ...

The program itself counts its operations: clang++ compiled it with counters
(hostcuda/launcher/counting.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Sequence

from nbody_tools.inspection.source_lines import Place, shown_path

TYPES = ("float32", "float64", "float16", "integer", "conversion", "threads")
OPERATIONS = (
    "add",
    "mul",
    "fma",
    "div",
    "sqrt",
    "rsqrt",
    "compare",
    "function",
    "logic",
    "convert",
    "shuffle",
    "vote",
    "warp_barrier",
    "barrier",
)


@dataclass(frozen=True)
class Operation:
    """The number of operations of one kind that all threads of a kernel execute in one line."""
    place: Place
    type: str
    operation: str
    count: int


def count_instructions(
    program: Path, arguments: Sequence[str], timeout: float
) -> dict[str, list[Operation]]:
    """Returns the counts of each kernel. Returns no counts if the program failed before it wrote
    them; the traced run then reports the failure."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "count.json"
        try:
            subprocess.run([program, *arguments], env={**os.environ, "HOSTCUDA_COUNT": str(record)},
                           timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return {}
        if not record.exists():
            return {}
        found = json.loads(record.read_text(encoding="utf-8", errors="replace"))
    return {
        kernel["name"]: [
            Operation(
                Place(shown_path(one["file"]), one["line"]),
                one["type"],
                one["operation"],
                one["count"],
            )
            for one in kernel["operations"]
        ]
        for kernel in found["kernels"]
    }


def sums(operations: Iterable[Operation]) -> dict[str, dict[str, int]]:
    """Returns {type: {operation: count}}, in the order of TYPES and OPERATIONS."""
    counts: Counter = Counter()
    for one in operations:
        counts[one.type, one.operation] += one.count
    return {
        of: {operation: counts[of, operation] for operation in OPERATIONS if counts[of, operation]}
        for of in TYPES
        if any(counts[of, operation] for operation in OPERATIONS)
    }


def by_line(operations: Iterable[Operation]) -> dict[Place, list[Operation]]:
    lines: dict[Place, list[Operation]] = {}
    for one in sorted(operations, key=lambda one: (one.place.file, one.place.line)):
        lines.setdefault(one.place, []).append(one)
    return lines
