"""Measures how long cpu_tree, pytreegrav and REBOUND's tree take to compute all forces once, with
about the same error, on this machine.

  python3 compare.py CPU_TREE IC [BODIES [RECORD]]    needs numpy; pytreegrav and rebound if
                                                      they are installed

CPU_TREE and IC are the programs cpu_tree and nbody-ic. Every tree is run with several tolerances.
What counts is the time at one tolerance: the largest one at which 1000 bodies have an RMS error of
at most 6.5e-4, relative to float64 sums. The bodies are a Plummer sphere (default: 1,048,576),
without softening, because the programs soften differently (cpu_tree: 1e-6). Each time is the
shortest of three, without compilation and copies. On a busy machine the program refuses to run,
because its times would mean nothing.
The results are appended to RECORD, a file of JSON lines such as those in
docs/results/cpu_tree_peers.

Exit code: 0 done, 1 a check failed, 2 wrong arguments, 77 the machine is busy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from nbody_tools.files.library import VALUES, read_file  # noqa: E402

RMS = 6.5e-4
SAMPLE = 1000
# Predicted before the first run: seconds for a million bodies on two cores.
PREDICTED = {"cpu_tree": 0.75, "pytreegrav": 8.0, "rebound": 15.0}

Tree = Callable[[float], tuple[float, np.ndarray]]


def exact(x: np.ndarray, m: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Returns the accelerations of the bodies `which`, summed in float64."""
    out = np.empty((len(which), 3))
    for k, i in enumerate(which):
        d = x - x[i]
        square = (d * d).sum(1)
        square[i] = np.inf
        out[k] = ((m / (square * np.sqrt(square)))[:, None] * d).sum(0)
    return out


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    size = np.linalg.norm(wanted, axis=1)
    return float(np.sqrt(np.mean((np.linalg.norm(found - wanted, axis=1) / size) ** 2)))


def cpu_tree(program: str, file: Path) -> Iterator[tuple[float, float, float]]:
    """Yields the tolerance, the seconds and the error of each run, as the program prints them."""
    for tolerance in (0.012, 0.008, 0.005, 0.004, 0.003, 0.002):
        record = file.with_suffix(".json")
        record.unlink(missing_ok=True)
        subprocess.run([program, "--input", file, "--steps", "5", "--dt", "1e-6", "--softening",
                        "1e-6", "--repeat", "3", "--validate", "off", "--quiet",
                        "--force-tolerance", str(tolerance), "--force-error", str(SAMPLE),
                        "--json", record], check=True)
        found = json.loads(record.read_text(encoding="utf-8"))
        least = min(one["compute"] for one in found["repeats"]) / 5
        yield tolerance, least, found["force_error"]["rms"]


def pytreegrav_tree(x: np.ndarray, m: np.ndarray) -> Tree:
    import pytreegrav

    small = slice(0, 1000)  # the first call compiles the function
    pytreegrav.Accel(x[small], m[small], method="tree", parallel=True)

    def run(theta: float) -> tuple[float, np.ndarray]:
        start = time.perf_counter()
        a = pytreegrav.Accel(x, m, theta=theta, method="tree", parallel=True)
        return time.perf_counter() - start, a

    return run


def rebound_tree(x: np.ndarray, m: np.ndarray) -> Tree:
    import rebound

    sim = rebound.Simulation()
    side = 4 * float(np.abs(x).max())
    if hasattr(sim, "configure_box"):
        sim.configure_box(side)
    else:
        sim.root_size = side
    sim.boundary, sim.gravity, sim.integrator, sim.dt = "open", "tree", "leapfrog", 1e-30
    for (px, py, pz), mass in zip(x.tolist(), m.tolist()):
        sim.add(m=mass, x=px, y=py, z=pz)

    def run(theta: float) -> tuple[float, np.ndarray]:
        sim.opening_angle2 = theta * theta
        start = time.perf_counter()
        sim.steps(1)
        seconds = time.perf_counter() - start
        # The tree may reorder bodies. The time step is too short to move them, so equal positions
        # identify the bodies; equal x alone would not, because in float32 thousands of bodies have
        # the same x.
        found = np.array([(p.x, p.y, p.z, p.ax, p.ay, p.az) for p in sim.particles])
        a = np.empty_like(x)
        a[np.lexsort(x.T)] = found[np.lexsort(found[:, :3].T), 3:]
        return seconds, a

    return run


def best(runs: Iterator[tuple[float, float, float]]) -> Optional[tuple[float, float, float]]:
    """Prints all runs, and returns the fastest one that is accurate enough."""
    enough = []
    for tolerance, seconds, rms in runs:
        print(f"  {tolerance:6g}  {seconds:8.3f} s  RMS error {rms:.1e}", flush=True)
        if rms <= RMS:
            enough.append((seconds, tolerance, rms))
            break
    return min(enough, default=None)


def by_angle(tree: Tree, wanted: np.ndarray,
             which: np.ndarray) -> Iterator[tuple[float, float, float]]:
    """Yields the result of each angle. A run is timed again only if its angle is accurate enough,
    because the times of less accurate runs do not count."""
    for theta in (1.0, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2):
        seconds, a = tree(theta)
        rms = error(a[which], wanted)
        if rms <= RMS:
            seconds = min(seconds, tree(theta)[0], tree(theta)[0])
        yield theta, seconds, rms


def write_record(file: str, bodies: int, program: str,
                 found: Optional[tuple[float, float, float]]) -> None:
    """Appends a record to the file, if a file is given and the program was accurate enough."""
    if not file or not found:
        return
    processor = next((line.partition(":")[2].strip()
                      for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                      if line.startswith("model name")), "unknown")
    seconds, tolerance, rms = found
    with open(file, "a", encoding="utf-8") as out:
        out.write(json.dumps({
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "processor": processor, "cores": len(os.sched_getaffinity(0)), "bodies": bodies,
            "program": program, "seconds": seconds, "tolerance": tolerance, "rms": rms}) + "\n")


def main(program: str, ic: str, bodies: int, record: str = "") -> int:
    if os.getloadavg()[0] > 1.5 and "NBODY_ANYWAY" not in os.environ:
        print(f"this machine is busy: its load is {os.getloadavg()[0]:.1f}, and at most 1.5 is "
              "allowed (to test only the script, set NBODY_ANYWAY=1)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "plummer.bin"
        subprocess.run([ic, "plummer", file, "--bodies", str(bodies), "--softening", "1e-6"],
                       check=True, stdout=subprocess.DEVNULL)
        rows = np.array(read_file(file).values).reshape(-1, VALUES)
        x, m = rows[:, :3], rows[:, 6]
        which = np.linspace(0, bodies - 1, min(SAMPLE, bodies)).astype(int)
        wanted = exact(x, m, which)
        results: dict[str, Any] = {}
        print(f"cpu_tree, {bodies} bodies, predicted {PREDICTED['cpu_tree']} s at a million")
        results["cpu_tree"] = best(cpu_tree(program, file))
        write_record(record, bodies, "cpu_tree", results["cpu_tree"])
        for peer, make in (("pytreegrav", pytreegrav_tree), ("rebound", rebound_tree)):
            try:
                tree = make(x, m)
                print(f"{peer}, predicted {PREDICTED[peer]} s at a million")
                results[peer] = best(by_angle(tree, wanted, which))
                write_record(record, bodies, peer, results[peer])
            except ImportError as missing:
                print(f"{peer} is not installed: {missing}")
    ours = results["cpu_tree"]
    for peer, found in results.items():
        if found and ours:
            print(f"{peer:12} {found[0]:8.3f} s, "
                  f"{found[0] / ours[0]:.1f} times as long as cpu_tree")
    return 0 if ours else 1


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5) or not all(word.isdigit() for word in sys.argv[3:4]):
        print("usage: compare.py CPU_TREE IC [BODIES [RECORD]]", file=sys.stderr)
        sys.exit(2)
    for program in sys.argv[1:3]:
        if not os.access(program, os.X_OK):
            print(f"{program} is not a program; run ./nbody build cpu_tree nbody-ic",
                  file=sys.stderr)
            sys.exit(2)
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else 1 << 20,
                  *sys.argv[4:]))
