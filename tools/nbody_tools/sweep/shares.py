"""Distributes a sweep over the GPUs of a machine. Configurations that a table compares are measured
on the same GPU.

Each GPU has its own cores. CPU programs get as many cores as a machine with one GPU has.
"""

from __future__ import annotations

import heapq
import os
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Iterable, Iterator, Optional

from nbody_tools.arguments import ToolError
from nbody_tools.sweep.runner import Journal, Planned, Say, estimate, pending, run_all
from nbody_tools.sweep.tables import Configuration, Table, places

SHARES_PER_GPU = 2  # longest first; a GPU that finishes early takes another share
CORES = 16  # cores of a machine with one GPU
VISIBLE = "CUDA_VISIBLE_DEVICES"


def compared(table: Table) -> Iterator[list[Configuration]]:
    """Yields lists of configurations that are compared with each other. A list contains the cells
    of a point, or the cells of a claim about points. In a grid, a list contains all
    configurations of a step."""
    def of(cells: Iterable) -> list[Configuration]:
        return [cell.configuration for cell in cells if cell.configuration]

    if table.data["grid"]:
        for source in dict.fromkeys(
            configuration.program.source for configuration in of(table.cells)
        ):
            yield [
                configuration
                for configuration in of(table.cells)
                if configuration.program.source == source
            ]
    else:
        for point in table.points:
            yield of(cell for cell in table.cells if cell.point == point)
    for claim in table.data["claim"]:
        sides = [claim.get("better"), *claim.get("worse", []), *claim.get("same", [])]
        if any(side and " @ " in side for side in sides):
            yield of(cell for side in sides if side for cell in places(table, side, claim))


def groups(tables: Iterable[Table]) -> dict[str, str]:
    """Maps the key of every configuration to the name of its group, which is the key of one
    configuration in the group."""
    leader: dict[str, str] = {}

    def find(key: str) -> str:
        while leader.setdefault(key, key) != key:
            key = leader[key]
        return key

    for table in tables:
        for side_by_side in compared(table):
            for configuration in side_by_side:
                leader[find(configuration.key)] = find(side_by_side[0].key)
    return {key: find(key) for key in list(leader)}


def not_measured(plan: list[Planned]) -> list[Planned]:
    """Returns the configurations that have no record, and all configurations that are compared with
    these: they must be measured again, on the same GPU."""
    wanted = {planned.group for planned in plan if not planned.measured}
    return [planned for planned in plan if planned.group in wanted]


def shares(plan: list[Planned], journal: Journal, most: int) -> list[list[Planned]]:
    """Splits a plan into at most `most` shares of similar duration, the longest first. Keeps groups
    together."""
    by_group: dict[str, list[Planned]] = {}
    for planned in plan:
        by_group.setdefault(planned.group or planned.key, []).append(planned)
    timed = [(estimate(pending(group, journal)), group) for group in by_group.values()]
    heap: list[tuple[float, int, list[Planned]]] = [(0.0, k, []) for k in range(most)]
    for seconds, group in sorted(timed, key=lambda item: -item[0]):
        total, k, share = heapq.heappop(heap)
        heapq.heappush(heap, (total + seconds, k, share + group))
    return [share for total, _, share in sorted(heap, key=lambda item: -item[0]) if total > 0]


def one_by_one(plan: list[Planned], journal: Journal) -> list[list[Planned]]:
    """Returns each pending configuration of a CPU program as a separate share. Configurations that
    are compared need not share a group of cores, because all cores are equivalent. Configurations
    without a record come first. Among these, and among the others, the longest come first."""
    def order(planned: Planned) -> tuple[bool, float]:
        return planned.measured, -estimate(pending([planned], journal))

    return [[planned] for planned in sorted(plan, key=order) if pending([planned], journal)]


def taken(queue: deque) -> Iterator[list[Planned]]:
    """Yields the next entries of a queue that the threads share, until it is empty."""
    while True:
        try:
            yield queue.popleft()
        except IndexError:
            return


@dataclass
class Worker:
    """A thread that runs the shares of its queues, in order."""
    queues: list[deque]
    cores: list[int] = field(default_factory=list)  # empty: all
    environment: dict[str, str] = field(default_factory=dict)
    failure: Optional[Exception] = None

    def work(self, folder: Path, journal: Journal, end: float, say: Say) -> None:
        try:
            if self.cores:
                os.sched_setaffinity(0, self.cores)  # for this thread and its children
            for queue in self.queues:
                for share in taken(queue):
                    run_all(share, folder, journal, end - time.monotonic(), say, self.environment)
        except Exception as error:  # the other threads continue; run_on() raises the error
            self.failure = error


def cores_of(gpus: int, cores: list[int]) -> tuple[list[list[int]], list[list[int]]]:
    """Returns the cores assigned to each GPU, and groups of cores for CPU programs. The groups
    together have at most half of all cores. If there are no groups, CPU programs run after the GPU
    programs."""
    apart = len(cores) // CORES // 2
    rest = cores[apart * CORES:]
    each = len(rest) // gpus // 2 * 2  # keeps both hardware threads of a core together
    if gpus == 1 or not apart or not each:
        return [
            cores[k * len(cores) // gpus : (k + 1) * len(cores) // gpus] or cores
            for k in range(gpus)
        ], []
    return ([rest[k * each:(k + 1) * each] for k in range(gpus)],
            [cores[k * CORES:(k + 1) * CORES] for k in range(apart)])


def workers_of(plan: list[Planned], journal: Journal, gpus: int) -> list[Worker]:
    on_gpu = deque(
        shares([planned for planned in plan if not planned.cpu], journal, gpus * SHARES_PER_GPU)
    )
    on_cpu = deque(one_by_one([planned for planned in plan if planned.cpu], journal))
    of_gpus, apart = cores_of(gpus, sorted(os.sched_getaffinity(0)))
    names = [name for name in os.environ.get(VISIBLE, "").split(",") if name] or [
        str(k) for k in range(gpus)
    ]
    if len(names) < gpus:
        raise ToolError(f"--gpus {gpus}: {VISIBLE} lists only {len(names)}")
    queues = [on_gpu] if apart else [on_gpu, on_cpu]
    return [*(Worker(queues, cores, {VISIBLE: name}) for cores, name in zip(of_gpus, names)),
            *(Worker([on_cpu], cores) for cores in apart)]


def run_on(gpus: int, plan: list[Planned], folder: Path, journal: Journal, seconds: float,
           say: Say) -> None:
    """Runs the whole plan on this many GPUs. Configurations that need several GPUs run first, one
    at a time."""
    end = time.monotonic() + seconds
    run_all([planned for planned in plan if planned.gpus > 1], folder, journal, seconds, say)
    workers = workers_of([planned for planned in plan if planned.gpus == 1], journal, gpus)
    if len(workers) == 1:  # runs in this thread, so that Ctrl-C also ends the programs
        workers[0].work(folder, journal, end, say)
    threads = [Thread(target=worker.work, args=(folder, journal, end, say), daemon=True)
               for worker in workers if len(workers) > 1]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in workers:
        if worker.failure:
            raise worker.failure
