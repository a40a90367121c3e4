"""The functions of the project that a submission may call: those that its step and the headers call.

A step's own object file says which they are, so no list of names can fall behind the headers. It is
compiled without optimization and with all inline functions of the headers, because a submission may
use one that its step does not use. The result is kept with the grader's programs.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import replace
from pathlib import Path

from nbody_tools import arguments
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.labs.building import (PLAIN, DoesNotCompile, Tools,
                                        compile_for_cpu)
from nbody_tools.labs.object_file import names_called

HEADERS = ROOT / "common" / "include" / "nbody"
EVERYTHING = ["-O0", "-fkeep-inline-functions"]


def names_of_step(tools: Tools, source: Path) -> frozenset[str]:
    """The names in namespace nbody that the step, or a header that it includes, calls."""
    kept = Path(tools.judge).parent / f"{source.parent.name}-{fingerprint(tools, source)}.names.json"
    try:
        return frozenset(json.loads(kept.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        names = compiled_names(tools, source)
    try:
        arguments.write_whole_file(kept, json.dumps(sorted(names), indent=1))
    except ToolError:
        pass  # a folder that its reader may not write costs the next grading a compilation
    return names


def compiled_names(tools: Tools, source: Path) -> frozenset[str]:
    with tempfile.TemporaryDirectory(prefix="nbody-step-") as name:
        folder = Path(name)
        (folder / source.name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
        whole = replace(tools, flags=[*tools.flags, *EVERYTHING])
        try:
            made = compile_for_cpu(whole, folder, source.name, PLAIN)
        except DoesNotCompile as error:
            raise ToolError(f"{source}: the step itself does not compile:\n{error}") from error
        return frozenset(name for name in names_called(made) if name.startswith("nbody::"))


def fingerprint(tools: Tools, source: Path) -> str:
    """Changes with all that the names depend on."""
    read = hashlib.sha256(repr((tools.compiler, tools.flags, EVERYTHING)).encode())
    for file in (source, *sorted(HEADERS.glob("*.h"))):
        read.update(file.read_bytes())
    return read.hexdigest()[:16]
