#!/usr/bin/env python3
"""Changes bytes of Gadget files at random and passes them to nbody-convert, for SECONDS seconds.

  gadget_fuzz.py NBODY_CONVERT CORPUS SECONDS

HDF5 itself fails on many broken files, so nbody-convert reads them in a separate process.
Coverage-guided fuzzing would find only HDF5's errors. This test checks what a user sees: a file is
converted, or rejected with one line, exit code 2 and nothing written, without a crash or a hang.
Set NBODY_TEST_SEED to repeat a run. Exits with 77 if nbody-convert was built without HDF5.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LONGEST = 60.0  # limit for one file on a busy machine, in seconds
FEWEST = 20     # minimum number of files, because a fuzzer without files shows nothing


def changed(data: bytes, generator: random.Random) -> bytes:
    new = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 4, 16))):
        at = generator.randrange(len(new))
        kind = generator.randrange(4)
        if kind == 0:
            new[at] ^= 1 << generator.randrange(8)
        elif kind == 1:
            new[at] = generator.choice((0, 1, 127, 128, 255))
        elif kind == 2:
            length = generator.randrange(1, 9)
            new[at:at + length] = generator.randbytes(len(new[at:at + length]))
        else:
            from_here = generator.randrange(len(new))
            new[at:at + 8] = new[from_here:from_here + len(new[at:at + 8])]
    if generator.random() < 0.1:
        del new[generator.randrange(len(new)):]
    return bytes(new)


def fault(program: str, file: Path, output: Path) -> str:
    """Describes what went wrong in the handling of the file, or returns an empty string."""
    try:
        done = subprocess.run([program, str(file), str(output)], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {LONGEST:g} s"
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    written = output.exists()
    output.unlink(missing_ok=True)
    if done.returncode == 0:
        return "" if written else "exit code 0, but nothing written"
    if done.returncode != 2:
        return f"exit code {done.returncode}: {lines}"
    if len(lines) != 1 or not lines[0].startswith("nbody-convert: "):
        return f"{len(lines)} lines instead of one: {lines}"
    return "rejected, but a file was written" if written else ""


def lacks_hdf5(program: str, file: Path) -> bool:
    done = subprocess.run([program, str(file), os.devnull], capture_output=True, check=False)
    return b"this build lacks HDF5" in done.stderr


def main() -> int:
    program, corpus, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    files = sorted(path.read_bytes() for path in corpus.iterdir() if path.stat().st_size)
    if lacks_hdf5(program, next(corpus.glob("*.hdf5"))):
        print("skipped: this build lacks HDF5")
        return 77
    seed = int(os.environ.get("NBODY_TEST_SEED", time.time_ns() % 1_000_000))
    generator = random.Random(seed)
    print(f"NBODY_TEST_SEED={seed}")
    count, end = 0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        file, output = Path(folder) / "input.hdf5", Path(folder) / "output.csv"
        while time.monotonic() < end or count < FEWEST:
            file.write_bytes(changed(generator.choice(files), generator))
            found = fault(program, file, output)
            if found:
                kept = Path("gadget_finding.hdf5").resolve()
                kept.write_bytes(file.read_bytes())
                print(f"file {count}: {found}\nThe input is in {kept}")
                return 1
            count += 1
    print(f"{count} files, none of which did harm")
    return 0


if __name__ == "__main__":
    sys.exit(main())
