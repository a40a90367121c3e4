"""Writes the page of ./nbody inspect --page, which shows the accesses of one block of each kernel
and needs no network."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from nbody_tools.design.tokens import style_sheet
from nbody_tools.inspection.source_lines import Place, source_text

PAGE = Path(__file__).parent / "page"


def page_file(text: str) -> Path:
    if Path(text).suffix not in (".html", ".htm"):
        raise argparse.ArgumentTypeError(f"'{text}' does not end in .html")
    return Path(text)


def page_of(title: str, inspected: dict[str, Any]) -> str:
    kernels = [{"name": kernel["name"], "launches": kernel["launches"], "blocks": kernel["blocks"],
                "lines": lines_of(kernel["first_block"]), **kernel["first_block"]}
               for kernel in inspected["kernels"] if kernel.get("first_block")]
    # Escapes <, because "</script>" would end the script, and "<!--" would change its parsing.
    data = json.dumps({"title": title, "kernels": kernels}, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    page = (PAGE / "page.html").read_text(encoding="utf-8")
    for mark, text in (
        ("<!-- style -->", f"<style>\n{style_sheet()}{read('style.css')}</style>"),
        ("<!-- data -->", f'<script type="application/json" id="data">{data}</script>'),
        *(
            (f'<script src="{name}"></script>', f"<script>\n{read(name)}</script>")
            for name in ("block.js", "request.js", "main.js")
        ),
    ):
        page = page.replace(mark, text)
    return page


def read(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8")


def lines_of(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the lines that access memory, with their text."""
    places = sorted({(access["file"], access["line"]) for access in block["accesses"]})
    return [
        {"file": file, "line": line, "source": source_text(Place(file, line))}
        for file, line in places
    ]
