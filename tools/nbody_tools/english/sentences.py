"""Finds the sentences of a file, with their lines: prose, comments, docstrings and messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

Line = tuple[int, str]  # line number and text

GENERATED = "<!-- Generated from "
MESSAGE = re.compile(r"[A-Za-z',]{2,} [a-z',]{2,} [a-z']{2,}|^[A-Z][a-z]+ [a-z]+ ")
STRING = r'"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])'
C_LIKE = re.compile(rf"//(?P<comment>[^\n]*)|/\*(?P<block>.*?)\*/|{STRING}'", re.S)
PYTHON = re.compile(rf'#(?P<comment>[^\n]*)|"""(?P<block>.*?)"""|{STRING}*\'', re.S)
HASHED = re.compile(rf"(?<![\w$&{{\"'\\])#(?P<comment>[^\n]*)|(?P<block>(?!))|{STRING}'")
LEXERS = {**dict.fromkeys((".h", ".cuh", ".cpp", ".cu", ".js"), C_LIKE), ".py": PYTHON,
          **dict.fromkeys((".cmake", ".toml", ".txt", ".sh", ".yml"), HASHED)}


def sentences_of(path: Path) -> Iterator[Line]:
    """Yields each sentence with the number of its first line. Replaces `code` by `...`, and a link
    by its text."""
    lexer = LEXERS.get(path.suffix)
    if path.suffix != ".md" and not lexer or not path.is_file():
        return
    text = path.read_text("utf-8", errors="replace")
    if text.startswith(GENERATED):
        return
    lines = list(enumerate(text.split("\n"), 1))
    for paragraph in _in_code(text, lexer) if lexer else _paragraphs(lines):
        yield from _sentences(paragraph)


def _paragraphs(lines: list[Line]) -> Iterator[list[Line]]:
    """Yields the paragraphs, list items and wordy table cells of a Markdown page, but not its
    headings and code."""
    paragraph: list[Line] = []
    fenced = False
    for number, line in lines:
        fenced ^= line.lstrip().startswith("```")
        item = re.match(r"\s*([-*+]|\d+\.|>) +", line)
        code = line.startswith("    ") and not paragraph
        skip = fenced or code or bool(re.match(r"\s*(```|<!--|\{%|!\[|#|\|)", line))
        if skip or item or not line.strip():
            yield paragraph
            paragraph = []
        if line.startswith("|") and not fenced:
            yield from ([(number,
                          cell.strip())] for cell in line.split("|") if MESSAGE.search(cell))
        elif not skip and line.strip():
            paragraph.append((number, line[item.end():] if item else line.strip()))
    yield paragraph


def _in_code(text: str, lexer: re.Pattern[str]) -> Iterator[list[Line]]:
    """Yields comments (consecutive lines joined), docstrings and messages."""
    run: list[Line] = []
    for piece in lexer.finditer(text):
        number = text.count("\n", 0, piece.start()) + 1
        if piece["comment"] is not None:
            own_line = not text[text.rfind("\n", 0, piece.start()) + 1:piece.start()].strip()
            comment = piece["comment"].strip("/!# ")
            if not (own_line and run and comment and number == run[-1][0] + 1):
                yield run
                run = []
            run.append((number, comment))
        elif piece["block"] is not None:
            lines = enumerate(piece["block"].split("\n"), number)
            yield from _paragraphs([(n, line.strip(" *")) for n, line in lines])
        elif piece["text"] and MESSAGE.search(piece["text"]):
            yield [(number, re.sub(r"\\n|\n", " ", piece["text"]))]
    yield run


def _sentences(paragraph: list[Line]) -> Iterator[Line]:
    text = "".join(f"\0{number}\0{line} " for number, line in paragraph)
    number = "0"
    for part in re.split(r"(?:(?<=[.!?:])|(?<=[.!?:][\"')*])) (?=(?:\0\d+\0)?[A-Z`\"'(*])", text):
        first = re.match(r"\0(\d+)\0", part)
        number = first[1] if first else number
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"\0\d+\0", "", part))
        yield int(number), re.sub(r"`[^`]*`", "`...`", words).strip(" *_")
        number = re.findall(r"\0(\d+)\0", f"\0{number}\0{part}")[-1]
