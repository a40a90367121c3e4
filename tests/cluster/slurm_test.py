#!/usr/bin/env python3
"""The batch scripts of tools/slurm, unchanged, on a Slurm of this machine: munge, a controller and two nodes.

Each node has a /tmp of its own, or what Open MPI keeps there for one would be in the way of the other. Other
devices stand for its GPUs: the scripts ask for them, Slurm hands them out, and hostcuda computes.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Sequence

from ranks import environment, program

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "unshare")
PATIENCE = 60.0
GPUS = ("null", "zero", "full", "random")  # of a node: as many as the script asks for
# Both nodes have this machine's name; memory that ranks of one machine share they would look for in vain.
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
NodeName=node[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=4 Gres=gpu:{gpus}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


class Slurm(unittest.TestCase):
    daemons: list[subprocess.Popen] = []

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="nbody-slurm-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for name in ("munge", "state", "spool-node1", "spool-node2", "tmp-node1", "tmp-node2", "jobs"):
            (cls.folder / name).mkdir()
        cls.folder.chmod(0o755)
        cls.program = Path(shutil.copy(program(), cls.folder))  # the nodes do not see this /tmp
        port = 20000 + os.getpid() % 10000
        configuration = cls.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(host=socket.gethostname().partition(".")[0], port=port,
                                                      first=port + 1, last=port + 2, folder=cls.folder, gpus=len(GPUS)))
        (cls.folder / "gres.conf").write_text("".join(f"Name=gpu File=/dev/{device}\n" for device in GPUS))
        os.environ["SLURM_CONF"] = str(configuration)
        key = cls.folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        munge = cls.folder / "munge"
        cls.addClassCleanup(cls.stop)
        cls.start(["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}/socket",
                   f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed"])
        cls.start(["slurmctld", "-D", "-f", str(configuration)])
        for node in ("node1", "node2"):
            inside = f"mount --bind {cls.folder}/tmp-{node} /tmp && exec slurmd -D -N {node} -f {configuration}"
            cls.start(["unshare", "--mount", "sh", "-c", inside])
        until = time.monotonic() + PATIENCE
        while cls.ask(["sinfo", "-h", "-o", "%D %t"]).strip() != "2 idle":
            if time.monotonic() > until:
                raise AssertionError("the nodes did not come: " + cls.logs())
            time.sleep(0.5)

    @classmethod
    def start(cls, words: Sequence[str]) -> None:
        cls.daemons.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
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
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30,
                              check=False).stdout

    @classmethod
    def logs(cls) -> str:
        return "".join(f"\n{log.name}: {log.read_text()[-1500:]}" for log in cls.folder.glob("*.log"))

    def submit(self, script: str, options: str, arguments: str) -> str:
        """Waits for the end of the job, or of all of an array; its state."""
        done = subprocess.run(["sbatch", "--parsable", "--wait", *options.split(), str(ROOT / "tools" / "slurm" / script),
                               *arguments.split()], cwd=self.folder / "jobs", text=True, timeout=300, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**environment(NODES), "PROGRAM": str(self.program)})
        said = "".join(file.read_text() for file in (self.folder / "jobs").glob("*.out"))
        self.assertEqual(done.returncode, 0, done.stdout + said + self.logs())
        return said

    def test_a_run_on_two_nodes_and_its_end_on_one(self) -> None:
        jobs = self.folder / "jobs"
        problem = "--scenario plummer --bodies 500 --validate off"
        said = self.submit("run.sbatch", "--nodes=2 --ntasks-per-node=2 --cpus-per-task=1",
                           problem + " --steps 20")
        self.assertIn("4 ranks", said)
        self.assertRegex(self.ask(["scontrol", "show", "jobs"]), "TresPerTask=gres:gpu:1")
        self.submit("run.sbatch", "--nodes=1 --ntasks-per-node=3 --cpus-per-task=1",
                    f"--resume nbody.bin --steps 40 --validate off --output {jobs}/end.bin")
        subprocess.run([self.program, *problem.split(), "--steps", "40", "--quiet", "--output", jobs / "whole.bin"],
                       env=environment(), check=True)
        self.assertEqual((jobs / "end.bin").read_bytes(), (jobs / "whole.bin").read_bytes())

    def test_an_array_of_runs(self) -> None:
        self.submit("array.sbatch", "--array=1-3 --cpus-per-task=1", "--scenario plummer --bodies 100 --steps 5")
        ends = [(self.folder / "jobs" / f"end_{k}.bin").read_bytes() for k in (1, 2, 3)]
        self.assertEqual(len(set(ends)), 3)


if __name__ == "__main__":
    if any(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None for name in NEEDED) or os.geteuid() != 0:
        print("skipped: needs root, slurm-wlm and munge (Debian: apt install slurm-wlm munge)")
        sys.exit(77)
    unittest.main(verbosity=2)
