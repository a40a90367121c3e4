#!/usr/bin/env python3
"""Tests that the sandbox, with bubblewrap and without, blocks what it claims to block and nothing
that a submission needs: sandbox_test.py SANDBOX COMPILER"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from nbody_tools.labs.sandbox import Access, found_sandbox

SECONDS = 100  # an endless loop must end long before this limit
NEEDED = ["allowed: write its record", "allowed: start a thread"]
OF_GPU = ["gpu: talk within the machine", "gpu: name a thread"]


def hostile_in(top, compiler):
    """Copies the hostile program to the place where the grader would put it, next to a file that
    the program must not find."""
    folder, outside = top / "run", top / "outside"
    (folder / "out").mkdir(parents=True)
    outside.mkdir()
    for path in (top, folder, folder / "out", outside):
        path.chmod(0o777 if path == outside else 0o755)
    (outside / "secret").write_text("secret")
    (outside / "secret").chmod(0o666)
    (folder / "out" / "trace.json").touch()
    (folder / "out" / "trace.json").chmod(0o666)
    program = folder / "hostile"
    subprocess.run(
        [
            compiler,
            "-std=c++20",
            "-O1",
            "-pthread",
            Path(__file__).with_name("hostile.cpp"),
            "-o",
            program,
        ],
        check=True,
    )
    return program, outside


def problems_of(sandbox, on_gpu, program, outside):
    access = Access(execute=(program.parent,), write=(program.parent / "out",), gpu=on_gpu)
    words = sandbox.words(
        access, 0 if on_gpu else 1000, 1, [str(program), str(outside), str(os.getpid())]
    )
    run = subprocess.run(
        words, cwd=program.parent, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=False
    )
    done = run.stdout.splitlines()
    print(f"{' '.join(Path(word).name for word in words[:1])}, gpu {on_gpu}: not refused: "
          f"{', '.join(done)}")
    missing = {key for key, guard in sandbox.guards.items() if guard == "-"}
    taken = missing | (
        {"gpu", "memory", "system"} if on_gpu or missing else set()
    )  # attempts that are not blocked with a GPU, or if a guard is missing
    found = [
        line
        for line in done
        if not line.startswith("allowed: ") and line.split(":")[0] not in taken
    ]
    found += [
        f"refused: {line}" for line in [*NEEDED, *(OF_GPU if on_gpu else [])] if line not in done
    ]
    code = 128 - run.returncode if run.returncode > 128 else run.returncode
    if code != -signal.SIGXCPU:
        found.append(f"an endless loop ended with {run.returncode}")
    return found


with tempfile.TemporaryDirectory() as name:
    program, outside = hostile_in(Path(name), sys.argv[2])
    tool = Path(shutil.copy(sys.argv[1], Path(name) / "grade_sandbox"))
    problems = []
    for wanted in ("auto", "own"):
        sandbox = found_sandbox(tool, wanted)
        print(sandbox.description)
        if len(sandbox.guards) != 3:
            problems.append(f"{wanted}: the sandbox reports {sandbox.guards}")
        for on_gpu in (False, True):
            problems += [f"{wanted}, gpu {on_gpu}: {problem}"
                         for problem in problems_of(sandbox, on_gpu, program, outside)]
sys.exit("\n".join(problems) if problems else 0)
