"""Defines the part of ./nbody measure for the picture of two colliding galaxies
(docs/results/galaxies/). Uses only the standard library, because a machine with a GPU may lack
other packages."""

from __future__ import annotations

from array import array
from itertools import groupby
from pathlib import Path
from typing import Iterator, Sequence

from nbody_tools.files.library import VALUES, read_file
from nbody_tools.measure.bench import Bench
from nbody_tools.tree.measure import TREE, UNCHECKED, energies

# The diagnostics have only three rows, because the host computes the energy of each row from all
# pairs, which takes long.
BODIES, STEPS, ROWS = 1048576, 1200, 3
EVERY, STATES = 200, (600, 800, 1000, 1200)  # in time steps: before, during and after the passage
CELLS, HALF_WIDTH = 512, 14.0  # a map's cells per side, and half its width in scenario units
DISK = "disk"
MOST = 65535  # the largest value in a 16-bit grey map


def galaxies(bench: Bench) -> None:
    """step 15: a collision of two galaxies, a million bodies; maps of stars, energy change"""
    rows = bench.folder / "diagnostics.csv"
    for old in (rows, *bench.folder.glob("snapshot_*.bin")):
        old.unlink(missing_ok=True)
    record = bench.record(
        TREE,
        "--scenario",
        "collision",
        "--bodies",
        BODIES,
        "--steps",
        STEPS,
        "--integrator",
        "leapfrog",
        *UNCHECKED,
        "--snapshot-every",
        EVERY,
        "--snapshot-dir",
        bench.folder,
        "--diagnostics",
        rows,
        "--diagnostics-every",
        STEPS // ROWS,
        "--diagnostics-exact",
        more=lambda: {"energies": energies(rows)},
    )
    if record is None:
        return
    for step in STATES:
        state = bench.folder / f"snapshot_{step:08d}.bin"
        for number, counts in enumerate(maps_of(state), start=1):
            (bench.folder / f"galaxy{number}_{step:08d}.pgm").write_bytes(grey_map(counts))
    for large in bench.folder.glob("snapshot_*.bin"):
        large.unlink()


def maps_of(file: Path) -> Iterator[array]:
    """Yields, for each disk, a map of the number of stars per cell, seen along z, with the highest
    y first. A disk is a contiguous range of bodies of species DISK."""
    found = read_file(file)
    first = 0
    for kind, group in groupby(found.facts.species):
        last = first + len(list(group))
        if kind == DISK:
            yield map_of(found.values[VALUES * first : VALUES * last : VALUES],
                         found.values[VALUES * first + 1 : VALUES * last : VALUES])
        first = last


def map_of(x: Sequence[float], y: Sequence[float]) -> array:
    counts = array("H", bytes(2 * CELLS * CELLS))
    scale, middle = CELLS / (2 * HALF_WIDTH), CELLS // 2
    for right, up in zip(x, y):
        column, row = int(middle + scale * right), int(middle - scale * up)
        if 0 <= column < CELLS and 0 <= row < CELLS and counts[CELLS * row + column] < MOST:
            counts[CELLS * row + column] += 1
    return counts


def grey_map(counts: array) -> bytes:
    """Returns a map in Netpbm's format, with two bytes per cell, the high byte first."""
    swapped = array("H", counts)
    swapped.byteswap()
    return f"P5\n{CELLS} {CELLS}\n{MOST}\n".encode() + swapped.tobytes()


def read_grey_map(path: Path) -> array:
    counts = array("H")
    counts.frombytes(path.read_bytes()[-2 * CELLS * CELLS:])
    counts.byteswap()
    return counts
