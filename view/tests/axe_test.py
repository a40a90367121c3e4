"""Tests that axe-core finds no fault in the page, in all scenes and both themes."""
import sys

import axe
from scenes import SCENES, SceneCase

if axe.source() is None:
    print(f"skipped: {axe.MISSING}")
    sys.exit(77)


class AxeTest(SceneCase):
    def test_three_scenes(self):
        self.check_scenes("the menu of the Solar System", "two systems", "steps and a failure")

    def test_all_scenes(self):
        self.check_scenes(*SCENES)

    def test_a_fault_is_found(self):
        self.open_scene("two-body", "element('bar').append(make('button', {}))")
        self.assertIn("button-name", " ".join(axe.violations(self.browser)))

    def check_scenes(self, *scenes):
        self.addCleanup(self.media)
        for scene in scenes:
            for theme in ("dark", "light"):
                with self.subTest(scene=scene, theme=theme):
                    self.media(prefers_color_scheme=theme)
                    self.open_scene(*SCENES[scene])
                    self.assertEqual(axe.violations(self.browser), [])
