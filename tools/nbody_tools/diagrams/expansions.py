"""Draws the two expansions of step 16: the moments of a node, and the series around a group."""

from __future__ import annotations

from nbody_tools.diagrams.drawing import INK, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, VERMILION

# Positions of a node's bodies and of a group's bodies, in units of the radius.
NODE = ((-0.6, 0.5), (-0.2, -0.7), (0.3, 0.6), (0.7, -0.1), (0.1, 0.1), (-0.5, -0.2), (0.5, -0.6))
GROUP = ((-0.7, 0.1), (-0.1, 0.7), (0.4, -0.5), (0.6, 0.4), (-0.3, -0.6))
NODE_X, GROUP_X, RADIUS = 190, 700, 74


def _side(d: Drawing, y: float, x: float, places: tuple[tuple[float, float], ...], fill: str,
          colour: str) -> list[tuple[float, float]]:
    """Draws a circle with bodies; returns their positions."""
    d.circle(x, y, RADIUS, light(fill, 0.25), GREY)
    bodies = [(x + RADIUS * u, y + RADIUS * v) for u, v in places]
    for body in bodies:
        d.circle(*body, 4.5, colour)
    return bodies


def expansions() -> Drawing:
    d = Drawing(560, "A node acts on each body of a group, or only on the middle of the group, "
                     "around which a series then gives the forces on all bodies")
    for y, title in ((140, "Step 15b: the moments act on each body"),
                     (400, "Step 16: the moments act on the middle, and the series on each body")):
        d.heading(y - 104, title)
        sources = _side(d, y, NODE_X, NODE, GREEN, INK)
        for body in sources:
            d.line(*body, NODE_X, y, GREY, 1)
        d.circle(NODE_X, y, 9, GREEN)
        targets = _side(d, y, GROUP_X, GROUP, BLUE, VERMILION)
        if y < 200:
            for body in targets:
                d.line(NODE_X + 9, y, *body, INK, 1.5, arrow=True)
        else:
            for body in targets:
                d.line(GROUP_X, y, *body, GREY, 1)
            d.line(NODE_X + 9, y, GROUP_X - 12, y, INK, 2.5, arrow=True)
            d.text((NODE_X + GROUP_X) / 2, y - 14, "R, longer than r + r(group)",
                   anchor="middle")
            d.rect(GROUP_X - 8, y - 8, 16, 16, BLUE)
    y = 400 + RADIUS + 34
    d.text(NODE_X, y, "mass, quadrupole (M)", anchor="middle")
    d.text((NODE_X + GROUP_X) / 2, y, "M2L: once", anchor="middle")
    d.text(GROUP_X, y, "Taylor series (L)", anchor="middle")
    d.notes(20, y + 36,
            "L2P: each body evaluates the sum of all series once, however many nodes there are.")
    return d
