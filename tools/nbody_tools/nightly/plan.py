"""The order of the night: what needs a run, then what has not been run for longest."""

from __future__ import annotations

from typing import Iterable, Sequence

from nbody_tools.nightly.ledger import Row
from nbody_tools.nightly.subjects import Subject, stale_by

BATCH_SECONDS = 300  # of tests that ctest is given at once: the order within them is its own


def needs_a_run(row: Row, subjects: Sequence[Subject]) -> bool:
    """Red, never passed, or of a subject that has changed since."""
    return bool(row.red) or not row.passed or stale_by(row, subjects) is not None


def in_order(rows: Iterable[Row], subjects: Sequence[Subject]) -> list[Row]:
    return sorted(rows, key=lambda row: (not needs_a_run(row, subjects), row.date, row.estimate))


def batch(rows: Iterable[Row], subjects: Sequence[Subject], seconds: float) -> list[Row]:
    """The next tests, of one preset, of those that end within the seconds that are left."""
    chosen: list[Row] = []
    for row in in_order((row for row in rows if row.estimate < seconds), subjects):
        if chosen and row.preset != chosen[0].preset:
            continue
        if chosen and sum(one.estimate for one in chosen) + row.estimate > BATCH_SECONDS:
            break
        chosen.append(row)
    return chosen
