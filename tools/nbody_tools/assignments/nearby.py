"""Compares the loads of a program in problems that differ in the number of bodies near each body. A
search in cells loads more if more bodies are near, and a loop over all pairs if there are more
bodies anywhere.

Loads are compared line by line, and only lines that load more are added up. So a line that loads
without need in one problem does not hide what another line loads in the other problem.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from nbody_tools.inspection.trace import Inspection


@dataclass(frozen=True)
class Growth:
    """Limits on the loads, shuffles and shared atomics that are added per body."""
    bodies: int  # difference of the numbers of bodies of the problems with cells that stand alone
    most_alone: float  # if all other cells around a body stay empty, but there are more bodies
    least_crowded: float  # if the same number of bodies fill neighbouring cells


def reads_per_body(found: Inspection, bodies: float) -> dict[tuple, float]:
    """Returns the loads and shared atomics of each line, and the shuffles of each kernel."""
    reads: dict[tuple, float] = defaultdict(float)
    for kernel in found.kernels:
        for row in kernel.rows:
            if row.access == "load" or (row.memory, row.access) == ("shared", "atomic"):
                reads[row.place.file, row.place.line] += row.executions / bodies
        reads[kernel.name, "shuffles"] += kernel.shuffles.get("executions", 0) / bodies
        reads[kernel.name, "variables"] += kernel.variable_loads / bodies
    return reads


def added(fewer: Inspection, bodies_of_fewer: float, more: Inspection, bodies: float) -> float:
    """Returns the sum of what lines read more per body in `more` than in `fewer`."""
    before = reads_per_body(fewer, bodies_of_fewer)
    after = reads_per_body(more, bodies)
    return sum(max(0.0, count - before[line]) for line, count in after.items())
