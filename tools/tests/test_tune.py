"""Tests ./nbody tune with made-up steps: the shape that it chooses, the input that it rejects, and
how it resumes after an interruption."""

import json
from pathlib import Path
from unittest import mock

from tests import fakes
from nbody_tools.measure.tune import best_of, updated, users_table
from nbody_tools.steps import has_gpu

# A step that runs the shape whose rank is in the table. `costs` maps ranks to the times of their
# shapes. The shape of rank `bad` fails its check.
CHOOSE = """
table = json.load(open(words[words.index("--tuned") + 1]))
shapes = table["devices"].get({device!r}, {{"shapes": []}})["shapes"]
rank = shapes[0]["rank"] if shapes else 0
open({log!r}, "a").write(f"{{rank}} {{'off' in words}}\\n")
data = json.loads({record!r})
times = [{costs}[rank] * factor for factor in (0.99, 1, 1.01)]
data["repeats"] = [{{"upload": 0, "compute": t, "download": 0, "total": t}} for t in times]
data["median"] = data["repeats"][1]
data["shape"] = {{"from": "x", "rank": rank, "of": len({costs}), "blocks": 10 * rank + 1,
                 "slots": 7}}
verdict = "fail" if rank == {bad} and "sampled" in words else "pass"
data["verdict"] = verdict
open(words[words.index("--json") + 1], "w").write(json.dumps(data) + "\\n")
sys.exit(verdict == "fail")
"""


class Tune(fakes.InFolder):
    def step(self, name: str, costs: list[float], bad: int = -1, **changes: object) -> None:
        data = fakes.record(name, **changes)
        body = CHOOSE.format(
            device=fakes.GPU["name"],
            log=str(self.folder / "log"),
            record=json.dumps(data),
            costs=costs,
            bad=bad,
        )
        fakes.write_step(self.folder / "build", data, body)

    def tune(self, *words: object) -> tuple[object, ...]:
        return (
            "tune",
            *words,
            "--build",
            self.folder / "build",
            "--bodies",
            "100,200",
            "--rounds",
            "2",
            "--repeat",
            "3",
            "--output",
            self.folder / "lines.jsonl",
            "--table",
            self.folder / "t.json",
        )

    def table(self) -> dict:
        return json.loads((self.folder / "t.json").read_text())["devices"]["Test GPU"]

    def runs(self) -> int:
        return len((self.folder / "log").read_text().splitlines())

    def test_the_fastest_that_is_right_is_taken(self) -> None:
        self.step("step11_register_blocking", [1.0, 0.5, 0.1, 0.7], bad=2)
        code, out, errors = self.call(*self.tune())
        self.assertEqual((code, errors), (1, ""))
        self.assertIn("FAILED: step11_register_blocking, 1 x 100, shape 2: fail", out)
        self.assertRegex(out, r"\n +1 +11 +.* taken\n")
        self.assertEqual(
            self.table(),
            {
                "date": "2026-01-02",
                "shapes": [
                    {
                        "step": "step11_register_blocking",
                        "systems": 1,
                        "bodies": n,
                        "rank": 1,
                        "blocks": 11,
                        "slots": 7,
                    }
                    for n in (100, 200)
                ],
            },
        )
        lines = [
            json.loads(line) for line in (self.folder / "lines.jsonl").read_text().splitlines()
        ]
        self.assertEqual([(line["bodies"], line["rank"], len(line["seconds"])) for line in lines],
                         [(n, rank, 6) for n in (100, 200) for rank in (0, 1, 3)])

    def test_within_the_spread_the_rule_holds(self) -> None:
        self.step("step12_newton3", [1.0, 0.995])
        self.done(*self.tune("12"))
        self.assertEqual([shape["rank"] for shape in self.table()["shapes"]], [0, 0])

    def test_what_was_measured_is_not_measured_again(self) -> None:
        self.step("step13_persistent", [1.0, 0.5])
        self.done(*self.tune())
        first = self.runs()
        lines = (self.folder / "lines.jsonl").read_text().splitlines()
        (self.folder / "lines.jsonl").write_text("\n".join(lines[:3]) + "\n")
        (self.folder / "t.json").unlink()
        self.done(*self.tune())
        # The tool queries every problem and checks every shape.
        # It times only the shape without a result, in two rounds.
        self.assertEqual(self.runs() - first, 2 + 4 + 2)
        self.assertEqual([shape["rank"] for shape in self.table()["shapes"]], [1, 1])

    def test_other_devices_and_problems_stay_in_the_table(self) -> None:
        old = {
            "step": "step11_register_blocking",
            "systems": 1,
            "bodies": 100,
            "rank": 2,
            "blocks": 1,
            "slots": 1,
        }
        other = {**old, "bodies": 300}
        self.file(
            "t.json",
            json.dumps(
                {
                    "devices": {
                        "Test GPU": {"date": "2025-01-01", "shapes": [old, other]},
                        "Other": {"date": "2025-01-01", "shapes": [old]},
                    }
                }
            ),
        )
        self.step("step11_register_blocking", [1.0, 0.5])
        self.done(*self.tune())
        self.assertEqual(
            [(s["bodies"], s["rank"]) for s in self.table()["shapes"]],
            [(300, 2), (100, 1), (200, 1)],
        )
        self.assertEqual(
            json.loads((self.folder / "t.json").read_text())["devices"]["Other"]["shapes"], [old]
        )

    def test_a_step_without_shapes_is_refused_before_others_are_measured(self) -> None:
        self.step("step11_register_blocking", [1.0, 0.5])
        fakes.write_step(self.folder / "build", fakes.record("step15_barnes_hut"))
        self.assertIn("step15_barnes_hut has no shapes", self.refused(*self.tune(), "11", "15"))
        self.assertFalse((self.folder / "lines.jsonl").exists())

    def test_refusals(self) -> None:
        self.step("step11_register_blocking", [1.0], backend="hostcuda")
        self.assertIn("tuning needs a GPU, as emulated times mean nothing",
                      self.refused(*self.tune(), code=77))
        self.file("lines.jsonl", "[]\n")
        self.assertIn("not measurements of ./nbody tune", self.refused(*self.tune()))
        self.file("lines.jsonl", "")
        self.file("t.json", "[]")
        self.assertIn("not a table of ./nbody tune", self.refused(*self.tune()))
        fakes.write_step(self.folder / "old", fakes.record("step11_register_blocking"))
        self.assertIn(
            "another version",
            self.call(
                "tune",
                "--build",
                self.folder / "old",
                "--table",
                self.folder / "x",
                "--output",
                self.folder / "y",
            )[2],
        )
        fakes.write_step(self.folder / "old", fakes.record("step03_tiling"))
        self.assertIn(
            "has no shapes",
            self.refused(
                "tune",
                "03",
                "--build",
                self.folder / "old",
                "--table",
                self.folder / "x",
                "--output",
                self.folder / "y",
            ),
        )

    def test_without_a_gpu(self) -> None:
        """The command exits with code 77 and a one-line message if nothing was built or the
        programs find no device."""
        fakes.write_step(self.folder / "build", fakes.record("step12_newton3"), "sys.exit(77)")
        self.assertEqual(
            self.refused(*self.tune(), code=77),
            "nbody tune: skipped: tuning needs a GPU, as emulated times "
            "mean nothing; step12_newton3 finds no device\n",
        )
        nowhere = (
            "--build",
            self.file("empty/x", "").parent,
            "--table",
            self.folder / "t",
            "--output",
            self.folder / "o",
        )
        with mock.patch("nbody_tools.measure.tune.has_gpu", return_value=False):
            self.assertIn(
                "tuning needs a GPU, as emulated times mean nothing; nvidia-smi finds no GPU here",
                self.refused("tune", *nowhere, code=77),
            )
        with mock.patch("nbody_tools.measure.tune.has_gpu", return_value=True):
            self.assertIn("build first", self.refused("tune", *nowhere))

    def test_whether_there_is_a_gpu(self) -> None:
        with mock.patch.dict("os.environ", {"PATH": str(self.folder)}):
            self.assertFalse(has_gpu())
            for listed, expected in (("No devices found.", False), ("GPU 0: NVIDIA H200", True)):
                self.program("nvidia-smi", f"#!/bin/sh\necho '{listed}'\n")
                self.assertIs(has_gpu(), expected)

    def test_where_there_is_one_way_only(self) -> None:
        fakes.write_step(self.folder / "build", fakes.record("step13_persistent", shape=None))
        self.assertIn("step13_persistent, 1 x 200: nothing to choose", self.done(*self.tune("13")))
        self.assertFalse((self.folder / "t.json").exists())

    def test_where_the_table_is(self) -> None:
        self.assertEqual(users_table().parts[-2:], ("nbody-steps", "shapes.json"))

    def test_without_the_rules_own_shape_nothing_is_taken(self) -> None:
        self.assertIsNone(best_of([{"rank": 1, "seconds": [1.0]}]))
        self.assertEqual(updated(Path(self.folder / "none"), []), {"devices": {}})
