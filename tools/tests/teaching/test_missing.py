"""Removes one thing at a time from a complete step, and breaks links. ./nbody documents --check
must report every fault in one call, each in one line, but none in a draft."""

from __future__ import annotations

import re
import subprocess

from nbody_tools.documents.links import anchor_of
from tests import fakes
from tests.test_documents import LESSON, DocumentsTest

STEP = "step01_gpu_naive"
MEASUREMENTS = f"docs/measurements/{STEP}.template.md"
OTHER = """# Other

## A `b_c`, and __d__: 1.5

## Twice

## Twice

<a id="mark"></a>

```
## Code
```
"""


def no_heading(page: str) -> str:
    return f"docs/{page}.md has no such heading"


class OfAStep(DocumentsTest):
    def setUp(self) -> None:
        super().setUp()
        self.write()

    def replace(self, name: str, pattern: str, by: str) -> None:
        text, count = re.subn(pattern, by, self.read(name))
        self.assertTrue(count, f"{name} lacks {pattern}")
        self.file(name, text)

    def lesson(self, old: str, new: str) -> None:
        self.file(f"{STEP}/README.template.md", LESSON.replace(old, new))
        self.documents(STEP)

    def take_everything(self) -> None:
        self.replace("tests/mutants/mutants.toml", rf"\[{STEP}.wrong\]\n", "")
        self.replace("docs/results/elsewhere/a.jsonl", rf'.*"{STEP}".*\n', "")
        self.replace(MEASUREMENTS, r"\{\{.*\}\}", "{{ profile() }}")
        self.replace("docs/results/predictions.md", r"\| 01 .*\n", "| 11, 01 | no |\n")

    def test_each_thing_is_named_with_what_to_do(self) -> None:
        self.take_everything()
        self.documents()
        self.assert_named(
            f"tests/mutants/mutants.toml has no mutant of {STEP}; add a table [{STEP}.NAME]",
            f"docs/results/ has no measurement of {STEP}; on a GPU, run ./nbody run 01",
            f"docs/results/profiles/ has no profile of {STEP}; on a GPU, run ./nbody profile 01",
            "docs/results/predictions.md has no prediction for step 01; before you measure, add a")

    def test_records_and_profiles_count_wherever_they_are(self) -> None:
        self.take_everything()
        self.documents()
        self.records("a.jsonl", fakes.record(STEP, "hostcuda"))
        self.assertIn("no measurement", self.documents("--check")[1])
        self.records("a.jsonl", fakes.record(STEP))
        self.assertNotIn("no measurement", self.documents("--check")[1])

    def test_a_program_for_the_cpu_needs_no_profile(self) -> None:
        name = "docs/measurements/step00_cpu_omp.template.md"
        self.replace(name, r"\{\{.*\}\}", "Nothing.")
        self.write()
        self.assertEqual(self.documents("--check"), (0, ""))

    def test_a_step_on_ranks_needs_neither_mutant_nor_profile(self) -> None:
        self.take_everything()
        self.file(f"{STEP}/CMakeLists.txt", f"nbody_step({STEP} COMMON nbody_cluster)\n")
        self.documents()
        self.assert_named("no measurement", "no prediction")

    def test_a_draft_needs_nothing(self) -> None:
        self.take_everything()
        (self.folder / STEP / "README.md").write_text("[no](nothing.md) **TODO**\n")
        (self.folder / STEP / "README.template.md").unlink()
        self.file(f"{STEP}/CMakeLists.txt", f"nbody_step({STEP} DRAFT)\n")
        self.documents()
        code, text = self.documents("--check")
        self.assertEqual((code, text.count("\n")), (0, 1), text)
        self.assertIn("a draft", text)

    def test_todos_of_the_program_and_of_the_measurements(self) -> None:
        self.replace(f"{STEP}/nbody.cu", "a thread per body", "TODO: the idea")
        self.replace(MEASUREMENTS, "## Accuracy", "## Accuracy\n\nTODO\n\nTODO")
        self.documents()
        self.assert_named(f"{STEP}/nbody.cu: a TODO is left", f"{MEASUREMENTS}: 2 TODOs are left")

    def test_a_missing_page_hides_nothing(self) -> None:
        (self.folder / MEASUREMENTS).unlink()
        self.lesson("## Look", "TODO")
        text = self.documents("--check")[1]
        for what in (f"{MEASUREMENTS}: is missing", "a TODO is left", "the headings of a lesson"):
            self.assertIn(what, text)

    def test_all_undefined_terms_are_named_once_with_the_page_that_prints_them(self) -> None:
        self.file("docs/glossary.md", "# Terms\n\n<!-- {{ glossary() }} -->\n<!-- end -->\n")
        self.write()
        self.lesson("A **term**.", "A **word**, a **phrase** and a **term**.")
        self.assert_named(f"{STEP}/README.md: 'word' is in bold, but docs/glossary.toml does not",
                          f"{STEP}/README.md: 'phrase' is in bold, but docs/glossary.toml does")


class Links(DocumentsTest):
    def setUp(self) -> None:
        super().setUp()
        self.write()

    def test_pictures_pages_and_headings_that_do_not_exist(self) -> None:
        self.file("docs/other.md", OTHER)
        for text, expected in (
            ("![what it shows](figures/diagrams/step01_no.svg)", "shows "
             "figures/diagrams/step01_no.svg, which does not exist: draw it in "
             "tools/nbody_tools/diagrams/"),
            ("[a\nb](no.md)", "links to no.md, which does not exist: correct the link"),
            ("[![what it shows](figures/no.png)](other.md)", "links to figures/no.png, which does "
             "not exist"),
            ('<img alt="what it shows" src="figures/no.png">', "links to figures/no.png, which "
             "does not exist"),
            ("[a](answers.md#step-01)", f"links to answers.md#step-01, but {no_heading('answers')}"
             ": write the answers"),
            ("[a](other.md#none)", f"links to other.md#none, but {no_heading('other')}: correct"),
            ("[a](other.md#code)", f"links to other.md#code, but {no_heading('other')}: correct"),
            ("[a](#none)", f"links to #none, but {no_heading('page')}: correct"),
        ):
            with self.subTest(text):
                self.file("docs/page.md", f"# Page\n\n{text}\n")
                self.assert_named(f"docs/page.md:{4 if chr(10) in text else 3}: {expected}")

    def test_pictures_without_alt_text(self) -> None:
        self.file("docs/picture.svg", "<svg/>")
        for text in ("![](picture.svg)", "![two words](picture.svg)", '<img src="picture.svg">',
                     '<img alt="" src="picture.svg">'):
            with self.subTest(text):
                self.file("docs/page.md", f"# Page\n\n{text}\n")
                self.assert_named("docs/page.md:3: the alt text of a picture has fewer")
        self.file("docs/page.md", "# Page\n\n![what it shows](picture.svg)\n")
        self.assertEqual(self.documents("--check"), (0, ""))

    def test_what_exists_and_code(self) -> None:
        self.file("docs/other.md", OTHER)
        self.file("docs/page.md", "# Page\n\n[a](other.md#a-b_c-and-d-15) [b](other.md#twice-1) "
                  "[c](other.md#mark) [d](#page) [e](../docs) [f](https://a.example/no.md#no) "
                  "`[g](no.md)`\n\n    [h](no.md)\n\n```\n[i](no.md)\n```\n")
        self.assertEqual(self.documents("--check"), (0, ""))

    def test_a_document_that_is_yet_to_be_written_may_be_linked(self) -> None:
        self.file("docs/page.md", "# Page\n\n[a](limits.md)\n")
        self.file("docs/limits.template.md", "# Limits\n")
        self.assert_named("docs/limits.md: is missing; run ./nbody documents")

    def test_new_files_of_a_clone_are_checked_and_ignored_ones_are_not(self) -> None:
        self.file(".gitignore", "/mine/\n")
        subprocess.run(["git", "init", "--quiet", self.folder], check=True)
        self.file("mine/page.md", "[a](no.md)\n")
        self.assertEqual(self.documents("--check"), (0, ""))
        self.file("docs/new.md", "[a](no.md)\n")
        self.assert_named("docs/new.md:1: links to no.md")

    def test_anchors_are_those_of_github(self) -> None:
        for heading, anchor in (("`__ldg` and [a link](b.md)", "__ldg-and-a-link"),
                                ("Step 03b: one load", "step-03b-one-load"),
                                ("__bold__ (1) x_i", "bold-1-x_i"), ("Größe N²", "größe-n²")):
            self.assertEqual(anchor_of(heading), anchor)
