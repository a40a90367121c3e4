"""Tests the tables and figures that are made from records of force errors, of a long run of a disk,
of production sums and of step 15. Also tests which records are rejected."""

from unittest import mock

from nbody_tools.accuracy import measure as parts, tables as accuracy
from nbody_tools.documents import report
from nbody_tools.measure import ncu
from nbody_tools.tree import measure as part, tables as tree
from nbody_tools.records.record import Record, RecordError
from tests import fakes

ERRORS = {"bodies": 4096, "rms": 2e-7, "median": 1e-7, "p99": 3e-7, "p999": 4e-7}
DRIFT = {
    "step": [0, 50, 100],
    "time": [0, 0.5, 1],
    "energy": [0, -3e-6, 2e-6],
    "momentum": [0, 1e-9, 2e-9],
    "angular_momentum": [0, 1e-7, 5e-8],
}
DISK = {"mass": 6.0, "half_mass_radius": 1.75, "thickness": 0.1, "vertical_dispersion": 0.2}
SUMS = {
    "step": "production_sums",
    "revision": "0",
    "date": "2026-01-02T03:04:05Z",
    "device": fakes.GPU,
    "backend": "cuda",
    "flags": "",
    "sums": "acceleration_jerk",
    "bodies": 16384,
    "median": 1e-3,
    "iqr": 1e-5,
    "interactions_per_second": 2.7e11,
    "errors": {"acceleration": 1e-7, "jerk": 3e-7, "potential": None},
    "verdict": "pass",
}


class Page(fakes.InRepository):
    def said(self, word: str) -> object:
        return accuracy.words(self.results)[word]().content

    def test_nothing_measured(self) -> None:
        for word in ("force_errors", "long_disk", "tensor_cores", "production_sums"):
            self.assertIsNone(self.said(word))
        self.records(
            "accuracy_speed/a.jsonl", fakes.record("step03_tiling", "hostcuda", force_error=ERRORS)
        )
        self.assertIsNone(self.said("force_errors"))

    def test_errors_beside_rates(self) -> None:
        one = {"systems": 1, "bodies": 262144, "scenario": "plummer"}
        self.records(
            "accuracy_speed/a.jsonl",
            fakes.record("step02_layout", force_error=ERRORS),
            fakes.record("step11_x", force_error={**ERRORS, "p999": 7e-7}, **one),
            fakes.record("step11_kahan", force_error=ERRORS, **one),
            fakes.record(
                "step11_x", force_error={**ERRORS, "rms": 2e-16}, precision="double", **one
            ),
        )
        text = self.said("force_errors")
        self.assertEqual(
            [
                line.split(" | ")[:2] + line.split(" | ")[3:]
                for line in text.splitlines()
                if " e-" not in line and line.startswith(("| 02", "| 11"))
            ],
            [
                [
                    "| 02 layout",
                    "float32, one running sum",
                    "2.0e-07",
                    "1.0e-07",
                    "3.0e-07",
                    "4.0e-07 |",
                ],
                ["| 11 x", "float32, a sum per tile", "2.0e-07", "1.0e-07", "3.0e-07", "7.0e-07 |"],
                [
                    "| 11 kahan",
                    "float32, compensated",
                    "2.0e-07",
                    "1.0e-07",
                    "3.0e-07",
                    "4.0e-07 |",
                ],
                ["| 11 x, float64", "float64", "2.0e-16", "1.0e-07", "3.0e-07", "4.0e-07 |"],
            ],
        )
        self.assertEqual(text.count("bodies (galaxies") + text.count("bodies (plummer"), 2)

    def test_steps_in_order_whichever_was_measured_last(self) -> None:
        self.records(
            "accuracy_speed/a.jsonl",
            *(
                fakes.record(step, force_error=ERRORS)
                for step in ("step11_x", "step11_kahan", "step04b_x", "step04_x", "step10_x")
            ),
        )
        rows = [line.split(" ")[1:3] for line in self.said("force_errors").splitlines()[4:]]
        self.assertEqual(
            [" ".join(row) for row in rows], ["04 x", "04b x", "10 x", "11 x", "11 kahan"]
        )

    def test_a_long_disk(self) -> None:
        self.records(
            "long_disk/a.jsonl",
            fakes.record(
                "step11_x", drift=DRIFT, disk={"start": DISK, "end": {**DISK, "thickness": 0.12}}
            ),
        )
        rows = self.said("long_disk").splitlines()
        self.assertIn("| 0.1000 |", rows[-2])
        self.assertIn("| 3.0e-06 | 2.0e-09 | 1.0e-07 | 1.7500 | 0.1200 |", rows[-1])

    def test_production_sums(self) -> None:
        self.records("production_sums/a.jsonl", SUMS)
        self.assertIn(
            "| 16384 | acceleration and jerk | 270 | 1.0 % | 1.0e-07 |  | 3.0e-07 | pass |",
            self.said("production_sums"),
        )

    def test_what_is_no_record_is_refused(self) -> None:
        for folder, word, data in (
            ("accuracy_speed", "force_errors", fakes.record("step03_tiling")),
            (
                "accuracy_speed",
                "force_errors",
                fakes.record("step03_tiling", force_error={**ERRORS, "p999": None}),
            ),
            ("long_disk", "long_disk", fakes.record("step11_x", drift={}, disk={})),
            (
                "long_disk",
                "long_disk",
                fakes.record("step11_x", drift=DRIFT, disk={"start": DISK, "end": {}}),
            ),
            ("production_sums", "production_sums", {**SUMS, "sums": "snap"}),
            ("production_sums", "production_sums", {**SUMS, "median": None}),
        ):
            self.records(f"{folder}/a.jsonl", data)
            with self.subTest(folder=folder, data=data), self.assertRaises(RecordError):
                self.said(word)

    def test_figures(self) -> None:
        self.records("accuracy_speed/a.jsonl", fakes.record("step02_layout", force_error=ERRORS))
        self.records(
            "long_disk/a.jsonl",
            fakes.record("step11_x", drift=DRIFT, disk={"start": DISK, "end": DISK}),
        )
        figures = report.Figures(
            None, 66.9, {}, accuracy.force_errors(self.results), accuracy.disks(self.results)
        )
        self.assertEqual(figures.names, ["accuracy", "long_disk"])
        for path in figures.draw(self.folder, None):
            self.assertGreater(path.stat().st_size, 1000)
        self.assertEqual(report.stale_figures(self.folder, figures), [])
        other = report.Figures(None, 66.9, {}, accuracy.force_errors(self.results))
        self.assertIn("other records", report.stale_figures(self.folder, other)[0])


class Part(fakes.InFolder):
    def test_drift(self) -> None:
        names = ("step", "time", "kinetic", "energy_error", *(f"momentum_{axis}" for axis in "xyz"),
                 *(f"angular_momentum_{axis}" for axis in "xyz"))
        rows = ["0,0,2,0,0,0,0,0,3,4", "10,0.5,9,-1e-6,0,8,0,0,3,4.5"]
        drift = parts.drift_of(self.file("d.csv", "\n".join([",".join(names), *rows])), mass=4.0)
        self.assertEqual(
            drift,
            {
                "step": [0, 10],
                "time": [0, 0.5],
                "energy": [0, -1e-6],
                "momentum": [0, 2],
                "angular_momentum": [0, 0.1],
            },
        )

    def test_disk(self) -> None:
        rows = [
            "id,species,m,x,y,z,vx,vy,vz",
            "0,disk,1,3,1,0.5,0,0,1",
            "1,disk,1,-5,1,-0.5,0,0,-1",
            "2,disk,1,0,1,0,0,0,0",
            "3,dark,2,9,9,9,9,9,9",
        ]
        disk = parts.disk_of(self.file("b.csv", "# time=0\n" + "\n".join(rows)))
        self.assertEqual((disk["mass"], disk["half_mass_radius"]), (5, 3))
        self.assertAlmostEqual(disk["thickness"], (0.5 / 3) ** 0.5)
        self.assertAlmostEqual(disk["vertical_dispersion"], (2 / 3) ** 0.5)


TREE_STEPS = (part.TREE, *part.DIRECT)
TREE_ERRORS = {"bodies": 1000, "rms": 2e-3, "median": 1e-3, "p99": 3e-3, "p999": 4e-3, "max": 5e-3}


def tree_record(
    step: str,
    bodies: int,
    milliseconds: float,
    theta: float = 0,
    multipole: int = 2,
    **more: object,
) -> dict:
    approximation = {"theta": theta, "multipole": multipole} if theta else None
    return fakes.record(
        step,
        compute=[4e-3 * milliseconds],
        systems=1,
        bodies=bodies,
        steps=4,
        scenario="plummer",
        approximation=approximation,
        **more,
    )


TREE_RECORDS = [
    tree_record(part.DIRECT[0], 1000, 1),
    tree_record(part.DIRECT[0], 4000, 16),
    tree_record(part.DIRECT[1], 4000, 20),
    tree_record(part.TREE, 1000, 4, 0.4),
    tree_record(part.TREE, 4000, 8, 0.4),
    tree_record(part.TREE, 16000, 20, 0.4),
    tree_record(part.TREE, 1000, 2, 0.8),
    *(
        tree_record(part.TREE, bodies, 1, theta, multipole, force_error=TREE_ERRORS)
        for bodies in (1000, 4000)
        for theta in (0.4, 0.8)
        for multipole in (0, 2)
    ),
    tree_record(part.TREE, 4000, 8, 0.6, phases={"cube": 1e-5, "keys": 1e-5, "walk": 6e-5}),
    tree_record(
        part.TREE, 5000, 9, 0.6, energies={"step": [0, 500, 1000], "change": [0, -3e-4, 2e-4]}
    ),
]


class TreePage(fakes.InRepository):
    def said(self, word: str, *asked: object) -> object:
        return tree.words(self.results)[word](*asked).content

    def test_nothing_measured(self) -> None:
        for word in ("tree_times", "tree_phases", "tree_energy", "tree_errors", "tree_crossings"):
            self.assertIsNone(self.said(word))
        for word, *asked in (
            ("tree_step", 4000, 0.4),
            ("tree_build", 4000, 0.6),
            ("tree_shares", 4000),
            ("tree_gains", 4000),
        ):
            self.assertIsNone(self.said(word, *asked))

    def test_tables(self) -> None:
        self.records("tree/a.jsonl", *TREE_RECORDS)
        times = self.said("tree_times").splitlines()
        self.assertIn("| bodies | step 11 | step 12 | tree, theta 0.4 | tree, theta 0.8 |", times)
        self.assertIn("| 4,000 | 16 ms | 20 ms | 8 ms | - |", times)
        self.assertIn("| 16,000 | - | - | 20 ms | - |", times)
        # One time grows as N^2 and the other as N^(1/2). They are equal where (N / 1000)^1.5 = 4.
        self.assertIn("| faster from |  |  | 2,500 bodies | - |", times)
        self.assertIn(
            "| 4,000 | 0.6 | 10 us | 10 us | 60 us | 25 % | 80 us |", self.said("tree_phases")
        )
        self.assertIn("relative energy change at most 3.0e-04, in 36 ms", self.said("tree_energy"))

    def test_single_numbers(self) -> None:
        self.records("tree/a.jsonl", *TREE_RECORDS)
        self.assertAlmostEqual(self.said("tree_step", 16000, 0.4), 20e-3)
        self.assertAlmostEqual(self.said("tree_build", 4000, 0.6), 2e-5)
        self.assertEqual(self.said("tree_shares", 4000), "25 to 25 %")
        self.assertEqual(self.said("tree_crossings"), "2,500 to 2,500")
        self.assertEqual(self.said("tree_gains", 4000), "2 to 2")
        for word, *asked in (
            ("tree_step", 16000, 0.8),
            ("tree_build", 4000, 0.8),
            ("tree_shares", 1000),
            ("tree_gains", 16000),
        ):
            self.assertIsNone(self.said(word, *asked))

    def test_errors_are_those_of_the_largest_system(self) -> None:
        self.records("tree/a.jsonl", *TREE_RECORDS)
        table = self.said("tree_errors").splitlines()
        self.assertTrue(
            table[0].startswith("The errors were computed for 1000 of 4,000 bodies (plummer).")
        )
        self.assertEqual(table[-4:], [f"| {quadrupole} | {theta} | 2.0e-03 | 3.0e-03 | 5.0e-03 |"
                                      for quadrupole in ("yes", "no") for theta in (0.4, 0.8)])

    def test_openings(self) -> None:
        def opened(step: str, milliseconds: float, rms: float, **more: object) -> dict:
            data = tree_record(step, 3200, milliseconds, 0.5,
                               force_error={**TREE_ERRORS, "rms": rms}, **more)
            if step == part.FORCE_AWARE:
                data["approximation"]["force_tolerance"] = 0.01
            return data

        self.assertIsNone(self.said("tree_openings"))
        self.assertIsNone(self.said("opening_gain", "plummer", 3200, 1e-3))
        walk = {"instructions": 200.0, "seconds": 2e-3}
        half = {"instructions": 100.0, "seconds": 1e-3}
        self.records("openings/a.jsonl", opened(part.TREE, 8, 1e-4),
                     opened(part.TREE, 2, 1e-2, walk=walk),
                     opened(part.FORCE_AWARE, 1, 1e-3, walk=half),
                     opened(part.FORCE_AWARE, 2, 1e-4))
        self.assertIn(
            "| plummer, 3,200 | 15b, tolerance 0.01 | 1 ms | 1.0e-03 | 3.0e-03 | 5.0e-03 |",
            self.said("tree_openings"),
        )
        # On a logarithmic scale, 1e-3 is midway between 1e-4 and 1e-2, and 4 ms between 8 and 2 ms.
        self.assertAlmostEqual(self.said("opening_time", "plummer", 3200, "15", 1e-3), 4e-3)
        self.assertAlmostEqual(self.said("opening_gain", "plummer", 3200, 1e-3), 4)
        self.assertIsNone(self.said("opening_time", "plummer", 3200, "15", 1e-5))
        self.assertIn("| instructions of a warp | 2 | 1 | 2.00 |",
                      self.said("opening_account", "plummer", 3200))

    def test_every_revision_is_named(self) -> None:
        records = [
            tree_record(part.TREE, bodies, 1, 0.4, revision=name)
            for bodies, name in ((1000, "one"), (2000, "two"))
        ]
        self.records("tree/a.jsonl", *records)
        self.assertIn("revisions one, two.", self.said("tree_times"))

    def test_an_energy_seen_at_both_ends_is_no_maximum(self) -> None:
        data = tree_record(part.TREE, 6000, 9, 0.6, energies={"step": [0, 9], "change": [0, 1e-5]})
        self.records("galaxies/a.jsonl", data)
        self.assertIn("relative energy change 1.0e-05", self.said("tree_energy"))

    def test_figures(self) -> None:
        figures = report.Figures(None, 1.0, {}, tree=[Record(data) for data in TREE_RECORDS])
        self.assertEqual(figures.names, ["tree_time", "tree_error"])
        for path in figures.draw(self.folder, mock.Mock()):
            self.assertGreater(path.stat().st_size, 20000)


class TreeMeasure(fakes.Measuring):
    def setUp(self) -> None:
        super().setUp()
        for step in TREE_STEPS:
            fakes.write_step(self.build, fakes.record(step), """
if "--diagnostics" in sys.argv:
    file = sys.argv[sys.argv.index("--diagnostics") + 1]
    open(file, "w").write("step,energy_error\\n0,0\\n250,-1e-4\\n")
""")

    def measured(self, path: str) -> str:
        few = mock.patch.multiple(
            part,
            SIZES=((256, 5), (4096, 5), (16384, 2)),
            LARGEST_DIRECT=256,
            LARGEST=16384,
            COMPARED={1000: 10},
        )
        with few, mock.patch.dict("os.environ", {"PATH": path}):
            return self.done(*self.measure("tree"))

    def test_times_errors_and_a_collision(self) -> None:
        self.assertIn("no ncu", self.measured("/nowhere"))
        records = self.records("tree")
        # The records of 3 direct sums, 3 angles, 3 more angles, 14 errors and a collision, and of
        # 3 angles for the largest number of bodies.
        self.assertEqual(len(records), 6 + 3 + 14 + 1 + 3)
        self.assertEqual(records[-4]["energies"], {"step": [0, 250], "change": [0, -1e-4]})

    def test_phases(self) -> None:
        kernels = (
            "DeviceReduceKernel",
            "make_keys",
            "DeviceRadixSortOnesweepKernel",
            "DeviceRadixSortOnesweepKernel",
            "settle",
            "make_nodes",
            "find_moments",
            "advance",
        )
        rows = ["ID,Kernel Name,gpu__time_duration.sum", ",,ns",
                *(f"{k},{name},{1000 * (k + 1)}" for k, name in enumerate(2 * kernels))]
        table = "\n".join(",".join(f'"{cell}"' for cell in row.split(",")) for row in rows)
        ncu = self.program(
            "bin/ncu", f'open(words[words.index("--log-file") + 1], "w").write({table!r})'
        )
        self.measured(f"{ncu.parent}:/usr/bin:/bin")
        found = [record["phases"] for record in self.records("tree") if "phases" in record]
        self.assertEqual(len(found), 6)
        self.assertEqual({name: round(1e6 * time) for name, time in found[0].items()},
                         {"cube": 9, "keys": 10, "sort": 36, "nodes": 14, "moments": 15,
                          "walk": 16})

    def test_a_kernel_of_no_phase_is_named(self) -> None:
        with self.assertRaisesRegex(Exception, "mystery"):
            part.seconds_of_phases([ncu.Launch("mystery", {"duration_us": 1.0})])
