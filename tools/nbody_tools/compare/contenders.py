"""The programs of a comparison: our steps, third-party kernels from the user's folders, and Python
packages.

All programs accept the same options (--input, --steps, --dt, --softening, --repeat, --warmup,
--output, --json). No third-party code is part of this repository; the drivers in benchmarks/
include it from the user's folders.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional, Sequence

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.compare.bodies import NEWTON, PLUMMER
from nbody_tools.steps import find_steps

FIRST_OF_OURS = "10"
DRIVERS = ROOT / "benchmarks"
SAMPLE_BLOCKS = (256, 512)
SAMPLE_FLAGS = {"": (), "_ftz": ("-ftz=true",), "_double": ("-DREAL=double",)}
IN_DOUBLE = ("11", "12")  # our steps that are also compared in float64
KTT_SHAPES = (
    (256, 1, 1),
    (256, 1, 2),
    (128, 1, 4),
    (64, 8, 2),
    (32, 16, 1),
)  # (threads in x, threads in y, bodies per thread)
PYTHON = {
    "torch": ("torch_peer", ()),
    "torch_compiled": ("torch_peer", ("--compiled",)),
    "jax": ("jax_peer", ()),
    "cupy": ("cupy_peer", ()),
    "numba": ("numba_peer", ()),
    "warp": ("warp_peer", ()),
    "warp_tiles": ("warp_peer", ("--tiles",)),
    "numpy": ("numpy_peer", ()),
    "pytreegrav": ("pytreegrav_peer", ()),
}


@dataclass(frozen=True)
class Contender:
    name: str
    what: str
    words: tuple[str, ...]  # the command
    ours: bool = False
    law: str = PLUMMER


@dataclass(frozen=True)
class Driver:
    """A contender that nvcc must build first."""

    contender: Contender
    source: str  # in benchmarks/
    words: tuple[str, ...]  # for nvcc

    def build(self, nvcc: str) -> Optional[str]:
        """Compiles the driver. Returns nvcc's first error message, or None if it succeeded."""
        command = [
            nvcc,
            "-std=c++17",
            "-O3",
            "-I",
            str(ROOT / "common" / "include"),
            *self.words,
            "-o",
            self.contender.words[0],
            str(DRIVERS / self.source),
            *(str(ROOT / "common" / "support" / name) for name in ("cuda_failed.cpp", "error.cpp")),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            return f"{nvcc}: {error.strerror}"
        complaint = next(
            (line for line in done.stderr.splitlines() if "error: " in line), done.stderr.strip()
        )
        return None if done.returncode == 0 else f"{nvcc}: {complaint}"


def ours(build: Path) -> Iterator[Contender]:
    for step in find_steps(build):
        if step.number >= FIRST_OF_OURS:
            words = (str(step.program), "--validate", "off", "--quiet")
            yield Contender(step.name, "a step of this repository", words, ours=True)
            if step.number in IN_DOUBLE:
                yield Contender(f"{step.name}_double", "a step of this repository, in float64",
                                (*words, "--precision", "double"), ours=True)


def sample(folder: Path, programs: Path) -> Iterator[Driver]:
    """Yields NVIDIA's sample for each block size, compiled as in its CMakeLists.txt, again with
    denormals flushed to zero, and again in float64."""
    if not (folder / "bodysystemcuda.cu").is_file():
        raise ToolError(f"--sample {folder}: this folder has no bodysystemcuda.cu")
    for block in SAMPLE_BLOCKS:
        for ending, flags in SAMPLE_FLAGS.items():
            name = f"sample{ending}_{block}"
            words = (
                "-lineinfo",
                "--extended-lambda",
                f"-DBLOCK_SIZE={block}",
                *flags,
                "-I",
                str(DRIVERS / "without_opengl"),
                "-I",
                str(folder),
                "-I",
                str(common_of(folder)),
            )
            what = f"CUDA sample nbody, {' '.join(flags) or 'as shipped'}, blocks of {block}"
            yield Driver(Contender(name, what, (str(programs / name),)), "sample.cu", words)


def common_of(folder: Path) -> Path:
    """Returns the folder with the headers that all samples share: Common, in `folder` or in one of
    its parents."""
    for above in (folder, *folder.resolve().parents):
        if (above / "Common" / "helper_cuda.h").is_file():
            return above / "Common"
    raise ToolError(f"--sample {folder}: no Common/helper_cuda.h in it or in a "
                    "parent folder")


def ktt(folder: Path, programs: Path) -> Iterator[Driver]:
    """Yields KTT's kernel in some configurations. The autotuner itself would try more."""
    source = folder / "Nbody.cu"
    if not source.is_file():
        raise ToolError(f"--ktt {folder}: this folder has no Nbody.cu")
    for x, y, bodies in KTT_SHAPES:
        name = f"ktt_{x}x{y}_{bodies}"
        unroll = {"INNER_UNROLL_FACTOR1": 16, "INNER_UNROLL_FACTOR2": bodies}
        values = {
            "WORK_GROUP_SIZE_X": x,
            "WORK_GROUP_SIZE_Y": y,
            "OUTER_UNROLL_FACTOR": bodies,
            **unroll,
            "USE_SOA": 0,
            "LOCAL_MEM": 1,
            "USE_CONSTANT_MEMORY": 0,
            "VECTOR_TYPE": 1,
        }
        # NVRTC, which KTT uses, expands macros in pragmas, but nvcc does not.
        kernel = programs / f"{name}_kernel" / "Nbody.cu"
        kernel.parent.mkdir()
        kernel.write_text(
            re.sub(
                r"(pragma\s+unroll\s+)(INNER_UNROLL_FACTOR\d)",
                lambda found: f"{found[1]}{unroll[found[2]]}",
                source.read_text(encoding="utf-8"),
            ),
            encoding="utf-8",
        )
        words = (
            "-use_fast_math",
            "-I",
            str(kernel.parent),
            *(f"-D{key}={value}" for key, value in values.items()),
        )
        what = f"KTT's n-body example, blocks of {x} x {y}, {bodies} bodies per thread"
        yield Driver(Contender(name, what, (str(programs / name),)), "ktt.cu", words)


def build_all(drivers: Sequence[Driver], nvcc: str) -> list[Optional[str]]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda driver: driver.build(nvcc), drivers))


def packages(device: str) -> Iterator[Contender]:
    for name, (module, words) in PYTHON.items():
        command = (
            sys.executable,
            "-m",
            f"nbody_tools.compare.peers.{module}",
            *words,
            "--device",
            device,
        )
        yield Contender(name, f"{name.replace('_', ', ')}, in Python", command,
                        law=NEWTON if name == "pytreegrav" else PLUMMER)
