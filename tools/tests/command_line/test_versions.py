"""Tests that CITATION.cff and codemeta.json, which other tools read, agree with each other and with
the version in CMakeLists.txt."""

import json
import re
import unittest

from nbody_tools.command_line.help import number_of_the_version

from tests import fakes

ROOT = fakes.TOOLS.parent


class Versions(unittest.TestCase):
    def setUp(self) -> None:
        self.citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
        self.codemeta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))

    def cited(self, key: str) -> str:
        return re.search(rf"^{key}: *(.*)$", self.citation, re.M)[1].strip('"')

    def test_they_name_one_version(self) -> None:
        self.assertRegex(number_of_the_version(), r"^\d+\.\d+\.\d+$")
        self.assertEqual(self.cited("version"), number_of_the_version())
        self.assertEqual(self.codemeta["version"], number_of_the_version())
        changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", changes, re.M)
        self.assertEqual(headings[0], "Unreleased")
        self.assertEqual(headings[1].split()[0], number_of_the_version())
        lines = len(changes.splitlines())
        if lines > 100:
            self.fail(f"CHANGELOG.md has {lines} lines, at most 100 are allowed: shorten or merge "
                      "entries under Unreleased")

    def test_citation_and_codemeta_agree(self) -> None:
        self.assertTrue(self.codemeta["license"].endswith(f"/{self.cited('license')}"))
        self.assertTrue(self.cited("title").startswith(self.codemeta["name"]))
        abstract = self.citation.partition("abstract: >-\n")[2].partition("keywords:")[0]
        self.assertEqual(" ".join(abstract.split()), self.codemeta["description"])
        keywords = re.findall(r"^  - (.*)$", self.citation.partition("keywords:")[2], re.M)
        self.assertEqual(keywords, self.codemeta["keywords"])
        authors = re.findall(r"^  - name: (.*)$", self.citation, re.M)
        self.assertEqual(authors, [one["name"] for one in self.codemeta["author"]])


if __name__ == "__main__":
    unittest.main()
