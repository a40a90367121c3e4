"""Generates parts of docs/inspect.md and of the steps' READMEs from docs/results/patterns/. These
parts show the tool's counts next to a GPU's counts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Sequence

from nbody_tools.inspection.calibration import (
    INTERACTIONS,
    PATTERNS,
    PROBLEM,
    CalibrationError,
    Compared,
    compared,
    read_chip,
    read_model,
)
from nbody_tools.tables import markdown

# Reasons for differences between the model and the chip.
# A difference without a reason is an error, and so is a reason without a difference.
CAUSES = {
    (
        PATTERNS,
        "shared_loop",
        "shared load",
    ): "nvcc unrolls the loop and loads four neighbouring floats with one 16-byte load",
    (
        "step03_tiling",
        "advance_systems",
        "shared load",
    ): "nvcc loads the four floats of a body with one 16-byte load, and later loads the mass "
    "again; the source has four loads",
    (
        "step03_tiling",
        "advance_systems",
        "shared store",
    ): "nvcc stores the four floats of a body with one 16-byte store, which has no conflict; "
    "the source has four stores",
    (
        "step08_multigpu",
        "update_velocities",
        "shared load",
    ): "as in step 03, but the mass stays in a register, so there is one 16-byte load per body",
    ("step08_multigpu", "update_velocities", "shared store"): "as in step 03",
    (
        "step09_soa",
        "update_velocities",
        "shared load",
    ): "nvcc unrolls the loop and loads each component of four bodies with one 16-byte load, so "
    "four interactions take four loads; the source has sixteen",
    (
        "step10_tiled2d_cublas",
        "update_positions",
        "global load",
    ): "nvcc loads a whole position with one 16-byte load; the source has three loads",
    (
        "step10_tiled2d_cublas",
        "update_positions",
        "global store",
    ): "nvcc stores x and y with one 8-byte store; the source has two stores",
}


def unit(quantity: str) -> str:
    return "sectors" if quantity.startswith("global") else "wavefronts"


def checked(pairs: Sequence[Compared]) -> Sequence[Compared]:
    differing = {(pair.program, pair.kernel, pair.quantity) for pair in pairs if not pair.agrees}
    without_cause = differing - CAUSES.keys()
    without_difference = CAUSES.keys() - differing
    if without_cause:
        raise CalibrationError(f"model and chip differ, but CAUSES lists no cause: "
                               f"{sorted(without_cause)}")
    if without_difference:
        raise CalibrationError("CAUSES lists a cause, but model and chip agree: "
                               f"{sorted(without_difference)}")
    return pairs


def is_usual_store(pair: Compared) -> bool:
    """Returns True for the store at the end of nearly every pattern, which is not the access that
    the pattern tests."""
    return pair.quantity == "global store" and pair.agrees and pair.model.cost == pair.ideal_cost


# The following functions are for docs/inspect.md.

def patterns_block(root: Path) -> str:
    pairs = [pair for pair in checked(compared(root)) if pair.program == PATTERNS]
    shown = [pair for pair in pairs if not is_usual_store(pair)]
    return "\n\n".join([
        f"We compared {len(pairs)} quantities of {len({pair.kernel for pair in pairs})} kernels "
        f"({machine(root)}). {sum(pair.agrees for pair in pairs)} of them agree in requests, "
        f"cost and bank conflicts. The table omits {len(pairs) - len(shown)} coalesced stores, all "
        "of which agree.",
        markdown(("pattern", "access", "requests", "chip", "sectors or wavefronts per request",
                  "chip", "ideal", "bank conflicts", "chip", ""),
                 [pattern_row(pair) for pair in shown])])


def pattern_row(pair: Compared) -> list[str]:
    ideal = pair.ideal_cost / pair.model.requests
    return [pair.kernel, pair.quantity, f"{pair.model.requests:,}", f"{pair.chip.requests:,}",
            f"{pair.model.each:.2f}", f"{pair.chip.each:.2f}", f"{ideal:.2f}", *conflicts(pair),
            "equal" if pair.agrees else "differs"]


def conflicts(pair: Compared) -> list[str]:
    if pair.quantity.startswith("global"):
        return ["", ""]
    return [f"{pair.model.conflicts:,}", f"{pair.chip.conflicts:,}"]


def steps_block(root: Path) -> str:
    pairs = [pair for pair in checked(compared(root)) if pair.program != PATTERNS]
    rows = [[pair.program[:6], pair.kernel, pair.quantity, f"{pair.model.requests:,}",
             f"{pair.chip.requests:,}", f"{pair.model.cost:,} {unit(pair.quantity)}",
             f"{pair.chip.cost:,}", *conflicts(pair), "equal" if pair.agrees else "differs"]
            for pair in pairs]
    return markdown(
        (
            "step",
            "kernel",
            "access",
            "requests",
            "chip",
            "cost",
            "chip",
            "bank conflicts",
            "chip",
            "",
        ),
        rows,
    )


def causes_block(root: Path) -> str:
    checked(compared(root))
    return "\n".join(f"- {program}, `{kernel}`, {quantity}s: {cause}."
                     for (program, kernel, quantity), cause in CAUSES.items())


def machine(root: Path) -> str:
    chip, _ = read_chip(root)
    return (f"{chip['machine']}, driver {chip['driver']}, Nsight Compute {chip['ncu']}, "
            f"{chip['date']}")


# The following functions are for the READMEs of steps.

@dataclass(frozen=True)
class Kind:
    """A kernel's accesses that have the same cost."""
    memory: str
    access: str
    bytes: int
    each: str
    ideal: str


def step_block(step: str, parent: Optional[str], root: Path) -> str:
    """Returns a table of the step's accesses. If the parent has kernels, the table begins with the
    parent's accesses."""
    model = read_model(root)
    rows = [row for program in (parent, step) for kernel in model
            if program and kernel["program"] == program for row in kernel_rows(kernel, root)]
    problem = f"{PROBLEM['systems']} x {PROBLEM['bodies']} bodies and {PROBLEM['steps']} time step"
    return "\n\n".join([
        f"`./nbody inspect {step[4:6]}` counts, without a GPU, for {problem}:",
        markdown(("step", "kernel", "access", "bytes", "per interaction",
               "sectors or wavefronts per request", "ideal", "lines"), rows),
        verdict(step, root)])


def kernel_rows(kernel: dict[str, Any], root: Path) -> list[list[str]]:
    kinds: dict[Kind, list[dict[str, Any]]] = {}
    for line in kernel["lines"]:
        kinds.setdefault(kind_of(line), []).append({**line, "line": line_now(line, root)})
    rows = []
    for kind, lines in sorted(kinds.items(), key=lambda item: -executions(item[1])):
        rows.append([kernel["program"][4:6], f"`{kernel['name']}`", f"{kind.memory} {kind.access}",
                     str(kind.bytes), f"{executions(lines) / INTERACTIONS:.2g}", kind.each,
                     kind.ideal, ranges(sorted({line["line"] for line in lines}))])
    return rows


def kind_of(line: dict[str, Any]) -> Kind:
    cost = unit(line["memory"])
    each = [f"{line[name] / line['requests']:.1f}" for name in (cost, f"ideal_{cost}")]
    return Kind(line["memory"], line["access"], line["bytes"], *each)


def executions(lines: Sequence[dict[str, Any]]) -> int:
    return sum(line["executions"] for line in lines)


def line_now(line: dict[str, Any], root: Path) -> int:
    """Returns the current line number of a recorded line, because edits above it may have moved it.
    Raises CalibrationError if the line itself was edited: then the step must be inspected again."""
    text = (root / line["file"]).read_text(encoding="utf-8").splitlines()
    same = [number for number, source in enumerate(text, start=1)
            if source.strip() == line["source"]]
    if not same:
        raise CalibrationError(f"{line['file']} no longer has the line '{line['source']}'; build "
                               "inspect_steps and run ./nbody calibrate model")
    return min(same, key=lambda number: abs(number - line["line"]))


def ranges(lines: Sequence[int]) -> str:
    """Formats [3, 4, 5, 9] as "3-5, 9"."""
    parts: list[list[int]] = []
    for line in lines:
        if parts and line == parts[-1][-1] + 1:
            parts[-1].append(line)
        else:
            parts.append([line])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)


def verdict(step: str, root: Path) -> str:
    """Returns a sentence that says whether the chip's counts for the same problem agree with
    ours."""
    pairs = [pair for pair in checked(compared(root)) if pair.program == step]
    agreement = (
        f"For the same problem, Nsight Compute on an {read_chip(root)[0]['machine'].split()[-1]} "
        f"counts the same numbers of requests, sectors and wavefronts in each kernel"
    )
    differing = [pair for pair in pairs if not pair.agrees]
    if not pairs:
        raise CalibrationError(f"{step}: was not counted on a GPU")
    if not differing:
        return agreement + "."
    return agreement + ", except for " + "; and for ".join(
        f"the {pair.quantity}s, with {pair.chip.requests:,} requests instead of "
        f"{pair.model.requests:,}: {CAUSES[pair.program, pair.kernel, pair.quantity]}"
        for pair in differing) + "."
