"""Tests cells of a notebook, whose functions replace functions of a step. Also tests the packages
of the notebook's container."""

import re
import unittest
from pathlib import Path
from unittest import mock

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.course import notebook_worker
from nbody_tools.course.rebuild import functions, source_of, with_functions
from nbody_tools.course.magic import errors, first_line, picture_of, times, verdict
from nbody_tools.steps import step_folders
from tests import fakes

STEP = """// step
constexpr int kSize = 4;
struct A {
  int x;
};
__device__ int twice(int x) { return 2 * x; }

// Why.
__global__ void __launch_bounds__(32 * kSize, (kSize > 8 ? 16 : 20) / kSize)
    work(const float* x, int n) {
  for (int i = 0; i < n; ++i) {
    if (x[i] > 0) twice(i);
  }
}
int main() { return 0; }
"""


class Cells(fakes.InFolder):
    def test_a_picture(self) -> None:
        state = self.file(
            "end.bin", fakes.bin_bytes([1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6, 0.5], 1, 2)
        )
        lost = self.file("lost.bin", fakes.bin_bytes([float("nan")] * 7 + [1.0] * 7, 1, 2))
        self.assertEqual(picture_of({"your cell": state, "step": lost})[:4], b"\x89PNG")

    def test_functions_by_name(self) -> None:
        found = functions(STEP)
        self.assertEqual(list(found), ["twice", "work", "main"])
        begin, end = found["work"]
        self.assertTrue(STEP[begin:end].startswith("__global__ void __launch_bounds__"))
        self.assertTrue(STEP[begin:end].endswith("\n}"))

    def test_of_every_step(self) -> None:
        for step in step_folders(ROOT):
            with self.subTest(step):
                text = source_of(step).read_text(encoding="utf-8")
                found = functions(text)
                self.assertLessEqual({"simulate", "main"}, set(found))
                kernels = len(re.findall(r"^(?:static )?__global__ ", text, re.M))
                self.assertEqual(
                    sum("__global__" in text[b:e].split("(")[0] for b, e in found.values()), kernels
                )
                for name, (
                    begin,
                    end,
                ) in found.items():  # replacing a function by itself changes nothing
                    if name != "main":
                        self.assertEqual(with_functions(text, text[begin:end]), text)

    def test_a_cell_takes_the_place_of_a_function(self) -> None:
        new = "__device__ int twice(int x) {\n  return x + x;\n}\n"
        text = with_functions(STEP, "// mine\n" + new)
        self.assertIn(new.strip(), text)
        self.assertNotIn("2 * x", text)
        self.assertEqual(with_functions(STEP, STEP + "// more\n"), STEP + "// more\n")
        with self.assertRaisesRegex(
            ToolError, "has no function 'thrice'; it has twice, work, main"
        ):
            with_functions(STEP, "int thrice(int x) { return 3 * x; }")
        with self.assertRaisesRegex(ToolError, "the cell defines no function"):
            with_functions(STEP, "int x;")
        with self.assertRaisesRegex(ToolError, "a brace is not closed"):
            with_functions(STEP, "int twice(int x) {")

    def test_what_a_cell_says(self) -> None:
        good = {
            "verdict": "pass",
            "backend": "hostcuda",
            "median": {"compute": 0.5},
            "interactions_per_second": 2e9,
        }
        bad = {
            **good,
            "verdict": "fail",
            "failed": ["momentum"],
            "errors": {"momentum": 2.0},
            "limits": {"momentum": 1.0},
        }
        self.assertEqual(verdict(good, ""), "right: all checks pass")
        self.assertEqual(verdict(bad, "not trusted"), "fail: momentum\nnot trusted")
        self.assertIn("the program stopped without a result:\nbarrier", verdict({}, "barrier"))
        self.assertEqual(errors(bad, {"errors": {"momentum": 0.5}}, "step03_tiling").split(),
                         ["check", "your", "cell", "step03", "limit",
                          "momentum", "2", "0.5", "1", "FAILS"])
        self.assertEqual(errors({}, {}, "step03_tiling"), "")

    def test_an_emulated_run_has_no_time(self) -> None:
        run = {"backend": "cuda", "median": {"compute": 0.5}, "interactions_per_second": 2e9}
        emulated = {**run, "backend": "hostcuda"}
        self.assertRegex(times(run, run, "step03_tiling"), r"500\.000 ms +2 G interactions/s")
        self.assertEqual(times(emulated, emulated, "step03_tiling"), "")

    def test_a_finding_names_the_cells_file(self) -> None:
        message = "hostcuda: ERROR: RACE at /tmp/x/step01/nbody.cu:7\n  more"
        self.assertEqual(first_line(message, Path("/tmp/x/step01")), "RACE at nbody.cu:7")


class Cell(dict):
    """A cell of a notebook, as jupytext represents it."""

    __getattr__ = dict.__getitem__


def cell(source: str, text: str, picture: bool = True) -> Cell:
    outputs = [{"text": text}] if text else []
    return Cell(
        cell_type="code",
        source=source,
        outputs=[*outputs, *([{"data": {"image/png": ""}}] if picture else [])],
    )


class Notebooks(unittest.TestCase):
    def found(self, *cells: Cell) -> list[str]:
        return list(notebook_worker.problems(Cell(cells=list(cells))))

    def test_what_cells_came_to(self) -> None:
        good, wrong = "%%nbody_step 01", "%%nbody_step 01\n// wrong on purpose"
        shown = "\nacceleration_rms 1\nyour cell: per thread 4 global loads"
        right, fails = f"right: all checks pass{shown}", f"fail: momentum{shown}"
        self.assertEqual(self.found(cell(good, right), cell(wrong, fails)), [])
        for broken, expected in (
            (cell(good, "fail:"), "printed: fail:"),
            (cell(good, ""), "printed: nothing"),
            (cell(wrong, right), "printed: right"),
            (cell(good, right, False), "drew nothing"),
            (cell(wrong, fails, False), "drew nothing"),
            (cell(wrong, "fail:\nper thread"), "printed nothing with 'acceleration_rms'"),
            (cell(good, right.replace("per thread", "")), "printed nothing with 'per thread'"),
            (cell(good, f"{right}\nyour cell 39.1 ms"), "printed an emulated time"),
            (cell("print(1)", "1"), "has no cell with %%nbody_step"),
        ):
            with self.subTest(expected), mock.patch.object(
                    notebook_worker, "has_gpu", lambda: False):
                found = self.found(broken)
                self.assertEqual(len(found), 1)
                self.assertIn(expected, found[0])


if __name__ == "__main__":
    unittest.main()
