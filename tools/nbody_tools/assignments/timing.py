"""Times a submission on a GPU. The unit is the time of one copy of its input (times.py)."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from nbody_tools.arguments import Failed
from nbody_tools.assignments.building import HARNESS, SOURCES, add_harness
from nbody_tools.assignments.family import FILE_NAME, Variant
from nbody_tools.assignments.messages import first_error
from nbody_tools.assignments.tests import run_problems
from nbody_tools.assignments.times import TIMES, share_of_time
from nbody_tools.labs.building import COMMON, DoesNotCompile, Tools, Workshop
from nbody_tools.labs.building import GPU_SECONDS as SECONDS_TO_COMPILE
from nbody_tools.labs.running import run_alone
from nbody_tools.labs.tests import GPU_SECONDS, Result, quoted

CALLS = 9  # the fastest call counts
COPY = "copy_time"
BEFORE = "before solve():"  # what the harness prints if the GPU failed before the submission ran


def time_on_gpu(variant: Variant, text: str, seed: int, tools: Tools, is_right: bool,
                sandbox: str) -> Result:
    limit = variant.time_limit
    if limit is None:
        raise Failed(f"{variant.name}: {TIMES.name} has no time for its reference")
    if not is_right:
        return Result("time", 0, "counts only if every result of the test `right` is correct")
    try:
        copies = copies_taken(variant, text, seed, tools, sandbox)
    except NotTimed as error:
        return Result("time", 0, str(error))
    share = share_of_time(copies, limit)
    why = "" if share == 1 else \
        f"it takes as long as {copies:.2f} copies of its input; full points need {limit} or less"
    return Result("time", share, why)


class NotTimed(Exception):
    """Says why a submission has no time."""


class NoGpu(Exception):
    """Says why nothing can be timed on this machine, which is not the student's fault."""


def copies_taken(variant: Variant, text: str, seed: int, tools: Tools, sandbox: str) -> float:
    """Builds the submission with nvcc, and times it and a copy of its input. Returns the ratio of
    the two times. Raises NotTimed if the submission does not compile or its result is wrong, and
    NoGpu if there is no usable GPU."""
    dice = random.Random(seed)
    systems, count, copies = variant.timed
    problem = variant.problem(systems, count, dice)
    with tempfile.TemporaryDirectory(prefix="nbody-grade-") as folder:
        workshop = Workshop(Path(folder), tools, (), sandbox)
        add_harness(variant, workshop)
        workshop.add(FILE_NAME, text)
        workshop.add(f"{COPY}.cu", (SOURCES / f"{COPY}.cu").read_text(encoding="utf-8"))
        copy = build_for_gpu(workshop, COPY, (f"{COPY}.cu",))
        try:
            program = build_for_gpu(workshop, "submission", (f"{HARNESS}.cu", FILE_NAME))
        except DoesNotCompile as error:  # nvcc may reject code that hostcuda accepts
            raise NotTimed(f"nvcc does not compile it: {first_error(str(error))}") from error
        answers, _, _ = run_problems(workshop, program, [problem], "", GPU_SECONDS, CALLS, 0,
                                     copies, dice.randrange(copies))
        if BEFORE in answers.said:
            raise NoGpu(f"the GPU cannot be used in the sandbox{quoted(answers.said)}")
        if answers.why:
            raise NotTimed(answers.why + quoted(answers.said))
        checked = variant.check(problem, answers.results[0])
        if checked.why:
            raise NotTimed(f"in the timed run: {checked.why}")
        size = copies * sum(map(len, problem.blobs))
        return answers.seconds[0] / seconds_of_copy(workshop, copy, size)


def build_for_gpu(workshop: Workshop, name: str, sources: tuple[str, ...]) -> Path:
    tools = workshop.tools
    architectures = ["-arch=native"] if tools.architectures == ["native"] else [
        f"-gencode=arch=compute_{one},code=sm_{one}" for one in tools.architectures]
    workshop.call([tools.compiler, *COMMON, "-O3", *architectures, *sources, "-o", name],
                  SECONDS_TO_COMPILE)
    return workshop.installed(name)


def seconds_of_copy(workshop: Workshop, program: Path, size: int) -> float:
    ended = run_alone(workshop, [str(program), str(size), str(CALLS)], 0, "", GPU_SECONDS)
    try:
        return 1e-3 * float(ended.said)
    except ValueError as error:
        raise NoGpu(f"a copy of {size} bytes failed on this GPU: {ended.why}"
                    f"{quoted(ended.said)}") from error
