"""Checks that every table and figure of the reports has a counterpart in this repository: a table
or a drawing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Iterator

from nbody_tools.arguments import ToolError
from nbody_tools.sweep.tables import FOLDER, Table, check_keys, read_toml
from nbody_tools.tables import markdown

FILE = "drawings.toml"
ID = r"[A-Z]?\d+(?:-\d+)?"
NAMED = re.compile(rf"\b(table|figure)s? ({ID}(?:(?:, | and | to ){ID})*)")
DRAWING = {"report": str, "number": str, "title": str}
DRAWING_MAY = {"ours": list, "reason": str}


def named(text: str) -> list[str]:
    """Expands "tables 1 to 3 and A2" to ["table 1", "table 2", "table 3", "table A2"]."""
    found = []
    for kind, ids in NAMED.findall(text):
        for part in re.split(", | and ", ids):
            first, _, last = part.partition(" to ")
            found += [f"{kind} {one}" for one in counted_on(first, last or first)]
    return found


def counted_on(first: str, last: str) -> Iterator[str]:
    head = re.sub(r"\d+$", "", first)
    return (f"{head}{k}" for k in range(int(first[len(head):]), int(last.removeprefix(head)) + 1))


def read_drawings(root: Path, reports: dict[str, Any]) -> list[dict[str, Any]]:
    path = root / FOLDER / FILE
    drawings = read_toml(path).get("drawing", []) if path.is_file() else []
    for drawing in drawings:
        check_keys(f"{FILE}: a drawing", drawing, DRAWING, DRAWING_MAY)
        where = f"{FILE}: {drawing['number']}"
        if drawing["report"] not in reports:
            raise ToolError(
                f"{where}: '{drawing['report']}' is not a report; choose from {', '.join(reports)}"
            )
        if ("ours" in drawing) == ("reason" in drawing):
            raise ToolError(f"{where}: needs either `ours` or a `reason` why there is none")
        for file in drawing.get("ours", []):
            if not (root / file).is_file():
                raise ToolError(f"{where}: there is no {file}")
    return drawings


def uncovered(root: Path, reports: dict[str, Any], tables: dict[str, Table]) -> list[str]:
    """Returns two kinds of messages: that a published table or figure has no counterpart here, or
    that a counterpart here refers to a table or figure that its report does not contain."""
    lines = []
    entries = [*(table.data for table in tables.values()), *read_drawings(root, reports)]
    for name, report in reports.items():
        published = named(report.get("published", ""))
        ours = {
            one for entry in entries if entry["report"] == name for one in named(entry["number"])
        }
        lines += [f"{name}: {one} has no counterpart" for one in published if one not in ours]
        lines += [
            f"{name}: there is no {one} in this report" for one in sorted(ours - set(published))
        ]
    return lines


def drawings_table(root: Path, reports: dict[str, Any], report: str) -> str:
    """Returns a table of the drawings for one report. Links are relative to the report's page."""
    rows = []
    for drawing in read_drawings(root, reports):
        if drawing["report"] == report:
            ours = ", ".join(f"[{Path(file).stem}](../{Path(file).relative_to('docs')})"
                             for file in drawing.get("ours", []))
            rows.append([drawing["number"], drawing["title"], ours or f"none: {drawing['reason']}"])
    return markdown(["figure", "subject", "ours"], rows)
