#!/usr/bin/env python3
"""Tests hostcuda's device functions with a C library that declares functions with the same names.

    c_library_test.py COMPILER

Reads the device functions from hostcuda's own headers, so that no function can be forgotten. The
test writes its own <math.h>, which the compiler finds before the system's. This header declares
each of the functions as a C library would. Every call of these functions must still compile.
"""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HOSTCUDA = Path(__file__).resolve().parents[1]
INCLUDE = HOSTCUDA / "include"
PROGRAM = "#include <cuda_runtime.h>\n"
COMPILER = "c++"
OPTIONS = ("-std=c++20", f"-I{INCLUDE}", f"-I{INCLUDE}/names")

MARKER = re.compile(r'# \d+ "([^"]*)"')
BLOCK = re.compile(r"\{[^{}]*\}")
FUNCTION = re.compile(r"(?P<words>[\w\s*<>=&:]+?)\b(?P<name>[A-Za-z_]\w*)\s*"
                      r"\((?P<parameters>[^()]*)\)\s*\{\}")
BUILT_IN = re.compile(r"(?:const|unsigned|signed|char|short|int|long|float|double|void|\s|\*)+")
NO_TYPES = re.compile(r"template\s*<class = void>|\b(?:static|inline|constexpr)\b")


def preprocessed():
    """Returns the preprocessed text of hostcuda's headers, without the system's headers."""
    text = subprocess.run([COMPILER, *OPTIONS, "-x", "c++", "-E", "-"], input=PROGRAM,
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    kept, ours = [], False
    for line in text.splitlines():
        if marker := MARKER.match(line):
            ours = marker[1].startswith(str(INCLUDE))
        elif ours:
            kept.append(line)
    return "\n".join(kept)


def without_defaults(parameters):
    """Splits parameters: 'int a, const char* file = __builtin_FILE' -> ['int', 'const char*']"""
    types = []
    for parameter in filter(str.strip, parameters.split(",")):
        declared = parameter.partition("=")[0].strip()
        types.append(re.sub(r"(?<=[\s*])[A-Za-z_]\w*$", "", declared).strip()
                     if not BUILT_IN.fullmatch(declared) else declared)
    return types


def device_functions():
    """Yields (result, name, parameter types) of each global function whose types are not hostcuda's
    own, because a C library could declare such a function, too. Excludes the runtime API, which
    consists of C functions with NVIDIA's names."""
    text = re.sub(r"__builtin_(?:FILE|LINE)\(\)|__attribute__\(\(.*?\)\)", "", preprocessed())
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    while BLOCK.search(text.replace("{}", "")):
        text = re.sub(r"\{(?:[^{}]|\{\})+\}", "{}", text)
    for match in FUNCTION.finditer(re.sub(r"\bnamespace\b[^{}]*\{\}", ";", text)):
        result = " ".join(NO_TYPES.sub(" ", match["words"]).split())
        types = without_defaults(match["parameters"])
        if not match["name"].startswith("cuda") and all(map(BUILT_IN.fullmatch, [result, *types])):
            yield result, match["name"], types


class CLibraryTest(unittest.TestCase):
    maxDiff = None

    def test_functions_of_both_do_not_clash(self):
        functions = list(device_functions())
        names = {name for _, name, _ in functions}
        # Checks that the search finds functions from each header and in each form of declaration.
        for name in ("sinpif", "rsqrt", "__popc", "max", "umin", "__fadd_rd", "atomicAdd",
                     "__syncthreads", "__trap", "clock64"):
            self.assertIn(name, names)
        declared, calls, seen = [], [], set()
        for result, name, types in functions:
            # C has no overloads, so only the first function of each name is declared as extern "C".
            language = "" if name in seen else 'extern "C" '
            seen.add(name)
            declared.append(f"{language}{result} {name}({', '.join(types)}) noexcept;")
            arguments = ", ".join(f"Any<{one}>()" for one in types)
            calls.append(f"  static_cast<void>({name}({arguments}));")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "math.h").write_text("\n".join(
                ["#pragma once", "#include_next <math.h>", *declared, ""]))
            program = Path(folder, "calls.cpp")
            program.write_text("\n".join(
                [PROGRAM, "template <class T> T Any();", "void calls() {", *calls, "}", ""]))
            done = subprocess.run(
                [
                    COMPILER,
                    *OPTIONS,
                    "-fsyntax-only",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-isystem",
                    folder,
                    program,
                ],
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        self.assertEqual((0, ""), (done.returncode, done.stderr))


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main(verbosity=0)
