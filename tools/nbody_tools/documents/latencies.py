"""Makes the tables of experiments/latencies from its records in docs/results/latencies/."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nbody_tools.records.facts import FactError, Value
from nbody_tools.records.record import BACKENDS, VERDICTS, Record, newest_measured
from nbody_tools.tables import ABSENT, NOT_MEASURED, markdown, seconds

FOLDER = "latencies"  # in docs/results/
# All latencies, in the order in which the page lists them.
NAMES = (
    "launch",
    "launch_and_wait",
    "graph_node",
    "dependent_launch",
    "dependent_graph_node",
    "grid_barrier",
    "own_grid_barrier",
    "cluster_barrier",
    "block_barrier",
    "distributed_shared_load",
    "shared_load",
    "global_load",
    "global_round_trip",
)
MIX = re.compile(r"issue_(\d+)_fma_(\d+)_mufu_(\d+)_shfl")  # a loop's instruction counts
PLAIN = "issue_16_fma_0_mufu_0_shfl"


def check_latency(data: Any) -> None:
    """Raises ValueError unless the record is from experiments/latencies."""
    if not isinstance(data, dict) or not isinstance(data.get("device"), dict):
        raise ValueError("'device' is missing")
    for key, allowed in (("latency", NAMES), ("backend", BACKENDS), ("verdict", VERDICTS)):
        if data.get(key) not in allowed and not (
            key == "latency" and MIX.fullmatch(str(data.get(key)))
        ):
            raise ValueError(f"'{key}' is {data.get(key)!r}, not one of {', '.join(allowed)}")
    for key in ("blocks", "threads", "cluster", "operations", "median", "iqr"):
        if not isinstance(data.get(key), (int, float)):
            raise ValueError(f"'{key}' is {data.get(key)!r}, not a number")
    if data["backend"] == "cuda" and not data["median"] > 0:
        raise ValueError(f"the median is {data['median']}, not above 0")


def newest(results: Path) -> list[Record]:
    return newest_measured(results / FOLDER, check_latency)


def table(results: Path) -> str:
    records = [record for record in newest(results) if record.data["latency"] in NAMES]
    if not records:
        return NOT_MEASURED
    first = records[0]
    ordered = sorted(records, key=lambda r: NAMES.index(r.data["latency"]))  # stable sort
    rows = [
        [
            f"`{r.data['latency']}`",
            shape(r.data),
            seconds(r.data["median"]),
            seconds(r.data["iqr"]),
            str(len(r.data["repeats"])),
            r.verdict,
        ]
        for r in ordered
    ]
    return (
        f"Measured on {first.machine}, {first.date[:10]}, with long chains that have "
        f"{first.data['operations']} more operations than the short ones:\n\n"
        + markdown(
            ("latency", "blocks x threads", "median", "IQR", "repeats", "verdict"), rows
        )
    )


def shape(data: dict[str, Any]) -> str:
    clusters = ", one cluster" if data["cluster"] > 1 else ""
    return f"{data['blocks']} x {data['threads']}{clusters}"


def latency(results: Path, name: str) -> Value:
    """Returns the median latency in seconds, from the run with the fewest blocks and threads."""
    if name not in NAMES:
        raise FactError(f"there is no latency '{name}'; choose from {', '.join(NAMES)}")
    found = [r.data for r in newest(results) if r.data["latency"] == name]
    least = min(found, key=lambda data: (data["blocks"], data["threads"]), default=None)
    return Value(least["median"] if least else None, "time", f"latency('{name}')")


def mix_of(name: str) -> list[int]:
    """Returns the numbers of FFMA, MUFU and SHFL instructions in the loop called `name`, or an
    empty list if no loop has this name."""
    match = MIX.fullmatch(name)
    return [int(count) for count in match.groups()] if match else []


def issue_slots(results: Path) -> str:
    """Returns a table of the issue slots that a MUFU or SHFL instruction takes in a loop of
    multiply-adds. One slot is the time of one multiply-add."""
    times = {r.data["latency"]: r.data["median"]
             for r in newest(results) if mix_of(r.data["latency"])}
    if PLAIN not in times:
        return NOT_MEASURED
    of_one = times[PLAIN] / mix_of(PLAIN)[0]
    rows = []
    for name, time in times.items():
        fma, mufu, shfl = mix_of(name)
        others = mufu + shfl
        each = f"{(time / of_one - fma) / others:.2f}" if others else ABSENT
        rows.append(
            [
                f"{fma} FFMA" + f", {mufu} MUFU.RSQ" * bool(mufu) + f", {shfl} SHFL" * bool(shfl),
                seconds(time),
                f"{time / of_one:.2f}",
                each,
            ]
        )
    return markdown(
        ("instructions of a pass", "time", "in slots of an FFMA", "slots per MUFU or SHFL"), rows
    )
