"""Documents are broken on purpose, one way at a time; every break must be named."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import fakes  # puts the tools on the path
from nbody_tools.documents import documents

README = "\n".join([
    "# A step", "", *(line for heading in documents.HEADINGS for line in (heading, "", "Text.", "")),
    "<!-- begin diff -->", "<!-- end diff -->", "",
    "<!-- begin measured -->", "<!-- end measured -->", ""])
ROOT_README = "# All\n\n<!-- begin staircase -->\n<!-- end staircase -->\n\nThe rest.\n"
FIRST = """// step00_cpu_omp -- one OpenMP loop.
int a;
int b;
int main() { return run({.name = "step00_cpu_omp"}); }
"""
SECOND = """// step01_gpu_naive -- a thread a body.
int a;
int c;
int main() { return run({.name = "step01_gpu_naive", .parent = "step00_cpu_omp"}); }
"""


class DocumentsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs" / "results").mkdir(parents=True)
        self.write("README.md", ROOT_README)
        self.write("step00_cpu_omp/nbody.cpp", FIRST)
        self.write("step01_gpu_naive/nbody.cu", SECOND)
        for step in ("step00_cpu_omp", "step01_gpu_naive"):
            self.write(f"{step}/README.md", README)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def results(self, name: str, *records) -> None:
        fakes.write_records(self.root / "docs" / "results" / name, records)

    def run_tool(self, *words: str) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                code = documents.main([*words, "--root", str(self.root)])
            except SystemExit as stop:
                code = stop.code
        return code, out.getvalue()

    def rewrite(self) -> None:
        self.assertEqual(self.run_tool(), (0, ""))

    def assert_named(self, *what: str) -> None:
        """--check fails, and every line it prints is about one of these."""
        code, text = self.run_tool("--check")
        self.assertEqual(code, 1, text)
        lines = text.splitlines()
        self.assertEqual(len(lines), len(what), text)
        for expected, line in zip(what, lines):
            self.assertIn(expected, line)


class Rewriting(DocumentsTest):
    def test_what_was_rewritten_is_up_to_date(self) -> None:
        self.rewrite()
        self.assertEqual(self.run_tool("--check"), (0, ""))

    def test_rewriting_twice_changes_nothing(self) -> None:
        self.rewrite()
        once = self.read("README.md") + self.read("step01_gpu_naive/README.md")
        self.rewrite()
        self.assertEqual(once, self.read("README.md") + self.read("step01_gpu_naive/README.md"))

    def test_text_around_the_markers_stays(self) -> None:
        self.rewrite()
        self.assertTrue(self.read("README.md").startswith("# All\n\n<!-- begin staircase -->\n|"))
        self.assertTrue(self.read("README.md").endswith("<!-- end staircase -->\n\nThe rest.\n"))

    def test_check_writes_nothing(self) -> None:
        self.run_tool("--check")
        self.assertEqual(self.read("README.md"), ROOT_README)

    def test_diff_and_its_size(self) -> None:
        self.rewrite()
        text = self.read("step01_gpu_naive/README.md")
        self.assertIn("6 changed lines, of 75 allowed", text)
        self.assertIn("--- step00_cpu_omp/nbody.cpp\n+++ step01_gpu_naive/nbody.cu\n", text)
        self.assertIn("\n int a;\n-int b;\n", text)
        self.assertIn("it has no parent", self.read("step00_cpu_omp/README.md"))

    def test_an_idea_of_two_lines(self) -> None:
        self.write("step01_gpu_naive/nbody.cu", SECOND.replace(
            "a thread a body.", "a thread\n// a body, at last.\n//\n// Why: because."))
        self.rewrite()
        self.assertIn("| a thread a body, at last | 7 |", self.read("README.md"))

    def test_idea_and_sizes_in_the_staircase(self) -> None:
        self.rewrite()
        self.assertIn("| [step01_gpu_naive](step01_gpu_naive/) | a thread a body | 4 | 6 | - | - |",
                      self.read("README.md"))
        self.assertIn(documents.NOT_MEASURED, self.read("README.md"))


class Broken(DocumentsTest):
    def setUp(self) -> None:
        super().setUp()
        self.rewrite()

    def test_changed_source(self) -> None:
        self.write("step01_gpu_naive/nbody.cu", SECOND.replace("int c;", "int d;"))
        self.assert_named("step01_gpu_naive/README.md: block diff")

    def test_new_line_in_a_parent(self) -> None:
        self.write("step00_cpu_omp/nbody.cpp", FIRST + "int z;\n")
        self.assert_named("README.md: block staircase", "step01_gpu_naive/README.md: block diff")

    def test_new_measurement(self) -> None:
        self.results("a.jsonl", *fakes.staircase_records()[:2])
        self.assert_named("README.md: block staircase", "step00_cpu_omp/README.md: block measured",
                          "step01_gpu_naive/README.md: block measured")

    def test_table_edited_by_hand(self) -> None:
        self.write("README.md", self.read("README.md").replace("a thread a body", "magic"))
        self.assert_named("README.md: block staircase")

    def test_missing_readmes(self) -> None:
        (self.root / "README.md").unlink()
        (self.root / "step01_gpu_naive" / "README.md").unlink()
        self.assert_named("README.md: is missing", "step01_gpu_naive/README.md: is missing")
        self.assertEqual(self.run_tool()[0], 1)

    def test_each_missing_heading(self) -> None:
        whole = self.read("step00_cpu_omp/README.md")
        for heading in documents.HEADINGS:
            with self.subTest(heading):
                self.write("step00_cpu_omp/README.md", whole.replace(heading + "\n", "#" + heading + "\n"))
                self.assert_named(f"heading '{heading}'")

    def test_markers_missing_doubled_or_swapped(self) -> None:
        whole = self.read("step00_cpu_omp/README.md")
        begin, end = "<!-- begin diff -->", "<!-- end diff -->"
        for text in (whole.replace(begin, ""), whole.replace(end, ""), whole + begin + "\n",
                     whole.replace(begin, "?").replace(end, begin).replace("?", end)):
            with self.subTest(text[-200:]):
                self.write("step00_cpu_omp/README.md", text)
                self.assert_named(begin)
                self.run_tool()
                self.assertEqual(self.read("step00_cpu_omp/README.md"), text)  # nothing guessed

    def test_a_good_block_is_mended_beside_a_broken_one(self) -> None:
        self.write("step00_cpu_omp/README.md", README.replace("<!-- end diff -->", ""))
        self.assertEqual(self.run_tool()[0], 1)
        self.assertIn(documents.NOT_MEASURED, self.read("step00_cpu_omp/README.md"))

    def test_too_many_changed_lines(self) -> None:
        extra = "".join(f"int x{k};\n" for k in range(70))
        self.write("step01_gpu_naive/nbody.cu", SECOND + extra)
        self.rewrite_with_problem("76 changed lines, of 75 allowed")
        self.write("step01_gpu_naive/nbody.cu", SECOND + extra.replace("int x0;\n", ""))
        self.rewrite()

    def test_too_many_lines(self) -> None:
        self.write("step00_cpu_omp/nbody.cpp", FIRST + "int x;\n" * 147)
        self.write("step01_gpu_naive/nbody.cu", SECOND + "int x;\n" * 146)
        self.rewrite_with_problem("step00_cpu_omp/nbody.cpp: 151 lines, of 150 allowed")

    def test_later_steps_may_be_longer(self) -> None:
        later = SECOND.replace("step01_gpu_naive", "step04_unroll").replace("step00_cpu_omp", "step01_gpu_naive")
        self.write("step04_unroll/README.md", README)
        self.write("step01_gpu_naive/nbody.cu", SECOND + "int x;\n" * 60)
        self.write("step04_unroll/nbody.cu", later + "int x;\n" * 116)
        self.rewrite()

    def test_unknown_parent(self) -> None:
        self.write("step01_gpu_naive/nbody.cu", SECOND.replace("step00_cpu_omp", "step77_none"))
        code, text = self.run_tool("--check")
        self.assertEqual(code, 1)
        self.assertIn("its parent step77_none does not exist", text)

    def test_record_that_is_none(self) -> None:
        self.write("docs/results/a.jsonl", "{}\n")
        code, text = self.run_tool("--check")
        self.assertEqual(code, 1)
        self.assertIn("a.jsonl:1: not a result record", text)

    def rewrite_with_problem(self, problem: str) -> None:
        code, text = self.run_tool()
        self.assertEqual((code, len(text.splitlines())), (1, 1), text)
        self.assertIn(problem, text)


class Measured(DocumentsTest):
    def measured(self, step: str = "step01_gpu_naive") -> list[str]:
        self.rewrite()
        lines = self.read(f"{step}/README.md").split("\n")
        block = lines[lines.index("<!-- begin measured -->") + 1:lines.index("<!-- end measured -->")]
        return block[2:]  # without the head of the table

    def test_a_row_has_what_the_record_says(self) -> None:
        self.results("a.jsonl", *fakes.staircase_records())
        (row,) = self.measured()
        # 32 * 8192^2 * 20 interactions in 0.5 s; total 40.5 s of step 00 over 1 s.
        for cell in ("Test GPU (CUDA 13.0, driver 13.0), 2026-01-02", "32 x 8192 x 20", "500 ms (75 ms)",
                     "1 s (75 ms)", "85.9", "40.50", "2.0e-07", "pass"):
            self.assertIn(f"| {cell} |", row)

    def test_emulated_times_are_left_out(self) -> None:
        self.results("a.jsonl", fakes.record("step01_gpu_naive", "hostcuda"))
        self.assertEqual(self.measured(), [])
        self.assertIn(documents.NOT_MEASURED, self.read("step01_gpu_naive/README.md"))

    def test_the_newest_record_wins_whatever_its_file_is_called(self) -> None:
        self.results("b.jsonl", fakes.record("step01_gpu_naive", date="2025-01-01T00:00:00Z"))
        self.results("a.jsonl", fakes.record("step01_gpu_naive", date="2026-06-01T00:00:00Z"))
        (row,) = self.measured()
        self.assertIn("2026-06-01", row)

    def test_a_row_for_every_problem_size_and_number_of_devices(self) -> None:
        two = {**fakes.GPU, "count": 2}
        self.results("a.jsonl", fakes.record("step01_gpu_naive"), fakes.record("step01_gpu_naive", bodies=99),
                     fakes.record("step01_gpu_naive", device=two))
        self.assertEqual(len(self.measured()), 3)

    def test_no_speedup_over_another_machine(self) -> None:
        self.results("a.jsonl", fakes.record("step00_cpu_omp", "cpu"))
        self.results("b.jsonl", fakes.record("step01_gpu_naive"))
        (row,) = self.measured()
        self.assertIn("| - |", row)

    def test_no_speedup_over_another_problem(self) -> None:
        self.results("a.jsonl", fakes.record("step00_cpu_omp", "cpu", softening=1.0),
                     fakes.record("step01_gpu_naive"))
        (row,) = self.measured()
        self.assertIn("| - |", row)

    def test_a_sweep_does_not_replace_a_staircase(self) -> None:
        self.results("a.jsonl", *fakes.staircase_records())
        self.results("sweep.jsonl", fakes.record("step01_gpu_naive", date="2027-01-01T00:00:00Z"))
        (row,) = self.measured()
        self.assertIn("2026-01-02", row)

    def test_the_staircase_names_machine_date_and_problem(self) -> None:
        self.results("a.jsonl", *fakes.staircase_records())
        self.rewrite()
        text = self.read("README.md")
        self.assertIn("| a thread a body | 4 | 6 | 85.9 | 40.50 |", text)
        for word in ("Test GPU", "Test CPU x 64", "2026-01-02", "32 x 8192 bodies, 20 steps"):
            self.assertIn(word, text)

    def test_the_staircase_with_the_most_steps_is_shown(self) -> None:
        self.results("a.jsonl", *fakes.staircase_records())
        self.results("b.jsonl", fakes.record("step00_cpu_omp", "cpu", date="2027-01-01T00:00:00Z"))
        self.rewrite()
        self.assertIn("2026-01-02", self.read("README.md"))


if __name__ == "__main__":
    unittest.main()
