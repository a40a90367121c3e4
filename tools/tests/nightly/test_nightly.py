"""Tests how nightly tests are run: the ledger, the order of the tests, how ctest's output is read,
and the table of subjects."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import time
import unittest
from unittest import mock

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.nightly import nightly, plan, presets, status, subjects
from nbody_tools.nightly.branch import Change, change_since_main
from nbody_tools.nightly.comments import code_of, has_comments_to_ignore
from nbody_tools.nightly.ledger import Row, read_ledger, write_ledger
from nbody_tools.nightly.presets import Preset, outcome_in
from nbody_tools.nightly.subjects import Subject, matcher, paths_of, read_subjects
from tests.fakes import InFolder

SUBJECTS = (Subject(re.compile(r"^cpu (?P<step>step\w+)\."), ("{step}/*.cu",)),
            Subject(re.compile(r"\.size_sweep$"), ("tests/*.cpp",)))
CHANGED = {"old": ("step03/nbody.cu", "README.md"), "new": (), "lost": None}


def row(test: str, **values: str) -> Row:
    return Row("cpu", test, **values)


def with_changes():
    return mock.patch.multiple(subjects, names_since=CHANGED.get,
                               only_comments_changed=lambda revision, path: False)


class OfComments(unittest.TestCase):
    def test_a_comment_is_no_change(self) -> None:
        for path, before, after in (
                ("a.h", "int a;  // one\nint b;\n", "// two\n// lines\nint a;\nint b; /* c */\n"),
                ("a.cu", "f();  // one\n", "f();  // two\n")):
            self.assertEqual(code_of(path, before), code_of(path, after), path)

    def test_everything_else_is(self) -> None:
        for path, before, after in (
            ("a.h", 'f("// one");', 'f("// two");'),
            ("a.h", "f('\"', 1); // x", "f('\"', 2); // x"),
            ("a.h", "f(1'000); g('a');", "f(1'000); g('b');"),
            ("a.h", 'R"(// one)"', 'R"(// two)"'),
            ("a.h", "a /**/ b", "ab"),
            ("a.cu", "f();\n", "// one line more\nf();\n"),
        ):
            self.assertNotEqual(code_of(path, before), code_of(path, after), path)

    def test_of_python_what_the_interpreter_compiles_counts(self) -> None:
        top = '"""Help."""\nprint(__doc__)\n'
        before = top + 'def f(a):\n    """Returns a."""\n    return a  # as it is\n'
        for after in (top + '\n\ndef f(a):\n    return (\n        a)\n',
                      top + 'def f(a):\n    """Gives back a."""\n    return a\n'):
            self.assertEqual(code_of("a.py", before), code_of("a.py", after))
        for after in (before.replace("Help", "Aid"), before.replace("return a", "return -a"),
                      before.replace("return a ", "'a'"), before + "("):
            self.assertNotEqual(code_of("a.py", before), code_of("a.py", after))
        self.assertEqual(code_of("a.py", '"""One."""\na = 1'), code_of("a.py", "a = 1"))
        for shown in ("print(__doc__)", "def configure(p):\n  pass"):  # the docstring is help
            self.assertNotEqual(code_of("a.py", f'"""One."""\n{shown}'), code_of("a.py", shown))

    def test_comments_of_cmake(self) -> None:
        before = 'set(a "x # y") # why\n#[[ more\n]]\nset(b [[# text]])\n'
        self.assertEqual(code_of("CMakeLists.txt", before),
                         code_of("CMakeLists.txt", '# because\nset(a "x # y")\nset(b [[# text]])'))
        for after in (before.replace("x # y", "x # z"), before.replace("# text", "# else"),
                      before.replace("b", "c")):
            self.assertNotEqual(code_of("a.cmake", before), code_of("a.cmake", after))

    def test_marks_of_a_lab_are_no_comments(self) -> None:
        self.assertFalse(has_comments_to_ignore("course/labs/03_tile_loop/lab.cu"))
        self.assertFalse(has_comments_to_ignore("tools/commands.sh"))
        self.assertTrue(has_comments_to_ignore("cmake/nbody_step.cmake"))
        self.assertTrue(has_comments_to_ignore("common/io/formats/bin.cpp"))
        self.assertTrue(has_comments_to_ignore("hostcuda/include/cuda/atomic"))
        self.assertFalse(has_comments_to_ignore("tools/slurm/array"))


class OfTheLedger(InFolder):
    def test_what_is_written_is_read(self) -> None:
        one = row("labs.03", passed="abc", date="2026-11-23 01:00", seconds="3.0", red="def")
        write_ledger({one.key: one}, self.folder / "nightly.csv")
        self.assertEqual(read_ledger(self.folder / "nightly.csv"), {one.key: one})
        self.assertEqual(read_ledger(self.folder / "none.csv"), {})

    def test_a_damaged_file_is_named_with_its_line(self) -> None:
        head = "preset,test,passed,date,seconds,red,skipped\n"
        for text, says in (("a,b\n", "its first line must be preset,"),
                           (f"{head}cpu,x\n", "line 2 does not have"),
                           (f"{head}cpu,x,,,soon,,\n", "'soon' is not a number"),
                           (f"{head}cpuu,x,,,,,\n", "'cpuu' is not a preset")):
            with self.assertRaisesRegex(ToolError, says):
                read_ledger(self.file("nightly.csv", text))

    def test_a_pass_ends_red_and_a_failure_keeps_the_pass(self) -> None:
        one = row("x")
        one.record("failed", "r1", "day 1", 2.0)
        self.assertEqual((one.red, one.passed, one.date), ("r1", "", "day 1"))
        one.record("passed", "r2", "day 2", 3.0)
        self.assertEqual((one.red, one.passed, one.date, one.seconds), ("", "r2", "day 2", "3.0"))
        one.record("failed", "r3", "day 3", 4.0)
        self.assertEqual((one.red, one.passed, one.date), ("r3", "r2", "day 2"))
        one.record("skipped", "r4", "day 4", 0.0)
        self.assertEqual((one.red, one.skipped, one.passed, one.seconds), ("r3", "r4", "r2", "3.0"))


class OfSubjects(unittest.TestCase):
    def test_all_rows_that_find_a_test_count(self) -> None:
        paths = paths_of(row("step03.size_sweep"), SUBJECTS)
        self.assertEqual(paths, ("step03/*.cu", "tests/*.cpp"))
        self.assertEqual(paths_of(row("labs.03"), SUBJECTS), subjects.EVERYTHING)

    def test_a_pattern_after_an_exclamation_mark_takes_files_out(self) -> None:
        matches = matcher(("common/*", "!common/*/tests/*"))
        self.assertTrue(matches("common/physics/orbit.cpp"))
        self.assertFalse(matches("common/physics/tests/orbit_test.cpp"))

    def test_without_git_nobody_knows_what_has_changed(self) -> None:
        with mock.patch.dict("os.environ", {"PATH": "/nonexistent"}):
            self.assertIsNone(subjects.changed_since("a revision without git"))

    def test_a_test_is_stale_by_a_file_of_its_subject_only(self) -> None:
        with with_changes():
            for test, passed, changed in (("step03.x", "old", "step03/nbody.cu"),
                                          ("labs.x", "old", "step03/nbody.cu"),
                                          ("step04.x", "old", None), ("step03.x", "new", None)):
                self.assertEqual(subjects.stale_by(row(test, passed=passed), SUBJECTS), changed)
            lost = subjects.stale_by(row("step03.x", passed="lost"), SUBJECTS)
            self.assertIn("not in this clone", lost)

    def test_prose_counts_unless_only_the_commands_of_a_page_do(self) -> None:
        def staleness(now: str, ignores_prose: bool) -> object:
            table = (Subject(re.compile("x"), ("*.md",), ignores_prose),)
            with mock.patch.object(subjects, "names_since", return_value=("a.md",)), \
                    mock.patch.object(subjects, "texts_at", return_value={"a.md": page}), \
                    mock.patch.object(subjects, "code_now", lambda path: code_of(path, now)):
                subjects.only_prose_changed.cache_clear()
                return subjects.stale_by(row("x", passed="old"), table)
        page = "Words.\n\n    ./nbody tour\n\n```\n./nbody test\n```\n"
        prose = page.replace("Words", "Other words")
        self.assertEqual(staleness(prose, ignores_prose=False), "a.md")
        self.assertIsNone(staleness(prose, ignores_prose=True))
        for command in ("tour", "test"):
            self.assertEqual(staleness(page.replace(command, "list"), ignores_prose=True), "a.md")

    def test_the_committed_table_names_tests_and_files_that_exist(self) -> None:
        rows = read_ledger().values()
        files = subprocess.run(["git", "-C", ROOT, "ls-files"], stdout=subprocess.PIPE, text=True,
                               check=False).stdout.splitlines()
        if not files:
            self.skipTest("not a clone")
        table = read_subjects()
        for subject in table:
            found = [paths_of(one, [subject]) for one in rows
                     if subject.tests.search(f"{one.preset} {one.test}")]
            self.assertTrue(
                any(any(map(matcher(paths), files)) for paths in found),
                f"{subject.tests.pattern} finds no row of tests/nightly.csv, or no file "
                "of one: a new test has a row once it has run",
            )
        for one in rows:
            matches = matcher(paths_of(one, table))
            self.assertTrue(any(map(matches, files)), f"{one.test} has no file")


class OfTheChange(InFolder):
    def git(self, *words: str) -> None:
        subprocess.run(["git", "-C", self.folder, "-c", "user.name=a",
                        "-c", "user.email=a@b.example", *words], check=True, stdout=subprocess.PIPE)

    def test_it_is_what_this_branch_has_changed_since_main(self) -> None:
        self.git("init", "--quiet", "--initial-branch", "trunk")
        with mock.patch.object(subjects, "ROOT", self.folder):
            for name in ("committed", "edited", "same", "of_main"):
                self.file(f"change_{name}.txt", "1\n")
            self.git("add", ".")
            self.git("commit", "--quiet", "--message", "1")
            self.assertIsNone(change_since_main())
            self.git("branch", "main")
            self.file("change_committed.txt", "2\n")
            self.git("commit", "--quiet", "--all", "--message", "2")
            self.file("change_edited.txt", "2\n")
            self.file("change_new.txt", "2\n")
            self.assertEqual(change_since_main(), Change(
                "main", ("change_committed.txt", "change_edited.txt"), ("change_new.txt",)))


class OfThePlan(unittest.TestCase):
    ROWS = (row("step09.fresh", passed="new", date="3", seconds="5"),
            row("step09.older", passed="new", date="2", seconds="5"),
            row("step03.stale", passed="old", date="2", seconds="5"),
            row("step09.red", passed="new", red="x", date="1", seconds="5"),
            row("step09.never"))

    def test_what_needs_a_run_comes_first_and_then_the_longest_not_run(self) -> None:
        with with_changes():
            order = [one.test for one in plan.in_order(self.ROWS, SUBJECTS)]
        self.assertEqual(order, ["step09.never", "step09.red", "step03.stale", "step09.older",
                                 "step09.fresh"])

    def test_a_batch_ends_in_time_and_is_of_one_preset(self) -> None:
        with with_changes():
            short = plan.batch(self.ROWS, SUBJECTS, 30)
            # A test that has never run is assumed to take a minute.
            self.assertNotIn("step09.never", [one.test for one in short])
            mixed = plan.batch([row("a", date="1", seconds="1"),
                                Row("cuda", "b", date="2", seconds="1"),
                                row("c", date="3", seconds="1")], SUBJECTS, 30)
            self.assertEqual([one.test for one in mixed], ["a", "c"])
            two = [row("a", date="1", seconds="200"), row("b", date="2", seconds="200")]
            long = plan.batch(two, SUBJECTS, 1000)
            self.assertEqual([one.test for one in long], ["a"])
            self.assertEqual(plan.batch(self.ROWS, SUBJECTS, 1), [])


class OfCtest(unittest.TestCase):
    def test_its_lines(self) -> None:
        for line, expected in (
                (" 1/12 Test   #3: labs.03 ..   Passed    4.20 sec", ("labs.03", "passed", 4.2)),
                ("12/12 Test #103: a.b ...***Failed    0.02 sec", ("a.b", "failed", 0.02)),
                (" 2/2 Test #1: a ...***Exception: SegFault  0.11 sec", ("a", "failed", 0.11)),
                (" 2/2 Test #1: a ........***Timeout 300.02 sec", ("a", "failed", 300.02)),
                (" 2/2 Test #1: a ...***Failed  Error regular expression found in output. Regex=[x]"
                 "  0.05 sec", ("a", "failed", 0.05)),
                (" 2/2 Test #1: a ........***Not Run   0.00 sec", ("a", "failed", 0.0)),
                (" 2/2 Test #1: a ........***Skipped   0.01 sec", ("a", "skipped", 0.01)),
                (" 2/2 Test #1: a ........   Not Run (Disabled)   0.00 sec", ("a", "skipped", 0.0)),
                ("    Start 1: a", None)):
            self.assertEqual(outcome_in(line), expected, line)


class OfANight(InFolder):
    """Uses a build folder with four tests and nothing to build."""

    TESTS = {"good": "true", "bad": "false", "missing": "sh -c \"exit 77\"", "slow": "sleep 60"}

    def setUp(self) -> None:
        super().setUp()
        self.file("CTestTestfile.cmake", "".join(
            f"add_test({name} {words})\n"
            f"set_tests_properties({name} PROPERTIES LABELS nightly SKIP_RETURN_CODE 77)\n"
            for name, words in self.TESTS.items()))
        self.preset = Preset("cpu", ("--test-dir", str(self.folder), "-L", "nightly"), self.folder,
                             is_nightly=False)
        rows = (row("good"), row("bad", seconds="0.1"), row("missing"), row("slow", seconds="1"),
                row("gone"))
        self.ledger = {one.key: one for one in rows}
        for where, what, with_ in (
                (presets, "LOGS", self.folder), (nightly, "read_subjects", lambda: SUBJECTS),
                (nightly, "PRESETS", {"cpu": self.preset}), (nightly, "revision", lambda: "r1"),
                (nightly, "read_ledger", lambda: self.ledger),
                (nightly, "write_ledger", lambda _: None),
                (nightly, "ROOT", self.folder), (Preset, "build", lambda self, until: "passed")):
            patch = mock.patch.object(where, what, with_)
            patch.start()
            self.addCleanup(patch.stop)

    def test_results_are_kept_and_what_was_cut_off_is_not_red(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = nightly.Night(minutes=1.2, tests=re.compile("good|bad|missing|gone")).run()
        self.assertEqual(code, 1)
        self.assertIn("1 passed, 1 failed, 1 skipped", said.getvalue())
        found = {key[1]: (one.passed, one.red, one.skipped) for key, one in self.ledger.items()}
        self.assertEqual(found, {"good": ("r1", "", ""), "bad": ("", "r1", ""),
                                 "missing": ("", "", "r1"), "slow": ("", "", ""),
                                 "gone": ("", "", "")})

    def test_the_logs_of_a_whole_night_are_taken_over(self) -> None:
        self.file("test-cpu.log", " 1/3 Test #1: good ....   Passed    4.20 sec\n"
                  " 2/3 Test #2: bad ...***Failed    1.00 sec\n"
                  " 3/3 Test #3: of_a_day ....   Passed    1.00 sec\n")
        with mock.patch.object(nightly, "LOGS", self.folder), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(nightly.record_logs(), 0)
        self.assertIn("2 results", said.getvalue())
        self.assertEqual(self.ledger["cpu", "good"].seconds, "4.2")
        self.assertEqual(self.ledger["cpu", "bad"].red, "r1")
        self.assertNotIn(("cpu", "of_a_day"), self.ledger)

    def test_a_test_that_the_end_of_the_time_cut_off_is_not_red(self) -> None:
        begun = time.monotonic()
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(nightly.Night(minutes=0.1, tests=re.compile("slow")).run(), 0)
        self.assertLess(time.monotonic() - begun, 30)
        slow = self.ledger["cpu", "slow"]
        self.assertEqual((slow.red, slow.passed), ("", ""))
        self.assertGreater(slow.estimate, 5)  # so the next run of 6 s leaves it out
        self.assertGreater(slow.date, "2026")  # so a longer run tries others first

    def test_status_names_what_has_to_be_run_and_what_is_not_listed(self) -> None:
        change = Change("main", ("step03/nbody.cu",))
        self.assertIn("of your change (files since main: 1): 0\n", self.status("older", change, 0))
        text = self.status()
        for line in ("red         cpu step09.red: failed at x",
                     "since then step03/nbody.cu has changed",
                     "never       cpu step09.never: not run yet", "not listed  cpu slow"):
            self.assertIn(line, text)
        self.assertNotIn("cpu step09.older:", text)
        self.assertIn("has none of the branches origin/HEAD, origin/main, main", text)

    def status(self, tests: str = "", change: Change | None = None, code: int = 1) -> str:
        said = io.StringIO()
        ledger = {one.key: one for one in OfThePlan.ROWS}
        with with_changes(), contextlib.redirect_stdout(said), \
                mock.patch.object(status, "PRESETS", nightly.PRESETS), \
                mock.patch.object(status, "change_since_main", lambda: change), \
                mock.patch.object(status, "revision", lambda: "r1"):
            self.assertEqual(status.print_status(ledger, SUBJECTS, re.compile(tests)), code)
        return said.getvalue()

    def test_status_begins_with_tests_of_changed_files(self) -> None:
        text = self.status("step", Change("main", ("step03/nbody.cu",)))
        mine, _, others = text.partition("Other tests to run: 2\n")
        self.assertTrue(mine.startswith(
            "Tests to run because of your change (files since main: 1): 1\nstale"))
        self.assertIn("stale       cpu step03.stale:", mine)
        self.assertNotIn("step09", mine)
        self.assertEqual(len(re.findall("cpu step09", others)), 2)
        self.assertIn("; 1 to run because of your change", others)

    def test_a_new_file_makes_a_test_stale(self) -> None:
        text = self.status("fresh", Change("origin/main", (), ("step09/more.cu",)))
        self.assertIn("stale       cpu step09.fresh: last pass 3 at new; step09/more.cu is new",
                      text)

    def test_a_draft_needs_no_row(self) -> None:
        self.file("CTestTestfile.cmake", "".join(
            f"add_test({name} true)\nset_tests_properties({name} PROPERTIES LABELS nightly)\n"
            for name in ("step16_mine.Force", "nightly.mutants.step16_mine", "step17_new.Force")))
        self.file("step16_mine/CMakeLists.txt", "nbody_step(step16_mine DRAFT)\n")
        self.file("step17_new/CMakeLists.txt", "nbody_step(step17_new)\n")
        with mock.patch.object(status, "ROOT", self.folder):
            text = self.status("step1")
        self.assertIn("not listed  cpu step17_new.Force", text)
        self.assertNotIn("step16_mine", text)


if __name__ == "__main__":
    unittest.main()
