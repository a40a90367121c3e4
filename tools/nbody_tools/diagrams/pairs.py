"""Draws how the N x N interactions are divided: into chunks (step 10), into pairs (step 12), and
over ranks (step 14)."""

from __future__ import annotations

import math

from nbody_tools.diagrams.drawing import INK, ON_COLOUR, WHITE, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY_BLUE, VERMILION

SEGMENTS = 32
RANK_COLOURS = (BLUE, ORANGE, GREEN, PURPLE)


def chunks() -> Drawing:
    """Draws step 10: the two-dimensional grid, and the partial sums as a matrix that is multiplied
    by a vector of ones."""
    d = Drawing(640, "A grid of bodies by chunks of sources; the partial sums are a matrix; "
                     "its product with a vector of ones gives the accelerations")
    d.heading(34, "The grid: blocks of bodies by chunks of sources")
    colours = (light(BLUE, 0.3), light(ORANGE, 0.3), light(GREEN, 0.3), light(PURPLE, 0.3))
    x, y, width, height = 150, 84, 130, 40
    for column in range(4):
        d.text(x + (column + 0.5) * width, y - 12, f"chunk {column}", anchor="middle")
        for row in range(5):
            d.rect(x + column * width, y + row * height, width, height, colours[column])
    for row in range(5):
        d.text(x - 12, y + row * height + 26, f"bodies {row}", anchor="end")
    d.rect(x + width, y + 2 * height, width, height, ORANGE, thick=3)
    d.text(x + 1.5 * width, y + 2 * height + 26, "a block", anchor="middle", colour=ON_COLOUR)
    d.lines(700, 160, "This block adds the", "forces of chunk 1 on", "the bodies of row 2.")

    d.heading(350, "The partial sums are a matrix")
    x, y, cell = 64, 380, 36
    for row in range(6):
        for column in range(4):
            d.rect(x + column * 64, y + row * cell, 64, cell, colours[column])
    d.lines(x - 10, y + 24, "x", "y", "z", "0", "x", step=cell, anchor="end")
    for column in range(4):
        d.line(
            x + column * 64 + 32, y + 8, x + column * 64 + 32, y + 6 * cell - 6, GREY, 2, arrow=True
        )
    d.text(340, y + 3 * cell + 6, "×", anchor="middle", size=22)
    for row in range(4):
        d.label((364, y + cell + row * cell, 44, cell), "1", light(GREY, 0.2))
    d.text(434, y + 3 * cell + 6, "=", anchor="middle", size=22)
    for row in range(6):
        d.rect(460, y + row * cell, 64, cell, light(SKY_BLUE, 0.5))
    d.text(540, y + 26, "a: one row per component of a body")
    d.lines(
        540, y + 72, "Arrows: order of the matrix in memory,", "column after column, one per chunk."
    )
    d.lines(
        540, y + 144, "cublasSgemv adds dt times the result", "to the velocities: that is the kick."
    )
    return d


def rotation() -> Drawing:
    """Draws step 12: the sums that rotate through a warp, and the ring of tiles."""
    d = Drawing(720, "In each step a lane pairs one source with its own bodies and passes the "
                     "source's sum to the previous lane; tiles form a ring, and each is paired "
                     "with all tiles up to half the ring ahead of it")
    d.heading(34, "A warp, drawn with 8 lanes for 32: sums rotate, bodies stay")
    lanes, width, x = 8, 92, 150
    for lane in range(lanes):
        d.label((x + lane * width, 52, width - 8, 36), f"lane {lane}", light(GREY, 0.2))
    d.text(40, 118, "keeps")
    for lane in range(lanes):
        d.label((x + lane * width, 96, width - 8, 34), "bodies", light(BLUE, 0.3), thick=1)
    for row, step in enumerate((0, 1, 2)):
        y = 150 + row * 78
        d.text(40, y + 24, f"s = {step}")
        for lane in range(lanes):
            source = (lane + step) % lanes
            d.label(
                (x + lane * width, y, width - 8, 34),
                f"sum {source}",
                VERMILION if source == 3 else light(ORANGE, 0.4),
                ON_COLOUR if source == 3 else INK,
                thick=1,
            )
            if row < 2 and lane > 0:
                d.line(
                    x + lane * width + 20,
                    y + 36,
                    x + (lane - 1) * width + 60,
                    y + 76,
                    GREY,
                    1.5,
                    arrow=True,
                )
    y = 150 + 3 * 78 + 14
    d.notes(40, y - 20, "In step s, lane l pairs source l + s with its K bodies. It adds the "
                        "reactions to the sum of that",
            "source and passes the sum on by a shuffle (lane 0 to the last). After 32 steps each "
            "sum is back.")

    d.heading(y + 62, "Tiles in a ring: each is paired with those up to half the ring ahead")
    cx, cy, radius, tiles = 190, y + 196, 92, 8
    place = [
        (
            cx + radius * math.sin(2 * math.pi * k / tiles),
            cy - radius * math.cos(2 * math.pi * k / tiles),
        )
        for k in range(tiles)
    ]
    for ahead in range(1, tiles // 2 + 1):
        d.line(*place[0], *place[ahead], VERMILION, 2, dashed=2 * ahead == tiles)
    for k, (px, py) in enumerate(place):
        d.circle(px, py, 20, light(SKY_BLUE, 0.6) if k else light(VERMILION, 0.5), INK)
        d.text(px, py + 7, str(k), anchor="middle")
    d.lines(340, cy - 50, "Tile 0 is paired with 1, 2, 3, and 4 (dashed), which is half the",
            "ring away: both tiles could compute that pair; only one does.")
    d.lines(340, cy + 18, "Each pair of tiles writes two sums, each to its own place:",
            "no atomic additions, and the same bits in every run.")
    return d


def meetings() -> list[tuple[int, int]]:
    """Returns the pairs of segments that plan.h forms: each segment with itself, and with the
    segments up to half the ring ahead. Two segments exactly half the ring apart form only one
    pair."""
    return [
        (row, (row + offset) % SEGMENTS)
        for row in range(SEGMENTS)
        for offset in range(SEGMENTS // 2 + 1)
        if not (2 * offset == SEGMENTS and (row + offset) % SEGMENTS < row)
    ]


def segments() -> Drawing:
    """Draws step 14: the pairs of 32 segments on four ranks, and the data that ranks exchange."""
    d = Drawing(620, "The 528 pairs of 32 segments in four equal parts, one per rank; in each time "
                     "step, sums are exchanged and positions are gathered")
    d.heading(34, "The 528 pairs of 32 segments, on 4 ranks")
    cell, x, y = 13, 84, 76
    all_meetings = meetings()
    work = [0.5 if row == column else 1.0 for row, column in all_meetings]
    total, before = sum(work), 0.0
    for row in range(SEGMENTS):
        for column in range(SEGMENTS):
            d.rect(x + column * cell, y + row * cell, cell, cell, "#FFFFFF", "#D9D9D9", 1)
    for (row, column), own in zip(all_meetings, work):
        rank = min(int((before + own / 2) / total * 4), 3)
        before += own
        d.rect(x + column * cell, y + row * cell, cell, cell, RANK_COLOURS[rank], WHITE, 1)
    d.text(x + 16 * cell, y - 12, "segments (columns) paired with others (rows)", anchor="middle")
    for rank in range(4):
        d.text(x - 10, y + 8 * rank * cell + 15, str(8 * rank), anchor="end")
    d.note(y + 32 * cell + 30, "White: computed as the mirrored pair.", x)

    left = 530
    d.heading(76, "Each rank keeps 8 segments", left)
    for rank, colour in enumerate(RANK_COLOURS):
        d.rect(left, 94 + rank * 34, 24, 24, colour)
        d.text(left + 36, 113 + rank * 34, f"rank {rank}: segments {8 * rank} to {8 * rank + 7}")
    d.heading(272, "A time step", left)
    for k, (words, colour) in enumerate((("forces of own pairs", light(BLUE)),
                                         ("send sums to their ranks", light(VERMILION, 0.5)),
                                         ("add 32 sums, kick, drift", light(GREEN)),
                                         ("gather all positions", light(VERMILION, 0.5)))):
        d.label((left, 292 + k * 54, 330, 40), words, colour)
        if k:
            d.line(left + 165, 278 + k * 54, left + 165, 292 + k * 54, thick=2, arrow=True)
    d.notes(
        left,
        536,
        "Orange: communication. The number of",
        "ranks never changes the order of",
        "the additions.",
    )
    return d
