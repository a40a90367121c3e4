"""Finds what a submission may use: the project's functions that its step or the headers call, and
the files that the headers open. Reads the functions from the step's own object file, so that no
list can become outdated. That file is compiled without optimization and with all inline functions
of the headers, because a submission may use a function that its step does not use. The result is
cached next to the grader's programs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Iterator

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.labs.building import HEADERS, PLAIN, DoesNotCompile, Tools, Workshop
from nbody_tools.labs.lab import Lab
from nbody_tools.labs.object_file import names_called, symbols
from nbody_tools.labs.rules import allowed_includes

EVERYTHING = ["-O0", "-fkeep-inline-functions"]


@dataclass(frozen=True)
class Uses:
    names: list[str]  # in namespace nbody
    files: list[str]  # as returned by Workshop.opened()


def uses_of_step(tools: Tools, lab: Lab) -> Uses:
    """Returns the names that the lab's step or a header calls, and the files that headers open."""
    kept = Path(tools.judge).parent / f"{lab.step}-{fingerprint(tools, lab)}.uses.json"
    try:
        return Uses(**json.loads(kept.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        uses = compiled_uses(tools, lab)
    try:
        arguments.write_whole_file(kept, json.dumps(asdict(uses), indent=1))
    except ToolError:
        pass  # the folder is read-only; the next grading compiles again
    return uses


def compiled_uses(tools: Tools, lab: Lab) -> Uses:
    """Compiles the step twice: with EVERYTHING to find the names, and with only a submission's
    flags to find the files, because some headers depend on the optimization level."""
    with compiled(replace(tools, flags=[*tools.flags, *EVERYTHING]), lab) as workshop:
        called = names_called(symbols(workshop, [workshop.made / f"{PLAIN}.o"]))
    with compiled(tools, lab) as workshop:
        opened = workshop.opened(PLAIN)
    return Uses(sorted(name for name in called if name.startswith("nbody::")), sorted(opened))


@contextlib.contextmanager
def compiled(tools: Tools, lab: Lab) -> Iterator[Workshop]:
    """Compiles the step; yields its workshop, which exists only inside the `with` block."""
    with tempfile.TemporaryDirectory(prefix="nbody-step-") as name:
        workshop = Workshop(Path(name), tools, lab.headers)
        workshop.add(lab.file_name, text_of(lab))
        try:
            workshop.compile_for_cpu(lab.file_name, PLAIN)
        except DoesNotCompile as error:
            raise ToolError(f"{lab.source}: the step itself does not compile:\n{error}") from error
        yield workshop


def text_of(lab: Lab) -> str:
    """Returns the step's text after an #include of every header that a submission may include."""
    includes = "".join(f"#include <{name}>\n" for name in sorted(allowed_includes(lab)))
    return includes + lab.step_text


def fingerprint(tools: Tools, lab: Lab) -> str:
    """Returns a hash of everything that the result depends on."""
    read = hashlib.sha256(repr((tools.compiler, tools.flags, EVERYTHING, text_of(lab))).encode())
    headers = [file for part in HEADERS for file in (ROOT / part).rglob("*.h")]
    for file in sorted([*headers, *lab.headers]):
        read.update(file.read_bytes())
    return read.hexdigest()[:16]
