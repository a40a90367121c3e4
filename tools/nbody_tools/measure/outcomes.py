"""Makes the table of runs that ./nbody run, measure and tour print."""

from __future__ import annotations

from typing import Optional, Sequence

from nbody_tools.records.record import EMULATED_NOTE, Record
from nbody_tools.steps import Outcome
from nbody_tools.tables import ABSENT, aligned, with_range

COLUMNS = ("step", "compute (IQR)", "total (IQR)", "G inter./s", "speedup", "RMS error", "verdict")
EMULATED = "emulated"


def baseline(outcomes: Sequence[Outcome]) -> Optional[Record]:
    """Returns step 00's record from the same run on the same machine, unless it was emulated."""
    return next((outcome.record for outcome in outcomes
                 if outcome.record is not None and outcome.record.number == "00"
                 and not outcome.record.emulated), None)


def row(outcome: Outcome, base: Optional[Record]) -> list[str]:
    record = outcome.record
    if record is None:
        verdict = {"no device": "skipped: no device"}.get(outcome.status, outcome.status)
        return [outcome.step, *[ABSENT] * (len(COLUMNS) - 2), _with_message(verdict, outcome)]
    error = record.acceleration_error
    checked = [
        ABSENT if error is None else f"{error:.1e}",
        _with_message(record.judgement, outcome),
    ]
    if record.emulated:
        return [record.step, EMULATED, EMULATED, EMULATED, EMULATED, *checked]
    speedup = ABSENT
    if base is not None and base.problem == record.problem:
        speedup = f"{record.speedup_over(base).median:.2f}"
    return [record.step, with_range(record.seconds("compute")), with_range(record.seconds("total")),
            f"{record.giga_interactions_per_second('compute').median:.4g}", speedup, *checked]


def _with_message(verdict: str, outcome: Outcome) -> str:
    return f"{verdict}: {outcome.message}" if outcome.message and not outcome.good else verdict


def rows(outcomes: Sequence[Outcome]) -> list[list[str]]:
    base = baseline(outcomes)
    return [row(outcome, base) for outcome in outcomes]


def notes(outcomes: Sequence[Outcome]) -> list[str]:
    """Returns notes for the table: the problem, the machines, and a warning if times mean
    nothing."""
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    lines = [f"Problem: {problem}." for problem in dict.fromkeys(str(r.problem) for r in records)]
    lines += [f"Machine: {machine}." for machine in dict.fromkeys(r.machine for r in records)]
    measured = [record for record in records if not record.emulated]
    if measured:
        repeats = sorted({len(record.data["repeats"]) for record in measured})
        lines.append(
            f"Times: median of {' or '.join(map(str, repeats))} repeats, interquartile "
            "range in brackets. G inter./s from the compute time, N^2 interactions per step "
            "and system. Speedup: ratio of total times, relative to step 00 of this run."
        )
    if len(measured) < len(records):
        lines.append(f"Steps without a time were {EMULATED_NOTE}.")
    return lines


def text_table(outcomes: Sequence[Outcome]) -> str:
    head, *body = aligned([list(COLUMNS), *rows(outcomes)], left=(0, -1))
    return "\n".join([head, "-" * len(head), *body, "", *notes(outcomes)])
