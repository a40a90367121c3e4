"""Tests whether the statements of a report hold for our records, and compares the report's numbers
with ours."""

from __future__ import annotations

import copy
import json
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Iterable, Iterator, Optional

from nbody_tools.records.record import (
    Quartiles,
    RecordError,
    check_measurement,
    quartiles,
    read_records,
)
from nbody_tools.records.timeline import read_timeline
from nbody_tools.sweep.profiles import compared
from nbody_tools.sweep.tables import Cell, Table, places

RECORDS = Path("docs") / "results" / "sweeps"
MAPS = Path("docs") / "results" / "activity_map"
YES, NO, INSIDE, MISSING = "yes", "no", "inside the spread", "not measured"
LAB = "32 x 8192 bodies, 20 steps, galaxies, euler, dt 0.01, softening 0.05"
OF_SEVERAL_DEVICES = ("step08_multigpu", "step09_soa")
EQUAL = 0.02  # "equally fast" allows this difference in addition to the spread
NOISE = 0.005  # difference between days, which quartiles of consecutive runs do not show
NOISE_OF_RUNS = 0.02  # difference between machines of one kind (docs/limits.md)
TIMELINES = Path("docs") / "results" / "timelines"


@dataclass(frozen=True)
class Judgement:
    says: str
    published: str
    ours: str
    still_true: str
    where: str = ""  # place in the report


@dataclass(frozen=True)
class Ratio:
    """The ratio of the speeds of a claim's two sides."""
    ours: Optional[Quartiles]
    published: Optional[float]
    noise: float  # size of the differences between runs, which quartiles do not show


class Results:
    """The newest record of each configuration. CPU programs are an exception: Results keeps their
    fastest record, because virtual machines share their processors (docs/results/README.md,
    noise/). of_table() prefers records of a single run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.records: dict[str, dict[str, Any]] = {}
        self.by_run: dict[str, dict[str, dict[str, Any]]] = {}  # configuration -> run -> record
        for data in (*staircases(root), *maps(root), *sweeps(root)):
            key = data["configuration"]
            for records, name in (
                (self.records, key),
                (self.by_run.setdefault(key, {}), data["run"]),
            ):
                if name not in records or replaces(data, records[name]):
                    records[name] = data

    def of_table(self, table: Table) -> "Results":
        """Returns a copy in which the records of a column come from the newest run that measured
        the whole column. If there is no such run, the column is split by number of GPUs, and the
        records of each part come from the newest run that measured the whole part."""
        groups = []
        for point in table.points:
            column = [cell for cell in table.cells if cell.point == point and cell.configuration]
            counts = sorted({cell.runs.devices for cell in column})
            groups += [[cell for cell in column if cell.runs.devices == count] for count in counts]
            groups.append(column)
        return self.of_one_run(groups)

    def of_one_run(self, groups: Iterable[Iterable[Cell]]) -> "Results":
        """Returns a copy in which, for each group, all records come from the newest run that
        measured the whole group. Without such a run, the records of the group do not change."""
        chosen = copy.copy(self)
        chosen.records = dict(self.records)
        for group in groups:
            keys = {cell.configuration.key for cell in group if cell.configuration}
            measured = [key for key in keys if key in self.records]
            if len({self.records[key]["run"] for key in measured}) < 2:
                continue
            common = set.intersection(*(set(self.by_run[key]) for key in measured))
            if common:
                run = max(
                    common,
                    key=lambda name: min(
                        self.by_run[key][name].get("date", "") for key in measured
                    ),
                )
                chosen.records.update({key: self.by_run[key][run] for key in measured})
        return chosen

    def of(self, cell: Cell) -> Optional[dict[str, Any]]:
        return self.records.get(cell.configuration.key) if cell.configuration else None

    def run(self, cell: Cell) -> Optional[str]:
        """Returns the run that measured the cell, or None."""
        return (self.of(cell) or {}).get("run")

    def time(self, cell: Cell, measure: str) -> Optional[Quartiles]:
        """Returns the time of all time steps: the total time if `measure` is "s in all", otherwise
        only the time of the kernels. Returns None if there is no record, or if the run failed."""
        data = self.of(cell)
        if data is None or "failure" in data:
            return None
        phase = "total" if measure == "s in all" else "compute"
        return quartiles([repeat[phase] for repeat in data["repeats"]])

    def median_in(self, cell: Optional[Cell], table: Table, unit: str) -> Optional[float]:
        """Returns the median time of a table's cell in the given unit; None if it was not
        measured."""
        data = self.of(cell) if cell else None
        times = self.time(cell, table.measure) if cell else None
        return in_measure(times.median, data, unit) if times and data else None


def replaces(data: dict[str, Any], old: dict[str, Any]) -> bool:
    if data.get("backend") == old.get("backend") == "cpu":
        return data["median"]["compute"] < old["median"]["compute"]
    return old.get("date", "") <= data.get("date", "")


def sweeps(root: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((root / RECORDS).glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            data = json.loads(line)
            try:
                if not isinstance(data.get("configuration"), str):
                    raise ValueError("'configuration' is missing")
                if "failure" not in data:
                    check_measurement(data)
            except ValueError as error:
                raise RecordError(
                    f"{path.relative_to(root)}:{number}: not a record of a sweep: {error}"
                ) from error
            if data.get("backend") != "hostcuda":
                yield {**data, "run": run_of(path, data)}


def run_of(path: Path, data: dict[str, Any]) -> str:
    return f"{path.stem}, revision {data.get('revision', '')[:12]}, {data.get('date', '')[:10]}"


def staircases(root: Path) -> Iterator[dict[str, Any]]:
    """Yields the records of ./nbody measure that are for the lab's problem and one GPU. Adds the
    keys that sweeps use."""
    for path in sorted((root / "docs" / "results").glob("*.jsonl")):
        for record in read_records(path, check_measurement):
            data = record.data
            if str(record.problem) == LAB and record.device_count == 1 and not record.emulated:
                device = " --devices 1" if data["step"] in OF_SEVERAL_DEVICES else ""
                yield {**data, "run": run_of(path, data), "configuration":
                       f"{data['step']} --scenario galaxies --systems 32 --bodies 8192 --steps "
                       f"20{device}"}


def maps(root: Path) -> Iterator[dict[str, Any]]:
    """Yields the older records of experiments/activity_map, which were measured before sweeps
    existed. Adds the keys that sweeps use."""
    for path in sorted((root / MAPS).glob("*.jsonl")):
        for record in read_records(path, check_measurement):
            data = record.data
            own = 32 if data["rung"] == "baseline" else 256
            block = f" --block {data['block']}" if data["block"] != own else ""
            yield {**data, "run": run_of(path, data), "configuration":
                   f"activity_map --rung {data['rung']}{block} --bodies {data['bodies']} --map "
                   f"{data['cells']} --steps {data['steps']}"}


def in_measure(seconds: float, data: dict[str, Any], measure: str) -> float:
    """Converts a record's time to the unit that the report prints."""
    rate = data["systems"] * data["bodies"] ** 2 * data["steps"] / seconds * 1e-9
    if measure in ("G/s", "GFLOP/s"):
        return rate * (20 if measure == "GFLOP/s" else 1)
    of = re.fullmatch(r"s of (\d+) steps", measure)
    return seconds if measure == "s in all" else seconds / data["steps"] * (int(of[1]) if of else 1)


def is_rate(measure: str) -> bool:
    return measure.endswith("/s")


def speed(cell: Cell, table: Table, results: Results) -> Optional[Quartiles]:
    """Returns a number that is larger for a faster program: if the table has rates, the rate;
    if the table has times, the inverse of the time."""
    times, data = results.time(cell, table.measure), results.of(cell)
    if times is None or data is None:
        return None
    ordered = [
        in_measure(seconds, data, table.measure)
        for seconds in (times.low, times.median, times.high)
    ]
    if is_rate(table.measure):
        return Quartiles(ordered[2], ordered[1], ordered[0])
    return Quartiles(1 / ordered[2], 1 / ordered[1], 1 / ordered[0])


def published_speed(cell: Cell, table: Table) -> Optional[float]:
    if cell.published is None:
        return None
    return cell.published if is_rate(table.measure) else 1 / cell.published


def mean_of(ratios: list[Quartiles]) -> Quartiles:
    """Returns the geometric mean of several ratios: of their medians, of their lower quartiles and
    of their upper quartiles."""
    def mean(values: list[float]) -> float:
        return math.exp(sum(map(math.log, values)) / len(values))

    return Quartiles(
        mean([r.low for r in ratios]),
        mean([r.median for r in ratios]),
        mean([r.high for r in ratios]),
    )


def pairs(table: Table, claim: dict[str, Any], better: str, worse: str) -> list[tuple[Cell, Cell]]:
    """Returns pairs of cells at the same point. If one side specifies its point ("series @ point"),
    pairs the cell at that point with every cell of the other side."""
    left, right = list(places(table, better, claim)), list(places(table, worse, claim))
    if " @ " in better or " @ " in worse:
        return [(a, b) for a in left for b in right]
    by_point = {cell.point: cell for cell in right}
    return [(cell, by_point[cell.point]) for cell in left if cell.point in by_point]


def ratio(table: Table, claim: dict[str, Any], better: str, worse: str, results: Results) -> Ratio:
    """Returns the speed of `better` divided by that of `worse`, as measured and as published."""
    ours, published, noise = [], [], NOISE
    compared = pairs(table, claim, better, worse)
    for a, b in compared:
        ours_a, ours_b = speed(a, table, results), speed(b, table, results)
        if ours_a is not None and ours_b is not None:
            ours.append(ours_a.over(ours_b))
            if results.run(a) != results.run(b):
                noise = NOISE_OF_RUNS
        printed_a, printed_b = published_speed(a, table), published_speed(b, table)
        if printed_a is not None and printed_b is not None:
            published.append(Quartiles(*[printed_a / printed_b] * 3))
    complete = [mean_of(ratios) if len(ratios) == len(compared) > 0 else None
                for ratios in (ours, published)]
    return Ratio(complete[0], complete[1].median if complete[1] else None, noise)


def judge(table: Table, claim: dict[str, Any], results: Results) -> Judgement:
    if "same" in claim:
        first, *others = claim["same"]
    else:
        first, others = claim["better"], claim["worse"]
    found = [ratio(table, claim, first, other, results) for other in others]
    published = [f"{one.published:.2f}" if one.published is not None else "-" for one in found]
    ours = [f"{one.ours.median:.2f}" if one.ours else "-" for one in found]
    verdicts = [
        MISSING
        if one.ours is None
        else same(one.ours)
        if "same" in claim
        else faster(one.ours, one.noise)
        for one in found
    ]
    worst = next(verdict for verdict in (MISSING, NO, INSIDE, YES) if verdict in verdicts)
    return Judgement(claim["says"], listed(published), listed(ours), worst)


def listed(texts: list[str]) -> str:
    return ", ".join(texts) if set(texts) != {"-"} else ""


def faster(times: Quartiles, noise: float = NOISE) -> str:
    if abs(times.median - 1) <= noise:
        return INSIDE
    return YES if times.low > 1 else NO if times.high < 1 else INSIDE


def same(times: Quartiles) -> str:
    return YES if times.low <= 1 <= times.high or abs(times.median - 1) <= EQUAL else NO


def judge_counted(table: Table, claim: dict[str, Any], results: Results) -> Judgement:
    found = list(compared(results.root, table.data["profile"], claim))
    texts, verdicts = zip(*found)
    if "" in texts:
        return Judgement(claim["says"], "", "", MISSING)
    return Judgement(
        claim["says"],
        "",
        "; ".join(texts),
        NO if False in verdicts else INSIDE if None in verdicts else YES,
    )


def judge_stages(table: Table, claim: dict[str, Any], results: Results) -> Judgement:
    """Judges a claim that some stages of a timeline are shorter than another stage. Compares the
    medians over the systems. With `all`, compares the total time of a shorter stage in all systems
    with the shortest time of the other stage in any system."""
    path = results.root / TIMELINES / f"{table.data['timeline']}.timeline.csv"
    if not path.is_file():
        return Judgement(claim["says"], "", "", MISSING)
    spans, stage_of = (
        read_timeline(path),
        {stage["name"]: stage["stage"] for stage in table.data["stage"]},
    )

    def times(name: str) -> list[float]:
        return [span.end - span.begin for span in spans if span.stage == stage_of[name]]

    below = times(claim["below"])
    ratios = [
        min(below) / sum(times(name)) if claim.get("all") else median(below) / median(times(name))
        for name in claim["stages"]
    ]
    return Judgement(
        claim["says"], "", ", ".join(f"{one:.3g}" for one in ratios), YES if min(ratios) > 1 else NO
    )


def judgements(table: Table, results: Results) -> list[Judgement]:
    results = results.of_table(table)
    decide = (
        judge_counted if table.data["profile"] else judge_stages if table.data["stage"] else judge
    )
    section = table.data.get("section", "")
    found = ((claim, decide(table, claim, results)) for claim in table.data["claim"])
    return [
        replace(
            judged,
            where=claim.get("where", section),
            published=claim.get("printed", judged.published),
        )
        for claim, judged in found
    ]


def several_runs(table: Table, results: Results) -> list[str]:
    """Finds the first column whose rows come from several runs, and returns these runs. Returns an
    empty list if there is no such column."""
    for point in table.points:
        runs = {
            data["run"]
            for cell in table.cells
            if cell.point == point and (data := results.of(cell))
        }
        if len(runs) > 1:
            return sorted(runs)
    return []


def missing(table: Table, results: Results) -> list[Cell]:
    return [cell for cell in table.cells if cell.configuration and results.of(cell) is None]
