"""Builds a CUDA program, runs it with its memory accesses traced, and reports all errors found.

  hostcuda check [OPTIONS] FILE... [compiler options] [--] [ARGUMENTS]
  hostcuda check [OPTIONS] -- COMMAND...

  --all               also runs the program in every other mode of the emulator
  --json FILE         writes the findings, and the details that the trace recorded, as JSON
  --sarif FILE        writes the findings as SARIF 2.1.0, for GitHub and editors
  --timeout SECONDS   limits the time of each run (default 120) or of COMMAND (default 600)

The first form builds FILE... once and runs the program once, with ARGUMENTS. (ARGUMENTS begin at
the first word that is neither a source nor a compiler option.) That run finds nearly all mistakes.
With --all, check builds the program three times (traced, plain and with AddressSanitizer) and runs
it nine times. The additional runs have other orders of threads, blocks and streams, one warp far
ahead of the others, guarded device memory, or two devices. Each finding gives the error, its place,
and the run that shows it.

The second form checks a project, which COMMAND builds: `make`, or in quotes
'cmake -S . -B build && cmake --build build'. COMMAND runs in a copy of the current folder that
lacks the compiled files, and the nvcc that COMMAND finds makes traced programs. If COMMAND runs
none of these programs, check runs each of them once, without arguments. The current folder must
contain all sources.

Exit code: 0 if there are no findings, 1 if there are findings, 2 if the program does not compile or
the command line is wrong.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import project
import sarif
from driver import build
from libraries import ASAN, PLAIN, TRACED, ToolError
from nvcc_options import SOURCE, translate
from semantics import find_clang

MODES = (
    ("threads and blocks backwards", PLAIN, {"HOSTCUDA_ORDER": "reverse"}),
    ("threads, blocks and streams at random", PLAIN,
     {"HOSTCUDA_ORDER": "random", "HOSTCUDA_STREAMS": "random"}),
    ("one warp far ahead of the others", PLAIN, {"HOSTCUDA_ORDER": "skewed"}),
    ("streams as late as allowed", PLAIN, {"HOSTCUDA_STREAMS": "lazy"}),
    ("device memory guarded", PLAIN, {"HOSTCUDA_STRICT_MEM": "1"}),
    ("two devices", PLAIN, {"HOSTCUDA_DEVICES": "2"}),
    ("AddressSanitizer", ASAN, {"ASAN_OPTIONS": "detect_leaks=0", "OMP_NUM_THREADS": "1"}),
)
VALUE_OPTIONS = (
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-include",
    "-isystem",
    "-Xcompiler",
    "-arch",
    "-gencode",
)


@dataclass
class Finding:
    what: str
    mode: str
    details: str = ""


@dataclass
class Run:
    mode: str
    code: object  # exit status, or "timeout"
    output: list
    errors: str


def seconds(word):
    """Returns a positive, finite number of seconds."""
    try:
        value = float(word)
    except ValueError:
        value = 0
    if not 0 < value < 1e6:
        raise ToolError(f"check: --timeout {word}: seconds must be a number above 0, below 1000000")
    return value


def file_to_write(option, word):
    """Returns the absolute path if a file can be written there."""
    path = Path(word).absolute()
    if not word or path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ToolError(f"check: {option} {word}: cannot be written")
    return path


def split_command_line(words):
    """Returns check's options, the arguments of the build, and the program's arguments. If no
    source file is given, the last list is the command that builds the project."""
    options = {"all": False, "json": None, "sarif": None, "timeout": None}
    building, rest = [], list(words)
    while rest:
        word = rest[0]
        if word == "--all":
            options["all"], rest = True, rest[1:]
        elif word in ("--json", "--sarif", "--timeout"):
            if len(rest) == 1:
                raise ToolError(f"check: {word} needs a value")
            options[word[2:]] = (seconds(rest[1]) if word == "--timeout" else
                                 file_to_write(word, rest[1]))
            rest = rest[2:]
        elif word == "--":
            return options, building, rest[1:]
        elif word in VALUE_OPTIONS and len(rest) > 1:
            building, rest = building + rest[:2], rest[2:]
        elif word.startswith("-") or SOURCE.search(word):
            building, rest = building + rest[:1], rest[1:]
        else:
            break
    return options, building, rest


def run(program, arguments, mode, environment, timeout):
    program = subprocess.Popen(
        [program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env={"HOSTCUDA_WATCHDOG": "20", **os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        output, errors = program.communicate(timeout=timeout)
        return Run(mode, program.returncode, output.splitlines(), errors)
    except subprocess.TimeoutExpired:
        program.terminate()  # the program reports its progress before it ends
    try:
        errors = program.communicate(timeout=5)[1]
    except subprocess.TimeoutExpired:
        program.kill()
        errors = program.communicate()[1]
    return Run(mode, "timeout", [], errors)


HANG = "without reaching a barrier or its end"
STOPPED = re.compile(r"^hostcuda: (stopped after .*)$", re.M)
MESSAGE = re.compile(r"^hostcuda: (?:ERROR|warning): (.*)\n((?:  .*\n)*)", re.M)
SANITIZER = re.compile(r"ERROR: AddressSanitizer: (\S+)|^(.*runtime error: .*)$", re.M)
OWN_FRAME = re.compile(r"#\d+ .* in (\S+).* (\S+:\d+)(?::\d+)?$", re.M)
ASSERTION = re.compile(r"^.*: block: \[.*\], thread: \[.*\] Assertion .*$", re.M)


def findings_of_messages(ended):
    """Returns the findings in the messages of hostcuda and of the sanitizers."""
    found = [Finding(text, ended.mode, details.rstrip())
             for text, details in MESSAGE.findall(ended.errors)]
    found += [Finding(match, ended.mode) for match in ASSERTION.findall(ended.errors)]
    for match in SANITIZER.finditer(ended.errors):
        frames = [
            f"{place} in {name}"
            for name, place in OWN_FRAME.findall(ended.errors, match.end())
            if "/include/hostcuda/" not in place and "/src/execution/" not in place
        ]
        found.append(
            Finding(match[1] or match[2], ended.mode, "  at " + frames[0] if frames else "")
        )
        break  # later messages are consequences of this error
    return found


def in_words(code):
    """Describes how a run ended: with an exit status, a signal or a timeout."""
    if code == "timeout":
        return "a timeout"
    if code >= 0:
        return f"exit status {code}"
    return f"signal {-code} ({signal.strsignal(-code)})"


def no_end(ended):
    found = STOPPED.search(ended.errors)
    return Finding("the program does not end", ended.mode, f"  {found[1]}" if found else "")


def findings_of_end(ended, plain, unstable):
    """Returns a list with one finding if the run ends differently from the plain run or prints
    different output; otherwise an empty list. unstable: numbers of the lines that differ even
    between two plain runs."""
    if ended.code == "timeout":
        return [no_end(ended)]
    if ended.code != plain.code:
        return [Finding(f"the run ends with {in_words(ended.code)}; the default run ends with "
                        f"{in_words(plain.code)}",
                        ended.mode)]
    for number, (here, there) in enumerate(zip(ended.output, plain.output)):
        if here != there and number not in unstable:
            return [Finding("the output differs from the default run", ended.mode,
                            f"  line {number + 1}: {here}\n  in the default run: {there}")]
    if len(ended.output) != len(plain.output):
        return [Finding("the number of output lines differs from the default run", ended.mode)]
    return []


PLACE = re.compile(r"([^\s/]+:\d+)\b")
OWN_PLACE = re.compile(r"^  (?:thread \S+ )?at (?:\S*/)?([^\s/]+:\d+)", re.M)


def unique(findings):
    """If several runs report the same error, keeps only the first of these findings."""
    seen, places = {}, {}
    for finding in findings:
        key = re.sub(r"0x[0-9a-f]+|\(\d+,\d+,\d+\)", "", finding.what)
        place = OWN_PLACE.search(finding.details)
        if key in seen or (place and places.get(place[1], finding.mode) != finding.mode):
            continue
        seen[key] = finding
        for place in PLACE.findall(finding.what + finding.details):
            places.setdefault(place, finding.mode)
    return list(seen.values())


def finding_of_warning(line):
    """Turns a compiler warning into a finding."""
    place, _, what = line.partition(": warning: ")
    return Finding(what, "compiled", f"  at {place.rpartition(':')[0]}")


def run_traced(program, arguments, timeout, folder):
    """Returns the traced run, and the findings that the trace recorded."""
    trace = Path(folder, "trace.json")
    ended = run(program, arguments, "traced", {"HOSTCUDA_TRACE": str(trace)}, timeout)
    if not trace.exists():
        return ended, []
    # The record quotes lines of sources, whatever their encoding is.
    return ended, json.loads(trace.read_text(encoding="utf-8", errors="replace"))["findings"]


def check_traced(programs, arguments, timeout, folder):
    """Returns the traced run, its findings, the findings that the trace recorded, and the number of
    runs."""
    ended, records = run_traced(programs[TRACED], arguments, timeout, folder)
    findings = findings_of_messages(ended)
    if ended.code == "timeout":
        findings.append(no_end(ended))
    elif ended.code < 0 and not findings:
        findings.append(Finding(f"the run ends with {in_words(ended.code)}", ended.mode))
    return ended, unique(findings), records, 1


def check_in_all_modes(programs, arguments, timeout, folder):
    """Returns the plain run, the findings of all runs, the findings that the trace recorded, and
    the number of runs."""
    plain = run(programs[PLAIN], arguments, "the default order", {}, timeout)
    hangs = plain.code == "timeout" or HANG in plain.errors  # then no other mode runs
    again = plain if hangs else run(programs[PLAIN], arguments, "the default order", {}, timeout)
    unstable = {i for i, (a, b) in enumerate(zip(plain.output, again.output)) if a != b}
    with ThreadPoolExecutor(2) as pool:
        others = [
            pool.submit(run, programs[variant], arguments, mode, environment, timeout)
            for mode, variant, environment in ([] if hangs else MODES)
        ]
        traced, records = run_traced(programs[TRACED], arguments, timeout, folder)
        ended = [one.result() for one in others]
    # The findings of the traced run come first, because that run reports an error where it happens,
    # while the findings of other runs are often consequences of the error.
    findings = findings_of_messages(traced) + findings_of_messages(plain)
    if plain.code == "timeout" or (plain.code < 0 and not findings):
        findings.append(no_end(plain) if plain.code == "timeout" else
                        Finding(f"the run ends with {in_words(plain.code)}", plain.mode))
    is_explained = any(one["kind"] not in sarif.HARMLESS for one in records)
    for one in ended:
        messages = findings_of_messages(one)
        findings += messages
        if not messages and not is_explained:
            findings += findings_of_end(one, plain, unstable)
    return plain, unique(findings), records, 2 + len(ended)


def check_files(building, arguments, options):
    variants, check_program = (TRACED,), check_traced
    if options["all"]:
        variants, check_program = (PLAIN, ASAN, TRACED), check_in_all_modes
    with tempfile.TemporaryDirectory(prefix="hostcuda-") as folder:
        programs, warnings = {}, []
        for variant in variants:
            translation = translate([*building, "-o", os.path.join(folder, variant)])
            programs[variant] = translation.output
            if build(translation, variant, warnings.append):
                return 2
        ended, findings, records, runs = check_program(
            programs, arguments, options["timeout"] or 120, folder
        )
    findings[:0] = map(finding_of_warning, dict.fromkeys(warnings))  # several builds warn
    name = Path(next(word for word in building if SOURCE.search(word))).name
    where = f"{runs} runs" if options["all"] else "the traced run"
    if ended.code != 0:
        where += f"; the program itself ends with {in_words(ended.code)}"
    code = report(name, findings, records, where, options)
    if not findings and not options["all"]:
        print("check --all also runs the program in other orders, on two devices and with "
              "AddressSanitizer")
    return code


def check_project(words, options):
    if not words:
        raise ToolError("check: -- must follow a source file or precede a command")
    if options["all"]:
        raise ToolError("check: --all needs source files; a project runs only traced")
    name = " ".join(words)
    checked = project.check(words, options["timeout"] or 600)
    command = checked.command
    findings = list(map(finding_of_warning, checked.warnings))
    for one in checked.runs:
        ended = Run("traced", one.code, [], one.errors)
        messages = findings_of_messages(ended)
        findings += messages
        if one.code == "timeout":
            findings.append(no_end(ended))
        elif one.code < 0 and not messages:
            findings.append(Finding(f"the run ends with {in_words(one.code)}", ended.mode))
    findings = unique(findings)
    if command.code != 0:
        sys.stderr.write("".join(command.output.splitlines(keepends=True)[-40:]))
    if command.code != 0 and not findings:
        raise ToolError(f"check: '{name}' ended with {in_words(command.code)}")
    if not checked.programs:
        raise ToolError(f"check: '{name}' built no program with nvcc; if the project or the "
                        "command calls nvcc by a path, remove the path")
    ended = f"; the command itself ended with {in_words(command.code)}" if command.code else ""
    traced = [record for one in checked.runs for record in one.traced]
    return report(name, findings, traced,
                  f"{len(checked.runs)} run(s) of {', '.join(checked.programs)}{ended}", options)


def report(name, findings, traced, where, options):
    """Prints the findings, writes the files of --json and --sarif, and returns the exit code."""
    for finding in findings:
        text = f"{finding.what}  [{finding.mode}]\n{finding.details or ''}".rstrip()
        print(text.replace(f"{Path.cwd()}{os.sep}", ""))  # some tools print full paths, some do not
    number = f"{len(findings)} finding(s)" if findings else "nothing was found"
    print(f"{name}: {number} in {where}")
    if not find_clang():
        print("calls between host and device code were not checked: clang++ is not installed")
    if options["json"]:
        options["json"].write_text(
            json.dumps({"program": name, "findings": [asdict(one) for one in findings],
                        "traced": traced}, indent=1)
            + "\n", encoding="utf-8")
    if options["sarif"]:
        sarif.write(options["sarif"], findings, traced, Path.cwd())
    return 1 if findings else 0


def main(words):
    if words[:1] in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    options, building, rest = split_command_line(words)
    if any(SOURCE.search(word) for word in building):
        return check_files(building, rest, options)
    if building or "--" not in words:
        raise ToolError("check: no source file")
    return check_project(rest, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
