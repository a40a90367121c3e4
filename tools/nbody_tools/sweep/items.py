"""Reads docs/reports/items.toml. It lists the items of the five documents, and says how completely
this repository covers each item, and where."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nbody_tools.arguments import ToolError
from nbody_tools.sweep.tables import check_keys, read_reports, read_toml
from nbody_tools.tables import ABSENT, markdown

PAGES = Path("docs") / "reports"
FILE = PAGES / "items.toml"
KINDS = ("system", "feature", "claim", "table", "figure")
STATUSES = ("whole", "partly", "missing", "wrong")
_ITEM = {"document": str, "section": str, "kind": str, "what": str, "status": str, "at": list}
_ITEM_MAY = {"reason": str}


@dataclass(frozen=True)
class Item:
    document: str
    section: str
    kind: str
    what: str
    status: str
    at: tuple[str, ...]  # files of the repository, or FILE#HEADING
    reason: str


def read_items(root: Path) -> list[Item]:
    data = read_toml(root / FILE)
    reports = read_reports(root)
    return [
        checked(root, f"{FILE.name}: item {number}", item, reports)
        for number, item in enumerate(data.get("item", []), start=1)
    ]


def checked(root: Path, where: str, item: dict, reports: dict) -> Item:
    check_keys(where, item, _ITEM, _ITEM_MAY)
    where = f"{where} ({item['what']})"
    for key, allowed in (("document", tuple(reports)), ("kind", KINDS), ("status", STATUSES)):
        if item[key] not in allowed:
            raise ToolError(f"{where}: {key} is '{item[key]}', not one of {', '.join(allowed)}")
    if (item["status"] == "whole") == bool(item.get("reason")):
        raise ToolError(
            f"{where}: is {item['status']}; a reason is required if the status is not whole, "
            "and not allowed otherwise"
        )
    if item["status"] in ("whole", "partly") and not item["at"]:
        raise ToolError(f"{where}: is {item['status']}, so 'at' must contain a file")
    for place in item["at"]:
        if problem := unresolved(root, place):
            raise ToolError(f"{where}: {problem}")
    return Item(item["document"], item["section"], item["kind"], item["what"], item["status"],
                tuple(item["at"]), item.get("reason", ""))


def unresolved(root: Path, place: str) -> str:
    """Returns why `place` (a file, or file#heading) is invalid; empty if it exists."""
    name, _, heading = place.partition("#")
    path = root / name
    if not name or Path(name).is_absolute() or ".." in Path(name).parts or not path.exists():
        return f"there is no {name or place}"
    if heading and (path.suffix != ".md" or heading not in headings_of(path)):
        return f"{name} has no heading #{heading}"
    return ""


def anchor(heading: str) -> str:
    heading = re.sub(r"\b__(\w+?)__\b", r"\1", heading)  # bold
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@lru_cache(maxsize=None)
def headings_of(path: Path) -> frozenset[str]:
    """Returns the anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"^```.*?^```$",
                  "",
                  path.read_text(encoding="utf-8"),
                  flags=re.DOTALL | re.MULTILINE)
    anchors: list[str] = []
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        slug = anchor(heading)
        anchors.append(f"{slug}-{anchors.count(slug)}" if slug in anchors else slug)
    return frozenset(anchors)


def counts_table(root: Path) -> str:
    reports, items = read_reports(root), read_items(root)
    groups = [(f"[{report['title'].partition(' (')[0]}]({PAGES.name}/{report['page']}.md)",
               [item for item in items if item.document == name])
              for name, report in reports.items() if "page" in report]
    groups += [(f"all {kind}s", [item for item in items if item.kind == kind])
               for kind in KINDS]
    groups.append(("**all**", items))
    return markdown(["", "items", *STATUSES], [[
        name,
        str(len(group)), *(str(sum(item.status == status for item in group)) for status in STATUSES)
    ] for name, group in groups])


def link(root: Path, place: str) -> str:
    """Returns a link to `place` (a file, or file#heading) for a page in docs/reports/."""
    name, _, heading = place.partition("#")
    path = Path(name)
    shown = path.parent.name if path.name in ("README.md", "nbody.cu",
                                              "nbody.cpp") and len(path.parts) > 1 else path.stem
    there = os.path.relpath(root / name, root / PAGES)
    return f"[{shown}]({there}{'#' + heading if heading else ''})"


def items_of(root: Path, document: str) -> str:
    """Returns a table of a document's items, in the order of the document."""
    rows = [[
        item.section, item.what, ", ".join(link(root, place) for place in item.at) or ABSENT,
        item.status + (f": {item.reason}" if item.reason else "")
    ] for item in read_items(root) if item.document == document]
    return markdown(["section", "content", "here", "status"], rows)
