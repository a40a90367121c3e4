"""Tests the colours, sizes and units that all pages and figures share."""

import itertools
import unittest

from nbody_tools.design import tokens
from nbody_tools.design.themes import both_themes, counterpart
from nbody_tools.design.units import units_of

SURFACES = ("page", "surface", "raised")
TEXTS = ("ink", "soft", "link", "good", "bad")
SERIES = ("blue", "vermilion", "green", "purple", "orange", "sky", "contrast")
# Red, green and blue (linear) as seen without one kind of cone: Machado, Oliveira and Fernandes
# 2009, severity 1.
COLOUR_VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
          (0.0193339, 0.1191920, 0.9503041))


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def contrast(one, other):
    light, dark = sorted((times(TO_XYZ, linear(c))[1] for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb):
    x, y, z = (
        part / white for part, white in zip(times(TO_XYZ, rgb), (0.95047, 1.0, 1.08883)))
    x, y, z = (max(p, 0) ** (1 / 3) if p > 216 / 24389 else (24389 / 27 * p + 16) / 116
               for p in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one, other, vision):
    seen = [
        lab([min(max(part, 0), 1) for part in times(vision, linear(c))]) for c in (one, other)]
    return sum((a - b) ** 2 for a, b in zip(*seen)) ** 0.5


class TokensTest(unittest.TestCase):
    def test_every_token_is_read(self):
        """Tests that tokens.py reads every declaration: pages would lack a skipped declaration."""
        lines = tokens.SOURCE.read_text(encoding="utf-8").splitlines()
        declared = [line for line in lines if line.lstrip().startswith("--")]
        self.assertEqual(len(tokens.declarations()), len(declared))
        for theme in tokens.THEMES:
            self.assertNotIn("light-dark(", tokens.style_sheet(theme))
        self.assertNotIn("light-dark(", tokens.style_sheet())

    def test_both_themes_reach_the_page(self):
        light, dark = tokens.style_sheet().split("@media (prefers-color-scheme: dark)")
        for theme, text in (("light", light), ("dark", dark)):
            self.assertIn(f"--page: {tokens.value('page', theme)};", text)
        self.assertNotIn("--unit-rate", dark)

    def test_text_can_be_read(self):
        for theme, text, surface in itertools.product(tokens.THEMES, TEXTS, SURFACES):
            with self.subTest(theme=theme, text=text, surface=surface):
                ratio = contrast(tokens.value(text, theme), tokens.value(surface, theme))
                self.assertGreaterEqual(ratio, 4.5)
        for theme, surface in itertools.product(tokens.THEMES, ("notice", "marked")):
            with self.subTest(theme=theme, surface=surface):
                for text in ("ink", "soft"):
                    ratio = contrast(tokens.value(text, theme), tokens.value(surface, theme))
                    self.assertGreaterEqual(ratio, 4.5)

    def test_edges_and_focus_can_be_seen(self):
        for theme, line, surface in itertools.product(tokens.THEMES, ("edge", "focus"), SURFACES):
            with self.subTest(theme=theme, line=line, surface=surface):
                ratio = contrast(tokens.value(line, theme), tokens.value(surface, theme))
                self.assertGreaterEqual(ratio, 3)

    def test_series_differ_for_every_colour_vision(self):
        for theme, (name, vision) in itertools.product(tokens.THEMES, COLOUR_VISIONS.items()):
            for one, other in itertools.combinations(SERIES, 2):
                with self.subTest(theme=theme, vision=name, one=one, other=other):
                    pair = tokens.value(one, theme), tokens.value(other, theme)
                    self.assertGreater(difference(*pair, vision), 14)

    def test_an_svg_has_both_themes(self):
        svg = both_themes('<svg><path style="fill: #ffffff; stroke-width: 2"/></svg>')
        self.assertIn('<path fill="#ffffff" style="stroke-width: 2"/>', svg)
        self.assertIn(f'[fill="#ffffff"] {{ fill: {tokens.value("page", "dark")}; }}', svg)
        self.assertEqual(counterpart(tokens.value("space")), tokens.value("space"))
        self.assertGreater(contrast(counterpart("#123456"), counterpart("#eeeeee")), 4.5)

    def test_units(self):
        galaxy = units_of("3 kpc, 5e10 Msun")
        self.assertEqual((galaxy.length.name, galaxy.length.text(5)), ("kpc", "15.0 kpc"))
        self.assertEqual(galaxy.time.text(36), "394 Myr")
        planets = units_of("au-msun-yr2pi")
        self.assertEqual((planets.length.text(1), planets.length.label("x")), ("1.00 au", "x (au)"))
        self.assertEqual(planets.time.text(6.283185), "1.00 yr")
        self.assertEqual(units_of("kpc-100kms").time.name, "Myr")
        self.assertIsNone(units_of("henon"))
        self.assertIsNone(units_of("G = 1"))


if __name__ == "__main__":
    unittest.main()
