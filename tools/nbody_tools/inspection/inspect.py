"""Shows, without a GPU, how the kernels of a step or of your own program use memory and what they
compute: tables for each kernel, with a row per source line.

  ./nbody inspect 03
  ./nbody inspect step10_tiled2d_cublas --systems 1 --bodies 2048 --json inspect.json
  ./nbody inspect 03 --page kernel.html
  ./nbody inspect my.cu [more.cu] [--compile "-I include"] [--interactions 1e6] [-- ARGUMENTS]

Builds the program with every access traced (g++ only) and runs a small problem on the CPU. Counts
executions, sectors and bank conflicts per request, and loads and stores per interaction. Reports
races (both lines, both threads), barriers that not all threads of a block reach, and misuse of
memory. If clang++ is installed, builds and runs the program again to count additions, divisions,
shuffles, ... as written in the source. If nvcc is installed, also counts PTX instructions.
docs/inspect.md explains the numbers and compares them with a GPU's counts.

Exit code: 0 no problems found; 1 problems found, or the program failed; 2 wrong arguments, or g++
is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Optional, Sequence

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.inspection.as_json import as_json
from nbody_tools.inspection.as_text import LEGEND, text_of
from nbody_tools.inspection.instructions import count_instructions
from nbody_tools.inspection.page import page_file, page_of
from nbody_tools.inspection.ptx import PtxKernel, compile_to_ptx, find_nvcc, kernels_of
from nbody_tools.inspection.trace import Inspection, Kernel, inspect_program
from nbody_tools.steps import find_step, step_folders

HOSTCUDA = ROOT / "hostcuda" / "bin" / "hostcuda"
NO_CLANG = "Instructions are not counted, because that needs clang++ 14 or newer."
TIMEOUT = 600.0  # seconds per run
MOST_INTERACTIONS = 1e12  # the pairs of a million bodies
ARCHITECTURE = "-arch=compute_90"  # thread block clusters require it


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("program", metavar="STEP",
                   help="full name or number of a step; or FILE.cu and its ARGUMENTS", nargs="+")
    p.add_argument("--systems", type=arguments.positive_integer, default=2, metavar="S",
                   help="number of systems [2]")
    p.add_argument("--bodies", type=arguments.positive_integer, default=1024, metavar="N",
                   help="number of bodies per system [1024]")
    p.add_argument("--steps", type=arguments.positive_integer, default=1, metavar="I",
                   help="time steps [1]")
    p.add_argument("--compile", default="", metavar="WORDS",
                   help="for FILE.cu: options for nvcc or the compiler")
    p.add_argument("--interactions", type=arguments.positive_number, metavar="X",
                   help="for FILE.cu: divisor of the counts [the number of threads of a kernel]")
    p.add_argument("--json", type=Path, metavar="FILE", help="write the counts to this file")
    p.add_argument("--page", type=page_file, metavar="FILE.html",
                   help="write a page that shows a block of each kernel: its threads between "
                        "barriers, and the memory that a warp requests; needs no network")
    p.add_argument("--build", type=Path, metavar="DIR",
                   help="build folder [build/cpu, or build/inspect if build/cpu was configured "
                        "for a compiler other than g++]")


@dataclass(frozen=True)
class Built:
    """A program that was built twice, once to trace its accesses and once to count its operations,
    and the options for compiling it with nvcc."""
    traced: Path
    counted: Optional[Path]  # None without clang++
    sources: Sequence[str]
    for_nvcc: Sequence[str]


def step_with_kernels(text: str, root: Path = ROOT) -> str:
    step = find_step(text, step_folders(root))
    if not (root / step / "nbody.cu").is_file():
        raise ToolError(f"{step} is a CPU program: it has no kernels to inspect")
    return step


def is_gcc(compiler: str) -> bool:
    macros = subprocess.run([compiler, "-dM", "-E", "-x", "c++", os.devnull], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return " __GNUC__ " in macros.stdout and " __clang__ " not in macros.stdout


def find_compiler() -> str:
    """Returns the first of $CXX, c++ and g++ that is GCC; on some systems `g++` is another
    compiler."""
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++")):
        compiler = shutil.which(name)
        if compiler and is_gcc(compiler):
            return compiler
    raise ToolError(
        "needs g++, because its -fsanitize=thread reports each memory access; g++ is not on "
        "the PATH"
    )


def run_quietly(words: Sequence[str], log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as output:
        ended = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                               stderr=subprocess.STDOUT, check=False)
    if ended.returncode != 0:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        raise Failed(f"'{' '.join(words)}' failed; the end of {log}:\n" + "\n".join(lines))


def from_cache(folder: Path, name: str) -> Optional[str]:
    """Returns the value of a CMake variable, or None if the folder is not configured."""
    file = folder / "CMakeCache.txt"
    found = file.is_file() and re.search(
        rf"^{name}:\w+=(.*)$", file.read_text(encoding="utf-8"), re.M
    )
    return found[1] if found else None


def build_in_the_folder_of_all(target: str) -> None:
    """Builds with ./nbody build, which shows progress. Sends the build's output to stderr, because
    stdout is only for results."""
    sys.stdout.flush()
    ended = subprocess.run(
        [ROOT / "nbody", "build", target], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False
    )
    if ended.returncode != 0:
        raise Failed(f"'./nbody build {target}' failed")


def build_alone(target: str, folder: Path, compiler: str) -> None:
    """Builds in a separate folder. Configures the folder the first time; later, ninja configures it
    again if necessary."""
    print(f"Building {target} in {folder} ...", file=sys.stderr)
    logs = ROOT / "build" / "log"
    if not (folder / "build.ninja").exists():
        run_quietly(["cmake", "--preset", "cpu", "-B", str(folder), "-DBUILD_TESTING=OFF",
                     "-DNBODY_LIVE_VIEW=OFF",
                     f"-DCMAKE_CXX_COMPILER={compiler}", f"-DPython3_EXECUTABLE={sys.executable}"],
                    logs / "configure-inspect.log")
    run_quietly(["cmake", "--build", str(folder), "--target", target], logs / "build-inspect.log")


def build_step(step: str, wanted_folder: Optional[Path]) -> Built:
    compiler = find_compiler()
    shared = ROOT / "build" / "cpu"
    configured = from_cache(shared, "CMAKE_CXX_COMPILER") or shutil.which(
        os.environ.get("CXX", "c++")
    )
    if wanted_folder is None and configured and is_gcc(configured):
        folder = shared
        build_in_the_folder_of_all(f"inspectable_{step}")
    else:
        folder = wanted_folder or ROOT / "build" / "inspect"
        build_alone(f"inspectable_{step}", folder, compiler)
    has_clang = (from_cache(folder, "HOSTCUDA_CLANG") or "").startswith("/")
    recipe = (ROOT / step / "CMakeLists.txt").read_text(encoding="utf-8")
    flags = re.search(r"CUDA_FLAGS((?: -[^\s)]+)+)", recipe)
    return Built(
        folder / step / f"inspect_{step}",
        folder / step / f"count_{step}" if has_clang else None,
        [f"{step}/nbody.cu"],
        [
            ARCHITECTURE,
            "-std=c++20",
            "-O3",
            "-Icommon/include",
            "-Icommon",
            "-I.",
            '-DNBODY_FLAGS=""',
            *(flags[1].split() if flags else []),
        ],
    )


def sources_of(words: Sequence[str]) -> list[str]:
    return [word for word in words if word.endswith((".cu", ".cpp"))]


def check_sources(sources: Sequence[str]) -> None:
    for source in sources:
        if not Path(source).is_file():
            raise ToolError(f"{source}: file not found")


def build_sources(sources: Sequence[str], options: Sequence[str], folder: Path) -> Built:
    find_compiler()
    made = {}
    for form in ("traced", "counted"):
        words = [
            sys.executable,
            str(HOSTCUDA),
            "cc",
            f"--{form}",
            *sources,
            *options,
            "-o",
            str(folder / form),
        ]
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               errors="replace", check=False)
        if ended.returncode == 0:
            made[form] = folder / form
        elif form == "traced":
            sys.stderr.write(ended.stderr)
            raise ToolError(f"{sources[0]} does not compile")
    return Built(made["traced"], made.get("counted"), sources, [ARCHITECTURE, *options])


def inspect(built: Built, words: Sequence[str], picture: bool) -> tuple[Inspection, list[str]]:
    """Returns the inspection, and messages about what could not be counted and why."""
    found = inspect_program(built.traced, words, TIMEOUT, picture)
    counted = count_instructions(built.counted, words, TIMEOUT) if built.counted else {}
    notes = [] if built.counted else [NO_CLANG]
    compiled: list[PtxKernel] = []
    if nvcc := find_nvcc():
        for source in built.sources:
            ptx = compile_to_ptx(nvcc, source, built.for_nvcc)
            compiled += kernels_of(ptx or "")
            notes += [] if ptx else [f"PTX is not counted, because nvcc does not compile {source}."]

    def with_instructions(kernel: Kernel) -> Kernel:
        own = re.sub(r"<.*", "", kernel.name, flags=re.S).rpartition("::")[2].strip()
        return replace(kernel, operations=counted.get(kernel.name, []),
                       ptx=[one for one in compiled if one.name.partition("<")[0] == own])

    kernels = [with_instructions(kernel) for kernel in found.kernels]
    shown = {one.name for kernel in kernels for one in kernel.ptx}
    return replace(
        found, kernels=kernels, other_ptx=tuple(one for one in compiled if one.name not in shown)
    ), notes


def interactions_of(options: argparse.Namespace) -> float:
    return options.systems * float(options.bodies) ** 2 * options.steps


def check(options: argparse.Namespace) -> None:
    first, *others = options.program
    if first.endswith(".cu"):
        check_sources(sources_of(options.program))
        return
    if others:
        raise ToolError(f"'{others[0]}': a step takes no other arguments, and the name of your "
                        "own program must end in .cu")
    step_with_kernels(first)
    arguments.check_problem(options.systems, options.bodies)
    if (interactions := interactions_of(options)) > MOST_INTERACTIONS:
        raise ToolError(f"--systems {options.systems}, --bodies {options.bodies} and --steps "
                        f"{options.steps} make {interactions:.1e} interactions; at most "
                        f"{MOST_INTERACTIONS:.0e} are traced")


def run(options: argparse.Namespace) -> int:
    first, *others = options.program
    is_source = first.endswith(".cu")
    with tempfile.TemporaryDirectory() as folder:
        if is_source:
            sources = sources_of(options.program)
            built = build_sources(sources, shlex.split(options.compile), Path(folder))
            words = [word for word in others if word not in sources]
            interactions, title = options.interactions, " ".join(sources)
            record: dict[str, object] = {"sources": sources}
        else:
            step = step_with_kernels(first)
            problem = {"systems": options.systems, "bodies": options.bodies, "steps": options.steps}
            built = build_step(step, options.build)
            words = ["--scenario", "galaxies", *(word for name, value in problem.items()
                                                 for word in (f"--{name}", str(value))),
                     "--validate", "off", "--quiet"]
            interactions = interactions_of(options)
            record = {"step": step, "problem": problem}
            title = (f"{step}: {options.systems} x {options.bodies} bodies, {options.steps} time "
                     f"step(s), {interactions:,.0f} interactions")
        inspection, notes = inspect(built, words, picture=options.page is not None)
    whole = {**record, **as_json(inspection, interactions)}
    if options.json:
        arguments.write_whole_file(options.json, json.dumps(whole, indent=1) + "\n")
    if options.page:
        arguments.write_whole_file(options.page, page_of(title, whole))
    print(f"{title}\n{LEGEND}\n")
    for note in notes:
        print(f"{note}\n")
    print(text_of(inspection, interactions))
    return 0 if inspection.clean else 1
