#!/usr/bin/env python3
"""Runs `hostcuda check` on public programs that are labelled as racy or as free of races.

    labelled_races.py [--jobs N] [--write] [SUITES]

SUITES (or the environment variable HOSTCUDA_RACE_SUITES) is a folder with the two suites: `hirace`,
a clone of JohnJacobsonIII/HiRace-Artifact-SC24, and `indigo3`, a clone of burtscher/Indigo3Suite in
which the programs were generated. labelled_races.csv lists the programs with their inputs, the
hashes of their files, their labels and the expected results. The script fetches nothing. It prints
a table, and exits with 1 if a result differs from the expected one, and with 77 (skipped) without
the suites.

--write writes the results and hashes to labelled_races.csv, and the table to ../../RACES.md. The
column racecheck of the list has the results of compute-sanitizer's racecheck, which were measured
on a GPU (../../RACES.md); the script only counts them.
"""
import argparse
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "labelled_races.csv"
PAGE = HERE.parents[1] / "RACES.md"
MARKS = "<!-- labelled races -->\n", "<!-- end of labelled races -->\n"
HOSTCUDA = HERE.parents[1] / "bin" / "hostcuda"
FIELDS = ("suite", "program", "input", "sha256", "label", "result", "racecheck")
TOOLS = {"hostcuda": "result", "racecheck": "racecheck"}
SKIPPED = 77
TIMEOUT = 60
# For each suite: the folders of its programs, headers and inputs, and the arguments after the
# input (a graph). HiRace's programs take the numbers of threads per block and of blocks; Indigo3's
# programs take a number of runs, and most of them also a vertex.
SUITES = {
    "hirace": ("hirace/indigo/indigo_sources", "hirace/indigo/indigo_include",
               "hirace/indigo/input", ("64", "256")),
    "indigo3": ("indigo3/generatedCodes/CUDA", "indigo3/lib", "indigo3/inputs", ("1", "0")),
}
RACES = {"race", "lost update"}
SAME_VALUE = "same-value stores"


def result_of(record):
    """Returns the kind of races that `hostcuda check` reports: race, same value (if all races are
    between stores of the same value), or none."""
    kinds = {finding["kind"] for finding in record["traced"]}
    return "race" if kinds & RACES else "same value" if SAME_VALUE in kinds else "none"


def check(suites, row):
    folder, headers, inputs, arguments = SUITES[row["suite"]]
    source = suites / folder / row["program"]
    if not source.is_file():
        return "", "not there"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    with tempfile.TemporaryDirectory() as scratch:
        found = Path(scratch) / "found.json"
        try:
            ended = subprocess.run(
                [sys.executable, HOSTCUDA, "check", "--json", found, "--timeout", str(TIMEOUT),
                 source, f"-I{suites / headers}", "-w", "--", suites / inputs / row["input"],
                 *arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                check=False, timeout=4 * TIMEOUT)
        except subprocess.TimeoutExpired:
            return digest, "no end"
        if not found.exists():
            sys.stderr.buffer.write(ended.stdout[-2000:])
            return digest, "does not compile"
        return digest, result_of(json.loads(found.read_text(encoding="utf-8")))


def table(rows):
    """Returns a Markdown table: per suite and tool, the races that were found and missed, and the
    reports about programs without a race."""
    lines = ["| suite | tool | racy | found | missed | free of races | reported | same value |",
             "|---|---|---|---|---|---|---|---|"]
    for suite in [*SUITES, "together"]:
        for tool, field in TOOLS.items():
            counts = Counter((row["label"], row[field]) for row in rows
                             if suite in (row["suite"], "together") and row[field])
            of = {label: sum(count for (its, _), count in counts.items() if its == label)
                  for label in ("race", "clean")}
            found = counts["race", "race"] + counts["race", "same value"]
            lines.append(f"| {suite} | {tool} | {of['race']} | {found} | {of['race'] - found} | "
                         f"{of['clean']} | {of['clean'] - counts['clean', 'none']} | "
                         f"{counts['clean', 'same value']} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suites", nargs="?", default=os.environ.get("HOSTCUDA_RACE_SUITES", ""))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true",
                        help="write the results to labelled_races.csv and RACES.md")
    options = parser.parse_args()
    suites = Path(options.suites or "?").absolute()
    if not all((suites / name).is_dir() for name in SUITES):
        print("skipped: neither SUITES nor HOSTCUDA_RACE_SUITES is a folder of both suites")
        return SKIPPED
    with open(LIST, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    begin = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda row: check(suites, row), rows))
    differs = 0
    for row, (digest, result) in zip(rows, results):
        if not options.write and (digest, result) != (row["sha256"], row["result"]):
            differs += 1
            print(f"{row['suite']}/{row['program']}: {result}, not {row['result']}"
                  + ("" if digest == row["sha256"] else "; the file differs"))
        row.update(sha256=digest, result=result)
    print(table(rows))
    print(f"{len(rows)} programs in {time.monotonic() - begin:.0f} s, {options.jobs} at a time")
    if options.write:
        with open(LIST, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        PAGE.write_text(f"{before}{MARKS[0]}{table(rows)}\n{MARKS[1]}{after}", encoding="utf-8")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
