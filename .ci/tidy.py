#!/usr/bin/env python3
"""Runs clang-tidy with the checks of .clang-tidy; exit code 1 if it finds anything.

usage: .ci/tidy.py [BUILD] [PATTERN...]

BUILD is a configured folder, by default build/cpu. Its compile_commands.json names the sources of
common, tools and tests; most modules are compiled as one file that includes all their sources. If
PATTERNs are given, only paths that contain one of them are checked. A .cu file is first rewritten
for the host compiler, as hostcuda does; only its lines from this repository are reported.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKED = re.compile(r"(build/[^/]+/)?(common|tools|tests/step_tests|tests/command_line|step\w+)/")
GENERATED = re.compile(r"revision\.cpp$|inspect_|count_|/CMakeFiles/\w*_(traced|counted)")
FOUND = re.compile(r"^(\S+?):(\d+):(\d+): (?:warning|error): (.*)$")
MARKER = re.compile(r'^# (\d+) "([^"]*)"( [12])?(.*)$')
OF_GCC = ("--extra-arg=-Wno-unused-command-line-argument",
          "--extra-arg=-Wno-unknown-warning-option")
TIDY = os.environ.get("CLANG_TIDY", "clang-tidy")
CLANG = os.environ.get("CLANG", "clang++")


def sources(build: Path, patterns: list[str]) -> dict[str, dict[str, str]]:
    """Returns the entry of the compilation database for each chosen source."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    chosen: dict[str, dict[str, str]] = {}
    for entry in entries:
        name = os.path.relpath(entry["file"], ROOT)
        if CHECKED.match(name) and not GENERATED.search(name):
            if not patterns or any(pattern in name for pattern in patterns):
                chosen.setdefault(name, entry)
    return chosen


def tidy(arguments: list[str]) -> str:
    ended = subprocess.run([TIDY, "--quiet", f"--config-file={ROOT}/.clang-tidy", *arguments],
                           cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           check=False)
    return ended.stdout


def findings_of_cpp(build: Path, entry: dict[str, str]) -> set[str]:
    lines = tidy(["-p", str(build), *OF_GCC, entry["file"]]).splitlines()
    found = (FOUND.match(line) for line in lines)
    return {f"{os.path.relpath(one[1], ROOT)}:{one[2]}: {one[4]}" for one in found if one}


def without_includes(text: str) -> tuple[str, list[tuple[str, int]]]:
    """Returns the text without the marks of included lines, so that clang-tidy checks every line.
    Also returns, for each line, the file and the line number from which the line came."""
    lines, origins, file, number = [], [], "", 0
    for line in text.splitlines():
        if marker := MARKER.match(line):
            file, number = marker[2], int(marker[1])
            line = f'# {marker[1]} "{marker[2]}"{marker[4]}'
            origins.append((file, number))
        else:
            origins.append((file, number))
            number += 1
        lines.append(line)
    return "\n".join(lines) + "\n", origins


def findings_of_cu(entry: dict[str, str], folder: Path) -> set[str]:
    words = shlex.split(entry["command"].replace("-isystem ", "-isystem"))
    words = [word for word in words if word.startswith(("-I", "-D", "-std", "-isystem"))]
    made = folder / entry["file"].replace("/", "_")
    launcher = [sys.executable, str(ROOT / "hostcuda/launcher/hostcudacc.py")]
    done = subprocess.run([*launcher, CLANG, *words, "-fopenmp", "-O0", "-w", "-o", f"{made}.o",
                           "-c", entry["file"]], cwd=ROOT, check=False)
    if done.returncode != 0:
        return {f"{os.path.relpath(entry['file'], ROOT)}: does not compile with {CLANG}"}
    text, origins = without_includes(Path(f"{made}.o.ii").read_text(encoding="utf-8"))
    whole = Path(f"{made}.cpp")
    whole.write_text(text, encoding="utf-8")
    result = set()
    for line in tidy([str(whole), "--", "-std=c++20", "-fopenmp", "-w"]).splitlines():
        if (found := FOUND.match(line)) is None:
            continue
        file, number = origins[int(found[2]) - 1]
        name = os.path.relpath(ROOT / file, ROOT)
        if re.match(r"common/|step", name):
            result.add(f"{name}:{number}: {found[4]}")
    return result


def main() -> int:
    for program in (TIDY, CLANG):
        if shutil.which(program) is None:
            print(f"{program}: not found; set CLANG_TIDY or CLANG to another name")
            return 2
    build = (Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/cpu").resolve()
    chosen = sources(build, sys.argv[2:])
    if not chosen:
        sys.exit(f"{build}: compile_commands.json lists none of the chosen sources")
    findings: set[str] = set()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name)
        for one in pool.map(lambda entry: findings_of_cu(entry, folder)
                            if entry["file"].endswith(".cu") else findings_of_cpp(build, entry),
                            chosen.values()):
            findings |= one
    print(*sorted(findings), sep="\n")
    print(f"clang-tidy: {len(chosen)} sources, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
