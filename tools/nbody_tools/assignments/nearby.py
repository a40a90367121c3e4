"""Compares the loads of a program in problems that differ in the number of bodies near each body. A
search in cells loads more if more bodies are near, and a loop over all pairs if there are more
bodies anywhere.

Loads are compared line by line, and only lines that load more are added up. So a line that loads
without need in one problem does not hide what another line loads in the other problem.

A load counts once for every word of 4 bytes. Otherwise a loop over all pairs whose loads fetch four
coordinates each, for a thread with four bodies, would load less than a search in cells may load.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from nbody_tools.inspection.trace import Inspection

WORD = 4  # bytes
# Factor on Growth.most_alone for a program with wrong results that accesses memory out of bounds.
# Its lists may begin at wrong places (an inclusive scan), so that each has the bodies of two cells.
# An honest search then loads up to 2 * 72 words, where 1.5 * 110 are allowed.
WRONG_LISTS = 1.5


@dataclass(frozen=True)
class Growth:
    """Limits on the loads, shuffles and shared atomics that are added per body."""
    bodies: int  # difference of the numbers of bodies of the problems with cells that stand alone
    most_alone: float  # if all other cells around a body stay empty, but there are more bodies
    least_crowded: float  # if the same number of bodies fill neighbouring cells


def reads_per_body(found: Inspection, bodies: float) -> dict[tuple, float]:
    """Returns the words that each line loads, its shared atomics, and each kernel's shuffles."""
    reads: dict[tuple, float] = defaultdict(float)
    for kernel in found.kernels:
        for row in kernel.rows:
            if row.access == "load" or (row.memory, row.access) == ("shared", "atomic"):
                words = max(1.0, row.bytes / WORD)
                reads[row.place.file, row.place.line] += words * row.executions / bodies
        reads[kernel.name, "shuffles"] += kernel.shuffles.get("executions", 0) / bodies
        reads[kernel.name, "variables"] += kernel.variable_loads / bodies
    return reads


def added(fewer: Inspection, bodies_of_fewer: float, more: Inspection, bodies: float) -> float:
    """Returns the sum of what lines read more per body in `more` than in `fewer`."""
    before = reads_per_body(fewer, bodies_of_fewer)
    after = reads_per_body(more, bodies)
    return sum(max(0.0, count - before[line]) for line, count in after.items())
