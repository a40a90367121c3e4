"""Makes a folder that looks like the CUDA toolkit, for build systems that search for one: CMake's
CUDA language and FindCUDAToolkit, and Makefiles that link with g++ and -L$(CUDA_HOME)/lib64
-lcudart.

  toolkit/include   hostcuda's headers          toolkit/bin/nvcc   the replacement for nvcc
  toolkit/lib64     libcudart etc., which are linker scripts that name hostcuda's libraries
"""
import os
import shlex
import sys
from pathlib import Path

from libraries import HOME, INCLUDES, PLAIN, build_folder, is_installed, libraries

NEEDS = "-lboost_context -lgomp -lpthread -lstdc++ -lm"
EMPTY = ("cudadevrt", "culibos", "curand", "nvToolsExt", "cuda")
# CMake compiles these files to identify a compiler.
ASKING = ("CMakeCUDACompilerId.cu", "CMakeCUDACompilerABI.cu")
ANSWER = ("-D__NVCC__", "-D__CUDACC__", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
          "-D__CUDACC_VER_BUILD__=0")


def folder():
    if not is_installed():
        return build_folder() / "toolkit"
    return (HOME if os.access(HOME, os.W_OK) else Path.home() / ".cache" / "hostcuda") / "toolkit"


def make(at=None):
    """Writes the folder unless it is up to date; returns its path."""
    at = at or folder()
    cublas, plain = libraries(PLAIN)
    # The file names are quoted, because their folder may contain blanks.
    scripts = {"cudart": f'"{plain}" {NEEDS}', "cublas": f'"{cublas}" "{plain}" -lopenblas {NEEDS}'}
    names = {
        "libcudart.so": scripts["cudart"],
        "libcudart_static.a": scripts["cudart"],
        "libcublas.so": scripts["cublas"],
        "libcublas_static.a": scripts["cublas"],
        "libcublasLt.so": scripts["cublas"],
    }
    for name in ("bin", "include", "lib64", "nvvm/libdevice"):
        os.makedirs(at / name, exist_ok=True)
    for name, inputs in names.items():
        (at / "lib64" / name).write_text(f"GROUP({inputs})\n", encoding="utf-8")
    for name in EMPTY:
        (at / "lib64" / f"lib{name}.a").write_text("!<arch>\n", encoding="utf-8")
    links = {at / "bin" / "nvcc": HOME / "bin" / "nvcc"}
    for source in INCLUDES:
        links.update({at / "include" / entry.name: entry for entry in source.iterdir()})
    for link, target in links.items():
        if not os.path.lexists(link):
            link.symlink_to(target)
    return at


def announce(translation):
    """Prints the part of nvcc -v's output that build systems read."""
    at = make()
    linking = f"-L{at}/lib64"
    for line in (
        f"TOP={at}",
        f"NVVMIR_LIBRARY_DIR={at}/nvvm/libdevice",
        f"PATH={os.environ.get('PATH', '')}",
        f"INCLUDES=-I{at}/include",
        f"LIBRARIES={linking}",
        "cicc -arch compute_90",
        f"{translation.compiler} {' '.join(map(shlex.quote, translation.objects))} {linking} "
        f"-lcudart -o {translation.output or 'a.out'}",
    ):
        print(f"#$ {line}", file=sys.stderr)
