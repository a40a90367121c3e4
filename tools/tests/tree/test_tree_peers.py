"""Tests ./nbody measure tree_peers and galaxies with made-up programs."""

import json
import struct
from unittest import mock

from nbody_tools.compare.bodies import DT
from nbody_tools.documents import report
from nbody_tools.measure import galaxies
from nbody_tools.tree import peers as tree_peers, tables as documents
from nbody_tools.records.record import Record
from tests import fakes

# Every body is accelerated along x, and the printed acceleration has an error of 1 %.
ECL_BH = """
count = int(words[0])
print("Total kernel execution time: 0.5000 s")
if DEBUG:
    for i in range(count):
        print(f"{i}: 1.00e+00 2.00e+00 3.00e+00")
        print(f"{i}: 1.01e+00 0.00e+00 0.00e+00 5.00e+00")
        print(f"{i}: 1.00e+00 2.00e+00")
"""
RYOANJI = """
print("Traverse             : 0.0040000 s (1.0 TFlops)")
print("Total BH            : 0.9000000 s (1.0 TFlops)")
print("1st percentile: 0.0125")
"""
HEADER = struct.Struct("<8s6Idq3d2I32s32s")  # repeated here, to share no bug with the reader
DIRECT = f"""
import struct
if "--output" in sys.argv:
    data = bytearray(open(sys.argv[sys.argv.index("--input") + 1], "rb").read())
    for at in range({HEADER.size}, len(data), 28):
        data[at + 12:at + 24] = struct.pack("<3f", {DT}, 0, 0)
    open(sys.argv[sys.argv.index("--output") + 1], "wb").write(data)
    sys.exit()
"""


def tree_record(**more: object) -> dict:
    return {
        **fakes.record(tree_peers.TREE),
        "approximation": {"theta": 0.6, "multipole": 2},
        **more,
    }


class TreePeers(fakes.Measuring):
    def setUp(self) -> None:
        super().setUp()
        fakes.write_step(
            self.build, tree_record(bodies=64, force_error={"rms": 0.005, "p99": 0.013, "max": 0.1})
        )
        fakes.write_step(self.build, fakes.record(tree_peers.DIRECT), DIRECT)

        few = mock.patch.object(tree_peers, "POWERS", (6,))
        few.start()
        self.addCleanup(few.stop)

    def peers(self) -> list[dict]:
        return json.loads((self.output / "tree_peers/peers.json").read_text())

    def test_what_is_not_given_is_named(self) -> None:
        out = self.done(*self.measure("tree_peers"))
        self.assertIn("--ecl-bh needs a path", out)
        self.assertIn("--ryoanji needs a path", out)

    def test_times_and_errors_of_both(self) -> None:
        out = self.done(
            *self.measure(
                "tree_peers",
                "--ecl-bh",
                self.program("ecl", f"DEBUG = True{ECL_BH}"),
                "--ryoanji",
                self.program("demo", RYOANJI),
            )
        )
        ecl, ryoanji = self.peers()
        self.assertEqual((ecl["bodies"], ecl["seconds"]), (64, 0.05))
        self.assertAlmostEqual(ecl["p99"], 0.01, 6)
        self.assertAlmostEqual(ecl["rms"] ** 2, 0.01 ** 2 - 3 * 0.01 ** 2 / 12, 9)
        self.assertEqual(
            (ryoanji["bodies"], ryoanji["seconds"], ryoanji["p99"]), (63, 0.004, 0.0125)
        )
        self.assertRegex(
            out, r"ECL-BH, 64 bodies: a time step 0\.05 s, rms 8\.7e-03; step 15 with theta 0\.6"
        )
        self.assertIn("Ryoanji's demo, 63 bodies: the walk alone 0.004 s, p99 1.3e-02; step 15 is "
                      "less accurate at every angle", out)
        self.assertEqual(list((self.output / "tree_peers").glob("*.bin")), [])

    def test_forces_that_are_not_printed(self) -> None:
        silent = self.program("ecl", f"DEBUG = False{ECL_BH}")
        self.assertIn(
            "it does not report its forces",
            self.done(*self.measure("tree_peers", "--ecl-bh", silent)),
        )

    def test_other_output_is_a_failure(self) -> None:
        demo = self.program("demo", "print('segmentation fault')")
        self.assertIn(
            "has no line that matches",
            self.refused(*self.measure("tree_peers", "--ryoanji", demo), code=1)
        )


class Bodies(fakes.InFolder):
    def test_they_are_those_of_the_peers(self) -> None:
        """The peers' own programs, compiled with gcc, printed the values expected here."""
        self.assertEqual([f"{value:.9g}" for value in tree_peers.ecl_bodies(2)[7:10]],
                         ["0.0128833363", "-0.0135115385", "0.11714638"])
        cube = tree_peers.cube_bodies(4095)
        self.assertEqual(
            [f"{value:.9g}" for value in cube[7:10]], ["-0.812386513", "-2.45201635", "-2.4462142"]
        )
        self.assertEqual(
            (f"{cube[-1]:.9g}", *cube[:3], *cube[-7:-4]), ("0.00011041719", -3, -3, -3, 3, 3, 3)
        )


SNAPSHOTS = """
import pathlib, struct
if "--snapshot-dir" in sys.argv:
    folder = pathlib.Path(sys.argv[sys.argv.index("--snapshot-dir") + 1])
    kinds = (2, 2, 1, 2, 1)
    places = ((0.01, 0.01), (0.01, 0.01), (5, 5), (-13.99, 13.99), (1, 1))
    for step in (200, 400, 600, 800, 1000, 1200):
        bodies = b"".join(struct.pack("<7f", x, y, 0, 0, 0, 0, 1) for x, y in places)
        header = HEADER.pack(b"NBODYBIN", 2, 0x01020304, 4, HEADER.size, 1, 5, 0.0, step, 1.0,
                             0.0, 0.0, 0, 0, b"", b"")
        (folder / f"snapshot_{step:08d}.bin").write_bytes(header + bodies + bytes(kinds))
    file = sys.argv[sys.argv.index("--diagnostics") + 1]
    open(file, "w").write("step,energy_error\\n0,0\\n400,-1e-4\\n")
"""


class Galaxies(fakes.Measuring):
    def test_maps_a_record_and_the_picture(self) -> None:
        fakes.write_step(
            self.build,
            tree_record(),
            f"import struct\nHEADER = struct.Struct({HEADER.format!r})\n{SNAPSHOTS}",
        )
        self.done(*self.measure("galaxies"))
        (record,) = self.records("galaxies")
        self.assertEqual(record["energies"], {"step": [0, 400], "change": [0, -1e-4]})
        maps = sorted((self.output / "galaxies").glob("*.pgm"))
        self.assertEqual(len(maps), 2 * len(galaxies.STATES))
        self.assertEqual(list((self.output / "galaxies").glob("*.bin")), [])
        first, second = (galaxies.read_grey_map(path) for path in (maps[0], maps[4]))
        middle = galaxies.CELLS // 2
        self.assertEqual((sum(first), first[galaxies.CELLS * (middle - 1) + middle]), (2, 2))
        self.assertEqual((sum(second), second[0]), (1, 1))

        results = self.folder / report.GALAXIES
        results.parent.mkdir(parents=True)
        (self.output / "galaxies").rename(results)
        figures = report.Figures(None, 1.0, {}, galaxies=[Record(record)])
        self.assertEqual(figures.names, ["galaxies"])
        (self.folder / report.FIGURES).mkdir(parents=True)
        self.assertEqual([path.name for path in figures.draw(self.folder, None)], ["galaxies.png"])


class Documents(fakes.InRepository):
    def test_the_table_and_the_figure(self) -> None:
        records = [tree_record(bodies=64, approximation={"theta": theta, "multipole": 2},
                               force_error={"rms": theta / 100, "p99": theta / 30, "max": theta})
                   for theta in (0.4, 0.8)]
        peers = [
            {"name": "ECL-BH", "bodies": 64, "seconds": 1.0, "what": "a time step", "rms": 0.005},
            {"name": "ECL-BH", "bodies": 128, "seconds": 2.0, "what": "a time step"},
        ]
        self.records("tree_peers/a.jsonl", *records)
        self.file("docs/results/tree_peers/a.peers.json", json.dumps(peers))
        table = documents.words(self.results)["tree_peers"]().content
        self.assertIn("| ECL-BH, a time step | 64 | 1 s | 5.0e-03 (RMS) | theta 0.4, multipole 2 | "
                      "4.0e-03 | 100 ms | 10.0 |", table)
        self.assertIn("| ECL-BH, a time step | 128 | 2 s | - | - | - | - | - |", table)
        figures = report.Figures(None, 1.0, {}, beside_peers=[Record(data) for data in records],
                                 peers=documents.peers_of(self.results))
        self.assertEqual(figures.names, ["tree_cost"])
        (self.folder / report.FIGURES).mkdir(parents=True)
        self.assertEqual([path.name for path in figures.draw(self.folder, None)], ["tree_cost.svg"])
