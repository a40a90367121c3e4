#!/usr/bin/env python3
"""How many public CUDA programs compile and run unchanged: the table in ../../README.md.

  public_programs.py CLONES [--only REGEX] [--jobs N] [--log DIR] [--compile-only]

CLONES holds one folder per repository of programs.txt, named OWNER+NAME, at the commit given there;
`git clone` makes them. Nothing of them is copied here. A program with a main() is built and run for at
most 60 seconds; a file without one is compiled.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
NVCC = HERE.parents[1] / "bin" / "nvcc"
# A named refusal: one line that says what is not there.
REFUSED = re.compile(r"not emulated|is not part of hostcuda|hostcuda: ERROR")


def programs(only):
    """(repository, file, more compiler words) of each line of programs.txt."""
    for line in (HERE / "programs.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            repository, file, *words = line.split()
            if re.search(only, f"{repository} {file}"):
                yield repository, file, words


def has_main(source):
    return re.search(r"\bmain\s*\(", source.read_text(encoding="utf-8", errors="replace"))


def run(words, log, **options):
    with open(log, "a", encoding="utf-8") as output:
        print("$", *words, file=output, flush=True)
        try:
            return subprocess.run(words, stdout=output, stderr=subprocess.STDOUT, check=False,
                                  stdin=subprocess.DEVNULL, **options).returncode
        except subprocess.TimeoutExpired:
            return "timeout"


def attempt(program, clones, logs, compile_only):
    repository, file, words = program
    source = clones / repository.replace("/", "+") / file
    log = logs / (re.sub(r"\W+", "_", f"{repository}_{file}") + ".txt")
    log.unlink(missing_ok=True)
    common = clones / repository.replace("/", "+") / "Common"
    words = [*words, *([f"-I{common}"] if common.is_dir() else [])]
    whole = has_main(source) and not compile_only
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "program")
        command = [NVCC, "-O0" if compile_only else "-O1", "-w", str(source), "-o", made, *words, *([] if whole else ["-c"])]
        code = run(command, log, cwd=source.parent, timeout=300)
        if code != 0:
            text = log.read_text(encoding="utf-8", errors="replace")
            return "refused" if REFUSED.search(text) else "does not compile", log
        if not whole:
            return "compiles", log
        code = run([made], log, cwd=source.parent, timeout=60,
                   env={**os.environ, "OMP_NUM_THREADS": "2"})
    text = log.read_text(encoding="utf-8", errors="replace")
    if code == 0:
        return "runs", log
    if REFUSED.search(text):
        return "stops with a reason", log
    return ("hangs" if code == "timeout" else f"ends with status {code}"), log


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", default="", help="a regular expression")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--log", type=Path, default=Path(tempfile.gettempdir()) / "public_programs")
    options = parser.parse_args()
    options.log.mkdir(parents=True, exist_ok=True)
    chosen = list(programs(options.only))
    counts = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda p: attempt(p, options.clones, options.log, options.compile_only), chosen)
        for (repository, file, _), (outcome, log) in zip(chosen, results):
            counts.setdefault(repository, {}).setdefault(outcome.split(" status")[0], []).append(file)
            print(f"{outcome:24} {repository} {file}", flush=True)
    for repository, outcomes in counts.items():
        print(repository, {outcome: len(files) for outcome, files in outcomes.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
