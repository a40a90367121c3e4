"""Makes a film from a folder of snapshots: MP4 if ffmpeg is installed, otherwise GIF.

  ./nbody animate FOLDER OUT            writes OUT.mp4 or OUT.gif
  ./nbody animate FOLDER orbits.gif     the extension selects the format

Each snapshot becomes one frame. If there are few bodies, they leave trails. The last line of the
output is the name of the film.

Exit code: 0 success; 1 numpy or matplotlib is missing, or ffmpeg failed; 2 an argument or a file is
wrong (one-line message).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any, Sequence

import numpy
from matplotlib import animation

from nbody_tools import arguments
from nbody_tools.arguments import Failed, ToolError
from nbody_tools.figures.density import AXES
from nbody_tools.figures.orbits import MAX_BODIES
from nbody_tools.figures.style import SPECIES_COLOURS, literal, pyplot
from nbody_tools.files.bodies import (
    Bodies,
    each_snapshot,
    read_bodies,
    snapshot_files,
    species_list,
)

ENDINGS = (".mp4", ".gif")
INCHES = 4.8
RATES = (0.1, 100)  # frames per second; a GIF stores the time of a frame in hundredths of a second
SIDES = (64, 4096)  # pixels; matplotlib cannot draw letters that are smaller than a pixel
TRAIL = 40  # a trail's length in snapshots
VIEWED_FRACTION = 0.98  # share of the bodies in view; escaped bodies would make the view too wide
BACKGROUND, FOREGROUND = "#0B0E14", "#D8DEE9"
# Brighter colours than those of figures on a white page; colour-blind viewers can distinguish them.
BRIGHT = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#FFFFFF", "#D55E00")


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("snapshots", type=arguments.existing_folder, metavar="FOLDER")
    p.add_argument("output", type=film_file, metavar="OUT")
    p.add_argument("--system", type=arguments.positive_integer, default=1,
                   help="number of the system to show [1]")
    p.add_argument("--view", choices=sorted(AXES), default="xy")
    p.add_argument("--species", type=species_list, metavar="LIST",
                   help="species of the bodies to show: disk,star [all]")
    p.add_argument(
        "--half-width",
        type=arguments.positive_number,
        metavar="X",
        help="half width of the picture [enough for all bodies if they are few, else for 98 %%]",
    )
    p.add_argument("--frames-per-second", type=frames_per_second, default=20, metavar="F",
                   help=f"{RATES[0]:g} to {RATES[1]:g} [20]")
    p.add_argument("--pixels", type=pixels, default=480, metavar="P",
                   help=f"pixels per side of the picture, {SIDES[0]} to {SIDES[1]} [480]")


def frames_per_second(text: str) -> float:
    value = arguments.positive_number(text)
    if not RATES[0] <= value <= RATES[1]:
        raise argparse.ArgumentTypeError(f"'{text}' is not from {RATES[0]:g} to {RATES[1]:g}")
    return value


def pixels(text: str) -> int:
    value = arguments.positive_integer(text)
    if not SIDES[0] <= value <= SIDES[1]:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a whole number from {SIDES[0]} to {SIDES[1]}"
        )
    return value


def film_file(text: str) -> Path:
    path = Path(text)
    if path.suffix not in ("", *ENDINGS):
        raise argparse.ArgumentTypeError(
            f"'{text}' must end in {', '.join(ENDINGS)}, or have no extension"
        )
    if path.suffix == ".mp4" and not shutil.which("ffmpeg"):
        raise argparse.ArgumentTypeError(f"'{text}' needs ffmpeg, which is not installed; "
                                         "a .gif file does not need ffmpeg")
    if path.suffix:
        return path
    return path.with_suffix(".mp4" if shutil.which("ffmpeg") else ".gif")


class Gif(animation.PillowWriter):
    """Fails with the reason if a film ends before its first frame; PillowWriter.finish, which
    matplotlib also calls then, would replace it by an IndexError."""

    frames = 0

    def grab_frame(self, **options: Any) -> None:
        super().grab_frame(**options)
        self.frames += 1

    def finish(self) -> None:
        if self.frames:
            super().finish()


class Scene:
    """Draws one system: a dot per body and, if there are few bodies, trails."""

    def __init__(self, states: Sequence[Bodies], options: argparse.Namespace) -> None:
        """Chooses the extent of the picture from the states."""
        systems = states[0].positions.shape[0]
        if options.system > systems:
            raise ToolError(
                f"no system {options.system}: the last system in the snapshots is {systems}"
            )
        self.system, self.axes = options.system - 1, list(AXES[options.view])
        self.species = options.species
        points = self.points(states[0])
        half_width = options.half_width or self.half_width([self.points(s) for s in states])
        self.trails = numpy.empty((0, *points.shape))
        self.figure, axes = pyplot.subplots(figsize=(INCHES, INCHES), facecolor=BACKGROUND,
                                            dpi=options.pixels / INCHES)
        axes.set(
            xlim=(-half_width, half_width),
            ylim=(-half_width, half_width),
            facecolor=BACKGROUND,
            aspect="equal",
        )
        axes.set_xlabel(options.view[0], color=FOREGROUND)
        axes.set_ylabel(options.view[1], color=FOREGROUND)
        axes.tick_params(colors=FOREGROUND, labelsize=9)
        for spine in axes.spines.values():
            spine.set(visible=True, color=FOREGROUND)
        few = len(points) <= MAX_BODIES
        kinds = self.kinds(states[0])
        colours = ([BRIGHT[i % len(BRIGHT)] for i in range(len(points))] if few else
                   [SPECIES_COLOURS[kind] for kind in kinds] if kinds else BRIGHT[0])
        self.dots = axes.scatter(*points.T, c=colours, s=28 if few else self.dot_size(len(points)),
                                 alpha=1 if few else 0.7, linewidths=0)
        self.lines = [axes.plot([], [], color=colour, linewidth=1, alpha=0.7)[0]
                      for colour in colours] if few else []
        self.title = axes.set_title("", color=FOREGROUND, fontsize=11)
        self.figure.subplots_adjust(left=0.15, right=0.97, bottom=0.11, top=0.93)

    @staticmethod
    def dot_size(bodies: int) -> float:
        return float(numpy.clip(6000 / bodies, 0.1, 6))  # dot area in square points

    def points(self, bodies: Bodies) -> numpy.ndarray:
        bodies = bodies.only(self.species) if self.species else bodies
        return bodies.synchronised_positions()[self.system][:, self.axes]

    def kinds(self, bodies: Bodies) -> list[str]:
        """Returns the species of each drawn body, or an empty list if the file has no species."""
        bodies = bodies.only(self.species) if self.species else bodies
        count = bodies.masses.shape[1]
        return bodies.species[self.system * count:(self.system + 1) * count]

    @staticmethod
    def half_width(states: Sequence[numpy.ndarray]) -> float:
        viewed = 1 if len(states[0]) <= MAX_BODIES else VIEWED_FRACTION
        return (
            1.1 * max(float(numpy.quantile(abs(state).max(-1), viewed)) for state in states) or 1.0
        )

    def show(self, bodies: Bodies) -> None:
        points = self.points(bodies)
        self.dots.set_offsets(points)
        self.title.set_text(f"{literal(bodies.scenario) or 'bodies'}, t = {bodies.time:.3f}")
        if self.lines:
            self.trails = numpy.concatenate([self.trails, points[None]])[-TRAIL:]
            for body, line in enumerate(self.lines):
                line.set_data(*self.trails[:, body].T)


def states_for_the_size(folder: Path) -> list[Bodies]:
    """Reads the states that determine the extent of the picture: all states if there are few
    bodies, otherwise the first and the last."""
    files = snapshot_files(folder)
    first = read_bodies(files[0])
    if first.positions.shape[1] <= MAX_BODIES:
        return list(each_snapshot(folder))
    return [first, read_bodies(files[-1])]


def make_film(options: argparse.Namespace) -> Path:
    scene = Scene(states_for_the_size(options.snapshots), options)
    path = options.output
    temporary = path.with_name(f".{os.getpid()}.{path.name}")  # the extension selects the format
    writer = (Gif(fps=options.frames_per_second) if path.suffix == ".gif" else
              animation.FFMpegWriter(fps=options.frames_per_second, codec="h264",
                                     extra_args=["-pix_fmt", "yuv420p", "-loglevel", "error"]))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writer.saving(scene.figure, str(temporary), scene.figure.dpi):
            for snapshot in each_snapshot(options.snapshots):
                scene.show(snapshot)
                writer.grab_frame(facecolor=BACKGROUND)
        os.replace(temporary, path)
    except OSError as error:
        raise ToolError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # such as a file in place of the folder, which was reported above
            temporary.unlink()
        pyplot.close(scene.figure)
    return path


def run(options: argparse.Namespace) -> int:
    try:
        print(make_film(options))
    except subprocess.CalledProcessError as error:
        raise Failed(f"ffmpeg failed: {error}") from error
    return 0
