"""Compares ./nbody inspect's predictions with Nsight Compute's counts (docs/results/patterns/).

model.jsonl and chip.jsonl have one line per program and kernel. A quantity is a kind of access,
such as "shared load". For each quantity, a line has the number of requests of all warps, and
the cost of these requests in sectors of global memory or wavefronts of shared memory. The number of
bank conflicts is the number of wavefronts minus the ideal number.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

from nbody_tools.arguments import ROOT, Failed, write_whole_file
from nbody_tools.inspection.trace import Inspection
from nbody_tools.inspection.as_json import kernel_json
from nbody_tools.measure.ncu import number, read_cells, read_file, short_name

FOLDER = Path("docs") / "results" / "patterns"
PATTERNS = "patterns"
PROBLEM = {"systems": 2, "bodies": 1024, "steps": 1}
INTERACTIONS = PROBLEM["systems"] * float(PROBLEM["bodies"]) ** 2 * PROBLEM["steps"]
# Steps whose READMEs quote ./nbody inspect, and the parents of these steps.
STEPS = ("step01_gpu_naive", "step02_layout", "step03_tiling", "step08_multigpu", "step09_soa",
         "step10_tiled2d_cublas")

# Nsight Compute's metrics for the requests, cost and conflicts of each quantity.
# The values of several metrics are added up.
METRICS = {
    "global load": (("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",),
                    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",), ()),
    "global store": (("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",),
                     ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",), ()),
    "global atomic": (("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
                       "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"),
                      ("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
                       "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"), ()),
    "shared load": (("smsp__sass_inst_executed_op_shared_ld.sum",),
                    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",),
                    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",)),
    "shared store": (("smsp__sass_inst_executed_op_shared_st.sum",),
                     ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",),
                     ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",)),
}


class CalibrationError(Failed):
    pass


@dataclass(frozen=True)
class Count:
    requests: int = 0
    cost: int = 0
    conflicts: int = 0  # in shared memory

    @property
    def each(self) -> float:
        return self.cost / self.requests if self.requests else 0.0


@dataclass(frozen=True)
class Compared:
    program: str
    kernel: str
    quantity: str
    model: Count
    chip: Count
    ideal_cost: int

    agrees = property(lambda self: self.model == self.chip)


# Writing.

def model_lines(program: str, inspection: Inspection) -> list[dict[str, Any]]:
    if not inspection.clean:
        raise CalibrationError(f"{program}: races or divergent barriers; see ./nbody inspect")
    interactions = None if program == PATTERNS else INTERACTIONS
    return [{"program": program, **kernel_json(kernel, interactions)}
            for kernel in inspection.kernels]


def chip_lines(program: str, csv: Path) -> list[dict[str, Any]]:
    """Reads Nsight Compute's counts and adds up the launches of each kernel."""
    kernels: dict[str, dict[str, dict[str, int]]] = {}
    for cells in read_cells(read_file(csv), str(csv)):
        counts = kernels.setdefault(short_name(cells["Kernel Name"][0]), {})
        for quantity, metrics in METRICS.items():
            count = counts.setdefault(quantity, dict(vars(Count())))
            for name, sources in zip(count, metrics):
                count[name] += sum(counted(cells, source, csv) for source in sources)
    return [{"program": program, "name": kernel,
             **{quantity: count for quantity, count in counts.items() if count["requests"]}}
            for kernel, counts in kernels.items()]


def counted(cells: dict[str, tuple[str, str]], metric: str, csv: Path) -> int:
    value = number(cells.get(metric, ("", ""))[0])
    if value is None:
        raise CalibrationError(f"{csv}: lacks the metric {metric}")
    return int(value)


def write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    write_whole_file(path, "".join(json.dumps(line) + "\n" for line in lines))


# Reading.

def read_lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise CalibrationError(f"{path}: cannot be read: {error}") from error


def read_model(root: Path = ROOT) -> list[dict[str, Any]]:
    return read_lines(root / FOLDER / "model.jsonl")


def read_chip(root: Path = ROOT) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Returns the first line, which describes the chip, the versions and the date, and then the
    lines of the kernels."""
    first, *kernels = read_lines(root / FOLDER / "chip.jsonl")
    return first, kernels


def model_count(kernel: dict[str, Any], quantity: str) -> tuple[Count, int]:
    """Returns the model's count of a quantity, and the quantity's ideal cost."""
    memory, access = quantity.split()
    unit = "sectors" if memory == "global" else "wavefronts"
    lines = [
        line for line in kernel["lines"] if (line["memory"], line["access"]) == (memory, access)
    ]
    requests, cost, ideal = (sum(line[name] for line in lines)
                             for name in ("requests", unit, f"ideal_{unit}"))
    return Count(requests, cost, cost - ideal if memory == "shared" else 0), ideal


def compared(root: Path = ROOT) -> list[Compared]:
    """Compares all quantities of the kernels that are in both files, in the model's order."""
    _, chip = read_chip(root)
    chips = {(line["program"], line["name"]): line for line in chip}
    pairs = []
    for kernel in read_model(root):
        counts = chips.get((kernel["program"], kernel["name"]))
        if counts is None:
            continue  # the step was not profiled
        for quantity in METRICS:
            model, ideal = model_count(kernel, quantity)
            on_chip = Count(**counts.get(quantity, {}))
            if model.requests or on_chip.requests:
                pairs.append(Compared(kernel["program"], kernel["name"], quantity, model, on_chip,
                                      ideal))
    return pairs


def step_counts(root: Path, step: str, kernel: str, quantity: str) -> dict[str, float]:
    """Returns the model's counts of a quantity in a kernel: in total, per request and per
    interaction. Returns no counts if the step is not calibrated."""
    lines = [line for one in read_model(root) if (one["program"], one["name"]) == (step, kernel)
             for line in one["lines"] if [line["memory"], line["access"]] == quantity.split()]
    if not lines:
        return {}
    unit = "sectors" if quantity.startswith("global") else "wavefronts"
    executions, requests, cost, ideal = (sum(line[name] for line in lines) for name in (
        "executions", "requests", unit, f"ideal_{unit}"))
    return {"executions": executions, "requests": requests, "cost": cost, "ideal": ideal,
            "per_request": cost / requests, "per_interaction": executions / INTERACTIONS}
