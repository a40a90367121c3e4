"""Defines the parts of ./nbody measure that only check, and therefore run many programs at the same
time. Uses only the standard library, because a machine with a GPU may lack other packages."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Iterable

from nbody_tools.measure.bench import Bench
from nbody_tools.steps import number_of

SANITIZERS = ("memcheck", "racecheck", "synccheck", "initcheck")
UNCHECKED = ("--validate", "off", "--quiet")
# The tests that depend on the step, as in cmake/nbody_step.cmake.
# The other tests are about code that all programs share.
OF_A_STEP = (
    "--gtest_filter=*Record*:*Snapshots*:*SameBits:*Double*:*Devices*:*WithoutDevice*:*Tuned*"
)
WAITING = {"OMP_WAIT_POLICY": "passive"}  # waiting threads leave the cores to other programs
# A small problem, because a kernel takes thousands of times longer under racecheck.
SMALL = ("--scenario", "galaxies", "--systems", 2, "--bodies", 300, "--steps", 3)
# Problems for kernels that SMALL does not launch, such as those for float64 or different masses.
OTHER_KERNELS: dict[str, dict[str, tuple[object, ...]]] = {
    "11": {"double": (*SMALL, "--precision", "double")},
    "12": {
        "double": (*SMALL, "--precision", "double"),
        "masses": ("--scenario", "star-cluster", "--bodies", 300, "--steps", 3),
    },
    "13": {
        "blocks": ("--scenario", "galaxies", "--systems", 132, "--bodies", 40, "--steps", 2),
        "clusters": ("--scenario", "galaxies", "--systems", 66, "--bodies", 520, "--steps", 1),
    },
}


def kernels_of(step: str) -> dict[str, tuple[object, ...]]:
    """Returns named lists of arguments that together launch every kernel of a step."""
    return {"": SMALL, **OTHER_KERNELS.get(number_of(step), {})}


# The number of bodies is not a multiple of a tile, and gives several blocks per system.
REPEATED = ("--scenario", "galaxies", "--systems", 3, "--bodies", 5003, "--steps", 10)
ALL_DIFFERENT = ("--scenario", "star-cluster", "--bodies", 30011, "--steps", 3)
REPEATS = 10
FIRST_OF_SAME_BITS = "03"


def at_once(task: Callable[..., None], items: Iterable[tuple]) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for future in [pool.submit(task, *item) for item in items]:
            future.result()


def checks(bench: Bench) -> None:
    """the tests of all steps, and their command-line tests; needs a GPU"""
    def check(step: str, log: str, *words: object) -> None:
        printed = bench.run(
            f"{step}.{log}.log", words, {**WAITING, "NBODY_PROGRAM": str(bench.build / step / step)}
        )
        skipped = printed.count("[  SKIPPED ] ") // 2  # GoogleTest prints each of them twice
        bench.say(f"{step} {log}: {printed.count('       OK')} tests passed, {skipped} skipped")

    at_once(check, [(step, "test", bench.build / step / f"{step}_test") for step in bench.steps])
    command_line = bench.build / "tests/command_line/command_line_test"
    whole = bench.gpu_steps[:1]
    at_once(check, [(step, "command_line", command_line, *(() if step in whole else (OF_A_STEP,)))
                    for step in bench.steps])


def sanitize(bench: Bench) -> None:
    """compute-sanitizer's four tools on every step with a small problem"""
    def look(step: str, kind: str, tool: str, words: tuple) -> None:
        name = ".".join(filter(None, (step, kind, tool)))
        printed = bench.run(
            f"{name}.log",
            [
                "compute-sanitizer",
                "--tool",
                tool,
                "--error-exitcode",
                9,
                bench.program(step),
                *words,
                *UNCHECKED,
            ],
            WAITING,
        )
        summary = re.search(r"(?:ERROR|RACECHECK) SUMMARY.*", printed)
        bench.say(f"{name}: {summary[0] if summary else 'no summary'}")

    at_once(look, [(step, kind, tool, words) for step in bench.gpu_steps
                   for kind, words in kernels_of(step).items()
                   for tool in SANITIZERS])


def same_bits(bench: Bench) -> None:
    """ten runs of every step from 03 on; the final bodies must have the same bits"""
    def repeat(step: str, kind: str, words: tuple) -> None:
        name = f"{step}.{kind}"
        ends = set()
        for number in range(REPEATS):
            output = bench.folder / f"{name}.bin"
            output.unlink(missing_ok=True)
            bench.run(
                f"{name}.{number}.log",
                [bench.program(step), *words, *UNCHECKED, "--output", output],
                WAITING,
            )
            if not output.exists():
                return  # already reported as a failure
            ends.add(output.read_bytes())
            output.unlink()
        if len(ends) > 1:
            bench.fail(f"{name}: {REPEATS} runs gave {len(ends)} different results")
        else:
            bench.say(f"{name}: {REPEATS} runs gave the same bits")

    at_once(
        repeat,
        [
            (step, kind, words)
            for step in bench.gpu_steps
            if number_of(step) >= FIRST_OF_SAME_BITS
            for kind, words in (("species", REPEATED), ("masses", ALL_DIFFERENT))
        ],
    )
