"""Writes the sources of a sweep's programs, for experiments/sweeps/CMakeLists.txt.

  python3 -m nbody_tools.sweep.sources list FOLDER [TABLE...]
      writes FOLDER/sweeps.cmake when the build is configured
  python3 -m nbody_tools.sweep.sources bundle NAME FILE [TABLE...]
      writes one bundle when the build runs
  python3 -m nbody_tools.sweep.sources side_roads FILE
      writes one bundle of all unchanged experiments whose sources have FILE's suffix (.cu or .cpp)

A bundle contains all variants of one source file, each in its own namespace, so that their common
headers are compiled once.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Iterable, Sequence

from nbody_tools.arguments import ROOT, ToolError, fail, write_whole_file
from nbody_tools.edits import EditError, edited
from nbody_tools.sweep.tables import OTHER_PROGRAMS, Program, configurations, read_tables, source_of

FAST_MATH = "-use_fast_math"
# The inline step_main() cannot be used here: the linker would keep only one copy of the function,
# and this copy would report the compiler flags of one bundle for all bundles.
BUNDLE_MAIN = """
static nbody::FoundDevice device_of_bundle() {
  nbody::FoundDevice device = nbody::query_device();
  device.flags = NBODY_FLAGS;
  return device;
}
static int bundle_main(const nbody::StepInfo& info, nbody::Simulate simulate, int argc, \
char** argv) {
  return nbody::run_step(info, simulate, device_of_bundle, argc, argv);
}
"""


def is_fast(program: Program) -> bool:
    """Returns True if the program is compiled with fast math. If the program's table does not set
    this, experiments use fast math, and steps use it if their CMakeLists.txt does."""
    if program.fast_math is not None:
        return program.fast_math
    folder = source_of(ROOT, program.source).parent
    return folder.parent.name == "experiments" or FAST_MATH in (
        folder / "CMakeLists.txt"
    ).read_text("utf-8")


def bundle_of(program: Program) -> str:
    source = source_of(ROOT, program.source)
    return program.source + (
        "" if source.suffix == ".cpp" else "_fast" if is_fast(program) else "_exact"
    )


def bundles(names: Sequence[str]) -> dict[str, list[Program]]:
    tables = read_tables(ROOT)
    unknown = [name for name in names if name not in tables]
    if unknown:
        raise ToolError(f"'{unknown[0]}' is not a table; choose from {', '.join(tables)}")
    chosen = [tables[name] for name in names] or list(tables.values())
    result: dict[str, dict[str, Program]] = {}
    for cell in configurations(chosen).values():
        program = cell.runs.program
        if program.source not in OTHER_PROGRAMS:
            if (
                result.setdefault(bundle_of(program), {}).setdefault(program.name, program)
                != program
            ):
                raise ToolError(f"two programs would be called {program.name}: rename one")
    return {name: list(programs.values()) for name, programs in sorted(result.items())}


def experiments(root: Path = ROOT, ending: str = "") -> list[str]:
    """Returns the experiments that consist of one file in the form of a step, and need no build
    targets of their own."""
    return [
        path.parent.name
        for path in sorted((root / "experiments").glob(f"*/nbody{ending or '.c*'}"))
        if [file for file in path.parent.iterdir() if "README" not in file.name] == [path]
    ]


def bundle_text(programs: Iterable[Program]) -> str:
    headers: dict[str, None] = {}
    parts = []
    for program in programs:
        source = source_of(ROOT, program.source)
        headers.update(
            dict.fromkeys(re.findall(r"^#include.*$", source.read_text(encoding="utf-8"), re.M))
        )
        text = edited(
            source,
            program.name,
            list(zip(program.edit[::2], program.edit[1::2])),
            main="::bundle_main",
        )
        defined = "".join(f"#define {name} {value}\n" for name, value in program.define)
        undefined = "".join(f"#undef {name}\n" for name, _ in program.define)
        # #line makes the compiler's messages name the step's file instead of the bundle.
        parts.append(
            f'{defined}namespace {program.name} {{\n#line 1 "{source}"\n{text}\n}}\n{undefined}'
            f'static const nbody::sweep::Program program_{program.name}("{program.name}", '
            f"{program.name}::main);\n"
        )
    # Includes the headers before any namespace, so that the #include lines inside have no effect.
    return "\n".join([*headers, '#include "experiments/sweeps/programs.h"', BUNDLE_MAIN, *parts])


def write(path: Path, text: str) -> None:
    """Writes the file only if its text has changed, because the build compiles rewritten files
    again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_whole_file(path, text)


def write_list(folder: Path, names: Sequence[str]) -> None:
    lines = [f"set(experiments {' '.join(experiments())})"]
    for name, programs in bundles(names).items():
        bundle_text(programs)  # raises an error now if an edit does not fit
        source = source_of(ROOT, programs[0].source)
        flag = FAST_MATH if source.suffix == ".cu" and is_fast(programs[0]) else ""
        cublas = "cublas" if "cublas" in source.read_text(encoding="utf-8") else ""
        lines.append(f'nbody_sweep_bundle({name} "{source}" FLAGS "{flag}" LIBRARIES "{cublas}")')
    write(folder / "sweeps.cmake", "\n".join(lines) + "\n")


def main(command: str, *words: str) -> None:
    if command == "list":
        write_list(Path(words[0]), words[1:])
    elif command == "side_roads":
        write(Path(words[0]), bundle_text(map(Program, experiments(ending=Path(words[0]).suffix))))
    else:
        write(Path(words[1]), bundle_text(bundles(words[2:])[words[0]]))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (ToolError, EditError) as error:
        fail(f"experiments/sweeps: {error}")
