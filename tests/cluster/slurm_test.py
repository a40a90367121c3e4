#!/usr/bin/env python3
"""Runs the batch scripts of tools/slurm unchanged on a Slurm of this machine: munge, a controller
and two nodes.

Each node has its own /tmp, because the files that Open MPI keeps there for one node would disturb
the other. Device files such as /dev/null replace GPUs: the scripts request them, Slurm allocates
them, and hostcuda computes.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Sequence

from ranks import environment, program

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "unshare")
PATIENCE = 60.0
# The number of times that running jobs are requeued; the seed determines when.
REQUEUES = int(os.environ.get("NBODY_TEST_REQUEUES", "4"))
SEED = int(os.environ.get("NBODY_TEST_SEED", str(random.randrange(10 ** 6))))
GPUS = ("null", "zero", "full", "random")  # devices per node, one per GPU that the scripts request
# Both nodes have this machine's name, so their ranks would try to use common shared memory.
NODES = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp"}
CONFIGURATION = """ClusterName=toy
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
SelectType=select/cons_tres
GresTypes=gpu
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
NodeName=node[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=4 \
Gres=gpu:{gpus}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


@dataclass
class Job:
    """A job that is requeued after some seconds."""

    number: str
    moment: float
    began: float = 0  # when the job was first seen running
    taken: int = -1  # time steps in its checkpoint when the job was requeued


def steps_of(checkpoint: Path) -> int:
    """Returns the number of time steps in a checkpoint; common/io/formats/bin.cpp has the
    offsets."""
    return struct.unpack_from("<q", checkpoint.read_bytes(), 40)[0]


class Slurm(unittest.TestCase):
    daemons: list[subprocess.Popen] = []

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="nbody-slurm-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for name in (
            "munge",
            "state",
            "spool-node1",
            "spool-node2",
            "tmp-node1",
            "tmp-node2",
            "jobs",
        ):
            (cls.folder / name).mkdir()
        cls.folder.chmod(0o755)
        cls.program = Path(shutil.copy(program(), cls.folder))  # nodes do not see this /tmp
        port = 20000 + os.getpid() % 10000
        configuration = cls.folder / "slurm.conf"
        configuration.write_text(
            CONFIGURATION.format(
                host=socket.gethostname().partition(".")[0],
                port=port,
                first=port + 1,
                last=port + 2,
                folder=cls.folder,
                gpus=len(GPUS),
            )
        )
        (cls.folder / "gres.conf").write_text(
            "".join(f"Name=gpu File=/dev/{device}\n" for device in GPUS)
        )
        os.environ["SLURM_CONF"] = str(configuration)
        key = cls.folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        munge = cls.folder / "munge"
        cls.addClassCleanup(cls.stop)
        cls.start(
            [
                "munged",
                "--foreground",
                "--force",
                f"--key-file={key}",
                f"--socket={munge}/socket",
                f"--pid-file={munge}/pid",
                f"--log-file={munge}/log",
                f"--seed-file={munge}/seed",
            ]
        )
        cls.start(["slurmctld", "-D", "-f", str(configuration)])
        for node in ("node1", "node2"):
            inside = (
                f"mount --bind {cls.folder}/tmp-{node} /tmp && exec slurmd -D -N {node} -f "
                f"{configuration}"
            )
            cls.start(["unshare", "--mount", "sh", "-c", inside])
        until = time.monotonic() + PATIENCE
        while cls.ask(["sinfo", "-h", "-o", "%D %t"]).strip() != "2 idle":
            if time.monotonic() > until:
                raise AssertionError("the nodes did not connect: " + cls.logs())
            time.sleep(0.5)

    @classmethod
    def start(cls, words: Sequence[str]) -> None:
        cls.daemons.append(
            subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )
        time.sleep(0.5)

    @classmethod
    def stop(cls) -> None:
        for daemon in reversed(cls.daemons):
            daemon.terminate()
        for daemon in cls.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    @staticmethod
    def ask(words: Sequence[str]) -> str:
        return subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
        ).stdout

    @classmethod
    def logs(cls) -> str:
        return "".join(
            f"\n{log.name}: {log.read_text()[-1500:]}" for log in cls.folder.glob("*.log")
        )

    def submit(self, script: str, options: str, arguments: str, **extra: str) -> str:
        """Returns the job's number. With --wait, returns when the job or its whole array has
        succeeded."""
        done = subprocess.run(["sbatch", "--parsable", *options.split(),
                               str(ROOT / "tools" / "slurm" / script), *arguments.split()],
                              cwd=self.folder / "jobs", text=True, timeout=300, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**environment(NODES), "PROGRAM": str(self.program), **extra})
        self.assertEqual(done.returncode, 0, done.stdout + self.said() + self.logs())
        return done.stdout.split()[0]

    def said(self, name: str = "*") -> str:
        return "".join(
            file.read_text() for file in (self.folder / "jobs").glob(f"nbody-{name}.out")
        )

    def undisturbed(self, words: str, name: str) -> bytes:
        """Returns the result of a run on one rank without Slurm."""
        end = self.folder / name
        subprocess.run(
            [self.program, *words.split(), "--quiet", "--output", end],
            env=environment(),
            check=True,
        )
        return end.read_bytes()

    def states(self) -> dict[str, tuple[str, int]]:
        """Returns each job's state and how often it was requeued. The waiting jobs of an array
        share one entry, which belongs to none of them."""
        found = {}
        for words in self.ask(["scontrol", "--oneliner", "show", "jobs"]).splitlines():
            said = dict(re.findall(r"(\w+)=(\S*)", words))
            if "JobState" not in said:
                continue
            task = said.get("ArrayTaskId")
            number = f"{said['ArrayJobId']}_{task}" if task else said["JobId"]
            found[number] = (said["JobState"], int(said["Restarts"]))
        return found

    def requeue(self, jobs: Iterable[Job]) -> None:
        """Requeues each job when it has run for `job.moment` seconds. Returns when all jobs have
        succeeded, requeued or not."""
        jobs = list(jobs)
        until = time.monotonic() + PATIENCE + 30 * len(jobs)
        while True:
            states = {**{job.number: ("PENDING", 0) for job in jobs}, **self.states()}
            ended = [states[job.number][0] not in ("PENDING", "RUNNING", "COMPLETING", "REQUEUED")
                     for job in jobs]
            for job in jobs:
                state, restarts = states[job.number]
                if state == "RUNNING" and job.taken < 0:
                    job.began = job.began or time.monotonic()
                    if time.monotonic() > job.began + job.moment:
                        checkpoint = self.folder / "jobs" / f"nbody-{job.number}.bin"
                        job.taken = steps_of(checkpoint) if checkpoint.exists() else 0
                        self.ask(["scontrol", "requeue", job.number])
                elif state == "PENDING" and restarts > 0:  # otherwise Slurm would wait two minutes
                    self.ask(["scontrol", "update", f"JobId={job.number}", "StartTime=now"])
            if all(ended):
                break
            self.assertLess(time.monotonic(), until, f"{states}{self.said()}{self.logs()}")
            time.sleep(0.1)
        for job in jobs:
            self.assertEqual(
                states[job.number][0], "COMPLETED", self.said(job.number) + self.logs()
            )
            if job.taken > 0 and states[job.number][1] > 0:
                again = re.findall(
                    r"resumed +at step (\d+)|has taken all (\d+)", self.said(job.number)
                )
                self.assertTrue(again, f"{job}: {self.said(job.number)}")
                self.assertGreaterEqual(int("".join(again[0])), job.taken, self.said(job.number))

    def test_requeued_jobs_end_with_the_files_of_an_undisturbed_run(self) -> None:
        print(f"NBODY_TEST_REQUEUES={REQUEUES} NBODY_TEST_SEED={SEED}", flush=True)
        draw = random.Random(SEED)
        folders = [self.folder / "jobs" / f"of-{k}" for k in range(5)]
        for folder in folders:
            (folder / "snapshots").mkdir(parents=True)

        def start(folder: Path, wait: str = "") -> Job:
            number = self.submit(
                "run.sbatch", f"{wait} --nodes=1 --ntasks-per-node=2 --cpus-per-task=1",
                "--scenario plummer --systems 1 --bodies 600 --integrator leapfrog --validate off "
                f"--steps 200 --output {folder}/end.bin --diagnostics {folder}/d.csv "
                f"--snapshot-every 10 --snapshot-dir {folder}/snapshots")
            return Job(number, draw.uniform(0, seconds))

        def written(folder: Path) -> dict[str, bytes]:
            return {str(file.relative_to(folder)): file.read_bytes()
                    for file in folder.rglob("*") if file.is_file()}

        seconds = 0.0  # seconds that a job takes
        began = time.monotonic()
        start(folders[4], "--wait")
        seconds = time.monotonic() - began
        right = written(folders[4])
        self.assertEqual(len(right), 2 + 21)
        requeued = 0
        while requeued < REQUEUES:
            used = folders[:min(4, REQUEUES - requeued)]
            jobs = [start(folder) for folder in used]
            self.requeue(jobs)
            for folder, job in zip(used, jobs):
                self.assertEqual(written(folder), right, job)
                restarts = self.states()[job.number][1]
                requeued += restarts
                print(f"{job}, started again: {restarts}", flush=True)
                shutil.rmtree(folder)
                (folder / "snapshots").mkdir(parents=True)

    def test_a_requeued_run_of_an_array(self) -> None:
        problem = "--scenario plummer --systems 1 --bodies 600 --validate off --steps 200"
        right = [self.undisturbed(f"{problem} --seed {k}", f"right-{k}.bin") for k in (1, 2)]
        array = self.submit("array.sbatch", "--array=1-2 --cpus-per-task=1", problem)
        draw = random.Random(SEED)
        self.requeue(Job(f"{array}_{k}", draw.uniform(0, 4)) for k in (1, 2))
        for k in (1, 2):
            end = self.folder / "jobs" / f"end-{array}_{k}.bin"
            self.assertEqual(end.read_bytes(), right[k - 1])

    def test_a_run_on_two_nodes_and_its_end_on_one(self) -> None:
        jobs = self.folder / "jobs"
        problem = "--scenario plummer --bodies 500 --validate off"
        first = self.submit("run.sbatch", "--wait --nodes=2 --ntasks-per-node=2 --cpus-per-task=1",
                            problem + " --steps 20")
        self.assertIn("4 ranks", self.said(first))
        self.assertRegex(self.ask(["scontrol", "show", "jobs"]), "TresPerTask=gres:gpu:1")
        then = self.submit("run.sbatch", "--wait --nodes=1 --ntasks-per-node=3 --cpus-per-task=1",
                           f"{problem} --steps 40 --output {jobs}/end.bin",
                           CHECKPOINT=f"nbody-{first}.bin")
        self.assertIn("resumed      at step 20", self.said(then))
        self.assertEqual((jobs / "end.bin").read_bytes(),
                         self.undisturbed(problem + " --steps 40", "whole.bin"))

    def test_an_array_of_runs(self) -> None:
        array = self.submit("array.sbatch", "--wait --array=1-3 --cpus-per-task=1",
                            "--scenario plummer --bodies 100 --steps 5")
        ends = [(self.folder / "jobs" / f"end-{array}_{k}.bin").read_bytes() for k in (1, 2, 3)]
        self.assertEqual(len(set(ends)), 3)


if __name__ == "__main__":
    if (
        any(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None for name in NEEDED)
        or os.geteuid() != 0
    ):
        print("skipped: needs root, slurm-wlm and munge (Debian: apt install slurm-wlm munge)")
        sys.exit(77)
    unittest.main(verbosity=2)
