"""Starts a program on several ranks of this machine. Each rank may have its own command."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional, Sequence

PATIENCE = 10.0  # seconds within which every rank must end after one has ended
LIMIT = 120.0


def program() -> Path:
    return Path(os.environ["NBODY_PROGRAM"])


def processes() -> Iterator[Path]:
    """Yields the folders in /proc of the program's processes on this machine."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if Path(os.readlink(folder / "exe")) == program().resolve():
                yield folder


def environment(extra: Optional[dict[str, str]] = None) -> dict[str, str]:
    """Returns an environment in which each rank has one thread, ranks may outnumber cores, and root
    may run them, as in a container. Without HWLOC_HIDE_ERRORS, each MPI program prints errors if
    the container has no /sys."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
            "OMPI_MCA_mpi_yield_when_idle": "1", "HWLOC_HIDE_ERRORS": "2", **(extra or {})}


@dataclass
class Ended:
    code: int
    output: str
    error: str
    seconds: float

    def lines(self, name: str = "step14_cluster: ") -> list[str]:
        """Returns the output of the ranks without the lines that the launcher adds."""
        return [line for line in self.error.splitlines() if line.startswith(name)]


def words_of(ranks: Sequence[Sequence[str]]) -> list[str]:
    """Returns the mpirun command that starts one rank for each command in `ranks`. Each rank
    chooses its own command, because mpirun 5 crashes in a container without /sys if it gets several
    commands."""
    words = ["mpirun", "--bind-to", "none", "-n", str(len(ranks))]
    if all(rank == ranks[0] for rank in ranks):
        return [*words, *ranks[0]]
    cases = " ".join(f"{k}) exec {shlex.join(rank)};;" for k, rank in enumerate(ranks))
    return [*words, "sh", "-c", f"case $OMPI_COMM_WORLD_RANK in {cases} esac"]


def run_each(ranks: Sequence[Sequence[str]], extra: Optional[dict[str, str]] = None) -> Ended:
    """Runs ranks, each with its own command."""
    began = time.monotonic()
    process = subprocess.Popen(
        words_of(ranks),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment(extra),
        start_new_session=True,
    )
    try:
        output, error = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, error = process.communicate()
        raise AssertionError(f"not ended after {LIMIT:g} s: {output}{error}") from None
    return Ended(process.returncode, output, error, time.monotonic() - began)


def run(count: int, arguments: str, **extra: str) -> Ended:
    return run_each([[str(program()), *arguments.split()]] * count, extra)


def alone(arguments: str, **extra: str) -> Ended:
    """Runs the program without a launcher, as the only rank."""
    began = time.monotonic()
    done = subprocess.run([program(), *arguments.split()], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, env=environment(extra), timeout=LIMIT, check=False)
    return Ended(done.returncode, done.stdout, done.stderr, time.monotonic() - began)


class Started:
    """A run in progress, which a test can disturb."""

    def __init__(self, count: int, arguments: str, **extra: str) -> None:
        self.error = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            words_of([[str(program()), *arguments.split()]] * count),
            stdout=subprocess.DEVNULL,
            stderr=self.error,
            stdin=subprocess.DEVNULL,
            env=environment(extra),
            start_new_session=True,
        )

    def ranks(self) -> list[int]:
        """Returns the process ids in the order of the ranks."""
        found = {}
        for folder in processes():
            try:
                text = (folder / "environ").read_bytes().decode(errors="replace")
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == self.process.pid:
                values = dict(entry.partition("=")[::2] for entry in text.split("\0"))
                found[int(values["OMPI_COMM_WORLD_RANK"])] = int(folder.name)
        return [found[rank] for rank in sorted(found)]

    def wait_for(self, file: Path, count: int) -> list[int]:
        """Waits until the run has written a file, and returns the process ids."""
        until = time.monotonic() + LIMIT
        while not file.exists() or len(self.ranks()) < count:
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError(f"{file} was not written: {self.end().error}")
            time.sleep(0.02)
        return self.ranks()

    def end(self, limit: float = LIMIT) -> Ended:
        began = time.monotonic()
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            pass
        seconds = time.monotonic() - began
        left = self.ranks()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            for rank in left:
                os.kill(rank, signal.SIGKILL)
            self.process.wait()
        self.error.seek(0)
        error = self.error.read()
        self.error.close()
        if left or seconds >= limit:
            raise AssertionError(f"after {limit:g} s these ranks had not ended: {left}\n{error}")
        return Ended(self.process.returncode, "", error, seconds)


class InFolder(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="nbody-cluster-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def right(self, ended: Ended) -> Ended:
        self.assertEqual(ended.code, 0, ended.output + ended.error)
        return ended


def main() -> None:
    if shutil.which("mpirun") is None:
        print("skipped: no mpirun here (Debian: apt install openmpi-bin)")
        sys.exit(77)
    unittest.main(verbosity=2)
