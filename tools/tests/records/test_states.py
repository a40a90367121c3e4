"""Tests states, profiles and errors by time step. Numbers must equal known numbers, invalid
files must be rejected, and pictures must not be blank."""

import struct
import sys
import unittest
from unittest import mock

from tests import fakes
from tests.test_figures import WithPictures

try:
    import numpy
except ModuleNotFoundError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed for {sys.executable}")

from nbody_tools.arguments import ROOT
from nbody_tools.figures.convergence import position_error
from nbody_tools.figures.profile import MODELS, SCALE, shells
from nbody_tools.files.bodies import FileError, read_bodies

CORPUS = ROOT / "tests" / "fuzz" / "corpus"


class States(WithPictures):
    def test_up_to_nine(self) -> None:
        rows = "".join(
            f"{kind},1,{i % 7},{i % 5},0,0,0,0\n" for i, kind in enumerate(["disk", "dark"] * 50)
        )
        files = [
            self.file(f"{t}.csv", f"# time={t}\nspecies,m,x,y,z,vx,vy,vz\n{rows}".encode())
            for t in range(10)
        ]
        for words in (files[:9], [*files[:1], "--species", "disk,dark", "--view", "xz"]):
            self.assert_plotted("states", *words)
        self.assertEqual(self.refused(*self.plot("states", *files)),
                         "nbody plot: 10 files, but at most 9 fit into a picture\n")
        self.refused(*self.plot("states", files[0], "--species", "disk,disk"))


class Profile(WithPictures):
    def sphere(self, stretched: float, bodies: int = 4000):
        random = numpy.random.default_rng(5)
        radii = stretched * SCALE * (random.uniform(0, 0.999, bodies) ** (-2 / 3) - 1) ** -0.5
        directions = random.normal(size=(bodies, 3))
        positions = radii[:, None] * directions / numpy.linalg.norm(directions, axis=1)[:, None]
        state = numpy.hstack(
            [positions, numpy.zeros((bodies, 3)), numpy.full((bodies, 1), 1 / bodies)]
        )
        return self.file("sphere.bin", fakes.bin_bytes(state.ravel(), 1, bodies))

    def test_a_sphere_of_the_model_is_told_from_another(self) -> None:
        right = shells(read_bodies(self.sphere(1))).deviations(MODELS["plummer"])
        self.assertLess(abs(right).max(), 4)
        self.assertGreater(abs(right).max(), 0.5)  # random bodies deviate from the model
        self.assertGreater(
            abs(shells(read_bodies(self.sphere(1.4))).deviations(MODELS["plummer"])).max(), 6
        )
        self.assertGreater(
            abs(shells(read_bodies(self.sphere(1))).deviations(MODELS["hernquist"])).max(), 6
        )

    def test_models_are_the_derivatives_of_their_masses(self) -> None:
        r = numpy.geomspace(0.05, 20, 4000)
        for model in MODELS.values():
            middle = numpy.sqrt(r[1:] * r[:-1])
            numpy.testing.assert_allclose(
                numpy.diff(model.mass_within(r)),
                4 * numpy.pi * middle**2 * model.density(middle) * numpy.diff(r),
                rtol=1e-4,
            )

    def test_drawn_or_refused(self) -> None:
        self.assert_plotted("profile", self.sphere(1), "--theory", "plummer")
        self.assertEqual(self.refused(*self.plot("profile", self.sphere(1, 100))),
                         "nbody plot: a profile needs 200 bodies or more, but there are 100\n")


class Convergence(WithPictures):
    def two_bodies(
        self, name: str, dt: float, error: float, time: float = 2, integrator: str = "euler"
    ):
        return self.file(f"{name}.csv", (
            f"# time={time}\n# dt={dt}\n# integrator={integrator}\nm,x,y,z,vx,vy,vz\n"
            f"1,{1 + error!r},0,0,0,0,0\n1,-1,0,{error!r},0,0,0\n").encode())

    def test_errors_are_distances(self) -> None:
        reference = read_bodies(self.two_bodies("reference", 1e-4, 0))
        self.assertAlmostEqual(
            position_error(read_bodies(self.two_bodies("a", 0.1, 0.25)), reference), 0.25
        )

    def test_drawn_or_refused(self) -> None:
        reference = self.two_bodies("reference", 1e-4, 0)
        ends = [
            self.two_bodies(f"{integrator}{k}", 0.1 / k, (0.1 / k) ** order, integrator=integrator)
            for integrator, order in (("euler", 1), ("leapfrog", 2))
            for k in (1, 2, 4)
        ]
        self.assert_plotted("convergence", reference, *ends)
        for end, why in (
            (self.two_bodies("late", 0.1, 0.1, time=3), "its time is 3, but the reference's is 2"),
            (self.two_bodies("mute", 0, 0.1), "the file does not give dt"),
            (reference, "no state differs"),
        ):
            self.assertIn(why, self.refused(*self.plot("convergence", reference, end)))

    def test_the_caption_names_the_lines_and_the_precision_that_are_there(self) -> None:
        captions: list[str] = []
        reference = self.two_bodies("reference", 1e-4, 0)
        with mock.patch("nbody_tools.figures.convergence.save",
                        lambda figure, path, caption: captions.append(caption) or path):
            for integrators in (["euler"], ["leapfrog"], ["euler", "leapfrog"]):
                ends = [self.two_bodies(name, 0.1, 0.1, integrator=name) for name in integrators]
                self.done(*self.plot("convergence", reference, *ends))
        precision = read_bodies(reference).precision
        for caption, dashed in zip(captions, ("dt", "the square of dt", "dt and to its square")):
            self.assertIn(f"relative to a {precision} run with dt = 0.0001. Dashed: errors "
                          f"proportional to {dashed}.", caption)


class Foreign(WithPictures):
    def test_other_formats_are_read(self) -> None:
        raw = self.file("a.raw", struct.pack("<6f", 1, 2, 3, 4, 5, 6))
        numpy.testing.assert_array_equal(read_bodies(raw).positions, [[[1, 2, 3]]])
        tipsy = self.file("a.tipsy", (CORPUS / "tipsy" / "all_species_big.tipsy").read_bytes())
        with self.assertRaisesRegex(FileError, "a.tipsy: .* units .*nbody-convert --from-units"):
            read_bodies(tipsy)

    def test_without_the_library(self) -> None:
        with mock.patch("nbody_tools.files.library.ROOT", self.folder):
            with self.assertRaisesRegex(FileError, "is not built.*: ./nbody build nbody_files"):
                read_bodies(self.file("a.raw", b"\0" * 24))
