"""Removes text that cannot change a test's result: comments in C++, Python and CMake files. If a
test runs only the commands of a page, removes the page's prose as well."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import PurePath

# Files in which comments matter, because they mark the part of a lab that a student writes.
MEANINGFUL = ("course/",)
CODE = {".h", ".cpp", ".cu", ".cuh"}
PYTHON = ".py"
PAGE = ".md"
NAMED_BY_LINE = {".cu", ".cuh"}  # findings and records refer to line numbers in these files

# Matches comments, and literals that may contain the start of a comment.
# These literals are raw strings, strings and characters (but not the ' in 1'000).
TOKEN = re.compile(r'R"([^(\s"]*)\(.*?\)\1"'
                   r'|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'"
                   r"|//(?:\\\n|[^\n])*|/\*.*?\*/", re.S)

# Matches CMake's bracket arguments and strings, and its bracket and line comments.
CMAKE_TOKEN = re.compile(r'#\[(=*)\[.*?\]\1\]|\[(=*)\[.*?\]\2\]|"(?:\\.|[^"\\])*"|#[^\n]*', re.S)

# Matches a Python file whose docstring is a help text: the file uses __doc__, or defines an nbody
# command (configure).
HELP = re.compile(r"\b__doc__\b|^def configure\(", re.M)

# Matches a line of prose that says in which file the reader saves a code block.
SAVED = re.compile(r"(?:Saved|save this) as `")


def is_cpp(path: str) -> bool:
    """Tests whether a file is C++; some headers, such as <cuda/atomic>, have no suffix."""
    suffix = PurePath(path).suffix
    return suffix in CODE or (not suffix and "/include/" in path)


def is_cmake(path: str) -> bool:
    return path.endswith(".cmake") or PurePath(path).name == "CMakeLists.txt"


def has_comments_to_ignore(path: str) -> bool:
    known = is_cpp(path) or is_cmake(path) or PurePath(path).suffix == PYTHON
    return known and not path.startswith(MEANINGFUL)


@cache
def code_of(path: str, text: str) -> list[str]:
    """Returns the lines of the file without comments and trailing spaces. Keeps empty lines only if
    line numbers matter. For Python, returns the syntax tree of each statement; for a page, its code
    blocks."""
    if PurePath(path).suffix == PYTHON:
        return python_code(text)
    if PurePath(path).suffix == PAGE:
        return page_code(text)
    if is_cmake(path):
        text = CMAKE_TOKEN.sub(lambda token: "" if token[0].startswith("#") else token[0], text)
        return [line.rstrip() for line in text.splitlines() if line.strip()]
    def without(token: re.Match) -> str:
        is_comment = token[0].startswith(("//", "/*"))
        return "\n" * token[0].count("\n") or " " if is_comment else token[0]
    lines = [line.rstrip() for line in TOKEN.sub(without, text).splitlines()]
    return lines if PurePath(path).suffix in NAMED_BY_LINE else [line for line in lines if line]


def python_code(text: str) -> list[str]:
    """Returns the statements without comments, line breaks and docstrings. Keeps a module's
    docstring if it is help."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module) and HELP.search(text):
            continue
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:]
    return [ast.dump(statement) for statement in tree.body]


def page_code(text: str) -> list[str]:
    """Returns the lines of all code blocks, and the lines that say in which file to save a
    block."""
    found, fence = [], False
    for line in text.splitlines():
        fence ^= line.lstrip().startswith("```")
        if fence or line.startswith("    ") or SAVED.search(line):
            found.append(line.strip())
    return found
