"""Finds the __device__, __constant__ and __managed__ variables at namespace scope and registers
them with the library, because host code must not use the addresses of the first two, and the third
are managed memory. In a module (modules.py), also registers the kernels with their names and
parameters (include/hostcuda/driver/kernel.h).

The preprocessor replaces __device__ by DEVICE, __constant__ by CONSTANT, and __managed__ by MANAGED
(include/hostcuda/types.h); `without_marks` removes these marks. In a module, it also puts KERNEL
before each kernel.
"""
import re

from cuda_launch import kernel_expression_start
from cuda_shared import ALIGNAS, ATTRIBUTE, declared_names
from cuda_tokens import (
    RewriteError,
    at,
    join,
    neighbour,
    parenthesised,
    statement_begin,
    statement_end,
    tokenize,
    with_depth,
)

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
    declaration = ALIGNAS.sub(" ", ATTRIBUTE.sub(" ", without_marks(words)))
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
    is_managed = MANAGED in join(output[statement_begin(output):] + tokens[i:end])
    kind = "ManagedVariable" if is_managed else "DeviceVariable"
    return end, "".join(
        f" [[maybe_unused]] static const ::hostcuda::{kind} hostcuda_variable_{name}("
        f'&{name}, sizeof {name}, "{name}"{", true" if is_unset else ""});' for name in names)


# Words before a kernel's name that have a list in parentheses.
WITH_LIST = ("__attribute__", "__launch_bounds__", "__cluster_dims__", "alignas")


def opens_template(tokens, i):
    """True if the token at i is a < that follows a name, and so probably begins template
    arguments."""
    before = neighbour(tokens, i, -1)
    is_shift = at(tokens, i + 1) == "<" or at(tokens, i - 1) == "<"
    return at(tokens, i) == "<" and tokens[before].kind == "name" and not is_shift


def parameters_of(tokens, opening):
    """Returns (index after the list of parameters whose ( is at `opening`, its text without default
    arguments)."""
    kept, skips, angles = [], False, 0
    for i, text, depth in with_depth(tokens, opening):
        if depth == 0:
            return i + 1, " ".join(without_marks(join(kept)).split())
        if depth == 1 and text == "=":
            skips, angles = True, 0
        elif depth == 1 and text == "," and angles <= 0:
            skips = False
        elif skips and depth == 1:
            angles += opens_template(tokens, i)
            angles -= text == ">" and angles > 0
        if not skips and i > opening and tokens[i].kind != "directive":
            kept.append(tokens[i])
    raise RewriteError("kernel without )", tokens[opening])


TEMPLATE, INSTANTIATION = "template", "instantiation"


def kind_of_declaration(output):
    """Tells whether the declaration that begins at the end of `output` is a template or an explicit
    instantiation of one. A specialisation (template <>) is neither."""
    first = neighbour(output, statement_begin(output) - 1, 1)
    second = neighbour(output, first, 1)
    words = at(output, first), at(output, second), at(output, neighbour(output, second, 1))
    if words[0] == "template" and words[1] != "<":
        return INSTANTIATION
    is_template = words[:2] == ("template", "<") and words[2] != ">"
    return TEMPLATE if is_template or words[:2] == ("extern", "template") else ""


def body_end(tokens, i):
    """Returns the index of the } that ends the body whose { is at i."""
    for end, _, depth in with_depth(tokens, i):
        if depth == 0:
            return end
    raise RewriteError("kernel without }", tokens[i])


def kernel_registration(tokens, i, output, number):
    """Like registration(), for the kernel whose mark is at i. Registers neither a declaration nor a
    template, but a specialisation or an explicit instantiation of a template. number: makes the
    object's name unique."""
    if any(word == "friend" for word in output[statement_begin(output):]):
        return None, ""
    at_name = neighbour(tokens, i, 1)
    while at_name < len(tokens) and at(tokens, at_name) != "(":
        if at(tokens, at_name) in WITH_LIST:
            at_name = parenthesised(tokens, at_name)[0] - 1
        elif at(tokens, at_name) in (";", "{", "}"):
            return None, ""
        at_name = neighbour(tokens, at_name, 1)
    last = neighbour(tokens, at_name, -1)
    name = " ".join(join(tokens[kernel_expression_start(tokens, last):last + 1]).split())
    end, parameters = parameters_of(tokens, at_name)
    while end < len(tokens) and at(tokens, end) not in (";", "{"):
        end += 1
    kind = kind_of_declaration(output)
    if at(tokens, end) == "{":
        end = body_end(tokens, end)
    elif kind != INSTANTIATION:
        return None, ""
    if kind == TEMPLATE or end >= len(tokens):
        return None, ""
    quoted = name.replace('"', '\\"')
    return end, (
        f" [[maybe_unused]] static const ::hostcuda::ModuleKernel hostcuda_module_{number}("
        f'static_cast<void (*)({parameters})>(&{name}), "{quoted}");')
