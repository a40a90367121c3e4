#!/usr/bin/env python3
"""Tests the page of ./nbody inspect --page in a real browser: page_test.py PATTERNS STEP03"""

import functools
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

from nbody_tools.arguments import ROOT
from nbody_tools.inspection.as_json import as_json
from nbody_tools.inspection.page import page_of
from nbody_tools.inspection.trace import inspect_program

from tests.design import boxes

sys.path.insert(0, str(ROOT / "view" / "tests"))
from browser import Browser  # noqa: E402

if Browser.find() is None:
    print("skipped: no chromium here")
    sys.exit(77)

PROGRAMS = {}
# There are two tiles, and the last warp is incomplete.
BODIES = (
    "--scenario",
    "galaxies",
    "--systems",
    "2",
    "--bodies",
    "700",
    "--steps",
    "1",
    "--validate",
    "off",
    "--quiet",
)


@functools.cache
def inspected(program, words):
    return inspect_program(PROGRAMS[program], words, picture=True)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser("--window-size=1400,900").__enter__()
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def open(self, program, words=()):
        found = as_json(inspected(program, words))
        page = Path(self.folder.name, f"{program}.html")
        page.write_text(page_of("</script><b>a title", found), encoding="utf-8")
        self.browser.events.clear()
        self.browser.open(page.as_uri())
        self.browser.wait_for(f"location.href === '{page.as_uri()}' && page.kernel")

    def check_quiet(self):
        """Expects that the page had no error and made no network request."""
        self.assertEqual(self.browser.errors(), [])
        self.assertEqual(
            [url for url in self.browser.requests() if not url.startswith(("file:", "data:"))], []
        )

    def pick(self, kernel, memory, access):
        self.browser.evaluate(
            f"""page.choose(page.data.kernels.findIndex((k) => k.name === {json.dumps(kernel)}));
            page.pick(page.kinds.findIndex(
                ([a]) => a.memory === '{memory}' && a.access === '{access}'))"""
        )

    def test_sectors_and_banks_are_drawn_as_they_were_counted(self):
        self.open("patterns")
        self.assertEqual(self.browser.text("title"), "</script><b>a title")
        for kernel, cost in (
            ("member_of_28_bytes", 28),
            ("coalesced_4_bytes", 4),
            ("broadcast", 1),
            ("offset_by_one", 5),
        ):
            self.pick(kernel, "global", "load")
            self.assertEqual(
                self.browser.evaluate("document.querySelectorAll('#request .sector').length"),
                cost,
                kernel,
            )
            self.assertIn(f"{cost} sector", self.browser.text("request_text"))
        for kernel, cost in (
            ("shared_column", 32),
            ("shared_column_padded", 1),
            ("shared_stride_2", 2),
        ):
            self.pick(kernel, "shared", "load")
            deepest = self.browser.evaluate(
                """Math.max(...Object.values([...document.querySelectorAll('#request .word')]
                .map((box) => box.getAttribute('x'))
                .reduce((all, x) => ({...all, [x]: (all[x] || 0) + 1}), {})))"""
            )
            self.assertEqual(deepest, cost, kernel)
            self.assertIn(f"{cost} wavefront", self.browser.text("request_text"))
        self.check_quiet()

    def test_threads_and_barriers(self):
        self.open("step", BODIES)
        browser = self.browser
        browser.evaluate(
            "page.pick(page.kinds.findIndex(([a]) => a.memory === 'shared' && a.access === 'load'))"
        )
        self.assertEqual(
            browser.evaluate("page.at"), {"phase": 1, "warp": 0}
        )  # a cell in which the line accesses memory
        self.assertEqual(browser.evaluate("page.counted[5]"), [0, 512, 0, 512, 0, 0, 0])
        box = browser.evaluate(
            "(() => { const b = document.getElementById('grid').getBoundingClientRect(); "
            "return [b.left, b.top]; })()"
        )
        place = browser.evaluate(
            "[MARGIN.left + 3.5 * page.picture.column, MARGIN.top + 70.5 * page.picture.row]"
        )
        browser.drag([a + b for a, b in zip(box, place)], [a + b for a, b in zip(box, place)])
        self.assertEqual(browser.evaluate("page.at"), {"phase": 3, "warp": 2})
        self.assertEqual(
            self.browser.text("hover"), "thread 70 (warp 2, lane 6), column 3: 512 accesses"
        )
        for key, at in (
            ("ArrowRight", [4, 2]),
            ("ArrowUp", [4, 1]),
            ("ArrowLeft", [3, 1]),
            ("ArrowDown", [3, 2]),
        ):
            browser.press(key)
            self.assertEqual(browser.evaluate("[page.at.phase, page.at.warp]"), at)
        kind = browser.evaluate("page.kind")
        browser.press("j")
        self.assertEqual(browser.evaluate("page.kind"), kind + 1)
        browser.press("a")
        self.assertGreater(browser.evaluate("page.counted[5][1]"), 512)
        # Checks the drawing: the colour of a cell must show the cell's number of accesses.
        pixels = browser.evaluate(
            """(() => { page.pick(%d); const pen = document.getElementById('grid').getContext('2d');
            return [0, 1].map((phase) => [...pen.getImageData(
                MARGIN.left + (phase + 0.5) * page.picture.column,
                MARGIN.top + 300, 1, 1).data.slice(0, 3)]); })()"""
            % kind
        )
        self.assertEqual(pixels[0], [201, 209, 220])  # the colour of accesses by other lines
        self.assertLess(sum(pixels[1]), 500)
        self.check_quiet()

    def test_all_lines_are_shown_until_one_is_chosen(self):
        self.open("step", BODIES)
        browser = self.browser
        self.assertEqual(browser.evaluate("page.kind"), -1)
        lines = browser.evaluate("page.kinds.length")
        self.assertIn(f"all {lines} lines", browser.text("shown_lines"))
        self.assertEqual(
            browser.text("counted"), "accesses by one thread in one column, of all lines"
        )
        self.assertTrue(browser.evaluate("element('others').hidden"))
        together = browser.evaluate("page.counted[5]")
        one_by_one = browser.evaluate(
            "page.kinds.map((kind, k) => { page.pick(k); return page.counted[5]; })")
        self.assertEqual([sum(column) for column in zip(*one_by_one)], together)
        self.assertRegex(browser.text("shown_lines"), r"^The map shows only line \d+ \(")
        self.assertFalse(browser.evaluate("element('others').hidden"))
        browser.evaluate("element('all_lines').click()")
        self.assertEqual(browser.evaluate("page.kind"), -1)
        browser.evaluate("document.querySelector('#lines button').click()")
        self.assertEqual(browser.evaluate("page.kind"), 0)
        self.check_quiet()

    def test_time_passes_from_barrier_to_barrier(self):
        self.open("step", BODIES)
        browser = self.browser
        browser.evaluate("page.at.phase = 0; page.draw()")
        last = browser.evaluate("page.kernel.shown - 1")
        self.assertTrue(browser.evaluate("element('back').disabled"))
        self.assertRegex(
            browser.text("moment"),
            r"^Column 0, from the start of the kernel to the barrier in line \d+: line",
        )
        pixel = (
            "[...document.getElementById('grid').getContext('2d').getImageData(MARGIN.left + 3.5 *"
            " page.picture.column, MARGIN.top + 300, 1, 1).data.slice(0, 3)]"
        )
        before = browser.evaluate(pixel)
        browser.evaluate("element('forward').click()")
        self.assertEqual(browser.evaluate("[page.at.phase, page.reached]"), [1, 1])
        self.assertNotEqual(browser.evaluate(pixel), before)  # column 3 comes later
        self.assertRegex(browser.text("moment"), r"^Column 1, after the barrier in line \d+ to the")
        # For this column, the numbers next to the source lines must agree with the map.
        self.assertEqual(
            browser.evaluate(
                "[...document.querySelectorAll('#lines tr')].reduce((sum, row) => sum + ("
                "Number(row.children[4].textContent.replace(/\\D/g, '')) || 0), 0)"
            ),
            browser.evaluate("page.all.reduce((sum, thread) => sum + thread[1], 0)"),
        )
        browser.press(" ")
        browser.wait_for("page.at.phase >= 2")
        self.assertEqual(browser.text("play"), "Pause")
        browser.press(" ")
        self.assertEqual(browser.text("play"), "Play")
        browser.evaluate(f"page.step({last})")
        self.assertTrue(browser.evaluate("element('forward').disabled"))
        self.assertIn("to the end of the kernel", browser.text("moment"))
        browser.evaluate("element('play').click()")  # starts anew
        self.assertEqual(browser.evaluate("page.at.phase"), 0)
        browser.evaluate("element('all_time').click()")
        self.assertEqual(browser.evaluate("[page.reached, page.playing]"), [None, None])
        self.check_quiet()

    def test_a_program_without_kernels(self):
        page = Path(self.folder.name, "none.html")
        page.write_text(page_of("nothing", {"kernels": []}), encoding="utf-8")
        self.browser.events.clear()
        self.browser.open(page.as_uri())
        self.browser.wait_for("document.getElementById('about').textContent.includes('No kernel')")
        self.check_quiet()

    def test_nothing_overlaps_or_is_faint(self):
        self.addCleanup(self.browser.call, "Emulation.clearDeviceMetricsOverride")
        self.addCleanup(self.browser.call, "Emulation.setEmulatedMedia", features=[])
        self.open("step", BODIES)
        page = Path(self.folder.name, "step.html")
        self.assertEqual(boxes.problems(page, self.browser), [])
        parts = "header > *, #threads > *, #time > *, #all h2"
        self.assertEqual(boxes.changed_layouts(page, "inspect page", parts, self.browser), [])
        page.write_text(
            page.read_text(encoding="utf-8").replace(
                "</style>", "#moment { margin-top: -3rem; color: #777; }</style>", 1),
            encoding="utf-8")
        found = "\n".join(boxes.problems(page, self.browser))
        for expected in ("overlap", "has a contrast of"):
            self.assertIn(expected, found)

    def test_on_a_phone_the_page_is_as_wide_as_the_screen(self):
        self.browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=360,
            height=740,
            deviceScaleFactor=1,
            mobile=True,
        )
        self.addCleanup(self.browser.call, "Emulation.clearDeviceMetricsOverride")
        self.open("step", BODIES)
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 360)
        self.check_quiet()


if __name__ == "__main__":
    PROGRAMS.update(zip(("patterns", "step"), map(Path, map(os.path.abspath, sys.argv[1:3]))))
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
