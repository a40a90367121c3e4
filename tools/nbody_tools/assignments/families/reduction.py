"""Assignments on sums over the bodies of each system: one reduction per system, for a given layout
and with a given method."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Callable, Optional

import numpy as np

from nbody_tools.assignments import layouts
from nbody_tools.assignments.closeness import Numbers
from nbody_tools.assignments.family import Checked, Part, Problem
from nbody_tools.assignments.layouts import State
from nbody_tools.assignments.messages import shown
from nbody_tools.labs.lab import Limit

TITLE = "One result per system"
UNIT = "body"
INSPECTED = "2 systems of about 2000 bodies"  # the problem in which the tests count accesses
LARGEST = ("There are at most 60 million bodies in all, so an `int` can hold an index, but not the "
           "number of bytes.")
WARP = 32
TOLERANCE = 1e-5  # relative to the sum of absolute products; float32 sums have errors up to 4e-6
# Least number of bodies per block: the limits allow one atomic operation per result for this many
# bodies. 31 blocks of 64 threads for 1921 bodies have 61.97 bodies each.
BLOCK = 60
MOST_BODIES = 1024  # per block, so that several blocks work on a large system
MOST_OF_THREAD = 32  # the most bodies that one thread may read
ROUNDS_OF_WARP = 5


@dataclass(frozen=True)
class Quantity:
    words: str
    formulas: tuple[str, ...]  # of the results, as printed in the assignment
    terms: tuple[str, ...]  # contributions of one body, as C++ expressions
    fields: tuple[str, ...]
    numbers: Callable[[State], list[np.ndarray]]  # the terms in float64
    # Returns the sums of the absolute values of the products in each term, because the errors scale
    # with these sums. None if a term has no products that can cancel one another.
    sizes: Optional[Callable[[State], list[np.ndarray]]] = None
    is_sum: bool = True  # otherwise the first half of the terms are minima, the others maxima


QUANTITIES = {
    "moments": Quantity(
        "the mass and the first moments",
        ("sum of m", "sum of m x", "sum of m y", "sum of m z"),
        ("mass", "mass * x", "mass * y", "mass * z"), ("x", "y", "z", "mass"),
        lambda s: [s["mass"], *(s["mass"] * s[c] for c in "xyz")]),
    "momentum": Quantity(
        "the momentum and the kinetic energy",
        ("sum of m vx", "sum of m vy", "sum of m vz", "sum of m (vx² + vy² + vz²) / 2"),
        ("mass * vx", "mass * vy", "mass * vz",
         "0.5f * mass * (vx * vx + vy * vy + vz * vz)"), ("vx", "vy", "vz", "mass"),
        lambda s: [*(s["mass"] * s[f"v{c}"] for c in "xyz"),
                   0.5 * s["mass"] * sum(s[f"v{c}"] ** 2 for c in "xyz")]),
    "angular": Quantity(
        "the angular momentum",
        ("sum of m (y vz - z vy)", "sum of m (z vx - x vz)", "sum of m (x vy - y vx)"),
        ("mass * (y * vz - z * vy)", "mass * (z * vx - x * vz)", "mass * (x * vy - y * vx)"),
        layouts.FIELDS,
        lambda s: [s["mass"] * (s["y"] * s["vz"] - s["z"] * s["vy"]),
                   s["mass"] * (s["z"] * s["vx"] - s["x"] * s["vz"]),
                   s["mass"] * (s["x"] * s["vy"] - s["y"] * s["vx"])],
        lambda s: [s["mass"] * (abs(s[a] * s[f"v{b}"]) + abs(s[b] * s[f"v{a}"]))
                   for a, b in ("yz", "zx", "xy")]),
    "virial": Quantity(
        "twice the kinetic energy, and the virial of the velocities",
        ("sum of m (vx² + vy² + vz²)", "sum of m (x vx + y vy + z vz)"),
        ("mass * (vx * vx + vy * vy + vz * vz)", "mass * (x * vx + y * vy + z * vz)"),
        layouts.FIELDS,
        lambda s: [s["mass"] * sum(s[f"v{c}"] ** 2 for c in "xyz"),
                   s["mass"] * sum(s[c] * s[f"v{c}"] for c in "xyz")],
        lambda s: [s["mass"] * sum(s[f"v{c}"] ** 2 for c in "xyz"),
                   s["mass"] * sum(abs(s[c] * s[f"v{c}"]) for c in "xyz")]),
    "inertia": Quantity(
        "the second moments",
        ("sum of m x²", "sum of m y²", "sum of m z²", "sum of m x y", "sum of m y z",
         "sum of m z x"),
        ("mass * x * x", "mass * y * y", "mass * z * z", "mass * x * y", "mass * y * z",
         "mass * z * x"), ("x", "y", "z", "mass"),
        lambda s: [s["mass"] * s[a] * s[b] for a, b in ("xx", "yy", "zz", "xy", "yz", "zx")]),
    "extent": Quantity(
        "the smallest box around all bodies",
        ("least x", "least y", "least z", "greatest x", "greatest y", "greatest z"),
        ("x", "y", "z", "x", "y", "z"), ("x", "y", "z"),
        lambda s: [s[c] for c in "xyzxyz"], is_sum=False),
}

AXES = {"quantity": tuple(QUANTITIES), "layout": layouts.LAYOUTS, "method": ("tree", "shuffle"),
        "finish": ("kernel", "atomic")}

METHODS = {
    "tree": "The threads of a block add up their values in **shared memory**, in a tree: each "
            "round uses half as many threads. There is no shuffle or other exchange within a warp.",
    "shuffle": "The threads of a warp add up their values with **shuffles** (`__shfl_down_sync`, "
               "`__shfl_xor_sync`, or those of cooperative groups). Only the sum of a whole warp "
               "goes through shared memory.",
}
FINISHES = {
    "kernel": "The blocks write their sums to memory that you allocate, and a **second kernel** "
              "combines them. There is no atomic operation, and the result has the same bits in "
              "every run.",
    "atomic": "Each block adds its sums to `result` with **`atomicAdd`**, once per sum. `result` "
              "does not contain zeros before the call.",
}


def is_variant(choice: dict[str, str]) -> bool:
    """Returns False for minima and maxima with atomic operations: CUDA has no atomic minimum of
    floats."""
    return QUANTITIES[choice["quantity"]].is_sum or choice["finish"] == "kernel"


def same_bits(choice: dict[str, str]) -> bool:
    return choice["finish"] == "kernel"


def signature(_: dict[str, str]) -> str:
    return "void solve(const Bodies& bodies, float* result)"


def loads_per_body(choice: dict[str, str]) -> int:
    """Returns the number of loads from global memory that each body needs."""
    fields = QUANTITIES[choice["quantity"]].fields
    if choice["layout"] == "packed":
        return len({field.startswith("v") for field in fields})
    return len(layouts.FIELDS) if choice["layout"] == "records" else len(fields)


def parts(choice: dict[str, str]) -> tuple[Part, ...]:
    results = len(QUANTITIES[choice["quantity"]].terms)
    loads = loads_per_body(choice)
    least = min(loads, len(QUANTITIES[choice["quantity"]].fields))
    reading = (
        Limit("requests of global loads per body", at_least=0.5 * least / WARP,
              at_most=2 * (loads + results / 4) / WARP),
        Limit("global loads per body", at_most=1.07 * loads + results / 16),
        Limit("sectors per request of global loads",
              at_most=layouts.SECTORS[choice["layout"]] + 1),  # rows may start inside a sector
    )
    combining = [Limit("bodies per block", at_most=MOST_BODIES)]
    if choice["finish"] == "atomic":
        combining.append(Limit("global atomics per body", at_least=0.0001,
                               at_most=results / BLOCK))
    else:
        combining += [Limit("global atomics per body", at_most=0),
                      Limit("launches that load", at_least=2)]
    return (Part("reading", 15, reading), Part(choice["method"], 25, of_method(choice, results)),
            Part("combining", 15, tuple(combining)))


def of_method(choice: dict[str, str], results: int) -> tuple[Limit, ...]:
    """Returns the limits for the sum within a block. With both methods, few threads write to global
    memory, so the values of all other threads must have gone through the tree or shuffles."""
    is_staged = choice["layout"] == "records"
    few = results / 8
    of_warps = results / 16  # each warp may write its sums; 2 because half of its threads may idle
    loads = loads_per_body(choice) * (2 if is_staged else 1)  # from global, then from shared memory
    # Without this limit, atomic operations could add up the values of a block.
    made = [Limit("shared atomics per body", at_most=of_warps),
            Limit("words of global stores per thread", at_most=of_warps),
            Limit("global atomics per thread", at_most=of_warps),
            Limit("loads of one thread", at_most=MOST_OF_THREAD * loads + 22 * results)]
    if choice["method"] == "tree":
        made.append(Limit("shuffles per thread", at_most=0))
        if is_staged:
            made.append(Limit("shared loads per thread", at_least=0.2 * results))
        else:
            # If one thread adds all numbers, each load is a request. If one thread adds each
            # result, a request has as many lanes as there are results; a tree of one warp has six.
            made += [Limit("shared loads per thread", at_least=0.2 * results,
                           at_most=3.2 * results),
                     Limit("requests of shared loads per thread", at_most=0.5 * results),
                     Limit("lanes per request of shared loads", at_least=max(5.0, results + 0.1))]
    else:
        staged = 1.07 * len(layouts.FIELDS) if is_staged else 0  # 7 %: places past the last body
        of_warp = results * WARP / BLOCK  # each lane of a block's first warp may load each result
        made += [Limit("shuffles per thread", at_least=ROUNDS_OF_WARP),
                 Limit("shared loads per body", at_most=staged + of_warp + 0.05),
                 # a tree stores more, because it stores values in each round
                 Limit("shared stores per body", at_most=staged + few + 0.05)]
        if not is_staged:
            made.append(Limit("shared stores per thread", at_most=results / 4))
    if choice["method"] == "tree" or is_staged:
        made.append(Limit("wavefronts per needed wavefront of shared loads", at_most=1.1))
    return tuple(made)


def words(choice: dict[str, str]) -> dict[str, object]:
    quantity = QUANTITIES[choice["quantity"]]
    half = len(quantity.terms) // 2
    return {"what": quantity.words, "formulas": quantity.formulas, "terms": quantity.terms,
            "fields": quantity.fields, "is_sum": quantity.is_sum, "half": half,
            "layout_words": layouts.WORDS[choice["layout"]],
            "method_words": METHODS[choice["method"]] if quantity.is_sum else
            METHODS[choice["method"]].replace("add up their", "compare their").replace(
                "sum of a whole warp", "result of a whole warp"),
            "finish_words": FINISHES[choice["finish"]] if quantity.is_sum else
            FINISHES[choice["finish"]].replace("their sums", "their results")}


def header(choice: dict[str, str]) -> str:
    results = len(QUANTITIES[choice["quantity"]].terms)
    return ("// The grader uses its own copy of this file.\n#pragma once\n\n"
            "#include <cuda_runtime.h>\n\n"
            "// The bodies of several systems. All arrays are in device memory; body i of system s "
            "has the\n// index s * count + i.\n"
            f"{layouts.STRUCTS[choice['layout']]}\n"
            f"constexpr int kResults = {results};  // results per system\n\n"
            "// Writes result k of system s to result[s * kResults + k], in device memory.\n"
            f"{signature(choice)};\n")


def glue(choice: dict[str, str]) -> str:
    return (f"  solve(Bodies{{systems, count, {layouts.ARGUMENTS[choice['layout']]}}}, "
            "static_cast<float*>(result));\n")


@dataclass(frozen=True)
class Expected:
    values: np.ndarray  # (systems, results)
    errors: np.ndarray  # the largest allowed errors


def problem(choice: dict[str, str], systems: int, count: int, dice: random.Random) -> Problem:
    quantity = QUANTITIES[choice["quantity"]]
    state = layouts.random_state(systems, count, dice)
    terms = quantity.numbers(state)
    if quantity.is_sum:
        values = np.stack([term.sum(axis=1) for term in terms], axis=1)
        sizes = quantity.sizes(state) if quantity.sizes else [np.abs(term) for term in terms]
        errors = TOLERANCE * np.stack([size.sum(axis=1) for size in sizes], axis=1)
    else:
        half = len(terms) // 2
        values = np.stack([*(term.min(axis=1) for term in terms[:half]),
                           *(term.max(axis=1) for term in terms[half:])], axis=1)
        errors = np.zeros_like(values)
    return Problem(f"{systems} x {count} bodies", systems, count, state.blobs(choice["layout"]),
                   4 * values.size, Expected(values, errors), systems * count)


def timed(_: dict[str, str]) -> tuple[int, int, int]:
    """Returns a problem of 51 million bodies, whose arrays do not fit into any cache."""
    return 16, 50_000, 64


def check(choice: dict[str, str], asked: Problem, result: bytes) -> Checked:
    expected = asked.expected
    got = np.frombuffer(result, np.float32).astype(np.float64).reshape(expected.values.shape)
    with np.errstate(invalid="ignore"):
        right = np.abs(got - expected.values) <= expected.errors
    numbers = Numbers(got, expected.values, right)
    if right.all():
        return Checked(numbers)
    system, k = (int(i) for i in np.argwhere(~right)[0])
    formula = QUANTITIES[choice["quantity"]].formulas[k]
    return Checked(numbers, f"{asked.words}: result {k} ({formula}) of system {system} is "
                   f"{shown(got[system, k])}, not {shown(expected.values[system, k])}; "
                   f"{int((~right).sum())} of {right.size} numbers are wrong")
