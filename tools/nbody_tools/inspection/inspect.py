"""What the kernels of a step do to memory, without a GPU: a table per kernel, a row per source line.

  ./nbody inspect 03
  ./nbody inspect step10_tiled2d_cublas --systems 1 --bodies 2048 --json inspect.json

Builds the step with every access traced (g++ only), runs a small problem on the CPU and counts:
executions, sectors and bank conflicts per request, loads and stores per interaction; it names races
(both lines, both threads) and barriers that not all threads of a block reach. docs/inspect.md says
what the numbers mean, and how they compare with a GPU's.

Exit code: 0 nothing wrong was seen, 1 a race or barrier divergence was, or the program failed,
2 wrong arguments or no g++.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.inspection.trace import inspect_program
from nbody_tools.steps import find_step, step_folders
from nbody_tools.inspection.as_json import as_json
from nbody_tools.inspection.as_text import LEGEND, text_of


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("step", metavar="STEP", help="full name or number")
    p.add_argument("--systems", type=arguments.positive_integer, default=2, metavar="S", help="[2]")
    p.add_argument("--bodies", type=arguments.positive_integer, default=1024, metavar="N",
                   help="[1024]")
    p.add_argument("--steps", type=arguments.positive_integer, default=1, metavar="I",
                   help="time steps [1]")
    p.add_argument("--json", type=Path, metavar="FILE", help="write what was counted")
    p.add_argument("--build", type=Path, default=ROOT / "build" / "inspect", metavar="DIR",
                   help="where to build [build/inspect]")


def step_with_kernels(text: str, root: Path = ROOT) -> str:
    step = find_step(text, step_folders(root))
    if not (root / step / "nbody.cu").is_file():
        raise ToolError(f"{step} has no kernels to inspect: it is a program for the CPU")
    return step


def find_compiler() -> str:
    """g++, and not what some systems call so."""
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++")):
        compiler = shutil.which(name)
        if compiler:
            macros = subprocess.run([compiler, "-dM", "-E", "-x", "c++", os.devnull], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            if " __GNUC__ " in macros.stdout and " __clang__ " not in macros.stdout:
                return compiler
    raise ToolError("needs g++, whose -fsanitize=thread reports each access of memory; there is none "
                    "on the PATH")


def run_quietly(words: Sequence[str], log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as output:
        ended = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                               stderr=subprocess.STDOUT, check=False)
    if ended.returncode != 0:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        raise Failed(f"'{' '.join(words)}' failed; the end of {log}:\n" + "\n".join(lines))


def build(step: str, folder: Path) -> Path:
    """Configures a folder that is new; afterwards ninja knows itself when to do it again."""
    compiler = find_compiler()
    print(f"Building {step} with its accesses traced ...", file=sys.stderr)
    logs = folder.parent / "log"
    if not (folder / "build.ninja").exists():
        run_quietly(["cmake", "--preset", "cpu", "-B", str(folder), "-DBUILD_TESTING=OFF",
                     f"-DCMAKE_CXX_COMPILER={compiler}", f"-DPython3_EXECUTABLE={sys.executable}"],
                    logs / "configure-inspect.log")
    run_quietly(["cmake", "--build", str(folder), "--target", f"inspect_{step}"],
                logs / "build-inspect.log")
    return folder / step / f"inspect_{step}"


def run(options: argparse.Namespace) -> int:
    step = step_with_kernels(options.step)
    problem = {"systems": options.systems, "bodies": options.bodies, "steps": options.steps}
    size = [word for name, value in problem.items() for word in (f"--{name}", str(value))]
    inspection = inspect_program(
        build(step, options.build),
        ["--scenario", "galaxies", *size, "--validate", "off", "--quiet"])
    interactions = options.systems * float(options.bodies) ** 2 * options.steps
    if options.json:
        record = {"step": step, "problem": problem, **as_json(inspection, interactions)}
        arguments.write_whole_file(options.json, json.dumps(record, indent=1) + "\n")
    print(f"{step}: {options.systems} x {options.bodies} bodies, {options.steps} time step(s), "
          f"{interactions:,.0f} interactions\n{LEGEND}\n")
    print(text_of(inspection, interactions))
    return 0 if inspection.clean else 1
