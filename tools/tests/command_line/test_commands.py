"""Tests that the table of commands agrees with the parsers, the shell functions, the help texts,
their examples and the completion."""

import ast
import contextlib
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from nbody_tools.arguments import OneLineParser, whole_number
from nbody_tools.command_line import front
from nbody_tools.command_line.completion import for_bash, for_fish, for_zsh
from nbody_tools.command_line.help import examples_in, number_of_the_version
from nbody_tools.command_line.manual import manual
from nbody_tools.command_line.nearest import did_you_mean
from nbody_tools.command_line.table import ALIASES, BY_NAME, COMMANDS, GROUPS, HELPED_BY

from tests import fakes

ROOT = fakes.TOOLS.parent
MODULES = fakes.TOOLS / "nbody_tools"
PROCESSOR_SECONDS = 0.3  # limit for an answer that needs no libraries

# Prints each help text as ./nbody does (front.py), but all in one process.
# Leaves out commands whose help another program prints.
ALL_HELP = """
import contextlib, io, json, sys
from nbody_tools.__main__ import parser_of
from nbody_tools.command_line import front
from nbody_tools.command_line.table import COMMANDS, HELPED_BY
texts = {}
for name in [one.name for one in COMMANDS if one.name not in HELPED_BY]:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            front.main([name, "--help"])
        except SystemExit as end:
            assert end.code == 0, (name, end.code)
    texts[name] = said.getvalue()
options = {one.name: parser_of(one.name).all_options()
           for one in COMMANDS if one.module and one.has_parser}
modules = [name for name in ("numpy", "matplotlib", "jinja2")
           if hasattr(sys.modules.get(name), "__version__")]
print(json.dumps([texts, options, modules]))
"""


def nbody(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(ROOT / "nbody"), *words],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable},
    )


def said_by(function, *words: object) -> tuple[int, str]:
    """Calls a function that may end the process. Returns the exit code, and the text that the
    function wrote to standard output and standard error."""
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        try:
            code = function(*words)
        except SystemExit as end:
            code = end.code
    return code, said.getvalue()


def processor_seconds(*words: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    nbody(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Table(unittest.TestCase):
    def test_names_and_groups(self) -> None:
        self.assertEqual(len(BY_NAME), len(COMMANDS))
        self.assertEqual({one.group for one in COMMANDS}, set(GROUPS))
        self.assertLessEqual(set(ALIASES.values()), set(BY_NAME))

    def test_the_shell_has_the_same_commands(self) -> None:
        text = (fakes.TOOLS / "commands.sh").read_text(encoding="utf-8")
        cases = text[text.rindex("case $command in"):]
        labels = {label for labels in re.findall(r"^  ([a-z |]+)\)", cases, re.M)
                  for label in labels.split(" | ")}
        self.assertEqual(labels, {one.name for one in COMMANDS if one.in_shell})

    def test_every_module_with_a_command_is_in_it(self) -> None:
        def functions(path: Path) -> set[str]:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            return {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
        there = {".".join(path.relative_to(MODULES).with_suffix("").parts)
                 for path in MODULES.glob("*/*.py") if {"configure", "run"} <= functions(path)}
        listed = {one.module for one in COMMANDS if one.module}
        subcommands = {f"course.{name}" for name in ("nbgrader", "notebooks", "pack", "slides",
                                                    "teacher")}
        subcommands |= {"assignments.similarity", "gradebook.grade_class"}
        self.assertEqual(there - subcommands, listed)

    def test_pages_show_commands_that_exist(self) -> None:
        pages = subprocess.run(
            ["git", "ls-files", "*.md"], cwd=ROOT, check=False, capture_output=True, text=True
        ).stdout.split()
        shown = re.compile(r"(?:^    |`|&& )\./nbody ([a-z][\w-]*)", re.M)
        unknown = {f"{page}: {word}" for page in pages if page != "CHANGELOG.md"
                   for word in shown.findall((ROOT / page).read_text(encoding="utf-8"))
                   if word not in BY_NAME and word not in ALIASES}
        self.assertEqual(unknown, set())


class Help(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        done = subprocess.run(
            [sys.executable, "-c", ALL_HELP],
            check=False,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(fakes.TOOLS), "PATH": "/usr/bin:/bin"},
        )
        assert done.returncode == 0, done.stderr
        cls.texts, cls.options, cls.imported = json.loads(done.stdout)
        for name in HELPED_BY:
            cls.texts[name] = nbody(name, "--help").stdout
            cls.options[name] = re.findall(r"--[a-z-]+", cls.texts[name])
        for command in COMMANDS:
            cls.options.setdefault(command.name, [option.name for option in command.options])

    def test_every_command_has_one(self) -> None:
        self.assertEqual(set(self.texts), set(BY_NAME))
        for name, text in self.texts.items():
            self.assertGreater(len(text.splitlines()), 1, name)

    def test_none_imports_a_library(self) -> None:
        self.assertEqual(self.imported, [])

    def test_examples_are_commands_with_options_that_exist(self) -> None:
        count = 0
        steps = set(
            re.findall(r"--[a-z-]+", (ROOT / "common/run/options.cpp").read_text(encoding="utf-8"))
        )
        for name, text in self.texts.items():
            for example in examples_in(text):
                if example.startswith("./nbody COMMAND"):
                    continue
                words = example.split()[1:]
                self.assertIn(words[0], BY_NAME, example)
                given = {word.partition("=")[0] for word in words if word.startswith("--")}
                wrong = given - set(self.options[words[0]]) - {"--"}
                if words[0] in ("view", "cluster", "inspect", "experiment"):
                    wrong -= steps  # these options are passed on to a step
                self.assertEqual(wrong, set(), f"{name}: {example}")
                count += 1
        self.assertGreater(count, 40)

    def test_the_list_has_every_command_once(self) -> None:
        listed = re.findall(r"^  ([a-z-]+)  ", self.texts["help"], re.M)
        self.assertEqual(sorted(listed), sorted(BY_NAME))


class Answers(unittest.TestCase):
    def test_the_version_is_that_of_the_build(self) -> None:
        self.assertRegex(
            nbody("--version").stdout, rf"^nbody-steps {number_of_the_version()}, revision \S+\n$"
        )

    def test_what_is_misspelt_is_answered_in_one_line(self) -> None:
        for words, answer in (
            (("tuor",), "unknown command 'tuor': did you mean tour?"),
            (("test", "--nigthly"), "unknown option --nigthly: did you mean --nightly?"),
            (("test", "-L", "x", "--asan"), "--asan must come first"),
            (("build", "--gup"), "unknown option --gup: did you mean --gpu?"),
            (("tour", "x"), "takes no arguments, but got 'x'"),
            (("lab", "03", "--ot", "x"), "unknown option --ot: did you mean --to?"),
            (("inspect", "03", "--setps", "1"), "did you mean --steps?"),
            (("cluster", "predict", "--rat", "1"), "unknown option --rat: did you mean --rate?"),
            (("xyzzy",), "unknown command 'xyzzy' (./nbody help"),
        ):
            with mock.patch.object(front, "use_python_with_libraries"), mock.patch("os.execvp"):
                code, said = said_by(front.main, words)
            self.assertEqual(code, 2, words)
            self.assertIn(answer, said)
            self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(nbody("tuor").returncode, 2)

    def test_an_interpreter_that_python_names_is_not_replaced(self) -> None:
        lacks_a_library = mock.patch.object(front, "find_spec", return_value=None)
        system = mock.patch.object(front, "SYSTEM_PYTHON", sys.executable)
        for variables, replaced in (({}, True), ({"PYTHON": sys.executable}, False)):
            with lacks_a_library, system, mock.patch.dict("os.environ", variables), \
                    mock.patch("subprocess.run", return_value=mock.Mock(returncode=0)), \
                    mock.patch("os.execv") as execv:
                if not variables:
                    os.environ.pop("PYTHON", None)
                front.use_python_with_libraries(["compare"])
            self.assertEqual(execv.called, replaced)

    def test_it_takes_hardly_any_processor_time(self) -> None:
        for words in (["--help"], ["--version"], ["plot", "--help"], ["completion", "bash"]):
            seconds = processor_seconds(*words)
            if seconds >= PROCESSOR_SECONDS:  # perhaps other programs use the core, too
                seconds = min(processor_seconds(*words) for _ in range(3))
            self.assertLess(seconds, PROCESSOR_SECONDS, words)

    def test_a_subcommand_and_its_options_are_named(self) -> None:
        parser = OneLineParser(prog="nbody x")
        parser.add_subparsers().add_parser("paint").add_argument("--colour")
        for words, answer in (
            (["paitn"], "did you mean paint?"),
            (["paint", "--color", "1"], "did you mean --colour?"),
            (["paint", "blue"], "unexpected word blue (see --help)"),
        ):
            code, said = said_by(parser.parse_args, words)
            self.assertEqual(code, 2)
            self.assertIn(answer, said)

    def test_a_word_that_is_not_near_is_not_named(self) -> None:
        self.assertEqual(did_you_mean("--blue", ["--output", "--steps"]), "")

    def test_counts_may_have_an_exponent(self) -> None:
        self.assertEqual(
            [whole_number(text) for text in ("7", "1e5", "2.5E+6", "0")], [7, 100000, 2500000, 0]
        )
        self.assertEqual(
            {
                whole_number(text)
                for text in (
                    "",
                    "1.5",
                    "1.0",
                    "1.25e1",
                    "1e-3",
                    "-1",
                    "1_0",
                    " 7",
                    "1e",
                    "٣",
                    "1e999",
                )
            },
            {None},
        )


class ClosedPipe(unittest.TestCase):
    def test_who_stops_reading_sees_no_traceback(self) -> None:
        for words in ("help", "tour --help", "test --help", "cc --help", "view --help"):
            script = f"'{ROOT}/nbody' {words} | true; exit ${{PIPESTATUS[0]}}"
            done = subprocess.run(["bash", "-c", script], check=False, capture_output=True,
                                  text=True, env={"PATH": "/usr/bin:/bin",
                                                  "PYTHON": sys.executable})
            self.assertEqual(done.stderr, "", words)

    def test_a_deleted_current_folder_does_not_matter(self) -> None:
        script = f"cd $(mktemp -d) && rmdir $PWD && '{ROOT}/nbody' version"
        done = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_without_a_standard_output_there_is_no_traceback(self) -> None:
        done = subprocess.run(["bash", "-c", f"'{ROOT}/nbody' help >&-"], check=False,
                              stderr=subprocess.PIPE, text=True,
                              env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable})
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class NothingIsBuilt(fakes.InFolder):
    """Absurd numbers and unknown names get a one-line message and exit code 2; a plan is only
    printed. cmake never runs."""

    WRONG = {
        "inspect 03 --systems 1000000000": "at most 2147483647 are possible",
        "inspect 03 --systems 1 --bodies 1e9": "interactions; at most 1e+12 are traced",
        "inspect 03 --bodies 1e18": "is not a whole number from 1 to 2147483647",
        "inspect 99": "'99' is not a step",
        "inspect no.cu": "no.cu: file not found",
        "grade 99 README.md": "'99' is not a lab",
        "grade 03 no.cu": "there is no file 'no.cu'",
        "grade 03 README.md --seed 1e30": "is not a whole number from 0 to",
        "grade 03 README.md --json /no/such/x.json": "there is no folder /no/such",
        "take 99 folder": "'99' is not a step",
        "build 99": "'99' is not a step",
        "experiment no_such": "'no_such' is not an experiment",
        "profile 03 --systems 1e6 --bodies 1e6": "at most 2147483647 are possible",
        "profile 99": "'99' is not a step",
        "tune --bodies 1e12": "is not a whole number from 1 to 2147483647",
        "run --systems 1e6 --bodies 1e6": "at most 2147483647 are possible",
        "compare --bodies 1e18": "is not a whole number from 1 to 2147483647",
        "plot no-such": "invalid choice: 'no-such'",
        "cluster run --ranks 1e6 14": "is not a whole number from 1 to 100000",
        "lab 99": "'99' is not a lab",
        "view no_such.bin": "there is no file 'no_such.bin'",
        "view --scenario no-such": "invalid choice: 'no-such'",
        "view --bodies 1e30": "is not a whole number from 1 to 2147483647",
        "view --step 99": "'99' is not a step",
    }

    def setUp(self) -> None:
        super().setUp()
        for name in ("cmake", "ninja", "ctest", "apt-get", "dnf", "pacman", "sudo"):
            self.program(name, "#!/bin/sh\n[ \"$1\" != --version ] || exec echo cmake version 4.0\n"
                         f": >'{self.folder / 'built'}'\nexit 1\n")

    def without_a_build(self, words: str) -> subprocess.CompletedProcess:
        (self.folder / "built").unlink(missing_ok=True)
        done = subprocess.run([str(ROOT / "nbody"), *words.split()], check=False, text=True,
                              capture_output=True, cwd=ROOT,
                              env={"PATH": f"{self.folder}:/usr/bin:/bin",
                                   "PYTHON": sys.executable})
        self.assertFalse((self.folder / "built").exists())
        return done

    def test_each_is_refused(self) -> None:
        for words, answer in self.WRONG.items():
            with self.subTest(words=words):
                done = self.without_a_build(words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(answer, done.stderr)

    def test_a_plan_is_only_printed(self) -> None:
        for words, targets in (("view --plan", r"nbody-view (cpu_simd|step\w+)"),
                               ("view --bodies 1e6 --plan", r"nbody-view (cpu_tree|step\w+)"),
                               ("view --plan --step 03", "nbody-view step03_tiling"),
                               ("view --plan README.md", "nbody-view"),
                               ("view --stairs 01,03 --plan",
                                "nbody-stairs step01_gpu_naive step03_tiling")):
            with self.subTest(words=words):
                done = self.without_a_build(words)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, rf"^{targets}\n$")


class Completion(fakes.InFolder):
    def completed(self, *lines: str) -> list[str]:
        asked = "; ".join(f"COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _nbody; "
                          "echo \"${COMPREPLY[@]}\"" for line in lines)
        script = f"cd '{ROOT}'; source '{self.file('nbody.bash', for_bash())}'; {asked}"
        return subprocess.run(
            ["bash", "-c", script], check=True, capture_output=True, text=True
        ).stdout.splitlines()

    def test_bash_completes_commands_options_and_steps(self) -> None:
        self.assertEqual(
            self.completed(
                "./nbody to", "./nbody test --nig", "./nbody build 04", "./nbody completion z"
            ),
            ["tour", "--nightly", "04 04b", "zsh"],
        )

    def test_each_shell_reads_its_own(self) -> None:
        for shell, text in (("bash", for_bash()), ("zsh", for_zsh()), ("fish", for_fish())):
            self.assertEqual(
                {name for name in BY_NAME if not re.search(rf"\b{name}\b", text)}, set(), shell
            )
            if shutil.which(shell):
                done = subprocess.run(
                    [shell, "-n", str(self.file(shell, text))],
                    check=False,
                    capture_output=True,
                    text=True,
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)

    def test_the_manual_page_has_every_command(self) -> None:
        text = manual()
        for name in BY_NAME:
            self.assertIn("\\fB" + name.replace("-", "\\-") + "\\fR", text)
        if shutil.which("groff"):
            done = subprocess.run(
                ["groff", "-man", "-Tutf8", "-ww"],
                input=text,
                check=False,
                capture_output=True,
                text=True,
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
