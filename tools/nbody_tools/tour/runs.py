"""Defines the simulations that a tour runs for its pictures: problem, step and drawing."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Sequence

from nbody_tools.figures import animate
from nbody_tools.figures.density import draw_densities
from nbody_tools.figures.orbits import draw_orbits
from nbody_tools.figures.profile import draw_profile
from nbody_tools.figures.states import draw_states
from nbody_tools.arguments import ToolError
from nbody_tools.figures.style import run_note
from nbody_tools.files.bodies import Bodies, read_bodies, read_snapshots, snapshot_files
from nbody_tools.physics.orders import draw_orders
from nbody_tools.steps import Outcome, Step, run_step


@dataclass
class Picture:
    title: str
    text: str
    image: str  # relative to the page
    failure: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)  # further links as (title, target)


@dataclass(frozen=True)
class PictureRun:
    name: str  # name of the run's folder and figure
    title: str
    text: str
    arguments: tuple[str, ...]
    snapshot_every: int
    draw: Callable[[Sequence[Bodies], Path, str], Path]
    moves: bool = False  # if true, gets an animation and a 3D page


def draw_four(snapshots: Sequence[Bodies], path: Path, note: str) -> Path:
    """Draws four states: before, during, and twice after the first passage."""
    last = len(snapshots) - 1
    states = [snapshots[round(part * last)] for part in (0, 0.51, 0.7, 1)]
    if "disk" in states[0].species:  # the haloes would hide the disks
        states = [state.only(["disk"]) for state in states]
    return draw_states(states, path, note=note)


def draw_against_theory(snapshots: Sequence[Bodies], path: Path, note: str) -> Path:
    return draw_profile([snapshots[0], snapshots[-1]], path, note=note)


def draw_first_and_last(snapshots: Sequence[Bodies], path: Path, note: str) -> Path:
    return draw_densities(snapshots[0], snapshots[-1], path, note=note)


def picture_runs(on_gpu: bool) -> list[PictureRun]:
    """Returns the runs for the pictures. Galaxies have only as many bodies and steps as the machine
    computes in seconds."""
    systems, bodies, steps = ("4", "16384", 1000) if on_gpu else ("2", "1024", 300)
    disks, dt = ("30000", "0.03") if on_gpu else ("3000", "0.05")
    passage = round(47 / float(dt))  # number of steps until the tails are longest
    return [
        PictureRun(
            "collision", "Two galaxies collide",
            "The disks of two galaxies on a parabolic orbit. Their haloes, which are not drawn, "
            "overlap and brake them; the near side of each disk is pulled more than the far "
            "side, and tails grow out of both.",
            ("--scenario", "collision", "--bodies", disks, "--dt", dt, "--steps", str(passage),
             "--integrator", "leapfrog"), passage // 100, draw_four, moves=True),
        PictureRun(
            "solar_system", "One year of the Solar System",
            "Eleven bodies, from their positions on 1 January 2000 (JPL DE405). Mercury completes "
            "four orbits, the Earth one, and Mars half of one; the outer planets hardly move.",
            ("--scenario", "solar-system", "--integrator", "leapfrog"), 24, draw_orbits),
        PictureRun(
            "figure_eight", "Three bodies that chase each other",
            "The periodic orbit of Chenciner and Montgomery. An error in a force breaks it.",
            ("--scenario", "figure-eight", "--integrator", "leapfrog"), 10, draw_orbits),
        PictureRun(
            "galaxies", "Galaxies before and after",
            "Plummer spheres in equilibrium: single stars cross them many times, and the density "
            "does not change. A wrong force would let them collapse or fly apart.",
            ("--scenario", "galaxies", "--systems", systems, "--bodies", bodies, "--dt", "0.02",
             "--steps", str(steps), "--integrator", "leapfrog"), steps, draw_first_and_last),
        PictureRun(
            "profile", "Density against theory",
            "A Plummer sphere, shell by shell, at its start and after bodies crossed it many "
            "times.",
            ("--scenario", "plummer", "--bodies", "16384" if on_gpu else "2048", "--dt", "0.02",
             "--steps", str(steps), "--integrator", "leapfrog"), steps, draw_against_theory),
    ]


def film_and_page(
    title: str, name: str, snapshots: Path, step: Step, report: Path
) -> list[tuple[str, str]]:
    """Makes the animation and the 3D page that accompany a picture; returns links to them."""
    species = (
        ["--species", "disk"] if "disk" in read_bodies(snapshot_files(snapshots)[0]).species else []
    )
    parser = argparse.ArgumentParser()
    animate.configure(parser)
    film = animate.make_film(
        parser.parse_args([str(snapshots), str(report / "figures" / name), *species])
    )
    links = [("the film", f"figures/{film.name}")]
    view = step.program.parents[1] / "view" / "nbody-view"
    if view.is_file():
        page = report / f"{name}.html"
        done = subprocess.run(
            [view, *snapshot_files(snapshots), *species, "--export", page],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise ToolError(f"{title}: {done.stderr.strip()}")
        links.append(("in 3D, to turn and play", page.name))
    return links


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
        images = [f"figures/{path.name}" for path in draw_orders(step.program, report / "figures")]
        return [Picture(title, text, image) for (title, text), image in zip(ORDERS, images)]
    except ToolError as error:
        return [Picture(ORDERS[0][0], ORDERS[0][1], "", str(error))]


def make_picture(
    run: PictureRun, step: Step, report: Path, timeout: float
) -> tuple[Outcome, Picture]:
    """Runs a simulation in a new folder, which replaces the folder of the last tour when complete,
    and draws its picture."""
    folder = report / "runs" / run.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{run.name}.", dir=folder.parent) as temporary:
        snapshots = Path(temporary) / "snapshots"
        snapshots.mkdir()
        outcome = run_step(step, [*run.arguments, "--snapshot-every", str(run.snapshot_every),
                                  "--snapshot-dir", str(snapshots)], timeout)
        picture = Picture(run.title, run.text, f"figures/{run.name}.png")
        if not outcome.good or outcome.record is None:
            picture.failure = f"{step.name}: {outcome.status}. {outcome.message}".strip()
            return outcome, picture
        try:
            run.draw(read_snapshots(snapshots), report / picture.image, run_note(outcome.record))
            if run.moves:
                picture.links = film_and_page(run.title, run.name, snapshots, step, report)
        except ToolError as error:
            picture.failure = str(error).replace(f"{temporary}{os.sep}", "")
            return Outcome(step.name, "error", outcome.record, picture.failure), picture
        shutil.rmtree(folder, ignore_errors=True)
        snapshots.rename(folder)
    return outcome, picture
