"""Runs a submission in its sandbox and a judge process outside, connected by two pipes.

The verdict comes from the judge, which contains none of the submission's code. The student sees the
submission's output, but this output does not affect the result.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Sequence

from nbody_tools.labs.building import Workshop
from nbody_tools.labs.messages import without_folders
from nbody_tools.labs.sandbox import Access, driver_folders
from nbody_tools.labs.watching import TooLong, end, watch

SECONDS = 8.0  # limit of a run's processor time; no correct run needs 3 s
JUDGE_SECONDS = 60.0  # limit of the judge's processor time; the judge never needs 10 s
END_SECONDS = 5.0  # time for the judge to write its verdict
SIGNALLED = 128  # bubblewrap adds the number of a fatal signal to this exit status
KEPT_OUTPUT = 16_000  # a submission's output is kept up to this number of bytes
MAX_OUTPUT_MB = 64  # a submission that prints more than this is stopped
MAX_ANSWERS = 2000  # limit on calls of addr2line in one run
CHECKS = 3  # at most this many failed checks are shown


@dataclass(frozen=True)
class Problem:
    systems: int
    bodies: int
    steps: int
    seed: int
    devices: int = 1
    star: bool = False

    @property
    def word(self) -> str:
        return f"{self.systems},{self.bodies},{self.steps},{self.devices},{self.seed},{self.star:d}"

    def __str__(self) -> str:
        steps = f"{self.steps} step{'s' if self.steps > 1 else ''}"
        return (
            f"{self.systems} x {self.bodies} bodies{' around a star' if self.star else ''}, {steps}"
        )


@dataclass
class Run:
    """The outcome of a run. `problems` are the judge's results for the problems answered so far."""
    asked: Sequence[Problem]
    problems: list[dict[str, Any]] = field(default_factory=list)
    ended: str = ""  # reason why the answers ended early
    said: str = ""  # the submission's output
    seconds: float = 0.0  # processor time used
    timed_out: bool = False

    @property
    def failed_checks(self) -> list[tuple[Problem, list[dict[str, Any]]]]:
        """Returns each answered problem with the checks that its answer failed."""
        return [(problem, [check for check in result["checks"] if check["failed"]])
                for problem, result in zip(self.asked, self.problems)]

    @property
    def failure(self) -> str:
        """Returns a message about the first failure; empty if everything was right."""
        lines = [described(problem, failed) for problem, failed in self.failed_checks if failed]
        return lines[0] if lines else self.ended


def described(problem: Problem, failed: Sequence[dict[str, Any]]) -> str:
    texts = [f"{check['name']} {shown(check['value'])} > {shown(check['limit'])}"
             for check in failed]
    more = f"; and {len(texts) - CHECKS} more" if len(texts) > CHECKS else ""
    return f"{problem}: " + "; ".join(texts[:CHECKS]) + more


def shown(value: Optional[float]) -> str:
    return "not finite" if value is None else f"{value:.2g}"


class Listener(threading.Thread):
    """Reads a pipe and keeps the beginning of the output. A submission may print forever, so the
    listener stops reading after MAX_OUTPUT_MB. The submission then blocks on the full pipe until
    watch() ends it."""

    def __init__(self, pipe: Any) -> None:
        super().__init__(daemon=True)
        self._pipe, self._kept, self._left = pipe, b"", MAX_OUTPUT_MB << 20
        self.start()

    def run(self) -> None:
        while self._left > 0 and (piece := os.read(self._pipe.fileno(), 1 << 20)):
            self._left -= len(piece)
            if len(self._kept) < KEPT_OUTPUT:
                self._kept += piece[:KEPT_OUTPUT - len(self._kept)]

    def complaint(self) -> str:
        """Returns the reason to stop the submission; empty if there is none."""
        return f"it printed more than {MAX_OUTPUT_MB} MB" if self._left <= 0 else ""

    def text(self) -> str:
        self.join(5)
        return self._kept.decode("utf-8", errors="replace")


class LineServer(threading.Thread):
    """Runs addr2line on behalf of a program that is not allowed to start processes
    (HOSTCUDA_ADDR2LINE)."""

    def __init__(self, program: Path) -> None:
        super().__init__(daemon=True)
        self._program = program
        self.answered, self.is_answering = 0, False
        self._questions, self.program_asks = os.pipe()
        self.program_hears, self._answers = os.pipe()
        self.start()

    @property
    def ends(self) -> tuple[int, int]:
        """Returns the program's ends of the pipes: one to read answers, one to write questions."""
        return self.program_hears, self.program_asks

    def run(self) -> None:
        try:
            while len(offset := os.read(self._questions, 8)) == 8 and self.answered < MAX_ANSWERS:
                self.answered, self.is_answering = self.answered + 1, True
                words = [
                    "addr2line",
                    "-i",
                    "-e",
                    str(self._program),
                    hex(int.from_bytes(offset, sys.byteorder)),
                ]
                said = subprocess.run(
                    words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
                ).stdout
                self.is_answering = False  # a program that does not read its answers is asleep
                os.write(self._answers, of_caller(said)[:4000] + b"\0")
        except OSError:
            pass  # the program has ended meanwhile
        finally:
            os.close(self._questions)
            os.close(self._answers)


def of_caller(lines: bytes) -> bytes:
    """Filters addr2line's answer, which has one location per inlined function. If one of these
    locations is in the submission, drops the locations in the project's headers, so that an array
    is reported where the submission declares it, not where a header allocates it."""
    kept = [line for line in lines.splitlines(keepends=True) if b"/kit/common/include/" not in line]
    return b"".join(kept) if any(b"/made/" in line for line in kept) else lines


def environment_of(mode: str) -> dict[str, str]:
    """Returns a new environment, which contains nothing from the grader's environment. The number
    of threads is one, so that blocks always run in the same order."""
    settings = dict(word.split("=", 1) for word in mode.split())
    return {
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "HOSTCUDA_WATCHDOG": "5",
        "HOSTCUDA_MEMORY": str(1 << 30),
        **settings,
    }


def run(workshop: Workshop, program: Path, mode: str, problems: Sequence[Problem], summation: str,
        megabytes: int, environment: str = "", seconds: float = SECONDS) -> Run:
    """Runs a submission with a judge. `megabytes` limits the submission's memory; 0 means a run
    on a GPU (tools/sandbox/sandbox.cpp). `seconds` limits the submission's processor time."""
    # The submission can neither guess the name of this file nor see its folder.
    verdict = workshop.folder / f"verdict-{secrets.token_hex(8)}.json"
    done = Run(problems)
    lines = LineServer(program)
    worker = started(
        workshop, [str(program)], lines, megabytes, environment, seconds, subprocess.PIPE
    )
    listener = Listener(worker.stderr)
    judge = subprocess.Popen(
        [workshop.tools.judge, str(verdict), mode, summation, *(one.word for one in problems)],
        stdin=worker.stdout,
        stdout=worker.stdin,
        env=environment_of(""),
        close_fds=True,
        start_new_session=True,
    )
    # After this loop, only the worker and the judge hold the pipes open. When one of them ends, the
    # other therefore reads end of file.
    for pipe in (worker.stdin, worker.stdout):
        if pipe is not None:
            pipe.close()
    stopped = ""
    try:
        # The worker ends when the judge has no more questions. The judge then reads end of file and
        # ends too.
        done.seconds = watch(worker, seconds, (judge,), listener.complaint,
                             lambda: lines.is_answering)
        watch(judge, JUDGE_SECONDS)
    except TooLong as error:
        stopped, done.seconds = str(error), seconds
    code = status_of(worker)
    if stopped:
        watch_or_end(judge)
    end(judge)
    done.said = said_by(listener, program, workshop)
    if verdict.exists():
        result = json.loads(verdict.read_text(encoding="utf-8"))
        verdict.unlink()
        done.problems, done.ended = result["problems"], result["ended"]
    if code == -signal.SIGXCPU:
        stopped = f"it did not end within {seconds:.0f} s of processor time"
    if stopped:
        done.timed_out, done.ended = True, stopped
    elif done.ended:
        done.ended += ending(code)
    elif len(done.problems) < len(problems):
        done.ended = "the grader process ended without a result"
    elif code != 0:
        done.ended = "after its answers" + ending(code)
    return done


def started(workshop: Workshop, words: Sequence[str], lines: LineServer, megabytes: int,
            environment: str, seconds: float, pipe: int) -> subprocess.Popen:
    """Starts a submission in the sandbox. Its standard input and output are `pipe`, which is
    subprocess.PIPE or DEVNULL."""
    program = Path(words[0])
    asked = f"{environment} HOSTCUDA_ADDR2LINE={lines.program_hears},{lines.program_asks}"
    access = Access(
        read=tuple(workshop.sources),
        execute=(program.parent,),
        write=(program.parent / "out",),
        gpu=megabytes == 0,
    )
    settings = environment_of(asked)
    if access.gpu and (folders := driver_folders()):
        settings["LD_LIBRARY_PATH"] = ":".join(folders)
    worker = subprocess.Popen(
        workshop.sandbox.words(access, megabytes, math.ceil(seconds), words),
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.PIPE,
        pass_fds=lines.ends,
        env=settings,
        cwd=program.parent,
        start_new_session=True,
    )
    for end_of_pipe in lines.ends:
        os.close(end_of_pipe)
    return worker


def said_by(listener: Listener, program: Path, workshop: Workshop) -> str:
    said = without_folders(listener.text().replace(f"{program.parent}/", ""), workshop.folder)
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in said)


@dataclass
class Ended:
    """How a run without a judge ended."""
    why: str = ""  # empty if the run ended with exit code 0
    said: str = ""
    seconds: float = 0.0
    timed_out: bool = False


def run_alone(workshop: Workshop, words: Sequence[str], megabytes: int, environment: str = "",
              seconds: float = SECONDS) -> Ended:
    """Runs a submission that reads its problems from a file and writes its results to another."""
    program = Path(words[0])
    lines = LineServer(program)
    worker = started(workshop, words, lines, megabytes, environment, seconds, subprocess.DEVNULL)
    listener = Listener(worker.stderr)
    ended = Ended()
    try:
        ended.seconds = watch(worker, seconds, complaint=listener.complaint,
                              is_served=lambda: lines.is_answering)
    except TooLong as error:
        ended = Ended(str(error), seconds=seconds, timed_out=True)
    code = status_of(worker)
    ended.said = said_by(listener, program, workshop)
    if code == -signal.SIGXCPU:
        ended.why = f"it did not end within {seconds:.0f} s of processor time"
        ended.timed_out = True
    elif code and not ended.why:
        ended.why = f"the program ended early{ending(code)}"
    return ended


def status_of(worker: subprocess.Popen) -> int:
    """Returns the worker's exit status or, if a signal killed the worker, minus the signal's
    number. The result does not depend on whether the worker ran in bubblewrap."""
    code = end(worker)
    return SIGNALLED - code if code > SIGNALLED else code


def watch_or_end(judge: subprocess.Popen) -> None:
    """Waits up to END_SECONDS for the judge of an ended worker to write its verdict."""
    try:
        judge.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        pass


def ending(code: int) -> str:
    if code < 0:
        return f" (signal {-code}, {signal.strsignal(-code)})"
    return f" (exit code {code})" if code else ""

