"""How long a time step of step 14 takes on P GPUs, from the rate of one and the speed of the links.

Compute is divided by P. Every rank receives the positions of all, 16 bytes per body, and sends on what it
summed up for others: at most one sum of 12 bytes per body for every segment it meets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

POSITION, SUM = 16, 12  # bytes per body
SEGMENTS = 32  # of step14_cluster/plan.h
MEETINGS_PER_RANK = 8  # fewer cannot be distributed evenly: more ranks need more segments


@dataclass(frozen=True)
class Link:
    """What one GPU sends and receives at a time: an assumption, until nbody-gather has measured it."""

    name: str
    bytes_per_second: float
    to_begin: float  # seconds, of a collective
    per_rank: float  # seconds that a ring takes longer for each rank


NVLINK = Link("NVLink", 150e9, 30e-6, 1e-6)
NETWORK = Link("400 Gb/s network", 40e9, 40e-6, 2e-6)
RANKS_PER_NODE = 8


@dataclass(frozen=True)
class Step:
    compute: float
    gather: float
    sums: float

    seconds = property(lambda self: self.compute + self.gather + self.sums)
    share = property(lambda self: (self.gather + self.sums) / self.seconds)


def link_of(ranks: int) -> Link:
    return NVLINK if ranks <= RANKS_PER_NODE else NETWORK


def segments(ranks: int) -> int:
    """So many that each rank gets MEETINGS_PER_RANK of half their square."""
    return max(SEGMENTS, math.ceil(math.sqrt(2 * MEETINGS_PER_RANK * ranks)))


def step(bodies: int, ranks: int, rate: float) -> Step:
    """`rate`: interactions per second of one GPU."""
    compute = bodies ** 2 / (rate * ranks)
    if ranks == 1:
        return Step(compute, 0, 0)
    link = link_of(ranks)
    begin = link.to_begin + link.per_rank * ranks
    gather = POSITION * bodies * (ranks - 1) / ranks / link.bytes_per_second + begin
    sums = SUM * bodies * segments(ranks) / ranks / link.bytes_per_second + link.to_begin
    return Step(compute, gather, sums)
