"""Step 15: bodies along Hilbert's curve, the tree over them, and what a group of them accepts.

In two dimensions, with cells that are squares; the program has cubes, boxes and quadrupoles.
"""

from __future__ import annotations

import math
import random
from typing import Iterator

from nbody_tools.diagrams.drawing import Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, VERMILION

LEVELS = 4  # the curve goes through 16 x 16 cells
BODIES, LEAF, GROUP = 110, 4, 8
THETA = 0.6
Body = tuple[float, float]


def hilbert(x: int, y: int, levels: int = LEVELS) -> int:
    """How far along the curve the cell is."""
    d, side = 0, 1 << (levels - 1)
    while side:
        right, up = int(bool(x & side)), int(bool(y & side))
        d += side * side * ((3 * right) ^ up)
        if not up:
            if right:
                x, y = (2 * side - 1 - x) & (2 * side - 1), (2 * side - 1 - y) & (2 * side - 1)
            x, y = y, x
        x, y = x & (side - 1), y & (side - 1)
        side >>= 1
    return d


def cell_of(body: Body) -> tuple[int, int]:
    return tuple(min(int(c * (1 << LEVELS)), (1 << LEVELS) - 1) for c in body)  # type: ignore[return-value]


def bodies() -> list[Body]:
    """Two clusters and some between them, in the order of the curve."""
    dice = random.Random(15)
    found: list[Body] = []
    while len(found) < BODIES:
        cx, cy, spread = dice.choice([(0.3, 0.32, 0.11), (0.3, 0.32, 0.11), (0.74, 0.7, 0.09), (0.5, 0.5, 0.3)])
        body = (dice.gauss(cx, spread), dice.gauss(cy, spread))
        if all(0.01 < c < 0.99 for c in body):
            found.append(body)
    return sorted(found, key=lambda body: (hilbert(*cell_of(body)), body))


class Cell:
    def __init__(self, x: float, y: float, side: float, own: list[Body]) -> None:
        self.x, self.y, self.side, self.own = x, y, side, own
        self.centre = tuple(sum(b[k] for b in own) / len(own) for k in (0, 1))
        self.radius = max(math.dist(self.centre, b) for b in own)
        half = side / 2
        quarters = [(x + i * half, y + j * half) for i in (0, 1) for j in (0, 1)]
        parts = [[b for b in own if qx <= b[0] < qx + half and qy <= b[1] < qy + half] for qx, qy in quarters]
        self.children = [] if len(own) <= LEAF else [
            Cell(qx, qy, half, part) for (qx, qy), part in zip(quarters, parts) if part]

    def walk(self, box: tuple[float, float, float, float]) -> Iterator["Cell"]:
        """What acts on a box: cells as a whole, and leaves."""
        near = [max(box[k] - self.centre[k], self.centre[k] - box[k + 2], 0) for k in (0, 1)]
        if math.hypot(*near) * THETA > self.radius or not self.children:
            yield self
        else:
            for child in self.children:
                yield from child.walk(box)


def tree_walk() -> Drawing:
    d = Drawing(620, "Bodies sorted along Hilbert's curve; the cells and leaves that act on a group of neighbours")
    everyone = bodies()
    side = 410
    d.heading(34, "Bodies along Hilbert's curve")
    d.heading(34, f"What acts on a group of {GROUP}", 490)
    cells = sorted(((x, y) for x in range(1 << LEVELS) for y in range(1 << LEVELS)), key=lambda c: hilbert(*c))
    step = side / (1 << LEVELS)
    left, right, top = 40, 490, 54

    def at(x0: float, body: Body) -> tuple[float, float]:
        return x0 + body[0] * side, top + (1 - body[1]) * side

    d.rect(left, top, side, side)
    d.path([(left + (x + 0.5) * step, top + side - (y + 0.5) * step) for x, y in cells], light(BLUE, 0.5), 2)
    first = 24
    group = everyone[first:first + GROUP]
    for body in everyone:
        d.circle(*at(left, body), 4.5, VERMILION if body in group else "#000000")

    box = (min(b[0] for b in group), min(b[1] for b in group), max(b[0] for b in group), max(b[1] for b in group))
    d.rect(right, top, side, side)
    accepted = leaves = 0
    for cell in Cell(0, 0, 1, everyone).walk(box):
        x, y = at(right, (cell.x, cell.y + cell.side))
        whole = math.hypot(*[max(box[k] - cell.centre[k], cell.centre[k] - box[k + 2], 0) for k in (0, 1)]
                           ) * THETA > cell.radius
        accepted, leaves = accepted + whole, leaves + (not whole)
        d.rect(x, y, cell.side * side, cell.side * side, light(GREEN if whole else ORANGE, 0.35), GREY, 1)
        if whole:
            d.circle(*at(right, cell.centre), 3 + len(cell.own) ** 0.5, GREEN)
        else:
            for body in cell.own:
                d.circle(*at(right, body), 4.5, VERMILION if body in group else "#000000")
    x, y = at(right, (box[0], box[3]))
    d.rect(x, y, (box[2] - box[0]) * side, (box[3] - box[1]) * side, "none", VERMILION, 3)
    y = top + side + 34
    d.notes(left, y, f"Red: {GROUP} neighbours of the order.", "Cells are ranges of the sorted bodies.", step=28)
    d.key(right, y, light(GREEN, 0.35), f"{accepted} cells act as a whole", GREY, 1)
    d.key(right, y + 30, light(ORANGE, 0.35), f"{leaves} leaves act body by body", GREY, 1)
    d.notes(left, y + 72, f"{BODIES} bodies in two dimensions, leaves of up to {LEAF}, theta {THETA}. The program has three dimensions,",
            "groups of 32, leaves of up to 16, and a quadrupole for each cell.")
    return d
