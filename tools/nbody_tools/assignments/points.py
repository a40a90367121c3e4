"""The points of an assignment. The rule, which the statement of each assignment explains:

  45 for results, in the tests `right` to `findings`: a right program gets them with any method;
  55 for the method, in the test `counts`: each part of a variant has its own points (family.Part).
  If the results are far from right, fewer points for the method count, because a program with wrong
  results may only imitate the accesses.
"""

from __future__ import annotations

WEIGHTS = {"right": 18, "sizes": 8, "orders": 8, "findings": 11, "counts": 55}
TIME = {"time": 20}  # weight of the time (timing.py), if there is a GPU

WRONG = 0.6  # largest share of a problem's points that wrong numbers can get
LUCKY = 0.6  # largest share for right numbers that may be wrong on a GPU (tests.luck)
FLOOR = 0.5  # share of the method's points if the results are not at all near the right ones
ENOUGH = 0.1  # the method's points count in full if the results are at least this near


def share_of_method(nearness: float) -> float:
    return FLOOR + (1 - FLOOR) * min(1.0, nearness / ENOUGH)
