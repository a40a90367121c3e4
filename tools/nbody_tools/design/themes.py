"""Gives an SVG a dark theme, so that one file fits a light and a dark page.

Programs that ignore the theme show the original colours. If the reader prefers dark pages, a
browser replaces each colour by its counterpart. The counterpart of a token's colour is the token's
dark colour. The counterpart of any other colour has the same hue and inverted lightness.
"""

from __future__ import annotations

import re
from functools import cache

from nbody_tools.design.tokens import PAIR, declarations

HEX = "#[0-9a-fA-F]{6}"
ATTRIBUTE = re.compile(rf'\b(fill|stroke)="({HEX})"')
STYLE = re.compile(r'style="([^"]*)"')
# Lightness of the counterparts of black and of white (OKLab).
LIGHTEST, DARKEST = 0.98, 0.21
# Oklab by B. Ottosson (2020): the first matrix is applied to linear sRGB, the second to cube roots.
TO_CONES = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005))
TO_LAB = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
          (0.0259040371, 0.7827717662, -0.8086757660))
FROM_LAB = ((1, 0.3963377774, 0.2158037573), (1, -0.1055613458, -0.0638541728),
            (1, -0.0894841775, -1.2914855480))
FROM_CONES = ((4.0767416621, -3.3077115913, 0.2309699292),
              (-1.2684380046, 2.6097574011, -0.3413193965),
              (-0.0041960863, -0.7034186147, 1.7076147010))
Matrix = tuple[tuple[float, ...], ...]


def _times(matrix: Matrix, vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


@cache
def _tokens() -> dict[str, str]:
    """Maps each token's colour in the light theme to its colour in the dark theme. If two tokens
    have the same light colour, the first token counts. If a token has one colour for both themes,
    such as the colour of space, this colour maps to itself."""
    same = {text: text for text in declarations().values() if re.fullmatch(HEX, text)}
    halves = [PAIR.fullmatch(text) for text in declarations().values()]
    return same | {pair.group(1): pair.group(2) for pair in reversed(halves) if pair}


def counterpart(colour: str) -> str:
    """Returns the colour that a dark theme shows instead."""
    colour = colour.lower()
    if colour in _tokens():
        return _tokens()[colour]
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    lightness, *hue = _times(TO_LAB, [p ** (1 / 3) for p in _times(TO_CONES, linear)])
    other = LIGHTEST - (LIGHTEST - DARKEST) * lightness
    cones = [p**3 for p in _times(FROM_LAB, [other, *hue])]
    linear = [min(max(p, 0.0), 1.0) for p in _times(FROM_CONES, cones)]
    parts = [p * 12.92 if p <= 0.0031308 else 1.055 * p ** (1 / 2.4) - 0.055 for p in linear]
    return "#" + "".join(f"{round(255 * p):02x}" for p in parts)


def _as_attributes(style: re.Match[str]) -> str:
    """Moves colours from a style to attributes, because a style sheet's rules override attributes
    but not the attribute `style`."""
    moved, kept = [], []
    for declaration in filter(None, (part.strip() for part in style.group(1).split(";"))):
        name, _, value = declaration.partition(": ")
        if name in ("fill", "stroke") and re.fullmatch(HEX, value):
            moved.append(f'{name}="{value}"')
        else:
            kept.append(declaration)
    return " ".join([*moved, *([f'style="{"; ".join(kept)}"'] if kept else [])])


def both_themes(svg: str) -> str:
    """Returns the SVG with rules for a dark theme."""
    svg = STYLE.sub(_as_attributes, svg)
    used = sorted(set(ATTRIBUTE.findall(svg)))
    rules = [f'[{name}="{colour}"] {{ {name}: {counterpart(colour)}; }}' for name, colour in used]
    style = "\n".join(["<style>", "@media (prefers-color-scheme: dark) {", *rules, "}", "</style>"])
    return re.sub(r"(<svg\b[^>]*>)", lambda start: f"{start.group(1)}\n{style}", svg, count=1)
