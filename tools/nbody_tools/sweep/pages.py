"""Makes docs/reports.md and docs/reports/. These pages show every table and figure of the reports
next to ours, and say whether the statements of the reports still hold."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, Iterator

from nbody_tools.records.timeline import Span, read_timeline
from nbody_tools.sweep.cloud import cloud_table, default_loss, listed_slow_defaults
from nbody_tools.sweep.coverage import drawings_table, uncovered
from nbody_tools.records.facts import Named, Value
from nbody_tools.steps import number_of
from nbody_tools.sweep.items import anchor, counts_table, items_of
from nbody_tools.sweep.judge import (
    INSIDE,
    MISSING,
    NO,
    YES,
    Judgement,
    Results,
    faster,
    in_measure,
    judgements,
    missing,
    ratio,
    several_runs,
)
from nbody_tools.sweep.profiles import not_counted, profile_table
from nbody_tools.sweep.ratios import also_of, ratios_table
from nbody_tools.sweep.superseded import superseded
from nbody_tools.sweep.tables import Cell, Table, read_reports, read_tables
from nbody_tools.tables import ABSENT, NOT_MEASURED, markdown, plain, seconds

OWN = "own"
VIEW = Path("docs") / "results" / "view"
TIMELINES = Path("docs") / "results" / "timelines"
VERDICTS = (YES, NO, INSIDE, MISSING)


class Reports:
    """The reports, tables and results, which are read only once for all pages."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.results = Results(root)
        self.reports, self.tables = read_reports(root), read_tables(root)

    def of(self, report: str) -> list[Table]:
        return [table for table in self.tables.values() if table.data["report"] == report]

    def judgements(self, report: str) -> list[Judgement]:
        return [
            judgement for table in self.of(report) for judgement in judgements(table, self.results)
        ]

    def summary(self) -> str:
        rows = []
        for name, report in self.reports.items():
            if "page" in report:
                found = [judgement.still_true for judgement in self.judgements(name)]
                rows.append([f"[{report['title']}](reports/{report['page']}.md)", report["machine"],
                             *(str(found.count(verdict)) for verdict in VERDICTS)])
        return markdown(
            [
                "document",
                "its machine",
                *(f"still true: {verdict}" for verdict in VERDICTS[:3]),
                MISSING,
            ],
            rows,
        )

    def contents(self, report: str) -> str:
        """Returns a line of links to the tables of a report's page."""
        return " ·\n".join(
            f"[{table.data['number']}](#{anchor(heading(table))})" for table in self.of(report)
        )

    def table(self, table: Table) -> str:
        results = self.results.of_table(table)
        parts = [f"### {heading(table)}", commands(table)]
        if table.data["stage"]:
            parts += [table.data.get("note", ""), stages_table(self.root, table)]
        if table.data["profile"]:
            parts += [table.data.get("note", ""), profile_table(self.root, table.data["profile"])]
        if table.cells:
            parts.append(f"Unit: {unit(table.measure)}. Cells show the published number | our "
                         f"number{machines(table, results)}."
                         + (f" {table.data['note']}" if "note" in table.data else ""))
            parts.append(cells_table(table, results))
            parts.extend(failures(table, results))
            parts.append(ratios_table(table, results))
            if runs := several_runs(table, results):
                parts.append(
                    f"The rows are from {len(runs)} runs: {table.data.get('several_runs', '')}"
                )
        published = (
            ""
            if table.data["profile"]
            else "times as long, published"
            if table.data["stage"]
            else "times as fast, published"
        )
        claims = claims_table(judgements(table, results), published)
        return "\n\n".join([*filter(None, parts), claims]).strip()


def heading(table: Table) -> str:
    number, section = table.data["number"], table.data.get("section", "")
    if section[:1].isdigit():
        section = f"section{'s' if ' and ' in section else ''} {section}"
    # A number such as "section 5.1" needs no "(section 5)" after it.
    return (
        number[:1].upper()
        + number[1:]
        + (f" ({section})" if section and "section" not in number else "")
        + f": {table.data['title']}"
    )


def commands(table: Table) -> str:
    """Returns two commands. The first is for a machine without a GPU: its problem is so small that
    emulation takes only seconds. The second measures the whole table, usually on a GPU."""
    cell = next((cell for cell in table.cells if cell.configuration), None)
    if cell is None:
        return ""
    program, words = cell.runs.program.source, cell.runs.arguments.split()
    small = {"--bodies": "1000", "--steps": "2", "--systems": "2", "--map": "100"}
    words = [small.get(before, word) for before, word in zip(["", *words], words)]
    run = " ".join(["./nbody experiment", program, *words])
    if program.startswith("step"):
        devices = "HOSTCUDA_DEVICES=2 " if "--devices" in words else ""
        run = " ".join([f"./nbody build {number_of(program)} && {devices}build/cpu/{program}/"
                        f"{program}", *words])
    return (
        f"A small problem, on a CPU: `{run}`. The whole table: `./nbody sweep build {table.name} "
        f"&& ./nbody sweep {table.name}`."
    )


def live_view(root: Path, name: str) -> Named:
    """Returns a measurement of the live view, from docs/results/view/."""
    data = json.loads((root / VIEW / f"{name}.json").read_text(encoding="utf-8"))
    return Named(lambda key: Value(data[key], name=f"live_view('{name}').{key}"))


def unit(measure: str) -> str:
    """Returns the unit as pages print it: "s per 100 steps" for the measure "s of 100 steps"."""
    for before, after in (("s of 1 steps", "s per step"), ("s of", "s per"),
                          ("s in all", "s per run")):
        measure = measure.replace(before, after)
    return measure


def machines(table: Table, results: Results) -> str:
    """Returns the devices in parentheses. In records, a CPU's name ends with the number of
    threads: "Intel Xeon x 16"."""
    names = {
        data["device"]["name"]
        for cell in table.cells
        if (data := results.of(cell)) and "device" in data
    }
    threads: dict[str, list[int]] = {}
    for name in sorted(names):
        processor, _, count = name.rpartition(" x ")
        threads.setdefault(processor or name, []).extend([int(count)] if processor else [])
    text = ", ".join(name + (f" with {in_words(sorted(counts))}" if counts else "")
                     for name, counts in threads.items())
    return f" ({text})" if names else ""


def in_words(counts: list[int]) -> str:
    """Returns, for example, "1, 2 and 4 threads"."""
    text = " and ".join(filter(None, [", ".join(map(str, counts[:-1])), str(counts[-1])]))
    return f"{text} thread{'s' if counts != [1] else ''}"


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
    """Returns a table of the stages of a program with streams. For each stage it gives the time of
    the first system, and the median time of all later systems."""
    path = root / TIMELINES / f"{table.data['timeline']}.timeline.csv"
    if not path.is_file():
        return NOT_MEASURED
    spans = read_timeline(path)
    first = min(spans, key=lambda span: span.begin).system
    rows = []
    for stage in table.data["stage"]:
        times = {
            span.system: span.end - span.begin for span in spans if span.stage == stage["stage"]
        }
        later = median(time for system, time in times.items() if system != first)
        ours = seconds(times[first])
        if "(2nd)" in stage["first"]:
            second = sorted(spans_of(spans, stage["stage"]), key=lambda span: span.begin)[1]
            ours += f" (1st), {seconds(second.end - second.begin)} (2nd)"
        rows.append([stage["name"], stage["first"], ours, stage["later"], seconds(later)])
    return markdown(
        ["stage", "first, published", "first, ours", "later, published", "later, ours"], rows
    )


def spans_of(spans: list[Span], stage: str) -> list[Span]:
    return [span for span in spans if span.stage == stage]


def cells_table(table: Table, results: Results) -> str:
    """Returns a table with one row per series and one column per point. If there are more points
    than series, rows and columns are exchanged."""
    def written(series: str, point: str) -> str:
        cell = table.cell(series, point)
        if cell is None:
            return ABSENT
        published = ABSENT if cell.published is None else str(cell.published)
        return f"{published} | {ours(cell, table, results)}"

    if len(table.points) > len(table.series):
        return markdown(
            ["", *table.series],
            [
                [point, *(written(series, point) for series in table.series)]
                for point in table.points
            ],
        )
    return markdown(
        ["", *(point or "published | ours" for point in table.points), *table.data["also"]],
        [
            [
                series,
                *(written(series, point) for point in table.points),
                *also_of(table, series, results),
            ]
            for series in table.series
        ],
    )


def failures(table: Table, results: Results) -> Iterator[str]:
    for cell in table.cells:
        data = results.of(cell)
        reason = cell.reason or (data or {}).get("failure")
        if reason is not None:
            place = f", {cell.point}" if cell.point else ""
            yield f"{cell.series}{place}: {reason}."


def claims_table(found: list[Judgement], published: str) -> str:
    """Returns a table of the judgements. `published` is the title of the column of published
    values; if it is empty, the table has no such column."""
    if not found:
        return ""
    columns = [
        "claim",
        "where",
        *([published] if published else []),
        "ours",
        "still true?",
    ]
    return markdown(
        columns,
        [
            [
                f.says,
                f.where or ABSENT,
                *([f.published or ABSENT] if published else []),
                f.ours or ABSENT,
                NOT_MEASURED if f.still_true == MISSING else f.still_true,
            ]
            for f in found
        ],
    )


def verdict_of(reports: Reports, *compared: tuple[str, ...]) -> str:
    """Returns sentences for the README of an experiment. Each sentence compares the speed of a
    series with the speed of a base. Each argument is (table, series, base); two clearer names for
    series and base may follow, which are then printed instead."""
    sentences = []
    for name, tried, base, *shown in compared:
        table = reports.tables[name]
        results = reports.results.of_table(table)
        found = ratio(table, {}, tried, base, results)
        if (times := found.ours) is None:
            return "**Verdict: not yet measured.**"
        verdict = {YES: "gain", NO: "loss", INSIDE: "no difference"}[faster(times, found.noise)]
        tried, base = shown or (tried, base)
        sentences.append(
            f"**Verdict: {verdict}**{machines(table, results)}. The variant *{tried}* runs at "
            f"{digits(times.median)} times the speed of *{base}* (quartiles: {digits(times.low)} "
            f"to {digits(times.high)}).")
    return "\n\n".join(sentences)


def digits(factor: float) -> str:
    """Formats a factor with two decimals, or with two significant digits if it is small."""
    return f"{factor:.2f}" if factor >= 0.095 else f"{factor:.2g}"


def words(root: Path) -> dict[str, Any]:
    """Returns the functions that templates can call. The tables and records are read only when a
    document first needs them."""
    @cache
    def reports() -> Reports:
        return Reports(root)

    return {
        "reports_summary": lambda: reports().summary(),
        "items_counts": lambda: counts_table(root),
        "report_items": lambda report: items_of(root, report),
        "cloud": lambda: cloud_table(root),
        "slow_defaults": lambda: listed_slow_defaults(root),
        "default_loss": lambda step: default_loss(root, step),
        "drawings": lambda report: drawings_table(root, reports().reports, report),
        "report_contents": lambda report: reports().contents(report),
        "live_view": lambda name: live_view(root, name),
        "sweep": lambda name: reports().table(reports().tables[name]),
        "verdict": lambda *compared: verdict_of(reports(), *compared),
    }


def unmeasured(root: Path) -> list[str]:
    reports = Reports(root)
    lines = uncovered(root, reports.reports, reports.tables)
    lines += superseded(root, reports.tables.values(), reports.results)
    for table in reports.tables.values():
        if reports.reports[table.data["report"]].get("next"):
            continue
        several = bool(several_runs(table, reports.results.of_table(table)))
        if several != ("several_runs" in table.data) and table.data["report"] != OWN:
            lines.append(f"{table.name}: " + (
                "its rows are from several runs; measure them in one, or say in several_runs why "
                "they can be compared"
                if several else "its rows are from one run, but several_runs says otherwise"))
        if cells := missing(table, reports.results):
            lines.append(f"{table.name}: {len(cells)} of "
                         f"{sum(cell.configuration is not None for cell in table.cells)} "
                         "configurations are not measured")
        if rows := not_counted(root, table.data["profile"]):
            lines.append(
                f"{table.name}: {len(rows)} of {len(table.data['profile'])} rows have no counts"
            )
    return lines
