"""Tests what nbody_steps does with values at the limits of a type, and with arrays that have more
meaning than their numbers."""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import tempfile
import unittest
from pathlib import Path
from typing import Callable

import numpy as np

import nbody_steps as nb

X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0]])
M = np.ones(3)
FILE = "no_such_folder/a.csv"


class Quantity(np.ndarray):
    """An array with a unit, as astropy has."""
    unit = "kpc"


class Magnitude:
    """An array with units that does not belong to numpy, as pint has."""
    units = "kiloparsec"

    def __init__(self, values) -> None:
        self.values = values

    def __array__(self, *_, **__) -> np.ndarray:
        return np.asarray(self.values)

    def __float__(self) -> float:
        return float(self.values)


class MoreThanNumbers(unittest.TestCase):
    def assert_rejected(self, message: str, *arguments, **options) -> None:
        with self.subTest(message):
            with self.assertRaisesRegex(ValueError, message):
                nb.accelerations(*arguments, **options)

    def test_units(self) -> None:
        self.assert_rejected("positions: the unit kpc", X.view(Quantity), M, 0.1)
        self.assert_rejected("positions: the unit kpc", [row.view(Quantity) for row in X], M, 0.1)
        self.assert_rejected("masses: the unit kilo", X, Magnitude(M), 0.1)
        self.assert_rejected("masses: the unit kilo", X, [Magnitude(1.0)] * 3, 0.1)
        self.assert_rejected("softening: the unit kilo", X, M, Magnitude(0.1))
        with self.assertRaisesRegex(ValueError, "dt: the unit kilo"):
            nb.simulate(X, X, M, 0.1, Magnitude(0.1), 1)

    def test_masks(self) -> None:
        rows = [np.ma.array(row, mask=[1, 0, 0]) for row in X]
        self.assert_rejected("positions: masked", rows, M, 0.1)

    def test_numbers(self) -> None:
        for value in ("0.1", True, b"1", None, [0.1, 0.2]):
            self.assert_rejected("softening: ", X, M, value)
        self.assert_rejected("threads: ", X, M, 0.1, threads=True)
        self.assertEqual(nb.accelerations(X, M, np.float32(0.5)).shape, (3, 3))

    def test_bodies(self) -> None:
        """Files and other packages get plain numbers only."""
        plain = nb.Bodies(X, X, M, units="kpc-msun")
        wrong = {"positions": np.ma.masked_less(X, 1), "velocities": X.view(Quantity),
                 "masses": Magnitude(M), "time": Magnitude(1.0)}
        for convert in self.converters():
            convert(plain)
            for name, value in wrong.items():
                message = f"^{name}: (masked values are|the unit kil|the unit kpc)"
                with self.subTest(name), self.assertRaisesRegex(ValueError, message):
                    convert(dataclasses.replace(plain, **{name: value}))

    def converters(self) -> list[Callable[[nb.Bodies], object]]:
        """Returns `write` and, for each other package that is installed, its converter."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        found: list[Callable[[nb.Bodies], object]] = [
            lambda bodies: nb.write(Path(folder.name) / "a.csv", bodies)]
        for name, convert in (("rebound", nb.to_rebound), ("yt", nb.to_yt)):
            if importlib.util.find_spec(name) is not None:
                found.append(convert)
                if name == "yt":
                    importlib.import_module(name).set_log_level("error")
        return found


class Texts(unittest.TestCase):
    def assert_rejected(self, message: str, call: Callable[[], object]) -> None:
        with self.subTest(message):
            with self.assertRaisesRegex(ValueError, message) as error:
                call()
            self.assertNotIn("\n", str(error.exception))

    def test_half_of_a_surrogate_pair(self) -> None:
        half = "\ud800"
        plain = nb.Bodies(X, X, M)
        for change in ({"units": half}, {"names": ["a", half, "b"]}, {"species": [half] * 3}):
            wrong = dataclasses.replace(plain, **change)
            self.assert_rejected(f"^{next(iter(change))}: .*UTF-8",
                                 lambda wrong=wrong: nb.write(FILE, wrong))
        for name in ("species", "columns", "units", "from_units"):
            self.assert_rejected(f"^{name}: .*UTF-8",
                                 lambda name=name: nb.read(FILE, **{name: half}))
        self.assert_rejected("^name: .*UTF-8", lambda: nb.scenario(half))
        self.assert_rejected("^parameters: .*UTF-8", lambda: nb.scenario("plummer", **{half: 1}))

    def test_none(self) -> None:
        plain = nb.Bodies(X, X, M, units="kpc-msun")
        for name in ("names", "species"):
            for wrong in (None, "abc"):
                bodies = dataclasses.replace(plain, **{name: wrong})
                self.assert_rejected(f"^{name}: a .* is not allowed; use a list of str",
                                     lambda bodies=bodies: nb.write(FILE, bodies))
        if importlib.util.find_spec("yt") is not None:
            bodies = dataclasses.replace(plain, units=None)
            self.assert_rejected("^units: a NoneType is not allowed", lambda: nb.to_yt(bodies))


class Equality(unittest.TestCase):
    def test_all_fields_count(self) -> None:
        bodies = nb.Bodies(X, X, M, names=["a", "b", "c"])
        self.assertIs(bodies == copy.deepcopy(bodies), True)
        self.assertIs(bodies == "bodies", False)
        for change in ({"positions": X + 1}, {"velocities": X[:2]}, {"masses": M * np.nan},
                       {"time": 1.0}, {"units": "henon"}, {"names": []}, {"species": None}):
            with self.subTest(change):
                other = dataclasses.replace(bodies, **change)
                self.assertIs(bodies == other, False)
                self.assertIs(other != bodies, True)
        nan = dataclasses.replace(bodies, masses=M * np.nan)
        self.assertNotEqual(nan, copy.deepcopy(nan))


class Limits(unittest.TestCase):
    def test_units_outside_the_range_of_a_float64(self) -> None:
        a = nb.accelerations([[0, 0, 0], [1e-100, 0, 0]], [1e110, 0], 0)
        self.assertEqual(a[0].tolist(), [0, 0, 0])  # the body without mass does not act
        np.testing.assert_allclose(nb.potential([[0, 0, 0], [1e-100, 0, 0]], [1e110, 0], 0),
                                   [0, -1e210], 1e-12)
        # One body at a distance L, at a speed V: -2 m V / L^3.
        for length, mass, speed in ((1e110, 1.0, 1e150), (1e-100, 1e50, 1e-100)):
            x, v = [[0, 0, 0], [length, 0, 0]], [[0, 0, 0], [speed, 0, 0]]
            exact = -2 * (mass / length) * (speed / length) / length
            found = nb.jerk(x, v, [mass, mass], 0)
            np.testing.assert_allclose(found[:, 0], [exact, -exact], 1e-12)

    def test_bodies_at_the_same_place(self) -> None:
        for dtype in (np.float32, np.float64):
            x, v = np.zeros((2, 3), dtype), np.eye(2, 3, dtype=dtype)
            jerks, a = reversed(nb.jerk(x, v, np.ones(2, dtype), 0, with_accelerations=True))
            self.assertEqual(a.any() or jerks.any(), False)
            softened = nb.jerk(x, v, np.ones(2, dtype), 0.5)
            np.testing.assert_allclose(softened, 8 * (v[::-1] - v), 1e-6)


class Simulations(unittest.TestCase):
    def test_arguments_are_checked_without_steps(self) -> None:
        for options in ({"method": "tre"}, {"theta": 2}, {"threads": 0}):
            with self.subTest(options), self.assertRaises(ValueError):
                nb.simulate(X, X, M, 0.1, 0.1, 0, **options)
        with self.assertRaisesRegex(TypeError, "simulate: 'foo' is not an argument"):
            nb.simulate(X, X, M, 0.1, 0.1, 0, foo=1)

    def test_a_time_step_out_of_range(self) -> None:
        x, m = X.astype(np.float32), M.astype(np.float32)
        for dt in (1e-50, 1e50):
            with self.subTest(dt), self.assertRaisesRegex(ValueError, "dt: .*range of float32"):
                nb.simulate(x, x, m, 0.1, dt, 1)
        self.assertTrue((nb.simulate(x, x, m, 0.1, 0, 1)[0] == x).all())


if __name__ == "__main__":
    unittest.main()
