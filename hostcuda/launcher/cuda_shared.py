"""Rewrites __shared__ variables."""
import re

from cuda_tokens import (BLANK, RewriteError, Token, at, join, neighbour, statement_begin,
                         statement_end, tokenize)

PADDING = 1024  # SharedMemory::kPadding
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|"
                       r"\[\s*\[(?:[^][]|\[[^][]*\])*\]\s*\]")
ALIGNAS = re.compile(r"\balignas\s*\((?:[^()]|\([^()]*\))*\)")


def pieces_of(declaration):
    """Returns the tokens of each declarator; `float a[8][33], b[32]` has two declarators. The
    tokens of the first declarator include the type."""
    depth, pieces = 0, [[]]
    for token in tokenize(declaration):
        depth += token.text in ("[", "(", "{", "<")
        depth -= token.text in ("]", ")", "}", ">")
        if token == "," and depth == 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def declared_names(declaration):
    """Returns the declared names: a, b and c for `float a[8][33], b[32], c = 1`."""
    names, name = [], None
    for piece in pieces_of(ALIGNAS.sub(" ", ATTRIBUTE.sub(" ", declaration))):
        depth = 0
        for token in piece:
            if token.text in ("[", "=") and depth == 0:
                break  # no later token can be the name
            depth += token.text in ("(", "{", "<")
            depth -= token.text in (")", "}", ">")
            if token.kind == "name" and depth == 0:
                name = token.text
        names.append(name)
    if None in names:
        raise RewriteError(f"cannot read: __shared__ {' '.join(declaration.split())};")
    return names


def split_declarators(declaration):
    """Splits `float a[8][33], b[32]` into `float a[8][33]` and `float b[32]`."""
    first, *others = pieces_of(declaration)
    if not others:
        return [declaration]
    name = declared_names(join(first))[0]
    words = [token.text for token in first]
    prefix = first[:len(words) - 1 - words[::-1].index(name)]
    base = " ".join(join(token for token in prefix if token.text not in ("*", "&")).split())
    return [join(first), *(f"{base} {join(piece)}" for piece in others)]


def padded(declaration, alignment, names, in_function):
    """Puts padding around each variable, so that the tracer knows to which variable an
    out-of-bounds access belongs. In a traced program only one block runs at a time, so the
    variables are plain static variables."""
    text = ""
    for name, piece in zip(names, split_declarators(declaration)):
        text += (f"static struct __attribute__((aligned(128))) {{ char hostcuda_before[{PADDING}]; "
                 f"{alignment} {piece}; char hostcuda_after[{PADDING}]; }} hostcuda_padded_{name}; "
                 f"{'' if in_function else 'static '}auto& {name} = hostcuda_padded_{name}.{name};")
    return text


def rewrite_shared(tokens, i, output, options, in_function):
    """Rewrites the declaration whose __shared__ is at tokens[i]. Returns the index after the ; that
    ends the declaration."""
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
        if not in_function:
            options.dynamic.update(declared_names(declaration))
        return end + 1
    names = declared_names(declaration)
    if in_function:
        registrations = "".join(
            f" {{ static thread_local unsigned hostcuda_seen; "
            f'::hostcuda::register_shared(hostcuda_seen, {name}, "{name}"); }}' for name in names)
    else:
        registrations = "".join(
            f" [[maybe_unused]] static const ::hostcuda::SharedAtFileScope hostcuda_{name}("
            f'[]() -> void* {{ return const_cast<void*>(static_cast<const volatile '
            f'void*>(&{name})); }}, '
            f'sizeof {name}, "{name}");' for name in names)
    declared = (padded(declaration, alignment, names, in_function) if options.traced
                else f"{alignment} {options.shared_storage} {declaration};")
    output.append(Token("rewritten", declared + registrations))
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
    return (
        f"[[maybe_unused]] static const ::hostcuda::DynamicShared<{element}> {match[2]}{{}};{lines}"
    )


def with_pointers_in_casts(tokens, names):
    """Replaces reinterpret_cast<T*>(name) by reinterpret_cast<T*>(+name). names: the extern
    __shared__ arrays at file scope, which are objects that convert to pointers; this cast needs a
    pointer. A parameter or a local array with such a name stays what it is, because + turns arrays
    into pointers and leaves pointers unchanged."""
    result, cast = [], False
    for i, token in enumerate(tokens):
        before, after = neighbour(tokens, i, -1), neighbour(tokens, i, 1)
        if token == "reinterpret_cast":
            cast = True
        elif cast and token == "(":
            end = neighbour(tokens, i, -1)
            cast = at(tokens, end) == ">" and at(tokens, neighbour(tokens, end, -1)) == "*"
        elif cast and token.kind not in BLANK and at(tokens, before) == "(":
            if token.text in names and at(tokens, after) == ")":
                result.append(Token("operator", "+"))
            cast = False
        result.append(token)
    return result
