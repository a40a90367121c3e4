"""Checks arguments. Raises a ValueError with a one-line message about the wrong argument."""

from __future__ import annotations

import math
import operator
import os
from typing import Any, Optional

import numpy as np

MOST = 1_000_000_000  # rows, as in library/nbody.h
TYPES = (np.dtype(np.float32), np.dtype(np.float64))


def as_array(name: str, value: Any) -> np.ndarray:
    """Returns `value` as a numpy array, without a copy if possible. Lists of numbers become
    float64."""
    require_plain(name, value)
    if isinstance(value, np.ndarray):
        array = value
    elif hasattr(value, "__dlpack__"):
        try:
            device = int(getattr(value, "__dlpack_device__", lambda: (1, 0))()[0])
        except BufferError:  # an array that several devices share
            device = 1
        if device not in (1, 3, 11):  # not in (pageable or pinned) host memory
            raise ValueError(f"{name}: the array is in a GPU's memory; this build computes on the "
                             "CPU, so copy it to the host first")
        try:
            array = np.from_dlpack(value)
        except (AttributeError, BufferError, RuntimeError, TypeError):
            array = np.asarray(value)
    else:
        try:
            array = np.asarray(value)
            if array.dtype.kind in "iu":
                array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{name}: not an array of numbers ({error})") from None
    native = array.dtype.newbyteorder("=")  # FITS files, for example, are big-endian
    if native not in TYPES:
        raise ValueError(f"{name}: dtype {array.dtype} is not allowed; use float32 or float64")
    return array.astype(native, copy=False)


def float64(name: str, value: Any) -> np.ndarray:
    """Returns an array in float64. Rejects arrays that would lose a part of their meaning."""
    require_plain(name, value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}: not an array of numbers ({error})") from None
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name}: dtype {array.dtype} is not allowed; use float32 or float64")
    return array.astype(np.float64, copy=False)


def require_plain(name: str, value: Any) -> None:
    """Rejects values that do not mean their plain numbers: masked values, and units (of astropy,
    unyt or pint), which would be ignored. Looks at every element of lists, too."""
    if isinstance(value, (list, tuple)):
        for element in value:
            if not isinstance(element, (float, int)):
                require_plain(name, element)
        return
    if isinstance(value, np.ndarray) and np.ma.is_masked(value):
        raise ValueError(f"{name}: masked values are not allowed; leave these bodies out")
    for attribute in ("unit", "units"):
        unit = getattr(value, attribute, None)
        if unit is None or callable(unit) or hasattr(unit, "dtype"):  # a column of a table
            continue
        if str(unit) not in ("", "dimensionless"):
            raise ValueError(f"{name}: the unit {unit} is not allowed, because G is 1; "
                             "use plain numbers (.value)")


def vectors(name: str, value: Any, like: Optional[tuple[str, np.ndarray]] = None) -> np.ndarray:
    """Returns a contiguous array of shape (n, 3), with the dtype of `like`."""
    array = as_array(name, value)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name}: shape {array.shape} is not allowed; use (n, 3)")
    if len(array) > MOST:  # before anything is copied
        raise ValueError(f"{name}: {len(array)} rows are not allowed; use at most {MOST}")
    return checked(name, value, array, like)


def scalars(name: str, value: Any, like: tuple[str, np.ndarray]) -> np.ndarray:
    """Returns a contiguous array with one number per row of `like` and with the dtype of `like`."""
    array = as_array(name, value)
    if array.shape != like[1].shape[:1]:
        raise ValueError(f"{name}: shape {array.shape} is not allowed; use {like[1].shape[:1]}, "
                         f"one number per row of {like[0]}")
    return checked(name, value, array, like)


def checked(name: str, value: Any, array: np.ndarray,
            like: Optional[tuple[str, np.ndarray]]) -> np.ndarray:
    if like is not None and array.dtype != like[1].dtype:
        if hasattr(value, "dtype"):
            raise ValueError(f"{name}: dtype {array.dtype} is not allowed; "
                             f"use {like[1].dtype}, as in "
                             f"{like[0]}")
        array = array.astype(like[1].dtype)
    finite = np.isfinite(array)
    if not finite.all():
        at = np.argwhere(~finite)[0]
        raise ValueError(f"{name}[{', '.join(map(str, at))}]: {array[tuple(at)]} is not allowed; "
                         "use "
                         "a finite number")
    return np.ascontiguousarray(array)


def masses_of(value: Any, like: tuple[str, np.ndarray]) -> np.ndarray:
    masses = scalars("masses", value, like)
    if (masses < 0).any():
        at = int(np.argmax(masses < 0))
        raise ValueError(f"masses[{at}]: {masses[at]} is not allowed; use 0 or more")
    return masses


def shape_and_type(name: str, found: tuple[int, ...], allowed: tuple[Optional[int], ...],
                   dtype: str, like: str) -> None:
    """Checks an array of another library: its shape, in which None allows any number of rows, and
    its dtype, which must be that of the positions."""
    if (len(found) != len(allowed) or found[1:] != allowed[1:]
            or allowed[0] not in (None, found[0])):
        wanted = ", ".join("n" if size is None else str(size) for size in allowed)
        wanted += "," if len(allowed) == 1 else ""
        raise ValueError(f"{name}: shape {tuple(found)} is not allowed; use ({wanted})")
    if dtype != like:
        raise ValueError(f"{name}: dtype {dtype} is not allowed; use {like}, as in positions")


def number(name: str, value: Any, low: float, high: float = math.inf, allowed: str = "") -> float:
    """Returns the value as a float, which must be finite and from low to high."""
    if not isinstance(value, (float, int)):
        require_plain(name, value)
    if type(value).__name__.endswith("Tracer"):
        raise ValueError(f"{name}: a value that JAX traces is not allowed; use a constant")
    try:
        found = math.nan if isinstance(value, (bool, str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not (low <= found <= high and math.isfinite(found)):
        raise ValueError(f"{name}: {value!r} is not allowed; use {allowed}")
    return found


def whole(name: str, value: Any, low: int, high: int = 2**31 - 1) -> int:
    try:
        found = low - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        found = low - 1
    if not low <= found <= high:
        raise ValueError(f"{name}: {value!r} is not allowed; use an integer from {low} to {high}")
    return found


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}: a {type(value).__name__} is not allowed; use a str")
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        raise ValueError(f"{name}: {value!r} is not allowed; use text that UTF-8 can encode"
                         ) from None
    return value


def texts(name: str, value: Any) -> list[str]:
    if not isinstance(value, (list, tuple, np.ndarray)):
        raise ValueError(f"{name}: a {type(value).__name__} is not allowed; use a list of str, "
                         "which may be empty")
    return [text(name, word) for word in value]


def path(name: str, value: Any) -> str:
    """Returns the path of a file as text in UTF-8."""
    found = text(name, os.fsdecode(value))
    if "\0" in found:
        raise ValueError(f"{name}: {found!r} is not allowed; use a path without NUL")
    return found


def one_of(name: str, value: Any, allowed: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}: {value!r} is not allowed; use {' or '.join(map(repr, allowed))}")
    return allowed[value]


def function_or_none(name: str, value: Any, of: str) -> None:
    if value is not None and not callable(value):
        raise ValueError(f"{name}: a {type(value).__name__} is not allowed; use a function of {of}")
