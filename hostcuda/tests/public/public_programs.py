#!/usr/bin/env python3
"""Counts the public CUDA programs that compile and run unchanged, for the table in ../../README.md.

  public_programs.py CLONES [--only REGEX] [--jobs N] [--seconds N] [--log DIR] [--compile-only]
  [--write]

CLONES holds one folder per repository of programs.txt, named OWNER+NAME, at the commit given there;
`git clone` makes these folders. None of their code is copied here. A program with a main() is built
and run on two devices; a file without main() is only compiled. Programs that --only leaves out keep
their last result, from LOG/outcomes.json. --write puts the table into the README.
"""
import argparse
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = HERE.parents[1]
NVCC = HOME / "bin" / "nvcc"
# One-line messages that name a missing feature.
REFUSED = re.compile(r"not emulated|is not part of hostcuda|a function for host code")
STOPPED = re.compile(r"hostcuda: ERROR")
# Printed by programs that have found their own results wrong.
WRONG = re.compile(r"\bFAIL(?:ED)?\b|\bmismatch\b|verification failed|not correct", re.I)
# Printed by programs whose results are right, before they measure their speed.
MATCHES = re.compile(r"All results match")
NEEDS = re.compile(r"fatal error: (?:mpi|nccl|GL/|GLUT/|cudnn)\S*: No such file|"
                   r"undefined reference to `(?:gl[A-Z]|glut|MPI_)")

# The progress that a stopped program reports, which shows that it is slow but does not hang.
CAME_SO_FAR = re.compile(r"^hostcuda: stopped after (.*)$", re.M)

# Printed by a program that ends because it lacks an input file.
NO_FILE = re.compile(r"Failed to open file")

CORES = 2

BUILDS, RUNS, REFUSES = "builds", "right", "refused by name"
MEASURES, SLOW, ANOTHER = "right, still measuring", "computes for longer", "needs another library"
LACKS = "lacks its files"
COLUMNS = (
    RUNS,
    MEASURES,
    BUILDS,
    SLOW,
    REFUSES,
    ANOTHER,
    LACKS,
    "does not build",
    "wrong",
    "crashes",
    "not tried",
)
MARKS = "<!-- public programs -->\n", "<!-- end of public programs -->\n"


def programs(only):
    """Yields (repository, file, compiler words, arguments) from programs.txt."""
    for line in (HERE / "programs.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            words, _, arguments = line.partition(" -- ")
            repository, file, *words = words.split()
            if re.search(only, f"{repository} {file}"):
                yield repository, file, words, arguments.split()


def has_main(source):
    return re.search(r"\bmain\s*\(", source.read_text(encoding="utf-8", errors="replace"))


def run(words, log, seconds, **options):
    """Runs a program on two cores with a limit on its processor time, so that the machine's load
    does not matter. Also stops a program that waits without computing, or that has found its
    results right and now measures its speed. The stopped program can still report its
    progress."""
    limit = CORES * seconds
    with open(log, "a", encoding="utf-8") as output:
        print("$", *words, file=output, flush=True)
        program = subprocess.Popen(
            words,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)),
            **options,
        )
    for _ in range(10 * limit):
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = program.wait(timeout=1)
            return "timeout" if code in (-signal.SIGXCPU, -signal.SIGKILL) else code
        if MATCHES.search(log.read_text(encoding="utf-8", errors="replace")):
            break
    os.killpg(program.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(timeout=5)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    return "timeout"


def built(code, text):
    if code == 0:
        return BUILDS
    if REFUSED.search(text):
        return REFUSES
    return ANOTHER if NEEDS.search(text) else "does not build"


def ran(code, text):
    if REFUSED.search(text):
        return REFUSES
    if code == "timeout":
        if WRONG.search(text):
            return "wrong"
        return MEASURES if MATCHES.search(text) else SLOW
    if code > 0 and NO_FILE.search(text):
        return LACKS
    if code < 0 or STOPPED.search(text):
        return "crashes"
    return RUNS if code == 0 and not WRONG.search(text) else "wrong"


def attempt(program, options):
    repository, file, words, arguments = program
    clone = options.clones / repository.replace("/", "+")
    source = clone / file
    log = options.log / (re.sub(r"\W+", "_", f"{repository}_{file}") + ".txt")
    log.unlink(missing_ok=True)
    common = [f"-I{clone / 'Common'}"] if (clone / "Common").is_dir() else []
    whole = has_main(source) and not options.compile_only
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "program")
        command = [
            NVCC,
            "-O0" if options.compile_only else "-O1",
            "-w",
            str(source),
            "-o",
            made,
            *words,
            *common,
            *([] if whole else ["-c"]),
        ]
        code = run(command, log, 150, cwd=source.parent)
        outcome = built(code, log.read_text(encoding="utf-8", errors="replace"))
        if outcome == BUILDS and whole:
            log.unlink()
            code = run(["stdbuf", "-oL", made, *arguments], log, options.seconds, cwd=source.parent,
                       env={**os.environ, "OMP_NUM_THREADS": str(CORES), "HOSTCUDA_DEVICES": "2"})
            text = log.read_text(encoding="utf-8", errors="replace")
            outcome = ran(code, text)
            if outcome == SLOW:
                so_far = CAME_SO_FAR.search(text)
                outcome = f"{SLOW}: " + (f"after {re.sub(r' [^ ]*/', ' ', so_far[1])}" if so_far
                                         else "no kernel was running")
    return outcome


def table(counts, seconds, slow):
    """Yields the lines of the table. counts: results per repository; slow: progress of programs
    that did not end."""
    shown = [
        column for column in COLUMNS if any(column in outcomes for outcomes in counts.values())
    ]
    names = {RUNS: "run, right", MEASURES: "right, stopped while measuring",
             BUILDS: "no `main`, but compile", SLOW: f"not finished after {seconds} s",
             REFUSES: "rejected for a missing feature"}
    yield (
        "| repository | programs | "
        + " | ".join(names.get(column, column) for column in shown)
        + " |"
    )
    yield "|---|" + "---|" * (len(shown) + 1)
    total = {}
    for repository, outcomes in counts.items():
        for column, number in outcomes.items():
            total[column] = total.get(column, 0) + number
        yield row(repository, outcomes, shown)
    yield row("together", total, shown)
    ended = sum(total.get(column, 0) for column in (RUNS, "wrong", "crashes"))
    compiled = ended + sum(total.get(column, 0) for column in (BUILDS, LACKS, MEASURES, SLOW))
    yield ""
    yield (
        f"{compiled} of {sum(total.values())} public CUDA programs compile unchanged. Some of them "
        "are files without a `main`."
    )
    yield (
        f"{ended} of the others ended within {seconds} s on two cores, {total.get(RUNS, 0)} of "
        f"these with right results. Another {total.get(MEASURES, 0)}"
    )
    yield (
        "checked that their results are right, and were stopped while they measured their speed. "
        f"{total.get(SLOW, 0)} did"
    )
    yield "not finish in this time."
    if slow:
        yield ""
        yield "What the programs that did not finish were doing:"
        yield ""
    for name, so_far in slow.items():
        yield f"- {name}: {so_far}"


def row(name, outcomes, shown):
    numbers = [str(outcomes.get(column, "")) for column in shown]
    return f"| {name} | {sum(outcomes.values())} | " + " | ".join(numbers) + " |"


def write(lines):
    readme = HOME / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    readme.write_text(
        before + MARKS[0] + "\n".join(lines) + "\n" + MARKS[1] + after, encoding="utf-8"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", default="", help="a regular expression that selects programs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--seconds", type=int, default=60, help="time limit of one program's run, on two cores"
    )
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--log", type=Path, default=Path(tempfile.gettempdir()) / "public_programs")
    options = parser.parse_args()
    options.log.mkdir(parents=True, exist_ok=True)
    known = options.log / "outcomes.json"
    outcomes = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}
    chosen = list(programs(options.only))
    with ThreadPoolExecutor(options.jobs) as pool:
        for program, outcome in zip(chosen, pool.map(lambda one: attempt(one, options), chosen)):
            name = f"{program[0]} {program[1]}"
            outcomes[name] = outcome
            print(f"{outcome:24} {name}", flush=True)
            known.write_text(json.dumps(outcomes, indent=1) + "\n", encoding="utf-8")
    counts, slow = {}, {}
    for repository, file, *_ in programs(""):
        outcome, _, so_far = outcomes.get(f"{repository} {file}", "not tried").partition(": ")
        if so_far:
            slow[file] = so_far
        of_repository = counts.setdefault(repository, {})
        of_repository[outcome] = of_repository.get(outcome, 0) + 1
    lines = list(table(counts, options.seconds, slow))
    print(*lines, sep="\n")
    if options.write:
        write(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
