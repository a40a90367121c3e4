"""Tests the adapters of nbody_steps against REBOUND, yt and galpy. If a package is missing, its
tests fail with --all, and are skipped otherwise.

usage: test_adapters.py [--all]
"""

from __future__ import annotations

import importlib.util
import sys
import unittest

import numpy as np

import nbody_steps as nb

ALL = False
KMS = 2.0738653e-3  # sqrt(G Msun / kpc) in km/s


def needs(name: str):
    missing = importlib.util.find_spec(name) is None
    return unittest.skipIf(missing and not ALL, f"{name} is not installed")


@needs("rebound")
class Rebound(unittest.TestCase):
    def test_there_and_back(self) -> None:
        solar = nb.scenario("solar-system", softening=0.001)
        solar.time = 2.5
        back = nb.from_rebound(nb.to_rebound(solar))
        for key in ("positions", "velocities", "masses"):
            np.testing.assert_array_equal(getattr(back, key), getattr(solar, key))
        self.assertEqual((back.time, back.softening, back.dt), (2.5, 0.001, solar.dt))

    def test_the_same_forces(self) -> None:
        sphere = nb.scenario("plummer", bodies=100, softening=0.1)
        sim = nb.to_rebound(sphere)
        sim.integrator = "leapfrog"
        sim.dt = 1e-3
        sim.integrate(0.1, exact_finish_time=0)
        x, _ = nb.simulate(sphere.positions, sphere.velocities, sphere.masses, 0.1, 1e-3,
                           round(sim.t / 1e-3))
        np.testing.assert_allclose(nb.from_rebound(sim).positions, x, atol=1e-10)

    def test_other_units(self) -> None:
        """With G = 4 pi^2 (au, Msun, yr), an orbit of radius 1 takes 1 year; with G = 1 it takes 2
        pi."""
        import rebound
        sim = rebound.Simulation()
        sim.G = 4 * np.pi ** 2
        sim.add(m=1.0)
        sim.add(m=0.0, x=1.0, vy=2 * np.pi)
        sim.t = 0.5
        bodies = nb.from_rebound(sim)
        self.assertAlmostEqual(bodies.velocities[1, 1], 1, places=12)
        self.assertAlmostEqual(bodies.time, np.pi, places=12)

    def test_test_particles(self) -> None:
        sim = nb.to_rebound(nb.scenario("figure-eight"))
        sim.N_active = 1
        self.assertEqual(nb.from_rebound(sim).masses.tolist(), [1, 0, 0])
        sim.testparticle_type = 1
        with self.assertRaisesRegex(ValueError, "^simulation: testparticle_type 1"):
            nb.from_rebound(sim)

    def test_gravity_that_is_not_computed(self) -> None:
        sim = nb.to_rebound(nb.scenario("figure-eight"))
        sim.gravity = "none"
        with self.assertRaisesRegex(ValueError, "^simulation: its gravity is 'none'"):
            nb.from_rebound(sim)
        sim.gravity = "basic"
        sim.particles[0].m = -1
        with self.assertRaisesRegex(ValueError, "^simulation: masses must be 0 or more"):
            nb.from_rebound(sim)

    def test_nonsense(self) -> None:
        import rebound
        sim = rebound.Simulation()
        sim.G = -1
        for wrong in (None, 3, "sim", sim, nb.scenario("figure-eight")):
            with self.assertRaisesRegex(ValueError, "^simulation: ") as error:
                nb.from_rebound(wrong)
            self.assertNotIn("\n", str(error.exception))
        self.assertEqual(nb.from_rebound(rebound.Simulation()).positions.shape, (0, 3))
        for wrong in (None, sim, nb.scenario("galaxies", bodies=8, systems=3)):
            with self.assertRaisesRegex(ValueError, "^(bodies|positions): "):
                nb.to_rebound(wrong)


@needs("yt")
class Yt(unittest.TestCase):
    def setUp(self) -> None:
        import yt
        yt.set_log_level("error")

    def galaxy(self) -> nb.Bodies:
        bodies = nb.scenario("plummer", bodies=1000)
        bodies.units, bodies.time = "kpc-100kms", 3.0
        return bodies

    def test_to_yt(self) -> None:
        bodies = self.galaxy()
        data = nb.to_yt(bodies).all_data()
        np.testing.assert_allclose(data["all", "particle_position"].to("kpc"), bodies.positions,
                                   rtol=1e-12)
        np.testing.assert_allclose(data["all", "particle_velocity"].to("km/s"),
                                   100 * bodies.velocities, rtol=1e-7)
        np.testing.assert_allclose(data["all", "particle_mass"].to("Msun"),
                                   2.32508541e9 * bodies.masses, rtol=1e-8)
        # The unit of time of kpc-100kms is 9.77792222 Myr (common/io/units.h).
        self.assertAlmostEqual(float(data.ds.current_time.to("Myr")), 3 * 9.77792222, places=4)

    def test_from_yt(self) -> None:
        bodies = self.galaxy()
        found = nb.from_yt(nb.to_yt(bodies))
        self.assertEqual(found.units, "kpc-msun")
        np.testing.assert_allclose(found.positions, bodies.positions, rtol=1e-12)
        np.testing.assert_allclose(found.velocities * KMS, 100 * bodies.velocities, rtol=1e-7)
        self.assertAlmostEqual(found.time * 471482.995 / (3 * 9.77792222), 1, places=6)  # Myr
        # G is 1 in both unit systems, so accelerations in (km/s)^2 / kpc agree.
        here = nb.accelerations(bodies.positions, bodies.masses, 0.01) * 100 ** 2
        there = nb.accelerations(found.positions, found.masses, 0.01) * KMS ** 2
        np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-6 * np.abs(here).max())

    def test_a_region(self) -> None:
        dataset = nb.to_yt(self.galaxy())
        inside = nb.from_yt(dataset.sphere([0, 0, 0], (0.5, "kpc")))
        distance = np.linalg.norm(inside.positions, axis=1)
        self.assertTrue(0 < len(distance) < 1000 and distance.max() <= 0.5)

    def test_nonsense(self) -> None:
        bodies = self.galaxy()
        dataset = nb.to_yt(bodies)
        with self.assertRaisesRegex(ValueError, "^source: a int is not allowed"):
            nb.from_yt(3)
        with self.assertRaisesRegex(ValueError, "^particle_type: 'gas' is not allowed; use one"):
            nb.from_yt(dataset, "gas")
        for units in ("", "henon", "-1 kpc, 1 Msun", "a kpc, b Msun", "nan kpc, 1 Msun"):
            bodies.units = units
            with self.assertRaisesRegex(ValueError, "^bodies: units .* have no physical scale;"):
                nb.to_yt(bodies)


@needs("galpy")
class Galpy(unittest.TestCase):
    def test_a_point_mass(self) -> None:
        from galpy.potential import KeplerPotential
        field = nb.galpy_field(KeplerPotential(amp=2.0))
        x = np.array([[3.0, 0, 4.0], [0, -2.0, 0], [0, 0, 5.0]])
        wanted = -2 * x / np.linalg.norm(x, axis=1)[:, None] ** 3
        np.testing.assert_allclose(field(x, 0.0), wanted, rtol=1e-9, atol=1e-12)
        self.assertEqual(field(x.astype(np.float32), 0.0).dtype, np.float32)

    def test_units(self) -> None:
        """Checks an orbit of radius 8 kpc and speed 220 km/s, in galpy's units and kpc-msun."""
        from galpy.potential import LogarithmicHaloPotential
        speed = 220 / KMS
        field = nb.galpy_field(LogarithmicHaloPotential(normalize=1.0), length=8.0, speed=speed)
        x = np.array([[8.0, 0, 0]])
        np.testing.assert_allclose(field(x, 0.0), [[-speed ** 2 / 8, 0, 0]], atol=1e-6)
        period = 2 * np.pi * 8 / speed
        end, _ = nb.simulate(x, np.array([[0, speed, 0.0]]), np.zeros(1), 0, period / 4000, 4000,
                             external=field)
        np.testing.assert_allclose(end, x, atol=1e-3)

    def test_without_symmetry(self) -> None:
        """In a rotating triaxial halo, the forces around the axis depend on time."""
        from galpy.potential import (LogarithmicHaloPotential, SolidBodyRotationWrapperPotential,
                                     evaluatephitorques, evaluateRforces)
        bar = SolidBodyRotationWrapperPotential(pot=LogarithmicHaloPotential(b=0.8), omega=1.3)
        field = nb.galpy_field(bar)
        for t in (0.0, 0.7):
            a = field(np.array([[0.0, 0.9, 0.1]]), t)[0]
            args = dict(phi=np.pi / 2, t=t, use_physical=False)
            self.assertAlmostEqual(a[1], float(evaluateRforces(bar, 0.9, 0.1, **args)), places=12)
            self.assertAlmostEqual(
                -a[0], float(evaluatephitorques(bar, 0.9, 0.1, **args)) / 0.9, places=12)
            if t > 0:
                self.assertNotAlmostEqual(a[0], 0, places=4)

    def test_nonsense(self) -> None:
        from galpy.potential import KeplerPotential
        for wrong in (None, 3, "potential", [3], []):
            with self.assertRaisesRegex(ValueError, "^potential: ") as error:
                nb.galpy_field(wrong)
            self.assertNotIn("\n", str(error.exception))
        for key in ("length", "speed"):
            with self.assertRaisesRegex(ValueError, f"^{key}: 0 is not allowed"):
                nb.galpy_field(KeplerPotential(), **{key: 0})
        with self.assertRaisesRegex(ValueError, r"^positions: shape \(3,\)"):
            nb.galpy_field(KeplerPotential())([1.0, 2.0, 3.0], 0)


class Missing(unittest.TestCase):
    def test_a_missing_package_is_named(self) -> None:
        hidden = {name: sys.modules.get(name) for name in ("rebound", "yt", "galpy.potential")}
        self.addCleanup(lambda: [sys.modules.__setitem__(name, module) if module
                                 else sys.modules.pop(name) for name, module in hidden.items()])
        sys.modules.update(dict.fromkeys(hidden))  # None: an import fails
        for function, name in ((nb.to_rebound, "rebound"), (nb.to_yt, "yt"),
                               (nb.galpy_field, "galpy.potential")):
            with self.assertRaisesRegex(ImportError, f"needs {name}: pip install ") as error:
                function(nb.scenario("figure-eight"))
            self.assertNotIn("\n", str(error.exception))


if __name__ == "__main__":
    ALL = "--all" in sys.argv
    unittest.main(argv=sys.argv[:1], verbosity=2)
