"""Tests nbody_steps on a CUDA device, with arrays of PyTorch, CuPy and JAX, against the CPU.

usage: test_cuda.py [--small]   --small: sizes for compute-sanitizer

Skips a library that is not installed, and prints its name. NBODY_ARRAY_LIBRARIES chooses libraries
[torch,cupy,jax]. Exits with 77 without a device.
"""

from __future__ import annotations

import os
import sys
import threading
import unittest
from typing import Any, Callable

import numpy as np

import nbody_steps as nb
from nbody_steps import _extension

SMALL = "--small" in sys.argv
SIZES = (1, 2, 33, 300, 1500) if SMALL else (1, 2, 33, 1500, 6000, 6500, 20000)
TREE = 3000 if SMALL else 30000


def bodies(n: int, seed: int, dtype: type = np.float32, massless: bool = False):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3)).astype(np.float32).astype(dtype)
    v = random.normal(size=(n, 3)).astype(np.float32).astype(dtype)
    m = (random.uniform(0.5, 1.5, n) / n).astype(np.float32).astype(dtype)
    if massless:
        m[random.permutation(n)[: n // 2]] = 0
    return x, v, m


class Library:
    """An array library, with functions that convert a numpy array to the library's array and
    back."""

    def __init__(self, name: str, bring: Callable[[np.ndarray], Any],
                 back: Callable[[Any], np.ndarray], kind: type) -> None:
        self.name, self.bring, self.back, self.kind = name, bring, back, kind


def torch_library() -> Library:
    import torch
    return Library("torch", lambda a: torch.from_numpy(a).cuda(), lambda a: a.cpu().numpy(),
                   torch.Tensor)


def cupy_library() -> Library:
    import cupy
    return Library("cupy", cupy.asarray, cupy.asnumpy, cupy.ndarray)


def jax_library() -> Library:
    import jax
    jax.config.update("jax_enable_x64", True)
    return Library("jax", jax.numpy.asarray, np.asarray, jax.Array)


def libraries() -> list[Library]:
    makers = {"torch": torch_library, "cupy": cupy_library, "jax": jax_library}
    found = []
    for name in os.environ.get("NBODY_ARRAY_LIBRARIES", ",".join(makers)).split(","):
        try:
            found.append(makers[name]())
        except ImportError:
            print(f"{name} is not installed: not tested")
    return found


LIBRARIES = libraries()


class OnDevice(unittest.TestCase):
    def close(self, found: np.ndarray, exact: np.ndarray, tolerance: float, what: str) -> None:
        self.assertEqual((found.dtype, found.shape), (exact.dtype, exact.shape), what)
        largest = np.abs(exact).max() or 1.0  # one body alone
        error = np.abs(found.astype(np.float64) - exact).max() / largest
        self.assertLess(error, tolerance, what)

    def each(self, test: Callable[[Library], None]) -> None:
        for library in LIBRARIES:
            with self.subTest(library.name):
                test(library)

    def test_direct(self) -> None:
        def test(library: Library) -> None:
            for n in SIZES:
                for dtype, tolerance in ((np.float32, 5e-6), (np.float64, 1e-13)):
                    for massless in (False, True):
                        x, v, m = bodies(n, n, dtype, massless)
                        at, u, _ = bodies(70, 2, dtype)
                        there = [library.bring(array) for array in (x, v, m, at, u)]
                        X, V, M, AT, U = there
                        what = f"{n} {dtype.__name__} massless={massless}"
                        self.close(library.back(nb.accelerations(X, M, 0.05)),
                                   nb.accelerations(x, m, 0.05), tolerance, what)
                        self.close(library.back(nb.accelerations(X, M, 0.05, AT)),
                                   nb.accelerations(x, m, 0.05, at), tolerance, what + " targets")
                        if n > 7000:
                            continue
                        self.close(library.back(nb.potential(X, M, 0.05, AT)),
                                   nb.potential(x, m, 0.05, at), tolerance, what + " potential")
                        self.close(library.back(nb.jerk(X, V, M, 0.05, AT, U)),
                                   nb.jerk(x, v, m, 0.05, at, u), 10 * tolerance, what + " jerk")
                        if n > 1:
                            self.close(library.back(nb.potential(X, M, 0.05)),
                                       nb.potential(x, m, 0.05), tolerance, what + " own potential")
        self.each(test)

    def test_results_are_of_the_same_library(self) -> None:
        def test(library: Library) -> None:
            x, v, m = (library.bring(array) for array in bodies(100, 1))
            found = nb.accelerations(x, m, 0.1)
            self.assertIsInstance(found, library.kind)
            self.assertIsInstance(nb.potential(x, m, 0.1), library.kind)
            self.assertIsInstance(nb.jerk(x, v, m, 0.1), library.kind)
            again = library.back(found + found)  # its own library can add the result
            self.assertTrue(np.array_equal(again, 2 * library.back(found)))
        self.each(test)

    def test_tree(self) -> None:
        def test(library: Library) -> None:
            for dtype in (np.float32, np.float64):
                for massless in (False, True):
                    x, _, m = bodies(TREE, 3, dtype, massless)
                    at = x[:999] + dtype(0.01)
                    for where in (None, at):
                        exact = nb.accelerations(x, m, 0.05, where).astype(np.float64)
                        there = None if where is None else library.bring(where)
                        errors = []
                        for tolerance in (0.02, 0.0005):
                            found = library.back(nb.accelerations(
                                library.bring(x), library.bring(m), 0.05, there, "tree",
                                force_tolerance=tolerance))
                            self.assertEqual((found.dtype, found.shape), (dtype, exact.shape))
                            square = ((found - exact) ** 2).sum(-1) / (exact ** 2).sum(-1)
                            errors.append(np.sqrt(square.mean()))
                        self.assertLess(errors[0], 5e-3)
                        self.assertLess(errors[1], 5e-4)
                        self.assertLess(2 * errors[1], errors[0])
        self.each(test)

    def test_potential_of_tree(self) -> None:
        def test(library: Library) -> None:
            for dtype in (np.float32, np.float64):
                x, _, m = bodies(TREE // 3, 12, dtype, True)
                at = x[:99] + dtype(0.01)
                for where in (None, at):
                    exact = nb.potential(x, m, 0.05, where)
                    there = None if where is None else library.bring(where)
                    found = library.back(nb.potential(library.bring(x), library.bring(m), 0.05,
                                                      there, "tree"))
                    self.close(found, exact, 1e-3, "potential of the tree")
        self.each(test)

    def test_host_arrays_on_the_device(self) -> None:
        x, _, m = bodies(3000, 4, massless=True)
        for method, tolerance in (("direct", 5e-6), ("tree", 5e-3)):
            found = nb.accelerations(x, m, 0.05, method=method, device="cuda")
            self.assertIsInstance(found, np.ndarray)
            self.close(found, nb.accelerations(x, m, 0.05), tolerance, method)

    def test_large_units(self) -> None:
        x, _, m = bodies(700, 5, np.float64)
        x, m = 1e20 * x, 1e38 * m
        library = LIBRARIES[0]
        for dtype, tolerance in ((np.float64, 1e-13), (np.float32, 5e-6)):
            y, k = x.astype(dtype), m.astype(dtype)
            self.close(library.back(nb.accelerations(library.bring(y), library.bring(k), 1e18)),
                       nb.accelerations(y, k, 1e18), tolerance, str(dtype))

    def test_limits(self) -> None:
        """Units outside the range of float64, and bodies at the same place without softening."""
        for length, mass, speed in ((1e110, 1.0, 1e150), (1e-100, 1e50, 1e-100)):
            x, v = np.zeros((2, 3)), np.zeros((2, 3))
            x[1, 0], v[1, 0] = length, speed
            exact = -2 * (mass / length) * (speed / length) / length
            found = nb.jerk(x, v, np.full(2, mass), 0, device="cuda")
            np.testing.assert_allclose(found[:, 0], [exact, -exact], 1e-12)
        for dtype in (np.float32, np.float64):
            x, v, m = np.zeros((2, 3), dtype), np.eye(2, 3, dtype=dtype), np.ones(2, dtype)
            found = nb.jerk(x, v, m, 0, with_accelerations=True, device="cuda")
            self.assertFalse(np.any(found))
            np.testing.assert_allclose(nb.jerk(x, v, m, 0.5, device="cuda"), 8 * (v[::-1] - v),
                                       1e-6)

    def test_unchecked(self) -> None:
        def test(library: Library) -> None:
            for n in (500, SIZES[-1]):
                x, m = (library.bring(array) for array in bodies(n, 6)[::2])
                exact = library.back(nb.accelerations(x, m, 0.05))
                found = library.back(nb.accelerations(x, m, 0.05, unchecked=True))
                self.assertLess(np.abs(found - exact).max() / np.abs(exact).max(), 1e-6)
        self.each(test)

    def test_other_orders(self) -> None:
        def test(library: Library) -> None:
            x, _, m = bodies(100, 10)
            exact = library.back(nb.accelerations(library.bring(x), library.bring(m), 0.05))
            turned = library.bring(np.ascontiguousarray(x.T)).T
            apart = library.bring(np.repeat(m, 2))[::2]
            found = nb.accelerations(turned, apart, 0.05)
            self.assertTrue(np.array_equal(library.back(found), exact))
        self.each(test)

    def test_changes_between_calls(self) -> None:
        """A call first launches the kernels that the last calls needed. If the values have changed,
        the call must launch other kernels or report an error."""
        def test(library: Library) -> None:
            x, _, m = bodies(SIZES[-1], 11)
            few = m.copy()
            few[len(m) // 3:] = 0
            wrong = m.copy()
            wrong[-1] = -1
            there = library.bring(x)
            for _ in range(4):
                nb.accelerations(there, library.bring(m), 0.05)
            for at, masses in ((100 * x, m), (x, few), (x, 1e-20 * m)):
                self.close(library.back(nb.accelerations(library.bring(at), library.bring(masses),
                                                         0.05)),
                           nb.accelerations(at, masses, 0.05), 5e-6, "changed")
                for _ in range(4):
                    exact = library.back(nb.accelerations(there, library.bring(m), 0.05))
                # With JAX, the error is raised when the result is used.
                with self.assertRaisesRegex((ValueError, RuntimeError), "a mass"):
                    library.back(nb.accelerations(there, library.bring(wrong), 0.05))
                found = library.back(nb.accelerations(there, library.bring(m), 0.05))
                self.assertTrue(np.array_equal(found, exact))
        self.each(test)

    def test_simulate(self) -> None:
        def test(library: Library) -> None:
            x, v, m = bodies(300, 9, np.float64)
            seen: list[int] = []
            found = nb.simulate(*(library.bring(array) for array in (x, v, m)), 0.1, 0.01, 5,
                                progress=seen.append)
            exact = nb.simulate(x, v, m, 0.1, 0.01, 5)
            self.assertEqual(seen, [1, 2, 3, 4, 5])
            for there, here in zip(found, exact):
                self.assertIsInstance(there, library.kind)
                self.close(library.back(there), here, 1e-12, "simulate")
        self.each(test)

    def test_wrong_values(self) -> None:
        def test(library: Library) -> None:
            x, v, m = bodies(100, 7)
            nan, fast, negative = x.copy(), v.copy(), m.copy()
            nan[31, 1], fast[2, 2], negative[4] = np.nan, np.inf, -1
            X, V, M, NAN, FAST, NEGATIVE = (library.bring(array) for array in
                                            (x, v, m, nan, fast, negative))
            values = (("a position", lambda: nb.accelerations(NAN, M, 0.1)),
                      ("a position", lambda: nb.accelerations(X, M, 0.1, NAN)),
                      ("a mass", lambda: nb.accelerations(X, NEGATIVE, 0.1)),
                      ("a velocity", lambda: nb.jerk(X, FAST, M, 0.1)))
            others = (("masses: shape", lambda: nb.accelerations(X, M[1:], 0.1)),
                      ("positions: shape", lambda: nb.accelerations(M, M, 0.1)),
                      ("masses: not on CUDA", lambda: nb.accelerations(X, m, 0.1)),
                      ("softening: -1", lambda: nb.accelerations(X, M, -1)),
                      ("device: 'cpu' is not", lambda: nb.accelerations(X, M, 0.1, device="cpu")))
            for message, call in others:
                with self.subTest(message), self.assertRaisesRegex(ValueError, "^" + message):
                    call()
            for message, call in values:
                with self.subTest(message):
                    if library.name == "jax":  # its errors are raised when results are used
                        with self.assertRaisesRegex(RuntimeError, message):
                            first = call()
                            library.back(first[0] if isinstance(first, tuple) else first)
                    else:
                        with self.assertRaisesRegex(ValueError, "^" + message):
                            call()
        self.each(test)

    def test_functions_that_jax_compiles(self) -> None:
        for library in LIBRARIES:
            if library.name != "jax":
                continue
            import jax
            x, v, m = (library.bring(array) for array in bodies(3000, 4))
            for method in ("direct", "tree"):
                def forces(x: Any, m: Any) -> Any:
                    return nb.accelerations(x, m, 0.05, method=method)
                twice = jax.jit(lambda x, m: 2 * forces(x, m))(x, m)
                self.assertTrue(np.array_equal(twice, 2 * forces(x, m)))
            jerks = jax.jit(lambda *arrays: nb.jerk(*arrays, 0.05))(x, v, m)
            self.assertTrue(np.array_equal(jerks, nb.jerk(x, v, m, 0.05)))

    def test_two_threads(self) -> None:
        library = LIBRARIES[0]
        problems = [[library.bring(array) for array in bodies(n, n)[::2]] for n in (900, 7000)]
        for method in ("direct", "tree"):
            alone = [library.back(nb.accelerations(*problem, 0.05, method=method))
                     for problem in problems]
            same: list[bool] = []

            def work(k: int) -> None:
                for _ in range(5):
                    found = library.back(nb.accelerations(*problems[k], 0.05, method=method))
                    same.append(np.array_equal(found, alone[k]))

            threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(same, [True] * 20, method)

    def test_streams_of_torch(self) -> None:
        if LIBRARIES[0].name != "torch":
            self.skipTest("needs PyTorch")
        import torch
        x, m = (torch.from_numpy(array).cuda() for array in bodies(SIZES[-1], 8)[::2])
        for method in ("direct", "tree"):
            exact = nb.accelerations(2 * x, m, 0.05, method=method).cpu()
            stream = torch.cuda.Stream()
            torch.cuda.synchronize()
            for _ in range(3):
                with torch.cuda.stream(stream):
                    torch.cuda._sleep(3_000_000)  # the following call must wait for the stream
                    found = nb.accelerations(2 * x, m, 0.05, method=method) + 0
                stream.synchronize()
                self.assertTrue(torch.equal(found.cpu(), exact), method)

    def test_memory_is_returned(self) -> None:
        library = LIBRARIES[0]
        if library.name != "torch":
            self.skipTest("needs PyTorch")
        import torch
        x, m = (library.bring(array) for array in bodies(SIZES[-1], 9)[::2])
        nb.accelerations(x, m, 0.05)
        torch.cuda.synchronize()
        held = torch.cuda.mem_get_info()[0]
        _extension.release_memory()
        self.assertGreaterEqual(torch.cuda.mem_get_info()[0], held)


if __name__ == "__main__":
    if not _extension.has_cuda or not LIBRARIES:
        print("this build has no CUDA, or no array library is installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
