"""Runs the tests of a submission of an assignment, each with a name and points:

  right     three problems of some thousand bodies, against float64
  sizes     one and two bodies, sizes next to those of warps and blocks, random sizes
  orders    other orders of threads, blocks and streams; guarded memory
  findings  no mistake that hostcuda's trace reports: races, bounds, barriers, leaks, ...
  counts    the limits of the variant
"""

from __future__ import annotations

import random
import re
import secrets
import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Optional, Sequence

from nbody_tools.assignments.family import ALMOST, FILE_NAME, PARTIAL, Checked, Problem, Variant
from nbody_tools.assignments.messages import FILL
from nbody_tools.inspection.trace import MESSAGE, Inspection
from nbody_tools.labs import counts
from nbody_tools.labs.building import PLAIN, TRACED, Workshop
from nbody_tools.labs.cpp_text import code_only
from nbody_tools.labs.lab import Limit
from nbody_tools.labs.messages import with_names
from nbody_tools.labs.running import SECONDS, run_alone
from nbody_tools.labs.tests import (FINDINGS, NEVER_ENDS, SECONDS_OF_GRADING, Result, inspection_of,
                                    is_later, quoted)

WEIGHTS = {"right": 25, "sizes": 15, "orders": 15, "findings": 15, "counts": 30}
TIME = {"time": 20}  # the weight of the time (timing.py), where there is a GPU
MEGABYTES = 1000
# Why a program keeps only a share of its points, and the test that says so.
HOST = "none of the points: hardly any kernel reads the input, so the host must have computed"
MUST = "half of all points: the program breaks a limit marked must"
RACE = "half of all points: with a race, a GPU computes something else"
SHARES = {"": 1.0, HOST: 0.0, MUST: 0.5, RACE: 0.5}
SAYS_SO = {HOST: "counts", MUST: "counts", RACE: "findings"}
IDLE = 0.1  # share of the least number of requests; with less, HOST is the reason
STRICT = "HOSTCUDA_STRICT_MEM=1"
UNPOISONED = "HOSTCUDA_POISON=0"  # new memory holds zeros
TRACE = "HOSTCUDA_TRACE"
NEEDS_ZEROS = ("; it is right if all memory holds zeros before, so something is read or added to "
               "that nobody has written")
LOADS = ("requests of global loads", "global loads")
IN_FORM = 0.5  # share of `counts` for a program that keeps all limits, but whose results are wrong
EDGES = (1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025)
UNUSED = re.compile(r"bytes are allocated but never used")
INSPECTED = (1921, 2047)  # bodies per system in the traced run


@dataclass(frozen=True)
class Answers:
    """The results of the problems that a run answered, and why it ended early."""
    results: tuple[bytes, ...]
    seconds: tuple[float, ...] = ()  # of each problem's fastest call
    why: str = ""
    said: str = ""


class Tests:
    """Tests one submission that has been built."""

    def __init__(self, variant: Variant, workshop: Workshop, programs: dict[str, Path],
                 seed: int) -> None:
        self._variant, self._workshop, self._programs = variant, workshop, programs
        self._dice = random.Random(seed)
        self._hung = ""
        self._seconds_left = SECONDS_OF_GRADING - sum(workshop.seconds)

    def results(self) -> list[Result]:
        # Makes the problems before anything runs, so that a seed always gives the same problems.
        right, sizes, orders, traced = self._right(), self._sizes(), self._orders(), self._traced()
        planned: list[tuple[str, Callable[[], Result]]] = [
            ("right", lambda: self._checked("right", right, STRICT)[0]),
            ("sizes", lambda: self._checked("sizes", sizes, STRICT)[0]),
            ("orders", lambda: self._in_orders(orders)),
            ("findings", lambda: self._inspect(traced))]
        with ThreadPoolExecutor(2) as pool:
            futures = {name: pool.submit(self._unless_hung, name, test) for name, test in planned}
            results = {name: future.result() for name, future in futures.items()}
        results["counts"], reason = self._counts(results["findings"], traced)
        return weighed([results[name] for name in WEIGHTS], reason)

    def _problem(self, systems: int, count: int) -> Problem:
        return self._variant.problem(systems, count, self._dice)

    def _between(self, low: int, high: int) -> int:
        """Returns a random odd number, because no block or warp size divides it."""
        return self._dice.randrange(low | 1, high, 2)

    def _right(self) -> list[Problem]:
        return [self._problem(1, self._between(2100, 2900)),
                self._problem(3, self._between(700, 1100)),
                self._problem(self._between(17, 23), self._between(67, 99))]

    def _sizes(self) -> list[Problem]:
        random_sizes = (self._between(3, 60), self._between(130, 800))
        return [self._problem(2, size) for size in sorted({*EDGES, *random_sizes})]

    def _orders(self) -> list[Problem]:
        return [self._problem(2, self._between(600, 900)), self._problem(5, self._between(60, 120))]

    def _traced(self) -> Problem:
        return self._problem(2, self._between(*INSPECTED))

    def _unless_hung(self, name: str, test: Callable[[], Result]) -> Result:
        if self._hung:
            return Result(name, 0, f"not run: the program was stopped in {self._hung}")
        return test()

    def _run(self, name: str, program: str, problems: Sequence[Problem], environment: str,
             fill: int = FILL) -> Answers:
        limit = max(1.0, min(SECONDS, self._seconds_left))
        self._seconds_left -= limit  # another run may begin before this one ends
        answers, used, hung = run_problems(
            self._workshop, self._programs[program], problems, environment, limit, fill=fill)
        self._seconds_left += limit - used
        if hung or NEVER_ENDS in answers.said:
            self._hung = name
        return answers

    def _checked(self, name: str, problems: Sequence[Problem], environment: str
                 ) -> tuple[Result, tuple[bytes, ...]]:
        """Returns the result and the bytes of the answers. Problems with wrong numbers get a second
        try in guarded memory that holds zeros."""
        answers = self._run(name, PLAIN, problems, environment)
        checked = self._results(problems, answers)
        if not self._hung and any(one.share < ALMOST for one in checked):
            zeros = f"{environment} {STRICT} {UNPOISONED}"
            with_zeros = self._results(problems, self._run(name, PLAIN, problems, zeros, fill=0))
            for k, (one, other) in enumerate(zip(checked, with_zeros)):
                if one.share < ALMOST and not other.why:
                    checked[k] = Checked(ALMOST, with_end(one.why, NEEDS_ZEROS))
        return result_of(name, problems, checked), answers.results

    def _results(self, problems: Sequence[Problem], answers: Answers) -> list[Checked]:
        """Returns the result of each problem, and one more if the program ended early after it."""
        checked = [self._variant.check(*pair) for pair in zip(problems, answers.results)]
        if answers.why:
            unanswered = problems[len(checked):] or problems[-1:]
            checked.append(Checked(0, f"{unanswered[0].words}: {answers.why}"
                                   f"{quoted(answers.said)}"))
            checked += [Checked(0, f"{one.words}: no result") for one in unanswered[1:]]
        return checked

    def _in_orders(self, problems: Sequence[Problem]) -> Result:
        """Runs the same problems in three orders, and compares the bits if the variant says so."""
        seed = self._dice.randrange(1, 9999)
        runs = (STRICT, "HOSTCUDA_ORDER=reverse",
                f"HOSTCUDA_ORDER=random HOSTCUDA_STREAMS=lazy HOSTCUDA_SEED={seed}")
        results, given = [], []
        for environment in runs:
            if self._hung:
                break
            result, answers = self._checked("orders", problems, environment)
            results.append(replace(result, why=with_end(result.why, f" with {environment}")))
            given.append(answers)
        share = sum(one.share for one in results) / len(runs)
        why = next((one.why for one in results if one.why), "")
        if self._variant.same_bits and not why and len({*given}) > 1:
            return Result("orders", 0.5, "the bits of the result depend on the order of threads "
                                         "and blocks")
        return Result("orders", share, why)

    def _inspect(self, problem: Problem) -> Result:
        record = self._programs[TRACED].parent / "out" / "trace.json"
        record.touch()
        record.chmod(0o666)
        answers = self._run("findings", TRACED, [problem], f"{TRACE}={record} {TRACE}_BLOCK=1")
        source = (self._workshop.made / FILE_NAME).read_text(encoding="utf-8")
        said = MESSAGE.findall(with_names(answers.said, source))
        messages = tuple(sorted((one for one in said if not UNUSED.search(one)), key=is_later))
        shown = "\n".join(messages[:FINDINGS])
        if answers.why and not self._hung:  # counts what it does if new memory holds zeros
            self._run("findings", TRACED, [problem],
                      f"{TRACE}={record} {TRACE}_BLOCK=1 {UNPOISONED}", fill=0)
        try:
            found = without_unused(inspection_of(record, self._programs[TRACED], messages,
                                                 self._workshop.folder))
        except Exception as error:  # a submission may have left any text in the record
            why = shown or answers.why or f"nothing was recorded ({type(error).__name__})"
            return Result("findings", 0, why)
        if found.clean and not answers.why:
            return Result("findings", 1, "", found)
        more = len(messages) - FINDINGS
        return Result("findings", 0, (shown or answers.why or "it has findings")
                      + (f"\n... and {more} more" if more > 0 else ""), found)

    def _counts(self, findings: Result, problem: Problem) -> tuple[Result, str]:
        """Returns the result, and the reason in SHARES why only a share of the points is kept."""
        found: Optional[Inspection] = findings.inspection
        limits = self._variant.limits
        if found is None:
            return Result("counts", 0, "nothing could be counted"), MUST
        source = code_only((self._workshop.made / FILE_NAME).read_text(encoding="utf-8"))
        lines = [broken(limit, found, problem.units) for limit in limits]
        musts = any(line and limit.must for line, limit in zip(lines, limits))
        missing = [f"{demand.words} (must); there is none" for demand in self._variant.demands
                   if not re.search(demand.pattern, source)]
        kept = sum(not line for line in lines)
        reason = RACE if found.races else ""
        if musts or missing:
            idle = any(
                (counts.value_of(limit, found, problem.units) or 0) < IDLE * limit.at_least
                for limit in limits if limit.of.startswith(LOADS) and limit.at_least is not None)
            reason = HOST if idle else MUST
        share = kept / (len(limits) + len(missing))
        return Result("counts", share, "\n".join(filter(None, (*lines, *missing)))), reason


def without_unused(found: Inspection) -> Inspection:
    """Drops findings about memory that no kernel used: a design may reserve it for rare cases."""
    kept = tuple(one for one in found.findings if one.get("kind") != "unused memory")
    return replace(found, findings=kept)


def broken(limit: Limit, found: Inspection, units: float) -> str:
    """Returns what is wrong, whether it is a must, and the line that contributes most."""
    if limit.of == counts.PATTERNS and counts.value_of(limit, found, units) is None:
        return ""  # without a tile, or with conflicts, which another limit counts
    line = counts.broken(limit, found, units)
    must = " (must)" if limit.must else ""
    place = counts.place_of(limit, found)
    is_own = place is not None and Path(place.file).name == FILE_NAME
    where = f", most in line {place.line}" if place and is_own else ""
    return f"{line}{must}{where}" if line else ""


def result_of(name: str, problems: Sequence[Problem], checked: Sequence[Checked]) -> Result:
    wrong = [one.why for one in checked if one.why]
    share = sum(one.share for one in checked) / max(len(problems), len(checked))
    if not wrong:
        return Result(name, share, "")
    right = sum(not one.why for one in checked[:len(problems)])
    said = with_end(wrong[0], f"; {right} of {len(problems)} problems are right")
    return Result(name, min(share, 0.99), said)


def with_end(why: str, more: str) -> str:
    """Adds words to the end of a message's first line."""
    first, feed, rest = why.partition("\n")
    return first + more + feed + rest if why else ""


def weighed(results: Sequence[Result], reason: str) -> list[Result]:
    """Multiplies the shares of findings and counts by the share of right numbers, and then all
    shares by what SHARES gives for the reason. One forgotten barrier can make every number wrong;
    if all limits are kept, the program still has the form of a solution."""
    right = next(result.share for result in results if result.name == "right")
    numbers = min(1.0, right / PARTIAL)
    made = []
    for result in results:
        share, why = result.share, result.why
        if result.name in ("findings", "counts") and numbers < 1:
            share, why = share * numbers, why or "counts only as far as numbers are right"
        if reason:
            share *= SHARES[reason]
            if result.name == SAYS_SO[reason]:
                why = f"{why}\n{reason}".strip()
            else:
                why = why or f"{reason.partition(':')[0]}: see {SAYS_SO[reason]}"
        least = IN_FORM if result.name == "counts" and result.passed else 0.0
        made.append(replace(result, share=max(share, least), why=why))
    return made


def run_problems(workshop: Workshop, program: Path, problems: Sequence[Problem], environment: str,
                 seconds: float, calls: int = 1, megabytes: int = MEGABYTES, copies: int = 1,
                 kept: int = 0, fill: int = FILL) -> tuple[Answers, float, bool]:
    """Runs the problems, each with all its systems `copies` times; the results are those of one
    copy. `fill` is each byte of a result before a call. Returns the answers, the processor time,
    and whether the program had to be stopped."""
    name = secrets.token_hex(8)
    asked, given = program.parent / f"{name}.problems", program.parent / "out" / f"{name}.results"
    asked.write_bytes(b"".join(map(packed, problems)))
    asked.chmod(0o644)
    given.touch()
    given.chmod(0o666)
    words = [str(program), str(asked), str(given), str(calls), str(copies), str(kept), str(fill)]
    ended = run_alone(workshop, words, megabytes, environment, seconds)
    answered = given.read_bytes()
    asked.unlink()
    given.unlink()
    results, times, at = [], [], 0
    for problem in problems:
        if at + 8 + problem.results > len(answered):
            break
        times.append(struct.unpack_from("<d", answered, at)[0])
        results.append(answered[at + 8:at + 8 + problem.results])
        at += 8 + problem.results
    why = ended.why
    if not why and len(results) < len(problems):
        why = "the program ended without a result"
    return Answers(tuple(results), tuple(times), why, ended.said), ended.seconds, ended.timed_out


def packed(problem: Problem) -> bytes:
    """Returns a problem as tools/grade/assignment_harness.cu reads it."""
    head = struct.pack("<4i", problem.systems, problem.count, len(problem.blobs), problem.results)
    return head + b"".join(struct.pack("<q", len(blob)) + blob for blob in problem.blobs)
