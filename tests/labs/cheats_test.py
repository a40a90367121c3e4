#!/usr/bin/env python3
"""Tests submissions that cheat or crash: cheats_test.py BUILD [--run] [NAME...]

Such a submission must get no points, must not read files and must not hang.

The submissions are in cheats.toml. --run selects the submissions that must be compiled and run.
Each submission must end within the time limit.
"""
import contextlib
import platform
import secrets
import sys
import tempfile
import time
import tomllib
from argparse import Namespace
from pathlib import Path
from unittest import mock

from nbody_tools.edits import replaced
from nbody_tools.labs import watching
from nbody_tools.labs.grade import grade
from nbody_tools.labs.lab import find_lab
from nbody_tools.labs.report import as_text

SECONDS = 30  # limit of processor time for the grader and for its programs, which run two at a time
START = "nbody::StageTimer timer;"  # the first statement of simulate()
options = Namespace(build=Path(sys.argv[1]), cuda_build=None, sandbox="auto")


def text_of(lab, cheat, secret):
    if "whole" in cheat:
        text = cheat["whole"] * cheat.get("times", 1)
    elif cheat.get("step"):
        text = lab.source.read_text(encoding="utf-8")
    else:
        text = edited(lab, cheat)
    return text.replace("{SECRET}", str(secret)).replace("{STEP}", str(lab.source))


def edited(lab, cheat):
    edits = {START: f"{START}\n  {cheat['start']}"} if "start" in cheat else {}
    if "find" in cheat:
        edits[cheat["find"]] = cheat["replace"]
    text = replaced(lab.solution, edits.items(), f"the solution of lab {lab.number}")
    return f"{cheat['top']}\n{text}" if "top" in cheat else text


def problems_with(name, cheat, secret):
    lab = find_lab(cheat.get("lab", "03"))
    watching.watched_seconds.clear()
    begun, own = time.monotonic(), time.process_time()
    rules = mock.patch("nbody_tools.labs.grade.broken_by_text", lambda lab, text: None)
    with rules if cheat.get("past_rules") else contextlib.nullcontext():
        report, _ = grade(
            lab, text_of(lab, cheat, secret), "nbody.cu", secrets.randbelow(1 << 31), options
        )
    seconds = sum(watching.watched_seconds) + time.process_time() - own
    text = as_text(report)
    print(f"{name}: {report.score:g} points, {seconds:.1f} s of processor time, "
          f"{time.monotonic() - begun:.1f} s",
          flush=True)
    if report.score or report.full:
        yield f"{name} has {report.score:g} points:\n{text}"
    if cheat["says"] not in text:
        yield f"{name} should get the message \"{cheat['says']}\":\n{text}"
    if secret.read_text() in text or "root:" in text:
        yield f"{name} has read the secret file:\n{text}"
    if copied := [one for one in lab.fingerprints if one in text and not cheat.get("step")]:
        yield f"{name} has read the step ({copied[0]}):\n{text}"
    if any(not letter.isprintable() for letter in text.replace("\n", "")):
        yield f"{name} has a control character in its report: {text!r}"
    if seconds > SECONDS:
        yield f"{name} took {seconds:.0f} s"


cheats = tomllib.loads((Path(__file__).parent / "cheats.toml").read_text(encoding="utf-8"))
names = [word for word in sys.argv[2:] if word != "--run"]
chosen = {
    name: cheat
    for name, cheat in cheats["nightly" if "--run" in sys.argv else "quick"].items()
    if (name in names or not names)
    and cheat.get("machine", platform.machine()) == platform.machine()
}
problems = []
with tempfile.TemporaryDirectory(prefix="nbody-secret-") as folder:
    Path(folder).chmod(0o755)
    secret = Path(folder) / "secret.txt"
    secret.write_text(secrets.token_hex(16))
    secret.chmod(0o644)
    for name, cheat in chosen.items():
        problems += problems_with(name, cheat, secret)
if len(chosen) < 30 and not names:
    problems.append(f"only {len(chosen)} submissions were tried")
sys.exit("\n\n".join(problems) if problems else 0)
