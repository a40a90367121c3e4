"""Reads the commands in the code blocks of pages, and what the pages say about these commands.

If the first line of a code block is a command, all its lines are commands. A comment after a
command says what the command needs ("with a GPU") or how long it takes ("# 3 min").
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
# Words that the reader must replace: FILE, [--option], /path/to, user@host; but not NAME=value.
PLACEHOLDER = re.compile(r"(?:^|\s)(?:[A-Z]{2,}(?=\s|$)|\[)|/path/to/|\w@\w|\.\.\.$")


@dataclass(frozen=True)
class Command:
    page: str
    line: int
    text: str  # without its comment
    comment: str = ""

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def needs_gpu(self) -> bool:
        return "GPU" in self.comment or ON_A_GPU.search(self.text) is not None

    @property
    def is_usage(self) -> bool:
        """True if the reader must replace a word before running the command."""
        return PLACEHOLDER.search(self.text) is not None

    @property
    def seconds(self) -> float:
        """Returns how many seconds the command takes according to the page, or 0."""
        found = DURATION.search(self.comment)
        return float((found[1] or "1").replace(",", "")) * SECONDS[found[2]] if found else 0.0


def code_blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """Yields each block, fenced or indented, as numbered lines without their indentation."""
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
    """Yields the commands. A command may span several lines: a loop, or lines that end in a
    backslash."""
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
    """Maps the name of each file that the page tells the reader to save to the file's content. The
    content is the code block before the words "Saved as `NAME`" or "If you save this as `NAME`"."""
    lines = text.splitlines()
    saved = {}
    for block in code_blocks(text):
        after = " ".join(lines[block[-1][0]:block[-1][0] + 2])
        if found := re.match(r"\s*(?:Saved|If you save this) as `([^`]+)`", after):
            saved[found[1]] = "\n".join(line for _, line in block) + "\n"
    return saved


def read_pages(root: Path, names: list[str]) -> list[Command]:
    texts = {name: (root / name).read_text(encoding="utf-8") for name in names}
    return [command for name, text in texts.items() for command in commands_of(name, text)]
