"""Every number that the report may use: measured, published by others, or known of a machine.

Looks numbers up by name; what is not there is Missing, what cannot be is a FactError.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Optional

from nbody_arguments import ToolError
from nbody_records import Record, RecordError, parse_record

FLOPS_PER_INTERACTION = 20  # a convention, from GPU Gems 3
STEP_NAME = re.compile(r"step\d\d_\w+")


class FactError(ToolError):
    """A name that means nothing, or a file that is not what it should be."""


class Missing(Exception):
    """A name that means something for which there is no record yet."""


@dataclass(frozen=True)
class Problem:
    systems: int
    bodies: int
    steps: int

    interactions = property(lambda self: self.systems * self.bodies ** 2 * self.steps)

    def __str__(self) -> str:
        return f"{self.systems} x {self.bodies} x {self.steps}"


@dataclass(frozen=True)
class Measured:
    name: str  # of the step, of a variant of it, or of another program
    record: Record
    base: Optional[Record]  # step 00 on the same problem, from the same file: the same machine

    @property
    def rank(self) -> tuple[bool, str]:
        """As in the READMEs: what can be compared with step 00 first, then the newest."""
        return self.base is not None, self.record.date


@dataclass(frozen=True)
class Value:
    number: Any  # or text
    format: str


FOLDERS = ("", "cpu", "profiles")  # of docs/results/, with records or profiles
TIMES = ("upload", "compute", "download", "total")


class Facts:
    """`problems` and `machines` give short names to what the report is about."""

    def __init__(self, root: Path, problems: dict[str, Problem], machines: dict[str, str]) -> None:
        self.problems, self.machines = problems, machines
        docs = root / "docs"
        self.machine_facts = read_json(docs / "machines.json")
        self.published = read_json(docs / "published.json")
        self.predictions = read_predictions(docs / "results" / "predictions.md")
        self.steps = sorted(folder.name for folder in root.glob("step[0-9][0-9]_*"))
        self.measured, self.profiles = read_results(docs / "results")

    # Records.

    def pick(self, name: str, problem: str, devices: int = 1) -> Measured:
        wanted = self.problem(problem)
        if STEP_NAME.fullmatch(name) is None and name not in ("cpu_simd",):
            raise FactError(f"'{name}' is neither a step nor cpu_simd")
        found = [m for m in self.measured if m.name == name
                 and problem_of(m.record) == wanted and m.record.device_count == devices
                 and m.record.data["device"]["name"] in self.machines.values()]
        if not found:
            raise Missing
        return max(found, key=lambda m: m.rank)

    def picked(self, name: str, problem: str, devices: int = 1) -> Optional[Measured]:
        try:
            return self.pick(name, problem, devices)
        except Missing:
            return None

    def problem(self, name: str) -> Problem:
        if name not in self.problems:
            raise FactError(f"'{name}' is no problem; the template names {', '.join(self.problems)}")
        return self.problems[name]

    def quantity(self, measured: Measured, name: str) -> Value:
        record = measured.record
        if name in TIMES:
            return Value(record.seconds(name).median, "time")
        if name.startswith("iqr_") and name[4:] in TIMES:
            return Value(record.seconds(name[4:]).range, "time")
        rate = record.giga_interactions_per_second("total" if name.endswith("_total") else "compute")
        if name in ("gips", "gips_total"):
            return Value(rate.median, "number")
        if name == "tflops":
            return Value(1e-3 * FLOPS_PER_INTERACTION * rate.median, "number")
        if name == "slots":  # of the whole device, that went by for each interaction
            return Value(1e3 * self.machine("gpu", "issue_slots").number / rate.median, "number")
        if name in ("speedup", "speedup_compute"):
            if measured.base is None:
                raise Missing
            phase = "total" if name == "speedup" else "compute"
            return Value(record.speedup_over(measured.base, phase).median, ".2f")
        if name == "error":
            if record.acceleration_error is None:
                raise Missing
            return Value(record.acceleration_error, ".1e")
        if name in ("machine", "verdict"):
            return Value(getattr(record, name), "text")
        if name == "date":
            return Value(record.date[:10], "text")
        if name == "repeats":
            return Value(len(record.data["repeats"]), "number")
        raise FactError(f"'{name}' is no quantity of a record")

    # Others.

    def machine(self, which: str, fact: str) -> Value:
        if which not in self.machines:
            raise FactError(f"'{which}' is no machine; the template names {', '.join(self.machines)}")
        name = self.machines[which]
        if fact == "name":
            return Value(name, "text")
        facts = self.machine_facts.get(name, {})
        if fact not in facts:
            raise FactError(f"docs/machines.json: '{name}' has no '{fact}'")
        return Value(facts[fact]["value"], "number")

    def published_row(self, key: str) -> dict[str, Any]:
        row = next((row for row in self.published["rows"] if row["key"] == key), None)
        if row is None:
            raise FactError(f"docs/published.json: there is no row '{key}'")
        return row

    def published_value(self, key: str, name: str) -> Value:
        row = self.published_row(key)
        if name == "gips_from_time":
            problem = Problem(**self.published["problem"])
            return Value(1e-9 * problem.interactions / row["time"], ".1f")
        formats = {"time": ".4f", "speedup": ".2f", "gips": ".2f"}
        if name not in formats:
            raise FactError(f"'{name}' is no quantity of docs/published.json")
        return Value(row[name], formats[name])

    def prediction(self, key: str, column: str) -> Value:
        row = self.predictions.get(key)
        if row is None:
            raise Missing
        if column not in row:
            raise FactError(f"predictions.md: '{key}' has no column '{column}', but "
                            f"{', '.join(row)}")
        try:
            return Value(float(row[column]), "number")
        except ValueError:
            return Value(row[column], "text")

    def profile(self, step: str, kernel: str, metric: str) -> Value:
        found = [line for line in self.profiles if line["step"] == step
                 and line["kernel"].partition("<")[0] == kernel and metric in line["metrics"]]
        if not found:
            raise Missing
        return Value(max(found, key=lambda line: line["date"])["metrics"][metric], "number")

    def main_kernel(self, step: str) -> Optional[dict[str, Any]]:
        """Of the newest profile of a step: the kernel that took longest."""
        found = [line for line in self.profiles if line["step"] == step]
        return max(found, default=None, key=lambda line: (
            line["date"], line["launches"] * line["metrics"].get("duration_us", 0)))


def problem_of(record: Record) -> Problem:
    return Problem(record.data["systems"], record.data["bodies"], record.data["steps"])


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FactError(f"{path}: cannot be read: {error}") from error


def read_results(folder: Path) -> tuple[list[Measured], list[dict[str, Any]]]:
    """Emulated times are no times and are left out; so are the records beside timelines, which were
    made while events were recorded."""
    measured: list[Measured] = []
    profiles: list[dict[str, Any]] = []
    for source in sorted(file for where in FOLDERS for file in (folder / where).glob("*.jsonl")):
        named = []
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), start=1):
            if line.strip():
                data = parsed(line, f"{source}:{number}")
                if "metrics" in data:
                    profiles.append(data)
                else:
                    named.append(named_record(data, f"{source}:{number}"))
        kept = [(name, record) for name, record in named if not record.emulated]
        bases = {record.problem: record for name, record in kept
                 if name.startswith("step00_") and record.backend == "cpu"}
        measured += [Measured(name, record, bases.get(record.problem)) for name, record in kept]
    return measured, profiles


def parsed(line: str, where: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise RecordError(f"{where}: not JSON: {error}") from error
    if not isinstance(data, dict):
        raise RecordError(f"{where}: not an object")
    return data


def named_record(data: dict[str, Any], where: str) -> tuple[str, Record]:
    """A record may be of a variant of a step ("variant": its name), or of a program that is no step;
    the latter is checked like one."""
    step = str(data.get("step"))
    checked = data if STEP_NAME.fullmatch(step) else {**data, "step": f"step00_{step}"}
    record = parse_record(json.dumps(checked), where)
    return str(data.get("variant") or step), Record(data) if checked is not data else record


def read_predictions(path: Path) -> dict[str, dict[str, str]]:
    """Rows of all tables, by their first cell; the first of several with the same one counts."""
    found: dict[str, dict[str, str]] = {}
    columns: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            columns = []
        elif not columns:
            columns = cells
        elif not set(line) <= set("|-: "):
            found.setdefault(cells[0], dict(zip(columns[1:], cells[1:])))
    return found


def variants(facts: Facts) -> Iterator[Measured]:
    """Measured programs that are neither a step nor the other CPU program, newest of each."""
    newest: dict[tuple, Measured] = {}
    for m in facts.measured:
        if m.name not in facts.steps and m.name != "cpu_simd":
            key = (m.name, str(problem_of(m.record)), m.record.device_count)
            if key not in newest or m.record.date >= newest[key].record.date:
                newest[key] = m
    yield from (newest[key] for key in sorted(newest))
