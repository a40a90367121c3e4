"""Reads Nsight Compute's CSV, averages the launches of each kernel, and formats a table.

Uses only the standard library, because a machine with a GPU may lack other packages.
"""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from nbody_tools.arguments import Failed, read_whole_file
from nbody_tools.tables import aligned, plain

LANES = 32  # threads of a warp, which execute an instruction together

STALLS = (
    "long_scoreboard",
    "short_scoreboard",
    "math_pipe_throttle",
    "mio_throttle",
    "lg_throttle",
    "wait",
    "dispatch_stall",
    "not_selected",
    "barrier",
    "no_instruction",
    "branch_resolving",
    "imc_miss",
    "drain",
)


@dataclass(frozen=True)
class Metric:
    key: str  # in JSON
    source: str  # Nsight Compute's name of the metric
    label: str
    unit: str = ""
    scale: float = 1.0  # factor from Nsight Compute's base unit to `unit`


METRICS = (
    Metric("duration_us", "gpu__time_duration.sum", "duration of a launch", "us", 1e-3),
    Metric("sm_clock_ghz", "sm__cycles_elapsed.avg.per_second", "SM clock", "GHz", 1e-9),
    Metric("sm_active_cycles", "sm__cycles_active.avg", "cycles with work, mean of all SMs"),
    Metric("sm_elapsed_cycles", "sm__cycles_elapsed.max", "cycles of a launch"),
    Metric(
        "occupancy_percent",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "achieved occupancy",
        "%",
    ),
    Metric(
        "issue_percent",
        "smsp__issue_active.avg.pct_of_peak_sustained_active",
        "issue slots used while the SM has work",
        "%",
    ),
    Metric(
        "fma_percent",
        "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
        "FMA pipe while active",
        "%",
    ),
    Metric(
        "xu_percent",
        "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
        "XU pipe (square roots, reciprocals) while active",
        "%",
    ),
    Metric(
        "alu_percent",
        "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
        "ALU pipe (integers, comparisons) while active",
        "%",
    ),
    Metric(
        "lsu_percent",
        "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
        "LSU pipe (loads, stores) while active",
        "%",
    ),
    Metric(
        "compute_percent",
        "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "compute throughput",
        "%",
    ),
    Metric(
        "memory_percent",
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        "memory throughput",
        "%",
    ),
    Metric("registers", "launch__registers_per_thread", "registers per thread"),
    Metric(
        "shared_bytes",
        "launch__shared_mem_per_block_static",
        "static shared memory per block",
        "bytes",
    ),
    Metric("block_size", "launch__block_size", "threads per block"),
    Metric("grid_size", "launch__grid_size", "blocks"),
    Metric("instructions", "smsp__inst_executed.sum", "warp instructions"),
    Metric(
        "load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors, global loads"
    ),
    Metric(
        "load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "requests, global loads"
    ),
    Metric(
        "bank_conflicts",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "bank conflicts, shared loads",
    ),
    Metric(
        "write_conflicts",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        "bank conflicts, shared stores",
    ),
    Metric(
        "load_efficiency",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
        "bytes used of each sector loaded",
        "%",
    ),
    Metric(
        "store_efficiency",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
        "bytes used of each sector stored",
        "%",
    ),
    *(
        Metric(
            f"stall_{name}",
            f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio",
            f"stalled: {name.replace('_', ' ')}",
            "warps/issue",
        )
        for name in STALLS
    ),
)
SOURCES = tuple(metric.source for metric in METRICS)
# The clocks are not locked: counters are valid at any clock, and profiled times are not used.
RAW = ("--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base")
SUM = {"sm_active_cycles", "sm_elapsed_cycles", "instructions", "load_sectors", "load_requests",
       "bank_conflicts", "write_conflicts"}

# Metrics that are computed from other metrics, if the others were counted.
DERIVED = (
    Metric("sm_busy_percent", "", "SMs with work, mean over time", "%"),
    Metric("sectors_per_request", "", "sectors per request, global loads"),
    Metric("instructions_per_interaction", "", "instructions per interaction"),
)

# Prefixes of units in reports that were made without --print-units base.
PREFIXES = {"": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
TIMES = {"nsecond": 1.0, "ns": 1.0, "usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6,
         "second": 1e9, "s": 1e9}


class ProfileError(Failed):
    pass


@dataclass(frozen=True)
class Launch:
    kernel: str
    values: dict[str, float]  # key is Metric.key; value is in the metric's unit


@dataclass(frozen=True)
class KernelProfile:
    kernel: str
    launches: int
    metrics: dict[str, float]


def short_name(kernel: str) -> str:
    """Shortens `void <unnamed>::f<float, 4>(const float *, int)` to `f<float, 4>`."""
    name = re.sub(r"\(anonymous namespace\)|(?<!\w)<unnamed>|\(unnamed\)", "", kernel)
    name = name.replace("unnamed>::", "")  # ncu may cut off the text up to `<`
    depth, end = 0, len(name)
    for i, letter in enumerate(name):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:
            end = i
            break
    name = name[:end].strip()
    head, bracket, tail = name.partition("<")
    return (head.split()[-1] if head.split() else "").split("::")[-1] + bracket + tail or kernel


def number(text: str) -> Optional[float]:
    """Parses a number with grouped digits. Returns None for an empty cell or 'n/a', which mean that
    Nsight Compute could not count the metric."""
    try:
        value = float(text.replace(",", "").strip())
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def to_base(value: float, unit: str) -> float:
    """Converts a value to nanoseconds, bytes or hertz. Percentages, ratios and counts stay
    unchanged."""
    if unit in TIMES:
        return value * TIMES[unit]
    for ending in ("byte/block", "byte", "cycle/second", "hz", "Hz"):
        if unit.endswith(ending) and unit[:-len(ending)] in PREFIXES:
            return value * PREFIXES[unit[:-len(ending)]]
    match = re.fullmatch(r"cycle/(n|u|m|)s(?:econd)?", unit)
    return value / PREFIXES[match.group(1)] if match else value


def read_cells(text: str, where: str) -> list[dict[str, tuple[str, str]]]:
    """Parses `ncu --csv --page raw`: names, units, then one line per launch. Returns, for each
    launch, the text and the unit of every column.

    Ignores lines of the profiler (==PROF==), and the program's output before and after the table.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines)
                  if line.startswith('"ID"') and '"Kernel Name"' in line), None)
    if start is None:
        raise ProfileError(f"{where}: {complaint(lines)}")
    rows = [row for row in csv.reader(io.StringIO("\n".join(lines[start:])))
            if row and not row[0].startswith("==")]
    names = rows[0]
    if len(rows) < 3 or len(rows[1]) != len(names) or rows[1][names.index("ID")]:
        raise ProfileError(
            f"{where}: the line of units or the launches are missing below the column names"
        )
    units = rows[1]
    launches = []
    for number_, row in enumerate(rows[2:], start=1):
        if len(row) != len(names):
            raise ProfileError(f"{where}: launch {number_} has {len(row)} columns, but there are "
                               f"{len(names)} column names")
        launches.append(dict(zip(names, zip(row, units))))
    return launches


def read_csv(text: str, where: str) -> list[Launch]:
    launches = []
    for cells in read_cells(text, where):
        values = {}
        for metric in METRICS:
            text_, unit = cells.get(metric.source, ("", ""))
            value = number(text_)
            if value is not None:
                values[metric.key] = to_base(value, unit) * metric.scale
        launches.append(Launch(short_name(cells["Kernel Name"][0]), values))
    if not any(launch.values for launch in launches):
        raise ProfileError(f"{where}: holds none of the counts that ./nbody profile reads")
    return launches


def complaint(lines: Sequence[str]) -> str:
    error = next((line for line in lines if line.startswith("==ERROR==")), None)
    return error or "no table of Nsight Compute (ncu --csv --page raw)"


def aggregate(launches: Sequence[Launch],
              interactions: Optional[float] = None) -> list[KernelProfile]:
    """Returns one profile per kernel name, sorted by total time, longest first. Counts and
    durations are means over the launches, and rates are means weighted by duration. `interactions`
    is the number of interactions in one launch."""
    by_name: dict[str, list[Launch]] = {}
    for launch in launches:
        by_name.setdefault(launch.kernel, []).append(launch)
    profiles = []
    for kernel, group in by_name.items():
        metrics: dict[str, float] = {}
        for metric in METRICS:
            present = [launch for launch in group if metric.key in launch.values]
            if present:
                plain = metric.key in SUM or metric.key == "duration_us"
                weights = [1.0 if plain else launch.values.get("duration_us") or 1.0
                           for launch in present]
                total = sum(weight * launch.values[metric.key]
                            for weight, launch in zip(weights, present))
                metrics[metric.key] = total / sum(weights)
        if metrics.get("sm_elapsed_cycles") and "sm_active_cycles" in metrics:
            metrics["sm_busy_percent"] = (100 * metrics["sm_active_cycles"]
                                          / metrics["sm_elapsed_cycles"])
        if metrics.get("load_requests") and "load_sectors" in metrics:
            metrics["sectors_per_request"] = metrics["load_sectors"] / metrics["load_requests"]
        if interactions and "instructions" in metrics:
            metrics["instructions_per_interaction"] = LANES * metrics["instructions"] / interactions
        profiles.append(KernelProfile(kernel, len(group), metrics))
    return sorted(profiles, key=lambda p: -p.launches * p.metrics.get("duration_us", 0.0))


def table(profile: KernelProfile) -> str:
    """Returns a table of a kernel's metrics. Lists the stalls by size, and omits rare stalls."""
    stalls = sorted((metric for metric in METRICS if metric.key.startswith("stall_")
                     and profile.metrics.get(metric.key, 0.0) >= 0.005),
                    key=lambda metric: -profile.metrics[metric.key])
    rest = [metric for metric in METRICS if not metric.key.startswith("stall_")]
    rows = [(metric.label, plain(profile.metrics[metric.key]), metric.unit)
            for metric in [*rest, *DERIVED, *stalls] if metric.key in profile.metrics]
    times = "launch" if profile.launches == 1 else "launches"
    return "\n".join([f"{profile.kernel}: mean of {profile.launches} {times}",
                      *(f"  {line}" for line in aligned(rows, left=(0, -1)))])


def read_file(path: Path) -> str:
    return read_whole_file(path, ProfileError)
