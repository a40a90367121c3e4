"""Compares our counts with the values that a report's authors read from a profiler or from SASS
(the key `profile` of a table)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, Callable, Iterable, Iterator, Optional

from nbody_tools.arguments import ToolError
from nbody_tools.inspection.calibration import FOLDER, read_chip, step_counts
from nbody_tools.measure.ncu import LANES, Launch, read_csv, read_file
from nbody_tools.records.record import Quartiles
from nbody_tools.tables import ABSENT, NOT_MEASURED, markdown, plain

PROFILES = Path("docs") / "results" / "sweeps" / "profiles"
MACHINE = "device.txt"  # the text before the first comma is the machine's name


@dataclass(frozen=True)
class Counter:
    unit: str
    of: Callable[[dict[str, float]], float]  # argument: counts of a launch, or of a kernel's SASS


def sectors_of_own_loads(launch: dict[str, float]) -> float:
    """Returns the sectors per load for the two loads with which a warp reads its own bodies. Each
    of the kernel's other loads reads a single address, and therefore a single sector."""
    warps = launch["grid_size"] * launch["block_size"] / LANES
    return 1 + (launch["load_sectors"] - launch["load_requests"]) / (2 * warps)


SHARE = "share of the time"
# A counter in docs/results/patterns/.
# With `profile` = "model", a row takes the counts of ./nbody inspect.
# With "chip", it takes the counts of Nsight Compute.
PATTERN = "sectors per load of a pattern"
COUNTERS = {
    "compute": Counter(" %", lambda launch: launch["compute_percent"]),
    "memory": Counter(" %", lambda launch: launch["memory_percent"]),
    "occupancy": Counter(" %", lambda launch: launch["occupancy_percent"]),
    "FMA pipe": Counter(" %", lambda launch: launch["fma_percent"]),
    "XU pipe": Counter(" %", lambda launch: launch["xu_percent"]),
    "ALU pipe": Counter(" %", lambda launch: launch["alu_percent"]),
    "LSU pipe": Counter(" %", lambda launch: launch["lsu_percent"]),
    "issue slots": Counter(" %", lambda launch: launch["issue_percent"]),
    "load efficiency": Counter(" %", lambda launch: launch["load_efficiency"]),
    "store efficiency": Counter(" %", lambda launch: launch["store_efficiency"]),
    "conflicts on writing": Counter("", lambda launch: launch["write_conflicts"]),
    "conflicts on reading": Counter("", lambda launch: launch["bank_conflicts"]),
    "sectors loaded": Counter("", lambda launch: launch["load_sectors"]),
    "microseconds": Counter(" us", lambda launch: launch["duration_us"]),
    "warp instructions": Counter("", lambda launch: launch["instructions"]),
    "warps waiting for a pipe": Counter("", lambda launch: launch["stall_math_pipe_throttle"]),
    "warps ready, not chosen": Counter("", lambda launch: launch["stall_not_selected"]),
    "registers": Counter("", lambda launch: launch["registers"]),
    "loads": Counter("", lambda launch: launch["load_requests"]),
    "sectors per load": Counter(
        "", lambda launch: launch["load_sectors"] / launch["load_requests"]
    ),
    "sectors per own load": Counter("", sectors_of_own_loads),
    PATTERN: Counter("", lambda counts: counts["cost"] / counts["requests"]),
    "instructions": Counter("", lambda code: code["instructions"]),
    "instructions that differ": Counter("", lambda code: code["different"]),
    "operands in constant bank 0": Counter("", lambda code: code["bank_0"]),
    "operands in constant bank 3": Counter("", lambda code: code["bank_3"]),
    SHARE: Counter(" %", lambda launch: launch["duration_us"]),  # in % of the time of all kernels
}
ROW = {"name": str, "profile": str, "kernel": str, "counter": str}
ROW_MAY = {"published": str}
CLAIM = {"says": str, "rows": list}
CLAIM_MAY = {"where": str, "printed": str, "above": (int, float, str), "below": (int, float, str)}


def check_profile(
    where: str, rows: list[Any], claims: list[Any], check_keys: Callable[..., None]
) -> None:
    for row in rows:
        check_keys(f"{where}: a profile", row, ROW, ROW_MAY)
        if row["counter"] not in COUNTERS:
            raise ToolError(
                f"{where}: '{row['counter']}' is not a counter; choose from {', '.join(COUNTERS)}"
            )
    names = [row["name"] for row in rows]
    if len(set(names)) < len(names):
        raise ToolError(f"{where}: two profiles have the same name")
    for claim in claims:
        check_keys(f"{where}: a claim", claim, CLAIM, CLAIM_MAY)
        if ("above" in claim) == ("below" in claim):
            raise ToolError(f"{where}: '{claim['says']}' needs either `above` or `below`")
        for name in (*claim["rows"], limit_of(claim)):
            if isinstance(name, str) and name not in names:
                raise ToolError(f"{where}: '{claim['says']}': there is no profile '{name}'")


def limit_of(claim: dict[str, Any]) -> Any:
    return claim["above"] if "above" in claim else claim["below"]


@lru_cache(maxsize=None)
def launches_of(path: Path) -> tuple[Launch, ...]:
    """Reads NAME.csv from Nsight Compute, or NAME.jsonl from ./nbody sweep machine_code."""
    if path.is_file():
        return tuple(read_csv(read_file(path), path.name))
    lines = path.with_suffix(".jsonl")
    return (
        tuple(
            Launch(line["kernel"], line["values"])
            for line in map(json.loads, read_file(lines).splitlines())
        )
        if lines.is_file()
        else ()
    )


def counted(root: Path, row: dict[str, Any]) -> Optional[Quartiles]:
    """Returns the minimum, median and maximum of a counter over all launches of a kernel. `row`
    specifies the counter and the kernel."""
    if row["counter"] == PATTERN:
        counts = pattern_counts(root, row["profile"], row["kernel"])
        return Quartiles(*[COUNTERS[PATTERN].of(counts)] * 3) if counts else None
    path = root / PROFILES / f"{row['profile']}.csv"
    launches = launches_of(path)
    if not launches:
        return None
    values = [
        launch.values
        for launch in launches
        if re.match(rf"{re.escape(row['kernel'])}\b", launch.kernel)
    ]
    if not values:
        raise ToolError(f"{path.name}: has no kernel {row['kernel']}; it has "
                        f"{', '.join(sorted({launch.kernel for launch in launches}))}")
    counter = COUNTERS[row["counter"]]
    try:
        found = [counter.of(launch) for launch in values]
    except KeyError as key:
        raise ToolError(f"{path.name}: {row['kernel']} has no {key}") from None
    if row["counter"] == SHARE:
        share = 100 * sum(found) / sum(launch.values["duration_us"] for launch in launches)
        return Quartiles(share, share, share)
    return Quartiles(min(found), median(found), max(found))


def pattern_counts(root: Path, source: str, name: str) -> dict[str, float]:
    """Returns the counts of global loads for one of the access patterns in hostcuda/trace/patterns.
    Returns an empty dictionary if these loads were not counted."""
    if source == "model":
        return step_counts(root, "patterns", name, "global load")
    if not (root / FOLDER / "chip.jsonl").is_file():
        return {}
    return next(
        (kernel["global load"] for kernel in read_chip(root)[1] if kernel["name"] == name), {}
    )


def written(root: Path, row: dict[str, Any]) -> str:
    value = counted(root, row)
    return (
        NOT_MEASURED
        if value is None
        else f"{plain(value.median, 4)}{COUNTERS[row['counter']].unit}"
    )


def machine(root: Path, days: str = "") -> str:
    path = root / PROFILES / MACHINE
    if not path.is_file():
        return ""
    return f" ({', '.join(filter(None, (read_file(path).partition(',')[0], days)))})"


def days_of(root: Path, profiles: Iterable[str]) -> str:
    """Returns the days on which the profiles were counted, according to device.txt. A line of
    device.txt that begins with a pattern and a colon is about the files that match the pattern. The
    first line is about all other files."""
    path = root / PROFILES / MACHINE
    first, *others = read_file(path).splitlines() if path.is_file() else [""]
    lines = {next((line for line in others
                   if fnmatch(f"{profile}.csv", line.partition(":")[0])), first)
             for profile in profiles}
    days = {day for line in lines for day in re.findall(r"\d{4}-\d\d-\d\d", line)}
    return " and ".join(sorted(days))


def profile_table(root: Path, rows: list[dict[str, Any]]) -> str:
    return markdown(
        ["", "published", f"ours{machine(root)}"],
        [[row["name"], row.get("published", ABSENT), written(root, row)] for row in rows],
    )


def compared(
    root: Path, rows: list[dict[str, Any]], claim: dict[str, Any]
) -> Iterator[tuple[str, Optional[bool]]]:
    """Yields two values for each row of a claim: the counts as text, and whether the claim holds
    (None if the ranges of the launches overlap)."""
    by_name = {row["name"]: row for row in rows}
    limit = limit_of(claim)
    for name in claim["rows"]:
        value = counted(root, by_name[name])
        other = (
            counted(root, by_name[limit])
            if isinstance(limit, str)
            else Quartiles(limit, limit, limit)
        )
        if value is None or other is None:
            yield "", None
            continue
        text = written(root, by_name[name])
        text += f" and {written(root, by_name[limit])}" if isinstance(limit, str) else ""
        higher, lower = (value, other) if "above" in claim else (other, value)
        yield text, True if higher.low > lower.high else False if higher.high < lower.low else None


def not_counted(root: Path, rows: list[dict[str, Any]]) -> list[str]:
    return [row["name"] for row in rows if counted(root, row) is None]
