#!/usr/bin/env python3
"""Tests that includes and folders respect the layers of the repository: layers_test.py [ROOT]

- common/ is layered: a file includes only from its own layer or a lower one.
- Steps include only common/include, steps, and the kernels in float64/ and small_systems/, which
  include only common/include; hostcuda includes nothing from outside its folder.
- No file includes itself through others, and no Python file imports itself through others.
- No folder holds more than MAX_FILES source files.
"""
from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

MAX_FILES = 20
SOURCES = (".h", ".cuh", ".cpp", ".cu", ".py", ".js")
INCLUDING = (".h", ".cuh", ".cpp", ".cu")
PACKAGES = ("tools", "python", "cmake", "hostcuda/launcher")  # folders that hold packages
# From the lowest layer to the highest. common/include, whose headers steps include, is the lowest.
LAYERS = ("include", "support", "physics", "io", "scenarios", "run", "cluster", "alone")
INCLUDED_BY_STEPS = ("float64", "small_systems")  # other lessons, whose kernels steps run


def tracked(root: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z"], stdout=subprocess.PIPE, check=False
    )
    if listed.returncode != 0:
        print(f"{root}: skipped, because git cannot list the files of this folder")
        sys.exit(77)
    files = [Path(name) for name in listed.stdout.decode().split("\0") if name.endswith(SOURCES)]
    return [file for file in files if (root / file).exists()]


def includes(root: Path, files: list[Path]) -> dict[Path, list[Path]]:
    """Returns the repository files that each file includes, using the compiler's include paths."""
    known = set(files)
    folders = [Path(p) for p in ("", "common", "common/include", "common/io/gadget_hdf5",
                                 "hostcuda/include", "hostcuda/src", "hostcuda/cublas/include",
                                 "view/server", "view/frames")]
    result = {}
    for file in files:
        if file.suffix not in INCLUDING:
            continue
        names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', (root / file).read_text("utf-8"), re.M)
        candidates = [[folder / name for folder in (file.parent, *folders)] for name in names]
        result[file] = [next(c for c in paths if c in known) for paths in candidates
                        if known.intersection(paths)]
    return result


def imports(root: Path, files: list[Path]) -> dict[Path, list[Path]]:
    """Returns the repository files that each Python file imports, wherever the import is. A name is
    looked up in the file's own folder and in the folders of packages."""
    known = set(files)
    result = {}
    for file in files:
        if file.suffix != ".py":
            continue
        found = set()
        for node in ast.walk(ast.parse((root / file).read_text("utf-8"))):
            for name in imported(node):
                found |= {target for target in modules(file, name) if target in known}
        result[file] = sorted(found - {file})
    return result


def imported(node: ast.AST) -> list[str]:
    """Returns the imported names that are, or may be, modules. One dot before a name stands for the
    file's own folder, and each further dot for the folder above."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    start = "." * node.level + (node.module or "")
    joint = "." if node.module else ""
    return [start, *(start + joint + alias.name for alias in node.names)]


def modules(file: Path, name: str) -> list[Path]:
    dots = len(name) - len(name.lstrip("."))
    words = name[dots:].split(".") if name[dots:] else []
    folders = [file.parents[dots - 1]] if dots else [file.parent, *map(Path, PACKAGES)]
    return [folder.joinpath(*words).with_suffix(".py") for folder in folders if words]


def layer(file: Path) -> int | None:
    inside = file.parts[0] == "common" and len(file.parts) > 2 and file.parts[1] in LAYERS
    return LAYERS.index(file.parts[1]) if inside else None


def is_lesson(file: Path) -> bool:
    return file.parts[0].startswith("step") or file.parts[0] in INCLUDED_BY_STEPS


def may_include(file: Path, target: Path) -> bool:
    """Tests whether a step may include another lesson. The folders in INCLUDED_BY_STEPS must not
    include steps, because a step would then include itself."""
    return is_lesson(target) and (file.parts[0].startswith("step") or
                                  file.parts[0] == target.parts[0])


def wrong_arrows(graph: dict[Path, list[Path]]):
    for file, targets in graph.items():
        is_test = "tests" in file.parts
        for target in targets:
            here, there = layer(file), layer(target)
            if file.parts[0] == "hostcuda" and target.parts[0] != "hostcuda":
                yield f"{file} includes {target}: hostcuda must not include this"
            elif is_lesson(file) and there != 0 and not may_include(file, target):
                yield f"{file} includes {target}: a lesson must not include this"
            elif here is None or is_test:
                continue
            elif there is None:
                yield f"{file} includes {target}: common must not include this"
            elif there > here:
                yield f"{file} includes {target}: {LAYERS[there]} is above {LAYERS[here]}"


def circles(graph: dict[Path, list[Path]]):
    done: set[Path] = set()

    def visit(file: Path, above: list[Path]):
        if file in above:
            yield "a cycle: " + " -> ".join(
                map(str, [*above[above.index(file) :], file])
            )
        elif file not in done:
            for target in graph.get(file, []):
                yield from visit(target, [*above, file])
            done.add(file)

    for file in graph:
        yield from visit(file, [])


def crowded(files: list[Path]):
    folders = defaultdict(int)
    for file in files:
        folders[file.parent] += 1
    for folder, count in sorted(folders.items()):
        if count > MAX_FILES:
            yield (
                f"{folder} has {count} source files; a folder may have at most {MAX_FILES}"
            )


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    files = tracked(root)
    graph = includes(root, files)
    if sum(map(len, graph.values())) < 100:
        sys.exit(f"{root}: fewer than 100 includes found; is this the repository?")
    imported_by = imports(root, files)
    problems = [*wrong_arrows(graph), *circles(graph), *circles(imported_by), *crowded(files)]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(files)} source files, {sum(map(len, graph.values()))} includes and "
          f"{sum(map(len, imported_by.values()))} imports: none from a higher layer, no cycle, "
          f"no folder with more than {MAX_FILES} files")


if __name__ == "__main__":
    main()
