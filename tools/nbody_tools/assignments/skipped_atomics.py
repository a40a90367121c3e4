"""Checks that the results come from atomic operations in shared memory. Their number does not show
it, because an operation may add zero. So the traced program runs once more, in which a random half
of these operations has no effect: what they collect must then be missing from the results."""

from __future__ import annotations

import numpy as np

from nbody_tools.assignments.closeness import Numbers

ENVIRONMENT = "HOSTCUDA_TRACE_SKIP_SHARED_ATOMICS=1"
LEAST_LEFT = 0.1  # share of the results; a program that notices the skipping may leave nothing


def share_left(numbers: Numbers) -> float:
    """Returns the share of the sum of all right numbers that the results contain. No number may be
    negative. The numbers are compared in the order of their size, because a program with a slip may
    write them at other places, for example rows and columns exchanged."""
    got = np.sort(np.nan_to_num(numbers.got), axis=None)
    expected = np.sort(numbers.expected, axis=None)
    return float(np.clip(got, 0, expected).sum() / expected.sum())


def broken(numbers: Numbers, most_left: float) -> str:
    """Returns a message on the results of the run, or "" if they are as required."""
    left = share_left(numbers)
    if LEAST_LEFT <= left <= most_left:
        return ""
    return ("if half of the atomic operations in shared memory change nothing, at least "
            f"{100 * LEAST_LEFT:g} % and at most {100 * most_left:g} % of the result must be left, "
            f"because these operations collect it; {100 * left:.3g} % are left")
