"""Waits for programs that may never end. Ends a program when it has used too much processor time,
or no longer uses any. Processor time does not depend on the machine's other load.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, Sequence

TICKS = os.sysconf("SC_CLK_TCK")
LOOK_SECONDS = 0.2
STALLED_SECONDS = 6.0  # a program that uses no processor time for this long is ended
# After SLOW_SECONDS, a program that has used less than the share IDLE of a core counts as idle.
SLOW_SECONDS, IDLE = 20.0, 0.02


watched_seconds: list[float] = []  # processor time of each watched program


class TooLong(Exception):
    """Says in one line why a program was ended."""


def seconds_of_sessions(sessions: Sequence[int]) -> float:
    """Returns the processor time of all processes in these sessions, including ended children."""
    ticks = 0
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            stat = (process / "stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            continue  # the process has ended meanwhile
        words = stat.rpartition(")")[2].split()  # a name may contain any character
        if int(words[3]) in sessions:
            ticks += sum(map(int, words[11:15]))
    return ticks / TICKS


def watch(process: subprocess.Popen, seconds: float, beside: Sequence[subprocess.Popen] = (),
          complaint: Callable[[], str] = str) -> float:
    """Waits for a process that leads its own session, and returns the processor time that it used.
    Raises TooLong if the process has used more than `seconds`, if neither this process nor those in
    `beside` use any processor time, or if complaint() returns a reason to stop."""
    begun = time.monotonic()
    used, before, changed = 0.0, -1.0, begun
    try:
        while not has_ended(process):
            used = seconds_of_sessions([process.pid])
            of_all = used + seconds_of_sessions([one.pid for one in beside])
            if of_all != before:
                before, changed = of_all, time.monotonic()
            if why := complaint():
                raise TooLong(why)
            if used > seconds:
                raise TooLong(f"it did not end within {seconds:.0f} s of processor time")
            if time.monotonic() - changed > STALLED_SECONDS:
                raise TooLong(f"it did not end: it waited for {STALLED_SECONDS:.0f} s "
                              "without doing anything")
            waited = time.monotonic() - begun
            if waited > SLOW_SECONDS and of_all < IDLE * waited:
                raise TooLong(f"it did not end: it did hardly anything in {waited:.0f} s")
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
