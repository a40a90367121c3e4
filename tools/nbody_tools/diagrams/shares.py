"""Redraws figures of two documents in docs/reports/: where partial sums are stored, which pairs a
thread computes, and how many warps fit on an SM."""

from __future__ import annotations

from nbody_tools.diagrams.drawing import WHITE, Drawing, light
from nbody_tools.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY_BLUE, VERMILION

BODIES, THREADS = 8, 2
SHADES = (light(BLUE, 0.45), light(ORANGE, 0.45), light(GREEN, 0.45), light(PURPLE, 0.45))
# Limits of an SM for registers, warps and blocks. A GTX 1060 and an H200 have the same limits.
REGISTERS, PARTITIONS, WARP, REGISTER_UNIT = 65536, 4, 32, 256
MOST_WARPS = 64
MOST_BLOCKS = 32
BLOCK_SIZES = (32, 64, 128, 256, 512, 1024)


def partial_sums() -> Drawing:
    """Draws partial sums ordered by body or by chunk: figures 9 and 10 of the project report."""
    d = Drawing(430, "Partial sums in memory: body by body, as they are computed; and chunk by "
                     "chunk, as a matrix that cuBLAS takes")
    bodies, chunks, width = 3, 4, 68
    d.heading(34, "Figure 9: body by body")
    for body in range(bodies):
        for chunk in range(chunks):
            d.label((40 + (body * chunks + chunk) * width, 54, width, 40), f"{body},{chunk}",
                    SHADES[chunk])
        d.bracket(40 + body * chunks * width + 3, 100, chunks * width - 6,
                  f"partial sums of body {body}")
    d.notes(40, 166, "Each thread adds values that are adjacent in memory, so neighbouring threads "
                     "read", "places that are a whole row of partial sums apart.")
    d.heading(240, "Figure 10: chunk by chunk")
    for chunk in range(chunks):
        for body in range(bodies):
            d.label((40 + (chunk * bodies + body) * width, 260, width, 40), f"{body},{chunk}",
                    SHADES[chunk])
        d.bracket(40 + chunk * bodies * width + 3, 306, bodies * width - 6, f"chunk {chunk}")
    d.notes(40, 372, "A matrix with a row per body and a column per chunk: its product with "
                     "a vector of ones is the", "sum of all chunks, which cublasSgemv computes. "
                     "Labels: body, chunk.")
    return d


def pairs_of(sharing: str, bodies: int = BODIES, threads: int = THREADS) -> dict[tuple[int, int],
                                                                                 int]:
    """Maps each pair (i, j > i) to the thread that computes it in experiments/edge_sharing."""
    pairs = [(i, j) for i in range(bodies) for j in range(i + 1, bodies)]
    if sharing == "linear index":
        return {pair: k * threads // len(pairs) for k, pair in enumerate(pairs)}
    if sharing == "blocks":
        return {(i, j): i * threads // bodies for i, j in pairs}
    half = (bodies + 1) // 2
    return {(i, j): min(i, bodies - 1 - i) * threads // half for i, j in pairs}


def each_pair_once() -> Drawing:
    """Draws figure 15 of the project report: a pair is computed once, and its force acts on both
    bodies."""
    d = Drawing(470, "Left: every body with every other, N(N - 1) forces. Right: each pair once, "
                     "its force used for both bodies")
    cell, top = 40, 96
    for left, title, once in ((80, "Each pair twice", False), (520, "Each pair once", True)):
        d.heading(34, title, left - 40)
        for i in range(BODIES):
            for j in range(BODIES):
                own = i < j if once else i != j
                d.rect(left + j * cell, top + i * cell, cell, cell,
                       light(BLUE, 0.4) if own else WHITE, GREY, 1)
            d.text(left - 12, top + i * cell + 27, str(i), anchor="end")
            d.text(left + (i + 0.5) * cell, top - 12, str(i), anchor="middle")
    for i, j in pairs_of("linear index"):
        d.circle(520 + (i + 0.5) * cell, top + (j + 0.5) * cell, 5, VERMILION)
    d.text(80, 452, "56 forces for 8 bodies")
    d.key(480, 450, light(BLUE, 0.4), "28 forces")
    d.circle(630, 445, 5, VERMILION)
    d.text(644, 452, "the same, with opposite sign")
    return d


def shares_of_threads() -> Drawing:
    """Draws three ways to divide the triangle of pairs: figure 16 of the project report."""
    d = Drawing(470, "Three ways to divide the pairs of eight bodies between two threads, and the "
                     "number of pairs of each thread")
    cell, top = 30, 96
    for k, (sharing, words) in enumerate((("blocks", "Ranges of bodies"),
                                          ("lowest and highest", "Lowest and highest"),
                                          ("linear index", "Indices of pairs"))):
        left = 50 + k * 300
        d.heading(34, words, left - 20)
        threads = pairs_of(sharing)
        for i in range(BODIES):
            d.text(left - 8, top + i * cell + 22, str(i), anchor="end")
            for j in range(BODIES):
                fill = SHADES[threads[(i, j)]] if i < j else WHITE
                d.rect(left + j * cell, top + i * cell, cell, cell, fill, GREY, 1)
        for thread in range(THREADS):
            count = list(threads.values()).count(thread)
            d.key(left, top + BODIES * cell + 36 + 32 * thread, SHADES[thread],
                  f"thread {thread}: {count} pairs")
    d.notes(30, 440, "Row: the body whose pairs with later bodies are computed. A square root "
                     "gives a pair's row", "from its index.", step=22)
    return d


def resident_warps(block: int, registers: int) -> int:
    """Returns how many warps fit on an SM, limited by warps, blocks and registers. A partition
    allocates registers to a warp in multiples of REGISTER_UNIT."""
    warps = block // WARP
    of_a_warp = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
    by_registers = REGISTERS // PARTITIONS // of_a_warp * PARTITIONS
    return min(MOST_BLOCKS, MOST_WARPS // warps, by_registers // warps) * warps


def warps_over_blocks() -> Drawing:
    """Draws the number of resident warps against the block size: figure 4 of the activity map's
    report."""
    d = Drawing(480, "Resident warps of an SM against the size of a block, with 32 and with 40 "
                     "registers per thread")
    d.heading(34, "Warps on an SM, by the size of a block")
    left, base, per_warp, step = 110, 380, 4.6, 130
    for warps in (0, 16, 32, 48, 64):
        y = base - warps * per_warp
        d.line(left, y, left + len(BLOCK_SIZES) * step, y, "#D9D9D9", 1)
        d.text(left - 12, y + 6, str(warps), anchor="end")
    for k, block in enumerate(BLOCK_SIZES):
        x = left + k * step + 15
        for offset, registers, colour in ((0, 32, SKY_BLUE), (50, 40, ORANGE)):
            height = resident_warps(block, registers) * per_warp
            d.rect(x + offset, base - height, 46, height, light(colour, 0.6))
        d.text(x + 48, base + 26, str(block), anchor="middle")
    d.text(left + len(BLOCK_SIZES) * step / 2, base + 54, "threads per block", anchor="middle")
    d.key(left, 462, light(SKY_BLUE, 0.6), "32 registers per thread")
    d.key(left + 330, 462, light(ORANGE, 0.6), "40 registers per thread")
    d.text(left + 15, 64, "blocks of 32: 32 blocks fit, which use half of the warps")
    return d
