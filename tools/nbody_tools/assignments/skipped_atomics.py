"""Checks that the results come from atomic operations in shared memory. Their number does not show
it, because an operation may add zero. So the traced program runs once more with these operations
without effect: what they collect must then be missing from the results."""

from __future__ import annotations

import numpy as np

from nbody_tools.assignments.closeness import Numbers

ENVIRONMENT = "HOSTCUDA_TRACE_SKIP_SHARED_ATOMICS=1"
MOST_LEFT = 0.1  # share of the results that may be there without atomic operations


def share_left(numbers: Numbers) -> float:
    """Returns the share of the sum of all right numbers that the results contain. No number may be
    negative."""
    got = np.clip(np.nan_to_num(numbers.got), 0, numbers.expected)
    return float(got.sum() / numbers.expected.sum())


def broken(numbers: Numbers) -> str:
    """Returns a message on the results without atomic operations, or "" if they are as required."""
    left = share_left(numbers)
    if left <= MOST_LEFT:
        return ""
    return (f"if atomic operations in shared memory change nothing, at most {100 * MOST_LEFT:g} % "
            f"of the result may be left, because these operations collect it; {100 * left:.3g} % "
            "are left")
