"""Computes how many blocks fit on an SM of the measured GPU and of other GPUs, given the registers,
threads and shared memory of a block."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Iterator

from nbody_tools.arguments import ToolError
from nbody_tools.records import gpus
from nbody_tools.records.facts import Facts
from nbody_tools.steps import number_of
from nbody_tools.tables import markdown, plain

LANES = 32
QUARTERS = 4  # parts of an SM, each with a scheduler and a quarter of the registers
REGISTERS = 65536  # per SM; the same in all GPUs listed here
ROUNDED_TO = 8  # registers per thread are allocated in multiples of eight
RESERVED = 1024  # bytes of shared memory per block that CUDA reserves for itself


@dataclass(frozen=True)
class Limits:
    """Limits per SM, from the technical specifications in the CUDA Programming Guide."""

    threads: int
    blocks: int
    shared: int  # KB of shared memory
    fp32: int  # FP32 lanes
    xu: int = 16  # results per cycle of the XU pipe

    @property
    def warps(self) -> int:
        return self.threads // LANES


COMPUTE_CAPABILITIES = {"7.5": Limits(1024, 16, 64, 64), "8.0": Limits(2048, 32, 164, 64),
                        "8.6": Limits(1536, 16, 100, 128), "8.9": Limits(1536, 24, 100, 128),
                        "9.0": Limits(2048, 32, 228, 128), "10.0": Limits(2048, 32, 228, 128),
                        "12.0": Limits(1536, 24, 100, 128)}


def measured_limits() -> Limits:
    """Returns the limits of the GPU on which the published results were measured."""
    return COMPUTE_CAPABILITIES[gpus.measured()["capability"]]


def blocks_by(limits: Limits, block: int, registers: int, shared: int) -> dict[str, int]:
    """Returns, for each limit of an SM, how many blocks the limit allows."""
    warps = math.ceil(block / LANES)
    per_warp = LANES * ROUNDED_TO * math.ceil(registers / ROUNDED_TO)
    return {"registers": QUARTERS * (REGISTERS // QUARTERS // per_warp) // warps,
            "threads": limits.warps // warps,
            "shared memory": 1024 * limits.shared // (shared + RESERVED),
            "blocks": limits.blocks}


def main_kernels(facts: Facts) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each profiled step with the profile of its main kernel."""
    for step in facts.steps:
        profile = facts.profile(step)
        if profile is not None:
            yield step, profile


def occupancy_table(facts: Facts) -> str:
    rows = []
    limits = measured_limits()
    for step, profile in main_kernels(facts):
        metrics = profile["metrics"]
        block, registers, shared = (
            round(metrics[key]) for key in ("block_size", "registers", "shared_bytes")
        )
        by = blocks_by(limits, block, registers, shared)
        least = min(by.values())
        limit = ", ".join(name for name, count in by.items() if count == least)
        possible = 100 * least * math.ceil(block / LANES) / limits.warps
        per_sm = metrics["grid_size"] / facts.machine("gpu", "sms").content
        rows.append(
            [
                number_of(step),
                str(block),
                str(registers),
                f"{shared:,}",
                *map(str, by.values()),
                limit,
                f"{possible:.1f} %",
                plain(per_sm),
                f"{metrics['occupancy_percent']:.1f} %",
            ]
        )
    return markdown(
        (
            "step",
            "threads per block",
            "registers",
            "shared bytes",
            "blocks by registers",
            "by threads",
            "by shared memory",
            "by blocks",
            "limited by",
            "possible occupancy",
            "blocks of the grid per SM",
            "achieved",
        ),
        rows,
    )


def other_gpus() -> str:
    rows = []
    for name, gpu in gpus.described().items():
        sms, capability = gpu["sms"], gpu["capability"]
        if capability not in COMPUTE_CAPABILITIES:
            raise ToolError(
                f"docs/machines.json: {name} has compute capability {capability}, but "
                "COMPUTE_CAPABILITIES of tools/nbody_tools/course/hardware.py has only "
                f"{', '.join(COMPUTE_CAPABILITIES)}; add Limits(threads, blocks, KB of shared "
                "memory, FP32 lanes) of an SM from the CUDA Programming Guide"
            )
        limits = COMPUTE_CAPABILITIES[capability]
        resident = min(blocks_by(limits, 512, 32, 8192).values())
        first = min(32 / sms, 1)
        rows.append(
            [
                name.removeprefix("NVIDIA "),
                capability,
                str(sms),
                str(limits.fp32),
                str(limits.threads),
                f"{limits.shared} KB",
                f"1/{limits.fp32 // limits.xu}",
                f"{100 * first:.0f} %",
                f"{512 / (sms * resident):.1f}",
                f"{8192 / LANES / (QUARTERS * sms):.1f}",
            ]
        )
    return markdown(
        (
            "GPU",
            "compute capability",
            "SMs",
            "FP32 lanes per SM",
            "threads per SM",
            "shared memory per SM",
            "XU rate / FP32 rate",
            "SMs with a block in steps 01 to 04",
            "waves of step 04b",
            "warps per scheduler in step 05",
        ),
        rows,
    )
