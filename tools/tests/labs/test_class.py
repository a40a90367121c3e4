"""Tests the parts of grading a class that need no build: names, rosters, tables, reports."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from pathlib import Path
from unittest import mock

from nbody_tools.__main__ import main, parse
from nbody_tools.arguments import Failed, ToolError
from nbody_tools.gradebook import class_grading, grade_class
from nbody_tools.gradebook.class_grading import (Mark, Submission, as_canvas, as_moodle, as_plain,
                                            grade_all, keep_mark, kept_mark, read_roster, share_of,
                                            skipped_in, submissions_in)
from nbody_tools.labs.lab import Lab
from nbody_tools.labs.report import Line, Report
from nbody_tools.labs.submission import Unreadable
from tests.fakes import InFolder

MARKS = [Mark("17", 72.5, "counts: it is 4"), Mark("jroe", 100.0, "all tests passed")]
CANVAS = ("Student,ID,SIS User ID,SIS Login ID,Section,Lab 03 (99),Lab 05 (98)\n"
          "    Points Possible,,,,,100,100\n"
          "\"Doe, Jane\",17,s17,jdoe,A,,\n\"Roe, Jo\",18,s18,jroe,A,,\n\"Poe, Al\",19,,apoe,B,,\n")
MOODLE = ("First name,Surname,ID number,Email address\nJane,Doe,17,jane@x.org\n"
          "Jo,Roe,jroe,jo@x.org\nAl,Poe,19,al@x.org\n")


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


class Names(InFolder):
    def test_students_are_found_in_files_and_folders(self) -> None:
        self.file("alice.cu", "")
        self.file("bob/nbody.cu", "")
        self.file("bob/assignment.toml", "")
        self.file("doejane_LATE_123_456_nbody.cu", "")
        self.file("roejo_124_457_nbody-1.cu", "")
        self.file("Jane Roe_77_assignsubmission_file/x.cu", "")
        self.file("John Roe_78_assignsubmission_file_x.cu", "")
        self.file("notes.txt", "")
        self.file("empty/notes.txt", "")
        found = [one.student for one in submissions_in(self.folder)]
        self.assertEqual(found, ["123", "124", "Jane Roe", "John Roe", "alice", "bob"])
        self.assertEqual(skipped_in(self.folder), ["empty", "notes.txt"])

    def test_two_files_of_one_student_are_rejected(self) -> None:
        self.file("alice.cu", "")
        self.file("alice/nbody.cu", "")
        with self.assertRaisesRegex(ToolError, "both belong to alice"):
            submissions_in(self.folder)
        self.file("bob/a.cu", "")
        self.file("bob/b.cu", "")
        (self.folder / "alice.cu").unlink()
        with self.assertRaisesRegex(ToolError, "bob: has 2 submissions"):
            submissions_in(self.folder)

    def test_two_reports_of_one_name_are_rejected(self) -> None:
        self.file("a b.cu", "")
        self.file("a_b.cu", "")
        with self.assertRaisesRegex(ToolError, "reports of a b and a_b would have the same name"):
            submissions_in(self.folder)

    def test_an_empty_folder_is_rejected(self) -> None:
        with self.assertRaisesRegex(ToolError, "has no submissions"):
            submissions_in(self.folder)

    def test_shares_cover_every_submission_once(self) -> None:
        all_of_them = [Submission(str(k), Path("x")) for k in range(10)]
        shares = [share_of(all_of_them, f"{k}/3") for k in (1, 2, 3)]
        self.assertEqual(sorted(one.student for share in shares for one in share),
                         [str(k) for k in range(10)])
        for wrong in ("0/3", "4/3", "1", "a/b", "1/0"):
            with self.assertRaises(ToolError):
                share_of(all_of_them, wrong)


class Tables(InFolder):
    def test_canvas_gets_its_own_columns(self) -> None:
        roster = read_roster(self.file("g.csv", CANVAS))
        table = rows(as_canvas(MARKS, "Lab 03", roster))
        self.assertEqual(table[0], ["Student", "ID", "SIS User ID", "SIS Login ID", "Section",
                                    "Lab 03 (99)"])
        self.assertEqual(table[1], ["    Points Possible", "", "", "", "", "100"])
        self.assertEqual(table[2], ["Doe, Jane", "17", "s17", "jdoe", "A", "72.5"])
        self.assertEqual(table[3][-1], "100")
        self.assertEqual(table[4][-1], "")  # nothing was submitted
        self.assertEqual(len(table), 5)

    def test_canvas_finds_first_and_last_name(self) -> None:
        roster = read_roster(self.file("g.csv", CANVAS))
        table = rows(as_canvas([Mark("Jane Doe", 50, "")], "Lab 03", roster))
        self.assertEqual([row[-1] for row in table[2:]], ["50", "", ""])

    def test_moodle_gets_points_and_feedback(self) -> None:
        roster = read_roster(self.file("g.csv", MOODLE))
        table = rows(as_moodle(MARKS, "Lab 03", roster))
        self.assertEqual(table[0], ["ID number", "Email address", "Lab 03", "Lab 03 (feedback)"])
        self.assertEqual(table[1], ["17", "jane@x.org", "72.5", "counts: it is 4"])
        self.assertEqual(table[3], ["19", "al@x.org", "", ""])

    def test_without_a_roster_students_are_named_as_submitted(self) -> None:
        self.assertEqual(rows(as_canvas(MARKS, "T", None))[3][3:], ["jroe", "", "100"])
        self.assertEqual(rows(as_moodle(MARKS, "T", None))[1][:2], ["17", "72.5"])
        self.assertEqual(rows(as_plain(MARKS, "T", None))[2],
                         ["jroe", "100", "all tests passed"])

    def test_a_submission_without_a_row_is_an_error(self) -> None:
        roster = read_roster(self.file("g.csv", CANVAS))
        for form in (as_canvas, as_moodle):
            with self.assertRaises(ToolError):
                form([Mark("nobody", 1, "")], "Lab 03", roster)

    def test_no_cell_is_a_formula(self) -> None:
        for start in ("=1+1", "+1", "-1", "@x"):
            text = as_plain([Mark("a", 1, f"{start}")], "T", None)
            self.assertTrue(rows(text)[1][2].startswith("'"), start)

    def test_a_roster_must_have_rows(self) -> None:
        with self.assertRaises(ToolError):
            read_roster(self.file("g.csv", "ID,Section\n"))


class Marks(InFolder):
    def test_one_failure_stops_no_other(self) -> None:
        def grade_one(one: Submission) -> Mark:
            if one.student == "b":
                raise Failed("no space left")
            return Mark(one.student, 50, "")

        said: list[str] = []
        marks = grade_all([Submission(name, Path(name)) for name in "abc"], grade_one, 2,
                          said.append)
        self.assertEqual([mark.score for mark in marks], [50, None, 50])
        self.assertIn("no space left", marks[1].feedback)
        self.assertEqual(len(said), 3)

    def test_a_mark_is_kept_for_the_same_file_and_task(self) -> None:
        file = self.file("a.cu", "x")
        digest = class_grading.digest_of("lab", file)
        keep_mark(self.folder, Mark("a/b", 50, "f", 7, digest), "text")
        self.assertEqual(kept_mark(self.folder, "a/b", digest), Mark("a/b", 50, "f", 7, digest))
        self.assertIsNone(kept_mark(self.folder, "a_b", digest))
        self.file("a.cu", "y")
        self.assertIsNone(kept_mark(self.folder, "a/b", class_grading.digest_of("lab", file)))
        self.assertIsNone(kept_mark(self.folder, "c", digest))

    def test_what_is_no_file_is_not_read(self) -> None:
        pipe, link, folder = (self.folder / name for name in ("a.cu", "b.cu", "c.cu"))
        os.mkfifo(pipe)
        link.symlink_to("/dev/zero")
        folder.mkdir()
        for one in (pipe, link, folder):
            self.assertEqual(len(class_grading.digest_of("lab", one)), 16)
        with self.assertRaises(Unreadable):
            class_grading.digest_of("lab", self.folder / "none.cu")

    def test_feedback_is_one_line(self) -> None:
        report = Report("03", "t", "f", 1, (Line("forces", 60, 1), Line("counts", 40, 0, 0,
                                                                        "a\nb")))
        self.assertEqual(grade_class.feedback(report), "counts: a")
        self.assertEqual(grade_class.feedback(Report("03", "t", "f", 1, (), "no\nx")), "no")


class Options(InFolder):
    def said(self, *words: str) -> str:
        text = io.StringIO()
        with contextlib.redirect_stderr(text), contextlib.redirect_stdout(io.StringIO()):
            try:
                code = main(["grade", "03", *words])
            except SystemExit as error:
                code = error.code
        self.assertEqual(code, 2, text.getvalue())
        self.assertEqual(text.getvalue().count("\n"), 1, text.getvalue())
        return text.getvalue()

    def test_options_that_do_not_fit_are_rejected(self) -> None:
        file = str(self.file("subs/a.cu", "x"))
        folder, csv_file = str(self.folder / "subs"), str(self.folder / "p.csv")
        roster = str(self.file("g.csv", CANVAS))
        self.assertIn("--csv is for a folder", self.said(file, "--csv", csv_file))
        self.assertIn("with --csv", self.said(folder))
        self.assertIn("--json is for a single", self.said(folder, "--json", csv_file))
        self.assertIn("needs --reports", self.said(folder, "--share", "1/2"))
        self.assertIn("cannot be used with --csv", self.said(
            folder, "--share", "1/2", "--csv", csv_file, "--reports", folder))
        self.assertIn("--roster needs", self.said(folder, "--csv", csv_file, "--roster", roster))
        self.assertIn("submission of a", self.said(folder, "--csv", csv_file, "--roster", roster,
                                                   "--for", "canvas"))
        self.assertIn("no folder", self.said(folder, "--csv", f"{folder}/none/p.csv"))
        self.assertIn("is a folder", self.said(folder, "--csv", folder))
        self.assertIn("is a folder", self.said(file, "--json", folder))
        self.assertIn("is not a folder", self.said(folder, "--reports", file))
        self.assertFalse(Path(csv_file).exists())

    def test_a_lab_without_its_answers_is_refused_before_the_build(self) -> None:
        file = str(self.file("subs/a.toml", "x"))
        of_class = (str(self.folder / "subs"), "--csv", str(self.folder / "p.csv"))
        for words in ((file,), of_class):
            said = io.StringIO()
            with mock.patch.object(Lab, "can_be_graded", False), \
                    contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
                parse("grade", ["23", *words])  # ./nbody does this before it builds
            self.assertEqual((end.exception.code, said.getvalue().count("\n")), (2, 1))
            self.assertIn("lab 23 can be graded only by your teacher", said.getvalue())
