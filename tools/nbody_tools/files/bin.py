"""Reads and writes BIN, the format of all tools (docs/formats.md, common/io/formats/bin.cpp). Uses
only Python's standard library, because a machine with a GPU may lack NumPy.

BIN is little-endian. A header of 144 bytes is followed by seven float32 or float64 values per body,
system after system. In version 2, one byte per body for the species follows. Checkpoints
(version 3) have 16 more header bytes, and end with lines of key=value and a checksum.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from dataclasses import dataclass, field
from pathlib import Path

from nbody_tools.arguments import ToolError

MAGIC = b"NBODYBIN"
VALUES = 7  # x, y, z, vx, vy, vz, mass
SPECIES = ("gas", "dark", "disk", "bulge", "star", "boundary")  # a file stores the index
INTEGRATORS = ("euler", "leapfrog")
_HEADER = struct.Struct("<8s6Idq3d2I32s32s")
_PLAIN, _WITH_SPECIES, _CHECKPOINT = 1, 2, 3  # versions
_CHECKPOINT_HEADER = struct.Struct("<2IQ")  # has species (1 or 0), unused (0), bytes of text
_ENDIAN_TAG = 0x01020304
_TYPES = {4: "f", 8: "d"}  # array type, by bytes per value


class FileError(ToolError):
    """An invalid file; the message contains the file's name, and the line if there is one."""


@dataclass
class BinFile:
    """The content of a file: VALUES numbers per body, system after system."""

    values: array  # of "f" or "d"
    systems: int
    bodies: int
    time: float = 0.0
    step: int = 0
    gravity: float = 1.0
    softening: float = 0.0
    dt: float = 0.0
    integrator: str = "euler"
    staggered: bool = False
    scenario: str = ""
    units: str = ""
    species: list[str] = field(default_factory=list)  # one per body, or empty


def read_bin(path: Path, data: bytes) -> BinFile:
    """Returns the content of a file, whose bytes are `data`. Messages name the file as `path`."""
    if not data.startswith(MAGIC):
        raise FileError(f"{path}: not BIN: it does not begin with {MAGIC.decode()}")
    if len(data) < _HEADER.size:
        raise FileError(
            f"{path}: truncated: {len(data)} bytes, but a header has {_HEADER.size}"
        )
    (_, version, endian_tag, bytes_per_value, header_size, systems, count, time, step, gravity,
     softening, dt, integrator, staggered, scenario, units) = _HEADER.unpack_from(data)
    if version not in (_PLAIN, _WITH_SPECIES, _CHECKPOINT):
        raise FileError(f"{path}: version is {version}, but this reader knows {_PLAIN} to "
                        f"{_CHECKPOINT}")
    start, has_species, tail = _HEADER.size, version == _WITH_SPECIES, 0
    if version == _CHECKPOINT:
        if zlib.crc32(data[:-4]) != int.from_bytes(data[-4:], "little"):
            raise FileError(f"{path}: damaged: its checksum does not match its content")
        start += _CHECKPOINT_HEADER.size
        has_species, _, text_bytes = _CHECKPOINT_HEADER.unpack_from(data, _HEADER.size)
        tail = text_bytes + 4
    for name, value, expected in (("endian tag", endian_tag, _ENDIAN_TAG),
                                  ("header size", header_size, start)):
        if value != expected:
            raise FileError(f"{path}: {name} is {value:#x}, but must be {expected:#x}")
    if bytes_per_value not in _TYPES:
        raise FileError(f"{path}: values of {bytes_per_value} bytes; this reader knows 4 and 8")
    if integrator >= len(INTEGRATORS):
        raise FileError(f"{path}: unknown integrator {integrator}")
    if systems == 0 or count == 0:
        raise FileError(f"{path}: its header says {systems} systems of {count} bodies")
    species_start = start + systems * count * VALUES * bytes_per_value
    species_end = species_start + (systems * count if has_species else 0)
    expected_size = species_end + tail
    if len(data) != expected_size:
        kind = "truncated" if len(data) < expected_size else "too long"
        raise FileError(f"{path}: {kind}: {systems} systems of {count} bodies are {expected_size} "
                        f"bytes, but the file has {len(data)}")
    species = data[species_start:species_end]
    if any(number >= len(SPECIES) for number in species):
        raise FileError(f"{path}: a species is not a number from 0 to {len(SPECIES) - 1}")
    values = array(_TYPES[bytes_per_value])
    values.frombytes(data[start:species_start])
    if sys.byteorder == "big":
        values.byteswap()
    return BinFile(values, systems, count, time, step, gravity, softening, dt,
                   INTEGRATORS[integrator], bool(staggered), _text(scenario), _text(units),
                   [SPECIES[number] for number in species])


def write_bin(path: Path, values: array, scenario: str = "", softening: float = 0.0,
              dt: float = 0.0) -> Path:
    """Writes one system of float32 bodies at time 0."""
    header = _HEADER.pack(MAGIC, _PLAIN, _ENDIAN_TAG, 4, _HEADER.size, 1, len(values) // VALUES,
                          0.0, 0, 1.0, softening, dt, 0, 0, scenario.encode(), b"")
    path.write_bytes(header + values.tobytes())
    return path


def _text(padded: bytes) -> str:
    return padded.split(b"\0", 1)[0].decode("utf-8", errors="replace")
