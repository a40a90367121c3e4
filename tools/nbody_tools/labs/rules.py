"""What a submission may contain. Its text is looked at first, then the symbols of its object file: what it
cannot name it cannot call. course/labs/README.md says what this does not guard against.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Collection, Optional, Sequence

from nbody_tools.labs.cpp_text import code_only, comments_in
from nbody_tools.labs.lab import Lab
from nbody_tools.labs.object_file import names_called, symbols

INCLUDES = {"cmath", "cstddef", "cstdint", "cstdio", "cfloat", "climits", "algorithm", "array", "limits", "numeric",
            "optional", "span", "tuple", "utility", "vector", "cuda_runtime.h", "cooperative_groups.h",
            "cooperative_groups/reduce.h"}
DIRECTIVES = {"include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "pragma"}
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)[ \t]*(.*)$", re.M)
# What each is for, in words for the student.
FORBIDDEN = (
    (r"\b_*asm_*\b", "inline assembly"),
    (r"\bhostcuda\w*|\bHOSTCUDA\w*|\b__HOSTCUDA\w*|\b__CUDACC\w*|\b__CUDA_ARCH\w*|\b__SANITIZE\w*|\bNBODY_\w*",
     "a name by which a program could tell where it runs"),
    (r"\b_*attribute_*\b|\bgnu\s*::|\b__has_\w+|\b__builtin_\w+|\b_Pragma\b", "an extension of the compiler"),
    (r"\bnamespace\s+(?:nbody|std|hostcuda|cooperative_groups)\b(?!\s*;)", "a namespace that is not yours, opened"),
    (r"\bextern\b(?!\s+__shared__)", "extern, except for __shared__ memory"),
    (r"\bsimulate_float64\b|\brun_step\b|\bquery_device\b|\bcuda_failed\b", "a part of the project that no step calls"),
    (r"##", "a name that is put together by the preprocessor"),
    (r"\?\?[=/'()!<>-]|%:|<:|:>", "a digraph or trigraph"),
    (r"\\[uU][0-9a-fA-F]", "a character by its number"),
)
# They would need a lexer.
HARD_LITERALS = re.compile(r'\b(?:u8|u|U|L)?R"|\b(?:u8|u|U|L)\'')

MATHEMATICS = "|".join((
    "abs", "acos", "asin", "atan", "atan2", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ldexp", "log", "log10", "log1p",
    "log2", "lrint", "lround", "modf", "nearbyint", "pow", "remainder", "rint", "round", "rsqrt", "scalbn", "sin",
    "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc"))
# Names as nm -C prints them. Those of this project are its step's (step_names.py): cuda_failed and run_step
# come with the headers; the text may not name them.
ALLOWED = re.compile("|".join((
    r"_GLOBAL_OFFSET_TABLE_$|_Unwind_Resume$|__cxa_\w+$|__gxx_personality_v0$|__dso_handle$|__libc_single_threaded$",
    r"__once_proxy$|pthread_once$|__stack_chk_fail$|__assert_fail$|__tls_get_addr$|__once_call|__errno_location$",
    r"(mem(cpy|move|set|cmp)|str(len|cmp)|printf|puts|putchar|vprintf)$",
    rf"(__)?({MATHEMATICS})[fl]?$", r"(GOMP|omp)_\w+$",
    r"(thread|block)Idx$|(block|grid)Dim$|warpSize$",
    r"cuda\w+(<.*>)?\(|cublas\w+\(|hostcuda::|(non-virtual thunk to |void |bool |int |unsigned int )?hostcuda::",
    r"operator (new|delete)",
    r"(typeinfo|typeinfo name|vtable|VTT) for (std|__cxxabiv1|__gnu_cxx)::",
    r"(?!.*\b(basic_[io]?f?stream|basic_filebuf|filesystem|cout|cerr|cin|random_device|exit|abort|detach)\b)"
    r"([\w:<>*& ]+ )?(std|__gnu_cxx)::",
)))


def broken_by_text(lab: Lab, text: str) -> Optional[str]:
    """The first rule that the text of a submission breaks."""
    spliced = re.sub(r"\\[ \t]*\r?\n", "", text)
    if HARD_LITERALS.search(spliced):
        return "raw strings, and characters with a prefix, are not allowed"
    allowed = INCLUDES.union(*(includes_of(one) for one in (lab.source.read_text(encoding="utf-8"), lab.starter)))
    for line, directive, rest in directives_of(spliced):
        if directive not in DIRECTIVES:
            return f"line {line}: #{directive} is not allowed"
        if directive == "include" and included(rest) not in allowed:
            return (f"line {line}: #include {rest.strip()} is not allowed; a submission may include what its step "
                    "includes, and " + ", ".join(sorted(INCLUDES)))
        if directive == "pragma" and not re.match(r"(unroll|once)\b", rest):
            return f"line {line}: of pragmas only unroll is allowed"
    code = code_only("\n".join("" if re.match(r"[ \t]*#[ \t]*include\b", line) else line
                               for line in spliced.split("\n")))
    for pattern, what in FORBIDDEN:
        if found := re.search(pattern, code):
            return f"line {code.count(chr(10), 0, found.start()) + 1}: '{found[0]}' is not allowed: {what}"
    copied = set(lab.fingerprints).intersection(comments_in(text))
    if copied:
        return (f"it has the comment \"{sorted(copied)[0]}\" of {lab.step}/nbody.cu: the step itself is no solution "
                "of its lab")
    return None


def directives_of(text: str) -> list[tuple[int, str, str]]:
    """(line, name, rest). Comments in them are blanks; the rest of an #include is as it stands."""
    without = "\n".join(line if re.match(r"[ \t]*#[ \t]*include\b", line) else code
                        for line, code in zip(text.split("\n"), code_only(text).split("\n")))
    return [(without.count("\n", 0, match.start()) + 1, match[1] or match[2][:20], match[2])
            for match in DIRECTIVE.finditer(without)]


def included(rest: str) -> str:
    match = re.match(r'\s*(?:<([^>]+)>|"([^"]+)")\s*(?://.*)?$', rest)
    return (match[1] or match[2]) if match else ""


def includes_of(text: str) -> list[str]:
    return [included(rest) for _, directive, rest in directives_of(text) if directive == "include"]


def broken_by_symbols(object_file: Path, libraries: Sequence[Path], of_step: Collection[str]) -> Optional[str]:
    """The first rule that what the compiler made breaks: it calls what it may not, or takes the place of a
    function of the libraries. `of_step` are the names of this project that its step calls."""
    own = symbols([object_file])
    called = names_called(object_file)
    for name in called:
        if name not in of_step and not ALLOWED.match(name):
            return f"it calls '{name}', which no lab needs"
    if not any(name.startswith("nbody::run_step(") for name in called):
        return "its main() does not call nbody::step_main()"
    theirs = {name for kind, name in symbols(libraries, "--defined-only", "-g") if kind in "TDBR"}
    for kind, name in own:
        if kind in "TDBRVW" and name in theirs:
            return f"it defines '{name}', which the libraries have"
    return None
