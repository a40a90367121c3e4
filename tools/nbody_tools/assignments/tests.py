"""Runs the tests of a submission for an assignment. Each test has a name and points:

  right     three problems of some thousand bodies, compared with results in float64
  sizes     one and two bodies, sizes just below and above those of warps and blocks, random sizes
  orders    other orders of threads, blocks and streams; guarded memory
  findings  mistakes that hostcuda's trace reports: races, bounds, barriers, leaks, ...
  counts    the limits on each part of the variant's method
"""

from __future__ import annotations

import random
import re
import secrets
import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, NamedTuple, Optional, Sequence

from nbody_tools.assignments.closeness import nearness
from nbody_tools.assignments import nearby, skipped_atomics, tiles
from nbody_tools.assignments.family import FILE_NAME, Checked, Part, Problem, Variant
from nbody_tools.assignments.messages import FILL, of_student
from nbody_tools.assignments.points import LUCKY, WEIGHTS, WRONG, share_of_method
from nbody_tools.inspection.trace import MESSAGE, Inspection
from nbody_tools.labs import counts
from nbody_tools.labs.building import PLAIN, TRACED, Workshop
from nbody_tools.labs.lab import Limit
from nbody_tools.labs.messages import with_names
from nbody_tools.labs.running import SECONDS, run_alone
from nbody_tools.labs.tests import (FINDINGS, NEVER_ENDS, SECONDS_OF_GRADING, Result, inspection_of,
                                    is_later, quoted)

MEGABYTES = 1000
NO_KERNEL = "no kernel reads the input"
HOST = ("no points: the kernels read hardly any of the input, so the host must have computed the "
        "results")
COPIED = ("no points: the program copies the input back to the host, which could then compute the "
          "results")
IDLE = 0.1  # share of the required requests; a program with fewer gets the message HOST
MOST_COPIED = 0.2  # share of the input that a program may copy to the host
STRICT = "HOSTCUDA_STRICT_MEM=1"
UNPOISONED = "HOSTCUDA_POISON=0"  # new memory holds zeros
TRACE = "HOSTCUDA_TRACE"
ROOM = f"HOSTCUDA_ROOM={1 << 16}"  # this many bytes of zeros behind each array
LOADS = ("requests of global loads", "global loads")
EDGES = (1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025)
UNUSED = re.compile(r"bytes are allocated but never used")
INSPECTED = (1921, 2047)  # bodies per system in the traced run


class Kind(NamedTuple):
    """Environment variables with which a certain mistake has no effect. `words` explains this
    mistake to the student whose program is right only with these variables."""
    environment: str
    words: str


ORDER = Kind(f"HOSTCUDA_ORDER=reverse {UNPOISONED} {ROOM}", "; the result is right if the threads "
             "run in another order, so a barrier or an atomic operation is missing")
HOST_MEMORY = "host memory, which a GPU cannot access"  # in a message of the traced run
# Replaces ORDER.words if the traced run finds an access out of bounds.
OUT_OF_BOUNDS = "out of bounds"
OUTSIDE = ("; the result is right if there is room behind all arrays and the threads run in "
           "another order, so a thread accesses memory beyond the end of an array or another "
           "thread's result (see findings)")
KIND = (
    Kind(f"{STRICT} {UNPOISONED}", "; the result is right if all memory holds zeros before the "
         "call, so the program reads or adds to memory that it has not written"),
    Kind(f"{UNPOISONED} {ROOM}", "; the result is right if there are zeros behind all arrays, so a "
         "thread accesses memory beyond the end of an array"),
    ORDER,
    Kind(f"HOSTCUDA_DIVERGENCE=warn {UNPOISONED} {ROOM}", "; the result is right if threads need "
         "not wait at the same barrier, so only some threads of a block reach a barrier"),
)


@dataclass(frozen=True)
class Answers:
    """The results of the problems that a run solved and, if the run ended early, the reason."""
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
        self._nearby: tuple[Problem, ...] = ()
        self._has_wrong_lists = False  # see nearby.WRONG_LISTS
        self._near = 0.0  # nearness (closeness.py) of the results of `right`
        self._near_traced = 0.0  # the largest of the runs whose operations were counted
        self._kind: Optional[Kind] = None  # first of KIND with which a result was right
        self._seconds_left = SECONDS_OF_GRADING - sum(workshop.seconds)

    def results(self) -> list[Result]:
        # Makes the problems before anything runs, so that a seed always gives the same problems.
        right, sizes, orders, traced = self._right(), self._sizes(), self._orders(), self._traced()
        self._nearby = self._variant.nearby(self._dice)
        planned: list[tuple[str, Callable[[], Result]]] = [
            ("right", lambda: self._checked("right", right, STRICT)[0]),
            ("sizes", lambda: self._checked("sizes", sizes, STRICT)[0]),
            ("orders", lambda: self._in_orders(orders)),
            ("findings", lambda: self._inspect(traced))]
        with ThreadPoolExecutor(2) as pool:
            futures = {name: pool.submit(self._unless_hung, name, test) for name, test in planned}
            results = {name: future.result() for name, future in futures.items()}
        self._has_wrong_lists = self._near < 1 and OUT_OF_BOUNDS in results["findings"].why
        counted = self._counts(results["findings"].inspection, traced)
        if self._kind:
            # One mistake costs the points of one test: counts what the program does without it.
            again = self._counts(self._counted_run(traced, self._kind), traced, self._kind)
            counted = max(counted, again, key=lambda one: one.share)
        found: Optional[Inspection] = results["findings"].inspection
        if found and (mistake := luck(found)):
            results |= {name: lucky(results[name], mistake)
                        for name in ("right", "sizes", "orders")}
        if OUT_OF_BOUNDS in results["findings"].why:
            results |= {name: replace(one, why=one.why.replace(ORDER.words, OUTSIDE))
                        for name, one in results.items()}
        # Otherwise a program could choose by the number of bodies what to compute, and imitate the
        # method only where the operations are counted.
        results["counts"] = weighed_method(counted, self._near, self._near_traced)
        results["findings"] = weighed(results["findings"], self._near)
        if reason := self._of_host(results["findings"], traced):
            results = {name: replace(one, share=0, why=reason if name == "counts" else one.why or
                                     f"{reason.partition(':')[0]}: see counts")
                       for name, one in results.items()}
        return [results[name] for name in WEIGHTS]

    def _problem(self, systems: int, count: int) -> Problem:
        return self._variant.problem(systems, count, self._dice)

    def _between(self, low: int, high: int) -> int:
        """Returns a random odd number. Block and warp sizes are even, so none divides it."""
        return self._dice.randrange(low | 1, high, 2)

    def _right(self) -> list[Problem]:
        return [self._problem(self._between(*systems) if systems[0] < systems[1] else systems[0],
                              self._between(*bodies))
                for systems, bodies in self._variant.right_sizes]

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
        self._seconds_left -= limit  # reserved, because another run may begin meanwhile
        answers, used, hung = run_problems(
            self._workshop, self._programs[program], problems, environment, limit, fill=fill)
        self._seconds_left += limit - used
        if hung or NEVER_ENDS in answers.said:
            self._hung = name
        return answers

    def _checked(self, name: str, problems: Sequence[Problem], environment: str
                 ) -> tuple[Result, tuple[bytes, ...]]:
        """Returns the result and the bytes of the answers. Problems with wrong numbers run again,
        in the environment of each kind of mistake in KIND."""
        checked, given = self._answered(name, problems, environment)
        for kind in KIND:
            again = [k for k, one in enumerate(checked) if one.why and not one.is_explained]
            if self._hung or not again:
                break
            others, _ = self._answered(name, [problems[k] for k in again], kind.environment, 0)
            for k, other in zip(again, others):
                checked[k] = in_kind_run(checked[k], other, kind)
            if name == "right" and any(checked[k].is_explained for k in again):
                self._kind = self._kind or kind
        if name == "right":
            self._near = near_of(checked)
        return result_of(name, checked), given

    def _answered(self, name: str, problems: Sequence[Problem], environment: str,
                  fill: int = FILL) -> tuple[list[Checked], tuple[bytes, ...]]:
        """Returns the result of each problem. If the program ends at a problem, starts the program
        again with the next problem."""
        checked: list[Checked] = []
        given: list[bytes] = []
        while len(checked) < len(problems):
            left = problems[len(checked):]
            answers = Answers((), why=f"not run: the program was stopped in {self._hung}") if \
                self._hung else self._run(name, PLAIN, left, environment, fill)
            checked += [self._variant.check(*pair) for pair in zip(left, answers.results)]
            given += answers.results
            if not answers.why:
                break
            at = min(len(answers.results), len(left) - 1)
            after = "the results are complete, but " if at < len(answers.results) else ""
            why = f"{left[at].words}: {after}{answers.why}{quoted(of_student(answers.said))}"
            if at < len(answers.results):
                checked[-1] = replace(checked[-1], why=checked[-1].why or why)
            else:
                unwritten = bytes([FILL]) * left[at].results
                checked.append(replace(self._variant.check(left[at], unwritten), why=why))
                given.append(b"")
        return checked, tuple(given)

    def _in_orders(self, problems: Sequence[Problem]) -> Result:
        """Runs the same problems in three orders of threads and blocks. Compares the bits of the
        results if the variant requires the same bits."""
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
        answers, found, messages = self._traced_run(problem)
        self._keep_nearness(problem, answers)
        if found is None and not self._hung:
            # The program ended early. With zeros behind its arrays, it may reach its end.
            found = self._counted_run(problem, KIND[1])
        shown = "\n".join(messages[:FINDINGS])
        if found is None:
            return Result("findings", 0, shown or answers.why or "the traced run recorded nothing")
        if found.clean and not answers.why and not messages:
            return Result("findings", 1, "", found)
        more = len(messages) - FINDINGS
        return Result("findings", 0, (shown or answers.why or "it has findings")
                      + (f"\n... and {more} more" if more > 0 else ""), found)

    def _counted_run(self, problem: Problem, kind: Kind) -> Optional[Inspection]:
        answers, found, _ = self._traced_run(problem, kind)
        self._keep_nearness(problem, answers)
        return found

    def _keep_nearness(self, problem: Problem, answers: Answers) -> None:
        checked = [self._variant.check(problem, one) for one in answers.results]
        self._near_traced = max(self._near_traced, near_of(checked) if checked else 0.0)

    def _traced_run(self, problem: Problem, kind: Optional[Kind] = None, more: str = ""
                    ) -> tuple[Answers, Optional[Inspection], tuple[str, ...]]:
        """Returns the answers, the counts (None if the program ended early), and the messages about
        findings."""
        record = self._programs[TRACED].parent / "out" / "trace.json"
        record.write_text("", encoding="utf-8")
        record.chmod(0o666)
        environment = f"{TRACE}={record} {TRACE}_BLOCK=1 {more}"
        answers = self._run("findings", TRACED, [problem], environment) if kind is None else \
            self._run("findings", TRACED, [problem], f"{environment} {kind.environment}", 0)
        source = (self._workshop.made / FILE_NAME).read_text(encoding="utf-8")
        said = MESSAGE.findall(of_student(with_names(answers.said, source)))
        messages = tuple(sorted((one for one in said if not UNUSED.search(one)), key=is_later))
        try:
            found = without_unused(inspection_of(record, self._programs[TRACED], messages,
                                                 self._workshop.folder))
        except Exception:  # a submission may have left any text in the record
            return answers, None, messages
        return answers, None if answers.why and kind is None else found, messages

    def _counts(self, found: Optional[Inspection], problem: Problem,
                kind: Optional[Kind] = None) -> Result:
        """Returns the result of the test `counts`: a part of the method earns its points if all of
        its limits are kept. All further runs have the environment of `kind`, as the run that
        `found` comes from."""
        if found is None:
            return Result("counts", 0, "nothing could be counted")
        if not any(kernel.loading_threads for kernel in found.kernels):
            return Result("counts", 0, NO_KERNEL)
        parts = self._variant.parts
        lines = {part.name: lines_of(part, found, problem.units) or
                 self._lines_of_growth(part, kind) or
                 self._lines_without_atomics(part, problem, kind) for part in parts}
        kept = sum(part.points for part in parts if not lines[part.name])
        return Result("counts", kept / sum(part.points for part in parts),
                      "\n".join(line for part in parts for line in lines[part.name]))

    def _lines_of_growth(self, part: Part, kind: Optional[Kind]) -> list[str]:
        """Returns a message if the loads do not depend on the bodies nearby as they must: a loop
        over all pairs loads for every body that there is."""
        if not part.growth or not self._nearby:
            return []
        head = f"{part.name} ({part.points} points): "
        counted: list[nearby.Counted] = []
        for problem in self._nearby:
            answers, found, _ = self._traced_run(problem, kind)
            if found is None or answers.why:
                return [f"{head}with cells that stand alone or are crowded ({problem.words}): "
                        f"{answers.why or 'nothing could be counted'}"]
            counted.append(nearby.Counted(found, problem.units))
        line = nearby.broken(part.growth, counted, self._has_wrong_lists)
        return [head + line] if line else []

    def _lines_without_atomics(self, part: Part, problem: Problem, kind: Optional[Kind]
                               ) -> list[str]:
        if part.most_left is None or not self._near:
            return []
        whole, left = (self._traced_run(problem, kind, more)[0]
                       for more in ("", skipped_atomics.ENVIRONMENT))
        if not whole.results or not left.results:
            return [f"{part.name} ({part.points} points): if half of the atomic operations in "
                    f"shared memory change nothing: {whole.why or left.why}"]
        got = [self._variant.check(problem, one.results[0]).numbers.got for one in (left, whole)]
        line = skipped_atomics.broken(got[0], got[1], part.most_left)
        return [f"{part.name} ({part.points} points): {line}"] if line else []

    def _of_host(self, findings: Result, problem: Problem) -> str:
        """Returns why kernels cannot have computed the results, or an empty string."""
        found: Optional[Inspection] = findings.inspection
        if found is None or not self._near:
            return ""
        idle = any(
            (counts.value_of(limit, found, problem.units) or 0) < IDLE * limit.at_least
            for limit in self._variant.limits
            if limit.of.startswith(LOADS) and limit.at_least is not None)
        # The harness itself copies the result to the host, so these bytes do not count.
        copied = found.host.get("bytes_to_host", 0) - problem.results
        if copied > MOST_COPIED * sum(map(len, problem.blobs)):
            return COPIED
        return HOST if idle else ""


def lines_of(part: Part, found: Inspection, units: float) -> list[str]:
    """Returns a message for each broken limit of the part, with the part's name and points."""
    lines = filter(None, (broken(limit, found, units) for limit in part.limits))
    return [f"{part.name} ({part.points} points): {line}" for line in lines]


def without_unused(found: Inspection) -> Inspection:
    """Drops findings about memory that no kernel used, because a program may reserve it for rare
    cases."""
    kept = tuple(one for one in found.findings if one.get("kind") != "unused memory")
    return replace(found, findings=kept)


def broken(limit: Limit, found: Inspection, units: float) -> str:
    """Returns a message with the broken limit and the line of code that contributes most, or
    "" if the limit is kept."""
    if limit.of == tiles.OTHERS_WORDS:
        share = tiles.share_of_others(found)
        return "" if share is None or share >= (limit.at_least or 0) else \
            f"{counts.describe(limit)}; it is {share:.3g}"
    if limit.of == counts.PATTERNS and counts.value_of(limit, found, units) is None:
        if limit.at_least is None or not tiles.is_without_conflicts(found):
            return ""  # there is no tile, or it has bank conflicts, which break another limit
        return f"{counts.describe(limit)}; there are no two rows to compare"
    line = counts.broken(limit, found, units)
    place = counts.place_of(limit, found)
    is_own = place is not None and Path(place.file).name == FILE_NAME
    where = f", most in line {place.line}" if place and is_own else ""
    return f"{line}{where}" if line else ""


def in_kind_run(own: Checked, other: Checked, kind: Kind) -> Checked:
    """Returns the result of a problem, given its results in the normal run (`own`) and with the
    environment of `kind` (`other`). If both are wrong, the numbers nearer to the right ones count.
    If `other` is right, `kind` explains the mistake. Problems whose expected numbers are
    all zero are an exception, because memory that nothing has written would then be right too."""
    if not other.why and other.numbers.expected.any():
        return replace(own, is_explained=True, why=with_end(own.why, kind.words))
    if nearness([other.numbers]) >= nearness([own.numbers]):
        return replace(own, numbers=other.numbers)
    return own


def near_of(checked: Sequence[Checked]) -> float:
    """Returns how near the results are to the right ones, from 0 to 1. Right and explained results
    count as 1."""
    others = [one.numbers for one in checked if one.why and not one.is_explained]
    good = len(checked) - len(others)
    return (good + len(others) * nearness(others)) / len(checked)


def result_of(name: str, checked: Sequence[Checked]) -> Result:
    wrong = [one for one in checked if one.why]
    if not wrong:
        return Result(name, 1)
    right = len(checked) - len(wrong)
    share = (right + WRONG * (near_of(checked) * len(checked) - right)) / len(checked)
    return Result(name, share, with_end(
        wrong[0].why, f"; {right} of {len(checked)} problems are right"))


def with_end(why: str, more: str) -> str:
    """Adds text to the end of a message's first line."""
    first, feed, rest = why.partition("\n")
    return first + more + feed + rest if why else ""


def luck(inspection: Inspection) -> str:
    """Returns the mistake because of which a program's right numbers may be wrong on a GPU: with a
    data race they are right only in the orders in which the threads ran here."""
    if inspection.races:
        return "the program has a data race"
    if any(HOST_MEMORY in message for message in inspection.messages):
        return "kernels access host memory, which ends the program on most GPUs"
    return ""


def lucky(result: Result, mistake: str) -> Result:
    """Limits the points of a program with such a mistake."""
    return replace(result, share=min(result.share, LUCKY),
                   why=result.why or f"fewer points, because {mistake} (findings)")


def weighed(findings: Result, near: float) -> Result:
    """Multiplies the share of the points for findings by the nearness of the results."""
    why = findings.why or (
        "" if near == 1 else "fewer points, because results of `right` are wrong")
    return replace(findings, share=findings.share * near, why=why)


def weighed_method(result: Result, near: float, near_traced: float) -> Result:
    of_method = share_of_method(min(near, near_traced))
    where = "of the run that was counted " if near_traced < near else ""
    why = (f"{100 * of_method:.0f} % of the points for the method, because the results {where}"
           "are wrong") if result.share and of_method < 1 else ""
    return replace(result, share=result.share * of_method,
                   why="\n".join(filter(None, (result.why, why))))


def run_problems(workshop: Workshop, program: Path, problems: Sequence[Problem], environment: str,
                 seconds: float, calls: int = 1, megabytes: int = MEGABYTES, copies: int = 1,
                 kept: int = 0, fill: int = FILL) -> tuple[Answers, float, bool]:
    """Runs a program on the problems. The input of a problem has `copies` copies of its systems;
    only the results of copy `kept` are read. Before a call, each byte of the result is `fill`.
    Returns the answers, the processor time, and whether the program had to be stopped."""
    name = secrets.token_hex(8)
    asked, given = program.parent / f"{name}.problems", program.parent / "out" / f"{name}.results"
    asked.write_bytes(b"".join(map(packed, problems)))
    asked.chmod(0o644)
    given.touch()
    given.chmod(0o666)
    words = [str(program), str(asked), str(given),
             *map(str, (calls, copies, kept, fill))]
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
    """Returns a problem in the format that tools/sandbox/assignment_harness.cu reads."""
    head = struct.pack("<4i", problem.systems, problem.count, len(problem.blobs), problem.results)
    return head + b"".join(struct.pack("<q", len(blob)) + blob for blob in problem.blobs)
