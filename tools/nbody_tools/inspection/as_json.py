"""Formats an inspection as JSON for `./nbody inspect --json` and docs/results/patterns/."""

from __future__ import annotations

from typing import Any, Optional

from nbody_tools.inspection.instructions import sums
from nbody_tools.inspection.ptx import PtxKernel
from nbody_tools.inspection.trace import ACCESSES, MEMORIES, Inspection, Kernel, RaceSide, Row
from nbody_tools.inspection.source_lines import source_text


def as_json(inspection: Inspection, interactions: Optional[float] = None) -> dict[str, Any]:
    """Returns the JSON that docs/inspect.md describes."""
    return {"kernels": [kernel_json(kernel, interactions) for kernel in inspection.kernels],
            "other_ptx": [ptx_json(ptx) for ptx in inspection.other_ptx],
            "races": [{"kernel": race.kernel, "memory": race.memory, "offset": race.offset,
                       "earlier": side_json(race.earlier), "later": side_json(race.later),
                       "count": race.count} for race in inspection.races],
            "barrier_divergences": [
                {"kernel": divergence.kernel, "block": list(divergence.block),
                 "barriers": [{**vars(at.place), "threads": at.threads,
                               "example": list(at.example)} for at in divergence.places]}
                for divergence in inspection.divergences],
            "exit_code": inspection.exit_code, "messages": list(inspection.messages),
            "findings": list(inspection.findings)}


def side_json(side: RaceSide) -> dict[str, Any]:
    return {**vars(side.place), "access": side.access, "block": list(side.block),
            "thread": list(side.thread)}


def kernel_json(kernel: Kernel, interactions: Optional[float]) -> dict[str, Any]:
    result: dict[str, Any] = {"name": kernel.name, "launches": kernel.launches,
                              "blocks": kernel.blocks, "threads": kernel.threads}
    if interactions:
        result["per_interaction"] = {
            memory: {access: kernel.sum("executions", memory, access) / interactions
                     for access in ACCESSES} for memory in MEMORIES}
    result["lines"] = [row_json(row) for row in kernel.rows]
    if kernel.first_block:
        result["first_block"] = kernel.first_block
    if kernel.operations:
        result["as_written"] = [
            {
                **vars(one.place),
                "source": source_text(one.place),
                "type": one.type,
                "operation": one.operation,
                "count": one.count,
            }
            for one in kernel.operations
        ]
    if kernel.operations and interactions:
        result["as_written_per_interaction"] = {
            of: {operation: count / interactions for operation, count in found.items()}
            for of, found in sums(kernel.operations).items()}
    if kernel.ptx:
        result["ptx"] = [ptx_json(ptx) for ptx in kernel.ptx]
    return result


def ptx_json(ptx: PtxKernel) -> dict[str, Any]:
    return {
        "name": ptx.name,
        "instructions": ptx.counts,
        "loops": [
            {"first_line": loop.lines[0], "last_line": loop.lines[1], "instructions": loop.counts}
            for loop in ptx.loops
        ],
    }


def row_json(row: Row) -> dict[str, Any]:
    unit = "sectors" if row.memory == "global" else "wavefronts"
    return {**vars(row.place), "source": source_text(row.place), "memory": row.memory,
            "access": row.access, "bytes": row.bytes, "executions": row.executions,
            "requests": row.requests, unit: row.cost, f"ideal_{unit}": row.ideal_cost}
