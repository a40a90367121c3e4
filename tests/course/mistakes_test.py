#!/usr/bin/env python3
"""Tests what `hostcuda check` reports for programs with a mistake: mistakes_test.py ROOT FOLDER
[--write] [NAME...]

FOLDER is course/mistakes or experiments/errata. Next to each NAME.cu is NAME.txt, which pages
quote. The tool's output, without its addresses and folders, must equal NAME.txt. --write replaces
NAME.txt. NAME.txt contains "[AddressSanitizer]" if only `check --all` finds the mistake.
"""
import re
import subprocess
import sys
from pathlib import Path


def options_for(expected):
    needs_all = expected.exists() and "[AddressSanitizer]" in expected.read_text("utf-8")
    return ["--all"] if needs_all else []


def said_of(program, root, folder, options):
    done = subprocess.run(
        [sys.executable, root / "hostcuda" / "bin" / "hostcuda", "check", *options, program.name],
        cwd=program.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    # Drops two messages. The second of them appears only if clang++ is not installed.
    lines = [
        line
        for line in done.stdout.splitlines()
        if not line.startswith(
            ("hostcuda: building", "calls between host and device code were not checked")
        )
    ]
    text = ("\n".join(lines) + "\n").replace(f"{root}/", "")
    text = re.sub(rf"/\S*/(?={folder}/)", "", text).replace(f"{folder}/", "")
    # The value of bytes that nobody has written can differ from run to run.
    text = re.sub(r"(the last body is at ).*", r"\1...", text)
    return done.returncode, re.sub(r"0x[0-9a-f]{6,}", "0x...", text)


def main():
    root = Path(sys.argv[1]).resolve()
    folder, names = sys.argv[2], [word for word in sys.argv[3:] if word != "--write"]
    programs = [p for p in sorted((root / folder).glob("*.cu")) if not names or p.stem in names]
    problems = []
    for program in programs:
        expected = program.with_suffix(".txt")
        code, text = said_of(program, root, folder, options_for(expected))
        if code != 1:
            problems.append(f"{program.name}: hostcuda check finds nothing (exit code {code})")
        elif "--write" in sys.argv:
            expected.write_text(text, encoding="utf-8")
        elif not expected.exists() or expected.read_text("utf-8") != text:
            problems.append(f"{expected.name}: hostcuda check now reports something else:\n{text}")
    if problems or not programs:
        sys.exit("\n".join(problems) or "there are no programs")
    print(f"hostcuda check reports all mistakes of {len(programs)} programs")


if __name__ == "__main__":
    main()
