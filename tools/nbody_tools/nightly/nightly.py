"""Runs nightly tests within a number of minutes, or lists those that must be run.

  ./nbody test --nightly --minutes 60
  ./nbody test --nightly --minutes 60 --tests '^labs'
  ./nbody test --nightly --status

First runs the tests that have failed or never passed, and those whose subject has changed since
their last pass (tests/nightly/subjects.toml). Then runs the other tests, starting with the one that
ran longest ago.
Writes each result with the tested revision to tests/nightly.csv as soon as it is known; commit that
file. Does not run with uncommitted changes. --status first lists the tests that depend on files
that you have changed since main, committed or not.

Exit code: 0 success, 1 a test failed or --status lists one, 2 invalid arguments.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from datetime import datetime, timezone
from functools import partial

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.nightly.ledger import Key, Ledger, Row, read_ledger, write_ledger
from nbody_tools.nightly.plan import batch, needs_a_run
from nbody_tools.nightly.presets import BUILD, LOGS, PRESETS, Preset, outcome_in
from nbody_tools.nightly.status import print_status
from nbody_tools.nightly.subjects import read_subjects, revision, uncommitted


def configure(p: argparse.ArgumentParser) -> None:
    what = p.add_mutually_exclusive_group(required=True)
    what.add_argument("--minutes", type=arguments.positive_number, metavar="M",
                      help="time limit for building and running tests")
    what.add_argument("--status", action="store_true",
                      help="list tests that failed, are stale, or have never passed")
    what.add_argument("--record", action="store_true",
                      help="record the results that ./nbody test --nightly left in build/log")
    p.add_argument("--tests", type=expression, default=re.compile(""), metavar="EXPRESSION",
                   help="run only tests whose \"PRESET NAME\" matches this expression")


def expression(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        what = f"'{text}' is not a regular expression: {error}"
        raise argparse.ArgumentTypeError(what) from error


def run(options: argparse.Namespace) -> int:
    if options.status:
        return print_status(read_ledger(), read_subjects(), options.tests)
    if changed := uncommitted():
        raise ToolError(f"{changed[0]} has uncommitted changes; commit first, because results are "
                        "recorded with a revision")
    return record_logs() if options.record else Night(options.minutes, options.tests).run()


def record_logs() -> int:
    """Records the results of the nightly tests, which have a row in the ledger. Ignores the quick
    tests, which are also in the logs."""
    ledger, count = read_ledger(), 0
    for preset in PRESETS.values():
        log = LOGS / f"test-{preset.name}.log"
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        for test, outcome, seconds in filter(None, map(outcome_in, text.splitlines())):
            if row := ledger.get((preset.name, test)):
                row.record(outcome, revision(), now(), seconds)
                count += 1
    write_ledger(ledger)
    print(f"tests/nightly.csv: {count} results")
    return 0


def keep(row: Row) -> None:
    """Writes only this row, because another run may have written other rows meanwhile."""
    ledger = read_ledger()
    ledger[row.key] = row
    write_ledger(ledger)


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M")


class Night:
    """One nightly run, with a limit on its duration."""

    def __init__(self, minutes: float, tests: re.Pattern[str]) -> None:
        self.until = time.monotonic() + 60 * minutes
        self.tests = tests
        self.revision = revision()
        self.subjects = read_subjects()
        self.ledger: Ledger = read_ledger()
        self.done: set[Key] = set()
        self.built: set[str] = set()
        self.outcomes: Counter[str] = Counter()

    def run(self) -> int:
        if not self.ledger:
            self.build(PRESETS["cpu"])
        for preset in PRESETS.values():
            self.list_tests(preset)
        while chosen := self.next_batch():
            preset = PRESETS[chosen[0].preset]
            if preset.name not in self.built:
                self.build(preset)
            else:
                self.test(preset, chosen)
        left = [row for row in self.waiting() if needs_a_run(row, self.subjects)]
        print(f"{len(left)} tests that failed, became stale or never passed are left for later.")
        print(", ".join(f"{self.outcomes[outcome]} {outcome}"
                        for outcome in ("passed", "failed", "skipped")))
        return 1 if self.outcomes["failed"] else 0

    def next_batch(self) -> list[Row]:
        return batch(self.waiting(), self.subjects, self.until - time.monotonic())

    def waiting(self) -> list[Row]:
        return [row for key, row in self.ledger.items()
                if key not in self.done and self.tests.search(" ".join(key))]

    def row(self, preset: Preset, test: str) -> Row:
        """Returns the row of a test. Adds the row to the ledger if necessary."""
        return self.ledger.setdefault((preset.name, test), Row(preset.name, test))

    def list_tests(self, preset: Preset) -> None:
        for test in preset.tests():
            self.row(preset, test)

    def build(self, preset: Preset) -> None:
        self.built.add(preset.name)
        print(f"Building {preset.folder.relative_to(ROOT)} ...", flush=True)
        begun = time.monotonic()
        outcome = preset.build(self.until) if preset.needs() else "skipped"
        if preset.is_nightly and outcome:
            self.report(preset, BUILD, outcome, time.monotonic() - begun)
        elif outcome == "failed":
            raise Failed(f"{preset.folder.relative_to(ROOT)} does not build: see "
                         f"{LOGS.relative_to(ROOT)}/build-{preset.name}.log")
        here = set(preset.tests()) if outcome == "passed" else set()
        self.list_tests(preset)
        self.done |= {key for key in self.ledger if key[0] == preset.name and key[1] not in here}

    def test(self, preset: Preset, rows: list[Row]) -> None:
        self.done |= {row.key for row in rows}
        names = [row.test for row in rows]
        unfinished = preset.run(names, self.until, partial(self.report, preset))
        for test, seconds in unfinished.items():
            row = self.row(preset, test)
            row.cut_off(now(), seconds)
            keep(row)

    def report(self, preset: Preset, test: str, outcome: str, seconds: float) -> None:
        """Stores the result of a test as soon as it ends, so that it survives a later failure."""
        row = self.row(preset, test)
        row.record(outcome, self.revision, now(), seconds)
        keep(row)
        self.done.add(row.key)
        self.outcomes[outcome] += 1
        left = (self.until - time.monotonic()) / 60
        print(f"  {outcome:8}{preset.name:9} {test:50} {seconds:7.1f} s, {left:.0f} minutes left",
              flush=True)
