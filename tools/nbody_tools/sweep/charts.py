"""Prepares our versions of the documents' figures. If a document gives the numbers of a figure, the
chart also has the published points."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from nbody_tools.sweep.judge import Results
from nbody_tools.sweep.profiles import COUNTERS, counted, days_of, machine
from nbody_tools.sweep.ratios import speed_ratio
from nbody_tools.sweep.tables import FOLDER as TABLES, Cell, Table, read_tables

FOLDER = "reports"
ROWS = "lab_table_7"  # the only chart with rows; the others have lines
PROFILED = (
    "map_figure_03", "map_figure_07", "map_figure_10", "map_figure_11", "map_figure_13",
    "map_figure_16",
)
NO_NUMBERS = "The figure of the document has no numbers."


@dataclass(frozen=True)
class Panel:
    """Our values and the published ones. Each series has one value per x, or per row."""
    label: str
    ours: dict[str, list[Optional[float]]]
    published: dict[str, list[Optional[float]]]


@dataclass(frozen=True)
class Chart:
    name: str
    x_label: str
    x: tuple[Any, ...]  # values of x, or names of rows
    panels: tuple[Panel, ...]
    caption: str
    records: tuple[dict[str, Any], ...]
    logarithmic: bool = True
    bars: bool = False  # if true, a bar chart of counts, which needs no records


def value_of(cell: Optional[Cell], table: Table, results: Results) -> Optional[float]:
    return results.median_in(cell, table, table.measure)


def records_of(table: Table, results: Results) -> tuple[dict[str, Any], ...]:
    return tuple(data for cell in table.cells
                 if (data := results.of(cell)) and "failure" not in data)


def lines_over_points(table: Table, results: Results, x_label: str, caption: str) -> Chart:
    """Returns a chart with one line per series of the table. The x axis shows the points."""
    cells = {name: [table.cell(name, point) for point in table.points] for name in table.series}
    panel = Panel(table.measure, {
        name: [value_of(cell, table, results) for cell in row]
        for name, row in cells.items()
    }, {
        name: [cell.published if cell else None for cell in row]
        for name, row in cells.items()
    })
    return Chart(f"{FOLDER}/{table.name}", x_label, tuple(int(point) for point in table.points),
                 (panel, ), caption, records_of(table, results))


def lines_over_series(table: Table, results: Results, x_label: str, caption: str) -> Chart:
    """Returns a chart with one line per point of the table. The x axis shows the series."""
    ours = {
        f"{point} bodies":
        [value_of(table.cell(name, point), table, results) for name in table.series]
        for point in table.points
    }
    return Chart(f"{FOLDER}/{table.name}", x_label, tuple(int(name) for name in table.series),
                 (Panel(table.measure, ours, {}), ), caption, records_of(table, results))


def lab_chart(table: Table, results: Results) -> Chart:
    """Returns a chart with the rows of the report's table. Its panels show time, throughput and
    speedup."""
    rows = [series for series in table.data["series"] if "also" in series]
    cells = [table.cell(series["name"], "") for series in rows]
    times = [value_of(cell, table, results) for cell in cells]
    rates = [results.median_in(cell, table, "G/s") for cell in cells]
    speedups = [speed_ratio(table, cell, cells[0], results) for cell in cells]
    panels = (
        Panel(
            "time, s",
            {"ours": times},
            {"published": [cell.published if cell else None for cell in cells]},
        ),
        Panel(
            "throughput, G interactions/s",
            {"ours": rates},
            {"published": [row["also"][1] for row in rows]},
        ),
        Panel(
            "speedup over OpenMP",
            {"ours": speedups},
            {"published": [row["also"][0] for row in rows]},
        ),
    )
    return Chart(
        f"{FOLDER}/{ROWS}", "", tuple(row["name"] for row in rows), panels,
        "The lab report's table 7 and the columns that its figures 1 to 17 and 19 to 32 draw: 32 "
        "systems of 8192 bodies, 20 steps, total times. Hollow: as published; its last two rows "
        "used two GPUs, and so do ours, which are from another run. Speedups are over the CPU row; "
        "hosts of this kind differ by 2.5 times.",
        records_of(table, results))


def steps_chart(table: Table, results: Results) -> Chart:
    """Returns a chart of the seconds per run. The table gives the seconds per 100 steps."""
    steps = tuple(int(point) for point in table.points)
    values = [value_of(table.cell("baseline", point), table, results) for point in table.points]
    ours = [value * count / 100 if value else None for value, count in zip(values, steps)]
    proportional = [ours[0] * count / steps[0] if ours[0] else None for count in steps]
    return Chart(f"{FOLDER}/{table.name}",
                 "time steps",
                 steps,
                 (Panel("time, s", {"ours": ours}, {"proportional, as published": proportional}), ),
                 f"N = 5000, D = 10. {NO_NUMBERS} It says: directly proportional.",
                 records_of(table, results),
                 logarithmic=False)


def bar_chart(root: Path, table: Table) -> Chart:
    """Returns a chart of the percentages that a profiler counted. Bars of the same profile are next
    to each other."""
    rows = [row for row in table.data["profile"] if COUNTERS[row["counter"]].unit == " %"]
    groups = list(dict.fromkeys(row["name"].partition(":")[0] for row in rows))
    kinds = list(dict.fromkeys(row["name"].partition(": ")[2] for row in rows))
    found = {row["name"]: counted(root, row) for row in rows}
    values: dict[str, list[Optional[float]]] = {}
    for kind in kinds:
        of_kind = [found.get(f"{group}: {kind}") for group in groups]
        values[kind] = [value.median if value else None for value in of_kind]
    return Chart(f"{FOLDER}/{table.name}", "", tuple(groups), (Panel("%", values, {}), ),
                 f"{table.data['number'].capitalize()} of the activity map. The document's bars "
                 "have no numbers; ours were counted by Nsight Compute at N = 10,000, D = 10"
                 f"{machine(root, days_of(root, [row['profile'] for row in rows]))}.",
                 (), bars=True)


def charts(root: Path) -> list[Chart]:
    if not (root / TABLES / "tables" / f"{ROWS}.toml").is_file():
        return []
    tables, results = read_tables(root), Results(root)

    def of(name: str) -> tuple[Table, Results]:
        return tables[name], results.of_table(tables[name])

    drawn = [
        lab_chart(*of(ROWS)),
        lines_over_series(*of("gems_figure_31_5"), "unrolled by",
                          f"Tiles of 256 bodies. {NO_NUMBERS}"),
        lines_over_points(
            *of("gems_figure_31_6"), "bodies",
            "Hollow: published in the text, 163 GFLOP/s at first and more than "
            "200 after unrolling. 20 flops per interaction."),
        lines_over_series(*of("gems_figure_31_7"), "bodies per tile and threads per block",
                          f"Unrolled by 4. {NO_NUMBERS}"),
        lines_over_series(
            *of("gems_figure_31_8"), "threads per body",
            f"Blocks of 256 threads, unrolled by 4. {NO_NUMBERS} "
            "The text reports that two threads gain up to 44 % at 1024 bodies, and that more than "
            "four gain nothing more."),
        steps_chart(*of("map_figure_01")),
        *(bar_chart(root, tables[name]) for name in PROFILED),
    ]
    return [chart for chart in drawn if chart.records or chart.bars]
