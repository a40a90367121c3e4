"""Tests that the tables of experiments/latencies use the newest measurements, but never emulated
ones."""

from tests import fakes
from nbody_tools.documents import latencies
from nbody_tools.tables import NOT_MEASURED


def record(name: str, median: float, **changes: object) -> dict:
    return {
        "step": "latencies",
        "revision": "0",
        "date": "2026-01-02T03:04:05Z",
        "device": fakes.GPU,
        "backend": "cuda",
        "flags": "",
        "latency": name,
        "blocks": 132,
        "threads": 128,
        "cluster": 1,
        "operations": 1000,
        "repeats": [median],
        "median": median,
        "iqr": 0.0,
        "wrong": 0,
        "verdict": "pass",
        **changes,
    }


class Page(fakes.InRepository):
    def test_nothing_measured(self) -> None:
        self.assertEqual(latencies.table(self.results), NOT_MEASURED)
        self.records("latencies/a.jsonl", record("launch", 1e-6, backend="hostcuda"))
        self.assertEqual(latencies.table(self.results), NOT_MEASURED)
        self.assertIsNone(latencies.latency(self.results, "launch").content)
        self.assertEqual(str(2 * latencies.latency(self.results, "launch")), NOT_MEASURED)

    def test_the_newest_file(self) -> None:
        self.records("latencies/b.jsonl", record("launch", 9e-6))
        self.records(
            "latencies/a.jsonl",
            record("grid_barrier", 1.5e-6, blocks=264),
            record("grid_barrier", 1e-6),
            record("cluster_barrier", 3.5e-7, blocks=8, cluster=8, verdict="fail"),
            record("launch", 2e-6, date="2026-01-03T00:00:00Z"),
        )
        rows = latencies.table(self.results).splitlines()
        self.assertRegex(
            rows[0],
            r"^Measured on Test GPU .CUDA 13.0, driver 13.0., 2026-01-0\d, with long chains that "
            r"have 1000 more operations than the short ones:$",
        )
        self.assertEqual(
            [row.split(" | ")[:3] for row in rows[4:]],
            [
                ["| `launch`", "132 x 128", "2 us"],
                ["| `grid_barrier`", "264 x 128", "1.5 us"],
                ["| `grid_barrier`", "132 x 128", "1 us"],
                ["| `cluster_barrier`", "8 x 128, one cluster", "0.35 us"],
            ],
        )
        self.assertTrue(rows[-1].endswith("fail |"))
        self.assertEqual(
            str(latencies.latency(self.results, "grid_barrier")), "1 us"
        )  # from the smaller run
        self.assertEqual(str(2 * latencies.latency(self.results, "launch")), "4 us")

    def test_issue_slots(self) -> None:
        self.assertEqual(latencies.issue_slots(self.results), NOT_MEASURED)
        self.records(
            "latencies/a.jsonl",
            record("launch", 1e-6),
            record("issue_16_fma_0_mufu_0_shfl", 64e-9),
            record("issue_12_fma_1_mufu_0_shfl", 56e-9),
            record("issue_16_fma_0_mufu_2_shfl", 78e-9),
        )
        rows = [row.split(" | ") for row in latencies.issue_slots(self.results).splitlines()[2:]]
        self.assertEqual(
            [row[0][2:] for row in rows], ["16 FFMA", "12 FFMA, 1 MUFU.RSQ", "16 FFMA, 2 SHFL"]
        )
        self.assertEqual(
            [row[2:] for row in rows], [["16.00", "- |"], ["14.00", "2.00 |"], ["19.50", "1.75 |"]]
        )
        self.assertNotIn("issue", latencies.table(self.results))

    def test_what_is_no_record_is_refused(self) -> None:
        for changes, expected in (
            ({"latency": "lunch"}, "'latency' is 'lunch'"),
            ({"median": 0.0}, "the median is"),
            ({"blocks": "8"}, "'blocks'"),
            ({"device": None}, "'device'"),
            ({"verdict": "good"}, "'verdict'"),
        ):
            self.records("latencies/a.jsonl", {**record("launch", 1e-6), **changes})
            with self.subTest(changes=changes), self.assertRaisesRegex(Exception, expected):
                latencies.table(self.results)
        with self.assertRaisesRegex(Exception, "there is no latency 'lunch'"):
            latencies.latency(self.results, "lunch")
