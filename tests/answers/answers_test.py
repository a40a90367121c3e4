#!/usr/bin/env python3
"""Tests that every exercise has an answer and that each answer is right; answers.toml says how to
check each answer.

    answers_test.py day ROOT BUILD     checks that answers match exercises; checks mutants,
                                       equations, and the bytes that built programs write
    answers_test.py nightly ROOT BUILD [NAME]
                                       checks answers for which a program must be compiled: an
                                       edited step, or a step with nvcc
"""
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT, BUILD = (Path(word).resolve() for word in sys.argv[2:4])
sys.path.insert(0, str(ROOT / "tools"))

from nbody_tools.course.rebuild import build_as  # noqa: E402
from nbody_tools.diagrams.pairs import meetings  # noqa: E402
from nbody_tools.edits import EditError, edited  # noqa: E402
from nbody_tools.course.hardware import blocks_by, measured_limits  # noqa: E402
from nbody_tools.records.facts import Facts  # noqa: E402
from nbody_tools.records.timeline import read_timeline, sums  # noqa: E402
from nbody_tools.steps import is_draft, number_of, step_folders  # noqa: E402

FACTS = Facts(ROOT)
PAGES = {  # pages that are not about a step, with their headings in answers.md
    "activity_map": ("experiments/activity_map/README.md", "The activity map"),
    "cpu_simd": ("cpu/simd/README.md", "The fast CPU program"),
    "float64": ("float64/README.md", "Float64"),
    "small_systems": ("small_systems/README.md", "Small systems"),
    "memory": ("memory/README.md", "Memory"),
    "memory_tiles": ("memory/tiles.md", "Memory, tiles"),
    "memory_together": ("memory/together.md", "Memory, together"),
}
STEPS = {  # steps that run the kernels of a page, and whose mutants have its mistakes
    "float64": ("step11_register_blocking", "step12_newton3"),
    "small_systems": ("step13_persistent",),
}
KEYS = {
    "text",
    "mutants",
    "same",
    "equation",
    "edits",
    "define",
    "file",
    "runs",
    "ptx",
    "registers",
    "records",
    "open",
}
BY_NIGHT = {"runs", "ptx", "registers"}
NVCC = ["nvcc", "-std=c++20", "-arch=sm_90", "-O3", f"-I{ROOT}/common/include", f"-I{ROOT}"]


def spans(run):
    return read_timeline(ROOT / "docs" / "results" / "timelines" / f"{run}.timeline.csv")


WORDS = {  # names that equations may use
    "math": math, "round": round, "len": len, "range": range, "meetings": meetings,
    "occupancy": lambda block, registers: (
        blocks_by(measured_limits(), block, registers, 4096)["registers"] * block // 32),
    "finished": lambda run, until: sum(s.stage == "compute" and s.end < until for s in spans(run)),
    "hidden": lambda run: round(100 * sums(spans(run)).hidden_share),
    "float32": lambda value: struct.unpack("f", struct.pack("f", value))[0],
    "compute": lambda step, problem: FACTS.value(step, problem, "compute").content,
}


def items(text):
    """Maps the number of each item in a numbered list to the item's text."""
    found = re.split(r"^(\d+)\. ", text, flags=re.M)[1:]
    return {int(number): words for number, words in zip(found[::2], found[1::2])}


def sections(text):
    parts = re.split(r"^## (.*)$", text, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def flat(text):
    return " ".join(text.split())


def exercises(steps):
    """Maps each exercise, such as '03.1', to its answer, or to None."""
    answers = {title.split(":")[0]: items(text) for title, text in
               sections((ROOT / "docs" / "answers.md").read_text("utf-8")).items()}
    # A draft needs no answers. If a draft has answers, they are checked.
    pages = [(number_of(step), f"{step}/README.md", heading) for step in steps
             if (heading := f"Step {number_of(step)}") in answers or not is_draft(step, ROOT)]
    pages += [(name, *page) for name, page in PAGES.items()]
    for number, page, heading in pages:
        asked = items(sections((ROOT / page).read_text("utf-8"))["Exercises"])
        answered = answers.get(heading, {})
        for k in sorted(asked.keys() | answered.keys()):
            yield f"{number}.{k}", k in asked, answered.get(k)


def folder_of(name):
    """Returns the folder of the program that an exercise uses."""
    number = name.split(".")[0]
    return str(Path(PAGES[number][0]).parent) if number in PAGES else next(
        s for s in step_folders(ROOT) if number_of(s) == number)


def source_of(step, file=None):
    return ROOT / step / file if file else next((ROOT / step).glob("nbody.c*"))


def quick(known, steps, mutants):
    seen = set()
    for name, asked, answer in exercises(steps):
        seen.add(name)
        how = known.get(name)
        if not asked or answer is None:
            yield f"{name}: {'no answer' if asked else 'an answer without an exercise'}"
        elif how is None:
            yield f"{name}: answers.toml does not say how its answer is checked"
        else:
            for line in known_in_quick_tests(name, how, flat(answer), mutants):
                yield f"{name}: {line}"
    for name in known.keys() - seen:
        yield f"{name}: answers.toml has this exercise, but no README has it"


def known_in_quick_tests(name, how, answer, mutants):
    for key in how.keys() - KEYS:
        yield f"'{key}' is not a key of answers.toml"
    if not how.keys() - {"text"}:
        yield "no check proves the answer, and [open] does not list it"
    if "open" not in how and not how.get("text"):
        yield "no `text` connects the checks with the answer"
    for text in how.get("text", []):
        if flat(text) not in answer:
            yield f"the answer does not say '{flat(text)}'"
    step = folder_of(name)
    for mutant in how.get("mutants", []):
        table = mutants.get(step, {}).get(mutant)
        if table is None:
            yield f"{step} has no mutant '{mutant}'"
        elif (
            not any(
                f"`{check}`" in answer
                for check in table.get("caught_by", table.get("caught_only_by", []))
            )
            and "says" not in table
        ):
            yield f"the answer names none of the checks that reject {mutant}"
    for expression, value in how.get("equation", {}).items():
        found = eval(expression, {"__builtins__": {}, **WORDS})
        if str(found) != value and not (isinstance(found, float) and found == float(value)):
            yield f"{expression} is {found}, not {value}"
    for edit in [how, *how.get("ptx", [])]:
        if edits := edit.get("edits"):
            try:
                edited(source_of(step, how.get("file")), step, edits)
            except EditError as error:
                yield str(error)
    if "same" in how:
        states = [output_of(command) for command in how["same"]]
        if len(set(states)) != 1 and not (compiler_is_newer() and differ_by_rounding(states)):
            yield f"these write different bytes: {how['same']}"


def compiler_is_newer():
    """True for g++ 15 and later. Such compilers may fuse different products and sums in the two
    programs that an answer compares, so the programs' results may differ by rounding."""
    cache = (BUILD / "CMakeCache.txt").read_text("utf-8")
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.M).group(1)
    version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True)
    return "clang" not in compiler and int(version.stdout.split(".")[0]) >= 15


def differ_by_rounding(states):
    """True if the numbers of CSV files differ by at most 1e-5; ignores their header lines."""
    rows = [re.findall(r"^[-+0-9].*$", state.decode(), re.M) for state in states]
    numbers = [[float(word) for row in one for word in row.split(",")] for one in rows]
    return len({len(one) for one in numbers}) == 1 and all(
        abs(value - other) <= 1e-5 for value, other in zip(*numbers, strict=True)
    )


def output_of(command):
    """Returns the bytes of the final state that a built program writes."""
    words = command.split()
    settings = [word for word in words if re.match(r"[A-Z_]+=", word)]
    program, *arguments = words[len(settings):]
    if not (BUILD / program / program).exists():
        raise SystemExit(f"{program} is not built; build it first: ./nbody build")
    with tempfile.TemporaryDirectory() as folder:
        found = run(
            [BUILD / program / program, *arguments, "--output", f"{folder}/end.csv"], settings
        )
        if found["exit"] != 0:
            raise SystemExit(f"{command}: exit code {found['exit']}: {found['said']}")
        return Path(folder, "end.csv").read_bytes()


def run(words, settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOSTCUDA_")}
    environment.update(OMP_NUM_THREADS="1", **dict(s.split("=") for s in settings))
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record.json")
        done = subprocess.run(
            [*map(str, words), "--quiet", "--json", str(record)],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            errors="replace",
            check=False,
        )
        data = json.loads(record.read_text()) if record.exists() else {}
    return {"exit": done.returncode, "said": done.stdout, "errors": data.get("errors", {}),
            "failed": data.get("failed", []), "verdict": data.get("verdict")}


def build_edited(step, how, folder):
    options = ["-w", *([f"-D{how['define']}"] if "define" in how else [])]
    return build_as(
        step, edited(source_of(step), step, how.get("edits", [])), BUILD, folder, options, ROOT
    )


def differs(found, text):
    """True if a number differs from the answer's number in the digits that the answer shows."""
    digits = len(re.sub(r"e.*|[.]|^0[.]?", "", text))
    return abs(found - float(text)) > 0.55 * 10.0 ** (1 - digits) * 10.0 ** math.floor(
        math.log10(float(text))
    )


def known_by_night(name, how):
    step = folder_of(name)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        program = build_edited(step, how, folder) if "runs" in how else None
        for case in how.get("runs", []):
            for line in outcome(case, step, program, folder):
                yield f"{case['args']} {case.get('mode', '')}: {line}"
        for case in [*how.get("ptx", []), *how.get("registers", [])]:
            yield from compiled(case, case.get("step", step), folder)


def outcome(case, step, program, folder):
    arguments, settings = case["args"].split(), case.get("mode", "").split()
    end = folder / "end.csv"
    found = run([program, *arguments, "--output", end], settings)
    if case.get("passes") and (found["exit"], found["verdict"]) != (0, "pass"):
        yield f"it does not pass: {found}"
    if not set(case.get("fails", [])) <= set(found["failed"]):
        yield f"it should fail {case['fails']} but fails {found['failed']}"
    if case.get("says", "") not in found["said"]:
        yield f"it does not say '{case['says']}': {found['said']}"
    for check, value in case.get("values", {}).items():
        if differs(found["errors"].get(check, 0), value):
            yield f"{check} is {found['errors'].get(check)}, not {value}"
    other = step if case.get("same") else case.get("same_as")
    if other and end.read_bytes() != output_of(" ".join([other, *arguments])):
        yield f"its bytes differ from those of {other}"


def compiled(case, step, folder):
    source = folder / "compiled.cu"
    source.write_text(edited(source_of(step), step, case.get("edits", [])), "utf-8")
    kind = "-ptx" if "count" in case else "-cubin"
    words = [*NVCC, *case["options"].split(), kind, *(() if kind == "-ptx" else ("-Xptxas", "-v")),
             "-o", str(folder / "out"), str(source)]
    done = subprocess.run(
        words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode != 0:
        yield f"nvcc: {done.stdout}"
        return
    if kind == "-ptx":
        text = (folder / "out").read_text()
        for pattern, count in case["count"].items():
            if len(re.findall(rf"(?<!\w){pattern}", text)) != count:
                yield (
                    f"{case['options']}: {len(re.findall(rf'(?<!r){pattern}', text))} times "
                    f"{pattern}, not {count}"
                )
        return
    names = dict(
        re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", done.stdout, re.S)
    )
    plain = subprocess.run(
        ["c++filt", *names], text=True, stdout=subprocess.PIPE, check=True
    ).stdout.splitlines()
    used = {line: int(count) for line, count in zip(plain, names.values())}
    for kernel, count in ((k, v) for k, v in case.items() if k != "options"):
        plainer = kernel.replace("<", "<(int)").replace("<(int)", "<")
        found = [
            n for line, n in used.items() if plainer in line.replace("(int)", "").replace(" ", "")
        ]
        if found != [count]:
            yield f"{kernel} has {found} registers, not {count}"


def main():
    when = sys.argv[1]
    known = tomllib.loads((HERE / "answers.toml").read_text("utf-8"))
    for name, why in known.pop("open").items():
        known[name] = {"open": why, **known.get(name, {})}
    if when == "day":
        mutants = tomllib.loads((ROOT / "tests" / "mutants" / "mutants.toml").read_text("utf-8"))
        of_memory = tomllib.loads((ROOT / "tests" / "memory" / "mutants.toml").read_text("utf-8"))
        mutants["memory"] = {k: v for table in of_memory.values() for k, v in table.items()}
        for page, steps in STEPS.items():
            mutants[page] = {k: v for step in steps for k, v in mutants[step].items()}
        problems = list(quick(known, step_folders(ROOT), mutants))
    else:
        chosen = {name: how for name, how in known.items() if BY_NIGHT & how.keys()
                  and (len(sys.argv) < 5 or name in sys.argv[4:])}
        if not has_nvcc():
            print("nvcc not found: skipping the checks of its output")
            chosen = {
                name: {k: v for k, v in how.items() if k not in ("ptx", "registers")}
                for name, how in chosen.items()
            }
        problems = [
            f"{name}: {line}" for name, how in chosen.items() for line in known_by_night(name, how)
        ]
        known = chosen
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(known)} answers are right")


def has_nvcc():
    try:
        return (
            subprocess.run(["nvcc", "--version"], stdout=subprocess.DEVNULL, check=False).returncode
            == 0
        )
    except OSError:
        return False


if __name__ == "__main__":
    main()
