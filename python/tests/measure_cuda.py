"""Measures how long a call through Python takes on a CUDA device, and how long the kernels of the
corresponding step take.

usage: measure_cuda.py PROGRAMS RECORD [SECONDS]

PROGRAMS is the folder of forces_of_step12_newton3 and similar programs (library/tests). The results
are appended to RECORD, a file of JSON lines. Each array library is measured in a process of its
own, because the threads of JAX delay calls of the other libraries. SECONDS is the limit per library
after which no further measurement begins.

Calls in a row are compared with time steps in a row: for a direct sum with those in the middle of a
run, and for a tree with the first time steps of new systems, because a call, too, does not know the
order of the bodies in an earlier tree. Where a step takes long, there are as many steps as calls,
because the clocks of a busy GPU fall. A single call is compared with a single time step, which
also finds the device idle. Events measure both on the device, and the host's clock measures the
call until the host has the result. After a wait of milliseconds the processor's caches no longer
have the code of a call, so calls with few bodies come before each single call. The clocks of a GPU
change, so runs of the step's program alternate with calls, and the record has the medians of the
differences.

With JAX, the calls are also in functions that JAX compiles, once in a loop and once unrolled. An
addition makes each call need the result before. The time of a call is the difference of two such
functions, one with three times as many calls, divided by the number of additional calls. So it does
not contain the time until a function begins.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable

import numpy as np
from test_cuda import LIBRARIES

import nbody_steps as nb

# Number of bodies, method, the step whose kernels run, and the time steps and systems of a run.
PROBLEMS = ((1024, "direct", "step13_persistent", 1000, 1),
            (4096, "direct", "step13_persistent", 1000, 1),
            (16384, "direct", "step12_newton3", 100, 1),
            (65536, "direct", "step12_newton3", 20, 1),
            (262144, "direct", "step12_newton3", 20, 1),
            (65536, "tree", "step15b_force_aware", 1, 20),
            (1048576, "tree", "step15b_force_aware", 1, 20))
BAR = 20e-6
FEW_BODIES, SMALL_CALLS = 8192, 20  # more bodies than one kernel is for (library/cuda/call.cu)
ROUNDS = 10  # runs of the step's program, which alternate with calls


def bodies(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the positions and masses that library/tests/forces.h makes, bit for bit."""
    factor = np.multiply.accumulate(np.full(4 * n, 6364136223846793005, np.uint64))
    powers = np.add.accumulate(np.concatenate((np.ones(1, np.uint64), factor[:-1])))
    state = factor * np.uint64(7) + powers * np.uint64(1442695040888963407)
    numbers = ((state >> np.uint64(33)) / 1073741824.0 - 1).astype(np.float32).reshape(n, 4)
    x = numbers[:, :3]
    return x * x * x, (np.float32(1.5) + numbers[:, 3]) / np.float32(n)


def waiter(name: str) -> Callable[[Any], None]:
    """Returns a function that waits for a result."""
    if name == "torch":
        import torch
        stream = torch.cuda.current_stream()
        return lambda _: stream.synchronize()
    if name == "cupy":
        import cupy
        stream = cupy.cuda.get_current_stream()
        return lambda _: stream.synchronize()
    return lambda found: found.block_until_ready()


def event_maker(name: str) -> tuple[Callable[[], Any], Callable[[Any, Any], float]] | None:
    """Returns a function that records an event in the current stream, and one that returns the
    seconds between two events; None for a library without events."""
    if name == "torch":
        import torch

        def record() -> Any:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            return event
        return record, lambda begin, end: 1e-3 * begin.elapsed_time(end)
    if name == "cupy":
        import cupy

        def record() -> Any:
            event = cupy.cuda.Event()
            event.record()
            return event
        return record, lambda begin, end: 1e-3 * cupy.cuda.get_elapsed_time(begin, end)
    return None


def median(call: Callable[[], None], repeats: int, before: int = 5) -> tuple[float, float]:
    """Returns the median and the interquartile range of the time of a call, in seconds."""
    for _ in range(before):
        call()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    low, middle, high = np.percentile(seconds, (25, 50, 75))
    return float(middle), float(high - low)


class Single:
    """Times single calls, each on an idle device after calls with few bodies."""

    def __init__(self, library: Any, method: str) -> None:
        self.wait, self.events = waiter(library.name), event_maker(library.name)
        x, m = (library.bring(array) for array in bodies(FEW_BODIES))
        self.small = lambda: nb.accelerations(x, m, 0.05, method=method)

    def median(self, call: Callable[[], Any], repeats: int) -> tuple[float, float]:
        """Returns the median times in seconds, until the host has the result and on the device."""
        times = []
        for _ in range(repeats + 1):  # without the first, which allocates memory
            pair = []
            for time_of in (self.until_result, self.on_device):
                for _ in range(SMALL_CALLS):
                    time_of(self.small)
                pair.append(time_of(call))
            times.append(pair)
        until_result, on_device = np.median(times[1:], 0)
        return float(until_result), float(on_device)

    def until_result(self, call: Callable[[], Any]) -> float:
        begin = time.perf_counter()
        self.wait(call())
        return time.perf_counter() - begin

    def on_device(self, call: Callable[[], Any]) -> float:
        if self.events is None:
            return np.nan
        record, seconds = self.events
        begin = record()
        found = call()
        end = record()
        self.wait(found)
        return seconds(begin, end)


class Record:
    """A file of JSON lines, each with the date, the device and the package's version."""

    def __init__(self, file: Path) -> None:
        device = subprocess.run(["nvidia-smi", "--id=0", "--query-gpu=name,driver_version",
                                 "--format=csv,noheader"], stdout=subprocess.PIPE, text=True)
        self.file = file
        self.common = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                       "device": device.stdout.strip(), "version": nb.__version__}

    def write(self, **entries: Any) -> None:
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**self.common, **entries}) + "\n")


class Step:
    """The program of a step, which makes a run for each line that it reads."""

    def __init__(self, programs: Path, step: str, n: int, steps: int, systems: int) -> None:
        with tempfile.TemporaryDirectory() as name:
            forces = Path(name) / "forces"
            self.program = subprocess.Popen(
                [programs / f"forces_of_{step}", str(n), "many", forces, str(steps), str(systems)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.kernels()
            self.exact = np.fromfile(forces, np.float32).reshape(n, 3)

    def kernels(self) -> tuple[float, float]:
        """Returns the seconds that the kernels of a time step take: in a row, and alone."""
        assert self.program.stdin is not None and self.program.stdout is not None
        print(file=self.program.stdin, flush=True)
        in_a_row, alone = map(float, self.program.stdout.readline().split())
        return in_a_row, alone

    def close(self) -> None:
        self.program.communicate()


def measure_floor(record: Record) -> None:
    """Measures the shortest call of each library, an addition: one, including the wait for its
    result, and each of 20 in a row."""
    for library in LIBRARIES:
        x, wait = library.bring(np.ones(1024, np.float32)), waiter(library.name)
        seconds, iqr = median(lambda: wait(x + x), 500)

        def queue() -> None:
            for _ in range(20):
                found = x + x
            wait(found)
        in_a_row = median(queue, 25)[0] / 20
        record.write(kind="addition", library=library.name, seconds=seconds, iqr=iqr,
                     in_a_row=in_a_row)
        print(f"an addition, {library.name}: {1e6 * seconds:.1f} us, in a row {1e6 * in_a_row:.1f}")


def measure_calls(record: Record, programs: Path, end: float) -> None:
    print("bodies, method, library: time of the kernels in a row, alone | time beyond the kernels: "
          "a single call until the host has the result, on the device; the same, unchecked; each "
          "of 20 calls in a row, checked and unchecked | time until the call returns: checked, "
          f"unchecked (limit {BAR * 1e6:.0f} us)")
    for n, method, name, steps, systems in PROBLEMS:
        if time.monotonic() > end:
            print("no time for the rest")
            break
        step = Step(programs, name, n, steps, systems)
        for library in LIBRARIES:
            measure_call(record, library, n, method, name, step)
        step.close()


def measure_call(record: Record, library: Any, n: int, method: str, name: str, step: Step) -> None:
    x, m = (library.bring(array) for array in bodies(n))
    wait, single = waiter(library.name), Single(library, method)

    def call(unchecked: bool = False) -> Any:
        return nb.accelerations(x, m, 0.05, method=method, unchecked=unchecked)

    def queue(unchecked: bool) -> None:
        for _ in range(20):
            found = call(unchecked)
        wait(found)

    same = [bool(np.array_equal(library.back(call()), step.exact)) for _ in range(4)]
    seconds = step.kernels()[0]
    is_long = seconds > 1e-2
    repeats = 4 if is_long else 10 if seconds > 1e-3 else 40
    kernels, times = [], []
    for round in range(ROUNDS):
        kernels.append(step.kernels())
        in_a_row = ((np.nan, np.nan) if is_long and round % 2 > 0 else
                    (median(lambda: queue(option), 1, 0)[0] / 20 for option in (False, True)))
        times.append([*single.median(call, repeats), *single.median(lambda: call(True), repeats),
                      *in_a_row])
    row, alone = np.array(kernels).T
    more = np.array(times) - np.stack((alone, alone, alone, alone, row, row), 1)
    kinds = ("checked", "checked_on_device", "unchecked", "unchecked_on_device", "queued_checked",
             "queued")
    extra = dict(zip(kinds, map(median_of_present, more.T)))
    spread = np.subtract(*np.nanpercentile(more[:, 0], (75, 25)))
    returns = [median_until_return(lambda: call(option), wait, max(5, repeats // 2))
               for option in (False, True)]
    record.write(kind="call", bodies=n, method=method, step=name, library=library.name,
                 kernels=float(np.median(row)), kernels_alone=float(np.median(alone)),
                 more=extra, checked_iqr=float(spread), returns_checked=returns[0],
                 returns_unchecked=returns[1], same_bits=all(same))
    print(f"{n:8d} {method:6} {library.name:5}: {np.median(row) * 1e6:9.1f}, "
          f"{np.median(alone) * 1e6:9.1f} us | "
          + ", ".join(f"{1e6 * one:7.1f}{' ok' if one <= BAR else '   '}"
                      for one in extra.values() if one is not None)
          + " | " + ", ".join(f"{1e6 * one:6.1f}" for one in returns)
          + f" | spread {1e6 * spread:.1f}"
          + ("" if all(same) else " | OTHER BITS THAN THE STEP"), flush=True)


def compiled_calls(method: str, calls: int, in_a_loop: bool) -> Callable[[Any, Any], None]:
    """Returns a function that JAX compiles, with this number of calls. Each call needs the result
    of the one before, or else JAX would make only one. In a loop, it takes least time to change one
    body for this; if the calls are unrolled, JAX would then copy all bodies."""
    import jax

    def call(x: Any, m: Any) -> Any:
        return nb.accelerations(x, m, 0.05, method=method)

    @jax.jit
    def compiled(x: Any, m: Any, zero: Any) -> Any:
        if in_a_loop:
            return jax.lax.fori_loop(
                0, calls, lambda _, x: x.at[0].add(zero * call(x, m)[0]), x)
        for _ in range(calls):
            x = x + zero * call(x, m)
        return x
    return lambda x, m: compiled(x, m, jax.numpy.float32(0)).block_until_ready()


def measure_compiled(record: Record, programs: Path) -> None:
    library = LIBRARIES[0]
    for n, method, name, steps, systems in PROBLEMS:
        step = Step(programs, name, n, steps, systems)
        x, m = (library.bring(array) for array in bodies(n))
        few, rounds = (5, 4) if n > 200_000 else (20, 9)
        functions = [compiled_calls(method, calls, in_a_loop)
                     for in_a_loop in (True, False) for calls in (few, 3 * few)]
        for function in functions:
            function(x, m)
        times = []
        for _ in range(rounds):
            kernels = step.kernels()[0]
            loop, longer_loop, unrolled, longer = (
                median(lambda: function(x, m), 1, 0)[0] for function in functions)
            times.append([kernels, (longer_loop - loop) / (2 * few) - kernels,
                          (longer - unrolled) / (2 * few) - kernels])
        kernels, in_loop, unrolled = map(float, np.median(times, 0))
        record.write(kind="compiled call", bodies=n, method=method, step=name, library="jax",
                     kernels=kernels, loop=in_loop, unrolled=unrolled)
        print(f"compiled, {n:8d} {method:6}: kernels {1e6 * kernels:.1f} us, beyond them "
              f"{1e6 * in_loop:.1f} us in a loop, {1e6 * unrolled:.1f} us unrolled", flush=True)
        step.close()


def median_of_present(times: np.ndarray) -> float | None:
    """Returns the median of the times that are not NaN; None if all are."""
    present = times[~np.isnan(times)]
    return float(np.median(present)) if len(present) > 0 else None


def median_until_return(call: Callable[[], Any], wait: Callable[[Any], None],
                        repeats: int) -> float:
    """Returns the median time in seconds until a call returns. The device is idle before each
    call."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - begin)
        wait(found)
    return float(np.median(seconds))


def measure_massless(record: Record, end: float) -> None:
    library = LIBRARIES[0]
    wait = waiter(library.name)
    for n in (16384, 65536, 262144):
        if time.monotonic() > end:
            break
        x, m = bodies(n)
        half = m.copy()
        half[np.random.default_rng(1).permutation(n)[: n // 2]] = 0
        X, M, HALF = (library.bring(array) for array in (x, m, half))
        for form, at in (("targets", X), ("own", None)):
            measure_half(record, wait, n, form, [
                functools.partial(nb.accelerations, X, masses, 0.05, at) for masses in (M, HALF)])


def measure_half(record: Record, wait: Callable[[Any], None], n: int, form: str,
                 calls: list[Callable[[], Any]]) -> None:
    """Measures the call with masses only, and the one with half of them zero: alone, until the host
    has the result, and each of some in a row. The clocks of a GPU change, so the two alternate."""
    in_a_row = max(3, 10 * 65536 // n)

    def row(call: Callable[[], Any]) -> None:
        for _ in range(in_a_row):
            found = call()
        wait(found)
    alone, each = np.median([([median(lambda: wait(call()), 5, 1)[0] for call in calls],
                              [median(lambda: row(call), 1, 1)[0] / in_a_row for call in calls])
                             for _ in range(9)], 0)
    record.write(kind="massless", bodies=n, form=form, all=alone[0], half=alone[1],
                 all_in_a_row=each[0], half_in_a_row=each[1], library=LIBRARIES[0].name)
    print(f"half massless, {n} bodies, {form}: {alone[0] / alone[1]:.2f} times faster, in a row "
          f"{each[0] / each[1]:.2f} (limit 1.9 for targets); {1e3 * alone[1]:.3f} ms", flush=True)


def measure_float64(record: Record, n: int = 65536) -> None:
    library = LIBRARIES[0]
    wait = waiter(library.name)
    x, m = (library.bring(array.astype(np.float64)) for array in bodies(n))
    seconds, iqr = median(lambda: wait(nb.accelerations(x, m, 0.05)), 10)
    record.write(kind="float64", bodies=n, seconds=seconds, iqr=iqr, library=library.name)
    print(f"float64, {n} bodies: {1e3 * seconds:.2f} ms, {1e-9 * n * n / seconds:.0f} G/s")


def measure_alone(library: Any) -> int:
    """Measures a library in a new process, and returns the exit code of this process."""
    environment = {**os.environ, "NBODY_ARRAY_LIBRARIES": library.name}
    return subprocess.run([sys.executable, *sys.argv], env=environment).returncode


def main() -> int:
    if len(LIBRARIES) > 1:
        return max(map(measure_alone, LIBRARIES))
    programs, record = Path(sys.argv[1]), Record(Path(sys.argv[2]))
    end = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 60)
    measure_floor(record)
    measure_calls(record, programs, end)
    if LIBRARIES[0].name == "jax":
        measure_compiled(record, programs)
    if LIBRARIES[0].name == "torch":
        measure_massless(record, end + 15)
        measure_float64(record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
