#!/usr/bin/env python3
"""Tests ranks on two machines, which are network namespaces joined by a virtual cable. The test
cuts the cable."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

from ranks import PATIENCE, InFolder, environment, main, processes, program, run

NAMES = [f"nbody{os.getpid()}-{k}" for k in (1, 2)]
ADDRESSES = ("10.77.0.1", "10.77.0.2")
# Replaces ssh: runs the command in the namespace that has the address.
AGENT = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
case $1 in {0}) name={2} ;; {1}) name={3} ;; esac
shift
exec ip netns exec $name sh -c "$*"
"""
PROBLEM = "--systems 1 --bodies 700 --scenario plummer --validate off --quiet"


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


class Network(InFolder):
    def setUp(self) -> None:
        super().setUp()
        for name in NAMES:
            ip(f"netns add {name}")
            self.addCleanup(self.remove, name)
        ip(f"link add v1 netns {NAMES[0]} type veth peer name v2 netns {NAMES[1]}")
        for k, name in enumerate(NAMES):
            ip(f"-n {name} addr add {ADDRESSES[k]}/24 dev v{k + 1}")
            ip(f"-n {name} link set v{k + 1} up")
            ip(f"-n {name} link set lo up")
        self.errors = (self.folder / "errors").open("w+")
        self.addCleanup(self.errors.close)
        self.agent = self.folder / "agent"
        self.agent.write_text(AGENT.format(*ADDRESSES, *NAMES))
        self.agent.chmod(0o755)

    @staticmethod
    def remove(name: str) -> None:
        """Removes the namespace, and the daemons of mpirun that the cut cable left behind."""
        pids = subprocess.run(
            ["ip", "netns", "pids", name], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        for pid in pids.split():
            os.kill(int(pid), signal.SIGKILL)
        ip(f"netns del {name}")

    def start(self, arguments: str) -> subprocess.Popen:
        words = [
            "ip",
            "netns",
            "exec",
            NAMES[0],
            "mpirun",
            "--bind-to",
            "none",
            "--mca",
            "plm_rsh_agent",
            str(self.agent),
            "--mca",
            "pml",
            "ob1",
            "--mca",
            "btl",
            "self,tcp",
            "--mca",
            "btl_tcp_if_include",
            "10.77.0.0/24",
            "--host",
            ",".join(f"{a}:2" for a in ADDRESSES),
            "-x",
            "OMP_NUM_THREADS",
            "-x",
            "NBODY_TRANSPORT",
            str(program()),
            *arguments.split(),
        ]
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            env=environment({"NBODY_TRANSPORT": "mpi"}),
        )

    def said(self) -> str:
        return (self.folder / "errors").read_text()

    def test_bits(self) -> None:
        one, two = self.folder / "one.bin", self.folder / "two.bin"
        self.right(run(1, f"{PROBLEM} --steps 4 --output {one}"))
        process = self.start(f"{PROBLEM} --steps 4 --output {two}")
        self.assertEqual(process.wait(60), 0, self.said())
        self.assertEqual(one.read_bytes(), two.read_bytes())

    def test_a_cut_cable(self) -> None:
        state = self.folder / "state.bin"
        process = self.start(f"{PROBLEM} --steps 100000 --checkpoint {state}")
        while not state.exists():
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        time.sleep(1)
        ip(f"-n {NAMES[0]} link set v1 down")
        cut = time.monotonic()
        while any(processes()) and time.monotonic() < cut + PATIENCE:
            time.sleep(0.05)
        left = list(processes())
        process.kill()
        process.wait()
        self.assertEqual(left, [], self.said())
        self.assertRegex(
            self.said(), "step14_cluster: rank [23] .* (has been silent for 6 s|is gone)"
        )


if __name__ == "__main__":
    if shutil.which("ip") is None or os.geteuid() != 0:
        print("skipped: needs root, for network namespaces, and ip (Debian: apt install iproute2)")
        sys.exit(77)
    main()
