"""Tests the texts of the assignments: their variants, the files that students get, and the tables
of a class. tests/assignments runs and grades programs."""

from __future__ import annotations

import contextlib
import csv
import io
import random
import re
from dataclasses import replace
from typing import Callable, Optional

import numpy as np

from nbody_tools.__main__ import main
from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.assignments.closeness import nearness
from nbody_tools.assignments.families.histogram import LEAST_BODIES
from nbody_tools.assignments.family import (Checked, Problem, families, find_family, read_variant,
                                            read_variants)
from nbody_tools.assignments.messages import (FILL, UNWRITTEN, call_refused, error_first,
                                              of_student)
from nbody_tools.assignments.points import ENOUGH, FLOOR, LUCKY, WEIGHTS, WRONG
from nbody_tools.assignments.tests import (HOST_MEMORY, INSPECTED, Result, luck, lucky, near_of,
                                           packed, result_of, weighed, weighed_method)
from nbody_tools.course import pack, teacher
from nbody_tools.inspection.source_lines import Place
from nbody_tools.inspection.trace import Inspection, Kernel, Row
from nbody_tools.labs import grade
from nbody_tools.labs.counts import most_patterns, value_of
from nbody_tools.labs.cpp_text import without_comments
from nbody_tools.labs.lab import Limit
from nbody_tools.labs.rules import broken_by_text
from tests.fakes import InFolder

FEWEST = 30
QUOTED = 20  # lines of this length are not equal by chance
WINDOW = 6  # this many equal lines in a row are no coincidence


def lines_of(text: str) -> list[str]:
    """Returns the lines of code, without comments, blanks and lines of one or two characters."""
    lines = ("".join(line.split()) for line in without_comments(text).splitlines())
    return [line for line in lines if len(line) > 2]


def windows(text: str) -> set[str]:
    lines = lines_of(text)
    return {"\n".join(lines[k:k + WINDOW]) for k in range(len(lines) - WINDOW + 1)}


class OfVariants(InFolder):
    def test_there_are_enough_and_they_differ_in_code(self) -> None:
        for family in families():
            codes = {re.sub(r"\d+(\.\d+)?f?", "0", "\n".join(lines_of(one.reference)))
                     for one in family.variants}
            self.assertGreaterEqual(len(codes), FEWEST, family.name)
            self.assertEqual(len({one.name for one in family.variants}), len(family.variants))

    def test_texts_break_no_rule_and_edits_fit(self) -> None:
        for family in families():
            for variant in family.variants:
                texts = [variant.starter, variant.reference]
                wrong = variant.wrong
                self.assertGreaterEqual(len(wrong), 4, variant.name)
                texts += map(variant.wrong_text, wrong)
                self.assertEqual(len(set(texts)), len(texts), variant.name)
                for text in texts:
                    self.assertIsNone(broken_by_text(variant, text), variant.name)

    def test_a_statement_names_every_limit(self) -> None:
        for family in families():
            for variant in family.variants:
                statement = variant.statement
                for limit in variant.limits:
                    self.assertIn(limit.of, statement)
                self.assertIn(variant.header, statement)
                self.assertNotRegex(statement, r"\{\{|\{%|Undefined")
                self.assertNotRegex(statement, r"\b([a-z]+ [a-z]+) \1\b")  # two words repeated

    def test_a_reference_has_the_size_of_the_task(self) -> None:
        for family in families():
            for variant in family.variants:
                count = len(lines_of(variant.reference))
                self.assertTrue(25 <= count <= 130, f"{variant.name}: {count} lines")

    def test_a_result_of_zeros_or_nans_is_wrong(self) -> None:
        for family in families():
            for variant in family.variants:
                asked = variant.problem(2, 100, random.Random(1))
                for byte in (b"\0", b"\xff"):
                    checked = variant.check(asked, byte * asked.results)
                    self.assertLess(nearness([checked.numbers]), 0.1, variant.name)
                    self.assertTrue(checked.why)

    def test_the_parts_of_a_method_have_all_its_points(self) -> None:
        for family in families():
            for variant in family.variants:
                self.assertEqual(sum(part.points for part in variant.parts), WEIGHTS["counts"])

    def test_a_description_is_read_back(self) -> None:
        for family in families():
            for variant in family.variants:
                file = self.file("assignment.toml", variant.description)
                self.assertEqual(read_variant(file).choice, variant.choice)


class OfStudents(InFolder):
    def test_a_pack_holds_no_reference(self) -> None:
        for family in families():
            for variant in family.variants:
                given = "\n".join(teacher.pack_of(variant).values())
                self.assertFalse(windows(variant.reference) & windows(given), variant.name)

    def test_the_folder_of_the_class_holds_no_reference(self) -> None:
        secret = set().union(*(windows(one.reference) for family in families()
                               for one in family.variants))
        for file, content in pack.for_the_class(ROOT):
            self.assertFalse(str(file).startswith(("course/assignments", "tests/assignments")))
            if file.suffix in (".cu", ".h", ".py", ".md", ".j2", ".toml"):
                found = secret & windows(content.decode("utf-8"))
                self.assertFalse(found, f"{file} has {found}")

    def test_the_folder_of_the_class_quotes_no_line_that_a_wrong_program_changes(self) -> None:
        quoted = {find.strip() for family in families() for one in family.variants
                  for wrong in one.wrong for find, _ in wrong.edits if len(find.strip()) > QUOTED}
        for file, content in pack.for_the_class(ROOT):
            if str(file).startswith("tools/nbody_tools/assignments"):
                text = content.decode("utf-8")
                self.assertEqual([one for one in quoted if one in text], [], str(file))

    def test_variants_depend_on_seed_and_name_alone(self) -> None:
        for family in families():
            names = [f"student{k}" for k in range(200)]
            once = [family.variant_of(name, "a").name for name in names]
            self.assertEqual(once, [family.variant_of(name, "a").name for name in names])
            self.assertNotEqual(once, [family.variant_of(name, "b").name for name in names])
            self.assertGreater(len(set(once)), 0.6 * len(family.variants))

    def make(self, students: str, *words: str) -> int:
        self.file("students.txt", students)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                return main(["course", "teacher", "make", str(self.folder / "students.txt"),
                             "--output", str(self.folder / "out"), *words])
            except SystemExit as error:
                return error.code

    def test_a_class_is_made(self) -> None:
        self.assertEqual(self.make("alice\nbob\n", "--seed", "s"), 0)
        for family in families():
            variants = read_variants(self.folder / "out" / "teacher" / f"{family.name}.csv")
            self.assertEqual([*variants.of], ["alice", "bob"])
            folder = self.folder / "out" / "students" / "bob" / family.name
            self.assertEqual(read_variant(folder / "assignment.toml").choice,
                             variants.of["bob"].choice)
            self.assertEqual(sorted(file.name for file in folder.iterdir()),
                             ["README.md", "assignment.h", "assignment.toml", "solution.cu"])
        everything = [file for file in (self.folder / "out" / "students").rglob("*")
                      if file.name.startswith("reference")]
        self.assertEqual(everything, [])
        self.assertEqual(self.make("alice\nbob\n", "--seed", "s"), 1)  # the folder is not empty

    def test_a_teacher_chooses_variants(self) -> None:
        words = ["--seed", "s", "--family", "transpose", "--choose", "element=float4",
                 "--choose", "avoid=swizzle"]
        names = "\n".join(f"student{k}" for k in range(20))
        self.assertEqual(self.make(names, *words), 0)
        variants = read_variants(self.folder / "out" / "teacher" / "transpose.csv").of
        self.assertEqual({(one.choice["element"], one.choice["avoid"])
                          for one in variants.values()}, {("float4", "swizzle")})
        self.assertGreater(len({one.name for one in variants.values()}), 1)
        for wrong in ("element", "element=float3", "method=tree"):
            self.assertEqual(self.make(names, *words[:4], "--choose", wrong, "--output",
                                       str(self.folder / "no")), 2)

    def test_a_changed_description_is_noticed(self) -> None:
        first, second = find_family("reduction").variants[:2]
        submission = self.file("solution.cu", "")
        self.file("assignment.toml", first.description)
        self.assertEqual(grade.other_variant(first, submission), "")
        note = grade.other_variant(second, submission)
        self.assertRegex(note, f"specifies {first.name}, but .* specifies {second.name}, which")
        self.assertNotIn("\n", note)
        self.file("assignment.toml", "family = 3")
        self.assertIn("unknown variant", grade.other_variant(second, submission))

    def test_a_table_needs_the_name_of_a_student(self) -> None:
        variant = find_family("reduction").variants[3]
        table = self.file("a.csv", "student,family,quantity,layout,method,finish\n"
                          + ",".join(["alice", "reduction", *variant.choice.values()]) + "\n")
        self.assertEqual(grade.find_task(str(table), "alice"), variant)
        for student in (None, "bob"):
            with self.assertRaises(ToolError):
                grade.find_task(str(table), student)

    def test_a_roster_names_students(self) -> None:
        roster = ("Student,ID,SIS User ID,SIS Login ID,Section\n"
                  "    Points Possible,,,,\n\"Doe, J\",17,s17,jdoe,A\n")
        self.assertEqual(self.make(roster, "--seed", "s"), 0)
        self.assertTrue((self.folder / "out" / "students" / "jdoe").is_dir())

    def owners(self, students: str) -> dict[str, str]:
        """Makes a class, and returns the student to whom each name in its table belongs."""
        self.assertEqual(self.make(students, "--seed", "s", "--family", "transpose"), 0)
        return read_variants(self.folder / "out" / "teacher" / "transpose.csv").student

    def test_a_student_has_all_names_of_a_roster(self) -> None:
        self.assertEqual(self.owners("Student,ID,SIS User ID,SIS Login ID,Section\n"
                                     "    Points Possible,,,,\n\"Doe, J\",17,s17,jdoe,A\n"),
                         dict.fromkeys(("jdoe", "17", "s17", "Doe, J", "J Doe"), "jdoe"))

    def test_a_name_that_two_students_share_belongs_to_none(self) -> None:
        self.assertEqual(self.owners("First name,Surname,ID number,Email address\n"
                                     "Ada,Poe,1,a@x\nAda,Poe,2,b@x\nJo,Roe,3,c@x\n"),
                         {"1": "1", "a@x": "1", "2": "2", "b@x": "2", "3": "3", "c@x": "3",
                          "Jo Roe": "3"})

    def test_a_list_may_have_further_names(self) -> None:
        self.assertEqual(self.owners("Ada Lovelace; lovelace_ada ;ada@x.org\nbob\n"),
                         {"Ada Lovelace": "Ada Lovelace", "lovelace_ada": "Ada Lovelace",
                          "ada@x.org": "Ada Lovelace", "bob": "bob"})

    def test_a_submission_may_have_any_name_of_its_student(self) -> None:
        variant = find_family("transpose").variants[5]
        row = ["transpose", *variant.choice.values(), "Ada Lovelace;lovelace_ada"]
        head = ["student", "family", *variant.choice, "names"]
        table = self.file("t.csv", "\ufeff" + ",".join(head) + "\n" + ",".join(["7", *row]) + "\n")
        for name in ("7", "Ada Lovelace", "lovelace_ada"):
            self.assertEqual(grade.find_task(str(table), name), variant)
        self.file("subs/lovelaceada_12_345_solution.cu", "")  # as Canvas names it: student 12
        words = ("grade", table, self.folder / "subs", "--csv", self.folder / "p.csv")
        self.assertIn("has no variant for 12; if this is another name of a student, add it to the "
                      "column names", self.refused(*words))
        self.file("subs/lovelaceada_12_345_solution.cu", "").unlink()
        self.file("subs/lovelace_ada.cu", "")
        self.file("subs/Ada Lovelace_9_assignsubmission_file/x.cu", "")
        self.assertIn("the submissions of Ada Lovelace and lovelace_ada both belong to 7; remove "
                      "one", self.refused(*words))

    def test_a_name_with_two_owners_is_rejected(self) -> None:
        variant = find_family("transpose").variants[5]
        values = ",".join(["transpose", *variant.choice.values()])
        head = ",".join(["student", "family", *variant.choice, "names"])
        for ada, bob, answer in (
            ("ada,V,x", "bob,V,y;x", "line 3: the name x of bob already occurs for ada"),
            ("ada,V,bob", "bob,V,", "line 3: the name bob of bob already occurs for ada"),
            ("ada,V", "ada,V", "line 3: the name ada of ada already occurs for ada"),
            ("ada,V,x;x", "bob,V", "line 2: the name x of ada already occurs for ada"),
            ("ada,V,x", "bob,V,y,z", "line 3: has more cells than the heading; in"),
            ("ada,V,x", ",V,", "line 3: needs the columns student and family"),
        ):
            rows = (row.replace("V", values) for row in (ada, bob))
            with self.assertRaisesRegex(ToolError, f"t.csv, {answer}"):
                read_variants(self.file("t.csv", "\n".join([head, *rows]) + "\n"))

    def test_bad_input_is_rejected_and_nothing_is_written(self) -> None:
        for students in ("", "\n", "alice\nalice\n", "ID,Section\n,A\n", ";\n", "alice;a\nbob;a\n",
                         "alice;bob\nbob\n", "a;a\n"):
            self.assertEqual(self.make(students, "--seed", "s"), 2)
            self.assertFalse((self.folder / "out").exists())
        for text in ("", "family = 3", "family = \"x\"\n[choice]\n", "[", "family = \"reduction\"\n"
                     "[choice]\nquantity = \"none\"\n"):
            with self.assertRaises(ToolError):
                read_variant(self.file("assignment.toml", text))
        for text in ("a\n", "student,family\nx,none\n", "student,family,quantity\nx,reduction,y\n"):
            with self.assertRaises(ToolError):
                read_variants(self.file("variants.csv", text))
        with self.assertRaises(ToolError):
            find_family("none")


class Points(InFolder):
    def near(self, what: str, change: Callable[[np.ndarray], np.ndarray]) -> Checked:
        """Applies `change` to the expected result of a variant, and returns the grader's check."""
        variant = next(one for one in find_family("reduction").variants if what in one.name)
        asked = variant.problem(20, 90, random.Random(1))
        got = change(asked.expected.values).astype("float32")
        return variant.check(asked, got.tobytes())

    def test_wrong_numbers_are_near_if_right_ones_moved_or_a_part_is_missing(self) -> None:
        noise = np.random.default_rng(1).uniform(-1, 1, (20, 4))
        self.assertEqual(nearness([self.near("moments", lambda v: v[:, ::-1]).numbers]), 1)
        self.assertGreater(nearness([self.near("moments", lambda v: v / 2).numbers]), 0.99)
        self.assertLess(nearness([self.near("moments", lambda v: -v).numbers]), 0.3)
        self.assertLess(nearness([self.near("moments", lambda v: noise).numbers]), 0.2)
        self.assertEqual(nearness([self.near("moments", lambda v: 0 * v).numbers]), 0)
        means = nearness([self.near("moments", lambda v: 0 * v + v.mean(axis=0)).numbers])
        self.assertLess(means, 0.1)  # the means are known without computing the results
        self.assertEqual(nearness([]), 0)
        small = self.near("moments", lambda v: v / 2).numbers
        large = replace(small, got=small.got * 500, expected=small.expected * 2)
        self.assertGreater(nearness([small, large]), 0.99)  # each problem has its own scale
        half = self.near("moments", lambda v: np.where(np.arange(20)[:, None] < 10, v / 2,
                                                       UNWRITTEN[0]))
        self.assertTrue(0.2 < nearness([half.numbers]) < 0.8)  # unwritten numbers have no weight

    def test_a_test_earns_what_its_problems_earn(self) -> None:
        right, half = self.near("moments", lambda v: v), self.near("moments", lambda v: v / 2)
        nothing = self.near("moments", lambda v: 0 * v)
        self.assertEqual(result_of("right", [right, right]), Result("right", 1))
        self.assertAlmostEqual(result_of("right", [right, half]).share, (1 + WRONG) / 2, 2)
        self.assertEqual(near_of([nothing]), 0)
        explained = Checked(nothing.numbers, "zeros", True)
        self.assertAlmostEqual(result_of("right", [explained]).share, WRONG)
        self.assertEqual(near_of([explained, right]), 1)

    def test_points_for_the_method_follow_the_results(self) -> None:
        shares = [weighed_method(Result("counts", 1), near, 1).share for near in (0, ENOUGH / 2, 1)]
        self.assertEqual([shares[0], shares[2]], [FLOOR, 1])
        self.assertTrue(shares[0] < shares[1] < shares[2])
        self.assertEqual(weighed_method(Result("counts", 0), 0, 1), Result("counts", 0))
        self.assertEqual(weighed(Result("findings", 1), 0.5).share, 0.5)
        imitated = weighed_method(Result("counts", 1), 1, 0)
        self.assertEqual(imitated.share, FLOOR)
        self.assertIn("of the run that was counted", imitated.why)

    def test_right_numbers_of_a_kernel_that_reads_host_memory_are_luck(self) -> None:
        message = ("hostcuda: a kernel reads host memory, which a GPU cannot access\n"
                   "  at solution.cu:12")
        mistake = luck(Inspection([], [], [], messages=(message,)))
        self.assertEqual(lucky(Result("right", 1), mistake).share, LUCKY)
        self.assertIn("host memory", lucky(Result("right", 1), mistake).why)
        self.assertEqual(luck(Inspection([], [], [], messages=("hostcuda: a leak",))), "")
        source = ROOT / "hostcuda/trace/checks/kernel_checks.cpp"
        self.assertIn(HOST_MEMORY, source.read_text(encoding="utf-8"))

    def test_opposite_rows_and_unwritten_numbers_are_named(self) -> None:
        variant = next(one for one in find_family("transpose").variants
                       if one.choice["element"] == "float")
        asked = variant.problem(2, 40, random.Random(1))
        rows = asked.expected.values.astype("float32")
        self.assertEqual(variant.check(asked, rows.tobytes()).why, "")
        turned = variant.check(asked, rows[::-1].tobytes())
        self.assertTrue(turned.is_explained)
        self.assertIn("opposite order", turned.why)
        self.assertIn("held before the call",
                      variant.check(asked, bytes([FILL]) * asked.results).why)

    def test_patterns_of_lanes_tell_padding_from_exchanged_columns(self) -> None:
        def patterns(place: Callable[[int, int], int], cost: int = 1) -> Optional[float]:
            accesses = [{"memory": "shared", "access": "load", "file": "a.cu", "line": 7,
                         "bytes": 4, "cost": cost, "ideal_cost": 1,
                         "offsets": [4 * place(lane, column) for lane in range(32)]}
                        for column in range(8)]
            block = {"accesses": accesses}
            return most_patterns([Kernel("turn", 1, 1, 256, first_block=block)])

        self.assertEqual(patterns(lambda row, lane: 33 * row + lane), 1)
        self.assertEqual(patterns(lambda row, lane: 32 * row + (lane ^ row)), 8)
        self.assertEqual(patterns(lambda row, lane: 32 * row + (lane + row) % 32), 8)
        self.assertIsNone(patterns(lambda row, lane: 32 * row + lane, cost=32))
        self.assertIsNone(patterns(lambda row, lane: 33 * lane + row))  # reads a row
        self.assertIsNone(most_patterns([Kernel("turn", 1, 1, 32)]))

    def test_work_is_counted_from_all_memories_and_without_the_search(self) -> None:
        def row(memory: str, access: str, executions: int) -> Row:
            return Row(Place("a.cu", 1), memory, access, 4, executions)

        lists = Kernel("lists", 1, 1, 32, most_loads=3, variable_loads=7, filled_variable_loads=4,
                       shuffles={"executions": 20},
                       rows=[row("global", "load", 10), row("global", "atomic", 5)])
        search = Kernel("search", 1, 1, 32, most_loads=9,
                        rows=[row("global", "load", 90), row("shared", "load", 13)])
        found = Inspection([lists, search], [], [])
        for what, expected in (("loads and shuffles per body", 14), ("loads of one thread", 9),
                               ("global loads per body", 10.4),
                               ("loads and shuffles in the search per body", 10.3),
                               ("global atomics per shared load", 5 / 13),
                               ("loads and atomics before the search per body", 1.5),
                               ("loads of one thread before the search", 3),
                               ("loads of one thread that searches", 9)):
            self.assertEqual(value_of(Limit(what), found, 10), expected, what)

    def test_limits_hold_for_every_number_of_whole_blocks(self) -> None:
        def most(family: str, axes: str, what: str) -> float:
            variant = next(one for one in find_family(family).variants if axes in one.name)
            return next(one.at_most for one in variant.limits if one.of == what and one.at_most)

        for count in range(*INSPECTED):
            blocks = -(-count // 256)
            self.assertLessEqual(24 * blocks / count,
                                 most("histogram", "rings-edge-atomic", "global atomics per body"))
            self.assertLessEqual(LEAST_BODIES, count / blocks)
            blocks = -(-count // 64)
            self.assertLessEqual(4 * blocks / count,
                                 most("reduction", "moments-packed-tree-atomic",
                                      "global atomics per body"))

    def test_ways_for_the_host_to_read_uncounted_are_refused(self) -> None:
        variant = find_family("histogram").variants[0]
        for line in ("__managed__ float4 p[9];", "void f() { cudaLaunchHostFunc(0, g, 0); }"):
            broken = broken_by_text(variant, f"{variant.starter}{line}\n")
            self.assertRegex(broken or "", "is not allowed")

    def test_messages_name_the_line_and_what_is_allowed(self) -> None:
        said = call_refused("it calls 'fprintf', which no lab needs", "int a;\nfprintf(b);\n")
        self.assertRegex(said, "^line 2: it calls 'fprintf', .*; you may call only the CUDA")
        said = "In file included from a.h:1\nnote: x\nsolution.cu:3:5: error: y\n"
        self.assertEqual(error_first(said, 2)[:2],
                         ["solution.cu:3:5: error: y", "In file included from a.h:1"])

    def test_an_array_of_the_harness_is_named_as_students_know_it(self) -> None:
        place = "/a/made/assignment_harness.cu:74"
        said = "hostcuda: hint: `hostcuda check` names the array, the index and the line"
        self.assertIn("`findings` reports the array", of_student(said))
        said = f"past the end of the allocation of {place}, 4 bytes, allocated at {place}\nx"
        self.assertEqual(of_student(said), "past the end of the input or `result`, 4 bytes\nx")

    def test_problems_are_packed_as_the_harness_reads_them(self) -> None:
        asked = Problem("", 2, 3, (b"abcd", b""), 24, None, 6)
        self.assertEqual(packed(asked).hex(), "0200000003000000" "0200000018000000"
                         "0400000000000000" "61626364" "0000000000000000")


class OfTables(InFolder):
    def test_a_table_is_valid_csv(self) -> None:
        self.file("students.txt", "a,b\n\"c\"\n")
        names = [*teacher.students_in(self.folder / "students.txt")]
        text = teacher.as_csv([["student"], *([name] for name in names)])
        self.assertEqual([row[0] for row in csv.reader(io.StringIO(text))][1:], names)
