#!/usr/bin/env python3
"""Tests which programs are reported as copies: similarity_test.py

Copies of references, of this repository's code and of the programs in this folder must be reported.
A program that a student developed from a lesson must be reported as using the lesson. Programs that
students wrote from the statement alone must not be reported.

If copydetect is not installed, pip installs it in the current folder; exits with code 77 if pip
cannot.
"""
import os
import re
import sys
import tempfile
from pathlib import Path

from nbody_tools.arguments import ROOT
from nbody_tools.assignments import similarity
from nbody_tools.assignments.family import families
from nbody_tools.labs.cpp_text import without_comments
from tests.environments import python_with

HERE = Path(__file__).resolve().parent
MOST_COPIES = 16
WORDS = re.compile(r"\b(?!struct|const|int|float|for|if|return|void|kernel)[a-z_]{4,}\b")


def renamed(text):
    """Renames what a student would rename, removes comments and adds blank lines."""
    kept = set(re.findall(r"assignment|bodies|result|solve|static_cast|constexpr|namespace|sizeof|"
                          r"unsigned|size_t|systems|count|position|velocity|mass|template|typename|"
                          r"break|continue|while|else|float4|float3|int4|auto|bool|true|false|"
                          r"reinterpret_cast|x|y|z|w|nullptr", text))
    text = without_comments(text)
    return WORDS.sub(lambda m: m[0] if m[0] in kept or m[0].startswith(("cuda", "__", "atomic"))
                     else f"my_{m[0][::-1]}", text).replace(";\n", ";\n\n")


def swapped(text):
    """Reverses the order of the functions, except for the first and the last part of the file."""
    parts = re.split(r"(?<=\n}\n)\n", text)
    return "\n".join([parts[0], *reversed(parts[1:-1]), parts[-1]])


def compare(texts, others):
    """Finds, for each text, the file among `others` that is most similar to the text."""
    files = {}
    for key, text in texts.items():
        files[key] = folder / f"{len(list(folder.iterdir()))}.cu"
        files[key].write_text(text, encoding="utf-8")
    return similarity.matches(files, others)


if similarity.python_with_copydetect() is None:
    if (python := python_with("copydetect", Path("copydetect-python"))) is None:
        sys.exit(77)
    os.environ["PYTHON"] = python
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    copies, own, lessons = {}, {}, {}
    for family in families():
        for k, change in enumerate((str, renamed, swapped)):
            variant = family.variants[7 * k + 3]
            copies[f"{change.__name__} {variant.name}"] = change(variant.reference)
    for step in ("step03_tiling", "step12_newton3"):
        text = (ROOT / step / "nbody.cu").read_text(encoding="utf-8")
        copies[f"renamed {step}"] = renamed(text)
    # Several attempts at one variant (VARIANT.NAME.cu) share code, so only one of them is compared.
    for file in sorted(HERE.glob("attempts/*/*.cu")):
        own.setdefault(f"attempt {file.name.partition('.')[0]}", file.read_text(encoding="utf-8"))
        if len(copies) < MOST_COPIES:
            copies[f"renamed {file.relative_to(ROOT)}"] = renamed(file.read_text(encoding="utf-8"))
    for file in sorted(HERE.glob("lessons/*.cu")):
        lessons[f"lesson {file.stem}"] = file.read_text(encoding="utf-8")
    solutions = folder / "solutions"
    solutions.mkdir()
    compared = similarity.others(solutions)
    found = compare(copies, compared)
    # The attempts are among the files that a copy is compared with.
    found += compare(own | lessons, {name: file for name, file in compared.items()
                                     if not name.startswith(str(HERE.relative_to(ROOT)))})
problems = []
for match in found:
    print(f"{match.submission}: {match.share:.2f} {match.other}")
    is_copy = match.submission in copies
    verdict = similarity.COPY if is_copy else \
        similarity.LESSON if match.submission in lessons else ""
    if similarity.verdict_on(match, similarity.SUSPICIOUS) != verdict:
        problems.append(f"{match.submission} shares {match.share:.2f} with {match.other}")
    source = match.submission.partition(" ")[2]
    if is_copy and source not in match.other and source.partition("-")[0] not in match.other:
        problems.append(f"{match.submission} was taken for {match.other}")
sys.exit("\n".join(problems) if problems else 0)
