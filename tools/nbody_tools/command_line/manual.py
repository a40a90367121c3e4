"""Writes the manual page of ./nbody from the table of commands."""

from __future__ import annotations

from typing import Iterator

from nbody_tools.command_line.help import number_of_the_version
from nbody_tools.command_line.table import COMMANDS, EXIT_CODES, GROUPS, Command


def manual() -> str:
    return "\n".join(lines()) + "\n"


def escaped(text: str) -> str:
    """Escapes text for roff: a line must not begin with a full stop or an apostrophe, and hyphens
    must stay ASCII so that they can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def lines() -> Iterator[str]:
    yield f'.TH NBODY 1 "" "nbody-steps {number_of_the_version()}" "User Commands"'
    yield ".SH NAME"
    yield "nbody \\- build, run, measure and test the programs of nbody\\-steps"
    yield ".SH SYNOPSIS"
    yield ".B ./nbody"
    yield ".I COMMAND"
    yield escaped("[OPTION...]")
    yield ".SH DESCRIPTION"
    yield escaped("One gravitational N-body simulation in many programs, each of which adds one "
                  "idea: from an OpenMP loop to a program that reaches the limit of a GPU, and "
                  "on to a cluster and a tree. A command installs missing packages and builds "
                  "only what it needs, in build/cpu or build/cuda; its logs are in build/log. "
                  "CUDA programs run on the CPU unless there is a GPU and nvcc.")
    for group, purpose in GROUPS.items():
        yield escaped(f".SH COMMANDS TO {group.upper()}").lstrip("\\&")
        yield escaped(f"{purpose[0].upper()}{purpose[1:]}.")
        for command in COMMANDS:
            if command.group == group:
                yield from entry(command)
    yield from ending()


def entry(command: Command) -> Iterator[str]:
    yield ".TP"
    yield f"\\fB{escaped(command.name)}\\fR {escaped(command.usage)}".rstrip()
    yield escaped(f"{command.summary[0].upper()}{command.summary[1:]}. {command.details}".rstrip())
    for option in command.options:
        yield ".RS"
        yield ".TP"
        yield f"\\fB{escaped(option.words)}\\fR"
        yield escaped(option.text[0].upper() + option.text[1:] + ".")
        yield ".RE"


def ending() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    yield escaped(EXIT_CODES)
    yield ".SH ENVIRONMENT"
    for name, text in (
        ("CXX, CUDACXX", "The C++ compiler and the CUDA compiler."),
        ("PYTHON", "The interpreter that runs the tools."),
        ("CI", "If true, compiler warnings are errors."),
        ("PROGRESS_EVERY", "Seconds between progress lines if there is no terminal [20]; 0: none."),
    ):
        yield ".TP"
        yield f"\\fB{name}\\fR"
        yield escaped(text)
    yield ".SH FILES"
    yield escaped("build/log/ has the output of all builds and tests. docs/ and the README.md of "
                  "each step explain the programs.")
    yield ".SH SEE ALSO"
    yield escaped("./nbody COMMAND --help lists all options of a command.")
