"""Draws the figures of step 15: the times of the tree and of direct sums against the number of
bodies, and the errors of the tree against the opening angle."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, StrMethodFormatter

from nbody_tools.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    GRID,
    ORANGE,
    SKY_BLUE,
    VERMILION,
    dates,
    machines,
    pyplot,
    save,
)
from nbody_tools.records.record import Record
from nbody_tools.tree.peers import Peer
from nbody_tools.tree.programs import SHAPES, Point, fastest, names, points as all_settings
from nbody_tools.tree.tables import Curve, crossing, fastest_direct, theta_of, times

DIRECT = ("-", "--", ":")
TREES = (BLUE, GREEN, VERMILION)
QUANTITIES = {"rms": ("RMS", "o-"), "p99": ("99 %", "^--"), "max": ("largest", ":")}
SIZES = (BLUE, ORANGE, VERMILION)
OURS = ((SKY_BLUE, "o-"), (BLUE, "s-"), (GREEN, "D-"))  # steps 15, 15b, 16
OTHERS = ((VERMILION, "^--"), (ORANGE, "v--"), (GREY, "*--"), (BLACK, "x--"))


def draw_times(records: Sequence[Record], path: Path) -> Path:
    figure, axes = pyplot.subplots(figsize=(9, 6.5), layout="constrained")
    curves = times(records)
    direct = fastest_direct(curves)
    sums, trees = (
        [curve for curve in curves if (curve.theta is None) == of] for of in (True, False)
    )
    for curve, line in zip(sums, DIRECT):
        axes.plot(*points(curve), line, marker="s", markersize=5, color=GREY, label=curve.label)
    for curve, colour in zip(trees, TREES):
        axes.plot(*points(curve), "-o", markersize=5, color=colour, label=curve.label)
        bodies = crossing(curve, direct)
        if bodies is not None:
            axes.axvline(bodies, color=colour, linewidth=1, linestyle=":")
    axes.set(xscale="log", yscale="log", xlabel="bodies", ylabel="seconds per time step")
    axes.set_xscale("log", base=2)
    axes.grid(color=GRID)
    axes.legend(frameon=False)
    return save(
        figure,
        path,
        "Time per time step, median of the kernels, Plummer spheres; a tree is built in every "
        f"step. Dotted: where the tree passes the fastest direct sum. {machines(records)}, "
        f"{dates(records)}.",
    )


def points(curve: Curve) -> tuple[list[int], list[float]]:
    bodies = sorted(curve.points)
    return bodies, [curve.points[n].median for n in bodies]


def draw_costs(records: Sequence[Record], peers: Sequence[Peer], path: Path) -> Path:
    """Draws the seconds per time step against the error, with one panel per third-party program.
    Builds of the same program share a panel; their names are equal up to the first comma."""
    known = [peer for peer in peers if peer.error is not None]
    families = list(dict.fromkeys(family(peer) for peer in known))
    figure, grid = pyplot.subplots(
        1, len(families), figsize=(6.5 * len(families), 8), layout="constrained", squeeze=False
    )
    for axes, name in zip(grid[0], families):
        of_family = [peer for peer in known if family(peer) == name]
        quantity = of_family[0].quantity
        for bodies, colour in zip(sorted({peer.bodies for peer in of_family}), SIZES):
            for multipole, style in ((2, "o-"), (0, "^:")):
                line = sorted(
                    (
                        record
                        for record in records
                        if record.problem.bodies == bodies
                        and record.data["approximation"]["multipole"] == multipole
                    ),
                    key=angle_of,
                )
                axes.plot(
                    [record.data["force_error"][quantity] for record in line],
                    [record.seconds("compute").median / record.problem.steps for record in line],
                    style,
                    color=colour,
                    label=f"step 15, {bodies:,} bodies, "
                          f"{'quadrupoles' if multipole else 'masses alone'}",
                )
            builds = (peer for peer in of_family if peer.bodies == bodies)
            for peer, marker in zip(builds, ("*", "P", "X", "D")):
                axes.plot(
                    peer.error,
                    peer.seconds,
                    marker,
                    markersize=14,
                    color=colour,
                    markeredgecolor=BLACK,
                    label=f"{peer.name}, {bodies:,} bodies",
                )
        axes.set(xscale="log", yscale="log", xlabel=f"relative error, {QUANTITIES[quantity][0]}",
                 title=f"compared with {name}: {of_family[0].what}")
        # Also sets ticks at 2 and 5, because an axis of less than two decades may show only one
        # power of 10.
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.grid(color=GRID)
        axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    grid[0][0].set_ylabel("seconds per time step")
    return save(
        figure,
        path,
        f"What accuracy costs: step 15 at opening angles from {min(map(angle_of, records)):g} to "
        f"{max(map(angle_of, records)):g}, and other programs with the same bodies. "
        f"{machines(records)}, {dates(records)}.",
    )


def draw_programs(records: Sequence[Record], others: Sequence[Point], path: Path) -> Path:
    """Draws the seconds per time step against the RMS error, with one panel per system of bodies
    and one curve per program."""
    known = all_settings(records, others)
    shapes = list(dict.fromkeys(point.scenario for point in known))
    figure, grid = pyplot.subplots(1, len(shapes), figsize=(6 * len(shapes), 6.5),
                                   layout="constrained", squeeze=False, sharex=True, sharey=True)
    ours = {point.program for point in known if point.ours}
    styles: dict[str, tuple[str, str]] = {}
    for of_us, ways in ((True, OURS), (False, OTHERS)):
        styles.update(zip([name for name in names(known) if (name in ours) == of_us], ways))
    for axes, scenario in zip(grid[0], shapes):
        for name, (colour, line) in styles.items():
            curve = fastest(known, name, scenario)
            axes.plot([point.rms for point in curve], [point.seconds for point in curve], line,
                      color=colour, markersize=6, label=name)
        axes.set(xscale="log", yscale="log", xlabel="relative error of the accelerations, RMS",
                 title=SHAPES.get(scenario, scenario))
        axes.grid(color=GRID)
    grid[0][0].set_ylabel("seconds per time step")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=4, frameon=False)
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.86))  # the panels leave room for the legend
    return save(
        figure,
        path,
        "Time of a whole time step over the error of the forces. Each curve has the settings of a "
        "program that no other setting of this program beats in both time and error. "
        f"{max(point.bodies for point in known):,} bodies. {machines(records)}, {dates(records)}.",
    )


def angle_of(record: Record) -> float:
    """Returns the opening angle of a run with a tree."""
    return float(record.data["approximation"]["theta"])


def family(peer: Peer) -> str:
    return peer.name.split(",")[0]


def draw_errors(records: Sequence[Record], path: Path) -> Path:
    """Draws one column of panels per quantity, and two rows: for nodes with and without
    quadrupoles. Each panel has three lines."""
    chosen = [
        record
        for record in records
        if record.data.get("force_error") and theta_of(record) is not None
    ]
    figure, grid = pyplot.subplots(
        2, len(QUANTITIES), figsize=(14, 8.5), layout="constrained", sharex=True, sharey=True
    )
    for row, multipole, title in zip(grid, (2, 0), ("with quadrupoles", "mass alone")):
        of_kind = [
            record for record in chosen if record.data["approximation"]["multipole"] == multipole
        ]
        for axes, (key, (name, _)) in zip(row, QUANTITIES.items()):
            draw_error(axes, of_kind, key)
            axes.set_title(f"{name}, {title}")
        row[0].set_ylabel("|a − a$_{ref}$| / |a$_{ref}$|")
    for axes in grid[-1]:
        axes.set_xlabel("theta")
    grid[0][0].legend(frameon=False)
    return save(
        figure,
        path,
        "Relative errors of the accelerations over the opening angle: RMS, the error that 99 % of "
        "the bodies stay below, and the largest. Plummer spheres; mass alone: --multipole 0. "
        f"{machines(chosen)}, {dates(chosen)}.",
    )


def draw_error(axes: Axes, records: Sequence[Record], key: str) -> None:
    for bodies, colour, marker in zip(
        sorted({record.problem.bodies for record in records}), SIZES, "os^"
    ):
        line = sorted(
            (record for record in records if record.problem.bodies == bodies), key=angle_of
        )
        axes.plot(
            list(map(theta_of, line)),
            [record.data["force_error"][key] for record in line],
            f"{marker}-",
            color=colour,
            markersize=6,
            label=f"{bodies:,} bodies",
        )
    axes.set(xscale="log", yscale="log")
    axes.set_xticks([0.2, 0.3, 0.4, 0.6, 0.8, 1.0])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.grid(color=GRID)
