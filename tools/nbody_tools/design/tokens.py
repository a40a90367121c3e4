"""Reads tokens.css, the colours, sizes and units that all pages and figures share.

  python3 -m nbody_tools.design.tokens           prints the style sheet for both themes
  python3 -m nbody_tools.design.tokens dark      prints the style sheet for the dark theme only
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).with_name("tokens.css")
THEMES = ("light", "dark")
DECLARATION = re.compile(r"^ *--([a-z-]+): (.+);$", re.MULTILINE)
PAIR = re.compile(r"light-dark\(([^,]+), ([^)]+)\)")


@cache
def declarations() -> dict[str, str]:
    """Returns the tokens by name, as they are written in tokens.css."""
    return dict(DECLARATION.findall(SOURCE.read_text(encoding="utf-8")))


def value(name: str, theme: str = "light") -> str:
    """Returns a token's value in a theme. If the value is a string, removes the quotes."""
    text = declarations()[name]
    return PAIR.sub(lambda pair: pair.group(1 + THEMES.index(theme)), text).strip('"')


def colour(name: str, theme: str = "light") -> str:
    """Returns a colour as #RRGGBB in capitals, the form in which the figures compare colours."""
    return value(name, theme).upper()


def style_sheet(theme: str = "") -> str:
    """Returns the tokens as CSS for one theme, or for both themes. If the CSS contains both, the
    reader's preference selects one.

    The result does not use light-dark(), so a page is also readable in a browser of 2020.
    """
    if theme:
        return _block(theme, declarations())
    differing = {name: text for name, text in declarations().items() if PAIR.search(text)}
    return (f"{_block('light', declarations(), 'light dark')}"
            "@media (prefers-color-scheme: dark) {\n"
            f"{_block('dark', differing)}}}\n")


def _block(theme: str, tokens: dict[str, str], scheme: str = "") -> str:
    lines = [f"  --{name}: {PAIR.sub(lambda p: p.group(1 + THEMES.index(theme)), text)};"
             for name, text in tokens.items()]
    return "\n".join([":root {", f"  color-scheme: {scheme or theme};", *lines, "}", ""])


if __name__ == "__main__":
    print(style_sheet(*sys.argv[1:2]), end="")
