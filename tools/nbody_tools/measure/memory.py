"""./nbody run memory00 ...: runs programs of memory/, which have their own options and output.

They print whether the result is right and, on a GPU, the bandwidth; memory/README.md explains them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Sequence

from nbody_tools.arguments import ToolError

NAME = re.compile(r"memory\d\d")
OPTIONS = ("bodies", "systems", "repeat")  # options of ./nbody run that these programs also have


def is_memory(word: str) -> bool:
    return NAME.match(word) is not None


def chosen(words: Sequence[str], build: Path) -> list[Path]:
    """Finds the programs by number or full name."""
    here = sorted(file for file in (build / "memory").glob("memory[0-9][0-9]_*") if file.is_file())
    programs = []
    for word in words:
        found = [one for one in here if word in (one.name, one.name.partition("_")[0])]
        if not found:
            names = [one.name for one in here]
            raise ToolError(f"{build} contains no program '{word}' of memory/; "
                            + (f"choose from {', '.join(names)}" if names else
                               "build them with ./nbody build memory"))
        programs += found
    return programs


def check(options: argparse.Namespace) -> None:
    if others := [word for word in options.step if not is_memory(word)]:
        raise ToolError(f"'{others[0]}' is not a program of memory/: run steps separately")
    for name in ("steps", "dt", "softening", "scenario", "input", "validate"):
        if getattr(options, name) is not None:
            raise ToolError(f"--{name} is an option of steps; programs of memory/ take --bodies, "
                            "--systems and --repeat")


def run(options: argparse.Namespace, build: Path) -> int:
    words = [word for name in OPTIONS if (value := getattr(options, name)) is not None
             for word in (f"--{name}", str(value))]
    code = 0
    for program in chosen(options.step, build):
        sys.stdout.flush()
        code = max(code, abs(subprocess.run([program, *words], check=False).returncode))
    return min(code, 1)
