"""Provides every number that a document may quote: measured numbers, published numbers, and facts
about a machine.

docs/names.json gives short names to problems and machines. A quantity that has no record yet is a
Value without content; an unknown name is an error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Union

from nbody_tools.arguments import ToolError
from nbody_tools.records.record import Record, check_measurement, check_step, read_records
from nbody_tools.steps import STEP_NAME, published_steps
from nbody_tools.tables import NOT_MEASURED, in_format

FLOPS_PER_INTERACTION = 20  # the convention of GPU Gems 3
OTHER_PROGRAMS = ("cpu_simd",)
FOLDERS = ("", "cpu", "profiles", "cluster")  # folders of docs/results/ with records or profiles
TIMES = ("upload", "compute", "download", "total")


class FactError(ToolError):
    """An unknown name, or an invalid file."""


class PlacedError(ToolError):
    """Problems that are not in the rendered document. The message has one line per problem, each
    with the file and the line."""


@dataclass(frozen=True)
class Problem:
    systems: int
    bodies: int
    steps: int

    interactions = property(lambda self: self.systems * self.bodies ** 2 * self.steps)

    def __str__(self) -> str:
        return f"{self.systems} x {self.bodies} x {self.steps}"


@dataclass(frozen=True)
class Value:
    """A number or a text, with its format and its source. `content` is None if the quantity has
    not been measured yet."""

    content: Union[float, str, None]
    format: str = "number"  # for tables.in_format
    name: str = ""
    optional: bool = False  # if true, a document may say that it was not measured

    @property
    def number(self) -> float:
        """Returns the content, which must be a number."""
        if not isinstance(self.content, (int, float)):
            raise FactError(f"{self.name or 'a value'}: {self} is not a number")
        return self.content

    def __truediv__(self, other: Union["Value", float]) -> "Value":
        other = other if isinstance(other, Value) else Value(other, name=str(other))
        known = self.content is not None and other.content is not None
        return Value(self.number / other.number if known else None, ".2f",
                     f"{self.name} / {other.name}", self.optional or other.optional)

    def __sub__(self, other: "Value") -> "Value":
        known = self.content is not None and other.content is not None
        return replace(self, content=self.number - other.number if known else None,
                       name=f"{self.name} - {other.name}", optional=self.optional or other.optional)

    def __rmul__(self, factor: float) -> "Value":
        content = None if self.content is None else factor * self.number
        return replace(self, content=content, name=f"{factor} * {self.name}")

    def __str__(self) -> str:
        return NOT_MEASURED if self.content is None else in_format(self.content, self.format)


@dataclass(frozen=True)
class Measured:
    name: str  # name of a step, a variant or another program
    record: Record
    base: Optional[Record]  # step 00 on the same problem and machine, from the same file

    @property
    def rank(self) -> tuple[bool, str]:
        """Returns a sort key: records that can be compared with step 00 rank above others, and
        newer records above older ones. The age follows from the date in the record, because the
        date of the file is that of the checkout."""
        return self.base is not None, self.record.date

    @property
    def problem(self) -> Problem:
        return problem_of(self.record)

    @property
    def rate(self) -> float:
        return self.record.giga_interactions_per_second("compute").median


class Facts:
    def __init__(self, root: Path) -> None:
        docs = root / "docs"
        names = read_json(docs / "names.json")
        self.problems = {name: Problem(*sizes) for name, sizes in names["problems"].items()}
        self.machines: dict[str, str] = names["machines"]
        self.timelines: dict[str, list[str]] = names["timelines"]
        self.machine_facts = read_json(docs / "machines.json")
        self.published = read_json(docs / "published.json")
        self.predictions = read_predictions(docs / "results" / "predictions.md")
        self.steps = published_steps(root)
        self.measured, self.profiles = read_results(docs / "results")

    # Records.

    def pick(self, name: str, problem: Union[str, Problem], devices: int = 1) -> Optional[Measured]:
        """Returns the record to quote, which was measured on a machine listed in
        docs/names.json."""
        if STEP_NAME.fullmatch(name) is None and name not in OTHER_PROGRAMS:
            raise FactError(f"'{name}' is neither a step nor one of {', '.join(OTHER_PROGRAMS)}")
        if isinstance(problem, str):
            problem = self.problem(problem)
        fitting = (m for m in self.measured if m.name == name and m.problem == problem
                   and m.record.device_count == devices
                   and m.record.data["device"]["name"] in self.machines.values())
        return max(fitting, key=lambda m: m.rank, default=None)

    def problem(self, name: str) -> Problem:
        if name not in self.problems:
            raise FactError(
                f"'{name}' is not a problem: docs/names.json has {', '.join(self.problems)}"
            )
        return self.problems[name]

    def value(self, name: str, problem: Union[str, Problem], quantity: str,
              devices: int = 1) -> Value:
        if quantity not in QUANTITIES:
            raise FactError(f"'{quantity}' is not a quantity; choose from {', '.join(QUANTITIES)}")
        measured = self.pick(name, problem, devices)
        content, form = QUANTITIES[quantity](self, measured) if measured else (None, "number")
        return Value(
            content, form, f"{name}.{problem}{f'.on({devices})' if devices > 1 else ''}.{quantity}"
        )

    def variants(self) -> Iterator[Measured]:
        """Yields the newest record of each measured variant of a step."""
        newest: dict[tuple, Measured] = {}
        for m in self.measured:
            if m.name not in self.steps and m.name not in OTHER_PROGRAMS:
                key = (m.name, str(m.problem), m.record.device_count)
                if key not in newest or m.record.date >= newest[key].record.date:
                    newest[key] = m
        yield from (newest[key] for key in sorted(newest))

    # Others.

    def machine(self, which: str, fact: str) -> Value:
        if which not in self.machines:
            raise FactError(
                f"'{which}' is not a machine: docs/names.json has {', '.join(self.machines)}"
            )
        name = self.machines[which]
        facts = self.machine_facts.get(name, {})
        if fact != "name" and "value" not in facts.get(fact, {}):
            raise FactError(f"docs/machines.json: '{name}' has no '{fact}'")
        return Value(name if fact == "name" else facts[fact]["value"])

    def published_value(self, key: str, quantity: str) -> Value:
        row = next((row for row in self.published["rows"] if row["key"] == key), None)
        if row is None:
            raise FactError(f"docs/published.json: no row has the key '{key}'")
        if quantity == "gips_from_time":
            return Value(
                1e-9 * Problem(**self.published["problem"]).interactions / row["time"], ".1f"
            )
        formats = {"time": ".4f", "speedup": ".2f", "gips": ".2f"}
        if quantity not in formats:
            raise FactError(f"'{quantity}' is not a quantity of docs/published.json")
        return Value(row[quantity], formats[quantity])

    def predicted(self, key: str, column: str) -> Value:
        """Returns a cell of docs/results/predictions.md; `key` is the first cell of its row."""
        row = self.predictions.get(key)
        if row is None:
            return Value(None, name=f"predicted('{key}', '{column}')")
        if column not in row:
            raise FactError(
                f"predictions.md: '{key}' has no column '{column}'; choose from {', '.join(row)}"
            )
        try:
            return Value(float(row[column]), name=key)
        except ValueError:
            return Value(row[column], name=key)

    def profile(self, step: str, kernel: Optional[str] = None) -> Optional[dict[str, Any]]:
        """Returns the newest profile of a kernel; the default is the kernel that took longest."""
        lines = [line for line in self.profiles if line["step"] == step
                 and kernel in (None, line["kernel"].partition("<")[0])]
        return max(lines, default=None, key=lambda line: (
            line["date"], line["launches"] * line["metrics"].get("duration_us", 0)))


Content = Union[float, str, None]
Quantity = Callable[[Facts, Measured], tuple[Content, str]]


def median_of(time: str) -> Quantity:
    return lambda _, m: (m.record.seconds(time).median, "time")


def range_of(time: str) -> Quantity:
    return lambda _, m: (m.record.seconds(time).range, "time")


def speedup(phase: str) -> Quantity:
    return lambda facts, m: (
        None if m.base is None else m.record.speedup_over(m.base, phase).median, ".2f")


# The quantities of a record that documents can quote, each with its content and format.
QUANTITIES: dict[str, Quantity] = {
    **{time: median_of(time) for time in TIMES},
    **{f"iqr_{time}": range_of(time) for time in TIMES},
    "gips": lambda _, m: (m.rate, "number"),
    "gips_total": lambda _, m: (m.record.giga_interactions_per_second("total").median, "number"),
    "tflops": lambda _, m: (1e-3 * FLOPS_PER_INTERACTION * m.rate, "number"),
    # The device's thread-instruction slots in the time of one interaction.
    "slots": lambda facts, m: (1e3 * facts.machine("gpu", "issue_slots").number / m.rate, "number"),
    "speedup": speedup("total"),
    "speedup_compute": speedup("compute"),
    "error": lambda _, m: (m.record.acceleration_error, ".1e"),
    "machine": lambda _, m: (m.record.machine, "text"),
    "verdict": lambda _, m: (m.record.judgement, "text"),
    "date": lambda _, m: (m.record.date[:10], "text"),
    "repeats": lambda _, m: (len(m.record.data["repeats"]), "number"),
    "caption": lambda _, m: (
        f"{m.record.machine}, {m.record.date[:10]}: {m.record.problem}",
        "text",
    ),
}


def problem_of(record: Record) -> Problem:
    return Problem(record.data["systems"], record.data["bodies"], record.data["steps"])


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FactError(f"{path}: cannot be read: {error}") from error


def read_results(folder: Path) -> tuple[list[Measured], list[dict[str, Any]]]:
    """Returns the measurements and profiles in a folder. Omits emulated runs. Also omits runs with
    timelines, because recording the events took time."""
    measured: list[Measured] = []
    profiles: list[dict[str, Any]] = []
    for source in sorted(file for where in FOLDERS for file in (folder / where).glob("*.jsonl")):
        lines = [record.data for record in read_records(source, check_line)]
        profiles += [data for data in lines if "metrics" in data]
        records = [record for record in map(Record, lines)
                   if "metrics" not in record.data and not record.emulated]
        bases = {record.problem: record for record in records
                 if record.step.startswith("step00_") and record.backend == "cpu"}
        measured += [
            Measured(record.data.get("variant") or record.step, record, bases.get(record.problem))
            for record in records
        ]
    return measured, profiles


def check_line(data: Any) -> None:
    """Checks a profile or a record. A record may be about a step, about a variant (named by the key
    "variant"), or about another program."""
    if not (isinstance(data, dict) and "metrics" in data):
        check_measurement(data)
        if data["step"] not in OTHER_PROGRAMS:
            check_step(data)


def read_predictions(path: Path) -> dict[str, dict[str, str]]:
    """Reads all tables, and maps the first cell of each row to the row. If several rows have the
    same first cell, keeps the first of these rows."""
    rows: dict[str, dict[str, str]] = {}
    columns: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            columns = []
        elif not columns:
            columns = cells
        elif not set(line) <= set("|-: "):
            rows.setdefault(cells[0], dict(zip(columns[1:], cells[1:])))
    return rows


class Named:
    """An object whose attributes a function looks up by name, as in {{ machine.gpu.sms }}."""

    def __init__(self, lookup: Callable[[str], Any]) -> None:
        self._lookup = lookup

    def __getattr__(self, name: str) -> Any:
        # Jinja itself looks up names that begin with an underscore.
        # For other names, the user must see the FactError.
        if name.startswith("_"):
            raise AttributeError(name)
        return self._lookup(name)
