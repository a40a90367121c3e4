"""Evaluates gcov's counts: finds lines, branches and template instances that did not run."""
import json
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

# The coverage tests make no API call fail, so only tests/faults runs these error branches.
ERROR_CHECK = re.compile(r"\b(CUDA|CUBLAS)_CHECK\(")
# If an exception makes destructors run, gcov counts them at the line where their scope ends.
END_OF_SCOPE = re.compile(r"\s*}[;)]*\s*")


@dataclass
class Counts:
    """The counts of one file of a step, summed over all programs that contain the file."""
    lines: dict = field(default_factory=lambda: defaultdict(int))      # (line, instance) -> times
    branches: dict = field(default_factory=lambda: defaultdict(list))  # (line, number) -> times
    instances: dict = field(default_factory=lambda: defaultdict(int))  # (line, name) -> times


@dataclass(frozen=True, order=True)
class Missing:
    """A place that did not run."""
    file: str
    line: int
    what: str


def counted(root, build, steps, others=()):
    """Maps each file to its Counts, from all gcov output in the folders of `steps` in `build`. Only
    files in these folders and in `others` count."""
    folders = {*steps, *others}
    counts = defaultdict(Counts)
    for data in sorted(path for step in steps for path in (build / step).rglob("*.gcda")):
        done = subprocess.run(["gcov", "--branch-probabilities", "--json-format", "--stdout", data],
                              cwd=data.parent, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            for file in json.loads(line)["files"]:
                path = Path(file["file"]).resolve()
                if path.is_relative_to(root) and path.relative_to(root).parts[0] in folders:
                    add(counts[str(path.relative_to(root))], file)
    return counts


def add(counts, file):
    """Adds the counts in one file of gcov's output."""
    names = {function["name"]: function["demangled_name"] for function in file["functions"]}
    for function in file["functions"]:
        key = function["start_line"], names[function["name"]]
        counts.instances[key] += function["execution_count"]
    for line in file["lines"]:
        number, name = line["line_number"], names.get(line.get("function_name"), "")
        counts.lines[number, name] += line["count"]
        taken = [branch["count"] for branch in line["branches"] if not branch["throw"]]
        sums = counts.branches[number, len(taken)]
        sums[:] = [a + b for a, b in zip(sums or [0] * len(taken), taken)]


def missing(file, counts, text):
    """Yields what did not run: whole instances of templates, lines in the other instances, and
    branches that no instance took."""
    dead = {name for (_, name), times in counts.instances.items() if times == 0}
    for (line, name), times in counts.instances.items():
        if times == 0:
            yield Missing(file, line, f"never called: {name}")
    executed = set()
    for (line, name), times in counts.lines.items():
        if times > 0:
            executed.add(line)
        elif name not in dead and not END_OF_SCOPE.fullmatch(text[line - 1]):
            yield Missing(file, line, f"never executed in {name or 'any function'}")
    for (line, _), times in counts.branches.items():
        if line in executed and 0 in times and not ERROR_CHECK.search(text[line - 1]):
            yield Missing(file, line, f"{times.count(0)} of {len(times)} branches never taken")


def judged(places, exceptions, texts):
    """Returns the places that no exception covers, and the exceptions that cover no place."""
    used = set()

    def is_excepted(place):
        line = texts[place.file][place.line - 1]
        for number, exception in enumerate(exceptions):
            fits = (exception["line"] in line if "line" in exception
                    else exception["function"] in place.what)
            if exception["file"] == place.file and fits:
                used.add(number)
                return True
        return False

    left = sorted({place for place in places if not is_excepted(place)})
    return left, [one for number, one in enumerate(exceptions) if number not in used]
