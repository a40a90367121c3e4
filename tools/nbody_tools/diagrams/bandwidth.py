"""Draws what limits the programs of memory/: sectors of a load, banks of a tile, rounds of a sum,
and the roofline of an H200."""

from __future__ import annotations

import csv
import math

from nbody_tools.arguments import ROOT
from nbody_tools.diagrams.drawing import SOFT, WHITE, Drawing, light
from nbody_tools.diagrams.memory import sectors, strip
from nbody_tools.figures.colours import BLUE, GREY, ORANGE

TIMES = ROOT / "docs" / "results" / "memory" / "2026-11-23_h200_times.csv"
PEAK = 66.9e3  # G operations per second of an H200, from its data sheet
# Operations per body and useful bytes per body; the transposes compute nothing.
WORK = {"memory00_runs": (6, 36), "memory01_neighbours": (6, 36), "memory02_arrays": (6, 36),
        "memory05_tree": (7, 16), "memory06_warps": (7, 16)}

SIDE = 8  # rows, columns and banks in the drawing of a tile; lanes in the drawing of a sum
RUN = 64 * 28  # bytes from a thread's body to the next thread's body in memory00_runs


def coalescing() -> Drawing:
    """Draws, for memory/README.md, the sectors of a load in memory00, memory01 and memory02."""
    d = Drawing(440, "Sectors that a warp fetches when its threads read x of bodies 64 places "
                     "apart, of neighbouring bodies, and from an array of x")
    d.heading(34, "A warp loads x: which sectors of 32 bytes are fetched?")
    rows = ((RUN, "memory00: threads are 64 bodies apart"),
            (28, "memory01: neighbouring bodies"), (4, "memory02: an array of x"))
    for row, (stride, words) in enumerate(rows):
        y = 62 + row * 106
        wanted = {thread * stride // 4 for thread in range(32)}
        d.text(40, y + 14, words)
        strip(d, 40, y + 26, 840, lambda word: word in wanted, BLUE)
        share = 128 / (32 * sectors(stride))
        d.text(880, y + 14, f"{sectors(stride)} sectors, {100 * share:.3g} % used", anchor="end",
               bold=True)
    y = 62 + 3 * 106
    for x, colour, words in ((40, BLUE, "x of a thread"), (280, light(ORANGE, 0.3), "fetched"),
                             (450, WHITE, "not fetched by this load")):
        d.key(x, y + 2, colour, words, "#8C8C8C", 1)
    d.note(y + 42, "Shown: the first eight sectors. In memory01, the next loads use the rest of "
                   "these sectors.", 40)
    return d


def banks_of_a_column(pitch: int) -> list[int]:
    """Returns the bank of each word of column 0, in a tile with rows of SIDE words."""
    return [row * pitch % SIDE for row in range(SIDE)]


def tile() -> Drawing:
    """Draws, for memory/tiles.md, the banks of a column in a tile without and with an unused word
    after each row."""
    d = Drawing(520, "Banks of a column of a tile: with rows of eight words, all words of a column "
                     "are in one bank; with rows of nine words, each is in a different bank")
    d.heading(34, "A warp reads a column of the tile: which banks answer?")
    for x, pitch in ((40, SIDE), (490, SIDE + 1)):
        cell = 42
        banks = banks_of_a_column(pitch)
        most = max(banks.count(bank) for bank in range(SIDE))
        d.text(x, 74, f"{pitch} words per row", bold=True)
        for row in range(SIDE):
            for column in range(pitch):
                bank = (row * pitch + column) % SIDE
                fill = light(BLUE, 0.6) if column == 0 else \
                    light(GREY, 0.4) if column >= SIDE else WHITE
                d.label((x + column * cell, 90 + row * cell, cell, cell), str(bank), fill, thick=1)
        wavefronts = "wavefront" if most == 1 else "wavefronts"
        d.text(x, 90 + SIDE * cell + 34, f"{len(set(banks))} of {SIDE} banks: {most} {wavefronts}")
    d.key(40, 494, light(BLUE, 0.6), "the column")
    d.key(220, 494, light(GREY, 0.4), "unused")
    d.note(496, f"Numbers are banks; drawn with {SIDE} of 32 banks.", 360)
    return d


def adders_of_tree(distance: int) -> set[int]:
    """Returns the threads that add in a round of memory05_tree."""
    return {thread for thread in range(SIDE) if thread % (2 * distance) == 0}


def sums() -> Drawing:
    """Draws, for memory/together.md, the rounds of a sum, in shared memory and by shuffles."""
    d = Drawing(520, "Eight sums become one: in shared memory, where a barrier precedes each round "
                     "and ever fewer threads add, and by shuffles between the registers of a warp")
    d.heading(34, "Eight sums become one")
    panels = ((40, "memory05: shared memory", (1, 2, 4)), (490, "memory06: shuffles", (4, 2, 1)))
    for x, words, distances in panels:
        is_tree = x == 40
        cell, step = 48, 104
        d.text(x, 74, words, bold=True)
        for row in range(4):
            y = 92 + row * step
            adders = set(range(SIDE)) if row == 0 else \
                adders_of_tree(distances[row - 1]) if is_tree else set(range(distances[row - 1]))
            for lane in range(SIDE):
                fill = light(BLUE, 0.6) if lane in adders else light(GREY, 0.4)
                d.label((x + lane * cell, y, cell, 34), str(lane), fill, thick=1)
            if row == 3:
                break
            distance = distances[row]
            targets = adders_of_tree(distance) if is_tree else set(range(distance))
            if is_tree:
                d.line(x - 14, y + 50, x + SIDE * cell + 14, y + 50, ORANGE, 3)
            for lane in sorted(targets):
                at = x + lane * cell + cell / 2
                d.line(at, y + 56 if is_tree else y + 36, at, y + step, thick=1.5, arrow=True)
                d.line(at + distance * cell, y + 56 if is_tree else y + 36, at + 6, y + step - 2,
                       thick=1.5)
    d.key(40, 494, light(BLUE, 0.6), "holds a sum that is still needed")
    d.line(352, 490, 392, 490, ORANGE, 3)
    d.text(404, 496, "barrier of the block")
    d.note(496, "Drawn with 8 lanes.", 650)
    return d


def measured() -> dict[str, tuple[float, float]]:
    """Returns, for each program, its GB/s and the GB/s of a copy, from run 1 on an H200."""
    with TIMES.open(encoding="utf-8", newline="") as file:
        return {row["program"]: (float(row["gb_per_s"]), float(row["copy_gb_per_s"]))
                for row in csv.DictReader(file) if row["run"] == "1"}


def roofline() -> Drawing:
    """Draws, for memory/README.md, the roofline of an H200 with the measured drifts and sums."""
    found = measured()
    copy = found["memory02_arrays"][1]
    d = Drawing(560, "Roofline of an H200: drifts and sums of memory/ are far to the left of the "
                     "ridge, and the best of them reach the bandwidth of a copy")
    d.heading(34, "Operations per second against operations per byte, one H200")
    left, right, top, bottom = 110, 880, 70, 470
    lows, highs = (-1.3, 1.9), (1.7, 5.3)  # powers of ten of both axes

    def at(intensity: float, rate: float) -> tuple[float, float]:
        return (left + (math.log10(intensity) - lows[0]) / (lows[1] - lows[0]) * (right - left),
                bottom - (math.log10(rate) - highs[0]) / (highs[1] - highs[0]) * (bottom - top))

    d.rect(left, top, right - left, bottom - top, WHITE, GREY)
    ridge = PEAK / copy
    d.path([at(10 ** lows[0], copy * 10 ** lows[0]), at(ridge, PEAK), at(10 ** lows[1], PEAK)],
           thick=3)
    for power in (-1, 0, 1):
        x, _ = at(10.0 ** power, 10 ** highs[0])
        d.text(x, bottom + 26, f"{10.0 ** power:g}", anchor="middle")
    for power, words in ((2, "100 G"), (3, "1 T"), (4, "10 T"), (5, "100 T")):
        _, y = at(1, 10.0 ** power)
        d.text(left - 10, y + 6, words, anchor="end")
    for program, (operations, size) in WORK.items():
        x, y = at(operations / size, found[program][0] * operations / size)
        d.circle(x, y, 7, BLUE if program[6:8] < "03" else ORANGE)
        side = -1 if program == "memory06_warps" else 1  # the next point is on its right
        d.text(x + 14 * side, y + 6, program[6:8], anchor="end" if side < 0 else "start")
    d.notes(at(1.1, 1)[0], at(1, 2300)[1], f"a copy: {copy / 1e3:.2f} TB/s", "on the left of the",
            f"ridge at {ridge:.0f}")
    d.text(right - 12, at(1, PEAK)[1] - 12, "peak: 66.9 TFLOP/s", anchor="end", colour=SOFT)
    d.text((left + right) / 2, bottom + 58, "operations per useful byte", anchor="middle")
    d.key(left, bottom + 58, BLUE, "drifts")
    d.key(right - 110, bottom + 58, ORANGE, "sums")
    return d
