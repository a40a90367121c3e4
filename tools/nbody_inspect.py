"""Runs a traced program (cmake/inspect.cmake) and says what its kernels do to memory, line by line.

The counts come from common/hostcuda/trace; here addresses of code become source lines, and what
belongs together is added up.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence

from nbody_arguments import ROOT, ToolError

HOSTCUDA = ROOT / "common" / "hostcuda"
OWN_HEADERS = HOSTCUDA / "include"  # __ldg and atomicAdd are the caller's accesses
MEMORIES = ("global", "shared")
ACCESSES = ("load", "store", "atomic")


class InspectError(ToolError):
    pass


@dataclass(frozen=True)
class Place:
    file: str  # relative to the repository where it is inside
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass
class Row:
    """Accesses of one line that are alike. Cost is in sectors (global) or wavefronts (shared)."""
    place: Place
    memory: str
    access: str
    bytes: int
    executions: int = 0  # by threads
    requests: int = 0  # by warps
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
    rows: list[Row] = field(default_factory=list)

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
    offset: int  # bytes from the beginning of the allocation or the variable
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

    @property
    def clean(self) -> bool:
        return not self.races and not self.divergences

    def kernel(self, name: str) -> Kernel:
        return next(kernel for kernel in self.kernels if kernel.name == name)


def inspect_program(program: Path, arguments: Sequence[str] = (),
                    timeout: float = 600.0) -> Inspection:
    """Raises InspectError with one line when the program cannot be traced to its end."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "trace.json"
        environment = {**os.environ, "HOSTCUDA_TRACE": str(record)}
        try:
            ended = subprocess.run([program, *arguments], env=environment, timeout=timeout,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InspectError(f"{program}: {error}") from error
        if ended.returncode != 0 or not record.exists():
            raise InspectError(f"{program.name} ended with exit code {ended.returncode}: "
                               f"{' '.join(ended.stderr.split())}")
        return read_trace(json.loads(record.read_text(encoding="utf-8")), program)


def read_trace(trace: dict[str, Any], program: Path) -> Inspection:
    codes = {site["code"] for site in trace["sites"]}
    places = source_lines(program, sorted(codes))
    kernels = {kernel["name"]: Kernel(**kernel) for kernel in trace["kernels"]}
    for name, kernel in kernels.items():
        sites = [site for site in trace["sites"] if site["kernel"] == name]
        kernel.rows = rows_of(sites, places)
    races = [Race(race["kernel"], race["memory"], race["offset"],
                  race_side(race["earlier"], places), race_side(race["later"], places),
                  race["count"]) for race in trace["races"]]
    return Inspection(list(kernels.values()), merged(races),
                      [divergence(found) for found in trace["barrier_divergences"]])


def rows_of(sites: Iterable[dict[str, Any]], places: dict[int, Place]) -> list[Row]:
    """A line may load once before a loop and again in it; copies that unrolling made are the same
    access. What tells them apart is what a request costs."""
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


def race_side(side: dict[str, Any], places: dict[int, Place]) -> RaceSide:
    return RaceSide(places[side["code"]], side["access"], tuple(side["block"]),
                    tuple(side["thread"]))


def merged(races: Iterable[Race]) -> list[Race]:
    """One for each pair of lines; the first stands for all."""
    found: dict[tuple, Race] = {}
    for race in races:
        key = (race.kernel, race.memory, race.earlier.place, race.earlier.access,
               race.later.place, race.later.access)
        old = found.get(key)
        count = race.count + (old.count if old else 0)
        kept = old or race
        found[key] = Race(kept.kernel, kept.memory, kept.offset, kept.earlier, kept.later, count)
    return list(found.values())


def divergence(found: dict[str, Any]) -> Divergence:
    return Divergence(found["kernel"], tuple(found["block"]), tuple(
        BarrierPlace(Place(shown_path(place["file"]), place["line"]), place["threads"],
                     tuple(place["example"])) for place in found["places"]))


def shown_path(file: str) -> str:
    path = Path(os.path.normpath(file))
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def source_lines(program: Path, codes: Sequence[int]) -> dict[int, Place]:
    """Where the code at these offsets comes from: of the inlined functions the innermost that is not
    in hostcuda's headers."""
    if not codes:
        return {}
    words = ["addr2line", "-a", "-i", "-e", str(program)]
    try:
        said = subprocess.run(words, input="\n".join(map(hex, codes)), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise InspectError(f"addr2line (binutils) cannot read {program}: {error}") from error
    frames: dict[int, list[str]] = {}
    for line in said.splitlines():
        if line.startswith("0x"):
            current = frames.setdefault(int(line, 16), [])
        else:
            current.append(line)
    return {code: place_of(frames[code]) for code in codes}


def place_of(frames: Sequence[str]) -> Place:
    places = []
    for frame in frames:
        file, _, line = frame.partition(" (")[0].rpartition(":")
        places.append(Place(file, int(line) if line.isdigit() else 0))
    users = [place for place in places if not Path(place.file).is_relative_to(OWN_HEADERS)]
    chosen = (users or places)[0]
    return Place(shown_path(chosen.file), chosen.line)


def source_text(place: Place) -> str:
    try:
        lines = (ROOT / place.file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""


def as_json(inspection: Inspection, interactions: Optional[float] = None) -> dict[str, Any]:
    """What --json writes; docs/inspect.md describes it."""
    return {"kernels": [kernel_json(kernel, interactions) for kernel in inspection.kernels],
            "races": [{"kernel": race.kernel, "memory": race.memory, "offset": race.offset,
                       "earlier": side_json(race.earlier), "later": side_json(race.later),
                       "count": race.count} for race in inspection.races],
            "barrier_divergences": [
                {"kernel": found.kernel, "block": list(found.block),
                 "barriers": [{**vars(at.place), "threads": at.threads,
                               "example": list(at.example)} for at in found.places]}
                for found in inspection.divergences]}


def side_json(side: RaceSide) -> dict[str, Any]:
    return {**vars(side.place), "access": side.access, "block": list(side.block),
            "thread": list(side.thread)}


def kernel_json(kernel: Kernel, interactions: Optional[float]) -> dict[str, Any]:
    result: dict[str, Any] = {"name": kernel.name, "launches": kernel.launches,
                              "blocks": kernel.blocks, "threads": kernel.threads}
    if interactions:
        result["per_interaction"] = {
            memory: {access: kernel.sum("executions", memory, access) / interactions
                     for access in ACCESSES} for memory in MEMORIES}
    result["lines"] = [row_json(row) for row in kernel.rows]
    return result


def row_json(row: Row) -> dict[str, Any]:
    unit = "sectors" if row.memory == "global" else "wavefronts"
    return {**vars(row.place), "source": source_text(row.place), "memory": row.memory,
            "access": row.access, "bytes": row.bytes, "executions": row.executions,
            "requests": row.requests, unit: row.cost, f"ideal_{unit}": row.ideal_cost}
