"""Tests that documents about ./nbody inspect agree with its counts and with a GPU's counts, and
that every difference is reported."""

from __future__ import annotations

import io
import json
import re
import shutil
import unittest
from unittest import mock

from tests import fakes
from nbody_tools.__main__ import parse
from nbody_tools.inspection import blocks
from nbody_tools.arguments import ROOT
from nbody_tools.inspection.calibration import (
    FOLDER,
    PATTERNS,
    STEPS,
    CalibrationError,
    chip_lines,
    compared,
)
from nbody_tools.inspection.as_text import in_words, of_loop, worth_a_row
from nbody_tools.inspection.instructions import Operation
from nbody_tools.inspection.ptx import Loop, kernels_of
from nbody_tools.inspection.trace import merged, rows_of
from nbody_tools.measure.ncu import ProfileError
from nbody_tools.inspection.source_lines import Place, place_of

EXPLAINED = ("step01_gpu_naive", "step02_layout", "step03_tiling", "step09_soa",
             "step10_tiled2d_cublas")


class InspectTest(fakes.InFolder):
    """Gives each test a copy of the files from which the tables are made."""

    def setUp(self) -> None:
        super().setUp()
        shutil.copytree(ROOT / FOLDER, self.folder / FOLDER)
        for step in STEPS:
            (self.folder / step).mkdir()
            shutil.copy(ROOT / step / "nbody.cu", self.folder / step)

    def edit(self, name: str, change) -> None:
        """Applies `change` to every line of model.jsonl or chip.jsonl. `change` gets a line as a
        dictionary, and returns this or another dictionary."""
        path = self.folder / FOLDER / name
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("".join(json.dumps(change(line)) + "\n" for line in lines),
                        encoding="utf-8")


SEEDED = str(ROOT / "tests" / "inspect" / "seeded.cu")


class Arguments(unittest.TestCase):
    def test_words_after_two_dashes_belong_to_the_program(self) -> None:
        for options in ([], ["--interactions", "5"], ["--compile=-I include"]):
            parsed = parse("inspect", [SEEDED, *options, "--", "--bodies", "10"])
            self.assertEqual(parsed.program, [SEEDED, "--bodies", "10"])

    def parse_error(self, *words: str) -> str:
        with mock.patch("sys.stderr", io.StringIO()) as said, self.assertRaises(SystemExit):
            parse("inspect", words)
        return said.getvalue()

    def test_unknown_options_before_them_are_still_refused(self) -> None:
        self.assertIn("unknown option --bodes", self.parse_error("03", "--bodes", "--", "x"))


class Calibration(InspectTest):
    def test_every_quantity_of_every_step_was_compared(self) -> None:
        programs = {one.program for one in compared(self.folder)}
        self.assertEqual(programs, {PATTERNS, *STEPS})

    def test_a_difference_needs_a_cause(self) -> None:
        def more_sectors(line: dict) -> dict:
            if line.get("name") == "offset_by_one":
                line["global load"]["cost"] += 1
            return line

        self.edit("chip.jsonl", more_sectors)
        with self.assertRaisesRegex(CalibrationError, "offset_by_one"):
            blocks.patterns_block(self.folder)

    def test_conflicts_are_compared_too(self) -> None:
        def no_conflicts(line: dict) -> dict:
            if line.get("name") == "shared_column":
                line["shared load"]["conflicts"] = 0
            return line

        self.edit("chip.jsonl", no_conflicts)
        with self.assertRaisesRegex(CalibrationError, "shared_column"):
            blocks.patterns_block(self.folder)

    def test_a_cause_needs_a_difference(self) -> None:
        causes = {**blocks.CAUSES, (PATTERNS, "broadcast", "global load"): "it is said"}
        with mock.patch.object(blocks, "CAUSES", causes):
            with self.assertRaisesRegex(CalibrationError, "broadcast"):
                blocks.causes_block(self.folder)

    def test_a_count_that_the_profiler_does_not_give(self) -> None:
        csv = self.folder / "x.ncu.csv"
        csv.write_text('"ID","Kernel Name","smsp__inst_executed.sum"\n"","","inst"\n"0","f","1"\n',
                       encoding="utf-8")
        with self.assertRaisesRegex(CalibrationError, "lacks the metric l1tex__t_requests"):
            chip_lines("x", csv)
        csv.write_text("==ERROR== no permission\n", encoding="utf-8")
        with self.assertRaisesRegex(ProfileError, "no permission"):
            chip_lines("x", csv)


class Blocks(InspectTest):
    def test_a_step_that_was_edited_since(self) -> None:
        self.edit_source("velocities[i].x += ax * dt;", "velocities[i].x = ax * dt;")
        with self.assertRaisesRegex(CalibrationError, "step02_layout/nbody.cu no longer has"):
            blocks.step_block("step02_layout", "step01_gpu_naive", self.folder)

    def test_a_line_that_moved_keeps_its_counts(self) -> None:
        self.assertIn("| 29-31, 34 |", blocks.step_block("step02_layout", None, self.folder))
        self.edit_source("// step02_layout", "// one more line\n// step02_layout")
        self.assertIn("| 30-32, 35 |", blocks.step_block("step02_layout", None, self.folder))

    def edit_source(self, old: str, new: str) -> None:
        source = self.folder / "step02_layout" / "nbody.cu"
        text = source.read_text(encoding="utf-8")
        self.assertIn(old, text)
        source.write_text(text.replace(old, new, 1), encoding="utf-8")

    def test_a_step_stands_under_its_parent(self) -> None:
        block = blocks.step_block("step02_layout", "step01_gpu_naive", self.folder)
        self.assertRegex(
            block, r"(?s)\| 01 \| .*\| 28\.0 \| 4\.0 \|.*\| 02 \| .*\| 12\.0 \| 4\.0 \|"
        )
        self.assertIn("counts the same numbers", block)

    def test_a_difference_is_said_in_the_step(self) -> None:
        block = blocks.step_block("step03_tiling", "step02_layout", self.folder)
        self.assertIn("the shared loads, with 131,072 requests instead of 262,144:", block)

    def test_ranges(self) -> None:
        self.assertEqual(blocks.ranges([3, 4, 5, 9, 11, 12]), "3-5, 9, 11-12")

    def test_the_repository_explains_its_steps(self) -> None:
        for document in [f"docs/measurements/{step}.template.md" for step in EXPLAINED]:
            self.assertTrue(
                re.search(r"\binspect(ed)?\(", (ROOT / document).read_text(encoding="utf-8")),
                document,
            )
        self.assertTrue((ROOT / "docs" / "inspect.md").exists())

    def test_lines_that_the_document_quotes(self) -> None:
        text = (ROOT / "docs" / "inspect.md").read_text(encoding="utf-8")
        quoted = re.findall(
            r" at (step\w+/nbody\.cu):(\d+)\n +(?! |kernel |block |index )(.*)", text
        )
        quoted += [(file, line, f"{kernel}<<<") for kernel, file, line in
                   re.findall(r"kernel (\w+) launched at (step\w+/nbody\.cu):(\d+)", text)]
        table = re.search(r"(step\w+/nbody\.cu)\n +line .*\n((?: +\d+ .*\n)+)", text)
        quoted += [(table[1], row.split()[0], row[row.index("const"):].rstrip("."))
                   for row in table[2].splitlines()]
        computed = re.search(r"(step\w+/nbody\.cu)\n +line +as written.*\n((?: +\d+ .*\n)+)", text)
        quoted += [(computed[1], row.split()[0], row[row.index("const"):])
                   for row in computed[2].splitlines()]
        self.assertGreaterEqual(len(quoted), 6)
        for file, line, source in quoted:
            there = (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()
            self.assertTrue(there.startswith(source), f"{file}:{line} is '{there}', not '{source}'")


def site(code: int, requests: int, cost: int, **other) -> dict:
    return {"code": code, "memory": "global", "access": "load", "bytes": 4,
            "executions": 32 * requests, "requests": requests, "cost": cost, "ideal_cost": requests,
            **other}


class Rows(unittest.TestCase):
    PLACES = {1: Place("a.cu", 7), 2: Place("a.cu", 7), 3: Place("a.cu", 5)}

    def test_copies_of_an_access_are_one_row(self) -> None:
        rows = rows_of([site(1, 10, 10), site(2, 2, 2)], self.PLACES)
        self.assertEqual([(row.requests, row.executions) for row in rows], [(12, 384)])

    def test_accesses_of_a_line_that_cost_differently_are_not(self) -> None:
        rows = rows_of([site(1, 10, 10), site(2, 2, 56), site(3, 1, 1)], self.PLACES)
        self.assertEqual([(row.place.line, row.cost_of_request) for row in rows],
                         [(5, 1.0), (7, 1.0), (7, 28.0)])

    def test_a_site_without_requests_is_left_out(self) -> None:
        self.assertEqual(rows_of([site(1, 0, 0)], self.PLACES), [])

    def test_no_race_no_row(self) -> None:
        self.assertEqual(merged([]), [])


PTX = """
.visible .entry _Z5scalePfi(
	.param .u64 _Z5scalePfi_param_0
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<3>;
	.loc	1 5 0
	ld.param.u32 	%r1, [_Z5scalePfi_param_1];
	setp.lt.s32 	%p1, %r1, 1;
	@%p1 bra 	$L__BB0_3;

$L__BB0_1:
	.loc	1 7 5
	ld.global.f32 	%f1, [%rd1];
	sqrt.rn.f32 	%f2, %f1;
	rcp.rn.f32 	%f3, %f2;
	sub.f32 	%f4, %f1, %f3;
$L__BB0_2:
	.loc	1 9 7, function_name $L__info_string0, inlined_at 1 7 5
	fma.rn.f32 	%f5, %f4, %f4, %f5;
	mul.wide.s32 	%rd2, %r1, 4;
	shfl.sync.down.b32	%r4|%p3, %r3, 1, 31, -1;
	setp.ne.s32 	%p2, %r1, 7;
	@%p2 bra 	$L__BB0_2;
	bar.sync 	0;
	bra.uni 	$L__BB0_1;
$L__BB0_3:
	ret;
}
"""


class Ptx(unittest.TestCase):
    def test_instructions_by_class(self) -> None:
        (kernel,) = kernels_of(PTX)
        self.assertEqual(kernel.name, "scale")
        self.assertEqual(
            kernel.counts,
            {
                "add": 1,
                "fma": 1,
                "div": 1,
                "sqrt": 1,
                "compare": 2,
                "shuffle": 1,
                "barrier": 1,
                "memory": 2,
                "integer": 1,
                "other": 4,
            },
        )

    def test_of_nested_loops_the_inner_one(self) -> None:
        (kernel,) = kernels_of(PTX)
        (loop,) = kernel.loops
        self.assertEqual(loop.lines, (9, 9))
        self.assertEqual(
            loop.counts, {"fma": 1, "compare": 1, "shuffle": 1, "integer": 1, "other": 1}
        )

    def test_lines_of_a_loop_are_the_kernels_own(self) -> None:
        inlined = "\t.loc\t6 397 9, function_name $L__info_string19, inlined_at 1 8 3\n" \
                  "\t.loc\t7 39 5, function_name $L__info_string16, inlined_at 6 397 9\n"
        (kernel,) = kernels_of(PTX.replace("\tshfl.sync", inlined + "\tshfl.sync"))
        self.assertEqual(kernel.loops[0].lines, (8, 9))

    def test_a_loop_is_counted_by_the_roots_it_takes(self) -> None:
        loop = Loop((7, 9), {"add": 8, "rsqrt": 2, "integer": 1})
        self.assertEqual(
            of_loop(loop, interacts=True),
            "per square root, with 2 in a pass: add 4, rsqrt 1, integer 0.5"
        )
        self.assertEqual(of_loop(loop, interacts=False), "per pass: add 8, rsqrt 2, integer 1")


class Instructions(unittest.TestCase):
    def test_lines_that_hardly_matter_have_no_row(self) -> None:
        one, other = Place("a.cu", 3), Place("a.cu", 4)
        lines = {
            one: [Operation(one, "float32", "add", 1000)],
            other: [Operation(other, "float32", "div", 9)],
        }
        self.assertEqual(list(worth_a_row(lines)), [one])
        lines[other].append(Operation(other, "integer", "add", 2))
        self.assertEqual(list(worth_a_row(lines)), [one, other])

    def test_other_types_than_float_are_named(self) -> None:
        place = Place("a.cu", 3)
        self.assertEqual(
            in_words(
                [
                    Operation(place, "integer", "add", 4),
                    Operation(place, "float64", "mul", 2),
                    Operation(place, "float32", "sqrt", 1),
                    Operation(place, "threads", "warp_barrier", 1),
                ],
                divisor=2,
            ),
            "sqrt 0.5; float64: mul 1; integer: add 2; warp barrier 0.5",
        )


class SourceLines(unittest.TestCase):
    def test_of_inlined_functions_the_innermost_of_the_user(self) -> None:
        header = f"{ROOT}/hostcuda/include/hostcuda/device_functions.h"
        self.assertEqual(
            place_of(
                [
                    f"{header}:12",
                    f"{ROOT}/step09_soa/nbody.cu:34 (discriminator 2)",
                    f"{ROOT}/step09_soa/nbody.cu:46",
                ]
            ),
            Place("step09_soa/nbody.cu", 34),
        )

    def test_code_without_a_line(self) -> None:
        self.assertEqual(place_of(["??:?"]).line, 0)

