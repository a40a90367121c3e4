"""Reads and writes tests/nightly.csv. Each row records when a nightly test last passed."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Iterable

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.nightly.presets import PRESETS

LEDGER = ROOT / "tests" / "nightly.csv"
Key = tuple[str, str]  # preset and test


@dataclass
class Row:
    """The results of a test. Each revision is one at which the test was run."""
    preset: str
    test: str
    passed: str = ""  # revision of the last pass
    date: str = ""  # date of the last pass, or of the last attempt if there was no pass
    seconds: str = ""
    red: str = ""  # revision at which the test failed after its last pass
    skipped: str = ""  # revision at which the test reported that the machine lacks something

    @property
    def key(self) -> Key:
        return self.preset, self.test

    @property
    def estimate(self) -> float:
        """Returns the seconds that the test will take; a minute if it has never run."""
        return float(self.seconds) if self.seconds else 60.0

    def record(self, outcome: str, revision: str, date: str, seconds: float) -> None:
        """Records an outcome: "passed", "failed" or "skipped". If the test failed or was skipped,
        keeps the revision and the date of an earlier pass."""
        if outcome == "passed":
            self.passed, self.red, self.skipped = revision, "", ""
        elif outcome == "failed":
            self.red = revision
        else:
            self.skipped = revision
        if outcome == "passed" or not self.passed:
            self.date, self.seconds = date, f"{seconds:.1f}"

    def cut_off(self, date: str, seconds: float) -> None:
        """Records that a test was stopped after `seconds`. The test needs a longer run, so other
        tests will run before this one."""
        self.seconds = f"{max(seconds, float(self.seconds or 0)):.1f}"
        if not self.passed:
            self.date = date


COLUMNS = [field.name for field in fields(Row)]
Ledger = dict[Key, Row]


def read_ledger(file: Path = LEDGER) -> Ledger:
    if not file.exists():
        return {}
    table = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    if table.fieldnames != COLUMNS:
        raise ToolError(f"{file}: its first line must be {','.join(COLUMNS)}")
    rows = [Row(**line) for line in checked(file, table)]
    return {row.key: row for row in rows}


def checked(file: Path, table: csv.DictReader) -> Iterable[dict[str, str]]:
    for line in table:
        if None in line or None in line.values():
            raise ToolError(f"{file}: line {table.line_num} does not have {len(COLUMNS)} columns")
        if line["preset"] not in PRESETS:
            raise ToolError(f"{file}: line {table.line_num}: '{line['preset']}' is not a preset; "
                            f"choose from {', '.join(PRESETS)}")
        try:
            float(line["seconds"] or 0)
        except ValueError:
            raise ToolError(f"{file}: line {table.line_num}: '{line['seconds']}' is not a number "
                            "of seconds") from None
        yield line


def write_ledger(ledger: Ledger, file: Path = LEDGER) -> None:
    """Writes the rows sorted, so that two branches seldom change the same line."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for key in sorted(ledger):
        table.writerow(asdict(ledger[key]))
    arguments.write_whole_file(file, text.getvalue())
