"""Splits preprocessed CUDA C++ into tokens, and finds matching brackets and statements."""
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


class RewriteError(Exception):
    def __init__(self, message, token=None):
        super().__init__(message)
        self.token = token  # where the error is


class Token:
    __slots__ = ("kind", "text")

    def __init__(self, kind, text):
        self.kind, self.text = kind, text

    def __eq__(self, text):
        return self.kind != "text" and self.text == text


def tokenize(source):
    return [Token(match.lastgroup if match.lastgroup != "delimiter" else "text", match.group())
            for match in TOKEN.finditer(source)]


def join(tokens):
    return "".join(t.text for t in tokens)


def neighbour(tokens, i, step):
    """Returns the index of the next significant token after i, or before it if step is -1. The
    index may be out of range."""
    i += step
    while 0 <= i < len(tokens) and tokens[i].kind in BLANK:
        i += step
    return i


def at(tokens, i):
    return tokens[i].text if 0 <= i < len(tokens) and tokens[i].kind != "text" else ""


def is_callee(tokens, i):
    """True if the token at i can be the name of a called function, or a qualifier in that name."""
    return i >= 0 and tokens[i].kind == "name" and at(tokens, i) not in NOT_A_CALLEE


def opening_of(tokens, i):
    """Returns the index of the bracket that tokens[i] closes."""
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
    """Returns the index of the < that the > at i closes, in a list of template arguments."""
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


def is_triple(tokens, i, character):
    """If three adjacent tokens from i on are this character, returns the index of the third token,
    otherwise None.

    The preprocessor may put a blank between tokens that come from different macros.
    """
    second = neighbour(tokens, i, 1)
    third = neighbour(tokens, second, 1)
    if third >= len(tokens) or third - i > 4:
        return None
    same = tokens[i] == character and tokens[second] == character and tokens[third] == character
    return third if same else None


def line_breaks(tokens):
    """Returns the line ends and line markers among tokens that are dropped. The output must keep
    these, so that line numbers stay right."""
    kept = ""
    for token in tokens:
        if token.kind == "directive":
            kept += token.text
        elif token.kind == "space":
            kept += "\n" * token.text.count("\n")
    return kept


def with_depth(tokens, begin):
    """Yields (index, text, nesting depth after the token) for the tokens from `begin` on."""
    depth = 0
    for i in range(begin, len(tokens)):
        text = at(tokens, i)
        depth += (text in CLOSING) - (text in OPENING)
        yield i, text, depth


def statement_end(tokens, i):
    """Returns the index of the ; that ends the statement containing tokens[i]."""
    for end, text, depth in with_depth(tokens, i):
        if text == ";" and depth == 0:
            return end
    raise RewriteError("__shared__ without ;")


def statement_begin(output):
    """Returns the index in `output` at which the current statement starts."""
    i = neighbour(output, len(output), -1)
    while i >= 0 and not at(output, i).rstrip().endswith((";", "{", "}")):
        i = neighbour(output, i, -1)
    return neighbour(output, i, 1)


def parenthesised(tokens, i, whole=False):
    """Returns (index after the closing parenthesis, text) of the parenthesised list that follows
    tokens[i]. The text is the first argument or, if `whole` is True, the whole list."""
    begin = neighbour(tokens, i, 1)
    argument_end = None
    for k, text, depth in with_depth(tokens, begin):
        if depth == 1 and text == "," and argument_end is None:
            argument_end = k
        if depth == 0:
            return k + 1, join(tokens[begin + 1:k if whole else argument_end or k])
    raise RewriteError(f"{tokens[i].text} without )", tokens[i])


def argument_place(tokens, opening, number):
    """Returns (index at which argument `number` starts, index after its end) for the call whose (
    is at `opening`."""
    begin = opening + 1
    for i, text, depth in with_depth(tokens, opening):
        if depth == 0 or (depth == 1 and text == ","):
            if number == 0:
                return begin, i
            number, begin = number - 1, i + 1
        if depth == 0:
            break
    raise RewriteError("too few arguments", tokens[opening])
