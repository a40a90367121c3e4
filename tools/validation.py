#!/usr/bin/env python3
"""Keeps the tables of docs/validation.md: what the mutants came to when they were last run.

  tools/validation.py [--records FOLDER]           rewrites them
  tools/validation.py [--records FOLDER] --check   changes nothing; exits 1 if they are out of date

The tests of the mutants (ctest -L mutants) leave the records.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from documents import markdown_table, replaced
from nbody_arguments import ROOT, OneLineParser, ToolError, existing_folder, fail, write_whole_file

PAGE = Path("docs/validation.md")
RECORDS = Path("build/cpu/tests/mutants/records")
WEAK_CHECKS = {"throughput": "ends with a throughput", "one_short_step": "one short step",
               "a_quarter": "a quarter of the state", "blind_to_nan": "blind to NaN"}


@dataclass(frozen=True)
class Mutant:
    name: str
    step: str
    wrong: str
    is_wrong: bool
    caught_by: list[str]  # as declared; the tests saw to it that these gates fail,
    says: str  # or that the run is stopped with this
    mode: list[str]
    passes_plain: bool
    failed: Optional[list[str]]  # None: the run was stopped
    weak: dict[str, str]
    gates: list[str]

    @property
    def rejected_by(self) -> str:
        if not self.is_wrong:
            return "nothing: it is right"
        if self.failed is None:
            return f"stopped: \"{self.says}\""
        return ", ".join(f"`{gate}`" for gate in self.caught_by)

    @property
    def shown_mode(self) -> str:
        settings = " ".join(setting.removeprefix("HOSTCUDA_") for setting in self.mode)
        if not settings:
            return "plain"
        plain = "passes" if self.passes_plain else "fails"
        return f"`{settings}`; {plain} in plain mode"


def read_mutants(folder: Path) -> list[Mutant]:
    mutants = []
    for declaration in sorted(folder.glob("*.declared.json")):
        name = declaration.name.removesuffix(".declared.json")
        if name.startswith("right."):
            continue  # a step without an edit
        try:
            data = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ToolError(f"{folder}: {name} has not been run, or failed; run ctest -L mutants")
        found = data["found"]
        mutants.append(Mutant(
            name, data["step"], data["wrong"], data["is_wrong"], data["caught_by"], data["says"],
            data["mode"], data["passes_plain"], found.get("failed"), found.get("weak", {}),
            list(found.get("errors", {}))))
    if not mutants:
        raise ToolError(f"{folder}: no records of mutants; run ctest -L mutants")
    return sorted(mutants, key=lambda mutant: (mutant.step, mutant.name))


def mutants_block(mutants: Sequence[Mutant]) -> str:
    rows = [[f"`{m.name}`", m.step[:6], m.wrong, m.rejected_by, m.shown_mode,
             *[m.weak.get(check, "-") for check in WEAK_CHECKS]] for m in mutants]
    return markdown_table(("mutant", "step", "what is wrong", "rejected by", "mode",
                           *WEAK_CHECKS.values()), rows)


def gates_block(mutants: Sequence[Mutant]) -> str:
    gates = dict.fromkeys(gate for mutant in mutants for gate in mutant.gates)
    rows = [[f"`{gate}`", f"`{mutant.name}`", mutant.wrong] for gate in gates
            for mutant in mutants if mutant.failed == [gate]]
    return markdown_table(("gate", "a mutant that only it rejects", "what is wrong"), rows)


def counts_block(mutants: Sequence[Mutant]) -> str:
    wrong = [mutant for mutant in mutants if mutant.is_wrong]
    judged = [mutant for mutant in wrong if mutant.failed is not None]
    lines = [f"{len(wrong)} mutants; {len(judged)} rejected by a gate, {len(wrong) - len(judged)} "
             "stopped with an error before there was a result. Of those with a result, let through by", ""]
    for check, title in WEAK_CHECKS.items():
        passed = sum(mutant.weak[check] == "pass" for mutant in judged)
        lines.append(f"- *{title}*: {passed} of {len(judged)}")
    lines.append(f"- the validator: {sum(not mutant.failed for mutant in judged)} of {len(judged)}")
    return "\n".join(lines)


def main(words: Optional[Sequence[str]] = None) -> int:
    parser = OneLineParser(prog="validation.py", description=__doc__)
    parser.add_argument("--records", type=existing_folder, default=ROOT / RECORDS, metavar="FOLDER",
                        help=f"what the mutants came to (default: {RECORDS})")
    parser.add_argument("--check", action="store_true", help="change nothing, name what is stale")
    options = parser.parse_args(words)
    stale = []
    try:
        mutants = read_mutants(options.records)
        before = text = (ROOT / PAGE).read_text(encoding="utf-8")
        for name, block in (("counts", counts_block), ("mutants", mutants_block),
                            ("gates", gates_block)):
            new = replaced(text, name, block(mutants), str(PAGE))
            if new != text:
                stale.append(f"{PAGE}: block {name} is out of date; run tools/validation.py")
            text = new
        if not options.check and text != before:
            write_whole_file(ROOT / PAGE, text)
    except ToolError as error:
        fail(f"{parser.prog}: {error}", code=1)
    if options.check and stale:
        print("\n".join(stale))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
