"""Tests the controls of a page: forces, trails, turning, full screen, keys, hidden panels."""

from page_case import PageCase, changes
from server_test import Run

LIVE = ("--scenario", "plummer", "--bodies", "300")


class ControlsTest(PageCase):
    def open_live(self, run):
        self.browser.open(run.address)
        self.browser.wait_for(f"location.href === '{run.address}' && app && app.survey !== null")

    def open_still(self):
        """Opens a page with two states, and shows the first state."""
        self.open_export(*LIVE, "--steps", "60", "--snapshot-every", "60")
        self.browser.press(" ")
        self.browser.wait_for("app.source.paused")
        self.browser.evaluate("app.source.show(0)")

    def is_shown(self, name):
        return self.browser.evaluate(
            f"document.getElementById('{name}').offsetParent !== null ||"
            f"document.getElementById('{name}').getClientRects().length > 0"
        )

    def test_forces_change_and_the_error_counts_anew(self):
        browser = self.browser
        with Run(*LIVE) as run:
            self.open_live(run)
            browser.wait_for("app.source.status.energy !== null")
            self.assertEqual(
                (browser.text("dt_value"), browser.text("softening_value")), ("0.01", "0.05")
            )
            self.assertFalse(self.is_shown("energy_since"))
            browser.evaluate(
                "const s = document.getElementById('dt'); s.value = 3;"
                "for (const kind of ['input', 'change']) s.dispatchEvent(new Event(kind))"
            )
            browser.wait_for("app.source.status.dt === 0.08")
            browser.wait_for("(app.source.status.energy || {since: 0}).since > app.info.start_time")
            self.assertRegex(
                browser.text("energy_since"), r"^counted from time [\d.]+, when the forces changed$"
            )
            since = browser.evaluate("app.source.status.energy.since")
            browser.wait_for(f"app.source.status.energy.time > {since}")
            self.assertRegex(browser.text("energy"), r"^-?\d\.\de[-+]\d+$")
            browser.press("E")
            browser.wait_for("app.source.status.softening < 0.05")
            self.assertEqual(browser.evaluate("document.getElementById('softening').value"), "-0.5")
            self.assertEqual(browser.text("softening_value"), "0.0354")
            browser.wait_for(f"(app.source.status.energy || {{since: 0}}).since > {since}")
            browser.press("r")  # resets the view, not the run's forces
            self.assertEqual(browser.evaluate("document.getElementById('dt').value"), "3")
        self.no_errors()

    def test_no_sliders_where_a_record_says_one_dt(self):
        with Run(*LIVE, "--json", "r.json") as run:
            self.open_live(run)
            self.browser.press("m")
            self.assertTrue(self.is_shown("menu"))
            self.assertFalse(self.is_shown("forces"))
            self.browser.press("d")
            self.browser.wait_for("app.frame.step > 5")
            self.assertEqual(self.browser.evaluate("app.source.status.dt"), 0.01)
        self.no_errors()

    def test_trails_of_many_bodies(self):
        browser = self.browser
        with Run(*LIVE) as run:
            self.open_live(run)
            self.assertFalse(browser.evaluate("document.getElementById('trails').checked"))
            browser.press("t")
            browser.wait_for("app.renderer.past.length === 30")
            browser.press(" ")
            browser.wait_for("app.source.status.paused")
            browser.evaluate("new Promise((done) => setTimeout(done, 300))")
            with_trails = self.settled()
            browser.evaluate("app.renderer.clearTrails()")
            self.assertGreater(changes(browser, with_trails), 0.02, "without trails")
            self.assertLess((self.settled() > 0.2).sum(), 0.8 * (with_trails > 0.2).sum())
        self.no_errors()

    def test_fit_and_turn(self):
        browser = self.browser
        self.open_still()
        at_start = browser.evaluate("app.camera.distance")
        # If bodies have flown apart, the view fits their current positions.
        browser.evaluate("app.frame.bodies.forEach((x, k, all) => { all[k] = 3 * x; })")
        browser.press("f")
        self.assertAlmostEqual(browser.evaluate("app.camera.distance") / at_start, 3, 4)
        self.assertEqual(
            browser.evaluate("app.camera.centre"), browser.evaluate("surveyFrame(app.frame).centre")
        )
        yaw = browser.evaluate("app.camera.yaw")
        before = self.settled()
        browser.press("a")
        browser.wait_for(f"Math.abs(app.camera.yaw - {yaw}) > 0.1")
        self.assertGreater(changes(browser, before), 0.02)
        browser.press("a")
        browser.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        yaw = browser.evaluate("app.camera.yaw")
        self.settled()
        self.assertEqual(browser.evaluate("app.camera.yaw"), yaw)
        self.no_errors()

    def test_the_whole_screen(self):
        browser = self.browser
        self.open_still()
        browser.press("w")
        browser.wait_for("document.fullscreenElement === document.documentElement")
        browser.wait_for("document.getElementById('whole_screen').textContent === 'Window'")
        browser.press("w")
        browser.wait_for("document.fullscreenElement === null")
        browser.press("b")
        self.assertFalse(any(map(self.is_shown, ("facts", "legend", "bar"))))
        browser.press("b")
        self.assertTrue(all(map(self.is_shown, ("facts", "legend", "bar"))))
        self.no_errors()

    def test_keys_are_listed(self):
        browser = self.browser
        self.open_still()
        self.assertFalse(self.is_shown("keys"))
        browser.press("h")
        self.assertTrue(self.is_shown("keys"))
        rows = browser.evaluate(
            "[...document.querySelectorAll('#key_list div')].map((row) => row.textContent)"
        )
        for row in (
            "Spacepause, resume",
            "Ffit: all but the outermost bodies",
            "Wfull screen",
            "Hthese keys",
        ):
            self.assertIn(row, rows)
        browser.press("Escape")
        self.assertFalse(self.is_shown("keys"))
        self.no_errors()

    def tab(self):
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab",
                              windowsVirtualKeyCode=9)
        return self.browser.evaluate("document.activeElement.id || document.activeElement.tagName")

    def test_every_control_can_be_reached_by_keyboard(self):
        browser = self.browser
        self.open_still()
        browser.press("m")
        wanted = browser.evaluate(
            "[...document.querySelectorAll('main :is(button, select, input, canvas)')]"
            ".filter((e) => e.getClientRects().length > 0 && !e.disabled).map((e) => e.id)"
        )
        self.assertGreater(len(wanted), 15)
        self.assertLessEqual(set(wanted), {self.tab() for _ in range(len(wanted) + 3)})
        browser.press("Escape")
        self.assertFalse(self.is_shown("menu"))
        self.assertEqual(browser.evaluate("document.activeElement.id"), "more")
        self.no_errors()

    def test_a_film_waits_for_users_who_want_less_motion(self):
        self.addCleanup(self.browser.call, "Emulation.setEmulatedMedia", features=[])
        for wish, waits in (("no-preference", False), ("reduce", True)):
            self.browser.call("Emulation.setEmulatedMedia", features=[
                {"name": "prefers-reduced-motion", "value": wish}])
            self.open_export(*LIVE, "--steps", "2", "--snapshot-every", "1")
            self.assertEqual(self.browser.evaluate("app.source.paused"), waits)
        self.no_errors()

    def test_on_phones_nothing_overlaps(self):
        with Run(*LIVE) as run:
            self.open_live(run)
            self.check_phones(fewest_buttons=(3, 15))
        self.no_errors()
