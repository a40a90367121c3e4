"""Draws shapes and words at coordinates, and writes SVG. The same calls always give the same bytes.

A reader who prefers dark pages sees the drawing in dark colours (design/themes.py). Text is not
converted to shapes, so it can be searched and read aloud. In a drawing of width WIDTH, no text is
smaller than SMALL, so all text is still readable if the drawing is shown at half this width.
Colours come from figures/colours.py, or are mixtures of such a colour with white (`light`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

from nbody_tools.design import tokens
from nbody_tools.design.themes import both_themes
from nbody_tools.figures.colours import GREY

WIDTH = 920
SMALL, TITLE = 18, 22
INK, SOFT, RED_TEXT, WHITE = map(tokens.colour, ("ink", "soft", "bad", "page"))
ON_COLOUR = tokens.colour("on-series")  # for text on areas in the palette's full colours
# The tests measure text in DejaVu Sans. Verdana has the same width, and Arial is narrower.
FONT = "Verdana, 'DejaVu Sans', Arial, sans-serif"


def light(colour: str, share: float = 0.35) -> str:
    """Mixes a colour with white; `share` is the colour's share."""
    parts = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + share * (part - 255)):02X}" for part in parts)


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@dataclass(frozen=True)
class Text:
    x: float
    y: float  # baseline
    words: str
    size: int
    anchor: str  # start, middle, end
    colour: str
    bold: bool


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    fill: str


@dataclass
class Drawing:
    height: int
    title: str  # for screen readers
    parts: list[str] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)  # areas that may contain text

    def rect(self, x: float, y: float, width: float, height: float, fill: str = WHITE,
             stroke: str = INK, thick: float = 1.5, dashed: bool = False) -> None:
        self.boxes.append(Box(x, y, width, height, fill))
        shape = (
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}"'
        )
        shape += f' fill="{fill}"'
        shape += f' stroke="{stroke}" stroke-width="{number(thick)}"' if stroke else ""
        self.parts.append(shape + (' stroke-dasharray="6 5"' if dashed else "") + "/>")

    def circle(self, x: float, y: float, radius: float, fill: str, stroke: str = "") -> None:
        line = f' stroke="{stroke}" stroke-width="1.5"' if stroke else ""
        self.parts.append(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}"{line}/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = INK, thick: float = 2,
             dashed: bool = False, arrow: bool = False) -> None:
        self.path([(x1, y1), (x2, y2)], colour, thick, dashed, arrow)

    def path(self, points: list[tuple[float, float]], colour: str = INK, thick: float = 2,
             dashed: bool = False, arrow: bool = False) -> None:
        if arrow:  # the head is a polygon, because some viewers do not draw SVG markers
            points = [*points[:-1], self._head(points[-2], points[-1], colour, thick)]
        at = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dash = ' stroke-dasharray="6 5"' if dashed else ""
        self.parts.append(f'<polyline points="{at}" fill="none" stroke="{colour}" '
                          f'stroke-width="{number(thick)}"{dash}/>')

    def polygon(self, points: list[tuple[float, float]], fill: str) -> None:
        at = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(f'<polygon points="{at}" fill="{fill}"/>')

    def _head(self, start: tuple[float, float], tip: tuple[float, float], colour: str,
              thick: float) -> tuple[float, float]:
        """Draws the head of an arrow; returns the point at which the arrow's line must end."""
        length = ((tip[0] - start[0]) ** 2 + (tip[1] - start[1]) ** 2) ** 0.5
        u = ((tip[0] - start[0]) / length, (tip[1] - start[1]) / length)
        size = 5 + 3 * thick
        base = (tip[0] - size * u[0], tip[1] - size * u[1])
        half = 0.45 * size
        self.polygon([tip, (base[0] - half * u[1], base[1] + half * u[0]),
                      (base[0] + half * u[1], base[1] - half * u[0])], colour)
        return base

    def text(self, x: float, y: float, words: str, size: int = SMALL, anchor: str = "start",
             colour: str = INK, bold: bool = False) -> None:
        self.texts.append(Text(x, y, words, size, anchor, colour, bold))
        place = f' text-anchor="{anchor}"' if anchor != "start" else ""
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" font-size="{size}" '
                          f'fill="{colour}"{place}{weight}>{escape(words)}</text>')

    def label(self, box: tuple[float, float, float, float], words: str, fill: str,
              colour: str = INK, **style: Any) -> None:
        """Draws a box with a line of text in the middle."""
        x, y, width, height = box
        self.rect(x, y, width, height, fill, **style)
        self.text(x + width / 2, y + height / 2 + 0.36 * SMALL, words, SMALL, "middle", colour)

    def lines(self, x: float, y: float, *words: str, step: float = 26, **style: Any) -> None:
        for k, line in enumerate(words):
            self.text(x, y + k * step, line, **style)

    def key(self, x: float, y: float, colour: str, words: str, *stroke: Any, **style: Any) -> None:
        """Draws a legend entry for a colour."""
        self.rect(x, y - 16, 22, 22, colour, *stroke, **style)
        self.text(x + 32, y + 2, words)

    def heading(self, y: float, words: str, x: float = 20) -> None:
        self.text(x, y, words, TITLE, bold=True)

    def note(self, y: float, words: str, x: float = 20) -> None:
        self.notes(x, y, words)

    def notes(self, x: float, y: float, *words: str, step: float = 26) -> None:
        self.lines(x, y, *words, step=step, colour=SOFT)

    def bracket(self, x: float, y: float, width: float, words: str, colour: str = GREY) -> None:
        """Draws a horizontal bracket with a label below it."""
        self.path([(x, y), (x, y + 8), (x + width, y + 8), (x + width, y)], colour, 1.5)
        if words:
            self.text(x + width / 2, y + 30, words, SMALL, "middle")

    def svg(self) -> str:
        return both_themes("\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
                f'width="{WIDTH}" '
                f'height="{self.height}" font-family="{FONT}" role="img">',
                f"<title>{escape(self.title)}</title>",
                f'<rect width="{WIDTH}" height="{self.height}" fill="{WHITE}"/>',
                *self.parts,
                "</svg>",
                "",
            ]
        ))
