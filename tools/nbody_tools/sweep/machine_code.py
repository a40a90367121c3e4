"""./nbody sweep machine_code: counts instructions in the SASS of experiments/activity_map, as the
activity map's report did for its figures 6 and 8. Needs nvcc and cuobjdump but no GPU."""

from __future__ import annotations

import difflib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Iterator

from nbody_tools.arguments import ROOT, Failed, ToolError, write_json_lines
from nbody_tools.edits import EditError, replaced
from nbody_tools.machine_code.loops import architecture, find_cuobjdump, machine_code
from nbody_tools.machine_code.sass import FUNCTION, INSTRUCTION
from nbody_tools.sweep.profiles import PROFILES

SOURCE = Path("experiments") / "activity_map"
FILE = "machine_code.jsonl"
# Matches an operand in a constant bank, and captures the bank's number. Kernel arguments are in
# bank 0.
BANK = re.compile(r"\bc\[0x(\d)\]")
KERNELS = {"compute_force": "13compute_forceILNS_4RootE0ENS_7StructsE",
           "compute_force_rsqrt": "13compute_forceILNS_4RootE2ENS_7StructsE",
           "compute_force_constant": "22compute_force_constant"}
# Edits that, as in the report, store the two coordinate differences in one float2.
VECTOR = (
    (
        "const float dx = from_x - x, dy = from_y - y;",
        "const float2 d = make_float2(from_x - x, from_y - y);",
    ),
    ("dx * dx + dy * dy", "d.x * d.x + d.y * d.y"),
    ("make_float2(s * dx, s * dy)", "make_float2(s * d.x, s * d.y)"),
)


def edited(text: str) -> str:
    try:
        return replaced(text, VECTOR, f"{SOURCE}/forces.cuh")
    except EditError as error:
        raise ToolError(str(error)) from error


def compiled(folder: Path) -> str:
    """Compiles nbody.cu in the folder; returns the SASS of its kernels, as printed by cuobjdump."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise ToolError("machine_code: nvcc is not installed")
    target = folder / "nbody.cubin"
    includes = [f"-I{ROOT / part}" for part in ("", "common", "common/include")]
    words = [
        nvcc,
        "-std=c++20",
        "-O3",
        "-arch=sm_90",
        "-cubin",
        *includes,
        str(folder / "nbody.cu"),
    ]
    done = subprocess.run([*words, "-o", str(target)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise Failed(f"nvcc: {next((line for line in lines if 'error' in line), lines[0])}")
    return machine_code(target, find_cuobjdump("cuobjdump"))


def kernels(sass: str) -> dict[str, list[str]]:
    """Returns the instructions, with operands, of each kernel in KERNELS."""
    parts = FUNCTION.split(sass)
    found = {}
    for symbol, code in zip(parts[1::2], parts[2::2]):
        for name, text in KERNELS.items():
            if text in symbol:
                found[name] = [
                    " ".join(filter(None, match.groups()[1:]))
                    for match in INSTRUCTION.finditer(code)
                ]
    if set(found) != set(KERNELS):
        raise ToolError(f"{SOURCE}: has no kernel {min(set(KERNELS) - set(found))}")
    return found


def counts(code: list[str]) -> dict[str, float]:
    banks = [int(bank) for line in code for bank in BANK.findall(line)]
    return {"instructions": len(code), "bank_0": banks.count(0), "bank_3": banks.count(3)}


def different(one: list[str], other: list[str]) -> int:
    return sum(line[:2] in ("+ ", "- ") for line in difflib.ndiff(one, other))


def lines_of(sass: str, of_vectors: str) -> Iterator[dict[str, Any]]:
    plain, vectors = kernels(sass), kernels(of_vectors)
    for name, code in plain.items():
        yield {"kernel": name, "architecture": architecture(sass), "values": counts(code)}
    yield {
        "kernel": "compute_force_float2",
        "architecture": architecture(of_vectors),
        "values": {
            **counts(vectors["compute_force"]),
            "different": different(plain["compute_force"], vectors["compute_force"]),
        },
    }


def write(root: Path = ROOT) -> int:
    with tempfile.TemporaryDirectory() as temporary:
        code = []
        for name in ("as_it_is", "vectors"):
            folder = Path(shutil.copytree(root / SOURCE, Path(temporary) / name))
            if name == "vectors":
                forces = folder / "forces.cuh"
                forces.write_text(edited(forces.read_text(encoding="utf-8")), encoding="utf-8")
            code.append(compiled(folder))
    path = root / PROFILES / FILE
    write_json_lines(path, lines_of(*code))
    print(path.relative_to(root))
    return 0
