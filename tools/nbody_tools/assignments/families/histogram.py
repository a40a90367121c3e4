"""Assignments in which a map of each system is computed: the number of bodies in each cell, their
mass, or their largest speed."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from nbody_tools.assignments import layouts
from nbody_tools.assignments.closeness import Numbers
from nbody_tools.assignments.family import Checked, Part, Problem
from nbody_tools.assignments.layouts import State
from nbody_tools.assignments.messages import shown
from nbody_tools.labs.lab import Limit

TITLE = "A map of the bodies"
UNIT = "body"
INSPECTED = "2 systems of about 2000 bodies"  # the problem in which the tests count accesses
LARGEST = ("There are at most 60 million bodies in all, so an `int` can hold an index, but not the "
           "number of bytes.")
WARP = 32
EXTENT = 1.25  # a square map reaches from -EXTENT to EXTENT, a map of rings to this radius
SIDE, RINGS = 16, 24  # cells per side; rings
NEAR = 1e-3  # no body is nearer to the edge of a cell than this, in units of cells
TOLERANCE = 1e-5
# Bodies per block: enough to justify the clearing and merging of the block's map, but so few that
# several blocks work on a large system. 8 blocks of 256 threads for 1921 bodies have 240 bodies
# each.
LEAST_BODIES, MOST_BODIES = 240, 1024
MOST_OF_THREAD = 32  # the most bodies that one thread may read
# Share of the result that may be left without half of the atomic operations. Half of a sum is left.
# Of the maximum in a cell, more is left: the largest value of the other half of its bodies.
MOST_LEFT = {"count": 0.9, "mass": 0.9, "fastest": 0.95}
SKEWED = 1.5  # factor on the limit of sectors per request if a program may skip bodies

AXES = {"what": ("count", "mass", "fastest"), "cells": ("plane", "rings"),
        "outside": ("dropped", "edge"), "finish": ("atomic", "kernel"),
        "layout": ("packed", "arrays")}

WHAT = {
    "count": ("the number of bodies in each cell", "unsigned", ()),
    "mass": ("the mass in each cell", "float", ("mass",)),
    "fastest": ("the largest vx² + vy² + vz² in each cell, 0 in empty cells", "float",
                ("vx", "vy", "vz")),
}
CELLS = {
    "plane": (f"The map is a square of {SIDE} x {SIDE} cells in the plane of x and y. It covers "
              f"-{EXTENT} ≤ x, y < {EXTENT}; the cell in row r and column c has the "
              f"index r * {SIDE} + c; x gives the column, y the row.", SIDE * SIDE, ("x", "y")),
    "rings": (f"The map has {RINGS} rings of the same width around the z axis. Ring k holds the "
              f"bodies whose distance from the axis, √(x² + y²), is from k to k + 1 widths; the "
              f"last ring ends at {EXTENT}.", RINGS, ("x", "y")),
}
OUTSIDE = {
    "dropped": {"plane": "A body outside the map does not count.",
                "rings": "A body beyond the last ring does not count."},
    "edge": {"plane": "A body outside the map counts in the nearest cell: clamp its row and its "
                      "column.",
             "rings": "A body beyond the last ring counts in the last ring."},
}
EXTENTS = {"plane": "the map reaches from -kExtent to kExtent in x and in y",
           "rings": "the radius at which the last ring ends"}
FINISHES = {
    "atomic": "Each block adds its map to the map of its system with atomic operations in global "
              "memory. `result` does not contain zeros before the call, so clear it.",
    "kernel": "Each block writes its map to memory that you allocate, and a second kernel combines "
              "the maps of a system. There is no atomic operation in global memory.",
}


def is_variant(_: dict[str, str]) -> bool:
    return True


def same_bits(choice: dict[str, str]) -> bool:
    """Returns False for masses, because sums of floats depend on the order. Counts and maxima do
    not."""
    return choice["what"] != "mass"


def signature(choice: dict[str, str]) -> str:
    return f"void solve(const Bodies& bodies, {WHAT[choice['what']][1]}* result)"


def cells_of(choice: dict[str, str]) -> int:
    return CELLS[choice["cells"]][1]


def fields_of(choice: dict[str, str]) -> tuple[str, ...]:
    return (*CELLS[choice["cells"]][2], *WHAT[choice["what"]][2])


def parts(choice: dict[str, str]) -> tuple[Part, ...]:
    loads = len(fields_of(choice))
    if choice["layout"] == "packed":
        loads = 2 if choice["what"] == "fastest" else 1
    cells = cells_of(choice)
    # Number of accesses per body for merging: a block accesses each cell of its map once.
    merged = cells / LEAST_BODIES
    other = 2 * merged if choice["finish"] == "kernel" else 0
    width = layouts.SECTORS[choice["layout"]]
    if choice["outside"] == "dropped" and WHAT[choice["what"]][2]:
        # A program, or its compiler, may load only the values of bodies inside the map. The tracer
        # counts the k-th loads of all lanes as one request, even if some lanes have skipped bodies.
        width *= SKEWED
    reading = (
        Limit("requests of global loads per body", at_least=0.5 * loads / WARP,
              at_most=2 * (loads + other) / WARP),
        Limit("global loads per body", at_most=loads + other + 0.05),
        Limit("sectors per request of global loads", at_most=width + 1.5),
    )
    # The numbers that a block adds to the system's map must come from the block's own map.
    maps = [Limit("shared atomics per body", at_least=0.3, at_most=1.05),
            # 2 for maps that have two cells in each word
            Limit("global atomics per shared load", at_most=2.1),
            # A map for each warp of 30 bodies. A block's list of cells is longer.
            Limit("words of shared loads per body", at_most=8.4 * merged),
            Limit("bodies per block with shared atomics", at_most=MOST_BODIES),
            Limit("loads of one thread", at_most=MOST_OF_THREAD * loads + 96)]
    combining = [Limit("bodies per block", at_least=LEAST_BODIES, at_most=MOST_BODIES)]
    if choice["finish"] == "atomic":
        combining.append(Limit("global atomics per body", at_least=0.0001, at_most=merged))
        # The threads of a warp add neighbouring cells, or every second cell of a map with two cells
        # in each word. If they add their bodies' cells, as without maps, they touch more sectors.
        maps.append(Limit("sectors per request of global atomics", at_most=9))
    else:
        combining += [Limit("global atomics per body", at_most=0),
                      Limit("launches that load", at_least=2)]
    return (Part("reading", 15, reading),
            Part("maps in shared memory", 25, tuple(maps), most_left=MOST_LEFT[choice["what"]]),
            Part("combining", 15, tuple(combining)))


def words(choice: dict[str, str]) -> dict[str, object]:
    what, kind, _ = WHAT[choice["what"]]
    return {"words": what, "kind": kind, "number": cells_of(choice), "fields": fields_of(choice),
            "cell_words": CELLS[choice["cells"]][0],
            "outside_words": OUTSIDE[choice["outside"]][choice["cells"]],
            "finish_words": FINISHES[choice["finish"]], "extent": EXTENT, "side": SIDE,
            "rings": RINGS, "layout_words": layouts.WORDS[choice["layout"]]}


def header(choice: dict[str, str]) -> str:
    side = f"constexpr int kSide = {SIDE};  // cells per row and per column\n" \
        if choice["cells"] == "plane" else ""
    return ("// The grader uses its own copy of this file.\n#pragma once\n\n"
            "#include <cuda_runtime.h>\n\n"
            "// The bodies of several systems. All arrays are in device memory; body i of system s "
            "has the\n// index s * count + i.\n"
            f"{layouts.STRUCTS[choice['layout']]}\n"
            f"constexpr float kExtent = {EXTENT}f;  // {EXTENTS[choice['cells']]}\n{side}"
            f"constexpr int kCells = {cells_of(choice)};  // cells of the map of one system\n\n"
            "// Writes cell k of system s to result[s * kCells + k], in device memory.\n"
            f"{signature(choice)};\n")


def glue(choice: dict[str, str]) -> str:
    kind = WHAT[choice["what"]][1]
    return (f"  solve(Bodies{{systems, count, {layouts.ARGUMENTS[choice['layout']]}}}, "
            f"static_cast<{kind}*>(result));\n")


@dataclass(frozen=True)
class Expected:
    values: np.ndarray  # (systems, cells)
    errors: np.ndarray


def coordinates(choice: dict[str, str], state: State) -> list[np.ndarray]:
    """Returns the coordinates in units of cells."""
    if choice["cells"] == "rings":
        return [np.hypot(state["x"], state["y"]) * (RINGS / EXTENT)]
    return [(state[c] + EXTENT) * (SIDE / (2 * EXTENT)) for c in "xy"]


def clear_of_edges(choice: dict[str, str], state: State) -> State:
    """Moves bodies that are so near an edge that float32 might put them into the next cell."""
    for _ in range(20):
        near = np.zeros(state.columns["x"].shape, bool)
        for coordinate in coordinates(choice, state):
            near |= np.abs(coordinate - np.rint(coordinate)) < NEAR
        if not near.any():
            break
        for c in "xy":
            state.columns[c][near] *= np.float32(0.985)
            state.columns[c][near] += np.float32(0.0071)
    return state


def cell_numbers(choice: dict[str, str], state: State) -> tuple[np.ndarray, np.ndarray]:
    """Returns the cell of each body, and whether the body is counted."""
    most = RINGS if choice["cells"] == "rings" else SIDE
    floors = [np.floor(one).astype(int) for one in coordinates(choice, state)]
    counts = np.ones(floors[0].shape, bool)
    if choice["outside"] == "dropped":
        for floor in floors:
            counts &= (floor >= 0) & (floor < most)
    floors = [floor.clip(0, most - 1) for floor in floors]
    return (floors[0] if len(floors) == 1 else floors[1] * SIDE + floors[0]), counts


def problem(choice: dict[str, str], systems: int, count: int, dice: random.Random) -> Problem:
    state = clear_of_edges(choice, layouts.random_state(systems, count, dice))
    cells, counted = cell_numbers(choice, state)
    values = np.zeros((systems, cells_of(choice)))
    index = (np.broadcast_to(np.arange(systems)[:, None], cells.shape)[counted], cells[counted])
    if choice["what"] == "fastest":
        speed_squared = state["vx"] ** 2 + state["vy"] ** 2 + state["vz"] ** 2
        np.maximum.at(values, index, speed_squared[counted])
    else:
        weights = state["mass"] if choice["what"] == "mass" else np.ones(cells.shape)
        np.add.at(values, index, weights[counted])
    errors = np.zeros_like(values) if choice["what"] == "count" else TOLERANCE * values
    return Problem(f"{systems} x {count} bodies", systems, count, state.blobs(choice["layout"]),
                   4 * values.size, Expected(values, errors), systems * count)


def timed(_: dict[str, str]) -> tuple[int, int, int]:
    """Returns a problem of 51 million bodies, whose arrays do not fit into any cache."""
    return 16, 50_000, 64


def check(choice: dict[str, str], asked: Problem, result: bytes) -> Checked:
    expected = asked.expected
    kind = np.uint32 if choice["what"] == "count" else np.float32
    got = np.frombuffer(result, kind).astype(np.float64).reshape(expected.values.shape)
    with np.errstate(invalid="ignore"):
        right = np.abs(got - expected.values) <= expected.errors
    numbers = Numbers(got, expected.values, right)
    if right.all():
        return Checked(numbers)
    system, cell = (int(i) for i in np.argwhere(~right)[0])
    return Checked(numbers, f"{asked.words}: cell {cell} of system {system} is "
                   f"{shown(got[system, cell])}, not {shown(expected.values[system, cell])}; "
                   f"{int((~right).sum())} of {right.size} cells are wrong")
