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
    ended = subprocess.run([sandbox, "1000", "1", folder, program, outside, str(os.getpid())], cwd=folder,
                           stdout=subprocess.PIPE, text=True, timeout=100, check=False)
    done = ended.stdout.splitlines()

problems = [line for line in done if not line.startswith("allowed: ") and line.split(":")[0] not in missing]
problems += [f"refused: {line}" for line in ("allowed: write its record", "allowed: start a thread") if line not in done]
if ended.returncode != -signal.SIGXCPU:
    problems.append(f"a loop without end ended with {ended.returncode}")
print(f"{listed}not refused: {', '.join(done)}")
sys.exit("\n".join(problems) if problems else 0)
