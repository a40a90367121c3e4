"""Tests ./nbody new step: the files it writes, rejected input, and how documents treat a draft."""

import shutil
import unittest

from nbody_tools.documents.documents import missing_in_a_lesson, section_of
from nbody_tools.documents.sources import read_sources
from nbody_tools.steps import is_draft, published_steps, step_folders

from tests import fakes

ROOT = fakes.TOOLS.parent


class NewStep(fakes.InFolder):
    def setUp(self) -> None:
        super().setUp()
        for step in ("step02_layout", "step03_tiling", "step14_cluster", "step15_barnes_hut"):
            shutil.copytree(ROOT / step, self.folder / step)

    def new(self, name: str, parent: str) -> tuple[object, ...]:
        return ("new", "step", name, "--parent", parent, "--root", self.folder)

    def test_it_is_a_copy_that_names_itself_and_its_parent(self) -> None:
        out = self.done(*self.new("step16_mine", "3"))
        text = (self.folder / "step16_mine/nbody.cu").read_text(encoding="utf-8")
        self.assertTrue(text.startswith("// step16_mine -- TODO: the idea in one line.\n"))
        self.assertIn("// Parent: step03_tiling.   Run: step16_mine --systems", text)
        self.assertIn('.name = "step16_mine"', text)
        self.assertIn('.parent = "step03_tiling"', text)
        self.assertNotIn("step02_layout", text)
        self.assertEqual(
            (self.folder / "step16_mine/CMakeLists.txt").read_text(),
            "nbody_step(step16_mine DRAFT)\n",
        )
        self.assertIn("step16_mine/nbody.cu:1: the idea", out)

    def test_headers_and_flags_come_along(self) -> None:
        self.done(*self.new("step16_tree", "15"))
        folder = self.folder / "step16_tree"
        self.assertEqual({file.name for file in folder.glob("*.h")},
                         {file.name for file in (self.folder / "step15_barnes_hut").glob("*.h")})
        self.assertIn(
            '.parent = "step15_barnes_hut"', (folder / "nbody.cu").read_text(encoding="utf-8")
        )

    def test_a_draft_is_a_step_without_documents(self) -> None:
        self.done(*self.new("step16_mine", "03"))
        self.assertTrue(is_draft("step16_mine", self.folder))
        self.assertIn("step16_mine", step_folders(self.folder))
        self.assertNotIn("step16_mine", published_steps(self.folder))
        self.assertNotIn("step16_mine", read_sources(self.folder))
        file = self.folder / "step16_mine/CMakeLists.txt"
        file.write_text(file.read_text().replace(" DRAFT", ""))
        self.assertIn("step16_mine", read_sources(self.folder))

    def test_of_its_page_only_the_contents_are_missing(self) -> None:
        self.done(*self.new("step16_mine", "03"))
        lines = (self.folder / "step16_mine/README.md").read_text(encoding="utf-8").splitlines()
        missing = list(missing_in_a_lesson(lines, section_of(lines)))
        self.assertEqual(missing[-1], "16 TODOs are left")
        # A draft has no bold words, because the check would look for them in the glossary.
        self.assertEqual([what.partition(":")[0] for what in missing[:-1]],
                         ["the idea has no diagram", "the idea has no term in bold"])

    def test_what_cannot_be_is_refused_and_nothing_written(self) -> None:
        before = sorted(self.folder.rglob("*"))
        for name, parent, why in (("step03_other", "02", "step03_tiling already has the number 03"),
                                  ("mine", "03", "'mine' is not a name such as"),
                                  ("step16_Mine", "03", "is not a name such as"),
                                  ("step16_mine", "99", "'99' is not a step"),
                                  ("step16_mine", "14", "copy the folder by hand")):
            self.assertIn(why, self.refused(*self.new(name, parent)))
        self.assertEqual(sorted(self.folder.rglob("*")), before)


if __name__ == "__main__":
    unittest.main()
