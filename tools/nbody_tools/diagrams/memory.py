"""Draws the memory that a warp's load fetches: addresses, sectors of 32 bytes, layouts."""

from __future__ import annotations

from typing import Callable

from nbody_tools.diagrams.drawing import WHITE, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, ORANGE, PURPLE

WORDS = 64  # number of 4-byte words shown
SECTOR = 8  # words per sector
BANKS = 32  # banks of shared memory, each of which delivers one word at a time


def sectors(stride: int) -> int:
    """Returns how many sectors 32 threads touch if their floats are `stride` bytes apart."""
    return len({thread * stride // 32 for thread in range(32)})


def threads_per_bank(stride: int) -> list[int]:
    """Counts a warp's threads in each bank if they write floats `stride` bytes apart."""
    banks = [thread * stride // 4 % BANKS for thread in range(32)]
    return [banks.count(bank) for bank in range(BANKS)]


def strip(d: Drawing, x: float, y: float, width: float,
          wanted: Callable[[int], bool], colour: str, height: float = 30) -> None:
    """Draws memory as 4-byte words, and highlights the sectors that contain a wanted word."""
    cell = width / WORDS
    for sector in range(WORDS // SECTOR):
        fetched = any(wanted(word) for word in range(sector * SECTOR, (sector + 1) * SECTOR))
        for word in range(sector * SECTOR, (sector + 1) * SECTOR):
            d.rect(
                x + word * cell,
                y,
                cell,
                height,
                colour if wanted(word) else light(ORANGE, 0.3) if fetched else "#FFFFFF",
                "#8C8C8C",
                1,
            )
        d.rect(x + sector * SECTOR * cell, y, SECTOR * cell, height, "none", thick=2.5)


def strides() -> Drawing:
    """Draws step 02: loads of floats that are 28, 16 and 4 bytes apart, and a broadcast."""
    d = Drawing(
        580,
        "Sectors that a warp touches when its threads read floats 28, 16 and 4 bytes apart, or the "
        "same float",
    )
    d.heading(34, "One load by a warp: which sectors of 32 bytes are fetched?")
    rows = ((28, "28 bytes apart: bodies[i].x of step 01", "one byte in seven is used"),
            (16, "16 bytes apart: positions[i].x of this step", "one byte in four is used"),
            (4, "4 bytes apart: coalesced (step 09)", "all bytes are used"),
            (0, "the same float for all threads: positions[j].x", "a broadcast"))
    for row, (stride, words, use) in enumerate(rows):
        y = 62 + row * 112
        d.text(40, y + 14, words)
        wanted = {thread * stride // 4 for thread in range(32)}
        strip(d, 40, y + 26, 840, lambda word: word in wanted, BLUE)
        count = sectors(stride) if stride else 1
        plural = "sectors" if count > 1 else "sector"
        d.text(880, y + 14, f"{count} {plural}: {use}", anchor="end", bold=True)
    y = 62 + 4 * 112
    for x, colour, words in (
        (40, BLUE, "wanted by a thread"),
        (300, light(ORANGE, 0.3), "fetched with it"),
        (530, "#FFFFFF", "not fetched"),
    ):
        d.key(x, y + 12, colour, words, "#8C8C8C", 1)
    d.note(
        y + 46,
        "Shown: the first 256 bytes, eight sectors. The warp's accesses continue to the right.",
        40,
    )
    return d


def layouts() -> Drawing:
    """Draws step 09: an array of structs and a struct of arrays, in global memory and in the banks
    of shared memory."""
    d = Drawing(570, "The x of 32 neighbouring bodies in an array of structs and in a struct of "
                     "arrays; the banks of shared memory to which a warp stores x in each layout")
    d.heading(34, "Array of structs: each load takes one float in four")
    names, colours = (
        ("x", "y", "z", "m"),
        (BLUE, light(GREEN, 0.5), light(ORANGE, 0.5), light(PURPLE, 0.5)),
    )
    for k in range(16):
        for c, name in enumerate(names):
            d.rect(40 + (4 * k + c) * 13.1, 50, 13.1, 30, colours[c], "#8C8C8C", 1)
    for sector in range(8):
        d.rect(40 + sector * 8 * 13.1, 50, 8 * 13.1, 30, "none", thick=2.5)
    d.note(108, f"x of 32 bodies: {sectors(16)} sectors (shown: 8). Each is fetched whole.", 40)
    for c, name in enumerate(names):
        d.rect(600 + c * 72, 92, 22, 22, colours[c], "#8C8C8C", 1)
        d.text(630 + c * 72, 110, name)

    d.heading(164, "Struct of arrays: each load takes whole sectors")
    for c, name in enumerate(names):
        x = 40 + c * 212
        for word in range(16):
            d.rect(x + word * 12.4, 180, 12.4, 30, colours[c], "#8C8C8C", 1)
        for sector in range(2):
            d.rect(x + sector * 99.2, 180, 99.2, 30, "none", thick=2.5)
        d.text(x + 99.2, 236, {"m": "mass"}.get(name, name), anchor="middle")
    d.note(264, f"x of 32 bodies: {sectors(4)} sectors (shown: 2), all of them used.", 40)

    d.heading(326, "A tile in shared memory: threads of a warp in each bank")
    for y, stride, words in ((342, 16, "x into structs"), (428, 4, "x into an array")):
        threads = threads_per_bank(stride)
        for bank, count in enumerate(threads):
            d.label(
                (40 + bank * 26.2, y, 26.2, 32),
                str(count or ""),
                light(BLUE) if count else WHITE,
                thick=1,
            )
        used, most = sum(count > 0 for count in threads), max(threads)
        wavefronts = "wavefront" if most == 1 else "wavefronts"
        d.note(y + 58, f"A store of {words}: {used} banks, {most} {wavefronts}.", 40)
    d.note(532, "Counted from the source. nvcc stores a struct with one 16-byte store, "
                "without a conflict.", 40)
    return d
