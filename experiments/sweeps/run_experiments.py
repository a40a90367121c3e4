#!/usr/bin/env python3
"""Runs every experiment once at a small size: run_experiments.py [--plain] PROGRAM...

With --plain the experiments run without options, each for at most two minutes. PROGRAM is an
experiment's own program, or experiment_programs or experiment_programs_cpu, which contain several
experiments and list them. A program that ran without a GPU must say so next to its rate or time.
"""
import subprocess
import sys
from pathlib import Path

SMALL = {
    "activity_map": ["--rung", "shared", "--bodies", "100", "--map", "10", "--steps", "1"],
    "course_program": ["4"],
    "latencies": ["--latency", "launch", "--repeat", "1"],
    "production_sums": ["--bodies", "100", "--repeat", "1", "--warmup", "0"],
    "tensor_cores": ["--scenario", "plummer", "--bodies", "100", "--steps", "1",
                     "--validate", "off"]
}
STEP_LIKE = ["--scenario", "plummer", "--bodies", "100", "--steps", "1"]
RATES = ("interactions/s", "Interactions / second", "G/s", " us ", "compute")


MOST_SECONDS = 120


def commands(program, plain):
    """Returns a list of pairs: the name of an experiment and its command."""
    name = Path(program).name
    if not name.startswith("experiment_programs"):
        return [(name, [program, *([] if plain else SMALL.get(name, STEP_LIKE))])]
    listed = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True,
                            check=True).stdout.split()
    return [(one, [program, one, *([] if plain else STEP_LIKE)]) for one in listed]


def problem_of(name, words):
    try:
        done = subprocess.run(words,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT,
                              text=True,
                              timeout=MOST_SECONDS,
                              check=False)
    except subprocess.TimeoutExpired:
        return f"{name}: takes more than {MOST_SECONDS} s"
    if done.returncode == 77:
        return ""  # there is no device
    if done.returncode != 0:
        return f"{name}: exit code {done.returncode}: {done.stdout[-300:]}"
    rates = [line for line in done.stdout.splitlines() if any(rate in line for rate in RATES)]
    if not rates:
        return f"{name}: prints no rate: {done.stdout[-300:]}"
    on_cpu = words[0].endswith("_cpu")
    if on_cpu == ("emulated on a CPU" in done.stdout) and "/cuda/" not in words[0]:
        says = "a CPU program says that it is" if on_cpu else "does not say that its rate is"
        return f"{name}: {says} emulated"
    return ""


def main():
    plain = "--plain" in sys.argv[1:]
    programs = [word for word in sys.argv[1:] if word != "--plain"]
    found = [command for program in programs for command in commands(program, plain)]
    problems = list(filter(None, (problem_of(name, words) for name, words in found)))
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(found)} experiments run")


if __name__ == "__main__":
    main()
