"""Builds a submission: for the CPU through hostcuda, plain and with its accesses traced, and with nvcc.

CMake leaves the compiler, the flags and the libraries in grade.json (tools/grade/CMakeLists.txt).
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from nbody_tools.arguments import ROOT, ToolError

sys.path.insert(0, str(ROOT / "hostcuda" / "launcher"))
from libraries import FLAGS, PLAIN, TRACED  # noqa: E402

LAUNCHER = ROOT / "hostcuda" / "launcher" / "hostcudacc.py"
CPU_SECONDS, SECONDS = 60, 600  # for a compilation, of which none takes five; and of waiting for it
GIGABYTES = 4
COMMON = ["-std=c++20", '-DNBODY_FLAGS=""']
LINKED = ["-lboost_context", "-lopenblas", "-fopenmp", "-pthread"]
WRAPPED = "-Wl,--wrap=memcpy,--wrap=memmove"


class DoesNotCompile(Exception):
    """With what the compiler said."""


@dataclass(frozen=True)
class Tools:
    """What a build folder offers."""
    compiler: str
    cuda: bool
    include: list[str]
    flags: list[str]
    architectures: list[str]
    libraries: dict[str, list[str]]
    judge: str
    sandbox: str


def read_tools(build: Path) -> Tools:
    file = build / "grade.json"
    try:
        return Tools(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ToolError(f"{file}: {error}: build the target grade_tools first; ./nbody grade does") from error


def limit_compiler() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def call(words: list[str], folder: Path, **more: Any) -> None:
    """In the folder, so that messages name the file and not where it lies."""
    try:
        ended = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=SECONDS, text=True, errors="replace", check=False,
                               **more)
    except subprocess.TimeoutExpired:
        raise DoesNotCompile(f"the compiler took more than {SECONDS} s") from None
    if ended.returncode:
        raise DoesNotCompile(ended.stdout.replace(f"{folder}/", "").replace(f"{ROOT}/", "")
                             or f"the compiler ended with {ended.returncode}")


def compile_for_cpu(tools: Tools, folder: Path, source: str, variant: str) -> Path:
    """The object file; the text is rewritten by hostcuda's launcher."""
    made = folder / f"{variant}.o"
    include = [f"-I{path}" for path in (*tools.include, ROOT / "hostcuda" / "cublas" / "include")]
    flags = [*tools.flags, *(FLAGS[TRACED] if variant == TRACED else [])]
    call([sys.executable, str(LAUNCHER), tools.compiler, *COMMON, *include, *flags, "-fopenmp", "-c", source, "-o",
          made.name], folder, preexec_fn=limit_compiler)
    return made


def link_for_cpu(tools: Tools, folder: Path, variant: str) -> Path:
    program = folder / variant
    call([tools.compiler, f"{variant}.o", *tools.libraries[variant], *([WRAPPED] if variant == TRACED else []),
          *LINKED, "-o", program.name], folder)
    return program


def compile_both(tools: Tools, folder: Path, source: str) -> Path:
    """The plain object file; the two are compiled at the same time."""
    with ThreadPoolExecutor(2) as pool:
        plain, traced = (pool.submit(compile_for_cpu, tools, folder, source, variant) for variant in (PLAIN, TRACED))
        plain.result(), traced.result()
    return folder / f"{PLAIN}.o"


def link_both(tools: Tools, folder: Path) -> dict[str, Path]:
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((PLAIN, TRACED), pool.map(lambda variant: link_for_cpu(tools, folder, variant),
                                                  (PLAIN, TRACED))))


def build_for_gpu(tools: Tools, folder: Path, source: str, step: str, name: str) -> Path:
    """As nvcc builds the step: with the flags in the step's CMakeLists.txt."""
    program = folder / name
    recipe = (ROOT / step / "CMakeLists.txt").read_text(encoding="utf-8")
    flags = re.search(r"CUDA_FLAGS((?: -[^\s)]+)+)", recipe)
    architectures = ["-arch=native"] if tools.architectures == ["native"] else [
        f"-gencode=arch=compute_{one},code=sm_{one}" for one in tools.architectures]
    call([tools.compiler, *COMMON, "-O3", *(flags[1].split() if flags else []), *architectures,
          *(f"-I{path}" for path in tools.include), "-Xcompiler=-fopenmp", source, *tools.libraries["plain"],
          "-lcublas", "-o", program.name], folder)
    return program


def has_gpu() -> bool:
    if not shutil.which("nvidia-smi"):
        return False
    listed = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            check=False)
    return listed.stdout.startswith("GPU ")


def gpu_tools(build: Optional[Path]) -> Optional[Tools]:
    """Of the build folder of nvcc, where there is one and a GPU."""
    return read_tools(build) if build is not None and has_gpu() else None
