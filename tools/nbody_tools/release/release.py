"""Writes the archive of a release. It contains all committed files. Since an archive has no .git,
another file holds the revision.

  ./nbody release DIR

Writes DIR/nbody-steps-VERSION.tar.gz and, next to it, its SHA-256. The version comes from
CMakeLists.txt. The same revision always gives an identical archive.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import subprocess
from pathlib import Path

from nbody_tools.arguments import ROOT, Failed, ToolError, check_output, write_whole_file
from nbody_tools.command_line.help import REVISION_FILE, number_of_the_version


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("directory", type=Path, metavar="DIR", help="target folder, created if missing")


def git(*words: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, check=False, capture_output=True)
    except OSError as error:
        raise Failed(f"git cannot be started: {error.strerror}") from error
    if done.returncode != 0:
        raise Failed(f"git {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def archive(name: str) -> bytes:
    """Returns a compressed tar of HEAD. All files are in a directory `name`. A file that contains
    the revision is added to them."""
    revision = git("describe", "--always", "--abbrev=12").decode().strip()
    tar = git("archive", "--format=tar", f"--prefix={name}/",
              f"--add-virtual-file={name}/{REVISION_FILE}:{revision}\n", "HEAD")
    return gzip.compress(tar, mtime=0)


def run(options: argparse.Namespace) -> int:
    if not (ROOT / ".git").exists():
        raise ToolError("a release needs a git clone, because it is made from a revision")
    if changed := git("status", "--porcelain", "--untracked-files=no").decode().splitlines():
        raise ToolError(
            f"{changed[0][3:]} has uncommitted changes, which the release would lack; commit first"
        )
    name = f"nbody-steps-{number_of_the_version()}"
    file = options.directory / f"{name}.tar.gz"
    if file.exists():
        raise ToolError(f"{file} already exists: nothing was written")
    check_output(file)
    content = archive(name)
    options.directory.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.tmp")  # so that no half archive has the name
    temporary.write_bytes(content)
    temporary.replace(file)
    write_whole_file(
        Path(f"{file}.sha256"), f"{hashlib.sha256(content).hexdigest()}  {file.name}\n"
    )
    print(f"{file}: {len(content) / 1e6:.1f} MB")
    return 0
