"""Runs a command of ./nbody that has a Python module. ./nbody calls this program; `python3 -m
nbody_tools COMMAND` does the same if it is run in tools/.

Exit codes: 0 success; 1 the command ran and found an error; 2 invalid argument or file, reported in
one line; 77 this machine lacks something that the command requires.
"""

from __future__ import annotations

import argparse
import os
import select
import sys
from importlib import import_module
from types import ModuleType
from typing import Callable, Optional, Sequence

from nbody_tools.arguments import OneLineParser, ToolError, fail
from nbody_tools.command_line.help import overview
from nbody_tools.command_line.nearest import did_you_mean
from nbody_tools.command_line.table import BY_NAME, COMMANDS

CLOSED = 141  # the exit code that a shell reports for a program killed by SIGPIPE


def main(words: Optional[Sequence[str]] = None) -> int:
    return silent_if_closed(lambda: run(words))


def silent_if_closed(function: Callable[[], int]) -> int:
    """Calls the function. Exits silently if the reader closes the pipe (`./nbody ... | head`)."""
    try:
        try:
            return function()
        finally:
            if sys.stdout is not None:  # None if the shell closed it, as in ./nbody help >&-
                sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # because Python flushes the rest at exit
        return CLOSED


def module_of(command: str) -> ModuleType:
    return import_module(f"nbody_tools.{BY_NAME[command].module}")


def parser_of(command: str) -> OneLineParser:
    module = module_of(command)
    parser = OneLineParser(prog=f"nbody {command}", description=module.__doc__)
    module.configure(parser)
    return parser


def parse(command: str, words: Sequence[str]) -> argparse.Namespace:
    """Returns the command's options. Exits with code 2 and a one-line message if an argument is
    wrong, and with code 0 after --help. Before anything is built, a module may also reject options
    in check(options), for reasons that its parser cannot know."""
    options = parser_of(command).parse_args(words)
    check = getattr(module_of(command), "check", None)
    if check is not None:
        try:
            check(options)
        except ToolError as error:
            fail(f"nbody {command}: {error}", error.code)
    return options


def is_output_closed() -> bool:
    poll = select.poll()
    poll.register(1, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def run(words: Optional[Sequence[str]]) -> int:
    command, *rest = (sys.argv[1:] if words is None else list(words)) or ["--help"]
    if command in ("help", "-h", "--help"):
        print(overview())
        return 0
    modules = [one.name for one in COMMANDS if one.module]
    if command not in modules:
        fail(
            f"nbody: unknown command '{command}'{did_you_mean(command, modules)} (see ./nbody help)"
        )
    try:
        return module_of(command).run(parse(command, rest))
    except ModuleNotFoundError as missing:
        fail(
            f"nbody {command}: needs the Python module {missing.name} (Debian, Ubuntu: apt install "
            f"python3-{missing.name}, and run the command with /usr/bin/python3)",
            code=1,
        )
    except ToolError as error:
        fail(f"nbody {command}: {error}", error.code)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and is_output_closed():
            raise
        fail(f"nbody {command}: {error}", code=1)
    except KeyboardInterrupt:
        fail(f"nbody {command}: interrupted", code=130)


if __name__ == "__main__":
    sys.exit(main())
