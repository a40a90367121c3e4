"""Waits for programs that may never end. Ends a program when it has used too much processor time,
or when it only sleeps. A program that could run but gets no core, or that waits for a disk, does
not sleep, so the machine's other load does not end a program.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, NamedTuple, Sequence

TICKS = os.sysconf("SC_CLK_TCK")
PROCESSES = Path("/proc")
LOOK_SECONDS = 0.2
STALLED_SECONDS = 6.0  # a program that sleeps for this long without a break is ended
# A program that has slept for more than SLOW_SECONDS in all, and has used less than the share IDLE
# of that time, is ended too.
SLOW_SECONDS, IDLE = 20.0, 0.02
WALL_SECONDS = 900.0  # limit for a program that always could run, but gets hardly any core
# A thread is in one of these states if it runs, waits for a core, or waits for a disk (proc(5)).
BUSY = "RD"

watched_seconds: list[float] = []  # processor time of each watched program


class TooLong(Exception):
    """Says in one line why a program was ended."""


class Look(NamedTuple):
    """The processes of some sessions."""
    seconds: float  # processor time, including that of ended children
    is_busy: bool


def look_at(sessions: Sequence[int]) -> Look:
    ticks, is_busy = 0, False
    for process in PROCESSES.iterdir():
        words = stat_of(process) if process.name.isdigit() else []
        if words and int(words[3]) in sessions:
            ticks += sum(map(int, words[11:15]))
            is_busy = is_busy or words[0] in BUSY or has_busy_thread(process)
    return Look(ticks / TICKS, is_busy)


def has_busy_thread(process: Path) -> bool:
    """The state of a process is the state of its first thread, which may wait for the others."""
    try:
        threads = list((process / "task").iterdir())
    except OSError:
        return False  # the process has ended meanwhile
    return any(stat_of(thread)[:1] in (["R"], ["D"]) for thread in threads)


def stat_of(folder: Path) -> list[str]:
    """Returns the words of the file `stat` after the name: the state is the first, the session the
    fourth. Returns an empty list if the process has ended meanwhile."""
    try:
        stat = (folder / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()  # a name may contain any character


def never() -> bool:
    return False


def watch(process: subprocess.Popen, seconds: float, beside: Sequence[subprocess.Popen] = (),
          complaint: Callable[[], str] = str, is_served: Callable[[], bool] = never) -> float:
    """Waits for a process that leads its own session, and returns the processor time that it used.
    Raises TooLong if the process has used more than `seconds`, if both this process and those in
    `beside` only sleep, or if complaint() returns a reason to stop. While is_served() is True, the
    process waits for an answer of this program, so it does not count as asleep."""
    begun = before_look = time.monotonic()
    used, of_before, stalled, slept = 0.0, -1.0, 0.0, 0.0
    try:
        while not has_ended(process):
            own = look_at([process.pid])
            others = look_at([one.pid for one in beside]) if beside else Look(0, False)
            used, of_all = own.seconds, own.seconds + others.seconds
            now = time.monotonic()
            # This program may get no core for a long time. It saw only the end of that time.
            step = min(now - before_look, 2 * LOOK_SECONDS)
            before_look = now
            is_asleep = not (own.is_busy or others.is_busy or is_served())
            slept += step * is_asleep
            stalled = stalled + step if is_asleep and of_all == of_before else 0.0
            of_before = of_all
            if why := complaint():
                raise TooLong(why)
            if used > seconds:
                raise TooLong(f"it did not end within {seconds:.0f} s of processor time")
            if stalled > STALLED_SECONDS:
                raise TooLong(f"it did not end: it waited for {STALLED_SECONDS:.0f} s "
                              "without doing anything")
            if slept > SLOW_SECONDS and of_all < IDLE * slept:
                raise TooLong(f"it did not end: it did hardly anything in {slept:.0f} s")
            if now - begun > WALL_SECONDS:
                raise TooLong(f"it did not end within {WALL_SECONDS:.0f} s, in which it got "
                              f"{used:.0f} s of processor time; is the machine overloaded?")
        return used
    finally:
        watched_seconds.append(used)


def has_ended(process: subprocess.Popen) -> bool:
    """Waits up to LOOK_SECONDS; returns True if the process has ended."""
    try:
        process.wait(LOOK_SECONDS)
        return True
    except subprocess.TimeoutExpired:
        return False


def end(process: subprocess.Popen) -> int:
    """Ends a process and its session; returns its exit status."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.wait()
