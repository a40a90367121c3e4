"""Draws the density of a sphere of bodies, shell by shell, next to the density of a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

import numpy

from nbody_tools.figures.style import BLACK, CYCLE, pyplot, save
from nbody_tools.files.bodies import Bodies, FileError, how_it_was_run, which_is_shown

SHELLS = 18
SHOWN = (0.004, 0.98)  # quantiles of the radii; shells farther in or out have too few bodies
MIN_BODIES = 200
SCALE = 3 * numpy.pi / 16  # Plummer radius in Henon units (Aarseth, Henon & Wielen 1974)


@dataclass(frozen=True)
class Model:
    """A density profile whose total mass is 1."""

    name: str
    density: Callable[[numpy.ndarray], numpy.ndarray]
    mass_within: Callable[[numpy.ndarray], numpy.ndarray]


MODELS = {
    "plummer": Model("Plummer's model, E = -1/4",
                     lambda r: 3 / (4 * numpy.pi * SCALE ** 3) * (1 + (r / SCALE) ** 2) ** -2.5,
                     lambda r: (1 + (SCALE / r) ** 2) ** -1.5),
    "hernquist": Model("Hernquist's model, scale 1 (1990)",
                       lambda r: 1 / (2 * numpy.pi * r * (1 + r) ** 3),
                       lambda r: (r / (1 + r)) ** 2),
}


@dataclass(frozen=True)
class Shells:
    edges: numpy.ndarray
    masses: numpy.ndarray
    errors: numpy.ndarray  # standard errors of the masses, for random bodies

    @property
    def radii(self) -> numpy.ndarray:
        return numpy.sqrt(self.edges[1:] * self.edges[:-1])

    @property
    def volumes(self) -> numpy.ndarray:
        return 4 / 3 * numpy.pi * (self.edges[1:] ** 3 - self.edges[:-1] ** 3)

    def deviations(self, model: Model) -> numpy.ndarray:
        """Returns the difference between each shell's mass and the model's mass, in standard
        errors."""
        return (self.masses - numpy.diff(model.mass_within(self.edges))) / self.errors


def shells(bodies: Bodies) -> Shells:
    """Divides the first system into shells around its centre of mass."""
    positions, masses = bodies.synchronised_positions()[0], bodies.masses[0]
    if len(masses) < MIN_BODIES:
        raise FileError(f"a profile needs {MIN_BODIES} bodies or more, but there are {len(masses)}")
    if not masses.sum() > 0:
        raise FileError(f"{bodies.scenario}: all masses are 0, so there is no density to draw")
    centre = (positions * masses[:, None]).sum(0) / masses.sum()
    radii = numpy.linalg.norm(positions - centre, axis=1)
    inner, outer = numpy.quantile(radii, SHOWN)
    if not 0 < inner < outer:
        raise FileError(f"{bodies.scenario}: its bodies are too close together for shells")
    edges = numpy.geomspace(inner, outer, SHELLS + 1)
    inside = numpy.digitize(radii, edges) - 1
    there = (inside >= 0) & (inside < SHELLS)
    in_shell = numpy.bincount(inside[there], masses[there], SHELLS)
    squares = numpy.bincount(inside[there], masses[there] ** 2, SHELLS)
    return Shells(edges, in_shell, numpy.sqrt(numpy.maximum(squares, masses.mean() ** 2)))


def draw_profile(
    states: Sequence[Bodies], path: Path, model: str = "plummer", note: str = ""
) -> Path:
    theory = MODELS[model]
    if len(states) > len(CYCLE):
        raise FileError(f"{len(states)} files, but a figure has colours for at most {len(CYCLE)}")
    figure, axes = pyplot.subplots(figsize=(6.6, 5.2), layout="constrained")
    found = [shells(state) for state in states]
    for state, measured, colour, marker in zip(states, found, CYCLE, "osD^vPX"):
        axes.errorbar(
            measured.radii,
            measured.masses / measured.volumes,
            measured.errors / measured.volumes,
            fmt=marker,
            markersize=7,
            capsize=3,
            color=colour,
            label=f"simulated, t = {state.time:.4g}",
        )
    line = numpy.geomspace(min(s.edges[0] for s in found), max(s.edges[-1] for s in found), 300)
    axes.plot(line, theory.density(line), color=BLACK, linewidth=1.8, label=theory.name, zorder=0)
    axes.set(
        xscale="log", yscale="log", xlabel="radius (length)", ylabel="density (mass / length³)"
    )
    axes.legend(frameon=False)
    worst = max(float(numpy.abs(measured.deviations(theory)).max()) for measured in found)
    caption = (f"{states[0].scenario}: density in {SHELLS} shells, with standard errors from the "
               f"number of bodies; the largest deviation from the model is {worst:.1f} standard "
               "errors. "
               f"{which_is_shown(states[0])}{how_it_was_run(states[0], states[-1])} {note}")
    return save(figure, path, caption.strip())
