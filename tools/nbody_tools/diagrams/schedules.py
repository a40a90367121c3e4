"""Draws timelines of streams, copies, devices, kernels, barriers and a warp's loads. The drawn
times were not measured."""

from __future__ import annotations

from nbody_tools.diagrams.drawing import RED_TEXT, WHITE, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY_BLUE, VERMILION
from nbody_tools.records import gpus

UP, COMPUTE, DOWN = light(ORANGE, 0.7), light(BLUE, 0.45), light(GREEN, 0.6)


def bar(
    d: Drawing, x: float, y: float, width: float, colour: str, words: str = "", height: float = 28
) -> None:
    d.rect(x, y, width, height, colour, thick=1)
    if words:
        d.text(x + width / 2, y + height / 2 + 6.5, words, anchor="middle")


def legend(d: Drawing, y: float) -> None:
    for x, colour, words in (
        (40, UP, "upload"),
        (190, COMPUTE, "kernels"),
        (340, DOWN, "download"),
    ):
        d.key(x, y, colour, words, thick=1)


def pageable() -> Drawing:
    """Draws step 05: one grid, the overlap that streams were expected to give, and the order in
    which the streams actually work with pageable memory."""
    d = Drawing(660, "Timelines: one grid over all systems; streams that run one after the other "
                     "because downloads block the host; streams that overlap")
    d.heading(34, "Step 04b: one grid over all systems")
    bar(d, 40, 54, 50, UP, height=36)
    bar(d, 90, 54, 190, COMPUTE, "all SMs busy", 36)
    bar(d, 280, 54, 50, DOWN, height=36)
    d.heading(146, "Step 05, as hoped: copies during kernels, all systems at once")
    for k in range(4):
        y = 162 + k * 32
        x = 40 + k * 18
        bar(d, x, y, 18, UP)
        bar(d, x + 18, y, 190, COMPUTE)
        bar(d, x + 208, y, 18, DOWN)
        d.text(340, y + 20, f"stream {k}")
    d.heading(346, "Step 05, in fact: a download returns when its kernels are done")
    x = 40
    for k in range(4):
        y = 364 + k * 40
        bar(d, x, y, 18, UP)
        bar(d, x + 18, y, 150, COMPUTE, f"64 of {gpus.measured()['sms']} SMs")
        bar(d, x + 168, y, 18, DOWN)
        if k < 3:
            d.line(x + 186, y + 28, x + 186, y + 40, VERMILION, 3)
        x += 186
    d.lines(40, 478, "the host waits here, and", "only then enqueues the next", colour=RED_TEXT)
    d.line(250, 462, 374, 446, VERMILION, 2, arrow=True)
    d.line(40, 548, 880, 548, GREY, 2, arrow=True)
    d.text(880, 576, "time", anchor="end")
    legend(d, 580)
    d.notes(
        40,
        620,
        "The driver copies pageable memory through its own locked buffer, and the host",
        "takes part. A drawing, not to scale.",
    )
    return d


def pinned() -> Drawing:
    """Draws step 07: the two paths of a copy, and the two orders of a queue."""
    d = Drawing(
        760,
        "A copy from pageable memory goes through a staging buffer, but a copy from pinned memory "
        "does not; in one hardware queue, a download waits for its kernels, and all copies queued "
        "behind it wait too",
    )
    d.heading(34, "Pageable memory: two copies, and the host takes part")
    path = (
        ("your array", light(GREY, 0.25), 40, 180),
        ("staging buffer", light(ORANGE, 0.5), 370, 200),
        ("GPU memory", light(BLUE), 700, 180),
    )
    for words, colour, x, width in path:
        d.label((x, 52, width, 46), words, colour)
    d.line(220, 75, 368, 75, thick=3, arrow=True)
    d.text(294, 66, "CPU copies", anchor="middle")
    d.line(570, 75, 698, 75, thick=3, arrow=True)
    d.text(634, 66, "DMA", anchor="middle")
    d.heading(146, "Pinned memory: the copy engine reads it")
    d.label((40, 164, 240, 46), "your pinned array", light(ORANGE, 0.5))
    d.label((700, 164, 180, 46), "GPU memory", light(BLUE))
    d.line(280, 187, 698, 187, thick=3, arrow=True)
    d.text(490, 178, "DMA, while the host continues", anchor="middle")

    d.heading(262, "One copy queue, system by system: downloads hold up uploads")
    queue(d, 280, ("U0", "D0", "U1", "D1", "U2", "D2", "U3", "D3"))
    d.text(40, 350, "U1 is queued behind D0, and D0 waits for the kernels of system 0.")
    for k in range(4):
        bar(d, 40 + k * 200, 366, 20, UP)
        bar(d, 60 + k * 200, 366, 160, COMPUTE, f"system {k}")
        bar(d, 220 + k * 200, 366, 20, DOWN)

    d.heading(448, "In phases: all uploads, all kernels, all downloads")
    queue(d, 466, ("U0", "U1", "U2", "U3", "D0", "D1", "D2", "D3"))
    d.text(40, 536, "No copy blocks another copy that could run.")
    for k in range(4):
        y = 552 + k * 32
        bar(d, 40 + k * 20, y, 20, UP)
        bar(d, 60 + k * 20, y, 160, COMPUTE, f"system {k}")
        bar(d, 220 + k * 20, y, 20, DOWN)
    d.line(40, 696, 880, 696, GREY, 2, arrow=True)
    d.text(880, 724, "time", anchor="end")
    legend(d, 728)
    return d


def queue(d: Drawing, y: float, words: tuple[str, ...]) -> None:
    """Draws the entries of a queue; the leftmost runs first."""
    for k, name in enumerate(words):
        d.label((40 + k * 72, y, 72, 38), name, UP if name[0] == "U" else DOWN)
    d.text(40 + len(words) * 72 + 14, y + 26, "first in, first out")


def devices() -> Drawing:
    """Draws step 08: systems distributed over GPUs, with one host thread per GPU or one for all."""
    d = Drawing(720, "256 systems distributed over four GPUs with one host thread each, compared "
                     "with one thread that enqueues for all four in turn")
    d.heading(34, "256 systems over four GPUs, a contiguous range each")
    colours = (BLUE, ORANGE, GREEN, PURPLE)
    for k, colour in enumerate(colours):
        x = 40 + k * 212
        d.label((x, 52, 204, 40), f"{64 * k} to {64 * k + 63}", light(colour))
        d.line(x + 102, 92, x + 102, 124, thick=3, arrow=True)
        d.label((x + 22, 126, 160, 40), f"thread {k}", light(GREY, 0.2))
        d.line(x + 102, 166, x + 102, 198, thick=3, arrow=True)
        d.label((x + 22, 200, 160, 46), f"GPU {k}", light(colour, 0.6))
    d.heading(304, "One host thread per GPU: all start at once")
    for k, colour in enumerate(colours):
        y = 322 + k * 36
        d.text(40, y + 21, f"GPU {k}")
        bar(d, 120, y, 110, GREY, height=7)
        bar(d, 140, y + 7, 300, light(colour), "64 systems", 24)
    d.heading(510, "One host thread for all: the last GPU waits longest")
    for k, colour in enumerate(colours):
        y = 528 + k * 36
        d.text(40, y + 21, f"GPU {k}")
        bar(d, 120 + k * 110, y, 110, GREY, height=7)
        bar(d, 140 + k * 110, y + 7, 300, light(colour), "64 systems", 24)
    d.line(120, 684, 880, 684, GREY, 2, arrow=True)
    d.text(880, 710, "time", anchor="end")
    d.note(710, "Grey: the host enqueues. A drawing, not to scale.", 40)
    return d


def persistent() -> Drawing:
    """Draws step 13: two launches per time step, or one grid barrier; and the two halves of an
    array."""
    d = Drawing(620, "Time steps with two launches each, and with one grid barrier each; "
                     "positions are read from one half of the array and written to the other")
    d.heading(34, "Step 11: two kernels per time step")
    x = 40
    for k in range(3):
        for words, width, colour in (
            ("", 70, light(GREY, 0.35)),
            ("forces", 90, COMPUTE),
            ("", 70, light(GREY, 0.35)),
            ("", 34, DOWN),
        ):
            bar(d, x, 52, width, colour, words, 40)
            x += width
    d.key(40, 124, light(GREY, 0.35), "launch: schedule, load, begin, end", thick=1)
    d.key(460, 124, DOWN, "update_bodies", thick=1)

    d.heading(184, "Step 13: one kernel, one grid barrier per time step")
    for block in range(4):
        y = 204 + block * 40
        x = 40
        bar(d, x, y, 70, light(GREY, 0.35), "", 32)
        x += 70
        for k in range(5):
            width = 90 - (block * 7 + k * 11) % 24
            bar(d, x, y, width, COMPUTE, "forces" if k == 0 else "", 32)
            bar(d, x + width, y, 14, DOWN, "", 32)
            x += 128
        d.text(770, y + 22, "block " + ("0", "1", "2", "131")[block])
    for k in range(5):
        d.line(40 + 70 + 128 * k + 116, 194, 40 + 70 + 128 * k + 116, 364, VERMILION, 3)
    d.text(226, 390, "grid.sync()", anchor="middle", colour=RED_TEXT)
    d.line(330, 384, 720, 384, GREY, 2, arrow=True)
    d.text(740, 390, "time")

    d.heading(446, "Two halves of one array: read one, write the other")
    for k in range(3):
        x = 40 + k * 290
        d.text(x, 484, f"time step {k}")
        for half, name in enumerate(("half 0", "half 1")):
            reads = half == k % 2
            d.label((x, 498 + half * 46, 110, 40), name, light(SKY_BLUE, 0.5))
            if reads:
                d.line(x + 114, 518 + half * 46, x + 166, 518 + half * 46, thick=3, arrow=True)
            else:
                d.line(x + 166, 518 + half * 46, x + 114, 518 + half * 46, VERMILION, 3, arrow=True)
            d.text(x + 174, 524 + half * 46, "read" if reads else "written")
    d.note(610, "A drawing, not to scale.", 40)
    return d


WAIT = light(GREY, 0.3)
LEAVES = (10, 16, 7, 12)  # bodies of the leaves that a warp needs


def tile(d: Drawing, x: float, y: float, bodies: list[str]) -> None:
    """Draws a tile of 32 places, of which the first contain bodies of these colours."""
    for place in range(32):
        d.rect(x + place % 16 * 12, y + place // 16 * 18, 12, 18,
               bodies[place] if place < len(bodies) else WHITE, thick=1)


def waiting() -> Drawing:
    """Draws step 15e: loads during computations, and a queue that fills whole tiles."""
    d = Drawing(680, "Step 15d waits for loads in every round, and loads a tile per leaf; step 15e "
                     "loads the next round's nodes while it computes, and fills whole tiles")
    d.heading(34, "Step 15d: each round loads its nodes and waits")
    x = 40
    for k in range(3):
        bar(d, x, 52, 24, UP)
        bar(d, x + 24, 52, 76, WAIT, "wait")
        bar(d, x + 100, 52, 140, COMPUTE, f"round {k + 1}")
        x += 240
    d.heading(134, "Step 15e: the next round's nodes arrive during this round")
    bar(d, 40, 184, 24, UP)
    bar(d, 64, 184, 76, WAIT, "wait")
    x = 140
    for k in range(3):
        if k < 2:
            bar(d, x, 152, 24, UP)
            bar(d, x + 24, 152, 76, WAIT)
        bar(d, x, 184, 140, COMPUTE, f"round {k + 1}")
        x += 140
    d.line(40, 238, 880, 238, GREY, 2, arrow=True)
    d.text(880, 266, "time", anchor="end")
    for x, colour, words in ((40, UP, "load of nodes"), (300, WAIT, "until they arrive"),
                             (530, COMPUTE, "forces")):
        d.key(x, 270, colour, words, thick=1)

    colours = [light(colour, 0.6) for colour in (BLUE, ORANGE, GREEN, PURPLE)]
    d.heading(336, f"Step 15d: a tile per leaf, for leaves of {', '.join(map(str, LEAVES))} bodies")
    for k, (count, colour) in enumerate(zip(LEAVES, colours)):
        tile(d, 40 + k * 212, 354, [colour] * count)
    d.text(40, 420, f"{len(LEAVES)} loads and {len(LEAVES)} waits, for {sum(LEAVES)} bodies")
    d.heading(482, "Step 15e: leaves wait in a queue until a tile is full")
    queue_of = [colour for count, colour in zip(LEAVES, colours) for _ in range(count)]
    left = len(queue_of) - 32
    tile(d, 40, 500, queue_of[left:])
    for place, colour in enumerate(queue_of[:left]):
        d.rect(252 + place * 12, 509, 12, 18, colour, thick=1)
    d.text(40, 566, "one load of a full tile")
    d.text(276 + left * 12, 525, f"{left} bodies wait in the queue for the next leaves")
    d.notes(40, 620, "A warp takes the last 32 bodies of the queue. The walk ends with one tile",
            "that may not be full. A drawing, not to scale.")
    return d
