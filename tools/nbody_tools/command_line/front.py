"""Reads the arguments of ./nbody, and handles help, version and invalid commands itself.

Passes every other command to its module, or to its function in tools/commands.sh, which installs
and builds what the command needs. Before that, this module imports no slow module and starts no
slow program.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from typing import Sequence

from nbody_tools import __main__ as tools
from nbody_tools.arguments import ROOT, fail
from nbody_tools.command_line.help import help_of, overview, version
from nbody_tools.command_line.nearest import did_you_mean
from nbody_tools.command_line.table import ALIASES, BY_NAME, HELPED_BY, Command
from nbody_tools.command_line.without_libraries import LIBRARIES, without_libraries

MODES = ("--asan", "--tsan", "--nightly")  # `test` accepts these options only as its first word
NEEDS_NO_CLONE = ("help", "version")
SYSTEM_PYTHON = "/usr/bin/python3"


def main(words: Sequence[str]) -> int:
    name, *rest = words or ["help"]
    name = ALIASES.get(name, name)
    command = BY_NAME.get(name)
    if command is None:
        fail(
            f"nbody: unknown command '{name}'{did_you_mean(name, BY_NAME)} (./nbody help lists all)"
        )
    if command.name == "help" and rest and not rest[0].startswith("-"):
        return main([rest[0], "--help"])
    if asks_for_help(command, rest):
        return show_help(command, rest)
    if command.name not in NEEDS_NO_CLONE and not (ROOT / "tools" / "commands.sh").is_file():
        fail(f"nbody {command.name}: needs a clone of the repository: run it in the clone, "
             "or set NBODY_ROOT to the path of the clone", code=1)
    check_options(command, rest)
    if command.name in ("help", "version"):
        print(overview() if command.name == "help" else version())
        return 0
    if command.in_shell:
        os.execvp("bash", ["bash", str(ROOT / "tools" / "commands.sh"), command.name, *rest])
    use_python_with_libraries(words)
    return tools.main([command.name, *rest])


def asks_for_help(command: Command, rest: Sequence[str]) -> bool:
    """Returns True if the user asks for help. Ignores words that another program receives: those
    after --, and the arguments of cc and experiment."""
    ours = rest[:1] if command.name in ("cc", "experiment") else rest
    if "--" in ours:
        ours = ours[:ours.index("--")]
    return "-h" in ours or "--help" in ours


def show_help(command: Command, rest: Sequence[str]) -> int:
    if not command.has_parser:
        print(overview() if command.name == "help" else help_of(command))
        return 0
    if program := HELPED_BY.get(command.name):
        words = ["--help"] if command.name == "view" else [command.name, "--help"]
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, str(ROOT / program), *words])
    with without_libraries():
        return tools.main([command.name, *rest])


def check_options(command: Command, rest: Sequence[str]) -> None:
    """Reports invalid arguments before anything is installed or built."""
    if not command.usage and rest:
        fail(f"nbody {command.name}: takes no arguments, but got '{rest[0]}'")
    if command.has_parser:
        if command.module and command.in_shell:
            parse(command.name, rest)
        return
    options = [option.name for option in command.options]
    if command.takes_more == "ctest":
        check_words_for_ctest(rest, options)
    if command.takes_more:
        return
    for word in rest:
        if word.startswith("-") and word not in options:
            fail(f"nbody {command.name}: unknown option {word}{did_you_mean(word, options)} "
                 f"(see ./nbody {command.name} --help)")


def parse(name: str, rest: Sequence[str]) -> None:
    """Parses a command's arguments, even if its function in commands.sh has not yet installed the
    libraries."""
    if find_spec("numpy"):
        tools.parse(name, rest)
        return
    with without_libraries():
        tools.parse(name, rest)


def check_words_for_ctest(rest: Sequence[str], options: Sequence[str]) -> None:
    """Rejects unknown options, because ctest would ignore them and run every test."""
    for place, word in enumerate(rest):
        if word in MODES and place > 0:
            fail(f"nbody test: {word} must come first: ./nbody test {word} ...")
    theirs: list[str] = []
    for word in (word.partition("=")[0] for word in rest if word.startswith("--")):
        if word in options:
            continue
        theirs = theirs or options_of_ctest()
        if theirs and word not in theirs:
            fail(f"nbody test: unknown option {word}{did_you_mean(word, [*options, *theirs])} "
                 "(see ./nbody test --help and ctest --help)")


def options_of_ctest() -> list[str]:
    """Returns the long options of ctest, or none if ctest is not installed."""
    try:
        text = subprocess.run(
            ["ctest", "--help"], check=False, capture_output=True, text=True
        ).stdout
    except OSError:
        return []
    return re.findall(r"^\s+(?:-\w+[^,\n]*,\s*)*(--[\w-]+)", text, re.M) + \
        re.findall(r", (--[\w-]+)", text)


def use_python_with_libraries(words: Sequence[str]) -> None:
    """Restarts this program with the system's Python if the running Python lacks the libraries,
    because the first python3 on the path may belong to an environment without libraries. Keeps an
    interpreter that PYTHON specifies, because the user has chosen it."""
    if (os.environ.get("PYTHON") or all(map(find_spec, LIBRARIES))
            or not os.access(SYSTEM_PYTHON, os.X_OK)):
        return
    has_all = (
        "from importlib.util import find_spec; raise SystemExit(not all(map(find_spec, "
        f"{LIBRARIES})))"
    )
    if subprocess.run([SYSTEM_PYTHON, "-c", has_all], check=False).returncode == 0:
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-m", __spec__.name, *words])


def entry() -> int:
    """Runs main() for the program `nbody` that pip installs."""
    return tools.silent_if_closed(lambda: main(sys.argv[1:]))


if __name__ == "__main__":
    if sys.version_info < (3, 9):
        fail(f"nbody: needs Python 3.9 or newer, but {sys.executable} is {sys.version.split()[0]} "
             "(PYTHON=/path/to/python3 selects another)", code=1)
    sys.exit(entry())
