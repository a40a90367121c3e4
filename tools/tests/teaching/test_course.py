"""Tests the slides, the site and the folder for a class. Makes them from this repository, and from
files that are broken on purpose."""

import contextlib
import io
import shutil
import subprocess
import tarfile
import tomllib
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.assignments.family import find_family
from nbody_tools.course import pack, site, slides
from nbody_tools.course.glossary import read_terms
from nbody_tools.steps import published_steps
from tests import fakes


class InClone(fakes.InFolder):
    """Gives each test a small git repository."""

    def setUp(self) -> None:
        super().setUp()
        self.file("README.md", "# All\n\n[one](step01_gpu_naive/), "
                               "[answers](docs/answers.md#step-01), `[x](none.md)`\n\n"
                  "![a](docs/a.png) [folder](common/) [source](step01_gpu_naive/nbody.cu) "
                  "[dots](.ci/run) [web](https://example.org)\n")
        self.file(
            "step01_gpu_naive/README.md",
            "# 01\n\n## Exercises\n\n[Answers](../docs/answers.md#step-01)\n\n1. Do it.\n",
        )
        self.file("step01_gpu_naive/nbody.cu", "// ```\n")
        self.file("docs/answers.md", "# Answers\n\n## Step 01\n\n1. So.\n")
        self.file("docs/README.template.md", "x")
        for name in ("setup.sh", "run_autograder"):
            self.file(f"course/gradescope/{name}", "#!/usr/bin/env bash\n")
        self.file("docs/a.png", b"png")
        self.file("common/x.h", "// x\n")
        self.file(".ci/run", "sh\n")
        self.file("not_ours.md", "[dead](none.md)\n")
        self.git("init", "-q")
        self.git("add", "README.md", "step01_gpu_naive", "docs", "common", ".ci")

    def git(self, *words: str) -> None:
        subprocess.run(["git", "-C", str(self.folder), *words], check=True)


class Site(InClone):
    def write(self) -> Path:
        folder = self.folder / "site"
        site.Pages(self.folder, folder).write()
        return folder

    def test_links_lead_into_the_site(self) -> None:
        text = (self.write() / "README.md").read_text()
        for expected in (
            "[one](step01_gpu_naive/README.md)",
            "(docs/answers.md#step-01)",
            "`[x](none.md)`",
            "(docs/a.png)",
            "[folder](common/README.md)",
            "[source](step01_gpu_naive/nbody.cu.md)",
            "[dots](ci/run.md)",
            "(https://example.org)",
        ):
            self.assertIn(expected, text)
        self.assertEqual((self.folder / "site" / "docs" / "a.png").read_bytes(), b"png")
        self.assertIn(
            "````cuda\n// ```\n",
            (self.folder / "site" / "step01_gpu_naive" / "nbody.cu.md").read_text(),
        )
        self.assertIn("- `x.h`", (self.folder / "site" / "common" / "README.md").read_text())
        self.assertFalse((self.folder / "site" / "not_ours.md").exists())

    def test_indented_lines_are_code_only_after_an_empty_line(self) -> None:
        self.file("README.md", "1. text\n    [one](step01_gpu_naive/)\n\n    [x](none.md)\n")
        text = (self.write() / "README.md").read_text()
        self.assertIn("[one](step01_gpu_naive/README.md)", text)
        self.assertIn("[x](none.md)", text)

    def test_a_folder_with_other_files_is_not_replaced(self) -> None:
        self.file("mine/letter.txt", "dear")
        with self.assertRaisesRegex(ToolError, "has files that are not part of a site"):
            site.build(self.folder, self.folder / "mine")
        self.assertTrue((self.folder / "mine/letter.txt").is_file())

    def test_a_dead_link_of_a_document_is_named(self) -> None:
        self.file("README.md", "[gone](docs/gone.md)\n")
        with self.assertRaisesRegex(Failed, "README.md: links to 'docs/gone.md', which"):
            self.write()

    def test_dead_links_and_places_of_pages_are_named(self) -> None:
        self.file("built/index.html", '<h1 id="top">x</h1><a href="a.html#one">a</a><a '
                                      'href="#top">t</a><a href="https://x.org">x</a>')
        self.file("built/a.html", '<p id="one"><img src="/x.png"><a href="sub/">s</a>')
        self.file("built/sub/index.html", '<a href="../a.html#two">a</a>')
        found = list(site.dead_links(self.folder / "built"))
        self.assertEqual(
            found,
            ["a.html: links to '/x.png', which does not exist",
             "sub/index.html: links to '../a.html#two', but that page has no such anchor"],
        )
        self.file(
            "built/a.html", '<p id="one"><script src="https://cdn.example.org/x.js"></script>'
        )
        self.assertEqual(
            list(site.fetched_from_elsewhere(self.folder / "built")),
            ["a.html: loads cdn.example.org/x.js from the network"],
        )

    def test_every_link_of_the_real_documents(self) -> None:
        site.Pages(ROOT, self.folder / "site").write()


class Class(InClone):
    def test_answers_stay_with_the_teacher(self) -> None:
        self.file("course/answers/README.md", "secret")
        self.file("course/labs/23_audit/answers.toml", "secret = 1")
        self.file("course/labs/23_audit/lab.toml",
                  "a = 1\n\n[[wrong]]\nfind = \"secret\"\n\n[[wrong]]\n")
        self.git("add", "course")
        files = dict(pack.for_the_class(self.folder))
        names = sorted(map(str, files))
        self.assertEqual(
            names,
            [
                ".ci/run",
                "README.md",
                "common/x.h",
                "course/labs/23_audit/lab.toml",
                "docs/a.png",
                "step01_gpu_naive/README.md",
                "step01_gpu_naive/nbody.cu",
            ],
        )
        self.assertEqual(files[Path("course/labs/23_audit/lab.toml")], b"a = 1\n\n")
        self.assertNotIn(b"nswers", files[Path("step01_gpu_naive/README.md")])
        self.assertIn(b"1. Do it.", files[Path("step01_gpu_naive/README.md")])
        self.assertIn(b"[one](step01_gpu_naive/), answers, `x`", files[Path("README.md")])
        self.assertIn(b"![a](docs/a.png)", files[Path("README.md")])

    def test_nothing_real_tells_answers(self) -> None:
        for file, content in pack.for_the_class(ROOT):
            if file.suffix == ".md" and file.name != "CHANGELOG.md":
                with self.subTest(str(file)):
                    self.assertNotIn(b"](../docs/answers.md", content)
                    self.assertNotIn(b"](docs/answers.md", content)
            if file.name == "lab.toml":
                lab = tomllib.loads(content.decode("utf-8"))
                self.assertEqual("wrong" in lab, "step" in lab, file)

    def test_pack_and_its_archive(self) -> None:
        self.file("nbody", "#!/bin/sh\n").chmod(0o755)
        self.git("add", "nbody")
        family = find_family("transpose")
        row = {"student": "ada", "family": family.name, **family.variants[0].choice}
        table = self.file("week3.csv", f"{','.join(row)}\n{','.join(row.values())}\n")
        options = mock.Mock(root=self.folder, output=self.folder / "out", assignment=[table],
                            lab=["3"])
        with mock.patch.object(slides, "write"), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(pack.run(options), 0)
            self.assertEqual(pack.run(options), 0)  # again, over the files of the first call
        self.assertTrue((self.folder / "out" / "class" / "nbody").stat().st_mode & 0o100)
        with zipfile.ZipFile(self.folder / "out" / "gradescope.zip") as archive:
            self.assertEqual(archive.namelist(), ["setup.sh", "run_autograder", "nbody.tar.gz"])
            with tarfile.open(fileobj=io.BytesIO(archive.read("nbody.tar.gz"))) as tar:
                self.assertIn("docs/answers.md", tar.getnames())  # the grader gets all files
            for name in ("setup.sh", "run_autograder"):
                self.assertEqual(
                    subprocess.run(
                        ["bash", "-n"], input=archive.read(name), check=False
                    ).returncode,
                    0,
                )
        with zipfile.ZipFile(self.folder / "out" / "gradescope-week3.zip") as archive:
            self.assertEqual(archive.read(pack.VARIANTS), table.read_bytes())
        with zipfile.ZipFile(self.folder / "out" / "gradescope-lab03.zip") as archive:
            self.assertEqual(archive.read(pack.LAB), b"03")
        table.write_text("student,family\nada,unknown\n", encoding="utf-8")
        shutil.rmtree(self.folder / "out")
        with self.assertRaises(ToolError):
            pack.run(options)
        self.assertFalse((self.folder / "out").exists())

    def test_a_folder_that_is_something_else_is_left_alone(self) -> None:
        self.file("out/class/mine.txt", "x")
        with self.assertRaisesRegex(Failed, "not a class folder"):
            pack.run(mock.Mock(root=self.folder, output=self.folder / "out"))
        self.assertTrue((self.folder / "out" / "class" / "mine.txt").exists())


class Guide(unittest.TestCase):
    def test_points_add_up(self) -> None:
        text = (ROOT / "course" / "teaching.md").read_text(encoding="utf-8")
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in
                text.partition("| assignment |")[2].partition("\n\n")[0].splitlines()[2:]]
        for column in (1, 2, 3):
            points = [int(row[column] or 0) for row in rows]
            self.assertEqual(sum(points[:-1]), points[-1])
            self.assertEqual(points[-1], 100)


class Slides(unittest.TestCase):
    def test_every_step_has_its_slides(self) -> None:
        readmes = {
            step: (ROOT / step / "README.md").read_text(encoding="utf-8")
            for step in published_steps(ROOT)
        }
        terms = read_terms(ROOT / "docs" / "glossary.toml")
        for step in readmes:
            with self.subTest(step):
                made = slides.slides_of(step, ROOT, readmes, terms)
                titles = [slide.title for slide in made]
                self.assertIn("Predict it first", titles)
                self.assertLess(titles.index("Predict it first"), titles.index("Exercises"))
                pictures = [slide.picture for slide in made if slide.picture]
                self.assertTrue(
                    pictures and all(picture.is_file() for picture in pictures), pictures
                )
                self.assertTrue(
                    all(len(slide.code.splitlines()) <= slides.CODE_LINES for slide in made)
                )
                page = slides.page_of(step, made)
                self.assertNotIn("{{", page)
                self.assertEqual(page.count("<section>"), len(made))
                self.assertNotRegex(page, r'(src|href)="(https?:)?//')

    def test_the_contents_link_every_deck(self) -> None:
        decks = {"step03_tiling": slides.listed("Tiles & <threads>", ["a"])}
        page = slides.contents(decks)
        self.assertIn('<a href="03.html">Tiles &amp; &lt;threads&gt;</a> (1 slides)', page)

    def test_bullets_take_as_many_slides_as_they_need(self) -> None:
        self.assertEqual(slides.listed("T", []), [])
        self.assertEqual([s.bullets for s in slides.listed("T", ["a", "b"])], [("a", "b")])
        long = "x" * (4 * slides.LETTERS)
        self.assertEqual([s.bullets for s in slides.listed("T", [long, long, "a", 3 * long])],
                         [(long, long), ("a",), (3 * long,)])

    def test_words(self) -> None:
        self.assertEqual(slides.sentence("It is [so](x.md). And\nmore."), "It is so.")
        self.assertEqual(
            slides.as_html("**a** `b<c` *d*"), "<b>a</b> <code>b&lt;c</code> <em>d</em>"
        )
        self.assertEqual(
            slides.items("1. one\n   more\n2. two\n\n       code\n"), ["one\n   more", "two"]
        )


if __name__ == "__main__":
    unittest.main()
