"""Tests how records are read and sorted by step, and their quartiles. Messages about invalid
records must give the file and the line."""

from tests import fakes
from nbody_tools.arguments import ToolError
from nbody_tools.records.record import Quartiles, RecordError, quartiles, read_records
from nbody_tools.records.staircase import committed_staircase, read_staircase, staircases


class Records(fakes.InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.records = self.folder / "records.jsonl"

    def refused_with(self, expected: str) -> None:
        with self.assertRaises(RecordError) as caught:
            read_records(self.records)
        self.assertIn(expected, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_quartiles_interpolate_like_numpy(self) -> None:
        self.assertEqual(quartiles([4, 1, 3, 2]), Quartiles(1.75, 2.5, 3.25))
        self.assertEqual(quartiles([7]), Quartiles(7, 7, 7))

    def test_times_and_rates(self) -> None:
        record = read_records(fakes.write_records(self.records, [fakes.record("step03_tiling")]))[0]
        self.assertEqual(record.seconds("compute"), Quartiles(1.5, 2.0, 3.0))
        self.assertEqual(record.seconds("total").range, 1.5)
        rate = record.giga_interactions_per_second("compute")
        self.assertAlmostEqual(rate.median, 32 * 8192 ** 2 * 20 / 2.0 * 1e-9)
        self.assertLess(rate.low, rate.high)
        self.assertEqual((record.number, record.label), ("03", "03 tiling"))

    def test_a_malformed_line_is_named(self) -> None:
        fakes.write_records(self.records, [fakes.record("step01_gpu_naive")])
        with self.records.open("a", encoding="utf-8") as file:
            file.write("\n{ not json\n")
        self.refused_with(f"{self.records}:3: not JSON")

    def test_what_is_not_a_record_is_named(self) -> None:
        good = fakes.record("step01_gpu_naive")
        for change, expected in (
            ({"backend": "opencl"}, "'backend' is 'opencl'"),
            ({"bodies": "many"}, "'bodies' is \"many\""),
            ({"repeats": []}, "'repeats' is empty"),
            ({"step": "warmup"}, "'step' is 'warmup'"),
            ({"step": "step01"}, "'step' is 'step01'"),
            ({"step": "step01_../../x"}, "'step' is 'step01_../../x'"),
            ({"systems": 0}, "'systems' is 0, not a whole number from 1 to "),
            ({"bodies": 10**400}, "'bodies' is 1000"),
            ({"sources": "many"}, "'sources' is \"many\""),
            ({"device": {"name": "a GPU", "count": "two"}}, "'count' is \"two\""),
            ({"dt": float("nan")}, "it holds NaN"),
            ({"median": {**good["median"], "total": 9.0}}, "the median 'total'"),
            ({"verdict": "ok"}, "'verdict' is 'ok'"),
        ):
            with self.subTest(change=change):
                fakes.write_records(self.records, [good, {**good, **change}])
                self.refused_with(f"{self.records}:2: not a result record: {expected}")
        del good["systems"]
        fakes.write_records(self.records, [good])
        self.refused_with(":1: not a result record: 'systems' is missing")

    def test_a_judgement_says_what_the_verdict_leaves_open(self) -> None:
        old, sampled, full = read_records(fakes.write_records(self.records, [
            fakes.record("step01_gpu_naive"),
            fakes.record("step02_layout", sampled=True, undecided=["trajectory: too chaotic"]),
            fakes.record("step03_tiling", sampled=False, undecided=[])]))
        self.assertEqual(old.judgement, "pass")
        self.assertEqual(sampled.judgement, "pass (sampled; trajectory: too chaotic)")
        self.assertEqual(full.judgement, "pass")

    def test_speedup_is_of_total_times(self) -> None:
        first, second = read_records(fakes.write_records(self.records, [
            fakes.record("step00_cpu_omp", "cpu", (9.5, 9.5, 9.5)),
            fakes.record("step01_gpu_naive", "cuda", (0.5, 0.5, 0.5))]))
        self.assertEqual(second.speedup_over(first).median, 10.0)
        self.assertEqual(second.speedup_over(first, "compute").median, 19.0)

    def test_emulated_records_are_no_staircase(self) -> None:
        fakes.write_records(self.records, fakes.staircase_records()
                            + [fakes.record("step04_unroll", "hostcuda")])
        with self.assertRaisesRegex(ToolError, "hostcuda.*not GPU times"):
            read_staircase(self.records)

    def test_other_problems_are_not_compared(self) -> None:
        fakes.write_records(self.records, fakes.staircase_records()
                            + [fakes.record("step04_unroll", bodies=1024)])
        with self.assertRaisesRegex(ToolError, "2 problems.*--problem"):
            read_staircase(self.records)
        self.assertEqual(
            [record.step for record in read_staircase(self.records, "32x1024x20").records],
            ["step04_unroll"],
        )
        with self.assertRaisesRegex(ToolError, "has no problem 3x3; it has .*32x1024x20"):
            read_staircase(self.records, "3x3")
        fakes.write_records(self.records, [fakes.record("step01_gpu_naive", scenario=scenario)
                                           for scenario in ("plummer", "galaxies")])
        with self.assertRaisesRegex(ToolError, "2 problems.* copy the records of one into a file"):
            read_staircase(self.records, "32x8192x20")

    def test_other_machines_are_not_compared(self) -> None:
        another = {**fakes.GPU, "name": "Another GPU"}
        for step in ("step03_tiling", "step04_unroll"):
            fakes.write_records(self.records, [*fakes.staircase_records(),
                                               fakes.record(step, device=another)])
            with self.assertRaisesRegex(ToolError, "2 machines, .*: Test GPU / Another GPU$"):
                read_staircase(self.records)

    def test_the_last_run_of_a_step_counts_and_steps_are_sorted(self) -> None:
        records = read_records(fakes.write_records(
            self.records, [fakes.record("step03_tiling", date="2026-01-01"),
                        fakes.record("step01_gpu_naive"),
                        fakes.record("step03_tiling", date="2026-01-09")]))
        found = staircases(records)[0].records
        self.assertEqual([r.number for r in found], ["01", "03"])
        self.assertEqual(found[1].date, "2026-01-09")

    def test_the_newest_committed_measurement_is_found_by_its_date(self) -> None:
        self.assertIsNone(committed_staircase(self.folder))
        for name, date in (("z_old", "2026-01-01"), ("a_new", "2026-02-01")):
            fakes.write_records(self.folder / f"{name}.jsonl",
                                [{**data, "date": date} for data in fakes.staircase_records()])
        # These files are newer, but one lacks a CPU baseline and the other a GPU.
        fakes.write_records(self.folder / "gpu_only.jsonl",
                            [fakes.record("step03_tiling", date="2026-03-01")])
        fakes.write_records(self.folder / "emulated.jsonl",
                            [fakes.record("step00_cpu_omp", "cpu", date="2026-03-02"),
                             fakes.record("step03_tiling", "hostcuda", date="2026-03-02")])
        source, staircase = committed_staircase(self.folder)
        self.assertEqual(source.name, "a_new.jsonl")
        self.assertEqual(len(staircase.records), 4)
