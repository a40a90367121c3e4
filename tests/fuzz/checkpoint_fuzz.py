#!/usr/bin/env python3
"""Damages checkpoints at random and tries to continue from them: each must be rejected with a
one-line message or give the right result.

  checkpoint_fuzz.py STEP COUNT

COUNT damaged checkpoints are divided among the kinds of checkpoints: .bin and .csv, Euler and
leapfrog, with the counts of an activity map, and float64 if STEP supports it. A damaged checkpoint
must lead to exit code 2, one line and no file, or to exactly the output and the map that the
undamaged checkpoint gives. Set NBODY_TEST_SEED to repeat a run.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROBLEM = ["--scenario", "galaxies", "--systems", "2", "--bodies", "9", "--seed", "3"]
CONTINUE = ["--steps", "12", "--output", "end.bin"]
WAYS = ["--resume"], [*PROBLEM, "--checkpoint"]  # --resume, or the same command again
MAP = ["--activity-map", "4", "--activity-map-every", "2", "--activity-map-file", "map"]
OUTPUTS = ("end.bin", "map.csv", "map.pgm")
LONGEST = 60.0  # limit for one run on a busy machine, in seconds


def flipped(data: bytearray, generator: random.Random) -> None:
    for _ in range(generator.choice((1, 1, 2, 8))):
        data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)


def swapped(data: bytearray, generator: random.Random) -> None:
    for _ in range(generator.choice((1, 1, 4))):
        a, b = generator.randrange(len(data)), generator.randrange(len(data))
        data[a], data[b] = data[b], data[a]


def zeroed(data: bytearray, generator: random.Random) -> None:
    length = generator.choice((1, 4, 64, 512))
    begin = generator.randrange(len(data))
    data[begin:begin + length] = bytes(len(data[begin:begin + length]))


def cut(data: bytearray, generator: random.Random) -> None:
    lines = [k + 1 for k, byte in enumerate(data) if byte == ord("\n")]
    at_line_end = lines and generator.random() < 0.5
    del data[generator.choice(lines) if at_line_end else generator.randrange(len(data)):]


def moved(data: bytearray, generator: random.Random) -> None:
    """Overwrites one block with another, as a file system that mixes up its blocks does."""
    length = min(generator.choice((8, 28, 512)), len(data) // 2)
    source, target = (generator.randrange(len(data) - length) for _ in range(2))
    data[target:target + length] = data[source:source + length]


def resume(program: str, folder: Path, words: list[str]) -> tuple[int, str, dict[str, bytes]]:
    for name in OUTPUTS:
        (folder / name).unlink(missing_ok=True)
    done = subprocess.run([program, *words, *CONTINUE, "--quiet", "--validate", "off"],
                          cwd=folder, capture_output=True, text=True, timeout=LONGEST, check=False)
    files = {name: (folder / name).read_bytes() for name in OUTPUTS if (folder / name).exists()}
    return done.returncode, done.stderr, files


class Kind:
    """A kind of checkpoint, and the result of a run that is resumed from an undamaged checkpoint of
    this kind."""

    def __init__(self, program: str, folder: Path, ending: str, words: list[str]):
        self.program, self.folder = program, folder
        self.file = folder / f"c{ending}"
        self.words = words
        made = subprocess.run(
            [
                program,
                *PROBLEM,
                "--steps",
                "7",
                *words,
                "--checkpoint",
                self.file.name,
                "--restart",
                "--quiet",
                "--validate",
                "off",
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        self.possible = made.returncode == 0
        if not self.possible and "float32" not in made.stderr:
            sys.exit(made.stderr)
        if self.possible:
            self.whole = self.file.read_bytes()
            for way in WAYS:
                code, error, self.right = resume(program, folder, [*way, self.file.name, *words])
                if code != 0:
                    sys.exit(error)

    def fault(self, data: bytes, way: list[str]) -> str:
        """Describes what went wrong in the handling of a damaged checkpoint, or returns an empty
        string. Records whether the checkpoint was rejected."""
        self.file.write_bytes(data)
        code, error, files = resume(self.program, self.folder, [*way, self.file.name, *self.words])
        if code == 2:
            self.refused = True
            if error.count("\n") != 1:
                return f"not one line: {error}"
            if self.file.read_bytes() != data:
                return "rejected but replaced"
            return f"rejected, but files were written: {list(files)}" if files else ""
        self.refused = False
        if code != 0:
            return f"exit code {code}: {error}"
        return "" if files == self.right else "a different result"


def main() -> int:
    program, count = str(Path(sys.argv[1]).resolve()), int(sys.argv[2])
    seed = int(os.environ.get("NBODY_TEST_SEED", time.time_ns() % 1_000_000))
    generator = random.Random(seed)
    print(f"NBODY_TEST_SEED={seed}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = itertools.product((".bin", ".csv"), ([], ["--integrator", "leapfrog"]), ([], MAP),
                                    ([], ["--precision", "double"]))
        kinds = [Kind(program, folder, ending, integrator + maps + precision)
                 for ending, integrator, maps, precision in options]
        kinds = [kind for kind in kinds if kind.possible]
        refused = 0
        for number in range(count):
            kind = kinds[number % len(kinds)]
            data = bytearray(kind.whole)
            damage = generator.choice((flipped, swapped, zeroed, cut, moved))
            damage(data, generator)
            way = WAYS[number // len(kinds) % len(WAYS)]
            fault = kind.fault(bytes(data), way)
            if fault:
                kept = Path(f"checkpoint_finding{kind.file.suffix}").resolve()
                kept.write_bytes(data)
                print(f"{number}: {damage.__name__}, {way}, {kind.words}: {fault}\nThe checkpoint "
                      f"is in {kept}")
                return 1
            refused += kind.refused
    print(f"{count} damaged checkpoints of {len(kinds)} kinds: {refused} rejected, "
          f"{count - refused} with the right result")
    return 0 if refused > count / 2 else 1  # else the damage had hardly any effect


if __name__ == "__main__":
    sys.exit(main())
