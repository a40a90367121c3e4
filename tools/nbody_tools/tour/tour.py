"""Runs steps and several scenarios once, and writes the results to a page, report/index.html.

  ./nbody tour                      builds what can run on this machine, then runs
  python3 -m nbody_tools tour --build build/cpu

Simulates the Solar System, the figure-eight and galaxies for pictures. Runs all steps except drafts
and step 14, which takes long to compile, on the same galaxies, and reports which of them passed.
Emulated steps take fewer time steps than step 00.

Exit code: 0 success, 1 a run failed (the page says which), 2 invalid arguments.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any, Optional, Sequence

import jinja2

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError, write_whole_file
from nbody_tools.design.tokens import style_sheet
from nbody_tools.figures import performance
from nbody_tools.figures.style import captions_apart, dates, machines
from nbody_tools.measure.outcomes import COLUMNS, notes, rows
from nbody_tools.measure.run import run_steps, write_records
from nbody_tools.records.staircase import Staircase, committed_staircase, staircases
from nbody_tools.steps import Outcome, Step, backend_of, default_build, find_steps, is_draft
from nbody_tools.tour.pictures import Shown
from nbody_tools.tour.stairs import checks_of, decades, stairs
from nbody_tools.tour.runs import (
    Picture,
    PictureRun,
    make_orders,
    make_picture,
    picture_runs,
)

ON_A_GPU = ("--scenario", "galaxies", "--systems", "32", "--bodies", "8192", "--steps", "20")
ON_A_CPU = ("--scenario", "galaxies", "--systems", "4", "--bodies", "1024", "--steps", "10")
EMULATED = (*ON_A_CPU[:-1], "4")
LEFT_OUT = "14"  # not built for the tour, so a program that exists may be outdated
# Without a GPU, cpu_tree computes the long runs, because emulation is slow.
LONG = ("collision", "galaxies", "profile")
NO_STAIRCASE: dict[str, Any] = {
    "here": False, "speeds": None, "file": "", "charts": [], "charts_of_steps": [], "failures": []}
REPEATED = ("--repeat", "5", "--warmup", "1")

# The pictures of the scenarios, the pictures of the integrators' orders, and a run of every step.
Simulated = tuple[list[tuple[Outcome, Picture]], list[Picture], list[Outcome]]


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("--build", type=arguments.existing_folder, metavar="DIR",
                   help="folder of the programs [build/cuda if a device is found, else build/cpu]")
    p.add_argument("--output", type=Path, default=ROOT / "report", metavar="DIR",
                   help="folder for all output [report]")
    p.add_argument("--results", type=Path, default=ROOT / "docs" / "results", metavar="DIR",
                   help="committed measurements, shown if there is no GPU [docs/results]")
    p.add_argument("--step-timeout", type=arguments.positive_number, default=300.0,
                   metavar="SECONDS", help="time limit per program [300]")


def say(line: str) -> None:
    print(line, flush=True)


def cpu_tree(steps: Sequence[Step]) -> Optional[Step]:
    """Returns cpu_tree if it was built. Building it needs Highway."""
    program = steps[0].program.parents[1] / "cpu" / "tree" / "cpu_tree"
    return Step("cpu_tree", program) if program.is_file() else None


def steps_of_pictures(steps: Sequence[Step], on_gpu: bool) -> list[tuple[PictureRun, Step]]:
    """Returns the runs for the pictures, each with the step that computes it."""
    tree = cpu_tree(steps)
    return [(run, tree or steps[0]) if run.name in LONG and not on_gpu else (run, steps[-1])
            for run in picture_runs(on_gpu, tree is not None)]


def simulate_picture(
    run: PictureRun, step: Step, report: Path, timeout: float
) -> tuple[Outcome, Picture]:
    say(f"{run.title}: {step.name} ...")
    return make_picture(run, step, report, timeout)


def simulate_orders(steps: Sequence[Step], report: Path) -> list[Picture]:
    say("Errors of integrators ...")
    return make_orders(steps[0], report) if steps[0].number == "00" else []


def begin_worker(workers: int) -> None:
    os.environ.setdefault("OMP_NUM_THREADS",
                          str(max(1, len(os.sched_getaffinity(0)) // workers)))
    # Ctrl-C is for the parent, which then terminates the workers. A worker that leaves by an
    # exception also ends the program that it runs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())


def simulate_on_gpu(steps: Sequence[Step], report: Path, timeout: float) -> Simulated:
    pictures = [simulate_picture(run, step, report, timeout)
                for run, step in steps_of_pictures(steps, True)]
    return (pictures, simulate_orders(steps, report),
            run_steps(steps, (*ON_A_GPU, *REPEATED), timeout, say))


def simulate_on_cpu(steps: Sequence[Step], results: Path, report: Path, timeout: float
                    ) -> tuple[Simulated, dict[str, Any]]:
    """Returns the staircase too, because it is drawn while the steps run."""
    # Step 00 is timed, so nothing else runs at the same time. Emulated times are never shown, so
    # emulated steps run once, while another process draws pictures.
    native = [step for step in steps if step.number == "00"]
    emulated = [step for step in steps if step.number != "00"]
    timed = run_steps(native, (*ON_A_CPU, *REPEATED), timeout, say)
    # A forked worker has already imported matplotlib.
    with multiprocessing.get_context("fork").Pool(2, begin_worker, (2,)) as beside:
        pictures = [beside.apply_async(simulate_picture, (run, step, report, timeout))
                    for run, step in steps_of_pictures(steps, False)]
        others = beside.apply_async(run_steps, (emulated, EMULATED, timeout, say))
        orders = beside.apply_async(simulate_orders, (steps, report))
        staircase = beside.apply_async(draw_staircase, (None, results, report))
        simulated = ([made.get() for made in pictures], orders.get(), timed + others.get())
        return simulated, staircase.get()


def draw_staircase(measured: Optional[Staircase], results: Path, report: Path) -> dict[str, Any]:
    """Draws the GPU times of this machine or, if there are none, the committed times. Returns the
    data for the page; `here` is true if the times are from this machine."""
    try:
        return draw_times(measured, results, report / "figures")
    except ToolError as error:
        return {**NO_STAIRCASE, "failures": [str(error)]}


def draw_times(measured: Optional[Staircase], results: Path, figures: Path) -> dict[str, Any]:
    if measured is not None:
        with captions_apart() as captions:
            performance.draw_all(measured, figures, "svg")
        return {**NO_STAIRCASE, "here": True, "speeds": measured,
                "charts": charts(captions, ("all_speedup", "all_throughput")),
                "charts_of_steps": charts(captions, "step")}
    committed = committed_staircase(results)
    if committed is None:
        return {**NO_STAIRCASE}
    source, staircase = committed
    with captions_apart() as captions:
        performance.draw_speedups(staircase, figures / "committed_speedup.svg")
        performance.draw_throughput(staircase, figures / "committed_throughput.svg")
    return {**NO_STAIRCASE, "speeds": staircase, "file": source.name,
            "charts": charts(captions, "committed")}


def charts(captions: dict[Path, str], beginning: str | tuple[str, ...]) -> list[Shown]:
    """Returns the figures whose file names start with `beginning`."""
    return [
        Shown(f"figures/{path.name}", path.stem.replace("_", " "), caption, wide=True)
        for path, caption in captions.items()
        if path.name.startswith(beginning)
    ]


def proved(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Counts all programs, the programs that passed, the checks that passed or failed, and the
    checks that passed."""
    checks = [found for outcome in outcomes if (found := checks_of(outcome.record))]
    return {
        "programs": len(outcomes),
        "good": sum(outcome.good for outcome in outcomes),
        "passed": sum(found.passed for found in checks),
        "decided": sum(found.decided for found in checks),
    }


def measured_staircase(outcomes: Sequence[Outcome]) -> Optional[Staircase]:
    records = [o.record for o in outcomes if o.record is not None and not o.record.emulated]
    measured_here = staircases(records)
    complete = measured_here and measured_here[0].has_gpu and measured_here[0].base is not None
    return measured_here[0] if complete else None


def failures_of(pictures: Sequence[Picture], outcomes: Sequence[Outcome]) -> list[str]:
    lines = [f"{made.title}: {made.failure}" for made in pictures if made.failure]
    return lines + [f"{o.step}: {o.status}. {o.message}".strip() for o in outcomes if not o.good]


def write_page(path: Path, words: dict[str, Any]) -> None:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    style = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    page = environment.get_template("page.html").render(
        style=f"{style_sheet()}{style}", columns=COLUMNS, notes=notes, dates=dates,
        machines=machines, rows=lambda outcomes: list(zip(outcomes, rows(outcomes))), **words)
    write_whole_file(path, page)


def run(options: argparse.Namespace) -> int:
    steps = [step for step in find_steps(options.build or default_build())
             if not is_draft(step.name, ROOT) and step.number != LEFT_OUT]
    report = options.output
    on_gpu = backend_of(steps) == "cuda"
    started = time.monotonic()
    if on_gpu:
        simulated = simulate_on_gpu(steps, report, options.step_timeout)
        staircase = draw_staircase(measured_staircase(simulated[2]), options.results, report)
    else:
        simulated, staircase = simulate_on_cpu(steps, options.results, report, options.step_timeout)
    pictures, orders, outcomes = simulated
    write_records(report / "records.jsonl", outcomes)
    shown = [picture for _, picture in pictures] + orders
    failures = failures_of(shown, outcomes) + staircase.pop("failures")
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    write_page(report / "index.html", {
        "failures": failures, "steps": steps, "machine": machines(records) or "no machine",
        "date": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}", "outcomes": outcomes,
        "emulated": any(record.emulated for record in records),
        "pictures": {made.title: made for made in shown},
        "runs": [outcome for outcome, _ in pictures],
        "stairs": stairs(outcomes, staircase["speeds"]), "ticks": decades(staircase["speeds"]),
        "proved": proved(outcomes), **staircase})
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    say(f"Done in {time.monotonic() - started:.0f} s. Look at {report / 'index.html'}")
    return 1 if failures else 0
