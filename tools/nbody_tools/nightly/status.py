"""Prints which nightly tests must be run, for ./nbody test --nightly --status. First lists the
tests that depend on files that the user has changed, then all others."""

from __future__ import annotations

import re
from typing import Iterator, Optional, Sequence

from nbody_tools.arguments import ROOT
from nbody_tools.nightly.branch import MAINS, Change, change_since_main
from nbody_tools.nightly.ledger import Ledger, Row
from nbody_tools.nightly.presets import PRESETS
from nbody_tools.nightly.subjects import Subject, matcher, paths_of, revision, stale_by
from nbody_tools.steps import STEP_NAME, is_draft


def print_status(ledger: Ledger, subjects: Sequence[Subject], tests: re.Pattern[str]) -> int:
    """Prints the tests that must be run; returns 1 if there are any, otherwise 0."""
    change = change_since_main()
    rows = [row for row in ledger.values() if tests.search(" ".join(row.key))]
    found = [(row, line) for row in rows if (line := why_to_run(row, subjects, change))]
    found += [(Row(preset, test),
               f"not listed  {preset} {test}: tests/nightly.csv has no row for it")
              for preset, test in unlisted(ledger) if tests.search(f"{preset} {test}")]
    mine = sorted(line for row, line in found if is_affected(row, subjects, change))
    lines = sorted(line for _, line in found)
    print_lists(mine, [line for line in lines if line not in set(mine)], change)
    red, stale, never, not_listed = (sum(line.startswith(kind) for line in lines)
                                     for kind in ("red", "stale", "never", "not listed"))
    up_to_date = len(rows) - red - stale - never
    print(f"At {revision()}: {len(rows)} nightly tests, {up_to_date} up to date, {red} red, "
          f"{stale} stale, {never} never passed, {not_listed} not listed; "
          f"{len(mine)} to run because of your change")
    return 1 if lines else 0


def print_lists(mine: Sequence[str], others: Sequence[str], change: Optional[Change]) -> None:
    if change is None:
        print(f"This clone has none of the branches {', '.join(MAINS)}, so your change is unknown.")
    else:
        count = len(change.files) + len(change.new)
        print(f"Tests to run because of your change (files since {change.main}: {count}): "
              f"{len(mine)}")
    for line in mine:
        print(line)
    if others and change:
        print(f"Other tests to run: {len(others)}")
    for line in others:
        print(line)


def is_affected(row: Row, subjects: Sequence[Subject], change: Optional[Change]) -> bool:
    matches = matcher(paths_of(row, subjects))
    return change is not None and any(map(matches, (*change.files, *change.new)))


def why_to_run(row: Row, subjects: Sequence[Subject], change: Optional[Change]) -> str:
    """Returns one line with the reason why the test must be run, or "" if it is up to date."""
    name = f"{row.preset} {row.test}"
    last = f"last pass {row.date} at {row.passed}" if row.passed else "it has never passed"
    if row.red:
        return f"red         {name}: failed at {row.red}; {last}"
    if not row.passed:
        why = (f"skipped at {row.skipped}: the machine lacks a requirement" if row.skipped
               else "not run yet")
        return f"never       {name}: {why}"
    if changed := stale_by(row, subjects):
        return f"stale       {name}: {last}; since then {changed} has changed"
    matches = matcher(paths_of(row, subjects))
    new = next((file for file in change.new if matches(file)), None) if change else None
    return f"stale       {name}: {last}; {new} is new" if new else ""


def unlisted(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yields tests, except those of drafts, that are in a build folder but not in the ledger."""
    for preset in PRESETS.values():
        if preset.is_configured:
            found = [(preset.name, test) for test in preset.tests() if not is_of_a_draft(test)]
            yield from (key for key in found if key not in ledger)


def is_of_a_draft(test: str) -> bool:
    return any(is_draft(match[0], ROOT) for match in STEP_NAME.finditer(test))
