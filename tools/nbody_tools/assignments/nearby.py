"""Compares the loads of a program in problems that differ in the number of bodies near each body,
or far from it. A search in cells loads more if more bodies are near, and a loop over all pairs if
there are more bodies anywhere.

In the first three problems, 16, 32 and 64 cells stand alone, with equally many bodies each. So a
body always looks at equally many others. Even then a program may load more per body if there are
more bodies: a binary search takes one step more, from 16 to 32 cells as from 32 to 64. But a loop
over all bodies adds twice as many loads from 32 to 64 cells, even if a load serves 32 bodies. So
the limits are on the difference of the two increases. It may be larger outside the search, for a
sort. A loop over all bodies that goes through whole blocks of 1024 adds nothing, because there are
fewer bodies. So two problems have rows of cells that stand alone, with up to 2000 bodies.

Loads are compared line by line, and only lines that load more are added up. So a line that loads
without need in one problem does not hide what another line loads in the other problem.

A load counts once for every word of 4 bytes. Otherwise a loop over all pairs whose loads fetch four
coordinates each, for a thread with four bodies, would load less than a search in cells may load.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple, Optional, Sequence

from nbody_tools.inspection.trace import Inspection, Kernel
from nbody_tools.labs.counts import reading_kernel

WORD = 4  # bytes
# Factor on the limits on differences, for a program with wrong results that accesses memory out of
# bounds. Its lists may begin at wrong places (an inclusive scan), so that a body looks at more
# others if more cells have bodies.
WRONG_LISTS = 10


@dataclass(frozen=True)
class Growth:
    """Limits on the loads, shuffles, votes and shared atomics that are added per body."""
    cells: tuple[int, int, int]  # cells that stand alone in the first three problems
    bodies: tuple[int, int]  # least and largest number in each of these cells
    most_far: float  # difference of the two increases between these problems, in all kernels
    most_far_in_search: float  # the same for the kernel that searches
    most_in_rows: float  # increase in the search if there are twice as many rows of cells
    least_crowded: float  # increase from the third problem to crowded neighbouring cells

    @property
    def of_all_pairs(self) -> int:
        """Returns the least difference for a loop over all pairs with one load for each body."""
        few, some, many = self.cells
        return self.bodies[0] * ((many - some) - (some - few))


class Counted(NamedTuple):
    """The trace of a program in one problem, and the number of bodies there."""
    found: Inspection
    bodies: float

    def reads(self, kernel: Optional[str] = None) -> dict[tuple, float]:
        """Returns the words per body that each line loads, its shared atomics, and each kernel's
        shuffles and votes; of one kernel, if its name is given."""
        kernels = [one for one in self.found.kernels if kernel in (None, one.name)]
        return reads_per_body(kernels, self.bodies)


def reads_per_body(kernels: Sequence[Kernel], bodies: float) -> dict[tuple, float]:
    reads: dict[tuple, float] = defaultdict(float)
    for kernel in kernels:
        for row in kernel.rows:
            if row.access == "load" or (row.memory, row.access) == ("shared", "atomic"):
                words = max(1.0, row.bytes / WORD)
                reads[row.place.file, row.place.line] += words * row.executions / bodies
        for what, calls in (("shuffles", kernel.shuffles), ("votes", kernel.votes)):
            reads[kernel.name, what] += calls.get("executions", 0) / bodies
        reads[kernel.name, "variables"] += kernel.variable_loads / bodies
    return reads


def broken(limits: Growth, counted: Sequence[Counted], has_wrong_lists: bool) -> str:
    """Returns a message for a broken limit, or an empty string. `counted` has what the program read
    in the problems that the family's nearby() returns."""
    *alone, half, rows, crowd = counted
    kernel = reading_kernel(crowd.found.kernels)
    search = kernel.name if kernel else None
    factor = WRONG_LISTS if has_wrong_lists else 1
    equally = "because a body always looks at equally many others"
    for name, where, most in ((search, "in the search ", limits.most_far_in_search),
                              (None, "", limits.most_far)):
        difference = difference_of_increases(*(one.reads(name) for one in alone))
        if difference > most * factor:
            few, some, many = limits.cells
            return (f"where cells stand alone, the loads and shuffles {where}per body may grow at "
                    f"most {most:g} more from {some} to {many} cells than from {few} to {some}, "
                    f"{equally}; the difference is {difference:.3g}")
    of_rows = added(half.reads(search), rows.reads(search))
    if of_rows > limits.most_in_rows * factor:
        return ("where rows of cells stand alone, there may be at most "
                f"{limits.most_in_rows:g} loads and shuffles in the search per body more for twice "
                f"as many rows, {equally}; there are {of_rows:.3g} more")
    of_crowd = added(alone[-1].reads(), crowd.reads())
    if of_crowd >= limits.least_crowded:
        return ""
    return ("where neighbouring cells have many bodies, there must be at least "
            f"{limits.least_crowded:g} loads and shuffles per body more than where cells stand "
            f"alone, because a body looks at more others; there are {of_crowd:.3g} more")


def difference_of_increases(few: dict[tuple, float], some: dict[tuple, float],
                            many: dict[tuple, float]) -> float:
    return sum(max(0.0, max(0.0, count - some.get(line, 0)) -
                   max(0.0, some.get(line, 0) - few.get(line, 0)))
               for line, count in many.items())


def added(fewer: dict[tuple, float], more: dict[tuple, float]) -> float:
    """Returns the sum of what lines read more per body in `more` than in `fewer`."""
    return sum(max(0.0, count - fewer.get(line, 0)) for line, count in more.items())
