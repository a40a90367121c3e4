"""Writes the texts of ./nbody help from the table of commands."""

from __future__ import annotations

import re
import subprocess
import textwrap
from importlib import metadata
from typing import Iterator

from nbody_tools.arguments import ROOT
from nbody_tools.command_line.table import COMMANDS, EXIT_CODES, GROUPS, Command

COLUMNS = 100
REVISION_FILE = "REVISION"  # file in a release's archive, which has no .git


def wrapped(text: str, indent: int = 0, first: str = "") -> str:
    return textwrap.fill(
        text, COLUMNS, initial_indent=first or " " * indent, subsequent_indent=" " * indent
    )


def overview() -> str:
    """Returns the list of commands, in groups."""
    lines = ["usage: ./nbody COMMAND [OPTION...]", ""]
    for group, purpose in GROUPS.items():
        lines.append(f"{group}: {purpose}")
        lines += [
            f"  {command.name:<13} {command.summary}"
            for command in COMMANDS
            if command.group == group
        ]
        lines.append("")
    lines += [wrapped("./nbody COMMAND --help describes a command; begin with ./nbody tour. If "
                      "packages of packaging/packages.txt are missing, a command prints their "
                      "names and installs them with apt-get if it may do so without a password. "
                      "The logs of all commands are in build/log. CUDA programs run on the CPU "
                      "unless there is a GPU and nvcc."), "",
              wrapped(f"Exit codes: {EXIT_CODES}")]
    return "\n".join(lines)


def usage_of(command: Command) -> str:
    return f"./nbody {command.name} {command.usage}".rstrip()


def help_of(command: Command) -> str:
    """Returns the help of a command whose options are in the table."""
    lines = [
        f"usage: {usage_of(command)}",
        "",
        wrapped(command.summary[0].upper() + command.summary[1:] + "."),
    ]
    if command.details:
        lines += ["", wrapped(command.details)]
    if command.options:
        lines += ["", "options:"]
        lines += [wrapped(option.text, 22, f"  {option.words:<20}") for option in command.options]
    if command.takes_more:
        lines += ["", f"Other arguments go to {command.takes_more}."]
    if command.examples:
        lines += ["", "examples:", *(f"  {example}" for example in command.examples)]
    return "\n".join(lines)


def number_of_the_version() -> str:
    """Returns the project's version from CMakeLists.txt or, without a clone, from pip."""
    if not (ROOT / "CMakeLists.txt").is_file():
        return metadata.version("nbody-steps")
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"^project\(nbody_steps VERSION ([0-9.]+)", text, re.M)
    return found[1] if found else "unknown"


def revision() -> str:
    """Returns the revision that the programs also print (cmake/revision.cmake)."""
    if (ROOT / REVISION_FILE).is_file():
        return (ROOT / REVISION_FILE).read_text(encoding="utf-8").strip()
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
        ).stdout.strip()
    except OSError:
        described = ""
    return described or "unknown"


def version() -> str:
    return f"nbody-steps {number_of_the_version()}, revision {revision()}"


def examples_in(text: str) -> Iterator[str]:
    """Yields the commands shown in a help text, without the comments after them."""
    for line in text.splitlines():
        if line.strip().startswith("./nbody "):
            yield re.split(r" {3,}| +# ", line.strip())[0]
