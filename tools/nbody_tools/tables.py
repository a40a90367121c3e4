"""Formats numbers and tables: Markdown for documents, aligned columns for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from nbody_tools.records.record import Quartiles

ABSENT = "-"
NOT_MEASURED = "*not measured*"


def plain(value: float, digits: int = 4) -> str:
    """Formats a number with `digits` significant digits, or with more if the integer part has
    more."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value)}"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def seconds(value: float, digits: int = 3) -> str:
    unit, scale = next(
        ((unit, scale) for unit, scale in (("s", 1.0), ("ms", 1e-3)) if value >= scale),
        ("us", 1e-6),
    )
    form = f".{digits}g" if value < 10 ** digits * scale else ".0f"
    return f"{value / scale:{form}} {unit}"


def with_range(time: "Quartiles") -> str:
    """Formats the median of a time in seconds, followed by the interquartile range in
    parentheses."""
    return f"{seconds(time.median)} ({seconds(time.range)})"


def in_format(value: Any, form: str) -> str:
    """Formats a value. `form` is number, time, percent, change (the difference of a ratio from 1),
    text, or a Python format. The words `number` and `time` may be followed by a number of
    digits, as in "time:4"."""
    kind, _, digits = form.partition(":")
    if isinstance(value, str) or kind == "text":
        return str(value)
    if kind == "time":
        return seconds(value, int(digits or 3))
    if kind == "number":
        return plain(value, int(digits or 4))
    if kind == "percent":
        return f"{100 * value:.1f} %"
    if kind == "change":
        return f"{100 * (value - 1):+.1f} %".replace("-", "−")
    return format(value, form)


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    # A | in a device's name must be escaped, because it would start a column.
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
                     for line in lines)


def aligned(lines: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> list[str]:
    """Returns lines whose columns are as wide as their widest cells. Aligns cells to the right,
    except in the columns listed in `left`."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    left = [i % len(widths) for i in left]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    ]
