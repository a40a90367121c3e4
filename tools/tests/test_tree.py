"""Step 15: its part of ./nbody measure with made-up programs, the tables and figures of what it wrote."""

import json
import sys
from unittest import mock

from nbody_tools.documents import report, tree
from nbody_tools.measure import ncu
from nbody_tools.measure import tree as part
from nbody_tools.records.record import Record
from tests import fakes

STEPS = (part.TREE, *part.DIRECT)
ERRORS = {"bodies": 1000, "rms": 2e-3, "median": 1e-3, "p99": 3e-3, "p999": 4e-3, "max": 5e-3}


def record(step: str, bodies: int, milliseconds: float, theta: float = 0, multipole: int = 2, **more: object) -> dict:
    approximation = {"theta": theta, "multipole": multipole} if theta else None
    return fakes.record(step, compute=[4e-3 * milliseconds], systems=1, bodies=bodies, steps=4, scenario="plummer",
                        approximation=approximation, **more)


RECORDS = [record(part.DIRECT[0], 1000, 1), record(part.DIRECT[0], 4000, 16), record(part.DIRECT[1], 4000, 20),
           record(part.TREE, 1000, 4, 0.4), record(part.TREE, 4000, 8, 0.4), record(part.TREE, 16000, 20, 0.4),
           record(part.TREE, 1000, 2, 0.8),
           *(record(part.TREE, bodies, 1, theta, multipole, force_error=ERRORS)
             for bodies in (1000, 4000) for theta in (0.4, 0.8) for multipole in (0, 2)),
           record(part.TREE, 4000, 8, 0.6, phases={"cube": 1e-5, "keys": 1e-5, "walk": 6e-5}),
           record(part.TREE, 5000, 9, 0.6, energies={"step": [0, 500, 1000], "change": [0, -3e-4, 2e-4]})]


class Page(fakes.InRepository):
    def said(self, word: str) -> object:
        return tree.words(self.results)[word]().content

    def test_nothing_measured(self) -> None:
        for word in ("tree_times", "tree_phases", "tree_energy"):
            self.assertIsNone(self.said(word))

    def test_tables(self) -> None:
        self.file("docs/results/tree/a.jsonl", "".join(json.dumps(data) + "\n" for data in RECORDS))
        times = self.said("tree_times").splitlines()
        self.assertIn("| bodies | step 11 | step 12 | tree, theta 0.4 | tree, theta 0.8 |", times)
        self.assertIn("| 4,000 | 16 ms | 20 ms | 8 ms | - |", times)
        self.assertIn("| 16,000 | - | - | 20 ms | - |", times)
        # Times are as N^2 and as N^(1/2): equal where (N / 1000)^1.5 is 4.
        self.assertIn("| faster from |  |  | 2,500 bodies | - |", times)
        self.assertIn("| 4,000 | 0.6 | 10 us | 10 us | 60 us | 25 % | 8 ms |", self.said("tree_phases"))
        self.assertIn("changed by at most 3.0e-04 of itself, in 36 ms", self.said("tree_energy"))

    def test_figures(self) -> None:
        figures = report.Figures(None, 1.0, {}, tree=[Record(data) for data in RECORDS])
        self.assertEqual(figures.names, ["tree_time", "tree_error"])
        for path in figures.draw(self.folder, mock.Mock()):
            self.assertGreater(path.stat().st_size, 20000)


class Measure(fakes.InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.build, self.output = self.folder / "build", self.folder / "out"
        for step in STEPS:
            fakes.write_step(self.build, fakes.record(step), """
if "--diagnostics" in sys.argv:
    open(sys.argv[sys.argv.index("--diagnostics") + 1], "w").write("step,energy_error\\n0,0\\n250,-1e-4\\n")
""")

    def script(self, name: str, text: str) -> str:
        path = self.file(f"bin/{name}", f"#!{sys.executable}\nimport sys\nwords = sys.argv[1:]\n{text}")
        path.chmod(0o755)
        return str(path.parent)

    def measure(self, path: str) -> tuple[int, str, str, list[dict]]:
        few = mock.patch.multiple(part, SIZES=((256, 5), (4096, 5), (16384, 2)), LARGEST_DIRECT=256, LARGEST=16384,
                                  COMPARED={1000: 10})
        with few, mock.patch.dict("os.environ", {"PATH": path}):
            code, out, errors = self.call("measure", "tree", "--build", self.build, "--output", self.output)
        lines = (self.output / "tree.jsonl").read_text(encoding="utf-8").splitlines()
        return code, out, errors, [json.loads(line) for line in lines]

    def test_times_errors_and_a_collision(self) -> None:
        code, out, errors, records = self.measure("/nowhere")
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("no ncu", out)
        # Three sums and three angles, then three angles; the errors; the collision; the largest.
        self.assertEqual(len(records), 6 + 3 + 14 + 1 + 2)
        self.assertEqual(records[-3]["energies"], {"step": [0, 250], "change": [0, -1e-4]})

    def test_phases(self) -> None:
        kernels = ("DeviceReduceKernel", "make_keys", "DeviceRadixSortOnesweepKernel", "DeviceRadixSortOnesweepKernel",
                   "make_nodes", "find_moments", "advance")
        rows = ["ID,Kernel Name,gpu__time_duration.sum", ",,ns",
                *(f"{k},{name},{1000 * (k + 1)}" for k, name in enumerate(2 * kernels))]
        table = "\n".join(",".join(f'"{cell}"' for cell in row.split(",")) for row in rows)
        path = self.script("ncu", f'open(words[words.index("--log-file") + 1], "w").write({table!r})')
        code, _, errors, records = self.measure(f"{path}:/usr/bin:/bin")
        self.assertEqual((code, errors), (0, ""))
        found = [record["phases"] for record in records if "phases" in record]
        self.assertEqual(len(found), 6)
        self.assertEqual({name: round(1e6 * time) for name, time in found[0].items()},
                         {"cube": 8, "keys": 9, "sort": 21, "nodes": 12, "moments": 13, "walk": 14})

    def test_a_kernel_of_no_phase_is_named(self) -> None:
        with self.assertRaisesRegex(Exception, "mystery"):
            part.seconds_of_phases([ncu.Launch("mystery", {"duration_us": 1.0})])
