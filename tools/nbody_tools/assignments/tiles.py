"""Looks at the accesses to shared memory in the first block of each kernel, to see whether a tile
passes elements from lane to lane.

The tracer gives the addresses of the first request of each warp at each place in the machine code.
Tasks with tiles are therefore compiled with UNROLLED, so that a loop over the rows of a tile makes
its requests at several places.
"""

from __future__ import annotations

from typing import Any, Iterator, Optional

from nbody_tools.inspection.trace import Inspection, Kernel

UNROLLED = ("-funroll-all-loops", "--param=max-unrolled-insns=4000",
            "--param=max-average-unrolled-insns=2000")
OTHERS_WORDS = "shared loads of what other lanes stored"
CONFLICTS = 1.2  # wavefronts per wavefront without conflicts; a tile with more has conflicts


def share_of_others(found: Inspection) -> Optional[float]:
    """Returns the share of the loads from shared memory at addresses where the loading lane has not
    stored itself, or None if nothing is loaded. A tile that passes elements from lane to lane has a
    share of about 31/32, and one in which each lane loads its own element has 0."""
    loads = others = 0
    for kernel in found.kernels:
        stored = {(one["warp"], lane, offset) for one in accesses(kernel, "store")
                  for lane, offset in enumerate(one["offsets"]) if offset is not None}
        for one in accesses(kernel, "load"):
            for lane, offset in enumerate(one["offsets"]):
                if offset is not None:
                    loads += one["requests"]
                    others += one["requests"] * ((one["warp"], lane, offset) not in stored)
    return others / loads if loads else None


def accesses(kernel: Kernel, access: str) -> Iterator[dict[str, Any]]:
    for one in (kernel.first_block or {"accesses": ()})["accesses"]:
        if (one["memory"], one["access"]) == ("shared", access):
            yield one


def is_without_conflicts(found: Inspection) -> bool:
    """Returns False if there is no tile, or if it has bank conflicts."""
    rows = [row for kernel in found.kernels for row in kernel.rows if row.memory == "shared"]
    cost, ideal = sum(row.cost for row in rows), sum(row.ideal_cost for row in rows)
    return 0 < cost <= CONFLICTS * ideal
