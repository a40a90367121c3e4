"""Parses the tools' command lines strictly: reports an error in one line, with exit code 2.

The step programs do the same, so that a script can distinguish an invalid request (exit code 2)
from a run that failed (1).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Iterable, NoReturn, Optional, Sequence

from nbody_tools.command_line.nearest import did_you_mean



def find_root() -> Path:
    """Returns the clone that contains this file. If pip has installed the file elsewhere, returns
    the clone that NBODY_ROOT specifies or that contains the current directory."""
    here = Path(__file__).resolve().parents[2]
    named = [Path(os.environ["NBODY_ROOT"]).resolve()] if "NBODY_ROOT" in os.environ else []
    # If this is a clone, the current directory does not matter, and may have been deleted.
    if clone := next(filter(is_clone, (here, *named)), None):
        return clone
    return next(filter(is_clone, (Path.cwd(), *Path.cwd().parents)), here)


def is_clone(folder: Path) -> bool:
    return (folder / "tools" / "nbody_tools").is_dir()


ROOT = find_root()  # the repository's directory

USAGE_ERROR = 2
MOST = 2**31 - 1  # the programs count bodies and steps in 32-bit integers
MOST_SEED = 2**63 - 1
FIGURE_ENDINGS = ("png", "svg", "pdf")


class ToolError(Exception):
    """An invalid request; the message is one line for the user."""

    code = USAGE_ERROR


class Failed(ToolError):
    """A valid request whose execution failed."""

    code = 1


class OneLineParser(argparse.ArgumentParser):
    """A parser that prints only the error message; argparse would print the whole usage first."""

    def __init__(self, **keywords: Any) -> None:
        keywords.setdefault("allow_abbrev", False)
        keywords.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**keywords)

    def parse_args(  # type: ignore[override]  # argparse has overloads for other namespaces
            self, args: Optional[Sequence[str]] = None,
            namespace: Optional[argparse.Namespace] = None) -> argparse.Namespace:
        """Parses like argparse, and suggests the nearest option if one is misspelt. A positional
        argument that takes any number of words also gets the words after `--`; argparse would
        reject these words if options come before the `--`."""
        words = list(sys.argv[1:] if args is None else args)
        list_of = next((one for one in self._actions if one.nargs in ("+", "*")
                        and not (one.option_strings or one.type or one.choices)), None)
        end = words.index("--") if list_of and "--" in words[1:] else len(words)
        options, rest = self.parse_known_args(words[:end], namespace)
        if list_of and words[end + 1:]:
            setattr(options, list_of.dest, [*(getattr(options, list_of.dest) or []),
                                            *words[end + 1:]])
        if rest:
            self.reject(next((word for word in rest if word.startswith("-")), rest[0]))
        return options

    def parse_known_args(  # type: ignore[override]
            self, args: Optional[Sequence[str]] = None,
            namespace: Optional[argparse.Namespace] = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self.words = list(sys.argv[1:] if args is None else args)  # for error()
        return super().parse_known_args(args, namespace)

    def reject(self, word: str) -> NoReturn:
        wrong = word.partition("=")[0]
        what = "unknown option" if wrong.startswith("-") else "unexpected word"
        self.error(f"{what} {wrong}{did_you_mean(wrong, self.all_options())} (see --help)")

    def all_options(self) -> list[str]:
        """Returns the parser's own options and those of its subcommands."""
        names: list[str] = []
        for action in self._actions:
            names += action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                for parser in action.choices.values():
                    names += parser.all_options()
        return names

    def error(self, message: str) -> NoReturn:
        if message.startswith("the following arguments are required"):
            options = self.all_options()  # names what was misspelt, rather than what is missing
            for word in self.words:
                if word.startswith("--") and word.partition("=")[0] not in (*options, "--"):
                    self.reject(word)
        if wrong := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            known = (word.strip(" '") for word in wrong[2].split(","))  # Python < 3.13 adds quotes
            message += did_you_mean(wrong[1], known)
        fail(f"{self.prog}: {message}")


def fail(message: str, code: int = USAGE_ERROR) -> NoReturn:
    print(" ".join(message.split()), file=sys.stderr)
    sys.exit(code)


def positive_integer(text: str) -> int:
    return _integer(text, 1)


def positive_integers(text: str) -> tuple[int, ...]:
    return tuple(positive_integer(part) for part in text.split(","))


def integer_from_zero(text: str) -> int:
    return _integer(text, 0, MOST_SEED)


def check_problem(systems: int, bodies: int) -> None:
    """Raises ToolError if there are more bodies than the programs can number."""
    if systems * bodies > MOST:
        raise ToolError(f"--systems {systems} and --bodies {bodies} are {systems * bodies} bodies; "
                        f"at most {MOST} are possible")


def positive_number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number greater than 0")
    return value


def existing_file(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"there is no file '{text}'")
    return Path(text)


def figure_file(text: str) -> Path:
    if Path(text).suffix[1:] not in FIGURE_ENDINGS:
        raise argparse.ArgumentTypeError(f"'{text}' does not end in .{', .'.join(FIGURE_ENDINGS)}")
    return Path(text)


def existing_folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder '{text}'")
    return Path(text)


def whole_number(text: str) -> Optional[int]:
    """Returns the number, or None if the text is not a whole number. 1e5 and 2.5e6 are accepted.
    '1_000' and ' 7 ' are not, although int() accepts them, because the programs reject them."""
    if not re.fullmatch(r"\d+|\d+(\.\d+)?[eE]\+?\d{1,2}", text, re.ASCII):
        return None
    value = Fraction(text)
    return int(value) if value.denominator == 1 else None


def _integer(text: str, least: int, most: int = MOST) -> int:
    value = whole_number(text)
    if value is None or not least <= value <= most:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} to {most}")
    return value


def read_whole_file(path: Path, problem: type[ToolError]) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise problem(f"{path}: cannot be read: {error}") from error


def write_json(path: Path, data: Any) -> None:
    write_whole_file(path, json.dumps(data, indent=1) + "\n")


def write_json_lines(path: Path, lines: Iterable[Any]) -> None:
    write_whole_file(path, "".join(json.dumps(line) + "\n" for line in lines))


def check_new_file(path: Optional[Path]) -> None:
    """Raises ToolError if a file cannot be written there; to be called before any long work."""
    if path and not path.absolute().parent.is_dir():
        raise ToolError(f"{path}: there is no folder {path.absolute().parent}")
    if path and path.is_dir():
        raise ToolError(f"{path}: is a folder, not a file")


def check_output(*paths: Optional[Path]) -> None:
    """Raises ToolError if write_whole_file could not write one of the files; to be called before
    long work, whose result would be lost."""
    for path in filter(None, paths):
        if path.is_dir():
            raise ToolError(f"{path}: is a folder, not a file")
        there = next(parent for parent in path.absolute().parents if parent.exists())
        if not there.is_dir():
            raise ToolError(f"{path}: cannot be written: {there} is not a folder")
        if not os.access(there, os.W_OK):
            raise ToolError(f"{path}: cannot be written: {there} is read-only")


def check_program(path: Path) -> None:
    if not os.access(path, os.X_OK):
        raise ToolError(f"{path}: is not a program")


def write_whole_file(path: Path, text: str) -> None:
    """Writes a temporary file next to the target and renames it, so that no reader sees half a
    file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise ToolError(f"{path}: cannot be written: {error.strerror}") from error
