"""Arrays in the memory of a CUDA device, from CuPy, PyTorch, JAX, or any library with DLPack.

A call through Python should take little longer than the kernels that it launches. An exchange
through DLPack takes as long as a small kernel, so PyTorch and CuPy themselves give the addresses of
their arrays.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Optional

import numpy as np

from . import _extension, checks

CUDA = (2, 13)  # DLPack's device types: CUDA memory, and CUDA's managed memory
TYPES: dict[Any, str] = {}  # names of dtypes that were seen
Shape = tuple[Optional[int], ...]  # None: any size


class Library:
    """Uses the arrays of an array library through DLPack, and makes arrays for results."""

    def device(self, array: Any) -> Optional[int]:
        """Returns the number of the CUDA device that holds an array, or None if none does."""
        of = getattr(array, "__dlpack_device__", None)
        if of is None:
            return None
        kind, number = of()
        return int(number) if int(kind) in CUDA else None

    def contiguous(self, array: Any) -> Any:
        """Returns the array, or a copy in C's order. Afterwards, kernels in the stream of the
        call may read the returned array."""
        return array

    def address(self, array: Any) -> int:
        try:
            return _extension.address(array)
        except TypeError:
            raise ValueError("an array is not contiguous; its library must copy it first") from None

    def stream(self, number: int) -> int:
        """Returns the stream in which a call should work."""
        return 0

    def empty(self, like: Any, number: int, shape: tuple[int, ...]) -> Any:
        """Returns an array for a result, with the dtype of `like`."""
        single = type_name(like) == "float32"
        make = _extension.empty_f32_on if single else _extension.empty_f64_on
        return make(number, list(shape))

    def result(self, array: Any, stream: int) -> Any:
        """Waits until the result in an array from `empty` is complete. Returns the result as an
        array of the library."""
        _extension.wait(stream)
        return array


class Jax(Library):
    def contiguous(self, array: Any) -> Any:
        return array.block_until_ready()

    def result(self, array: Any, stream: int) -> Any:
        found = sys.modules["jax"].dlpack.from_dlpack(array)  # while the kernels run
        _extension.wait(stream)
        return found


class Torch(Library):
    def __init__(self) -> None:
        torch = sys.modules["torch"]
        fast = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        self.raw_stream = fast or (lambda number: torch.cuda.current_stream(number).cuda_stream)

    def device(self, array: Any) -> Optional[int]:
        return array.get_device() if array.is_cuda else None

    def contiguous(self, array: Any) -> Any:
        return array if array.is_contiguous() else array.contiguous()

    def address(self, array: Any) -> int:
        return array.data_ptr()

    def stream(self, number: int) -> int:
        return self.raw_stream(number)

    def empty(self, like: Any, number: int, shape: tuple[int, ...]) -> Any:
        return like.new_empty(shape)

    def result(self, array: Any, stream: int) -> Any:
        return array


class Cupy(Library):
    def __init__(self) -> None:
        self.cupy = sys.modules["cupy"]

    def device(self, array: Any) -> Optional[int]:
        return array.device.id

    def contiguous(self, array: Any) -> Any:
        return array if array.flags.c_contiguous else self.cupy.ascontiguousarray(array)

    def address(self, array: Any) -> int:
        return array.data.ptr

    def stream(self, number: int) -> int:
        return self.cupy.cuda.get_current_stream(number).ptr

    def empty(self, like: Any, number: int, shape: tuple[int, ...]) -> Any:
        if self.cupy.cuda.runtime.getDevice() == number:
            return self.cupy.empty(shape, like.dtype)
        with self.cupy.cuda.Device(number):
            return self.cupy.empty(shape, like.dtype)

    def result(self, array: Any, stream: int) -> Any:
        return array


@functools.lru_cache(maxsize=64)
def library_of(kind: type) -> Library:
    """Returns the library that an array type belongs to."""
    name = kind.__module__.partition(".")[0]
    return {"torch": Torch, "cupy": Cupy, "jaxlib": Jax, "jax": Jax}.get(name, Library)()


@functools.lru_cache(maxsize=64)
def short_way(kind: type) -> Optional[tuple[Any, ...]]:
    """Returns what the extension's short way needs to use arrays of this type (src/short_way.cpp),
    or None for types that the short way does not know."""
    if not _extension.has_cuda:
        return None
    library = library_of(kind)
    if isinstance(library, Torch) and kind is sys.modules["torch"].Tensor:
        torch = sys.modules["torch"]
        return (True, kind, torch.float32, torch.float64, library.raw_stream, None,
                torch.empty_like, None, [])
    # CuPy's own code reads this attribute. `flags` makes an object, which takes six times as long.
    contiguous = "_c_contiguous"
    if isinstance(library, Cupy) and kind is library.cupy.ndarray and hasattr(kind, contiguous):
        cuda = library.cupy.cuda
        return (False, kind, np.dtype(np.float32), np.dtype(np.float64), cuda.get_current_stream,
                cuda.runtime.getDevice, kind, contiguous, [])
    return None


def device_of(array: Any) -> Optional[int]:
    """Returns the number of the CUDA device that holds an array, or None if none does."""
    if isinstance(array, np.ndarray):
        return None
    return library_of(type(array)).device(array)


def type_name(array: Any) -> str:
    """Returns "float32" or the name of another type."""
    return type_of(array.dtype)


def type_of(dtype: Any) -> str:
    name = TYPES.get(dtype)
    if name is None:
        name = TYPES[dtype] = str(dtype).rpartition(".")[2]
    return name


class Call:
    """The arrays of a call on a device. The arrays must exist until all kernels have been
    launched."""

    def __init__(self, positions: Any, number: int) -> None:
        self.positions, self.number = positions, number
        self.library = library_of(type(positions))
        if not hasattr(positions, "dtype"):  # DLPack alone does not tell the type
            raise ValueError(f"positions: a {type(positions).__name__} in a GPU's memory is not "
                             "allowed; use an array of CuPy, PyTorch or JAX")
        self.dtype = type_name(positions)
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"positions: dtype {self.dtype} is not allowed; "
                             "use float32 or float64")
        self.stream = self.library.stream(number)
        self.arrays: list[Any] = []

    def take(self, name: str, array: Any, shape: Shape) -> int:
        """Checks an array, and returns its address."""
        library = library_of(type(array))
        if library.device(array) != self.number:
            raise ValueError(f"{name}: not on CUDA device {self.number}, where positions are")
        checks.shape_and_type(name, array.shape, shape, type_name(array), self.dtype)
        array = library.contiguous(array)
        self.arrays.append(array)
        return library.address(array)

    def empty(self, shape: tuple[int, ...]) -> tuple[int, Any]:
        """Returns the address of an array for a result, and the array."""
        array = self.library.empty(self.positions, self.number, shape)
        return self.library.address(array), array

    def result(self, array: Any) -> Any:
        return self.library.result(array, self.stream)
