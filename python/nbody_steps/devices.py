"""Arrays in the memory of a CUDA device: of CuPy, PyTorch, JAX, or any library with DLPack."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Optional

import numpy as np

from . import _extension

CUDA = (2, 13)  # DLPack's numbers of devices: CUDA, and its managed memory
TYPES: dict[Any, str] = {}  # names of dtypes that were seen


def device_of(array: Any) -> Optional[int]:
    """Returns the number of the CUDA device that holds an array, or None if none does."""
    if isinstance(array, np.ndarray):
        return None
    library = library_of(array)  # the next two are faster than DLPack
    if library == "torch":
        return array.get_device() if array.is_cuda else None
    if library == "cupy":
        return array.device.id
    of = getattr(array, "__dlpack_device__", None)
    if of is None:
        return None
    kind, number = of()
    return int(number) if int(kind) in CUDA else None


def library_of(array: Any) -> str:
    """Returns "torch", "cupy", "jax", or "" for another library."""
    return library_of_type(type(array))


@functools.lru_cache(maxsize=64)
def library_of_type(kind: type) -> str:
    name = kind.__module__.partition(".")[0]
    return {"torch": "torch", "cupy": "cupy", "jaxlib": "jax", "jax": "jax"}.get(name, "")


def type_name(array: Any) -> str:
    """Returns "float32" or the name of another type."""
    dtype = array.dtype
    name = TYPES.get(dtype)
    if name is None:
        name = TYPES[dtype] = str(dtype).rpartition(".")[2]
    return name


def check(name: str, array: Any, number: int, shape: tuple[Optional[int], ...],
          like: Optional[str] = None) -> None:
    """Checks where an array is, its shape (None: any size), and its dtype, that of `like`."""
    if device_of(array) != number:
        raise ValueError(f"{name}: not on CUDA device {number}, where positions are")
    found = tuple(array.shape)
    if len(found) != len(shape) or any(w is not None and f != w for f, w in zip(found, shape)):
        wanted = ", ".join("n" if size is None else str(size) for size in shape)
        wanted += "," if len(shape) == 1 else ""
        raise ValueError(f"{name}: shape {found} is not allowed; ({wanted})")
    dtype = type_name(array)
    if dtype not in ("float32", "float64"):
        raise ValueError(f"{name}: dtype {dtype} is not allowed; float32 or float64")
    if like is not None and dtype != like:
        raise ValueError(f"{name}: dtype {dtype} is not allowed; {like}, as in positions")


@functools.lru_cache(maxsize=1)
def raw_stream_of_torch() -> Callable[[int], int]:
    """Returns a function that returns the current stream of a device."""
    torch = sys.modules["torch"]
    fast = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return fast or (lambda number: torch.cuda.current_stream(number).cuda_stream)


def address(array: Any) -> tuple[int, Any]:
    """Returns the address of an array of PyTorch or CuPy, and the array that holds it: a contiguous
    copy if it is not contiguous."""
    if library_of(array) == "torch":
        array = array if array.is_contiguous() else array.contiguous()
        return array.data_ptr(), array
    if not array.flags.c_contiguous:
        array = sys.modules["cupy"].ascontiguousarray(array)
    return array.data.ptr, array


class Place:
    """Where a call on a device computes: its stream, and how results of its kind are made."""

    def __init__(self, array: Any, number: int) -> None:
        self.library, self.number, self.dtype = library_of(array), number, type_name(array)
        self.waits = self.library not in ("torch", "cupy")
        self.stream = 0
        self.array = array
        if self.library == "torch":
            self.stream = raw_stream_of_torch()(number)
        elif self.library == "cupy":
            self.stream = sys.modules["cupy"].cuda.get_current_stream(number).ptr

    def ready(self, *arrays: Any) -> None:
        """Waits until arrays of a library are ready whose stream is not known."""
        if self.library == "jax":
            for array in arrays:
                if array is not None:
                    array.block_until_ready()

    def empty(self, shape: tuple[int, ...]) -> Any:
        """Returns memory for a result; `result` makes an array of the library of it."""
        if self.library == "torch":
            return self.array.new_empty(shape)
        if self.library == "cupy":
            cupy = sys.modules["cupy"]
            if cupy.cuda.runtime.getDevice() == self.number:
                return cupy.empty(shape, self.dtype)
            with cupy.cuda.Device(self.number):
                return cupy.empty(shape, self.dtype)
        make = _extension.empty_f32_on if self.dtype == "float32" else _extension.empty_f64_on
        return make(self.number, list(shape))

    def result(self, out: Any) -> Any:
        if self.library == "jax":
            return sys.modules["jax"].dlpack.from_dlpack(out)
        return out
