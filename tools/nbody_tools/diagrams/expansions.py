"""Draws steps 15d and 16: a node's moments and a group's series, and two levels of groups."""

from __future__ import annotations

from nbody_tools.diagrams.drawing import INK, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, VERMILION

# Positions of a node's bodies and of a group's bodies, in units of the radius.
NODE = ((-0.6, 0.5), (-0.2, -0.7), (0.3, 0.6), (0.7, -0.1), (0.1, 0.1), (-0.5, -0.2), (0.5, -0.6))
GROUP = ((-0.7, 0.1), (-0.1, 0.7), (0.4, -0.5), (0.6, 0.4), (-0.3, -0.6))
NODE_X, GROUP_X, RADIUS = 190, 700, 74

Point = tuple[float, float]


def _circle_of_bodies(d: Drawing, x: float, y: float, radius: float, places: tuple[Point, ...],
                      fill: str, colour: str) -> list[Point]:
    """Draws a circle with bodies; returns their positions."""
    d.circle(x, y, radius, light(fill, 0.25), GREY)
    bodies = [(x + radius * u, y + radius * v) for u, v in places]
    for body in bodies:
        d.circle(*body, 4.5, colour)
    return bodies


def _node(d: Drawing, x: float, y: float, radius: float) -> None:
    _circle_of_bodies(d, x, y, radius, NODE[:3] if radius < 40 else NODE, GREEN, INK)
    d.circle(x, y, 4 + radius / 15, GREEN)


def _series(d: Drawing, x: float, y: float) -> None:
    d.rect(x - 8, y - 8, 16, 16, BLUE)


def expansions() -> Drawing:
    d = Drawing(560, "A node acts on each body of a group, or only on the middle of the group, "
                     "around which a series then gives the forces on all bodies")
    for y, title in ((140, "Step 15c: the moments act on each body"),
                     (400, "Step 15d: the moments act on the middle, and the series on each body")):
        d.heading(y - 104, title)
        sources = _circle_of_bodies(d, NODE_X, y, RADIUS, NODE, GREEN, INK)
        for body in sources:
            d.line(*body, NODE_X, y, GREY, 1)
        d.circle(NODE_X, y, 9, GREEN)
        targets = _circle_of_bodies(d, GROUP_X, y, RADIUS, GROUP, BLUE, VERMILION)
        if y < 200:
            for body in targets:
                d.line(NODE_X + 9, y, *body, INK, 1.5, arrow=True)
        else:
            for body in targets:
                d.line(GROUP_X, y, *body, GREY, 1)
            d.line(NODE_X + 9, y, GROUP_X - 12, y, INK, 2.5, arrow=True)
            d.text((NODE_X + GROUP_X) / 2, y - 14, "R, longer than r + r(group)",
                   anchor="middle")
            _series(d, GROUP_X, y)
    y = 400 + RADIUS + 34
    d.text(NODE_X, y, "mass, quadrupole (M)", anchor="middle")
    d.text((NODE_X + GROUP_X) / 2, y, "M2L: once", anchor="middle")
    d.text(GROUP_X, y, "Taylor series (L)", anchor="middle")
    d.notes(20, y + 36,
            "L2P: each body evaluates the sum of all series once, however many nodes there are.")
    return d


def _large_group(d: Drawing, left: float, top: float) -> Point:
    """Draws eight groups along the curve, in two rows; returns the middle."""
    side, pitch, row = 56, 66, 106
    d.rect(left, top, 4 * pitch + 14, row + side + 24, light(BLUE, 0.12), GREY)
    x = [left + 12 + pitch * k for k in range(4)]
    y = [top + 12, top + 12 + row]
    boxes = [(x[k], y[0]) for k in range(4)] + [(x[k], y[1]) for k in (3, 2, 1, 0)]
    for box in boxes:
        d.rect(*box, side, side, light(BLUE, 0.3), GREY)
    path = [(bx + side * u, by + side * v) for bx, by in boxes[:4]
            for u, v in ((0.15, 0.7), (0.4, 0.25), (0.65, 0.75), (0.85, 0.3))]
    path += [(bx + side * u, by + side * v) for bx, by in boxes[4:]
             for u, v in ((0.85, 0.7), (0.65, 0.25), (0.4, 0.75), (0.15, 0.3))]
    d.path(path, GREY, 1)
    for body in path:
        d.circle(*body, 3, VERMILION)
    return left + 2 * pitch + 7, top + 12 + (row + side) / 2


def levels() -> Drawing:
    """Two walks: for a large group, and from its list for each group of 32 bodies."""
    d = Drawing(640, "First, two warps walk the tree for 256 bodies: distant nodes enter a series "
                     "of all 256, the other nodes are listed. Then a warp for each 32 bodies "
                     "continues from the list")
    d.heading(34, "First walk: two warps for a large group, 256 neighbours on the curve")
    middle = _large_group(d, 330, 56)
    far = (110, middle[1])
    _node(d, *far, 62)
    d.line(far[0] + 10, far[1], middle[0] - 12, far[1], INK, 2.5, arrow=True)
    _series(d, *middle)
    d.text(far[0], middle[1] + 96, "far from all 256", anchor="middle")
    d.text(middle[0], 276, "8 groups of 32, one series", anchor="middle")
    listed = (790, 78, 110, 152)
    d.rect(*listed, light(ORANGE, 0.25))
    d.text(listed[0] + listed[2] / 2, listed[1] + 82, "list", anchor="middle")
    for k, (x, y, radius) in enumerate(((682, 108, 30), (676, 200, 20))):
        _node(d, x, y, radius)
        d.line(x + radius + 4, y, listed[0] - 2, y + 20 - 8 * k, INK, 2, arrow=True)
    d.text(845, 276, "not far: listed", anchor="end")

    d.heading(330, "Second walk: a warp for each group of 32 continues from the list")
    top, group = 356, (700, 466)
    d.rect(20, top, 110, 220, light(ORANGE, 0.25))
    d.text(75, top + 118, "list", anchor="middle")
    targets = _circle_of_bodies(d, *group, 100, GROUP, BLUE, VERMILION)
    rows = (top + 34, top + 120, top + 192)
    words = ("middle distance", "near node", "bodies of a near leaf")
    for k, y in enumerate(rows):
        x = 250
        d.line(132, y, x - (36, 26, 30)[k], y, INK, 2, arrow=True)
        if k < 2:
            _node(d, x, y, (30, 20)[k])
        d.text(x, y + (52, 42, 36)[k], words[k], anchor="middle")
    leaf = [(236, rows[2] - 6), (250, rows[2] + 8), (262, rows[2] - 8)]
    for body in leaf:
        d.circle(*body, 4.5, INK)
    d.line(284, rows[0], group[0] - 12, group[1] - 3, INK, 2.5, arrow=True)
    for body in targets:
        d.line(*group, *body, GREY, 1)
    _series(d, *group)
    for target in targets[:2]:
        d.line(274, rows[1], target[0] - 6, target[1] - 1, INK, 1.2, arrow=True)
        d.line(270, rows[2], target[0] - 6, target[1] + 2, INK, 1.2, arrow=True)
    d.text(900, top + 20, "32 bodies,", anchor="end")
    d.text(900, top + 20 + 24, "one series", anchor="end")
    d.notes(20, 620, "Each body adds both series, and the near nodes and bodies one by one.")
    return d
