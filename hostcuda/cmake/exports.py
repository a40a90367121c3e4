#!/usr/bin/env python3
"""Lets a program that a build system links with g++ and -lcuda load modules (launcher/modules.py)
without -rdynamic: makes a shared library that refers to all symbols of hostcuda's library, so that
the linker makes these symbols of the program visible.

    exports.py ARCHIVE FOLDER COMPILER

The folder gets libhostcuda_exports.so, and hostcuda_exports.o, which refers to it: many systems'
linkers drop libraries to which no object refers (--as-needed).
"""
import re
import subprocess
import sys
from pathlib import Path

EXPORTS = "hostcuda_exports"
REFERENCE = (f"extern char* const {EXPORTS}[];\n"
             f"static char* const* const needed __attribute__((used)) = {EXPORTS};\n")
SYMBOL = re.compile(r"\s*\d+: [0-9a-f]+\s+\S+ (NOTYPE|OBJECT|FUNC|TLS|LOOS\S*|IFUNC|UNIQUE)\s+"
                    r"(?:GLOBAL|WEAK|UNIQUE)\s+DEFAULT\s+(?!UND)\S+ ([^\s@]+)$", re.M)


def symbols(archive):
    """Yields (name, whether it is thread-local) for each symbol that the archive defines."""
    listed = subprocess.run(["readelf", "-sW", archive], stdout=subprocess.PIPE, text=True,
                            check=True)
    yield from sorted({(row[2], row[1] == "TLS") for row in SYMBOL.finditer(listed.stdout)})


def source_of(archive):
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
    return "\n".join([*declared, f"char* const {EXPORTS}[] = {{{', '.join(data)}}};", *code, ""])


def compile_c(compiler, source, option, output):
    subprocess.run([compiler, "-x", "c", "-fPIC", "-w", option, "-", "-o", output], input=source,
                   text=True, check=True)


def main(archive, folder, compiler):
    compile_c(compiler, REFERENCE, "-c", Path(folder) / "hostcuda_exports.o")
    # Without a soname, programs find the library by its path.
    compile_c(compiler, source_of(archive), "-shared", Path(folder) / "libhostcuda_exports.so")


if __name__ == "__main__":
    main(*sys.argv[1:])
