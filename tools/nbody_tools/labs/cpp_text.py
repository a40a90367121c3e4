"""Finds comments in C++ text and removes them, without a compiler."""

from __future__ import annotations

import re

# Whichever begins first: an #include, whose file may look like a comment; a comment, a string or a
# character; or a
# number or a name, in which a mark begins nothing (1'000, 1e+'a). One that does not end goes to the
# end of
# the line or the file, as for a compiler; so lexing takes linear time. Letters and digits are those
# of ASCII: to
# a compiler 1'é' is a number and a character.
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
    """Removes comments, and lines that held nothing else."""
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
    """Blanks comments and empties strings; keeps #include lines."""
    def blank(match: re.Match[str]) -> str:
        piece = match[0]
        if piece[0] not in "/\"'":  # also an #include
            return piece
        return " " + "\n" * piece.count("\n") if is_comment(piece) else piece[0] * 2
    return PIECES.sub(blank, text)


def comments_in(text: str) -> list[str]:
    """Returns one line per line of comment, without its marks."""
    found = []
    for match in PIECES.finditer(text):
        if is_comment(match[0]):
            found += [line.strip(" */\t") for line in match[0].splitlines()]
    return [line for line in found if line]
