"""Tests timelines: their sums, unions, hidden time and figures. Messages about invalid files must
give the file and the line."""

import unittest.mock

from tests import fakes
from nbody_tools.figures import timeline
from nbody_tools.records.timeline import TimelineError, common, merged, read_timeline, sums

HEADER = "device,stream,system,stage,begin,end\n"
# On device 0, kernel 1 hides upload 2, and kernel 2 hides download 1 (counted from 1).
TWO_STREAMS = HEADER + """0,0,0,upload,0.000,0.001
0,0,0,compute,0.001,0.005
0,0,0,download,0.005,0.006
0,1,1,upload,0.001,0.003
0,1,1,compute,0.003,0.007
0,1,1,download,0.007,0.008
"""


class Sums(fakes.InFolder):
    def test_intervals(self) -> None:
        self.assertEqual(merged([(3, 4), (0, 1), (1, 2), (0, 0.5)]), [(0, 2), (3, 4)])
        self.assertEqual(common([(0, 2), (3, 5)], [(1, 4)]), [(1, 2), (3, 4)])
        self.assertEqual(common([(0, 1)], [(1, 2)]), [])

    def test_what_was_hidden(self) -> None:
        found = sums(read_timeline(self.file("t.csv", TWO_STREAMS)))
        self.assertAlmostEqual(found.total["compute"], 0.008)
        self.assertAlmostEqual(found.union["compute"], 0.006)
        self.assertAlmostEqual(found.copies, 0.005)
        self.assertAlmostEqual(found.hidden, 0.003)
        self.assertAlmostEqual(found.wall, 0.008)

    def test_work_of_other_systems_in_a_stream_belongs_to_them(self) -> None:
        """Two systems share a stream, which runs both uploads, then both kernels, then both
        downloads."""
        spans = read_timeline(self.file("t.csv", HEADER + "0,0,0,upload,0,1\n0,0,0,compute,1,5\n"
                                        "0,0,0,download,5,10\n0,0,1,upload,1,2\n"
                                        "0,0,1,compute,2,9\n0,0,1,download,9,11\n"))
        self.assertEqual([(s.stage, s.system, s.begin, s.end) for s in spans],
                         [("upload", 0, 0, 1), ("upload", 1, 1, 2), ("compute", 0, 2, 5),
                          ("compute", 1, 5, 9), ("download", 0, 9, 10), ("download", 1, 10, 11)])

    def test_one_device_does_not_hide_the_copies_of_another(self) -> None:
        found = sums(
            read_timeline(self.file("t.csv", HEADER + "0,0,0,compute,0,1\n1,0,1,upload,0,1\n"))
        )
        self.assertEqual((found.copies, found.hidden), (1.0, 0.0))

    def test_refusals(self) -> None:
        for text, expected in (("a,b\n", ":1: the columns"), (HEADER, "holds no spans"),
                               (HEADER + "0,0,0,upload,0\n", ":2: not a span"),
                               (HEADER + "0,0,0,unpack,0,1\n", ":2: stage 'unpack'"),
                               (HEADER + "0,0,0,upload,2,1\n", ":2: from 2 to 1"),
                               (HEADER + "0,0,0,upload,0,nan\n", ":2: from 0 to nan")):
            with self.subTest(text=text), self.assertRaises(TimelineError) as caught:
                read_timeline(self.file("t.csv", text))
            self.assertIn(expected, str(caught.exception))


class Tool(fakes.InFolder):
    def test_sums_are_printed(self) -> None:
        self.assertIn("copies: 5.000 ms, of which 3.000 ms (60.0 %) hidden",
                      self.done("timeline", self.file("t.csv", TWO_STREAMS)))

    def test_wrong_arguments(self) -> None:
        source = self.file("t.csv", TWO_STREAMS)
        emulated = fakes.write_records(self.folder / "r.jsonl",
                                       [fakes.record("step07_overlap", "hostcuda")])
        for words, expected in (([source, "--title", "a", "--title", "b"], "2 titles for 1 files"),
                                ([source, "--output", "x.txt"], "does not end in"),
                                ([source, "--step", "step07_overlap"], "--record"),
                                ([source, "--record", emulated], "emulated"),
                                ([self.folder / "none.csv"], "there is no file")):
            with self.subTest(words=words):
                self.assertIn(expected, self.refused("timeline", *words))

    def test_narrow_uploads_get_a_closer_look(self) -> None:
        spans = read_timeline(self.file("t.csv", TWO_STREAMS))
        self.assertIsNone(timeline.closer_window(spans))
        spans = read_timeline(self.file("t.csv", HEADER + "0,0,0,upload,0,0.00001\n"
                                        "0,0,0,compute,0.00001,1\n"))
        begin, end = timeline.closer_window(spans) or (1, 1)
        self.assertEqual(0, begin)
        self.assertLess(end, 0.001)

    def test_copies_between_two_systems_get_a_closer_look(self) -> None:
        spans = read_timeline(self.file("t.csv", HEADER + "0,0,0,upload,0,0.00001\n"
                                        "0,0,0,compute,0.00001,1\n0,0,0,download,1,1.00001\n"
                                        "0,1,1,upload,1.00002,1.00003\n0,1,1,compute,1.00003,2\n"))
        begin, end = timeline.closer_window(spans) or (0, 0)
        self.assertTrue(0.99 < begin < 1 and 1.00003 < end < 1.01)

    def test_titles_are_drawn_as_they_are_and_times_do_not_overlap(self) -> None:
        try:
            from nbody_tools.figures import style
        except ModuleNotFoundError as missing:
            self.skipTest(f"{missing.name} is not installed")
        late = self.file("t.csv", HEADER + "0,0,0,upload,0,0.00001\n"
                         "0,0,0,compute,0.00001,0.0114\n0,0,0,download,0.0114,0.01141\n"
                         "0,1,1,upload,0.01142,0.01143\n0,1,1,compute,0.01143,0.015\n")
        figures = []
        close = style.pyplot.close
        with unittest.mock.patch.object(style.pyplot, "close", figures.append):
            self.done("timeline", late, "--output", self.folder / "t.png", "--title", "a$b_$")
        (figure,) = figures
        figure.canvas.draw()
        self.assertEqual(figure.axes[0].get_title(), r"a\$b_\$")
        for axes in figure.axes:
            low, high = axes.get_xlim()
            boxes = [label.get_window_extent() for label in axes.get_xticklabels()
                     if low <= label.get_position()[0] <= high]
            self.assertFalse(any(a.overlaps(b) for a, b in zip(boxes, boxes[1:])))
        close(figure)

    def test_figures(self) -> None:
        try:
            from matplotlib import image
        except ModuleNotFoundError as missing:
            self.skipTest(f"{missing.name} is not installed")
        record = fakes.write_records(self.folder / "r.jsonl", [fakes.record("step07_overlap")])
        long = self.file("long.csv", HEADER + "0,0,0,upload,0,0.00001\n0,0,0,compute,0.00001,1\n")
        for words in ([self.file("t.csv", TWO_STREAMS)], [self.file("t.csv", TWO_STREAMS), long]):
            output = self.folder / "drawn.png"
            self.done("timeline", *words, "--output", output, "--record", record)
            self.assertGreater(float(image.imread(str(output))[..., :3].var()), 1e-3)
