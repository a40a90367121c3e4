"""Lets a program that a build system links with g++ and -lcuda load modules (modules.py), without
-rdynamic: makes a shared library that refers to all symbols of hostcuda's library. The linker then
makes those symbols of the program visible. The library itself does nothing."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Iterator

from libraries import ToolError

# An object that refers to this symbol is linked too, because many systems' linkers drop libraries
# to which no object refers (--as-needed).
SYMBOL = "hostcuda_exports"
REFERENCE = (f"extern char* const {SYMBOL}[];\n"
             f"static char* const* const needed __attribute__((used)) = {SYMBOL};\n")
ROW = re.compile(r"\s*\d+: [0-9a-f]+\s+\S+ (NOTYPE|OBJECT|FUNC|TLS|LOOS\S*|IFUNC|UNIQUE)\s+"
                 r"(?:GLOBAL|WEAK|UNIQUE)\s+DEFAULT\s+(?!UND)\S+ ([^\s@]+)$", re.M)


def symbols(archive: str) -> Iterator[tuple[str, bool]]:
    """Yields (name, whether it is thread-local) for each symbol that the archive defines."""
    listed = subprocess.run(["readelf", "-sW", archive], stdout=subprocess.PIPE, text=True,
                            check=False)
    if listed.returncode:
        raise ToolError(f"readelf cannot read {archive}; it belongs to binutils")
    yield from sorted({(row[2], row[1] == "TLS") for row in ROW.finditer(listed.stdout)})


def source_of(archive: str) -> str:
    """Returns a C file with a weak reference to each symbol. A program lacks those symbols of the
    archive that it does not need."""
    declared, data, code = [], [], []
    for number, (name, is_tls) in enumerate(symbols(archive)):
        declared.append(f"extern {'__thread ' if is_tls else ''}char s{number} "
                        f'__asm__("{name}") __attribute__((weak));')
        if is_tls:
            code.append(f"char* hostcuda_tls_{number}(void) {{ return &s{number}; }}")
        else:
            data.append(f"&s{number}")
    return "\n".join([*declared, f"char* const {SYMBOL}[] = {{{', '.join(data)}}};", *code, ""])


def make(archive: str, folder: Path, compiler: str) -> list[str]:
    """Writes the library and the object to the folder unless they are newer than the archive.
    Returns their paths."""
    made = folder / "hostcuda_exports.o", folder / "libhostcuda_exports.so"
    newest = Path(archive).stat().st_mtime
    if not all(file.exists() and file.stat().st_mtime >= newest for file in made):
        compile_c(compiler, REFERENCE, "-c", made[0])
        compile_c(compiler, source_of(archive), "-shared", made[1])
    return [str(file) for file in made]


def compile_c(compiler: str, source: str, option: str, output: Path) -> None:
    ended = subprocess.run([compiler, "-x", "c", "-fPIC", "-w", option, "-", "-o", output],
                           input=source, text=True, stderr=subprocess.PIPE, check=False)
    if ended.returncode:
        raise ToolError(f"{output}: {compiler} cannot make it: {ended.stderr.strip()[-200:]}")
