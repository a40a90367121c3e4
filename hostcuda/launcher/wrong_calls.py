"""If an API call has wrong arguments, replaces the compiler's messages by a one-line message."""
import re

ERROR = re.compile(r"^(?P<place>\S+:\d+:\d+: )(?:fatal )?error: (?P<what>.*)$")
CONTEXT = re.compile(r"^(?:In file included from |In function |\S+: In |\S+: At )")
FUNCTION = r"(?P<function>(?:cuda|cublas|curand)[A-Z]\w*)"
# These expressions match parts of g++'s messages and, after a `|`, parts of clang++'s.
NO_MATCH = re.compile(rf"no matching function for call to [‘']{FUNCTION}")
NUMBER = re.compile(r"too (?:few|many) arguments to function [‘']\w+ " + FUNCTION)
CONVERSION = re.compile(r"invalid conversion|cannot convert")
OF_ARGUMENT = re.compile(r"initializing argument (\d+) of ‘\w+ "
                         r"(?P<function>(?:cuda|cublas|curand)[A-Z]\w*)(?P<takes>\([^’]*\))’")
TAKES = re.compile(r"candidate: ‘\w+ \w+(\([^’]*\))’")
WHY = re.compile(
    r"no known conversion for argument (?P<number>\d+) from ‘(?P<given>[^’]+)’ to "
    r"‘(?P<wanted>[^’]+)’|"
    r"no known conversion from '(?P<given2>[^']+)' to '(?P<wanted2>[^']+)' for (?P<number2>\d+)"
)


def groups(errors):
    """Yields (match or None, lines) for each error. The compiler prints the function that contains
    an error in the lines before the error, so these lines belong to it too."""
    match, lines, waiting = None, [], []
    for line in errors.splitlines(keepends=True):
        if CONTEXT.match(line) or (waiting and line.startswith("                 from ")):
            waiting.append(line)
            continue
        if found := ERROR.match(line.rstrip("\n")):
            if lines:
                yield match, lines
            match, lines = found, []
        lines += waiting + [line]
        waiting = []
    if lines or waiting:
        yield match, lines + waiting


def in_one_line(error, text):
    """Returns a line that says what is wrong with the call, or None if the error is not about a
    call."""
    what = error["what"]
    if NUMBER.match(what):
        return what
    if CONVERSION.match(what) and (argument := OF_ARGUMENT.search(text)):
        return (
            f"{what.partition(' [-f')[0]}: argument {argument[1]} of "
            f"{argument['function']}{argument['takes']}"
        )
    call = NO_MATCH.match(what)
    if not call:
        return None
    takes, why = TAKES.search(text), WHY.search(text)
    said = call["function"] + (takes[1] if takes else "") + ": the arguments do not fit"
    if why:
        given, wanted = why["given"] or why["given2"], why["wanted"] or why["wanted2"]
        number = why["number"] or why["number2"]
        said += f": argument {number} has type {given}, not {wanted}"
        if wanted.count("*") == given.count("*") + 1:
            said += "; pass the address of the pointer (&)"
    return said


def one_line_each(errors):
    said = {}
    for error, lines in groups(errors):
        text = "".join(lines)
        line = in_one_line(error, text) if error else None
        said[f"{error['place']}error: {line}\n" if line else text] = True
    return "".join(said)
