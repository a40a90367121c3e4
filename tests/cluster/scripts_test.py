#!/usr/bin/env python3
"""Starts each batch script as its batch system would, with stubs for the programs that it calls.
The nightly slurm_test.py uses a real Slurm; PBS and Flux are tested only here, because Debian 12
has neither. This test checks the command lines that the scripts produce, and the names of their
files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
WORDS = "--scenario plummer --steps 9"
# A stub that prints its arguments. For `flux resource list` it prints the number of GPUs.
STUB = """#!/bin/sh
if [ "$1" = resource ]; then echo 6; exit; fi
echo "$(basename "$0") $*; ranks $NBODY_RANKS, threads $OMP_NUM_THREADS"
"""


class Scripts(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("srun", "mpirun", "flux"):
            stub = self.folder / name
            stub.write_text(STUB)
            stub.chmod(0o755)
        (self.folder / "nodes").write_text("node1\nnode1\nnode2\n")

    def run_it(self, script: str, *words: str, **variables: str) -> str:
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", TOOLS / script, *words],
            cwd=self.folder,
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": path, "PROGRAM": "step", **variables},
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_a_job_of_slurm(self) -> None:
        task = {"SLURM_CPUS_PER_TASK": "8"}
        for job in ("17", "18"):
            said = self.run_it("slurm/run.sbatch", *WORDS.split(), SLURM_JOB_ID=job, **task)
            self.assertRegex(
                said,
                f"^srun .*--mpi=pmix .* step --checkpoint nbody-{job}.bin {WORDS};.*threads 8$",
            )
        said = self.run_it("slurm/run.sbatch", SLURM_JOB_ID="18", CHECKPOINT="nbody-17.bin", **task)
        self.assertIn("step --checkpoint nbody-17.bin;", said)

    def test_a_run_of_an_array_of_slurm(self) -> None:
        said = self.run_it("slurm/array.sbatch", *WORDS.split(), SLURM_CPUS_PER_TASK="8",
                           SLURM_ARRAY_JOB_ID="17", SLURM_ARRAY_TASK_ID="3", SLURM_JOB_ID="21")
        self.assertRegex(said, "step --seed 3 --checkpoint nbody-17_3.bin --output end-17_3.bin "
                               f"--json run-17_3.json {WORDS};")

    def test_a_job_of_pbs(self) -> None:
        pbs = {"PBS_O_WORKDIR": str(self.folder), "PBS_NODEFILE": str(self.folder / "nodes"),
               "OMP_NUM_THREADS": "4", "WORDS": WORDS}
        called = (
            f"mpirun -n 3 --hostfile {self.folder}/nodes --bind-to none -x NBODY_RANKS "
            f"-x OMP_NUM_THREADS step --checkpoint nbody-17.bin {WORDS}; ranks 3, threads 4\n"
        )
        log = self.folder / "nbody-17.out"
        self.assertEqual(self.run_it("pbs/run.pbs", PBS_JOBID="17.server.site", **pbs), "")
        self.assertEqual(log.read_text(), called)
        self.run_it("pbs/run.pbs", PBS_JOBID="17.server.site", **pbs)  # the job is started again
        self.assertEqual(log.read_text(), 2 * called)
        self.run_it("pbs/run.pbs", PBS_JOBID="18[2].server", CHECKPOINT="nbody-17.bin", **pbs)
        self.assertEqual((self.folder / "nbody-18[2].out").read_text(), called)

    def test_a_job_of_flux(self) -> None:
        for job, words in (("f1", {}), ("f2", {"CHECKPOINT": "nbody-f1.bin"})):
            said = self.run_it("flux/run.flux", *WORDS.split(), FLUX_ENCLOSING_ID=job, **words)
            self.assertRegex(
                said,
                "^flux run --ntasks=6 --cores-per-task=8 --gpus-per-task=1 .*pmi=pmix"
                f".* step --checkpoint nbody-f1.bin {WORDS}; ranks 6, threads 8$",
            )

    def test_scripts_ask_slurm_and_pbs_to_requeue(self) -> None:
        for script in ("slurm/run.sbatch", "slurm/array.sbatch"):
            lines = (TOOLS / script).read_text().splitlines()
            self.assertIn("#SBATCH --requeue", lines, script)
            self.assertIn("#SBATCH --open-mode=append", lines, script)
        self.assertIn("#PBS -r y", (TOOLS / "pbs/run.pbs").read_text().splitlines())


if __name__ == "__main__":
    unittest.main()
