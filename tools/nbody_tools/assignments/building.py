"""Builds a submission of an assignment: links the submission with a harness
(tools/sandbox/assignment_harness.cu), which calls only one function of the submission, solve().

The harness does not depend on the submission, so its object files are kept next to the grader's
programs, together with the names of the files that the allowed headers open.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.assignments.family import FILE_NAME, HEADER_NAME, Variant
from nbody_tools.assignments.messages import call_refused
from nbody_tools.labs.building import HEADERS, PLAIN, TRACED, DoesNotCompile, Tools, Workshop
from nbody_tools.labs.object_file import names_called, symbols
from nbody_tools.labs.rules import (INCLUDES, broken_by_calls, broken_by_definitions,
                                    broken_by_files, symbols_of_both)

SOURCES = ROOT / "tools" / "sandbox"
HARNESS = "assignment_harness"
ENTRY = "_Z5solve"  # beginning of the mangled name of solve(); its parameters follow
BOTH = (PLAIN, TRACED)
FACTS = "facts.json"  # files that the harness includes, and the function that it calls
# These functions copy rows from and to any places in memory, so they could do a program's task. A
# node of a graph may be such a copy.
COPIES_OF_ROWS = re.compile(r"cudaMemcpy[23]D|cudaGraphNodeParams")


class BreaksRule(Exception):
    """Says in one line why a submission is not run."""


def build(variant: Variant, text: str, workshop: Workshop) -> dict[str, Path]:
    """Builds the plain and the traced program. Raises BreaksRule or DoesNotCompile."""
    harness = harness_of(variant, workshop.tools)
    workshop.add(HEADER_NAME, variant.header)
    workshop.add(FILE_NAME, text)
    workshop.compile_both(FILE_NAME)
    of_harness = json.loads((harness / FACTS).read_text(encoding="utf-8"))
    known = {FILE_NAME, *of_harness["opened"]}
    own = symbols_of_both(workshop)
    broken = (broken_by_files(workshop, known) or broken_by_calls(own, ())
              or broken_by_definitions(workshop, own))
    if broken:
        raise BreaksRule(call_refused(broken, text))
    if copies := next(filter(COPIES_OF_ROWS.search, names_called(own[PLAIN])), ""):
        name = copies.partition("(")[0]
        raise BreaksRule(f"{name} is not allowed; copy with kernels or cudaMemcpy")
    entry = of_harness["entry"]
    if ("T", entry) not in own[PLAIN]:
        raise DoesNotCompile("it does not define the function that assignment.h declares: "
                             f"{variant.family.module.signature(variant.choice)}")
    objects: dict[str, Path] = {}
    for one in BOTH:
        objects[one] = workshop.made / f"{HARNESS}.{one}.o"
        shutil.copyfile(harness / f"{one}.o", objects[one])
        objects[one].chmod(0o644)
    return workshop.link_both(entry, {one: (file.name,) for one, file in objects.items()})


def harness_of(variant: Variant, tools: Tools) -> Path:
    """Returns the folder with the harness of a variant; builds it if it is missing."""
    folder = Path(tools.judge).parent / "assignments" / fingerprint(variant, tools)
    if (folder / FACTS).is_file():
        return folder
    with tempfile.TemporaryDirectory(prefix="nbody-harness-") as name:
        workshop = Workshop(Path(name), tools, ())
        add_harness(variant, workshop)
        with ThreadPoolExecutor(2) as pool:
            try:
                made = list(pool.map(
                    lambda one: workshop.compile_for_cpu(f"{HARNESS}.cu", one), BOTH))
            except DoesNotCompile as error:
                raise ToolError(f"{variant.name}: the harness does not compile:\n"
                                f"{error}") from error
        called = symbols(workshop, [workshop.made / f"{PLAIN}.o"])
        facts = {"opened": sorted(workshop.opened(PLAIN)),
                 "entry": next(name for _, name in called if name.startswith(ENTRY))}
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as fresh:
            for one, file in zip(BOTH, made):
                shutil.copyfile(file, Path(fresh) / f"{one}.o")
            (Path(fresh) / FACTS).write_text(json.dumps(facts), encoding="utf-8")
            Path(fresh).chmod(0o755)
            try:
                os.rename(fresh, folder)
                Path(fresh).mkdir()  # so that the `with` block has a folder to remove
            except OSError:
                pass  # another process has built it meanwhile
    return folder


def add_harness(variant: Variant, workshop: Workshop) -> None:
    includes = "".join(f"#include <{name}>\n" for name in sorted(INCLUDES))
    workshop.add(HEADER_NAME, variant.header)
    workshop.add("glue.inc", variant.glue)
    workshop.add("refuse_exec.h", (SOURCES / "refuse_exec.h").read_text(encoding="utf-8"))
    text = (SOURCES / f"{HARNESS}.cu").read_text(encoding="utf-8")
    workshop.add(f"{HARNESS}.cu", includes + text)


def fingerprint(variant: Variant, tools: Tools) -> str:
    """Returns a hash of everything that the harness depends on."""
    read = hashlib.sha256(repr((tools.compiler, tools.flags, variant.header, variant.glue,
                                sorted(INCLUDES), FACTS)).encode())
    headers = [file for part in HEADERS for file in (ROOT / part).rglob("*.*h")]
    for file in (*sorted(headers), SOURCES / f"{HARNESS}.cu", SOURCES / "refuse_exec.h"):
        read.update(file.read_bytes())
    return read.hexdigest()[:16]
