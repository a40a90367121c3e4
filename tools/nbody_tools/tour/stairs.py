"""Makes the rows of the staircase in the report. A row says what a step adds, which of the
step's checks passed here, and how fast the step is on this machine's GPU or, without a GPU, on the
GPU of the committed records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Collection, Optional, Sequence

from nbody_tools.records.record import Record
from nbody_tools.records.staircase import Staircase
from nbody_tools.steps import Outcome, number_of, what_a_step_adds
from nbody_tools.tables import plain


POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹"


@dataclass(frozen=True)
class Checks:
    """Counts the checks of a run: how many passed, how many passed or failed, and how many are
    undecided."""
    passed: int
    decided: int
    undecided: int

    @property
    def text(self) -> str:
        return f"{self.passed} of {self.decided} checks"


@dataclass(frozen=True)
class Stair:
    step: str
    adds: str
    outcome: Outcome
    checks: Optional[Checks]
    rate: str = ""  # empty if it was not measured
    speedup: str = ""
    place: float = 0  # position on the chart, in percent of the chart's width

    @property
    def number(self) -> str:
        return number_of(self.step)

    @property
    def name(self) -> str:
        return self.step.partition("_")[2].replace("_", " ")

    @property
    def error(self) -> str:
        record = self.outcome.record
        error = record.acceleration_error if record else None
        return "" if error is None else f"{error:.1e}"


def checks_of(record: Optional[Record]) -> Optional[Checks]:
    """Returns the checks of a run, or None if it was not checked."""
    if record is None or record.verdict == "unchecked":
        return None
    failed, undecided = (
        {words.partition(":")[0] for words in record.data.get(key, [])}
        for key in ("failed", "undecided"))
    decided = [name for name in record.data["errors"] if name not in undecided]
    return Checks(
        sum(name not in failed for name in decided), len(decided), len(undecided))


def stairs(outcomes: Sequence[Outcome], speeds: Optional[Staircase]) -> list[Stair]:
    """Returns a row per step that ran here, with the step's speed if `speeds` has it."""
    records: dict[str, Record] = {}
    for record in speeds.records if speeds else ():
        records.setdefault(record.step, record)  # keeps the first, with the fewest devices
    base = speeds.base if speeds else None
    rates = {step: record.giga_interactions_per_second("compute").median
             for step, record in records.items()}
    made = []
    for outcome in outcomes:
        rate = speedup = ""
        place = 0.0
        if outcome.step in records and base is not None:
            rate = plain(rates[outcome.step])
            speedup = f"{records[outcome.step].speedup_over(base).median:.3g}"
            place = _place(rates[outcome.step], rates.values())
        made.append(Stair(outcome.step, what_a_step_adds(outcome.step), outcome,
                          checks_of(outcome.record), rate, speedup, place))
    return made


def decades(speeds: Optional[Staircase]) -> list[tuple[str, float]]:
    """Returns the ticks of the chart's logarithmic axis: label and place."""
    if speeds is None:
        return []
    rates = [r.giga_interactions_per_second("compute").median for r in speeds.records]
    first, last = _ends(rates)
    return [(f"{10.0**k:g}" if k < 3 else f"10{POWERS[k]}", _place(10.0**k, rates))
            for k in range(first, last + 1)]


def _ends(rates: Collection[float]) -> tuple[int, int]:
    return math.floor(math.log10(min(rates))), math.ceil(math.log10(max(rates)))


def _place(rate: float, rates: Collection[float]) -> float:
    first, last = _ends(rates)
    return round(100 * (math.log10(rate) - first) / max(last - first, 1), 1)
