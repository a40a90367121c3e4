"""Runs everything once and leaves a page to look at: report/index.html.

  ./nbody tour                      builds what can run here, then
  python3 -m nbody_tools tour --build build/cpu

Simulates the Solar System, the figure-eight and galaxies for their pictures, then runs every step
on the same galaxies, and writes what came out, right or wrong.

Exit code: 0 all went well, 1 something did not (the page says what), 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Optional, Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError

from nbody_tools.figures import performance as figures_performance
from nbody_tools.figures.style import dates, machines
from nbody_tools.tour.runs import make_picture, picture_runs
from nbody_tools.tour.page import Picture, Section, image, page, paragraph, picture, table
from nbody_tools.records.staircase import Staircase, newest_gpu_staircase, staircases
from nbody_tools.steps import Outcome, Step, backend_of, default_build, find_steps
from nbody_tools.measure.run import run_steps, write_records

ON_A_GPU = ("--scenario", "galaxies", "--systems", "32", "--bodies", "8192", "--steps", "20")
ON_A_CPU = ("--scenario", "galaxies", "--systems", "4", "--bodies", "1024", "--steps", "10")
REPEATED = ("--repeat", "5", "--warmup", "1")


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("--build", type=arguments.existing_folder, metavar="DIR",
                   help="where the programs are [build/cuda if it finds a device, else build/cpu]")
    p.add_argument("--output", type=Path, default=ROOT / "report", metavar="DIR",
                   help="folder for everything that is written [report]")
    p.add_argument("--results", type=Path, default=ROOT / "docs" / "results", metavar="DIR",
                   help="committed measurements, for a machine without a GPU [docs/results]")
    p.add_argument("--step-timeout", type=arguments.positive_number, default=300.0,
                   metavar="SECONDS", help="of one program [300]")


def say(line: str) -> None:
    print(line, flush=True)


def simulate_pictures(steps: Sequence[Step], on_gpu: bool, report: Path,
                      timeout: float) -> list[tuple[Outcome, Picture]]:
    made = []
    for run in picture_runs(on_gpu):
        # Without a GPU the long evolution is for the CPU program: emulation costs, and adds nothing.
        step = steps[0] if run.name == "galaxies" and not on_gpu else steps[-1]
        say(f"{run.title}: {step.name} ...")
        made.append(make_picture(run, step, report, timeout))
    return made


def run_every_step(steps: Sequence[Step], on_gpu: bool, timeout: float) -> list[Outcome]:
    if on_gpu:
        return run_steps(steps, (*ON_A_GPU, *REPEATED), timeout, say)
    # Emulated times are shown nowhere, so that one run of each is enough; step 00 is real.
    native = [step for step in steps if step.number == "00"]
    emulated = [step for step in steps if step.number != "00"]
    return (run_steps(native, (*ON_A_CPU, *REPEATED), timeout, say)
            + run_steps(emulated, ON_A_CPU, timeout, say))


def staircase_section(measured: Optional[Staircase], results: Path, report: Path) -> Section:
    """The GPU times of this machine, or else those that are committed, named as such."""
    if measured is not None:
        section = Section("The staircase, measured here")
        drawn = figures_performance.draw_all(measured, report / "figures")
        section.parts += [image("figures/all_speedup.png", "Speedup of all steps"),
                          image("figures/all_throughput.png", "Throughput of all steps")]
        section.parts += ["<details><summary>Each step against those before it</summary>"]
        section.parts += [image(f"figures/{path.name}", path.stem)
                          for path in drawn if path.name.startswith("step")]
        section.parts.append("</details>")
        return section
    section = Section("The staircase, measured elsewhere")
    committed = newest_gpu_staircase(results)
    if committed is None:
        section.parts.append(paragraph("No GPU ran here, and no GPU measurement is committed in "
                                       "docs/results. Emulated times would say nothing."))
        return section
    source, staircase = committed
    section.parts.append(paragraph(
        f"No GPU ran here. This was measured on another machine on {dates(staircase.records)}: "
        f"{machines(staircase.records)} (docs/results/{source.name})."))
    figures_performance.draw_speedups(staircase, report / "figures" / "committed_speedup.png")
    figures_performance.draw_throughput(staircase, report / "figures" / "committed_throughput.png")
    section.parts += [image("figures/committed_speedup.png", "Speedup of all steps, committed"),
                      image("figures/committed_throughput.png", "Throughput of all steps, committed"),
                      table([Outcome(r.step, r.verdict, r) for r in staircase.records], ROOT)]
    return section


def measured_staircase(outcomes: Sequence[Outcome]) -> Optional[Staircase]:
    records = [o.record for o in outcomes if o.record is not None and not o.record.emulated]
    found = staircases(records)
    complete = found and found[0].has_gpu and found[0].base is not None
    return found[0] if complete else None


def failures_of(pictures: Sequence[tuple[Outcome, Picture]], outcomes: Sequence[Outcome]) -> list[str]:
    lines = [f"{made.title}: {made.failure}" for _, made in pictures if made.failure]
    return lines + [f"{o.step}: {o.status}. {o.message}".strip() for o in outcomes if not o.good]


def tour(build: Path, report: Path, results: Path, timeout: float) -> int:
    steps = find_steps(build)
    on_gpu = backend_of(steps) == "cuda"
    started = time.monotonic()
    pictures = simulate_pictures(steps, on_gpu, report, timeout)
    outcomes = run_every_step(steps, on_gpu, timeout)
    write_records(report / "records.jsonl", outcomes)
    say("Drawing ...")
    failures = failures_of(pictures, outcomes)
    machine = machines([o.record for o in outcomes if o.record is not None]) or "no machine"
    what = Section("What was run", [paragraph(
        f"{len(steps)} programs, {steps[0].name} to {steps[-1].name}, on {machine}, "
        f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}. "
        "Results are checked against a float64 reference; the verdicts are below.")])
    if any(outcome.record is not None and outcome.record.emulated for outcome in outcomes):
        what.parts.append(paragraph(
            "The GPU programs ran emulated on a CPU: what they compute is checked, how long they "
            "take here says nothing about a GPU and is not shown."))
    sections = [what, Section("What was simulated", [picture(made) for _, made in pictures]),
                Section("Every step on the same galaxies", [table(outcomes, ROOT)])]
    try:
        sections.append(staircase_section(measured_staircase(outcomes), results, report))
    except ToolError as error:
        failures.append(str(error))
    index = report / "index.html"
    arguments.write_whole_file(index, page("A tour of the N-body steps", failures, sections))
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    say(f"Done in {time.monotonic() - started:.0f} s. Look at {index}")
    return 1 if failures else 0


def run(options: argparse.Namespace) -> int:
    return tour(options.build or default_build(), options.output, options.results,
                options.step_timeout)
