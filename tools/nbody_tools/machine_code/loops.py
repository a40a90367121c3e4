"""./nbody profile STEP --sass: counts issue slots per interaction in a program's machine code.

A thread computes one interaction per MUFU.RSQ that it executes in an inner loop. In a step that
computes each pair only once, for both bodies, one MUFU.RSQ counts as two interactions, because all
steps count N^2 interactions. Instructions outside the inner loops (loading tiles, barriers, writing
sums) are not counted.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Optional, Sequence

from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.machine_code import rest
from nbody_tools.machine_code.sass import LABELS, Loop, SassError, kernels
from nbody_tools.records.facts import Facts, Measured
from nbody_tools.steps import number_of
from nbody_tools.tables import ABSENT, aligned, plain

STEPS_OF_PAIRS = ("12",)  # steps that compute each pair only once
STEPS_OF_THE_CPU = ("00",)
FOLDERS = ("", "experiments/variants")  # folders of a build that contain programs
RESULTS = ROOT / "docs" / "results"


class NoToolkit(ToolError):
    code = 77  # as if Nsight Compute were missing


def per_root(step: str) -> int:
    return 2 if number_of(step) in STEPS_OF_PAIRS else 1


def find_program(build: Path, name: str) -> Path:
    for folder in FOLDERS:
        if (build / folder / name / name).is_file():
            return build / folder / name / name
    raise ToolError(f"{build}: holds no program {name}; build it with the cuda preset")


def find_cuobjdump(program: str) -> str:
    found = shutil.which(program) or shutil.which(f"/usr/local/cuda/bin/{program}")
    if found is None:
        raise NoToolkit(
            f"skipped: no {program} here (CUDA toolkit); docs/report_tables.md has earlier counts"
        )
    return found


def machine_code(program: Path, cuobjdump: str) -> str:
    done = subprocess.run(
        [cuobjdump, "-sass", str(program)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0 or not done.stdout.strip():
        complaint = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Failed(f"{program}: {cuobjdump}: {complaint[-1] if complaint else 'printed nothing'}")
    return done.stdout


def architecture(sass: str) -> str:
    found = re.search(r"^code for (sm_\w+)", sass, re.MULTILINE) or re.search(
        r"\b(sm_\d+\w?)\b", sass
    )
    return found[1] if found else ""


def compiler(program: Path) -> str:
    """Returns the CUDA release with which a program was compiled, read from the program file."""
    found = re.search(rb"Cuda compilation tools, release (\d+\.\d+)", program.read_bytes())
    return found[1].decode() if found else ""


def inner_loops(sass: str, where: str) -> list[Loop]:
    loops = [loop for kernel in kernels(sass, where) for loop in kernel.loops()]
    if not loops:
        raise SassError(f"{where}: no loop with a reciprocal square root (MUFU.RSQ)")
    return loops


def json_lines(step: str, loops: Sequence[Loop], build: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "step": step,
            "kernel": loop.kernel,
            "loop": f"{loop.first:#x}-{loop.last:#x}",
            **build,
            "interactions": per_root(step) * loop.roots,
            "instructions": loop.counts,
            "slots": loop.slots,
        }
        for loop in loops
    ]


def slots_of(line: dict[str, Any]) -> float:
    """Returns the issue slots per interaction of a loop."""
    return line["slots"] / line["interactions"]


def ceiling(line: dict[str, Any], facts: Facts) -> float:
    """Returns the G interactions/s that a loop would reach if every scheduler issued in every
    cycle: SMs x 4 schedulers x 32 lanes x clock / (slots per interaction)."""
    return 1e3 * facts.machine("gpu", "issue_slots").number / slots_of(line)


def best_measured(step: str, facts: Facts) -> Optional[Measured]:
    """Returns the step's measurement with the highest rate of all problems."""
    found = [m for problem in facts.problems if (m := facts.pick(step, problem)) is not None]
    return max(found, key=lambda m: m.rate, default=None)


def table(lines: Sequence[dict[str, Any]], facts: Facts) -> list[str]:
    used = [group for group in LABELS if any(line["instructions"][group] for line in lines)]
    rows = [
        [
            "kernel",
            "loop",
            "interactions",
            *(LABELS[group] for group in used),
            "slots",
            "ceiling, G/s",
        ]
    ]
    for line in lines:
        rows.append(
            [
                line["kernel"],
                line["loop"],
                str(line["interactions"]),
                *(f"{line['instructions'][group] / line['interactions']:.3f}" for group in used),
                f"{slots_of(line):.2f}",
                f"{ceiling(line, facts):.0f}",
            ]
        )
    return aligned(rows, left=(0, 1))


def summary(step: str, lines: Sequence[dict[str, Any]], facts: Facts) -> list[str]:
    machine, slots = facts.machine("gpu", "name"), facts.machine("gpu", "issue_slots")
    text = ["Counts per interaction, in one pass of the loop; MUFU and SHFL take two issue slots. "
            f"Ceiling: {machine},",
            f"{slots} x 10^12 slots/s. Slow paths of square roots and divisions are not counted."]
    if per_root(step) > 1:
        text.append("Each pair is computed once for both bodies, so it counts as two of the N^2 "
                    "interactions.")
    best = best_measured(step, facts)
    if best is None:
        return [*text, f"Measured: {ABSENT} (docs/results has no record of {step} from that "
                       "machine)"]
    highest = max(ceiling(line, facts) for line in lines)
    return [*text, f"Measured: {plain(best.rate)} G/s ({best.problem}, {best.record.date[:10]}), "
                   f"{100 * best.rate / highest:.1f} % of the highest of these ceilings"]


def count(name: str, program: Path, cuobjdump: str) -> list[dict[str, Any]]:
    """Returns one JSON line for each inner loop of a program."""
    sass = machine_code(program, cuobjdump)
    return json_lines(name, inner_loops(sass, str(program)),
                      {"architecture": architecture(sass), "cuda": compiler(program)})


def count_saved(name: str, saved: Path) -> list[dict[str, Any]]:
    sass = saved.read_text(encoding="utf-8", errors="replace")
    return json_lines(
        name, inner_loops(sass, str(saved)), {"architecture": architecture(sass), "cuda": ""}
    )


def counted(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Prints the output of ./nbody profile --sass; returns the lines for its --json."""
    if number_of(name) in STEPS_OF_THE_CPU:
        raise ToolError(f"{name} is a CPU program: it has no GPU machine code")
    lines = (count_saved(name, options.saved) if options.saved else
             count(name, find_program(options.build, name), find_cuobjdump(options.cuobjdump)))
    facts = Facts(ROOT)
    first = lines[0]
    built = [first["architecture"], f"CUDA {first['cuda']}" if first["cuda"] else ""]
    print("\n".join([", ".join(filter(None, [name, *built])), "", *table(lines, facts), "",
                     *summary(name, lines, facts)]))
    if profiled := rest.table(name, lines, RESULTS):
        print(
            "\n".join(["", "Other losses, counted by Nsight Compute (docs/limits.md):", "",
                       *aligned(profiled)])
        )
    return lines
