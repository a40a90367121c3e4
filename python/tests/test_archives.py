"""Tests reading AMUSE's HDF5 files and REBOUND's archives. Either package may be missing.

usage: test_archives.py [--all]   --all: a missing package counts as a failure
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import tempfile
import unittest
from pathlib import Path
from typing import Any

import numpy as np

import nbody_steps as nb

ALL = "--all" in sys.argv
# The units Msun, pc, km/s and Myr as AMUSE 2025 writes them (write_set_to_file, version 2.0).
SI = {"mass": "(1.98892e+30 * system.get('S.I.').base('mass'))",
      "length": "(3.08567758128e+16 * system.get('S.I.').base('length'))",
      "speed": "((1000.0 * system.get('S.I.').base('length')) * "
               "(system.get('S.I.').base('time')**-1))",
      "time": "(31556925993600.004 * system.get('S.I.').base('time'))"}
GENERIC = {"mass": "system.get('generic').base('mass')",
           "length": "system.get('generic').base('length')",
           "speed": "(system.get('generic').base('length') * "
                    "(system.get('generic').base('time')**-1))",
           "time": "system.get('generic').base('time')"}


def needs(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        if ALL:
            raise
        raise unittest.SkipTest(f"{name} is not installed") from None


class Archives(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "archive"

    def write_amuse(self, units: dict[str, str], without: str = "") -> None:
        h5py = needs("h5py")
        with h5py.File(self.file, "w") as opened:
            opened.create_group("AMUSE_INF").attrs["version"] = "2.0"
            for version, mass in (("0000000001", 7.0), ("0000000002", 1.0)):
                group = opened.create_group(f"data/{version}")
                group.attrs["timestamp"] = 2.0
                group.attrs["timestamp_unit"] = units["time"].encode()
                for k, name in enumerate(("mass", "x", "y", "z", "vx", "vy", "vz")):
                    if name == without:
                        continue
                    column = mass * np.arange(1.0, 4.0) if name == "mass" else np.full(3, float(k))
                    kind = "mass" if name == "mass" else "length" if len(name) == 1 else "speed"
                    group.create_dataset(f"attributes/{name}", data=column)
                    group[f"attributes/{name}"].attrs["units"] = units[kind].encode()

    def test_amuse_with_units(self) -> None:
        self.write_amuse(SI)
        found = nb.read(self.file)
        self.assertEqual(found.units, "kpc-msun")
        np.testing.assert_allclose(found.positions, np.tile([1e-3, 2e-3, 3e-3], (3, 1)), 1e-9)
        np.testing.assert_allclose(found.masses, np.arange(1.0, 4.0) * 1.98892 / 1.98841, 1e-6)
        np.testing.assert_allclose(found.velocities, np.tile([4, 5, 6], (3, 1)) / 2.0738653e-3,
                                   1e-7)
        self.assertAlmostEqual(found.time * 471.482995e3 / 2, 1, places=4)  # Myr

    def test_amuse_without_units(self) -> None:
        self.write_amuse(GENERIC)
        found = nb.read(self.file)
        self.assertEqual((found.units, found.time), ("", 2.0))
        np.testing.assert_array_equal(found.masses, [1, 2, 3])  # of the newest version
        np.testing.assert_array_equal(found.positions, np.tile([1, 2, 3], (3, 1)))
        np.testing.assert_array_equal(found.velocities, np.tile([4, 5, 6], (3, 1)))

    def test_wrong_files(self) -> None:
        h5py = needs("h5py")
        cases = (({**SI, "mass": GENERIC["mass"]}, "", "x is in"),
                 ({**SI, "length": SI["speed"]}, "", "x is in"),
                 ({**GENERIC, "time": SI["time"]}, "", "timestamp is in .*S.I.* is not allowed"),
                 ({**SI, "time": GENERIC["time"]}, "", "timestamp is in .*generic"),
                 ({**SI, "speed": f"({SI['length']} * ({GENERIC['time']}**-1))"}, "",
                  "has units of S.I. and of generic"),
                 ({**SI, "mass": "__import__('os').getcwd()"}, "", "is not one of AMUSE's units"),
                 ({**SI, "mass": "(2.0 * system.get('S.I.').base('mass')"}, "",
                  "is not one of AMUSE's units"),
                 (SI, "mass", "no mass"), (SI, "y", "no y"))
        for units, without, message in cases:
            with self.subTest(message):
                self.write_amuse(units, without)
                with self.assertRaisesRegex(ValueError, message) as error:
                    nb.read(self.file)
                self.assertNotIn("\n", str(error.exception))
        with h5py.File(self.file, "w") as opened:
            opened.create_group("PartType1")
        with self.assertRaisesRegex(ValueError, "nbody-convert"):
            nb.read(self.file)

    def test_options(self) -> None:
        """An option that an archive cannot have is rejected, not ignored."""
        needs("h5py")
        self.write_amuse(SI)
        for name, value in (("systems", 2), ("species", "star"), ("columns", "x,y,z"),
                            ("from_units", "henon")):
            with self.assertRaisesRegex(ValueError, f"^{name}: {value!r} is not allowed"):
                nb.read(self.file, **{name: value})

    def test_damaged_files(self) -> None:
        h5py = needs("h5py")
        self.write_amuse(SI)
        data = self.file.read_bytes()
        for length in (20, len(data) // 2, len(data) - 1):
            self.file.write_bytes(data[:length])
            with self.assertRaisesRegex(ValueError, "cannot be read") as error:
                nb.read(self.file)
            self.assertNotIn("\n", str(error.exception))
        for name, column, message in (("mass", [-1.0, 1, 1], "masses 0 or more"),
                                      ("x", [np.nan, 1, 1], "finite"),
                                      ("y", [1.0, 1], "cannot be read"),
                                      ("z", [1j, 1, 1], "z is not one number per particle")):
            self.file.write_bytes(data)
            with h5py.File(self.file, "a") as opened:
                columns = opened["data"][max(opened["data"])]["attributes"]
                units = columns[name].attrs["units"]
                del columns[name]
                columns.create_dataset(name, data=column).attrs["units"] = units
            with self.subTest(name), self.assertRaisesRegex(ValueError, message):
                nb.read(self.file)

    def test_a_damaged_archive_of_rebound(self) -> None:
        needs("rebound")
        self.file.write_bytes(b"REBOUND Binary File" + bytes(100))
        with self.assertRaisesRegex(ValueError, "cannot be read"):
            nb.read(self.file)

    def test_a_truncated_archive_of_rebound(self) -> None:
        simulation = needs("rebound").Simulation()
        simulation.add(m=1)
        simulation.add(m=1e-3, a=1)
        for time in range(4):
            simulation.integrate(time)
            simulation.save_to_file(str(self.file), delete_file=time == 0)
        self.assertEqual(nb.read(self.file).time, 3.0)
        whole = self.file.read_bytes()
        for bytes_lost in (1, 20, 200):
            self.file.write_bytes(whole[:-bytes_lost])
            with self.subTest(bytes_lost), self.assertRaisesRegex(ValueError, "truncated|read"):
                nb.read(self.file)

    def test_rebound(self) -> None:
        rebound = needs("rebound")
        simulation = rebound.Simulation()
        simulation.G = 4.0
        simulation.add(m=1)
        simulation.add(m=1e-3, a=1)
        simulation.integrate(3)
        simulation.save_to_file(str(self.file), delete_file=True)
        found, wanted = nb.read(self.file), nb.from_rebound(simulation)
        np.testing.assert_array_equal(found.positions, wanted.positions)
        np.testing.assert_array_equal(found.velocities, wanted.velocities)
        self.assertEqual(found.time, 6.0)

    def test_rebound_between_half_steps(self) -> None:
        """An archive without safe_mode holds bodies that are half a step from their places."""
        rebound = needs("rebound")
        simulation = rebound.Simulation()
        for body in ({"m": 1}, {"m": 1e-3, "a": 1, "e": 0.1}, {"m": 1e-3, "a": 2.2, "e": 0.1}):
            simulation.add(**body)
        simulation.move_to_com()
        simulation.integrator, simulation.dt = "whfast", 0.1
        getattr(simulation, "ri_whfast", simulation.integrator).safe_mode = 0  # REBOUND 4, 5
        simulation.save_to_file(str(self.file), step=37)
        simulation.integrate(100, exact_finish_time=0)
        last = rebound.Simulationarchive(str(self.file))[-1]
        with self.assertRaisesRegex(ValueError, "^simulation: it is not synchronized; call"):
            nb.from_rebound(last)
        between = last.particles[1].x
        last.synchronize()
        self.assertGreater(abs(last.particles[1].x - between), 0.01)
        found, wanted = nb.read(self.file), nb.from_rebound(last)
        np.testing.assert_array_equal(found.positions, wanted.positions)
        np.testing.assert_array_equal(found.velocities, wanted.velocities)


class Pipes(unittest.TestCase):
    LINE, COLUMNS = "1,2,3,4,5,6,7\n", "m,x,y,z,vx,vy,vz"

    def test_a_pipe_keeps_its_first_bytes(self) -> None:
        """Looking for an archive takes nothing from a pipe, whether it holds little or much."""
        for n in (1, 3000):  # less than a buffer holds, and more
            reading, writing = os.pipe()
            with self.subTest(n), os.fdopen(reading), os.fdopen(writing, "w") as lines:
                lines.write(self.LINE * n)
                lines.close()
                found = nb.read(f"/dev/fd/{reading}", columns=self.COLUMNS)
                self.assertEqual(len(found.masses), n)

    def test_a_fifo_is_opened_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "fifo"
            os.mkfifo(file)
            writer = threading.Thread(target=file.write_text, args=(2 * self.LINE,), daemon=True)
            writer.start()
            self.assertEqual(len(nb.read(file, columns=self.COLUMNS).masses), 2)
            writer.join(5)
            self.assertFalse(writer.is_alive())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
