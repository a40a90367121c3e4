"""Tests that the page has the layout that a person accepted, in all scenes and at three widths."""
import os
from unittest import mock

import layouts
from layout_test import SIZES
from scenes import SCENES, SceneCase

PARTS = "#panels > *, #bottom > *, #bar > *, #pause, #menu > *, #menu label, #stairs li, #keys"


class LayoutsTest(SceneCase):
    def setUp(self):
        super().setUp()
        layouts.allow_fonts(self.browser)
        self.addCleanup(layouts.allow_fonts, self.browser, False)
        self.addCleanup(self.browser.call, "Emulation.clearDeviceMetricsOverride")

    def test_layouts_are_those_that_were_looked_at(self):
        for scene in SCENES:
            for size in SIZES:
                with self.subTest(scene=scene, width=size[0]):
                    self.assertEqual(self.difference(scene, size), "")

    def test_a_moved_panel_is_found(self):
        with mock.patch.dict(os.environ, {"NBODY_ACCEPT_LAYOUTS": ""}):
            self.assertEqual(self.difference("two bodies", SIZES[1]), "")
            moved = "element('bar').style.marginBottom = '3px'"
            self.assertIn("BUTTON#pause", self.difference("two bodies", SIZES[1], moved))

    def difference(self, scene, size, change=""):
        width, height = size
        self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                          deviceScaleFactor=0.5, mobile=width < 700)
        states, script = SCENES[scene]
        self.open_scene(states, f"{script}; {change}")
        return layouts.difference(self.browser, f"view, {scene}, {width}", PARTS)
