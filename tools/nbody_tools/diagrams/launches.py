"""Draws how work is distributed over the cores of a CPU, or over the blocks and threads of a
GPU."""

from __future__ import annotations

from typing import Callable

from nbody_tools.diagrams.drawing import RED_TEXT, SMALL, SOFT, WHITE, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY_BLUE, VERMILION
from nbody_tools.records import gpus

SMS = gpus.measured()["sms"]
SLOTS = 4  # an SM holds this many blocks of 512 threads


def interactions() -> Drawing:
    """Draws step 00: the table of interactions in four parts, and the four threads over time."""
    d = Drawing(
        460,
        "The N x N table of interactions, a range of rows per core; a kick, a barrier, a drift",
    )
    d.heading(36, "A time step has N x N interactions")
    colours = (light(BLUE), light(ORANGE), light(GREEN), light(PURPLE))
    x, y, cell, n = 108, 92, 18, 16
    d.text(x + cell * n / 2, y - 14, "sources j, which pull", anchor="middle")
    for row in range(n):
        for column in range(n):
            d.rect(x + column * cell, y + row * cell, cell, cell, colours[row * 4 // n], WHITE, 1)
    for core, colour in enumerate(colours):
        d.text(x - 12, y + (4 * core + 2) * cell + 6, f"core {core}", anchor="end")
    d.text(x + cell * n / 2, y + cell * n + 30, "rows: bodies i, which are pulled", anchor="middle")
    d.note(
        442,
        "One core sums each row. No core drifts before the last kick, because kicks read "
        "positions.",
        40,
    )

    left, right = 500, 880
    d.heading(36, "Each core over time", left)
    kick, drift = 200, 50
    for core, colour in enumerate(colours):
        top = y + core * 62
        d.label((left, top, kick, 42), f"kick, core {core}", colour)
        d.label((left + kick + 20, top, drift, 42), "drift", light(colours[core]))
        d.rect(left + kick + drift + 40, top, 70, 42, colour)
    for x, words in ((left + kick + 10, "barrier"), (left + kick + drift + 30, "")):
        d.line(x, y - 14, x, y + 4 * 62, VERMILION, 3)
        d.text(x, y - 22, words, SMALL, "middle", RED_TEXT)
    d.line(left, y + 268, right, y + 268, GREY, 2, arrow=True)
    d.text(right, y + 296, "time", anchor="end")
    return d


def launch() -> Drawing:
    """Draws step 01: grid, block, warp, thread."""
    d = Drawing(
        560,
        f"32 blocks on {SMS} SMs; a block has 32 warps, a warp has 32 threads, and a "
        "thread takes every 1024th body",
    )
    d.heading(34, f"The grid: 32 blocks, one per system, on {SMS} SMs")
    d.polygon([(42, 68), (58, 68), (878, 214), (42, 214)], light(BLUE, 0.12))
    for sm in range(SMS):
        x, y = 42 + sm % 44 * 19, 52 + sm // 44 * 21
        d.rect(x, y, 16, 16, BLUE if sm < 32 else light(GREY, 0.15), SOFT, 1)
    d.note(142, f"32 SMs have one block each; {SMS - 32} have none.", 480)
    rows = ((200, "A block: 1024 threads, which are 32 warps", ORANGE),
            (320, "A warp: 32 threads, one instruction for all of them", GREEN))
    for y, words, colour in rows:
        d.heading(y, words)
        for k in range(32):
            d.rect(42 + k * 26, y + 14, 26, 30, colour if k == 3 else light(colour, 0.3))
        if colour is ORANGE:
            d.polygon([(120, y + 44), (146, y + 44), (878, 334), (42, 334)], light(ORANGE, 0.15))
    d.polygon([(120, 364), (146, 364), (878, 452), (42, 452)], light(GREEN, 0.15))
    d.heading(440, "A thread: number 99 of its block, which takes every 1024th body")
    for k in range(8):
        d.label((42 + k * 104.5, 452, 104.5, 34), str(99 + 1024 * k), light(SKY_BLUE))
    d.notes(
        42,
        518,
        "i = threadIdx.x = 32 x 3 + 3 = 99; then i += 1024, while i < n (here 8192 bodies).",
        "All threads of a warp read the same source j at the same time.",
    )
    return d


def waves() -> Drawing:
    """Draws step 04b: the 512 blocks of 32 systems on the SMs, and how kernels end."""
    blocks = 32 * 16
    d = Drawing(600, f"{blocks} blocks on {SMS} SMs, then the same with {SMS * SLOTS + 1} blocks; "
                     "kernels over time")
    d.heading(
        34,
        f"512 blocks of 32 systems: {blocks % SMS} SMs hold four, {SMS - blocks % SMS} hold three",
    )
    colours = (BLUE, light(ORANGE, 0.8), GREEN, light(SKY_BLUE, 0.7))
    places(d, 52, blocks, lambda block: colours[block // 16 % 4])
    d.text(62, 178, f"{SMS} SMs, left to right; each colour is a system of 16 blocks")

    d.heading(232, f"{SMS * SLOTS + 1} blocks: the last one runs alone, in a second wave")
    places(d, 250, SMS * SLOTS, lambda block: light(GREY, 0.6))
    d.rect(62, 358, 6, 20, VERMILION, "", 0)
    d.text(84, 376, f"the {SMS * SLOTS + 1}th block: {SMS - 1} SMs are idle while it runs")

    d.heading(430, "A kernel boundary is a barrier for all SMs")
    x = 62
    for words, width, colour in (
        ("update_velocities", 250, light(BLUE)),
        ("drift", 70, light(ORANGE)),
        ("update_velocities", 250, light(BLUE)),
        ("drift", 70, light(ORANGE)),
    ):
        d.label((x, 450, width, 44), words, colour)
        d.line(x + width + 10, 440, x + width + 10, 504, VERMILION, 3)
        x += width + 20
    d.line(62, 522, 878, 522, GREY, 2, arrow=True)
    d.text(878, 550, "time", anchor="end")
    d.note(550, "Red: all threads have ended and all stores are visible.", 62)
    d.note(580, "drift: the kernel update_positions. Not to scale.", 62)
    return d


def places(d: Drawing, y: float, blocks: int, colour: Callable[[int], str]) -> None:
    """Draws each SM as a column of four places. The blocks fill the places row by row."""
    for sm in range(SMS):
        for slot in range(SLOTS):
            block = slot * SMS + sm
            there = block < blocks
            d.rect(62 + sm * 6.2, y + (SLOTS - 1 - slot) * 25, 5, 22,
                   colour(block) if there else WHITE, "" if there else GREY, 1)
