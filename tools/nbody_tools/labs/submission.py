"""Reads a submission, which must be a small regular file of UTF-8 text."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

MAX_BYTES = 200_000
# Compilers treat some of these characters as white space. Other characters make editors show text
# in another order.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NAMES = {"\r": "a carriage return without a line feed", "\f": "a form feed", "\v": "a vertical tab"}


class Refused(Exception):
    """Says in one line why a submission is not graded."""


class Unreadable(Refused):
    """The system does not let the grader read the file."""


def read_submission(file: Path) -> str:
    """Returns the file's text unchanged. Raises Refused if the file cannot be graded."""
    data = read_bytes(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Refused(f"line {line}: the file is not UTF-8 text") from error


def read_bytes(file: Path) -> bytes:
    try:
        # Opening a FIFO must not wait, and a link may lead to a file that only the grader may read.
        opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if file.is_symlink():
            raise Refused("the submission is a symbolic link") from error
        raise Unreadable(f"the submission cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)  # open() below would report a folder as an error of the system
        raise Refused("the submission is not a regular file")
    with open(opened, "rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Refused(f"the file is larger than {MAX_BYTES:,} bytes")
    return data


def with_line_feeds(text: str) -> str:
    """Replaces Windows line ends by line feeds; rejects other control characters."""
    text = text.replace("\r\n", "\n")
    if found := CONTROL.search(text):
        what = NAMES.get(found[0], f"the character U+{ord(found[0]):04X}")
        line = text.count("\n", 0, found.start()) + 1
        raise Refused(f"line {line}: the file contains {what}; the only control characters allowed "
                      "are newline and tab")
    return text
