"""Reads and checks result records: one JSON line per run of a step program.

Every figure and table of the project uses such records. Therefore an invalid line is never skipped:
it raises an error that gives the file and the line.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, NoReturn, Optional, Union

from nbody_tools.arguments import MOST, ToolError, read_whole_file

PHASES = ("upload", "compute", "download", "total")
BACKENDS = ("cuda", "hostcuda", "cpu")
VERDICTS = ("pass", "partial", "fail", "unchecked")
EMULATED_BACKEND = "hostcuda"
EMULATED_NOTE = "emulated on a CPU: not GPU times"

_NUMBER = (int, float)
_STEP = re.compile(r"step\d\d[a-z]?_\w+")
_TYPES: dict[str, Union[type, tuple[type, ...]]] = {
    "step": str, "parent": str, "revision": str, "date": str, "device": dict, "backend": str,
    "systems": int, "bodies": int, "steps": int, "dt": _NUMBER, "softening": _NUMBER,
    "integrator": str, "scenario": str, "repeats": list, "median": dict, "iqr": dict,
    "errors": dict, "verdict": str,
}


class RecordError(ToolError):
    """A line that is not a result record; the message says where and why."""


@dataclass(frozen=True)
class Quartiles:
    """The quartiles of the repeats. Unlike a standard deviation, they do not assume a normal
    distribution, which times do not have."""

    low: float
    median: float
    high: float

    @property
    def range(self) -> float:
        return self.high - self.low

    def over(self, other: "Quartiles") -> "Quartiles":
        """Returns the ratio of the medians. Its quartiles are the smallest and the largest ratio
        of a quartile of `self` to a quartile of `other`."""
        return Quartiles(self.low / other.high, self.median / other.median, self.high / other.low)


@dataclass(frozen=True)
class Problem:
    """The problem of a run; only records of the same problem may be compared."""

    systems: int
    bodies: int
    steps: int
    dt: float
    softening: float
    integrator: str
    scenario: str

    def __str__(self) -> str:
        return (f"{self.systems} x {self.bodies} bodies, {self.steps} steps, "
                f"{self.scenario or 'own input'}, {self.integrator}, dt {self.dt:g}, "
                f"softening {self.softening:g}")


@dataclass(frozen=True)
class Record:
    data: dict[str, Any]

    step = property(lambda self: self.data["step"])
    backend = property(lambda self: self.data["backend"])
    verdict = property(lambda self: self.data["verdict"])
    date = property(lambda self: self.data["date"])
    device_count = property(lambda self: self.data["device"].get("count") or 1)
    emulated = property(lambda self: self.backend == EMULATED_BACKEND)

    @property
    def judgement(self) -> str:
        """Returns the text of a table cell: the verdict, and the undecided checks if there are
        any."""
        words = ["sampled"] * self.data.get("sampled", False) + self.data.get("undecided", [])
        return f"{self.verdict} ({'; '.join(words)})" if words else self.verdict

    @property
    def number(self) -> str:
        """Returns "04b" for step04b_blocks."""
        return self.step[4:].partition("_")[0]

    @property
    def label(self) -> str:
        """Returns "03 tiling" for step03_tiling."""
        return self.step[4:].replace("_", " ")

    @property
    def machine(self) -> str:
        device = {"cuda": "?", "driver": "?", **self.data["device"]}
        count = f"{self.device_count} x " if self.device_count > 1 else ""
        cuda = f" (CUDA {device['cuda']}, driver {device['driver']})"
        return f"{count}{device['name']}{cuda if self.backend == 'cuda' else ''}"

    @property
    def problem(self) -> Problem:
        return Problem(**{key: self.data[key] for key in Problem.__dataclass_fields__})

    @property
    def acceleration_error(self) -> Optional[float]:
        return self.data["errors"].get("acceleration_rms")

    def seconds(self, phase: str) -> Quartiles:
        return quartiles([repeat[phase] for repeat in self.data["repeats"]])

    def giga_interactions_per_second(self, phase: str) -> Quartiles:
        """Returns the interactions divided by the time of a phase (compute or total). Each time
        step of a system counts N^2 interactions or, if only some bodies exert forces, N times the
        number of these bodies."""
        sources = self.data.get("sources", self.data["bodies"])  # older records lack this key
        interactions = self.data["systems"] * self.data["bodies"] * sources * self.data["steps"]
        time = self.seconds(phase)
        return Quartiles(*(1e-9 * interactions / t for t in (time.high, time.median, time.low)))

    def speedup_over(self, other: "Record", phase: str = "total") -> Quartiles:
        return other.seconds(phase).over(self.seconds(phase))


def quartiles(values: Iterable[float]) -> Quartiles:
    """Returns the quartiles, linearly interpolated between the sorted values, like
    numpy.percentile."""
    values = list(values)
    return Quartiles(
        *statistics.quantiles(values if len(values) > 1 else 2 * values, method="inclusive")
    )


def check_step(data: Any) -> None:
    """Raises ValueError unless this is a record of one of the steps."""
    check_measurement(data)
    if not _STEP.fullmatch(data["step"]):  # names of figures begin with it
        raise ValueError(f"'step' is '{data['step']}', not stepNN_name")
    if data.get("precision", "single") != "single":  # older records lack this key
        raise ValueError(f"'precision' is '{data['precision']}', but only single is compared")


def read_records(path: Path, check: Callable[[Any], None] = check_step) -> list[Record]:
    records = [
        parse_record(line, f"{path}:{number}", check)
        for number, line in enumerate(read_whole_file(path, RecordError).splitlines(), start=1)
        if line.strip()
    ]
    if not records:
        raise RecordError(f"{path}: holds no records")
    return records


def newest_measured(folder: Path, check: Callable[[Any], None]) -> list[Record]:
    """Returns the measured (not emulated) records of the newest file that has such records."""
    files = [[record for record in read_records(path, check) if not record.emulated]
             for path in sorted(folder.glob("*.jsonl"))]
    return max(filter(None, files), key=lambda records: max(r.date for r in records), default=[])


def parse_record(line: str, where: str, check: Callable[[Any], None] = check_step) -> Record:
    try:
        data = json.loads(line, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise RecordError(f"{where}: not JSON: {error.msg} (column {error.colno})") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{where}: not a result record: {error}") from error
    try:
        check(data)
    except ValueError as error:
        raise RecordError(f"{where}: not a result record: {error}") from error
    return Record(data)


def _refuse(constant: str) -> NoReturn:
    """Python's parser accepts NaN and Infinity, which no value of a record may be."""
    raise ValueError(f"it holds {constant}")


def check_measurement(data: Any) -> None:
    """Raises ValueError unless the data have the keys and times of a run of a program."""
    if not isinstance(data, dict):
        raise ValueError("not an object")
    for key, kind in _TYPES.items():
        if key not in data:
            raise ValueError(f"'{key}' is missing")
        if not isinstance(data[key], kind) or isinstance(data[key], bool):
            raise ValueError(f"'{key}' is {json.dumps(data[key])}, which has the wrong type")
    for key, allowed in (("backend", BACKENDS), ("verdict", VERDICTS)):
        if data[key] not in allowed:
            raise ValueError(f"'{key}' is '{data[key]}', not one of {', '.join(allowed)}")
    counts = {key: data[key] for key in ("systems", "bodies", "steps")}
    counts["sources"] = data.get("sources", 1)  # older records lack this key
    counts["count"] = data["device"].get("count") or 1  # of devices
    for key, count in counts.items():
        if not isinstance(count, int) or not 1 <= count <= MOST:
            raise ValueError(f"'{key}' is {json.dumps(count)}, not a whole number from 1 to "
                             f"{MOST}")
    if not isinstance(data["device"].get("name"), str):
        raise ValueError("'device' has no name")
    _check_times(data)


def _check_times(data: dict[str, Any]) -> None:
    if not data["repeats"]:
        raise ValueError("'repeats' is empty")
    for timing in [*data["repeats"], data["median"], data["iqr"]]:
        for phase in PHASES:
            seconds = timing.get(phase) if isinstance(timing, dict) else None
            if not isinstance(seconds, _NUMBER) or not math.isfinite(seconds) or seconds < 0:
                raise ValueError(f"a time '{phase}' is {json.dumps(seconds)}, not a number >= 0")
    for phase in ("compute", "total"):
        # Emulated times may be zero, because they are never used as divisors.
        if (
            min(repeat[phase] for repeat in data["repeats"]) <= 0
            and data["backend"] != EMULATED_BACKEND
        ):
            raise ValueError(f"a repeat has the '{phase}' time 0")
        # If the median does not follow from the repeats, the record was edited or mixes runs.
        median = quartiles([repeat[phase] for repeat in data["repeats"]]).median
        if not math.isclose(median, data["median"][phase], rel_tol=1e-3):
            raise ValueError(f"the median '{phase}' is {data['median'][phase]:g}, but the "
                             f"repeats have {median:g}")
