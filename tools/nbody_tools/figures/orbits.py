"""Draws orbits from the snapshots of one run: the Solar System, the figure-eight, or any system of
few bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import numpy
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from nbody_tools.design.tokens import value
from nbody_tools.design.units import units_of
from nbody_tools.figures.style import (
    BLACK,
    BLUE,
    CYCLE,
    GREY,
    ORANGE,
    PAGE,
    PURPLE,
    SKY_BLUE,
    VERMILION,
    YELLOW,
    literal,
    pyplot,
    save,
)
from nbody_tools.files.bodies import Bodies, FileError, how_it_was_run, which_is_shown

MAX_BODIES = 64  # a picture cannot show more orbits distinctly

# BIN stores no names, but the masses in solar masses (DE405) identify these bodies.
SOLAR_SYSTEM_MASSES = {
    "Sun": 1.0, "Mercury": 1.6601e-7, "Venus": 2.4478e-6, "Earth": 3.0035e-6, "Moon": 3.6943e-8,
    "Mars": 3.2272e-7, "Jupiter": 9.5479e-4, "Saturn": 2.8589e-4, "Uranus": 4.3662e-5,
    "Neptune": 5.1514e-5, "Pluto": 7.3964e-9,
}
COLOURS = {"Mercury": GREY, "Venus": ORANGE, "Earth": BLUE, "Mars": VERMILION, "Jupiter": VERMILION,
           "Saturn": ORANGE, "Uranus": SKY_BLUE, "Neptune": BLUE, "Pluto": PURPLE}
INNER = ("Mercury", "Venus", "Earth", "Mars")
OUTER = ("Jupiter", "Saturn", "Uranus", "Neptune", "Pluto")
YEAR = 2 * numpy.pi  # the unit of time is a year divided by 2 pi


def draw_orbits(snapshots: Sequence[Bodies], path: Path, note: str = "") -> Path:
    """Draws the picture that fits the scenario of the snapshots."""
    first = snapshots[0]
    if len(snapshots) < 2:
        raise FileError("an orbit needs two snapshots or more")
    if first.positions.shape[1] > MAX_BODIES:
        raise FileError(
            f"{first.positions.shape[1]} bodies: orbits are drawn for at most {MAX_BODIES}"
        )
    if first.scenario == "solar-system":
        return _draw_solar_system(snapshots, path, note)
    return _draw_plane(snapshots, path, note)


def trajectories(snapshots: Sequence[Bodies]) -> numpy.ndarray:
    """Returns the positions of the first system, as an array of snapshots x bodies x 3."""
    return numpy.array([snapshot.synchronised_positions()[0] for snapshot in snapshots])


def body_names(bodies: Bodies) -> list[str]:
    if bodies.names:
        return bodies.names
    known = numpy.array(list(SOLAR_SYSTEM_MASSES.values()))
    if bodies.scenario != "solar-system":
        return [f"body {i + 1}" for i in range(bodies.masses.shape[1])]
    nearest = [int(numpy.argmin(abs(numpy.log(known / mass)))) for mass in bodies.masses[0]]
    return [list(SOLAR_SYSTEM_MASSES)[index] for index in nearest]


def kepler_ellipse(position: numpy.ndarray, velocity: numpy.ndarray, mass: float) -> numpy.ndarray:
    """Returns the closed orbit of a body around a single mass at the origin (G = 1)."""
    momentum = numpy.cross(position, velocity)
    distance = numpy.linalg.norm(position)
    eccentricity_vector = numpy.cross(velocity, momentum) / mass - position / distance
    eccentricity = numpy.linalg.norm(eccentricity_vector)
    axis = 1 / (2 / distance - velocity @ velocity / mass)  # semi-major axis (vis-viva equation)
    towards_pericentre = eccentricity_vector / eccentricity
    across = numpy.cross(momentum / numpy.linalg.norm(momentum), towards_pericentre)
    angle = numpy.linspace(0, 2 * numpy.pi, 400)[:, None]  # eccentric anomaly
    return axis * ((numpy.cos(angle) - eccentricity) * towards_pericentre
                   + numpy.sqrt(1 - eccentricity ** 2) * numpy.sin(angle) * across)


def _draw_solar_system(snapshots: Sequence[Bodies], path: Path, note: str) -> Path:
    orbits = trajectories(snapshots)
    names = body_names(snapshots[0])
    figure, panels = pyplot.subplots(1, 2, figsize=(10.4, 5.4), layout="constrained")
    for axes, wanted, half_width, title in ((panels[0], INNER, 2.5, "Inner planets"),
                                            (panels[1], OUTER, 48.0, "Outer planets and Pluto")):
        axes.set(title=title, xlim=(-half_width, half_width), ylim=(-half_width, half_width))
        _solar_system_panel(axes, snapshots[0], orbits, names, wanted)
    years = (snapshots[-1].time - snapshots[0].time) / YEAR
    return save(
        figure,
        path,
        f"The Solar System over {years:.2f} years in the plane of the "
        f"ecliptic, seen from the north. Coloured: simulated; dot: last position; thin grey: "
        f"the Kepler ellipse of the initial state, not simulated. "
        f"{which_is_shown(snapshots[0])}{how_it_was_run(snapshots[0], snapshots[-1])} "
        f"{len(snapshots)} snapshots. Units: {snapshots[0].units or 'G = 1'}. {note}".strip(),
    )


def _solar_system_panel(axes: Axes, first: Bodies, orbits: numpy.ndarray, names: Sequence[str],
                        wanted: Sequence[str]) -> None:
    sun = names.index("Sun") if "Sun" in names else int(numpy.argmax(first.masses[0]))
    shown = [body for body, name in enumerate(names) if name in wanted]
    start, velocity = first.synchronised_positions()[0], first.velocities[0]
    for body in shown:
        # The ellipse takes only the Sun and the body into account.
        # The pull of the other bodies is too small to see.
        ellipse = kepler_ellipse(start[body] - start[sun], velocity[body] - velocity[sun],
                                 first.masses[0, sun] + first.masses[0, body]) + start[sun]
        axes.plot(ellipse[:, 0], ellipse[:, 1], color="#BBBBBB", linewidth=1)
        colour = COLOURS[names[body]]
        axes.plot(orbits[:, body, 0], orbits[:, body, 1], color=colour, linewidth=2.2)
        axes.plot(*orbits[-1, body, :2], "o", color=colour, markersize=8)
    axes.plot(*orbits[-1, sun, :2], "o", color=YELLOW, markeredgecolor=BLACK, markersize=11)
    axes.set_aspect("equal")
    axes.set_xlabel(f"x ({value('unit-length-planets')})")
    axes.set_ylabel(f"y ({value('unit-length-planets')})")
    _write_names(axes, [(orbits[-1, body, :2], names[body]) for body in (sun, *shown)])


def _write_names(axes: Axes, bodies: Sequence[tuple[numpy.ndarray, str]]) -> None:
    """Writes a name next to each dot, on the side away from the Sun if possible, without covering
    another name or dot."""
    renderer = axes.figure.canvas.get_renderer()  # type: ignore[attr-defined,unused-ignore]
    axes.apply_aspect()
    dots = [axes.transData.transform(point) for point, _ in bodies]
    taken = [Bbox.from_bounds(x - 9, y - 9, 18, 18) for x, y in dots]
    for point, name in bodies:
        outwards = numpy.arctan2(point[1], point[0]) if name != "Sun" else -numpy.pi / 4
        for turn in (0, 45, -45, 90, -90, 135, -135, 180):
            angle = outwards + numpy.radians(turn)
            across, up = numpy.cos(angle), numpy.sin(angle)
            text = axes.annotate(
                name,
                tuple(point),
                xytext=(14 * across, 14 * up),
                textcoords="offset points",
                color=BLACK,  # a name in its body's colour would be faint on white
                fontweight="bold",
                va="center",
                ha="left" if across > 0.3 else "right" if across < -0.3 else "center",
                path_effects=[withStroke(linewidth=4, foreground=PAGE)],
            )
            box = text.get_window_extent(renderer)
            if not any(box.overlaps(other) for other in taken):
                break
            if turn != 180:
                text.remove()
        taken.append(box)


def _draw_plane(snapshots: Sequence[Bodies], path: Path, note: str) -> Path:
    """Draws the orbits of any system of few bodies, seen along z."""
    first = snapshots[0]
    units = units_of(first.units)
    orbits = (units.length.size if units else 1) * trajectories(snapshots)
    eight = first.scenario == "figure-eight"
    figure, axes = pyplot.subplots(figsize=(10, 6))
    # In the figure-eight, all bodies follow the same curve, a third of a period apart.
    coloured = len(orbits) // 3 + 1 if eight else len(orbits)
    for body, name in enumerate(body_names(first)):
        colour = CYCLE[body % len(CYCLE)]
        axes.plot(orbits[:, body, 0], orbits[:, body, 1], color="#BBBBBB", linewidth=1, zorder=1)
        axes.plot(orbits[:coloured, body, 0], orbits[:coloured, body, 1], color=colour, linewidth=3)
        axes.plot(*orbits[-1, body, :2], "o", color=colour, markeredgecolor=BLACK, markersize=14,
                  label=f"{literal(name)}, mass {first.masses[0, body]:.3g}")
    for body in range(orbits.shape[1]):
        axes.plot(*orbits[0, body, :2], "x", color=BLACK, markersize=11, markeredgewidth=2,
                  label="start" if body == 0 else None)
    axes.set_aspect("equal")
    axes.margins(0.08)
    unit = (units.length.name if units else
            first.units if first.units and first.units != "G = 1" else "length unit, G = 1")
    axes.set_xlabel(f"x ({literal(unit)})")
    axes.set_ylabel(f"y ({literal(unit)})")
    axes.set_title({"figure-eight": "Three bodies on one curve: the figure-eight",
                    "two-body": "Two bodies"}.get(first.scenario,
                                                 literal(first.scenario) or "Orbits"))
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    drift = numpy.linalg.norm(orbits[-1] - orbits[0], axis=1).max()
    text = "Crosses: start; discs: end. "
    if eight:
        text += "Coloured: the path of each body in the first third of the time. "
        text += (
            f"After one period every body is within {drift:.1e} of its start. "
            if drift < 0.1
            else ""
        )
    return save(
        figure,
        path,
        f"{text}{which_is_shown(first)}Time {first.time:.4g} to {snapshots[-1].time:.5g}. "
        f"{how_it_was_run(first, snapshots[-1])} {len(snapshots)} snapshots. {note}".strip(),
    )
