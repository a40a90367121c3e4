"""Finds hostcuda's libraries, and builds them first if hostcuda runs from its source folder."""
import contextlib
import fcntl
import os
import platform
import re
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
        # The compiler then copies memory with library calls, which hostcuda_trace sees, and not
        # with inline instructions.
        *(["-mstringop-strategy=libcall"] if platform.machine() in ("x86_64", "AMD64") else []),
    ],
    COUNTED: [],
}
NAMES = {PLAIN: [""], ASAN: ["asan"], TRACED: ["trace", ""], COUNTED: ["count", ""]}
LOCK = "hostcuda.lock"  # a file in the build folder
CUBLAS_NEEDS_OPENBLAS = ("the program calls cuBLAS, which hostcuda emulates with OpenBLAS: install "
                         "it (Debian, Ubuntu: libopenblas-dev)")


class ToolError(Exception):
    """An error to show to the user as a one-line message."""


# Functions whose calls the linker replaces in a traced program; trace/CMakeLists.txt has the same
# list.
WRAPPED = ("memcpy", "memmove", "free", "realloc", "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm")


def version() -> str:
    """Returns hostcuda's version, which CMakeLists.txt sets."""
    config = HOME.parents[1] / "lib" / "cmake" / "hostcuda" / "hostcudaConfigVersion.cmake"
    file = config if is_installed() else HOME / "CMakeLists.txt"
    found = re.search(r"(?:hostcuda VERSION |PACKAGE_VERSION \")([0-9.]+)",
                      file.read_text(encoding="utf-8"))
    return found[1] if found else "of unknown version"


def is_installed() -> bool:
    return not (HOME / "CMakeLists.txt").exists()


def build_folder() -> Path:
    """Returns the folder build/hostcuda in the repository that contains hostcuda/, or in hostcuda/
    itself if there is no such repository."""
    around = HOME.parent
    return (around if (around / "CMakePresets.json").exists() else HOME) / "build" / "hostcuda"


def run_quietly(words: Sequence[Union[str, Path]]) -> None:
    try:
        ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               check=False)
    except OSError as error:
        raise ToolError(f"{words[0]}: {error.strerror}") from None
    if ended.returncode:
        sys.stderr.write(ended.stdout[-4000:])
        raise ToolError(f"'{' '.join(map(str, words))}' failed")


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Holds a lock while the `with` statement runs. `make -j` starts several compilations, but only
    one of them at a time may build the libraries."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def forget_another_place(folder: Path) -> None:
    """Empties the build folder if it was configured under another name, because CMake rejects it
    after the clone was moved or copied."""
    cache = folder / "CMakeCache.txt"
    if not cache.exists():
        return
    entries = re.findall(r"^CMAKE_(?:HOME_DIRECTORY|CACHEFILE_DIR):INTERNAL=(.*)$",
                         cache.read_text(encoding="utf-8", errors="replace"), re.M)
    if {os.path.realpath(entry) for entry in entries} == {str(HOME), os.path.realpath(folder)}:
        return
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()


def build_libraries(variant: str, folder: Path) -> None:
    forget_another_place(folder)
    if not (folder / "CMakeCache.txt").exists():
        print("hostcuda: building its libraries, once ...", file=sys.stderr)
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        ccache = shutil.which("ccache")
        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}"] if ccache else []
        run_quietly(["cmake", "-S", HOME, "-B", folder, *generator, *launcher,
                     "-DBUILD_TESTING=OFF", f"-DPython3_EXECUTABLE={sys.executable}"])
    run_quietly(["cmake", "--build", folder, "--target", f"hostcuda_{variant}_libraries",
                 "--parallel", str(os.cpu_count() or 1)])


def library_folder() -> Path:
    return HOME.parents[1] / "lib" if is_installed() else build_folder() / "lib"


def libraries(variant: str) -> list[str]:
    """Returns the files to link for a variant, in link order. Builds them first if hostcuda is not
    installed."""
    if not is_installed():
        with one_at_a_time(build_folder()):
            build_libraries(variant, build_folder())
    parts = (f"_{name}" if name else "" for name in NAMES[variant])
    files = [library_folder() / f"libhostcuda{part}.a" for part in parts]
    missing = [str(file) for file in files if not file.exists()]
    if missing:
        raise ToolError(f"hostcuda's library {missing[0]} is missing")
    return [str(file) for file in files]


def cublas() -> Union[str, None]:
    """Returns hostcuda's cuBLAS library, or None if OpenBLAS is not installed. The
    function libraries() builds this library, so call libraries() first."""
    file = library_folder() / "libhostcuda_cublas.a"
    return str(file) if file.exists() else None


def calls_cublas(files: Sequence[str]) -> bool:
    """True if one of these objects or archives contains the name of a function of cuBLAS."""
    for file in files:
        try:
            if b"cublas" in Path(file).read_bytes():
                return True
        except OSError:  # the linker reports a file that cannot be read
            continue
    return False


def cublas_options(compiler: str) -> list[str]:
    """Returns the options that link a program with cuBLAS, or [] if OpenBLAS is not installed."""
    shared = "libopenblas.so"  # the compiler prints the path, or only this name if it finds no file
    found = subprocess.run([compiler, f"-print-file-name={shared}"], stdout=subprocess.PIPE,
                           text=True, check=False).stdout.strip()
    file = cublas()
    return [file, "-lopenblas"] if file and found != shared else []


def context_library() -> str:
    """Returns the Boost.Context library to link: the one in pip's package, or the system's."""
    own = library_folder() / "libboost_context.a"
    return str(own) if is_installed() and own.exists() else "-lboost_context"


def link_options(variant: str, compiler: str, inputs: Sequence[str], asks: bool,
                 exports: bool = False) -> list[str]:
    """Returns the linker's arguments that follow `inputs`, the program's own objects and archives.
    asks: True if the command line contains -lcublas. Then the program is linked with cuBLAS even if
    no input calls cuBLAS, because another library on the command line may call it. exports: True if
    the program may load modules, which use its copy of hostcuda's libraries (modules.py)."""
    sanitizer = FLAGS[variant] if variant == ASAN else []
    wrapped = [f"-Wl,--wrap={name}" for name in WRAPPED] if variant == TRACED else []
    *first, core = libraries(variant)
    calls = calls_cublas(inputs)
    blas = cublas_options(compiler) if calls or asks else []
    if calls and not blas:
        raise ToolError(CUBLAS_NEEDS_OPENBLAS)
    if exports:  # a module may need parts of the libraries that the program itself does not need
        first = ["-Wl,--whole-archive", *first, "-Wl,--no-whole-archive"] if first else []
        wrapped.append("-rdynamic")
    return [*sanitizer, *wrapped, *first, *blas[:1], core, context_library(), *blas[1:],
            "-fopenmp", "-pthread", "-ldl"]
