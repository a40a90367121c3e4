"""Counts instructions in the PTX that nvcc generates from kernels: in each kernel, and in one
iteration of each innermost loop. Counts each instruction once, because PTX does not show how often
it runs. nvcc needs no GPU for this.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from nbody_tools.machine_code.sass import innermost, natural_loops, readable

ENTRY = re.compile(r"^(?:\.visible |\.weak )*\.entry (\w+)\(.*?^\{$(.*?)^\}$", re.M | re.S)
LABEL = re.compile(r"^(\$\w+):")
PLACE = re.compile(r"^\.loc\s+(\d+) (\d+)(?:.*inlined_at (\d+) (\d+))?")
INSTRUCTION = re.compile(r"^(@!?%p\d+ )?([a-z]\w*(?:\.[\w:]+)*)\s*(.*);")
ENDS = ("ret", "exit", "trap")
REAL = re.compile(r"\.(?:f16x2|f16|bf16x2|bf16|f32|f64)\b")
# Classes of instructions: the class, its names in PTX, and whether the type must be floating-point.
CLASSES = (
    ("add", ("add", "sub"), True),
    ("mul", ("mul",), True),
    ("fma", ("fma", "mad"), True),
    ("div", ("div", "rcp"), True),
    ("sqrt", ("sqrt",), True),
    ("rsqrt", ("rsqrt",), True),
    ("compare", ("setp", "set", "min", "max"), False),
    ("function", ("sin", "cos", "ex2", "lg2", "tanh"), False),
    ("convert", ("cvt",), False),
    ("shuffle", ("shfl", "match", "redux"), False),
    ("vote", ("vote", "activemask"), False),
    ("barrier", ("bar", "barrier"), False),
    ("memory", ("ld", "ldu", "st", "atom", "red"), False),
    (
        "integer",
        (
            "add",
            "sub",
            "mul",
            "mad",
            "div",
            "rem",
            "shl",
            "shr",
            "shf",
            "and",
            "or",
            "xor",
            "not",
            "neg",
            "abs",
            "lop3",
            "bfe",
            "bfi",
            "prmt",
            "popc",
            "clz",
            "sad",
            "mul24",
            "mad24",
            "addc",
            "subc",
        ),
        False,
    ),
)
OTHER = "other"  # moves, branches, selects
NAMES = tuple(name for name, _, _ in CLASSES) + (OTHER,)


@dataclass(frozen=True)
class Loop:
    lines: tuple[int, int]
    counts: dict[str, int]  # per iteration

    @property
    def roots(self) -> int:
        """Returns the number of square roots; a thread computes one per interaction."""
        return self.counts.get("sqrt", 0) + self.counts.get("rsqrt", 0)


@dataclass(frozen=True)
class PtxKernel:
    name: str
    counts: dict[str, int]  # in the whole kernel
    loops: tuple[Loop, ...]


@dataclass(frozen=True)
class Instruction:
    words: str
    line: int
    target: str  # label that a branch jumps to
    goes_on: bool

    @property
    def group(self) -> str:
        name = self.words.partition(".")[0]
        is_real = bool(REAL.search(self.words))
        for group, names, needs_real in CLASSES:
            if name in names and (is_real or not needs_real):
                return group
        return OTHER


def find_nvcc() -> Optional[str]:
    for name in filter(None, (os.environ.get("CUDACXX"), "nvcc", "/usr/local/cuda/bin/nvcc")):
        if nvcc := shutil.which(name):
            return nvcc
    return None


def compile_to_ptx(nvcc: str, source: str, options: Sequence[str]) -> Optional[str]:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "kernels.ptx"
        ended = subprocess.run([nvcc, "-ptx", "-lineinfo", "-w", *options, source, "-o", output],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=False)
        return output.read_text(encoding="utf-8") if ended.returncode == 0 else None


def kernels_of(ptx: str) -> list[PtxKernel]:
    return [kernel(readable(name), text) for name, text in ENTRY.findall(ptx)]


def kernel(name: str, text: str) -> PtxKernel:
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    line, own = 0, ""
    for row in map(str.strip, text.splitlines()):
        if match := LABEL.match(row):
            labels[match[1]] = len(code)
        elif match := PLACE.match(row):
            own = own or match[1]  # instructions inlined from a header count for the call's line
            line = next(
                (int(at) for file, at in (match.groups()[:2], match.groups()[2:]) if file == own),
                line,
            )
        elif match := INSTRUCTION.match(row):
            condition, words, operands = match.groups()
            jumps = words.startswith("bra")
            code.append(Instruction(words, line, operands if jumps else "",
                                    bool(condition) or not (jumps or words.startswith(ENDS))))
    following = []
    for place, one in enumerate(code):
        after = [place + 1] if one.goes_on and place + 1 < len(code) else []
        jump = labels.get(one.target, len(code))
        following.append(after + [jump] * (jump < len(code)))
    loops = innermost(
        natural_loops(following, {labels[one.target] for one in code if one.target in labels})
    )
    return PtxKernel(
        name, counts_of(code), tuple(loop([code[place] for place in body]) for body in loops)
    )


def loop(code: Sequence[Instruction]) -> Loop:
    lines = [one.line for one in code if one.line]
    return Loop((min(lines, default=0), max(lines, default=0)), counts_of(code))


def counts_of(code: Sequence[Instruction]) -> dict[str, int]:
    found = Counter(one.group for one in code)
    return {name: found[name] for name in NAMES if found[name]}
