"""Tests the layout of the page in thirteen scenes, three widths of a window and both themes: no two
boxes overlap, nothing leaves the window, and text has the contrast of WCAG AA."""
from pathlib import Path

from scenes import SCENES, SceneCase

SIZES = ((390, 844), (1024, 768), (1440, 900))

# Returns a list of what is wrong on the page.
MEASURE = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")


class LayoutTest(SceneCase):
    def test_three_scenes(self):
        self.check("the Solar System", "steps and a failure", "steps and the menu")

    def test_all_scenes(self):
        self.check(*SCENES)

    def check(self, *scenes):
        self.addCleanup(self.browser.call, "Emulation.clearDeviceMetricsOverride")
        self.addCleanup(self.media)
        for k, scene in enumerate(scenes):
            states, script = SCENES[scene]
            for j, (width, height) in enumerate(SIZES):
                theme = ("dark", "light")[(k + j) % 2]
                with self.subTest(scene=scene, width=width, theme=theme):
                    self.media(prefers_color_scheme=theme)
                    self.browser.call("Emulation.setDeviceMetricsOverride", width=width,
                                      height=height, deviceScaleFactor=0.25, mobile=width < 700)
                    self.open_scene(states, script)
                    self.assertEqual(self.browser.evaluate(MEASURE), [])
        self.no_errors()
