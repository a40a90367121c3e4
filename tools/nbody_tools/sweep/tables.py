"""Reads the declarations of the reports' tables in experiments/sweeps/: programs, sizes and
published numbers. experiments/sweeps/README.md describes their format."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Iterator, Optional

from nbody_tools.arguments import ToolError
from nbody_tools.sweep.profiles import check_profile

FOLDER = Path("experiments") / "sweeps"
# These programs have their own command lines. All others are steps or have the form of a step.
OTHER_PROGRAMS = ("activity_map", "course_program")
MEASURES = re.compile(r"G/s|GFLOP/s|s of \d+ steps|s per step|s in all")
ALSO = ("speedup", "G/s")

_REPORT = {"title": str, "machine": str}
_REPORT_MAY = {"page": str, "published": str, "points": dict, "tables": list, "next": bool}
_TABLE = {"number": str, "title": str}
_TABLE_MAY = {
    "section": str,
    "measure": str,
    "arguments": str,
    "points": list,
    "series": list,
    "claim": list,
    "rounds": int,
    "repeat": int,
    "rate": (int, float),
    "note": str,
    "grid": list,
    "ratio": list,
    "also": list,
    "several_runs": str,
    "timeline": str,
    "stage": list,
    "profile": list,
    "program": str,
    "define": dict,
    "fast_math": bool,
    "kernel": str,
    "counter": str,
}
_SERIES_MAY = {
    "program": str,
    "called": str,
    "define": dict,
    "fast_math": bool,
    "edit": list,
    "arguments": str,
    "threads": int,
    "published": (int, float, list, dict),
    "also": list,
    "only": list,
    "rate": (int, float),
    "rounds": int,
    "reason": str,
}
_CLAIM_MAY = {"where": str, "printed": str, "better": str, "worse": list, "same": list, "at": list}
_RATIO = {"name": str, "faster": str, "than": str}
_RATIO_MAY = {"published": (list, dict), "average": dict, "cumulative": dict}


class Printed(float):
    """A published number: its value and its printed form."""
    text: str

    def __new__(cls, text: str) -> "Printed":
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Program:
    """A step or an experiment, unchanged or with other parameters."""
    source: str  # the name of its folder
    define: tuple[tuple[str, int], ...] = ()
    edit: tuple[str, ...] = ()  # FIND, REPLACE, and further pairs
    fast_math: Optional[bool] = None  # None: as for the step itself
    called: str = ""  # the variant in experiments/variants that has the same records

    @property
    def name(self) -> str:
        if self.called:
            return self.called
        parts = [self.source, *(f"{name}_{value}" for name, value in self.define)]
        if self.edit:
            # A name that described the whole edit would be as long as the edit itself.
            parts.append(
                "edited_" + re.sub(r"\W+", "_", self.edit[1] or self.edit[0]).strip("_")[:24]
            )
        if self.fast_math is not None:
            parts.append("fast" if self.fast_math else "exact")
        return "_".join(parts)


@dataclass(frozen=True)
class Configuration:
    """A program with its arguments. It is measured once, however many tables contain it."""
    program: Program
    arguments: str
    threads: int = 0  # CPU threads; 0: all

    @property
    def key(self) -> str:
        threads = f"OMP_NUM_THREADS={self.threads} " if self.threads else ""
        return f"{threads}{self.program.name} {self.arguments}"

    @property
    def devices(self) -> int:
        _, _, count = self.arguments.partition("--devices ")
        return int(count.split()[0]) if count else 1


@dataclass(frozen=True)
class Cell:
    series: str
    point: str
    configuration: Optional[Configuration]  # None if it cannot be run; `reason` says why
    reason: str
    published: Optional[float]
    rate: float  # expected G interactions/s, to estimate the time
    rounds: int
    repeat: int

    @property
    def runs(self) -> Configuration:
        """Returns the configuration; raises ToolError if the cell cannot be run."""
        if self.configuration is None:
            raise ToolError(f"{self.series}, {self.point}: cannot be run: {self.reason}")
        return self.configuration


@dataclass(frozen=True)
class Table:
    name: str
    data: dict[str, Any]
    cells: tuple[Cell, ...]

    @property
    def points(self) -> list[str]:
        return [name for name, _ in self.data["points"]]

    @property
    def measure(self) -> str:
        return self.data["measure"]

    def cell(self, series: str, point: str) -> Optional[Cell]:
        return next(
            (cell for cell in self.cells if (cell.series, cell.point) == (series, point)), None
        )

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(cell.series for cell in self.cells))


def read_toml(path: Path) -> dict[str, Any]:
    """Reads a TOML file. Floating-point numbers keep their written form (Printed)."""
    import tomllib  # needs Python 3.11; machines that only run programs do not call this function
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Printed)
    except (tomllib.TOMLDecodeError, OSError) as error:
        raise ToolError(f"{path}: {error}") from error


def read_reports(root: Path) -> dict[str, dict[str, Any]]:
    path = root / FOLDER / "reports.toml"
    reports = read_toml(path)
    for name, report in reports.items():
        check_keys(f"{path.name}: {name}", report, _REPORT, _REPORT_MAY)
        for points in report.get("points", {}).values():
            check_points(f"{path.name}: {name}", points)
    return reports


def source_of(root: Path, program: str) -> Path:
    """Returns the source file of a step, or of an experiment in the form of a step."""
    for folder in (root / program, root / "experiments" / program):
        for source in folder.glob("nbody.c*"):
            return source
    raise ToolError(f"'{program}' is neither a step nor an experiment")


def read_tables(root: Path) -> dict[str, Table]:
    """Returns the tables by name, in the order of the reports and of the tables in each report."""
    folder, tables = root / FOLDER / "tables", {}
    for report, data in read_reports(root).items():
        for name in data.get("tables", []):
            if name in tables:
                raise ToolError(f"reports.toml: {report}: '{name}' is listed twice")
            tables[name] = read_table(root, folder / f"{name}.toml", report, data.get("points", {}))
    for path in folder.glob("*.toml"):
        if path.stem not in tables:
            raise ToolError(f"{path.stem}: no report in reports.toml lists this table")
    return tables


def check_keys(
    where: str, data: Any, must: dict[str, Any], may: Optional[dict[str, Any]] = None
) -> None:
    if not isinstance(data, dict):
        raise ToolError(f"{where}: must be a table")
    allowed = {**must, **(may or {})}
    for key, value in data.items():
        if key not in allowed:
            raise ToolError(f"{where}: '{key}' is not a key; choose from {', '.join(allowed)}")
        if not isinstance(value, allowed[key]):
            raise ToolError(f"{where}: the value of '{key}' has the wrong type: {value!r}")
    for key in must:
        if key not in data:
            raise ToolError(f"{where}: '{key}' is missing")


def read_table(root: Path, path: Path, report: str, lists: dict[str, list[Any]]) -> Table:
    """Reads and checks one table. `lists` maps names to lists of points."""
    where = path.name
    data = read_toml(path)
    check_keys(where, data, _TABLE, _TABLE_MAY)
    data = {
        "report": report,
        "measure": "G/s",
        "arguments": "",
        "points": [["", ""]],
        "series": [],
        "grid": [],
        "claim": [],
        "rounds": 5,
        "repeat": 1,
        "rate": 500.0,
        "stage": [],
        "profile": [],
        "ratio": [],
        "also": [],
        **data,
    }
    for grid in data["grid"]:
        check_keys(
            f"{where}: a grid",
            grid,
            {"program": str, "define": dict},
            {"rate": (int, float), "arguments": str},
        )
        data["series"].extend(series_of_grid(grid))
    if not MEASURES.fullmatch(data["measure"]):
        raise ToolError(f"{where}: the measure '{data['measure']}' does not match "
                        f"{MEASURES.pattern}")
    data["points"] = unfolded(data["points"], lists)
    check_points(where, data["points"])
    if not any(data[key] for key in ("series", "stage", "profile")):
        raise ToolError(f"{where}: needs series, stages or a profile")
    if unknown := [name for name in data["also"] if name not in ALSO]:
        raise ToolError(f"{where}: also: '{unknown[0]}' is not one of {', '.join(ALSO)}")
    if data["series"] and data["profile"]:
        raise ToolError(f"{where}: 'series' and 'profile' cannot share a table")
    if ("timeline" in data) != bool(data["stage"]):
        raise ToolError(f"{where}: 'timeline' and stages must be given together")
    for stage in data["stage"]:
        check_keys(
            f"{where}: a stage", stage, {"name": str, "stage": str, "first": str, "later": str}
        )
    cells = tuple(cell for series in data["series"] for cell in cells_of(root, where, data, series))
    places = [(cell.series, cell.point) for cell in cells]
    if len(set(places)) < len(places):
        raise ToolError(f"{where}: two series have the same name")
    table = Table(path.stem, data, cells)
    if data["profile"]:
        shared = {key: data[key] for key in ("kernel", "counter") if key in data}
        data["profile"] = [
            {**shared, **row} if isinstance(row, dict) else row for row in data["profile"]
        ]
        check_profile(where, data["profile"], data["claim"], check_keys)
    elif data["stage"]:
        for claim in data["claim"]:
            check_stage_claim(where, data["stage"], claim)
    else:
        names = {name: [point for point, _ in points] for name, points in lists.items()}
        for claim in data["claim"]:
            check_claim(where, table, claim, names)
    for printed in data["ratio"]:
        check_ratio(where, table, printed)
    return table


def check_stage_claim(where: str, stages: list[dict[str, Any]], claim: Any) -> None:
    check_keys(f"{where}: a claim", claim, {"says": str, "stages": list, "below": str},
               {"where": str, "printed": str, "all": bool})
    for name in (*claim["stages"], claim["below"]):
        if name not in [stage["name"] for stage in stages]:
            raise ToolError(f"{where}: '{claim['says']}': there is no stage '{name}'")


def check_ratio(where: str, table: Table, printed: Any) -> None:
    """Checks a printed column of speedups, and replaces its list of numbers by a map from points to
    numbers."""
    check_keys(f"{where}: a ratio", printed, _RATIO, _RATIO_MAY)
    for side in (printed["faster"], printed["than"]):
        if not any(is_of(side, series) for series in table.series):
            raise ToolError(f"{where}: ratio '{printed['name']}': there is no series '{side}'")
    printed["published"] = published_by_point(where, printed, table.points)
    for key in ("average", "cumulative"):
        for over in printed.get(key, {}):
            if not any(is_over(over, point) for point in table.points):
                raise ToolError(
                    f"{where}: ratio '{printed['name']}': no point begins with '{over}'"
                )


def is_of(name: str, series: str) -> bool:
    """Tests whether `name` is the name of a series, or the beginning of that name: "GPU1" stands
    for "GPU1, blocks of 128"."""
    return series == name or series.startswith((f"{name}, ", f"{name} at "))


def is_over(over: str, point: str) -> bool:
    return point.startswith(f"{over} ")


def unfolded(entries: list[Any], lists: dict[str, list[Any]]) -> list[Any]:
    """Returns the entries, with each name of a list replaced by the contents of that list."""
    return [one for entry in entries
            for one in (lists[entry] if isinstance(entry, str) and entry in lists else [entry])]


def check_points(where: str, points: Any) -> None:
    for point in points if isinstance(points, list) else [points]:
        if not (
            isinstance(point, list)
            and len(point) == 2
            and all(isinstance(text, str) for text in point)
        ):
            raise ToolError(f"{where}: a point must be a name and arguments, not {point!r}")


def definitions(root: Path, where: str, series: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    """Returns the (parameter, value) pairs of a series. Omits parameters with the default value of
    the source, so that identical programs have the same name."""
    if "program" not in series or series["program"] in OTHER_PROGRAMS:
        return ()
    text = source_of(root, series["program"]).read_text(encoding="utf-8")
    defaults = {name: int(value) for name, value in re.findall(r"TUNABLE\((\w+), (\d+)\)", text)}
    for name, value in series.get("define", {}).items():
        if name not in defaults or not isinstance(value, int) or value < 0:
            raise ToolError(
                f"{where}: {series['program']} has no parameter {name} = {value!r}; "
                + (f"choose from {', '.join(defaults)}, with an integer from 0 on" if defaults else
                   "it has no parameters")
            )
    return tuple(
        (name, value) for name, value in series.get("define", {}).items() if value != defaults[name]
    )


def series_of_grid(grid: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields one series for every combination of the parameters' values."""
    number = grid["program"].removeprefix("step").partition("_")[0]
    for values in product(*grid["define"].values()):
        define = dict(zip(grid["define"], values))
        name = ", ".join([number, *(f"{key} {value}" for key, value in define.items())])
        yield {**grid, "name": name, "define": define}


def cells_of(root: Path, where: str, data: dict[str, Any], series: Any) -> Iterator[Cell]:
    check_keys(f"{where}: a series", series, {"name": str}, _SERIES_MAY)
    name = series["name"]
    if "program" in data and not series.keys() & {"program", "reason"}:
        series = {
            **series,
            "program": data["program"],
            "define": {**data.get("define", {}), **series.get("define", {})},
        }
    if ("program" in series) == ("reason" in series):
        raise ToolError(
            f"{where}: series '{name}' needs either a `program` or a `reason` why there is none"
        )
    edit = series.get("edit", [])
    if edit and not (len(edit) % 2 == 0 and all(isinstance(text, str) for text in edit)):
        raise ToolError(f"{where}: series '{name}': `edit` must be pairs of strings: a text in "
                        "the source and its replacement")
    program = Program(
        series.get("program", ""),
        definitions(root, where, series),
        tuple(edit),
        series.get("fast_math", data.get("fast_math")),
        series.get("called", ""),
    )
    published = published_by_point(where, series, [point for point, _ in data["points"]])
    for point, arguments in data["points"]:
        number = published.get(point)
        left_out = number == "" or point not in series.get("only", [point])
        if left_out and not isinstance(number, (int, float)):
            continue
        words = shlex.split(" ".join((data["arguments"], series.get("arguments", ""), arguments)))
        configuration = Configuration(program, " ".join(words), series.get("threads", 0))
        yield Cell(name, point, configuration if "program" in series and not left_out else None,
                   series.get("reason", ""), number, float(series.get("rate", data["rate"])),
                   series.get("rounds", data["rounds"]), data["repeat"])


def published_by_point(where: str, series: dict[str, Any], points: list[str]) -> dict[str, Any]:
    """Maps points to published values. In the file, the values are a list with one entry per point
    ("" if the series has no value there), or a table with points as keys."""
    published = series.get("published", {})
    if not isinstance(published, dict):
        numbers = published if isinstance(published, list) else [published]
        if len(numbers) != len(points):
            raise ToolError(
                f"{where}: series '{series['name']}' has {len(numbers)} published numbers for "
                f"{len(points)} points"
            )
        published = dict(zip(points, numbers))
    for point, number in published.items():
        if point not in points:
            raise ToolError(f"{where}: series '{series['name']}': there is no point '{point}'")
        if number != "" and not isinstance(number, (int, float)):
            raise ToolError(f"{where}: series '{series['name']}': the published value {number!r} "
                            "is not a number")
    return published


def check_claim(where: str, table: Table, claim: Any, lists: dict[str, list[str]]) -> None:
    check_keys(f"{where}: a claim", claim, {"says": str}, _CLAIM_MAY)
    if "at" in claim:
        claim["at"] = unfolded(claim["at"], lists)
    kinds = [key for key in ("better", "same") if key in claim]
    if len(kinds) != 1 or ("better" in claim) != ("worse" in claim):
        raise ToolError(f"{where}: '{claim['says']}' needs `better` and `worse`, or `same`")
    for point in claim.get("at", []):
        if point not in table.points:
            raise ToolError(f"{where}: '{claim['says']}': there is no point '{point}'")
    for side in [claim.get("better"), *claim.get("worse", []), *claim.get("same", [])]:
        if side is not None and not list(places(table, side, claim)):
            raise ToolError(f"{where}: '{claim['says']}': there is no series '{side}'")


def places(table: Table, side: str, claim: dict[str, Any]) -> Iterator[Cell]:
    """Yields the cells of one side of a claim; `side` is "series" or "series @ point"."""
    series, _, point = side.partition(" @ ")
    for name in ([point] if point else claim.get("at") or table.points):
        cell = table.cell(series, name)
        if cell is not None and cell.configuration is not None:
            yield cell


def configurations(tables: list[Table]) -> dict[str, Cell]:
    """Returns one cell for each configuration. If several cells have the same configuration,
    chooses the cell with the most measurements (rounds x repeats)."""
    result: dict[str, Cell] = {}
    for cell in (cell for table in tables for cell in table.cells if cell.configuration):
        old = result.get(cell.runs.key)
        if old is None or old.rounds * old.repeat < cell.rounds * cell.repeat:
            result[cell.runs.key] = cell
    return result
