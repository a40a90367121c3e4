"""Compares the speedups and averages that a report prints with ours, which are computed in the same
way."""

from __future__ import annotations

import math
from statistics import mean
from typing import Callable, Iterable, Iterator, Optional

from nbody_tools.sweep.judge import Results, speed
from nbody_tools.sweep.tables import Cell, Printed, Table, is_of, is_over
from nbody_tools.tables import ABSENT, markdown, plain


def cell_of(table: Table, name: str, point: str) -> Optional[Cell]:
    return next((cell for cell in table.cells if is_of(name, cell.series) and cell.point == point),
                None)


def ours_at(table: Table, ratio: dict, point: str, results: Results) -> Optional[float]:
    """Returns our speedup at a point: the ratio of the two median times."""
    return speed_ratio(table, cell_of(table, ratio["faster"], point),
                       cell_of(table, ratio["than"], point), results)


def speed_ratio(table: Table, cell: Optional[Cell], other: Optional[Cell],
                results: Results) -> Optional[float]:
    ours, others = (speed(one, table, results) if one else None for one in (cell, other))
    return None if ours is None or others is None else ours.median / others.median


def recomputed_at(table: Table, ratio: dict, point: str) -> Optional[float]:
    """Returns the published number of the slower side, divided by the faster side's. If the
    numbers are times, this is the speedup; if they are rates, it is the inverse of the speedup."""
    faster, slower = published_times(table, ratio, point)
    return None if faster is None or slower is None else slower / faster


def published_times(table: Table, ratio: dict, point: str) -> list[Optional[float]]:
    """Returns the published numbers of the faster and of the slower side."""
    cells = [cell_of(table, ratio[side], point) for side in ("faster", "than")]
    return [cell.published if cell else None for cell in cells]


def points_over(table: Table, over: str) -> list[str]:
    return [point for point in table.points if is_over(over, point)]


def average_over(table: Table, ratio: dict, over: str, results: Results) -> Optional[float]:
    """Returns the arithmetic mean of our ratios, because the reports use this mean."""
    found = complete(ours_at(table, ratio, point, results) for point in points_over(table, over))
    return None if found is None else mean(found)


def complete(values: Iterable[Optional[float]]) -> Optional[list[float]]:
    """Returns the values as a list, or None if a value is missing."""
    found = list(values)
    known = [value for value in found if value is not None]
    return known if len(known) == len(found) else None


def product_over(table: Table, last: dict, over: str, results: Results) -> Optional[float]:
    """Returns the product of the average ratios, from the first ratio to `last`."""
    ratios = table.data["ratio"]
    found = complete(average_over(table, ratio, over, results)
                     for ratio in ratios[:ratios.index(last) + 1])
    return None if found is None else math.prod(found)


def both(published: Optional[float], ours: Optional[float]) -> str:
    if published is None and ours is None:
        return ABSENT
    printed = ABSENT if published is None else published
    return f"{printed} | {ABSENT if ours is None else f'{ours:.2f}'}"


def rows_of(table: Table, results: Results) -> Iterator[list[str]]:
    """Yields one row for each point that has a printed ratio. Then yields the rows of averages, and
    of products of averages."""
    ratios = table.data["ratio"]
    for point in table.points:
        if any(point in ratio["published"] for ratio in ratios):
            yield [
                point, *(both(ratio["published"].get(point), ours_at(table, ratio, point, results))
                         if point in ratio["published"] else ABSENT for ratio in ratios)
            ]
    for kind, computed, title in (("average", average_over, "average over {}"),
                                  ("cumulative", product_over, "product of the averages over {}")):
        for over in dict.fromkeys(over for ratio in ratios for over in ratio.get(kind, {})):
            yield [
                title.format(over),
                *(both(ratio.get(kind, {}).get(over), computed(table, ratio, over, results))
                  for ratio in ratios)
            ]


def ratios_table(table: Table, results: Results) -> str:
    """Returns a table with ratios as columns, or as rows if there are more ratios than points."""
    ratios = table.data["ratio"]
    if not ratios:
        return ""
    rows = [["", *(ratio["name"] for ratio in ratios)], *rows_of(table, results)]
    if len(ratios) > len(rows):
        rows = [list(column) for column in zip(*rows)]
    return "Speedups (published | ours):\n\n" + markdown(rows[0], rows[1:])


def also_of(table: Table, series: str, results: Results) -> list[str]:
    """Returns additional cells for a row of a table that has one time per row: the speedup and the
    rate."""
    kinds = table.data["also"]
    if not kinds:
        return []
    cell, first = (table.cell(name, table.points[0]) for name in (series, table.series[0]))
    declared = next(one for one in table.data["series"]
                    if one["name"] == series).get("also", [None] * len(kinds))
    ours = {
        "speedup": speed_ratio(table, cell, first, results),
        "G/s": results.median_in(cell, table, "G/s")
    }
    forms: dict[str, Callable[[float], str]] = {"speedup": "{:.2f}".format, "G/s": plain}
    printed = [ABSENT if number is None else str(number) for number in declared]
    shown = {kind: ABSENT if number is None else forms[kind](number)
             for kind, number in ours.items()}
    return [f"{text} | {shown[kind]}" for kind, text in zip(kinds, printed)]


def misprints(table: Table) -> list[str]:
    """Returns a line for each printed ratio that does not follow from the printed times. The line
    also gives the ratio that follows."""
    lines = []
    for ratio in table.data["ratio"]:
        for point, number in ratio["published"].items():
            found = recomputed_at(table, ratio, point)
            if found is not None and number != "" and not agrees(table, ratio, point, number):
                lines.append(f"{table.name}: {ratio['name']}, {point}: printed {number}, "
                             f"but {found:.4f} follows from the printed times")
    return lines


def agrees(table: Table, ratio: dict, point: str, number: float) -> bool:
    """Returns True if a printed ratio agrees with the printed times. Each of these numbers may be
    wrong by half a unit of its last digit."""
    below, above = published_times(table, ratio, point)
    if above is None or below is None:
        return False
    low = (above - half(above)) / (below + half(below))
    high = (above + half(above)) / (below - half(below))
    return low - half(number) * 1.001 <= number <= high + half(number) * 1.001


def half(number: float) -> float:
    """Returns half a unit of the number's last printed digit."""
    text = number.text if isinstance(number, Printed) else str(number)
    return 0.5 * 10.0 ** -len(text.partition(".")[2])
