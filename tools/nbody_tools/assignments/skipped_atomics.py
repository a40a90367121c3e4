"""Checks that the results come from atomic operations in shared memory. Their number does not show
it, because an operation may add zero. So the traced program runs twice more. In the second run, a
random half of these operations has no effect: what they collect must then be missing."""

from __future__ import annotations

import numpy as np

from nbody_tools.assignments.closeness import is_written

ENVIRONMENT = "HOSTCUDA_TRACE_SKIP_SHARED_ATOMICS=1"
LEAST_LEFT = 0.1  # share of the results; a program that notices the skipping may leave nothing


def share_left(left: np.ndarray, whole: np.ndarray) -> float:
    """Returns the share of the sum of a program's results `whole` that is left. The results need
    not be right, because the program may have a slip, but right ones are never negative."""
    whole = np.where(is_written(whole), np.clip(whole, 0, None), 0)
    left = np.clip(np.nan_to_num(left), 0, whole)
    return float(left.sum()) / float(whole.sum()) if whole.any() else 0.0


def broken(left: np.ndarray, whole: np.ndarray, most_left: float) -> str:
    """Returns a message on the results of the two runs, or "" if they are as required."""
    share = share_left(left, whole)
    if LEAST_LEFT <= share <= most_left:
        return ""
    return ("if half of the atomic operations in shared memory change nothing, at least "
            f"{100 * LEAST_LEFT:g} % and at most {100 * most_left:g} % of the result must be left, "
            f"because these operations collect it; {100 * share:.3g} % are left")
