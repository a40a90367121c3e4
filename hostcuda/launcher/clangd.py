"""Writes a file that lets clangd understand launches, kernels and the API without the toolkit."""
from hostcudacc import INCLUDE, INCLUDES, SAMPLES
from libraries import HOME

OPTIONS = (
    "-xcuda",
    "--cuda-host-only",
    "-nocudainc",
    "-nocudalib",
    "-std=c++17",  # with c++20, clangd 14 misses printf in host code
    "-D__CUDACC__=1",
    "-D__HOSTCUDA__=1",
    *(f"-I{folder}" for folder in (*INCLUDES, HOME / "cublas" / "include")),
    f"-idirafter{SAMPLES}",
    "-include",
    f"{INCLUDE}/hostcuda/semantics.h",
    "-include",
    f"{INCLUDE}/cuda_runtime.h",
    "-Xclang",
    "-fcuda-allow-variadic-functions",
)


def configuration():
    listed = "\n".join(f'    - "{option}"' for option in OPTIONS)
    return f"""# Written by `hostcuda clangd`. The paths are those of this installation.
If:
  PathMatch: [.*\\.cu, .*\\.cuh]
CompileFlags:
  Add:
{listed}"""
