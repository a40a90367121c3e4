"""The report: placeholders, what is no placeholder, which record counts, and staleness."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

import fakes
from nbody_tools.documents import report
from nbody_tools.records.facts import FactError, Facts, Missing, Problem
from nbody_tools.documents.tables import TABLES, table
from nbody_tools.documents.templates import definitions, evaluate, literal_numbers, render

TOP = """<!-- about
problem systems = 32 x 8192 x 20
problem wide = 256 x 8192 x 20
machine gpu = Test GPU
machine cpu = Test CPU x 64
-->
"""
PREDICTIONS = """| step | reasoning | predicted G/s |
|---|---|---|
| 03 | tiles | 250 |

| what | reasoning | predicted |
|---|---|---|
| 08, one device | a thread | as step 07 |
"""
PUBLISHED = {"citation": "a report", "machine": "2 x K80",
             "problem": {"systems": 32, "bodies": 8192, "steps": 20},
             "rows": [{"key": "multi", "label": "multiple GPUs", "step": "step03_tiling",
                       "time": 0.1410, "speedup": 40.53, "gips": 370.1884}]}
MACHINES = {"Test GPU": {"issue_slots": {"label": "slots", "value": 33.45, "unit": "10¹²/s",
                                         "source": "product"},
                         "fp32_peak": {"label": "peak", "value": 66.9, "unit": "TFLOP/s",
                                       "source": "product"}}}


class InRoot(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.results = self.root / "docs" / "results"
        self.results.mkdir(parents=True)
        for step, _, _ in fakes.STAIRCASE:
            (self.root / step).mkdir()
        (self.root / "docs" / "published.json").write_text(json.dumps(PUBLISHED), encoding="utf-8")
        (self.root / "docs" / "machines.json").write_text(json.dumps(MACHINES), encoding="utf-8")
        (self.results / "predictions.md").write_text(PREDICTIONS, encoding="utf-8")
        fakes.write_records(self.results / "a.jsonl", fakes.staircase_records())

    def template(self, text: str) -> None:
        (self.root / report.TEMPLATE).write_text(TOP + text, encoding="utf-8")

    def facts(self) -> Facts:
        return Facts(self.root, *definitions(TOP)[:2])

    def call(self, *words: str) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                code = report.main(["--root", str(self.root), *words])
            except SystemExit as end:
                code = end.code
        return code, out.getvalue()


class Placeholders(InRoot):
    def test_values(self) -> None:
        facts = self.facts()
        for body, expected in (
                ("step03_tiling.systems.compute", "100 ms"), ("step03_tiling.systems.total", "600 ms"),
                ("step03_tiling.systems.gips", "429.5"), ("step03_tiling.systems.gips:.1f", "429.5"),
                ("step03_tiling.systems.slots:.1f", "77.9"),
                ("step03_tiling.systems.speedup", "67.50"), ("step03_tiling.systems.error", "2.0e-07"),
                ("step03_tiling.systems.date", "2026-01-02"),
                ("step02_layout.systems.compute / step01_gpu_naive.systems.compute:change", "+4.0 %"),
                ("step02_layout.systems.compute / step01_gpu_naive.systems.compute", "1.04"),
                ("published.multi.time", "0.1410"), ("published.multi.gips_from_time", "304.6"),
                ("published.citation", "a report"), ("machine.gpu.fp32_peak", "66.9"),
                ("machine.gpu.name", "Test GPU"), ("predicted[03].predicted G/s", "250"),
                ("step03_tiling.systems.gips / predicted[03].predicted G/s", "1.72"),
                ("predicted[08, one device].predicted", "as step 07")):
            with self.subTest(body=body):
                self.assertEqual(evaluate(body, facts), expected)

    def test_missing_is_not_wrong(self) -> None:
        facts = self.facts()
        for body in ("step03_tiling.wide@4.gips", "cpu_simd.systems.gips", "predicted[07].reasoning",
                     "profile.step03_tiling.advance_systems.registers", "step09_soa.systems.gips"):
            with self.subTest(body=body), self.assertRaises(Missing):
                evaluate(body, facts)
        for body in ("step03_tiling.huge.gips", "step03_tiling.systems.joules", "steps.systems.gips",
                     "machine.gpu.colour", "published.none.time", "predicted.03.reasoning", "gips",
                     "predicted[03].colour"):
            with self.subTest(body=body), self.assertRaises(FactError):
                evaluate(body, facts)

    def test_the_newest_record_that_has_a_base_counts(self) -> None:
        fakes.write_records(self.results / "b.jsonl", [
            fakes.record("step00_cpu_omp", "cpu", (20.0,), date="2026-05-01"),
            fakes.record("step03_tiling", "cuda", (0.05,), date="2026-05-01"),
            fakes.record("step03_tiling", "cuda", (9.0,), date="2026-05-02", systems=256,
                         device={**fakes.GPU, "count": 4})])
        fakes.write_records(self.results / "c.jsonl", [  # no base, another machine, emulated
            fakes.record("step03_tiling", "cuda", (7.0,), date="2026-06-01"),
            fakes.record("step03_tiling", "cuda", (7.0,), date="2026-06-02",
                         device={**fakes.GPU, "name": "Other GPU"}),
            fakes.record("step03_tiling", "hostcuda", (7.0,), date="2026-06-03")])
        facts = self.facts()
        self.assertEqual(evaluate("step03_tiling.systems.compute", facts), "50 ms")
        self.assertEqual(evaluate("step03_tiling.systems.speedup", facts), f"{20.5 / 0.55:.2f}")
        self.assertEqual(evaluate("step03_tiling.wide@4.compute", facts), "9 s")
        with self.assertRaises(Missing):
            evaluate("step03_tiling.wide@4.speedup", facts)

    def test_other_programs_variants_and_profiles(self) -> None:
        (self.results / "cpu").mkdir()
        (self.results / "profiles").mkdir()
        fakes.write_records(self.results / "cpu" / "x.jsonl",
                            [fakes.record("cpu_simd", "cpu", (3.5,))])
        fakes.write_records(self.results / "v.jsonl", [fakes.record("step03_tile_64", "cuda", (0.2,))])
        fakes.write_records(self.results / "profiles" / "p.jsonl", [
            {"step": "step03_tiling", "kernel": "f<int>", "date": "2026", "launches": 1,
             "metrics": {"registers": 40.0}}])
        facts = self.facts()
        self.assertEqual(evaluate("cpu_simd.systems.compute", facts), "3.5 s")
        self.assertEqual(evaluate("profile.step03_tiling.f.registers", facts), "40")
        self.assertIn("| step03_tile_64 | 32 x 8192 x 20 | 1 |", table("variants", facts))
        self.assertRegex(table("variants", facts), r"\| 0\.500 \|")
        self.assertIn("| cpu_simd | Test CPU x 64 | 4 s", table("cpu", facts))

    def test_tables(self) -> None:
        facts = self.facts()
        for name in TABLES:
            text = table(name, facts)
            if text is not None:
                self.assertEqual(len({line.count(" | ") for line in text.splitlines()}), 1, name)
        self.assertIn("370.19 (by its time: 304.6)", table("staircase", facts))
        self.assertIn("| cpu_simd | *not measured*", table("cpu", facts))
        self.assertIsNone(table("devices", facts))
        with self.assertRaises(FactError):
            table("chairs", facts)


class Template(InRoot):
    def test_numbers_must_be_placeholders(self) -> None:
        allowed = "<!-- 99.5 -->\nstep03 has 32 x 8192 bodies, float32, N² {a.b.c:.1f}, 10⁹, in 2026."
        self.assertEqual(literal_numbers(allowed, "t.md"), [])
        found = literal_numbers("fine\nfaster by 3.7, or 1659 G/s (41 %)\n", "t.md")
        self.assertEqual([text.partition(" is no")[0] for text in found],
                         [f"t.md:2: the number {number}" for number in ("3.7", "1659", "41")])

    def test_optional_and_needed(self) -> None:
        found = render(TOP + "A {step03_tiling.wide.gips?}\n\nB {step03_tiling.wide.gips}\n\n"
                       "{table devices?}\n\n{table devices}\n\n<!-- interpret: x -->\n", "t.md",
                       self.facts(), lambda kind, name: table(name, self.facts()))
        self.assertEqual(found.text.count("*not measured*"), 4)
        self.assertEqual(found.problems, ["t.md:9: {step03_tiling.wide.gips}: not measured",
                                          "t.md:13: {table devices}: not measured"])
        self.assertEqual((len(found.missing), found.unwritten), (2, 1))

    def test_definitions(self) -> None:
        problems, machines, timelines = definitions("<!--\nproblem a = 1 x 2 x 3\nmachine b = C d\n"
                                                    "timeline t = x + y.4\n-->\nproblem z = 4")
        self.assertEqual(problems, {"a": Problem(1, 2, 3)})
        self.assertEqual((machines, timelines), ({"b": "C d"}, {"t": ["x", "y.4"]}))
        with self.assertRaises(FactError):
            definitions("<!--\nproblem a = 1 x 2\n-->")

    def test_the_repositorys_own_template_has_no_numbers(self) -> None:
        source = fakes.TOOLS.parent / report.TEMPLATE
        self.assertEqual(literal_numbers(source.read_text(encoding="utf-8"), str(source)), [])


class Check(InRoot):
    def setUp(self) -> None:
        super().setUp()
        try:
            import matplotlib  # noqa: F401
        except ModuleNotFoundError as missing:
            self.skipTest(f"{missing.name} is not installed")
        self.template("# Title\n\nMakes {step03_tiling.systems.gips} G/s.\n\n{figure step03_tiling}\n")
        # Every call draws all figures: two steps are enough of them.
        fakes.write_records(self.results / "a.jsonl",
                            [data for data in fakes.staircase_records()
                             if data["step"] in ("step00_cpu_omp", "step03_tiling")])

    def test_written_then_stale(self) -> None:
        code, out = self.call("--check")
        self.assertEqual(code, 1)
        self.assertIn("docs/report.md:1: out of date", out)
        self.assertEqual(self.call()[0], 0)
        text = (self.root / report.REPORT).read_text(encoding="utf-8")
        self.assertIn("Makes 429.5 G/s.\n\n![step03 tiling](figures/step03_tiling.png)", text)
        self.assertEqual(self.call("--check"), (0, ""))

        self.template("# Title\n\nMakes 17.5 and {step09_soa.systems.gips} G/s.\n")
        code, out = self.call("--check")
        self.assertEqual(code, 1)
        for expected in ("template.md:9: the number 17.5", "{step09_soa.systems.gips}: not measured",
                         "docs/report.md:5: out of date"):
            self.assertIn(expected, out)

    def test_new_records_make_figures_stale(self) -> None:
        self.assertEqual(self.call()[0], 0)
        (self.root / report.FIGURES / "step03_tiling.png").unlink()
        new = [{**data, "date": "2026-02-02T00:00:00Z"} for data in fakes.staircase_records()]
        fakes.write_records(self.results / "b.jsonl", new)
        code, out = self.call("--check")
        self.assertEqual(code, 1)
        self.assertIn("report.json: the figures were drawn from other", out)
        self.assertIn("step03_tiling.png: is missing", out)

    def test_a_timeline_is_drawn_where_it_is(self) -> None:
        self.template("{figure overlap}\n")
        path = self.root / report.TEMPLATE
        path.write_text(path.read_text().replace("-->", "timeline overlap = step03_tiling\n-->", 1))
        self.assertIn("{figure overlap}: not measured", self.call("--check")[1])
        (self.root / report.TIMELINES).mkdir()
        (self.root / report.TIMELINES / "step03_tiling.timeline.csv").write_text(
            "device,stream,system,stage,begin,end\n0,0,0,upload,0,1\n0,0,0,compute,1,5\n")
        self.assertEqual(self.call()[0], 0)
        self.assertTrue((self.root / report.FIGURES / "overlap.png").is_file())
        self.assertEqual(self.call("--check")[0], 0)


if __name__ == "__main__":
    unittest.main()
