"""Tests nbody sweep on several GPUs: groups must stay on one GPU, each GPU gets its own cores, and
some runs need all GPUs."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import Any
from unittest import TestCase, mock

from nbody_tools.arguments import ROOT, Failed, ToolError
from nbody_tools.sweep import runner, shares
from nbody_tools.sweep.judge import Results
from nbody_tools.sweep.sweep import plan_of
from nbody_tools.sweep.tables import read_tables
from tests.fakes import InFolder, record
from tests.sweep.test_sweep import planned

# Runs a batch like sweep_programs, and logs the GPU and the cores of each run.
PROGRAMS = """#!{python} -IS
import json, os, sys, time
for k, line in enumerate(open(sys.argv[2]).read().splitlines()):
    words = line.split()
    print("begin", k, file=sys.stderr)
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "{broken}":
        sys.exit("no CUDA device" + str(print("end", k, 77)))
    begin = time.monotonic()
    time.sleep(0.05)
    where = os.environ.get("CUDA_VISIBLE_DEVICES"), sorted(os.sched_getaffinity(0))
    with open("{seen}", "a") as file:
        file.write(json.dumps([words[0], *where, begin, time.monotonic()]) + "\\n")
    data = {record}
    if "sampled" in words:
        data["verdict"] = "pass"
    open(words[words.index("--json") + 1], "w").write(json.dumps(data) + "\\n")
    print("end", k, 0)
"""


class Shares(TestCase):
    def test_groups_are_not_torn_and_shares_are_even(self) -> None:
        plan = [
            planned(f"{group}{k}", group=group, bodies=10000)
            for group in "abcdef"
            for k in range(3)
        ]
        found = shares.shares(plan, mock.Mock(runs=[]), 3)
        self.assertEqual([len(share) for share in found], [6, 6, 6])
        for group in "abcdef":
            self.assertEqual(sum(any(p.group == group for p in share) for share in found), 1)

    def test_what_is_measured_is_no_share(self) -> None:
        done = [{"key": "a", "round": round_} for round_ in range(3)]
        found = shares.shares([planned("a"), planned("b")], mock.Mock(runs=done), 4)
        self.assertEqual([[p.key for p in share] for share in found], [["b"]])

    def test_what_is_compared_is_measured_again_with_what_is_new(self) -> None:
        plan = [planned("old", group="1", measured=True), planned("new", group="1"),
                planned("alone", group="2", measured=True)]
        self.assertEqual([p.key for p in shares.not_measured(plan)], ["old", "new"])

    def test_every_claim_of_the_repository_stays_on_one_gpu(self) -> None:
        tables = read_tables(ROOT)
        group = shares.groups(tables.values())
        for table in tables.values():
            for claim in table.data["claim"]:
                sides = [claim.get("better"), *claim.get("worse", []), *claim.get("same", [])]
                for point in {
                    name for side in sides if side for name in [side.partition(" @ ")[2]]
                }:
                    cells = [
                        cell
                        for side in sides
                        if side
                        for cell in shares.places(table, side, claim)
                        if point or cell.point == table.points[0]
                    ]
                    with self.subTest(table.name, says=claim["says"]):
                        self.assertEqual(
                            len({group[cell.configuration.key] for cell in cells}), int(bool(cells))
                        )
        # There are nevertheless enough groups to distribute over several GPUs.
        self.assertGreater(len(set(group.values())), 20)

    def test_a_plan_knows_what_is_measured(self) -> None:
        plan, results = plan_of(ROOT)["configurations"], Results(ROOT)
        self.assertEqual({key for key, values in plan.items() if values["measured"]},
                         set(plan) & set(results.records))

    def test_cores(self) -> None:
        for gpus, cores, of_a_gpu, apart in (
            (8, 128, 8, 4),
            (4, 64, 8, 2),
            (2, 32, 8, 1),
            (1, 16, 16, 0),
            (2, 16, 8, 0),
            (8, 2, 2, 0),
        ):
            with self.subTest(gpus=gpus, cores=cores):
                of_gpus, for_cpu = shares.cores_of(gpus, list(range(cores)))
                self.assertEqual(
                    ([len(part) for part in for_cpu], len(of_gpus)), ([16] * apart, gpus)
                )
                self.assertLessEqual(max(map(len, of_gpus)), of_a_gpu)
                if cores >= gpus:
                    uses = Counter(core for part in (*of_gpus, *for_cpu) for core in part)
                    self.assertEqual(
                        ({len(part) for part in of_gpus}, set(uses.values())), ({of_a_gpu}, {1})
                    )


class SideBySide(InFolder):
    def run_on(
        self, gpus: int, *plan: runner.Planned, broken: str = "", **environment: str
    ) -> list[list[Any]]:
        data = record("step03_tiling", compute=(1.0,), verdict="unchecked")
        text = PROGRAMS.format(
            python=sys.executable, record=data, seen=self.folder / "seen", broken=broken
        )
        for name in ("sweep_programs", "sweep_programs_cpu"):
            self.program(name, text)
        journal = runner.Journal(self.folder / "out" / "runs.jsonl")
        with mock.patch.dict(os.environ, environment):
            shares.run_on(gpus, list(plan), self.folder, journal, 1000.0, self.said.append)
        return [runner.json.loads(line) for line in (self.folder / "seen").read_text().splitlines()]

    def setUp(self) -> None:
        super().setUp()
        self.said: list[str] = []

    def test_each_gpu_has_its_groups_and_all_is_measured(self) -> None:
        plan = [planned(f"{group}{k}", group=group, rounds=1) for group in "abcd" for k in range(2)]
        seen = self.run_on(2, *plan)
        self.assertEqual(Counter(name for name, *_ in seen), Counter({p.key: 2 for p in plan}))
        self.assertEqual({gpu for _, gpu, *_ in seen}, {"0", "1"})
        for group in "abcd":
            self.assertEqual(len({gpu for name, gpu, *_ in seen if name[0] == group}), 1)

    def test_the_gpus_are_those_that_may_be_seen(self) -> None:
        plan = [planned(name, group=name) for name in "abcd"]
        self.assertEqual(
            {gpu for _, gpu, *_ in self.run_on(2, *plan, CUDA_VISIBLE_DEVICES="5,3")}, {"5", "3"}
        )
        with self.assertRaisesRegex(ToolError, "--gpus 2: CUDA_VISIBLE_DEVICES lists only 1"):
            self.run_on(2, planned("e"), CUDA_VISIBLE_DEVICES="5")

    def test_programs_of_the_cpu_have_cores_of_their_own(self) -> None:
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        seen = self.run_on(1, planned("gpu"), planned("cpu", cpu=True))
        self.assertEqual(
            [name for name, *_ in seen], ["gpu"] * 3 + ["cpu"] * 3
        )  # with one GPU, the CPU program runs later
        first, second = sorted(os.sched_getaffinity(0))[:2]
        with mock.patch.object(shares, "cores_of", return_value=([[first]] * 2, [[second]])):
            seen = self.run_on(2, planned("gpu2"), planned("cpu2", cpu=True))[6:]
        self.assertEqual(
            {name: cores for name, _, cores, *_ in seen}, {"gpu2": [first], "cpu2": [second]}
        )

    def test_several_gpus_come_first_and_alone(self) -> None:
        plan = [planned("one", rounds=1), planned("both", rounds=1)]
        plan[1] = runner.Planned(**{**plan[1].__dict__, "arguments": "--bodies 100 --devices 2"})
        seen = self.run_on(2, *plan)
        ends = {name: (begin, end) for name, _, _, begin, end in seen}
        self.assertLess(ends["both"][1], ends["one"][0])
        self.assertEqual(
            {gpu for name, gpu, *_ in seen if name == "both"},
            {os.environ.get("CUDA_VISIBLE_DEVICES")},
        )

    def test_a_broken_gpu_is_said_and_the_others_go_on(self) -> None:
        plan = [planned(name, group=name) for name in "abcdefgh"]
        with self.assertRaisesRegex(Failed, "no CUDA device"):
            self.run_on(2, *plan, broken="1")
        runs = runner.Journal(self.folder / "out" / "runs.jsonl").runs
        self.assertFalse([run for run in runs if "failure" in run])
        self.assertGreaterEqual(len({run["key"] for run in runs}), 6)
