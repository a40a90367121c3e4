#!/usr/bin/env python3
"""Tests that every seeded bug is reported with its line, and that the corrected programs have no
findings.

    findings_test.py SEEDED BUGS

SEEDED and BUGS are programs, which are traced. SEEDED prints its bugs with their kinds (--list).
BUGS is compiled from ../bugs/bugs.cu; KINDS_OF_BUGS lists its bugs. The line that a finding must
report is the one after the comment `// BUG NAME`.
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
MARK = re.compile(r"^\s*// BUG ((?:\w+ ?)+)$")
PROGRAMS = {}
LINES = {}  # maps each program to its SourceLines
# The kind of the finding, for the bugs of ../bugs that a traced run finds.
KINDS_OF_BUGS = {
    "past_shared": "out of bounds", "past_dynamic": "out of bounds", "past_global": "out of bounds",
    "past_small": "out of bounds", "before_small": "out of bounds",
    "past_pinned": "out of bounds", "far_index": "out of bounds",
    "missing_barrier": "race", "tile_loop": "race", "warp_runs_ahead": "race",
    "different_barriers": "barrier divergence",
    "return_before_barrier": "return before a barrier", "barrier_and_shuffle": "deadlock",
    "half_initialised": "uninitialised", "shuffle_in_branch": "absent lane", "lost_update": "race",
    "host_dereference": "device pointer", "stream_without_event": "unordered operations",
    "reused_pinned_buffer": "not synchronised", "unfinished_copy": "not synchronised",
    "constant_on_one_device": "wrong device", "wrong_device": "wrong device",
    "use_after_free": "use after free", "api_call_in_kernel": "host function in a kernel",
    "kernel_waits_for_child": "host function in a kernel", "launch_bounds": "unchecked error",
    "static_and_dynamic_shared": "too much shared memory", "null_pointer": "fault",
    "division_by_zero": "fault", "waits_for_the_next_block": "hang", "assertion": "assertion",
    "trap": "trap", "trap_in_asm": "trap", "reference_to_host": "host pointer",
    "grid_sync_in_a_plain_launch": "no such barrier",
    "block_returns_before_grid_sync": "deadlock", "barriers_of_different_scope": "deadlock",
    "cooperative_blocks_wait_forever": "hang", "cluster_block_ends_early": "block has ended",
    "maps_what_is_not_shared": "bad mapping", "deep_recursion": "fault",
}


def marks():
    """Maps each bug's name to "file:line", with the file's name but not its folder."""
    found = {}
    for folder in (FOLDER, FOLDER.parent / "bugs"):
        for path in sorted(folder.iterdir()):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 2):
                if path.suffix in (".h", ".cu") and (match := MARK.search(line)):
                    for name in match[1].split():
                        found[name] = f"{path.name}:{number}"
    return found


class SourceLines:
    """One addr2line process for all runs of a program (HOSTCUDA_ADDR2LINE). A separate process for
    each address would spend most of its time reading the program."""

    def __init__(self, program):
        self.addr2line = subprocess.Popen(
            ["addr2line", "-a", "-i", "-e", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.mutex = threading.Lock()

    def of(self, address):
        """Returns addr2line's answer. To find the end of the answer, sends a second query, whose
        answer is always the same."""
        with self.mutex:
            self.addr2line.stdin.write(f"{address:#x}\n0\n")
            self.addr2line.stdin.flush()
            self.addr2line.stdout.readline()  # skips the address
            answer = "".join(iter(self.addr2line.stdout.readline, f"0x{0:016x}\n"))
            self.addr2line.stdout.readline()
        return answer

    def answer(self, questions, answers):
        while len(address := os.read(questions, 8)) == 8:
            os.write(answers, self.of(int.from_bytes(address, sys.byteorder)).encode() + b"\0")

    @contextlib.contextmanager
    def at_hand(self):
        """Yields the two pipe ends that a program inherits, and the environment variable that
        contains their descriptors."""
        questions, asks = os.pipe()
        hears, answers = os.pipe()
        answering = threading.Thread(target=self.answer, args=(questions, answers))
        answering.start()
        try:
            yield (hears, asks), {"HOSTCUDA_ADDR2LINE": f"{hears},{asks}"}
        finally:
            os.close(asks)
            answering.join()
            for end in (questions, hears, answers):
                os.close(end)

    def end(self):
        self.addr2line.communicate()


def run(program, *arguments, **environment):
    with tempfile.TemporaryDirectory() as folder, LINES[program].at_hand() as (ends, hearing):
        trace = Path(folder) / "trace.json"
        ended = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=100,
            check=False,
            pass_fds=ends,
            env={
                **os.environ,
                "HOSTCUDA_TRACE": str(trace),
                "HOSTCUDA_DEVICES": "2",
                "HOSTCUDA_WATCHDOG": "0.3",
                "LC_ALL": "C",
                **hearing,
                **environment,
            },
        )
        return ended, json.loads(trace.read_text(encoding="utf-8")) if trace.exists() else {
            "findings": []
        }


def places_of(finding):
    """Returns the finding's own line, the line of its launch, and the lines that its text
    mentions."""
    text = " ".join([finding["what"], *finding["details"], finding.get("launched_at", "")])
    own = [f"{finding['file']}:{finding['line']}"] if "file" in finding else []
    return {Path(place).name for place in own + re.findall(r"\S+:\d+\b", text)}


class Findings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lines = subprocess.run([PROGRAMS["seeded"], "--list"], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        cls.kinds = dict(line.split("\t") for line in lines)
        cls.bugs = [(PROGRAMS["seeded"], *item) for item in cls.kinds.items()]
        cls.bugs += [(PROGRAMS["bugs"], *item) for item in KINDS_OF_BUGS.items()]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            cls.wrong = list(pool.map(lambda bug: run(*bug[:2]), cls.bugs))
            cls.corrected = list(pool.map(lambda bug: run(*bug[:2], "corrected"), cls.bugs))

    def test_there_are_at_least_75(self):
        self.assertGreaterEqual(len(self.bugs), 75)
        self.assertEqual(len({name for _, name, _ in self.bugs}), len(self.bugs))

    def test_bugs_are_reported_with_their_line(self):
        lines = marks()
        for (_, name, kind), (ended, record) in zip(self.bugs, self.wrong):
            with self.subTest(bug=name):
                found = [finding for finding in record["findings"] if finding["kind"] == kind]
                said = f"{record['findings']}\n{ended.stderr}"
                self.assertTrue(found, said)
                self.assertIn(lines[name], set().union(*map(places_of, found)), said)
                for finding in record["findings"]:
                    self.assertIn(finding["what"], ended.stderr)

    # Maps a bug to the text about its cause and remedy that its finding must contain.
    CAUSES = {
        "too_many_threads": r"2048 threads per block are more than 1024",
        "event_never_recorded": r"the second event was never recorded: cudaEventRecord is missing",
        "library_status_unread": r"cublasPretended failed with status 7.*STATUS_INVALID_VALUE",
        "swapped_grid": r"has enough threads \(3072 for 3072 elements\).*x and y swapped",
        "index_mixed_up": r"has enough threads \(512 for 500 elements\).*blockIdx.x \* blockDim.x",
        "grid_rounded_down": r"round the number of blocks up",
        "copy_beyond_a_constant": r"cudaMemcpyToSymbol failed",
        "copied_after_free": r"the target was freed.*To do: free it after the last copy",
        "copy_too_large": r"do not fit.*To do: allocate as many bytes as the copy needs",
        "wrong_direction": r"the direction does not fit.*To do: pass cudaMemcpy\w+, or swap",
        "host_buffer_too_small": r"writes 256 bytes at an address from which only 128 bytes of",
        "memset_of_ones": r"set each byte to 1.*as an int, the number is 16843009",
        "halved_odd_count": r"loses a value: 3 threads add in one step and 1 in the next",
        "node_without_dependency": r"in another node of the graph.*make one node depend on",
        "constant_set_in_elements": r"set 9 of its 36 bytes.*takes a number of bytes",
        "last_copy_not_awaited": r"while the asynchronous copy started at .+async_bugs.h:\d+ may",
        "counter_of_block": r"atomic with the scope of its block, by.*be the device \(atomicAdd",
        "row_width_in_elements": r"nothing wrote its bytes 64 to 255, but the bytes before",
        "zero_blocks": r"is empty \(was the number of blocks rounded down\?\)",
    }

    def test_findings_name_the_cause(self):
        said = {name: ended.stderr for (_, name, _), (ended, _) in zip(self.bugs, self.wrong)}
        for name, cause in self.CAUSES.items():
            with self.subTest(bug=name):
                self.assertRegex(said[name].replace("\n", " "), cause)

    def test_corrected_programs_have_no_findings(self):
        for (_, name, _), (ended, record) in zip(self.bugs, self.corrected):
            with self.subTest(bug=name):
                self.assertEqual(([], 0, ""), (record["findings"], ended.returncode, ended.stderr))

    def test_host_threads_do_not_hide_what_a_kernel_does(self):
        for _ in range(5):
            ended, record = run(PROGRAMS["seeded"], "--host-threads")
            self.assertEqual(([], 0, ""), (record["findings"], ended.returncode, ended.stderr))
            self.assertEqual(int(ended.stdout), sum(site["executions"] for site in record["sites"]))

    def test_same_loads_are_all_counted(self):
        for order in ("forward", "reverse", "random"):
            ended, record = run(PROGRAMS["seeded"], "--same-loads", HOSTCUDA_ORDER=order)
            for kernel, *expected in map(str.split, ended.stdout.splitlines()):
                sites = [site for site in record["sites"] if site["kernel"] == kernel]
                races = [race["count"] for race in record["races"] if race["kernel"] == kernel]
                found = [
                    sum(site["executions"] for site in sites),
                    sum(site["requests"] for site in sites),
                ]
                with self.subTest(kernel=kernel, order=order):
                    self.assertEqual(expected[:2], list(map(str, found)))
                    self.assertEqual(expected[2] != "0", bool(races))
                    if order == "forward":
                        self.assertEqual(int(expected[2]), sum(races))

    def test_every_atomic_and_every_shuffle_is_counted(self):
        ended, record = run(PROGRAMS["seeded"], "--warp-counts")
        self.assertEqual(([], 0, ""), (record["findings"], ended.returncode, ended.stderr))
        self.assertEqual(record["host"]["bytes_to_host"], 32 + 16)
        for kernel, what, *expected in map(str.split, ended.stdout.splitlines()):
            if what == "loads":
                one = next(one for one in record["kernels"] if one["name"] == kernel)
                self.assertEqual((one["loading_launches"], one["loading_blocks"]), (2, 2))
                self.assertEqual(list(map(int, expected)),
                                 [one["loading_threads"], one["most_loads"]])
                continue
            counted = [site for site in record["sites"]
                       if (site["kernel"], site["access"]) == (kernel, "atomic")]
            if what != "atomics":
                counted = [one[what] for one in record["kernels"] if one["name"] == kernel]
            with self.subTest(kernel=kernel, what=what):
                self.assertEqual(list(map(int, expected)),
                                 [sum(one[quantity] for one in counted)
                                  for quantity in ("executions", "requests")])

    def test_half_of_the_atomics_in_shared_memory_are_skipped_on_request(self):
        for environment, least, most in (({}, 40, 40),
                                         ({"HOSTCUDA_TRACE_SKIP_SHARED_ATOMICS": "1"}, 8, 32)):
            ended, record = run(PROGRAMS["seeded"], "--skipped-atomics", **environment)
            changed = [tuple(map(int, line.split())) for line in ended.stdout.splitlines()]
            self.assertEqual([(number, 40) for number in range(10)],
                             [(number, of_global) for number, of_global, _ in changed])
            for number, _, of_shared in changed:
                with self.subTest(number=number):
                    self.assertTrue(least <= of_shared <= most, of_shared)
            self.assertEqual(2 * 10 * 40, sum(site["executions"] for site in record["sites"]
                                              if site["access"] == "atomic"))

    def test_errors_that_other_checkers_find_are_found(self):
        readme = (FOLDER.parents[1] / "README.md").read_text(encoding="utf-8")
        table = readme.partition("<!-- kinds of mistakes -->")[2].partition("<!-- end of kinds")[0]
        rows = re.findall(r"^\| ([^|]+) \| `([^`]+)` \| (\w+) \|$", table, re.M)
        kinds = {**KINDS_OF_BUGS, **self.kinds}
        for what, kind, name in rows:
            with self.subTest(what=what):
                self.assertEqual(kind, kinds.get(name))
        self.assertEqual(sum(":" not in what for what, *_ in rows), 21)  # WCU's bugs
        self.assertEqual({what.partition(":")[0] for what, *_ in rows if ":" in what},
                         {"memcheck", "racecheck", "synccheck", "initcheck"})

    def test_each_public_program_that_did_not_finish_is_listed(self):
        readme = (FOLDER.parents[1] / "README.md").read_text(encoding="utf-8")
        table = readme.partition("<!-- public programs -->")[2].partition("<!-- end of public")[0]
        rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()
                if line.startswith("|")]
        column = next(i for i, name in enumerate(rows[0]) if name.startswith("not finished"))
        self.assertEqual(table.count("\n- "), int(rows[-1][column]))

    def test_every_finding_has_a_remedy(self):
        for _, record in self.wrong:
            for finding in record["findings"]:
                if finding["kind"] not in (
                    "fault",
                    "hang",
                    "assertion",
                    "trap",
                ):  # these findings need not give advice
                    with self.subTest(what=finding["what"]):
                        self.assertTrue(finding["advice"])


if __name__ == "__main__":
    PROGRAMS.update(zip(("seeded", "bugs"), map(Path, sys.argv[1:3])))
    LINES.update((program, SourceLines(program)) for program in PROGRAMS.values())
    tests = unittest.main(argv=sys.argv[:1], exit=False)
    for lines in LINES.values():
        lines.end()
    sys.exit(not tests.result.wasSuccessful())
