"""The points of an assignment. course/assignments/README.md explains the rule:

  45 for results, tests right to findings: a right program has them, whatever its method;
  55 for the method, test counts: each part of a variant has its points (family.Part), which count as
  far as the results are right, because accesses without results are not a method.
"""

from __future__ import annotations

WEIGHTS = {"right": 18, "sizes": 8, "orders": 8, "findings": 11, "counts": 55}
TIME = {"time": 20}  # the weight of the time (timing.py), where there is a GPU

WRONG = 0.6  # share of a problem's points for wrong numbers that are as near as can be
FLOOR = 0.3  # share of the points for the method if the results are not near at all
ENOUGH = 0.1  # nearness of the results from which the points for the method count in full


def share_of_method(nearness: float) -> float:
    return FLOOR + (1 - FLOOR) * min(1.0, nearness / ENOUGH)
