"""Reads machine code as printed by `cuobjdump -sass`. Finds the inner loops of a kernel, and counts
the instructions that one pass of a loop issues.

A natural loop consists of a head, and of all instructions that lead back to the head and cannot be
reached without passing it. The slow path of a square root or a division, which ends in a call, is
not counted, because numbers of ordinary size never take it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Iterator, Optional, Sequence

from nbody_tools.arguments import Failed

ROOT = "MUFU.RSQ"  # a thread executes one per interaction
# Maps the name of an instruction, up to its first dot, to its class.
CLASSES = {
    "fp32": ("FFMA", "FADD", "FMUL"),
    "fp64": ("DFMA", "DADD", "DMUL"),
    "mufu": ("MUFU",),
    "shuffle": ("SHFL",),
    "shared": ("LDS", "STS", "LDSM", "ATOMS"),
    "memory": (
        "LDG",
        "STG",
        "LD",
        "ST",
        "LDL",
        "STL",
        "LDC",
        "ULDC",
        "LDGSTS",
        "ATOM",
        "ATOMG",
        "RED",
    ),
}
OTHER = "other"  # integers, comparisons, moves, control
LABELS = {"fp32": "FFMA, FADD, FMUL", "fp64": "FP64", "mufu": "MUFU", "shuffle": "SHFL",
          "shared": "shared memory", "memory": "global and constant memory", OTHER: "other"}
# Instructions that take more than one issue slot.
# MUFU and SHFL were measured among independent FFMAs on an H200.
# FP64 takes two slots, because its pipe has 64 lanes per SM instead of 128.
SLOTS = {"mufu": 2, "shuffle": 2, "fp64": 2}

FUNCTION = re.compile(r"^\s*Function : (\S+)", re.MULTILINE)
INSTRUCTION = re.compile(
    r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][A-Z0-9_.]*)\s*([^;]*);", re.MULTILINE
)
TYPES = {"f": "float", "d": "double", "b": "bool", "i": "int"}  # in mangled names
TARGET = re.compile(r"\b0x([0-9a-f]+)\s*$")
ENDS = ("EXIT", "RET", "BRX", "JMP", "BPT")  # unless conditional, these end a path


class SassError(Failed):
    """The text is not SASS, or contains no loop to count."""


@dataclass(frozen=True)
class Instruction:
    address: int
    condition: str  # @P0, or nothing
    name: str
    operands: str

    kind = property(lambda self: self.name.partition(".")[0])

    @property
    def group(self) -> str:
        return next((group for group, kinds in CLASSES.items() if self.kind in kinds), OTHER)

    @property
    def target(self) -> Optional[int]:
        """Returns the target of a branch, or None. Ignores BRA.DIV: only diverged warps take it,
        and warps in a loop over sources do not diverge."""
        found = TARGET.search(self.operands)
        return (
            int(found[1], 16) if self.kind == "BRA" and self.name != "BRA.DIV" and found else None
        )

    @property
    def falls_through(self) -> bool:
        if self.kind == "CALL":
            return False  # the slow path ends here
        if self.kind == "BRA":
            return bool(self.condition) or "," in self.operands or self.name == "BRA.DIV"
        return bool(self.condition) or self.kind not in ENDS


@dataclass(frozen=True)
class Loop:
    kernel: str
    first: int  # addresses
    last: int
    counts: dict[str, int]  # instructions of one pass, by class
    roots: int

    @property
    def instructions(self) -> int:
        return sum(self.counts.values())

    @property
    def slots(self) -> int:
        return sum(count * SLOTS.get(group, 1) for group, count in self.counts.items())


class Kernel:
    def __init__(self, name: str, code: str) -> None:
        self.name = name
        self.code = [Instruction(int(address, 16), condition, word, operands.strip())
                     for address, condition, word, operands in INSTRUCTION.findall(code)]
        self._places = {one.address: place for place, one in enumerate(self.code)}

    @cached_property
    def _next(self) -> list[list[int]]:
        """Returns the successors of each instruction, as indices instead of addresses."""
        return [list(self._followers(place)) for place in range(len(self.code))]

    def _followers(self, place: int) -> Iterator[int]:
        one = self.code[place]
        if one.falls_through and place + 1 < len(self.code):
            yield place + 1
        if one.target in self._places:
            yield self._places[one.target]

    def loops(self) -> list[Loop]:
        """Returns the innermost loops that compute interactions, in code order."""
        heads = {self._places[one.target] for one in self.code if one.target in self._places}
        bodies = natural_loops(self._next, heads)
        computing = [body for body in bodies if self._roots(body)]
        return [self._loop(body) for body in innermost(computing)]

    def _roots(self, body: set[int]) -> int:
        return sum(self.code[place].name == ROOT for place in body)

    def _loop(self, body: set[int]) -> Loop:
        found = Counter(self.code[place].group for place in body)
        counts = {group: found[group] for group in (*CLASSES, OTHER)}
        return Loop(self.name, self.code[min(body)].address, self.code[max(body)].address, counts,
                    self._roots(body))


def natural_loops(following: Sequence[Sequence[int]], targets: set[int]) -> list[set[int]]:
    """Returns each loop as a set of indices. `following` has the successors of each index, and
    `targets` the targets of jumps, which include the head of every loop."""
    used = reachable([0], following) if following else set()
    before: list[list[int]] = [[] for _ in following]
    for place in sorted(used):
        for after in following[place]:
            before[after].append(place)
    loops = []
    for head in sorted(targets & used):
        # Instructions that can be reached without the head are not in its loop.
        around = reachable([0], following, {head})
        ends = [place for place in before[head] if place == head or place not in around]
        if ends:
            loops.append(reachable(ends, before, {head}))
    return loops


def innermost(loops: Sequence[set[int]]) -> list[set[int]]:
    """Returns the loops that contain no other loop, in code order."""
    return sorted((one for one in loops if not any(other < one for other in loops)), key=min)


def reachable(start: Sequence[int], following: Sequence[Sequence[int]],
              stops: Optional[set[int]] = None) -> set[int]:
    """Returns all indices reachable from `start`, including `start` and `stops`. Does not search
    beyond `stops`."""
    seen = set(stops or ())
    left = [place for place in start if place not in seen]
    seen.update(left)
    while left:
        for place in following[left.pop()]:
            if place not in seen:
                seen.add(place)
                left.append(place)
    return seen


def kernels(sass: str, where: str) -> list[Kernel]:
    parts = FUNCTION.split(sass)
    if len(parts) < 3:
        raise SassError(f"{where}: holds no machine code of a kernel")
    return [Kernel(readable(name), code) for name, code in zip(parts[1::2], parts[2::2])]


def readable(symbol: str) -> str:
    """Demangles a kernel's name: _ZN..21partial_accelerationsILi4EEEv.. ->
    partial_accelerations<4>. Returns only the last part of a nested name. Understands template
    arguments that are integers or built-in types."""
    if not symbol.startswith("_Z"):
        return symbol
    name, rest = "", symbol.removeprefix("_Z").removeprefix("N")
    while length := re.match(r"\d+", rest):
        end = length.end() + int(length[0])
        name, rest = rest[length.end():end], rest[end:]
    arguments = re.match(r"I((?:L[a-z]n?\d+E|[a-z])+)E", rest)
    if arguments:
        found = re.findall(r"L[a-z](n?\d+)E|([a-z])", arguments[1])
        values = (number.replace('n', '-') or TYPES.get(kind, kind) for number, kind in found)
        name += f"<{', '.join(values)}>"
    return name
