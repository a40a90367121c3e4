"""Explains a step's speedup over its parent as a product of factors, for the step's README."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Optional, Sequence

from nbody_tools.records.facts import FactError, Facts, Value
from nbody_tools.tables import NOT_MEASURED, markdown, plain

# A metric of measure/ncu.py, its label in the table, and whether a larger value is faster.
COUNTED = (
    ("instructions_per_interaction", "instructions per interaction", False),
    ("sm_busy_percent", "SMs with work, mean over time, %", True),
    ("issue_percent", "issue slots used on those SMs, %", True),
)
LANES_PER_SM = 128


@dataclass(frozen=True)
class Row:
    label: str
    before: float
    after: float
    more_is_faster: bool

    @property
    def speedup(self) -> float:
        return self.after / self.before if self.more_is_faster else self.before / self.after


def extra_row(words: Sequence[Any]) -> Row:
    """Parses a row such as ["systems computing at once", 1, 7.6, "more"]: a label, the parent's
    value, the step's value, and whether more or fewer is faster. Raises FactError if the
    row is invalid."""
    if len(words) != 4 or words[3] not in ("more", "fewer"):
        raise FactError('a row of account() is ["label", before, after, "more" or "fewer"]')
    before, after = (word if isinstance(word, Value) else Value(word) for word in words[1:3])
    if before.content is None or after.content is None:
        raise FactError(f"account(): '{words[0]}' has no measured value")
    return Row(words[0], before.number, after.number, words[3] == "more")


def account(step: str, parent: Optional[str], facts: Facts, extra: Sequence[Any]) -> str:
    """Returns a table of the factors, their product, and the measured ratio of the two rates."""
    if not parent:
        return NOT_MEASURED
    before, after = facts.profile(parent), facts.profile(step)
    rates = [facts.value(name, "systems", "gips") for name in (parent, step)]
    if before is None or after is None or any(rate.content is None for rate in rates):
        return NOT_MEASURED
    rows = [Row(label, before["metrics"][key], after["metrics"][key], more)
            for key, label, more in COUNTED]
    rows += map(extra_row, extra)
    speedup = rates[1].number / rates[0].number
    slower = round(speedup, 2) < 1  # if the ratio is printed as 1.00, not slower
    shown = [
        1 / value if slower else value
        for value in (*(row.speedup for row in rows), prod(row.speedup for row in rows), speedup)
    ]
    names = [name[4:].replace("_", " ") for name in (parent, step)]
    table = [[row.label, plain(row.before), plain(row.after), f"{factor:.2f}"]
             for row, factor in zip(rows, shown)]
    table.append(["product of these factors", "", "", f"**{shown[-2]:.2f}**"])
    table.append(["measured, G interactions/s", *(plain(rate.number) for rate in rates),
                  f"**{shown[-1]:.2f}**"])
    return markdown(["counted", *names, "times slower" if slower else "times faster"], table)


def account_of_lanes(step: str, parent: Optional[str], facts: Facts, threads: int,
                     sms: int) -> str:
    """Returns a table like account(), for a step that runs on `sms` SMs and whose parent runs on
    `threads` threads of a CPU. A lane's time per interaction is computed from counts: the number of
    instructions, divided by the clock and by the share of issue slots that are used. A thread's
    time is measured, because these tools do not count a CPU's instructions."""
    after = facts.profile(step)
    rates = [facts.value(name, "systems", "gips") for name in (parent or step, step)]
    clock = facts.machine("gpu", "clock")
    if after is None or any(value.content is None for value in (*rates, clock)):
        return NOT_MEASURED
    lanes = sms * LANES_PER_SM
    of_thread = threads / rates[0].number
    of_lane = (after["metrics"]["instructions_per_interaction"]
               / (after["metrics"]["issue_percent"] / 100) / clock.number)
    explained, measured = lanes / threads * of_thread / of_lane, rates[1].number / rates[0].number
    names = [name[4:].replace("_", " ") for name in (parent or step, step)]
    return markdown(["counted", *names, "times faster"], [
        [f"hardware threads of the CPU, lanes of {sms} SMs", str(threads), str(lanes),
         plain(lanes / threads)],
        ["ns per interaction, of a thread (measured) and of a lane (counted)", f"{of_thread:.2f}",
         f"{of_lane:.1f}", f"{of_thread / of_lane:.3f}"],
        ["product of these factors", "", "", f"**{explained:.1f}**"],
        ["not explained", "", "", f"{measured / explained:.2f}"],
        ["measured, G interactions/s", *(plain(rate.number) for rate in rates),
         f"**{measured:.1f}**"],
    ])
