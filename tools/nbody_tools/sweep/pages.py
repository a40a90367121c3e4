"""docs/reports.md: every table and figure of the reports next to ours, and whether it still
holds."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, Iterator

from nbody_tools.records.timeline import read_timeline
from nbody_tools.sweep.cloud import cloud_table, default_loss, listed_slow_defaults
from nbody_tools.sweep.coverage import drawings_table, uncovered
from nbody_tools.sweep.judge import (INSIDE, MISSING, NO, YES, Judgement, Results, faster, in_measure, judgements,
                                     missing, ratio)
from nbody_tools.sweep.profiles import not_counted, profile_table
from nbody_tools.sweep.tables import Cell, Table, read_reports, read_tables
from nbody_tools.tables import ABSENT, NOT_MEASURED, markdown, plain, seconds

OWN = "own"
TIMELINES = Path("docs") / "results" / "timelines"
VERDICTS = (YES, NO, INSIDE, MISSING)


class Reports:
    """Data read once for all pages."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.results = Results(root)
        self.reports, self.tables = read_reports(root), read_tables(root)

    def of(self, report: str) -> list[Table]:
        return [table for table in self.tables.values() if table.data["report"] == report]

    def judgements(self, report: str) -> list[Judgement]:
        return [judgement for table in self.of(report) for judgement in judgements(table, self.results)]

    def summary(self) -> str:
        rows = []
        for name, report in self.reports.items():
            if name != OWN:
                found = [judgement.still_true for judgement in self.judgements(name)]
                rows.append([report["title"], report["machine"], str(len(self.of(name))),
                             *(str(found.count(verdict)) for verdict in VERDICTS)])
        return markdown(["report", "its machine", "tables", *(f"still true: {verdict}" for verdict in VERDICTS[:3]),
                         MISSING], rows)

    def pages(self) -> str:
        return "\n\n".join("\n\n".join([f"## {report['title']}", f"Its machine: {report['machine']}.",
                                        *(self.table(table) for table in self.of(name))])
                           for name, report in self.reports.items() if name != OWN)

    def table(self, table: Table) -> str:
        parts = [f"### {table.data['number']}: {table.data['title']}"]
        if table.data["stage"]:
            parts += [table.data.get("note", ""), stages_table(self.root, table)]
        if table.data["profile"]:
            parts += [table.data.get("note", ""), profile_table(self.root, table.data["profile"])]
        if table.cells:
            parts.append(f"In {table.measure}, published | ours{machines(table, self.results)}."
                         + (f" {table.data['note']}" if "note" in table.data else ""))
            parts.append(cells_table(table, self.results))
            parts.extend(failures(table, self.results))
        claims = claims_table(judgements(table, self.results), "" if table.data["profile"] else "times as fast, published")
        return "\n\n".join([*filter(None, parts), claims]).strip()


def machines(table: Table, results: Results) -> str:
    names = {data["device"]["name"] for cell in table.cells if (data := results.of(cell)) and "device" in data}
    return f" ({', '.join(sorted(names))})" if names else ""


def ours(cell: Cell, table: Table, results: Results) -> str:
    if cell.configuration is None:
        return ABSENT
    data = results.of(cell)
    if data is None:
        return NOT_MEASURED
    if "failure" in data:
        return "failed"
    times = results.time(cell, table.measure)
    return plain(in_measure(times.median, data, table.measure)) if times else ABSENT


def stages_table(root: Path, table: Table) -> str:
    """For a program with streams: the stages of the first system, and the median of all later
    ones."""
    path = root / TIMELINES / f"{table.data['timeline']}.timeline.csv"
    if not path.is_file():
        return NOT_MEASURED
    spans = read_timeline(path)
    first = min(spans, key=lambda span: span.begin).system
    rows = []
    for stage in table.data["stage"]:
        times = {span.system: span.end - span.begin for span in spans if span.stage == stage["stage"]}
        later = median(time for system, time in times.items() if system != first)
        rows.append([stage["name"], stage["first"], seconds(times[first]), stage["later"], seconds(later)])
    return markdown(["stage", "first, published", "first, ours", "later, published", "later, ours"], rows)


def cells_table(table: Table, results: Results) -> str:
    """One row per series and one column per point; transposed if few series have many points."""
    def written(series: str, point: str) -> str:
        cell = table.cell(series, point)
        if cell is None:
            return ABSENT
        published = ABSENT if cell.published is None else plain(cell.published, 6)
        return f"{published} | {ours(cell, table, results)}"

    if len(table.points) > len(table.series):
        return markdown(["", *table.series], [[point, *(written(series, point) for series in table.series)]
                                              for point in table.points])
    return markdown(["", *(point or "published | ours" for point in table.points)],
                    [[series, *(written(series, point) for point in table.points)] for series in table.series])


def failures(table: Table, results: Results) -> Iterator[str]:
    for cell in table.cells:
        data = results.of(cell)
        if cell.reason or (data and "failure" in data):
            yield f"{cell.series}{f', {cell.point}' if cell.point else ''}: {cell.reason or data['failure']}."


def claims_table(found: list[Judgement], published: str) -> str:
    """Omits the column of published values if it has no title."""
    if not found:
        return ""
    columns = ["what it says", *([published] if published else []), "ours", "still true?"]
    return markdown(columns, [[f.says, *([f.published or ABSENT] if published else []), f.ours or ABSENT,
                               NOT_MEASURED if f.still_true == MISSING else f.still_true] for f in found])


def verdict_of(reports: Reports, *compared: tuple[str, str, str]) -> str:
    """For an experiment's README: the range of gains or losses of a series against another."""
    sentences = []
    for name, tried, base in compared:
        table = reports.tables[name]
        times, _ = ratio(table, {}, tried, base, reports.results)
        if times is None:
            return "**Verdict: not yet measured.**"
        verdict = {YES: "gain", NO: "loss", INSIDE: "none"}[faster(times)]
        sentences.append(f"**Verdict: {verdict}**{machines(table, reports.results)}. {tried[:1].upper()}{tried[1:]}: "
                         f"{times.median:.2f} times as fast as {base} (quartiles: {times.low:.2f} to {times.high:.2f}).")
    return "\n\n".join(sentences)


def words(root: Path) -> dict[str, Any]:
    """Reads tables and records when a document needs them."""
    @cache
    def reports() -> Reports:
        return Reports(root)

    return {"reports_summary": lambda: reports().summary(), "reports_tables": lambda: reports().pages(),
            "cloud": lambda: cloud_table(root), "slow_defaults": lambda: listed_slow_defaults(root),
            "default_loss": lambda step: default_loss(root, step),
            "drawings": lambda: drawings_table(root, reports().reports),
            "sweep": lambda name: reports().table(reports().tables[name]),
            "verdict": lambda *compared: verdict_of(reports(), *compared)}


def unmeasured(root: Path) -> list[str]:
    reports = Reports(root)
    lines = uncovered(root, reports.reports, reports.tables)
    for table in reports.tables.values():
        if cells := missing(table, reports.results):
            lines.append(f"{table.name}: {len(cells)} of {sum(cell.configuration is not None for cell in table.cells)} "
                         "configurations are not measured")
        if rows := not_counted(root, table.data["profile"]):
            lines.append(f"{table.name}: {len(rows)} of {len(table.data['profile'])} rows are not counted")
    return lines
