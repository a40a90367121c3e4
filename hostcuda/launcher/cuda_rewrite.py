"""Rewrites preprocessed CUDA C++ to plain C++: launches, shared variables, `#pragma unroll`.

Works on tokens, not on a syntax tree: it needs to know only where the expression before <<< begins,
where >>> ends, and what a shared declaration declares. What the results mean is explained in
include/hostcuda/launch.h. The number of lines never changes.
"""
import re

TOKEN = re.compile(r'''
  (?P<text>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=delimiter)"
          |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
          |(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
 |(?P<directive>^[ \t]*\#[^\n]*$)
 |(?P<name>[A-Za-z_$]\w*)
 |(?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
 |(?P<space>\s+)
 |(?P<operator>::|->|[^\w\s])''', re.X | re.M)

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {")": "(", "]": "[", "}": "{"}
BLANK = ("space", "directive")
NOT_A_CALLEE = ("return", "else", "do", "case", "co_return", "throw")
MAYBE_CUDA = re.compile(r"<<|__shared__|__noinline__|pragma\s+unroll")


class RewriteError(Exception):
    pass


class Token:
    __slots__ = ("kind", "text")

    def __init__(self, kind, text):
        self.kind, self.text = kind, text

    def __eq__(self, text):
        return self.kind != "text" and self.text == text


def tokenize(source):
    tokens = []
    for match in TOKEN.finditer(source):
        kind = match.lastgroup if match.lastgroup != "delimiter" else "text"
        tokens.append(Token(kind, match.group()))
    return tokens


def join(tokens):
    return "".join(t.text for t in tokens)


def neighbour(tokens, i, step):
    """Index of the next significant token in the direction of step; may be out of range."""
    i += step
    while 0 <= i < len(tokens) and tokens[i].kind in BLANK:
        i += step
    return i


def at(tokens, i):
    return tokens[i].text if 0 <= i < len(tokens) and tokens[i].kind != "text" else ""


def opening_of(tokens, i):
    """Index of the bracket that tokens[i] closes."""
    close, depth = tokens[i].text, 0
    while i >= 0:
        if tokens[i] == close:
            depth += 1
        elif tokens[i] == OPENING[close]:
            depth -= 1
            if depth == 0:
                return i
        i -= 1
    raise RewriteError(f"unbalanced {close}")


def angle_opening_of(tokens, i):
    """Index of the < that the > at i closes, in a template argument list."""
    depth = 0
    while i >= 0:
        text = at(tokens, i)
        if text in OPENING:
            i = opening_of(tokens, i)
        elif text == ">":
            depth += 1
        elif text == "<":
            depth -= 1
            if depth == 0:
                return i
        i -= 1
    raise RewriteError("template arguments before <<< have no beginning")


def kernel_expression_start(tokens, i):
    """Index of the first token of the postfix expression that ends at i."""
    while True:
        text = at(tokens, i)
        if text == ">":
            i = neighbour(tokens, angle_opening_of(tokens, i), -1)
            continue
        if text in (")", "]"):  # (*pointer)<<<>>>, table[k]<<<>>>
            i = opening_of(tokens, i)
            before = neighbour(tokens, i, -1)
            callable_before = before >= 0 and (at(tokens, before) in (")", "]") or (
                tokens[before].kind == "name" and at(tokens, before) not in NOT_A_CALLEE))
            if text == "]" or callable_before:
                i = before
                continue
        elif i < 0 or tokens[i].kind != "name":
            raise RewriteError("no kernel name before <<<")
        before = neighbour(tokens, i, -1)
        if at(tokens, before) == "template":
            before = neighbour(tokens, before, -1)
        if at(tokens, before) in ("::", ".", "->"):
            outer = neighbour(tokens, before, -1)
            qualifies = outer >= 0 and (
                at(tokens, outer) in (">", ")", "]") or
                (tokens[outer].kind == "name" and at(tokens, outer) not in NOT_A_CALLEE))
            if not qualifies:  # ::kernel
                return before
            i = outer
            continue
        return i


def is_triple(tokens, i, character):
    """Index of the third of three adjacent characters at i, or None.

    The preprocessor may put a blank between tokens that come from different macros.
    """
    second = neighbour(tokens, i, 1)
    third = neighbour(tokens, second, 1)
    if third >= len(tokens) or third - i > 4:
        return None
    same = tokens[i] == character and tokens[second] == character and tokens[third] == character
    return third if same else None


def launch_end(tokens, begin, count_angles):
    """Indices of the first and last > of the >>> that ends the configuration begun at `begin`.

    f(A<B<C<int>>>(x)) also contains >>>( ; count_angles takes > for the end of template arguments
    where a name and < came before. A comparison in the configuration looks the same, so the caller
    tries again without.
    """
    depth, angles, i = 0, 0, begin
    while i < len(tokens):
        text = at(tokens, i)
        if text in CLOSING:
            depth += 1
        elif text in OPENING:
            depth -= 1
            if depth < 0:
                return None
        elif text == "<" and count_angles:
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
        i += 1
    return None


def line_breaks(tokens):
    """What must be kept of tokens that are dropped: line ends and line markers."""
    kept = ""
    for token in tokens:
        if token.kind == "directive":
            kept += token.text
        elif token.kind == "space":
            kept += "\n" * token.text.count("\n")
    return kept


def rewrite_launch(tokens, i, after_opening, output, options):
    """Rewrite the launch whose <<< is at tokens[i]; the kernel's name is at the end of output.

    Returns the index behind >>>.
    """
    last = neighbour(output, len(output), -1)
    start = kernel_expression_start(output, last)
    end = launch_end(tokens, after_opening, True) or launch_end(tokens, after_opening, False)
    if end is None:
        raise RewriteError("<<< without >>>(")
    configuration = join(rewrite(tokens[after_opening:end[0]], options))
    dropped = line_breaks(output[start:])
    kernel = " ".join(join(t for t in output[start:last + 1] if t.kind != "directive").split())
    quoted = kernel.replace("\\", "\\\\").replace('"', '\\"')
    del output[start:]
    output.append(Token("rewritten", (
        f"::hostcuda::launch([=](const auto&... hostcuda_a) {{ {kernel}(hostcuda_a...); }}, "
        f"[=]([[maybe_unused]] auto hostcuda_t) {{ "
        f"if constexpr (requires {{ ::hostcuda::exact<decltype(hostcuda_t)>({kernel}); }}) "
        f"return ::hostcuda::exact<decltype(hostcuda_t)>({kernel}); "
        f"else return ::hostcuda::Deduced{{}}; }}, "
        f'::hostcuda::Site{{"{quoted}", __builtin_FILE(), __builtin_LINE()}}, '
        f"{dropped}{configuration})")))
    return end[1] + 1


ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\balignas\s*\([^()]*\)")


def declared_names(declaration):
    """Names that `float a[8][33], b[32]` declares."""
    tokens = tokenize(ATTRIBUTE.sub(" ", declaration))
    names, name, depth, i = [], None, 0, 0
    complete = False  # the declarator's name has been seen for certain
    while i < len(tokens):
        text = at(tokens, i)
        if text == "[" and depth == 0:
            complete = True
        if text in ("[", "(", "{", "<"):
            depth += 1
        elif text in ("]", ")", "}", ">"):
            depth -= 1
        elif text == "," and depth == 0:
            names.append(name)
            complete = False
        elif tokens[i].kind == "name" and depth == 0 and not complete:
            name = text
        i += 1
    names.append(name)
    if None in names:
        raise RewriteError(f"cannot read: __shared__ {declaration.strip()};")
    return names


def rewrite_shared(tokens, i, output, options):
    """Rewrite the declaration whose __shared__ is at tokens[i]; returns the index behind its ;."""
    end = i
    while end < len(tokens) and tokens[end] != ";":
        end += 1
    declaration = join(tokens[i + 1:end])
    # Specifiers that stand before: `extern` decides the kind, `static` is what ours begins with.
    is_extern, before = False, neighbour(output, len(output), -1)
    while at(output, before) in ("static", "volatile", "extern"):
        is_extern |= at(output, before) == "extern"
        if at(output, before) != "volatile":
            output[before] = Token("space", "")
        before = neighbour(output, before, -1)
    declaration = re.sub(r"^(\s*)static\b", r"\1", declaration)

    if is_extern:
        match = re.match(r"(?s)(.*?)\b([A-Za-z_]\w*)\s*\[\s*\](.*)$", ATTRIBUTE.sub(" ", declaration))
        if not match:
            raise RewriteError(f"cannot read: extern __shared__ {declaration.strip()};")
        element = " ".join((match[1] + match[3]).split())
        lines = "\n" * declaration.count("\n")
        output.append(Token("rewritten", (
            f"[[maybe_unused]] auto* const {match[2]} = "
            f"::hostcuda::dynamic_shared<{element}>();{lines}")))
        return end + 1

    registrations = "".join(
        f" {{ static thread_local unsigned hostcuda_seen; "
        f'::hostcuda::register_shared(hostcuda_seen, {name}, "{name}"); }}'
        for name in declared_names(declaration))
    output.append(Token("rewritten", f"{options.shared_storage} {declaration};{registrations}"))
    return end + 1


def rewrite_pragma(directive, options):
    """`#pragma unroll`: g++ spells it otherwise and takes numbers only; a hint may be dropped."""
    match = re.match(r"\s*#\s*pragma\s+unroll\b\s*\(?\s*(\d*)", directive)
    if not match or not options.gcc:
        return directive
    return f"#pragma GCC unroll {match[1]}" if match[1] else ""


class Options:
    def __init__(self, gcc, address_sanitizer):
        self.gcc = gcc
        # AddressSanitizer puts redzones around plain statics only; hostcuda then runs one block at
        # a time. Aligned to a cache line, as the shared memory of a block is.
        self.shared_storage = ("static" if address_sanitizer
                               else "static thread_local __attribute__((aligned(64)))")


def rewrite(tokens, options):
    output, i = [], 0
    while i < len(tokens):
        token = tokens[i]
        if token == "<" and (third := is_triple(tokens, i, "<")) is not None:
            i = rewrite_launch(tokens, i, third + 1, output, options)
            continue
        if token == "__shared__":
            i = rewrite_shared(tokens, i, output, options)
            continue
        if token == "__noinline__" and at(tokens, neighbour(tokens, i, -1)) != "(":
            token = Token("rewritten", "__attribute__((noinline))")
        elif token.kind == "directive":
            token = Token("directive", rewrite_pragma(token.text, options))
        output.append(token)
        i += 1
    return output


MARKER = re.compile(r'^# (\d+) "((?:[^"\\\n]|\\.)*)"([ \d]*)$', re.M)


def segments(source):
    """Yield (file, first line, is a system header, text) between line markers, markers included."""
    markers = list(MARKER.finditer(source))
    if markers and markers[0].start() > 0:
        yield "", 1, True, source[:markers[0].start()]
    for marker, following in zip(markers, markers[1:] + [None]):
        end = following.start() if following else len(source)
        yield marker[2], int(marker[1]), "3" in marker[3].split(), source[marker.start():end]


def rewrite_translation_unit(source, gcc, address_sanitizer, own_include):
    """Rewrite what came from user files. Headers below own_include are hostcuda's."""
    options = Options(gcc, address_sanitizer)
    # A statement may continue after a marker (macro arguments over several lines do): user text is
    # rewritten in runs as long as possible.
    result, run, run_start = [], [], None

    def flush():
        nonlocal run, run_start
        text = "".join(run)
        if MAYBE_CUDA.search(text):
            try:
                text = join(rewrite(tokenize(text), options))
            except RewriteError as error:
                raise RewriteError(f"{run_start[0]}:{run_start[1]} or below: {error}") from None
        result.append(text)
        run, run_start = [], None

    for file, line, system, text in segments(source):
        if system or file.startswith(("<", own_include)):
            flush()
            result.append(text)
        else:
            run_start = run_start or (file, line)
            run.append(text)
    flush()
    return "".join(result)


def lines_of_file(source, file):
    """The text that came from one file, for people to read."""
    return "\n".join(text.split("\n", 1)[1] for name, _, _, text in segments(source) if name == file)
