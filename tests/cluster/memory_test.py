#!/usr/bin/env python3
"""Tests that a run keeps only one copy of its bodies, whatever it reads and writes, unless its
result is compared with its initial state. Only step 00 is tested, because it uses no device memory
and all other programs, including the first rank of step 14, handle bodies in the same way."""

from __future__ import annotations

import os
import subprocess
import unittest

from ranks import InFolder

BODY = 28  # bytes
SYSTEMS = (25_000, 100_000)  # numbers of systems with eight bodies each
OPTIONS = "--bodies 8 --steps 2 --validate off --quiet"


class Memory(InFolder):
    def peak(self, arguments: str) -> int:
        """Returns the process's peak memory use in bytes."""
        with subprocess.Popen(
            [os.environ["NBODY_PROGRAM"], *arguments.split()], stdin=subprocess.DEVNULL
        ) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss << 10

    def per_body(self, arguments: str) -> float:
        few, many = (
            self.peak(arguments.format(systems=systems, folder=self.folder)) for systems in SYSTEMS
        )
        return (many - few) / (8 * (SYSTEMS[1] - SYSTEMS[0]))

    def test_reading_and_writing(self) -> None:
        written = "{folder}/{systems}.bin"
        self.assertLess(
            self.per_body(f"{OPTIONS} --systems {{systems}} --output {written}"), 1.2 * BODY
        )
        self.assertLess(self.per_body(f"{OPTIONS} --input {written} --output {{folder}}/end.bin "
                                      "--checkpoint {folder}/state{systems}.bin"), 1.2 * BODY)
        self.assertLess(
            self.per_body(
                "--resume {folder}/state{systems}.bin --steps 3 --validate off --quiet "
                "--output {folder}/end.bin"
            ),
            1.2 * BODY,
        )
        # The same command first reads its input, for the checksum, and then the checkpoint.
        self.assertLess(
            self.per_body(
                f"--bodies 8 --steps 4 --validate off --quiet --input {written} "
                "--checkpoint {folder}/state{systems}.bin"
            ),
            1.2 * BODY,
        )

    def test_snapshots_of_leapfrog(self) -> None:
        """For each snapshot, the program keeps the positions and moves a copy of them half a step
        back, which takes 12 more bytes per body."""
        os.mkdir(self.folder / str(SYSTEMS[0]))
        os.mkdir(self.folder / str(SYSTEMS[1]))
        self.assertLess(
            self.per_body(
                f"{OPTIONS} --systems {{systems}} --integrator leapfrog --snapshot-every 1 "
                "--snapshot-dir {folder}/{systems}"
            ),
            1.7 * BODY,
        )


if __name__ == "__main__":
    unittest.main(verbosity=2)
