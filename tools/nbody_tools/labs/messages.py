"""Prepares messages of compilers and the tracer for students. Keeps messages about the submission
and public headers, and quotes no line of any other file.
"""

from __future__ import annotations

import re
from pathlib import Path

# Matches FILE:LINE[:COLUMN]: MESSAGE, nvcc's FILE(LINE): MESSAGE, FILE: In function ..., and lines
# about including a header.
OF_FILE = re.compile(r"(?:In file included from |                 from )?(?P<file>[^\s:(][^:(]*)"
                     r"(?:\((?P<nvcc>\d+)\):|:(?:(?P<line>\d+)(?::\d+)?[:,])?)")
EXCERPT = re.compile(r"\s*\d* \|")
OF_TOOL = re.compile(r"(?:c\+\+|g\+\+|clang\+\+|cc1plus|nvcc|as|ld|collect2|hostcudacc)\b[^:]*: |"
                     r"compilation terminated|\d+ errors? detected in ")
PUBLIC = re.compile(r"(?:/usr/(?:local/)?include|/usr/lib/gcc|/usr/lib/llvm\S*|"
                    r"/usr/local/cuda[^/]*)/")
ALLOCATES = re.compile(r"Array<[^;]*>\s+(\w+)\s*[({]|cuda(?:Malloc|HostAlloc)\w*\(\s*&(\w+)")
WIDTH = 300  # longest line shown; a single line may contain the whole submission
LEFT_OUT = "(a message about another file is not shown)"
CAUSES = (("File size limit exceeded", "the compiler wrote a file of more than 64 MB"),
          ("out of memory", "the compiler exceeded its memory limit"),
          ("memory exhausted", "the compiler exceeded its memory limit"),
          ("MemoryError", "the compiler exceeded its memory limit"),
          ("Killed signal", "the compiler exceeded its time or memory limit"))


def readable(said: str, folder: Path) -> str:
    """Returns the message in readable form, without the path of `folder`, which means nothing to a
    student."""
    for words, cause in CAUSES:
        if words in said:
            return cause
    kept: list[str] = []
    own = of_nvcc = False
    for line in said.splitlines():
        if EXCERPT.match(line) or of_nvcc and line[:1].isspace():
            if own:
                kept.append(line)
            continue
        match = OF_FILE.match(line)
        own = match is not None and is_own(match["file"], folder)
        # Below its message, nvcc prints the source line without a margin such as "12 | ".
        of_nvcc = match is not None and match["nvcc"] is not None
        if own or OF_TOOL.match(line) or match and is_public(match["file"], folder):
            kept.append(without_folders(line, folder))
        elif LEFT_OUT not in kept:
            kept.append(LEFT_OUT)
    return "\n".join(line[:WIDTH] for line in kept)


def with_names(said: str, text: str) -> str:
    """Replaces "the allocation of FILE:LINE" in the tracer's messages by the name of the array
    that this line allocates."""
    lines = text.splitlines()

    def named(match: re.Match[str]) -> str:
        number = int(match["line"])
        found = ALLOCATES.search(lines[number - 1]) if 0 < number <= len(lines) else None
        return f"'{found[1] or found[2]}' (allocated in {match['place']})" if found else match[0]
    return re.sub(r"the allocation of (?P<place>\w+\.cu:(?P<line>\d+))", named, said)


def is_own(file: str, folder: Path) -> bool:
    return "/" not in file.removeprefix(f"{folder}/made/") and file.endswith((".cu", ".cpp"))


def is_public(file: str, folder: Path) -> bool:
    is_of_project = file.startswith(f"{folder}/kit/") and file.endswith((".h", ".cuh"))
    return is_of_project or bool(PUBLIC.match(file))


def without_folders(line: str, folder: Path) -> str:
    for part in ("kit/common/include", "kit/hostcuda/include", "kit", "made"):
        line = line.replace(f"{folder}/{part}/", "")
    return line
