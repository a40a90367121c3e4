"""Rewrites __shared__ variables."""
import re

from cuda_tokens import RewriteError, Token, at, join, statement_begin, statement_end, tokenize

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
