#!/usr/bin/env python3
"""Times the frames of a live view as a page receives them, and writes one line of JSON.

    measure_frames.py PROGRAM OUT.json [--seconds T] [--steps-per-frame K] [OPTION OF THE STEP...]

Runs the step with --view on a free port, and requests frames as a page does, two in advance. After
two seconds of warm-up, it records the time at which each frame arrives. It also records when the
step's info message and first frame arrived, counted from the start of the step. The script needs
only Python's standard library. By default K is 0, which means as many steps per frame as can be
computed.
"""
import argparse
import datetime
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time

from view_socket import ViewSocket, find_address

WARM_UP = 2.0  # seconds


def start(program, options):
    process = subprocess.Popen(
        [program, "--view", "0", *options], stdout=subprocess.PIPE, text=True
    )
    for line in process.stdout:
        address = find_address(line)
        if address:
            return process, address
    sys.exit(f"measure_frames: {program} exited with code {process.wait()}")


def look(address, seconds, steps_per_frame, started):
    """Returns three values: the program's info message; the times at which this message and the
    first frame arrived; and, for each frame after the warm-up, its head and the time at which it
    arrived."""
    frames, first = [], {}
    with ViewSocket(address) as viewer:
        info = viewer.wait_for("info")
        first["facts"] = round(time.perf_counter() - started, 3)
        viewer.send(type="speed", steps_per_frame=steps_per_frame)
        viewer.send(type="next")
        viewer.send(type="next")
        warm = time.perf_counter() + WARM_UP
        while not frames or frames[-1]["arrived"] < warm + seconds:
            frame = viewer.frame()
            frame["arrived"] = time.perf_counter()
            first.setdefault("frame", round(frame["arrived"] - started, 3))
            viewer.send(type="next")
            if frame["arrived"] >= warm:
                frames.append(frame)
    return info, first, frames


def summary(info, frames):
    gaps = [(b["arrived"] - a["arrived"]) * 1e3 for a, b in zip(frames, frames[1:])]
    spent = frames[-1]["arrived"] - frames[0]["arrived"]
    cuts = statistics.quantiles(gaps, n=100, method="inclusive")
    steps = frames[-1]["step"] - frames[0]["step"]
    return {
        "program": info["program"],
        "device": info["device"],
        "backend": info["backend"],
        "host": {"machine": platform.machine(), "cores": os.cpu_count()},
        "scenario": info["scenario"],
        "systems": info["systems"],
        "bodies": info["bodies_per_system"],
        "dt": info["dt"],
        "integrator": info["integrator"],
        "seconds": round(spent, 3),
        "frames": len(gaps),
        "frames_per_second": round(len(gaps) / spent, 2),
        "frames_left_out": frames[-1]["number"] - frames[0]["number"] - len(gaps),
        "bytes_per_frame": frames[-1]["bytes"],
        "steps_per_second": round(steps / spent, 2),
        "steps_per_frame": round(steps / len(gaps), 2),
        "interactions_per_second": frames[-1]["interactions_per_second"],
        "frame_time_ms": {
            "median": round(statistics.median(gaps), 3),
            "p5": round(cuts[4], 3),
            "p95": round(cuts[94], 3),
            "p99": round(cuts[98], 3),
            "longest": round(max(gaps), 3),
        },
        "frame_times_ms": [round(gap, 2) for gap in gaps],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--steps-per-frame", type=int, default=0)
    arguments, options = parser.parse_known_args()
    started = time.perf_counter()
    process, address = start(arguments.program, options)
    try:
        info, first, frames = look(address, arguments.seconds, arguments.steps_per_frame, started)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    record = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "options": options, "first_seconds": first, **summary(info, frames)}
    with open(arguments.out, "w", encoding="utf-8") as out:
        out.write(json.dumps(record) + "\n")
    print(
        "{program} {systems} x {bodies}: {frames_per_second} frames/s".format(**record),
        "median {median} ms, 95 % {p95} ms, longest {longest} ms".format(**record["frame_time_ms"]),
        f"{record['interactions_per_second'] * 1e-9:.4g} G interactions/s",
        sep=", ",
    )


if __name__ == "__main__":
    main()
