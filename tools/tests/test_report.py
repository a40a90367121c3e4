"""Tests the figures and the numbers in documents: how numbers are defined, which records they come
from, and that none of them is typed by hand."""

import unittest
from typing import Any
from unittest import mock

import jinja2

from nbody_tools.documents import report
from nbody_tools.documents.documents import REPORT, REPORT_TABLES
from nbody_tools.documents.tables import TABLES, table
from nbody_tools.documents.templates import FILTERS, literal_numbers
from nbody_tools.documents.vocabulary import Vocabulary
from nbody_tools.records.facts import FactError, Facts
from tests import fakes


class InRoot(fakes.InRepository):
    def setUp(self) -> None:
        super().setUp()
        for step, _, _ in fakes.STAIRCASE:
            self.file(f"{step}/nbody.cu", f"// {step} -- x.\n")
        self.records("a.jsonl", *fakes.staircase_records())

    def evaluate(self, body: str) -> Any:
        environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
        environment.filters.update(FILTERS)
        vocabulary = Vocabulary(self.folder)
        words = {**vocabulary.words, **vocabulary.words_of_step("step03_tiling")}
        return environment.compile_expression(body, undefined_to_none=False)(**words)

    def text(self, body: str) -> str:
        return str(self.evaluate(body))


class Numbers(InRoot):
    def test_values(self) -> None:
        for body, expected in (
            ("step03_tiling.systems.compute", "100 ms"),
            ("this.systems.total", "600 ms"),
            ("this.systems.gips", "429.5"),
            ("this.systems.gips | fixed(2)", "429.50"),
            ("this.systems.gips | digits(2)", "429"),
            ("this.systems.compute | digits(1)", "100 ms"),
            ("this.systems.compute | seconds", "0.1 s"),
            ("this.systems.total | milliseconds", "600 ms"),
            ("this.systems.slots | fixed(1)", "77.9"),
            ("this.systems.speedup", "67.50"),
            ("this.systems.error", "2.0e-07"),
            ("this.systems.check('acceleration_rms')", "2.0e-07"),
            ("this.systems.date", "2026-01-02"),
            ("this.at(32, 8192, 20).repeats", "3"),
            (
                "this.systems.caption",
                "Test GPU (CUDA 13.0, driver 13.0), 2026-01-02: 32 x 8192 bodies, "
                "20 steps, galaxies, euler, dt 0.01, softening 0.05",
            ),
            (
                "(step02_layout.systems.compute / step01_gpu_naive.systems.compute) | change",
                "+4.0 %",
            ),
            ("step02_layout.systems.compute / step01_gpu_naive.systems.compute", "1.04"),
            ("published.multi.time", "0.1410"),
            ("published.multi.gips_from_time", "304.6"),
            ("published.citation", "a report"),
            ("machine.gpu.fp32_peak", "66.9"),
            ("machine.gpu.name", "Test GPU"),
            ("predicted('03', 'predicted G/s')", "250"),
            ("this.systems.gips / predicted('03', 'predicted G/s')", "1.72"),
            ("predicted('08, one device', 'predicted')", "as step 07"),
            ("this.lines", "1"),
        ):
            with self.subTest(body=body):
                self.assertEqual(self.text(body), expected)

    def test_missing_is_not_wrong(self) -> None:
        for body in (
            "step03_tiling.wide.on(4).gips",
            "cpu_simd.systems.gips",
            "predicted('07', 'reasoning')",
            "this.kernel('advance_systems').registers",
            "variant('step09_x').systems.gips",
            "this.systems.check('colour')",
            "cpu_simd.systems.gips / this.systems.gips",
            "(this.systems.gips / cpu_simd.systems.gips) | change",
            "table('devices')",
            "cpu_simd.systems.total | milliseconds",
        ):
            with self.subTest(body=body):
                self.assertIsNone(self.evaluate(body).content)
        for body in ("this.huge.gips", "this.systems.joules", "variant('steps').systems.gips",
                     "machine.gpu.colour", "published.none.time", "predicted('03', 'colour')",
                     "profile('colour')", "table('chairs')"):
            with self.subTest(body=body), self.assertRaises(FactError):
                self.evaluate(body)

    def test_the_newest_record_that_has_a_base_counts(self) -> None:
        self.records("b.jsonl", *[
            fakes.record("step00_cpu_omp", "cpu", (20.0,), date="2026-05-01"),
            fakes.record("step03_tiling", "cuda", (0.05,), date="2026-05-01"),
            fakes.record("step03_tiling", "cuda", (9.0,), date="2026-05-02", systems=256,
                         device={**fakes.GPU, "count": 4})])
        self.records("c.jsonl", *[  # without step 00, on another machine, and emulated
            fakes.record("step03_tiling", "cuda", (7.0,), date="2026-06-01"),
            fakes.record("step03_tiling", "cuda", (7.0,), date="2026-06-02",
                         device={**fakes.GPU, "name": "Other GPU"}),
            fakes.record("step03_tiling", "hostcuda", (7.0,), date="2026-06-03")])
        self.assertEqual(self.text("this.systems.compute"), "50 ms")
        self.assertEqual(self.text("this.systems.speedup"), f"{20.5 / 0.55:.2f}")
        self.assertEqual(self.text("this.wide.on(4).compute"), "9 s")
        self.assertIsNone(self.evaluate("this.wide.on(4).speedup").content)

    def test_other_programs_variants_and_profiles(self) -> None:
        (self.results / "cpu").mkdir()
        (self.results / "profiles").mkdir()
        fakes.write_records(self.results / "cpu" / "x.jsonl",
                            [fakes.record("cpu_simd", "cpu", (3.5,))])
        fakes.write_records(
            self.results / "v.jsonl", [fakes.record("step03_tile_64", "cuda", (0.2,))]
        )
        fakes.write_records(
            self.results / "profiles" / "p.jsonl",
            [
                {
                    "step": step,
                    "kernel": f"{step[:6]}<int>",
                    "date": "2026",
                    "launches": 1,
                    "systems": 32,
                    "bodies": 8192,
                    "metrics": {"registers": 40.0 + len(step)},
                }
                for step in ("step02_layout", "step03_tiling")
            ],
        )
        facts = Facts(self.folder)
        self.assertEqual(self.text("cpu_simd.systems.compute"), "3.5 s")
        self.assertEqual(self.text("this.kernel('step03').registers"), "53")
        self.assertEqual(self.text("this.kernel().registers"), "53")
        self.file("step03_tiling/nbody.cu", '.parent = "step02_layout"')
        self.assertEqual(self.text("profile('registers')").splitlines()[::2],
                         ["| 32 x 8192 bodies | 02 layout: `step02` | 03 tiling: `step03` |",
                          "| registers per thread | 53 | 53 |"])
        self.assertEqual(self.text("variants()"), self.text("variants('step03_tile_64')"))
        self.assertEqual(self.text("variants('step03_x')"), "*not measured*")
        self.assertRegex(
            self.text("variants()"), r"\| step03_tile_64 \| 32 x 8192 x 20 \| 1 \|.*\| 0\.500 \|"
        )
        self.assertIn("| cpu_simd | Test CPU x 64 | 4 s", str(table("cpu", facts)))

    def test_tables(self) -> None:
        facts = Facts(self.folder)
        for name in TABLES:
            text = table(name, facts).content
            if text is not None:
                self.assertEqual(len({line.count(" | ") for line in text.splitlines()}), 1, name)
        self.assertIn("370.19 (by its time: 304.6)", str(table("staircase", facts)))
        self.assertIn("| cpu_simd | *not measured*", str(table("cpu", facts)))


class TypedNumbers(unittest.TestCase):
    def test_numbers_must_be_filled_in(self) -> None:
        allowed = ("{# 99.5 #}\nstep03 has 32 x 8192 bodies, float32, N², {{ (a.b / c.d) | "
                   "fixed(77) }}, 10⁹, in 2026.")
        self.assertEqual(literal_numbers(allowed, "t.md"), [])
        found = literal_numbers("fine\nfaster by 3.7, or 1659 G/s (41 %)\n", "t.md")
        self.assertEqual([text.partition(" is neither")[0] for text in found],
                         [f"t.md:2: the number {number}" for number in ("3.7", "1659", "41")])

    def test_the_repositorys_own_templates(self) -> None:
        texts = [(fakes.TOOLS.parent / name).read_text(encoding="utf-8")
                 for name in (REPORT, REPORT_TABLES)]
        for text in texts:
            self.assertEqual(literal_numbers(text, "t.md"), [])
        for name in TABLES:
            with self.subTest(table=name):
                self.assertIn(f'{{{{ table("{name}") }}}}', "".join(texts))


class Check(InRoot):
    def setUp(self) -> None:
        super().setUp()
        try:
            from nbody_tools.figures import style
        except ModuleNotFoundError as missing:
            self.skipTest(f"{missing.name} is not installed")
        # Saves blank figures, because every call would draw all figures. test_figures tests how
        # figures look.
        blank = lambda figure, file, **_: file.write_text("<svg></svg>", encoding="utf-8")
        patched = mock.patch.multiple(
            style.Figure,
            savefig=blank,
            get_layout_engine=lambda figure: None,
            get_tightbbox=lambda figure: style.Bbox.unit(),
        )
        patched.start()
        self.addCleanup(patched.stop)
        self.file(REPORT, "# Title\n\nMakes {{ step03_tiling.systems.gips }} G/s.\n\n"
                  "{{ figure('steps') }}\n")
        self.file(REPORT_TABLES, "# Tables\n\n{{ table('staircase') }}\n")
        self.records("a.jsonl", *[data for data in fakes.staircase_records()
                                  if data["step"] in ("step00_cpu_omp", "step03_tiling")])

    def test_written_then_stale(self) -> None:
        code, out = self.tool("report", "--check")
        self.assertEqual(code, 1)
        self.assertIn("docs/report.template.md:5: figure('steps') is not measured", out)
        self.assertEqual(self.tool("report")[0], 0)
        self.assertIn("Makes 429.5 G/s.\n\n![steps](figures/steps.svg)",
                      self.read("docs/report.md"))
        self.assertIn("| [step03_tiling](../step03_tiling/) |", self.read("docs/report_tables.md"))
        self.assertEqual(self.tool("report", "--check"), (0, ""))

        self.file(REPORT, "# Title\n\nMakes 17.5 and {{ step02_layout.systems.gips }} G/s.\n")
        code, out = self.tool("report", "--check")
        self.assertEqual(code, 1)
        for expected in (
            "template.md:3: the number 17.5",
            "3: step02_layout.systems.gips is not measured",
            "docs/report.md:5: out of date",
        ):
            self.assertIn(expected, out)

        self.file("docs/report_tables.md", self.read("docs/report_tables.md").replace("429", "430"))
        self.assertIn("docs/report_tables.md:10: out of date", self.tool("report", "--check")[1])

    def test_new_records_make_figures_stale(self) -> None:
        self.assertEqual(self.tool("report")[0], 0)
        (self.folder / report.FIGURES / "steps.svg").unlink()
        new = [{**data, "date": "2026-02-02T00:00:00Z"} for data in fakes.staircase_records()]
        self.records("b.jsonl", *new)
        code, out = self.tool("report", "--check")
        self.assertEqual(code, 1)
        self.assertIn("report.json: the figures were drawn from other", out)
        self.assertIn("steps.svg: is missing", out)

    def test_a_timeline_is_drawn_where_it_is(self) -> None:
        self.file(REPORT, "{{ figure('overlap') }}\n")
        self.assertIn("figure('overlap') is not measured", self.tool("report", "--check")[1])
        self.file(str(report.TIMELINES / "step03_tiling.timeline.csv"),
                  "device,stream,system,stage,begin,end\n0,0,0,upload,0,1\n0,0,0,compute,1,5\n")
        self.assertEqual(self.tool("report")[0], 0)
        self.assertTrue((self.folder / report.FIGURES / "overlap.svg").is_file())
        self.assertEqual(self.tool("report", "--check")[0], 0)
