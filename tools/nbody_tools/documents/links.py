"""Finds links and pictures that lead nowhere: to a file that does not exist, or to a heading that
the linked page does not have. Also finds pictures without alt text."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Callable, Collection, Iterator, Optional
from urllib.parse import unquote, urlsplit

from nbody_tools.documents.templates import ENDING, without
from nbody_tools.steps import is_draft

LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:a|img)\b[^>]*?\b(?:href|src)=\"([^\"]+)\"")
PICTURE = re.compile(r"!\[([^\]]*)\]\(|<img\b([^>]*)>")
ALT = re.compile(r"\balt=\"([^\"]*)\"")
FEWEST_WORDS = 3  # of an alt text
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
# Indented lines are code only after an empty line; otherwise they continue a list item.
BLOCKS = re.compile(r"^```.*?^```$|(?<=\n\n)(?:    [^\n]*\n)+|`[^`\n]*`", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)? *$", re.MULTILINE)
NAMED = re.compile(r"<\w+[^>]*\b(?:id|name)=\"([^\"]+)\"")
DIAGRAMS = Path("docs", "figures", "diagrams")
ANSWERS = Path("docs", "answers.md")


def dead_links(root: Path, generated: Collection[Path], folder: Optional[str] = None) -> list[str]:
    """Returns one message per link that leads nowhere. A link to a generated document is right even
    if the document has not been written yet. With `folder`, checks only the pages in it."""
    known = cache(anchors)
    return [
        problem
        for page in pages(root)
        if folder in (None, str(page.parent)) and not is_draft(page.parts[0], root)
        for problem in dead_links_of(page, root, generated, known)
    ]


def pages(root: Path) -> list[Path]:
    """Returns the pages of the repository, including new ones, relative to `root`."""
    words = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
             "--exclude-standard", "--", "*.md"]
    listed: list[Path] = []
    if (root / ".git").exists():  # otherwise git may list the files of a clone in a parent folder
        git = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             check=False)
        if git.returncode == 0:
            listed = [Path(name) for name in git.stdout.split("\0") if (root / name).is_file()]
    found = listed or [page.relative_to(root) for page in root.rglob("*.md")]
    return sorted(page for page in found
                  if not page.name.endswith(ENDING) and not page.parts[0].startswith("build"))


def dead_links_of(page: Path, root: Path, generated: Collection[Path],
                  anchors_on: Callable[[Path], frozenset[str]]) -> Iterator[str]:
    text = without((root / page).read_text(encoding="utf-8"), BLOCKS)
    yield from pictures_without_words(page, text)
    for match in LINK.finditer(text):
        link = match[1] or match[2]
        where = f"{page}:{text.count(chr(10), 0, match.start()) + 1}"
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or link.startswith("/"):
            continue
        target = Path(os.path.normpath(page.parent / unquote(parts.path))) if parts.path else page
        if not (root / target).exists():
            if root / target not in generated:
                yield f"{where}: {how_to_add(link, target)}"
        elif target.suffix == ".md" and parts.fragment:
            if unquote(parts.fragment) not in anchors_on(root / target):
                yield f"{where}: {how_to_add_heading(link, target)}"


def pictures_without_words(page: Path, text: str) -> Iterator[str]:
    """Yields pictures without a useful alt text. Readers who listen to a page hear only this
    text."""
    for match in PICTURE.finditer(text):
        found = match[1] if match[1] is not None else (ALT.search(match[2]) or ("", ""))[1]
        if len(found.split()) < FEWEST_WORDS:
            line = text.count(chr(10), 0, match.start()) + 1
            yield (f"{page}:{line}: the alt text of a picture has fewer than {FEWEST_WORDS} words: "
                   "describe what the picture shows")


def how_to_add(link: str, target: Path) -> str:
    if target.parent == DIAGRAMS:
        return (f"shows {link}, which does not exist: draw it in tools/nbody_tools/diagrams/, add "
                "it to DIAGRAMS in diagrams.py, and run ./nbody diagrams")
    return f"links to {link}, which does not exist: correct the link, or add the file"


def how_to_add_heading(link: str, target: Path) -> str:
    if target == ANSWERS:
        return (f"links to {link}, but {target} has no such heading: write the answers to the "
                "exercises there, below '## Step NN: ...'")
    return f"links to {link}, but {target} has no such heading: correct the link or the heading"


def anchors(page: Path) -> frozenset[str]:
    """Returns the anchors of a page: the anchors that GitHub makes from the headings, and the names
    and ids of HTML tags."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    found = set(NAMED.findall(text))
    for heading in HEADING.findall(text):
        anchor, count = anchor_of(heading), 0
        unique = anchor
        while unique in found:
            count += 1
            unique = f"{anchor}-{count}"
        found.add(unique)
    return frozenset(found)


def anchor_of(heading: str) -> str:
    """Returns GitHub's anchor for a heading: "1. `f(x)`, and __more__" becomes 1-fx-and-more."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"(?<!`)__(\w.*?)__(?!`)", r"\1", text)  # bold, unless it is code
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
