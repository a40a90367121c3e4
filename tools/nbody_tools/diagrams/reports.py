"""Redraws figures of the five documents in docs/reports/: tiles, grids and banks."""

from __future__ import annotations

from collections import Counter
from typing import Callable

from nbody_tools.diagrams.drawing import WHITE, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, VERMILION

BANKS, WARP, WORDS = 32, 32, 4  # a position is four words
LUF, ROWS_PER_BLOCK, LENGTH = 1024, 256, 4  # the project report's example


def grid(d: Drawing, x: float, y: float, cell: float, rows: int, columns: int,
         fill: Callable[[int, int], str]) -> None:
    for row in range(rows):
        for column in range(columns):
            d.rect(x + column * cell, y + row * cell, cell, cell, fill(row, column), "#8C8C8C", 1)


def everywhere(colour: str) -> Callable[[int, int], str]:
    return lambda row, column: colour


def tile() -> Drawing:
    """Draws figure 31-2 of GPU Gems 3: p rows of p interactions, their inputs and outputs."""
    d = Drawing(
        440,
        "A tile of p by p interactions: the rows are computed at the same time, the interactions "
        "of a row one after the other; inputs and outputs")
    p, cell, x, y = 6, 40, 150, 120
    d.heading(34, "A tile: p x p interactions")
    d.text(x + p * cell / 2, 80, "p sources, one after the other", anchor="middle")
    d.line(x, 98, x + p * cell, 98, BLUE, arrow=True)
    grid(d, x, y, cell, p, p, lambda row, column: light(BLUE, 0.25))
    for row in range(p):
        middle = y + (row + 0.5) * cell
        d.line(x + 8, middle, x + p * cell - 8, middle, BLUE, 2, arrow=True)
        d.circle(x - 22, middle, 10, light(GREEN))
    d.lines(20, y + p * cell / 2 - 10, "p bodies,", "p threads")
    d.label((620, 96, 260, 44), "p sources, shared", light(BLUE))
    d.label((480, 190, 260, 44), "p bodies, registers", light(GREEN))
    d.label((480, 250, 260, 44), "p accelerations", light(ORANGE))
    d.label((620, 340, 260, 44), "the same, updated", light(ORANGE))
    d.line(810, 140, 810, 335, GREY, arrow=True)
    d.line(680, 294, 680, 335, GREY, arrow=True)
    d.note(420, "2p bodies are read for p x p interactions; p of them stay for the next tile.")
    return d


def all_pairs() -> Drawing:
    """Draws blocks and tiles: figure 31-4 of GPU Gems 3, and figures 4 and 5 of the project
    report."""
    d = Drawing(
        560,
        "All N by N interactions: four blocks of four threads, each walking through four tiles"
    )
    n, p, cell, x, y = 16, 4, 24, 200, 96
    d.heading(34, "All pairs: N/p blocks of p threads, N/p tiles each")
    d.text(x + n * cell / 2, 76, "N sources, one after the other", anchor="middle")
    d.line(x, 86, x + n * cell, 86, BLUE, arrow=True)
    grid(
        d, x, y, cell, n, n, lambda row, column: light(BLUE, 0.5)
        if row // p == 1 and column // p == 2 else light(BLUE, 0.12) if row // p % 2 else WHITE)
    for block in range(n // p):
        d.text(x - 14, y + (block * p + p / 2) * cell + 6, f"block {block}", anchor="end")
        d.line(x - 8, y + block * p * cell, x + n * cell, y + block * p * cell, thick=2.5)
        d.line(x + block * p * cell, y, x + block * p * cell, y + n * cell, VERMILION, 2.5)
    d.lines(620, 140, "a row: one body,", "one thread")
    d.key(620, 220, light(BLUE, 0.5), "a tile of p x p")
    d.line(620, 262, 642, 262, VERMILION, 2.5)
    d.lines(652, 268, "load p sources,", "barrier")
    d.bracket(x + 2 * p * cell, y + n * cell + 6, p * cell, "p steps between loads")
    d.note(546, "Blocks run concurrently; the tiles of a block run one after the other.")
    return d


def blocks_2d() -> Drawing:
    """Draws two-dimensional blocks: figures 6 to 8 of the project report."""
    d = Drawing(
        600,
        "Two-dimensional blocks: shared memory, the shares of a sum, and the grid of blocks"
    )
    d.heading(34, "2D Tiling: two threads per body, each for luf sources")
    d.text(40, 76, "shared memory of a block: luf x blockDim.x positions")
    for column, colour in enumerate((light(BLUE), light(GREEN))):
        grid(d, 40 + column * 240, 90, 30, 1, 8, everywhere(colour))
        d.bracket(40 + column * 240, 124, 240, f"luf for threadIdx.x = {column}")
    d.text(40, 206, "a block: blockDim.y bodies, blockDim.x shares of each sum")
    for row in range(4):
        for column, colour in enumerate((light(BLUE), light(GREEN))):
            d.label((40 + column * 240, 220 + row * 36, 240, 32), f"body {row}, share {column}",
                    colour)
        d.line(526, 236 + row * 36, 566, 236 + row * 36, GREY, arrow=True)
        d.label((572, 220 + row * 36, 150, 32), "two partials", light(ORANGE))
    d.text(40, 404, "the grid: N bodies down, N / luf shares to the right")
    for row in range(3):
        for column in range(4):
            fill = light(BLUE, 0.2) if (row, column) != (1, 1) else light(BLUE, 0.55)
            d.label((40 + column * 124, 420 + row * 40, 120, 36), f"block {column},{row}", fill)
        d.line(544, 438 + row * 40, 584, 438 + row * 40, GREY, arrow=True)
    d.lines(600, 450, "N / luf partial sums", "of each body, added by", "another kernel")
    d.note(
        576,
        "Shared memory is filled once: tiles need no barrier, but the sums need another kernel.")
    return d


def threads_per_bank(position_of: Callable[[int], int]) -> list[int]:
    """Counts the distinct positions in each bank if each thread of a warp accesses one position."""
    positions = {position_of(thread) for thread in range(WARP)}
    counts = Counter(
        (WORDS * position + word) % BANKS for position in positions for word in range(WORDS))
    return [counts[bank] for bank in range(BANKS)]


# Figures of the project report. Each function returns the first position that a thread accesses.
BANK_CASES = (
    ("11", "writing, a run of 4 positions per thread", lambda thread: thread *
     (LUF // ROWS_PER_BLOCK)),
    ("12", "writing, one position after the other", lambda thread: thread),
    ("13", "reading, a run of positions per share", lambda thread: thread % LENGTH *
     (LUF // LENGTH)),
    ("14", "reading, shares side by side", lambda thread: thread % LENGTH),
)


def banks() -> Drawing:
    """Draws the banks that a warp accesses, before and after padding: figures 11 to 14 of the
    project report."""
    d = Drawing(
        580,
        "Accesses of a warp per bank of shared memory, writing and reading, before and after "
        "padding")
    d.heading(34, "Which of the 32 banks does a warp touch, and how often?")
    cell = 26
    for row, (figure, words, position_of) in enumerate(BANK_CASES):
        y, counts = 66 + row * 122, threads_per_bank(position_of)
        d.text(40, y + 14, f"Figure {figure}: {words}")
        worst = max(counts)
        d.text(872,
               y + 14,
               f"{worst - 1} conflicts" if worst > 1 else "none",
               anchor="end",
               bold=True)
        for bank, count in enumerate(counts):
            height = 4 * count
            d.rect(40 + bank * cell, y + 90 - height, cell, height or 1,
                   light(VERMILION if worst > 1 else GREEN, 0.6), "#8C8C8C", 1)
        d.line(40, y + 90, 40 + BANKS * cell, y + 90)
    d.note(
        572,
        "Counted in words of 4 bytes, luf 1024, 256 rows, as in the report; a GPU splits "
        "16-byte accesses."
    )
    return d
