"""Makes a folder that looks like the CUDA toolkit, for build systems that search for it: CMake's
CUDA language and FindCUDAToolkit, and Makefiles that link with g++ and -L$(CUDA_HOME)/lib64
-lcudart.

  toolkit/include   hostcuda's headers          toolkit/bin/nvcc   the replacement for nvcc
  toolkit/lib64     libcudart etc.: linker scripts with the paths of hostcuda's libraries; libcuda
                    and libnvrtc also let the program load modules (EXPORTS)
"""
import hashlib
import os
import shlex
import sys
from pathlib import Path

from libraries import (HOME, INCLUDES, PLAIN, ToolError, build_folder, context_library, cublas,
                       is_installed, libraries, library_folder)

NEEDS = "-lgomp -lpthread -lstdc++ -lm -ldl"
EMPTY = ("cudadevrt", "culibos", "curand", "nvToolsExt")
# CMake compiles these files to identify a compiler.
ASKING = ("CMakeCUDACompilerId.cu", "CMakeCUDACompilerABI.cu")
ANSWER = ("-D__NVCC__", "-D__CUDACC__", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
          "-D__CUDACC_VER_BUILD__=0")
EXPORTS = ("hostcuda_exports.o", "libhostcuda_exports.so")  # which cmake/exports.py makes


def folder():
    if not is_installed():
        return build_folder() / "toolkit"
    # The folder is outside HOME, because `pip uninstall` would leave it behind in HOME. Its path
    # contains a hash of HOME, because there may be several installations.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "hostcuda" / hashlib.sha256(str(HOME).encode()).hexdigest()[:12] / "toolkit"


def make(at=None):
    """Writes the folder unless it is up to date; returns its path."""
    at = at or folder()
    try:
        write(at)
    except OSError as error:
        raise ToolError(f"{at}: {error.strerror}; set XDG_CACHE_HOME to a folder that can be "
                        "written") from None
    return at


def quoted(library):
    """Quotes a library's path for a linker script, because the path may contain blanks."""
    return library if library.startswith("-l") else f'"{library}"'


def write(at):
    core = f"{quoted(libraries(PLAIN)[0])} {quoted(context_library())}"
    scripts = {"cudart": f"{core} {NEEDS}"}
    for name in ("bin", "include", "lib64", "nvvm/libdevice"):
        os.makedirs(at / name, exist_ok=True)
    exported = (quoted(str(library_folder() / name)) for name in EXPORTS)
    scripts["cuda"] = f"{' '.join(exported)} {core} {NEEDS}"
    if cublas():
        scripts["cublas"] = f"{quoted(cublas())} {core} -lopenblas {NEEDS}"
    names = {
        "libcudart.so": "cudart",
        "libcudart_static.a": "cudart",
        "libcuda.so": "cuda",
        "libnvrtc.so": "cuda",
        "libnvrtc_static.a": "cuda",
        "libcublas.so": "cublas",
        "libcublas_static.a": "cublas",
        "libcublasLt.so": "cublas",
    }
    for name, library in names.items():
        if library in scripts:
            script = f"GROUP({scripts[library]})\n"
            (at / "lib64" / name).write_text(script, encoding="utf-8")
    for name in EMPTY:
        (at / "lib64" / f"lib{name}.a").write_text("!<arch>\n", encoding="utf-8")
    links = {at / "bin" / "nvcc": HOME / "bin" / "nvcc"}
    for source in INCLUDES:
        links.update({at / "include" / entry.name: entry for entry in source.iterdir()})
    for link, target in links.items():
        if not os.path.lexists(link):
            link.symlink_to(target)


def announce(translation, at=None, linker=None):
    """Prints the part of nvcc -v's output that build systems read. linker: the command with which
    build systems shall link programs, or None for the host compiler."""
    at = make(at)
    linking = f"-L{at}/lib64"
    for line in (
        f"TOP={at}",
        f"NVVMIR_LIBRARY_DIR={at}/nvvm/libdevice",
        f"PATH={os.environ.get('PATH', '')}",
        f"INCLUDES=-I{at}/include",
        f"LIBRARIES={linking}",
        "cicc -arch compute_90",
        f"{linker or translation.compiler} "
        f"{' '.join(map(shlex.quote, translation.objects))} {linking} "
        f"-lcudart -o {translation.output or 'a.out'}",
    ):
        print(f"#$ {line}", file=sys.stderr)
