"""Checks a submission against the rules: first its text, then the symbols of its object file,
because a program can only call functions whose names it contains. course/labs/README.md lists
attacks that these checks do not prevent.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Collection, Mapping, Optional, Protocol, Sequence, Union

from nbody_tools.labs.building import PLAIN, TRACED, Workshop
from nbody_tools.labs.cpp_text import code_only, comments_in
from nbody_tools.labs.lab import Lab
from nbody_tools.labs.object_file import names_called, symbols


class Assignment(Protocol):
    """A task without a step, whose submissions include one header."""

    @property
    def forbidden(self) -> tuple[str, ...]: ...

    @property
    def includes(self) -> set[str]: ...


Submitted = Union[Lab, Assignment]  # the task for which a file was submitted
Symbols = Mapping[str, Sequence[tuple[str, str]]]  # for each variant, the (type, name) pairs
INCLUDES = {
    "cmath",
    "cstddef",
    "cstdint",
    "cstdio",
    "cfloat",
    "climits",
    "algorithm",
    "array",
    "limits",
    "numeric",
    "optional",
    "span",
    "tuple",
    "utility",
    "vector",
    "cuda_runtime.h",
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
}
HEADER_OF_ASSIGNMENT = "assignment.h"
DIRECTIVES = {
    "include",
    "define",
    "undef",
    "if",
    "ifdef",
    "ifndef",
    "elif",
    "else",
    "endif",
    "pragma",
}
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)[ \t]*(.*)$", re.M)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.M)
RESERVED = re.compile(r"__|_[A-Z]")
# Each forbidden pattern, and how to describe it to the student.
FORBIDDEN = (
    (r"\b_*asm_*\b", "inline assembly"),
    (
        r"\bhostcuda\w*|\bHOSTCUDA\w*|\b__HOSTCUDA\w*|"
        r"\b__CUDACC\w*|\b__CUDA_ARCH\w*|\b__SANITIZE\w*|\bNBODY_\w*",
        "a name by which a program could tell where it runs",
    ),
    (
        r"\b_*attribute_*\b|\b_*(?:gnu|clang)_*\b|\b__has_\w+|\b__builtin_\w+|\b_Pragma\b",
        "an extension of the compiler",
    ),
    # These functions hide accesses from the tracer, and nvcc does not know them.
    (
        r"\b__(?:atomic|sync)_\w+|\bstd\s*::\s*atomic\w*|(?<!cuda::)\batomic(?:_ref)?\s*<|"
        r"(?<!cuda::)\batomic_(?:ref|bool|flag|[us]?char|u?short|u?int|u?l?long|\w+_t)\b",
        "an atomic function that is not CUDA's",
    ),
    # These copy characters from any address. They belong to the C++ library, so the tracer does not
    # see what they load and store.
    (
        r"\bbasic_string\w*|\b(?:w|u8|u16|u32)?string(?:_view)?\b|\bchar_traits\b|"
        r"\b(?:to|from)_chars\b",
        "a string of the C++ library, whose copies are not counted",
    ),
    (
        r"\[\s*\[(?!\s*(?:maybe_unused|nodiscard|fallthrough|likely|unlikely)\s*\])",
        "this attribute",
    ),
    (
        r"\bnamespace\s*(?:\[[^\]]*\]\s*\]\s*)*"
        r"\b(?:nbody|std|hostcuda|cooperative_groups)\b(?!\s*;)",
        "this opens a namespace that is not yours",
    ),
    (
        r"\bnamespace\s+\w+\s*=(?!\s*(?:::\s*)?cooperative_groups\s*;)",
        "another name for a namespace",
    ),
    (r"\boperator\s+(?:new|delete)\b", "an allocator that takes the place of the library's"),
    (r"\bextern\b(?!\s+__shared__)", "extern, except for __shared__ memory"),
    (
        r"\bsimulate_float64\b|\brun_step\b|\bquery_device\b|\bcuda_failed\b",
        "a part of the project that no step calls",
    ),
    (r"##", "a name that the preprocessor puts together"),
    (r"\?\?[=/'()!<>-]|%:|<:|:>", "a digraph or trigraph"),
    (r"\\[uU][0-9a-fA-F]", "a character given by its number"),
    # Compilers disagree on whether characters outside ASCII belong to a name or a number.
    (r"[^\x00-\x7f]", "a character outside ASCII, except in comments and strings"),
)
MOST_OF_A_NAME = 300  # letters of a name to show; a type's name may be megabytes long
# Matches the beginning of literals whose ends only a lexer could find.
HARD_LITERALS = re.compile(r'\b(?:u8|u|U|L)?R"|\b(?:u8|u|U|L)\'')

# Without frexp and modf, which store through a pointer: the tracer sees no store in the C library.
MATHEMATICS = "|".join(
    (
        "abs",
        "acos",
        "asin",
        "atan",
        "atan2",
        "cbrt",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "fabs",
        "fdim",
        "floor",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "hypot",
        "ldexp",
        "log",
        "log10",
        "log1p",
        "log2",
        "lrint",
        "lround",
        "nearbyint",
        "pow",
        "remainder",
        "rint",
        "round",
        "rsqrt",
        "scalbn",
        "sin",
        "sincos",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "tgamma",
        "trunc",
    )
)
# Patterns that allow exceptions, strings, and parts of containers, threads and futures, but nothing
# that uses a file, a locale or a clock.
OF_STD = "|".join(
    (
        r"__throw_\w+",
        r"nothrow$",
        r"terminate\(",
        r"(current|rethrow|uncaught)_exceptions?\(",
        r"__exception_ptr::",
        r"~?(exception|bad_\w+|(logic|runtime|system|domain|length|range|"
        r"overflow|underflow|future)_error|"
        r"out_of_range|invalid_argument|nested_exception)::",
        r"(_V2::)?\w+_category\(",
        r"error_(code|category)::",
        r"__future_base::",
        r"__once_call",
        r"__atomic_futex\w+::",
        r"thread::(_State|_M_start_thread|join|hardware_con)",
        r"(_V2::)?condition_variable\w*::",
        r"_Rb_tree_\w+\(",
        r"_Hash_bytes\(",
        r"__detail::(_List_node_base|_Prime)",
        r"(__cxx11::)?basic_string<",
        r"(__cxx11::)?to_string\(",
        r"(to|from)_chars\(",
    )
)
# Allowed names, as nm -C prints them. This project's names are allowed only if the step uses them
# (step_uses.py). The names that a step uses include cuda_failed and run_step, because headers call
# these functions. A submission's text must not contain the two names.
ALLOWED = re.compile("|".join((
    r"_GLOBAL_OFFSET_TABLE_$|_Unwind_Resume$|__cxa_\w+$|__gxx_personality_v0$|__dso_handle$",
    r"__libc_single_threaded$|__once_proxy$|pthread_once$|__stack_chk_fail$|__assert_fail$",
    r"__tls_get_addr$|__once_call|__errno_location$",
    r"(mem(cpy|move|set|cmp)|str(len|cmp)|printf|puts|putchar|vprintf)$",
    rf"(__)?({MATHEMATICS})[fl]?$", r"(GOMP|omp)_\w+$",
    r"(thread|block)Idx$|(block|grid)Dim$|warpSize$",
    r"cuda\w+(<.*>)?\(|cublas\w+\(|hostcuda::|(non-virtual thunk to |void |bool |int |unsigned int "
    r")?hostcuda::",
    r"operator (new|delete)",
    r"(typeinfo|typeinfo name|vtable|VTT) for (std|__cxxabiv1|__gnu_cxx)::",
    rf"(?!.*\b(exit|abort|detach)\b)([\w:<>*&, ]+ )?std::({OF_STD})",
)))


def broken_by_text(lab: Submitted, text: str) -> Optional[str]:
    """Returns a message about the first rule that the submission's text breaks, or None."""
    spliced = re.sub(r"\\[ \t]*\r?\n", "", text)
    if HARD_LITERALS.search(spliced):
        return "raw strings, and characters with a prefix, are not allowed"
    code = code_only(spliced)
    if broken := broken_by_directives(lab, code):
        return broken
    code = INCLUDE.sub("", code)
    of_lab = ((rf"\b(?:{names})", "the task's README says why") for names in lab.forbidden)
    for pattern, what in (*FORBIDDEN, *of_lab):
        if found := re.search(pattern, code):
            word = found[0] if found[0].isascii() else f"U+{ord(found[0]):04X}"
            return (
                f"line {code.count(chr(10), 0, found.start()) + 1}: '{word}' is not allowed: {what}"
            )
    if isinstance(lab, Lab):
        copied = set(lab.fingerprints).intersection(comments_in(text))
        if copied:
            return (f"it has the comment \"{sorted(copied)[0]}\" from {lab.step}/nbody.cu: the "
                    "step itself is not a solution of its lab")
    return None


def broken_by_directives(lab: Submitted, code: str) -> Optional[str]:
    allowed = allowed_includes(lab)
    defined = ""  # the first macro definition, with its line
    for line, directive, rest in directives_of(code):
        if directive not in DIRECTIVES:
            return f"line {line}: #{directive} is not allowed"
        if directive == "include" and included(rest) not in allowed:
            own = "what its step includes" if isinstance(lab, Lab) else HEADER_OF_ASSIGNMENT
            return (f"line {line}: #include {rest.strip()} is not allowed; a submission may "
                    f"include {own}, and " + ", ".join(sorted(INCLUDES)))
        if directive == "include" and defined:
            return (
                f"line {line}: #include after {defined}, and the macro would change what the "
                "header says"
            )
        if directive == "pragma" and not re.match(r"(unroll|once)\b", rest):
            return f"line {line}: the only pragma allowed is unroll"
        if directive in ("define", "undef"):
            name = re.split(r"\W", rest, maxsplit=1)[0]
            if RESERVED.match(name):
                return (
                    f"line {line}: #{directive} {name} is not allowed: the name belongs to the "
                    "compiler"
                )
            defined = defined or f"#{directive} {name} in line {line}"
    return None


def allowed_includes(lab: Submitted) -> set[str]:
    if not isinstance(lab, Lab):
        return INCLUDES | lab.includes
    return INCLUDES.union(
        *(includes_of(one) for one in (lab.step_text, lab.starter))
    )


def directives_of(code: str) -> list[tuple[int, str, str]]:
    """Returns (line, name, rest) for each directive in the result of code_only()."""
    return [(code.count("\n", 0, match.start()) + 1, match[1] or match[2][:20], match[2])
            for match in DIRECTIVE.finditer(code)]


def included(rest: str) -> str:
    match = re.match(r'\s*(?:<([^>]+)>|"([^"]+)")\s*(?://.*)?$', rest)
    return (match[1] or match[2]) if match else ""


def includes_of(text: str) -> list[str]:
    return [
        included(rest)
        for _, directive, rest in directives_of(code_only(text))
        if directive == "include"
    ]


def broken_by_files(workshop: Workshop, known: Collection[str]) -> Optional[str]:
    """Returns a message if the preprocessor opened a file that is not in `known`, otherwise None.
    `known` contains the files that the allowed headers open."""
    others = sorted(workshop.opened(PLAIN) - set(known))
    if not others:
        return None
    return f"it includes {Path(others[0]).name}, which none of the allowed headers includes"


def broken_by_symbols(workshop: Workshop, of_step: Collection[str]) -> Optional[str]:
    """Returns a message if the compiled submission calls a forbidden function or replaces a
    function of the libraries; otherwise None. `of_step` contains the functions of this
    project that the lab's step calls."""
    own = symbols_of_both(workshop)
    if broken := broken_by_calls(own, of_step):
        return broken
    if not any(name.startswith("nbody::run_step(") for name in names_called(own[PLAIN])):
        return "its main() does not call nbody::step_main()"
    return broken_by_definitions(workshop, own)


def symbols_of_both(workshop: Workshop) -> dict[str, list[tuple[str, str]]]:
    """Returns the symbols of the plain and of the traced object file."""
    return {
        variant: symbols(workshop, [workshop.made / f"{variant}.o"]) for variant in (PLAIN, TRACED)
    }


def broken_by_calls(own: Symbols, of_step: Collection[str]) -> Optional[str]:
    for name in names_called(own[PLAIN]):
        if name not in of_step and not ALLOWED.match(name):
            return f"it calls '{name[:MOST_OF_A_NAME]}', which no lab needs"
    return None


def broken_by_definitions(workshop: Workshop, own: Symbols) -> Optional[str]:
    # Includes the tracer's libraries, because redefining their functions would hide accesses from
    # the tracer.
    theirs = {
        name
        for kind, name in symbols(workshop, workshop.library_files(), "--defined-only", "-g")
        if kind in "TDBR"
    }
    for kind, name in (*own[PLAIN], *own[TRACED]):
        if kind in "TDBRVWu" and name in theirs:
            return f"it defines '{name[:MOST_OF_A_NAME]}', which the libraries define"
    return None
