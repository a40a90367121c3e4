"""The one table of a set of runs, as rows of text: printed by run.py, laid out by tour.py."""

from __future__ import annotations

from typing import Optional, Sequence

from nbody_records import EMULATED_NOTE, Quartiles, Record
from nbody_steps import Outcome

COLUMNS = ("step", "compute (IQR)", "total (IQR)", "G inter./s", "speedup", "RMS error", "verdict")
EMULATED = "emulated"
ABSENT = "-"


def seconds(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale or unit == "us":
            digits = ".3g" if value < 1000 * scale else ".0f"
            return f"{value / scale:{digits}} {unit}"
    raise AssertionError("unreachable")


def with_range(time: Quartiles) -> str:
    return f"{seconds(time.median)} ({seconds(time.range)})"


def baseline(outcomes: Sequence[Outcome]) -> Optional[Record]:
    """Step 00 of the same run: the same machine. Emulated, it is no measure of anything."""
    return next((outcome.record for outcome in outcomes
                 if outcome.record is not None and outcome.record.number == 0
                 and not outcome.record.emulated), None)


def row(outcome: Outcome, base: Optional[Record]) -> list[str]:
    record = outcome.record
    if record is None:
        verdict = {"no device": "skipped: no device"}.get(outcome.status, outcome.status)
        return [outcome.step, *[ABSENT] * (len(COLUMNS) - 2), _with_message(verdict, outcome)]
    error = record.acceleration_error
    checked = [ABSENT if error is None else f"{error:.1e}", _with_message(record.verdict, outcome)]
    if record.emulated:
        return [record.step, EMULATED, EMULATED, EMULATED, EMULATED, *checked]
    comparable = base is not None and base.problem == record.problem
    speedup = f"{record.speedup_over(base).median:.2f}" if comparable else ABSENT
    return [record.step, with_range(record.seconds("compute")), with_range(record.seconds("total")),
            f"{record.giga_interactions_per_second('compute').median:.4g}", speedup, *checked]


def _with_message(verdict: str, outcome: Outcome) -> str:
    return f"{verdict}: {outcome.message}" if outcome.message and not outcome.good else verdict


def rows(outcomes: Sequence[Outcome]) -> list[list[str]]:
    base = baseline(outcomes)
    return [row(outcome, base) for outcome in outcomes]


def notes(outcomes: Sequence[Outcome]) -> list[str]:
    """What a reader of the table must know: problem, machines, and which times are no times."""
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    lines = [f"Problem: {problem}." for problem in dict.fromkeys(str(r.problem) for r in records)]
    lines += [f"Machine: {machine}." for machine in dict.fromkeys(r.machine for r in records)]
    measured = [record for record in records if not record.emulated]
    if measured:
        repeats = sorted({len(record.data["repeats"]) for record in measured})
        lines.append(f"Times: median of {' or '.join(map(str, repeats))} repeats, interquartile "
                     "range in brackets. G inter./s from the compute time, N^2 interactions a step "
                     "and system. Speedup: total time, over step 00 of this run.")
    if len(measured) < len(records):
        lines.append(f"Steps without a time were {EMULATED_NOTE}.")
    return lines


def text_table(outcomes: Sequence[Outcome]) -> str:
    lines = [list(COLUMNS), *rows(outcomes)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]

    def formatted(line: Sequence[str]) -> str:
        # Numbers to the right, names and verdicts to the left.
        cells = [cell.ljust(width) if i in (0, len(COLUMNS) - 1) else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(line, widths))]
        return "  ".join(cells).rstrip()

    ruled = [formatted(lines[0]), "-" * (sum(widths[:-1]) + 2 * len(widths) + len("verdict") - 2)]
    return "\n".join(ruled + [formatted(line) for line in lines[1:]] + [""] + notes(outcomes))
