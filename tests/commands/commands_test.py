"""Runs every command that a page shows, as printed, in a fresh clone as an unprivileged user.

  python3 tests/commands/commands_test.py [--pages README.md] [--keep FOLDER]

A command must succeed, leave nothing in the work tree, and take at most 30 s or the time that the
page states next to it. GPU commands are run on the CPU instead, with fewer bodies. Commands that
cannot run here are listed with the reason.

Exit code: 0 if all ran, 1 if a command failed (its page and line are named), 77 if there is nothing
to clone.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from nbody_tools.arguments import ROOT
from nbody_tools.steps import has_gpu, is_draft
from pages import Command, read_pages, saved_files

NOBODY = 65534
# The smaller of elapsed and processor time may be this many seconds; a page must announce longer
# commands.
LIMIT = 30.0
PATIENCE = 10  # on a busy machine, a command may take this many times as long
# NOT_READ: files that are not read, such as records, and templates, whose generated pages are read.
# TESTED_BY: pages whose commands are run by another test.
NOT_READ = re.compile(r"CHANGELOG\.md|.*\.template\.md|course/notebooks/.*|docs/results/.*")
TESTED_BY = {"docs/pictures.md": "documents.pictures", "docs/debugging.md": "documents.debugging",
             "hostcuda/README.md": "hostcuda.alone"}
SERVER = re.compile(r"--view \d|nbody view (?!.*--export)")
TESTS = re.compile(r"(?:^|\S+=\S+ )(?:\./nbody test(?!.*--status)|ctest)\b")
GPU_TOOL = re.compile(r"\./nbody (compare|measure|profile|run|tune|timeline|sweep)\b")
SMALL = {"--bodies": 600, "--steps": 2, "--systems": 2, "--force-error": 64, "--devices": 1,
         "--repeat": 1}
ASSIGNMENT = ("rm -rf build/course/assignments && echo one > build/class.txt && "
              "./nbody course teacher make build/class.txt "
              "--seed one --family reduction && "
              "given=build/course/assignments/students/one/reduction")
# Files that pages expect the reader to have, and the commands that make them here.
OWN_FILES = {
    "snapshot_": "build/cpu/step00_cpu_omp/step00_cpu_omp --scenario figure-eight --steps 20 "
                 "--snapshot-every 10 --snapshot-dir .",
    "galaxy.hdf5": "build/cpu/tools/ic/nbody-ic spiral build/galaxy.bin --bodies 2000 && "
                   "build/cpu/tools/convert/nbody-convert build/galaxy.bin galaxy.hdf5",
    "galaxy.bin": "build/cpu/tools/ic/nbody-ic spiral galaxy.bin --bodies 2000",
    "build/spiral/snapshot_": "build/cpu/tools/ic/nbody-ic spiral build/ic.bin --bodies 600 && "
                              "for n in 0 1; do "
                              "cp build/ic.bin build/spiral/snapshot_000${n}0000.bin; done",
    "build/agora/snapshot_": "build/cpu/tools/ic/nbody-ic disk-halo build/ic.bin --bodies 600 && "
                             "for n in 0 1; do "
                             "cp build/ic.bin build/agora/snapshot_0000${n}000.bin; done",
    "grade 03 submissions/": "mkdir -p submissions/one && ./nbody lab 03 --to submissions/one",
    "grade 20 lab20_find_the_race": "./nbody lab 20",
    "grade 21 lab21_find_the_barrier": "./nbody lab 21",
    # An assignment for a class with one student, who submits the starter unchanged.
    "grade PATH/assignment.toml PATH": f"{ASSIGNMENT} && mkdir -p PATH && "
                                       "cp $given/assignment.* $given/solution.cu PATH",
    "reduction.csv submissions/": f"{ASSIGNMENT} && mkdir -p submissions/one && "
                                  "cp $given/solution.cu submissions/one",
    "integrators build/integrators.jsonl": "cp docs/results/integrators/*.jsonl "
                                           "build/integrators.jsonl",
    "grade 20 nbody.cu": "./nbody lab 20 --to build/lab20 && cp build/lab20/nbody.cu .",
    "grade 21 nbody.cu": "./nbody lab 21 --to build/lab21 && cp build/lab21/nbody.cu .",
}
# Folders that several pages make.
MADE_AGAIN = {"nbody lab 01": "lab01_guard"}


@dataclass
class Ended:
    code: Optional[int]  # None if it exceeded the time limit
    seconds: float
    output: str


class Clone:
    """A clone of HEAD. If root runs the tests, an unprivileged user owns the clone."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "nbody-steps", folder / "home"
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.as_nobody = nobody if os.getuid() == 0 else {}
        if self.root.exists():
            return
        self.home.mkdir(parents=True)
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, self.root], check=True)
        if self.as_nobody:
            os.chmod(folder, 0o755)
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", folder], check=True)

    def environment(self) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items()
                if not name.startswith(("NBODY_", "HOSTCUDA_", "PYTHON", "OMP_"))}
        return {**ours, "HOME": str(self.home), "PROGRESS_EVERY": "0"}

    def run(self, text: str, limit: float, server: bool = False) -> Ended:
        """Runs a command. A server is interrupted when it has printed its address."""
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                ["bash", "-c", text], cwd=self.root, env=self.environment(), stdout=output,
                stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True,
                **self.as_nobody)
            code = self.wait(process, limit, output.fileno() if server else None)
            output.seek(0)
            said = output.read().decode(errors="replace")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        # Other programs make a command take longer, but do not increase its processor time. The
        # command may have used all cores, so its processor time is divided by their number.
        cores = len(os.sched_getaffinity(0))
        is_busy = os.getloadavg()[0] > 1.5 * cores
        return Ended(code, min(time.monotonic() - started, processor / (cores if is_busy else 1)),
                     said)

    @staticmethod
    def wait(process: subprocess.Popen, limit: float,
             server_output: Optional[int]) -> Optional[int]:
        end = time.monotonic() + limit
        try:
            while process.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
                if server_output and b"http://" in os.pread(server_output, 1 << 16, 0):
                    os.killpg(process.pid, signal.SIGINT)
                    process.wait(60)
                    return 0
            return process.poll()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def untracked(self) -> set[str]:
        status = subprocess.run(["git", "status", "--porcelain"], cwd=self.root, check=True,
                                stdout=subprocess.PIPE, text=True, env=self.environment(),
                                **self.as_nobody)
        return set(status.stdout.splitlines())


def on_the_cpu(text: str) -> str:
    """Returns the command for a machine without a GPU, with less work."""
    text = re.sub(r"^\./nbody sweep build \S+ && | --gpu\b", "", text)
    text = text.replace("build/cuda/", "build/cpu/")

    def smaller(option: re.Match) -> str:
        return f"{option[1]} {min(int(option[2]), SMALL[option[1]])}"
    return re.sub(rf"({'|'.join(SMALL)}) (\d+)", smaller, text)


def tests_selected(text: str) -> str:
    """Replaces a run of tests with a check that the command selects some tests. Running the
    selected tests would run this test again."""
    words = text.partition("./nbody test" if "./nbody test" in text else "ctest")[2]
    words = re.sub(r"--(test-dir|preset|minutes) \S+|--(nightly|asan|tsan)\b", "", words)
    return f"ctest --test-dir build/cpu -N {words} | grep -E 'Total Tests: [1-9]'"


def reason_to_skip(command: Command) -> str:
    if command.page in TESTED_BY:
        return f"run by {TESTED_BY[command.page]}"
    if command.is_usage:
        return "contains words that the reader must replace"
    if "network" in command.comment:
        return "needs the network"
    if "Slurm" in command.comment and "SLURM_JOB_ID" not in os.environ:
        return "works only in a Slurm job"
    for program in re.findall(r"\b(nvcc|gdb|srun|sbatch|mpirun|ncu)\b", command.text):
        if not shutil.which(program):
            return f"there is no {program}"
    if re.fullmatch(r"\./nbody build( --gpu)?", command.text):
        return "builds everything, which ./nbody test --nightly does too"
    is_tool = GPU_TOOL.match(command.text) and "build/cuda" not in command.text
    return "needs a GPU" if is_tool and command.needs_gpu and not has_gpu() else ""


def is_shown_for_the_cpu(command: Command, commands: list[Command]) -> bool:
    """True if on_the_cpu cannot shorten the command, but the page also shows a small run of the
    same program on the CPU."""
    program = command.text.split()[0].replace("build/cuda/", "build/cpu/")
    others = [one for one in commands if one.page == command.page and program in one.text.split()]
    return "build/cuda/" in command.text and bool(others) and on_the_cpu(command.text) == \
        command.text.replace("build/cuda/", "build/cpu/")


class Check:
    def __init__(self, clone: Clone, commands: list[Command]) -> None:
        self.clone, self.commands = clone, commands
        self.failures: list[str] = []
        self.made: set[str] = set()  # the names in OWN_FILES whose files exist
        self.skipped: list[str] = []
        self.count = 0

    def prepare(self, command: Command) -> None:
        """Makes the files that the page assumes, and hides them from git."""
        saved = saved_files((ROOT / command.page).read_text(encoding="utf-8"))
        for name, content in saved.items():
            if name in command.text:
                self.clone.run(f"cat > {name} <<'END_OF_FILE'\n{content}END_OF_FILE", 60)
        for words, folder in MADE_AGAIN.items():
            if words in command.text:
                self.clone.run(f"rm -rf {folder}", 60)
        for name, making in OWN_FILES.items():
            if name in command.text and name not in self.made:
                self.made.add(name)
                own = name.split()[-1]
                hide = f"rm -rf {own}* && echo '/{own}*' >> .git/info/exclude"
                made = self.clone.run(f"{hide} && {making}", 600)
                if made.code != 0:
                    self.fail(command, f"its input cannot be made: {making}", made)

    def fail(self, command: Command, what: str, ended: Optional[Ended] = None) -> None:
        lines = ended.output.strip().splitlines()[-8:] if ended else []
        text = f"{command.where}: {what}: {command.text}"
        self.failures.append("\n    ".join([text, *lines]))
        print(f"FAILED {self.failures[-1]}", flush=True)

    def check(self, command: Command) -> None:
        reason = reason_to_skip(command)
        if not reason and not has_gpu() and is_shown_for_the_cpu(command, self.commands):
            reason = "the page shows it for the CPU"
        if reason:
            self.skipped.append(f"{command.where}: {reason}: {command.text}")
            return
        text = command.text
        if TESTS.search(text):
            text = tests_selected(text)
        elif command.needs_gpu and not has_gpu():
            text = on_the_cpu(text)
        self.prepare(command)
        before = self.clone.untracked()
        allowed = max(LIMIT, 1.5 * command.seconds)
        ended = self.clone.run(text, PATIENCE * allowed, SERVER.search(text) is not None)
        self.count += 1
        print(f"{command.where}: {ended.seconds:.1f} s: {text}", flush=True)
        if ended.code == 77:
            self.skipped.append(f"{command.where}: {ended.output.strip()[-100:]}: {command.text}")
        elif ended.code is None:
            self.fail(command, f"still runs after {PATIENCE * allowed:.0f} s", ended)
        elif not is_expected(command, ended):
            self.fail(command, f"exit code {ended.code}", ended)
        elif ended.seconds > allowed:
            self.fail(command, f"takes {ended.seconds:.0f} s, but the page does not say so")
        if left := self.clone.untracked() - before:
            self.fail(command, f"leaves {', '.join(sorted(left))}")


def is_expected(command: Command, ended: Ended) -> bool:
    """True if a command may exit with this code: diff and --status exit with 1 if they find
    differences, and so does grading a lab whose code is still missing."""
    if "fails" in command.comment:
        return ended.code == 1
    is_found = command.text.startswith("diff ") or command.text.endswith("--status") or (
        "nbody grade" in command.text and ("points" in ended.output or "> " in command.text))
    return ended.code == 0 or (ended.code == 1 and is_found)


def targets_shown(commands: list[Command]) -> list[str]:
    """Returns the programs that the pages run. They are built first, so that no
    command's time includes a build."""
    program = re.compile(r"build/cpu/[^\s$]*?([\w-]+)(?=[\s;]|$)")
    texts = [on_the_cpu(command.text) for command in commands if command.page not in TESTED_BY]
    return sorted({found for text in texts for found in program.findall(text)})


def check_first_commands(commands: list[Command]) -> list[str]:
    """Lists the steps whose page does not begin with one command for the CPU and one for a GPU."""
    problems = []
    for folder in sorted(ROOT.glob("step[0-9]*/")):
        if is_draft(folder.name, ROOT):
            continue
        page = f"{folder.name}/README.md"
        first = [one.needs_gpu for one in commands if one.page == page and one.line <= 6]
        if False not in first:
            problems.append(f"{page}: does not begin with a command for the CPU")
        if True not in first and (folder / "nbody.cu").exists():
            problems.append(f"{page}: does not begin with a command for a GPU")
    return problems


def pages_of(root: Path) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=root, check=False,
                            stdout=subprocess.PIPE, text=True)
    return [page for page in listed.stdout.split()
            if not NOT_READ.fullmatch(page) and not is_draft(page.partition("/")[0], root)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", nargs="*")
    parser.add_argument("--first", action="store_true",
                        help="check only the first commands of each step's page")
    parser.add_argument("--keep", type=Path,
                        help="folder for the clone; an existing clone there is used again")
    options = parser.parse_args()
    names = options.pages or pages_of(ROOT)
    if not names:
        print("not a git repository: nothing to clone")
        return 77
    commands = read_pages(ROOT, names)
    if options.first:
        problems = check_first_commands(commands)
        print("\n".join(problems) or f"{len(commands)} commands on {len(names)} pages")
        return 1 if problems else 0
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # so that the user who runs the commands may enter it
        check = Check(Clone(options.keep or Path(folder) / "clone"), commands)
        targets = " ".join(targets_shown(commands))
        # By default all options are on that ./nbody switches on when needed, and it keeps them.
        building = f" && ./nbody build {targets}" if targets else ""
        built = check.clone.run(f"cmake --preset cpu{building}", 7200)
        if built.code != 0:
            print(f"FAILED: programs that the pages name are not built:\n{built.output}")
            return 1
        for command in commands:
            check.check(command)
    print(f"{check.count} commands ran, {len(check.failures)} failures; not run:",
          *check.skipped, sep="\n  ")
    print(*check.failures, sep="\n")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
