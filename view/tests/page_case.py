"""Helpers shared by the browser tests: one Chromium for all tests, pages of short runs, and
pictures of the visible page.

    cd view/tests; NBODY_PROGRAM=.../step00_cpu_omp NBODY_VIEW=.../nbody-view python3 -m unittest
    browser_test
"""
import atexit
import io
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from browser import Browser

if Browser.find() is None:
    print("skipped: no chromium here")
    sys.exit(77)
try:
    import matplotlib.image
    import numpy
except ImportError as missing:
    print(f"skipped: this Python has no {missing.name}, which reads screenshots")
    sys.exit(77)

from server_test import PROGRAM  # noqa: E402

VIEW = os.path.abspath(os.environ["NBODY_VIEW"])


def picture(browser):
    """Returns the middle of the visible page, without panels, as grey values from 0 to 1."""
    pixels = matplotlib.image.imread(io.BytesIO(browser.screenshot()), format="png")
    height, width = pixels.shape[:2]
    return pixels[height * 3 // 8:height * 3 // 4, width * 9 // 20:width * 3 // 4, :3].mean(axis=2)


def changes(browser, before):
    """Returns how much the picture differs from `before`, as a mean over the pixels that are
    bright in at least one of the two pictures. Waits up to ten seconds for a change, because a busy
    machine draws late."""
    deadline = time.monotonic() + 10
    while (change := difference(before, picture(browser))) <= 0.02 and time.monotonic() < deadline:
        time.sleep(0.1)
    return change


def pressed(browser, key):
    """Presses a key and returns how much the picture changes."""
    before = picture(browser)
    browser.press(key)
    browser.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    return changes(browser, before)


def difference(a, b):
    bright = numpy.maximum(a, b) > 0.2
    return float(numpy.abs(a - b)[bright].mean()) if bright.any() else 0.0


class PageCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not hasattr(PageCase, "browser"):
            # Without a GPU, drawing takes most of the time. Therefore pixels are large, and the
            # browser draws at most 15 frames per second.
            PageCase.browser = Browser("--force-device-scale-factor=0.5")
            atexit.register(PageCase.browser.__exit__)
            PageCase.browser.call("Page.addScriptToEvaluateOnNewDocument", source="""
                const draw = window.requestAnimationFrame;
                window.requestAnimationFrame = (callback) => setTimeout(() => draw(callback), 50);
            """)

    def setUp(self):
        self.browser.open("about:blank")  # the previous page may report that its program ended
        self.browser.events.clear()

    def no_errors(self):
        self.assertEqual(self.browser.errors(), [])

    def open_export(self, *words, view=()):
        """Opens the page of a short run."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        states = Path(folder.name, "states")
        states.mkdir()
        subprocess.run(
            [PROGRAM, *words, "--snapshot-dir", states, "--validate", "off", "--quiet"], check=True
        )
        page = Path(folder.name, "page.html")
        subprocess.run([VIEW, *sorted(states.glob("*.bin")), "--export", page, *view], check=True,
                       stdout=subprocess.DEVNULL)
        self.browser.open(page.as_uri())
        self.browser.wait_for(f"location.href === '{page.as_uri()}' && app && app.survey !== null")

    def settled(self):
        self.browser.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        return picture(self.browser)

    def check_picture(self):
        self.browser.press("b")  # no bright panel
        shot = self.settled()
        self.browser.press("b")
        self.assertGreater((shot > 0.2).mean(), 0.002, "the canvas is blank")
        self.assertLess((shot > 0.2).mean(), 0.7, "the canvas is all light")

    def check_phones(self, fewest_buttons):
        """Checks that nothing overlaps, with rarely used controls hidden and shown, and that every
        button is large enough for a finger."""
        browser = self.browser
        measure = """(() => {
          const box = (e) => {
            const r = e.getBoundingClientRect();
            return [r.left, r.top, r.right, r.bottom];
          };
          const named = (id) => document.getElementById(id);
          const shown = (e) => e.getClientRects().length > 0;
          return {panels: ["facts", "legend", "stairs", "bar", "menu"].map(named)
                      .filter(shown).map(box),
                  buttons: [...document.querySelectorAll("button, select, input[type=range]")]
                      .filter(shown).map((e) => [e.id, ...box(e)]),
                  ramp: box(named("ramp")),
                  numbers: [box(named("slowest")), box(named("fastest"))]};
        })()"""
        self.addCleanup(browser.call, "Emulation.clearDeviceMetricsOverride")
        for width, height in ((360, 740), (390, 844)):
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                         deviceScaleFactor=1, mobile=True)
            for opened in (False, True):
                with self.subTest(width=width, opened=opened):
                    self.settled()
                    seen = browser.evaluate(measure)
                    for k, a in enumerate(seen["panels"]):
                        self.assertTrue(
                            a[0] >= 0 and a[1] >= 0 and a[2] <= width and a[3] <= height, a
                        )
                        for b in seen["panels"][k + 1:]:
                            self.assertFalse(
                                a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3], (a, b)
                            )
                    self.assertGreater(len(seen["buttons"]), fewest_buttons[opened])
                    for name, left, top, right, bottom in seen["buttons"]:
                        self.assertTrue(right - left >= 44 and bottom - top >= 44, name)
                    (slow, fast), ramp = seen["numbers"], seen["ramp"]
                    self.assertEqual((slow[0], fast[2]), (ramp[0], ramp[2]))
                    self.assertGreaterEqual(slow[1], ramp[3])
                browser.evaluate("document.getElementById('more').click()")
