"""Converts the results of `./nbody measure tree` into curves for figures, and into tables for the
README of step 15."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from nbody_tools.accuracy.tables import machines
from nbody_tools.records.facts import Content, Value
from nbody_tools.records.record import Quartiles, Record, check_measurement, newest_measured
from nbody_tools.tables import ABSENT, markdown, seconds
from nbody_tools.tree.peers import Peer, fastest_as_accurate

ERRORS = {"rms": "RMS", "p99": "99 %", "max": "maximum"}
EXTRAS = ("force_error", "phases", "energies")  # records with these keys are not plain timings


def tree_records(results: Path) -> list[Record]:
    return newest_measured(results / "tree", check_measurement)


def theta_of(record: Record) -> Optional[float]:
    """Returns the opening angle of the run, or None for a direct sum."""
    approximation = record.data.get("approximation")
    return None if approximation is None else approximation["theta"]


def per_step(record: Record) -> Quartiles:
    time, steps = record.seconds("compute"), record.problem.steps
    return Quartiles(*(value / steps for value in (time.low, time.median, time.high)))


@dataclass(frozen=True)
class Curve:
    """Times per step of one program, by number of bodies."""

    label: str
    theta: Optional[float]
    points: dict[int, Quartiles]


def plain_times(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if not any(record.data.get(key) for key in EXTRAS)]


def times(records: Sequence[Record]) -> list[Curve]:
    curves: dict[tuple, Curve] = {}
    for record in plain_times(records):
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
    """Returns the number of bodies above which the tree is faster than the fastest direct sum.
    Interpolates between two measured sizes on logarithmic axes."""
    both = [bodies for bodies in sorted(direct) if bodies in curve.points]
    gains = [math.log(direct[bodies] / curve.points[bodies].median) for bodies in both]
    for k in range(len(both) - 1, 0, -1):
        if gains[k - 1] < 0 <= gains[k]:
            part = -gains[k - 1] / (gains[k] - gains[k - 1])
            return both[k - 1] * (both[k] / both[k - 1]) ** part
    return None


def heading(records: Sequence[Record]) -> str:
    revisions = list(dict.fromkeys(record.data["revision"] for record in records))
    return (f"{machines(records)}, {records[0].date[:10]}, "
            f"{'revision' if len(revisions) == 1 else 'revisions'} {', '.join(revisions)}")


def times_table(records: Sequence[Record]) -> str:
    curves = times(records)
    if not curves:
        return ""
    direct = fastest_direct(curves)
    rows = []
    for bodies in sorted({bodies for curve in curves for bodies in curve.points}):
        rows.append(
            [
                f"{bodies:,}",
                *(
                    seconds(curve.points[bodies].median) if bodies in curve.points else ABSENT
                    for curve in curves
                ),
            ]
        )
    rows.append(
        [
            "faster from",
            *("" if curve.theta is None else rounded(crossing(curve, direct)) for curve in curves),
        ]
    )
    return ("The table shows the median time of the kernels per time step, for Plummer spheres. "
            f"Measured on {heading(plain_times(records))}.\n\n"
            + markdown(("bodies", *(curve.label for curve in curves)), rows))


def step_time(records: Sequence[Record], bodies: int, theta: float) -> Optional[float]:
    """Returns the tree's seconds per time step, as in the table of times."""
    found = [
        curve.points[bodies].median
        for curve in times(records)
        if curve.theta == theta and bodies in curve.points
    ]
    return found[0] if found else None


def crossings(records: Sequence[Record]) -> Optional[str]:
    """Returns the range of crossing() over all opening angles, as text: the numbers of bodies above
    which the trees are faster than the direct sum."""
    curves = times(records)
    direct = fastest_direct(curves)
    found = [
        bodies
        for curve in curves
        if curve.theta is not None and (bodies := crossing(curve, direct)) is not None
    ]
    return f"{two_digits(min(found))} to {two_digits(max(found))}" if found else None


def gains(records: Sequence[Record], bodies: int) -> Optional[str]:
    """Returns the range of the trees' speedups over the fastest direct sum, as text. There is one
    speedup per opening angle."""
    curves = times(records)
    direct = fastest_direct(curves)
    found = [direct[bodies] / curve.points[bodies].median for curve in curves
             if curve.theta is not None and bodies in curve.points and bodies in direct]
    return f"{min(found):.0f} to {max(found):.0f}" if found else None


def rounded(bodies: Optional[float]) -> str:
    return ABSENT if bodies is None else f"{two_digits(bodies)} bodies"


def two_digits(bodies: float) -> str:
    return f"{round(bodies, 1 - math.floor(math.log10(bodies))):,.0f}"


def phases_table(records: Sequence[Record]) -> str:
    chosen = [record for record in records if record.data.get("phases")]
    if not chosen:
        return ""
    names = list(chosen[0].data["phases"])
    rows = []
    for record in chosen:
        phases = record.data["phases"]
        total = sum(phases.values())
        rows.append(
            [
                f"{record.problem.bodies:,}",
                f"{theta_of(record):g}",
                *(seconds(phases[name]) for name in names),
                f"{100 * build_time(record) / total:.0f} %",
                seconds(total),
            ]
        )
    return ("The table has the durations of the individual kernels, measured by Nsight Compute on "
            f"{heading(chosen)}:\n\n"
            + markdown(("bodies", "theta", *names, "all except the walk", "sum"), rows))


def build_time(record: Record) -> float:
    return sum(time for name, time in record.data["phases"].items() if name != "walk")


def build_of(records: Sequence[Record], bodies: int, theta: float) -> Optional[float]:
    found = [build_time(record) for record in records if record.data.get("phases")
             and record.problem.bodies == bodies and theta_of(record) == theta]
    return found[0] if found else None


def build_shares(records: Sequence[Record], bodies: int) -> Optional[str]:
    """Returns the share of time that building the tree takes, as text: a range in percent."""
    found = [100 * build_time(record) / sum(record.data["phases"].values()) for record in records
             if record.data.get("phases") and record.problem.bodies == bodies]
    return f"{min(found):.0f} to {max(found):.0f} %" if found else None


def errors_table(records: Sequence[Record]) -> str:
    """Returns a table of the errors for the largest system whose forces were checked."""
    chosen = [
        record
        for record in records
        if record.data.get("force_error") and theta_of(record) is not None
    ]
    if not chosen:
        return ""
    largest = max(record.problem.bodies for record in chosen)
    chosen = sorted(
        (record for record in chosen if record.problem.bodies == largest),
        key=lambda record: (-record.data["approximation"]["multipole"], theta_of(record)),
    )
    rows = [["yes" if record.data["approximation"]["multipole"] else "no", f"{theta_of(record):g}",
             *(f"{record.data['force_error'][key]:.1e}" for key in ERRORS)] for record in chosen]
    first = chosen[0]
    return (f"The errors were computed for {first.data['force_error']['bodies']} of {largest:,} "
            f"bodies ({first.problem.scenario}). "
            f"Measured on {heading(chosen)}.\n\n"
            + markdown(("quadrupole", "theta", *ERRORS.values()), rows))


def opening_records(results: Path) -> list[Record]:
    return newest_measured(results / "openings", check_measurement)


def opening_of(record: Record) -> str:
    approximation = record.data["approximation"]
    tolerance = approximation.get("force_tolerance")
    return f"theta {approximation['theta']:g}" if tolerance is None else f"tolerance {tolerance:g}"


def openings_table(records: Sequence[Record]) -> str:
    """Returns a table of the time and errors of each opening criterion, by problem."""
    if not records:
        return ""
    rows = []
    for record in records:
        error = record.data["force_error"]
        rows.append([f"{record.problem.scenario}, {record.problem.bodies:,}",
                     f"{record.number}, {opening_of(record)}", seconds(per_step(record).median),
                     *(f"{error[key]:.1e}" for key in ERRORS)])
    bodies, softening = records[0].data["force_error"]["bodies"], records[0].problem.softening
    return (
        f"The table shows the time of a time step, and the errors of the forces on {bodies} "
        f"bodies, with a softening of {softening:g}. Measured on {heading(records)}.\n\n"
        + markdown(("problem", "step, opening", "time step", *ERRORS.values()), rows)
    )


def is_of(record: Record, scenario: str, bodies: int) -> bool:
    return (record.problem.scenario, record.problem.bodies) == (scenario, bodies)


def opening_time(records: Sequence[Record], scenario: str, bodies: int, number: str,
                 rms: float) -> Optional[float]:
    """Returns the seconds per time step at the RMS error `rms`, interpolated on logarithmic scales.
    """
    points = sorted(
        (math.log(record.data["force_error"]["rms"]), math.log(per_step(record).median))
        for record in records if is_of(record, scenario, bodies) and record.number == number)
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x0 <= math.log(rms) <= x1:
            return math.exp(y0 + (y1 - y0) * (math.log(rms) - x0) / (x1 - x0))
    return None


def opening_gain(records: Sequence[Record], scenario: str, bodies: int,
                 rms: float) -> Optional[float]:
    """Returns the speedup of step 15b over step 15 at the same RMS error."""
    before = opening_time(records, scenario, bodies, "15", rms)
    after = opening_time(records, scenario, bodies, "15b", rms)
    return before / after if before and after else None


def opening_account(records: Sequence[Record], scenario: str, bodies: int) -> str:
    """Returns a table that explains the durations of the two steps' tree walks with two quantities
    that Nsight Compute counted."""
    counted = {record.number: record for record in records
               if record.data.get("walk") and is_of(record, scenario, bodies)}
    if set(counted) != {"15", "15b"}:
        return ""
    before, after = (counted[number].data["walk"] for number in ("15", "15b"))
    titles = [f"{number}, {opening_of(counted[number])}" for number in ("15", "15b")]
    warps = math.ceil(bodies / 32)
    rates = [walk["instructions"] / walk["seconds"] for walk in (before, after)]
    rows = [["instructions of a warp",
             *(f"{walk['instructions'] / warps:,.0f}" for walk in (before, after)),
             f"{before['instructions'] / after['instructions']:.2f}"],
            ["10¹² instructions per second", *(f"{rate * 1e-12:.3g}" for rate in rates),
             f"{rates[1] / rates[0]:.2f}"],
            ["walks", seconds(before["seconds"]), seconds(after["seconds"]),
             f"**{before['seconds'] / after['seconds']:.2f}**"]]
    return markdown(("counted", *titles, "times as fast"), rows)


def peers_of(results: Path) -> list[Peer]:
    """Reads the newest file of peers that ./nbody measure tree_peers wrote."""
    found = sorted((results / "tree_peers").glob("*.peers.json"))
    return (
        [Peer(**one) for one in json.loads(found[-1].read_text(encoding="utf-8"))] if found else []
    )


def peers_table(records: Sequence[Record], peers: Sequence[Peer]) -> str:
    """Returns a table with one row per peer. The row also has our fastest run that is at least as
    accurate as the peer."""
    rows = []
    for peer in peers:
        best = None if peer.error is None else fastest_as_accurate(peer, records)
        ours = [ABSENT] * 4 if best is None else [
            "theta {theta:g}, multipole {multipole}".format(**best.data["approximation"]),
            f"{best.data['force_error'][peer.quantity]:.1e}", seconds(per_step(best).median),
            f"{peer.seconds / per_step(best).median:.1f}"]
        error = (
            ABSENT
            if peer.error is None
            else f"{peer.error:.1e} ({'RMS' if peer.quantity == 'rms' else '99 %'})"
        )
        rows.append(
            [f"{peer.name}, {peer.what}", f"{peer.bodies:,}", seconds(peer.seconds), error, *ours]
        )
    return (
        ""
        if not rows
        else (
            "The bodies form a Plummer sphere (ECL-BH) or a cube (Ryoanji). "
            f"Measured on {heading(records)}.\n\n"
            + markdown(
                ("", "bodies", "time", "error", "step 15", "error", "time step", "times as fast"),
                rows,
            )
        )
    )


def energy(records: Sequence[Record]) -> str:
    chosen = [record for record in records if record.data.get("energies")]
    return "\n".join(
        f"- {record.problem}, theta {theta_of(record):g}: relative energy change "
        f"{greatest(record)}, in {seconds(record.seconds('compute').median)} of kernel time"
        for record in chosen
    )


def gain_over(
    records: Sequence[Record], peers: Sequence[Peer], name: str, bodies: int
) -> Optional[str]:
    """Returns our speedup over the peer called `name`, as in the table of peers."""
    for peer in peers:
        if peer.name == name and peer.bodies == bodies and peer.error is not None:
            best = fastest_as_accurate(peer, records)
            return None if best is None else f"{peer.seconds / per_step(best).median:.1f}"
    return None


def greatest(record: Record) -> str:
    """Returns the largest energy change. Prefixes it with "at most" if states between the start and
    the end were also compared. Otherwise the energy may have changed more in between."""
    change = record.data["energies"]["change"]
    return f"{'at most ' if len(change) > 2 else ''}{max(map(abs, change)):.1e}"


def words(results: Path) -> dict[str, Callable[..., Value]]:
    def optional(name: str, made: Callable[[Sequence[Record]], str]) -> Callable[[], Value]:
        return lambda: Value(made(tree_records(results)) or None, "text", f"{name}()")

    def peers() -> Value:
        beside = newest_measured(results / "tree_peers", check_measurement)
        return Value(peers_table(beside, peers_of(results)) or None, "text", "tree_peers()")

    def peer_gain(name: str, bodies: int) -> Value:
        beside = newest_measured(results / "tree_peers", check_measurement)
        return Value(
            gain_over(beside, peers_of(results), name, bodies),
            "text",
            f"tree_peer_gain('{name}', {bodies})",
        )

    def energies() -> Value:
        beside = newest_measured(results / "galaxies", check_measurement)
        return Value(energy([*tree_records(results), *beside]) or None, "text", "tree_energy()")

    def timed(name: str, made: Callable[..., Content], unit: str) -> Callable[..., Value]:
        return lambda *asked: Value(made(tree_records(results), *asked), unit, f"{name}{asked}")

    def opened(name: str, made: Callable[..., Content], unit: str) -> Callable[..., Value]:
        def value(*asked: object) -> Value:
            return Value(made(opening_records(results), *asked) or None, unit, f"{name}{asked}")
        return value

    return {
        "tree_openings": opened("tree_openings", openings_table, "text"),
        "opening_time": opened("opening_time", opening_time, "time"),
        "opening_gain": opened("opening_gain", opening_gain, "number:3"),
        "opening_account": opened("opening_account", opening_account, "text"),
        "tree_peers": peers,
        "tree_peer_gain": peer_gain,
        "tree_energy": energies,
        "tree_step": timed("tree_step", step_time, "time"),
        "tree_build": timed("tree_build", build_of, "time"),
        "tree_shares": timed("tree_shares", build_shares, "text"),
        "tree_crossings": timed("tree_crossings", crossings, "text"),
        "tree_gains": timed("tree_gains", gains, "text"),
        **{
            name: optional(name, made)
            for name, made in (
                ("tree_times", times_table),
                ("tree_phases", phases_table),
                ("tree_errors", errors_table),
            )
        },
    }
