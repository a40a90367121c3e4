"""Assignments in which a table is transposed. The input has one row per system, with all its
bodies; the result has one row per body index, with that body of every system."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from nbody_tools.assignments import tiles
from nbody_tools.assignments.closeness import Numbers
from nbody_tools.assignments.family import Checked, Part, Problem
from nbody_tools.assignments.messages import shown
from nbody_tools.labs import counts
from nbody_tools.labs.lab import Limit

TITLE = "Another order in memory"
UNIT = "element"
INSPECTED = "152 systems of about 220 bodies"  # the problem in which the tests count accesses
LARGEST = ("There are at most 70 million elements in all, so an `int` can hold an index, but not "
           "the number of bytes.")
WARP = 32
TOLERANCE = 1e-6  # more than the error of one float32 operation
LARGE = 1500  # bodies; see shape()
MOST_OF_THREAD = 256  # most loads of a thread: 32 elements, and numbers that scale or shift them
SQUARE = 4096  # number of systems in the table that is timed
FLAGS = tiles.UNROLLED
LEAST_OTHERS = 0.5  # least share of the loads from the tile that read what other lanes stored
# Least and largest numbers of systems and bodies in the test `right` (right_sizes()).
RIGHT = (((1, 1), (2100, 2900)), ((3, 3), (2900, 4900)), ((1700, 2300), (7, 29)))

AXES = {"element": ("float", "float2", "float4"), "change": ("copied", "scaled", "relative"),
        "order": ("forward", "backward"), "avoid": ("padding", "swizzle")}

COMPONENTS = {"float": ("",), "float2": (".x", ".y"), "float4": (".x", ".y", ".z", ".w")}
CHANGES = {
    "copied": "The elements are copied unchanged.",
    "scaled": "Each element of system s is multiplied by `factor[s]`.",
    "relative": "The first element of each system (that of body 0) is subtracted from all its "
                "elements.",
}
ORDERS = {
    "forward": ("body i is row i", "i"),
    "backward": ("the last body comes first: body i is row count - 1 - i", "count - 1 - i"),
}
AVOID = {
    "padding": "The rows of the tile in shared memory are **padded**, so that neither rows nor "
               "columns have bank conflicts.",
    "swizzle": "The tile in shared memory has **no padding**: its rows are as long as a warp. "
               "Exchange the columns of each row instead (for example, by the exclusive or of "
               "column and row), so that neither rows nor columns have bank conflicts.",
}


def is_variant(choice: dict[str, str]) -> bool:
    """Returns False for the task that memory/memory04_tile.cu solves, because the class has that
    program, and for the same task in backward order."""
    return (choice["element"], choice["change"], choice["avoid"]) != ("float", "copied", "padding")


def right_sizes(_: dict[str, str]) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
    return RIGHT


def same_bits(_: dict[str, str]) -> bool:
    return True


def signature(choice: dict[str, str]) -> str:
    return f"void solve(const Table& table, {choice['element']}* result)"


def width_of(choice: dict[str, str]) -> int:
    """Returns the number of floats in an element."""
    return len(COMPONENTS[choice["element"]])


def parts(choice: dict[str, str]) -> tuple[Part, ...]:
    width = width_of(choice)
    loads = 1 if choice["change"] == "copied" else 2
    sectors = 4 * width + 1.5
    per_element = 1.3 * sectors / WARP  # tiles may cross the edge
    of_factors = (loads - 1) * 5.5 / WARP
    alike = Limit(counts.PATTERNS, at_most=1) if choice["avoid"] == "padding" else \
        Limit(counts.PATTERNS, at_least=2)
    return (
        Part("reading", 15, (
            Limit("requests of global loads per element", at_least=0.5 / WARP,
                  at_most=2 * loads / WARP),
            Limit("sectors per request of global loads", at_most=sectors),
            Limit("global loads per element", at_most=1.2 * loads))),  # tiles may cross the edge
        Part("writing", 15, (
            Limit("requests of global stores per element", at_least=0.5 / WARP,
                  at_most=2 / WARP),
            Limit("global stores per element", at_most=1.1),  # no copies in between
            Limit("sectors per request of global stores", at_most=sectors))),
        Part(f"tile with {choice['avoid']}", 25, (
            Limit("wavefronts per request of shared loads", at_most=1.1 * width),
            Limit("wavefronts per request of shared stores", at_most=1.1 * width),
            # The tile, and nothing else. Tiles that cross the edge store up to 1.2 per element if
            # nothing keeps their threads from it.
            Limit("shared stores per element", at_most=1.22 * width),
            alike,
            # Without a tile, reads or writes are scattered. The requests of factors touch few
            # sectors, so they may hide this from the average per request.
            Limit("sectors of global loads per element", at_most=per_element + of_factors),
            Limit(tiles.OTHERS_WORDS, at_least=LEAST_OTHERS),
            Limit("global atomics per element", at_most=0),  # atomics could write without a tile
            Limit("loads of one thread", at_most=MOST_OF_THREAD))),
    )


def words(choice: dict[str, str]) -> dict[str, object]:
    row_words, row = ORDERS[choice["order"]]
    return {"components": COMPONENTS[choice["element"]], "row_words": row_words, "row": row,
            "change_words": CHANGES[choice["change"]], "avoid_words": AVOID[choice["avoid"]],
            "bytes": 4 * width_of(choice)}


def header(choice: dict[str, str]) -> str:
    factor = "  const float* factor;  // one per system\n" if choice["change"] == "scaled" else ""
    return ("// The grader uses its own copy of this file.\n#pragma once\n\n"
            "#include <cuda_runtime.h>\n\n"
            "// All arrays are in device memory. The element of body i of system s is\n"
            "// element[s * count + i].\n"
            "struct Table {\n  int systems;\n  int count;  // bodies per system\n"
            f"  const {choice['element']}* element;\n{factor}}};\n\n"
            "// Writes the element of row r and system s to result[r * systems + s].\n"
            f"{signature(choice)};\n")


def glue(choice: dict[str, str]) -> str:
    factor = ", static_cast<const float*>(a[1])" if choice["change"] == "scaled" else ""
    return (f"  solve(Table{{systems, count, static_cast<const {choice['element']}*>(a[0])"
            f"{factor}}}, static_cast<{choice['element']}*>(result));\n")


@dataclass(frozen=True)
class Expected:
    values: np.ndarray  # (count, systems, components)
    errors: np.ndarray


def shape(systems: int, count: int, dice: random.Random) -> tuple[int, int]:
    """Returns the numbers of systems and bodies of a table, given the numbers that a test requests.
    A request for many bodies in one or two systems becomes a table with more systems and fewer
    bodies. Another request for two systems becomes a random number of systems, so that the tests of
    sizes also vary this number."""
    if systems < 3 and count > LARGE:
        return 150 + systems, count // 9 | 1  # odd, so that wide loads never line up by chance
    return (dice.randrange(1, 70), count) if systems == 2 else (systems, count)


def problem(choice: dict[str, str], systems: int, count: int, dice: random.Random) -> Problem:
    systems, count = shape(systems, count, dice) if systems < SQUARE else (systems, count)
    numbers = np.random.default_rng(dice.randrange(1 << 63))
    table = numbers.uniform(-2, 2, (systems, count, width_of(choice))).astype(np.float32)
    factor = numbers.uniform(0.5, 3, systems).astype(np.float32)
    blobs = [table.tobytes()]
    values = table.astype(np.float64)
    errors = np.zeros_like(values)
    if choice["change"] == "scaled":
        blobs.append(factor.tobytes())
        values = values * factor.astype(np.float64)[:, None, None]
        errors = TOLERANCE * np.abs(values)
    if choice["change"] == "relative":
        first = values[:, :1]
        errors = TOLERANCE * (np.abs(values) + np.abs(first))
        values = values - first
    values, errors = (np.swapaxes(one, 0, 1) for one in (values, errors))
    if choice["order"] == "backward":
        values, errors = values[::-1], errors[::-1]
    return Problem(f"{systems} x {count} elements", systems, count, tuple(blobs), 4 * values.size,
                   Expected(values, errors), systems * count)


def timed(choice: dict[str, str]) -> tuple[int, int, int]:
    """Returns a problem with a table of 268 MB."""
    return SQUARE, 16384 // width_of(choice), 1


def check(_: dict[str, str], asked: Problem, result: bytes) -> Checked:
    expected = asked.expected
    got = np.frombuffer(result, np.float32).astype(np.float64).reshape(expected.values.shape)
    with np.errstate(invalid="ignore"):
        right = (np.abs(got - expected.values) <= expected.errors).all(axis=2)
        turned = (np.abs(got[::-1] - expected.values) <= expected.errors).all()
    parts_of_row = expected.values.shape[2]
    numbers = Numbers(got.reshape(-1, parts_of_row), expected.values.reshape(-1, parts_of_row),
                      np.repeat(right.reshape(-1, 1), parts_of_row, axis=1))
    if right.all():
        return Checked(numbers)
    if turned:
        return Checked(numbers, f"{asked.words}: the rows are right, but in the opposite order",
                       True)
    row, system = (int(i) for i in np.argwhere(~right)[0])
    return Checked(numbers, f"{asked.words}: row {row} of system {system} begins with "
                   f"{shown(got[row, system, 0])}, not "
                   f"{shown(expected.values[row, system, 0])}; "
                   f"{int((~right).sum())} of {right.size} elements are wrong")
