"""The page in a real browser: a headless Chromium opens a live run and an exported page.

    NBODY_PROGRAM=.../step00_cpu_omp NBODY_VIEW=.../nbody-view python3 view/tests/browser_test.py
"""
import io
import os
import subprocess
import sys
import tempfile
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

from server_test import PROGRAM, Run  # noqa: E402

VIEW = os.path.abspath(os.environ["NBODY_VIEW"])


def text(browser, name):
    return browser.evaluate(f"document.getElementById('{name}').textContent")


def picture(browser):
    """The middle of the visible page, where no panel is: grey values from 0 to 1."""
    pixels = matplotlib.image.imread(io.BytesIO(browser.screenshot()), format="png")
    height, width = pixels.shape[:2]
    return pixels[height // 4:height * 3 // 4, width * 2 // 5:width * 3 // 4, :3].mean(axis=2)


def pressed(browser, key):
    """How much a key changes the picture: the mean over its brighter pixels."""
    before = picture(browser)
    browser.press(key)
    browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return difference(before, picture(browser))


def difference(a, b):
    bright = numpy.maximum(a, b) > 0.2
    return float(numpy.abs(a - b)[bright].mean()) if bright.any() else 0.0


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser("--window-size=800,600").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.browser.events.clear()

    def no_errors(self):
        wrong = [event for event in self.browser.events if event["method"] == "Runtime.exceptionThrown"]
        self.assertEqual(wrong, [])

    def check_picture(self):
        shot = picture(self.browser)
        self.assertGreater((shot > 0.2).mean(), 0.002, "the canvas is blank")
        self.assertLess((shot > 0.2).mean(), 0.7, "the canvas is all light")

    def test_live(self):
        browser = self.browser
        with Run("--scenario", "plummer", "--systems", "2", "--bodies", "400") as run:
            browser.open(run.address)
            browser.wait_for("app && app.survey !== null")
            browser.wait_for("app.frame.step > 5")  # frames advance
            browser.wait_for("app.source.status.energy !== null")
            self.assertEqual(text(browser, "bodies"), "2 × 400")
            self.assertRegex(text(browser, "interactions"), r"^[\d.]+ G/s$")
            self.assertRegex(text(browser, "energy"), r"^-?\d\.\de[-+]\d+$")
            self.check_picture()

            browser.press(" ")
            browser.wait_for("app.source.status.paused")
            self.assertEqual(text(browser, "pause"), "Resume")
            step = browser.evaluate("new Promise((d) => setTimeout(() => d(app.frame.step), 500))")
            still = picture(browser)
            self.assertEqual(difference(still, picture(browser)), 0.0)
            self.assertEqual(browser.evaluate("app.frame.step"), step)
            browser.press("s")
            browser.wait_for(f"app.frame.step > {step}")  # one frame
            after = browser.evaluate("new Promise((d) => setTimeout(() => d(app.frame.step), 300))")
            self.assertEqual(after, step + browser.evaluate("app.source.status.steps_per_frame"))

            for key in ("ArrowLeft", "ArrowUp", "+", "c"):
                self.assertGreater(pressed(browser, key), 0.02, key)
            self.assertIn("system 2", text(browser, "colours"))
            before = picture(browser)
            browser.drag((400, 250), (510, 290))
            self.assertGreater(difference(before, picture(browser)), 0.02, "drag")
            before = picture(browser)
            browser.wheel((400, 250), -120)
            self.assertGreater(difference(before, picture(browser)), 0.02, "wheel")

            browser.press(".")
            browser.wait_for("app.source.status.steps_per_frame >= 2")
            browser.evaluate("app.source.send({type: 'nonsense'})")  # refused, and nothing else
            browser.press(" ")
            browser.wait_for(f"app.frame.step > {step} + 10")
            warnings = [event for event in browser.events if event["method"] == "Runtime.consoleAPICalled"]
            self.assertIn("unknown", str(warnings))
            run.end()
            browser.wait_for("document.getElementById('message').textContent.includes('ended')")
        self.no_errors()

    def test_exported(self):
        browser = self.browser
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "--scenario", "plummer", "--bodies", "300", "--steps", "20",
                            "--snapshot-every", "4", "--snapshot-dir", folder, "--quiet"], check=True)
            states, page = sorted(Path(folder).glob("*.bin")), Path(folder, "a run.html")
            name = b"</script><h1>&amp;"  # the scenario, at offset 80 of a BIN file
            states[0].write_bytes(states[0].read_bytes()[:80] + name.ljust(32, b"\0")
                                  + states[0].read_bytes()[112:])
            subprocess.run([VIEW, *states, "--export", page],
                           check=True, stdout=subprocess.DEVNULL)
            source = page.read_text(encoding="utf-8")
            for word in ("http:", "https:", "ws://", " src=", "@import", "url(", "fetch(", "WebSocket"):
                self.assertFalse(word in source, word)
            browser.open(page.as_uri())
            browser.wait_for("app && app.survey !== null")
            self.assertEqual(text(browser, "title"), name.decode())
            seen = {browser.wait_for(f"app.frame.step === {step} && {step + 1}") for step in (4, 16, 0)}
            self.assertEqual(len(seen), 3)
            self.check_picture()
            browser.press(" ")
            browser.wait_for("app.source.paused")
            browser.evaluate("const s = document.getElementById('position'); s.value = 5;"
                             "s.dispatchEvent(new Event('input'))")
            self.assertEqual(browser.evaluate("app.frame.step"), 20)
            self.assertRegex(text(browser, "energy"), r"^-?\d\.\de[-+]\d+$")
            self.assertGreater(pressed(browser, "ArrowLeft"), 0.02)
            requests = [event["params"]["request"]["url"] for event in browser.events
                        if event["method"] == "Network.requestWillBeSent"]
            self.assertEqual([url for url in requests if url != page.as_uri()
                              and not url.startswith("data:")], [])
        self.no_errors()

    def test_without_webgl(self):
        """A browser that has none gets a message instead of a black picture."""
        script = self.browser.call("Page.addScriptToEvaluateOnNewDocument",
                                   source="HTMLCanvasElement.prototype.getContext = () => null")
        with Run("--scenario", "two-body") as run:
            self.browser.open(run.address)
            self.browser.wait_for("document.getElementById('message').textContent.includes('WebGL 2')")
        self.browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
        self.no_errors()

    def test_served_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "<script> & <b>.csv")
            file.write_text("x,y,z,vx,vy,vz\n1,0,0,0,1,0\n-1,0,0,0,-1,0\n", encoding="ascii")
            with subprocess.Popen([VIEW, file, "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
                address = process.stdout.readline().split()[1]
                self.browser.open(address)
                self.browser.wait_for("app && app.survey !== null")
                self.assertEqual(text(self.browser, "title"), str(file))
                self.assertEqual(text(self.browser, "bodies"), "2")
                process.terminate()
                self.assertEqual(process.wait(10), 0)
        self.no_errors()


if __name__ == "__main__":
    unittest.main()
