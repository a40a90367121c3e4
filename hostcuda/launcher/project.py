"""Checks a project: runs the project's build command, with nvcc replaced, in a copy of the folder.

The replacement for nvcc makes traced programs, and so do the replacements for host compilers if
they link nvcc's objects. In place of each program, these replacements leave a script that runs the
program and stores its trace, messages and exit status. So every run that the command makes is
recorded, even if a test runner hides the messages. If the command runs no program, each program
that the command built runs once, without arguments.
"""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import toolkit
from libraries import HOME, ToolError
from modules import loads_modules

MOST_BYTES = 1 << 30
COMPILED = (b"\x7fELF", b"!<arch>")
LEFT_OUT = (".git", "__pycache__", "CMakeFiles", "CMakeCache.txt")
# CMake builds these programs to examine the compiler.
PROBES = re.compile(r"(^|/)CMakeFiles/|(^|/)cmTC_[^/]*$|(^|/)a\.out$")


SCRIPT = """#!/bin/sh
at=$(mktemp {runs}/XXXXXX)
mkfifo "$at.pipe"
(trap '' TERM; exec tee "$at.errors") <"$at.pipe" >&2 &
HOSTCUDA_TRACE=$at.json {program} "$@" 2>"$at.pipe"
code=$?
wait
echo $code >"$at.code"
exit $code
"""


class Notes:
    """The files that the replaced compilers and the traced programs leave for `check`."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.programs = self.folder / "programs"
        self.runs = self.folder / "runs"
        self.warnings = self.folder / "warnings"
        self.toolkit = self.folder / "toolkit"

    def leave_path(self):
        """Removes the replacements' folder from PATH, so that a replacement finds and calls the
        real compiler."""
        own = str(self.toolkit / "bin")
        os.environ["PATH"] = os.pathsep.join(
            folder for folder in os.environ["PATH"].split(os.pathsep) if folder != own)

    def warn(self, line):
        """Prints and stores a warning of clang."""
        print(line, file=sys.stderr)
        source, _, rest = line.partition(":")
        with self.warnings.open("a", encoding="utf-8") as file:
            file.write(f"{os.path.abspath(source)}:{rest}\n")

    def replace(self, program):
        """Moves a program to another folder, and puts a script that runs the program in its
        place."""
        if PROBES.search(os.path.abspath(program)):
            return
        kept = Path(tempfile.mkdtemp(dir=self.programs)) / Path(program).name
        shutil.move(program, kept)
        (kept.parent / "place").write_text(os.path.abspath(program), encoding="utf-8")
        script = SCRIPT.format(runs=shlex.quote(str(self.runs)), program=shlex.quote(str(kept)))
        Path(program).write_text(script, encoding="utf-8")
        os.chmod(program, 0o755)

    def built(self):
        """Returns the paths of the programs, each once."""
        places = [file.read_text(encoding="utf-8") for file in self.programs.glob("*/place")]
        return sorted(set(filter(os.path.exists, places)))

    def recorded(self):
        """Returns a Recorded for each run of a program."""
        return [Recorded(status(errors.with_suffix(".code")),
                         errors.read_text(encoding="utf-8", errors="replace"),
                         found_in(errors.with_suffix(".json")))
                for errors in sorted(self.runs.glob("*.errors"))]


@dataclass
class Ended:
    """How the command ended."""
    code: object  # exit status, or "timeout"
    output: str


@dataclass
class Recorded:
    """A run of a program."""
    code: object  # exit status (negative for a signal), or "timeout"
    errors: str
    traced: list  # findings that the trace recorded


def status(file):
    if not file.exists():
        return "timeout"
    code = int(file.read_text(encoding="utf-8"))
    return 128 - code if code > 128 else code


def found_in(trace):
    try:
        return json.loads(trace.read_text(encoding="utf-8", errors="replace"))["findings"]
    except (OSError, ValueError):  # the program was stopped before it wrote the whole file
        return []


def is_compiled(file):
    with open(file, "rb") as opened:
        return opened.read(8).startswith(COMPILED)


def copy(source, target):
    """Copies a folder without its compiled files, so that the command builds all of these again."""
    total = 0

    def left_out(folder, names):
        nonlocal total
        out = [name for name in names if name in LEFT_OUT]
        for name in set(names) - set(out):
            file = os.path.join(folder, name)
            if not os.path.isfile(file):
                if not os.path.isdir(file):
                    out.append(name)  # a pipe, or a link to nothing
                continue
            total += os.path.getsize(file)
            if total > MOST_BYTES:
                raise ToolError(f"check: {source} has more than {MOST_BYTES >> 30} GiB of files; "
                                "run check in the folder of the sources")
            if is_compiled(file):
                out.append(name)
        return out
    try:
        shutil.copytree(source, target, ignore=left_out, symlinks=False)
    except OSError as error:
        raise ToolError(f"check: {error.filename}: {error.strerror}") from None
    except shutil.Error as error:
        raise ToolError(f"check: {error.args[0][0][0]}: {error.args[0][0][2]}") from None


def links_traced(words):
    """True if these arguments make a host compiler link an object that the replacement for nvcc
    compiled, or that loads modules, because the replacement for nvcc compiled those too."""
    if any(word in ("-c", "-E", "-S", "-M", "-MM") for word in words):
        return False
    files = [Path(word) for word in words if word.endswith((".o", ".a"))]
    files = [file for file in files if file.is_file()]
    return any(b"__tsan_" in file.read_bytes() for file in files) or loads_modules(files)


def leave_replacements():
    """Removes the folders of replacements from PATH. A program that `check` runs may call NVRTC,
    which needs the real compiler."""
    def replaces(folder):
        try:
            script = (Path(folder) / "nvcc").read_bytes()[:4096]
        except OSError:
            return False
        return script.startswith(b"#!/bin/sh") and b"--hostcuda-notes=" in script
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(folder for folder in folders if not replaces(folder))


def write_script(file, *words):
    file.unlink(missing_ok=True)
    file.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n', encoding="utf-8")
    file.chmod(0o755)


def environment(notes):
    """Returns an environment in which the command finds the replacement for nvcc: under the name
    nvcc, in CUDA_HOME, and in the variables of make and CMake. The host compilers are replaced
    too."""
    home = toolkit.make(notes.toolkit)
    nvcc = home / "bin" / "nvcc"
    words = (sys.executable, HOME / "bin" / "nvcc", f"--hostcuda-notes={notes.folder}")
    write_script(nvcc, *words)
    for name in ("c++", "g++", "clang++"):
        if compiler := shutil.which(name):
            write_script(nvcc.with_name(name), *words, f"--hostcuda-host-compiler={compiler}")
    variables = {"CUDA_HOME": str(home), "CUDA_PATH": str(home)}
    for_make = shlex.join(f"{name}={value}"
                          for name, value in [*variables.items(), ("NVCC", "nvcc")])
    cxx = str(nvcc.with_name("c++"))  # otherwise CMake takes the c++ in the folder of cc
    return {"HOSTCUDA_WATCHDOG": "20", "CXX": cxx, **os.environ, **variables,
            "PATH": f"{nvcc.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "CUDACXX": str(nvcc), "MAKEFLAGS": f"{os.environ.get('MAKEFLAGS', '')} -- {for_make}"}


def run(words, folder, variables, timeout):
    """Runs a command in its own process group, and ends the whole group at the timeout."""
    try:
        process = subprocess.Popen(words, cwd=folder, env=variables, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace", start_new_session=True)
    except OSError as error:
        raise ToolError(f"check: {words[0]}: {error.strerror}") from None
    try:
        output = process.communicate(timeout=timeout)[0]
        return Ended(process.returncode, output)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)  # an emulated program then reports its progress
    try:
        return Ended("timeout", process.communicate(timeout=5)[0])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return Ended("timeout", process.communicate()[0])


@dataclass
class Checked:
    """The command, and the programs that it built and ran. Paths refer to the user's folder, not to
    the copy."""
    command: Ended
    programs: list
    runs: list  # of Recorded
    warnings: list


def check(words, timeout):
    """Builds and runs a copy of the project; returns a Checked. words: the command and its
    arguments, or one string for the shell."""
    here = Path.cwd()
    if len(words) == 1 and re.search(r"\s", words[0]):
        words = ["sh", "-c", words[0]]
    with tempfile.TemporaryDirectory(prefix="hostcuda-") as name:
        folder = Path(name).resolve()
        there = folder / "copy" / here.name
        copy(here, there)
        notes = Notes(folder / "notes")
        for made in (notes.programs, notes.runs):
            made.mkdir(parents=True)
        variables = environment(notes)
        command = run(words, there, variables, timeout)
        programs = notes.built()
        if command.code == 0 and not any(notes.runs.iterdir()):
            for program in programs:
                run([program], there, variables, timeout)
        warnings = notes.warnings.read_text(encoding="utf-8") if notes.warnings.exists() else ""
        checked = Checked(command, programs, notes.recorded(),
                          list(dict.fromkeys(warnings.splitlines())))
        return with_paths(checked, lambda text: text.replace(f"{there}/", "")
                          .replace(str(there), str(here)))


def with_paths(checked, renamed):
    """Applies `renamed` to the paths in all results."""
    command = Ended(checked.command.code, renamed(checked.command.output))
    runs = [Recorded(one.code, renamed(one.errors), json.loads(renamed(json.dumps(one.traced))))
            for one in checked.runs]
    return Checked(command, list(map(renamed, checked.programs)), runs,
                   list(map(renamed, checked.warnings)))
