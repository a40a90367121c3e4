#!/usr/bin/env python3
"""The sandbox refuses what it says it refuses, and nothing that a submission needs: sandbox_test.py SANDBOX COMPILER"""
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sandbox, compiler = str(Path(sys.argv[1]).resolve()), sys.argv[2]
listed = subprocess.run([sandbox, "--protections"], stdout=subprocess.PIPE, text=True, check=True).stdout
missing = {line.split()[0] for line in listed.splitlines() if line.endswith("-")}
assert len(listed.splitlines()) == 3, listed

with tempfile.TemporaryDirectory() as name:
    folder, outside = Path(name) / "run", Path(name) / "outside"
    (folder / "out").mkdir(parents=True)
    outside.mkdir()
    for path in (Path(name), folder, folder / "out", outside):
        path.chmod(0o777 if path == outside else 0o755)
    (outside / "secret").write_text("secret")
    (outside / "secret").chmod(0o666)
    (folder / "out" / "trace.json").touch()
    (folder / "out" / "trace.json").chmod(0o666)
    program = folder / "hostile"
    subprocess.run([compiler, "-O1", "-pthread", Path(__file__).with_name("hostile.cpp"), "-o", program], check=True)
    ended = {megabytes: subprocess.run([sandbox, megabytes, "1", folder, program, outside, str(os.getpid())], cwd=folder,
                                       stdout=subprocess.PIPE, text=True, timeout=100, check=False)
             for megabytes in ("1000", "0")}

problems = []
for megabytes, run in ended.items():
    done = run.stdout.splitlines()
    on_gpu = megabytes == "0"
    taken = missing | ({"gpu", "memory"} if on_gpu or missing else set())  # what it has there, or nobody can take away
    problems += [f"{megabytes}: {line}" for line in done if not line.startswith("allowed: ") and line.split(":")[0] not in taken]
    needed = ["allowed: write its record", "allowed: start a thread"]
    needed += ["gpu: talk within the machine", "gpu: name a thread"] if on_gpu else []
    problems += [f"{megabytes}: refused: {line}" for line in needed if line not in done]
    if run.returncode != -signal.SIGXCPU:
        problems.append(f"{megabytes}: a loop without end ended with {run.returncode}")
    print(f"{megabytes} MB: not refused: {', '.join(done)}")
print(listed, end="")
sys.exit("\n".join(problems) if problems else 0)
