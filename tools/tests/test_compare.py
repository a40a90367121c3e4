"""Tests ./nbody compare: its bodies, its sums in float64, its contenders, and the options that it
rejects."""

import json
import math
import sys
import unittest
from array import array
from unittest import mock

from tests import fakes
from nbody_tools.compare import bodies as made
from nbody_tools.compare.compare import table
from nbody_tools.compare.contenders import KTT_SHAPES, SAMPLE_BLOCKS, Contender, ktt, sample
from nbody_tools.compare import tables as comparison
from nbody_tools.tables import NOT_MEASURED

# Behaves like a step. Takes time steps with accelerations that the test knows, but multiplies the
# accelerations by a factor.
KICK = """
import struct
sys.path[:0] = [{tools!r}]
from array import array
from pathlib import Path
from nbody_tools.compare import bodies as made
data = Path(words[words.index("--input") + 1]).read_bytes()
values = array("f"); values.frombytes(data[144:])
for _ in range(int(words[words.index("--steps") + 1])):
    all_a = [made.acceleration(values, i, float(words[words.index("--softening") + 1]) ** 2)
             for i in range(len(values) // 7)]
    for i, a in enumerate(all_a):
        for k in range(3):
            values[7 * i + 3 + k] += made.DT * a[k] * {factor}
            values[7 * i + k] += made.DT * values[7 * i + 3 + k]
Path(words[words.index("--output") + 1]).write_bytes(data[:144] + values.tobytes())
"""


class Forces(fakes.InFolder):
    def test_two_bodies(self) -> None:
        values = array("f", [0, 0, 0, 0, 0, 0, 2, 3, 0, 4, 0, 0, 0, 5])
        self.assertEqual(made.acceleration(values, 0, 0.0), (5 * 3 / 125, 0.0, 5 * 4 / 125))
        ax, _, az = made.acceleration(values, 1, 11.0)
        self.assertAlmostEqual(ax, -2 * 3 / 216)
        self.assertAlmostEqual(az, -2 * 4 / 216)

    def test_the_sphere(self) -> None:
        bodies = made.plummer_sphere(self.folder / "b.bin", 2000, "different")
        again = made.plummer_sphere(self.folder / "c.bin", 2000, "different")
        self.assertEqual(bodies.path.read_bytes(), again.path.read_bytes())
        self.assertEqual(bodies.path.stat().st_size, 144 + 28 * 2000)
        masses = bodies.values[6::7]
        self.assertAlmostEqual(sum(masses), 1, delta=0.02)
        self.assertGreater(len(set(masses)), 1900)
        radii = sorted(math.dist(bodies.values[i:i + 3], (0, 0, 0)) for i in range(0, 14000, 7))
        self.assertAlmostEqual(radii[1000], 1.30, delta=0.1)  # half-mass radius of a Plummer sphere
        self.assertEqual(set(bodies.values[3::7]), {0.0})
        self.assertEqual(
            len(set(made.plummer_sphere(self.folder / "d.bin", 50, "equal").values[6::7])), 1
        )

    def test_the_error(self) -> None:
        bodies = made.plummer_sphere(self.folder / "b.bin", 300, "equal")
        reference = made.reference(bodies, made.PLUMMER)
        after = array("f", bodies.values)
        for i, a in zip(reference.sampled, reference.accelerations):
            for k in range(3):
                after[7 * i + 3 + k] = made.DT * a[k]
        self.assertEqual(len(reference.sampled), 256)
        self.assertLess(reference.error(after), 1e-7)
        for i in reference.sampled:
            after[7 * i + 4] *= 1.01
        self.assertGreater(reference.error(after), 1e-3)
        after[7 * reference.sampled[3] + 3] = math.nan
        self.assertFalse(reference.error(after) <= made.MAX_ERROR)


class WithSteps(fakes.InFolder):
    def step(self, name: str, factor: float = 1.0, **changes: object) -> None:
        fakes.write_step(self.folder / "build", fakes.record(name, **changes),
                         KICK.format(tools=str(fakes.TOOLS), factor=factor)
                         if factor else "if '--output' in words: sys.exit(3)")

    def compare(self, *words: object) -> tuple[object, ...]:
        return (
            "compare",
            *words,
            "--build",
            self.folder / "build",
            "--bodies",
            "64",
            "--rounds",
            "2",
            "--output",
            self.folder / "out.jsonl",
        )


class Tool(WithSteps):
    def test_right_wrong_and_failing(self) -> None:
        self.step("step10_tiled2d_cublas")
        self.step("step11_register_blocking", factor=1.001)
        self.step("step12_newton3", factor=0)
        code, out, errors = self.call(*self.compare("step"))
        self.assertEqual(code, 1)
        self.assertIn(
            "step11_register_blocking, 64 bodies: its forces are wrong: RMS error 1.0e-03", errors
        )
        self.assertRegex(errors, "FAILED: step12_newton3, 64 bodies: error: exit code 3")
        (line,) = (self.folder / "out.jsonl").read_text().splitlines()
        record = json.loads(line)
        self.assertEqual(
            (record["contender"], record["steps"], record["backend"]),
            ("step10_tiled2d_cublas", 1, "cuda"),
        )
        self.assertEqual((sorted(set(record["repeats"])), len(record["repeats"]), record["median"]),
                         ([1.0, 2.0, 4.0], 6, 2.0))
        self.assertRegex(out, r"step10_tiled2d_cublas +\S+ \(")

    def test_what_is_not_here_is_named(self) -> None:
        self.step("step10_tiled2d_cublas")
        code, _, errors = self.call(*self.compare("step10", "sample", "cupy"))
        self.assertEqual(code, 0)
        self.assertIn("sample: skipped: --sample needs a path", errors)
        self.assertIn("cupy: skipped: ", errors)
        self.assertIn(
            "none of frob is available",
            self.refused("compare", "frob", "--build", self.folder / "build"),
        )

    def test_a_misspelt_name_and_impossible_sizes(self) -> None:
        self.step("step10_tiled2d_cublas")
        code, _, errors = self.call(*self.compare("step10", "numpi"))
        self.assertEqual(code, 0, errors)
        self.assertIn("numpi: skipped: no program here has a name", errors)
        words = ("compare", "step10", "--build", self.folder / "build")
        self.assertIn("at least 2", self.refused(*words, "--bodies", "64,1"))
        self.assertIn("is a folder", self.refused(*words, "--output", self.folder))
        self.call(*self.compare("step10"), "--bodies", "64,64")
        self.assertEqual(len((self.folder / "out.jsonl").read_text().splitlines()), 1)

    def test_without_a_gpu(self) -> None:
        """Emulated steps compute only a few bodies and are not timed, and the output says so."""
        kick = KICK.format(tools=str(fakes.TOOLS), factor=1.0).replace("\n", "\n  ")
        fakes.write_step(
            self.folder / "build",
            fakes.record("step11_register_blocking", backend="hostcuda"),
            f"if '--input' in words:{kick}",
        )  # the first call queries the device
        words = (
            "compare",
            "step11",
            "--build",
            self.folder / "build",
            "--rounds",
            1,
            "--output",
            self.folder / "out.jsonl",
        )
        with mock.patch("nbody_tools.compare.compare.SIZES_WITHOUT_A_GPU", [70]):
            code, out, errors = self.call(*words)
        self.assertEqual(code, 0, errors)
        self.assertIn(
            "no GPU here: our steps are emulated with 70 bodies, and their times are not "
            "measurements\n",
            errors,
        )
        self.assertRegex(out, r"step11_register_blocking +emulated; RMS error \d\.\de-\d\d\n")
        self.assertIn('--bodies: "8192" is not allowed without a GPU, where our steps are '
                      'emulated; at most 4096',
                      self.refused(*words, "--bodies", "64,8192"))

    def test_folders_without_the_kernel(self) -> None:
        self.step("step10_tiled2d_cublas")
        for option, expected in (("--sample", "no bodysystemcuda.cu"), ("--ktt", "no Nbody.cu")):
            self.assertIn(expected, self.refused(*self.compare(option[2:], option, self.folder)))
        self.file("bodysystemcuda.cu", "")
        self.assertIn(
            "no Common/helper_cuda.h", self.call(*self.compare("--sample", self.folder))[2]
        )

    def test_a_driver_that_does_not_build(self) -> None:
        self.step("step10_tiled2d_cublas")
        self.file("Nbody.cu", "")
        nvcc = self.program("nvcc", "#!/bin/sh\necho 'x.cu(1): error: no kernel' >&2; exit 2\n")
        code, _, errors = self.call(
            *self.compare("step10", "ktt_256x1_1", "--ktt", self.folder, "--nvcc", nvcc)
        )
        self.assertEqual(code, 1)
        self.assertIn("FAILED: ktt_256x1_1: " + str(nvcc) + ": x.cu(1): error: no kernel", errors)

    def test_configurations(self) -> None:
        self.file(
            "Nbody.cu",
            "# pragma unroll INNER_UNROLL_FACTOR1\n#pragma unroll  INNER_UNROLL_FACTOR2\n",
        )
        self.file("programs/x", "")
        drivers = list(ktt(self.folder, self.folder / "programs"))
        self.assertEqual(len({driver.contender.name for driver in drivers}), len(KTT_SHAPES))
        copy = (self.folder / "programs" / "ktt_128x1_4_kernel" / "Nbody.cu").read_text()
        self.assertEqual(copy, "# pragma unroll 16\n#pragma unroll  4\n")
        self.file("bodysystemcuda.cu", "")
        self.file("Common/helper_cuda.h", "")
        drivers = list(sample(self.folder, self.folder / "programs"))
        self.assertEqual(len(drivers), 3 * len(SAMPLE_BLOCKS))
        self.assertEqual(sum("-DREAL=double" in driver.words for driver in drivers),
                         len(SAMPLE_BLOCKS))
        self.assertEqual(sum("-ftz=true" in driver.words for driver in drivers), len(SAMPLE_BLOCKS))


# Edits of a peer: a name, the old text, the new text, and the message with which the comparison
# must fail.
WRONG_PEERS = (
    ("forces 1 % off", "return (w[:, :, None] * d)", "return (1.01 * w[:, :, None] * d)",
     "FAILED: numpy, 64 bodies: its forces are wrong: RMS error 1.0e-02"),
    ("drift", "self.x = self.x + self.v * self.dt", "self.x = self.x + self.v * (1.02 * self.dt)",
     "after 2 steps, the positions move by the wrong amount: RMS error 2.0e-02"),
    ("ignored steps", "for _ in range(steps)", "for _ in range(1)",
     "after 2 steps, the velocities change by the wrong amount: RMS error 5.0e-01"),
    ("misspelt import", "        import numpy\n", "        import nbody_tools.compare.peer\n",
     "exit code 1: ModuleNotFoundError: No module named 'nbody_tools.compare.peer'"),
    ("no main", "    main(Peer, versions)\n", "    pass\n",
     "wrote no record; a program in Python must end with main(Peer, versions)"),
)


class PythonPeer(WithSteps):
    """Runs the NumPy peer. The tools need NumPy in any case, so NumPy is always installed."""

    def numpy(self, text: str) -> tuple[int, str, str]:
        self.file("mine_peer.py", text)
        one = Contender("numpy", "numpy, in Python",
                        (sys.executable, str(self.folder / "mine_peer.py"), "--device", "cpu"))
        with mock.patch("nbody_tools.compare.compare.packages", lambda device: iter([one])):
            return self.call(*self.compare("numpy", "--seconds", "0.001"))

    def setUp(self) -> None:
        super().setUp()
        self.step("step11_register_blocking", backend="hostcuda")
        self.file("out.jsonl", "an earlier record\n")
        folder = fakes.TOOLS / "nbody_tools" / "compare" / "peers"
        self.right = (folder / "numpy_peer.py").read_text(encoding="utf-8")

    def test_it_is_right(self) -> None:
        code, out, errors = self.call(*self.compare("numpy", "--seconds", "0.001"))
        self.assertEqual(code, 0, errors)
        self.assertNotIn("emulated", errors)
        self.assertRegex(out, r"numpy +\S+ \(")
        (line,) = (self.folder / "out.jsonl").read_text().splitlines()
        record = json.loads(line)
        self.assertEqual((record["contender"], record["backend"]), ("numpy", "cpu"))
        self.assertLess(record["acceleration_rms"], 1e-6)

    def test_a_wrong_one_fails(self) -> None:
        for name, find, replace, expected in WRONG_PEERS:
            with self.subTest(name):
                self.assertEqual(self.right.count(find), 1)
                code, _, errors = self.numpy(self.right.replace(find, replace))
                self.assertEqual(code, 1)
                self.assertIn(expected, errors)
                self.assertEqual(self.kept(), "an earlier record\n")

    def test_a_missing_package_is_named_and_records_stay(self) -> None:
        code, _, errors = self.numpy(self.right.replace("import numpy", "import nunpy as numpy"))
        self.assertEqual(code, 1)
        self.assertIn("numpy: skipped: No module named 'nunpy'", errors)
        self.assertIn("nbody compare: none of numpy is available\n", errors)
        self.assertEqual(self.kept(), "an earlier record\n")

    def test_few_bodies_by_default_without_a_gpu(self) -> None:
        words = [*self.compare("numpy", "--seconds", "0.001")]
        place = words.index("--bodies")
        del words[place:place + 2]
        with mock.patch("nbody_tools.compare.compare.SIZES_WITHOUT_A_GPU", [70]):
            code, _, errors = self.call(*words)
        self.assertEqual((code, errors), (0, "70 bodies ...\n"))

    def kept(self) -> str:
        return (self.folder / "out.jsonl").read_text()


class Table(unittest.TestCase):
    def test_sizes_side_by_side(self) -> None:
        one = {"contender": "a", "bodies": 10, "backend": "cuda", "median": 2.0, "iqr": 0.1,
               "interactions_per_second": 5e9, "acceleration_rms": 2e-7}
        text = table(
            [
                one,
                {**one, "contender": "b", "bodies": 20},
                {**one, "contender": "b", "backend": "hostcuda"},
            ]
        )
        self.assertEqual([line.split() for line in text.splitlines()][1:],
                         [["a", "5", "(5.0", "%)", "-"],
                          ["b", "emulated;", "RMS", "error", "2.0e-07", "5", "(5.0", "%)"]])


class Page(fakes.InRepository):
    def test_tables_of_what_was_measured_on_a_gpu(self) -> None:
        self.assertEqual(comparison.tables(self.results), NOT_MEASURED)
        one = {
            "contender": "sample_256",
            "what": "",
            "ours": False,
            "backend": "cuda",
            "device": "GPU",
            "version": "CUDA 13.0",
            "date": "2026-01-02T",
            "bodies": 1024,
            "masses": "equal",
            "steps": 5,
            "repeats": [1.0],
            "median": 2.0,
            "iqr": 0.1,
            "interactions_per_second": 5e9,
            "acceleration_rms": 2e-7,
        }
        ours = {**one, "contender": "step12_newton3", "ours": True, "interactions_per_second": 20e9}
        emulated = {**ours, "backend": "hostcuda", "interactions_per_second": 99e9}
        older = {**ours, "date": "2025-01-02T", "interactions_per_second": 1e9}
        better = {**one, "contender": "sample_512", "interactions_per_second": 8e9}
        ftz = {
            **one,
            "contender": "sample_ftz_256",
            "interactions_per_second": 10e9,
            "bodies": 4096,
        }
        self.records("comparison/a.jsonl", one, ours, emulated, older, better, ftz)
        rows = [row.split(" | ") for row in comparison.tables(self.results).splitlines()[4:]]
        self.assertEqual([row[0].strip("| `") for row in rows[:4]],
                         ["step12_newton3", "sample_256", "sample_512", "sample_ftz_256"])
        self.assertEqual(rows[0][2:4], ["20 (5.0)", "-"])
        self.assertEqual(
            [row[2:4] for row in rows[4:]], [["4.00", "-"], ["-", "-"], ["2.50", "-"], ["-", "-"]]
        )
        doubles = ({**ours, "contender": "step12_newton3_double", "interactions_per_second": 6e9},
                   {**one, "contender": "sample_double_256", "interactions_per_second": 4e9})
        self.records("comparison/a.jsonl", one, ours, *doubles)
        last = comparison.tables(self.results).splitlines()[-1]
        self.assertEqual(last.split(" | ")[0::2], ["| best of ours over `sample_double_*`", "1.50"])
        self.records("comparison/a.jsonl", {**one, "median": 0.0})
        with self.assertRaisesRegex(Exception, "the median is 0.0"):
            comparison.tables(self.results)
