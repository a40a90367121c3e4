"""Reports a submission's points, also in the formats of other grading systems."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Sequence
from xml.sax.saxutils import escape, quoteattr

from nbody_tools.tables import aligned

FULL = 100


def divided(weights: Sequence[float]) -> list[int]:
    """Divides FULL points in proportion to the weights, into whole numbers whose sum is FULL."""
    total = sum(weights)
    ends: list[float] = [0]
    for weight in weights:
        ends.append(ends[-1] + weight)
    marks = [round(FULL * end / total) for end in ends]
    return [after - before for before, after in zip(marks, marks[1:])]


@dataclass(frozen=True)
class Line:
    """A test with its points. A test that the starter passes has 0 points, and failing such a test
    costs `lost` points."""
    name: str
    points: float
    share: float
    lost: float = 0.0
    why: str = ""

    @property
    def passed(self) -> bool:
        return self.share == 1

    @property
    def score(self) -> float:
        return self.points * self.share - self.lost * (1 - self.share)


@dataclass(frozen=True)
class Report:
    lab: str
    title: str
    file: str
    seed: int
    lines: tuple[Line, ...]
    refused: str = ""  # reason why nothing was run; every test then counts as failed
    notes: tuple[str, ...] = ()
    kind: str = "Lab"

    @property
    def score(self) -> float:
        return 0.0 if self.refused else round(max(0.0, sum(line.score for line in self.lines)), 1)

    @property
    def full(self) -> bool:
        return not self.refused and all(line.passed for line in self.lines)

    @property
    def failed(self) -> list[str]:
        return [line.name for line in self.lines if self.refused or not line.passed]


def as_text(report: Report) -> str:
    parts = [f"{report.kind} {report.lab}: {report.title}; {in_one_line(report.file)}, "
             f"seed {report.seed}"]
    if report.refused:
        parts.append(report.refused)
    else:
        rows = [["test", "", "points", "of"]]
        rows += [
            [
                line.name,
                "passed" if line.passed else "FAILED" if not line.share else "in part",
                f"{line.score:.3g}",
                f"{line.points:g}" if line.points else "-",
            ]
            for line in report.lines
        ]
        parts.append("\n".join(aligned(rows, left=(0, 1))))
        parts += [f"{line.name}: {line.why}" for line in report.lines if line.why]
    parts += [f"Note: {note}" for note in report.notes]
    parts.append(f"{report.score:g} of {FULL:g} points")
    return printable("\n\n".join(parts))


def in_one_line(name: str) -> str:
    """Makes a file name printable on one line, because it may contain line feeds and colour
    codes."""
    return "".join(c if c.isprintable() else "?" for c in name)[:80]


def as_json(report: Report) -> str:
    return dumped(
        {
            "lab": report.lab,
            "title": report.title,
            "file": report.file,
            "seed": report.seed,
            "score": report.score,
            "max_score": FULL,
            "refused": printable(report.refused),
            "notes": list(report.notes),
            "tests": [
                {
                    "name": line.name,
                    "passed": line.passed and not report.refused,
                    "score": score_of(line, report),
                    "max_score": line.points,
                    "why": printable(line.why),
                }
                for line in report.lines
            ],
        }
    )


def score_of(line: Line, report: Report, least: float = -FULL) -> float:
    return 0.0 if report.refused else round(max(least, line.score), 1)


def as_gradescope(report: Report) -> str:
    """Returns results.json for Gradescope. Gradescope allows no negative test scores, so the
    total, which may be lower than the sum of the scores, is a separate field."""
    tests = [
        {
            "name": line.name,
            "max_score": line.points,
            "output": printable(report.refused or line.why),
            "score": score_of(line, report, least=0),
            "status": "passed" if line.passed and not report.refused else "failed",
            "visibility": "visible",
        }
        for line in report.lines
    ]
    return dumped(
        {
            "score": report.score,
            "output": as_text(report),
            "output_format": "text",
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "tests": tests,
        }
    )


def as_classroom(report: Report) -> str:
    """Returns the result as JSON, which a workflow encodes in base64 for GitHub Classroom's
    autograding-grading-reporter. The reporter itself adds up the scores of the tests."""
    tests = [
        {
            "name": line.name,
            "status": "pass" if line.passed and not report.refused else "fail",
            "score": score_of(line, report) if report.score else 0,
            "message": printable(report.refused or line.why),
            "test_code": "",
            "filename": report.file,
            "line_no": 0,
        }
        for line in report.lines
    ]
    return dumped({"version": 1, "status": "pass" if report.full else "fail", "max_score": FULL,
                   "score": report.score, "tests": tests})


def as_junit(report: Report) -> str:
    failed = len(report.failed)
    name = quoteattr(f"lab {report.lab}: {report.title}")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             f'<testsuites tests="{len(report.lines)}" failures="{failed}">',
             f'  <testsuite name={name} tests="{len(report.lines)}" failures="{failed}">',
             f'    <properties><property name="score" value="{report.score:g}"/>'
             f'<property name="seed" value="{report.seed}"/></properties>']
    for line in report.lines:
        case = f'    <testcase classname="lab{report.lab}" name={quoteattr(line.name)}'
        why = printable(report.refused or line.why)
        if line.passed and not report.refused:
            lines.append(f"{case}/>")
        else:
            message = quoteattr(why.split("\n", 1)[0])
            lines.append(f"{case}><failure message={message}>{escape(why)}</failure></testcase>")
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])


def printable(text: str) -> str:
    """Replaces control characters: XML does not allow them, and in a terminal they can erase a
    table and draw another. A submission can write them as escape sequences in its strings, which
    the compiler decodes."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def dumped(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


FORMS = {"json": as_json, "gradescope": as_gradescope, "classroom": as_classroom, "junit": as_junit}
