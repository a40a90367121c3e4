"""Finds hostcuda's libraries. If the tool runs from its source folder, builds them first."""
import contextlib
import fcntl
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator, Sequence, Union

HOME = Path(__file__).resolve().parents[1]  # hostcuda's folder, or share/hostcuda if installed
INCLUDES = (HOME / "include", HOME / "include" / "names", HOME / "cublas" / "include")
PLAIN, ASAN, TRACED, COUNTED = "plain", "asan", "traced", "counted"
FLAGS = {
    PLAIN: [],
    ASAN: ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"],
    TRACED: [
        "-O2",
        "-g1",
        "-gdwarf-4",
        "-fsanitize=thread,bounds,signed-integer-overflow",
        "--param=tsan-distinguish-volatile=1",
        "-fno-tree-vectorize",
        "-fno-tree-slp-vectorize",
        "-fno-optimize-sibling-calls",
        "-Wno-tsan",
        "-DHOSTCUDA_TRACE=1",
        # Copy by calls, which hostcuda_trace sees, instead of by instructions.
        *(["-mstringop-strategy=libcall"] if platform.machine() in ("x86_64", "AMD64") else []),
    ],
    COUNTED: [],
}
NAMES = {PLAIN: ["cublas", ""], ASAN: ["cublas", "asan"], TRACED: ["trace", "cublas", ""],
         COUNTED: ["count", "cublas", ""]}


class ToolError(Exception):
    """An error to show to the user as a one-line message."""


def is_installed() -> bool:
    return not (HOME / "CMakeLists.txt").exists()


def build_folder() -> Path:
    """Returns the folder build/hostcuda in the project that contains hostcuda, or in hostcuda
    itself if it stands alone."""
    around = HOME.parent
    return (around if (around / "CMakePresets.json").exists() else HOME) / "build" / "hostcuda"


def run_quietly(words: Sequence[Union[str, Path]]) -> None:
    ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False)
    if ended.returncode:
        sys.stderr.write(ended.stdout[-4000:])
        raise ToolError(f"'{' '.join(map(str, words))}' failed")


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Holds a lock: `make -j` starts several compilations, of which only one builds the
    libraries."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "hostcuda.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_libraries(variant: str, folder: Path) -> None:
    if not (folder / "CMakeCache.txt").exists():
        print("hostcuda: building its libraries, once ...", file=sys.stderr)
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        ccache = shutil.which("ccache")
        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}"] if ccache else []
        run_quietly(["cmake", "-S", HOME, "-B", folder, *generator, *launcher,
                     "-DBUILD_TESTING=OFF", f"-DPython3_EXECUTABLE={sys.executable}"])
    run_quietly(["cmake", "--build", folder, "--target", f"hostcuda_{variant}_libraries",
                 "--parallel", str(os.cpu_count() or 1)])


def libraries(variant: str) -> list[str]:
    """Returns the files to link for a variant, in order. Builds them first if the tool is not
    installed."""
    if is_installed():
        folder = HOME.parents[1] / "lib"
    else:
        folder = build_folder()
        with one_at_a_time(folder):
            build_libraries(variant, folder)
        folder = folder / "lib"
    parts = (f"_{name}" if name else "" for name in NAMES[variant])
    files = [folder / f"libhostcuda{part}.a" for part in parts]
    missing = [str(file) for file in files if not file.exists()]
    if missing:
        raise ToolError(f"hostcuda's library {missing[0]} is missing")
    return [str(file) for file in files]


def link_options(variant: str) -> list[str]:
    sanitizer = FLAGS[variant] if variant == ASAN else []
    wrapped = ["-Wl,--wrap=memcpy,--wrap=memmove"] if variant == TRACED else []
    others = ["-lboost_context", "-lopenblas", "-fopenmp", "-pthread"]
    return [*sanitizer, *wrapped, *libraries(variant), *others]
