"""Finds file formats that docs/formats.md does not list, and programs of ./nbody compare that
docs/comparison.md does not list."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

from nbody_tools.documents.missing import text_of

FORMATS, FORMATS_PAGE = Path("common", "io", "formats"), Path("docs", "formats.md")
COMPARE, COMPARE_PAGE = Path("tools", "nbody_tools", "compare"), Path("docs", "comparison.md")
EXTENSION = re.compile(r'\.ending = "(\.\w+)"')


def unlisted(root: Path) -> Iterator[str]:
    """Yields one line per missing row: the file that should contain it, and what to add."""
    rows = rows_of(text_of(root / FORMATS_PAGE))
    for file in sorted((root / FORMATS).glob("*.cpp")):
        for extension in EXTENSION.findall(text_of(file)):
            if f"`{extension}`" not in rows:
                yield f"{FORMATS_PAGE}: its first table has no row for {extension} ({file.name})"
    rows = rows_of(text_of(root / COMPARE_PAGE))
    contenders = text_of(root / COMPARE / "contenders.py")
    for file in sorted((root / COMPARE / "peers").glob("*_peer.py")):
        name = file.stem.removesuffix("_peer")
        if f"`{name}`" not in rows:
            yield f"{COMPARE_PAGE}: its first table has no row for {name} ({file.name})"
        if f'"{file.stem}"' not in contenders:
            yield f"{COMPARE / 'contenders.py'}: PYTHON has no row for {file.stem}"


def rows_of(page: str) -> str:
    """Returns the rows of the table above the first section."""
    return "\n".join(line for line in page.partition("\n## ")[0].splitlines() if line[:1] == "|")
