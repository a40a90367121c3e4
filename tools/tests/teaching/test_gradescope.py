"""Tests the scripts in the archive for Gradescope, for every lab. A stub replaces the grader of
programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.gradebook.submitter import submitter_in
from nbody_tools.labs.lab import Lab, lab_folders, read_lab
from tests.fakes import InFolder

# The real grader grades files of answers. A stub that prints the lab's number "grades" programs.
NBODY = f"""#!/usr/bin/env bash
case $1 in
  setup) exit 0 ;;
  lab) mkdir -p "$4" && touch "$4/nbody.cu"; exit ;;
esac
[ "$4" = --gradescope ] && [ -f "$3" ] || exit 2
case $3 in
  *.toml) PYTHONPATH="{ROOT}/tools" "{sys.executable}" -m nbody_tools "$@" ;;
  *) [ -e broken ] || echo "{{\\"score\\": 100, \\"output\\": \\"$2\\"}}" >"$5" ;;
esac
"""


class Submitter(InFolder):
    def student(self, *users: dict) -> str:
        metadata = self.file("submission_metadata.json", json.dumps({"users": users}))
        return submitter_in(metadata, ("ada", "bob@b.org", "Cleo C"))

    def test_address_login_or_name(self) -> None:
        for email, name, student in (("ada@a.org", "A", "ada"), ("bob@b.org", "B", "bob@b.org"),
                                     ("c@c.org", "Cleo C", "Cleo C")):
            self.assertEqual(self.student({"email": email, "name": name}), student)
        group = ({"email": "x@x.org", "name": "X"}, {"email": "ada@a.org", "name": "A"})
        self.assertEqual(self.student(*group), "ada")

    def test_others_are_an_error(self) -> None:
        with self.assertRaisesRegex(ToolError, "none of its users: x@x.org, x, X"):
            self.student({"email": "x@x.org", "name": "X"})
        with self.assertRaisesRegex(ToolError, "none of its users: the file lists no"):
            self.student()
        for text in ("", "[]", '{"users": 3}', '{"users": [{"email": "a@b"}]}'):
            with self.assertRaisesRegex(ToolError, "submission_metadata.json: needs "):
                submitter_in(self.file("submission_metadata.json", text), ())
        with self.assertRaisesRegex(ToolError, "No such file"):
            submitter_in(self.folder / "missing.json", ())


class Gradescope(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.file("nbody/nbody", NBODY).chmod(0o755)
        for folder in lab_folders():
            (self.folder / "nbody" / "course" / "labs" / folder.name).mkdir(parents=True)

    def result_of(self, **files: str) -> dict:
        """Submits these files, and returns results.json. A keyword is the name of a file, with __
        instead of the dot."""
        submission = self.folder / "submission"
        submission.mkdir(exist_ok=True)
        for file in submission.iterdir():
            file.unlink()
        for name, text in files.items():
            (submission / name.lstrip("_").replace("__", ".")).write_text(text, encoding="utf-8")
        self.call("run_autograder")
        return json.loads((self.folder / "results" / "results.json").read_text(encoding="utf-8"))

    def call(self, script: str) -> int:
        return subprocess.run([ROOT / "course" / "gradescope" / script], stdout=subprocess.DEVNULL,
                              env=os.environ | {"AUTOGRADER": str(self.folder)},
                              check=False).returncode

    def test_every_lab_is_found_by_the_name_of_the_file(self) -> None:
        labs = [read_lab(folder) for folder in lab_folders()]
        self.assertLessEqual({"04b", "23", "24"}, {lab.number for lab in labs})
        for lab in labs:
            for name in name_forms(lab):
                result = self.result_of(**{f"_{name}": lab.solution})
                self.assertEqual(result["score"], 100, name)
                if lab.is_program:
                    self.assertEqual(result["output"], lab.number, name)
            if not lab.is_program:
                result = self.result_of(**{f"_{lab.number}__toml": lab.starter})
                self.assertEqual(result["score"], 0)

    def test_what_is_no_lab_or_not_one_file_is_said(self) -> None:
        two = {"_03__cu": "x", "_04b__cu": "x"}
        for files in ({}, two, {"nbody__cu": "x"}, {"_99__cu": "x"}, {"_0__cu": "x"}):
            result = self.result_of(**files)
            self.assertEqual(result["score"], 0)
            self.assertIn("The labs are 01 02 03 04b 05", result["output"])

    def test_the_archive_of_a_lab_grades_no_other(self) -> None:
        self.file("source/lab.txt", "04b")
        self.assertEqual(self.result_of(_04b__cu="x")["score"], 100)
        result = self.result_of(_01__cu="x")
        self.assertEqual(result, {"score": 0, "output": "This assignment is lab 04b, but the name "
                                  "of your file begins with the number of lab 01."})

    def test_a_grader_that_ends_without_a_result_is_said(self) -> None:
        self.result_of(_03__cu="x")  # the next submission must not get this result
        self.file("nbody/broken", "")
        result = self.result_of(_03__cu="x")
        self.assertEqual((result["score"], "tell your teacher" in result["output"]), (0, True))

    def test_an_assignment_is_graded_with_the_table(self) -> None:
        self.file("source/variants.csv", "student,family\n")
        self.file("submission_metadata.json", "{}")
        self.assertEqual(self.result_of(solution__cu="x")["score"], 100)
        for files in ({}, {"a__cu": "x", "b__cu": "x"}, {"solution__cpp": "x"}):
            result = self.result_of(**files)
            self.assertEqual((result["score"], "one file that ends in .cu" in result["output"]),
                             (0, True))

    def test_an_image_is_made_only_if_the_grader_works(self) -> None:
        source = self.folder / "source"
        source.mkdir()
        subprocess.run(["tar", "-czf", source / "nbody.tar.gz", "-C", self.folder / "nbody", "."],
                       check=True)
        self.assertEqual(self.call("setup.sh"), 0)
        self.file("nbody/broken", "")
        (self.folder / "starter" / "results.json").unlink()
        self.assertEqual(self.call("setup.sh"), 1)


def name_forms(lab: Lab) -> list[str]:
    ending = Path(lab.file_name).suffix.replace(".", "__")
    return [f"{lab.number}{ending}", f"{lab.folder.name}{ending}", f"{lab.number}-final{ending}"]


if __name__ == "__main__":
    unittest.main()
