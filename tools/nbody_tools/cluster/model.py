"""Predicts the duration of a time step of step 14 on P GPUs from the rate of one GPU and from the
measured times of gathers.

The model counts what the program does (step14_cluster/plan.h and share.h): the work of the busiest
rank, the positions that every rank receives, padding included, and the sums that the busiest rank
receives. tests/cluster/model_test.py compares these counts with the program's. The duration of a
transfer is the one that nbody-gather measured. If no gather was measured on a number of ranks, the
model assumes the network that the class Network describes.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Iterator, Optional

from nbody_tools.arguments import ToolError, read_whole_file

POSITION, SUM = 16, 12  # bytes per body
SEGMENTS = 32  # per system
MOST_RANKS = SEGMENTS * (SEGMENTS + 1) // 2  # with more ranks, some would get no pair of segments
TILE = 768  # bodies per tile, as step 14 chooses them for large systems


@dataclass(frozen=True)
class Load:
    """Work and traffic of a rank in a time step; `sums` and `work` describe the busiest rank."""

    gathered: int  # bytes of positions received
    sums: int  # bytes of force sums received
    work: int  # pairs of tiles
    all_work: int  # pairs of tiles of all ranks together


@dataclass(frozen=True)
class Gather:
    """A gather that nbody-gather measured."""

    size: int  # total number of bytes that all ranks gather
    seconds: float
    busbw: float  # GB/s


@dataclass(frozen=True)
class Network:
    """A network whose properties are assumed, not measured: the bandwidth into one GPU, and the
    delay before a transfer around a ring of ranks. The delay is a constant plus a time per rank."""

    bytes_per_second: float = 40e9
    to_begin: float = 40e-6
    per_rank: float = 2e-6

    def seconds(self, received: int, ranks: int) -> float:
        return received / self.bytes_per_second + self.to_begin + self.per_rank * ranks


@dataclass(frozen=True)
class Step:
    compute: float
    gather: float
    sums: float

    seconds = property(lambda self: self.compute + self.gather + self.sums)
    share = property(lambda self: (self.gather + self.sums) / self.seconds)


Gathers = dict[tuple[str, int], dict[int, Gather]]  # (transport, ranks) -> size -> gather


def read_gathers(files: Iterable[Path]) -> Gathers:
    """Reads outputs of nbody-gather. If two files have the same gather, the later file counts."""
    found: Gathers = {}
    for file in files:
        column: dict[int, Gather] = {}
        for number, line in enumerate(read_whole_file(file, ToolError).splitlines(), start=1):
            if head := re.fullmatch(r"# ([1-9]\d*) ranks, (\w+).*; median of \d+", line):
                column = found[head[2], int(head[1])] = {}
            elif found and len(cells := line.split()) == 5 and re.fullmatch(r"[1-9]\d*", cells[0]):
                try:
                    size, microseconds, busbw = int(cells[0]), float(cells[2]), float(cells[4])
                except ValueError as error:
                    raise ToolError(f"{file}:{number}: not a gather: {error}") from error
                column[size] = Gather(size, 1e-6 * microseconds, busbw)
    return {key: sizes for key, sizes in found.items() if sizes}


def plan(bodies: int, ranks: int, tile: int = TILE) -> Load:
    """Returns a rank's load if one system is distributed over the ranks as in plan.h."""
    tiles = -(-bodies // tile)
    of_segment = -(-tiles // min(SEGMENTS, tiles))
    segment = of_segment * tile
    segments = -(-tiles // of_segment)
    kept = -(-segments // ranks)
    last = tiles - (segments - 1) * of_segment  # number of tiles in the last segment

    def pairs() -> Iterator[tuple[int, int, int]]:
        for row in range(segments):
            for offset in range(segments // 2 + 1):
                column = (row + offset) % segments
                if 2 * offset == segments and column < row:
                    continue
                a, b = (last if s == segments - 1 else of_segment for s in (row, column))
                yield row, column, a * (a + 1) // 2 if row == column else a * b

    all_work = sum(work for _, _, work in pairs())
    done, received = Counter[int](), Counter[int]()
    before = 0
    for row, column, work in pairs():
        rank = min(int((before + work / 2) / all_work * ranks), ranks - 1)
        before += work
        done[rank] += work
        for s in {row, column}:
            if s // kept != rank:
                received[s // kept] += SUM * segment
    return Load((ranks - 1) * kept * segment * POSITION, max(received.values(), default=0),
                max(done.values()), all_work)


def seconds_of(received: int, ranks: int, gathers: Gathers) -> float:
    """Returns the seconds of a collective in which every rank receives this many bytes."""
    column = gathers.get(("nccl", ranks))
    if not column:
        return Network().seconds(received, ranks)
    points = [(size * (ranks - 1) / ranks, column[size].seconds) for size in sorted(column)]
    if received <= points[0][0]:
        return points[0][1]
    if len(points) == 1:  # the only measured gather gives a bandwidth, but no latency
        return points[0][1] * received / points[0][0]
    after = min(bisect(points, (received, math.inf)), len(points) - 1)
    (x0, t0), (x1, t1) = points[after - 1], points[after]
    return t0 + (t1 - t0) * (received - x0) / (x1 - x0)


def step(bodies: int, ranks: int, rate: float, gathers: Optional[Gathers] = None) -> Step:
    """Predicts a time step; `rate` is the interactions per second of one GPU."""
    load = plan(bodies, ranks)
    compute = bodies ** 2 / rate * load.work / load.all_work
    if ranks == 1:
        return Step(compute, 0, 0)
    return Step(compute, *(seconds_of(received, ranks, gathers or {})
                           for received in (load.gathered, load.sums)))
