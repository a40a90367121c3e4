"""Tests that the coverage check finds lines, branches and template instances that did not run, and
entries of exceptions.toml that are no longer needed."""
import unittest

from judge import Counts, Missing, add, judged, missing

TEXT = ["void f() {", "  if (a) b();", "  CUDA_CHECK(c());", "}"]


def gcov(functions, lines):
    """Returns gcov output. functions: name -> times; lines: (line, function, times, branches
    taken)."""
    return {"functions": [{"name": name, "demangled_name": name, "start_line": 1,
                           "execution_count": times} for name, times in functions.items()],
            "lines": [{"line_number": line, "function_name": name, "count": times,
                       "branches": [{"count": taken, "throw": False} for taken in branches]}
                      for line, name, times, branches in lines]}


def found(*answers):
    counts = Counts()
    for answer in answers:
        add(counts, answer)
    return list(missing("x.cu", counts, TEXT))


class Judge(unittest.TestCase):
    RAN = gcov({"f<1>": 3}, [(1, "f<1>", 3, []), (2, "f<1>", 3, [2, 1]), (3, "f<1>", 3, [0, 3])])

    def test_nothing_is_missing_if_everything_ran(self):
        self.assertEqual([], found(self.RAN))

    def test_a_branch_that_was_not_taken(self):
        once = gcov({"f<1>": 3}, [(2, "f<1>", 3, [3, 0])])
        self.assertEqual([Missing("x.cu", 2, "1 of 2 branches never taken")], found(once))
        self.assertEqual([], found(once, self.RAN), "another program took it")

    def test_a_shape_that_was_not_launched(self):
        other = gcov({"f<2>": 0}, [(2, "f<2>", 0, [0, 0])])
        self.assertEqual([Missing("x.cu", 1, "never called: f<2>")], found(self.RAN, other))

    def test_a_line_that_one_shape_did_not_run(self):
        other = gcov({"f<2>": 1}, [(2, "f<2>", 0, [0, 0])])
        self.assertEqual([Missing("x.cu", 2, "never executed in f<2>")], found(self.RAN, other))

    def test_branches_for_exceptions_at_the_end_of_a_scope_are_ignored(self):
        self.assertEqual([], found(self.RAN, gcov({"f<1>": 3}, [(4, "f<1>", 0, [])])))

    def test_every_exception_must_match_a_place(self):
        place, texts = Missing("x.cu", 2, "never executed in f"), {"x.cu": TEXT}
        right = {"file": "x.cu", "line": "if (a)", "why": "it cannot be"}
        self.assertEqual(([], []), judged([place], [right], texts))
        self.assertEqual(([place], []), judged([place], [], texts))
        self.assertEqual(([], [right]), judged([], [right], texts))
        function = {"file": "x.cu", "function": "in f", "why": "it cannot be"}
        self.assertEqual(([], []), judged([place], [function], texts))
        elsewhere = {**right, "file": "y.cu"}
        self.assertEqual(([place], [elsewhere]), judged([place], [elsewhere], texts))


if __name__ == "__main__":
    unittest.main()
