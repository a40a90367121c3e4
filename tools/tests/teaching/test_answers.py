"""Tests answers_test.py, which tests the answers to the exercises. If a program is missing,
answers_test.py must report the program's name."""

import importlib.util
import sys
from types import ModuleType
from unittest import mock

from tests import fakes

ROOT = fakes.TOOLS.parent


class Answers(fakes.InFolder):
    def test_a_program_that_is_not_built_is_named(self) -> None:
        with self.assertRaises(SystemExit) as raised:
            self.module().output_of("step03_tiling --bodies 4")
        self.assertEqual(str(raised.exception),
                         "step03_tiling is not built; build it first: ./nbody build")

    def module(self) -> ModuleType:
        """Returns tests/answers/answers_test.py as a module whose build folder is empty."""
        path = ROOT / "tests" / "answers" / "answers_test.py"
        spec = importlib.util.spec_from_file_location("answers_test", path)
        module = importlib.util.module_from_spec(spec)
        words = [str(path), "day", str(ROOT), str(self.folder)]
        with mock.patch.object(sys, "argv", words), mock.patch.object(sys, "path", [*sys.path]):
            spec.loader.exec_module(module)
        return module
