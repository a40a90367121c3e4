"""Tests the hints for English: the check must find seeded bad sentences and their lines, but must
accept plain sentences."""

import subprocess

from nbody_tools.english import check
from nbody_tools.english.rules import RULES
from tests.fakes import InFolder

SEEDED = {
    "of-first": "Of a step's README.", "what-first": "What the ranks exchange.",
    "whether-first": "Whether it fits.", "is-no": "A stream is no hardware.",
    "so-many": "Takes so many steps.", "by-night": "It runs by night.",
    "private-word": "The rooms of common.", "asked-told": "Each body is asked.",
    "of-its-own": "It has a parser of its own.", "as-it-is": "It keeps the file as it is.",
    "goes-on": "The run goes on.", "beside": "A table beside it.", "but-for": "All but for one.",
    "what-is": "Copies all but only what is new.", "where-there-is": "Uses MPI where there is one."}
PLAIN = "Returns the number of steps. If MPI is installed, it is used. The run continues unchanged."


class English(InFolder):
    def found(self, name: str, text: str) -> list[tuple[int, str]]:
        (self.folder / name).write_text(text, encoding="utf-8")
        return [(number, rule.name) for number, rule, _ in check.hits(self.folder / name)]

    def test_every_rule_finds_its_sentence_in_every_kind_of_file(self) -> None:
        self.assertEqual(set(SEEDED), {rule.name for rule in RULES})
        for rule, sentence in SEEDED.items():
            with self.subTest(rule=rule):
                for name, text in (("a.md", f"# Title\n\n{sentence}\n"),
                                   ("a.h", f"int x;\n\n// {sentence}\n"),
                                   ("a.py", f'import os\n\n"""{sentence}"""\n'),
                                   ("a.sh", f"ls\n\n# {sentence}\n")):
                    self.assertIn((3, rule), self.found(name, text))

    def test_plain_english_has_no_hits(self) -> None:
        for name, text in (("a.md", PLAIN), ("a.h", f"// {PLAIN}\n"), ("a.py", f'"""{PLAIN}"""\n')):
            self.assertEqual([], self.found(name, text))

    def test_code_and_generated_pages_are_not_read(self) -> None:
        self.assertEqual([], self.found("a.md", "    Of a step.\n\n`Of a step` is code.\n"))
        self.assertEqual([], self.found("a.md", "<!-- Generated from b. -->\n\nOf a step.\n"))

    def test_only_added_lines_count(self) -> None:
        def git(*words: str) -> None:
            named = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
            subprocess.run(named, cwd=self.folder, check=True, stdout=subprocess.PIPE)
        git("init", "-q")
        (self.folder / "a.md").write_text("Of a step.\n", encoding="utf-8")
        git("add", "a.md")
        git("commit", "-q", "-m", "a")
        (self.folder / "a.md").write_text("Of a step.\n\nWhat it does.\n", encoding="utf-8")
        self.assertEqual({"what-first": 1}, dict(check.count(self.folder, "HEAD")))
        self.assertEqual({"of-first": 1, "what-first": 1}, dict(check.count(self.folder, None)))
        with self.assertRaises(SystemExit) as ended:
            check.main(["--changed", "no-such-revision"], self.folder)
        self.assertEqual(2, ended.exception.code)
