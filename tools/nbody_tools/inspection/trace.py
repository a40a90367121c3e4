"""Runs a traced program (cmake/inspect.cmake) and reports its kernels' memory accesses, line by
line.

The counts come from hostcuda/trace. This module maps code addresses to source lines, and adds up
counts that belong together.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence

from nbody_tools.arguments import ROOT, Failed
from nbody_tools.inspection.instructions import Operation
from nbody_tools.inspection.ptx import PtxKernel
from nbody_tools.inspection.source_lines import Place, shown_path, source_lines

MEMORIES = ("global", "shared")
ACCESSES = ("load", "store", "atomic")


# Matches a message of hostcuda with the indented lines that follow it.
MESSAGE = re.compile(r"^hostcuda: (?:ERROR|warning): .*(?:\n  .*)*", re.M)


class InspectError(Failed):
    pass


@dataclass
class Row:
    """The sum of similar accesses in one line; the cost is in sectors (global) or wavefronts
    (shared)."""
    place: Place
    memory: str
    access: str
    bytes: int
    executions: int = 0  # counted per thread
    requests: int = 0  # counted per warp
    cost: int = 0
    ideal_cost: int = 0

    def add(self, site: dict[str, Any]) -> None:
        self.executions += site["executions"]
        self.requests += site["requests"]
        self.cost += site["cost"]
        self.ideal_cost += site["ideal_cost"]

    @property
    def cost_of_request(self) -> float:
        return self.cost / self.requests

    @property
    def ideal_of_request(self) -> float:
        return self.ideal_cost / self.requests


@dataclass
class Kernel:
    name: str
    launches: int
    blocks: int
    threads: int
    barriers: int = 0  # each block of a kernel counts each barrier once
    grid_barriers: int = 0  # each block also counts each grid barrier once
    # Requests of shuffles and votes are counted per warp, their executions per participating lane.
    shuffles: dict[str, int] = field(default_factory=dict)
    votes: dict[str, int] = field(default_factory=dict)
    loading_launches: int = 0  # these three count launches, blocks and threads that load anything
    loading_blocks: int = 0
    loading_threads: int = 0
    # The loads of one thread in one launch, from both memories and from variables that the device
    # has filled.
    most_loads: int = 0
    variable_loads: int = 0  # by threads, from __constant__ and __device__ variables
    filled_variable_loads: int = 0  # of these, from variables that the device has filled
    rows: list[Row] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)  # empty if not counted
    ptx: list[PtxKernel] = field(default_factory=list)  # one per instance of a kernel template
    first_block: Optional[dict[str, Any]] = None  # accesses of this block, for a picture

    def sum(self, quantity: str, memory: str, access: str) -> int:
        return sum(getattr(row, quantity) for row in self.rows
                   if row.memory == memory and row.access == access)


@dataclass(frozen=True)
class RaceSide:
    place: Place
    access: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]


@dataclass(frozen=True)
class Race:
    kernel: str
    memory: str
    offset: int  # in bytes from the start of the allocation or variable
    earlier: RaceSide
    later: RaceSide
    count: int


@dataclass(frozen=True)
class BarrierPlace:
    place: Place
    threads: int
    example: tuple[int, int, int]


@dataclass(frozen=True)
class Divergence:
    kernel: str
    block: tuple[int, int, int]
    places: tuple[BarrierPlace, ...]


@dataclass(frozen=True)
class Inspection:
    kernels: list[Kernel]
    races: list[Race]
    divergences: list[Divergence]
    exit_code: int = 0  # of the program; the record covers the run until the program exits
    messages: tuple[str, ...] = ()  # hostcuda's messages, one per finding
    findings: tuple[dict[str, Any], ...] = ()  # these messages in machine-readable form
    host: dict[str, int] = field(
        default_factory=dict
    )  # waits, streams_with_kernels, streams_at_once
    other_ptx: tuple[PtxKernel, ...] = ()  # compiled kernels of which no launch was recorded

    @property
    def clean(self) -> bool:
        return not (self.races or self.divergences or self.exit_code or self.messages or
                    self.findings)

    def kernel(self, name: str) -> Kernel:
        return next(kernel for kernel in self.kernels if kernel.name == name)


def inspect_program(program: Path, arguments: Sequence[str] = (),
                    timeout: float = 600.0, picture: bool = False) -> Inspection:
    """Runs the program and returns what the tracer recorded. Raises InspectError with a one-line
    message if the program cannot be traced to its end. If `picture` is set, also traces the first
    block of each kernel."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "trace.json"
        environment = {**os.environ, "HOSTCUDA_TRACE": str(record)}
        if picture:
            environment["HOSTCUDA_TRACE_BLOCK"] = "1"
        try:
            ended = subprocess.run([program, *arguments], env=environment, timeout=timeout,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InspectError(f"{program}: {error}") from error
        here = f"{ROOT}/"  # this prefix is removed from paths in the repository
        trace = (
            json.loads(record.read_text("utf-8", errors="replace").replace(here, ""))
            if record.exists()
            else {}
        )
        if not trace or (ended.returncode != 0 and not trace["kernels"]):
            raise InspectError(f"{program.name} ended with exit code {ended.returncode}: "
                               f"{' '.join(ended.stderr.split())}")
        return replace(read_trace(trace, program), exit_code=ended.returncode,
                       messages=tuple(MESSAGE.findall(ended.stderr.replace(here, ""))))


def read_trace(trace: dict[str, Any], program: Path) -> Inspection:
    codes = {site["code"] for site in trace["sites"]}
    places = source_lines(program, sorted(codes))
    kernels = {kernel["name"]: Kernel(**kernel) for kernel in trace["kernels"]}
    for name, kernel in kernels.items():
        sites = [site for site in trace["sites"] if site["kernel"] == name]
        kernel.rows = rows_of(sites, places)
    for block in trace.get("blocks", []):
        kernels[block["kernel"]].first_block = first_block(block, places)
    races = [Race(race["kernel"], race["memory"], race["offset"],
                  race_side(race["earlier"], places), race_side(race["later"], places),
                  race["count"]) for race in trace["races"]]
    return Inspection(list(kernels.values()), merged(races),
                      [divergence(one) for one in trace["barrier_divergences"]],
                      findings=tuple(trace["findings"]), host=trace.get("host", {}))


def rows_of(sites: Iterable[dict[str, Any]], places: dict[int, Place]) -> list[Row]:
    """Merges accesses into rows. If unrolling has copied an access, the copies share a row. A load
    before a loop and a load inside it on the same source line get two rows if their cost per
    request differs."""
    rows: dict[tuple, Row] = {}
    for site in sites:
        if not site["requests"]:
            continue
        place = places[site["code"]]
        each = tuple(round(site[cost] / site["requests"], 2) for cost in ("cost", "ideal_cost"))
        kind = (site["memory"], site["access"], site["bytes"])
        row = rows.setdefault((place, *kind, *each), Row(place, *kind))
        row.add(site)
    return sorted(rows.values(), key=lambda row: (row.place.file, row.place.line))


def first_block(block: dict[str, Any], places: dict[int, Place]) -> dict[str, Any]:
    """Returns the accesses of a block with their lines, and the lines of its barriers."""
    accesses = [
        {
            **vars(places[one["code"]]),
            **{name: value for name, value in one.items() if name != "code"},
        }
        for one in block["accesses"]
    ]
    return {
        "dimensions": block["dimensions"],
        "phases": block["phases"],
        "barriers": block["barriers"],
        "accesses": accesses,
    }


def race_side(side: dict[str, Any], places: dict[int, Place]) -> RaceSide:
    return RaceSide(places[side["code"]], side["access"], tuple(side["block"]),
                    tuple(side["thread"]))


def merged(races: Iterable[Race]) -> list[Race]:
    """Keeps one race for each pair of lines, in whichever order the lines ran."""
    kept: dict[tuple, Race] = {}
    for race in races:
        key = (race.kernel, race.memory, frozenset((side.place, side.access)
                                                   for side in (race.earlier, race.later)))
        old = kept.get(key)
        count = race.count + (old.count if old else 0)
        kept[key] = replace(old or race, count=count)
    return list(kept.values())


def divergence(trace: dict[str, Any]) -> Divergence:
    return Divergence(trace["kernel"], tuple(trace["block"]), tuple(
        BarrierPlace(Place(shown_path(place["file"]), place["line"]), place["threads"],
                     tuple(place["example"])) for place in trace["places"]))
