"""Finds comments in C++ text and removes them, without a compiler."""

from __future__ import annotations

import re

# Matches an #include (whose file name may look like a comment), a comment, a string, a character,
# or a number or name (in which a quotation mark, as in 1'000 or 1e+'a, begins no literal). An
# unfinished comment or string extends to the end of the file or line, as in a compiler, so lexing
# takes linear time. Numbers and names contain only ASCII letters and digits, because a compiler
# reads 1'é' as a number followed by a character.
PIECES = re.compile(r"""^[ \t]*\#[ \t]*include\b[^\n]*
                      | //[^\n]*
                      | /\*(?:[^*]|\*(?!/))*(?:\*/)?
                      | "(?:\\[^\n]|[^"\\\n])*"?
                      | '(?:\\[^\n]|[^'\\\n])*'?
                      | \.?\d(?:[eEpP][+-]|'?\w|\.)*
                      | \w+""", re.M | re.X | re.A)


def is_comment(piece: str) -> bool:
    return piece.startswith(("//", "/*"))


def without_comments(text: str) -> str:
    """Removes comments, and the lines that contained nothing else."""
    lines = []
    replaced = PIECES.sub(
        lambda m: re.sub(r"[^\n]", "\0", m[0]) if is_comment(m[0]) else m[0], text
    )
    for line in replaced.split("\n"):
        kept = line.replace("\0", "").rstrip()
        if kept or "\0" not in line:
            lines.append(kept)
    return "\n".join(lines)


def code_only(text: str) -> str:
    """Replaces comments by blanks, and strings by empty strings; keeps #include lines."""
    def blank(match: re.Match[str]) -> str:
        piece = match[0]
        if piece[0] not in "/\"'":  # a name, a number or an #include
            return piece
        return " " + "\n" * piece.count("\n") if is_comment(piece) else piece[0] * 2
    return PIECES.sub(blank, text)


def comments_in(text: str) -> list[str]:
    """Returns the lines of all comments, without comment marks."""
    found = []
    for match in PIECES.finditer(text):
        if is_comment(match[0]):
            found += [line.strip(" */\t") for line in match[0].splitlines()]
    return [line for line in found if line]
