"""Copies one step and all files that it needs into a directory. There the step builds without the
repository, with make, cmake, or a single command."""

from __future__ import annotations

import argparse
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.steps import find_step, step_folders, what_a_step_adds

MAIN = Path("common/alone/main.cpp")
INCLUDE_DIRECTORIES = (Path("."), Path("common/include"))
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)

# The second problem has incomplete tiles and blocks; the third is a single body.
CHECKS = ("--bodies 1000 --steps 3", "--systems 3 --bodies 1301 --steps 2", "--bodies 1 --steps 2")


@dataclass(frozen=True)
class Recipe:
    """The commands that compile one step without the rest of the repository."""
    name: str
    source: Path
    flags: tuple[str, ...]
    libraries: tuple[str, ...]

    @property
    def is_cuda(self) -> bool:
        return self.source.suffix == ".cu"

    def command(self, compiler: str = "") -> str:
        """Returns the one-line command. It is for a shell in the directory that contains the
        folder of the step."""
        words = [compiler or ("nvcc" if self.is_cuda else "g++"), "-O3", "-std=c++20",
                 "-arch=native" if self.is_cuda else "-fopenmp", *self.flags,
                 *(f"-I{directory}" for directory in INCLUDE_DIRECTORIES),
                 str(self.source), str(MAIN),
                 *(f"-l{library}" for library in self.libraries), "-o", f"{self.name}/{self.name}"]
        return " ".join(words)


def recipe_of(name: str, root: Path = ROOT) -> Recipe:
    text = (root / name / "CMakeLists.txt").read_text(encoding="utf-8")
    call = re.search(rf"nbody_step\({name}\s*([^)]*)\)", text)
    if call is None:
        raise ToolError(f"{name}/CMakeLists.txt does not call nbody_step({name} ...)")
    options: dict[str, list[str]] = {}
    words: list[str] = []
    for word in call.group(1).split():
        if word.isupper() and not word.startswith("-"):
            words = options.setdefault(word, [])
        else:
            words.append(word)
    if "COMMON" in options:
        raise ToolError(f"{name} needs MPI and NCCL and the modules of common/ that call them; "
                        "it builds only in the repository. Take another step")
    source = next((root / name).glob("nbody.c*")).relative_to(root)
    return Recipe(name, source, tuple(options.get("CUDA_FLAGS", [])),
                  tuple(options.get("LIBRARIES", [])))


def files_of(recipe: Recipe, root: Path = ROOT) -> list[Path]:
    """Returns the sources of the command and all repository files that they include,
    transitively."""
    found: list[Path] = []
    waiting = [recipe.source, MAIN]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.append(file)
        for name in INCLUDE.findall((root / file).read_text(encoding="utf-8")):
            for directory in (file.parent, *INCLUDE_DIRECTORIES):
                candidate = (root / directory / name).resolve()
                if candidate.is_file():
                    waiting.append(candidate.relative_to(root.resolve()))
                    break
    return sorted(found)


def makefile(recipe: Recipe, files: Iterable[Path]) -> str:
    variable, tool = ("NVCC", "nvcc") if recipe.is_cuda else ("CXX", "g++")
    program = f"{recipe.name}/{recipe.name}"
    folders = sorted({file.parent for file in files})
    sources = " ".join(f"{folder}/*.*" for folder in folders)
    runs = "\n".join(f"\t{program} {check}" for check in CHECKS)
    return f"""{variable} = {tool}

{program}: $(wildcard {sources})
\t{recipe.command(f"$({variable})")}

check: {program}
{runs}

.PHONY: check
"""


def cmake_lists(recipe: Recipe) -> str:
    languages = "CXX CUDA" if recipe.is_cuda else "CXX"
    include_directories = " ".join(map(str, INCLUDE_DIRECTORIES))
    libraries = " ".join(f"CUDA::{library}" for library in recipe.libraries)
    lines = ["cmake_minimum_required(VERSION 3.25)",
             f"project({recipe.name} LANGUAGES {languages})",
             "set(CMAKE_CXX_STANDARD 20)", "set(CMAKE_CXX_SCAN_FOR_MODULES OFF)",
             "if(NOT CMAKE_BUILD_TYPE)", "  set(CMAKE_BUILD_TYPE Release)", "endif()"]
    if recipe.is_cuda:
        lines += ["set(CMAKE_CUDA_STANDARD 20)"]
    lines += [f"add_executable({recipe.name} {recipe.source} {MAIN})",
              f"target_include_directories({recipe.name} PRIVATE {include_directories})"]
    if recipe.flags:
        flags = " ".join(recipe.flags)
        lines += [f"target_compile_options({recipe.name} PRIVATE"
                  f" $<$<COMPILE_LANGUAGE:CUDA>:{flags}>)"]
    if recipe.libraries:
        lines += ["find_package(CUDAToolkit REQUIRED)",
                  f"target_link_libraries({recipe.name} PRIVATE {libraries})"]
    if not recipe.is_cuda:
        lines += ["find_package(OpenMP REQUIRED)",
                  f"target_link_libraries({recipe.name} PRIVATE OpenMP::OpenMP_CXX)"]
    lines += ["enable_testing()"]
    lines += [f"add_test(NAME check_{number} COMMAND {recipe.name} {check})"
              for number, check in enumerate(CHECKS, 1)]
    return "\n".join(lines) + "\n"


def readme(recipe: Recipe) -> str:
    gpu = """
Without a GPU, use the repository's `hostcuda/bin/nvcc` instead of `nvcc` in the first command (with
make: `make NVCC=.../hostcuda/bin/nvcc check`). The program then runs the kernels on the CPU, for
learning and checking, but not for measuring.
""" if recipe.is_cuda else ""
    return f"""# {recipe.name}

{what_a_step_adds(recipe.name)}: one step of nbody-steps, with all files that it needs.

    {recipe.command()}
    {recipe.name}/{recipe.name} --systems 4 --bodies 4096 --steps 10

or `make check`, or `cmake -B build && cmake --build build && ctest --test-dir build`. The program
makes Plummer spheres, compares the step's forces and five of its time steps with float64 sums, and
prints the results. It exits with 0 if the step is right, 1 if it is wrong, 2 for a wrong argument
and 77 if there is no GPU.
{gpu}
`{recipe.source}` is the step, which you can edit; `{MAIN}` calls the step.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("step", metavar="STEP", help="the step's number or name: 03, step03_tiling")
    parser.add_argument("directory", metavar="DIR", type=Path, help="new or empty directory")


def run(arguments: argparse.Namespace) -> int:
    recipe = recipe_of(find_step(arguments.step, step_folders(ROOT)))
    target = arguments.directory
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ToolError(f"{target}: exists and is not an empty directory; choose a new one")
    files = files_of(recipe)
    for file in [*files, Path("LICENSE")]:
        copy = target / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, copy)
    (target / "Makefile").write_text(makefile(recipe, files), encoding="utf-8")
    (target / "CMakeLists.txt").write_text(cmake_lists(recipe), encoding="utf-8")
    (target / "README.md").write_text(readme(recipe), encoding="utf-8")
    print(f"{target}: {recipe.name} and {len(files) - 1} files that it needs. To build it there:")
    print(f"  {recipe.command()}")
    print("or: make check    or: cmake -B build && cmake --build build && ctest --test-dir build")
    return 0
