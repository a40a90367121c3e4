"""Breaks documents on purpose, in one way at a time. The tool must report every break."""

from __future__ import annotations

import json
import re
from unittest import mock

from nbody_tools.documents import documents
from nbody_tools.documents.sources import Budget
from nbody_tools.documents.templates import filled
from nbody_tools.tables import NOT_MEASURED
from tests import fakes

MEASUREMENTS = "\n\n".join(["# Measurements", *documents.MEASUREMENT_HEADINGS, ""]).replace(
    "profiler says", "profiler says\n\n{{ 2 * 2 }} instructions.")
STEPS = ("step00_cpu_omp", "step01_gpu_naive", "step04b_blocks", "step05_streams")
LESSON = "\n\n".join(
    [
        "# A step",
        "**Question:** why? **In one sentence:** so. **You need** nothing. **Time:** 5 minutes.",
        "## Why we are here",
        "## The idea",
        "A **term**. ![A tile of bodies](../docs/figures/diagrams/tile.svg)",
        "## What changed",
        "## Stop and predict",
        "<details><summary>Ours</summary>",
        "A.",
        "</details>",
        "## Look",
        "## Account for the factor",
        "## What to believe now",
        "## Exercises",
        "**Next:** more. [All](measurements.md), [answers](../docs/answers.md#here).",
        "",
    ]
)
README = LESSON + "{{ measured() }}\n\n"
CHANGED = README + "{{ changed() }} of {{ lines() }}: `{{ diff_command() }}`\n\n"
ROOT_README = "# All\n\n{{ staircase() }}\n\nThe rest.\n"
FIRST = """// step00_cpu_omp -- one OpenMP loop.
int a;
int b;
int main() { return run({.name = "step00_cpu_omp"}); }
"""
SECOND = """// step01_gpu_naive -- a thread per body.
int a;
int c;
int main() { return run({.name = "step01_gpu_naive", .parent = "step00_cpu_omp"}); }
"""


class DocumentsTest(fakes.InRepository):
    def setUp(self) -> None:
        super().setUp()
        self.file("README.template.md", ROOT_README)
        self.file("step00_cpu_omp/nbody.cpp", FIRST)
        self.file("step01_gpu_naive/nbody.cu", SECOND)
        self.file("step00_cpu_omp/README.template.md", README)
        self.file("step01_gpu_naive/README.template.md", CHANGED)
        self.file("docs/figures/diagrams/tile.svg", "<svg/>")
        for step in STEPS[:2]:
            self.file(f"docs/measurements/{step}.template.md", MEASUREMENTS)
        self.file("docs/answers.md", "# Answers\n\n## Here\n")
        self.file("docs/glossary.toml", 'term = "A word."\n')
        self.file("tests/mutants/mutants.toml", "".join(f"[{step}.wrong]\n" for step in STEPS))
        self.file("docs/results/predictions.md", fakes.PREDICTIONS + "".join(
            f"| {step[4:].partition('_')[0]} | why | 1 |\n" for step in STEPS))
        # Documents must not show these records, because their folder is not in facts.FOLDERS.
        self.records("elsewhere/a.jsonl", *(fakes.record(step) for step in STEPS))

    def documents(self, *words: str) -> tuple[int, str]:
        return self.tool("documents", *words)

    def write(self) -> list[str]:
        """Returns the names of the documents that were written."""
        code, text = self.documents()
        self.assertEqual((code, re.sub(r"wrote \S+\n", "", text)), (0, ""))
        return re.findall(r"wrote (\S+)", text)

    def assert_named(self, *what: str, words: tuple[str, ...] = ("--check",)) -> None:
        """Asserts that the command fails and prints one line about each entry of `what`, in this
        order. The names of documents that the command wrote may come first."""
        code, text = self.documents(*words)
        lines = [line for line in text.splitlines() if not line.startswith("wrote ")]
        self.assertEqual((code, len(lines)), (1, len(what)), text)
        for expected, line in zip(what, lines):
            self.assertIn(expected, line)

    def readme(self, template: str) -> str:
        """Renders step 01's README from this template."""
        self.file("step01_gpu_naive/README.template.md", README + template)
        self.write()
        return self.read("step01_gpu_naive/README.md").partition(documents.HEADINGS[-1])[2]


class Writing(DocumentsTest):
    def test_what_was_written_is_up_to_date(self) -> None:
        self.write()
        self.assertEqual(self.documents("--check"), (0, ""))

    def test_writing_twice_changes_nothing(self) -> None:
        self.write()
        once = self.read("README.md") + self.read("step01_gpu_naive/README.md")
        self.write()
        self.assertEqual(once, self.read("README.md") + self.read("step01_gpu_naive/README.md"))

    def test_a_document_says_where_it_comes_from(self) -> None:
        self.write()
        self.assertTrue(
            self.read("README.md").startswith("<!-- Generated from README.template.md: ")
        )
        self.assertTrue(self.read("README.md").endswith("\n\nThe rest.\n"))

    def test_what_is_written_is_named_even_if_another_document_is_wrong(self) -> None:
        self.assertIn("step01_gpu_naive/README.md", self.write())
        self.assertEqual(self.write(), [])
        self.file("step01_gpu_naive/README.template.md", README + "More.\n")
        self.file("README.template.md", "{{ chairs() }}\n")
        code, text = self.documents()
        self.assertEqual(code, 1)
        self.assertRegex(text, r"^wrote step01_gpu_naive/README.md\nREADME.template.md:1: .*\n$")

    def test_check_writes_nothing(self) -> None:
        self.assertEqual(self.documents("--check")[0], 1)
        self.assertFalse((self.folder / "README.md").exists())

    def test_one_folder(self) -> None:
        self.assertEqual(self.documents("step01_gpu_naive"),
                         (0, "wrote step01_gpu_naive/README.md\n"))
        self.assertFalse((self.folder / "README.md").exists())
        self.assertIn(
            "no template in 'step02'", self.refused("documents", "step02", "--root", self.folder)
        )

    def test_sizes_and_the_command(self) -> None:
        self.assertIn("6 of 4: `diff -u step00_cpu_omp/nbody.cpp step01_gpu_naive/nbody.cu`",
                      self.readme("{{ changed() }} of {{ lines() }}: `{{ diff_command() }}`"))

    def test_an_idea_of_two_lines(self) -> None:
        self.file("step01_gpu_naive/nbody.cu", SECOND.replace(
            "a thread per body.", "a thread\n// per body, at last.\n//\n// Why: because."))
        self.write()
        self.assertIn("| a thread per body, at last | 7 |", self.read("README.md"))

    def test_idea_and_sizes_in_the_staircase(self) -> None:
        self.write()
        self.assertIn(
            "| [step01_gpu_naive](step01_gpu_naive/) | a thread per body | 4 | 6 | - | - |",
            self.read("README.md"),
        )
        self.assertIn(NOT_MEASURED, self.read("README.md"))

    def test_budgets_are_quoted_from_where_they_are_kept(self) -> None:
        self.assertIn(
            f"| 00, 01 | {Budget.changed} | {Budget.first_lines} | {Budget.readme} |",
            self.readme("{{ budgets() }}"),
        )

    def test_prose_is_wrapped_and_nothing_else(self) -> None:
        kept = (
            "# A heading\n\n    code   here\n\n- a list "
            + 40 * "of words "
            + "\n\n| a | table |\n\n"
            "```\nLines of code\n\nAnother, which stays short\nand is not joined\n```\n"
        )
        self.assertEqual(filled(kept), kept.replace(" \n", "\n"))
        self.assertEqual(filled("A word\nand another.\n"), "A word and another.\n")
        self.assertTrue(all(len(line) < 106 for line in filled("Word " * 99).splitlines()))


class Places(DocumentsTest):
    """Tests documents that have marked places for generated text instead of a template."""

    def setUp(self) -> None:
        super().setUp()
        self.write()

    def test_they_are_written_and_nothing_else(self) -> None:
        page = ("# A page\n\n<!-- {{ 3 * 4 }} -->%s<!-- end -->\n\n    {{ no_place }} {# and none "
                "#}\n\n"
                "A word <!-- {{ 5 * 6 }} -->%s<!-- end --> and the rest.\n")
        self.file("docs/page.md", page % ("\nold\n\nlines\n", "old"))
        self.assert_named("docs/page.md:4: out of date (6 lines differ)")
        self.write()
        self.assertEqual(self.read("docs/page.md"), page % ("\n12\n", 30))
        self.assertEqual(self.documents("--check"), (0, ""))

    def test_what_is_wrong_is_named_and_nothing_is_written(self) -> None:
        for text, line, expected in (
            ("<!-- {{ gone }} -->\n\n<!-- end -->", 5, "'gone' is undefined"),
            ("A <!-- {{ gone( }} -->old<!-- end -->", 5, "unexpected '}'"),
            ("\n<!-- {{ 3 * 4 }} -->\n", 6, "'<!-- {{ 3 * 4 }} -->' is one half"),
            (
                "A <!-- {{ 1 }} -->b <!-- {{ 2 }} -->x<!-- end -->",
                5,
                "'<!-- {{ 1 }} -->' is one half",
            ),
            ("Old\n<!-- end -->", 6, "'<!-- end -->' is one half"),
            ("1. <!-- {{ 1 }} -->2<!-- end -->", 5, "neither begin a line"),
            ("<!-- {{ 'a\\nb' }} -->\nold<!-- end -->", 5, "has several lines: write its two"),
            ("A <!-- {{ 'a\\nb' }} -->old<!-- end -->", 5, "has several lines: write its two"),
            ("| a | <!-- {{ 1 }} -->2<!-- end --> |", 5, "nor be in a row"),
        ):
            with self.subTest(text):
                page = f"# A page\n\nA <!-- {{{{ 2 }}}} -->1<!-- end -->\n\n{text}\n"
                self.file("docs/page.md", page)
                self.assert_named(f"docs/page.md:{line}: ", words=())
                self.assertIn(expected, self.documents()[1])
                self.assertEqual(self.read("docs/page.md"), page)
        self.file("docs/page.md", "# A page\n\nA <!-- {{ gone }} -->1<!-- end -->\n")
        self.assert_named("docs/page.md:3: 'gone' is undefined")

    def test_one_stays_with_the_word_before_it(self) -> None:
        place = "<!-- {{ 'a b' }} -->a b<!-- end -->"
        text = filled(f"Word {19 * 'word '}{place}, the rest.\n\n<!-- {{{{ 1 }}}} -->\nProse\nof "
                      "it.\n<!-- end -->\n")
        self.assertIn(f"\nword {place},", text)
        self.assertTrue(text.endswith("\n<!-- {{ 1 }} -->\nProse of it.\n<!-- end -->\n"), text)


class ChangedLines(DocumentsTest):
    def setUp(self) -> None:
        super().setUp()
        body = "".join(f"  line({k});\n" for k in range(40))
        self.file("step00_cpu_omp/nbody.cpp", FIRST + "void f() {\n" + body + "}\n")
        self.file("step01_gpu_naive/nbody.cu", SECOND + "void f() {\n" + body.replace(
            "line(9);", "line(90);\n  more(1);") + "}\n")

    def excerpt(self, first: str, last: str) -> str:
        return f'{{{{ changed_lines("{first}", "{last}") }}}}'

    def test_from_one_line_to_another(self) -> None:
        self.assertIn("```diff\n-  line(9);\n+  line(90);\n+  more(1);\n```",
                      self.readme(self.excerpt("line(9);", "more(1)")))

    def test_a_sign_chooses_between_lines(self) -> None:
        self.file("step01_gpu_naive/nbody.cu", SECOND.replace("int a;", "int  a;"))
        self.assertIn("```diff\n+int  a;\n```", self.readme(self.excerpt("+int  a;", "+int  a;")))

    def test_a_text_must_stand_on_one_line(self) -> None:
        for first, last, expected in (("line(", "more(1)", "'line(' is on "),
                                      ("line(9);", "nothing", "'nothing' is on 0 lines"),
                                      ("more(1);", "line(9);", "'line(9);' is on 0 lines"),
                                      ("--- step00", "more(1);", "is on 0 lines")):
            with self.subTest(first=first, last=last):
                self.file("step01_gpu_naive/README.template.md", README + self.excerpt(first, last))
                self.assertIn(expected, self.documents()[1])

    def test_the_first_step_shows_lines_of_its_program(self) -> None:
        self.file("step00_cpu_omp/README.template.md", README + self.excerpt("int a;", "int b;"))
        self.write()
        self.assertIn("```cpp\nint a;\nint b;\n```", self.read("step00_cpu_omp/README.md"))

    def test_a_long_excerpt_is_refused(self) -> None:
        self.file("step01_gpu_naive/nbody.cu", SECOND + "".join(f"int x{k};\n" for k in range(30)))
        self.readme(self.excerpt("int x0;", "int x23;"))
        self.file(
            "step01_gpu_naive/README.template.md", README + self.excerpt("int x0;", "int x24;")
        )
        self.assertIn("are 25 lines, at most 24 are allowed", self.documents()[1])


class Broken(DocumentsTest):
    def setUp(self) -> None:
        super().setUp()
        self.write()

    def test_changed_source(self) -> None:
        self.file(
            "step01_gpu_naive/README.template.md",
            CHANGED + "{{ changed_lines('-int b', '+int c') }}",
        )
        self.write()
        self.file("step01_gpu_naive/nbody.cu", SECOND.replace("int c;", "int c;  // why"))
        self.assert_named("step01_gpu_naive/README.md:40: out of date (2 lines differ)")

    def test_new_line_in_a_parent(self) -> None:
        self.file("step00_cpu_omp/nbody.cpp", FIRST + "int z;\n")
        self.assert_named("README.md:7: out of date", "step01_gpu_naive/README.md")

    def test_new_measurement(self) -> None:
        self.records("a.jsonl", *fakes.staircase_records()[:2])
        self.assert_named("README.md:7: out of date", "step00_cpu_omp/README.md",
                          "step01_gpu_naive/README.md")

    def test_document_edited_by_hand(self) -> None:
        self.file("README.md", self.read("README.md").replace("a thread per body", "magic"))
        self.assert_named("README.md:8: out of date (2 lines differ)")

    def test_missing_documents_and_templates(self) -> None:
        (self.folder / "README.md").unlink()
        template = "docs/measurements/step01_gpu_naive.template.md"
        (self.folder / template).unlink()
        missing = f"{template}: is missing", "has no profile of step01_gpu_naive"
        self.assert_named("README.md: is missing", *missing)
        self.assert_named(*missing, words=())

    def test_a_lesson(self) -> None:
        self.file("step00_cpu_omp/README.template.md", LESSON)
        self.write()
        for part, named in (
            ("## Look", "headings of a lesson"),
            ("**Next:**", "'**Next:**'"),
            ("<details>", "must be folded"),
            ("![A tile of bodies](../docs/figures/diagrams/tile.svg)", "no diagram"),
            ("(measurements.md)", "'(measurements.md)'"),
        ):
            with self.subTest(part):
                broken = LESSON.replace(part, "")
                self.file("step00_cpu_omp/README.template.md", broken)
                self.assert_named(named, words=())

    def test_a_lesson_is_not_a_log(self) -> None:
        number = "Took <!-- {{ 1 + 1 }} -->2<!-- end --> steps.\n\n"
        for count, allowed in ((20, True), (21, False)):
            with self.subTest(count):
                self.file("step00_cpu_omp/README.md", LESSON + number * count)
                (self.folder / "step00_cpu_omp/README.template.md").unlink(missing_ok=True)
                self.assertEqual(self.documents()[0], 0 if allowed else 1)

    def test_exercises_have_minutes_and_a_level(self) -> None:
        for exercise, allowed in (
            ("1. **(10 min, try) Do it.**", True),
            ("1. **(10 min) Do it.**", False),
            ("2. **(5 min, hard) Do it.**", False),
        ):
            with self.subTest(exercise):
                lesson = LESSON.replace("## Exercises", f"## Exercises\n\n{exercise}")
                self.file("step00_cpu_omp/README.md", lesson)
                (self.folder / "step00_cpu_omp/README.template.md").unlink(missing_ok=True)
                self.assertEqual(self.documents()[0], 0 if allowed else 1)

    def test_lessons_that_are_not_about_a_step(self) -> None:
        self.file("memory/tiles.md", "# Tiles\n\n## Exercises\n\n1. **(5 min) Do it.**\n")
        self.file("integrators/README.md", "# Integrators\n" + "A line.\n" * Budget.readme)
        self.assert_named(f"integrators/README.md: {Budget.readme + 1} lines, at most",
                          "memory/tiles.md: exercise 1 must begin like", words=())

    def test_a_format_or_program_that_no_page_lists(self) -> None:
        self.file("common/io/formats/a.cpp", '.ending = ".a",\n')
        self.file("common/io/formats/b.cpp", '.ending = ".b",\n')
        self.file("docs/formats.md", "# F\n\n| A | `.a` |\n\n`.b`\n\n## More\n\n| B | `.b` |\n")
        self.file("tools/nbody_tools/compare/peers/one_peer.py", "")
        self.file("tools/nbody_tools/compare/peers/two_peer.py", "")
        self.file("tools/nbody_tools/compare/contenders.py", '"one": ("one_peer", ()),\n')
        self.file("docs/comparison.md", "# C\n\n| `one` | it |\n")
        self.assert_named("docs/formats.md: its first table has no row for .b (b.cpp)",
                          "docs/comparison.md: its first table has no row for two (two_peer.py)",
                          "contenders.py: PYTHON has no row for two_peer", words=())

    def test_missing_heading_of_measurements(self) -> None:
        for heading in documents.MEASUREMENT_HEADINGS:
            with self.subTest(heading):
                self.file("docs/measurements/step00_cpu_omp.template.md",
                          MEASUREMENTS.replace(heading, "#" + heading))
                self.assert_named(f"heading '{heading}'", words=())

    def test_each_missing_heading(self) -> None:
        for heading in documents.HEADINGS:
            with self.subTest(heading):
                self.file(
                    "step00_cpu_omp/README.template.md", README.replace(heading, "#" + heading)
                )
                self.assertIn("the headings of a lesson must be", self.documents()[1])

    def test_a_broken_template_leaves_its_document_alone_and_others_are_written(self) -> None:
        before = self.read("README.md")
        self.file("step00_cpu_omp/README.template.md", README + "More.\n")
        for text, expected in (
            ("{{ chairs() }}", "'chairs' is undefined"),
            ("{{ machine.gpu.colour }}", "has no 'colour'"),
            ("{{ step00_cpu_omp.systems.joules }}", "'joules' is not a quantity"),
            ("{{ step00_cpu_omp.huge.gips }}", "'huge' is not a problem"),
            ("{{ step00_cpu_omp.systems.gips }}", "systems.gips is not measured"),
            ("{{ staircase( }}", "unexpected '}'"),
        ):
            with self.subTest(text):
                self.file("README.template.md", f"# All\n\n{text}\n")
                self.assert_named("README.template.md:3: ", words=())
                self.assertIn(expected, self.documents("--check")[1])
                self.assertEqual(self.read("README.md"), before)
        self.assertIn("More.", self.read("step00_cpu_omp/README.md"))

    def test_an_error_in_machines_json_is_reported_once(self) -> None:
        machines = json.loads(self.read("docs/machines.json"))
        del machines["Test GPU"]["fp32_peak"]["label"]
        self.file("docs/machines.json", json.dumps(machines))
        for name in ("README", "docs/more"):
            self.file(f"{name}.template.md", '# All\n\n{{ table("machines") }}\n')
        lines = self.documents("--check")[1].splitlines()
        self.assertEqual([line for line in lines if "machines.json" in line],
                         ['docs/machines.json: Test GPU: fp32_peak needs a "label"'])
        del machines["Test GPU"]["fp32_peak"]["value"]
        self.file("docs/machines.json", json.dumps(machines))
        self.file("README.template.md", "# All\n\n{{ machine.gpu.fp32_peak }}\n")
        self.assertIn("'Test GPU' has no 'fp32_peak'", self.documents("--check")[1])

    def test_typed_times_and_rates(self) -> None:
        self.file("step00_cpu_omp/README.template.md", README + "It took 5 ms, at 7.5 G/s.\n")
        self.assert_named("'5 ms' is typed", "'7.5 G/s' is typed", words=())
        self.file("step00_cpu_omp/README.template.md", README)
        self.readme("{{ '5 ms' }} for 32 systems in 20 steps\n\n    took 5 ms\n\n`5 ms`, 5 msec\n")

    def test_what_may_be_missing_is_counted(self) -> None:
        self.file("README.template.md", "{{ step00_cpu_omp.systems.gips | optional }}\n")
        self.assertEqual(self.documents()[0], 0)
        self.assertTrue(self.read("README.md").endswith(f"\n\n{NOT_MEASURED}\n"))
        self.assertIn("that are missing: 1 (", self.documents("--check")[1])
        self.assertIn(
            "README.template.md:1: step00_cpu_omp.systems.gips", self.documents("--verbose")[1]
        )

    def test_too_many_changed_lines(self) -> None:
        extra = "".join(f"int x{k};\n" for k in range(Budget.changed - 5))
        self.file("step01_gpu_naive/nbody.cu", SECOND + extra)
        self.assert_named("101 changed lines against step00_cpu_omp, at most 100 are allowed",
                          words=())
        self.file("step01_gpu_naive/nbody.cu", SECOND + extra.replace("int x0;\n", ""))
        self.write()

    def test_too_many_lines(self) -> None:
        self.file("step00_cpu_omp/nbody.cpp", FIRST + "int x;\n" * 137)
        self.file("step01_gpu_naive/nbody.cu", SECOND + "int x;\n" * 136)
        self.assert_named("step00_cpu_omp/nbody.cpp: 141 lines, at most 140 are allowed", words=())

    def test_headers_count(self) -> None:
        self.file("step01_gpu_naive/more.h", "int x;\n" * 80)
        self.write()
        self.assertIn("| a thread per body | 84 | 86 |", self.read("README.md"))
        self.file("step01_gpu_naive/more.h", "int x;\n" * 137)
        self.assert_named("step01_gpu_naive/nbody.cu: 141 lines, at most 140 are allowed",
                          "143 changed lines against step00_cpu_omp, at most 100", words=())

    def test_a_header_of_the_parent_is_no_change(self) -> None:
        self.file("step00_cpu_omp/more.h", '#include "step00_cpu_omp/deep.h"\n')
        self.file("step00_cpu_omp/deep.h", "int x;\n" * 50)
        self.file("step01_gpu_naive/nbody.cu", SECOND + '#include "step00_cpu_omp/more.h"\n')
        self.write()
        self.assertIn("| a thread per body | 5 | 7 |", self.read("README.md"))
        self.file("step01_gpu_naive/nbody.cu", SECOND)
        self.write()
        self.assertIn("| a thread per body | 4 | 57 |", self.read("README.md"))  # without headers

    def test_steps_that_exceed_their_limits_are_listed(self) -> None:
        self.file("step01_gpu_naive/nbody.cu", SECOND + "int x;\n" * 137)
        table = "| step01_gpu_naive | 141 | 140 | 143 | 100 |"
        with mock.patch.multiple(Budget, exceeded_lines=("01",), exceeded_changed=("01",)):
            self.assertIn(table, self.readme("{{ exceeded_budgets() }}"))
            self.file("step01_gpu_naive/nbody.cu", SECOND)
            self.assert_named("is within this limit, so remove \"01\" from Budget.exceeded_lines",
                              "so remove \"01\" from Budget.exceeded_changed", words=())
        with mock.patch.object(Budget, "exceeded_lines", ("01",)):
            self.file("step01_gpu_naive/nbody.cu", SECOND + "int x;\n" * 137)
            self.assert_named("143 changed lines against step00_cpu_omp, at most 100", words=())

    def test_later_steps_may_be_longer(self) -> None:
        for name, lines, allowed in (("step04b_blocks", 140, True), ("step04b_blocks", 141, False),
                                     ("step05_streams", 190, True), ("step05_streams", 191, False)):
            with self.subTest(name=name, lines=lines):
                text = SECOND.replace("step01_gpu_naive", name).replace(
                    "step00_cpu_omp", "step01_gpu_naive"
                )
                self.file("step01_gpu_naive/nbody.cu", SECOND + "int x;\n" * 90)
                self.file(f"{name}/README.template.md", README)
                self.file(f"docs/measurements/{name}.template.md", MEASUREMENTS)
                self.file(f"{name}/nbody.cu", text + "int x;\n" * (lines - 4))
                self.assertEqual(self.documents()[0], 0 if allowed else 1)
                self.file(f"{name}/nbody.cu", text + "int x;\n" * 90)

    def test_long_readme(self) -> None:
        room = Budget.readme - len(self.read("step00_cpu_omp/README.md").splitlines()) - 1
        self.file("step00_cpu_omp/README.template.md", README + "- a\n" * room)
        self.write()
        self.file("step00_cpu_omp/README.template.md", README + "- a\n" * (room + 1))
        self.assert_named("step00_cpu_omp/README.md: 111 lines, at most 110 are allowed", words=())

    def test_unknown_parent(self) -> None:
        self.file("step01_gpu_naive/nbody.cu", SECOND.replace("step00_cpu_omp", "step77_none"))
        code, text = self.documents("--check")
        self.assertEqual(code, 1)
        self.assertIn("its parent step77_none does not exist", text)

    def test_record_that_is_none(self) -> None:
        self.file("docs/results/a.jsonl", "{}\n")
        self.assertIn("a.jsonl:1: not a result record",
                      self.refused("documents", "--check", "--root", self.folder))


class Measured(DocumentsTest):
    def measured(self, step: str = "step01_gpu_naive") -> list[str]:
        self.write()
        table = [
            line for line in self.read(f"{step}/README.md").splitlines() if line.startswith("|")
        ]
        return table[2:]  # without its header

    def test_a_row_has_what_the_record_says(self) -> None:
        self.records("a.jsonl", *fakes.staircase_records())
        (row,) = self.measured()
        # 32 * 8192^2 * 20 interactions took 0.5 s. The total time is 1 s here, and 40.5 s in
        # step 00.
        for cell in (
            "Test GPU (CUDA 13.0, driver 13.0), 2026-01-02",
            "32 x 8192 x 20",
            "500 ms (75 ms)",
            "1 s (75 ms)",
            "85.9",
            "40.50",
            "2.0e-07",
            "pass",
        ):
            self.assertIn(f"| {cell} |", row)

    def test_emulated_times_are_left_out(self) -> None:
        self.records("a.jsonl", fakes.record("step01_gpu_naive", "hostcuda"))
        self.assertEqual(self.measured(), [])
        self.assertIn(NOT_MEASURED, self.read("step01_gpu_naive/README.md"))

    def test_the_newest_record_wins_whatever_its_file_is_called(self) -> None:
        self.records("b.jsonl", fakes.record("step01_gpu_naive", date="2025-01-01T00:00:00Z"))
        self.records("a.jsonl", fakes.record("step01_gpu_naive", date="2026-06-01T00:00:00Z"))
        (row,) = self.measured()
        self.assertIn("2026-06-01", row)

    def test_a_row_for_every_problem_size_and_number_of_devices(self) -> None:
        two = {**fakes.GPU, "count": 2}
        self.records(
            "a.jsonl",
            fakes.record("step01_gpu_naive"),
            fakes.record("step01_gpu_naive", bodies=99),
            fakes.record("step01_gpu_naive", device=two),
        )
        self.assertEqual(len(self.measured()), 3)

    def test_no_speedup_over_another_machine(self) -> None:
        self.records("a.jsonl", fakes.record("step00_cpu_omp", "cpu"))
        self.records("b.jsonl", fakes.record("step01_gpu_naive"))
        (row,) = self.measured()
        self.assertIn("| - |", row)

    def test_no_speedup_over_another_problem(self) -> None:
        self.records("a.jsonl", fakes.record("step00_cpu_omp", "cpu", softening=1.0),
                     fakes.record("step01_gpu_naive"))
        (row,) = self.measured()
        self.assertIn("| - |", row)

    def test_a_sweep_does_not_replace_a_staircase(self) -> None:
        self.records("a.jsonl", *fakes.staircase_records())
        self.records("sweep.jsonl", fakes.record("step01_gpu_naive", date="2027-01-01T00:00:00Z"))
        (row,) = self.measured()
        self.assertIn("2026-01-02", row)

    def test_the_staircase_names_machine_date_and_problem(self) -> None:
        self.records("a.jsonl", *fakes.staircase_records())
        self.write()
        text = " ".join(self.read("README.md").split())
        self.assertIn("| a thread per body | 4 | 6 | 85.9 | 40.50 |", text)
        for word in ("Test GPU", "Test CPU x 64", "2026-01-02", "32 x 8192 bodies, 20 steps"):
            self.assertIn(word, text)

    def test_the_staircase_with_the_most_steps_is_shown(self) -> None:
        self.records("a.jsonl", *fakes.staircase_records())
        self.records("b.jsonl", fakes.record("step00_cpu_omp", "cpu", date="2027-01-01T00:00:00Z"))
        self.write()
        self.assertIn("2026-01-02", self.read("README.md"))

    def test_tables_of_other_results(self) -> None:
        for folder in ("accuracy", "connections", "timelines"):
            (self.results / folder).mkdir()
        self.records("accuracy/a.jsonl", fakes.record("step00_cpu_omp", "cpu", bodies=64),
                     fakes.record("step01_gpu_naive", "hostcuda", bodies=128))
        self.records("connections/queues_8.jsonl", fakes.record("step07_overlap"))
        self.file("docs/results/timelines/x.timeline.csv", "device,stream,system,stage,begin,end\n"
                  "0,0,0,upload,0,0.001\n0,0,0,compute,0.001,0.005\n0,1,1,upload,0.001,0.003\n")
        self.file("README.template.md", "{{ accuracy('step00_cpu_omp', 'step01_gpu_naive') }}\n\n"
                  "{{ accuracy('step09_soa') }}\n\n{{ queues() }}\n\n{{ timelines('x') }}\n\n"
                  "{{ timeline('x').hidden_share }} of {{ timeline('x').copies }}, "
                  "{{ timeline('x').wall - timeline('x').hidden }}\n")
        self.write()
        text = self.read("README.md")
        for row in (
            "| RMS error, N = | 64 | 128 |",
            "| 01 gpu naive | - | 2.0e-07 |",
            f"\n{NOT_MEASURED}\n",
            "| 8 | 2 s | - | - | - |",
            "| from first to last | 5 ms |",
            "| upload, union | 3 ms |",
            "| share of copies hidden under kernels of the same GPU | 67 % |",
            "\n66.7 % of 3 ms, 3 ms\n",
        ):
            self.assertIn(row, text)
