"""Rewrites preprocessed CUDA C++ to plain C++: launches, shared variables, launch bounds, polling
loops, and `#pragma unroll`.

This module works on tokens, not on a syntax tree. Tokens suffice to find where the expression
before <<< begins, which >>> ends the launch's configuration, which variables a declaration with
__shared__ declares, and whether the declaration is in a function. include/hostcuda/launch.h
explains the rewritten code. The number of lines never changes.
"""
import itertools
import re

import ptx
from cuda_launch import (KERNEL_ARGUMENT, TYPELESS_KERNELS, rewrite_cast, rewrite_launch,
                         rewrite_launch_function)
from cuda_shared import rewrite_shared, with_pointers_in_casts
from cuda_tokens import (
    RewriteError,
    Token,
    at,
    is_triple,
    join,
    line_breaks,
    neighbour,
    opening_of,
    parenthesised,
    statement_begin,
    statement_end,
    tokenize,
)
from cuda_variables import (
    CONSTANT,
    DEVICE,
    KERNEL,
    MANAGED,
    MARK,
    kernel_registration,
    registration,
    without_marks,
)

MAYBE_CUDA = re.compile(
    "|".join((DEVICE, CONSTANT, MANAGED, KERNEL)) +
    r"|<<|__shared__|__noinline__|__launch_bounds__|__cluster_dims__|cudaLaunch|"
    r"cudaOccupancyMaxActiveClusters|\bvolatile\b|\b(?:__)?asm(?:__)?\b|pragma\s+unroll"
)
# Names of PTX instructions and registers, which a CPU's assembler does not know.
PTX = re.compile(r"%%|\.(?:[busf](?:8|16|32|64|128)|b?f16(?:x2)?|tf32|pred|sync|aligned|async|"
                 r"shared|global|const)\b|"
                 r"^\W*(?:trap|exit|brkpt|pmevent|(?:membar|fence|griddepcontrol|cp|cvta|ldmatrix|"
                 r"stmatrix|mma|wmma|wgmma|mbarrier|nanosleep|setmaxnreg|discard|prefetch|"
                 r"tensormap|tcgen05)\.)")
TRAP = re.compile(r'"\s*trap\s*;?\s*"$')


FUNCTION, TYPE, NAMESPACE = "function", "type", "namespace"


def what_opens(output):
    """Tells whether the { that follows `output` opens a function, a type or a namespace."""
    words = output[statement_begin(output):]
    names = {word.text for word in words if word.kind == "name"}
    has_list = any(word == ")" for word in words)
    is_linkage = "extern" in names and any(word.kind == "text" for word in words)
    if "namespace" in names or (is_linkage and not has_list):  # extern "C" {
        return NAMESPACE
    is_type = names & {"struct", "class", "union", "enum"} and not has_list
    return TYPE if is_type else FUNCTION


# Attributes of a kernel, which become checks at the start of its body.
CHECKED = {"__launch_bounds__": "check_launch_bounds", "__cluster_dims__": "check_cluster_dims"}


def rewrite_asm(tokens, i, output):
    """Replaces inline PTX by C++, and asm("trap;"), which occurs in assertion macros, by __trap().
    Returns the index after the statement, or None if the statement has instructions of the CPU."""
    following = neighbour(tokens, i, 1)
    if at(tokens, following) in ("volatile", "__volatile__"):
        i = following
    end, _ = parenthesised(tokens, i) if at(tokens, neighbour(tokens, i, 1)) == "(" else (i, "")
    texts = [token.text for token in tokens[i:end] if token.kind == "text"]
    if len(texts) == 1 and TRAP.match(texts[0]):
        output.append(Token("rewritten", f"__trap(){line_breaks(tokens[i:end])}"))
        return end
    if not any(token.kind == "text" and PTX.search(token.text) for token in tokens[i:end]):
        return None
    end, text = ptx.translate(tokens, i)
    output.append(Token("rewritten", text))
    return end


def uses_ptx(source, own_include):
    """True if user files may contain inline PTX, which needs hostcuda/ptx/instructions.h."""
    user = set(user_files(source, own_include))
    return any(re.search(r"\b(?:__)?asm(?:__)?\b", text) and PTX.search(text)
               for file, _, text in segments(source) if file in user)


def ends_do(tokens, i):
    """True if the `while` at i ends a `do`."""
    before = neighbour(tokens, i, -1)
    if at(tokens, before) == "}":
        return at(tokens, neighbour(tokens, opening_of(tokens, before), -1)) == "do"
    while before > 0 and at(tokens, before) != "do":  # the body may be one statement
        before = neighbour(tokens, before, -1)
        if at(tokens, before) in (";", "{", "}"):
            return False
    return before > 0


def loop_body(tokens, i):
    """If the token at i starts a loop that may wait for another thread, returns the index of the {
    or ; with which the loop's body begins; otherwise None."""
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


API_FUNCTION = re.compile(r"cuda[A-Z]\w*$")
LIBRARY_FUNCTION = re.compile(r"(?:cublas|curand|nccl)[A-Z]\w*$")


def ignores_result(tokens, i, output):
    """True if the statement that starts at i consists only of a call of the API or of a library."""
    name = tokens[i].text
    if tokens[i].kind != "name" or not (API_FUNCTION.match(name) or LIBRARY_FUNCTION.match(name)):
        return False
    before = at(output, neighbour(output, len(output), -1))
    if before not in (";", "{", "}", "else") or at(tokens, neighbour(tokens, i, 1)) != "(":
        return False
    end, _ = parenthesised(tokens, i)
    return at(tokens, neighbour(tokens, end - 1, 1)) == ";"


# The tracer does not see the accesses that the C library makes, so these functions are replaced by
# functions that report their accesses.
TOLD = {"memcpy": "hostcuda_memcpy", "memmove": "hostcuda_memcpy", "memset": "hostcuda_memset"}
# So are the builtins with which headers of the C++ library copy arrays (std::copy), because the
# compiler does not instrument them.
BUILTIN = re.compile(rf"\b__builtin_({'|'.join(TOLD)})\b")
DECLARED = """
extern "C" void* hostcuda_memcpy(void* to, const void* from, unsigned long size);
extern "C" void* hostcuda_memset(void* to, int value, unsigned long size);
"""


def with_told_builtins(text):
    return BUILTIN.sub(lambda match: f"::{TOLD[match[1]]}", text)


def with_declarations(text):
    """Returns the text with declarations after its first line, the marker that names its file."""
    first, _, rest = text.partition("\n")
    return first + DECLARED + rest


def names_library(tokens, i, in_function):
    """True if the token at i calls the C library's function or takes its address. False for another
    function or variable of the same name, and for a declaration."""
    before = neighbour(tokens, i, -1)
    after = at(tokens, neighbour(tokens, i, 1))
    if after == "(" and not in_function:
        return False
    if at(tokens, before) == "::":
        qualifier = at(tokens, neighbour(tokens, before, -1))
        return qualifier == "std" or not re.match(r"[\w>]", qualifier or "")
    if after == "(":
        return at(tokens, before) not in (".", "->")
    is_value = at(tokens, before) in VALUE_FOLLOWS and after in (")", ",", ";", "}", ":")
    return is_value and not any(is_declared(tokens, k) for k in range(len(tokens))
                                if tokens[k] == tokens[i].text)


VALUE_FOLLOWS = ("(", ",", "=", "&", "{", "return", "?", ":")


def is_declared(tokens, i):
    """True if the token at i declares a variable: it follows a type, and no parameters follow."""
    k = neighbour(tokens, i, -1)
    while at(tokens, k) in ("*", "&", "const"):
        k = neighbour(tokens, k, -1)
    is_type = re.fullmatch(r"\w+|>", at(tokens, k) or "") and at(tokens, k) != "return"
    return is_type and at(tokens, neighbour(tokens, i, 1)) in ("=", ";", ",", ")", "{", "[")


def rewrite_pragma(directive, options):
    """Translates `#pragma unroll` to g++'s spelling. Drops a pragma without a number, because g++
    needs a number."""
    match = re.match(r"\s*#\s*pragma\s+unroll\b\s*\(?\s*(\d*)", directive)
    if not match or not options.gcc:
        return directive
    return f"#pragma GCC unroll {match[1]}" if match[1] else ""


class Options:
    def __init__(self, gcc, address_sanitizer, text, traced=False):
        self.gcc = gcc
        self.traced = traced
        self.warnings = []  # (token, text)
        self.dynamic = set()  # names of extern __shared__ arrays at file scope
        self.polls = re.search(r"\bvolatile\b", text)
        self.casts = TYPELESS_KERNELS.search(text)
        self.numbers = itertools.count()  # for unique names
        # The storage of a shared variable. AddressSanitizer puts redzones only around plain static
        # variables, so builds with AddressSanitizer run blocks one after another. Other builds
        # align the variable to a cache line, as a GPU aligns a block's shared memory.
        self.shared_storage = ("static" if address_sanitizer
                               else "static thread_local __attribute__((aligned(64)))")

    def next_number(self):
        return next(self.numbers)


class Scopes:
    """Tracks whether the current token is in a function, and in how many parentheses."""

    def __init__(self):
        self.open = []  # what each open { belongs to
        self.parentheses = 0
        self.dynamic = []  # (number of open {, name) of the extern __shared__ arrays in scope

    @property
    def in_function(self):
        return FUNCTION in self.open

    @property
    def in_namespace(self):
        return not self.parentheses and not {FUNCTION, TYPE} & set(self.open)

    def pass_by(self, token, output):
        if token == "{":
            self.open.append(FUNCTION if self.parentheses > 0 else what_opens(output))
        elif token == "}" and self.open:
            self.open.pop()
            self.dynamic = [one for one in self.dynamic if one[0] <= len(self.open)]
        elif token == "(" or token == ")":
            self.parentheses += 1 if token == "(" else -1


def is_extern(tokens, i, output):
    words = [*output[statement_begin(output):], *tokens[i + 1:statement_end(tokens, i)]]
    return any(word == "extern" for word in words)


def look_for_overlap(tokens, i, scopes, options):
    """Warns about a second extern __shared__ array in the same scope of a kernel, because all such
    arrays begin at the same address."""
    declaration = join(tokens[i + 1:statement_end(tokens, i)])
    match = re.search(r"([A-Za-z_]\w*)\s*\[\s*\]", declaration)
    if not match:
        return
    depth, name = len(scopes.open), match[1]
    for known_depth, known in scopes.dynamic:
        if known_depth == depth and known != name:
            options.warnings.append((tokens[i], (
                f"'{name}' and '{known}' are the same memory, because every extern __shared__ "
                f"array begins at the same address; let '{name}' point into '{known}'")))
    scopes.dynamic.append((depth, name))


def rewrite(tokens, options):
    output, i, scopes, checks, spins, variables = [], 0, Scopes(), "", set(), {}

    def inner(part):
        return rewrite(part, options)

    while i < len(tokens):
        token = tokens[i]
        try:
            if token == "<" and (third := is_triple(tokens, i, "<")) is not None:
                i = rewrite_launch(tokens, i, third + 1, output, inner)
                continue
            if token == "__shared__":
                if scopes.in_function and is_extern(tokens, i, output):
                    look_for_overlap(tokens, i, scopes, options)
                i = rewrite_shared(tokens, i, output, options, scopes.in_function)
                continue
            if options.traced and scopes.in_function and ignores_result(tokens, i, output):
                text = "::hostcuda::ignore_result(), "
                if LIBRARY_FUNCTION.match(token.text):
                    text = (f'::hostcuda::IgnoredStatus{{"{token.text}", __builtin_FILE(), '
                            "__builtin_LINE()} = ")
                output.append(Token("rewritten", text))
            if MARK.fullmatch(token.text):
                if token.text in (DEVICE, CONSTANT, MANAGED) and scopes.in_namespace:
                    end, text = registration(tokens, i, output)
                    variables.setdefault(end, text)
                elif token == KERNEL:
                    end, text = kernel_registration(tokens, i, output, options.next_number())
                    variables.setdefault(end, text)
                i += 1
                continue
            if token.text in CHECKED:
                i, bound = parenthesised(tokens, i, token == "__cluster_dims__")
                checks += f" ::hostcuda::{CHECKED[token.text]}({bound});"
                continue
            if token.text in KERNEL_ARGUMENT:
                if end := rewrite_launch_function(tokens, i, output, scopes, inner):
                    i = end
                    continue
            if (options.casts and token in ("(", "reinterpret_cast")
                    and (end := rewrite_cast(tokens, i, output))):
                i = end
                continue
            if options.polls and (body := loop_body(tokens, i)):
                spins.add(body)
            if (token == "asm" or token == "__asm__") and (end := rewrite_asm(tokens, i, output)):
                i = end
                continue
        except RewriteError as error:
            error.token = error.token or token
            raise
        scopes.pass_by(token, output)
        if i in spins:
            # The loop may poll a volatile variable, so it must let other threads and blocks run.
            token = Token("rewritten", ("{ " if token == "{" else "") + "::hostcuda::note_spin();")
        elif token == "{" and checks and scopes.parentheses == 0:
            token = Token("rewritten", "{" + checks)
            checks = ""
        elif token == ";" and scopes.parentheses == 0:
            checks = ""
        elif (
            options.traced
            and token.text in TOLD
            and names_library(tokens, i, scopes.in_function)
        ):
            token = Token("name", TOLD[token.text])
        elif token == "__noinline__" and at(tokens, neighbour(tokens, i, -1)) != "(":
            token = Token("rewritten", "__attribute__((noinline))")
        elif token.kind == "directive":
            token = Token("directive", rewrite_pragma(token.text, options))
        output.append(token)
        if i in variables:
            output.append(Token("rewritten", variables[i]))
        i += 1
    return output


MARKER = re.compile(r'^# (\d+) "((?:[^"\\\n]|\\.)*)"([ \d]*)$', re.M)


def segments(source):
    """Yields (file, whether it is a system header, text) for each line marker. The text is the
    marker and the lines up to the next marker."""
    markers = list(MARKER.finditer(source))
    if markers and markers[0].start() > 0:
        yield "", True, source[:markers[0].start()]
    for marker, following in zip(markers, markers[1:] + [None]):
        end = following.start() if following else len(source)
        yield marker[2], "3" in marker[3].split(), source[marker.start():end]


def place_of(tokens, wanted):
    """Returns the token's "file:line", computed from the last line marker before it."""
    file, line = "?", 1
    for token in tokens:
        if token is wanted:
            break
        marker = MARKER.match(token.text) if token.kind == "directive" else None
        if marker:
            file, line = marker[2], int(marker[1]) - 1  # the end of the marker's line adds 1
        else:
            line += token.text.count("\n")
    return f"{file}:{line}"


def rewrite_translation_unit(source, gcc, address_sanitizer, own_include, traced=False,
                             warn=lambda line: None):
    """Rewrites the parts of the text that come from user files. Leaves hostcuda's headers, in
    own_include, unchanged. warn: a function that is called with each warning."""
    user = set(
        user_files(source, own_include)
    )  # the text that a system header's macro produces does not come from a user file
    written = "".join(text for file, _, text in segments(source) if file in user)
    options = Options(gcc, address_sanitizer, written, traced)
    # If a macro's arguments span several lines, a statement continues after a line marker. So
    # adjacent segments of user text are joined into a run and rewritten together.
    result, run = [], []

    def flush():
        text = "".join(run)
        run.clear()
        if options.polls or options.casts or options.traced or MAYBE_CUDA.search(text):
            tokens = tokenize(text)
            try:
                text = join(with_pointers_in_casts(rewrite(tokens, options), options.dynamic))
            except RewriteError as error:
                raise RewriteError(f"{place_of(tokens, error.token)}: error: {error}") from None
            for token, said in options.warnings:
                warn(f"{place_of(tokens, token)}:1: warning: {said}")
            options.warnings.clear()
        result.append(text)

    for file, _, text in segments(source):
        if traced and not file.startswith(own_include):
            text = with_told_builtins(text)
        if file in user:
            run.append(text)
        else:
            flush()
            result.append(text)
    flush()
    rewritten = without_marks("".join(result))
    return with_declarations(rewritten) if traced else rewritten


def includes(source):
    """Yields (including file, line in that file, included file) for each #include that the
    preprocessor followed."""
    inside, line = "?", 0
    for match in re.finditer(MARKER.pattern + r"|\n", source, re.M):
        if match[0] == "\n":
            line += 1
            continue
        if "1" in match[3].split():
            yield inside, line, match[2]
        inside, line = match[2], int(match[1]) - 1


def user_files(source, own_include):
    """Returns the files whose text is to be rewritten."""
    return sorted({file for file, system, _ in segments(source)
                   if not system and not file.startswith(("<", own_include))})


def lines_of_file(source, file):
    """Returns the part of the text that came from the file, in readable form."""
    return "\n".join(text.split("\n", 1)[1] for name, _, text in segments(source) if name == file)
