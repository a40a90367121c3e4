"""Tests activity maps, diagnostics and animations. Numbers must equal known numbers, invalid
files must be rejected, and pictures must not be blank."""

import re
import sys
import unittest
from unittest import mock

from tests import fakes
from tests.test_figures import WithPictures

try:
    import numpy
    from PIL import Image
except ModuleNotFoundError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed for {sys.executable}")

from nbody_tools.arguments import ROOT
from nbody_tools.activity import figures as activity
from nbody_tools.figures import diagnostics, style
from nbody_tools.files.diagnostics import COLUMNS, read_activity, read_diagnostics
from nbody_tools.files.bodies import FileError, read_bodies
from nbody_tools.tour.scenarios import ROWS

MAP = ("# share of all positions in each cell\n# cells=2\n# extent=3\n# positions=8\n"
       "0.5,0\n0.125,0.25\n")


def diagnostics_text(times: int = 4, systems: int = 2) -> str:
    rows = [",".join(COLUMNS)]
    for t in range(times):
        for system in range(systems):
            values = {name: 1.0 for name in COLUMNS} | {
                "step": 10 * t, "time": 0.5 * t, "system": system, "energy_error": 1e-6 * t * t,
                "momentum_x": 3e-8 * t, "momentum_y": 1 + 4e-8 * t, "r10": 0.3, "r25": 0.5,
                "r50": 0.8 - 0.01 * t, "r75": 1.3, "r90": 2.5 + system, "potential_error": 0}
            rows.append(",".join(repr(values[name]) for name in COLUMNS))
    return "\n".join(rows) + "\n"


class Scenarios(WithPictures):
    """./nbody scenarios runs nothing for arguments that cannot work."""

    def test_the_help_names_arguments_and_output(self) -> None:
        said = self.call("scenarios", "--help")[1]
        self.assertRegex(said, r"prints the\s+name of this file")
        self.assertRegex(said, r"PROGRAM +\w.*\n +DIR +\w")
        for row in ROWS:
            self.assertIn(row.scenario, said)

    def test_nonsense_is_one_line(self) -> None:
        works = self.program("works", f"open({str(self.folder / 'ran')!r}, 'w')")
        text, out = self.file("text", "x"), self.folder / "out"
        for words, answer in (
            ((), "required: PROGRAM, DIR\n"),
            ((works, out, "spirla"), "'spirla' has no picture; choose from cold-sphere, "),
            ((text, out), f"{text}: is not a program"),
            ((works, text / "new"), f"cannot be written: {text} is not a folder"),
            ((works, text), f"{text}: is not a folder"),
        ):
            self.assertIn(answer, self.refused("scenarios", *words))
            self.assertFalse((self.folder / "ran").exists())
        self.assertIn(f"{works}: wrote no snapshots of spiral",
                      self.refused("scenarios", works, out, "spiral", code=1))
        self.assertFalse(out.exists())


class Reading(WithPictures):
    def test_activity(self) -> None:
        found = read_activity(self.file("map.csv", MAP.encode()))
        # The file begins with the row of the highest y, but the array with the row of the lowest.
        numpy.testing.assert_array_equal(found.shares, [[0.125, 0.25], [0.5, 0]])
        self.assertEqual((found.extent, found.positions), (3.0, 8))

    def test_diagnostics(self) -> None:
        table = read_diagnostics(self.file("d.csv", diagnostics_text().encode()))
        self.assertEqual(table.systems, 2)
        numpy.testing.assert_array_equal(table.of(1, "time"), [0, 0.5, 1, 1.5])
        numpy.testing.assert_array_equal(table.of(1, "r90"), [3.5] * 4)
        # With components 3, 4 and 5, the length of the change differs from the change of the
        # length.
        numpy.testing.assert_allclose(
            table.change(0, "momentum"), [0, 5e-8, 1e-7, 1.5e-7], rtol=1e-6
        )

    def test_damaged_files_are_refused(self) -> None:
        good = diagnostics_text()
        lines = good.splitlines(keepends=True)
        for reader, content, expected in (
                (read_diagnostics, good[:-1], "cut short"),
                (read_diagnostics, "", "empty"),
                (read_diagnostics, "a,b\n", ":1: is not the first line"),
                (read_diagnostics, lines[0], "no rows"),
                (read_diagnostics, "".join(lines[:-1]), "all 2 systems"),
                (read_diagnostics, "".join(lines[:1] + lines[2:]), "all 2 systems"),
                (read_diagnostics, good.replace(",0,1.0", ",-1,1.0").replace(",1,1.0", ",-1,1.0"),
                 "all 0 systems"),
                (read_diagnostics, good.replace("0.3", "abc", 1), ":2: .*abc"),
                (read_diagnostics, good.replace("0.3", "nan", 1), ":2: .*NaN"),
                (read_diagnostics, good.replace("0.3,", "", 1), ":2: 22 values"),
                (read_activity, MAP.replace("# cells=2\n", ""), "not a map"),
                (read_activity, MAP.replace("=3", "=inf"), "'# extent' must be"),
                (read_activity, MAP[:MAP.index("0.5")].replace("=2", "=0"), "'# cells' and"),
                (read_activity, MAP.replace("=2", "=3"), "2 lines of cells instead of 3"),
                (read_activity, MAP.replace("0.5,0", "0.5"), ":5: 1 values"),
                (read_activity, MAP.replace("0.25", "0.75"), "cannot be a share"),
                (read_activity, MAP.replace("0.25", "-0.25"), "cannot be a share")):
            with self.subTest(expected=expected):
                with self.assertRaisesRegex(FileError, f"damaged.csv.*{expected}"):
                    reader(self.file("damaged.csv", content.encode()))


class Drawing(WithPictures):
    def test_what_the_options_of_the_steps_write(self) -> None:
        table = self.file("d.csv", diagnostics_text().encode())
        for words in (
            ["activity", self.file("map.csv", MAP)],
            ["diagnostics", table],
            ["radii", table, "--system", 2],
        ):
            with self.subTest(kind=words[0]):
                self.assert_plotted(*words)

    def test_what_cannot_be_drawn_is_one_line(self) -> None:
        table = self.file("d.csv", diagnostics_text().encode())
        one_row = self.file("one.csv", diagnostics_text(times=1).encode())
        empty_map = self.file(
            "map.csv", MAP.replace("0.5", "0").replace("0.125,0.25", "0,0").encode()
        )
        for words in (
            ["radii", table, "--system", 3],
            ["diagnostics", one_row],
            ["activity", empty_map],
            ["activity", table],
            ["radii", empty_map],
            ["radii", self.folder / "no.csv"],
        ):
            with self.subTest(words=words):
                self.refused(*self.plot(*words))
                self.assertFalse((self.folder / "picture.png").exists())

    def test_runs_whose_files_have_the_same_name(self) -> None:
        runs = [self.file(f"{folder}/run.csv", diagnostics_text()) for folder in "ab"]
        labels = []
        keep = lambda figure, path, caption: labels.append((figure.axes[0], caption))
        with mock.patch.object(diagnostics, "save", keep):
            self.done(*self.plot("energies", *runs))
        (axes, caption), = labels
        self.assertEqual([line.get_label() for line in axes.lines], list(map(str, runs)))
        self.assertIn("System 1 of each run. ", caption)
        self.assert_plotted("energies", self.file("cost_$a_$.csv", diagnostics_text()))

    def test_more_runs_than_colours(self) -> None:
        runs = [self.file(f"{k}.csv", diagnostics_text()) for k in range(8)]
        self.assertIn("8 runs, but a figure has colours for at most 7",
                      self.refused(*self.plot("energies", *runs)))
        states = [self.file(f"{k}.bin", fakes.bin_bytes([1.0] * 7, 1, 1)) for k in range(8)]
        self.assertIn("8 files, but", self.refused(*self.plot("profile", *states)))

    def test_radii_of_a_run_into_the_past_are_labelled_where_their_lines_end(self) -> None:
        text = diagnostics_text(systems=1)
        for time in ("0.5", "1.0", "1.5"):
            text = text.replace(f"0,{time},0,", f"0,-{time},0,")
        table = read_diagnostics(self.file("d.csv", text))
        table.values["r90"][:, 0] = 1, 2, 3, 9  # right to left
        figure, axes = style.pyplot.subplots()
        diagnostics.draw_radii_on(axes, table, 0)
        label = next(text for text in axes.texts if text.get_text() == "90 %")
        height = axes.transData.inverted().transform(axes.transAxes.transform(label.xy))[1]
        style.pyplot.close(figure)
        self.assertLess(height, 2)

    def test_captions(self) -> None:
        captions = []
        keep = lambda figure, path, caption: captions.append(caption)
        with mock.patch.object(activity, "save", keep), \
                mock.patch.object(diagnostics, "save", keep):
            self.done(*self.plot("activity", self.file("m.csv", MAP.encode())))
            self.done(*self.plot("radii", self.file("d.csv", diagnostics_text().encode())))
        self.assertIn("2 x 2 cells; 8 positions, 87.5 % of them inside", captions[0])
        self.assertIn("System 1 of 2", captions[1])
        self.assertIn("30 steps; the relative energy change is at most 9.0e-06", captions[1])

    def test_large_maps_are_coarsened_and_keep_their_sum(self) -> None:
        shares = numpy.zeros((7, 7))
        shares[0, 6], shares[5, 5] = 0.25, 0.5
        coarse, merged = activity.coarsened(shares, 3)
        self.assertEqual((coarse.shape, merged), ((3, 3), 3))
        self.assertEqual((coarse[0, 2], coarse[1, 1]), (0.25, 0.5))


class Species(WithPictures):
    def test_only(self) -> None:
        rows = "".join(f"{s},1,{i},0,0,0,0,0\n" for i, s in enumerate(("disk", "dark", "disk") * 2))
        bodies = read_bodies(
            self.file("a.csv", f"# systems=2\nspecies,m,x,y,z,vx,vy,vz\n{rows}".encode())
        )
        disk = bodies.only(["disk"])
        numpy.testing.assert_array_equal(disk.positions[..., 0], [[0, 2], [3, 5]])
        self.assertEqual((disk.velocities.shape, disk.masses.shape), ((2, 2, 3), (2, 2)))
        with self.assertRaisesRegex(FileError, "no body is 'gas'.*dark, disk"):
            bodies.only(["gas"])
        self.assertEqual(bodies.only(["dark", "disk"]).species, bodies.species)

    def test_each_has_the_colour_that_it_has_in_the_live_view(self) -> None:
        page = (ROOT / "view" / "page" / "colours.js").read_text(encoding="utf-8")
        palette = re.search(r"COMPONENT_COLOURS = \[(.*?)\];", page, re.DOTALL)
        places = re.search(r"SPECIES_COLOURS = {(.*)}", page)
        assert palette and places
        # Each entry is the name of a species, whose colour is in tokens.css, or a colour as three
        # numbers.
        entries = re.findall(r'"(\w+)"|\[(\d+, \d+, \d+)\]', palette[1])
        of_view = {name: entries[int(place)][0]
                   for name, place in re.findall(r"(\w+): (\d)", places[1])}
        self.assertEqual(of_view, {name: name for name in style.SPECIES_COLOURS})


class Film(WithPictures):
    def many_bodies(self) -> None:
        values = numpy.random.default_rng(3).normal(size=(2 * 100, 7)) + 2
        for step in range(3):
            self.file(f"many/snapshot_{step:08d}.bin",
                      fakes.bin_bytes(abs(values).ravel(), 2, 100, "galaxies", step, step))

    def test_a_frame_for_each_snapshot(self) -> None:
        self.many_bodies()
        for folder, frames in ((self.two_orbits(""), 5), (self.folder / "many", 3)):
            film = self.folder / "film.gif"
            self.assertEqual(self.done("animate", folder, film, "--pixels", 200), f"{film}\n")
            with Image.open(film) as image:
                self.assertEqual((image.n_frames, image.size), (frames, (200, 200)))
                first = numpy.asarray(image.convert("RGB")).astype(int)
                image.seek(frames - 1)
                self.assertGreater(abs(numpy.asarray(image.convert("RGB")) - first).max(), 50)

    def test_without_ffmpeg(self) -> None:
        self.many_bodies()
        with mock.patch("shutil.which", lambda name: None):
            self.assertEqual(
                self.done("animate", self.folder / "many", self.folder / "film"),
                f"{self.folder / 'film.gif'}\n",
            )
            self.assertIn(
                "needs ffmpeg",
                self.refused("animate", self.folder / "many", self.folder / "film.mp4"),
            )

    def test_a_file_in_place_of_the_folder_is_one_line(self) -> None:
        self.many_bodies()
        file = self.file("file", "")
        for words in (("animate", self.folder / "many", file / "x.gif"),
                      ("plot", "activity", self.file("m.csv", MAP), "--output", file / "x.png")):
            self.assertRegex(self.refused(*words), r"file/x\.(gif|png): cannot be written: ")

    def test_an_interrupted_film(self) -> None:
        self.many_bodies()
        with mock.patch("nbody_tools.figures.animate.Scene.show", side_effect=KeyboardInterrupt):
            self.assertEqual(
                self.refused("animate", self.folder / "many", self.folder / "x.gif", code=130),
                "nbody animate: interrupted\n")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["many"])

    def test_nonsense_is_one_line(self) -> None:
        self.many_bodies()
        self.file("many/snapshot_00000002.bin", fakes.bin_bytes([1.0] * 14, 2, 1))
        (self.folder / "empty").mkdir()
        for words in (["many", "x.gif"], ["empty", "x.gif"], ["many", "x.avi"], ["nowhere", "x"],
                      ["many", "x", "--system", 3], ["many", "x", "--pixels", "0"],
                      ["many", "x", "--pixels", "10"], ["many", "x", "--pixels", "100000"],
                      ["many", "x", "--frames-per-second", "0.001"]):
            with self.subTest(words=words):
                self.refused("animate", self.folder / words[0], self.folder / words[1], *words[2:])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["empty", "many"])

