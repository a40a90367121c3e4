"""Draws the inside of a block: tiles and barriers (step 03), bodies in registers (step 11)."""

from __future__ import annotations

from nbody_tools.diagrams.drawing import ON_COLOUR, RED_TEXT, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, SKY_BLUE, VERMILION


def tile() -> Drawing:
    """Draws step 03: a tile is copied to shared memory, and the warps wait at barriers."""
    d = Drawing(
        640,
        "Half of the threads load a tile of 512 bodies; between two barriers, all threads read it",
    )
    d.heading(34, "Global memory: the positions of a system, in tiles of 512")
    for k in range(16):
        d.rect(42 + k * 52, 50, 52, 34, VERMILION if k == 2 else light(GREY, 0.25))
    d.text(42 + 2.5 * 52, 73, "tile 2", anchor="middle", colour=ON_COLOUR)
    d.line(172, 84, 172, 128, VERMILION, 3, arrow=True)
    d.text(196, 114, "512 threads load one body each")
    d.label((42, 130, 260, 44), "shared memory: tile 2", light(VERMILION, 0.5))
    for k in range(5):
        d.line(302, 152, 420, 128 + k * 12, GREY, 2, arrow=True)
    d.lines(
        432,
        148,
        "each of 1024 threads reads the whole tile",
        "for its own body: 512 interactions",
    )

    d.heading(236, "Warps of the block over time")
    x, y, step = 150, 292, 44
    phases = ((70, "load", light(VERMILION, 0.5)), (200, "interact with tile 2", light(BLUE)),
              (70, "load", light(VERMILION, 0.5)), (200, "interact with tile 3", light(BLUE)))
    rows = ("warp 0", "warp 1", "...", "warp 15", "warp 16", "...", "warp 31")
    for row, name in enumerate(rows):
        d.text(x - 14, y + row * step + 24, name, anchor="end")
    at = x
    for index, (width, words, colour) in enumerate(phases):
        for row, name in enumerate(rows):
            loads = row < 4
            if name == "..." or (words == "load" and not loads):
                continue
            d.rect(at, y + row * step, width, 34, colour)
            if row in (0, 4):
                d.text(at + width / 2, y + row * step + 24, words, anchor="middle")
        at += width
        d.line(at + 8, y - 14, at + 8, y + len(rows) * step, VERMILION, 3)
        d.text(at + 8, y - 22, f"barrier {1 + index % 2}", anchor="middle", colour=RED_TEXT)
        at += 16
    d.note(
        y + len(rows) * step + 26,
        "Barrier 1: the whole tile is loaded. Barrier 2: all threads have read it.",
        42,
    )
    return d


def registers() -> Drawing:
    """Draws steps 10 and 11: a source that a thread loads from shared memory interacts with one
    body of the thread, or with four."""
    d = Drawing(
        640,
        "One load from shared memory serves one body of a thread, or four; registers decide how "
        "many threads fit on an SM",
    )
    d.heading(34, "Step 10: one body per thread")
    column(d, 40, 60, ("body",))
    d.text(40, 330, "one load, one interaction")

    d.heading(34, "Step 11: four bodies per thread", 480)
    column(d, 480, 60, ("body 0", "body 1", "body 2", "body 3"))
    d.text(480, 330, "one load, four independent interactions")

    d.heading(396, "An SM has 65,536 registers")
    for y, count, blocks, colour in ((414, 32, 8, SKY_BLUE), (484, 91, 2, ORANGE)):
        width = 560 / 8 if count == 32 else 560 * count * 256 / 65536
        for k in range(blocks):
            d.rect(40 + k * width, y, width, 40, light(colour))
            d.text(
                40 + (k + 0.5) * width,
                y + 27,
                "block" if count == 32 else "block of 256 threads",
                anchor="middle",
            )
        if count == 91:
            d.rect(40 + blocks * width, y, 560 - blocks * width, 40, "#FFFFFF", GREY, dashed=True)
            d.text(
                40 + blocks * width + (560 - blocks * width) / 2, y + 27, "free", anchor="middle"
            )
        d.lines(
            618,
            y + 18,
            f"{count} registers per thread:",
            f"{blocks} blocks, {8 * blocks} warps",
            step=24,
        )
    d.notes(40, 564, "Four bodies per thread: a quarter of step 10's warps, and still faster:",
            "the four interactions of a thread hide each other's latency.",
            "Registers as nvcc 13.0 counts them for sm_90.", step=28)
    return d


def column(d: Drawing, x: float, y: float, bodies: tuple[str, ...]) -> None:
    d.label((x, y, 120, 44), "source j", light(VERMILION, 0.5))
    d.lines(x, y + 70, "in shared", "memory", step=24)
    for k, name in enumerate(bodies):
        top = y + k * 52
        d.line(x + 120, y + 22, x + 206, top + 22, GREY, 2, arrow=True)
        d.label((x + 208, top, 92, 44), name, light(BLUE))
        d.label((x + 308, top, 72, 44), "sum", light(GREEN))
    d.text(x + 208, y + len(bodies) * 52 + 14, "in registers")
