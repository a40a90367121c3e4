"""Tests the installed package nbody_steps against sums that numpy computes in float64.

usage: test_nbody_steps.py [PAGE.md]...   also runs the Python examples of these pages
"""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np

import nbody_steps as nb

PAGES: list[str] = []


def bodies(n: int, seed: int, dtype: type = np.float64, massless: bool = True):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3)).astype(np.float32).astype(dtype)
    v = random.normal(size=(n, 3)).astype(np.float32).astype(dtype)
    m = random.uniform(0.5, 1.5, n).astype(np.float32).astype(dtype) / n
    if massless:
        m[::3] = 0
    return x, v, m


def reference(x, v, m, eps, at=None, u=None):
    """Returns accelerations, potentials and jerks."""
    x, v, m = (np.asarray(array, np.float64) for array in (x, v, m))
    own = at is None
    at, u = (x, v) if own else (np.asarray(at, np.float64), np.asarray(u, np.float64))
    d = x[np.newaxis] - at[:, np.newaxis]
    w = v[np.newaxis] - u[:, np.newaxis]
    s = np.sqrt((d ** 2).sum(-1) + eps ** 2)
    mass = np.broadcast_to(m, s.shape).copy()
    if own:
        np.fill_diagonal(mass, 0)
    a = ((mass / s ** 3)[..., None] * d).sum(1)
    turn = 3 * (d * w).sum(-1) / s ** 2
    j = ((mass / s ** 3)[..., None] * (w - turn[..., None] * d)).sum(1)
    return a, -(mass / s).sum(1), j


class Array:
    """An array of another library that supports only DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device, self.given = array, device, 0

    def __dlpack__(self, *arguments, **options):
        self.given += 1
        return self.array.__dlpack__(*arguments, **options)

    def __dlpack_device__(self):
        return self.device


class Quantity(np.ndarray):
    """An array with a unit, as in astropy."""

    unit = "kpc"


class Sums(unittest.TestCase):
    def close(self, found, exact, tolerance):
        error = np.abs(found - exact).max() / np.abs(exact).max()
        self.assertLess(error, tolerance)

    def test_direct(self) -> None:
        for dtype, tolerance in ((np.float32, 2e-6), (np.float64, 1e-13)):
            x, v, m = bodies(500, 1, dtype)
            at, u, _ = bodies(70, 2, dtype)
            for where, moving in ((None, None), (at, u)):
                a, p, j = reference(x, v, m, 0.1, where, moving)
                found = nb.accelerations(x, m, 0.1, where)
                self.assertEqual((found.dtype, found.shape), (dtype, a.shape))
                self.close(found, a, tolerance)
                found = nb.potential(x, m, 0.1, where)
                self.assertEqual((found.dtype, found.shape), (dtype, p.shape))
                self.close(found, p, tolerance)
                self.close(nb.jerk(x, v, m, 0.1, where, moving), j, tolerance)
                both = nb.jerk(x, v, m, 0.1, where, moving, with_accelerations=True)
                self.close(both[0], a, tolerance)
                self.close(both[1], j, tolerance)

    def test_tree(self) -> None:
        for dtype in (np.float32, np.float64):
            x, v, m = bodies(5000, 3, dtype)
            for where in (None, x[:999] + dtype(0.01)):
                a, p, _ = reference(x, v, m, 0.05, where, where)
                errors = []
                for tolerance in (0.02, 0.0005):
                    found = nb.accelerations(x, m, 0.05, where, "tree", force_tolerance=tolerance)
                    self.assertEqual((found.dtype, found.shape), (dtype, a.shape))
                    square = ((found - a) ** 2).sum(-1) / (a ** 2).sum(-1)
                    errors.append(np.sqrt(square.mean()))
                self.assertLess(errors[0], 5e-3)
                self.assertLess(errors[1], 5e-4)
                self.assertLess(2 * errors[1], errors[0])
                self.close(nb.potential(x, m, 0.05, where, method="tree"), p, 5e-4)
                found = nb.accelerations(x, m, 0.05, where, "tree", theta=0)
                self.close(found, a, 5e-6)

    def test_far_from_the_origin(self) -> None:
        x, v, m = bodies(2000, 4)
        near = nb.accelerations(x, m, 0.05, method="tree")
        far = nb.accelerations(x + 1e9, m, 0.05, method="tree")
        self.close(far, near, 1e-2)

    def test_lists_and_strides(self) -> None:
        x, _, m = bodies(100, 5)
        a = nb.accelerations(x, m, 0.1)
        np.testing.assert_array_equal(nb.accelerations(x.tolist(), m.tolist(), 0.1), a)
        rows = np.concatenate((x, m[:, None]), 1)
        np.testing.assert_array_equal(nb.accelerations(rows[:, :3], rows[:, 3], 0.1), a)
        np.testing.assert_array_equal(nb.accelerations(np.asfortranarray(x), m, 0.1), a)
        np.testing.assert_array_equal(nb.accelerations(x.astype(">f8"), m.astype(">f8"), 0.1), a)
        self.assertEqual(nb.accelerations([[0, 0, 0], [2, 0, 0]], [1, 1], 0)[0, 0], 0.25)

    def test_nothing(self) -> None:
        none = np.empty((0, 3))
        self.assertEqual(nb.accelerations(none, np.empty(0), 0.1).shape, (0, 3))
        self.assertEqual(nb.accelerations(np.zeros((2, 3)), [1, 1], 0.1, none).shape, (0, 3))
        np.testing.assert_array_equal(nb.potential(none, np.empty(0), 0.1, np.ones((2, 3))), 0)

    def test_dlpack(self) -> None:
        x, _, m = bodies(100, 6, np.float32)
        given = Array(x), Array(m)
        found = nb.accelerations(*given, 0.1)
        np.testing.assert_array_equal(found, nb.accelerations(x, m, 0.1))
        self.assertEqual([array.given for array in given], [1, 1])
        with self.assertRaisesRegex(ValueError, "^positions: .* in a GPU's memory"):
            nb.accelerations(Array(x, (2, 0)), m, 0.1)
        np.testing.assert_array_equal(np.from_dlpack(found), found)

    def test_wrong_arguments(self) -> None:
        x, v, m = bodies(10, 7)
        nan, negative = x.copy(), m.copy()
        nan[3, 1], negative[4] = np.nan, -1
        cases = (
            ("positions: shape", lambda: nb.accelerations(x[:, :2], m, 0.1)),
            ("positions: shape", lambda: nb.accelerations(x[0], m, 0.1)),
            ("positions: dtype int64", lambda: nb.accelerations(x.astype(int), m, 0.1)),
            ("positions: dtype complex", lambda: nb.accelerations(x + 1j, m, 0.1)),
            ("positions: not an array", lambda: nb.accelerations([[1, 2], [3]], m, 0.1)),
            (r"positions\[3, 1\]: nan", lambda: nb.accelerations(nan, m, 0.1)),
            ("positions: the unit kpc", lambda: nb.accelerations(x.view(Quantity), m, 0.1)),
            ("masses: masked", lambda: nb.accelerations(x, np.ma.masked_less(m, 0.1), 0.1)),
            ("masses: shape", lambda: nb.accelerations(x, m[1:], 0.1)),
            ("masses: shape", lambda: nb.accelerations(x, 1.0, 0.1)),
            ("masses: dtype float32", lambda: nb.accelerations(x, m.astype(np.float32), 0.1)),
            (r"masses\[4\]: -1", lambda: nb.accelerations(x, negative, 0.1)),
            ("softening: -0.1", lambda: nb.accelerations(x, m, -0.1)),
            ("softening: nan", lambda: nb.potential(x, m, float("nan"))),
            ("softening: 'much'", lambda: nb.potential(x, m, "much")),
            ("softening: 1000", lambda: nb.potential(x, m, 10**400)),
            (r"targets\[3, 1\]: nan", lambda: nb.accelerations(x, m, 0.1, nan)),
            ("targets: dtype", lambda: nb.accelerations(x, m, 0.1, x.astype(np.float32))),
            ("method: 'fmm'.*'direct' or 'tree'", lambda: nb.potential(x, m, 0.1, method="fmm")),
            ("device: 'cuda' is not in this build", lambda: nb.potential(x, m, 0.1, device="cuda")),
            ("device: 'tpu'", lambda: nb.potential(x, m, 0.1, device="tpu")),
            ("theta: 2 ", lambda: nb.potential(x, m, 0.1, theta=2)),
            ("multipole: 1 ", lambda: nb.potential(x, m, 0.1, multipole=1)),
            ("force_tolerance: -1 ", lambda: nb.potential(x, m, 0.1, force_tolerance=-1)),
            ("threads: 0 ", lambda: nb.potential(x, m, 0.1, threads=0)),
            ("threads: 2.0 ", lambda: nb.potential(x, nb.potential(x, m, 0.1, threads=2) ** 2, 0.1,
                                                   threads=2.0)),
            ("velocities: shape", lambda: nb.jerk(x, v[1:], m, 0.1)),
            ("method: 'tree'", lambda: nb.jerk(x, v, m, 0.1, method="tree")),
            ("target_velocities: needed", lambda: nb.jerk(x, v, m, 0.1, x)),
            ("steps: -1 ", lambda: nb.simulate(x, v, m, 0.1, 0.1, -1)),
            ("targets: not", lambda: nb.simulate(x, v, m, 0.1, 0.1, 1, targets=x)),
            ("dt: inf ", lambda: nb.simulate(x, v, m, 0.1, np.inf, 1)),
            ("multipole: array", lambda: nb.potential(x, m, 0.1, multipole=np.array([2, 2]))),
            ("positions: 2000000000 rows",
             lambda: nb.potential(np.broadcast_to(x[0], (2_000_000_000, 3)), m, 0.1)),
            ("progress: a str", lambda: nb.simulate(x, v, m, 0.1, 0.1, 1, progress="yes")),
            ("bodies: a ndarray", lambda: nb.write("file.bin", x)),
        )
        for message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(ValueError, "^" + message) as error:
                call()
            self.assertNotIn("\n", str(error.exception))


class LongCalls(unittest.TestCase):
    def setUp(self) -> None:
        self.x, _, self.m = bodies(300_000, 8, np.float32, massless=False)

    def test_ctrl_c(self) -> None:
        for call in (nb.accelerations, nb.potential):
            begin = time.monotonic()
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                call(self.x, self.m, 0.1)
            self.assertLess(time.monotonic() - begin, 2)
            timer.join()

    def test_other_threads_run(self) -> None:
        turns = 0

        def call() -> None:
            nb.accelerations(self.x[:30_000], self.m[:30_000], 0.1)

        thread = threading.Thread(target=call)
        thread.start()
        while thread.is_alive():
            turns += 1
            time.sleep(1e-3)
        self.assertGreater(turns, 20)

    def test_two_threads_at_once(self) -> None:
        x, m = self.x[:5000], self.m[:5000]
        alone = nb.accelerations(x, m, 0.1, threads=1)
        found = []
        threads = [threading.Thread(
            target=lambda: found.append(nb.accelerations(x, m, 0.1, threads=1))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in found:
            np.testing.assert_array_equal(one, alone)
        self.assertEqual(len(found), 4)


class Processes(unittest.TestCase):
    def test_a_process_ends_while_a_thread_computes(self) -> None:
        code = """
import threading, time, numpy as np, nbody_steps as nb
x, m = np.random.default_rng(1).random((200_000, 3)), np.ones(200_000)
threading.Thread(target=nb.accelerations, args=(x, m, 0.1), daemon=True).start()
time.sleep(0.5)
"""
        done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)  # nanobind reports what the thread uses

    def test_a_forked_process_computes(self) -> None:
        """Threads of the parent's call do not exist in the child, which must not wait for them."""
        x, _, m = bodies(3000, 9)
        alone = nb.accelerations(x, m, 0.1)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            same = np.allclose(nb.accelerations(x, m, 0.1), alone)
            os._exit(0 if same and len(nb.scenario("plummer", 5000).masses) == 5000 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Simulations(unittest.TestCase):
    def test_kepler(self) -> None:
        start = nb.scenario("two-body", softening=0)
        total = start.masses.sum()
        d = start.positions[1] - start.positions[0]
        u = start.velocities[1] - start.velocities[0]
        axis = 1 / (2 / np.linalg.norm(d) - (u ** 2).sum() / total)
        period = 2 * np.pi * np.sqrt(axis ** 3 / total)
        errors = []
        for steps in (2000, 4000):
            seen: list[int] = []
            x, v = nb.simulate(start.positions, start.velocities, start.masses, 0, period / steps,
                               steps, progress=seen.append)
            errors.append(np.abs(x - start.positions).max())
            self.assertEqual(seen, list(range(1, steps + 1)))
        self.assertLess(errors[1], 1e-2)
        self.assertAlmostEqual(errors[0] / errors[1], 4, delta=0.4)  # second order
        back, _ = nb.simulate(x, v, start.masses, 0, -period / 4000, 4000)
        self.assertLess(np.abs(back - start.positions).max(), 1e-9)

    def test_external_field(self) -> None:
        """In the field -x a massless body oscillates; half a period (pi) changes the sign of x."""
        x = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
        seen: list[float] = []

        def spring(positions: np.ndarray, time: float) -> np.ndarray:
            seen.append(time)
            return -positions

        end, _ = nb.simulate(x, 0 * x, np.zeros(2), 0, np.pi / 1000, 1000, external=spring, time=2)
        self.assertLess(np.abs(end + x).max(), 1e-5)
        self.assertAlmostEqual(seen[0], 2 + np.pi / 2000, places=12)
        for wrong, said in ((3, "^external: a int is not allowed"),
                            (lambda x, t: x[0], r"^external: returned shape \(3,\)"),
                            (lambda x, t: x * np.nan, "^external.0, 0.: nan is not allowed")):
            with self.assertRaisesRegex(ValueError, said):
                nb.simulate(x, 0 * x, np.zeros(2), 0, 0.1, 1, external=wrong)


class Files(unittest.TestCase):
    def test_scenario(self) -> None:
        sphere = nb.scenario("plummer", bodies=1000, softening=0.01)
        self.assertEqual(sphere.positions.shape, (1000, 3))
        self.assertAlmostEqual(sphere.masses.sum(), 1, places=6)
        kinetic = 0.5 * (sphere.masses * (sphere.velocities ** 2).sum(-1)).sum()
        potential = nb.potential(sphere.positions, sphere.masses, 0.01)
        self.assertAlmostEqual(2 * kinetic / -(0.5 * sphere.masses * potential).sum(), 1, places=3)
        again = nb.scenario("plummer", bodies=1000, softening=0.01)
        other = nb.scenario("plummer", bodies=1000, softening=0.01, seed=2)
        np.testing.assert_array_equal(again.positions, sphere.positions)
        self.assertNotEqual(other.positions[0, 0], sphere.positions[0, 0])
        self.assertEqual(nb.scenario("galaxies", bodies=8, systems=3).masses.shape, (3, 8))
        self.assertIn("plummer", nb.scenarios())
        with self.assertRaisesRegex(ValueError, "plummer, galaxies"):
            nb.scenario("plumer")
        with self.assertRaisesRegex(ValueError, "^bodies: 0 is not allowed"):
            nb.scenario("plummer", bodies=0)

    def test_read_and_write(self) -> None:
        solar = nb.scenario("solar-system")
        solar.time = 1.5
        with tempfile.TemporaryDirectory() as folder:
            for name in ("solar.csv", "solar.bin"):
                file = Path(folder) / name
                nb.write(file, solar)
                found = nb.read(file)
                np.testing.assert_array_equal(found.positions, solar.positions)
                np.testing.assert_array_equal(found.velocities, solar.velocities)
                np.testing.assert_array_equal(found.masses, solar.masses)
                self.assertEqual((found.time, found.units), (1.5, "au-msun-yr2pi"))
                other = nb.read(file, units="kpc-msun")
                au_per_kpc = solar.positions[1, 0] / other.positions[1, 0]
                self.assertAlmostEqual(au_per_kpc / 206264806.247, 1, places=6)
            (Path(folder) / "bad.csv").write_text("x,y,z,vx,vy,vz,mass\n1,2,nan,0,0,0,1\n")
            for name in ("missing.csv", "bad.csv"):
                with self.assertRaisesRegex(ValueError, name) as error:
                    nb.read(Path(folder) / name)
                self.assertNotIn("\n", str(error.exception))
            with self.assertRaisesRegex(ValueError, "extension|ending|[.]xyz"):
                nb.write(Path(folder) / "solar.xyz", solar)

    def test_nothing_unreadable_is_written(self) -> None:
        solar = nb.scenario("solar-system")
        cases = ({"masses": 1e39 * solar.masses}, {"positions": np.ma.masked_less(solar.positions,
                                                                                  0)},
                 {"positions": 1j * solar.positions}, {"time": np.nan}, {"time": None},
                 {"softening": -1.0}, {"dt": np.inf}, {"units": None},
                 {"names": list(range(len(solar.masses)))})
        with tempfile.TemporaryDirectory() as folder:
            for case in cases:
                with self.subTest(*case), self.assertRaises(ValueError) as error:
                    nb.write(Path(folder) / "a.csv", dataclasses.replace(solar, **case))
                self.assertNotIn("\n", str(error.exception))
            for name in ("a\0.csv", "\udcff.csv"):
                with self.assertRaisesRegex(ValueError, "^file: "):
                    nb.write(name, solar)
            self.assertEqual(os.listdir(folder), [])
            file = os.fsencode(folder) + b"/b.csv"
            nb.write(file, solar)
            self.assertEqual(len(nb.read(file).masses), len(solar.masses))

    def test_tipsy_needs_units(self) -> None:
        solar = nb.scenario("solar-system")
        solar.units = ""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "solar.tipsy"
            nb.write(file, solar)
            for other in file.parent.glob("*param"):
                other.unlink()
            with self.assertRaisesRegex(ValueError, "from_units .*kpc-msun") as error:
                nb.read(file)
            self.assertNotIn("\n", str(error.exception))
            self.assertEqual(nb.read(file, from_units="kpc-msun").units, "kpc-msun")
            self.assertEqual(nb.read(file, from_units="kpc-msun", units="kpc-100kms").units,
                             "kpc-100kms")
            with self.assertRaisesRegex(ValueError, "from_units"):
                nb.read(file, from_units="furlongs")


class Package(unittest.TestCase):
    def test_types_are_installed(self) -> None:
        folder = Path(nb.__file__).parent
        self.assertTrue((folder / "py.typed").is_file())
        stub = (folder / "_extension.pyi").read_text(encoding="utf-8")
        self.assertIn("def accelerations", stub)
        for name in nb.__all__:
            self.assertGreater(len(getattr(nb, name).__doc__), 40, name)

    def test_examples(self) -> None:
        for page in PAGES:
            examples = re.findall(r"^```python\n(.*?)^```$", Path(page).read_text(encoding="utf-8"),
                                  re.M | re.S)
            self.assertTrue(examples, page)
            names: dict = {}
            for example in examples:
                exec(compile(example, page, "exec"), names)


if __name__ == "__main__":
    PAGES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
