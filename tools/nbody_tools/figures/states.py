"""Draws the bodies at several times, each as a point in the colour of its species."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Optional, Sequence

import numpy

from nbody_tools.design.tokens import colour
from nbody_tools.design.units import length_of, time_text
from nbody_tools.figures.density import AXES
from nbody_tools.figures.style import SPECIES_COLOURS, pyplot, save
from nbody_tools.files.bodies import Bodies, how_it_was_run, which_is_shown

MAX_STATES = 9
SHOWN_FRACTION = 0.998  # share of the bodies in view, to show tails but not escaped bodies
BACKGROUND = colour("space")


def draw_states(states: Sequence[Bodies], path: Path, view: str = "xy",
                half_width: Optional[float] = None, note: str = "") -> Path:
    axes_of_view = list(AXES[view])
    unit = length_of(states[0].units)
    points = [unit.size * state.synchronised_positions()[0][:, axes_of_view] for state in states]
    half_width = unit.size * half_width if half_width else 1.06 * max(
        float(numpy.quantile(abs(p).max(-1), SHOWN_FRACTION)) for p in points
    ) or 1.0  # all bodies at the origin
    columns = min(len(states), 2 if len(states) <= 4 else 3)
    rows = math.ceil(len(states) / columns)
    figure, grid = pyplot.subplots(
        rows,
        columns,
        squeeze=False,
        sharex=True,
        sharey=True,
        figsize=(3.2 * columns + 0.6, 3.2 * rows + 0.4),
        layout="constrained",
    )
    for axes in grid.flat[len(states):]:
        axes.remove()
    names: list[str] = []
    for axes, state, shown in zip(grid.flat, states, points):
        kinds = numpy.array(state.species[:len(shown)] or ["dark"] * len(shown))
        axes.set(facecolor=BACKGROUND, aspect="equal", xlim=(-half_width, half_width),
                 ylim=(-half_width, half_width))
        # Draws the most numerous species first, so that it does not cover the others.
        for kind in sorted(set(kinds), key=lambda kind: -(kinds == kind).sum()):
            axes.plot(*shown[kinds == kind].T, ".", markersize=_size(len(shown)), markeredgewidth=0,
                      color=SPECIES_COLOURS[kind], rasterized=True)
            names += [kind] if state.species and kind not in names else []
        axes.set_title(time_text(state), fontsize=14)
        axes.locator_params(nbins=5)
    figure.supxlabel(unit.label(view[0]), fontsize=13)
    figure.supylabel(unit.label(view[1]), fontsize=13)
    colours = {SPECIES_COLOURS[kind]: kind for kind in names}
    named = (
        "Colours: "
        + ", ".join(f"{kind} {_word(colour)}" for colour, kind in colours.items())
        + ". "
        if names
        else ""
    )
    outside = max(float((abs(p).max(-1) > half_width).mean()) for p in points)
    caption = (f"{states[0].scenario}, {points[0].shape[0]} bodies shown, of which at most "
               f"{outside:.1%} are outside a panel. {named}{which_is_shown(states[0])}"
               f"{how_it_was_run(states[0], states[-1])} {note}")
    return save(figure, path, caption.strip())


def _size(bodies: int) -> float:
    return float(numpy.clip(100 / math.sqrt(bodies), 0.8, 8))


def _word(colour: str) -> str:
    return {
        "#009E73": "green",
        "#56B4E9": "blue",
        "#E69F00": "orange",
        "#D55E00": "red",
        "#F0E442": "yellow",
        "#EBEBEB": "white",
    }[colour]
