"""Reads the commands that pages show in their code blocks, and what the pages say about them.

In a code block whose first line is a command, every line is a command. A comment behind a command
marks it: "with a GPU", or how long it takes ("# 3 min").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

BEGINS = re.compile(r"(\./nbody|build/\S+|cmake|ctest|gdb|diff|git|python3|nvcc|make|mkdir|ssh|"
                    r"for \w+ in|cd|[A-Z_]+=\S+)\s")
COMMENT = re.compile(r"\s+#\s+(.*)$")
DURATION = re.compile(r"(?:([\d,.]+)|a|an) (s|second|min|minute|h|hour)s?\b")
SECONDS = {"s": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600}
ON_A_GPU = re.compile(r"build/cuda/|--gpu\b|--preset cuda\b")
# Words that the reader must fill in: FILE, [--option], /path/to, user@host. NAME=value is a
# variable.
PLACEHOLDER = re.compile(r"(?:^|\s)(?:[A-Z]{2,}(?=\s|$)|\[)|/path/to/|\w@\w|\.\.\.$")


@dataclass(frozen=True)
class Command:
    page: str
    line: int
    text: str  # without the comment
    comment: str = ""

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def needs_gpu(self) -> bool:
        return "GPU" in self.comment or ON_A_GPU.search(self.text) is not None

    @property
    def is_usage(self) -> bool:
        """True if the reader must fill something in."""
        return PLACEHOLDER.search(self.text) is not None

    @property
    def seconds(self) -> float:
        """The seconds that the page announces, or 0."""
        found = DURATION.search(self.comment)
        return float((found[1] or "1").replace(",", "")) * SECONDS[found[2]] if found else 0.0


def code_blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """Yields the numbered lines of each block, fenced or indented, without their indentation."""
    block: list[tuple[int, str]] = []
    fence = False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        is_fence = line.lstrip().startswith("```")
        if is_fence or not (fence or line.startswith("    ")):
            if block:
                yield block
            block = []
        elif line.strip():
            block.append((number, line.strip()))
        fence ^= is_fence


def commands_of_block(page: str, block: list[tuple[int, str]]) -> Iterator[Command]:
    """One per line; lines that end in a backslash, and loops, are one command."""
    whole, begin = "", 0
    for number, line in block:
        comment = COMMENT.search(line)
        text = line[:comment.start()] if comment else line
        begin = begin or number
        is_continued = text.endswith("\\")
        whole += text[:-1] if is_continued else text
        if is_continued:
            continue
        if whole.startswith("for ") and not whole.endswith("done"):
            whole += "\n"
            continue
        yield Command(page, begin, whole, comment[1] if comment else "")
        whole, begin = "", 0


def commands_of(page: str, text: str) -> list[Command]:
    return [command for block in code_blocks(text) if BEGINS.match(block[0][1] + " ")
            for command in commands_of_block(page, block)]


def saved_files(text: str) -> dict[str, str]:
    """Files that the page asks to be saved: "Saved as `NAME`" follows the block with the
    content."""
    lines = text.splitlines()
    saved = {}
    for block in code_blocks(text):
        after = " ".join(lines[block[-1][0]:block[-1][0] + 2])
        if found := re.match(r"\s*Saved as `([^`]+)`", after):
            saved[found[1]] = "\n".join(line for _, line in block) + "\n"
    return saved


def read_pages(root: Path, names: list[str]) -> list[Command]:
    texts = {name: (root / name).read_text(encoding="utf-8") for name in names}
    return [command for name, text in texts.items() for command in commands_of(name, text)]
