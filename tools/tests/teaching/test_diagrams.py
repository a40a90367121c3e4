"""Tests that diagrams are readable: texts fit into their boxes and have enough contrast in both
themes, letters are large enough, and colours are from the palette."""

import re
import unittest

from tests import fakes

try:
    from matplotlib import font_manager
    from PIL import ImageFont
except ModuleNotFoundError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed")

from nbody_tools.design.themes import counterpart
from nbody_tools.diagrams.curve import hilbert
from nbody_tools.diagrams.diagrams import DIAGRAMS, FOLDER
from nbody_tools.diagrams.drawing import (
    INK, RED_TEXT, SMALL, SOFT, WHITE, WIDTH, Drawing, Text)
from nbody_tools.diagrams.memory import sectors, threads_per_bank
from nbody_tools.diagrams.pairs import SEGMENTS, meetings
from nbody_tools.diagrams.reports import BANK_CASES
from nbody_tools.diagrams.reports import threads_per_bank as touches_per_bank
from nbody_tools.diagrams.shares import BLOCK_SIZES, pairs_of, resident_warps
from nbody_tools.figures import colours

ALL = {name: draw() for name, draw in DIAGRAMS.items()}
FONTS: dict = {}


def extent(text: Text) -> tuple[float, float, float, float]:
    """Returns left, top, right and bottom of a text in DejaVu Sans."""
    key = (text.size, text.bold)
    if key not in FONTS:
        weight = "bold" if text.bold else "normal"
        name = font_manager.findfont(
            font_manager.FontProperties(family="DejaVu Sans", weight=weight)
        )
        FONTS[key] = ImageFont.truetype(name, text.size)
    width = FONTS[key].getlength(text.words)
    left = text.x - {"start": 0, "middle": width / 2, "end": width}[text.anchor]
    return left, text.y - 0.76 * text.size, left + width, text.y + 0.24 * text.size


def unreadable(drawing: Drawing) -> list[str]:
    problems = []
    places = [(text, extent(text)) for text in drawing.texts]
    for i, (text, (left, top, right, bottom)) in enumerate(places):
        if text.size < SMALL:
            problems.append(f"'{text.words}' is smaller than {SMALL}")
        if left < 5 or top < 5 or right > WIDTH - 5 or bottom > drawing.height - 3:
            problems.append(f"'{text.words}' leaves the drawing: {left:.0f} to {right:.0f}")
        for other, (l2, t2, r2, b2) in places[i + 1:]:
            if left < r2 and l2 < right and top < b2 and t2 < bottom:
                problems.append(f"'{text.words}' and '{other.words}' overlap")
        for box in drawing.boxes:
            inside = (
                box.x <= (left + right) / 2 <= box.x + box.width
                and box.y <= text.y - 6 <= box.y + box.height
            )
            if inside and box.fill != "none" and (left < box.x or right > box.x + box.width):
                problems.append(f"'{text.words}' is wider than its box")
        below = [
            box.fill
            for box in drawing.boxes
            if box.fill != "none"
            and box.x <= left
            and right <= box.x + box.width
            and box.y <= text.y - 6 <= box.y + box.height
        ]
        fill = below[-1] if below else WHITE
        for ink, paper in ((text.colour, fill), (counterpart(text.colour), counterpart(fill))):
            if contrast(ink, paper) < 4.5:
                problems.append(f"'{text.words}' in {ink} cannot be told from {paper}")
    return problems


def luminance(colour: str) -> float:
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """Returns the contrast ratio defined by WCAG, which requires at least 4.5 for text."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def is_shade(colour: str, base: str) -> bool:
    """True if the colour is `base` mixed with white: for red, green and blue, the colour's value is
    255 + share * (base's value - 255), with the same share."""
    parts = [(int(colour[i:i + 2], 16), int(base[i:i + 2], 16)) for i in (1, 3, 5)]
    return any(
        all(abs(255 + share / 100 * (b - 255) - a) <= 1 for a, b in parts)
        for share in range(1, 101)
    )


class Diagrams(fakes.InRepository):
    def test_all_can_be_read(self) -> None:
        for name, drawing in ALL.items():
            with self.subTest(name):
                self.assertEqual(unreadable(drawing), [])

    def test_what_cannot_be_read_is_named(self) -> None:
        drawing = Drawing(100, "broken")
        drawing.text(20, 50, "one")
        drawing.text(22, 52, "two")
        drawing.text(880, 50, "far to the right")
        drawing.text(300, 50, "small", size=9)
        drawing.label((400, 20, 40, 40), "too long for it", colours.BLACK)
        found = "\n".join(unreadable(drawing))
        for expected in (
            "'one' and 'two' overlap",
            "'far to the right' leaves",
            "'small' is smaller",
            "'too long for it' is wider",
        ):
            self.assertIn(expected, found)
        dark = Drawing(100, "dark on dark")
        dark.label((400, 20, 200, 40), "words", colours.BLACK)
        self.assertIn("cannot be told", unreadable(dark)[0])

    def test_colours_are_of_the_palette(self) -> None:
        palette = [value for name, value in vars(colours).items() if name.isupper()]
        for name, drawing in ALL.items():
            with self.subTest(name):
                used = set(re.findall(r'"(#[0-9A-F]{6})"', drawing.svg()))
                # Colours that are not in the palette, except greys and the colours of words.
                other = {c for c in used - {INK, SOFT, RED_TEXT} if len({c[1:3], c[3:5], c[5:]}) > 1
                         and not any(is_shade(c, base) for base in palette)}
                self.assertEqual(other, set())
        self.assertFalse(any(is_shade("#FF00FF", base) for base in palette))

    def test_bank_conflicts_are_those_that_the_project_report_counts(self) -> None:
        worst = {
            figure: max(touches_per_bank(position_of)) - 1 for figure, _, position_of in BANK_CASES
        }
        self.assertEqual(worst, {"11": 15, "12": 3, "13": 3, "14": 0})

    def test_pairs_are_divided_as_the_project_report_says(self) -> None:
        counts = {}
        for sharing in ("blocks", "lowest and highest", "linear index"):
            threads = list(pairs_of(sharing).values())
            self.assertEqual(len(threads), 28)
            counts[sharing] = [threads.count(0), threads.count(1)]
        # Blocks of pairs give the threads unequal work; the other two ways give them equal work.
        self.assertEqual(counts, {"blocks": [22, 6], "lowest and highest": [14, 14],
                                  "linear index": [14, 14]})

    def test_resident_warps_are_those_that_the_profiler_names(self) -> None:
        # Section 2.2 of the activity map: with 40 registers per thread and blocks of 64 threads,
        # 48 warps are resident.
        self.assertEqual(resident_warps(64, 40), 48)
        self.assertEqual([resident_warps(block, 32) for block in BLOCK_SIZES],
                         [32, 64, 64, 64, 64, 64])
        self.assertEqual(resident_warps(1024, 40), 32)

    def test_written_once_and_then_up_to_date(self) -> None:
        (self.folder / FOLDER).mkdir(parents=True)
        self.assertEqual(self.tool("diagrams", "--check")[0], 1)
        self.assertEqual(self.tool("diagrams")[0], 0)
        self.assertEqual(self.tool("diagrams", "--check"), (0, ""))
        name = next(iter(DIAGRAMS))
        path = self.folder / FOLDER / f"{name}.svg"
        path.write_text(path.read_text().replace("time step", "time stop"))
        code, text = self.tool("diagrams", "--check")
        self.assertEqual((code, len(text.splitlines())), (1, 1))
        self.assertIn(f"{name}.svg: is missing or out of date", text)
        self.tool("diagrams")
        self.file(str(FOLDER / "old.svg"), "")
        self.assertIn("old.svg: no diagram has this name", self.tool("diagrams", "--check")[1])

    def test_what_is_computed_is_right(self) -> None:
        self.assertEqual([sectors(stride) for stride in (28, 16, 12, 4, 0)], [28, 16, 12, 4, 1])
        self.assertEqual(threads_per_bank(16), [4, 0, 0, 0] * 8)
        self.assertEqual(threads_per_bank(4), [1] * 32)
        self.assertEqual(len(meetings()), 528)
        pairs = {frozenset(pair) for pair in meetings()}
        self.assertEqual(len(pairs), SEGMENTS * (SEGMENTS + 1) // 2)
        cells = sorted(((x, y) for x in range(16) for y in range(16)), key=lambda c: hilbert(*c))
        self.assertTrue(
            all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in zip(cells, cells[1:]))
        )


if __name__ == "__main__":
    unittest.main()
