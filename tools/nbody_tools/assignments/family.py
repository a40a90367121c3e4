"""A family of assignments: one task in many variants, each of which needs different code.

A family is a module of nbody_tools.assignments.families and a folder course/assignments/NAME with
templates of the statement and of the reference. Its axes are the choices that define a variant. A
hash of the class's seed and the student's name selects the variant of each student.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import importlib.util
import itertools
import random
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator, Optional, Sequence

import tomllib

from nbody_tools.arguments import ROOT, ToolError
from nbody_tools.assignments import points, tiles
from nbody_tools.assignments.closeness import Numbers
from nbody_tools.assignments.nearby import Growth
from nbody_tools.assignments.skipped_atomics import LEAST_LEFT
from nbody_tools.assignments.times import time_limit
from nbody_tools.assignments.messages import CALLABLE
from nbody_tools.edits import EditError, replaced
from nbody_tools.labs.counts import PATTERNS, describe
from nbody_tools.labs.lab import Limit
from nbody_tools.labs.rules import HEADER_OF_ASSIGNMENT, INCLUDES

FOLDER = ROOT / "course" / "assignments"
FAMILIES = ("reduction", "histogram", "transpose", "neighbours")
FILE_NAME = "solution.cu"
HEADER_NAME = HEADER_OF_ASSIGNMENT
DESCRIPTION = "assignment.toml"
NAMES_COLUMN = "names"  # in a table of variants: further names, separated by semicolons
SURPLUS = ""  # stands for the column of cells without a heading
RIGHT = (((1, 1), (2100, 2900)), ((3, 3), (700, 1100)), ((17, 23), (67, 99)))
HEADERS = ", ".join(f"`<{name}>`" for name in sorted(INCLUDES))
# Explains what the limits count. The keys are the beginnings of the limits' names.
EXPLAINED = (
    ("requests of global", "An access by a whole warp is one request, so a thread that accesses "
     "one body or element makes 1/32 = 0.031 requests for it."),
    ("requests of shared loads per thread", "An access by a whole warp is one request, so threads "
     "that load together make few requests, and a thread that loads alone makes one per load."),
    ("global loads", "Each load of each thread counts, however wide it is."),
    ("shared loads", "Each load of each thread counts, however wide it is."),
    ("shared stores", "Each store of each thread counts."),
    ("global stores per element", "Each store of each thread counts, however wide it is."),
    ("sectors per request of global atomics", "A warp that adds 32 neighbouring cells touches 4 or "
     "5 sectors, and one that adds every second cell touches twice as many."),
    ("sectors per request", "A sector has 32 bytes. 32 neighbouring elements fill 4 sectors if an "
     "element has 4 bytes, 8 sectors if it has 8 bytes, and 16 sectors if it has 16 bytes. They "
     "touch one sector more if the first element does not start at a sector boundary."),
    ("wavefronts per request", "A request for 32 words in different banks takes 1 wavefront, one "
     "for 32 `float2` takes 2, and one for 32 `float4` takes 4; each conflict adds one."),
    ("wavefronts per needed wavefront", "This number is 1 if there are no bank conflicts, however "
     "wide the loads are."),
    ("sectors of global", "All requests together. An element of 4 bytes takes 1/8 sector if the "
     "threads of a warp access neighbouring elements."),
    ("lanes per request of shared loads", "In a tree, many threads load at once. If one thread "
     "adds up all values of a result, few do."),
    ("words of global stores per thread", "Counted in the kernel that reads the bodies, where "
     "only one lane of each warp or one thread of each block writes. A `float4` counts as four "
     "words."),
    ("words of shared loads", "A load of 16 bytes counts as four. Each cell of a block's map is "
     "read once, or once for each warp if each warp has its own map."),
    ("bodies per block with shared", "The average over all blocks of the kernel that makes the "
     "maps."),
    ("global atomics per thread", "Counted in the kernel that reads the bodies, where only one "
     "lane of each warp or one thread of each block writes."),
    ("bodies per block", "The average over the blocks that read bodies, in the kernel that reads "
     "most. The limit makes sure that several blocks share a large system."),
    ("shared atomics", "Each atomic operation of each thread in shared memory counts, even if it "
     "changes nothing."),
    ("global atomics", "Each atomic operation of each thread in global memory counts, even if it "
     "changes nothing."),
    ("shuffles per thread", "The average over the threads that read bodies, in the kernel that "
     "reads them. Every shuffle in which a thread takes part counts, including those of "
     "cooperative groups."),
    ("launches that load", "A later kernel must read what an earlier kernel has written."),
    ("loads and shuffles in the search", "Counted in the kernel that loads most. The cells around "
     "a body contain 65 to 105 bodies."),
    ("global atomics per shared load", "Every number that is added in global memory must first "
     "have been collected in shared memory."),
    ("loads and shuffles", "The loads of all threads from global, shared and constant memory, and "
     "every shuffle in which a thread takes part. If all threads of a warp load the same number, "
     "each of them counts."),
    ("loads and atomics before the search", "Counted in all kernels except the one that loads "
     "most, whether they run before or after it. Making lists requires more than one look at each "
     "position."),
    ("loads of one thread before the search", "The loads of the busiest thread in all kernels "
     "except the one that loads most, whether they run before or after it. No thread may make the "
     "lists alone."),
    ("loads of one thread that searches", "The loads of the busiest thread in the kernel that "
     "loads most."),
    ("loads of one thread", "The loads of the busiest thread from global and shared memory, and "
     "from variables that a kernel or a copy of device memory has filled. No thread may do the "
     "work of all others."),
    (PATTERNS, "The number of ways in which the addresses of a warp's lanes follow one another "
     "when rows or columns are loaded or stored, in the first block of a kernel. With padding, all "
     "rows are stored in the same way, which is 1 pattern. If columns are exchanged, the pattern "
     "differs from row to row."),
    (tiles.OTHERS_WORDS, "The share of such loads in the first block of a kernel. A tile in which "
     "each lane finds its own element serves no purpose."),
)


@dataclass(frozen=True)
class Checked:
    """The result of one problem: the numbers and, if one of them is wrong, why."""
    numbers: Numbers
    why: str = ""
    is_explained: bool = False  # one known mistake explains every wrong number


@dataclass(frozen=True)
class Problem:
    """Input and expected output of one call. Blobs are the bytes of the arrays on the device."""
    words: str  # for messages, such as "17 x 67 bodies"
    systems: int
    count: int
    blobs: tuple[bytes, ...]
    results: int  # bytes of the result
    expected: Any
    units: float  # number of bodies or elements; counts are divided by it


@dataclass(frozen=True)
class Part:
    """A part of the method, with the points for keeping all of its limits. A program without this
    part breaks at least one of these limits."""
    name: str
    points: int
    limits: tuple[Limit, ...]
    # If given, limits the differences between the problems that the family's nearby() returns.
    growth: Optional[Growth] = None
    # If given, the results must come from atomic operations in shared memory: at most this share
    # of them may be left if half of the operations change nothing (skipped_atomics.py).
    most_left: Optional[float] = None


@dataclass(frozen=True)
class Wrong:
    """A wrong solution: the edits that make it from the reference, and its kind, which determines
    how many points this solution may get (tests/assignments/bands.py)."""
    name: str
    why: str
    edits: tuple[tuple[str, str], ...]  # a text that the reference contains once, and the new text
    kind: str
    says: str = ""  # a text that the report must contain


@dataclass(frozen=True)
class Family:
    name: str
    module: ModuleType

    @property
    def title(self) -> str:
        return self.module.TITLE

    @property
    def axes(self) -> dict[str, tuple[str, ...]]:
        return self.module.AXES

    @functools.cached_property
    def variants(self) -> list[Variant]:
        made = (dict(zip(self.axes, values)) for values in itertools.product(*self.axes.values()))
        return [Variant(self, choice) for choice in made if self.module.is_variant(choice)]

    def variant_of(self, student: str, class_seed: str,
                   among: Optional[Sequence[Variant]] = None) -> Variant:
        variants = among or self.variants
        digest = hashlib.sha256(f"{class_seed}/{self.name}/{student}".encode()).digest()
        return variants[int.from_bytes(digest[:8], "big") % len(variants)]

    def variant(self, choice: dict[str, str]) -> Variant:
        found = next((one for one in self.variants if one.choice == choice), None)
        if found is None:
            words = ", ".join(f"{key} = {value}" for key, value in choice.items())
            raise ToolError(f"{self.name} has no variant with {words or 'no choices'}")
        return found


@dataclass(frozen=True)
class Variant:
    family: Family
    choice: dict[str, str] = field(hash=False)

    # The grader's rules and its workshop read these attributes. nbody_tools.labs.lab.Lab has them
    # too.
    file_name = FILE_NAME
    steps: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    # The grader recognises the method by counts, so it forbids only the words with which the host
    # could read the bodies without being counted.
    forbidden: tuple[str, ...] = ("__managed__", "cudaLaunchHostFunc", "cudaStreamAddCallback",
                                  "cudaGraphAddHostNode")

    @property
    def name(self) -> str:
        return "-".join((self.family.name, *self.choice.values()))

    @property
    def includes(self) -> set[str]:
        return {HEADER_NAME}

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.family.module.parts(self.choice)

    @property
    def limits(self) -> tuple[Limit, ...]:
        return tuple(limit for part in self.parts for limit in part.limits)

    @property
    def header(self) -> str:
        return self.family.module.header(self.choice)

    @property
    def glue(self) -> str:
        """Returns the C++ function that calls solve() with the arrays of a problem."""
        return self.family.module.glue(self.choice)

    @property
    def same_bits(self) -> bool:
        """True if every order of threads and blocks must give the same bits."""
        return self.family.module.same_bits(self.choice)

    def problem(self, systems: int, count: int, dice: random.Random) -> Problem:
        return self.family.module.problem(self.choice, systems, count, dice)

    def nearby(self, dice: random.Random) -> tuple[Problem, ...]:
        """Returns the problems to which Part.growth refers (nearby.py), or nothing if no part needs
        them."""
        grows = any(part.growth for part in self.parts)
        return self.family.module.nearby(self.choice, dice) if grows else ()

    @property
    def flags(self) -> tuple[str, ...]:
        """Returns additional flags of the compiler."""
        return getattr(self.family.module, "FLAGS", ())

    @property
    def right_sizes(self) -> Sequence[tuple[tuple[int, int], tuple[int, int]]]:
        """Returns the least and the largest numbers of systems and of bodies of each problem in the
        test `right`."""
        own = getattr(self.family.module, "right_sizes", None)
        return own(self.choice) if own else RIGHT

    @property
    def timed(self) -> tuple[int, int, int]:
        """Returns the numbers of systems, bodies and copies of the problem that is timed on a
        GPU."""
        return self.family.module.timed(self.choice)

    @property
    def time_limit(self) -> Optional[float]:
        """Returns the longest time for full points (see time_limit in times.py)."""
        return time_limit(self.name)

    def check(self, problem: Problem, result: bytes) -> Checked:
        return self.family.module.check(self.choice, problem, result)

    @property
    def starter(self) -> str:
        return (f"// {self.family.title}: README.md says what to do.\n"
                f"#include \"{HEADER_NAME}\"\n\n"
                f"{self.family.module.signature(self.choice)} {{\n"
                "  // TODO: your kernels, and their launches\n}\n")

    @property
    def reference(self) -> str:
        return self._filled("reference.cu.j2")

    @property
    def one_thread(self) -> str:
        """Returns a right program in which one thread does everything, as a beginner may write
        it."""
        return self._filled("one_thread.cu.j2")

    @property
    def statement(self) -> str:
        return self._filled("README.md.j2")

    @property
    def wrong(self) -> list[Wrong]:
        return wrong_programs(self.family.name).wrong(self.choice)

    def wrong_text(self, wrong: Wrong) -> str:
        try:
            return replaced(self.reference, wrong.edits, f"{self.name}, {wrong.name}")
        except EditError as error:
            raise ToolError(str(error)) from error

    @property
    def description(self) -> str:
        """Returns the text of assignment.toml, which tells the grader the variant."""
        lines = [f"family = \"{self.family.name}\"", "", "[choice]"]
        return "\n".join([*lines, *(f"{k} = \"{v}\"" for k, v in self.choice.items()), ""])

    def _filled(self, name: str) -> str:
        file = FOLDER / self.family.name / name
        if not file.is_file():
            raise ToolError(f"{file}: not found; only the teacher's repository has it")
        words = self.family.module.words(self.choice)
        return templates(self.family.name).get_template(name).render(
            **self.choice, **words, describe=describe, title=self.family.title,
            parts_of_method=self.parts, explained=explained,
            limits_text=" ".join(limit.of for limit in self.limits), points=points, headers=HEADERS,
            callable=CALLABLE, inspected=self.family.module.INSPECTED,
            least_left=LEAST_LEFT,
            largest=self.family.module.LARGEST, unit=self.family.module.UNIT,
            units="elements" if self.family.module.UNIT == "element" else "bodies",
            signature=self.family.module.signature(self.choice), header=self.header,
            time_limit=self.time_limit, timed=self.timed)


def explained(limit: Limit) -> str:
    """Returns a sentence for students on what the limit counts."""
    return next((why for of, why in EXPLAINED if limit.of.startswith(of)), "")


@functools.lru_cache
def templates(family: str) -> Any:
    import jinja2  # students' graders do not need it

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER / family, FOLDER]),
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True)


@functools.lru_cache
def wrong_programs(family: str) -> ModuleType:
    """Returns the module with a family's wrong programs. The module quotes the reference, so only
    the teacher's folder has it."""
    file = FOLDER / family / "wrong.py"
    if not file.is_file():
        raise ToolError(f"{file}: not found; only the teacher's repository has it")
    spec = importlib.util.spec_from_file_location(f"nbody_wrong_{family}", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_family(name: str) -> Family:
    if name not in FAMILIES:
        raise ToolError(f"'{name}' is not an assignment; choose from {', '.join(FAMILIES)}")
    return Family(name, importlib.import_module(f"nbody_tools.assignments.families.{name}"))


def families() -> Iterator[Family]:
    return map(find_family, FAMILIES)


@dataclass(frozen=True)
class Variants:
    """A table of variants: each student's variant, and the student to whom each name belongs."""
    of: dict[str, Variant]
    student: dict[str, str]


def read_variants(file: Path) -> Variants:
    """Reads the table of variants that `./nbody course teacher make` writes. Raises ToolError if a
    name occurs twice."""
    found = Variants({}, {})
    for line, row in numbered_rows(file):
        if row.pop(SURPLUS, ""):
            raise ToolError(f"{file}, line {line}: has more cells than the heading; in the column "
                            f"{NAMES_COLUMN}, semicolons separate the names")
        student, family = row.pop("student", ""), row.pop("family", "")
        if not student or not family:
            raise ToolError(f"{file}, line {line}: needs the columns student and family")
        for name in (student, *split_names(row.pop(NAMES_COLUMN, ""))):
            if name in found.student:
                raise ToolError(f"{file}, line {line}: the name {name} of {student} already occurs "
                                f"for {found.student[name]}; each name may occur once")
            found.student[name] = student
        found.of[student] = find_family(family).variant(row)
    return found


def numbered_rows(file: Path) -> list[tuple[int, dict[str, str]]]:
    """Returns the rows of a table, each with the number of its last line. Raises ToolError if there
    are none."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:  # spreadsheets write a BOM
            reader = csv.DictReader(stream, restkey=SURPLUS, restval="")
            rows = [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise ToolError(f"{file}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise ToolError(f"{file}: {error}") from error
    if not rows:
        raise ToolError(f"{file}: has no variants")
    return rows


def split_names(text: str) -> list[str]:
    """Returns the names in a cell or line, in which semicolons separate them."""
    return [name.strip() for name in text.split(";") if name.strip()]


def read_variant(file: Path) -> Variant:
    """Returns the variant that an assignment.toml specifies."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ToolError(f"{file}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ToolError(f"{file}: {error}") from error
    choice = table.get("choice")
    if not isinstance(table.get("family"), str) or not isinstance(choice, dict):
        raise ToolError(f"{file}: needs family = \"...\" and a table [choice]")
    return find_family(table["family"]).variant(choice)


