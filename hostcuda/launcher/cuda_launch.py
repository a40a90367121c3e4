"""Rewrites launches: <<<>>>, calls of functions that launch a kernel, and kernels passed as void*.
Some functions have an argument `rewrite`: a function that rewrites the tokens within a launch.
"""
import re

from cuda_tokens import (
    RewriteError,
    Token,
    angle_opening_of,
    argument_place,
    at,
    is_callee,
    is_triple,
    join,
    line_breaks,
    neighbour,
    opening_of,
    with_depth,
)

# Functions that launch a kernel, with the index of the argument that is the kernel.
KERNEL_ARGUMENT = {"cudaLaunchKernel": 0, "cudaLaunchCooperativeKernel": 0, "cudaLaunchKernelEx": 1,
                   "cudaLaunchKernelExC": 1, "cudaOccupancyMaxActiveClusters": 1}
TYPELESS_KERNELS = re.compile(r"\bcuda(?:Kernel|Graph)NodeParams\b|\bcudaLaunch\w*Kernel")
CAST_TO_VOID = re.compile(
    r"^\s*(?:\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)|"
    r"(?:reinterpret|static)_cast\s*<\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*>)"
)


def kernel_expression_start(tokens, i):
    """Returns the index of the first token of the postfix expression whose last token is at i."""
    while True:
        text = at(tokens, i)
        if text == ">":
            i = neighbour(tokens, angle_opening_of(tokens, i), -1)
            continue
        if text in (")", "]"):  # for (*pointer)<<<>>> and table[k]<<<>>>
            i = opening_of(tokens, i)
            before = neighbour(tokens, i, -1)
            if text == "]" or at(tokens, before) in (")", "]") or is_callee(tokens, before):
                i = before
                continue
        elif i < 0 or tokens[i].kind != "name":
            raise RewriteError("kernel launch: no kernel name before <<<")
        before = neighbour(tokens, i, -1)
        if at(tokens, before) == "template":
            before = neighbour(tokens, before, -1)
        if at(tokens, before) in ("::", ".", "->"):
            outer = neighbour(tokens, before, -1)
            if at(tokens, outer) not in (">", ")", "]") and not is_callee(
                tokens, outer
            ):  # for ::kernel
                return before
            i = outer
            continue
        return i


def launch_end(tokens, begin, count_angles):
    """Returns the indices of the first and last > of the >>> that ends the configuration of a
    launch, or None. The configuration starts at `begin`.

    An argument such as f(A<B<C<int>>>(x)) also contains >>>(. If count_angles is True, a name
    followed by < begins template arguments, and the next > ends them. A comparison, a < b, looks
    the same, so if this function finds no end, the caller tries again without count_angles.
    """
    angles = 0
    for i, text, depth in with_depth(tokens, begin):
        if depth < 0:
            return None
        if text == "<" and count_angles:
            before = neighbour(tokens, i, -1)
            shift = at(tokens, i + 1) == "<" or at(tokens, i - 1) == "<"
            if before >= begin and tokens[before].kind == "name" and not shift:
                angles += 1
        elif text == ">" and angles > 0:
            angles -= 1
        elif text == ">" and depth == 0:
            last = is_triple(tokens, i, ">")
            if last is not None and at(tokens, neighbour(tokens, last, 1)) == "(":
                return i, last
        elif text == ";" and depth == 0:
            return None
    return None


def rewrite_launch(tokens, i, after_opening, output, rewrite):
    """Rewrites the launch whose <<< is at tokens[i]; the kernel's name is at the end of output.
    Returns the index after >>>.
    """
    last = neighbour(output, len(output), -1)
    start = kernel_expression_start(output, last)
    end = launch_end(tokens, after_opening, True) or launch_end(tokens, after_opening, False)
    if end is None:
        raise RewriteError("kernel launch: <<< without >>>(", tokens[i])
    configuration = join(rewrite(tokens[after_opening:end[0]]))
    dropped = line_breaks(output[start:])
    kernel = " ".join(join(t for t in output[start:last + 1] if t.kind != "directive").split())
    quoted = kernel.replace("\\", "\\\\").replace('"', '\\"')
    del output[start:]
    output.append(Token("rewritten", (
        f"::hostcuda::launch([=](const auto&... hostcuda_a) {{ {kernel}(hostcuda_a...); }}, "
        f"[=](auto hostcuda_t) -> decltype(::hostcuda::exact<decltype(hostcuda_t)>({kernel})) "
        f"{{ return {kernel}; }}, "
        f'::hostcuda::Site{{"{quoted}", __builtin_FILE(), __builtin_LINE()}}, '
        f"{dropped}{configuration})")))
    return end[1] + 1


def rewrite_launch_function(tokens, i, output, scopes, rewrite):
    """Rewrites cudaLaunchKernel(k, ...) so that it passes the type and the name of the kernel k."""
    opening = neighbour(tokens, i, 1)
    before = neighbour(tokens, i, -1)
    if at(tokens, opening) != "(" or is_callee(tokens, before) or at(tokens, before) in (".", "->"):
        return None
    begin, end = argument_place(tokens, opening, KERNEL_ARGUMENT[at(tokens, i)])
    text = join(rewrite(tokens[begin:end]))
    kernel = CAST_TO_VOID.sub("", text)
    name = " ".join(kernel.split()).strip("(&)").replace("\\", "\\\\").replace('"', '\\"')
    for token in tokens[i:begin]:
        scopes.pass_by(token, output)
        output.append(token)
    output.append(Token("rewritten", f'::hostcuda::name_kernel({kernel}, "{name}")'))
    return end


def rewrite_cast(tokens, i, output):
    """Replaces (void*)k and reinterpret_cast<void*>(k) so that the kernel k can be launched later.
    Returns the index after the expression, or None if there is no such cast at i."""
    match = CAST_TO_VOID.match(join(tokens[i:i + 12]))
    if not match:
        return None
    length, end = 0, i
    while length < match.end():
        length += len(tokens[end].text)
        end += 1
    name = neighbour(tokens, end - 1, 1)
    in_parentheses = at(tokens, i) != "("  # reinterpret_cast<void*>(k)
    if in_parentheses:
        if at(tokens, name) != "(":
            return None
        name = neighbour(tokens, name, 1)
    address = "&" if at(tokens, name) == "&" else ""
    if address:
        name = neighbour(tokens, name, 1)
    after = neighbour(tokens, name, 1)
    ends = (")",) if in_parentheses else (",", ";", ")", "}")
    if name >= len(tokens) or tokens[name].kind != "name" or at(tokens, after) not in ends:
        return None
    if in_parentheses:
        after += 1
    text = address + tokens[name].text
    output.append(
        Token("rewritten", f'{line_breaks(tokens[i:name])}::hostcuda::erased({text}, '
                           f'"{text.lstrip("&")}")')
    )
    return after
