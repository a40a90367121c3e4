"""Looks up the counts of an inspection. A lab's limits refer to the counts by these names, in which
"the search" is the kernel that loads most from global memory:

  global loads per interaction     "global" may be replaced by "shared", "loads" by "stores" or
                                   "atomics", and "interaction" by "body" or "element"; loads from
                                   __device__ variables that a kernel has filled are global, too
  requests of global loads per body                warp requests instead of loads
  shuffles per body, votes per body                each participating lane counts as one
  requests of shuffles per body, ... of votes      each warp counts as one
  sectors per request of global loads, wavefronts per request of shared loads
  sectors of global loads per element              the sectors of all requests
  wavefronts per needed wavefront of shared loads  1 without bank conflicts
  lanes per request of shared loads                loads of all threads per request of a warp
  launches
  barriers per block               barriers that a block reaches in all launches
  grid barriers per launch
  bodies per block                 bodies, divided by the blocks of the search that load anything
  bodies per block with shared atomics   the same for the kernel that has most of them
  shuffles per thread              counts of the search, divided by its threads that load anything;
                                   also shared loads, ..., requests of shared loads
  words of global stores per thread, words of shared loads per body
                                   the same; a float4 counts as four
  loads and shuffles per body      loads from global and shared memory and from __constant__
                                   and __device__ variables, and shuffles
  loads and shuffles in the search per body        the same for the search only
  global atomics per shared load   1 if each load of a sum from shared memory is followed by one
                                   atomic operation in global memory
  loads and atomics before the search per body     loads and atomics, in global and shared memory,
                                   of all kernels except the search
  loads of one thread              the most loads of any thread in one launch, from both memories
                                   and from variables that a kernel or a copy of device memory
                                   has filled
  loads of one thread that searches                the same for the search only
  loads of one thread before the search            the same for all other kernels
  launches that load               launches whose threads load anything
  patterns of lanes                the largest number of address patterns of one access to shared
                                   memory, in a kernel's first block; 1 if all rows are stored alike
  waits of the host                calls that wait for a stream, an event or a device, or that query
                                   its state
  streams with kernels
  streams with kernels at once     largest number of streams whose kernels could run at the same
                                   time

All kernels are counted or, if the limit has the key `kernel`, those whose names contain its value.
"""

from __future__ import annotations

import re
from typing import Optional

from nbody_tools.inspection.source_lines import Place
from nbody_tools.inspection.trace import Inspection, Kernel
from nbody_tools.labs.lab import LabError, Limit

PER_UNIT = re.compile(r"(requests of )?(global|shared) (load|store|atomic)s per "
                      r"(?:interaction|body|element)")
WARP_CALLS = re.compile(r"(requests of )?(shuffles|votes) per (?:interaction|body|element)")
PER_THREAD = re.compile(r"(requests of )?(?:(global|shared) (load|store|atomic)s|shuffles) "
                        r"per thread")
PER_REQUEST = re.compile(
    r"(sectors|wavefronts) per request of (global|shared) (load|store|atomic)s"
)
PER_NEEDED = re.compile(r"(?:sectors|wavefronts) per needed (?:sector|wavefront) of "
                        r"(global|shared) (load|store)s")
COST_PER_UNIT = re.compile(r"(?:sectors|wavefronts) of (global|shared) (load|store)s per "
                           r"(?:body|element)")
LANES = re.compile(r"lanes per request of (global|shared) (load|store)s")
WORDS = re.compile(r"words of (global|shared) (load|store)s per (thread|body)")
WORD = 4  # bytes
OF_HOST = {"waits of the host": "waits", "streams with kernels": "streams_with_kernels",
           "streams with kernels at once": "streams_at_once"}
BODIES_PER_BLOCK = "bodies per block"
BODIES_PER_MAP = "bodies per block with shared atomics"
LOADS_OF_ONE_THREAD = "loads of one thread"
OF_SEARCH, BEFORE_SEARCH = " that searches", " before the search"
LOADS_AND_SHUFFLES = "loads and shuffles per body"
LOADS_OF_SEARCH = "loads and shuffles in the search per body"
ATOMICS_PER_LOAD = "global atomics per shared load"
LOADS_AND_ATOMICS = "loads and atomics before the search per body"
LAUNCHES_THAT_LOAD = "launches that load"
PATTERNS = "patterns of lanes"
UNITS = {"global": "sectors", "shared": "wavefronts"}


def value_of(limit: Limit, inspection: Inspection, units: float) -> Optional[float]:
    """Returns the count that the limit refers to, or None if nothing of this kind was counted.
    `units` is the number of interactions or bodies."""
    kernels = [kernel for kernel in inspection.kernels if limit.kernel in kernel.name]
    if match := PER_UNIT.fullmatch(limit.of):
        quantity = "requests" if match[1] else "executions"
        count = total(kernels, quantity, match[2], match[3])
        if (quantity, *match.groups()[1:]) == ("executions", "global", "load"):
            count += sum(one.filled_variable_loads for one in kernels)
        return count / units
    if match := WARP_CALLS.fullmatch(limit.of):
        quantity = "requests" if match[1] else "executions"
        return sum(getattr(kernel, match[2]).get(quantity, 0) for kernel in kernels) / units
    if match := PER_THREAD.fullmatch(limit.of):
        return per_thread(reading_kernel(kernels), match)
    if (match := PER_REQUEST.fullmatch(limit.of)) and UNITS[match[2]] == match[1]:
        requests = total(kernels, "requests", match[2], match[3])
        return total(kernels, "cost", match[2], match[3]) / requests if requests else None
    if match := PER_NEEDED.fullmatch(limit.of):
        needed = total(kernels, "ideal_cost", *match.groups())
        return total(kernels, "cost", *match.groups()) / needed if needed else None
    if match := COST_PER_UNIT.fullmatch(limit.of):
        return total(kernels, "cost", *match.groups()) / units
    if match := LANES.fullmatch(limit.of):
        requests = total(kernels, "requests", *match.groups())
        return total(kernels, "executions", *match.groups()) / requests if requests else None
    if match := WORDS.fullmatch(limit.of):
        if match[3] == "body":
            return words(kernels, match[1], match[2]) / units
        reading = reading_kernel(kernels)
        return words([reading], match[1], match[2]) / reading.loading_threads \
            if reading and reading.loading_threads else None
    if limit.of == "launches":
        return float(sum(kernel.launches for kernel in kernels))
    if limit.of == BODIES_PER_BLOCK:
        return bodies_per_block(kernels, units)
    if limit.of == BODIES_PER_MAP:
        return bodies_per_map(kernels, units)
    if limit.of == LOADS_OF_ONE_THREAD:
        return most_loads(kernels)
    if limit.of == LOADS_OF_ONE_THREAD + OF_SEARCH:
        return most_loads([one for one in kernels if one is reading_kernel(kernels)])
    if limit.of == LOADS_OF_ONE_THREAD + BEFORE_SEARCH:
        return most_loads(before_search(kernels))
    if limit.of == LOADS_AND_SHUFFLES:
        return loads_and_shuffles(kernels) / units
    if limit.of == LOADS_OF_SEARCH:
        search = reading_kernel(kernels)
        return loads_and_shuffles([search]) / units if search else None
    if limit.of == ATOMICS_PER_LOAD:
        atomics = total(kernels, "executions", "global", "atomic")
        loads = total(kernels, "executions", "shared", "load")
        return atomics / loads if loads else float("inf") if atomics else 0.0
    if limit.of == LOADS_AND_ATOMICS:
        others = before_search(kernels)
        return (executions(others, "load") + executions(others, "atomic")) / units
    if limit.of == LAUNCHES_THAT_LOAD:
        return float(sum(one.loading_launches for one in kernels))
    if limit.of == PATTERNS:
        return most_patterns(kernels)
    if limit.of in ("barriers per block", "grid barriers per launch") and not kernels:
        return None
    if limit.of == "barriers per block":
        return sum(one.barriers for one in kernels) / sum(one.blocks for one in kernels)
    if limit.of == "grid barriers per launch":
        return most_grid_barriers(kernels)
    if limit.of in OF_HOST:
        return float(inspection.host[OF_HOST[limit.of]])
    raise LabError(f"'{limit.of}' cannot be counted; nbody_tools/labs/counts.py lists what can")


def reading_kernel(kernels: list[Kernel]) -> Optional[Kernel]:
    """Returns the kernel that loads most words from global memory: the search, which reads the
    bodies. A kernel that adds up what the search has found may load as often, but fewer words."""
    return max(kernels, key=lambda one: words([one], "global", "load"), default=None)


def before_search(kernels: list[Kernel]) -> list[Kernel]:
    search = reading_kernel(kernels)
    return [one for one in kernels if one is not search]


def loads_and_shuffles(kernels: list[Kernel]) -> int:
    return executions(kernels, "load") + sum(
        one.variable_loads + one.shuffles.get("executions", 0) for one in kernels)


def executions(kernels: list[Kernel], access: str) -> int:
    return sum(total(kernels, "executions", memory, access) for memory in UNITS)


def most_loads(kernels: list[Kernel]) -> float:
    return float(max((one.most_loads for one in kernels), default=0))


def bodies_per_block(kernels: list[Kernel], units: float) -> Optional[float]:
    reading = reading_kernel(kernels)
    return units / reading.loading_blocks if reading and reading.loading_blocks else None


def bodies_per_map(kernels: list[Kernel], units: float) -> Optional[float]:
    most = max(kernels, key=lambda one: one.sum("executions", "shared", "atomic"), default=None)
    return units / most.blocks if most and most.sum("executions", "shared", "atomic") else None


def per_thread(kernel: Optional[Kernel], match: re.Match[str]) -> Optional[float]:
    if kernel is None or not kernel.loading_threads:
        return None
    quantity = "requests" if match[1] else "executions"
    count = (kernel.sum(quantity, match[2], match[3]) if match[2]
             else kernel.shuffles.get(quantity, 0))
    return count / kernel.loading_threads


def words(kernels: list[Kernel], memory: str, access: str) -> float:
    return sum(row.executions * max(1.0, row.bytes / WORD) for kernel in kernels
               for row in kernel.rows if (row.memory, row.access) == (memory, access))


def most_patterns(kernels: list[Kernel]) -> Optional[float]:
    """Counts, for each access to shared memory, the different address patterns of the warps of a
    kernel's first block. Returns the largest of these numbers, or None if there is nothing to
    compare. Requests with bank conflicts and requests of neighbouring words do not count, because
    they do not show how rows are stored."""
    seen: dict[tuple, list[tuple]] = {}
    for kernel in kernels:
        for one in (kernel.first_block or {"accesses": ()})["accesses"]:
            offsets = one["offsets"]
            if one["memory"] == "shared" and None not in offsets:
                steps = tuple(after - before for before, after in zip(offsets, offsets[1:]))
                if one["cost"] > one["ideal_cost"] or {*steps} == {one["bytes"]}:
                    continue
                place = (kernel.name, one["file"], one["line"], one["access"])
                seen.setdefault(place, []).append(steps)
    return max((float(len({*each})) for each in seen.values() if len(each) > 1), default=None)


def place_of(limit: Limit, inspection: Inspection) -> Optional[Place]:
    """Returns the line that contributes most to a count of accesses; None for other counts."""
    match = PER_UNIT.fullmatch(limit.of) or PER_REQUEST.fullmatch(limit.of)
    if match is None:
        return None
    rows = [row for kernel in inspection.kernels for row in kernel.rows
            if (row.memory, row.access) == (match[2], match[3])]
    return max(rows, key=lambda row: row.cost).place if rows else None


def most_grid_barriers(kernels: list[Kernel]) -> float:
    """Returns the largest number of grid barriers in a launch. Divides each kernel's count by its
    number of blocks, because every block counts each grid barrier."""
    return max(one.grid_barriers / one.blocks for one in kernels)


def loads_per_interaction(inspection: Inspection, interactions: float) -> float:
    return executions(inspection.kernels, "load") / interactions


def total(kernels: list[Kernel], quantity: str, memory: str, access: str) -> int:
    return sum(kernel.sum(quantity, memory, access) for kernel in kernels)


def describe(limit: Limit) -> str:
    bounds = [
        f"{words} {value:g}"
        for words, value in (("at least", limit.at_least), ("at most", limit.at_most))
        if value is not None
    ]
    return f"{limit.of}{f' in {limit.kernel}' if limit.kernel else ''}: {' and '.join(bounds)}"


def broken(limit: Limit, inspection: Inspection, units: float) -> str:
    """Returns a one-line message if the count violates the limit, otherwise an empty string."""
    value = value_of(limit, inspection, units)
    if value is None:
        return f"{describe(limit)}; there are none"
    low = -float("inf") if limit.at_least is None else limit.at_least
    high = float("inf") if limit.at_most is None else limit.at_most
    return "" if low <= value <= high else f"{describe(limit)}; it is {value:.3g}"
