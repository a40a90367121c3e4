"""Builds a submission inside the sandbox. For the CPU, hostcuda builds it twice, once plain and
once with traced accesses; for a GPU, nvcc builds it.

CMake writes the compiler, the flags and the libraries to grade.json (tools/sandbox/CMakeLists.txt).
The files that a compiler needs are copied into a separate folder, the kit: the public headers of
the project, of hostcuda and of the lab's step; hostcuda's launcher; and the libraries. Compilers
can read no other file of the project.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Mapping, Optional, Sequence

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.labs.messages import readable
from nbody_tools.labs.sandbox import Access, Sandbox, found_sandbox, python_for_nobody
from nbody_tools.labs.watching import TooLong, end, watch

sys.path.insert(0, str(ROOT / "hostcuda" / "launcher"))
from libraries import FLAGS, PLAIN, TRACED, WRAPPED  # noqa: E402

SECONDS = 10  # limit of processor time for a compilation; lab 12's, the longest, needs 5 s
GPU_SECONDS = 120  # longer, because nvcc compiles each file several times
MEGABYTES = 4000
EMPTY: Mapping[str, Sequence[str]] = MappingProxyType({})
MAX_OUTPUT = 200_000  # longest output of a compiler that is read, in bytes
COMMON = ["-std=c++20", '-DNBODY_FLAGS=""']
LINKED = ["-lboost_context", "-lopenblas", "-fopenmp", "-pthread"]
OF_TRACER = [f"-Wl,--wrap={name}" for name in WRAPPED]
HEADERS = ("common/include", "hostcuda/include", "hostcuda/launcher", "hostcuda/cublas/include")


class DoesNotCompile(Exception):
    """The source does not compile; the text is the compiler's message."""


@dataclass(frozen=True)
class Tools:
    """The compilers, flags and libraries of a build folder."""
    compiler: str
    cuda: bool
    include: list[str]
    flags: list[str]
    architectures: list[str]
    libraries: dict[str, list[str]]
    judge: str
    sandbox: str


def read_tools(build: Path) -> Tools:
    file = build / "grade.json"
    try:
        return Tools(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ToolError(f"{file}: {error}: build the target grade_tools first "
                        "(./nbody grade builds this target itself)") from error


class Workshop:
    """The folders for grading one submission, with everything that is built in them.

    kit    files that compilers read
    made   the submission, and files that compilers write
    run    the programs, and out/, into which a program may write. A running submission can read
           only this folder and its own source.
    """

    def __init__(self, folder: Path, tools: Tools, headers: Sequence[Path],
                 sandbox: str = "auto") -> None:
        self.folder, self.tools = folder, tools
        self.kit, self.made, self.run = (folder / name for name in ("kit", "made", "run"))
        self.sources: list[Path] = []  # findings quote lines of these files
        self.seconds: list[float] = []  # processor time of the compiler and similar tools
        for part in HEADERS:
            shutil.copytree(ROOT / part, self.kit / part)
        for header in headers:
            copied(header, self.kit / header.parent.name / header.name)
        self._libraries = {
            variant: [copied(Path(file), self.kit / "lib" / Path(file).name) for file in files]
            for variant, files in tools.libraries.items()}
        own_sandbox = copied(Path(tools.sandbox), self.kit / "grade_sandbox")
        for path in (self.made, self.run / "out"):
            path.mkdir(parents=True)
        self._let_nobody_read()
        self.sandbox: Sandbox = found_sandbox(own_sandbox, sandbox)

    def _let_nobody_read(self) -> None:
        self.folder.chmod(0o755)
        for path in (self.kit, self.run, *self.kit.rglob("*"), *self.run.rglob("*")):
            path.chmod(0o755 if path.is_dir() or path.parent == self.kit else 0o644)
        self.made.chmod(0o777)

    def add(self, name: str, text: str) -> None:
        """Adds a source to be compiled."""
        source = self.made / name
        source.write_text(text, encoding="utf-8")
        source.chmod(0o644)
        self.sources.append(source)

    def library_files(self) -> list[Path]:
        """Returns the libraries that are linked with a submission: the traced ones if there are
        any, otherwise the plain ones."""
        return list(self._libraries[TRACED] or self._libraries[PLAIN])

    def call(self, words: Sequence[str], seconds: int = SECONDS, more: Sequence[Path] = (),
             most: int = MAX_OUTPUT) -> str:
        """Runs a compiler or a similar tool in the sandbox, in the folder `made`; returns its
        output."""
        access = Access(read=(self.kit, *more), execute=(*toolchain(words[0]), *more),
                        write=(self.made,), build=True)
        with tempfile.TemporaryFile(dir=self.folder) as output:
            process = subprocess.Popen(
                self.sandbox.words(access, MEGABYTES, seconds, [program_of(words[0]), *words[1:]]),
                cwd=self.made,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={
                    "PATH": "/usr/local/bin:/usr/bin:/bin",
                    "LC_ALL": "C.UTF-8",
                    "TMPDIR": str(self.made),
                    "HOME": str(self.made),
                    "PYTHONDONTWRITEBYTECODE": "1",
                },
            )
            why = ""
            try:
                self.seconds.append(watch(process, seconds))
            except TooLong as error:
                why = f"the compiler was stopped: {error}"
            code = end(process)
            output.seek(0)
            said = output.read(most).decode("utf-8", errors="replace")
        if why or code:
            raise DoesNotCompile(why or readable(said, self.folder) or
                                 f"the compiler ended with {code}")
        return said

    def include_options(self) -> list[str]:
        return [
            f"-I{self.kit / path}" for path in ("common/include", ".", "hostcuda/cublas/include")
        ]

    def compile_for_cpu(self, source: str, variant: str, name: str = "") -> Path:
        """Compiles a source after hostcuda's launcher has rewritten it, and returns the object
        file, NAME.o. Also writes NAME.d, which lists the files that the preprocessor opened. By
        default, NAME is the variant."""
        name = name or variant
        # Without -fno-gnu-unique, it would be impossible to hide some symbols from the libraries.
        flags = [*self.tools.flags, "-fno-gnu-unique", *FLAGS[variant]]
        python, needed = python_for_nobody()
        launcher = self.kit / "hostcuda" / "launcher" / "hostcudacc.py"
        self.call(
            [
                python,
                str(launcher),
                self.tools.compiler,
                *COMMON,
                *self.include_options(),
                *flags,
                "-fopenmp",
                "-MD",
                "-MF",
                f"{name}.d",
                "-c",
                source,
                "-o",
                f"{name}.o",
            ],
            more=needed,
        )
        return self.made / f"{name}.o"

    def compile_both(self, source: str) -> Path:
        """Compiles the plain and the traced object file in parallel; returns the plain file."""
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda variant: self.compile_for_cpu(source, variant), (PLAIN, TRACED)))
        return self.made / f"{PLAIN}.o"

    def opened(self, name: str) -> set[str]:
        """Returns the files that the preprocessor opened for NAME.o; files of the project have
        relative paths."""
        rule = (self.made / f"{name}.d").read_text(encoding="utf-8", errors="replace")
        words = re.split(r"(?<!\\)\s+", rule.replace("\\\n", " "))
        files = {os.path.normpath(word.replace("\\ ", " ")) for word in words
                 if word and not word.endswith(":")}
        return {file.removeprefix(f"{self.kit}/") for file in files}

    def link_for_cpu(self, variant: str, kept: str = "main", more: Sequence[str] = ()) -> Path:
        """Links a submission with `more` object files. Hides all of the submission's symbols except
        `kept` from the libraries, so that no symbol can replace a function of the libraries."""
        self.call(["ld", "-r", "--force-group-allocation", f"{variant}.o", "-o", f"{variant}.r.o"])
        self.call(["objcopy", f"--keep-global-symbol={kept}", f"{variant}.r.o", f"{variant}.l.o"])
        self.call([self.tools.compiler, f"{variant}.l.o", *more,
                   *map(str, self._libraries[variant]),
                   *(OF_TRACER if variant == TRACED else []), *LINKED, "-o", variant])
        return self.installed(variant)

    def installed(self, name: str) -> Path:
        if (self.made / name).is_symlink():
            raise DoesNotCompile("the compiler left a symbolic link")
        program = copied(self.made / name, self.run / name)
        program.chmod(0o755)
        return program

    def link_both(self, kept: str = "main",
                  more: Mapping[str, Sequence[str]] = EMPTY) -> dict[str, Path]:
        """Links both variants. `more` contains further object files for each variant."""
        def linked(variant: str) -> Path:
            return self.link_for_cpu(variant, kept, more.get(variant, ()))

        with ThreadPoolExecutor(2) as pool:
            return dict(zip((PLAIN, TRACED), pool.map(linked, (PLAIN, TRACED))))

    def build_for_gpu(self, source: str, step: str, name: str) -> Path:
        """Compiles `source` with nvcc and the flags in the step's CMakeLists.txt."""
        recipe = (ROOT / step / "CMakeLists.txt").read_text(encoding="utf-8")
        flags = re.search(r"CUDA_FLAGS((?: -[^\s)]+)+)", recipe)
        architectures = ["-arch=native"] if self.tools.architectures == ["native"] else [
            f"-gencode=arch=compute_{one},code=sm_{one}" for one in self.tools.architectures]
        self.call([self.tools.compiler, *COMMON, "-O3", *(flags[1].split() if flags else []),
                   *architectures, *self.include_options()[:2], "-Xcompiler=-fopenmp", source,
                   *map(str, self._libraries[PLAIN]), "-lcublas", "-o", name], GPU_SECONDS)
        return self.installed(name)


def copied(file: Path, to: Path) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, to)
    return to


def is_systems(program: Path) -> bool:
    return any(program.is_relative_to(folder) for folder in ("/usr/bin", "/usr/local/bin", "/bin"))


def program_of(word: str) -> str:
    """Returns a program's path. Resolves links, unless the program belongs to the system, because
    the sandbox shows only the folder that contains the program itself."""
    found = Path(shutil.which(word) or word)
    return str(found if is_systems(found.resolve()) else found.resolve())


def toolchain(word: str) -> tuple[Path, ...]:
    """Returns the folders that a compiler needs; none if the compiler belongs to the system."""
    program = Path(program_of(word))
    return () if is_systems(program) else (program.parents[1],)


def has_gpu() -> bool:
    if not shutil.which("nvidia-smi"):
        return False
    listed = subprocess.run(
        ["nvidia-smi", "-L"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return listed.stdout.startswith("GPU ")


def gpu_tools(build: Optional[Path]) -> Optional[Tools]:
    """Returns the tools from the build folder for nvcc, or None if the folder or a GPU is
    missing."""
    return read_tools(build) if build is not None and has_gpu() else None
