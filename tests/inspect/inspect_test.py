#!/usr/bin/env python3
"""Tests ./nbody inspect: inspect_test.py PATTERNS SEEDED MISSING_BARRIER STEP03 [COUNTED_STEP03]"""

import os
import re
import subprocess
import sys
import unittest
from dataclasses import replace
from pathlib import Path

from nbody_tools.arguments import ROOT
from nbody_tools.inspection.as_json import as_json, kernel_json
from nbody_tools.inspection.as_text import kernel_text, text_of
from nbody_tools.inspection.instructions import by_line, count_instructions, sums
from nbody_tools.inspection.source_lines import source_text
from nbody_tools.inspection.trace import InspectError, inspect_program

PROGRAMS = {}
FEW_BODIES = "--scenario galaxies --systems 2 --bodies 256 --steps 2 --validate off --quiet".split()
TWO_TILES = "--scenario galaxies --systems 2 --bodies 700 --steps 1 --validate off --quiet".split()

# Textbook costs of whole warps: kernel, memory, access, bytes, requests, cost, ideal cost.
# 1024 threads are 32 warps, so there are 32 requests; a 128 x 128 transpose has 512.
TEXTBOOK = """
coalesced_4_bytes          global load   4    32   4   4
coalesced_8_bytes          global load   8    32   8   8
coalesced_16_bytes         global load  16    32  16  16
coalesced_16_bytes         global store 16    32  16  16
read_only_load             global load   4    32   4   4
offset_by_one              global load   4    32   5   4
stride_2                   global load   4    32   8   4
every_second_thread        global load   4    32   4   2
member_of_12_bytes         global load   4    32  12   4
whole_12_bytes             global load   4    96  12   4
member_of_16_bytes         global load   4    32  16   4
whole_16_bytes             global load   4   128  16   4
member_of_float4           global load   4    32  16   4
stride_2_of_float4         global load  16    32  32  16
member_of_28_bytes         global load   4    32  28   4
whole_28_bytes             global load   4   224  28   4
broadcast                  global load   4    32   1   1
broadcast_16_bytes         global load  16    32   1   1
broadcast_28_bytes         global load   4  8192   1   1
store_stride_2             global store  4    32   8   4
store_member_of_28_bytes   global store  4    32  28   4
transpose_naive            global store  4   512  32   4
atomic_neighbours          global atomic 4    32   4   4
atomic_same_address        global atomic 4    32   1   1
warp_sum                   global load   4    32   4   4
warp_sum                   global store  4    32   1   1
shared_column              shared store  4   512   1   1
shared_column              shared load   4   512  32   1
shared_column_padded       shared load   4   512   1   1
shared_reversed            shared load   4    32   1   1
shared_stride_2            shared load   4    32   2   1
shared_broadcast           shared load   4    32   1   1
shared_8_bytes             shared load   8    32   2   2
shared_16_bytes            shared store 16    32   4   4
shared_16_bytes            shared load  16    32   4   4
shared_16_bytes_broadcast  shared load  16    32   2   2
shared_8_bytes_broadcast   shared load   8    32   1   1
shared_8_bytes_halves      shared load   8    32   2   2
shared_8_bytes_pairs       shared load   8    32   1   1
shared_8_bytes_stride_2    shared load   8    32   4   2
shared_16_bytes_halves     shared load  16    32   4   4
shared_16_bytes_quarters   shared load  16    32   4   4
shared_16_bytes_pairs      shared load  16    32   2   2
shared_16_bytes_stride_2   shared load  16    32   8   4
shared_member_of_12_bytes  shared load   4    32   1   1
shared_member_of_16_bytes  shared load   4    32   4   1
shared_dynamic             shared load   4    32   1   1
shared_loop                shared load   4  8192   1   1
"""


def marked_line(mark):
    text = (ROOT / "tests/inspect/seeded.cu").read_text(encoding="utf-8").splitlines()
    return 1 + next(i for i, line in enumerate(text) if line.endswith(f"// MARK {mark}"))


class Patterns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = inspect_program(PROGRAMS["patterns"])

    def test_requests_cost_what_the_textbook_says(self):
        for line in TEXTBOOK.strip().splitlines():
            kernel, memory, access, *numbers = line.split()
            with self.subTest(kernel=kernel, memory=memory, access=access):
                bytes_, requests, cost, ideal = map(int, numbers)
                rows = [row for row in self.found.kernel(kernel).rows
                        if (row.memory, row.access, row.bytes) == (memory, access, bytes_)]
                self.assertEqual(sum(row.requests for row in rows), requests)
                for row in rows:
                    self.assertEqual(row.cost_of_request, cost)
                    self.assertEqual(row.ideal_of_request, ideal)

    def test_every_pattern_is_in_the_textbook(self):
        described = {line.split()[0] for line in TEXTBOOK.strip().splitlines()}
        random = {name for kernel in self.found.kernels if "gather" in (name := kernel.name)}
        self.assertEqual({kernel.name for kernel in self.found.kernels} - described, random)

    def test_gathers_cost_at_least_the_ideal_and_at_most_one_sector_per_lane(self):
        for kernel in self.found.kernels:
            if "gather" in kernel.name:
                row = max((row for row in kernel.rows if row.access == "load"),
                          key=lambda row: row.cost / row.ideal_cost)
                self.assertGreater(row.cost, 1.5 * row.ideal_cost)
                self.assertLess(row.cost_of_request, 32)

    def test_lines_are_source_lines(self):
        rows = self.found.kernel("offset_by_one").rows
        self.assertEqual({source_text(row.place) for row in rows}, {"out[i] = x[i + 1];"})

    def test_threads_and_executions_are_counted(self):
        kernel = self.found.kernel("every_second_thread")
        self.assertEqual((kernel.launches, kernel.blocks, kernel.threads), (1, 4, 1024))
        self.assertEqual(kernel.sum("executions", "global", "load"), 512)

    def test_patterns_have_no_findings(self):
        self.assertTrue(self.found.clean)

    def test_json_has_the_same_content(self):
        kernel = next(kernel for kernel in as_json(self.found, 512.0)["kernels"]
                      if kernel["name"] == "offset_by_one")
        self.assertEqual(kernel["per_interaction"]["global"], {"load": 2, "store": 2, "atomic": 0})
        load = next(line for line in kernel["lines"] if line["access"] == "load")
        self.assertEqual((load["source"], load["requests"], load["sectors"], load["ideal_sectors"]),
                         ("out[i] = x[i + 1];", 32, 160, 128))

    def test_a_file_that_cannot_be_written(self):
        ended = subprocess.run([PROGRAMS["patterns"]], capture_output=True, text=True, check=False,
                               env={"HOSTCUDA_TRACE": "/no/such/folder/trace.json"})
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stderr, "hostcuda: /no/such/folder/trace.json: cannot be written\n")


class Seeded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = inspect_program(PROGRAMS["seeded"])

    def races_in(self, kernel):
        return [race for race in self.found.races if race.kernel == kernel]

    def assert_race(self, kernel, memory, *sides):
        """Expects a race between two sides, in either order. Each side is a mark and an access."""
        races = self.races_in(kernel)
        said = [sorted((side.place.line, side.access) for side in (race.earlier, race.later))
                for race in races if race.memory == memory]
        self.assertIn(sorted((marked_line(mark), access) for mark, access in sides), said)
        return races

    def test_missing_barrier(self):
        races = self.assert_race(
            "missing_barrier", "shared", ("written", "store"), ("read", "load")
        )
        for race in races:
            self.assertEqual(race.earlier.block, race.later.block)
            self.assertNotEqual(race.earlier.thread, race.later.thread)
        # Thread i reads the value that thread i + 1 writes, so the offset is one float.
        race = next(race for race in races if race.memory == "shared")
        writer, reader = sorted((race.earlier, race.later), key=lambda side: side.access)[::-1]
        self.assertEqual(writer.thread[0], (reader.thread[0] + 1) % 64)
        self.assertEqual(race.offset, 4 * writer.thread[0])

    def test_blocks(self):
        for race in self.assert_race("two_blocks_write", "global", ("both_blocks", "store"),
                                     ("both_blocks", "store")):
            self.assertEqual({race.earlier.block[0], race.later.block[0]}, {0, 1})

    def test_lanes_of_a_warp(self):
        self.assert_race("missing_syncwarp", "shared", ("lane_written", "store"),
                         ("lane_read", "load"))

    def test_update_without_an_atomic(self):
        self.assert_race("plain_update", "global", ("plain", "load"), ("plain", "store"))

    def test_a_block_barrier_does_not_order_blocks(self):
        for race in self.assert_race("next_block<false>", "global", ("grid_written", "store"),
                                     ("grid_read", "load")):
            self.assertEqual({race.earlier.block[0], race.later.block[0]}, {0, 1})

    def test_shared_memory_of_another_block_without_a_barrier(self):
        for race in self.assert_race("other_block<false>", "shared", ("cluster_written", "store"),
                                     ("cluster_read", "load")):
            self.assertEqual(race.earlier.block[0] // 2, race.later.block[0] // 2)
            self.assertNotEqual(race.earlier.block, race.later.block)
            self.assertEqual(race.earlier.thread, race.later.thread)

    def test_corrected_kernels_have_no_races(self):
        wrong = {"missing_barrier", "two_blocks_write", "missing_syncwarp", "plain_update",
                 "next_block<false>", "other_block<false>"}
        self.assertEqual({race.kernel for race in self.found.races}, wrong)

    def test_divergence_names_both_barriers_and_their_threads(self):
        self.assertEqual(len(self.found.divergences), 1)  # it is reported once, not for each block
        found = self.found.divergences[0]
        self.assertEqual(found.kernel, "divergent_barrier")
        self.assertEqual([(at.place.line, at.threads, at.example[0]) for at in found.places],
                         [(marked_line("first_barrier"), 24, 0),
                          (marked_line("second_barrier"), 40, 24)])

    def test_a_program_that_fails_keeps_its_record(self):
        self.assertEqual(self.found.exit_code, 3)
        self.assertIn("exited with code 3", text_of(self.found))
        self.assertEqual(as_json(self.found)["exit_code"], 3)

    def test_warnings_of_the_emulator_are_findings(self):
        warnings = [message for message in self.found.messages if ": warning: " in message]
        self.assertEqual(len(warnings), 1)
        self.assertRegex(warnings[0], "kernel return_early: 4 thread.*returned before the "
                         rf"__syncthreads\(\) at .*seeded.cu:{marked_line('early')},")
        self.assertIn(warnings[0], text_of(self.found))

    def test_every_message_is_a_finding(self):
        found = self.found.findings
        self.assertEqual(len(found), len(self.found.messages))
        wrong = {race.kernel for race in self.found.races} | {"divergent_barrier", "return_early"}
        self.assertEqual({finding["kernel"] for finding in found}, wrong)
        for finding, message in zip(found, self.found.messages):
            self.assertIn(finding["what"], message)
            self.assertIn(finding["statement"], message)
            self.assertIn("To do: " + finding["advice"], message)
        plain = next(finding for finding in found if finding["kernel"] == "plain_update")
        self.assertEqual((plain["kind"], plain["file"], plain["line"]),
                         ("lost update", "tests/inspect/seeded.cu", marked_line("plain")))

    def test_the_text_names_all_findings(self):
        text = text_of(self.found)
        self.assertIn("RACE in kernel missing_barrier", text)
        self.assertIn(f"seeded.cu:{marked_line('written')}", text)
        self.assertIn("BARRIER DIVERGENCE in kernel divergent_barrier", text)
        self.assertNotIn("Nothing wrong", text)


class Steps(unittest.TestCase):
    def test_a_step_without_a_barrier(self):
        found = inspect_program(PROGRAMS["missing_barrier"], FEW_BODIES)
        sides = {(race.memory, frozenset([source_text(race.earlier.place).split(" ")[0],
                                          source_text(race.later.place).split(" ")[0]]))
                 for race in found.races}
        self.assertIn(
            ("shared", frozenset(["if", "const"])), sides
        )  # the line that writes tile[...], against the one that reads tile[j]

    def test_the_step_itself_is_right(self):
        found = inspect_program(PROGRAMS["step03"], FEW_BODIES)
        self.assertTrue(found.clean, text_of(found))
        # An interaction reads four floats of shared memory.
        # A tile always has 512 bodies; those beyond the last real body have no mass.
        kernel = found.kernel("advance_systems")
        self.assertEqual(kernel.sum("executions", "shared", "load") % (2 * 2 * 4 * 256 * 256), 0)

    def test_what_a_step_computes(self):
        if "counted_step03" not in PROGRAMS:
            self.skipTest("needs clang++")
        found = inspect_program(PROGRAMS["step03"], FEW_BODIES)
        counted = count_instructions(PROGRAMS["counted_step03"], FEW_BODIES, timeout=60)
        kernel = replace(found.kernel("advance_systems"), operations=counted["advance_systems"])
        # There are only 256 bodies, but a tile has 512 bodies and a block has 1024 threads.
        evaluations = 2 * 2 * 1024 * 512
        of_line = {
            source_text(place): sums(found) for place, found in by_line(kernel.operations).items()
        }
        self.assertEqual(of_line["const float inverse_distance = 1.0f / sqrtf(distance_squared);"],
                         {"float32": {"div": evaluations, "sqrt": evaluations}})
        self.assertEqual(
            of_line["tile_ax += s * dx;"], {"float32": {"add": evaluations, "mul": evaluations}}
        )
        totals = sums(kernel.operations)
        # First the operations per evaluation and per tile, then the operations of kick and drift.
        self.assertEqual(
            totals["float32"],
            {
                "add": 9 * evaluations + 2 * 2 * 1024 * 3 + 2 * 2 * 256 * 6,
                "mul": 9 * evaluations + 2 * 2 * 256 * 6,
                "div": evaluations,
                "sqrt": evaluations,
            },
        )
        self.assertEqual(totals["threads"], {"barrier": 2 * 2 * 1024 * 4})
        text = kernel_text(kernel, interactions=evaluations)
        self.assertIn("as written, per interaction: float32: add 9.0", text)
        self.assertRegex(text, r"\n +46  div 1, sqrt 1 +const float inverse_distance")
        as_numbers = kernel_json(kernel, evaluations)["as_written_per_interaction"]
        self.assertEqual(as_numbers["float32"]["sqrt"], 1)

    def test_a_failed_program_gives_one_line(self):
        with self.assertRaisesRegex(InspectError, r"^[^\n]*exit code 2[^\n]*--bodies[^\n]*$"):
            inspect_program(PROGRAMS["step03"], ["--bodies", "-1"])


class Picture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.patterns = inspect_program(PROGRAMS["patterns"], picture=True)
        cls.step = inspect_program(PROGRAMS["step03"], TWO_TILES, picture=True)

    def test_blocks_are_recorded_only_on_request(self):
        kernels = inspect_program(PROGRAMS["patterns"]).kernels
        self.assertEqual({kernel.first_block for kernel in kernels}, {None})

    def test_the_picture_has_all_requests_of_a_block(self):
        """All blocks of a pattern do the same, so one block has an equal share of the requests."""
        for kernel in self.patterns.kernels:
            for memory in ("global", "shared"):
                pictured = [
                    one for one in kernel.first_block["accesses"] if one["memory"] == memory
                ]
                counted = [row for row in kernel.rows if row.memory == memory]
                self.assertEqual(kernel.blocks * sum(one["requests"] for one in pictured),
                                 sum(row.requests for row in counted), (kernel.name, memory))
                self.assertEqual(kernel.blocks * sum(sum(one["executions"]) for one in pictured),
                                 sum(row.executions for row in counted), (kernel.name, memory))

    def test_barriers_divide_the_accesses_into_phases(self):
        block = self.step.kernel("advance_systems").first_block
        source = (ROOT / "step03_tiling/nbody.cu").read_text(encoding="utf-8").splitlines()
        lines = [int(place.rpartition(":")[2]) for place in block["barriers"]]
        self.assertEqual({"__syncthreads();" in source[line - 1] for line in lines}, {True})
        self.assertEqual(len(lines), block["phases"] - 1)
        tile = {one["phase"] for one in block["accesses"] if "tile[j].x" in source[one["line"] - 1]}
        stores = {
            one["phase"]
            for one in block["accesses"]
            if (one["memory"], one["access"]) == ("shared", "store")
        }
        self.assertEqual((stores, tile), ({0, 2}, {1, 3}))

    def test_costs_equal_those_of_the_textbook(self):
        for kernel, memory, cost in (
            ("shared_column", "shared", 32),
            ("shared_column_padded", "shared", 1),
            ("member_of_28_bytes", "global", 28),
            ("coalesced_4_bytes", "global", 4),
        ):
            loads = [one for one in self.patterns.kernel(kernel).first_block["accesses"]
                     if (one["memory"], one["access"]) == (memory, "load")]
            self.assertEqual({one["cost"] for one in loads}, {cost}, kernel)


class CommandLine(unittest.TestCase):
    def refused(self, *words):
        ended = subprocess.run([sys.executable, "-m", "nbody_tools", "inspect", *words],
                               capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertEqual(ended.stdout, "")
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        return ended.stderr

    def test_steps_that_cannot_be_inspected(self):
        self.assertRegex(self.refused("77"), "'77' is not a step; choose from step00")
        self.assertRegex(self.refused("step00_cpu_omp"), "no kernels")
        self.assertRegex(self.refused(), "STEP")

    def test_options(self):
        self.assertRegex(self.refused("3", "4"), "'4': a step takes no other arguments")
        self.assertRegex(self.refused("nowhere.cu"), "nowhere.cu: file not found")
        for words in (["--bodies", "0"], ["--bodies", "x"], ["--systems", "1.5"], ["--steps", "-2"],
                      ["--bodys", "4"], ["--json"]):
            self.assertRegex(self.refused("3", *words), re.escape(words[0]))
        self.assertRegex(
            self.refused("3", "--page", "page.png"), "'page.png' does not end in .html"
        )

    def test_no_compiler(self):
        ended = subprocess.run(
            [sys.executable, "-m", "nbody_tools", "inspect", "3"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": "/nowhere", "CXX": ""},
        )
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stderr, r"^nbody inspect: needs g\+\+[^\n]*\n$")


if __name__ == "__main__":
    names = ("patterns", "seeded", "missing_barrier", "step03", "counted_step03")
    PROGRAMS.update(zip(names, map(Path, sys.argv[1:])))
    unittest.main(argv=sys.argv[:1])
