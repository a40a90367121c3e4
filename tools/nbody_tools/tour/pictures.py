"""Draws the pictures of the report from the snapshots of a run. Writes each picture to its own
file, and returns captions for the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from PIL import Image

from nbody_tools.design.units import time_text
from nbody_tools.figures.density import draw_densities
from nbody_tools.figures.orbits import draw_orbits
from nbody_tools.figures.profile import draw_profile
from nbody_tools.figures.style import captions_apart
from nbody_tools.files.bodies import Bodies
from nbody_tools.figures import light

HERO, MOMENT, FRAME = (1280, 580), (640, 400), (560, 350)  # width and height in pixels
HERO_AT = 0.75  # share of the run after which the tails are wide, but no star is out of sight
MOMENTS = (0, 0.5, 0.667, 1)  # before, during and twice after the first passage
MILLISECONDS = 90  # per frame of the film


@dataclass(frozen=True)
class Shown:
    """A file that the page shows."""
    path: str  # relative to the page
    alt: str
    caption: str = ""
    wide: bool = False  # too wide to be read on a phone unless it scrolls


def at(snapshots: Sequence[Bodies], part: float) -> Bodies:
    return snapshots[round(part * (len(snapshots) - 1))]


def draw_hero(snapshots: Sequence[Bodies], figures: Path, name: str, note: str) -> list[Shown]:
    """Draws a large picture of the most beautiful moment, and small pictures of four moments at
    the same scale."""
    best = at(snapshots, HERO_AT)
    galaxies = light.galaxies_of(best)
    image = light.picture(galaxies, *light.view_of([best], HERO[0] / HERO[1]), HERO)
    light.save_picture(image, figures / f"{name}.png")
    stars = sum(map(len, galaxies))
    shown = [Shown(
        f"figures/{name}.png",
        "Two galaxies after their first passage: each has a bright bar, and a long curved tail of "
        "stars; one is gold, the other blue",
        f"{stars:,} stars of {best.masses.shape[1]:,} bodies at {time_text(best)}; the rest is "
        f"dark matter, which is not drawn. {note}")]
    states = [at(snapshots, part) for part in MOMENTS]
    view = light.view_of(states, MOMENT[0] / MOMENT[1])
    for k, state in enumerate(states):
        image = light.picture(light.galaxies_of(state), *view, MOMENT)
        light.save_picture(image, figures / f"{name}_{k}.png")
        shown.append(Shown(f"figures/{name}_{k}.png", f"The galaxies at {time_text(state)}",
                           time_text(state)))
    return shown


def make_film(snapshots: Sequence[Bodies], figures: Path, name: str) -> str:
    """Makes an animation in a format that browsers show as a picture; returns the file's name."""
    view = light.view_of([at(snapshots, part) for part in MOMENTS], FRAME[0] / FRAME[1])
    first = [light.light(points, *view, FRAME) for points in light.galaxies_of(snapshots[0])]
    white = light.brightest(first)  # one value for all frames, so that the film does not flicker
    frames = [light.picture(light.galaxies_of(state), *view, FRAME, white) for state in snapshots]
    Image.init()
    film = figures / (f"{name}.webp" if "WEBP" in Image.SAVE_ALL else f"{name}.gif")
    light.save_picture(frames[0], film, save_all=True, append_images=frames[1:],
                       duration=MILLISECONDS, loop=0)
    return film.name


def draw_path(snapshots: Sequence[Bodies], figures: Path, name: str, note: str) -> list[Shown]:
    with captions_apart() as captions:
        draw_orbits(snapshots, figures / f"{name}.svg", note)
    return _shown(captions, name.replace("_", " "), wide=True)


def draw_before_and_after(
    snapshots: Sequence[Bodies], figures: Path, name: str, note: str
) -> list[Shown]:
    with captions_apart() as captions:
        draw_densities(snapshots[0], snapshots[-1], figures / f"{name}.svg", systems=1, note=note)
    return _shown(captions, "a galaxy before and after the run, side by side", wide=True)


def draw_against_theory(
    snapshots: Sequence[Bodies], figures: Path, name: str, note: str
) -> list[Shown]:
    with captions_apart() as captions:
        draw_profile([snapshots[0], snapshots[-1]], figures / f"{name}.svg", note=note)
    return _shown(captions, "density over radius, simulated and in theory")


def _shown(captions: dict[Path, str], alt: str, wide: bool = False) -> list[Shown]:
    return [Shown(f"figures/{path.name}", alt, caption, wide) for path, caption in captions.items()]
