"""Tests body files and figures: bytes must equal known bytes, invalid files must be rejected,
pictures must not be blank, and figures need captions."""

import math
import os
import re
import sys
import unittest
from pathlib import Path
from unittest import mock

from tests import fakes
from tests.design import boxes

try:
    import numpy
    from matplotlib import image
except ModuleNotFoundError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed for {sys.executable}")

from nbody_tools.arguments import ROOT
from nbody_tools.figures import performance, style
from nbody_tools.figures.orbits import kepler_ellipse
from nbody_tools.files.bodies import FileError, read_bodies, read_snapshots

VALUES = [1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6, 0.5]


class WithPictures(fakes.InFolder):
    def assert_drawn(self, path: Path) -> None:
        pixels = image.imread(str(path))[..., :3]
        self.assertGreater(min(pixels.shape[:2]), 200)
        self.assertGreater(float(pixels.var()), 1e-3, f"{path.name} is blank")

    def plot(self, *words: object) -> tuple[object, ...]:
        return ("plot", *words, "--output", self.folder / "picture.png")

    def assert_plotted(self, *words: object) -> None:
        self.done(*self.plot(*words))
        self.assert_drawn(self.folder / "picture.png")

    def two_orbits(self, scenario: str) -> Path:
        for step in range(5):
            angle = 0.3 * step
            x, y = math.cos(angle), math.sin(angle)
            bodies = [0, 0, 0, 0, 0, 0, 1, x, y, 0, -y, x, 0, 3.0035e-6]
            self.file(f"orbits/snapshot_{step:08d}.bin",
                      fakes.bin_bytes(bodies, 1, 2, scenario, angle, step))
        return self.folder / "orbits"


class Files(WithPictures):
    def test_known_bytes(self) -> None:
        bodies = read_bodies(self.file("a.bin", fakes.bin_bytes(VALUES, 2, 1, "galaxies", 1.5, 7)))
        numpy.testing.assert_array_equal(bodies.positions, [[[1, 2, 3]], [[-1, -2, -3]]])
        numpy.testing.assert_array_equal(bodies.velocities, [[[4, 5, 6]], [[-4, -5, -6]]])
        numpy.testing.assert_array_equal(bodies.masses, [[7], [0.5]])
        self.assertEqual((bodies.time, bodies.step, bodies.gravity, bodies.softening, bodies.dt),
                         (1.5, 7, 1.0, 0.05, 0.01))
        self.assertEqual((bodies.integrator, bodies.scenario, bodies.units),
                         ("leapfrog", "galaxies", "AU"))

    def test_species(self) -> None:
        plain = fakes.bin_bytes(VALUES, 2, 1)
        bodies = read_bodies(self.file("a.bin", plain[:8] + b"\2" + plain[9:] + b"\4\1"))
        self.assertEqual(bodies.species, ["star", "dark"])
        numpy.testing.assert_array_equal(bodies.masses, [[7], [0.5]])
        with self.assertRaisesRegex(FileError, "species"):
            read_bodies(self.file("a.bin", plain[:8] + b"\2" + plain[9:] + b"\4\6"))
        text = b"id,species,m,x,y,z,vx,vy,vz\n0,gas,1,2,3,4,5,6,7\n"
        self.assertEqual(read_bodies(self.file("a.csv", text)).species, ["gas"])
        with self.assertRaisesRegex(FileError, "a.csv:2: species is \"dust\""):
            read_bodies(self.file("a.csv", text.replace(b"gas", b"dust")))

    def test_the_documented_line_reads_a_bin(self) -> None:
        text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
        line = next(line for line in text.splitlines() if "numpy.fromfile(" in line)
        plain = fakes.bin_bytes(VALUES, 1, 2)
        for content in (plain, plain[:8] + b"\2" + plain[9:] + b"\4\1"):
            file = self.file("a.bin", content)
            found = eval(line.strip().replace('"a.bin"', repr(str(file))), {"numpy": numpy, "N": 2})
            numpy.testing.assert_array_equal(found, numpy.reshape(VALUES, (2, 7)))

    def test_staggered_positions_are_taken_back(self) -> None:
        bodies = read_bodies(self.file("a.bin", fakes.bin_bytes(VALUES, 2, 1, staggered=1)))
        numpy.testing.assert_allclose(bodies.synchronised_positions()[0, 0], [0.98, 1.975, 2.97])

    def test_damaged_files_are_refused(self) -> None:
        good = fakes.bin_bytes(VALUES, 1, 2)
        for content, expected in (
            (good[:-1], "199 bytes, but its header describes .* which take 200"),
            (good[:100], "100 bytes; the header alone takes 144"),
            (good + b"\0", "201 bytes, but its header describes .* which take 200"),
            (good[:12] + good[15:11:-1] + good[16:], "big-endian"),
            (good[:-4] + b"\0\0\xc0\x7f", "body 1: mass is nan"),
            (b"\x80\xff", "not BIN .* not CSV"),
        ):
            with self.subTest(expected=expected):
                path = self.file("damaged.bin", content)
                with self.assertRaisesRegex(FileError, f"damaged.bin: .*{expected}"):
                    read_bodies(path)

    def test_csv(self) -> None:
        text = b"# time=2\n# units=AU\n# a comment\nname,m,x,y,z,vx,vy,vz\nSun,1,2,3,4,5,6,7\n"
        bodies = read_bodies(self.file("a.csv", text))
        self.assertEqual((bodies.names, bodies.time, bodies.units), (["Sun"], 2.0, "AU"))
        numpy.testing.assert_array_equal(bodies.positions[0, 0], [2, 3, 4])
        self.assertEqual(bodies.masses[0, 0], 1)
        for line, expected in (
            (b"Moon,1,2\n", "a.csv:6: 3 values"),
            (b"Moon,1,2,3,x,5,6,7\n", "a.csv:6"),
        ):
            with self.assertRaisesRegex(FileError, expected):
                read_bodies(self.file("a.csv", text + line))

    def test_snapshots_are_in_order_and_of_one_run(self) -> None:
        folder = self.two_orbits("solar-system")
        self.assertEqual([bodies.step for bodies in read_snapshots(folder)], [0, 1, 2, 3, 4])
        self.file("orbits/snapshot_00000009.bin", fakes.bin_bytes(VALUES, 2, 1))
        with self.assertRaisesRegex(FileError, "snapshot_00000009.bin"):
            read_snapshots(folder)


class Figures(WithPictures):
    def performance(self, records: list, *words: object) -> tuple[object, ...]:
        return (
            "plot",
            "performance",
            fakes.write_records(self.folder / "r.jsonl", records),
            "--output",
            self.folder / "figures",
            *words,
        )

    def test_performance_figures(self) -> None:
        self.done(*self.performance(fakes.staircase_records()))
        names = {path.name for path in (self.folder / "figures").iterdir()}
        self.assertEqual(names, {f"{step}.png" for step, _, _ in fakes.STAIRCASE}
                         | {"all_throughput.png", "all_speedup.png"})
        for name in names:
            self.assert_drawn(self.folder / "figures" / name)

    def test_three_files_a_step(self) -> None:
        self.done(*self.performance(fakes.staircase_records()[:2], "--separate", "--format", "svg"))
        for panel in ("time", "throughput", "speedup"):
            self.assertTrue((self.folder / "figures" / f"step01_gpu_naive_{panel}.svg").is_file())

    def test_two_files_of_one_name_do_not_overwrite_each_other(self) -> None:
        files = [fakes.write_records(self.folder / folder / "r.jsonl", fakes.staircase_records())
                 for folder in "ab"]
        self.assertIn("two files are called r, ",
                      self.refused("plot", "performance", *files, "--output", self.folder / "out"))

    def test_captions_have_machines_and_date(self) -> None:
        captions = []
        keep = lambda figure, path, caption: captions.append(caption) or style.pyplot.close(figure)
        with mock.patch.object(performance, "save", keep):
            self.done(*self.performance(fakes.staircase_records()))
        self.assertEqual(len(captions), 6)
        for caption in captions:
            self.assertIn("Test CPU x 64", caption)
            self.assertIn("2026-01-02", caption)
        self.assertTrue(all("Test GPU" in caption for caption in captions[1:]))

    def test_emulated_records_are_refused_in_one_line(self) -> None:
        self.assertIn(
            "hostcuda",
            self.refused(*self.performance([fakes.record("step01_gpu_naive", "hostcuda")])),
        )
        self.assertFalse((self.folder / "figures").exists())

    def test_orbits(self) -> None:
        for scenario in ("solar-system", "figure-eight", ""):
            with self.subTest(scenario=scenario):
                self.assert_plotted("orbits", self.two_orbits(scenario))

    def test_orbits_have_the_unit_of_their_axes(self) -> None:
        for step in range(2):
            self.file(f"galaxy/snapshot_{step:08d}.csv",
                      f"# units=2 kpc, 5 Msun\n# step={step}\nx,y,vx,vy\n{step},0,0,0\n3,0,0,0\n")
        drawn = []
        with mock.patch("nbody_tools.figures.orbits.save",
                        lambda figure, path, caption: drawn.append(figure.axes[0]) or path):
            self.done(*self.plot("orbits", self.folder / "galaxy"))
        self.assertEqual((drawn[0].get_xlabel(), drawn[0].get_ylabel()), ("x (kpc)", "y (kpc)"))
        self.assertEqual(max(max(line.get_xdata()) for line in drawn[0].lines), 6)

    def test_kepler_ellipse(self) -> None:
        # An orbit with a = 1 and e = 0.5 from the pericentre must pass x = -1.5 and return.
        speed = math.sqrt(1.5 / 0.5)
        ellipse = kepler_ellipse(numpy.array([0.5, 0, 0]), numpy.array([0, speed, 0]), 1.0)
        self.assertAlmostEqual(ellipse[:, 0].min(), -1.5, places=3)
        self.assertAlmostEqual(ellipse[:, 1].max(), math.sqrt(0.75), places=3)
        numpy.testing.assert_allclose(ellipse[0], ellipse[-1], atol=1e-12)

    def test_density(self) -> None:
        generator = numpy.random.default_rng(1)
        values = generator.normal(size=(2 * 300, 7))
        values[:, 6] = 1
        before = self.file("before.bin", fakes.bin_bytes(values.ravel(), 2, 300))
        values[:, :3] *= 0.4
        after = self.file("after.bin", fakes.bin_bytes(values.ravel(), 2, 300, time=3))
        self.assert_plotted("density", before, after)
        other = self.file("other.bin", fakes.bin_bytes(VALUES, 2, 1))
        self.refused(*self.plot("density", before, other))

    def test_bodies_without_an_extent_or_a_mass(self) -> None:
        at_one_place = self.file("same.csv", "x,y,vx,vy,m\n" + 300 * "1,1,0,0,1\n")
        massless = self.file("massless.csv", "x,y,vx,vy,m\n" + 300 * "1,0,0,0,0\n2,0,0,0,0\n")
        self.done(*self.plot("density", at_one_place, at_one_place))
        self.done(*self.plot("states", self.file("one.csv", "x,y,vx,vy\n0,0,0,0\n")))
        self.assertIn("too close together", self.refused(*self.plot("profile", at_one_place)))
        for words in (("density", massless, massless), ("profile", massless)):
            self.assertIn("all masses", self.refused(*self.plot(*words)))

    def test_captions_say_only_what_the_files_say(self) -> None:
        values = numpy.random.default_rng(1).normal(size=(30, 7))
        rows = "".join(f"{i},1," + ",".join(f"{x:.6g}" for x in row[:6]) + "\n"
                       for i, row in enumerate(values))
        head = "# softening={}\n# dt={}\n# integrator={}\n# step={}\nid,m,x,y,z,vx,vy,vz\n"
        for numbers, said in (
            (
                (0.05, 0.01, "leapfrog", 30),
                "Integrator leapfrog, dt 0.01, softening 0.05, 30 steps.",
            ),
            ((0.05, 0.01, "euler", 0), "Softening 0.05."),
            ((0, 0, "euler", 0), "Softening unknown."),
        ):
            files = [self.file(name, (head.format(*numbers[:3], step) + rows).encode())
                     for name, step in (("a.csv", 0), ("b.csv", numbers[3]))]
            captions: list[str] = []
            with mock.patch("nbody_tools.figures.density.save",
                            lambda figure, path, caption: captions.append(caption) or path):
                self.done(*self.plot("density", *files))
            self.assertRegex(captions[0], rf"^a\.csv: projected .* {said}$")

    def test_a_caption_says_if_only_one_system_is_shown(self) -> None:
        rows = "x,y,vx,vy\n" + "".join(f"{k},{k % 7},0,0\n" for k in range(50))
        for text, said in (("# systems=2\n" + rows, True), (rows, False)):
            captions: list[str] = []
            with mock.patch("nbody_tools.figures.states.save",
                            lambda figure, path, caption: captions.append(caption) or path):
                self.done(*self.plot("states", self.file("systems.csv", text)))
            self.assertEqual("Only the first of 2 systems is shown." in captions[0], said)

    def test_the_smoothing_has_the_unit_of_the_axes(self) -> None:
        found = []
        for units in ("", "# units=2 kpc, 5 Msun\n"):
            text = units + "x,y,vx,vy\n" + "".join(f"{k},{k % 7},0,0\n" for k in range(50))
            captions: list[str] = []
            with mock.patch("nbody_tools.figures.density.save",
                            lambda figure, path, caption: captions.append(caption) or path):
                self.done(*self.plot("density", *2 * [self.file("a.csv", text)]))
            found.append(re.search(r"about ([\d.]+)( kpc)?\. ", captions[0]))
        self.assertEqual([words[2] for words in found], [None, " kpc"])
        self.assertAlmostEqual(float(found[1][1]) / float(found[0][1]), 2, delta=0.05)

    def test_density_keeps_the_mass(self) -> None:
        from nbody_tools.figures.density import PIXELS, surface_density
        points = numpy.random.default_rng(2).normal(size=(500, 2))
        density = surface_density(points, numpy.full(500, 0.002), 12.0, 0.3)
        self.assertAlmostEqual(density.sum() * (24.0 / PIXELS) ** 2, 1.0, places=3)


COPY_SNAPSHOTS = """
if "--snapshot-dir" in words:
    import shutil
    kind = "many" if "galaxies" in words or "plummer" in words else "few"
    folder = words[words.index("--snapshot-dir") + 1]
    shutil.copytree({folder!r} + "/" + kind, folder, dirs_exist_ok=True)
"""


class Tour(WithPictures):
    def snapshots(self, kind: str, bodies: int) -> None:
        for step in range(4):
            t = 0.5 * step
            state = [value for i in range(bodies) for value in
                     (i * math.cos(t + i), i * math.sin(t + i), 0, -math.sin(t), math.cos(t), 0, 1)]
            self.file(
                f"{kind}/snapshot_{step:08d}.bin", fakes.bin_bytes(state, 1, bodies, "", t, step)
            )

    @staticmethod
    def not_drawn(figure: style.Figure, path: Path, caption: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        style.pyplot.close(figure)
        return path

    def tour(self, records: list, pictures: bool = False, **broken: str) -> tuple[int, str]:
        build = self.folder / "build"
        self.snapshots("few", 2)
        self.snapshots("many", 200)
        copy = COPY_SNAPSHOTS.format(folder=str(self.folder))
        for data in records:
            fakes.write_step(build, data, copy + broken.get(data["step"], ""))
        # Avoids a run of step 00, because the fake program cannot compute orbits.
        orders = mock.patch("nbody_tools.tour.tour.make_orders", lambda step, report: [])
        orders.start()
        self.addCleanup(orders.stop)
        if not pictures:
            none = lambda on_gpu, with_tree: []
            for patch in (mock.patch("nbody_tools.tour.tour.picture_runs", none),
                          mock.patch.object(performance, "save", self.not_drawn)):
                patch.start()
                self.addCleanup(patch.stop)
        code, _, _ = self.call("tour", "--build", build, "--output", self.folder / "report",
                               "--results", self.folder / "results")
        return code, (self.folder / "report" / "index.html").read_text(encoding="utf-8")

    def test_without_a_gpu(self) -> None:
        code, page = self.tour([fakes.record("step00_cpu_omp", "cpu"),
                                fakes.record("step01_gpu_naive", "hostcuda")], pictures=True)
        self.assertEqual(code, 0)
        self.assertIn("no GPU measurement is committed", page)
        self.assertIn("emulated on a CPU: not GPU times", page)
        self.assertNotRegex(page, r"<td[^>]*>emulated<")
        self.assertRegex(page, r'src="figures/collision_film\.(webp|gif)"')
        figures = self.folder / "report" / "figures"
        for name in ("collision", *(f"collision_{k}" for k in range(4))):
            self.assertIn(f"figures/{name}.png", page)
            self.assertGreater(image.imread(str(figures / f"{name}.png"))[..., :3].max(), 0.5, name)
        for name in ("solar_system", "figure_eight", "galaxies", "profile"):
            self.assertIn(f"figures/{name}.svg", page)
            drawn = (figures / f"{name}.svg").read_text(encoding="utf-8")
            self.assertIn("prefers-color-scheme: dark", drawn)
        self.assertNotIn(str(self.folder), page)

    def test_nothing_overlaps_in_a_browser(self) -> None:
        boxes.require_browser()
        (self.folder / "results").mkdir()
        fakes.write_records(self.folder / "results" / "there.jsonl", fakes.staircase_records())
        self.tour([fakes.record("step00_cpu_omp", "cpu"),
                   fakes.record("step01_gpu_naive", "hostcuda")], pictures=True)
        page = self.folder / "report" / "index.html"
        with boxes.Browser() as browser:
            self.assertEqual(boxes.problems(page, browser), [])
            parts = "header > *, .facts > li, nav a, .stairs .name, .stairs .line, .stairs .value"
            self.assertEqual(boxes.changed_layouts(page, "report", parts, browser), [])
            text = page.read_text(encoding="utf-8").replace("</main>", "<img></main>")
            text = text.replace("</style>", """
              h1 { margin-bottom: -2rem; } .soft { color: #999; } h2 { white-space: nowrap; }
              #staircase h2::after { content: "wide"; padding-left: 120rem; }</style>""")
            page.write_text(text, encoding="utf-8")
            with mock.patch.dict(os.environ, {"NBODY_ACCEPT_LAYOUTS": ""}):
                self.assertNotEqual(boxes.changed_layouts(page, "report", parts, browser), [])
            found = "\n".join(boxes.problems(page, browser))
            for expected in ("overlap", "has a contrast of", "wide on a screen of 390"):
                self.assertIn(expected, found)
            if boxes.axe.source() is not None:
                self.assertIn("axe, image-alt", found)

    def test_without_a_gpu_the_committed_staircase_is_named(self) -> None:
        (self.folder / "results").mkdir()
        fakes.write_records(self.folder / "results" / "there.jsonl", fakes.staircase_records())
        code, page = self.tour([fakes.record("step01_gpu_naive", "hostcuda")])
        self.assertEqual(code, 0)
        page = " ".join(page.split())
        self.assertIn("measured on another machine on 2026-01-02", page)
        self.assertIn("docs/results/there.jsonl", page)
        self.assertTrue((self.folder / "report" / "figures" / "committed_speedup.svg").is_file())
        self.assertIn("1 of 1 checks", page)  # checked here; the speed is from another machine

    def test_on_a_gpu_a_failing_step_is_shown(self) -> None:
        code, page = self.tour(fakes.staircase_records(), step02_layout="\nsys.exit(1)")
        self.assertEqual(code, 1)
        self.assertIn("Not everything ran as it should", page)
        self.assertIn("step02_layout: error", page)
        self.assertIn("The staircase, measured here", page)
        self.assertTrue((self.folder / "report" / "figures" / "all_speedup.svg").is_file())

