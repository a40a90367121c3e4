"""Tests the description of the bodies in an exported page."""
import json
import os
import re
import resource
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
        """Returns the page; a second export must be identical."""
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
