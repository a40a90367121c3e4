"""Computes how near a program's wrong results are to the right ones, as a number from 0 to 1. One
slip can make every number wrong although most of the work was done. The nearness is the largest of

  the share of numbers that are right;
  the share of the expected numbers that occur anywhere in the results, which stays large if rows
  and columns were exchanged;
  the square of the correlation of the results with the right numbers, which stays large if, for
  example, one round of a sum is missing. The correlation is computed for each problem, because the
  scales of problems may differ, and the squares are averaged. If some problems have too few
  numbers, one correlation is computed for the numbers of all problems together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np

from nbody_tools.assignments.messages import UNWRITTEN

FEWEST = 16  # with fewer numbers, a correlation may be chance
ROWS = 8  # with at least this many rows, each column has its own mean
HUGE = 1e30  # no right number is as large; unwritten numbers may be


@dataclass(frozen=True)
class Numbers:
    """The results of one problem: rows of the same kind of numbers, such as one row per system."""
    got: np.ndarray
    expected: np.ndarray
    right: np.ndarray


def nearness(problems: Sequence[Numbers]) -> float:
    if not problems:
        return 0.0
    got, expected, right = (np.concatenate([getattr(one, name) for one in problems])
                            for name in ("got", "expected", "right"))
    counted = (expected != 0) | (got != 0)  # most cells of a map may be empty
    if not counted.any():
        return float(right.mean())
    got = np.where(is_written(got), got, np.nan)
    if not np.nan_to_num(got).any():
        return 0.0  # zeros may be within the allowed errors, but no program computed them
    return max(float(right[counted].mean()), at_any_place(got, expected),
               mean_of_problems(problems) if all(one.expected.size >= FEWEST for one in problems)
               else squared_correlation(got, expected))


def mean_of_problems(problems: Sequence[Numbers]) -> float:
    """Returns the mean of the squared correlations of all problems, weighted by problem size."""
    sizes = [one.expected.size for one in problems]
    own = [squared_correlation(np.where(is_written(one.got), one.got, np.nan), one.expected)
           for one in problems]
    return float(np.average(own, weights=sizes))


def is_written(got: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.isfinite(got) & (np.abs(got) < HUGE) & ~np.isin(got, UNWRITTEN)


def at_any_place(got: np.ndarray, expected: np.ndarray) -> float:
    """Returns the share of the expected numbers that occur anywhere in the results. Each result
    can match only one expected number."""
    wanted = np.sort(expected[expected != 0])
    found = np.sort(got[np.isfinite(got)])
    if not wanted.size or not found.size:
        return 0.0
    allowed = 1e-5 * np.abs(wanted)
    # k equal expected numbers, such as counts, need k matching results, so the i-th of the equal
    # numbers is paired with the i-th matching result.
    rank = np.arange(wanted.size) - np.searchsorted(wanted, wanted)
    first = np.searchsorted(found, wanted - allowed, "left")
    last = np.searchsorted(found, wanted + allowed, "right")
    return float((first + rank < last).mean())


def squared_correlation(got: np.ndarray, expected: np.ndarray) -> float:
    """Returns the squared correlation of the results with the expected numbers, or 0 if the
    correlation is negative. Missing results count as uncorrelated."""
    if expected.size < FEWEST:
        return 0.0
    axis = 0 if len(expected) >= ROWS else None
    there = np.isfinite(got)
    count = np.maximum(there.sum(axis=axis, keepdims=True), 1)
    kept = np.where(there, got, 0)
    of_got = np.where(there, kept - kept.sum(axis=axis, keepdims=True) / count, 0)
    of_expected = expected - expected.mean(axis=axis, keepdims=True)
    sizes = (of_got ** 2).sum() * (of_expected ** 2).sum()
    product = (of_got * of_expected).sum()
    return float(product ** 2 / sizes) if sizes > 0 and product > 0 else 0.0
