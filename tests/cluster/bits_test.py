#!/usr/bin/env python3
"""Tests that results are right, and that their bits depend neither on the number of ranks nor on
the distribution of work."""

from __future__ import annotations

import itertools
import json
import os
import random
from typing import Iterable

from ranks import InFolder, main, run

COUNTS = (2, 3, 4, 7)
TRANSPORTS = ("mpi", "nccl")
WAYS = [
    (transport, distribution) for distribution in ("bodies", "systems") for transport in TRANSPORTS
]
NIGHTLY = "NBODY_NIGHTLY" in os.environ
# The problem with enough blocks for several groups takes long to validate. The quick tests only
# compare its bits on one rank with its bits on four ranks, each of which has a single group. The
# nightly tests also validate a sample of its bodies.
MANY_INTERACTIONS = "groups in streams"
PROBLEMS = {
    "one system": "--systems 1 --bodies 1111 --steps 2",
    "fewer tiles than ranks": "--systems 1 --bodies 130 --steps 3",
    "fewer systems than ranks": "--systems 3 --bodies 257 --steps 3",
    "systems left over": "--systems 33 --bodies 65 --steps 3",
    "single bodies": "--systems 2 --bodies 1 --steps 3",
    "leapfrog": "--systems 5 --bodies 300 --steps 3 --scenario plummer --integrator leapfrog",
    "groups in streams": "--systems 41 --bodies 1000 --steps 1",
    "many masses": "--systems 1 --bodies 1000 --steps 2 --scenario star-cluster",
    # If equal masses were neighbours, all bodies of a tile would have the same mass.
    "masses in turn": "--input {folder}/masses.csv --systems 3 --steps 2",
}


def cases(turn: int) -> Iterable[tuple[int, tuple[str, str]]]:
    """Returns pairs of a number of ranks and a way to run. The nightly tests use all pairs. The
    quick tests use one pair per problem, and each number of ranks and each way at least twice."""
    if NIGHTLY:
        return itertools.product(COUNTS, WAYS)
    return [(COUNTS[turn % len(COUNTS)], WAYS[turn * 3 // 2 % len(WAYS)])]


class Bits(InFolder):
    def setUp(self) -> None:
        super().setUp()
        chance = random.Random(5)
        rows = [
            ",".join([f"{chance.uniform(-1, 1):.6f}" for _ in range(6)] + [str(1 + k % 3)])
            for k in range(1500)
        ]
        (self.folder / "masses.csv").write_text("\n".join(["x,y,z,vx,vy,vz,mass", *rows, ""]))

    def bits(self, ranks: int, arguments: str, **extra: str) -> bytes:
        end = self.folder / "end.bin"
        self.right(run(ranks, f"{arguments} --quiet --output {end}", **extra))
        return end.read_bytes()

    def test_bits_do_not_depend_on_the_ranks(self) -> None:
        for turn, (name, words) in enumerate(PROBLEMS.items()):
            problem = words.format(folder=self.folder)
            validated = "full" if name != MANY_INTERACTIONS else "sampled" if NIGHTLY else "off"
            expected = self.bits(1, f"{problem} --validate {validated}")
            for ranks, (transport, distribution) in cases(turn):
                with self.subTest(
                    name, ranks=ranks, transport=transport, distribution=distribution
                ):
                    self.assertEqual(
                        self.bits(ranks, f"{problem} --distribute {distribution} --validate off",
                                  NBODY_TRANSPORT=transport), expected)

    def test_are_right(self) -> None:
        record = self.folder / "r.json"
        for transport in TRANSPORTS:
            self.right(run(3, f"--systems 2 --bodies 333 --steps 2 --validate full --json {record}",
                           NBODY_TRANSPORT=transport))
            found = json.loads(record.read_text())
            self.assertEqual(found["verdict"], "pass")
            self.assertEqual(found["device"]["count"], 3)
            self.assertEqual(found["cluster"]["ranks"], 3)
            self.assertEqual(found["cluster"]["distribution"], "bodies")
            self.assertTrue(found["cluster"]["transport"].startswith(transport))

    def test_whole_systems_if_they_divide_evenly(self) -> None:
        record = self.folder / "r.json"
        self.right(run(3, f"--systems 6 --bodies 33 --steps 1 --json {record}"))
        self.assertEqual(json.loads(record.read_text())["cluster"]["distribution"], "systems")

    def test_resume_on_fewer_ranks(self) -> None:
        state, end = self.folder / "state.bin", self.folder / "end.bin"
        problem = "--systems 1 --bodies 700 --scenario plummer --integrator leapfrog"
        expected = self.bits(1, f"{problem} --steps 9")
        self.right(run(4, f"{problem} --steps 5 --checkpoint {state} --quiet"))
        self.right(run(3, f"--resume {state} --steps 9 --output {end} --quiet"))
        self.assertEqual(end.read_bytes(), expected)

    def test_the_same_command_continues_on_fewer_ranks(self) -> None:
        state, end = self.folder / "state.bin", self.folder / "end.bin"
        problem = "--systems 1 --bodies 700 --scenario plummer --integrator leapfrog"
        command = f"{problem} --checkpoint {state}"
        expected = self.bits(1, f"{problem} --steps 9")
        self.right(run(4, f"{command} --steps 5 --quiet"))
        ended = run(3, f"{command} --steps 9 --output {end}")
        self.right(ended)
        self.assertIn("resumed      at step 5", ended.output)
        self.assertEqual(end.read_bytes(), expected)
        before = state.read_bytes()
        refused = run(2, f"{command} --dt 0.5 --steps 9")
        self.assertEqual((refused.code, len(refused.lines())), (2, 1), refused.error)
        self.assertRegex(refused.error, "--dt is .* there and 0.5 here")
        self.assertEqual(state.read_bytes(), before)


if __name__ == "__main__":
    main()
