"""Orders nightly tests: first those that must be run, then those that ran longest ago."""

from __future__ import annotations

from typing import Iterable, Sequence

from nbody_tools.nightly.ledger import Row
from nbody_tools.nightly.subjects import Subject, stale_by

BATCH_SECONDS = 300  # limit for the tests in one call of ctest, which chooses their order


def needs_a_run(row: Row, subjects: Sequence[Subject]) -> bool:
    """True if the test failed or has never passed, or if its subject has changed since its last
    pass."""
    return bool(row.red) or not row.passed or stale_by(row, subjects) is not None


def in_order(rows: Iterable[Row], subjects: Sequence[Subject]) -> list[Row]:
    return sorted(rows, key=lambda row: (not needs_a_run(row, subjects), row.date, row.estimate))


def batch(rows: Iterable[Row], subjects: Sequence[Subject], seconds: float) -> list[Row]:
    """Returns the tests to run next. All have the same preset, and each should end within the
    remaining seconds."""
    chosen: list[Row] = []
    for row in in_order((row for row in rows if row.estimate < seconds), subjects):
        if chosen and row.preset != chosen[0].preset:
            continue
        if chosen and sum(one.estimate for one in chosen) + row.estimate > BATCH_SECONDS:
            break
        chosen.append(row)
    return chosen
