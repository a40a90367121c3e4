"""Tests how SASS is read: in an excerpt of our own kernels, the tool must find the loops and count
their instructions as we did by hand. Also tests what is rejected, the table of slots, and the
tables in docs/limits.md that explain the gap between the ceiling and the rate."""

import json
import unittest
from pathlib import Path

from tests import fakes
from nbody_tools.machine_code import tables as page
from nbody_tools.machine_code.loops import per_root
from nbody_tools.machine_code.sass import Kernel, kernels, readable
from nbody_tools.records.facts import Facts
from nbody_tools.records.record import RecordError

EXCERPT = Path(__file__).resolve().parents[1] / "data" / "excerpt.sass"
# The instructions of step 04's loop, counted by hand in the excerpt.
STEP04 = {"fp32": 20, "fp64": 0, "mufu": 2, "shuffle": 0, "shared": 2, "memory": 0, "other": 15}
STEP12 = {"fp32": 32, "fp64": 0, "mufu": 2, "shuffle": 3, "shared": 1, "memory": 0, "other": 4}

STEP = "step12_newton3"
LOOP = {
    "step": STEP,
    "kernel": "f<1, 2>",
    "architecture": "sm_90",
    "cuda": "13.0",
    "loop": "0x1-0x2",
    "interactions": 4,
    "instructions": {
        "fp32": 24,
        "mufu": 4,
        "shuffle": 4,
        "shared": 0,
        "memory": 0,
        "other": 8,
        "fp64": 0,
    },
    "slots": 48,
}
PROFILE = {
    "step": STEP,
    "kernel": "f<1, 2>",
    "machine": "Test GPU",
    "date": "2026-01-02T",
    "systems": 1,
    "bodies": 4096,
    "steps": 1,
    "launches": 1,
    "metrics": {
        "duration_us": 750.0,
        "issue_percent": 50.0,
        "sm_busy_percent": 90.0,
        "instructions_per_interaction": 12.5,
        "stall_not_selected": 1.0,
        "stall_barrier": 2.0,
    },
}


def code(*lines: str) -> Kernel:
    """Places the instructions 16 bytes apart, as on every GPU since Volta."""
    return Kernel(
        "k",
        "".join(f"        /*{16 * place:04x}*/    {line} ;\n" for place, line in enumerate(lines)),
    )


class Loops(unittest.TestCase):
    def test_as_counted_by_hand(self) -> None:
        tiled, pairs = kernels(EXCERPT.read_text(encoding="utf-8"), "excerpt")
        (loop,) = tiled.loops()
        self.assertEqual((loop.kernel, loop.first, loop.last), ("advance_systems", 0x440, 0x710))
        self.assertEqual((loop.counts, loop.roots, loop.slots), (STEP04, 1, 41))
        (loop,) = pairs.loops()
        self.assertEqual(
            (loop.kernel, loop.first, loop.last), ("partial_accelerations<2, 1>", 0x8C0, 0xB50)
        )
        self.assertEqual((loop.counts, loop.roots, loop.slots), (STEP12, 2, 47))

    def test_the_innermost_loop_counts(self) -> None:
        (loop,) = code(
            "FADD R0", "MUFU.RSQ R1, R1", "@P0 BRA 0x10", "LDG.E R2", "@P1 BRA 0x0", "EXIT"
        ).loops()
        self.assertEqual((loop.first, loop.last, loop.instructions), (0x10, 0x20, 2))

    def test_both_sides_of_a_condition_count(self) -> None:
        (loop,) = code("MUFU.RSQ R1, R1", "@P0 BRA 0x30", "FADD R0", "@P1 BRA 0x0", "EXIT").loops()
        self.assertEqual((loop.counts["fp32"], loop.instructions), (1, 4))

    def test_the_copy_for_diverged_warps_is_not_in_it(self) -> None:
        (loop,) = code(
            "BRA.DIV UR5, 0x40",
            "MUFU.RSQ R1, R1",
            "@P0 BRA 0x0",
            "EXIT",
            "MUFU.RSQ R1, R1",
            "BRA 0x10",
        ).loops()
        self.assertEqual((loop.roots, loop.instructions), (1, 3))

    def test_nothing_comes_after_a_trap(self) -> None:
        (loop,) = code(
            "MUFU.RSQ R1, R1",
            "@P1 BRA 0x40",
            "@P0 BRA 0x0",
            "EXIT",
            "BPT.TRAP 0x1",
            "MUFU.RSQ R1, R1",
            "BRA 0x0",
        ).loops()
        self.assertEqual(loop.roots, 1)

    def test_a_loop_that_is_entered_at_its_end(self) -> None:
        (loop,) = code(
            "BRA 0x30", "MUFU.RSQ R1, R1", "FADD R1", "ISETP P0", "@P0 BRA 0x10", "EXIT"
        ).loops()
        self.assertEqual((loop.first, loop.last, loop.instructions), (0x10, 0x40, 4))

    def test_no_loop(self) -> None:
        self.assertEqual(code("MUFU.RSQ R1, R1", "EXIT", "BRA 0x20").loops(), [])
        self.assertEqual(code("MUFU.RSQ64H R1, R1", "@P0 BRA 0x0", "EXIT").loops(), [])

    def test_slots(self) -> None:
        (loop,) = code(
            "MUFU.RSQ R1, R1", "SHFL.IDX R1", "DFMA R2", "FFMA R3", "LDS R4", "@P0 BRA 0x0"
        ).loops()
        self.assertEqual(loop.slots, 2 + 2 + 2 + 1 + 1 + 1)

    def test_names(self) -> None:
        for symbol, expected in (
            ("_Z3addPfi", "add"),
            ("kernel", "kernel"),
            (
                "_ZN36_GLOBAL__N__1e481d5c_8_nbody_cu_main7advanceILi8ELi16EEEvP6float4",
                "advance<8, 16>",
            ),
            ("_ZN12_GLOBAL__N_11fIdLi4ELb1EEEvPf", "f<double, 4, 1>"),
        ):
            self.assertEqual(readable(symbol), expected)

    def test_a_pair_is_two_interactions(self) -> None:
        self.assertEqual(
            [per_root(name) for name in ("step11_register_blocking", "step12_newton3", "step12_x")],
            [1, 2, 2],
        )


class Tool(fakes.InFolder):
    def test_saved_machine_code(self) -> None:
        output = self.folder / "sass.jsonl"
        for _ in range(2):  # the second call replaces the lines
            out = self.done("profile", "04", "--sass", "--from", EXCERPT, "--json", output)
        self.assertRegex(
            out, r"advance_systems +0x440-0x710 +1 +20.000 +2.000 +0.000 +2.000 +15.000 +41.00 "
        )
        first, second = map(json.loads, output.read_text().splitlines())
        self.assertEqual(
            first,
            {
                "step": "step04_unroll",
                "kernel": "advance_systems",
                "loop": "0x440-0x710",
                "architecture": "sm_90",
                "cuda": "",
                "interactions": 1,
                "instructions": STEP04,
                "slots": 41,
            },
        )
        self.assertEqual(second["kernel"], "partial_accelerations<2, 1>")

    def test_it_reads_a_program(self) -> None:
        program = self.file(
            "build/step04_unroll/step04_unroll", "Cuda compilation tools, release 13.0, V13.0.88"
        )
        tool = self.program("cuobjdump", f"assert words == ['-sass', {str(program)!r}], words\n"
                            f"print(open({str(EXCERPT)!r}).read())\n")
        words = ["profile", "04", "--sass", "--build", self.folder / "build", "--cuobjdump", tool]
        self.assertIn("step04_unroll, sm_90, CUDA 13.0\n", self.done(*words))
        self.program("cuobjdump", "#!/bin/sh\necho 'cuobjdump info: no device code' >&2\n")
        self.assertIn("no device code", self.refused(*words, code=1))

    def test_refusals(self) -> None:
        empty = self.file("empty.sass", "nothing\n")
        for words, expected in ((["00"], "CPU program"), (["42"], "not a step")):
            self.assertIn(expected, self.refused("profile", *words, "--sass"))
        self.file("step04_unroll/step04_unroll", "")
        self.assertIn(
            "skipped: no no-such-tool here",
            self.refused(
                "profile",
                "04",
                "--cuobjdump",
                "no-such-tool",
                "--build",
                self.folder,
                "--sass",
                code=77,
            ),
        )
        tool = self.program("tool", "#!")
        self.assertIn(
            "holds no program step05_streams",
            self.refused("profile", "05", "--sass", "--build", self.folder, "--cuobjdump", tool),
        )
        self.assertIn(
            "holds no machine code",
            self.refused("profile", "04", "--sass", "--from", empty, code=1),
        )


class Page(fakes.InRepository):
    def test_the_loop_with_the_fewest_slots(self) -> None:
        for step in ("step01_gpu_naive", "step04_unroll"):
            (self.folder / step).mkdir()
        line = {
            "step": "step04_unroll",
            "kernel": "slow",
            "interactions": 2,
            "instructions": STEP04,
            "slots": 82,
        }
        lines = [
            line,
            {**line, "kernel": "fast", "slots": 41},
            {**line, "step": "step01_gpu_naive"},
        ]
        self.assertIsNone(page.table(self.results, Facts(self.folder)).content)
        self.records("sass/a.jsonl", *lines)
        self.records("a.jsonl", fakes.record("step04_unroll"))
        text = str(page.table(self.results, Facts(self.folder)))
        self.assertEqual(len(text.splitlines()), 3)  # steps before 03 are excluded
        rate, ceiling = 1e-9 * 32 * 8192 ** 2 * 20 / 2.0, 1e3 * 33.45 * 2 / 41
        self.assertIn(f"| `fast` | 10.00 | 1.00 | - | 1.00 | 7.50 | 20.50 | {ceiling:.0f} | "
                      f"{rate:.4g} (32 x 8192 x 20) | {100 * rate / ceiling:.0f} % |", text)
        self.records("sass/a.jsonl", {**line, "slots": 0})
        with self.assertRaisesRegex(Exception, "without instructions"):
            page.table(self.results, Facts(self.folder))


class Limits(fakes.InRepository):
    def left(self) -> dict[str, list[str]]:
        lines = page.left(self.results, Facts(self.folder)).content.splitlines()
        return {
            cells[0]: cells[1:]
            for line in lines
            for cells in [[c.strip() for c in line.strip("|").split("|")]]
        }

    def test_factors_from_the_ceiling_to_the_rate(self) -> None:
        self.records(
            "sass/a.jsonl", LOOP, {**LOOP, "slots": 90}, {**LOOP, "kernel": "f<1, 3>", "slots": 7}
        )
        self.records(
            "limits/a.jsonl",
            fakes.record(STEP, systems=1, bodies=4096, steps=5, compute=[0.005] * 3),
        )
        self.records("limits/profiles/a.jsonl", PROFILE)
        table = self.left()
        self.assertEqual(table[""], ["12, 4,096"])
        self.assertEqual(table["ceiling, G/s"], [f"{33.45e3 / 12:.0f}"])
        self.assertEqual(
            table["instructions in the inner loop, %"], ["80.0"]
        )  # the loop has 10 of 12.5 instructions
        self.assertEqual(
            table["slots used while an SM has work, %"], ["60.0"]
        )  # 40 instructions take 48 slots
        self.assertEqual(table["share of a time step in this kernel, %"], ["75.0"])
        self.assertEqual(
            (table["a warp issues, %"], table["a warp waits at a barrier, %"]), (["25.0"], ["50.0"])
        )
        self.assertEqual(table["measured, G/s"], [f"{4096 ** 2 / 1e-3 * 1e-9:.4g}"])

    def test_a_launch_of_all_time_steps(self) -> None:
        step = "step13_persistent"
        self.records("sass/a.jsonl", {**LOOP, "step": step})
        self.records(
            "limits/a.jsonl",
            fakes.record(step, systems=1, bodies=4096, steps=5, compute=[0.005] * 3),
        )
        self.records(
            "limits/profiles/b.jsonl",
            {
                **PROFILE,
                "step": step,
                "steps": 100,
                "metrics": {**PROFILE["metrics"], "duration_us": 80e3},
            },
        )
        self.assertEqual(self.left()["share of a time step in this kernel, %"], ["80.0"])

    def test_nothing_measured(self) -> None:
        self.assertIsNone(page.left(self.results, Facts(self.folder)).content)
        self.assertIsNone(page.tuned(self.results, STEP).content)

    def test_the_fastest_shape_for_each_number_of_bodies_per_thread(self) -> None:
        line = {
            "step": STEP,
            "systems": 1,
            "bodies": 1000,
            "steps": 10,
            "bodies_per_thread": 2,
            "chunk": 256,
            "seconds": [1e-4, 1e-3, 9e-3],
        }
        lines = (
            line,
            {**line, "chunk": 512, "seconds": [5e-4]},
            {**line, "bodies_per_thread": 4, "bodies": 2000},
            {**line, "step": "step13_persistent", "seconds": [1e-9]},
            {**line, "group": 8} | {"chunk": 1024},
        )
        self.records("tuning/a.jsonl", *lines)
        self.assertEqual(
            page.tuned(self.results, STEP).content.splitlines()[2:],
            ["| 2 | 20 (512) | - |", "| 4 | - | 40 (256) |"],
        )
        self.records("tuning/a.jsonl", {**line, "seconds": []})
        with self.assertRaises(RecordError):
            page.tuned(self.results, STEP)
