"""Runs compilers and submissions in tools/sandbox/sandbox.cpp (Landlock, seccomp, limits), which
itself runs inside bubblewrap if bubblewrap is installed and works.

bubblewrap gives a program its own file system, which contains only the folders named here, and its
own processes, network and users. If namespaces are not allowed, as in most containers, Landlock
denies access to the files that bubblewrap would hide.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

NOBODY = "65534"
ALONE = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
         "--die-with-parent")
# Root becomes user nobody inside the sandbox. Any other user is mapped to nobody in a user
# namespace.
USERS = {"as root": ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),
         "in a namespace": ("--unshare-user", "--uid", NOBODY, "--gid", NOBODY)}
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/etc/ld.so.cache",
             "/etc/alternatives")
PROGRAMS = ("/bin", "/usr/bin", "/usr/libexec", "/usr/local/bin")
HEADERS = ("/usr/include", "/usr/local/include")
LINKS = ("/lib", "/lib32", "/lib64")  # on most systems these are links into /usr
DRIVER = "libcuda.so.1"
DRIVER_FOLDERS = ("/usr/local/nvidia/lib64",)  # where containers mount NVIDIA's driver
LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")


@dataclass(frozen=True)
class Access:
    """The files that a program may access, in addition to the system's files."""
    read: tuple[Path, ...] = ()
    execute: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    build: bool = False  # for compilers, which need the system's programs and headers
    gpu: bool = False


@dataclass(frozen=True)
class Sandbox:
    tool: Path  # grade_sandbox, in a folder that user nobody can read
    bubblewrap: tuple[str, ...] = ()
    why_not: str = ""  # reason why bubblewrap is not used
    # Maps "user", "files" and "calls" to the mechanism that protects each of them, or "-".
    guards: dict[str, str] = field(default_factory=dict)

    def words(self, access: Access, megabytes: int, seconds: int,
              program: Sequence[str]) -> list[str]:
        """Returns the command line that runs a program. Each process of the program may use
        `seconds` of processor time."""
        outside = () if access.gpu else self.bubblewrap  # bubblewrap hides too much from CUDA
        words = [*outside, *(self._mounts(access) if outside else ()), str(self.tool)]
        words += ["--build"] * access.build + ["--gpu"] * access.gpu
        readable = (*LIBRARIES, *LINKS, "/proc", "/sys", *access.read)
        if access.gpu:
            readable = (*readable, *driver_folders())
        of_build = (*PROGRAMS, *HEADERS, *LIBRARIES, *LINKS) if access.build else ()
        runnable = (*LOADERS, *access.execute, *of_build)
        options = (("--read", readable), ("--execute", runnable), ("--write", access.write))
        for option, paths in options:
            for path in paths:
                words += [option, str(path)]
        return [*words, str(megabytes), str(seconds), *program]

    def _mounts(self, access: Access) -> list[str]:
        shown = (*LIBRARIES, *LINKS, *((*PROGRAMS, *HEADERS) if access.build else ()))
        links = {path: os.readlink(path) for path in shown if os.path.islink(path)}
        rights = dict.fromkeys((path for path in shown if path not in links), "--ro-bind-try")
        rights |= {str(path): "--ro-bind" for path in (self.tool, *access.read, *access.execute)}
        rights |= {str(path): "--bind" for path in access.write}
        words = ["--proc", "/proc", "--dev-bind", "/dev/null", "/dev/null"]
        # Creates the parent folders of each mount. If bubblewrap created them by itself, only the
        # user who runs bubblewrap could enter them.
        around = {str(parent) for path in rights for parent in Path(path).parents} - {"/"}
        for folder in sorted(around):
            words += ["--perms", "0755", "--dir", folder]
        for path in sorted(rights):  # so that a folder comes before its contents
            words += [rights[path], path, path]
        for path, target in links.items():
            words += ["--symlink", target, path]
        return [*words, "--remount-ro", "/"]

    @property
    def description(self) -> str:
        """Describes the sandbox in one line, for the report."""
        own = [{"landlock": "Landlock", "seccomp": "seccomp", "nobody": "user nobody"}[guard]
               for guard in self.guards.values() if guard != "-"]
        inside = f"limits{''.join(f', {one}' for one in own)}"
        return (f"bubblewrap, and inside it {inside}" if self.bubblewrap else
                f"the grader's own ({inside}); {self.why_not}")


def driver_folders() -> list[str]:
    """Returns folders that contain CUDA's driver and that the loader does not search by itself."""
    named = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return [folder for folder in dict.fromkeys((*filter(None, named), *DRIVER_FOLDERS))
            if Path(folder, DRIVER).is_file()]


def found_sandbox(tool: Path, wanted: str = "auto") -> Sandbox:
    """Returns the sandbox to use. `wanted` is "auto", or "own" for a sandbox without bubblewrap."""
    program = shutil.which("bwrap") if wanted == "auto" else None
    if program is None:
        why = "bubblewrap is not installed" if wanted == "auto" else "bubblewrap was not requested"
        return Sandbox(tool, (), why, guards_of([str(tool)]))
    for key in ("as root", "in a namespace")[os.geteuid() != 0:]:
        sandbox = Sandbox(tool, (program, *ALONE, *USERS[key]))
        if guards := guards_of([*sandbox.bubblewrap, *sandbox._mounts(Access()), str(tool)]):
            return Sandbox(tool, sandbox.bubblewrap, "", guards)
    return Sandbox(tool, (), "bubblewrap does not work here", guards_of([str(tool)]))


def guards_of(words: list[str]) -> dict[str, str]:
    """Returns the protections that grade_sandbox reports; empty if it could not be started."""
    ended = subprocess.run([*words, "--protections"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           check=False)
    return dict(line.split() for line in ended.stdout.splitlines()) if ended.returncode == 0 else {}


def python_for_nobody() -> tuple[str, tuple[Path, ...]]:
    """Returns a Python interpreter that can run in the sandbox, and the folders that it needs."""
    own = Path(sys.executable).resolve()
    for program in (own, Path("/usr/bin/python3")):
        if program.is_relative_to("/usr") and program.exists():
            return str(program), ()
    return str(own), (Path(sys.base_prefix).resolve(),)
