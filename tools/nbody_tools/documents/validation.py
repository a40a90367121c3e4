"""Writes the results of the mutants' last run into docs/validation.md, docs/validation_reference.md
and docs/mutants.md.

  ./nbody validation [--records FOLDER]           writes the three pages
  ./nbody validation [--records FOLDER] --check   changes nothing; exits 1 if a page is out of date

The mutant tests (ctest -L mutants) write the records.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterable, Optional, Sequence

from nbody_tools.arguments import ROOT, Failed, existing_folder
from nbody_tools.documents.documents import WRITTEN_BY_VALIDATION as PAGES
from nbody_tools.documents.documents import report_problems, update
from nbody_tools.documents.templates import Rendered
from nbody_tools.tables import markdown

RECORDS = Path("build/cpu/tests/mutants/records")
WEAK_CHECKS = {"throughput": "ends with a throughput", "one_short_step": "one short step",
               "a_quarter": "a quarter of the state", "blind_to_nan": "blind to NaN"}
DECLARED = "*.declared.json"


@dataclass(frozen=True)
class Mutant:
    name: str
    step: str
    wrong: str
    is_wrong: bool
    caught_by: list[str]  # checks that must reject the mutant
    says: str  # the message with which the run must stop, if it must stop
    mode: list[str]
    passes_plain: bool
    failed: Optional[list[str]]  # checks that failed; None if the run was stopped
    weak: dict[str, str]
    checks: list[str]

    @property
    def rejected_by(self) -> str:
        if not self.is_wrong:
            return "nothing, because it is correct"
        if self.failed is None:
            return f"stopped: \"{self.says}\""
        return ", ".join(f"`{check}`" for check in self.caught_by)

    @property
    def shown_mode(self) -> str:
        settings = " ".join(setting.removeprefix("HOSTCUDA_") for setting in self.mode)
        if not settings:
            return "plain"
        plain = "passes" if self.passes_plain else "fails"
        return f"`{settings}`; {plain} in plain mode"


def read_mutants(folder: Path) -> list[Mutant]:
    mutants = []
    # The nightly tests write their records to a subfolder of the one with the declarations.
    declared = next((one for one in (folder, folder.parent) if any(one.glob(DECLARED))), folder)
    for declaration in sorted(declared.glob(DECLARED)):
        name = declaration.name.removesuffix(".declared.json")
        if name.startswith("right."):
            continue  # a correct step, not a mutant
        try:
            data = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise Failed(f"{folder}: the test of {name} has not run, or it failed; run ctest -L "
                         "mutants")
        outcome = data["found"]
        mutants.append(Mutant(
            name, data["step"], data["wrong"], data["is_wrong"], data["caught_by"], data["says"],
            data["mode"], data["passes_plain"], outcome.get("failed"), outcome.get("weak", {}),
            list(outcome.get("errors", {}))))
    if not mutants:
        raise Failed(f"{folder}: no records of mutants; run ctest -L mutants")
    return sorted(mutants, key=lambda mutant: (mutant.step, mutant.name))


def mutants_table(mutants: Sequence[Mutant]) -> str:
    rows = [[f"`{m.name}`", m.step.partition("_")[0], m.wrong, m.rejected_by, m.shown_mode,
             *[m.weak.get(check, "-") for check in WEAK_CHECKS]] for m in mutants]
    return markdown(("mutant", "step", "what is wrong", "rejected by", "mode",
                     *WEAK_CHECKS.values()), rows)


def checks(mutants: Sequence[Mutant]) -> str:
    checks = dict.fromkeys(check for mutant in mutants for check in mutant.checks)
    rows = [[f"`{check}`", f"`{mutant.name}`", mutant.wrong] for check in checks
            for mutant in mutants if mutant.failed == [check]]
    return markdown(("check", "a mutant that only this check rejects", "what is wrong"), rows)


def counts(mutants: Sequence[Mutant]) -> str:
    wrong, judged = wrong_ones(mutants), with_a_result(mutants)
    lines = [
        f"Of the {len(wrong)} mutants, {len(wrong) - len(judged)} stop with an error before there "
        f"is a result. At least one check rejects each of the other {len(judged)}. The list shows "
        f"how many of these {len(judged)} pass each check:",
        "",
    ]
    lines += [f"- *{title}*: {accepted(mutants, check)}" for check, title in WEAK_CHECKS.items()]
    lines.append(f"- the validator: {accepted(mutants)}")
    return "\n".join(lines)


def wrong_ones(mutants: Sequence[Mutant]) -> list[Mutant]:
    return [mutant for mutant in mutants if mutant.is_wrong]


def with_a_result(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Returns the wrong mutants that were not stopped before they had a result."""
    return [mutant for mutant in wrong_ones(mutants) if mutant.failed is not None]


def accepted(mutants: Sequence[Mutant], check: str = "") -> str:
    """Returns how many wrong results the given weak check accepts; without `check`, how many the
    validator accepts."""
    judged = with_a_result(mutants)
    passed = [m for m in judged if (m.weak[check] == "pass" if check else not m.failed)]
    return f"{len(passed)} of {len(judged)}"


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("--records", type=existing_folder, default=ROOT / RECORDS, metavar="FOLDER",
                   help=f"results of the mutants [{RECORDS}]")
    p.add_argument("--check", action="store_true",
                   help="change nothing, and list what is out of date")
    p.add_argument("--root", type=existing_folder, default=ROOT, metavar="DIR",
                   help="root of the repository")


def run(options: argparse.Namespace) -> int:
    mutants = read_mutants(options.records)
    words: dict[str, Callable[..., str]] = {
        "counts": lambda: counts(mutants),
        "mutants": lambda: mutants_table(mutants),
        "checks": lambda: checks(mutants),
        "wrong_programs": lambda: str(len(wrong_ones(mutants))),
        "accepted": lambda check="": accepted(mutants, check),
    }
    result = Rendered(problems=unplaced(words, options.root))
    for page in PAGES:
        rendered = update(options.root / page, options.root, words, not options.check, "validation")
        result.problems += rendered.problems
        result.written += rendered.written
    return report_problems(result)


def unplaced(words: Iterable[str], root: Path) -> list[str]:
    """Returns one problem per table or number that no page shows."""
    pages = "".join((root / page).read_text(encoding="utf-8") for page in PAGES)
    return [f"{' or '.join(PAGES)}: no page shows {{{{ {word}() }}}}: add its place again"
            for word in words if f"{{{{ {word}(" not in pages]
