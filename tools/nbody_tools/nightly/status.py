"""Prints which nightly tests must be run, for ./nbody test --nightly --status."""

from __future__ import annotations

import re
from typing import Iterator, Sequence

from nbody_tools.nightly.ledger import Ledger, Row
from nbody_tools.nightly.presets import PRESETS
from nbody_tools.nightly.subjects import Subject, revision, stale_by


def print_status(ledger: Ledger, subjects: Sequence[Subject], tests: re.Pattern[str]) -> int:
    """Prints the tests that must be run; returns 1 if there are any, otherwise 0."""
    rows = [row for row in ledger.values() if tests.search(" ".join(row.key))]
    lines = [line for row in rows if (line := why_to_run(row, subjects))]
    lines += [f"not listed  {preset} {test}: tests/nightly.csv has no row for it"
              for preset, test in unlisted(ledger) if tests.search(f"{preset} {test}")]
    for line in sorted(lines):
        print(line)
    red, stale, never, not_listed = (sum(line.startswith(kind) for line in lines)
                                     for kind in ("red", "stale", "never", "not listed"))
    up_to_date = len(rows) - red - stale - never
    print(f"At {revision()}: {len(rows)} nightly tests, {up_to_date} up to date, {red} red, "
          f"{stale} stale, {never} never passed, {not_listed} not listed")
    return 1 if lines else 0


def why_to_run(row: Row, subjects: Sequence[Subject]) -> str:
    """Returns one line with the reason why the test must be run, or "" if it is up to date."""
    name = f"{row.preset} {row.test}"
    last = f"last pass {row.date} at {row.passed}" if row.passed else "it has never passed"
    if row.red:
        return f"red         {name}: failed at {row.red}; {last}"
    if not row.passed:
        why = (f"skipped at {row.skipped}: the machine lacks a requirement" if row.skipped
               else "not run yet")
        return f"never       {name}: {why}"
    changed = stale_by(row, subjects)
    return f"stale       {name}: {last}; since then {changed} has changed" if changed else ""


def unlisted(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yields tests that are in a build folder but not in the ledger."""
    for preset in PRESETS.values():
        if preset.is_configured:
            found = [(preset.name, test) for test in preset.tests()]
            yield from (key for key in found if key not in ledger)
