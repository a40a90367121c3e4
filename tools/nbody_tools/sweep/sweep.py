"""Repeats the measurements in the reports' tables and figures, and measures every configuration of
the steps.

  ./nbody sweep list                    lists the tables
  ./nbody sweep build all               builds their programs with nvcc; needs no GPU
  ./nbody sweep all --dry-run           shows what would run, and for how long
  ./nbody sweep all                     runs all; an interrupted sweep resumes
  ./nbody sweep lab_table_1 cloud       runs only these tables
  ./nbody sweep all --new --gpus 8      runs on eight GPUs the configurations that docs/results/
                                        lacks, and those that they are compared with
  ./nbody sweep machine_code            repeats the counts in the machine code of two figures of
                                        a report; needs nvcc
  ./nbody sweep missing                 lists published tables and figures without a counterpart
                                        here, tables with unmeasured configurations, and
                                        records that no table uses
  ./nbody sweep defaults                lists the steps whose default is more than 5 % slower than
                                        the best

The tables are declared in experiments/sweeps/tables/. Each configuration is validated before it is
timed. Every round times all configurations once. A configuration that fails gets a record with the
reason. Running needs only Python's standard library and --build FOLDER with sweep_programs and
plan.json. Copy the records in OUTPUT/records.jsonl to docs/results/sweeps/.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, Failed, ToolError, write_json, write_json_lines
from nbody_tools.sweep.runner import (
    PLAN,
    PROGRAMS,
    Journal,
    Planned,
    built,
    chosen,
    estimate,
    pending,
    read_plan,
    records_of,
)
from nbody_tools.sweep.shares import (
    CORES,
    SHARES_PER_GPU,
    cores_of,
    not_measured,
    one_by_one,
    run_on,
    shares,
)

FOLDER = Path("experiments") / "sweeps"


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("word", nargs="+", metavar="list|build|machine_code|missing|defaults|TABLE|all",
                   help="action, or the tables to measure")
    p.add_argument("--build", type=Path, metavar="DIR", default=ROOT / "build" / "cuda",
                   help="folder of the programs [build/cuda]")
    p.add_argument("--output", type=Path, metavar="DIR", default=ROOT / "report" / "sweeps",
                   help="folder for runs and records [report/sweeps]")
    p.add_argument("--dry-run", action="store_true",
                   help="only print what would run, and for how long")
    p.add_argument("--seconds", type=arguments.positive_number, default=float("inf"), metavar="S",
                   help="time limit; runs that would exceed it are not started")
    p.add_argument("--only", metavar="TEXT", default="",
                   help="measure only configurations whose options contain this text")
    p.add_argument("--new", action="store_true",
                   help="measure only configurations that had no record in docs/results/ at build "
                        "time, and the configurations that tables compare with them")
    p.add_argument("--gpus", type=arguments.positive_integer, metavar="N", default=1,
                   help="number of GPUs to use, each with its own cores [1]")
    p.add_argument("--rounds", type=arguments.positive_integer, metavar="N",
                   help="maximum number of rounds [set by each table]")


def plan_of(root: Path) -> dict[str, Any]:
    """Returns the plan for a machine that only runs the programs. The plan has all tables, and
    contains each configuration once."""
    from nbody_tools.sweep.judge import Results
    from nbody_tools.sweep.shares import groups
    from nbody_tools.sweep.tables import (
        OTHER_PROGRAMS,
        Cell,
        configurations,
        read_tables,
        source_of,
    )
    tables = read_tables(root)
    of_group, results = groups(tables.values()), Results(root)

    def is_cpu(cell: Cell) -> bool:
        program = cell.runs.program.source
        return program not in OTHER_PROGRAMS and source_of(root, program).suffix == ".cpp"

    return {
        "tables": {
            name: list(
                dict.fromkeys(cell.configuration.key for cell in table.cells if cell.configuration)
            )
            for name, table in tables.items()
        },
        "configurations": {
            key: {
                "program": cell.runs.program.name,
                "arguments": cell.runs.arguments,
                "threads": cell.runs.threads,
                "cpu": is_cpu(cell),
                "rounds": cell.rounds,
                "repeat": cell.repeat,
                "rate": cell.rate,
                "group": of_group[key],
                "measured": results.of(cell) is not None,
            }
            for key, cell in configurations(list(tables.values())).items()
        },
    }


def list_tables() -> int:
    from nbody_tools.sweep.tables import read_reports, read_tables
    reports, report = read_reports(ROOT), None
    for name, table in read_tables(ROOT).items():
        if table.data["report"] != report:
            report = table.data["report"]
            print(reports[report]["title"])
        print(f"  {name:<24} {table.data['number']}: {table.data['title']}")
    return 0


def name(lines: list[str]) -> int:
    for line in lines:
        print(line)
    return 1 if lines else 0


def build(build_folder: Path, tables: list[str]) -> int:
    from nbody_tools.sweep.tables import read_tables
    known = list(read_tables(ROOT))
    for word in tables:
        if tables != ["all"] and word not in known:
            raise ToolError(f"'{word}' is not a table; choose from {', '.join(known)}")
    names = "" if tables == ["all"] else ";".join(tables)
    if (
        not (build_folder / "CMakeCache.txt").exists()
        and build_folder.resolve() != ROOT / "build" / "cuda"
    ):
        raise ToolError(
            f"{build_folder}: configure it first (cmake --preset cuda -B {build_folder})"
        )
    for words in (["cmake", "--preset", "cuda", "-B", str(build_folder), "-DNBODY_EXPERIMENTS=ON",
                   f"-DNBODY_SWEEP_TABLES={names}"],
                  ["cmake", "--build", str(build_folder), "--target", PROGRAMS, f"{PROGRAMS}_cpu"]):
        if subprocess.run(words, cwd=ROOT, check=False).returncode != 0:
            raise Failed(f"'{' '.join(words)}' failed")
    write_json(build_folder / FOLDER / PLAN, plan_of(ROOT))
    print(f"{build_folder / FOLDER}: {PROGRAMS}, {PLAN} and the folder tools/ are all that another "
          "machine needs")
    return 0


def say(text: str) -> None:
    """Prints a line with one call, because several threads print."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def wanted_of(options: argparse.Namespace, plan: dict[str, Any]) -> list[Planned]:
    wanted = chosen(plan, list(plan["tables"]) if options.word == ["all"] else options.word)
    if options.new:
        wanted = not_measured(wanted)
    for planned in [planned for planned in wanted if planned.gpus > options.gpus]:
        print(f"{planned.key}: skipped, because it needs {planned.gpus} GPUs")
    wanted = [
        planned
        for planned in wanted
        if options.only in planned.arguments and planned.gpus <= options.gpus
    ]
    return [
        replace(planned, rounds=min(planned.rounds, options.rounds or planned.rounds))
        for planned in wanted
    ]


def tell(wanted: list[Planned], journal: Journal, gpus: int) -> int:
    """Prints what would run, share by share. A share runs on one GPU, on several GPUs, or on the
    CPU."""
    alone = [[planned] for planned in wanted if planned.gpus > 1]
    on_gpu = [planned for planned in wanted if planned.gpus == 1 and not planned.cpu]
    on_cpu = [planned for planned in wanted if planned.cpu]
    of_gpus, apart = cores_of(gpus, sorted(os.sched_getaffinity(0)))
    for title, found in (
        ("several GPUs", alone),
        ("a GPU", shares(on_gpu, journal, gpus * SHARES_PER_GPU)),
        ("the CPU", one_by_one(on_cpu, journal)),
    ):
        for share in found:
            work = pending(share, journal)
            print(f"On {title}, about {estimate(work):.0f} s:")
            for round_, planned in work:
                print(f"  {round_}  {planned.seconds(round_ == 0):7.2f} s  {planned.key}")
    works = [
        estimate(pending(part, journal)) for part in ([p for p in wanted if not p.cpu], on_cpu)
    ]
    print(f"{len(pending(wanted, journal))} runs of {len(wanted)} configurations, about "
          f"{works[0]:.0f} s of GPUs and {works[1]:.0f} s of the CPU; {gpus} GPUs with "
          f"{len(of_gpus[0])} cores each, and {len(apart)} x {CORES} cores for CPU runs")
    return 0


def run(options: argparse.Namespace) -> int:
    command, *rest = options.word
    if command in ("list", "missing", "defaults", "machine_code") and rest:
        raise ToolError(f"{command}: takes no further words, but got '{rest[0]}'")
    if command == "list":
        return list_tables()
    if command == "missing":
        from nbody_tools.sweep.pages import unmeasured
        return name(unmeasured(ROOT))
    if command == "defaults":
        from nbody_tools.sweep.cloud import slow_defaults
        return name(slow_defaults(ROOT))
    if command == "machine_code":
        from nbody_tools.sweep.machine_code import write
        return write()
    if command == "build":
        if not rest:
            raise ToolError("build: name the tables to measure, or all")
        return build(options.build, rest)
    plan = {"folder": None, **plan_of(ROOT)} if options.dry_run else read_plan(options.build)
    wanted = wanted_of(options, plan)
    journal = Journal(options.output / "runs.jsonl")
    if options.dry_run:
        return tell(wanted, journal, options.gpus)
    names = built(plan["folder"], wanted)
    for program in sorted({planned.program for planned in wanted} - names):
        print(f"{program}: skipped, because it is not built")
    wanted = [planned for planned in wanted if planned.program in names]
    try:
        run_on(options.gpus, wanted, plan["folder"], journal, options.seconds, say)
    finally:
        write_json_lines(options.output / "records.jsonl", records_of(journal))
    print(f"Records: {options.output / 'records.jsonl'}")
    left = pending(wanted, journal)
    failed = [run for run in journal.runs if "failure" in run]
    if left or failed:
        print(f"{len(left)} runs remain, {len(failed)} configurations failed")
    return 1 if failed else 0
