"""Defines the names that templates can use. documents/README.md explains them to authors."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Optional, Union

from nbody_tools.accuracy import tables as accuracy
from nbody_tools.activity import tables as activity
from nbody_tools.cluster import tables as cluster_tables
from nbody_tools.compare import tables as comparison
from nbody_tools.course import glossary, hardware, performance, teaching
from nbody_tools.documents import (
    account,
    latencies,
    missing,
    readme_tables,
    sources,
    tables,
)
from nbody_tools.inspection import blocks, calibration
from nbody_tools.machine_code import tables as machine_code
from nbody_tools.records import library
from nbody_tools.records.facts import (
    OTHER_PROGRAMS,
    FactError,
    Facts,
    Named,
    PlacedError,
    Problem,
    Value,
)
from nbody_tools.sweep import claims, errata, gems, pages
from nbody_tools.tree import programs as tree_programs, tables as tree

RESULTS = Path("docs") / "results"


class Run:
    """A run of a program on a problem; its attributes are the QUANTITIES of a record."""

    def __init__(
        self, facts: Facts, name: str, problem: Union[str, Problem], devices: int = 1
    ) -> None:
        self._facts, self._name, self._problem, self._devices = facts, name, problem, devices

    def on(self, devices: int) -> "Run":
        return Run(self._facts, self._name, self._problem, devices)

    def check(self, name: str) -> Value:
        """Returns the value that the validator found for one of its checks."""
        measured = self._facts.pick(self._name, self._problem, self._devices)
        content = measured.record.data["errors"].get(name) if measured else None
        return Value(content, ".1e", f"{self._name}.{self._problem}.check('{name}')")

    def __getattr__(self, name: str) -> Value:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._facts.value(self._name, self._problem, name, self._devices)


class Program:
    """A step, a variant or another program; its attributes are the problems of docs/names.json."""

    def __init__(self, vocabulary: "Vocabulary", name: str) -> None:
        self._vocabulary, self.name = vocabulary, name

    def at(self, systems: int, bodies: int, steps: int) -> Run:
        """Returns the run on a problem that has no name in docs/names.json."""
        return Run(self._vocabulary.facts, self.name, Problem(systems, bodies, steps))

    def kernel(self, name: Optional[str] = None) -> Named:
        """Returns Nsight Compute's counts for a kernel: the METRICS of measure/ncu.py. The default
        is the kernel that ran longest."""
        profile = self._vocabulary.facts.profile(self.name, name)
        where = f"{self.name}.kernel({name or ''})"
        metrics = profile["metrics"] if profile else {}
        return Named(lambda key: Value(metrics.get(key), name=f"{where}.{key}"))

    def inspected(self, kernel: str, quantity: str) -> Named:
        """Returns the counts of ./nbody inspect for a quantity such as "global load": executions,
        requests, cost, ideal, per_interaction and per_request."""
        counts = calibration.step_counts(self._vocabulary.root, self.name, kernel, quantity)
        return Named(lambda key: Value(counts.get(key), name=f"{self.name}.inspected.{key}"))

    @property
    def lines(self) -> int:
        return self._vocabulary.source(self.name).length

    @property
    def changed(self) -> int:
        return self._vocabulary.changes(self.name)

    def __getattr__(self, problem: str) -> Run:
        if problem.startswith("_"):
            raise AttributeError(problem)
        self._vocabulary.facts.problem(problem)
        return Run(self._vocabulary.facts, self.name, problem)


class Vocabulary:
    """The data that all templates share. Each file is read only once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.facts = Facts(root)
        self.sources = sources.read_sources(root)

    def source(self, step: str) -> sources.Source:
        if step not in self.sources:
            raise FactError(f"there is no step {step} with a program")
        return self.sources[step]

    def diff(self, step: str) -> list[str]:
        return sources.diff(self.source(step), self.sources)

    def changes(self, step: str) -> int:
        return sources.changes(self.source(step), self.sources)

    def glossary(self) -> str:
        if undefined := [problem for step in self.facts.steps for problem in
                         missing.undefined_terms(self.root / step / "README.md", self.root)]:
            raise PlacedError("\n".join(undefined))
        return glossary.lines(self.root)

    @cached_property
    def words(self) -> dict[str, Any]:
        """Returns the names that every document can use. Reads each file only once for all
        documents."""
        facts = self.facts
        published = {"citation": Value(facts.published["citation"]),
                     "machine": Value(facts.published["machine"])}
        return {
            **{name: Program(self, name) for name in (*facts.steps, *OTHER_PROGRAMS)},
            "variant": lambda name: Program(self, name),
            "machine": Named(lambda which: Named(lambda fact: facts.machine(which, fact))),
            "published": Named(lambda key: published.get(key)
                               or Named(lambda quantity: facts.published_value(key, quantity))),
            "predicted": facts.predicted,
            "budgets": lambda: sources.budgets_table(self.sources),
            "exceeded_budgets": lambda: sources.exceeded_budgets(self.sources),
            "table": lambda name: tables.table(name, facts),
            "staircase": lambda: tables.main_staircase(self.root / RESULTS, self.sources,
                                                       self.changes),
            "accuracy": lambda *steps: readme_tables.accuracy(self.root / RESULTS, steps),
            "rates": lambda folder, *names: readme_tables.rates(self.root / RESULTS, folder, names),
            "recorded": lambda folder, name, quantity: readme_tables.recorded(
                self.root / RESULTS, folder, name, quantity),
            "recorded_rate": lambda folder, name, bodies, devices=1: readme_tables.recorded_rate(
                self.root / RESULTS, folder, name, bodies, devices),
            "timelines": lambda *runs: readme_tables.timelines(self.root / RESULTS, runs),
            "timeline": lambda run: Named(lambda quantity: readme_tables.timeline_sum(
                self.root / RESULTS, run, quantity)),
            "queues": lambda: readme_tables.queues(self.root / RESULTS),
            "activity_map": lambda: activity.measured(self.root),
            "comparison": lambda: comparison.tables(self.root / RESULTS),
            "cluster_model": lambda rate: cluster_tables.predicted(rate, self.root / RESULTS),
            "cluster_measured": lambda: cluster_tables.measured(facts),
            "cluster_gathered": lambda: cluster_tables.gathered(self.root / RESULTS),
            "hours": lambda: teaching.hours(self.root),
            "mistake": lambda name, about="": teaching.mistake(name, self.root, about),
            "occupancy": lambda: hardware.occupancy_table(facts),
            "other_gpus": lambda: hardware.other_gpus(),
            "intensities": lambda: performance.intensities(facts),
            "serial_share": lambda quantity, devices=None: Value(
                performance.serial_share(performance.scaling(facts)[quantity], devices)),
            "time_left": lambda quantity, known, devices: Value(
                performance.time_left(performance.scaling(facts)[quantity], known, devices)),
            "glossary": self.glossary,
            "latencies": lambda: latencies.table(self.root / RESULTS),
            "issue_slots": lambda: latencies.issue_slots(self.root / RESULTS),
            "latency": lambda name: latencies.latency(self.root / RESULTS, name),
            **accuracy.words(self.root / RESULTS),
            **library.words(self.root / RESULTS),
            **tree.words(self.root / RESULTS),
            **tree_programs.words(self.root / RESULTS),
            **machine_code.words_of_limits(self.root / RESULTS, facts),
            **errata.words(self.root),
            **gems.words(self.root),
            **claims.words(self.root),
            **pages.words(self.root),
            "machine_code": lambda: machine_code.table(self.root / RESULTS, facts),
            "cpu_programs": lambda: readme_tables.cpu_programs(facts),
            "patterns": lambda: blocks.patterns_block(self.root),
            "calibrated_steps": lambda: blocks.steps_block(self.root),
            "causes": lambda: blocks.causes_block(self.root),
        }

    def words_of_step(self, step: str) -> dict[str, Any]:
        """Returns the names that a step's README can use: `this`, `parent` and others."""
        facts, parent = self.facts, self.source(step).parent
        return {
            "this": Program(self, step),
            "parent": Program(self, parent) if parent else None,
            "lines": lambda: self.source(step).length,
            "changed": lambda: self.changes(step),
            "diff_command": lambda: " ".join(
                ["diff", "-u", *(line[4:] for line in self.diff(step)[:2])]),
            "changed_lines": lambda first, last: self.changed_lines(step, first, last),
            "account": lambda *rows: account.account(step, parent, facts, rows),
            "account_of_lanes": lambda threads, sms: account.account_of_lanes(
                step, parent, facts, threads, sms),
            "measured": lambda: readme_tables.measured(step, facts),
            "profile": lambda *keys: readme_tables.profile_of(step, parent, facts, keys),
            "inspect": lambda: blocks.step_block(step, parent, self.root),
            "variants": lambda *names: readme_tables.variants_of(step, facts, names),
        }

    def changed_lines(self, step: str, first: str, last: str) -> str:
        """Returns the changed lines from `first` to `last`. For the first step, which has no
        parent, returns lines of the program."""
        source = self.source(step)
        if source.parent is None:
            lines = sources.excerpt(["", "", *(f" {line}" for line in source.lines)], first, last)
            return "\n".join(["```cpp", *(line[1:] for line in lines), "```"])
        return "\n".join(["```diff", *sources.excerpt(self.diff(step), first, last), "```"])
