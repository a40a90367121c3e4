"""Runs the tests of a submission, each with a name and points (lab.TESTS). The seed determines
the sizes and states of the problems:

  forces    one time step of two problems whose sizes are not multiples of the tile size, with every
            check of the validator
  sizes     one and two bodies, sizes at and next to every boundary of the step, and random sizes
  systems   many systems at once
  run       11 to 44 time steps, to check the whole trajectory
  orders    other orders of threads, blocks and streams; guarded memory; several devices
  findings  no mistake that hostcuda's trace reports: races, bounds, barriers, leaks, ...
  counts    the limits of the lab
  time      on a GPU: full points up to 1.2 times the time of the step's program, no points from
            10 times on
"""

from __future__ import annotations

import json
import random
import re
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Condition
from typing import Any, Callable, Optional

from nbody_tools.arguments import Failed
from nbody_tools.inspection.trace import MESSAGE, Inspection, read_trace
from nbody_tools.labs import counts
from nbody_tools.labs.building import PLAIN, TRACED, DoesNotCompile, Workshop
from nbody_tools.labs.lab import TESTS, Lab, Limit
from nbody_tools.labs.messages import with_names, without_folders
from nbody_tools.labs.running import SECONDS, Problem, Run, described, run

FULL_WITHIN, NONE_FROM = 1.2, 10.0  # as multiples of the step's time
# Systems, bodies and steps that keep a GPU busy. A call takes about 0.1 s, and the transfer through
# the pipe takes a tenth of that.
TIMED = (32, 8192, 40)
# Fewer loads per interaction than this are implausible. Step 12 has the fewest: one per 24
# interactions.
LEAST_LOADS = 0.02
SECONDS_OF_ALL = 20.0  # limit of processor time for all CPU runs of a submission
SECONDS_OF_GRADING = 25.0  # limit of processor time, including the compilations
GPU_SECONDS = 60.0  # limit for a GPU run; the driver alone takes seconds to start
LINES = 6  # at most this many lines of a submission's output are shown
# Checks of a run as a whole. If no other check fails, the forces and the kick are right.
OF_RUN = {"composition", "momentum", "angular_momentum", "trajectory"}
OF_FORCES = re.compile(r"acceleration_|rms_at|p99_at|body_order|finite")
# If a program solves only some of a test's problems, it gets this share of the test's points, times
# the fraction of problems solved.
PARTIAL = 0.5
NEVER_ENDS = "without reaching a barrier or its end"  # in hostcuda's message about endless kernels
OUT_OF_BOUNDS = "out of bounds"  # part of the tracer's message about an invalid access
FINDINGS = 2  # at most this many findings are shown; the first usually causes the others


@dataclass(frozen=True)
class Result:
    """The result of a test: a share of the points and, if the share is below 1, the reason."""
    name: str
    share: float
    why: str = ""
    inspection: Optional[Inspection] = None

    @property
    def passed(self) -> bool:
        return self.share == 1


class Tests:
    """Tests one submission that has been built."""

    def __init__(self, lab: Lab, workshop: Workshop, programs: dict[str, Path], seed: int) -> None:
        self._lab, self._workshop, self._programs = lab, workshop, programs
        self._dice = random.Random(seed)
        self._summation = "tiled" if lab.is_tiled else "running"
        self._hung = ""
        self._of_run = ""  # a problem that failed only checks in OF_RUN
        self._account = Condition()  # guards the next two, for two runs may begin at once
        self._running = 0
        self._seconds_left = min(SECONDS_OF_ALL, SECONDS_OF_GRADING - sum(workshop.seconds))

    def results(self) -> list[Result]:
        """Returns the results of all tests except the time, in the order of lab.TESTS."""
        # Chooses the problems before anything runs, so that a seed always gives the same problems.
        planned: list[tuple[str, Callable[[], Result]]] = [
            (name, self._checks(name, problems)) for name, problems in self._problems().items()]
        orders, traced = (
            self._orders(),
            self._problem(2, self._between(*self._lab.inspected), 2, devices=1),
        )
        planned.append(("orders", lambda: self._all("orders", orders)))
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(self._unless_hung, name, test) for name, test in planned]
            inspected = pool.submit(self._unless_hung, "findings", lambda: self._inspect(traced))
            results = {name: future.result() for (name, _), future in zip(planned, futures)}
            results["findings"] = inspected.result()
        if results["run"].passed and self._of_run:
            results["run"] = Result("run", 0, self._of_run)
        if OUT_OF_BOUNDS in results["findings"].why:
            results = {name: without_noise(result) for name, result in results.items()}
        if self._lab.limit:
            results["counts"] = self._counts(results["findings"], traced)
        found = results["findings"].inspection
        if found and results["forces"].passed:
            loads = counts.loads_per_interaction(found, interactions_of(traced))
            if loads < LEAST_LOADS:
                why = ("no kernel computes the forces: all kernels load only "
                       f"{loads:.2g} times per interaction")
                results["forces"] = Result("forces", 0, why)
        self._take_what_does_not_count(results)
        return [results[name] for name in TESTS if name in results]

    def _take_what_does_not_count(self, results: dict[str, Result]) -> None:
        of_forces = results["forces"].share
        broken = [
            limit for limit in self._lab.limit if limit.must and not self._keeps(limit, results)
        ]
        for name, result in results.items():
            if broken and name in self._lab.fails:
                why = f"gives points only within the limit \"{counts.describe(broken[0])}\""
                results[name] = replace(result, share=0, why=result.why or why)
            elif of_forces < 1 and name != "forces":
                why = result.why or "gives points only if the forces are right"
                results[name] = replace(result, share=result.share * of_forces, why=why)

    def _keeps(self, limit: Limit, results: dict[str, Result]) -> bool:
        found = results["findings"].inspection
        return found is not None and not counts.broken(limit, found, 1)

    @property
    def _partial(self) -> float:
        """Returns the share of the points that a partly passed test can get. It is 0 if the
        starter's forces are right, because otherwise the starter itself would get points."""
        return PARTIAL if "forces" in self._lab.fails else 0.0

    def _share(self, kept: int, of: int) -> float:
        return 1.0 if kept == of else self._partial * kept / of

    def _between(self, low: int, high: int) -> int:
        """Returns a random odd number, which is never a multiple of a tile or warp size."""
        return self._dice.randrange(low | 1, high, 2)

    def _problem(self, systems: int, bodies: int, steps: int, devices: Optional[int] = None,
                 star: bool = False) -> Problem:
        seed = self._dice.randrange(1 << 32)
        return Problem(systems, bodies, steps, seed, devices or self._lab.devices, star)

    def _extra(self, test: str) -> list[tuple[list[Problem], str]]:
        return [([self._problem(one.systems, one.bodies, one.steps, one.devices, one.star)],
                 one.environment) for one in self._lab.extra if one.test == test]

    def _problems(self) -> dict[str, list[Problem]]:
        around = {size + d for size in self._lab.boundaries for d in (-1, 0, 1)}
        sizes = sorted({1, 2, *around, self._between(3, 60), self._between(600, 800)})
        # Even, but not whole warps. It is the last size, because a boundary explains more.
        sizes.append(2 * self._dice.choice([n for n in range(60, 150) if n % 16]))
        return {"forces": [self._problem(1, self._between(200, 500), 1) for _ in range(2)],
                "sizes": [self._problem(2, size, 1) for size in sizes if size > 0],
                "systems": [self._problem(self._between(17, 23), self._between(67, 99), 2)],
                "run": [self._problem(1, self._between(100, 200), self._dice.randrange(11, 45))]}

    def _checks(self, name: str, problems: list[Problem]) -> Callable[[], Result]:
        # Guarded memory reports accesses out of bounds, which otherwise could overwrite the
        # emulator's data.
        runs = [(problems, f"HOSTCUDA_DEVICES={self._lab.devices} HOSTCUDA_STRICT_MEM=1")]
        runs += self._extra(name)
        return lambda: self._all(name, runs)

    def _orders(self) -> list[tuple[list[Problem], str]]:
        devices = self._lab.devices
        problems = [self._problem(3, self._between(150, 300), 3) for _ in range(2)]
        runs = [([problems[0]], f"HOSTCUDA_ORDER=reverse HOSTCUDA_DEVICES={devices}"),
                ([problems[1]], "HOSTCUDA_ORDER=random HOSTCUDA_STREAMS=lazy "
                                f"HOSTCUDA_SEED={self._dice.randrange(1, 9999)} "
                                f"HOSTCUDA_DEVICES={devices} HOSTCUDA_STRICT_MEM=1")]
        runs += [([self._problem(5, self._between(60, 120), 2, many)], f"HOSTCUDA_DEVICES={many}")
                 for many in range(2, devices + 1)]
        return runs + self._extra("orders")

    def _unless_hung(self, name: str, test: Callable[[], Result]) -> Result:
        if self._hung:
            return Result(name, 0, f"not run: the program was stopped in the test {self._hung}")
        return test()

    def _reserved(self) -> float:
        """Reserves processor time for a run, and returns the run's limit. If the other run of the
        two has reserved too much, waits until that run ends, because most runs give most of their
        time back."""
        with self._account:
            self._account.wait_for(lambda: self._seconds_left >= SECONDS or not self._running)
            limit = max(1.0, min(SECONDS, self._seconds_left))
            self._seconds_left -= limit
            self._running += 1
            return limit

    def _give_back(self, limit: float, used: float) -> None:
        with self._account:
            self._seconds_left += limit - used
            self._running -= 1
            self._account.notify()

    def _run(
        self, name: str, program: str, mode: str, problems: list[Problem], environment: str
    ) -> Run:
        limit = self._reserved()
        done = run(
            self._workshop,
            self._programs[program],
            mode,
            problems,
            self._summation,
            self._lab.megabytes,
            f"{self._lab.environment} {environment}",
            limit,
        )
        self._give_back(limit, done.seconds)
        if done.timed_out or NEVER_ENDS in done.said:
            self._hung = name
        return done

    def _all(self, name: str, runs: list[tuple[list[Problem], str]]) -> Result:
        right, why, is_force_wrong = 0, "", False
        for problems, environment in runs:
            if self._hung:
                break
            done = self._run(name, PLAIN, "checks", problems, environment)
            after = f"{f' with {environment}' if name == 'orders' else ''}{quoted(done.said)}"
            for problem, failed in done.failed_checks:
                if failed := self._of_this_test(name, problem, failed):
                    why = why or described(problem, failed) + after
                    is_force_wrong |= any(OF_FORCES.match(check["name"]) for check in failed)
                else:
                    right += 1
            if done.ended:
                why, is_force_wrong = why or done.ended + after, True
        if not why:
            return Result(name, 1)
        if name == "forces":
            return Result(name, 0 if is_force_wrong else self._partial, why)
        return Result(name, self._share(right, sum(len(problems) for problems, _ in runs)), why)

    def _of_this_test(
        self, name: str, problem: Problem, failed: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Returns the failed checks. If only checks in OF_RUN failed, returns none of them, because
        they belong to the test `run`."""
        names = {check["name"] for check in failed}
        if name not in ("forces", "sizes", "systems") or names - OF_RUN:
            return failed
        if failed:
            self._of_run = self._of_run or described(problem, failed)
        return []

    def inspected(self, problem: Problem) -> Optional[Inspection]:
        """Returns the counts of one traced run, or None if the run failed."""
        result = self._inspect(problem)
        return result.inspection if result.passed else None

    def _inspect(self, problem: Problem) -> Result:
        # The file is created here, so that the submission does not need the right to create files.
        record = self._programs[TRACED].parent / "out" / "trace.json"
        record.touch()
        record.chmod(0o666)
        done = self._run("findings", TRACED, "once", [problem],
                         f"HOSTCUDA_TRACE={record}")
        source = (self._workshop.made / self._lab.file_name).read_text(encoding="utf-8")
        messages = tuple(sorted(MESSAGE.findall(with_names(done.said, source)), key=is_later))
        try:
            inspection = inspection_of(
                record, self._programs[TRACED], messages, self._workshop.folder
            )
        except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError,
        Failed):
            why = [*messages[:FINDINGS], done.failure or "nothing was recorded" + quoted(done.said)]
            return Result("findings", 0, "\n".join(why))
        if inspection.clean:
            return Result("findings", float(not done.failure), done.failure, inspection)
        found = (
            "\n".join(messages[:FINDINGS])
            or f"{len(inspection.races)} races, {len(inspection.findings)} findings"
        )
        if len(messages) > FINDINGS:
            found += f"\n... and {len(messages) - FINDINGS} more"
        return Result("findings", 0, found, inspection)

    def _counts(self, found: Result, problem: Problem) -> Result:
        if found.inspection is None:
            return Result("counts", 0, "nothing could be counted")
        lines = [
            counts.broken(limit, found.inspection, interactions_of(problem))
            for limit in self._lab.limit
        ]
        lines = [line for line in lines if line]
        kept = len(self._lab.limit) - len(lines)
        return Result("counts", self._share(kept, len(self._lab.limit)), "\n".join(lines))


def interactions_of(problem: Problem) -> float:
    return float(problem.systems * problem.bodies ** 2 * problem.steps)


def inspection_of(
    record: Path, program: Path, messages: tuple[str, ...], folder: Path
) -> Inspection:
    trace = json.loads(
        without_folders(record.read_text(encoding="utf-8", errors="replace"), folder)
    )
    return replace(read_trace(trace, program), messages=messages)


def is_later(message: str) -> bool:
    """Tests whether an access out of bounds may have caused this finding."""
    return OUT_OF_BOUNDS not in message


def without_noise(result: Result) -> Result:
    """Keeps only the first message of a program that was killed by a signal, because later
    messages may come from overwritten memory, and then explain nothing."""
    if result.name == "findings" or "(signal " not in result.why:
        return result
    line = result.why.split("\n", 1)[0]
    return replace(result, why=f"{line}: it accesses memory out of bounds, see findings")


def quoted(said: str) -> str:
    """Quotes the first lines of the submission's output, which may help the student."""
    lines = [re.sub(r"[^\x20-\x7e]", "?", line)[:200] for line in said.strip().splitlines()]
    return "".join(f"\n| {line}" for line in lines[:LINES])


def share_of_time(seconds: float, of_step: float) -> float:
    ratio = seconds / of_step
    return 1.0 if ratio <= FULL_WITHIN else 0.0 if not ratio < NONE_FROM else FULL_WITHIN / ratio


def time_beside_step(lab: Lab, of_step: Workshop, of_submission: Workshop, seed: int) -> Result:
    """Builds the step and the submission with nvcc and times them one after the other on the same
    state. Each has its own workshop, so the submission cannot read the step."""
    seconds = {}
    problem = Problem(*TIMED, seed % (1 << 32))
    for name, workshop in (("step", of_step), ("submission", of_submission)):
        try:
            program = workshop.build_for_gpu(lab.file_name, lab.step, name)
        except DoesNotCompile as error:  # nvcc may reject code that hostcuda accepts
            why = f"nvcc does not compile it: {error}".splitlines()[0]
            if name == "step":
                raise Failed(f"{lab.step}: {why}") from error
            return Result("time", 0, why)
        done = run(workshop, program, "time", [problem], "tiled", megabytes=0, seconds=GPU_SECONDS)
        if done.failure:
            if name == "step":
                raise Failed(
                    f"{lab.step} does not run on this GPU: {done.failure}{quoted(done.said)}"
                )
            return Result("time", 0, done.failure + quoted(done.said))
        seconds[name] = statistics.median(done.problems[0]["seconds"])
    share = share_of_time(seconds["submission"], seconds["step"])
    ratio = seconds["submission"] / seconds["step"]
    return Result(
        "time",
        share,
        f"{seconds['submission']:.4f} s, {ratio:.2f} times the {seconds['step']:.4f} s of "
        f"{lab.step}",
    )
