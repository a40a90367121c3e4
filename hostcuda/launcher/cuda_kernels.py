"""Registers the kernels of a module (modules.py): after each kernel, and after each explicit
instantiation of a kernel that is a template, inserts an object that tells the library the kernel's
name and parameters (include/hostcuda/driver/kernel.h)."""
from cuda_launch import kernel_expression_start
from cuda_tokens import (OPENING, RewriteError, at, join, neighbour, parenthesised, statement_begin,
                         with_depth)
from cuda_variables import without_marks

# Words before a kernel's name that have a list in parentheses.
WITH_LIST = ("__attribute__", "__launch_bounds__", "__cluster_dims__", "alignas")


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
        elif skips:
            angles += (text == "<") - (text == ">")
        if not skips and i > opening and tokens[i].kind != "directive":
            kept.append(tokens[i])
    raise RewriteError("kernel without )", tokens[opening])


def is_template(tokens, i, output):
    """True if the declaration with the mark at i is a template, not an instantiation of one."""
    begin = statement_begin(output)
    first = neighbour(output, begin - 1, 1)
    after = at(output, neighbour(output, first, 1))
    return (at(output, first), after) in (("template", "<"), ("extern", "template"))


def body_end(tokens, i):
    """Returns the index of the } that ends the body whose { is at i."""
    for end, _, depth in with_depth(tokens, i):
        if depth == 0:
            return end
    raise RewriteError("kernel without }", tokens[i])


def kernel_registration(tokens, i, output, number):
    """Returns (index, text): the text registers the kernel whose mark is at i, and must be inserted
    after the token at the index. Returns (None, "") if nothing must be registered: a declaration or
    a template."""
    words = [*output[statement_begin(output):], *tokens[i:i + 3]]
    if any(word in ("friend", "typedef", "using") for word in map(lambda word: word.text, words)):
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
    template = is_template(tokens, i, output)
    if at(tokens, end) == "{":
        end = body_end(tokens, end)
    elif not name.endswith(">"):
        return None, ""
    if template or end >= len(tokens):
        return None, ""
    quoted = name.replace('"', '\\"')
    return end, (f" [[maybe_unused]] static const ::hostcuda::ModuleKernel hostcuda_module_{number}("
                 f'static_cast<void (*)({parameters})>(&{name}), "{quoted}");')
