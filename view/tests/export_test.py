"""Tests the description of the bodies in an exported page."""
import array
import base64
import json
import os
import re
import resource
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from server_test import PROGRAM, refusal

VIEW = os.path.abspath(os.environ["NBODY_VIEW"])


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def export(self, file):
        """Exports the file twice and returns the page. Both pages must be identical."""
        pages = [self.folder / name for name in ("one.html", "two.html")]
        for page in pages:
            subprocess.run([VIEW, file, "--export", page], check=True, stdout=subprocess.DEVNULL)
        one, two = (page.read_text(encoding="utf-8") for page in pages)
        self.assertTrue(one == two, "two exports of one file differ")
        return one

    def info(self, file):
        found = re.search(
            r'<script type="application/json" id="info">(.*?)</script>', self.export(file)
        )
        return json.loads(found.group(1))

    def state(self, systems, bodies):
        file = self.folder / "state.bin"
        subprocess.run(
            [
                PROGRAM,
                "--scenario",
                "plummer",
                "--systems",
                str(systems),
                "--bodies",
                str(bodies),
                "--steps",
                "1",
                "--validate",
                "off",
                "--quiet",
                "--output",
                file,
            ],
            check=True,
        )
        return file

    def test_systems_are_components(self):
        info = self.info(self.state(systems=3, bodies=7))
        self.assertEqual(info["components"], ["system 1", "system 2", "system 3"])
        self.assertEqual(info["component_runs"], [[0, 7], [1, 7], [2, 7]])

    def test_species_are_components(self):
        file = self.folder / "species.csv"
        rows = [f"{species},1,{x},0,0,0,0,0" for x, species in
                enumerate(["star", "dark", "dark", "star", "gas", "star", "star"])]
        file.write_text("\n".join(["species,m,x,y,z,vx,vy,vz", *rows, ""]), encoding="ascii")
        info = self.info(file)
        self.assertEqual(info["components"], ["star", "dark", "gas"])
        self.assertEqual(info["component_runs"], [[0, 1], [1, 2], [0, 1], [2, 1], [0, 2]])

    def test_a_picture_is_no_page(self):
        self.assertRegex(
            refusal(VIEW, self.state(1, 3), "--export", self.folder / "page.png"),
            "page.png.*must end in .html",
        )
        self.assertFalse((self.folder / "page.png").exists())

    def test_one_species_is_one_component(self):
        file = self.folder / "stars.csv"
        file.write_text("species,x,y,vx,vy\nstar,0,0,0,0\nstar,1,0,0,0\n", encoding="ascii")
        info = self.info(file)
        self.assertEqual((info["components"], info["component_runs"]), (["system 1"], [[0, 2]]))

    def test_many_systems_take_no_longer_than_as_many_bodies(self):
        state = self.state(systems=40_000, bodies=1)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        info = self.info(state)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 10)
        self.assertEqual(info["components"][-1], "system 40000")
        self.assertEqual(info["component_runs"], [[k, 1] for k in range(40_000)])

    def thinned(self, bodies):
        """Exports bodies whose x is their index. Returns the info of the page, and the indices of
        the bodies that the first frame shows."""
        file = self.folder / "line.raw"
        values = array.array("f", bytes(24 * bodies))
        values[0::6] = array.array("f", range(bodies))
        file.write_bytes(values.tobytes())
        page = self.folder / "line.html"
        subprocess.run([VIEW, file, "--export", page], check=True, stdout=subprocess.DEVNULL)
        text = page.read_text(encoding="utf-8")
        info = re.search(r'<script type="application/json" id="info">(.*?)</script>', text)
        frame = base64.b64decode(re.search(r'class="frame">([^<]*)<', text).group(1))
        header, = struct.unpack_from("<I", frame, 8)
        shown = array.array("f", frame[header:])[0::4]
        return json.loads(info.group(1)), [int(x) for x in shown]

    def test_a_few_hundred_thousand_bodies_are_all_shown(self):
        info, shown = self.thinned(1 << 18)
        self.assertEqual((info["shown_level"], info["shown_every"]), (0, 1))
        self.assertEqual(shown, list(range(1 << 18)))

    def test_more_bodies_are_thinned_by_level(self):
        """One body of each group of 2^level bodies is shown, but not in a fixed pattern. A level
        shows only bodies that the level before it shows."""
        levels = {}
        for bodies, level in (((1 << 18) + 3, 1), ((1 << 19) + 3, 2)):
            info, shown = self.thinned(bodies)
            self.assertEqual((info["shown_level"], info["shown_every"]), (level, 1 << level))
            self.assertEqual(info["component_runs"], [[0, len(shown)]])
            self.assertEqual([body >> level for body in shown], list(range(-(-bodies >> level))))
            self.assertLess(shown[-1], bodies)
            first_of_group = sum(body % (1 << level) == 0 for body in shown)
            self.assertAlmostEqual(first_of_group * (1 << level) / len(shown), 1, delta=0.02)
            levels[level] = shown
        new = {body for body in levels[2] if body < 1 << 18} - set(levels[1])
        self.assertEqual(len(new), 0, "level 2 shows bodies that level 1 does not show")
