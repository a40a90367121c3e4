"""Defines the simulations that a tour runs for its pictures: problem, step and drawing."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Sequence

from nbody_tools.arguments import ToolError
from nbody_tools.figures.style import captions_apart, run_note
from nbody_tools.files.bodies import Bodies, read_snapshots
from nbody_tools.physics.orders import draw_orders
from nbody_tools.records.record import check_measurement
from nbody_tools.steps import Outcome, Step, run_step
from nbody_tools.tour.pictures import (
    Shown,
    draw_against_theory,
    draw_before_and_after,
    draw_hero,
    draw_path,
    make_film,
)


@dataclass
class Picture:
    """A part of the page: what a run or a tool drew."""
    title: str
    text: str
    shown: list[Shown] = field(default_factory=list)
    failure: str = ""
    film: str = ""  # path relative to the page


@dataclass(frozen=True)
class PictureRun:
    name: str  # name of the run's folder and figure
    title: str
    text: str
    arguments: tuple[str, ...]
    snapshot_every: int
    draw: Callable[[Sequence[Bodies], Path, str, str], list[Shown]]
    moves: bool = False  # if true, gets an animation


STEPS = 320  # of the collision, until its tails are longest
EVERY = 5  # steps of the collision per state of its film
# cpu_tree: these forces change the energy of the collision by 1.3e-3.
TREE = ("--theta", "1", "--force-tolerance", "0.1")


def picture_runs(on_gpu: bool, with_tree: bool) -> list[PictureRun]:
    """Returns the runs for the pictures. Galaxies have only as many bodies and steps as this
    machine can compute in seconds. `with_tree` is true if cpu_tree is built."""
    systems, bodies, steps = ("4", "16384", 1000) if on_gpu else ("1", "4096", 300)
    disks = "60000" if on_gpu else "24000" if with_tree else "3000"
    tree = TREE if with_tree and not on_gpu else ()
    return [
        PictureRun(
            "collision", "Two galaxies collide",
            "Two disks of stars in halos of dark matter meet on a parabolic orbit. The halos "
            "overlap and brake the galaxies. The near side of each disk is pulled more than the "
            "far side, so that tails grow out of both.",
            ("--scenario", "collision", "--bodies", disks, "--dt", "0.15", "--steps", str(STEPS),
             "--softening", "0.08", "--integrator", "leapfrog", *tree), EVERY,
            draw_hero, moves=True),
        PictureRun(
            "solar_system", "One year of the Solar System",
            "Eleven bodies, from their positions on 1 January 2000 (JPL DE405). Mercury completes "
            "four orbits, the Earth one, and Mars half of one; the outer planets hardly move.",
            ("--scenario", "solar-system", "--integrator", "leapfrog"), 24, draw_path),
        PictureRun(
            "figure_eight", "Three bodies that chase each other",
            "The periodic orbit of Chenciner and Montgomery. An error in a force breaks it.",
            ("--scenario", "figure-eight", "--integrator", "leapfrog"), 10, draw_path),
        PictureRun(
            "galaxies", "Galaxies before and after",
            "A Plummer sphere in equilibrium: single stars cross it many times, and the density "
            "does not change. A wrong force would let it collapse or fly apart.",
            ("--scenario", "galaxies", "--systems", systems, "--bodies", bodies, "--dt", "0.02",
             "--steps", str(steps), "--integrator", "leapfrog", *tree),
            steps, draw_before_and_after),
        PictureRun(
            "profile", "Density against theory",
            "A Plummer sphere, shell by shell, at its start and after bodies crossed it many "
            "times.",
            ("--scenario", "plummer", "--bodies", "16384" if on_gpu else "4096", "--dt", "0.02",
             "--steps", str(steps), "--integrator", "leapfrog", *tree),
            steps, draw_against_theory),
    ]


# The pictures of physics/orders.py, in order.
ORDERS = (
    (
        "Error against time step",
        "Halving the time step halves the error of Euler's integrator, and quarters that of "
        "leapfrog; a step of either costs the same.",
    ),
    (
        "float32 against float64",
        "In float32 a shorter time step helps until the rounding errors of the additional steps "
        "exceed its gain.",
    ),
    (
        "Energy over ten orbits",
        "Both integrators keep the energy within bounds for ever; leapfrog's bounds shrink with "
        "the square of the time step.",
    ),
)


def make_orders(step: Step, report: Path) -> list[Picture]:
    """Makes the pictures of integrators and precisions. Runs step 00, because it also computes in
    float64."""
    try:
        with captions_apart() as captions:
            draw_orders(step.program, report / "figures")
    except ToolError as error:
        return [Picture(*ORDERS[0], failure=str(error))]
    return [Picture(title, text, [Shown(f"figures/{path.name}", title, caption)])
            for (title, text), (path, caption) in zip(ORDERS, captions.items())]


def make_picture(
    run: PictureRun, step: Step, report: Path, timeout: float
) -> tuple[Outcome, Picture]:
    """Runs a simulation and draws its picture. The run writes to a new folder. When the run is
    complete, the new folder replaces the folder of the last tour."""
    folder = report / "runs" / run.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{run.name}.", dir=folder.parent) as temporary:
        snapshots = Path(temporary) / "snapshots"
        snapshots.mkdir()
        words = [*run.arguments, "--snapshot-every", str(run.snapshot_every),
                 "--snapshot-dir", str(snapshots)]
        outcome = run_step(step, words, timeout, check=check_measurement)
        picture = Picture(run.title, run.text)
        if not outcome.good or outcome.record is None:
            picture.failure = f"{step.name}: {outcome.status}. {outcome.message}".strip()
            return outcome, picture
        try:
            states = read_snapshots(snapshots)
            note = run_note(outcome.record)
            picture.shown = run.draw(states, report / "figures", run.name, note)
            if run.moves:
                film = make_film(states, report / "figures", f"{run.name}_film")
                picture.film = f"figures/{film}"
        except ToolError as error:
            picture.failure = str(error).replace(f"{temporary}{os.sep}", "")
            return Outcome(step.name, "error", outcome.record, picture.failure), picture
        shutil.rmtree(folder, ignore_errors=True)
        snapshots.rename(folder)
    return outcome, picture
