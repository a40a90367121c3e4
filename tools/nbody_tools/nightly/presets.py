"""Builds each nightly build folder, lists its nightly tests, and runs them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Sequence

from nbody_tools.arguments import ROOT

LOGS = ROOT / "build" / "log"
BUILD = "build"  # name of the test that compiles everything in a preset
RESULT = re.compile(r"^ *\d+/\d+ +Test +#\d+: (\S+) [. ]*(.*?) +([\d.]+) sec")
STARTED = re.compile(r"^ *Start +\d+: (\S+)")
LISTED = re.compile(r"^ *Test +#\d+: (\S+)", re.M)
# Maps ctest's words to outcomes. Any other word counts as failed.
OUTCOMES = {"Passed": "passed", "***Skipped": "skipped", "Not Run (Disabled)": "skipped"}
# Tests share the cores, as in the quick tests (run_tests in tools/commands.sh).
ENVIRONMENT = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Preset:
    name: str
    selection: tuple[str, ...]  # options with which ctest selects the nightly tests
    folder: Path
    configured_with: tuple[str, ...] = ()
    needs: Callable[[], bool] = lambda: True  # returns True if this machine can build it
    is_nightly: bool = True  # if true, building the preset is also a nightly test

    @property
    def is_configured(self) -> bool:
        return (self.folder / "CTestTestfile.cmake").exists()

    def tests(self) -> list[str]:
        """Returns the names of the nightly tests in the preset's build folder."""
        listed = subprocess.run(["ctest", *self.selection, "-N"], cwd=ROOT, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, check=False).stdout
        return [BUILD] * self.is_nightly + LISTED.findall(listed)

    def build(self, until: float) -> str:
        """Configures and builds the preset. Returns "passed" or "failed", or "" if there was too
        little time."""
        configure = ["cmake", "--preset", self.name, "-DBUILD_TESTING=ON", "-DNBODY_EXPERIMENTS=ON",
                     "-DNBODY_ALL_TESTS=ON", "-DNBODY_LIVE_VIEW=ON",
                     f"-DPython3_EXECUTABLE={sys.executable}", *self.configured_with]
        compile_ = ["cmake", "--build", "--preset", self.name, "--parallel", str(cores())]
        LOGS.mkdir(parents=True, exist_ok=True)
        log = LOGS / f"build-{self.name}.log"
        with log.open("w", encoding="utf-8") as output:
            for words in (configure, compile_):
                with started(words, until, cwd=ROOT, stdout=output) as running:
                    code = running.wait()
                if time.monotonic() > until:
                    return ""
                if code:
                    print("\n".join(log.read_text(encoding="utf-8").splitlines()[-20:]))
                    return "failed"
        return "passed"

    def run(self, tests: Sequence[str], until: float,
            report: Callable[[str, str, float], None]) -> dict[str, float]:
        """Runs the given tests, and other tests that they require. Reports the outcome of each test
        that ends before `until`. Returns how many seconds each interrupted test has run."""
        names = "|".join(re.escape(test) for test in tests)
        words = ["ctest", "--test-dir", str(self.folder), "--parallel", str(cores()),
                 "--output-on-failure", "-R", f"^({names})$"]
        log = LOGS / f"nightly-{self.name}.log"
        begun: dict[str, float] = {}
        with log.open("a", encoding="utf-8") as output, started(
                words, until, stdout=subprocess.PIPE, text=True, errors="replace",
                env=ENVIRONMENT | os.environ) as running:
            for line in running.stdout or ():
                output.write(line)
                output.flush()
                if start := STARTED.match(line):
                    begun[start[1]] = time.monotonic()
                elif ended := outcome_in(line):
                    begun.pop(ended[0], None)
                    report(*ended)
        return {test: time.monotonic() - since for test, since in begun.items()}


@contextmanager
def started(words: Sequence[str], until: float, **more: Any) -> Iterator[subprocess.Popen]:
    """Starts a program for the `with` block; kills it and all its children at the time `until`."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                          **more) as running:
        alarm = threading.Timer(until - time.monotonic(), kill_tree, [running.pid])
        alarm.start()
        try:
            yield running
        finally:
            alarm.cancel()


def outcome_in(line: str) -> Optional[tuple[str, str, float]]:
    """Returns the test, outcome and seconds in a line of ctest's output, or None."""
    match = RESULT.match(line)
    return match and (match[1], OUTCOMES.get(match[2], "failed"), float(match[3]))


def kill_tree(root: int) -> None:
    """Kills a process and its descendants. Kills ctest first, so that it does not report its tests
    as failed."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_text(encoding="utf-8").rpartition(")")[2]
            parents[int(stat.parent.name)] = int(after_name.split()[1])
        except OSError:
            pass  # the process has ended meanwhile
    for process in [root] + descendants(root, parents):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def descendants(root: int, parents: dict[int, int]) -> list[int]:
    children = [process for process, parent in parents.items() if parent == root]
    return children + [one for child in children for one in descendants(child, parents)]


def cores() -> int:
    return len(os.sched_getaffinity(0))


def has_nvcc() -> bool:
    return shutil.which(os.environ.get("CUDACXX", "nvcc")) is not None


def labelled(name: str, **more: Any) -> Preset:
    """Returns a preset in which labels mark the nightly tests; quick tests may also run those with
    if_changed (nbody_if_changed in cmake/tools.cmake)."""
    folder = ROOT / "build" / name
    return Preset(name, ("--test-dir", str(folder), "-L", "nightly|if_changed"), folder, **more)


def sanitized(name: str) -> Preset:
    """Returns a preset with only nightly tests; CMakePresets.json selects them."""
    return Preset(name, ("--preset", name), ROOT / "build" / name)


PRESETS = {one.name: one for one in (
    labelled("cpu", is_nightly=False), sanitized("cpu-tsan"), sanitized("cpu-asan"),
    labelled("cuda", configured_with=("-DNBODY_CUDA_PROGRAMS=ON",), needs=has_nvcc))}
