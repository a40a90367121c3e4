"""Draws the error of integrators against their cost, with a panel for each problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nbody_tools.arguments import ToolError
from nbody_tools.figures.style import (BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION,
                                       pyplot, save)

STYLES = {"leapfrog": (BLUE, "o"), "yoshida4": (ORANGE, "^"), "hermite4": (GREEN, "s"),
          "block_steps": (VERMILION, "D"), "ias15": (PURPLE, "x")}
LABELS = {"ias15": "IAS15 (REBOUND)"}
TITLES = {"eccentric": "Ellipse, e = 0.9, 10 orbits", "figure-eight": "Figure-eight, 3 periods",
          "pythagorean": "Pythagorean, to T = 70", "solar-system": "Solar System, 10 years"}


def read(path: Path) -> list[dict[str, Any]]:
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if {line["problem"] for line in lines} <= set(TITLES) and lines:
            return lines
    except OSError as error:
        raise ToolError(f"{path}: cannot be read: {error.strerror}") from None
    except (json.JSONDecodeError, KeyError, TypeError, UnicodeDecodeError):
        pass
    raise ToolError(f"{path}: is not a record of ./nbody integrators")


def draw_integrators(record: Path, path: Path) -> Path:
    lines = read(record)
    problems = [problem for problem in TITLES if any(r["problem"] == problem for r in lines)]
    figure, grid = pyplot.subplots(2, 2, figsize=(11, 9), layout="constrained", squeeze=False)
    for axes in grid.flat[len(problems):]:
        axes.set_axis_off()
    for axes, problem in zip(grid.flat, problems):
        for name, (colour, marker) in STYLES.items():
            points = [(r["interactions"], r["position_error"]) for r in lines
                      if r["problem"] == problem and r["integrator"] == name]
            if points:
                axes.plot(*zip(*points), "-", marker=marker, markersize=6, color=colour,
                          label=LABELS.get(name, name))
        axes.set(xscale="log", yscale="log", title=TITLES[problem])
        axes.grid(color=GREY, alpha=0.25)
    for axes in grid[-1]:
        axes.set_xlabel("interactions computed")
    for axes in grid[:, 0]:
        axes.set_ylabel("error of a position at the end (length)")
    grid[-1, -1].legend(frameon=False, loc="lower left")
    machines = sorted({f"{r['machine']}, {r['date']}" for r in lines})
    versions = sorted({r["rebound"] for r in lines if "rebound" in r})
    note = f" IAS15: REBOUND {', '.join(versions)}." if versions else ""
    caption = (
        "Error against cost: each point is a run with another time step or accuracy. An "
        "interaction of hermite4 and block_steps includes the jerk, and costs about two of the "
        "others."
        f"{note} Errors are relative to Taylor series in extended precision. Computed on "
        f"{'; '.join(machines)}."
    )
    return save(figure, path, caption)
