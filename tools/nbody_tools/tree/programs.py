"""Compares steps 15 to 16 with third-party tree codes by error and time, on several systems of
bodies (docs/results/tree_programs/).

The folder has two files per run: DATE_GPU.jsonl, with the records of our steps, and
DATE_GPU.peers.json, a list of the settings of the other programs, with their times and errors."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from nbody_tools.records.facts import Value
from nbody_tools.records.record import Record, check_measurement, newest_measured
from nbody_tools.tables import ABSENT, markdown, seconds
from nbody_tools.tree.tables import heading, opening_of, per_step

FOLDER = "tree_programs"
SHAPES = {"plummer": "Plummer sphere", "disk-halo": "disk and halo", "uniform": "cube"}
LEVELS = (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)  # RMS errors, the rows of the tables


@dataclass(frozen=True)
class Point:
    """One setting of a program: the time of a whole time step, and the errors of its forces."""

    program: str
    scenario: str
    bodies: int
    setting: str
    seconds: float
    rms: float
    p99: float
    max: float
    ours: bool = False

    @classmethod
    def of_record(cls, record: Record) -> "Point":
        error = record.data["force_error"]
        return cls(f"step {record.number}", record.problem.scenario, record.problem.bodies,
                   opening_of(record), per_step(record).median, error["rms"], error["p99"],
                   error["max"], True)


def records_of(results: Path) -> list[Record]:
    return newest_measured(results / FOLDER, check_measurement)


def others_of(results: Path) -> list[Point]:
    """Reads the newest file of other programs."""
    found = sorted((results / FOLDER).glob("*.peers.json"))
    return [Point(**one) for one in json.loads(found[-1].read_text("utf-8"))] if found else []


def points(records: Sequence[Record], others: Sequence[Point]) -> list[Point]:
    return [*map(Point.of_record, records), *others]


def fastest(all_points: Sequence[Point], program: str, scenario: str) -> list[Point]:
    """Returns the settings that no other setting of this program beats in both time and error, from
    the fastest to the most accurate."""
    kept: list[Point] = []
    for point in sorted((p for p in all_points if (p.program, p.scenario) == (program, scenario)),
                        key=lambda p: (p.seconds, p.rms)):
        if not kept or point.rms < kept[-1].rms:
            kept.append(point)
    return kept


def time_at(curve: Sequence[Point], rms: float) -> Optional[float]:
    """Returns the seconds per time step at an RMS error of at most `rms`, interpolated on
    logarithmic scales, or None if no setting was so accurate."""
    if not curve or curve[-1].rms > rms:
        return None
    if curve[0].rms <= rms:
        return curve[0].seconds
    for fast, slow in zip(curve, curve[1:]):
        if slow.rms <= rms:
            part = math.log(rms / fast.rms) / math.log(slow.rms / fast.rms)
            return fast.seconds * (slow.seconds / fast.seconds) ** part
    return None


def names(all_points: Sequence[Point]) -> list[str]:
    """Returns the names of all programs, ours first."""
    return list(dict.fromkeys(p.program for p in sorted(all_points, key=lambda p: not p.ours)))


def gain_at(all_points: Sequence[Point], scenario: str, rms: float) -> Optional[float]:
    """Returns the speedup of our fastest step over the fastest other program at an error."""
    def best(ours: bool) -> Optional[float]:
        programs = {p.program for p in all_points if p.ours == ours}
        times = (time_at(fastest(all_points, name, scenario), rms) for name in programs)
        return min((time for time in times if time is not None), default=None)

    ours, theirs = best(True), best(False)
    return theirs / ours if ours and theirs else None


def table(all_points: Sequence[Point], scenario: str) -> str:
    programs = names(all_points)
    rows = []
    for rms in LEVELS:
        times = [time_at(fastest(all_points, name, scenario), rms) for name in programs]
        gain = gain_at(all_points, scenario, rms)
        rows.append([f"{rms:.0e}", *(ABSENT if time is None else seconds(time) for time in times),
                     ABSENT if gain is None else f"{gain:.1f}"])
    return markdown(("RMS error", *programs, "times as fast"), rows)


def tables(records: Sequence[Record], others: Sequence[Point]) -> str:
    """Returns one table per system of bodies, or "" if a part of the measurements is missing."""
    if not records or not others:
        return ""
    all_points = points(records, others)
    shapes = list(dict.fromkeys(p.scenario for p in all_points))
    parts = [
        "The tables show the time of a whole time step at an RMS error of at most the given value, "
        "interpolated between the settings of a program. If all settings have smaller errors, the "
        "time is that of the fastest setting, so a large error does such a program no justice. "
        "The last column compares our fastest step with the fastest other "
        f"program. Measured on {heading(records)}."
    ]
    for scenario in shapes:
        bodies = max(p.bodies for p in all_points if p.scenario == scenario)
        parts.append(f"{SHAPES.get(scenario, scenario)}, {bodies:,} bodies:")
        parts.append(table(all_points, scenario))
    return "\n\n".join(parts)


def words(results: Path) -> dict[str, Callable[..., Value]]:
    def all_tables() -> Value:
        return Value(tables(records_of(results), others_of(results)) or None, "text",
                     "tree_programs()")

    def gain(scenario: str, rms: float) -> Value:
        found = gain_at(points(records_of(results), others_of(results)), scenario, rms)
        return Value(found, "number:2", f"tree_program_gain('{scenario}', {rms})")

    return {"tree_programs": all_tables, "tree_program_gain": gain}
