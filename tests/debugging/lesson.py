#!/usr/bin/env python3
"""Runs the gdb sessions of docs/debugging.md and writes their transcripts into that page.

  lesson.py --right PROGRAM --wrong PROGRAM           writes the page
  lesson.py --right PROGRAM --wrong PROGRAM --check   changes nothing; prints differences, exits
                                                      with 1 if there are any

Both programs are step 03, compiled with -O0 -g through hostcuda. The --wrong one lacks its first
barrier. Exits with 77 if gdb is missing or is not permitted to start a program.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from nbody_tools.arguments import ROOT, OneLineParser, write_whole_file
from nbody_tools.documents.templates import render

DOCUMENT = ROOT / "docs" / "debugging.md"
SOURCE = ROOT / "step03_tiling" / "nbody.cu"
SHOWN_PROGRAM = "build/debug/step03_tiling/step03_tiling"
ARGUMENTS = "--systems 2 --bodies 1000 --steps 1 --quiet"
SKIPPED = 77


def line_of(text: str) -> int:
    """Returns the number of the line that contains this text. Breakpoints are set by text, so that
    they stay right if lines are added to the source."""
    lines = [
        number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line
    ]
    if len(lines) != 1:
        sys.exit(f"lesson.py: '{text}' is on {len(lines)} lines of step03_tiling/nbody.cu, not "
                 "on one")
    return lines[0]


@dataclass(frozen=True)
class Session:
    name: str
    program: str  # "right" or "wrong"
    commands: tuple[str, ...]


def sessions() -> list[Session]:
    tile_is_loaded = f"nbody.cu:{line_of('float tile_ax = 0.0f')}"
    pair_is_known = f"nbody.cu:{line_of('tile_ax += s * dx')}"
    look = ("print threadIdx.x", "print tile[0]", "print tile[1]", "print tile[511].mass")
    return [
        Session(
            "tile",
            "right",
            (
                f"break {tile_is_loaded} if threadIdx.x == 37 && blockIdx.x == 1",
                "run",
                "print i",
                "print first",
                "print body",
                "print tile[37]",
                "print tile[511]",
                "print threadIdx",
                "print blockIdx",
                "print blockDim.x",
            ),
        ),
        Session(
            "pair",
            "right",
            (
                f"break {tile_is_loaded} if threadIdx.x == 37 && blockIdx.x == 1",
                "run",
                f"break {pair_is_known} if j == 100",
                "continue",
                "print threadIdx.x",
                "print tile[j].x - body.x",
                "print dx",
                "print distance_squared",
                "print s",
                "backtrace 2",
            ),
        ),
        Session(
            "threads",
            "right",
            (
                "source hostcuda/gdb/hostcuda.py",
                f"break {tile_is_loaded} if threadIdx.x == 37 && blockIdx.x == 1",
                "run",
                "info cuda threads",
                "cuda thread (5,0,0)",
                "print i",
                "print tile_ax",
                "cuda thread 37",
                "print i",
            ),
        ),
        Session("wrong", "wrong", (f"break {tile_is_loaded}", "run", *look)),
        Session("mended", "right", (f"break {tile_is_loaded}", "run", *look)),
    ]


def transcript(session: Session, program: Path) -> str:
    command = ["gdb", "-nx", "-q", "-batch"]
    for setting in ("style enabled off", "print thread-events off", "debuginfod enabled off",
                    "width 0", "startup-with-shell off", "disable-randomization off",
                    "print frame-info location", "print frame-arguments none"):
        command += ["-iex", f"set {setting}"]
    for line in session.commands:
        command += ["-ex", f"echo (gdb) {line}\\n", "-ex", line]
    command += ["--args", str(program), *ARGUMENTS.split()]
    # One block runs at a time, in the default order, whatever the caller's environment says.
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("HOSTCUDA_")
    }
    environment.update(OMP_NUM_THREADS="1", LC_ALL="C")
    result = subprocess.run(
        command,
        env=environment,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=100,
        check=False,
    )
    if "Breakpoint 1, " not in result.stdout:
        if "ptrace" in result.stdout or "not permitted" in result.stdout:
            print(f"skipped: gdb may not start a program here\n{result.stdout}")
            sys.exit(SKIPPED)
        sys.exit(
            f"lesson.py: session {session.name} never reached its breakpoint:\n{result.stdout}"
        )
    return tidy(result.stdout)


# Output that carries no information and differs between runs or machines.
NOISE = re.compile(
    r"^(\[Thread debugging using|Using host libthread_db|warning: |A debugging session|"
    r"\tInferior 1|Quit anyway|$)"
)


def tidy(output: str) -> str:
    lines = [line for line in output.splitlines() if not NOISE.match(line)]
    text = "\n".join(lines)
    text = re.sub(r"(/[^ :,]*)?/nbody\.cu", "nbody.cu", text.replace(str(ROOT), ""))
    text = re.sub(r"0x[0-9a-f]{4,}", "0x...", text)
    return text


def block(session: Session, program: Path) -> str:
    start = f"$ OMP_NUM_THREADS=1 gdb --args {SHOWN_PROGRAM} {ARGUMENTS}"
    return f"```\n{start}\n{transcript(session, program)}\n```"


def main() -> int:
    parser = OneLineParser(prog="lesson.py", description=__doc__)
    parser.add_argument("--right", type=Path, required=True, metavar="PROGRAM")
    parser.add_argument("--wrong", type=Path, required=True, metavar="PROGRAM")
    parser.add_argument("--check", action="store_true", help="change nothing, say what differs")
    options = parser.parse_args()
    by_name = {session.name: session for session in sessions()}
    try:
        rendered = render(DOCUMENT, ROOT, {"transcript": lambda name: block(
            by_name[name], getattr(options, by_name[name].program))})
    except FileNotFoundError:
        print("skipped: there is no gdb")
        return SKIPPED
    if rendered.problems:
        print(*rendered.problems, sep="\n")
        return 1
    if not options.check:
        write_whole_file(DOCUMENT, rendered.text)
        return 0
    old = DOCUMENT.read_text(encoding="utf-8")
    difference = list(difflib.unified_diff(old.splitlines(), rendered.text.splitlines(),
                                           "docs/debugging.md", "what gdb says", lineterm=""))
    if difference:
        print("\n".join(difference), "\nRun tests/debugging/lesson.py without --check.", sep="")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
