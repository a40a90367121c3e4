"""Tests labs, and the parts of grading that work without a build."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path
from typing import Iterator, Optional
from unittest import mock

from nbody_tools.__main__ import main
from nbody_tools.arguments import ROOT
from nbody_tools.labs.cpp_text import code_only, comments_in, without_comments
from nbody_tools.labs.lab import TESTS, LabError, lab_folders, read_lab
from nbody_tools.labs.messages import LEFT_OUT, readable, with_names
from nbody_tools.labs.report import (
    FORMS,
    FULL,
    Line,
    Report,
    as_classroom,
    as_junit,
    as_text,
    divided,
)
from nbody_tools.labs.rules import ALLOWED, broken_by_text
from nbody_tools.labs.submission import with_line_feeds
from nbody_tools.labs.tests import share_of_time
from nbody_tools.labs.watching import TooLong, end, look_at, stat_of, watch
from nbody_tools.labs.working_folder import readme
from tests.fakes import InFolder

LABS = [read_lab(folder) for folder in lab_folders()]


def lines_of(program: str) -> Counter[str]:
    """Returns how often each line of the code occurs, without lines of a single character."""
    lines = map(str.strip, without_comments(program).splitlines())
    return Counter(line for line in lines if len(line) > 1)
REPORT = Report("03", "The <tile> loop", "nbody.cu", 7, (
    Line("forces", 60, 1), Line("counts", 40, 0.0, why="at most 0.02; it is 4 & more\x07"),
    Line("run", 0, 0.0, lost=10, why="wrong")))


class OfLabs(unittest.TestCase):
    def test_there_are_enough(self) -> None:
        self.assertGreaterEqual(len(LABS), 14)
        for lab in LABS:
            self.assertGreaterEqual(len(lab.wrong), 3, lab.name)

    def test_edits_fit_and_texts_differ(self) -> None:
        for lab in LABS:
            texts = [lab.starter, lab.solution, *map(lab.wrong_text, lab.wrong)]
            self.assertEqual(len(set(texts)), len(texts), lab.name)

    def test_texts_break_no_rule_and_the_step_does(self) -> None:
        for lab in (lab for lab in LABS if lab.is_program):
            for text in (lab.starter, lab.solution, *map(lab.wrong_text, lab.wrong)):
                self.assertIsNone(broken_by_text(lab, text), lab.name)
            self.assertIn("not a solution of its lab" if lab.fingerprints else "",
                          broken_by_text(lab, lab.step_text) or "")
            self.assertTrue(lab.fingerprints, lab.name)

    def test_what_a_lab_leaves_out_cannot_be_included(self) -> None:
        labs = [lab for lab in LABS if lab.without]
        self.assertTrue(labs)
        for lab in labs:
            for line in lab.without:
                self.assertEqual(lab.source.read_text(encoding="utf-8").count(line), 1, lab.name)
                self.assertNotIn(line, lab.solution)
                if line.startswith("#include"):
                    self.assertIn("is not allowed", broken_by_text(lab, line + lab.solution) or "")

    def test_readme_has_its_sections(self) -> None:
        for lab in LABS:
            text = readme(lab)
            for part in (
                "**You will**",
                "**You need**",
                "## What to do",
                "## Hints",
                "## How it is graded",
            ):
                self.assertIn(part, text, lab.name)
            self.assertTrue(text.startswith(f"# Lab {lab.number}: {lab.title}\n"), lab.name)

    def test_counts_needs_a_limit(self) -> None:
        lab = next(lab for lab in LABS if lab.limit and "counts" in lab.fails)
        text = (lab.folder / "lab.toml").read_text(encoding="utf-8")
        without = re.sub(r"(?ms)^\[\[limit\]\].*?(?=^\[\[)", "", text)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "lab.toml").write_text(without, encoding="utf-8")
            with self.assertRaisesRegex(LabError, r"'counts' is not a test; .*needs a \[\[limit"):
                read_lab(Path(folder))

    def test_labs_ask_for_ten_lines_that_the_page_of_their_step_does_not_print(self) -> None:
        labs = [lab for lab in LABS if lab.number < "20"]
        self.assertEqual(len(labs), 12)
        for lab in labs:
            with self.subTest(lab.name):
                asked = lines_of(lab.solution) - lines_of(lab.starter)
                self.assertGreaterEqual(asked.total(), 10)
                page = (ROOT / lab.step / "README.md").read_text(encoding="utf-8")
                printed = {line.strip().lstrip("+").strip() for line in page.splitlines()}
                self.assertEqual(printed & asked.keys(), set())

    def test_the_profile_is_the_measured_one(self) -> None:
        lab = next(lab for lab in LABS if lab.number == "24")
        measured = (lab.folder.parents[2] / "docs" / "inspect_compared.md").read_text(
            encoding="utf-8"
        )
        rows = [row for row in (lab.folder / "README.md").read_text(encoding="utf-8").splitlines()
                if row.startswith(("| A |", "| B |", "| C |"))]
        self.assertEqual(len(rows), 7)
        steps = {"A": "step01", "B": "step03", "C": "step09"}
        for row in rows:
            program, kernel, access, requests, cost = (
                cell.strip() for cell in row.strip("|").split("|")
            )
            self.assertRegex(measured, rf"\| {steps[program]} \| {kernel} \| {access} \| "
                                       rf"{requests} \| [\d,]+ \| {cost} \|")


class OfForbiddenNames(unittest.TestCase):
    def test_in_lab_22_only_one_atomic_function_is_accepted(self) -> None:
        labs = {lab.number: lab for lab in map(read_lab, lab_folders())}
        for word, broken in (("atomicAdd(&a, b);", False), ("atomicExch(&a, b);", True),
                             ("atomicAdd_system(&a, b);", True), ("atomicCAS(&a, b, c);", True)):
            said = broken_by_text(labs["22"], f"void f() {{ {word} }}\n") or ""
            self.assertEqual("is not allowed: the task's README" in said, broken, said)
        self.assertIsNone(broken_by_text(labs["03"], "void f() { atomicExch(&a, b); }\n"))


class OfTheCommand(InFolder):
    def lab(self, *words: str) -> tuple[int, str]:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                code = main(["lab", *words])
            except SystemExit as ended:
                code = ended.code
        return code, output.getvalue()

    def test_leaves_a_folder_once(self) -> None:
        folder = self.folder / "work"
        code, _ = self.lab("3", "--to", str(folder))
        self.assertEqual(code, 0)
        self.assertEqual(sorted(file.name for file in folder.iterdir()), ["README.md", "nbody.cu"])
        (folder / "nbody.cu").write_text("mine")
        (folder / "README.md").unlink()
        code, said = self.lab("3", "--to", str(folder))
        self.assertEqual((code, said.count("\n")), (2, 1))
        self.assertEqual((folder / "nbody.cu").read_text(), "mine")
        self.assertFalse((folder / "README.md").exists())

    def test_unknown_labs_are_named(self) -> None:
        code, said = self.lab("99")
        self.assertEqual(code, 2)
        self.assertIn("03_tile_loop", said)
        self.assertEqual(self.lab("list")[0], 0)

    def test_answers_are_graded(self) -> None:
        lab = next(lab for lab in LABS if not lab.is_program)
        for text, code, score in (
            (lab.solution, 0, FULL),
            (lab.starter, 1, 0),
            ("no = [toml", 1, 0),
        ):
            file, result = self.file("answers.toml", text), self.folder / "result.json"
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(
                    main(["grade", lab.number, str(file), "--json", str(result)]), code
                )
            self.assertEqual(json.loads(result.read_text())["score"], score)

    def test_only_small_regular_files_of_text_are_graded(self) -> None:
        self.file("answers.toml", "")
        (self.folder / "link.toml").symlink_to(self.folder / "answers.toml")
        (self.folder / "large.toml").write_bytes(b"#" * 300_000)
        (self.folder / "binary.toml").write_bytes(b"\n\xff\xfe")
        (self.folder / "feed.toml").write_bytes(b"a = 1\n\f#\n")
        (self.folder / "return.toml").write_bytes(b"a = 1\r#")
        for name, said in (
            ("link", "is a symbolic link"),
            ("large", "larger than 200,000 bytes"),
            ("binary", "line 2: the file is not UTF-8"),
            ("feed", "line 2: the file contains a form"),
            ("return", "line 1: the file contains a carriage return"),
        ):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                self.assertEqual(main(["grade", "23", str(self.folder / f"{name}.toml")]), 1, name)
            self.assertIn(said, output.getvalue())
            self.assertIn("0 of 100 points", output.getvalue())

    def test_line_ends_of_windows_are_line_ends(self) -> None:
        self.assertEqual(with_line_feeds("a\r\n\tb\r\n"), "a\n\tb\n")

    def test_numbers_of_any_length_are_answers(self) -> None:
        lab = next(lab for lab in LABS if lab.number == "23")
        for number in (
            "1" * 4000,
            "1" * 6000,
            "0x" + "f" * 9000,
            "1e999",
            "nan",
            f"[0x{'f' * 9000}]",
        ):
            file = self.file(
                "answers.toml", "\n".join(f"{one.key} = {number}" for one in lab.question[:3])
            )
            with contextlib.redirect_stdout(io.StringIO()) as output:
                self.assertEqual(main(["grade", "23", str(file)]), 1)
            self.assertIn("0 of 100 points", output.getvalue())

    def test_results_are_written_where_they_can_be(self) -> None:
        file = self.file("answers.toml", "")
        with (
            contextlib.redirect_stderr(io.StringIO()) as said,
            self.assertRaises(SystemExit) as ended,
        ):
            main(["grade", "23", str(file), "--json", str(self.folder / "none" / "result.json")])
        self.assertEqual(ended.exception.code, 2)
        self.assertIn("there is no folder", said.getvalue())


class OfMessages(unittest.TestCase):
    """Tests how messages of compilers and the tracer are shown to students."""

    FOLDER = Path("/tmp/nbody-grade-x")

    def test_only_lines_of_the_submission_are_shown(self) -> None:
        said = (f"In file included from {self.FOLDER}/made/nbody.cu:1:\n"
                "/etc/shadow:1:1: error: 'root' is no type\n    1 | root:*:20228:0:99999:7:::\n"
                "nbody.cu:3:4: error: expected ';'\n    3 | mine\n"
                f"{self.FOLDER}/kit/common/include/nbody/cuda.h:5:6: note: here\n    5 | theirs\n")
        self.assertEqual(readable(said, self.FOLDER).splitlines(), [
            "In file included from nbody.cu:1:", LEFT_OUT, "nbody.cu:3:4: error: expected ';'",
            "    3 | mine", "nbody/cuda.h:5:6: note: here"])

    def test_messages_of_nvcc_are_shown(self) -> None:
        said = ("/etc/shadow(1): error: no type\n  root:*\n"
                "solution.cu(2): error: expected an expression\n  int x = ;\n          ^\n\n"
                "1 error detected in the compilation of \"solution.cu\".\n")
        self.assertEqual(readable(said, self.FOLDER).splitlines(), [
            LEFT_OUT, "solution.cu(2): error: expected an expression", "  int x = ;",
            "          ^", "1 error detected in the compilation of \"solution.cu\"."])

    def test_limits_are_named(self) -> None:
        said = "c++: fatal error: File size limit exceeded signal"
        self.assertIn("64 MB", readable(said, self.FOLDER))

    def test_arrays_have_the_names_of_the_submission(self) -> None:
        text = "\nnbody::DeviceArray<Position> positions(n);\ncudaMalloc(&raw, 4);\nf(3);"
        for line, name in ((2, "'positions'"), (3, "'raw'"), (4, "the allocation of nbody.cu:4")):
            message = f"index 7 of the allocation of nbody.cu:{line}: 4 bytes"
            self.assertIn(name, with_names(message, text))


class OfLexing(unittest.TestCase):
    def test_marks_in_numbers_begin_nothing(self) -> None:
        for text in ("I(1e+'a) asm(1)", "I(1.'0) asm(1)", "int x = 1'000; asm(1); char c = 'x';"):
            self.assertIn("asm(1)", code_only(text), text)

    def test_an_include_ends_no_comment_that_it_does_not_begin_in(self) -> None:
        self.assertIn("asm(1)", code_only("/*\n#include <cmath> // */ asm(1)"))

    def test_time_is_linear(self) -> None:
        for text in ("/*", "\"\\", "'", "1'", "/*/", "'\\''"):
            begun = time.process_time()
            code_only(text * (200_000 // len(text)))
            self.assertLess(time.process_time() - begun, 5, text)


@contextlib.contextmanager
def running(code: str, cores: Optional[set[int]] = None) -> Iterator[subprocess.Popen]:
    """Runs Python code in its own session, on the given cores only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or before)
    one = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                           start_new_session=True)
    os.sched_setaffinity(0, before)
    with one:
        try:
            yield one
        finally:
            end(one)


@unittest.skipUnless(hasattr(os, "sched_setaffinity"), "the grader needs Linux")
class OfWaiting(unittest.TestCase):
    def assert_ended(self, code: str, words: str, seconds: float = 10.0) -> None:
        with running(code) as one, self.assertRaisesRegex(TooLong, words):
            watch(one, seconds)

    @mock.patch("nbody_tools.labs.watching.STALLED_SECONDS", 1.0)
    def test_a_program_that_computes_or_sleeps_forever_is_ended(self) -> None:
        self.assert_ended("while True: pass", "s of processor time", 1.0)
        self.assert_ended("input()", "without doing anything")

    @mock.patch.multiple("nbody_tools.labs.watching", STALLED_SECONDS=0.1, LOOK_SECONDS=0.01)
    def test_a_program_that_waits_for_a_core_is_not_ended(self) -> None:
        # 17 programs take turns on one core, so that the processor time of each stands still for
        # longer than STALLED_SECONDS.
        core = {min(os.sched_getaffinity(0))}
        with contextlib.ExitStack() as others:
            for _ in range(16):
                others.enter_context(running("while True: pass", core))
            with running("import time\nwhile time.process_time() < 0.15: pass", core) as one:
                self.assertGreater(watch(one, 10.0), 0.08)
                self.assertEqual(one.returncode, 0)

    def test_a_busy_thread_counts(self) -> None:
        # The state of a process is the state of its first thread, which sleeps here.
        code = ("import threading, hashlib\nthreading.Thread(target=hashlib.pbkdf2_hmac, "
                "args=('sha256', b'', b'', 2**31 - 1), daemon=True).start()\ninput()")
        with running(code) as one:
            while look_at([one.pid]).seconds < 0.5:
                time.sleep(0.1)
            self.assertEqual(stat_of(Path("/proc", str(one.pid)))[0], "S")
            self.assertTrue(look_at([one.pid]).is_busy)

    @mock.patch("nbody_tools.labs.watching.STALLED_SECONDS", 0.5)
    def test_a_program_that_waits_for_the_grader_is_not_ended(self) -> None:
        code = "import time; time.sleep(2)"
        with running(code) as one:
            watch(one, 10.0, is_served=lambda: True)
        self.assert_ended(code, "without doing anything")

    @mock.patch("nbody_tools.labs.watching.WALL_SECONDS", 0.5)
    def test_nothing_waits_forever(self) -> None:
        self.assert_ended("while True: pass", "is the machine overloaded")


class OfReports(unittest.TestCase):
    def test_points_are_whole_and_add_up(self) -> None:
        for weights in ([1] * 3, [20, 20, 10, 10, 15, 15, 20], [1] * 7, [7], list(TESTS.values())):
            self.assertEqual(sum(divided(weights)), FULL)

    def test_what_is_broken_costs(self) -> None:
        self.assertEqual(REPORT.score, 50)
        self.assertEqual(REPORT.failed, ["counts", "run"])
        self.assertIn("50 of 100 points", as_text(REPORT))

    def test_no_control_character_reaches_a_reader(self) -> None:
        coloured = "\x1b[2J100 of 100 points\x9b2J\u202e"
        report = Report("03", "", "nbody.cu", 7, REPORT.lines, coloured)
        for write in (as_text, *FORMS.values()):
            self.assertNotRegex(write(report).replace("\n", ""), "[\x00-\x1f\x7f-\x9f]")

    def test_classrooms_sum_is_the_score(self) -> None:
        data = json.loads(as_classroom(REPORT))
        self.assertEqual(sum(test["score"] for test in data["tests"]), REPORT.score)
        self.assertEqual((data["status"], data["max_score"]), ("fail", 100))

    def test_junit_is_xml(self) -> None:
        suite = xml.fromstring(as_junit(REPORT).encode())[0]
        self.assertEqual(suite.get("failures"), "2")
        self.assertEqual(len(suite.findall("testcase")), 3)
        self.assertIn("4 & more", suite.find("testcase/failure").text)

    def test_what_was_refused_has_no_points(self) -> None:
        refused = Report("03", "", "nbody.cu", 7, REPORT.lines, "Not run: #line is not allowed")
        self.assertEqual((refused.score, refused.full, len(refused.failed)), (0, False, 3))
        for write in FORMS.values():
            self.assertIn("#line is not allowed", write(refused))
        self.assertEqual(
            [test["score"] for test in json.loads(as_classroom(refused))["tests"]], [0, 0, 0]
        )
        self.assertTrue(
            all(test["score"] == 0 for test in json.loads(FORMS["gradescope"](refused))["tests"])
        )

    def test_time_is_worth_what_stanford_gives(self) -> None:
        self.assertEqual(
            [share_of_time(t, 1.0) for t in (0.5, 1.2, 2.4, 10.0, float("nan"))], [1, 1, 0.5, 0, 0]
        )


class OfText(unittest.TestCase):
    def test_comments_are_not_code(self) -> None:
        text = "int a = 1'000;  // one\nchar b = '\"'; /* two\n   three */ f(\"// four\");\n"
        self.assertEqual(comments_in(text), ["one", "two", "three"])
        self.assertNotIn("one", without_comments(text))
        self.assertIn("// four", without_comments(text))
        self.assertNotIn("four", code_only(text))

    def test_symbols_that_no_lab_needs(self) -> None:
        for name in (
            "cudaMalloc(void**, unsigned long)",
            "sqrtf",
            "memcpy",
            "hostcuda::block_barrier(char const*, int)",
            "operator new(unsigned long)",
            "std::__throw_bad_alloc()",
        ):
            self.assertTrue(ALLOWED.match(name), name)
        for name in (
            "fopen",
            "system",
            "fork",
            "write",
            "getenv",
            "atexit",
            "dlsym",
            "nbody::simulate_float64(int)",
            "nbody::write_whole_file(int)",
            "std::basic_ofstream<char>::open()",
            "std::random_device::x()",
            "sleep",
            "environ",
            "syscall",
            "kill",
            "raise",
            "exit",
            "abort",
        ):
            self.assertFalse(ALLOWED.match(name), name)


if __name__ == "__main__":
    unittest.main()
