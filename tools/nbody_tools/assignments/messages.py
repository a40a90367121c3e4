"""Formats the grader's messages about an assignment."""

from __future__ import annotations

import re
import struct

FILL = 0x7f  # each byte of the result before a call
# The values of four such bytes as a float and as an integer.
UNWRITTEN = (struct.unpack("<f", bytes([FILL] * 4))[0], float(int.from_bytes([FILL] * 4, "little")))
OF_HARNESS = re.compile(r"the allocation of \S*assignment_harness\.cu:\d+")
AT_HARNESS = re.compile(r",? \(?allocated (?:at|in) \S*assignment_harness\.cu:\d+\)?")
# A student's file has no main(), so `hostcuda check` cannot run it. The test `findings` can.
CHECK = re.compile(r"hostcuda: hint: `hostcuda check` names .*")
ERROR = re.compile(r"\berror\b", re.I)
CALLABLE = "the CUDA runtime, printf, and the C++ library's mathematical functions and containers"


def shown(value: float) -> str:
    """Formats one number from a result for a message."""
    return "what it held before the call" if value in UNWRITTEN else f"{value:.7g}"


def of_student(said: str) -> str:
    """Rewrites hostcuda's messages for students. The grader's harness allocates the arrays, so
    places in the harness are replaced by names that students know. `hostcuda check` needs a whole
    program, so the advice to call it is replaced by the name of the test that does the same."""
    said = CHECK.sub("the test `findings` reports the array, the index and the line", said)
    return AT_HARNESS.sub("", OF_HARNESS.sub("the input or `result`", said))


def first_error(said: str) -> str:
    """Returns the line that reports the first error in a compiler's output, or else the first
    line."""
    lines = said.splitlines()
    return next((line for line in lines if ERROR.search(line)), lines[0])


def error_first(said: str, most: int) -> list[str]:
    """Returns up to `most` lines of a compiler's message, beginning with the first error."""
    lines = said.splitlines()
    first = lines.index(first_error(said))
    lines = lines[first:] + lines[:first]
    left = len(lines) - most
    more = [f"... and {left} more line{'s' if left > 1 else ''}"] if left > 0 else []
    return [*lines[:most], *more]


def call_refused(broken: str, text: str) -> str:
    """Adds the line number and the allowed calls to a message such as "it calls 'fprintf', which
    ..."."""
    found = re.match(r"it calls '(?:\w+::)*(\w+)", broken)
    if found is None:
        return broken
    line = next((k for k, line in enumerate(text.splitlines(), 1)
                 if re.search(rf"\b{found[1]}\b", line)), None)
    where = f"line {line}: " if line else ""
    return (f"{where}it calls '{found[1]}', which is not allowed; you may call only "
            f"{CALLABLE}")
