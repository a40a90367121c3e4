"""Helpers shared by the Python programs of a comparison; each program runs in its own process.

  python3 -m nbody_tools.compare.peers.torch_peer --input bodies.bin --steps 10 ...

A peer is a class. Its constructor takes positions and velocities (N x 3), masses, dt, softening and
the device ("cuda", or "cpu" for a trial). `advance(steps)` starts the kicks and drifts, `wait()`
returns when they are done, and `state()` returns the positions and the velocities as arrays.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from array import array
from pathlib import Path
from typing import Any, Callable

from nbody_tools.files.library import VALUES, read_file, write_bin

NOT_HERE = 77  # exit code
# Size limits of an array. All pairs of 262,144 bodies would not fit into memory, and a CPU is
# faster with arrays that fit into its cache.
CHUNK_BYTES, CHUNK_BYTES_OF_A_CPU = 2 ** 30, 2 ** 20


class NotHere(Exception):
    """The package or its device is missing."""


def rows_at_once(count: int, chunk_bytes: int = CHUNK_BYTES) -> int:
    """Returns the number of bodies whose pairs with all bodies fit into one array, which has three
    float32 per pair."""
    return max(1, min(count, chunk_bytes // (12 * count)))


def text(name: Any) -> str:
    """Returns the name as a string; some versions of Numba return bytes."""
    return name.decode() if isinstance(name, bytes) else str(name)


def parse() -> argparse.Namespace:
    p = argparse.ArgumentParser()
    for name in ("input", "output", "json"):
        p.add_argument(f"--{name}", type=Path, required=True)
    for name in ("steps", "repeat", "warmup"):
        p.add_argument(f"--{name}", type=int, required=True)
    for name in ("dt", "softening"):
        p.add_argument(f"--{name}", type=float, required=True)
    p.add_argument("--device", choices=("cuda", "cpu"), required=True)
    return p.parse_args()


def main(peer: Callable[..., Any], versions: Callable[[str], tuple[str, str]]) -> None:
    """Runs a peer with this process's arguments. `versions` returns the version of the peer's
    package and the name of the device."""
    options = parse()
    try:
        import numpy

        version, device = versions(options.device)
        read = read_file(options.input)
        bodies = numpy.array(read.values, dtype=numpy.float32).reshape(-1, VALUES)
        seconds = []
        for k in range(options.warmup + options.repeat):
            running = peer(
                bodies[:, 0:3].copy(),
                bodies[:, 3:6].copy(),
                bodies[:, 6].copy(),
                options.dt,
                options.softening,
                options.device,
            )
            running.wait()
            begin = time.perf_counter()
            running.advance(options.steps)
            running.wait()
            if k >= options.warmup:
                seconds.append(time.perf_counter() - begin)
    except (NotHere, ModuleNotFoundError) as missing:
        if (getattr(missing, "name", None) or "").startswith("nbody_tools"):
            raise  # the peer has a bug; no package is missing
        print(missing, file=sys.stderr)
        sys.exit(NOT_HERE)
    after = bodies.copy()
    after[:, 0:3], after[:, 3:6] = running.state()
    facts = read.facts
    values = array("f", after.tobytes())
    write_bin(options.output, values, facts.scenario, facts.softening, facts.dt)
    options.json.write_text(
        json.dumps(
            {"backend": options.device, "device": device, "version": version, "seconds": seconds}
        ),
        encoding="utf-8",
    )
