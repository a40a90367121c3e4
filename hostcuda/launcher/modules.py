"""Makes modules: the shared libraries that stand for PTX, cubins and fatbins here. A program loads
them with the driver API (src/driver/module.h), which finds a module's kernels and variables by
their names. A module uses the runtime of the program that loads it."""
from __future__ import annotations

import base64
import subprocess
import textwrap
from pathlib import Path
from typing import Sequence

from libraries import ASAN, COUNTED, FLAGS, TRACED, WRAPPED, ToolError

# nvcc's options that make modules, with the suffix of the file.
KINDS = {"-ptx": ".ptx", "-cubin": ".cubin", "-fatbin": ".fatbin"}
PTX = ".ptx"
# PTX must be text without zero bytes, because programs handle it as a string. The lines that start
# with MARK contain the library; src/driver/image.cpp reads them.
MARK = "//= "
HEADER = """//
// hostcuda: this file stands for PTX. It contains a shared library for a CPU, in base64.
//
.version 9.0
.target sm_90
.address_size 64

"""


def compile_flags(is_gcc: bool) -> list[str]:
    """Returns the compiler's options for a module's source. Without the last option of g++, a
    module could not be unloaded."""
    return ["-DHOSTCUDA_MODULE=1", "-fPIC", "-fvisibility=default", "-fno-semantic-interposition",
            *(["-fno-gnu-unique"] if is_gcc else [])]


def output_of(output: str, source: str, kind: str) -> str:
    return output or Path(source).with_suffix(kind).name


def link(compiler: str, module: str, object_file: str, kind: str, variant: str) -> int:
    """Links an object, in a temporary folder, to the module's file and returns an exit code. The
    names of the module hide the program's, and a name that no kernel needs, such as a function of a
    library that only host code calls, may be undefined."""
    if variant == COUNTED:
        raise ToolError("operations cannot be counted in modules: call the kernels with <<<>>>")
    library = object_file + ".so" if kind == PTX else module
    words = [compiler, "-shared", "-Wl,-Bsymbolic", "-Wl,-z,lazy",
             *(FLAGS[variant] if variant == ASAN else []),
             *(f"-Wl,--wrap={name}" for name in WRAPPED if variant == TRACED),
             object_file, "-o", library]
    code = subprocess.run(words, check=False).returncode
    if kind == PTX and code == 0:
        write_ptx(library, module)
    return code


def write_ptx(library: str, output: str) -> None:
    text = base64.b64encode(Path(library).read_bytes()).decode()
    lines = textwrap.wrap(text, 96)
    Path(output).write_text(HEADER + "".join(f"{MARK}{line}\n" for line in lines),
                            encoding="utf-8")


# Names of functions that load modules. A program that calls one of them must export the runtime.
LOADING = (b"cuModuleLoad", b"cuLibraryLoad", b"cuGetProcAddress", b"hostcuda_nvrtc")


def loads_modules(files: Sequence[str]) -> bool:
    """True if one of these objects or archives calls a function that loads modules."""
    for file in files:
        try:
            text = Path(file).read_bytes()
        except OSError:  # the linker reports a file that cannot be read
            continue
        if any(name in text for name in LOADING):
            return True
    return False
