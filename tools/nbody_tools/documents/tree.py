"""What ./nbody measure tree found about step 15: curves for the figures, tables for its README."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from nbody_tools.documents.accuracy import machines
from nbody_tools.measure.tree_peers import Peer, fastest_as_accurate
from nbody_tools.records.facts import Value
from nbody_tools.records.record import Quartiles, Record, check_measurement, newest_measured
from nbody_tools.tables import ABSENT, markdown, seconds

EXTRAS = ("force_error", "phases", "energies")  # of records that are about something else than times over bodies


def tree_records(results: Path) -> list[Record]:
    return newest_measured(results / "tree", check_measurement)


def theta_of(record: Record) -> Optional[float]:
    """Nothing for a direct sum."""
    approximation = record.data.get("approximation")
    return None if approximation is None else approximation["theta"]


def per_step(record: Record) -> Quartiles:
    time, steps = record.seconds("compute"), record.problem.steps
    return Quartiles(*(value / steps for value in (time.low, time.median, time.high)))


@dataclass(frozen=True)
class Curve:
    """Times per step over bodies."""

    label: str
    theta: Optional[float]
    points: dict[int, Quartiles]


def times(records: Sequence[Record]) -> list[Curve]:
    curves: dict[tuple, Curve] = {}
    for record in records:
        if any(record.data.get(key) for key in EXTRAS):
            continue
        theta = theta_of(record)
        label = f"step {record.number}" if theta is None else f"tree, theta {theta:g}"
        curve = curves.setdefault((theta or 0, label), Curve(label, theta, {}))
        curve.points[record.problem.bodies] = per_step(record)
    return [curve for _, curve in sorted(curves.items())]


def fastest_direct(curves: Sequence[Curve]) -> dict[int, float]:
    direct = [curve.points for curve in curves if curve.theta is None]
    return {bodies: min(points[bodies].median for points in direct if bodies in points)
            for bodies in sorted({bodies for points in direct for bodies in points})}


def crossing(curve: Curve, direct: dict[int, float]) -> Optional[float]:
    """From so many bodies on the tree is faster than the fastest direct sum; between two sizes, by lines through their
    times over bodies, both on scales of logarithms."""
    both = [bodies for bodies in sorted(direct) if bodies in curve.points]
    gains = [math.log(direct[bodies] / curve.points[bodies].median) for bodies in both]
    for k in range(len(both) - 1, 0, -1):
        if gains[k - 1] < 0 <= gains[k]:
            part = -gains[k - 1] / (gains[k] - gains[k - 1])
            return both[k - 1] * (both[k] / both[k - 1]) ** part
    return None


def heading(records: Sequence[Record]) -> str:
    return f"{machines(records)}, {records[0].date[:10]}, revision {records[0].data['revision']}"


def times_table(records: Sequence[Record]) -> str:
    curves = times(records)
    if not curves:
        return ""
    direct = fastest_direct(curves)
    rows = []
    for bodies in sorted({bodies for curve in curves for bodies in curve.points}):
        rows.append([f"{bodies:,}", *(seconds(curve.points[bodies].median) if bodies in curve.points else ABSENT
                                      for curve in curves)])
    rows.append(["faster from", *("" if curve.theta is None else rounded(crossing(curve, direct)) for curve in curves)])
    return (f"Times per time step, medians of the kernels; Plummer spheres. {heading(records)}.\n\n"
            + markdown(("bodies", *(curve.label for curve in curves)), rows))


def rounded(bodies: Optional[float]) -> str:
    """To two digits."""
    return ABSENT if bodies is None else f"{round(bodies, 1 - math.floor(math.log10(bodies))):,.0f} bodies"


def phases_table(records: Sequence[Record]) -> str:
    chosen = [record for record in records if record.data.get("phases")]
    if not chosen:
        return ""
    names = list(chosen[0].data["phases"])
    rows = []
    for record in chosen:
        phases = record.data["phases"]
        build = sum(time for name, time in phases.items() if name != "walk")
        rows.append([f"{record.problem.bodies:,}", f"{theta_of(record):g}", *(seconds(phases[name]) for name in names),
                     f"{100 * build / sum(phases.values()):.0f} %", seconds(per_step(record).median)])
    return ("Durations of the kernels (Nsight Compute), and of a step without the profiler:\n\n"
            + markdown(("bodies", "theta", *names, "all but the walk", "time step"), rows))


def peers_of(results: Path) -> list[Peer]:
    """Of the newest file of ./nbody measure tree_peers, whose records have the same name."""
    found = sorted((results / "tree_peers").glob("*.peers.json"))
    return [Peer(**one) for one in json.loads(found[-1].read_text(encoding="utf-8"))] if found else []


def peers_table(records: Sequence[Record], peers: Sequence[Peer]) -> str:
    """Beside each the fastest of ours whose error is not larger."""
    rows = []
    for peer in peers:
        best = None if peer.error is None else fastest_as_accurate(peer, records)
        ours = [ABSENT] * 4 if best is None else [
            "theta {theta:g}, multipole {multipole}".format(**best.data["approximation"]),
            f"{best.data['force_error'][peer.quantity]:.1e}", seconds(per_step(best).median),
            f"{peer.seconds / per_step(best).median:.1f}"]
        error = ABSENT if peer.error is None else f"{peer.error:.1e} ({'RMS' if peer.quantity == 'rms' else '99 %'})"
        rows.append([f"{peer.name}, {peer.what}", f"{peer.bodies:,}", seconds(peer.seconds), error, *ours])
    return "" if not rows else (f"Plummer sphere (ECL-BH) and cube (Ryoanji). {heading(records)}.\n\n" + markdown(
        ("", "bodies", "time", "error", "step 15", "error", "time step", "times as fast"), rows))


def energy(records: Sequence[Record]) -> str:
    chosen = [record for record in records if record.data.get("energies")]
    return "; ".join(f"{record.problem}, theta {theta_of(record):g}: the energy changed by at most "
                     f"{max(map(abs, record.data['energies']['change'])):.1e} of itself, in "
                     f"{seconds(record.seconds('compute').median)} of the kernels" for record in chosen)


def words(results: Path) -> dict[str, Callable[..., Value]]:
    def optional(name: str, made: Callable[[Sequence[Record]], str]) -> Callable[[], Value]:
        return lambda: Value(made(tree_records(results)) or None, "text", f"{name}()")

    def peers() -> Value:
        beside = newest_measured(results / "tree_peers", check_measurement)
        return Value(peers_table(beside, peers_of(results)) or None, "text", "tree_peers()")

    return {"tree_peers": peers, **{name: optional(name, made) for name, made in (
        ("tree_times", times_table), ("tree_phases", phases_table), ("tree_energy", energy))}}
