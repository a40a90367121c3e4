"""Tests nbody-stairs, which simulates the same bodies with one step after another. Tests its
messages to a viewer, including those about steps that fail."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from server_test import PROGRAM, Run, refusal
from view_socket import ViewSocket

STAIRS = os.path.abspath(os.environ["NBODY_STAIRS"])
VIEW = Path(__file__).resolve().parents[1] / "view.py"
FAILS = "#!/bin/sh\necho first >&2\necho no device here >&2\nexit 3\n"


class Staircase(Run):
    """A series of steps: step 00, a copy of it, a step that fails, and the given steps."""

    def __init__(self, *more):
        self.place = tempfile.TemporaryDirectory()
        folder = Path(self.place.name)
        again, fails = folder / "step01_again", folder / "step02_fails"
        again.symlink_to(PROGRAM)
        fails.write_text(FAILS, encoding="ascii")
        fails.chmod(0o755)
        state = folder / "state.csv"
        subprocess.run(
            [
                PROGRAM,
                "--scenario",
                "plummer",
                "--bodies",
                "200",
                "--steps",
                "0",
                "--output",
                state,
                "--quiet",
            ],
            check=True,
        )
        super().__init__(state, PROGRAM, again, fails, *more, "--port", "0", command=(STAIRS,))

    def __exit__(self, *unused):
        super().__exit__()
        self.place.cleanup()


def children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def stairs_of(viewer, fits):
    return viewer.wait_for("stairs", fits)


def runs(stair):
    return lambda message: (
        message["running"] == stair and message["steps"][stair]["interactions_per_second"]
    )


def last_time(viewer, frames=5):
    for _ in range(frames):
        viewer.send(type="next")
        last = viewer.frame()["time"]
    return last


class StairsTest(unittest.TestCase):
    def setUp(self):
        self.run_ = Staircase()
        self.addCleanup(self.run_.__exit__)
        self.viewer = ViewSocket(self.run_.address)
        self.addCleanup(self.viewer.socket.close)

    def test_the_same_bodies_go_on_in_another_step(self):
        viewer = self.viewer
        before = stairs_of(viewer, lambda message: True)
        self.assertEqual(
            [step["name"] for step in before["steps"]],
            ["step00_cpu_omp", "step01_again", "step02_fails"],
        )
        first = stairs_of(viewer, runs(0))["steps"][0]
        self.assertEqual((first["backend"], first["approximates"]), ("cpu", False))
        reached = last_time(viewer)
        viewer.send(type="stair", stair=1)
        second = stairs_of(
            viewer, lambda message: runs(1)(message) and message["steps"][1]["energy"]
        )
        since = second["steps"][1]["energy"]["since"]
        self.assertGreaterEqual(since, reached)  # the error is relative to this time
        self.assertGreater(
            second["steps"][0]["interactions_per_second"], 0
        )  # the first step's rate remains
        self.assertGreater(last_time(viewer), since)
        self.assertEqual(len(children(self.run_.process.pid)), 1)

    def test_a_step_that_fails_is_told_in_a_line(self):
        viewer = self.viewer
        stairs_of(viewer, runs(0))
        reached = last_time(viewer)
        viewer.send(type="stair", stair=2)
        failed = stairs_of(viewer, lambda message: message["failure"])
        self.assertEqual((failed["failure"], failed["running"]),
                         ("step02_fails ended with exit code 3: no device here", None))
        viewer.send(type="stair", stair=1)
        self.assertEqual(stairs_of(viewer, runs(1))["failure"], "")
        self.assertGreaterEqual(last_time(viewer), reached)

    def test_a_step_that_is_killed_leaves_the_bodies_that_it_was_given(self):
        viewer = self.viewer
        stairs_of(viewer, runs(0))
        os.kill(children(self.run_.process.pid)[0], signal.SIGKILL)
        killed = stairs_of(viewer, lambda message: message["failure"])
        self.assertEqual(
            (killed["failure"], killed["running"]), ("step00_cpu_omp was ended by signal 9", None)
        )
        viewer.send(type="stair", stair=1)
        again = stairs_of(
            viewer, lambda message: runs(1)(message) and message["steps"][1]["energy"]
        )
        self.assertEqual(again["steps"][1]["energy"]["since"], 0)

    def test_paused_stays_paused_and_forces_stay(self):
        viewer = self.viewer
        stairs_of(viewer, runs(0))
        viewer.send(type="forces", dt=0.02, softening=0.1)
        viewer.send(type="speed", steps_per_frame=3)
        viewer.send(type="pause")
        viewer.wait_for("status", lambda status: status["paused"] and status["dt"] == 0.02)
        viewer.send(type="stair", stair=1)
        stairs_of(viewer, lambda message: message["running"] == 1 and message["steps"][1]["energy"])
        with ViewSocket(
            self.run_.address
        ) as late:  # gets the newest status, which may come before the table
            now = late.wait_for("status", lambda status: status["paused"])
        self.assertEqual((now["dt"], now["softening"], now["steps_per_frame"]), (0.02, 0.1, 3))

    def test_there_are_no_other_steps(self):
        self.viewer.send(type="stair", stair=3)
        self.assertIn("there are only 3", self.viewer.wait_for("error")["message"])
        self.viewer.send(type="stair", stair=-1)
        self.assertIn("a whole number", self.viewer.wait_for("error")["message"])
        with Run("--scenario", "two-body") as run, ViewSocket(run.address) as viewer:
            viewer.send(type="stair", stair=0)
            self.assertIn("has only one step", viewer.wait_for("error")["message"])

    def test_ctrl_c_leaves_no_step_behind(self):
        stairs_of(self.viewer, runs(0))
        step = children(self.run_.process.pid)[0]
        self.assertEqual(self.run_.end()[0], 0)
        self.assertFalse(Path(f"/proc/{step}").exists())


class CommandTest(unittest.TestCase):
    def test_refusals(self):
        for words, pattern in (
            (["no.csv", PROGRAM], "STATE"),
            ([__file__, "step99"], "PROGRAM"),
            ([__file__], "PROGRAM"),
            ([__file__, PROGRAM, "--port", "-1"], "--port"),
        ):
            self.assertIn(pattern, refusal(STAIRS, *words))

    def test_from_the_command(self):
        """The command lets the first step make the bodies, and reports options that the first step
        rejects."""
        build = Path(PROGRAM).parents[1]
        command = (
            sys.executable,
            VIEW,
            "--step",
            "00",
            "--build",
            build,
            "--port",
            "0",
            "--stairs",
            "00",
        )
        with Run("--bodies", "150", command=command) as run:
            with ViewSocket(run.address) as viewer:
                info = viewer.wait_for("info")
                self.assertEqual((info["scenario"], info["bodies_per_system"]), ("plummer", 150))
                stairs_of(viewer, runs(0))
            view = children(run.process.pid)[0]
            self.assertEqual(run.end()[0], 0)
            time.sleep(0.1)
            self.assertFalse(Path(f"/proc/{view}").exists())
        refusal(*command, "--scenario", "nonsense")
