"""The tables of docs/limits.md: factors that lead from a ceiling to a rate, and shapes that ./nbody tune timed."""

import json

from nbody_tools.documents import limits
from nbody_tools.records.facts import Facts
from nbody_tools.records.record import RecordError
from tests import fakes

STEP = "step12_newton3"
LOOP = {"step": STEP, "kernel": "f<1, 2>", "architecture": "sm_90", "cuda": "13.0", "loop": "0x1-0x2", "interactions": 4,
        "instructions": {"fp32": 24, "mufu": 4, "shuffle": 4, "shared": 0, "memory": 0, "other": 8, "fp64": 0}, "slots": 48}
PROFILE = {"step": STEP, "kernel": "f<1, 2>", "machine": "Test GPU", "date": "2026-01-02T", "systems": 1, "bodies": 4096,
           "steps": 1, "launches": 1,
           "metrics": {"duration_us": 750.0, "issue_percent": 50.0, "sm_busy_percent": 90.0,
                       "instructions_per_interaction": 12.5, "stall_not_selected": 1.0, "stall_barrier": 2.0}}


class Limits(fakes.InRepository):
    def left(self) -> dict[str, list[str]]:
        lines = limits.left(self.results, Facts(self.folder)).content.splitlines()
        return {cells[0]: cells[1:] for line in lines for cells in [[c.strip() for c in line.strip("|").split("|")]]}

    def test_factors_from_the_ceiling_to_the_rate(self) -> None:
        self.file("docs/results/sass/a.jsonl", "".join(json.dumps(line) + "\n" for line in (
            LOOP, {**LOOP, "slots": 90}, {**LOOP, "kernel": "f<1, 3>", "slots": 7})))
        run = fakes.record(STEP, systems=1, bodies=4096, steps=5, compute=[0.005] * 3)
        self.file("docs/results/limits/a.jsonl", json.dumps(run) + "\n")
        self.file("docs/results/limits/profiles/a.jsonl", json.dumps(PROFILE) + "\n")
        table = self.left()
        self.assertEqual(table[""], ["12, 4,096"])
        self.assertEqual(table["ceiling, G/s"], [f"{33.45e3 / 12:.0f}"])
        self.assertEqual(table["instructions that are in the inner loop, %"], ["80.0"])  # 10 of 12.5
        self.assertEqual(table["slots used while an SM has work, %"], ["60.0"])  # 48 slots are 40 instructions
        self.assertEqual(table["time step that this kernel takes, %"], ["75.0"])
        self.assertEqual((table["a warp issues, %"], table["for its block, or all blocks, %"]), (["25.0"], ["50.0"]))
        self.assertEqual(table["measured, G/s"], [f"{4096 ** 2 / 1e-3 * 1e-9:.4g}"])

    def test_a_launch_of_all_time_steps(self) -> None:
        step = "step13_persistent"
        self.file("docs/results/sass/a.jsonl", json.dumps({**LOOP, "step": step}) + "\n")
        run = fakes.record(step, systems=1, bodies=4096, steps=5, compute=[0.005] * 3)
        self.file("docs/results/limits/a.jsonl", json.dumps(run) + "\n")
        profile = {**PROFILE, "step": step, "steps": 100, "metrics": {**PROFILE["metrics"], "duration_us": 80e3}}
        self.file("docs/results/limits/b.jsonl", json.dumps(profile) + "\n")
        self.assertEqual(self.left()["time step that this kernel takes, %"], ["80.0"])

    def test_nothing_measured(self) -> None:
        self.assertIsNone(limits.left(self.results, Facts(self.folder)).content)
        self.assertIsNone(limits.tuned(self.results, STEP).content)

    def test_the_fastest_shape_for_each_number_of_bodies_per_thread(self) -> None:
        line = {"step": STEP, "systems": 1, "bodies": 1000, "steps": 10, "bodies_per_thread": 2, "chunk": 256,
                "seconds": [1e-4, 1e-3, 9e-3]}
        lines = (line, {**line, "chunk": 512, "seconds": [5e-4]}, {**line, "bodies_per_thread": 4, "bodies": 2000},
                 {**line, "step": "step13_persistent", "seconds": [1e-9]}, {**line, "group": 8} | {"chunk": 1024})
        self.file("docs/results/tuning/a.jsonl", "".join(json.dumps(one) + "\n" for one in lines))
        self.assertEqual(limits.tuned(self.results, STEP).content.splitlines()[2:], ["| 2 | 20 (512) | - |", "| 4 | - | 40 (256) |"])
        self.file("docs/results/tuning/a.jsonl", json.dumps({**line, "seconds": []}) + "\n")
        with self.assertRaises(RecordError):
            limits.tuned(self.results, STEP)
