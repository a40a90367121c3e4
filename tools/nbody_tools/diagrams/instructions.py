"""Draws a thread's instructions: dependent and independent ones (step 04), and how many of each
kind an interaction has (step 06)."""

from __future__ import annotations

from nbody_tools.diagrams.drawing import Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY_BLUE, VERMILION

# The instructions of an interaction in groups: (name, count, colour).
BUDGET = (("subtract", 3, SKY_BLUE), ("distance²", 3, BLUE), ("rsqrt", 1, VERMILION),
          ("mass, cube", 3, ORANGE), ("sum", 3, GREEN))


def unrolled() -> Drawing:
    """Draws step 04: one warp computes its interactions one by one, or sixteen at the same time."""
    d = Drawing(710, "Time of one warp: in a rolled loop, every interaction waits for its own "
                     "root; in an unrolled loop, the waits overlap and the additions form a chain")
    d.heading(34, "Rolled: each interaction waits for its own root")
    at: float = 60
    for k in range(3):
        at = interaction(d, at, 54, wait=150) + 6
        d.rect(at, 54, 30, 34, light(GREY, 0.5))
        at += 36
    d.note(116, "grey: counter, address, comparison, branch", 60)

    d.heading(170, "Unrolled by sixteen: the waits overlap")
    for k in range(16):
        y, start = 190 + k * 26, 60 + k * 17
        d.rect(start, y, 17, 17, light(SKY_BLUE, 0.6))
        end = 60 + 16 * 17 + 74 + k * 22
        d.line(start + 17, y + 8.5, end, y + 8.5, GREY, 2, dashed=True)
        d.rect(end, y, 17, 17, light(GREEN, 0.6))
        if k:
            d.path([(end - 13, y - 9), (end + 5, y)], VERMILION, 2, arrow=True)
    d.lines(690, 250, "red: each addition", "needs the sum", "before it")
    y = 190 + 16 * 26 + 22
    d.key(60, y, light(SKY_BLUE, 0.6), "differences, root starts")
    d.key(390, y, light(GREEN, 0.6), "root is done: add to the sum")
    d.line(740, y - 5, 800, y - 5, GREY, 2, dashed=True)
    d.text(812, y + 2, "wait")
    d.line(60, y + 26, 880, y + 26, GREY, 2, arrow=True)
    d.text(880, y + 52, "time", anchor="end")
    d.note(y + 52, "A drawing, not a measurement. Other warps also fill the waits.", 60)
    return d


def interaction(d: Drawing, x: float, y: float, wait: float) -> float:
    """Draws an iteration of a rolled loop; returns the x coordinate of its end."""
    d.rect(x, y, 34, 34, light(SKY_BLUE, 0.6))
    d.line(x + 34, y + 17, x + 34 + wait, y + 17, GREY, 2, dashed=True)
    d.rect(x + 34 + wait, y, 34, 34, light(GREEN, 0.6))
    return x + 68 + wait


def budget() -> Drawing:
    """Draws step 06: the 13 instructions of an interaction and their dependencies."""
    d = Drawing(440, "The 13 instructions of an interaction by kind, and the instructions that a "
                     "correctly rounded square root and division add")
    d.heading(34, "An interaction: 13 instructions, and one load from the tile")
    x = 40
    for name, count, colour in (("load", 1, PURPLE), *BUDGET):
        for k in range(count):
            d.rect(x + k * 58, 58, 58, 56, light(colour, 0.55))
            d.text(
                x + k * 58 + 29,
                93,
                {
                    "load": "LDS",
                    "subtract": "SUB",
                    "distance²": "FMA",
                    "rsqrt": "RSQ",
                    "mass, cube": "MUL",
                    "sum": "FMA",
                }[name],
                anchor="middle",
            )
        d.bracket(x + 2, 120, count * 58 - 4, name if count > 1 else "")
        x += count * 58
    d.text(69, 150, "load", anchor="middle")
    d.text(475, 150, "root", anchor="middle")
    d.note(
        192, "RSQ goes to the XU pipe, which works at an eighth of the rate of the FMA pipe.", 40
    )

    d.heading(246, "With 1.0f / sqrtf(...), correctly rounded")
    x = 40
    for words, width, colour in (("approximate root", 180, VERMILION), ("refine", 90, ORANGE),
                                 ("special?", 100, GREY), ("approximate 1/r", 170, VERMILION),
                                 ("refine", 90, ORANGE), ("special?", 100, GREY)):
        d.label((x, 264, width, 50), words, light(colour, 0.45))
        x += width + 8
    d.note(346, "Each refinement and each test for zero, infinity or a denormal costs a "
                "few more instructions.", 40)
    d.note(374, "The float32 sum discards the digits that these instructions make exact.", 40)
    d.note(
        412,
        "SUB, MUL and FMA are one instruction each; an FMA multiplies and adds with one rounding.",
        40,
    )
    return d
