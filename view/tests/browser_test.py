"""Tests the page in a real browser: a headless Chromium opens a live run and an exported page."""
import base64
import io
import subprocess
import tempfile
from pathlib import Path

from page_case import VIEW, PageCase, changes, difference, picture, pressed
from server_test import PROGRAM, Run

import matplotlib.image  # page_case checks that it is installed


class PageTest(PageCase):
    def test_live(self):
        browser = self.browser
        with Run("--scenario", "plummer", "--systems", "2", "--bodies", "400") as run:
            browser.open(run.address)
            browser.wait_for("app && app.survey !== null")
            browser.wait_for("app.frame.step > 5")  # frames advance
            browser.wait_for("app.source.status.energy !== null")
            self.assertEqual(browser.text("bodies"), "2 × 400")
            self.assertRegex(browser.text("interactions"), r"^[\d.]+ [kMGT]/s$")
            self.assertRegex(browser.text("energy"), r"^-?\d\.\de[-+]\d+$")
            self.check_picture()

            browser.press(" ")
            browser.wait_for("app.source.status.paused")
            self.assertEqual(browser.text("pause"), "Resume")
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
            self.assertIn("system 2", browser.text("components"))
            before = picture(browser)
            browser.drag((400, 250), (510, 290))
            self.assertGreater(changes(browser, before), 0.02, "drag")
            before = picture(browser)
            browser.wheel((400, 250), -120)
            self.assertGreater(changes(browser, before), 0.02, "wheel")

            browser.press(".")
            browser.wait_for("app.source.status.steps_per_frame >= 2")
            browser.evaluate("app.source.send({type: 'nonsense'})")  # is only rejected
            browser.press(" ")
            browser.wait_for(f"app.frame.step > {step} + 10")
            warnings = [
                event for event in browser.events if event["method"] == "Runtime.consoleAPICalled"
            ]
            self.assertIn("unknown", str(warnings))
            run.end()
            browser.wait_for("document.getElementById('message').textContent.includes('ended')")
        self.no_errors()

    def test_exported(self):
        browser = self.browser
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [
                    PROGRAM,
                    "--scenario",
                    "plummer",
                    "--bodies",
                    "300",
                    "--steps",
                    "20",
                    "--snapshot-every",
                    "4",
                    "--snapshot-dir",
                    folder,
                    "--quiet",
                ],
                check=True,
            )
            states, page = sorted(Path(folder).glob("*.bin")), Path(folder, "a run.html")
            name = b"</script><h1>&amp;"  # the scenario, at offset 80 of a BIN file
            states[0].write_bytes(states[0].read_bytes()[:80] + name.ljust(32, b"\0")
                                  + states[0].read_bytes()[112:])
            subprocess.run([VIEW, *states, "--export", page],
                           check=True, stdout=subprocess.DEVNULL)
            source = page.read_text(encoding="utf-8")
            for word in (
                "http:",
                "https:",
                "ws://",
                " src=",
                "@import",
                "url(",
                "fetch(",
                "WebSocket",
            ):
                self.assertFalse(word in source, word)
            browser.open(page.as_uri())
            browser.wait_for("app && app.survey !== null")
            self.assertEqual(browser.text("title"), name.decode())
            seen = {
                browser.wait_for(f"app.frame.step === {step} && {step + 1}") for step in (4, 16, 0)
            }
            self.assertEqual(len(seen), 3)
            self.check_picture()
            browser.press(" ")
            browser.wait_for("app.source.paused")
            browser.evaluate("const s = document.getElementById('position'); s.value = 5;"
                             "s.dispatchEvent(new Event('input'))")
            self.assertEqual(browser.evaluate("app.frame.step"), 20)
            self.assertRegex(browser.text("energy"), r"^-?\d\.\de[-+]\d+$")
            self.assertGreater(pressed(browser, "ArrowLeft"), 0.02)
            self.assertEqual([url for url in browser.requests() if url != page.as_uri()
                              and not url.startswith("data:")], [])
        self.no_errors()

    def test_many_bodies_are_thinned_and_the_page_says_so(self):
        bodies = (1 << 18) + 2
        self.open_export("--scenario", "plummer", "--bodies", str(bodies), "--steps", "0",
                         "--snapshot-every", "1")
        self.assertEqual(self.browser.evaluate("app.frame.count"), bodies // 2)
        self.assertEqual(self.browser.text("bodies"), "262,146, 1 in 2 drawn")
        self.assertIn("thinned to level 1: all bodies are computed", self.browser.text("note"))
        self.check_picture()
        self.no_errors()

    def test_few_bodies(self):
        browser = self.browser
        self.open_export("--scenario", "solar-system", "--integrator", "leapfrog", "--steps", "400",
                         "--snapshot-every", "8")
        self.assertRegex(browser.text("time"), r"^[\d.e-]+ yr$")
        # Shows every frame once, so that trails are complete however slow the machine is.
        browser.press(" ")
        browser.wait_for("app.source.paused")
        browser.evaluate("app.source.texts.forEach((_, k) => app.source.show(k))")
        self.assertEqual(browser.evaluate("app.frame.step"), 400)
        self.settled()
        shown = browser.evaluate(
            "[...document.querySelectorAll('#labels span')].filter((s) => !s.hidden)"
            ".map((s) => s.textContent)"
        )
        self.assertIn("Sun", shown)
        self.assertIn("Neptune", shown)
        sizes = browser.evaluate("[...app.few.sizes]")
        self.assertEqual((max(sizes), sizes[0]), (1, 1))
        self.assertLess(min(sizes), 0.5)

        # On the logarithmic scale, the inner planets are distinguishable, and each has an orbit.
        self.assertIn("Mercury", shown)
        self.assertEqual(browser.text("scale_text"), "distances from Sun: logarithmic")
        self.assertEqual(
            browser.evaluate("app.loops().map(({body, text}) => text || app.few.names[body])"),
            ["1 au", "10 au", "Mercury", "Venus", "Earth", "Moon", "Mars", "Jupiter", "Saturn",
             "Uranus", "Neptune", "Pluto"],
        )
        # Each body lies on its orbit, in both scales, and keeps its direction from the Sun.
        gaps = '''app.few.loops(true).filter(({body}) => body >= 0).map(({body, points}) => {
          const place = triple(app.few.now, body), reach = distance(place, triple(app.few.now, 0));
          const gap = Math.min(...Array.from({length: points.length / 4}, (_, k) =>
            distance(place, [...points.subarray(4 * k, 4 * k + 3)])));
          return gap / reach;
        })'''
        self.assertLess(max(browser.evaluate(gaps)), 0.03)
        browser.press("l")
        self.settled()
        self.assertEqual(browser.evaluate("app.few.planets.logarithmic"), False)
        self.assertLess(max(browser.evaluate(gaps)), 0.03)
        self.assertEqual(browser.evaluate("app.frame.bodies === app.frame.measured"), True)
        self.assertRegex(browser.text("scale_text"), r"^[\d.]+ au$")
        # A trail has the colour of its body, whatever the bodies are coloured by.
        self.assertEqual(browser.evaluate("app.look().bodyColour(0)"), [240, 228, 66])
        browser.press("c")
        self.assertEqual(browser.evaluate("element('colour_by').value"), "speed")
        self.assertEqual(browser.evaluate("app.look().bodyColour(0).map(Math.round)"), [99, 0, 167])
        browser.press("c")

        browser.evaluate(
            "const f = document.getElementById('follow');"
            "f.value = app.few.names.indexOf('Earth'); f.dispatchEvent(new Event('change'))"
        )
        browser.evaluate("app.camera.distance = 2")
        self.settled()
        place = browser.evaluate("const e = app.few.names.indexOf('Earth');"
                                 "[...app.frame.bodies.subarray(4 * e, 4 * e + 3)]")
        self.assertEqual(browser.evaluate("app.camera.centre"), place)
        browser.evaluate("app.few.followed = 0; app.camera.distance = 1.5")
        with_trails = self.settled()
        browser.evaluate("document.getElementById('trails').click()")
        self.assertGreater(changes(browser, with_trails), 0.02, "trails")
        browser.evaluate("document.getElementById('names').click()")
        self.settled()
        self.assertTrue(browser.evaluate("document.getElementById('labels').hidden"))

        browser.evaluate("HTMLAnchorElement.prototype.click = function() { window.saved = "
                         "[this.download, this.href]; }")
        browser.press("p")
        name, data = browser.evaluate("window.saved")
        self.assertEqual(name, "solar-system_400.png")
        saved = matplotlib.image.imread(
            io.BytesIO(base64.b64decode(data.removeprefix("data:image/png;base64,")))
        )
        self.assertGreater((saved[..., :3].mean(axis=2) > 0.2).mean(), 1e-4)

        browser.press("r")
        self.settled()
        # The view fits the orbits again, although the trails are gone.
        self.assertGreater(
            browser.evaluate("app.survey.radius"), browser.evaluate("1.05 * app.few.planets.outer")
        )
        self.assertEqual(
            browser.evaluate(
                "[app.few.followed, app.frame.step, document.getElementById('trails').checked,"
                "app.camera.yaw]"
            ),
            [-1, 0, True, 0.6],
        )
        self.no_errors()

    def choose_cells(self, value):
        self.browser.evaluate(f"document.getElementById('cells').value = '{value}'")
        return self.settled()

    def test_cells_of_a_tree(self):
        browser = self.browser
        self.open_export(
            "--scenario",
            "plummer",
            "--systems",
            "2",
            "--bodies",
            "700",
            "--steps",
            "1",
            "--snapshot-every",
            "1",
        )
        browser.press(" ")
        bare = self.settled()
        browser.evaluate("document.getElementById('cells').value = '3'")
        self.assertGreater(changes(browser, bare), 0.02, "cells of level 3")
        self.assertRegex(browser.text("cells_text"), r"^\d+ cells with bodies in them$")
        # At every level, each body is in one cell, within the cube of this cell.
        browser.evaluate("""window.tree = new CellTree(app.frame.bodies, 700, 700, null);
          window.within = (cell) => [...tree.order.subarray(cell.begin, cell.end)].every(
            (i) => tree.position(i).every(
              (x, axis) => x >= cell.low[axis] - 1e-6 &&
                x <= cell.low[axis] + cell.side + 1e-6))""")
        for level in (0, 2, 21):
            self.assertEqual(
                browser.evaluate(
                    f"[bodiesOf(tree.level({level})), tree.level({level}).every(within)]"
                ),
                [700, True],
            )
        self.assertEqual(
            browser.evaluate(
                "[...tree.order].sort((a, b) => a - b).every((i, k) => i === 700 + k)"
            ),
            True,
        )
        self.assertEqual(
            browser.evaluate("tree.level(21).every((cell) => cell.end - cell.begin <= 16)"), True
        )
        # Each body sees every other body once: in a cell that looks small from the body, or in a
        # leaf. With theta 0, each body sees the others only in leaves.
        seen = browser.evaluate("""[0, 0.5, 1].map((theta) => {
          const {whole, opened} = tree.seenBy(750, theta), place = tree.position(750);
          return [whole.length, bodiesOf(whole) + bodiesOf(opened), whole.every((cell) =>
            [...tree.order.subarray(cell.begin, cell.end)].every((i) =>
              distance(tree.position(i), cell.centre) <= theta * distance(place, cell.centre)))];
        })""")
        self.assertEqual([(bodies, small) for _, bodies, small in seen], 3 * [(700, True)])
        self.assertEqual(seen[0][0], 0)
        self.assertLess(10, seen[1][0])

        self.choose_cells("body")
        self.assertRegex(
            browser.text("cells_text"),
            r"^with theta 0\.6, the white body \(one of 700\) sees \d+ cells",
        )
        browser.drag((430, 330), (430, 330))  # outside the panels
        picked = browser.wait_for("app.cells.body")
        self.assertEqual(picked, browser.evaluate("""(() => {
          const {clientWidth: w, clientHeight: h} = document.getElementById("picture");
          const look = app.look();
          const away = (body) => {
            const place = app.frame.bodies.subarray(4 * body, 4 * body + 3);
            const [x, y] = placeInPicture(place, body, app.camera.matrix(w / h), look) || [9, 9];
            return Math.hypot((x + 1) * w / 2 - 430, (1 - y) * h / 2 - 330);
          };
          return Array.from({length: 1400}, (_, k) => k).sort((a, b) => away(a) - away(b))[0];
        })()"""))
        browser.press("r")
        self.settled()
        self.assertEqual(
            browser.evaluate("[app.cells.choice, app.cells.drawn.length, app.cells.body]"),
            ["none", 0, 0],
        )
        self.no_errors()

    def test_no_body_is_lost_in_one_place(self):
        """Building a tree must end even if all bodies coincide or are NaN."""
        found = []
        self.open_export(
            "--scenario", "plummer", "--bodies", "100", "--steps", "1", "--snapshot-every", "1"
        )
        for bodies in ("new Float32Array(400)", "new Float32Array(400).fill(NaN)"):
            found.append(
                self.browser.evaluate(f"bodiesOf(new CellTree({bodies}, 0, 100, null).level(21))")
            )
        self.assertEqual(found, [100, 0])

    def test_components_have_their_colours_and_can_be_hidden(self):
        browser = self.browser
        self.open_export(
            "--scenario", "disk-halo", "--bodies", "600", "--steps", "1", "--snapshot-every", "1"
        )
        browser.press(" ")
        colours = browser.evaluate(
            "[...document.querySelectorAll('.swatch')].map((b) =>"
            "[b.textContent, getComputedStyle(b.querySelector('i')).backgroundColor])"
        )
        self.assertEqual(colours, [["disk", "rgb(230, 159, 0)"], ["dark", "rgb(86, 180, 233)"]])
        both = self.settled()
        browser.evaluate("document.querySelectorAll('.swatch')[1].click()")
        self.assertGreater(changes(browser, both), 0.02, "without the halo")
        disk = self.settled()
        self.assertLess((disk > 0.2).sum(), 0.8 * (both > 0.2).sum())
        browser.evaluate("document.querySelectorAll('.swatch')[0].click()")
        self.assertGreater(changes(browser, disk), 0.02, "without the disk")
        empty = self.settled()
        self.assertLess((empty > 0.2).mean(), 1e-3)
        browser.press("r")
        self.assertGreater(changes(browser, empty), 0.02, "both again")
        self.assertGreater((self.settled() > 0.2).sum(), 0.9 * (both > 0.2).sum())
        self.no_errors()

    def test_chosen_species_and_an_energy_that_nobody_knows(self):
        with tempfile.TemporaryDirectory() as folder:
            file, page = Path(folder, "a.csv"), Path(folder, "a.html")
            file.write_text(
                "species,x,y,vx,vy\nstar,0,0,0,0\ndark,1,0,0,0\nstar,2,0,0,0\n", encoding="ascii"
            )
            for words, count, why in (
                ([], 3, "unknown: the file gives no softening"),
                (["--species", "star"], 2, "not computed: the energy of only some bodies"),
            ):
                subprocess.run(
                    [VIEW, file, *words, "--export", page], check=True, stdout=subprocess.DEVNULL
                )
                self.browser.open(page.as_uri())
                self.browser.wait_for(f"app && app.survey !== null && app.frame.count === {count}")
                self.assertEqual(self.browser.text("energy"), "–")
                self.assertIn("energy " + why, self.browser.text("note"))
        self.no_errors()

    def test_on_phones_nothing_overlaps(self):
        self.open_export(
            "--scenario", "disk-halo", "--bodies", "60", "--steps", "1", "--snapshot-every", "1"
        )
        self.check_phones(fewest_buttons=(4, 14))
        self.no_errors()

    def test_without_webgl(self):
        """A browser without WebGL shows a message instead of a black picture."""
        script = self.browser.call("Page.addScriptToEvaluateOnNewDocument",
                                   source="HTMLCanvasElement.prototype.getContext = () => null")
        with Run("--scenario", "two-body") as run:
            self.browser.open(run.address)
            self.browser.wait_for(
                "document.getElementById('message').textContent.includes('WebGL 2')"
            )
        self.browser.call(
            "Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"]
        )
        self.no_errors()

    def test_served_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "<script> & <b>.csv")
            file.write_text("x,y,z,vx,vy,vz\n1,0,0,0,1,0\n-1,0,0,0,-1,0\n", encoding="ascii")
            with subprocess.Popen(
                [VIEW, file, "--port", "0"], stdout=subprocess.PIPE, text=True
            ) as process:
                address = process.stdout.readline().split()[1]
                self.browser.open(address)
                self.browser.wait_for("app && app.survey !== null")
                self.assertEqual(self.browser.text("title"), str(file))
                self.assertEqual(self.browser.text("bodies"), "2")
                process.terminate()
                self.assertEqual(process.wait(10), 0)
        self.no_errors()
