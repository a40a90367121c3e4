"""Tests nbody_steps within functions that JAX compiles, on the CPU, against calls with numpy.

usage: test_jax.py
"""

from __future__ import annotations

import unittest
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

import nbody_steps as nb
from nbody_steps import _extension, in_jax

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)


def bodies(n: int, dtype: type = np.float32, seed: int = 1) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [array.astype(dtype) for array in (
        random.normal(size=(n, 3)), random.normal(size=(n, 3)), random.uniform(0, 1 / n, n))]


class InJax(unittest.TestCase):
    def same(self, found: jax.Array, exact: np.ndarray) -> None:
        """Both calls use the same kernels, so they have the same bits."""
        self.assertIsInstance(found, jax.Array)
        self.assertEqual((found.dtype, found.shape), (exact.dtype, exact.shape))
        self.assertTrue(np.array_equal(np.asarray(found), exact))

    def test_functions(self) -> None:
        for dtype in (np.float32, np.float64):
            x, v, m = bodies(700, dtype)
            at, u, _ = bodies(30, dtype, 2)
            for targets in (None, at):
                for method in ("direct", "tree"):
                    for function in (nb.accelerations, nb.potential):
                        compiled = jax.jit(lambda x, m, at: function(x, m, 0.1, at, method))
                        self.same(compiled(x, m, targets), function(x, m, 0.1, targets, method))
                velocities = None if targets is None else u
                compiled = jax.jit(
                    lambda *arrays: nb.jerk(*arrays[:3], 0.1, *arrays[3:], with_accelerations=True))
                exact = nb.jerk(x, v, m, 0.1, targets, velocities, with_accelerations=True)
                for found, wanted in zip(compiled(x, v, m, targets, velocities), exact):
                    self.same(found, wanted)

    def test_options(self) -> None:
        x, _, m = bodies(3000)
        for options in ({"force_tolerance": 0.05}, {"force_tolerance": 0, "theta": 0.3},
                        {"multipole": 0}, {"threads": 1}):
            compiled = jax.jit(lambda x, m: nb.accelerations(x, m, 0.1, method="tree", **options))
            self.same(compiled(x, m), nb.accelerations(x, m, 0.1, method="tree", **options))

    def test_a_leapfrog_in_a_scan(self) -> None:
        x, v, m = bodies(200, np.float64)

        def step(state, _):
            x, v = state
            v = v + 0.005 * nb.accelerations(x, m, 0.1)
            x = x + 0.01 * v
            return (x, v + 0.005 * nb.accelerations(x, m, 0.1)), None

        (found, _), _ = jax.jit(lambda x, v: jax.lax.scan(step, (x, v), length=20))(x, v)
        state = x, v
        for _ in range(20):
            state, _ = step(state, None)
        self.assertLess(np.abs(found - state[0]).max(), 1e-12)

    def test_a_batch(self) -> None:
        many = [bodies(50, seed=seed) for seed in range(4)]
        x, m = (jnp.stack([system[k] for system in many]) for k in (0, 2))
        found = jax.vmap(lambda x, m: nb.accelerations(x, m, 0.1))(x, m)
        for k, (one, _, masses) in enumerate(many):
            self.same(found[k], nb.accelerations(one, masses, 0.1))

    def test_constants(self) -> None:
        x, _, m = bodies(60)
        exact = nb.accelerations(x, m, 0.1)
        self.same(jax.jit(lambda m: nb.accelerations(x, m, 0.1))(m), exact)
        self.same(jax.jit(lambda x: nb.accelerations(x, m, 0.1))(x), exact)
        there = jnp.asarray(x)
        self.same(jax.jit(lambda at: nb.accelerations(there, m, 0.1, at))(x[:5]),
                  nb.accelerations(x, m, 0.1, x[:5]))

    def test_no_bodies(self) -> None:
        x, _, m = bodies(10)
        compiled = jax.jit(lambda x, m, at: nb.accelerations(x, m, 0.1, at))
        self.assertEqual(compiled(x, m, x[:0]).shape, (0, 3))
        self.same(compiled(x[:0], m[:0], x), np.zeros((10, 3), np.float32))
        self.assertEqual(jax.jit(lambda x, m: nb.potential(x, m, 0.1))(x[:0], m[:0]).shape, (0,))

    def test_arguments_that_are_not_allowed(self) -> None:
        x, v, m = bodies(10)

        def refused(text: str, function, *arrays) -> None:
            with self.assertRaisesRegex(ValueError, text):
                jax.jit(function)(*arrays)

        refused(r"masses: shape \(9,\) is not allowed; use \(10,\)",
                lambda x, m: nb.accelerations(x, m, 0.1), x, m[1:])
        refused("masses: dtype float64 is not allowed; use float32, as in positions",
                lambda x, m: nb.accelerations(x, m, 0.1), x, m.astype(float))
        refused("positions: dtype int32 is not allowed",
                lambda x, m: nb.accelerations(x, m, 0.1), x.astype(np.int32), m)
        refused(r"positions: shape \(10,\) is not allowed; use \(n, 3\)",
                lambda x, m: nb.accelerations(x, m, 0.1), m, m)
        refused("softening: ", lambda x, m, eps: nb.accelerations(x, m, eps), x, m, 0.1)
        refused("device: 'cpu' is not allowed within jax.jit",
                lambda x, m: nb.accelerations(x, m, 0.1, device="cpu"), x, m)
        refused("target_velocities: needed with targets",
                lambda x, v, m: nb.jerk(x, v, m, 0.1, targets=x), x, v, m)

    def test_values_that_are_not_allowed(self) -> None:
        x, _, m = bodies(10)
        m[3] = -1
        compiled = jax.jit(lambda x, m: nb.accelerations(x, m, 0.1))
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "a mass is negative"):
            compiled(x, m).block_until_ready()

    @mock.patch.object(in_jax, "PLATFORM", "cpu")
    @mock.patch.object(_extension, "has_cuda", True)
    def test_calls_outside_of_jit(self) -> None:
        """Calls with arrays on a device are operations of JAX; here the device is the CPU."""
        x, _, m = bodies(60)
        there = jnp.asarray(x), jnp.asarray(m)
        for _ in range(2):  # the second call looks at nothing twice
            self.same(nb.accelerations(*there, 0.1), nb.accelerations(x, m, 0.1))
            self.same(nb.potential(*there, 0.1, there[0][:5]), nb.potential(x, m, 0.1, x[:5]))
            self.same(nb.accelerations(*there, 0.1, method="tree", force_tolerance=0),
                      nb.accelerations(x, m, 0.1, method="tree", force_tolerance=0))
        self.assertEqual(nb.accelerations(*there, 0.1, there[0][:0]).shape, (0, 3))
        for text, masses, softening, options in (
                (r"masses: shape \(59,\) is not allowed", there[1][1:], 0.1, {}),
                ("masses: not on CUDA device", m, 0.1, {}),
                ("softening: ", there[1], True, {}),
                ("softening: ", there[1], -1, {}),
                ("softening: ", there[1], [0.1], {}),
                ("multipole: 2.0 is not allowed", there[1], 0.1, {"multipole": 2.0}),
                ("theta: ", there[1], 0.1, {"theta": []}),
                ("device: 'cpu' is not allowed", there[1], 0.1, {"device": "cpu"})):
            with self.assertRaisesRegex(ValueError, text):
                nb.accelerations(there[0], masses, softening, **options)


if __name__ == "__main__":
    unittest.main()
