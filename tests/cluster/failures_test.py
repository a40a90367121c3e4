#!/usr/bin/env python3
"""Tests that if one rank fails, all ranks end soon with a one-line message that gives the rank and
the reason, and that the last checkpoint survives."""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from nbody_tools.cluster import cluster
from ranks import (
    PATIENCE,
    Ended,
    InFolder,
    Started,
    alone,
    environment,
    main,
    program,
    run,
    run_each,
)

KILLS = int(os.environ.get("NBODY_TEST_KILLS", "2"))
NIGHTLY = "NBODY_NIGHTLY" in os.environ
SEED = int(os.environ.get("NBODY_TEST_SEED", "1"))
PROBLEM = "--systems 1 --bodies 500 --scenario plummer --integrator leapfrog"
STEPS, LATEST = (
    (400, 0.5) if NIGHTLY else (160, 0.15)
)  # time steps of a run; latest second at which a rank is killed
TRANSPORTS = ("mpi", "nccl")


def libraries_of(file: Path) -> list[Path]:
    """Returns the shared libraries that the program loads."""
    listed = subprocess.run(["ldd", file], check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in re.findall(r"=> (/\S+)", listed)]


class Failures(InFolder):
    def one_line(self, ended: Ended, *patterns: str) -> None:
        self.assertEqual(len(ended.lines()), 1, ended.error)
        for pattern in patterns:
            self.assertRegex(ended.lines()[0], pattern)

    def refused(self, code: int, ended: Ended, *patterns: str) -> None:
        self.assertEqual(ended.code, code, ended.error)
        self.one_line(ended, *patterns)

    def test_killed_ranks(self) -> None:
        """Kills a rank at a random moment, with either transport, and resumes from the
        checkpoint."""
        chance = random.Random(SEED)
        expected = self.folder / "expected.bin"
        self.right(run(1, f"{PROBLEM} --steps {STEPS} --output {expected} --quiet --validate off"))
        for kill in range(KILLS):
            rank, transport = chance.randrange(4), TRANSPORTS[kill % len(TRANSPORTS)]
            with self.subTest(kill=kill, rank=rank, transport=transport):
                state, end = self.folder / f"state{kill}.bin", self.folder / f"end{kill}.bin"
                run_on = Started(
                    4,
                    f"{PROBLEM} --steps {STEPS} --checkpoint {state} --quiet --validate off "
                    f"--snapshot-every 5 --snapshot-dir {self.snapshots(kill)}",
                    NBODY_TRANSPORT=transport,
                )
                victims = run_on.wait_for(state, 4)
                time.sleep(chance.uniform(0, LATEST))
                os.kill(victims[rank], signal.SIGKILL)
                ended = run_on.end(PATIENCE)
                self.assertNotEqual(ended.code, 0)
                self.one_line(
                    ended,
                    f"rank {rank} .*process {victims[rank]}.* is gone; all ranks end|"
                    f"rank {rank} .*process {victims[rank]}.* is gone: killed, or crashed",
                )
                self.right(
                    run(
                        3, f"--resume {state} --steps {STEPS} --output {end} --quiet --validate off"
                    )
                )
                self.assertEqual(end.read_bytes(), expected.read_bytes())

    def snapshots(self, kill: int) -> Path:
        folder = self.folder / f"snapshots{kill}"
        folder.mkdir()
        return folder

    def test_a_rank_that_hangs(self) -> None:
        state = self.folder / "state.bin"
        run_on = Started(3, f"{PROBLEM} --steps 100000 --checkpoint {state} --quiet --validate off")
        victim = run_on.wait_for(state, 3)[2]
        os.kill(victim, signal.SIGSTOP)
        try:
            ended = run_on.end(PATIENCE)
        finally:
            if Path(f"/proc/{victim}").exists():
                os.kill(victim, signal.SIGCONT)
        self.one_line(ended, "rank 2 .* has been silent for 6 s")

    def test_a_shorter_silence(self) -> None:
        state = self.folder / "state.bin"
        run_on = Started(2, f"{PROBLEM} --steps 100000 --checkpoint {state} --quiet --validate off",
                         NBODY_SILENCE="2")
        victim = run_on.wait_for(state, 2)[1]
        os.kill(victim, signal.SIGSTOP)
        try:
            ended = run_on.end(5)
        finally:
            if Path(f"/proc/{victim}").exists():
                os.kill(victim, signal.SIGCONT)
        self.one_line(ended, "rank 1 .* has been silent for 2 s")
        for wrong in ("1", "six"):
            refused = run(2, "--scenario two-body --steps 1", NBODY_SILENCE=wrong)
            self.refused(2, refused, f'NBODY_SILENCE: "{wrong}" is not allowed; 2 to 86400 seconds')

    @unittest.skipUnless(NIGHTLY, "nightly: takes ten seconds of two cores")
    def test_a_longer_silence(self) -> None:
        """A debugger stops a rank for 8 s. The run goes on, because a rank may be silent for
        60 s."""
        state = self.folder / "state.bin"
        run_on = Started(2, f"{PROBLEM} --steps 100000 --checkpoint {state} --quiet --validate off",
                         NBODY_SILENCE="60")
        root, victim = run_on.wait_for(state, 2)
        os.kill(victim, signal.SIGSTOP)
        time.sleep(8)
        os.kill(victim, signal.SIGCONT)
        time.sleep(2)
        self.assertIsNone(run_on.process.poll())
        os.kill(root, signal.SIGTERM)
        self.one_line(run_on.end(PATIENCE), "interrupted after [0-9]+ steps")

    def each(self, arguments: str = "--scenario two-body --steps 3") -> list[list[str]]:
        return [[str(program()), *arguments.split()] for _ in range(3)]

    def test_a_rank_without_a_device(self) -> None:
        ranks = self.each()
        ranks[1][:0] = ["env", "HOSTCUDA_DEVICES=0"]
        self.refused(1, run_each(ranks), "rank 1 .* has no CUDA device")

    def test_no_device_at_all(self) -> None:
        self.refused(77, run(3, "--scenario two-body", HOSTCUDA_DEVICES="0"), "no CUDA device")

    def test_help_and_version_need_no_device(self) -> None:
        for word, answer in (("--help", "--distribute"), ("--version", "step14_cluster [0-9a-f]")):
            ended = run(3, word, HOSTCUDA_DEVICES="0")
            self.assertEqual((ended.code, ended.lines()), (0, []))
            self.assertEqual(len(re.findall(answer, ended.output)), 1, ended.output)

    def test_other_arguments(self) -> None:
        ranks = self.each()
        ranks[2][-1] = "4"
        self.refused(2, run_each(ranks), "rank 2 .* was started with other arguments than rank 0")

    def test_another_build(self) -> None:
        """One rank runs a program of another revision."""
        version = run(1, "--version").output.split()[-1].encode()
        # In a build tree, the revision is in the shared library; elsewhere it is in the program.
        holder = next((file for file in (program(), *libraries_of(program()))
                       if version in file.read_bytes()), None)
        self.assertIsNotNone(holder)
        other = self.folder / holder.name
        other.write_bytes(holder.read_bytes().replace(version, bytes(reversed(version))))
        shutil.copymode(holder, other)
        ranks = self.each()
        if holder == program():
            ranks[1][0] = str(other)
        else:
            ranks[1][:0] = ["env", f"LD_LIBRARY_PATH={self.folder}"]
        self.refused(1, run_each(ranks), "rank 1 .* runs a different build .* than rank 0")

    def test_a_device_that_is_lost_in_a_collective(self) -> None:
        """The device fails on the root or on another rank; the nightly tests use each transport."""
        for lost, transport in (
            itertools.product((0, 2), TRANSPORTS) if NIGHTLY else zip((0, 2), TRANSPORTS)
        ):
            with self.subTest(rank=lost, transport=transport):
                ranks = self.each("--systems 1 --bodies 500 --steps 50 --validate off")
                ranks[lost][:0] = ["env", "HOSTCUDA_LOSE_DEVICE=150"]
                ended = run_each(ranks, {"NBODY_TRANSPORT": transport})
                self.assertNotEqual(ended.code, 0)
                self.assertLess(ended.seconds, PATIENCE)
                self.one_line(ended, "cudaErrorDevicesUnavailable",
                              "^step14_cluster: " + ("(?!rank)" if lost == 0 else "rank 2 "))

    def test_a_wrong_argument_is_reported_once(self) -> None:
        self.refused(2, run(3, "--steps no"), "--steps")

    def test_an_unknown_transport(self) -> None:
        ended = run(3, "--scenario two-body", NBODY_TRANSPORT="pigeon")
        self.refused(2, ended, 'NBODY_TRANSPORT: "pigeon" is not allowed')

    def test_transports_that_disagree(self) -> None:
        ranks = self.each()
        ranks[1][:0] = ["env", "NBODY_TRANSPORT=mpi"]
        ended = run_each(ranks, {"NBODY_TRANSPORT": "nccl"})
        self.refused(2, ended, r"rank 1 .* uses a different transport \(mpi\) than rank 0 \(nccl\)")

    def test_an_unknown_transport_of_one_rank(self) -> None:
        for wrong in (0, 2):
            ranks = self.each()
            ranks[wrong][:0] = ["env", "NBODY_TRANSPORT=pigeon"]
            ended = run_each(ranks)
            self.refused(2, ended, f'rank {wrong} .*NBODY_TRANSPORT: "pigeon" is not allowed')

    def test_help_on_a_single_rank(self) -> None:
        for one in (0, 2):
            ranks = self.each()
            ranks[one].append("--help")
            ended = run_each(ranks, {"HOSTCUDA_DEVICES": "0"})
            self.assertEqual((ended.code, ended.output), (2, ""), ended.error)
            self.one_line(ended, "was started with other arguments than rank 0")

    def test_ranks_without_a_common_mpi(self) -> None:
        """srun without PMIx, and launchers that do not know this MPI, start ranks that do not find
        each other."""
        for variable, why in (("NBODY_RANKS", "NBODY_RANKS is 3, but MPI started 1"),
                              ("SLURM_STEP_NUM_TASKS", "Slurm started 3 tasks, .*srun --mpi=pmix"),
                              ("FLUX_JOB_SIZE", "Flux started 3 tasks, .*flux run -o pmi=pmix"),
                              ("JSM_NAMESPACE_SIZE", "jsrun started 3 tasks, .* started only 1"),
                              ("OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI started 3 tasks"),
                              ("PMI_SIZE", "mpiexec started 3 tasks, .* the MPI that it was built"),
                              ("PALS_RANKID", "PALS started task 3, but MPI started only 1")):
            with self.subTest(variable):
                output = self.folder / "end.bin"
                ended = alone(f"--scenario two-body --steps 3 --output {output}", **{variable: "3"})
                self.refused(2, ended, why)
                self.assertFalse(output.exists())
                if variable != "NBODY_RANKS":
                    self.right(alone("--scenario two-body --steps 1 --quiet", NBODY_RANKS="1",
                                     **{variable: "3"}))
        self.right(
            run(3, "--scenario two-body --steps 3", NBODY_RANKS="3", SLURM_STEP_NUM_TASKS="3")
        )

    def test_a_system_that_is_too_large(self) -> None:
        ended = run(2, "--systems 1 --bodies 65536 --validate off", HOSTCUDA_MEMORY="5000000")
        self.refused(
            1,
            ended,
            "systems of 65536 bodies need [0-9]+ MB on each device.*whatever the number of ranks; "
            "5 MB are free, enough for about [0-9]+ bodies",
        )

    def started(self, checkpoint: bool) -> tuple[Started, list[int], Path]:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        state = folder / "state.bin"
        words = (
            f"--checkpoint {state}"
            if checkpoint
            else f"--snapshot-every 50 --snapshot-dir {folder}"
        )
        run_on = Started(3, f"{PROBLEM} --steps 100000 {words} --quiet --validate off")
        until = time.monotonic() + 60
        while not any(folder.glob("*.bin")) and time.monotonic() < until:
            time.sleep(0.05)
        return run_on, run_on.ranks(), state

    def test_a_signal_to_only_the_first_rank(self) -> None:
        signals, checkpoints = (signal.SIGINT, signal.SIGTERM), (True, False)
        for number, checkpoint in (
            itertools.product(signals, checkpoints) if NIGHTLY else zip(signals, checkpoints)
        ):
            with self.subTest(signal=number, checkpoint=checkpoint):
                run_on, ranks, _ = self.started(checkpoint)
                os.kill(ranks[0], number)
                ended = run_on.end(PATIENCE)
                self.assertNotEqual(ended.code, 0)
                self.one_line(
                    ended,
                    "interrupted after [0-9]+ steps; the same command continues, or --resume"
                    if checkpoint
                    else f"ended by {number.name}; all ranks end",
                )

    def test_the_end_of_the_launcher_ends_with_a_checkpoint(self) -> None:
        """mpirun passes SIGTERM on to the ranks and then waits as long as `./nbody cluster` tells
        it to. The quick tests make mpirun wait only briefly, because the ranks keep the cores
        busy."""
        version = subprocess.check_output(["mpirun", "--version"], text=True)
        if "(Open MPI) 4." not in version:
            self.skipTest("mpirun 5 kills its ranks half a second after SIGTERM")
        patience = mock.patch.object(
            cluster, "FOR_A_CHECKPOINT", cluster.FOR_A_CHECKPOINT if NIGHTLY else "4"
        )
        with patience, mock.patch.dict(os.environ, cluster.environment()):
            run_on, _, state = self.started(checkpoint=True)
            run_on.process.send_signal(signal.SIGTERM)
            ended = run_on.end(3 * PATIENCE)
        self.ended_with_a_checkpoint(ended, state)

    def test_sigterm_to_nbody_cluster_ends_with_a_checkpoint(self) -> None:
        """On SIGTERM, `./nbody cluster` sends SIGUSR1 to mpirun, which passes this signal on and
        does not kill ranks."""
        state = self.folder / "state.bin"
        words = f"{PROBLEM} --steps 100000 --quiet --validate off --checkpoint"
        process = subprocess.Popen(
            [sys.executable, "-m", "nbody_tools", "cluster", "run", "--build", program().parents[1],
             "--ranks", "3", "14", *words.split(), state],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(),
        )
        until = time.monotonic() + 60
        while not state.exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=3 * PATIENCE)
        self.ended_with_a_checkpoint(Ended(process.returncode, "", error, 0), state)

    def ended_with_a_checkpoint(self, ended: Ended, state: Path) -> None:
        self.one_line(
            ended, "interrupted after [0-9]+ steps; the same command continues, or --resume"
        )
        steps = int(re.findall("after ([0-9]+) steps", ended.error)[0])
        self.right(run(2, f"--resume {state} --steps {steps + 1} --quiet --validate off"))

    def test_an_interruption_ends_with_a_checkpoint(self) -> None:
        """SIGTERM reaches all ranks, as at the end of a batch system's time limit."""
        state = self.folder / "state.bin"
        run_on = Started(3, f"{PROBLEM} --steps 100000 --checkpoint {state} --quiet --validate off")
        for rank in run_on.wait_for(state, 3):
            os.kill(rank, signal.SIGTERM)
        ended = run_on.end(PATIENCE)
        self.one_line(
            ended, "interrupted after [0-9]+ steps; the same command continues, or --resume"
        )
        steps = int(re.findall("after ([0-9]+) steps", ended.error)[0])
        self.right(run(2, f"--resume {state} --steps {steps + 1} --quiet --validate off"))


if __name__ == "__main__":
    main()
