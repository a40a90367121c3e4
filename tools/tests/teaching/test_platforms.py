"""Tests what the course offers for other platforms: the container that Codespaces opens, and the
files that Canvas, Moodle and nbgrader read. Also tests that every lesson has goals."""

from __future__ import annotations

import csv
import io
import json
import re
import unittest

from nbody_tools.arguments import ROOT
from nbody_tools.assignments.family import find_family
from nbody_tools.course.nbgrader import material_of, notebook_of
from nbody_tools.gradebook.class_grading import Mark, as_canvas, as_moodle
from nbody_tools.labs.counts import describe
from nbody_tools.labs.lab import find_lab, lab_folders, read_lab
from nbody_tools.labs.working_folder import MUST
from nbody_tools.steps import published_steps

# The properties that we use, with the types that the schema of containers.dev allows for them
# (devContainer.base.schema.json).
COMMAND = (str, list, dict)
ALLOWED = {"name": str, "build": dict, "hostRequirements": dict, "onCreateCommand": COMMAND,
           "updateContentCommand": COMMAND, "waitFor": str, "forwardPorts": list,
           "portsAttributes": dict, "customizations": dict}
WAITS = {"initializeCommand", "onCreateCommand", "updateContentCommand", "postCreateCommand",
         "postStartCommand"}


class Container(unittest.TestCase):
    def test_codespaces_understands_it(self) -> None:
        folder = ROOT / ".devcontainer"
        facts = json.loads((folder / "devcontainer.json").read_text(encoding="utf-8"))
        self.assertEqual(set(facts) - set(ALLOWED), set())
        for name, value in facts.items():
            self.assertIsInstance(value, ALLOWED[name], name)
        self.assertTrue((folder / facts["build"]["dockerfile"]).is_file())
        self.assertEqual((folder / facts["build"]["context"]).resolve(), ROOT)
        self.assertIsInstance(facts["hostRequirements"]["cpus"], int)
        for size in ("memory", "storage"):
            self.assertRegex(facts["hostRequirements"][size], r"^\d+([tgmk]b)?$")
        self.assertIn(facts["waitFor"], WAITS)
        self.assertEqual(set(facts["portsAttributes"]), set(map(str, facts["forwardPorts"])))
        for page in facts["customizations"]["codespaces"]["openFiles"]:
            self.assertTrue((ROOT / page).is_file(), page)


class Gradebooks(unittest.TestCase):
    """Tests the files for two gradebooks, both in UTF-8. In a file for Canvas, the first columns
    identify the student, any further column is an assignment, and the second row may hold the
    points possible. In a file for Moodle, commas separate the columns, and one column identifies
    the user. The teacher assigns the columns of grades and of feedback by hand."""

    MARKS = [Mark("17", 87.5, "a, \"b\""), Mark("18", None, "not graded")]
    ROSTER = [{"Student": "    Points Possible"},
              {"Student": "Öz, Jörg", "ID": "17", "SIS User ID": "s17", "SIS Login ID": "oez",
               "Section": "A", "Lab 03 (4711)": ""},
              {"Student": "Doe, J", "ID": "18", "SIS User ID": "", "SIS Login ID": "",
               "Section": ""}]

    def rows(self, text: str) -> list[list[str]]:
        self.assertFalse(text.startswith("\ufeff"))
        text.encode("utf-8")
        made = list(csv.reader(io.StringIO(text, newline="")))
        self.assertEqual({len(row) for row in made}, {len(made[0])})
        return made

    def test_canvas_reads_it(self) -> None:
        roster = [{**row, "Lab 03 (4711)": ""} for row in self.ROSTER]
        head, possible, *students = self.rows(as_canvas(self.MARKS, "Lab 03", roster))
        self.assertEqual(head, ["Student", "ID", "SIS User ID", "SIS Login ID", "Section",
                                "Lab 03 (4711)"])  # Canvas finds the assignment by the number
        self.assertEqual([possible[0].strip(), possible[-1]], ["Points Possible", "100"])
        self.assertEqual([(row[0], row[1], row[-1]) for row in students],
                         [("Öz, Jörg", "17", "87.5"), ("Doe, J", "18", "")])

    def test_moodle_reads_it(self) -> None:
        roster = [{"First name": "Jörg", "Last name": "Öz", "ID number": "17",
                   "Email address": "oez@a.example"},
                  {"First name": "J", "Last name": "Doe", "ID number": "18",
                   "Email address": "doe@a.example"}]
        head, *students = self.rows(as_moodle(self.MARKS, "Lab 03", roster))
        self.assertEqual(head, ["ID number", "Email address", "Lab 03", "Lab 03 (feedback)"])
        self.assertEqual(students[0], ["17", "oez@a.example", "87.5", "a, \"b\""])
        self.assertEqual(students[1][2:], ["", "not graded"])


class Nbgrader(unittest.TestCase):
    def test_a_notebook_has_the_metadata_of_nbgrader(self) -> None:
        variant = find_family("reduction").variants[0]
        for task, file in ((find_lab("03"), "nbody.cu"), (find_lab("23"), "answers.toml"),
                           (variant, "solution.cu")):
            made = notebook_of(material_of(task))
            statement, starter, points = made["cells"]
            self.assertTrue(statement["metadata"]["nbgrader"]["locked"])
            self.assertEqual(starter["metadata"], {})
            self.assertEqual("".join(starter["source"]).partition("\n")[0], f"%%writefile {file}")
            facts = points["metadata"]["nbgrader"]
            self.assertEqual((facts["points"], facts["grade"], facts["locked"], facts["solution"]),
                             (100, True, True, False))
            compile("".join(points["source"]), "cell", "exec")

    def test_a_statement_has_the_limits_with_which_the_lab_is_graded(self) -> None:
        for lab in map(read_lab, lab_folders()):
            statement = material_of(lab).statement
            for test in lab.fails if lab.is_program else ():
                self.assertIn(test, statement.partition("## How it is graded")[2])
            for limit in lab.limit:
                self.assertIn(f"- {describe(limit)}{MUST if limit.must else ''}", statement)


class Goals(unittest.TestCase):
    def test_every_lesson_has_goals(self) -> None:
        text = (ROOT / "course" / "teaching.md").read_text(encoding="utf-8")
        table = text.partition("**Learning goals.**")[2].partition("\n\nAdd one hour")[0]
        found = re.findall(r"^\| \[[\w]+\]\(\.\./(\w+)/README\.md\) \| (.+) \|$", table, re.M)
        self.assertEqual([name for name, _ in found],
                         [*published_steps(ROOT), "memory", "float64", "small_systems"])
        for name, goals in found:
            self.assertGreater(len(goals.split()), 6, name)


if __name__ == "__main__":
    unittest.main()
