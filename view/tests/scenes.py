"""Scenes: the states of the page that the tests of layout and accessibility check."""
import subprocess
import tempfile
from pathlib import Path

from page_case import VIEW, PageCase
from server_test import PROGRAM

STEPS = """app.setStairs({running: 4, starting: false, failure: FAILURE, steps: [
  "step00_cpu_omp", "step01_gpu_naive", "step02_layout", "step03_tiling", "step04_unroll",
  "step06_ldg_fastmath", "step10_tiled2d_cublas", "step11_register_blocking", "step15_barnes_hut"
].map((name, k) => ({name, backend: k ? "hostcuda" : "cpu", approximates: k === 8,
  interactions_per_second: 8.76e6 * (k + 1), energy: {error: -1.4e-4, since: 0, time: 18.7}}))})"""

MENU = "element('more').click()"

# For each scene, the states to show and an action on the page.
SCENES = {
    "two bodies": ("two-body", ""),
    "a figure-eight": ("figure-eight", ""),
    "the Solar System": ("solar-system", ""),
    "the Solar System, true to scale": (
        "solar-system", "element('distances').value = 'true'; app.setDistances()"
    ),
    "the menu of the Solar System": ("solar-system", MENU),
    "three planetary systems": ("planets", "app.reset()"),
    "two systems": ("systems", "app.nextColour()"),
    "a disk and its halo": ("disk-halo", ""),
    "a tree's cells": ("disk-halo", "element('cells').value = 'body'"),
    "all keys": ("disk-halo", "element('show_keys').click()"),
    "steps": ("disk-halo", STEPS.replace("FAILURE", "''")),
    "steps and a failure": ("disk-halo", STEPS.replace(
        "FAILURE", "'step15_barnes_hut ended with exit code 77: no CUDA device here'")),
    "steps and the menu": ("disk-halo", STEPS.replace("FAILURE", "''") + ";" + MENU),
}

STATES = {
    "two-body": ("--scenario", "two-body"),
    "figure-eight": ("--scenario", "figure-eight"),
    "solar-system": ("--scenario", "solar-system"),
    "planets": ("--scenario", "solar-system", "--systems", "3"),
    "systems": ("--scenario", "plummer", "--systems", "4", "--bodies", "200"),
    "disk-halo": ("--scenario", "disk-halo", "--bodies", "400"),
}


class SceneCase(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        for name, words in STATES.items():
            state = Path(cls.folder.name, f"{name}.bin")
            subprocess.run([PROGRAM, *words, "--steps", "0", "--output", state, "--validate", "off",
                            "--quiet"], check=True)
            subprocess.run([VIEW, state, "--export", state.with_suffix(".html")], check=True,
                           stdout=subprocess.DEVNULL)

    def media(self, **features):
        self.browser.call("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def open_scene(self, states, script):
        page = Path(self.folder.name, f"{states}.html").as_uri()
        self.browser.open("about:blank")
        self.browser.open(page)
        self.browser.wait_for(f"location.href === '{page}' && app && app.survey !== null")
        self.browser.evaluate(f"(() => {{ {script} }})()")
        self.settled()
