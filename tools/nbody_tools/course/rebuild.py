"""Builds a step with some of its functions replaced, using the step's own build commands."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Sequence

from nbody_tools.arguments import ROOT, Failed, ToolError

# Matches a function definition up to its opening brace: attributes, type, name and parameters.
DEFINITION = re.compile(
    r"^(?:template\s*<[^>]*>\s*)?[A-Za-z_][\w:<>*&,\s()]*?\b(\w+)\s*\([^;{}]*\)\s*(?:const\s*)?\{",
    re.M,
)
BOUNDS = re.compile(r"__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)")  # before some kernels' names


def source_of(step: str, root: Path = ROOT) -> Path:
    return next(iter(sorted((root / step).glob("nbody.c*"))))


def end_of_block(text: str, brace: int) -> int:
    """Returns the position after the matching closing brace. Assumes that comments and literals
    contain no braces, as is the case in the steps."""
    depth = 0
    for place in range(brace, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise ToolError("a brace is not closed")


def functions(text: str) -> dict[str, tuple[int, int]]:
    """Maps the name of each top-level function to its start and end in the text."""
    found: dict[str, tuple[int, int]] = {}
    place = 0
    while match := DEFINITION.search(text, place):
        if match.group(1) in ("if", "for", "while", "switch"):
            place = match.end()
            continue
        place = end_of_block(text, match.end() - 1)
        name = re.search(r"(\w+)\s*\(", BOUNDS.sub("", match.group(0)))
        found[name.group(1) if name else match.group(1)] = (match.start(), place)
    return found


def with_functions(step_text: str, cell: str) -> str:
    """Returns the step's text with the cell's functions in place of the step's functions of the
    same names. If the cell is a whole program, returns the cell unchanged."""
    own = functions(cell)
    if "main" in own:
        return cell
    if not own:
        raise ToolError("the cell defines no function")
    for name, (begin, end) in own.items():
        theirs = functions(step_text)
        if name not in theirs:
            raise ToolError(f"the step has no function '{name}'; it has {', '.join(theirs)}")
        step_text = step_text[:theirs[name][0]] + cell[begin:end] + step_text[theirs[name][1]:]
    return step_text


def configure_build(root: Path, preset: str) -> Path:
    """Configures the build folder once. Leaves out the tests, because configuring them takes most
    of the time."""
    folder = root / "build" / preset
    if not (folder / "build.ninja").is_file():
        run(["cmake", "--preset", preset, "-DBUILD_TESTING=OFF", "-DNBODY_LIVE_VIEW=OFF"],
            root)
    return folder


def run(words: Sequence[str], folder: Path) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise Failed(done.stdout.strip() or f"{words[0]} failed")
    return done.stdout


def build_as(step: str, text: str, build: Path, folder: Path, options: Sequence[str] = (),
             root: Path = ROOT, target: str = "") -> Path:
    """Builds the step, or another target in the step's folder, from `text` instead of the step's
    source file. Returns the path of the program, which is in `folder`."""
    made = f"{step}/{target or step}"
    source = source_of(step, root)
    if shutil.which("ninja") is None:
        raise Failed("ninja is missing (Debian, Ubuntu: apt install ninja-build)")
    lines = run(["ninja", "-C", str(build), "-t", "commands", made], root).splitlines()
    compiling = next(
        (line for line in lines if line.endswith(f" -c {source}") or f" -c {source} " in line), None
    )
    linking = next((line for line in lines if f" -o {made} " in line), None)
    if compiling is None or linking is None:
        raise Failed(f"{build}: ninja has no commands that build {step}")
    copy = folder / step / source.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, encoding="utf-8")
    words = shlex.split(compiling)
    was, now = words[words.index("-o") + 1], str(folder / "nbody.o")
    program = folder / "program"
    words = [
        {was: now, f"{was}.d": f"{now}.d", str(source): str(copy)}.get(word, word) for word in words
    ]
    run([*words, f"-I{root / step}", *options], build)
    for line in linking.split(" && "):
        if f" -o {made} " in line:
            linked = shlex.split(line)
            run(
                [{was: now, made: str(program)}.get(word, word) for word in linked],
                build,
            )
    return program
