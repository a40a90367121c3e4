"""Rewrites preprocessed CUDA C++ to plain C++: launches, shared variables, launch bounds, loops that
poll, `#pragma unroll`.

Works on tokens, not on a syntax tree: it needs to know only where the expression before <<< begins,
where >>> ends, what a shared declaration declares, and whether it stands in a function. What the
results mean is explained in include/hostcuda/launch.h. The number of lines never changes.
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
MAYBE_CUDA = re.compile(r"<<|__shared__|__noinline__|__launch_bounds__|__cluster_dims__|cudaLaunch|"
                        r"cudaOccupancyMaxActiveClusters|\bvolatile\b|\basm\b|pragma\s+unroll")
# Launches by a function call, and which argument is the kernel.
KERNEL_ARGUMENT = {"cudaLaunchKernel": 0, "cudaLaunchCooperativeKernel": 0, "cudaLaunchKernelEx": 1,
                   "cudaLaunchKernelExC": 1, "cudaOccupancyMaxActiveClusters": 1}
TYPELESS_KERNELS = re.compile(r"\bcudaKernelNodeParams\b|\bcudaLaunch\w*Kernel")
CAST_TO_VOID = re.compile(r"^\s*(?:\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)|"
                          r"(?:reinterpret|static)_cast\s*<\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*>)")
# Names of PTX instructions and registers, which no assembler of a CPU knows.
PTX = re.compile(r"%%|\.(?:[busf](?:8|16|32|64)|pred|sync|aligned|async|shared|global|const)\b")


class RewriteError(Exception):
    def __init__(self, message, token=None):
        super().__init__(message)
        self.token = token  # where


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
            raise RewriteError("kernel launch: no kernel name before <<<")
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
        raise RewriteError("kernel launch: <<< without >>>(", tokens[i])
    configuration = join(rewrite(tokens[after_opening:end[0]], options))
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


ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
ALIGNAS = re.compile(r"\balignas\s*\((?:[^()]|\([^()]*\))*\)")


def declared_names(declaration):
    """Names that `float a[8][33], b[32]` declares."""
    tokens = tokenize(ALIGNAS.sub(" ", ATTRIBUTE.sub(" ", declaration)))
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
        raise RewriteError(f"cannot read: __shared__ {' '.join(declaration.split())};")
    return names


def statement_end(tokens, i):
    """Index of the ; that ends the statement in which tokens[i] stands."""
    depth = 0
    while i < len(tokens):
        if at(tokens, i) in CLOSING:
            depth += 1
        elif at(tokens, i) in OPENING:
            depth -= 1
        elif at(tokens, i) == ";" and depth == 0:
            return i
        i += 1
    raise RewriteError("__shared__ without ;")


def statement_begin(output):
    """Index in output where the statement begins that is being read."""
    i = neighbour(output, len(output), -1)
    while i >= 0 and not at(output, i).rstrip().endswith((";", "{", "}")):
        i = neighbour(output, i, -1)
    return neighbour(output, i, 1)


def rewrite_shared(tokens, i, output, options, in_function):
    """Rewrite the declaration whose __shared__ is at tokens[i]; returns the index after its ;."""
    end = statement_end(tokens, i)
    begin = statement_begin(output)
    words = [*output[begin:], *tokens[i + 1:end]]
    del output[begin:]
    is_extern = any(word == "extern" for word in words)
    declaration = join(word for word in words if not (word == "extern" or word == "static"))
    alignment = " ".join(ALIGNAS.findall(declaration))
    declaration = ALIGNAS.sub(" ", declaration)
    if is_extern:
        output.append(Token("rewritten", dynamic_shared(declaration, in_function)))
        return end + 1
    names = declared_names(declaration)
    if in_function:
        registrations = "".join(
            f" {{ static thread_local unsigned hostcuda_seen; "
            f'::hostcuda::register_shared(hostcuda_seen, {name}, "{name}"); }}' for name in names)
    else:
        registrations = "".join(
            f" [[maybe_unused]] static const ::hostcuda::SharedAtFileScope hostcuda_{name}("
            f'[]() -> void* {{ return &{name}; }}, sizeof {name}, "{name}");' for name in names)
    output.append(Token("rewritten",
                        f"{alignment} {options.shared_storage} {declaration};{registrations}"))
    return end + 1


def dynamic_shared(declaration, in_function):
    match = re.match(r"(?s)(.*?)\b([A-Za-z_]\w*)\s*\[\s*\](.*)$", ATTRIBUTE.sub(" ", declaration))
    if not match:
        raise RewriteError(f"cannot read: extern __shared__ {' '.join(declaration.split())};")
    element = " ".join((match[1] + match[3]).split())
    lines = "\n" * declaration.count("\n")
    if in_function:
        return (f"[[maybe_unused]] auto* const {match[2]} = "
                f"::hostcuda::dynamic_shared<{element}>();{lines}")
    return f"[[maybe_unused]] static const ::hostcuda::DynamicShared<{element}> {match[2]}{{}};{lines}"


def opens_function(output):
    """Whether a { that follows belongs to a function, and not to a namespace or a type."""
    words = output[statement_begin(output):]
    names = {word.text for word in words if word.kind == "name"}
    is_linkage = "extern" in names and any(word.kind == "text" for word in words)
    is_type = names & {"struct", "class", "union", "enum"} and not any(w == ")" for w in words)
    return not (is_linkage or is_type or "namespace" in names)


# Attributes of a kernel that become checks where its body begins.
CHECKED = {"__launch_bounds__": "check_launch_bounds", "__cluster_dims__": "check_cluster_dims"}


def parenthesised(tokens, i, whole=False):
    """(index after the closing parenthesis, first argument or all) of the list that begins after
    tokens[i]."""
    begin = neighbour(tokens, i, 1)
    depth, argument_end, k = 0, None, begin
    while k < len(tokens):
        text = at(tokens, k)
        depth += (text in CLOSING) - (text in OPENING)
        if depth == 1 and text == "," and argument_end is None:
            argument_end = k
        if depth == 0:
            return k + 1, join(tokens[begin + 1:k if whole else argument_end or k])
        k += 1
    raise RewriteError(f"{tokens[i].text} without )", tokens[i])


def refuse_ptx(tokens, i):
    end, _ = parenthesised(tokens, i) if at(tokens, neighbour(tokens, i, 1)) == "(" else (i, "")
    if any(token.kind == "text" and PTX.search(token.text) for token in tokens[i:end]):
        raise RewriteError("inline PTX is not emulated; put the CPU's version of it between "
                           "#ifdef __HOSTCUDA__ and #else", tokens[i])


def argument_place(tokens, opening, number):
    """(index where argument `number` of the call with ( at `opening` begins, index after its end)."""
    depth, begin = 0, opening + 1
    for i in range(opening, len(tokens)):
        text = at(tokens, i)
        depth += (text in CLOSING) - (text in OPENING)
        if depth == 0 or (depth == 1 and text == ","):
            if number == 0:
                return begin, i
            number, begin = number - 1, i + 1
        if depth == 0:
            break
    raise RewriteError("too few arguments", tokens[opening])


def rewrite_launch_function(tokens, i, output, options, scopes):
    """cudaLaunchKernel(k, ...): the kernel k is passed with its type and its name."""
    opening = neighbour(tokens, i, 1)
    before = neighbour(tokens, i, -1)
    declared = before >= 0 and tokens[before].kind == "name" and at(tokens, before) not in NOT_A_CALLEE
    if at(tokens, opening) != "(" or declared or at(tokens, before) in (".", "->"):
        return None
    begin, end = argument_place(tokens, opening, KERNEL_ARGUMENT[at(tokens, i)])
    text = join(rewrite(tokens[begin:end], options))
    kernel = CAST_TO_VOID.sub("", text)
    name = " ".join(kernel.split()).strip("(&)").replace("\\", "\\\\").replace('"', '\\"')
    for token in tokens[i:begin]:
        scopes.pass_by(token, output)
        output.append(token)
    output.append(Token("rewritten", f'::hostcuda::name_kernel({kernel}, "{name}")'))
    return end


def rewrite_cast(tokens, i, output):
    """(void*)k: remembers how the function k is called. Returns the index after k, or None."""
    match = CAST_TO_VOID.match(join(tokens[i:i + 12]))
    if not match:
        return None
    length, end = 0, i
    while length < match.end():
        length += len(tokens[end].text)
        end += 1
    name = neighbour(tokens, end - 1, 1)
    after = neighbour(tokens, name, 1)
    if name >= len(tokens) or tokens[name].kind != "name" or at(tokens, after) not in (",", ";", ")", "}"):
        return None
    text = tokens[name].text
    output.append(Token("rewritten", f'{line_breaks(tokens[i:name])}::hostcuda::erased({text}, "{text}")'))
    return after


def ends_do(tokens, i):
    """Whether the `while` at i ends a `do`."""
    before = neighbour(tokens, i, -1)
    if at(tokens, before) == "}":
        return at(tokens, neighbour(tokens, opening_of(tokens, before), -1)) == "do"
    while before > 0 and at(tokens, before) != "do":  # of a single statement
        before = neighbour(tokens, before, -1)
        if at(tokens, before) in (";", "{", "}"):
            return False
    return before > 0


def loop_body(tokens, i):
    """Index of the { or ; of the loop that may begin at i, if it can wait for another thread."""
    if at(tokens, i) == "do":
        body = neighbour(tokens, i, 1)
    elif at(tokens, i) in ("while", "for"):
        end, header = parenthesised(tokens, i)
        body = neighbour(tokens, end - 1, 1)
        if header.replace(" ", "") != ";;" if at(tokens, i) == "for" else ends_do(tokens, i):
            return None
    else:
        return None
    return body if at(tokens, body) in ("{", ";") else None


def rewrite_pragma(directive, options):
    """`#pragma unroll`: g++ spells it otherwise and takes numbers only; a hint may be dropped."""
    match = re.match(r"\s*#\s*pragma\s+unroll\b\s*\(?\s*(\d*)", directive)
    if not match or not options.gcc:
        return directive
    return f"#pragma GCC unroll {match[1]}" if match[1] else ""


class Options:
    def __init__(self, gcc, address_sanitizer, text):
        self.gcc = gcc
        self.polls = re.search(r"\bvolatile\b", text)
        self.casts = TYPELESS_KERNELS.search(text)
        # AddressSanitizer puts redzones around plain statics only; hostcuda then runs one block at
        # a time. Aligned to a cache line, as the shared memory of a block is.
        self.shared_storage = ("static" if address_sanitizer
                               else "static thread_local __attribute__((aligned(64)))")


class Scopes:
    """Where the rewriter stands: in a function, and in what parentheses."""

    def __init__(self):
        self.functions = []  # for each open {: whether it belongs to a function
        self.parentheses = 0

    @property
    def in_function(self):
        return any(self.functions)

    def pass_by(self, token, output):
        if token == "{":
            self.functions.append(self.parentheses > 0 or opens_function(output))
        elif token == "}" and self.functions:
            self.functions.pop()
        elif token == "(" or token == ")":
            self.parentheses += 1 if token == "(" else -1


def rewrite(tokens, options):
    output, i, scopes, checks, spins = [], 0, Scopes(), "", set()
    while i < len(tokens):
        token = tokens[i]
        try:
            if token == "<" and (third := is_triple(tokens, i, "<")) is not None:
                i = rewrite_launch(tokens, i, third + 1, output, options)
                continue
            if token == "__shared__":
                i = rewrite_shared(tokens, i, output, options, scopes.in_function)
                continue
            if token.text in CHECKED:
                i, bound = parenthesised(tokens, i, token == "__cluster_dims__")
                checks += f" ::hostcuda::{CHECKED[token.text]}({bound});"
                continue
            if token.text in KERNEL_ARGUMENT:
                if end := rewrite_launch_function(tokens, i, output, options, scopes):
                    i = end
                    continue
            if options.casts and token == "(" and (end := rewrite_cast(tokens, i, output)):
                i = end
                continue
            if options.polls and (body := loop_body(tokens, i)):
                spins.add(body)
            if token == "asm" or token == "__asm__":
                following = neighbour(tokens, i, 1)
                volatile = at(tokens, following) in ("volatile", "__volatile__")
                refuse_ptx(tokens, following if volatile else i)
        except RewriteError as error:
            error.token = error.token or token
            raise
        scopes.pass_by(token, output)
        if i in spins:
            # It may poll a volatile variable: other threads and blocks have to run.
            token = Token("rewritten", ("{ " if token == "{" else "") + "::hostcuda::note_spin();")
        elif token == "{" and checks and scopes.parentheses == 0:
            token = Token("rewritten", "{" + checks)
            checks = ""
        elif token == ";" and scopes.parentheses == 0:
            checks = ""
        elif token == "__noinline__" and at(tokens, neighbour(tokens, i, -1)) != "(":
            token = Token("rewritten", "__attribute__((noinline))")
        elif token.kind == "directive":
            token = Token("directive", rewrite_pragma(token.text, options))
        output.append(token)
        i += 1
    return output


MARKER = re.compile(r'^# (\d+) "((?:[^"\\\n]|\\.)*)"([ \d]*)$', re.M)


def segments(source):
    """Yield (file, is a system header, text) between line markers, markers included."""
    markers = list(MARKER.finditer(source))
    if markers and markers[0].start() > 0:
        yield "", True, source[:markers[0].start()]
    for marker, following in zip(markers, markers[1:] + [None]):
        end = following.start() if following else len(source)
        yield marker[2], "3" in marker[3].split(), source[marker.start():end]


def place_of(tokens, wanted):
    """"file:line" of a token, from the last line marker before it."""
    file, line = "?", 1
    for token in tokens:
        if token is wanted:
            break
        marker = MARKER.match(token.text) if token.kind == "directive" else None
        if marker:
            file, line = marker[2], int(marker[1]) - 1  # the marker's own line end follows
        else:
            line += token.text.count("\n")
    return f"{file}:{line}"


def rewrite_translation_unit(source, gcc, address_sanitizer, own_include):
    """Rewrite what came from user files. Headers below own_include are hostcuda's."""
    written = [text for file, system, text in segments(source)
               if not system and not file.startswith(("<", own_include))]
    options = Options(gcc, address_sanitizer, "".join(written))
    # A statement may continue after a marker (macro arguments over several lines do): user text is
    # rewritten in runs as long as possible.
    result, run = [], []

    def flush():
        text = "".join(run)
        run.clear()
        if options.polls or options.casts or MAYBE_CUDA.search(text):
            tokens = tokenize(text)
            try:
                text = join(rewrite(tokens, options))
            except RewriteError as error:
                raise RewriteError(f"{place_of(tokens, error.token)}: error: {error}") from None
        result.append(text)

    for file, system, text in segments(source):
        if system or file.startswith(("<", own_include)):
            flush()
            result.append(text)
        else:
            run.append(text)
    flush()
    return "".join(result)


def includes(source):
    """(includer, its line, included file) of each #include that the preprocessor followed."""
    inside, line = "?", 0
    for match in re.finditer(MARKER.pattern + r"|\n", source, re.M):
        if match[0] == "\n":
            line += 1
            continue
        if "1" in match[3].split():
            yield inside, line, match[2]
        inside, line = match[2], int(match[1]) - 1


def user_files(source, own_include):
    """The files that rewritten text came from."""
    return sorted({file for file, system, _ in segments(source)
                   if not system and not file.startswith(("<", own_include))})


def lines_of_file(source, file):
    """The text that came from one file, for people to read."""
    return "\n".join(text.split("\n", 1)[1] for name, _, text in segments(source) if name == file)
