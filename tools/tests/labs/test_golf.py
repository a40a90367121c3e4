"""Tests that ./nbody golf rejects rows of the board that cannot be reproduced."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from argparse import Namespace
from pathlib import Path
from unittest import mock

from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.labs import golf
from nbody_tools.labs.golf import Row, check, check_board, rows_of, table_head, task_of

STEP = "step06_ldg_fastmath/nbody.cu"
RIGHT = Row("06", "Ada", 15.19, 19.47, 128.91, "13.0", STEP)


def board_with(*rows: object, folder: str) -> Path:
    board = Path(folder) / "board.md"
    lines = ["# Board", "", *table_head(), *map(str, rows), "", "Text"]
    board.write_text("\n".join(lines), "utf-8")
    return board


class OfTheBoard(unittest.TestCase):
    def checked(self, *rows: object, counted: object = RIGHT) -> tuple[int, str]:
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said), \
                mock.patch.object(golf, "counted_row", side_effect=[counted] * len(rows)):
            code = check_board(board_with(*rows, folder=folder), Path("build"), {})
        return code, said.getvalue()

    def test_a_row_that_is_counted_again_is_accepted(self) -> None:
        code, said = self.checked(RIGHT)
        self.assertEqual(code, 0)
        self.assertIn("board.md:5: reproduced", said)

    def test_rows_that_claim_too_much_are_refused(self) -> None:
        for wrong in (Row("06", "Ada", 15.18, 19.47, 128.91, "13.0", STEP),
                      Row("06", "Ada", 15.19, 19.46, 128.91, "13.0", STEP),
                      Row("06", "Ada", 15.19, 19.47, 128.90, "13.0", STEP),
                      Row("06", "Ada", 15.19, 19.47, 128.91, "12.9", STEP)):
            code, said = self.checked(wrong)
            self.assertEqual(code, 1)
            self.assertIn("board.md:5: cannot be reproduced: the row is", said)

    def test_a_wrong_kernel_is_refused(self) -> None:
        code, said = self.checked(RIGHT, counted=Failed("06.cu: failed the test forces: ..."))
        self.assertEqual(code, 1)
        self.assertIn("cannot be reproduced: 06.cu: failed the test", said)

    def test_files_elsewhere_are_refused(self) -> None:
        for file in ("../../etc/passwd", "course/board/none.cu"):
            code, said = self.checked(Row("06", "Ada", 15.19, 19.47, 128.91, "13.0", file))
            self.assertEqual((code, file in said), (1, True), said)

    def test_a_row_of_another_form_is_refused(self) -> None:
        self.assertEqual(self.checked("| 06 | Ada | 15.19 |")[0], 1)

    def test_a_program_without_a_row_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as entries:
            (Path(entries) / "06_ada.cu").write_text("", "utf-8")
            with mock.patch.object(golf, "ENTRIES", Path(entries)), \
                    mock.patch.object(golf, "ROOT", Path(entries).parent.resolve()):
                code, said = self.checked()
        self.assertEqual(code, 1)
        self.assertIn("06_ada.cu: has no row in board.md", said)

    def test_the_committed_board_has_a_table(self) -> None:
        rows = list(rows_of(ROOT / "course" / "board.md"))
        self.assertGreater(len(rows), 0)
        for _, cells in rows:
            self.assertEqual(task_of(cells[0]).step.partition("_")[0], f"step{cells[0]}")


class OfTheOptions(unittest.TestCase):
    def refused(self, **words: object) -> str:
        given = {"step": None, "file": None, "name": "Ada", "check": False, **words}
        with self.assertRaises(ToolError) as caught:
            check(Namespace(**given))
        return str(caught.exception)

    def test_wrong_arguments(self) -> None:
        self.assertIn("NN FILE or --check", self.refused())
        self.assertIn("NN FILE or --check", self.refused(step="06", check=True))
        self.assertIn("FILE is missing", self.refused(step="06"))
        self.assertIn("not a step", self.refused(step="99", file=Path("x")))
        self.assertIn("not a step", self.refused(step="15", file=Path("x")))
        self.assertIn("at most 40", self.refused(step="06", file=Path("x"), name="a|b"))

    def test_superfluous_roots_do_not_help(self) -> None:
        self.assertLess(golf.LEAST_ROOTS, 0.5)  # a kernel may compute each pair only once
        with mock.patch.object(golf, "roots_of_run", side_effect=[0, 1000]), \
                mock.patch("subprocess.run", return_value=mock.Mock(returncode=0)):
            with self.assertRaisesRegex(Failed, "square roots per interaction"):
                golf.roots_per_interaction(task_of("06"), "", Path("my.cu"))


if __name__ == "__main__":
    unittest.main()
