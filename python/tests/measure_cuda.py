"""Measures what a call through Python costs on a CUDA device, next to the kernels of the step.

usage: measure_cuda.py PROGRAMS RECORD [SECONDS]

PROGRAMS is the folder of forces_of_step12_newton3 and so on (library/tests), RECORD a file of JSON
lines to append to. Prints predictions of docs/results/predictions.md next to the numbers.
"""

from __future__ import annotations

import json
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

# Bodies, method, and the step whose kernels run, with the number of time steps to time.
PROBLEMS = ((1024, "direct", "step13_persistent", 1000),
            (4096, "direct", "step13_persistent", 1000), (16384, "direct", "step12_newton3", 100), (65536, "direct", "step12_newton3", 20),
            (262144, "direct", "step12_newton3", 3), (65536, "tree", "step15b_force_aware", 50),
            (1048576, "tree", "step15b_force_aware", 10))
PREDICTED_CHECKED, PREDICTED_UNCHECKED, PREDICTED_QUEUED = 30e-6, 18e-6, 8e-6
PREDICTED_TARGETS, PREDICTED_OWN = 1.95, 1.65
BAR = 20e-6


def bodies(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the positions and masses of library/tests/forces.h, bit for bit."""
    factor = np.multiply.accumulate(np.full(4 * n, 6364136223846793005, np.uint64))
    powers = np.add.accumulate(np.concatenate((np.ones(1, np.uint64), factor[:-1])))
    state = factor * np.uint64(7) + powers * np.uint64(1442695040888963407)
    numbers = ((state >> np.uint64(33)) / 1073741824.0 - 1).astype(np.float32).reshape(n, 4)
    x = numbers[:, :3]
    return x * x * x, (np.float32(1.5) + numbers[:, 3]) / np.float32(n)


def waiter(name: str) -> Callable[[Any], None]:
    if name == "torch":
        import torch
        return lambda _: torch.cuda.synchronize()
    if name == "cupy":
        import cupy
        return lambda _: cupy.cuda.get_current_stream().synchronize()
    return lambda found: found.block_until_ready()


def median(call: Callable[[], None], repeats: int) -> tuple[float, float]:
    """Returns the median and the interquartile range of the seconds of a call."""
    for _ in range(5):
        call()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    low, middle, high = np.percentile(seconds, (25, 50, 75))
    return float(middle), float(high - low)


def main() -> int:
    programs, record = Path(sys.argv[1]), Path(sys.argv[2])
    end = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 60)
    device = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                             "--format=csv,noheader"], stdout=subprocess.PIPE, text=True)
    common = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
              "device": device.stdout.strip(), "version": nb.__version__}

    def write(**entries: Any) -> None:
        with record.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**common, **entries}) + "\n")

    print("bodies, method, library: kernels | checked, unchecked, queued: more than the kernels "
          f"(predicted {PREDICTED_CHECKED * 1e6:.0f}, {PREDICTED_UNCHECKED * 1e6:.0f}, "
          f"{PREDICTED_QUEUED * 1e6:.0f} us; bar {BAR * 1e6:.0f} us)")
    for n, method, step, steps in PROBLEMS:
        if time.monotonic() > end:
            print("no time for the rest")
            break
        x, m = bodies(n)
        with tempfile.TemporaryDirectory() as name:
            forces = Path(name) / "forces"
            done = subprocess.run([programs / f"forces_of_{step}", str(n), "many", forces,
                                   str(steps)], stdout=subprocess.PIPE, text=True)
            exact = np.fromfile(forces, np.float32).reshape(n, 3)
        kernels = float(done.stdout or "nan")
        for library in LIBRARIES:
            X, M = library.bring(x), library.bring(m)
            wait = waiter(library.name)
            options = {"force_tolerance": 0.005} if method == "tree" else {}
            found = library.back(nb.accelerations(X, M, 0.05, method=method, **options))
            same = bool(np.array_equal(found, exact))
            repeats = 200 if kernels < 2e-3 else 20

            def call(unchecked: bool) -> None:
                wait(nb.accelerations(X, M, 0.05, method=method, unchecked=unchecked))

            def queue() -> None:
                for _ in range(20):
                    found = nb.accelerations(X, M, 0.05, method=method, unchecked=True)
                wait(found)

            checked, checked_iqr = median(lambda: call(False), repeats)
            unchecked, unchecked_iqr = median(lambda: call(True), repeats)
            queued = median(queue, max(3, repeats // 20))[0] / 20
            more = [seconds - kernels for seconds in (checked, unchecked, queued)]
            write(kind="call", bodies=n, method=method, step=step, library=library.name,
                  kernels=kernels, checked=checked, checked_iqr=checked_iqr, unchecked=unchecked,
                  unchecked_iqr=unchecked_iqr, queued=queued, same_bits=same)
            print(f"{n:8d} {method:6} {library.name:5}: {kernels * 1e6:9.1f} us | "
                  + ", ".join(f"{1e6 * one:8.1f} us{' <= bar' if one <= BAR else ''}"
                              for one in more)
                  + (" | same bits as the step" if same else " | OTHER BITS THAN THE STEP"),
                  flush=True)

    library = LIBRARIES[0]
    wait = waiter(library.name)
    for n in (16384, 65536, 262144):
        if time.monotonic() > end + 15:
            break
        x, m = bodies(n)
        half = m.copy()
        half[np.random.default_rng(1).permutation(n)[: n // 2]] = 0
        X, M, HALF = (library.bring(array) for array in (x, m, half))
        times = {}
        for form, at in (("targets", X), ("own", None)):
            for name, masses in (("all", M), ("half", HALF)):
                times[form, name] = median(lambda: wait(nb.accelerations(X, masses, 0.05, at)),
                                           30)[0]
            ratio = times[form, "all"] / times[form, "half"]
            predicted = PREDICTED_TARGETS if form == "targets" else PREDICTED_OWN
            write(kind="massless", bodies=n, form=form, all=times[form, "all"],
                  half=times[form, "half"], library=library.name)
            print(f"half massless, {n} bodies, {form}: {ratio:.2f} times faster (predicted "
                  f"{predicted}, bar 1.9); {1e3 * times[form, 'half']:.3f} ms")
    for n in (65536,):
        x, m = bodies(n)
        X, M = (library.bring(array.astype(np.float64)) for array in (x, m))
        seconds, iqr = median(lambda: wait(nb.accelerations(X, M, 0.05)), 10)
        write(kind="float64", bodies=n, seconds=seconds, iqr=iqr, library=library.name)
        print(f"float64, {n} bodies: {1e3 * seconds:.2f} ms, {1e-9 * n * n / seconds:.0f} G/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
