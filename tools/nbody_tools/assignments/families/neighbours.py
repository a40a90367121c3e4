"""Assignments in which a list of cells is used to find each body's neighbours within a cut-off. The
result is their number, the smallest distance, a density or a force."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Sequence

import numpy as np

from nbody_tools.assignments import layouts
from nbody_tools.assignments.closeness import Numbers
from nbody_tools.assignments.family import Checked, Part, Problem
from nbody_tools.assignments.layouts import State
from nbody_tools.assignments.messages import shown
from nbody_tools.assignments.nearby import Growth
from nbody_tools.labs.lab import Limit

TITLE = "Neighbours within a cut-off"
UNIT = "body"
INSPECTED = "a system of about 2000 bodies"  # the problem in which the tests count accesses
LARGEST = ("There are at most 60 million bodies in all, so an `int` can hold an index, but not the "
           "number of bytes.")
SIDES = {"plane": 16, "space": 8}  # cells per side of the box, which is 2 wide
NEAR = 1e-4  # least relative difference of a squared distance from the squared cut-off
TOLERANCE = 1e-5
LARGE, SINGLE = 2050, 500  # see shape()
ROWS = 256  # bodies whose pairs are computed at a time
# Limits on the loads and shuffles per body. The cells around a body contain 65 to 105 bodies. A
# warp per body or cell may load each border of a list in all its lanes, which takes 2000 to 4000.
LEAST_LOADS, MOST_LOADS = 40, 5000
MOST_OF_THREAD = 1500  # most loads of a thread; some have many neighbours
DENSE = 40  # bodies in one crowded cell of each system (random_box())
# In nearby(), equally many bodies, one of BODIES, fill each of some cells. First these are cells
# which have only empty cells around them, and then whole rows of cells along x with only empty
# cells around them. In the last problem, CROWD bodies fill CROWDED neighbouring cells, where a body
# looks at about 350 (plane) or 420 (space) others. BODIES must be small, because a program may have
# a fixed number of places per cell and search the other bodies one after another. A loop over all
# pairs loads one word for each body, or a quarter if a thread has four, and one that combines masks
# of 32 bodies 1/32 for each mask.
#
# Along each axis, the cells are at the places in ALONE. Those whose indices in ALONE have a sum
# divisible by 4, by 2 or by 1 are used, so the numbers of cells along each axis grow alike. In an
# open box, equal shares of them are at a border. So the cells of these problems have equally many
# neighbours on average, and a program that loads something for each neighbouring cell loads equally
# much. In a periodic box, the first and the last place are neighbours.
#
# The rows are at all places in ALONE or, along y, at the first half of them: up to 128 cells, which
# have more than 1024 bodies. A loop over all pairs may go through whole blocks of that many.
ALONE = {("plane", "open"): (0, 2, 4, 6, 9, 11, 13, 15), ("space", "open"): (0, 2, 5, 7),
         ("plane", "periodic"): (0, 2, 4, 6, 8, 10, 12, 14), ("space", "periodic"): (0, 2, 4, 6)}
CROWDED = {"plane": (4, 4), "space": (3, 3, 3)}
CELLS, BODIES, CROWD = (16, 32, 64), (13, 15), 896
GROWTH = Growth(CELLS, BODIES, most_far=12, most_far_in_search=3, most_in_rows=60,
                least_crowded=200)
# Least and largest numbers of systems and bodies in the test `right` (right_sizes()).
RIGHT = (((1, 1), (7700, 8900)), ((3, 3), (700, 1100)), ((17, 23), (67, 99)))
# If a cell has 16 bodies, as in the first of these problems in two dimensions, the nearest
# neighbour of six bodies in seven is in the body's own cell. In the last problem, most bodies have
# no neighbour or are in the crowded cell. So a search in the own cell alone seemed nearly right,
# and got more points than a right program without a list. With one or two bodies per cell, as
# here, the other cells have the nearest neighbour of nearly every second body.
RIGHT_NEAREST = (RIGHT[0], ((13, 17), (301, 499)), RIGHT[2])
MANY, ENOUGH = 5, 60  # least numbers of systems and bodies for a crowded cell

AXES = {"what": ("count", "nearest", "density", "force"), "border": ("open", "periodic"),
        "box": ("plane", "space"), "layout": ("packed", "arrays")}

WHAT = {
    "count": ("the number of its neighbours", "unsigned", 1),
    "nearest": ("the square of the distance to the nearest neighbour, or the square of the cut-off "
                "if the body has no neighbour", "float", 1),
    "density": ("the sum of m (1 - r²/h²)² over its neighbours, with their masses m and distances "
                "r, and the cut-off h", "float", 1),
    "force": ("the sum of m (1 - r²/h²) d over its neighbours, with their masses m and distances "
              "r, the vectors d from the body to them, and the cut-off h", "float", 3),
}
BORDERS = {
    "open": "There is nothing beyond the borders of the box.",
    "periodic": "The box is periodic: a body that leaves it on one side enters it on the other, so "
                "the vector from one body to another is the shortest of the vectors to the other "
                "body's images.",
}


def is_variant(_: dict[str, str]) -> bool:
    return True


def right_sizes(choice: dict[str, str]) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
    return RIGHT_NEAREST if choice["what"] == "nearest" else RIGHT


def same_bits(choice: dict[str, str]) -> bool:
    """Returns False for sums, because they depend on the order of the bodies in a cell, and this
    order varies between runs."""
    return choice["what"] in ("count", "nearest")


def signature(choice: dict[str, str]) -> str:
    return f"void solve(const Bodies& bodies, {WHAT[choice['what']][1]}* result)"


def coordinates_of(choice: dict[str, str]) -> str:
    return "xy" if choice["box"] == "plane" else "xyz"


def cut_off(choice: dict[str, str]) -> float:
    return 2 / SIDES[choice["box"]]


def parts(choice: dict[str, str]) -> tuple[Part, ...]:
    # Number of loads that read one position.
    position = 1 if choice["layout"] == "packed" else len(coordinates_of(choice))
    # A warp that searches for one body loads the borders and the bodies of each cell at once.
    cells = 3 ** len(coordinates_of(choice))
    requests = max(80, 30 + cells * (4 + position))
    return (Part("lists", 20, (
                Limit("launches that load", at_least=2),
                # A program that only copies the positions does not make lists.
                Limit("loads and atomics before the search per body", at_least=position + 0.9),
                Limit("global atomics per body", at_most=2.5),
                Limit("loads of one thread before the search", at_most=MOST_OF_THREAD))),
            Part("search", 35, (
                Limit("global loads per body", at_least=10),
                Limit("loads and shuffles per body", at_most=MOST_LOADS),
                Limit("loads and shuffles in the search per body", at_least=LEAST_LOADS),
                Limit("requests of global loads per body", at_most=requests),
                Limit("loads of one thread that searches", at_most=MOST_OF_THREAD)),
                 growth=GROWTH))


def words(choice: dict[str, str]) -> dict[str, object]:
    what, kind, parts = WHAT[choice["what"]]
    coordinates = coordinates_of(choice)
    needs_mass = choice["what"] in ("density", "force")
    return {"words": what, "kind": kind, "parts": parts, "coordinates": coordinates,
            "fields": (*coordinates, "mass") if needs_mass else tuple(coordinates),
            "needs_mass": needs_mass, "border_words": BORDERS[choice["border"]],
            "side": SIDES[choice["box"]], "layout_words": layouts.WORDS[choice["layout"]]}


def header(choice: dict[str, str]) -> str:
    parts = WHAT[choice["what"]][2]
    index = "index" if parts == 1 else f"index * {parts} + k"
    return ("// The grader uses its own copy of this file.\n#pragma once\n\n"
            "#include <cuda_runtime.h>\n\n"
            "// The bodies of several systems. All arrays are in device memory; body i of system s "
            "has the\n// index s * count + i.\n"
            f"{layouts.STRUCTS[choice['layout']]}\n"
            "// All coordinates are in the box from -1 to 1 (less than 1).\n"
            f"constexpr float kCutOff = {cut_off(choice)}f;\n\n"
            f"// Writes to result[{index}] for each body, in device memory.\n"
            f"{signature(choice)};\n")


def glue(choice: dict[str, str]) -> str:
    kind = WHAT[choice["what"]][1]
    return (f"  solve(Bodies{{systems, count, {layouts.ARGUMENTS[choice['layout']]}}}, "
            f"static_cast<{kind}*>(result));\n")


@dataclass(frozen=True)
class Expected:
    values: np.ndarray  # (systems, count, parts)
    errors: np.ndarray
    masses: np.ndarray  # (systems, count)


def vectors(choice: dict[str, str], state: State, system: int, rows: slice) -> list[np.ndarray]:
    """Returns the components of the vectors from the bodies in `rows` to all bodies."""
    made = []
    for c in coordinates_of(choice):
        own = state[c][system]
        difference = own[None, :] - own[rows, None]
        if choice["border"] == "periodic":
            difference -= 2 * np.rint(difference / 2)
        made.append(difference)
    return made


def random_box(choice: dict[str, str], systems: int, count: int, dice: random.Random) -> State:
    """Makes bodies all over the box. No two bodies have a distance close to the cut-off."""
    state = layouts.random_state(systems, count, dice)
    numbers = np.random.default_rng(dice.randrange(1 << 63))
    for c in "xyz":
        state.columns[c][:] = numbers.uniform(-1, 0.999, (systems, count))
        if systems >= MANY and count >= ENOUGH:
            cell = numbers.uniform(0.01, 0.99, (systems, DENSE)) * cut_off(choice)
            state.columns[c][:, :DENSE] = cell
    for system in range(systems):
        for begin in range(0, count, ROWS):
            for _ in range(30):
                rows = slice(begin, min(begin + ROWS, count))
                squares = sum(d * d for d in vectors(choice, state, system, rows))
                ratio = squares / cut_off(choice) ** 2
                near = np.abs(ratio - 1) < NEAR
                near[:, begin + ROWS:] = False  # a later round moves these bodies
                bad = np.flatnonzero(near.any(axis=1)) + begin
                if not bad.size:
                    break
                for c in "xyz":
                    state.columns[c][system, bad] = numbers.uniform(-1, 0.999, bad.size)
    return state


def shape(systems: int, count: int) -> tuple[int, int]:
    """Returns the numbers of systems and bodies of a problem. For a large problem, these numbers
    are smaller than requested, because the expected results are computed from all pairs."""
    if count > LARGE:
        return systems, count // 2
    return (1 if count > SINGLE else systems), count


def problem(choice: dict[str, str], systems: int, count: int, dice: random.Random) -> Problem:
    parts = WHAT[choice["what"]][2]
    systems, count = shape(systems, count)
    state = random_box(choice, systems, count, dice)
    values, errors = np.zeros((systems, count, parts)), np.zeros((systems, count, parts))
    for system in range(systems):
        for begin in range(0, count, ROWS):
            rows = slice(begin, min(begin + ROWS, count))
            numbers = sums(choice, state, system, rows)
            values[system, rows], errors[system, rows] = numbers
    return Problem(f"{systems} x {count} bodies", systems, count, state.blobs(choice["layout"]),
                   4 * values.size, Expected(values, errors, state["mass"]), systems * count)


def nearby(choice: dict[str, str], dice: random.Random) -> tuple[Problem, ...]:
    """Returns six problems of one system: few, some and many cells that stand alone, half and all
    of the rows that stand alone, and neighbouring cells with many bodies. Their results are not
    checked."""
    places = ALONE[choice["box"], choice["border"]]
    side, others = SIDES[choice["box"]], len(coordinates_of(choice)) - 2
    lattice = product(*[range(len(places))] * (2 + others))
    alone = [np.take(places, lattice[:, lattice.sum(axis=0) % (CELLS[-1] // cells) == 0])
             for cells in CELLS]
    rows = [product(range(side), own, *[places] * others)
            for own in (places[:len(places) // 2], places)]
    bodies = dice.randint(*BODIES)
    crowded = product(*map(range, CROWDED[choice["box"]]))
    return (*(filled(choice, cells, bodies * cells.shape[1], dice) for cells in (*alone, *rows)),
            filled(choice, crowded, CROWD, dice))


def product(*axes: Sequence[int]) -> np.ndarray:
    """Returns all combinations of the numbers of each axis, of shape (axes, combinations)."""
    return np.stack(np.meshgrid(*axes, indexing="ij")).reshape(len(axes), -1)


def filled(choice: dict[str, str], cells: np.ndarray, count: int, dice: random.Random) -> Problem:
    """Returns one system whose bodies are in the given cells (axes, cells), in random order."""
    state = layouts.random_state(1, count, dice)
    numbers = np.random.default_rng(dice.randrange(1 << 63))
    own = numbers.permutation(count) % cells.shape[1]
    for c, places in zip(coordinates_of(choice), cells):
        inside = numbers.uniform(0.01, 0.99, count)
        state.columns[c][0] = -1 + (places[own] + inside) * cut_off(choice)
    return Problem(f"1 x {count} bodies", 1, count, state.blobs(choice["layout"]),
                   4 * WHAT[choice["what"]][2] * count, None, count)


def sums(choice: dict[str, str], state: State, system: int, rows: slice
         ) -> tuple[np.ndarray, np.ndarray]:
    """Returns the expected results of the bodies in `rows`, and the allowed errors."""
    h2 = cut_off(choice) ** 2
    d = vectors(choice, state, system, rows)
    r2 = sum(one * one for one in d)
    r2[np.arange(r2.shape[0]), np.arange(rows.start, rows.stop)] = np.inf  # not its own neighbour
    is_near = r2 < h2
    if choice["what"] == "count":
        return is_near.sum(axis=1)[:, None], np.zeros((r2.shape[0], 1))
    if choice["what"] == "nearest":
        least = np.minimum(r2.min(axis=1), h2)[:, None]
        return least, 4e-6 * least + 1e-7 * np.sqrt(least)
    inside = np.where(is_near, 1 - np.where(is_near, r2, 0) / h2, 0) * state["mass"][system][None]
    if choice["what"] == "density":
        terms = [inside * np.where(is_near, 1 - np.where(is_near, r2, 0) / h2, 0)]
    else:
        terms = [inside * one for one in d] + [np.zeros_like(inside)] * (3 - len(d))
    size = np.where(is_near, state["mass"][system][None], 0).sum(axis=1)[:, None]
    scale = 1 if choice["what"] == "density" else cut_off(choice)
    values = np.stack([term.sum(axis=1) for term in terms], axis=1)
    return values, np.broadcast_to(TOLERANCE * scale * size, values.shape)


def timed(_: dict[str, str]) -> tuple[int, int, int]:
    """Returns a problem of 4 million bodies. It consists of copies of one small system, because the
    expected result is computed from all pairs of bodies in that system."""
    return 1, 2000, 2048


def check(choice: dict[str, str], asked: Problem, result: bytes) -> Checked:
    expected = asked.expected
    kind = np.uint32 if choice["what"] == "count" else np.float32
    got = np.frombuffer(result, kind).astype(np.float64).reshape(expected.values.shape)
    with np.errstate(invalid="ignore"):
        right = (np.abs(got - expected.values) <= expected.errors).all(axis=2)
    parts_of_body = expected.values.shape[2]
    numbers = Numbers(got.reshape(-1, parts_of_body), expected.values.reshape(-1, parts_of_body),
                      np.repeat(right.reshape(-1, 1), parts_of_body, axis=1))
    if right.all():
        return Checked(numbers)
    if choice["what"] == "density":
        own = expected.values + expected.masses[..., None]
        if (np.abs(got - own) <= expected.errors + TOLERANCE * expected.masses[..., None]).all():
            return Checked(numbers, f"{asked.words}: each body counts as its own neighbour", True)
    system, i = (int(k) for k in np.argwhere(~right)[0])
    hint = "" if got.any() else "; every number is 0" + (
        ": is a body its own neighbour?" if choice["what"] == "nearest" else "")
    return Checked(numbers, f"{asked.words}: body {i} of system {system} has "
                   f"{shown(got[system, i, 0])}, not {shown(expected.values[system, i, 0])}; "
                   f"{int((~right).sum())} of {right.size} bodies are wrong{hint}")
