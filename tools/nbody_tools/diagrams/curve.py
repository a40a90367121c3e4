"""Draws steps 15 to 15c: bodies along the Hilbert curve, the tree over them, the nodes that are
accepted for a group, and clouds that estimate a force.

The drawing is two-dimensional, with square cells; the program uses cubes, boxes and quadrupoles.
"""

from __future__ import annotations

import math
import random
import statistics
from typing import Callable, Iterator

from nbody_tools.diagrams.drawing import INK, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, VERMILION

LEVELS = 4  # the curve goes through 16 x 16 cells
BODIES, LEAF, GROUP = 110, 4, 8
CLOUD = 11  # bodies of a cloud
PULLED = 60  # the body whose force is estimated
THETA = 0.6
TOLERANCE = 0.2
Body = tuple[float, float]
Box = tuple[float, float, float, float]


def hilbert(x: int, y: int, levels: int = LEVELS) -> int:
    """Returns the cell's position along the curve."""
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
    x, y = (min(int(c * (1 << LEVELS)), (1 << LEVELS) - 1) for c in body)
    return x, y


def bodies() -> list[Body]:
    """Returns two clusters and some bodies between them, sorted along the curve."""
    dice = random.Random(15)
    found: list[Body] = []
    while len(found) < BODIES:
        cx, cy, spread = dice.choice(
            [(0.3, 0.32, 0.11), (0.3, 0.32, 0.11), (0.74, 0.7, 0.09), (0.5, 0.5, 0.3)]
        )
        body = (dice.gauss(cx, spread), dice.gauss(cy, spread))
        if all(0.01 < c < 0.99 for c in body):
            found.append(body)
    return sorted(found, key=lambda body: (hilbert(*cell_of(body)), body))


class Cell:
    def __init__(self, x: float, y: float, side: float, own: list[Body]) -> None:
        self.x, self.y, self.side, self.own = x, y, side, own
        self.centre = (sum(b[0] for b in own) / len(own), sum(b[1] for b in own) / len(own))
        self.radius = max(math.dist(self.centre, b) for b in own)
        half = side / 2
        quarters = [(x + i * half, y + j * half) for i in (0, 1) for j in (0, 1)]
        parts = [
            [b for b in own if qx <= b[0] < qx + half and qy <= b[1] < qy + half]
            for qx, qy in quarters
        ]
        self.children = [] if len(own) <= LEAF else [
            Cell(qx, qy, half, part) for (qx, qy), part in zip(quarters, parts) if part]

    def distance(self, box: Box) -> float:
        """Returns the distance from the cell's centre of mass to the nearest point of the box."""
        return math.hypot(*(max(box[k] - self.centre[k], self.centre[k] - box[k + 2], 0)
                            for k in (0, 1)))

    def walk(self, accepts: Callable[["Cell"], bool]) -> Iterator["Cell"]:
        """Yields the cells that act on a group: accepted cells, and leaf cells."""
        if accepts(self) or not self.children:
            yield self
        else:
            for child in self.children:
                yield from child.walk(accepts)


def box_around(group: list[Body]) -> Box:
    xs, ys = zip(*group)
    return min(xs), min(ys), max(xs), max(ys)


def looks_small(cell: Cell, box: Box) -> bool:
    return cell.distance(box) * THETA > cell.radius


def neglects_little(cell: Cell, box: Box, bound: float) -> bool:
    """Tests, like step 15b, whether the first neglected term of the node's expansion is below the
    bound. All masses are 1."""
    far = cell.distance(box)
    return far > cell.radius and len(cell.own) * cell.radius ** 3 < bound * far ** 5


def pull(body: Body, everyone: list[Body]) -> float:
    """Returns the magnitude of the force on a body. The softening is 2 % of the square's side."""
    weights = [(math.dist(body, other) ** 2 + 4e-4) ** -1.5 for other in everyone]
    return math.hypot(*(sum(w * (other[k] - body[k]) for w, other in zip(weights, everyone))
                        for k in (0, 1)))


class Cloud:
    """A run of bodies, each of mass 1."""

    def __init__(self, own: list[Body]) -> None:
        self.own = own
        self.centre = (sum(b[0] for b in own) / len(own), sum(b[1] for b in own) / len(own))
        self.spread = math.sqrt(sum(math.dist(self.centre, b) ** 2 for b in own) / len(own))


def estimated_pull(body: Body, clouds: list[Cloud]) -> float:
    """Returns the magnitude of the force that the other clouds exert on a body, as step 15c
    estimates it."""
    others = [c for c in clouds if body not in c.own]
    weights = [len(c.own) * (math.dist(body, c.centre) ** 2 + 4e-4 + c.spread ** 2) ** -1.5
               for c in others]
    return math.hypot(*(sum(w * (c.centre[k] - body[k]) for w, c in zip(weights, others))
                        for k in (0, 1)))


def tree_walk() -> Drawing:
    d = Drawing(620, "Bodies sorted along Hilbert's curve; the cells and leaves that act on a "
                     "group of neighbours")
    everyone = bodies()
    side = 410
    d.heading(34, "Bodies along Hilbert's curve")
    d.heading(34, f"Sources for a group of {GROUP}", 490)
    cells = sorted(
        ((x, y) for x in range(1 << LEVELS) for y in range(1 << LEVELS)), key=lambda c: hilbert(*c)
    )
    step = side / (1 << LEVELS)
    left, right, top = 40, 490, 54

    def at(x0: float, body: Body) -> tuple[float, float]:
        return x0 + body[0] * side, top + (1 - body[1]) * side

    d.rect(left, top, side, side)
    d.path(
        [(left + (x + 0.5) * step, top + side - (y + 0.5) * step) for x, y in cells],
        light(BLUE, 0.5),
        2,
    )
    first = 24
    group = everyone[first:first + GROUP]
    for body in everyone:
        d.circle(*at(left, body), 4.5, VERMILION if body in group else INK)

    box = box_around(group)
    d.rect(right, top, side, side)
    accepted = leaves = 0
    for cell in Cell(0, 0, 1, everyone).walk(lambda cell: looks_small(cell, box)):
        x, y = at(right, (cell.x, cell.y + cell.side))
        whole = looks_small(cell, box)
        accepted, leaves = accepted + whole, leaves + (not whole)
        d.rect(
            x,
            y,
            cell.side * side,
            cell.side * side,
            light(GREEN if whole else ORANGE, 0.35),
            GREY,
            1,
        )
        if whole:
            d.circle(*at(right, cell.centre), 3 + len(cell.own) ** 0.5, GREEN)
        else:
            for body in cell.own:
                d.circle(*at(right, body), 4.5, VERMILION if body in group else INK)
    x, y = at(right, (box[0], box[3]))
    d.rect(x, y, (box[2] - box[0]) * side, (box[3] - box[1]) * side, "none", VERMILION, 3)
    y = top + side + 34
    d.notes(
        left,
        y,
        f"Red: {GROUP} neighbours along the curve.",
        "Cells are ranges of the sorted bodies.",
        step=28,
    )
    d.key(right, y, light(GREEN, 0.35), f"{accepted} cells act as one body each", GREY, 1)
    d.key(right, y + 30, light(ORANGE, 0.35), f"{leaves} leaves act body by body", GREY, 1)
    d.notes(left, y + 72, f"{BODIES} bodies in two dimensions, leaves of up to {LEAF}, theta "
                          f"{THETA}. The program has three dimensions,",
            "groups of 32, leaves of up to 16, and a quadrupole for each cell.")
    return d


def tree_openings() -> Drawing:
    d = Drawing(650, "Sources for the same group, selected by the angle and by the force")
    everyone = bodies()
    group = everyone[24:24 + GROUP]
    box = box_around(group)
    bound = TOLERANCE * min(pull(body, everyone) for body in group)
    side, top = 410, 54
    for left, title, accepts in (
            (40, f"By the angle: r / R < {THETA}", lambda cell: looks_small(cell, box)),
            (490, "By the force: m/R² (r/R)³ < α |a|",
             lambda cell: neglects_little(cell, box, bound))):
        d.heading(34, title, left)
        d.rect(left, top, side, side)
        accepted = leaves = 0

        def at(body: Body) -> tuple[float, float]:
            return left + body[0] * side, top + (1 - body[1]) * side

        for cell in Cell(0, 0, 1, everyone).walk(accepts):
            whole = accepts(cell)
            accepted, leaves = accepted + whole, leaves + (not whole)
            d.rect(*at((cell.x, cell.y + cell.side)), cell.side * side, cell.side * side,
                   light(GREEN if whole else ORANGE, 0.35), GREY, 1)
            if whole:
                d.circle(*at(cell.centre), 3 + len(cell.own) ** 0.5, GREEN)
            for body in () if whole else cell.own:
                d.circle(*at(body), 4.5, VERMILION if body in group else INK)
        d.rect(*at((box[0], box[3])), (box[2] - box[0]) * side, (box[3] - box[1]) * side, "none",
               VERMILION, 3)
        y = top + side + 34
        d.key(left, y, light(GREEN, 0.35), f"{accepted} cells act as one body each", GREY, 1)
        d.key(left, y + 30, light(ORANGE, 0.35), f"{leaves} leaves act body by body", GREY, 1)
    d.notes(40, top + side + 106,
            f"The tree and the group (red) of step 15's picture; α = {TOLERANCE}.",
            "The same number of cells act, but not the same cells: the far cluster",
            "acts as one cell, and a heavy cell near the group as four.")
    return d


def soft_clouds() -> Drawing:
    d = Drawing(650, "Bodies along Hilbert's curve, divided into runs; each run except the "
                     "body's own pulls a body as one soft cloud")
    everyone = bodies()
    clouds = [Cloud(everyone[k:k + CLOUD]) for k in range(0, BODIES, CLOUD)]
    colours = [light(colour, 0.5) for colour in (BLUE, ORANGE, GREEN)]
    side, top, left, right = 410, 54, 40, 490
    d.heading(34, f"{len(clouds)} runs of neighbours", left)
    d.heading(34, "The other runs pull one body", right)

    def at(x0: float, body: Body) -> tuple[float, float]:
        return x0 + body[0] * side, top + (1 - body[1]) * side

    for x0 in (left, right):
        d.rect(x0, top, side, side)
    for k, cloud in enumerate(clouds):
        d.path([at(left, body) for body in cloud.own], colours[k % 3], 5)
    for body in everyone:
        d.circle(*at(left, body), 4.5, INK)

    body = everyone[PULLED]
    for cloud in clouds:
        if body not in cloud.own:
            d.circle(*at(right, cloud.centre), cloud.spread * side, light(GREEN, 0.35))
    for cloud in clouds:
        for other in cloud.own if body in cloud.own else ():
            d.circle(*at(right, other), 4.5, GREY)
    for cloud in clouds:  # on top of the areas, so that each outline is complete
        if body not in cloud.own:
            d.circle(*at(right, cloud.centre), cloud.spread * side, "none", GREY)
    for cloud in clouds:
        if body not in cloud.own:
            d.line(*at(right, body), *at(right, cloud.centre), INK, 1.5, arrow=True)
    for x0 in (left, right):
        d.circle(*at(x0, body), 7, VERMILION)
    y = top + side + 34
    d.key(left, y, VERMILION, "the body whose |a| is estimated", VERMILION, 1)
    d.key(left, y + 30, GREY, "its own run, which is left out", GREY, 1)
    d.key(right, y, light(GREEN, 0.35), "a soft cloud, as wide as its", GREY, 1)
    d.text(right + 32, y + 28, "run's root mean square spread")
    shares = [estimated_pull(b, clouds) / pull(b, everyone) for b in everyone]
    typical = statistics.median(shares)
    d.notes(left, y + 76, f"A typical estimate is {typical:.2f} times |a|, so nodes are opened at "
                          f"{typical ** -0.2:.2f} times the distance.",
            "Bodies as in step 15's picture. The program has three dimensions and 64 runs,",
            "so the run that is left out is a smaller share of the mass.")
    return d
