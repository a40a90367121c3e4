"""Tests that a lab asks for an idea, not only for a line of code, and that the page of the step
does not print the solution."""

from __future__ import annotations

import difflib
import re
import unittest

from nbody_tools.arguments import ROOT
from nbody_tools.labs.cpp_text import without_comments
from nbody_tools.labs.lab import Lab, lab_folders, read_lab

FEWEST = 10  # lines of code that a student writes
FIRST_WITH_A_MISTAKE = "20"  # from this lab on, students find a mistake
CODE = re.compile(r"^```.*?^```", re.M | re.S)


def lines_of(text: str) -> list[str]:
    """Returns the lines of code without spaces, comments and lines of one or two characters."""
    lines = ("".join(line.split()) for line in without_comments(text).splitlines())
    return [line for line in lines if len(line) > 2]


def asked_of_students(lab: Lab) -> list[str]:
    """Returns the lines of the solution that the starter does not have."""
    starter, solution = lines_of(lab.starter), lines_of(lab.solution)
    matcher = difflib.SequenceMatcher(None, starter, solution, autojunk=False)
    return [line for kind, _, _, first, last in matcher.get_opcodes() if kind != "equal"
            for line in solution[first:last]]


def printed(lab: Lab) -> set[str]:
    """Returns the lines of code on the step's page. Lines that a diff removes do not count."""
    page = (ROOT / lab.step / "README.md").read_text(encoding="utf-8")
    blocks = "\n".join(CODE.findall(page))
    return set(lines_of(re.sub(r"^(\+| |-.*)", "", blocks, flags=re.M)))


def programming_labs() -> list[Lab]:
    return [lab for lab in map(read_lab, lab_folders()) if lab.cut or lab.starter_step]


class Holes(unittest.TestCase):
    def test_a_lab_asks_for_several_lines(self) -> None:
        for lab in programming_labs():
            if lab.number < FIRST_WITH_A_MISTAKE:
                with self.subTest(lab.number):
                    self.assertGreaterEqual(len(asked_of_students(lab)), FEWEST)

    def test_the_page_of_a_step_prints_nothing_that_its_lab_asks(self) -> None:
        for lab in programming_labs():
            with self.subTest(lab.number):
                given = set(lines_of(lab.starter))
                asked = set(asked_of_students(lab)) - given
                self.assertEqual(sorted(asked & printed(lab)), [])


if __name__ == "__main__":
    unittest.main()
