"""Tests the page of the series of steps in a real browser: a button and a row for each step."""
import os

from page_case import PageCase
from stairs_test import Staircase

EMULATED = os.path.abspath(os.environ["NBODY_EMULATED"])


class StairsPageTest(PageCase):
    def row(self, k):
        return self.browser.evaluate(
            f"[...app.stairs.rows[{k}].children].map((cell) => cell.textContent)"
        )

    def wait_for_rate(self, k):
        self.browser.wait_for(f"app.stairs.running === {k} && "
                              f"/\\d/.test(app.stairs.rows[{k}].children[1].textContent) && "
                              f"/e/.test(app.stairs.rows[{k}].children[3].textContent)")

    def pressed(self):
        return self.browser.evaluate(
            "app.stairs.rows.map((row) => row.querySelector('button').getAttribute('aria-pressed'))"
        )

    def test_steps_are_switched_while_the_bodies_go_on(self):
        browser = self.browser
        with Staircase(EMULATED) as run:
            browser.open(run.address)
            self.wait_for_rate(0)
            self.assertEqual(self.pressed(), ["true", "false", "false", "false"])
            self.assertEqual(self.row(0)[0::2][:2], ["00 cpu_omp", "CPU"])
            self.assertFalse(
                browser.evaluate("document.getElementById('stairs_note').hidden") is False
            )
            browser.evaluate("app.camera.distance *= 2; window.camera = app.camera.distance")
            reached = browser.evaluate("app.frame.time")
            browser.press("4")
            self.wait_for_rate(3)
            self.assertEqual(self.row(3)[0::2][:2], ["01 gpu_naive", "emulated"])
            self.assertIn("not a GPU's", browser.text("stairs_note"))
            self.assertFalse(browser.evaluate("document.getElementById('stairs_note').hidden"))
            self.assertGreaterEqual(browser.evaluate("app.frame.time"), reached)
            self.assertEqual(
                browser.evaluate("app.camera.distance"), browser.evaluate("window.camera")
            )
            self.assertRegex(self.row(0)[1], r"^[\d.]+ [kMG]/s$")  # the first step's results remain
            self.check_picture()
            browser.press("n")  # the first step follows the last one
            self.wait_for_rate(0)
            browser.evaluate("app.stairs.rows[2].querySelector('button').click()")
            browser.wait_for("document.getElementById('message').textContent === "
                             "'step02_fails ended with exit code 3: no device here'")
            browser.evaluate("app.stairs.rows[1].querySelector('button').click()")
            self.wait_for_rate(1)
            self.assertEqual(browser.text("message"), "")
        self.no_errors()

    def test_on_phones_nothing_overlaps(self):
        with Staircase() as run:
            self.browser.open(run.address)
            self.wait_for_rate(0)
            self.check_phones(fewest_buttons=(6, 14))
        self.no_errors()
