"""The simulations a tour makes for their pictures: what is run, by which step, and drawn how."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from nbody_tools.figures.density import draw_densities
from nbody_tools.figures.orbits import draw_orbits
from nbody_tools.arguments import ToolError
from nbody_tools.figures.style import run_note
from nbody_tools.files.bodies import Bodies, read_snapshots
from nbody_tools.steps import Outcome, Step, run_step


@dataclass
class Picture:
    title: str
    text: str
    image: str  # relative to the page
    failure: str = ""


@dataclass(frozen=True)
class PictureRun:
    name: str  # of its folder and its figure
    title: str
    text: str
    arguments: tuple[str, ...]
    snapshot_every: int
    draw: Callable[[Sequence[Bodies], Path, str], Path]


def draw_first_and_last(snapshots: Sequence[Bodies], path: Path, note: str) -> Path:
    return draw_densities(snapshots[0], snapshots[-1], path, note=note)


def picture_runs(on_gpu: bool) -> list[PictureRun]:
    """Galaxies get as many bodies and steps as a machine does in seconds."""
    systems, bodies, steps = ("4", "16384", 1000) if on_gpu else ("2", "1024", 300)
    return [
        PictureRun(
            "solar_system", "One year of the Solar System",
            "Eleven bodies from where they were on 1 January 2000 (JPL DE405). Mercury goes round "
            "four times, the Earth once, Mars half its way; the outer planets hardly move.",
            ("--scenario", "solar-system", "--integrator", "leapfrog"), 24, draw_orbits),
        PictureRun(
            "figure_eight", "Three bodies that chase each other",
            "The periodic orbit of Chenciner and Montgomery. An error in a force breaks it.",
            ("--scenario", "figure-eight", "--integrator", "leapfrog"), 10, draw_orbits),
        PictureRun(
            "galaxies", "Galaxies before and after",
            "Plummer spheres in equilibrium: single stars cross them many times, and the density "
            "stays as it was. A wrong force would let them collapse or fly apart.",
            ("--scenario", "galaxies", "--systems", systems, "--bodies", bodies, "--dt", "0.02",
             "--steps", str(steps), "--integrator", "leapfrog"), steps, draw_first_and_last),
    ]


def make_picture(run: PictureRun, step: Step, report: Path, timeout: float) -> tuple[Outcome, Picture]:
    """Simulates into a fresh folder, which replaces the one of the last tour when all is there."""
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
        except ToolError as error:
            picture.failure = str(error).replace(f"{temporary}{os.sep}", "")
            return Outcome(step.name, "error", outcome.record, picture.failure), picture
        shutil.rmtree(folder, ignore_errors=True)
        snapshots.rename(folder)
    return outcome, picture
