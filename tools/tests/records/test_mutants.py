"""Tests the pages about validation, with made-up results of mutants."""

from __future__ import annotations

import json

from nbody_tools.documents.documents import WRITTEN_BY_VALIDATION
from tests import fakes

PAGE, REFERENCE, MUTANTS = WRITTEN_BY_VALIDATION
TABLES = {
    PAGE: "# Page\n\nOf <!-- {{ wrong_programs() }} -->0<!-- end --> programs: "
          "<!-- {{ accepted() }} -->?<!-- end -->.\n",
    REFERENCE: "# Reference\n\n<!-- {{ checks() }} -->\nold\n<!-- end -->\n\n"
               "<!-- {{ counts() }} -->\nold\n<!-- end -->\n",
    MUTANTS: "# Mutants\n\n<!-- {{ mutants() }} -->\nold\n<!-- end -->\n",
}
DECLARED = {"step": "step03_tiling", "is_wrong": True, "says": "", "mode": [],
            "passes_plain": False}


class Pages(fakes.InFolder):
    def setUp(self) -> None:
        super().setUp()
        for page, text in TABLES.items():
            self.file(page, text)
        self.mutant("one_force_lost", ["acceleration_rms"], "pass")
        self.mutant("masses_lost", ["mass", "momentum"], "fail")
        self.mutant("crashes", None, "-")
        self.file("records/right.step03.declared.json", "{}")  # a correct step does not count

    def mutant(self, name: str, failed: list[str] | None, weak: str) -> None:
        checks = ("throughput", "one_short_step", "a_quarter", "blind_to_nan")
        found = {} if failed is None else {
            "failed": failed, "weak": dict.fromkeys(checks, weak),
            "errors": {"acceleration_rms": 1, "mass": 0}}
        data = {**DECLARED, "wrong": f"{name}, of course", "caught_by": failed or [],
                "found": found}
        self.file(f"records/{name}.declared.json", "{}")
        self.file(f"records/{name}.json", json.dumps(data))

    def validation(self, *words: str) -> tuple[int, str]:
        code, out, errors = self.call("validation", "--records", self.folder / "records",
                                      "--root", self.folder, *words)
        return code, out + errors

    def page(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def test_written_pages_are_up_to_date(self) -> None:
        code, out = self.validation("--check")
        self.assertEqual((code, out.count("out of date")), (1, len(TABLES)), out)
        self.assertEqual(self.validation()[0], 0)
        self.assertEqual(self.validation("--check"), (0, ""))
        self.assertIn("Of <!-- {{ wrong_programs() }} -->3<!-- end --> programs", self.page(PAGE))
        self.assertIn("<!-- {{ accepted() }} -->0 of 2<!-- end -->", self.page(PAGE))
        self.assertIn("| `acceleration_rms` | `one_force_lost` |", self.page(REFERENCE))
        self.assertNotIn("| `mass` |", self.page(REFERENCE))  # momentum rejects it too
        self.assertIn("- *blind to NaN*: 1 of 2", self.page(REFERENCE))
        self.assertEqual(self.page(MUTANTS).count("of course"), 3)

    def test_a_table_that_no_page_shows_is_missed(self) -> None:
        self.assertEqual(self.validation()[0], 0)
        self.file(REFERENCE, "# Reference\n")
        code, out = self.validation("--check")
        self.assertEqual(code, 1)
        for table in ("checks", "counts"):
            self.assertIn(f"no page shows {{{{ {table}() }}}}", out)

    def test_a_number_edited_by_hand(self) -> None:
        self.assertEqual(self.validation()[0], 0)
        self.file(PAGE, self.page(PAGE).replace("0 of 2", "1 of 2"))
        self.assertIn(f"{PAGE}:3: out of date", self.validation("--check")[1])
