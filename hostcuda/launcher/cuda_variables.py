"""Finds the __device__ and __constant__ variables at namespace scope and registers them with the
library, because host code must not use their addresses.

The preprocessor replaces __device__ by DEVICE, __constant__ by CONSTANT, and __managed__ by MANAGED
(include/hostcuda/types.h); `without_marks` removes these marks. In a module, it also puts KERNEL
before each kernel, which cuda_kernels.py registers.
"""
import re

from cuda_shared import ALIGNAS, ATTRIBUTE, declared_names
from cuda_tokens import RewriteError, at, join, neighbour, statement_begin, statement_end, tokenize

DEVICE, CONSTANT, MANAGED = "hostcuda_device_", "hostcuda_constant_", "hostcuda_managed_"
KERNEL = "hostcuda_kernel_"
MARK = re.compile(rf"\b(?:{DEVICE}|{CONSTANT}|{MANAGED}|{KERNEL})\b")
# A declaration with one of these words declares no variable that must be registered. (Host code may
# read a constexpr variable, for example.)
NO_VARIABLE = {
    "constexpr",
    "extern",
    "template",
    "struct",
    "class",
    "union",
    "enum",
    "using",
    "typedef",
    "friend",
    "operator",
    MANAGED,
}


def without_marks(text):
    return MARK.sub("", text)


def is_variable(declaration):
    """True if the declaration declares a variable, not a function or a class member. A variable has
    no parenthesis before its = or its end."""
    tokens, angles = tokenize(declaration), 0
    for i, token in enumerate(tokens):
        text = at(tokens, i)
        angles += (text == "<") - (text == ">")
        if text in ("=", "[", "{", ";"):
            return True
        if (text in NO_VARIABLE and token.kind == "name") or (text == "(" and angles == 0):
            return False
        if text == "::" and at(tokens, neighbour(tokens, neighbour(tokens, i, 1), 1)) in (
            "=",
            "[",
            "{",
            ";",
            ",",
        ):
            return False  # the declaration defines a class member
    return True


def registration(tokens, i, output):
    """Returns (index, text): the text registers the variable whose mark is at i, and must be
    inserted after the ; at the index. Returns (None, "") if the mark belongs to no variable."""
    words = join(output[statement_begin(output):]) + " " + join(tokens[i + 1:i + 200])
    words = MARK.sub(lambda mark: mark[0] if mark[0] == MANAGED else "", words)
    declaration = ALIGNAS.sub(" ", ATTRIBUTE.sub(" ", words))
    if not is_variable(declaration):
        return None, ""
    end = statement_end(tokens, i)
    whole = ATTRIBUTE.sub(" ", without_marks(join(tokens[i + 1:end])))
    if re.search(r"\bconst\b", words.partition(";")[0]) and "[" not in whole:
        return None, ""
    try:
        names = declared_names(whole)
    except RewriteError:
        return None, ""
    # A kernel cannot write to a constant, so host code must set a constant without an initialiser.
    is_unset = CONSTANT in join(output[statement_begin(output):] + tokens[i:end])
    is_unset = is_unset and not re.search(r"[={]", whole)
    return end, "".join(
        f" [[maybe_unused]] static const ::hostcuda::DeviceVariable hostcuda_variable_{name}("
        f'&{name}, sizeof {name}, "{name}"{", true" if is_unset else ""});' for name in names)
