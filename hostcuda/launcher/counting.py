"""Compiles a .cu file so that the program counts the operations of its kernels: each addition,
division, shuffle, ... in the source.

clang++ translates the file to unoptimised LLVM IR, in which each operator of the source is one
instruction with its source line. This module inserts a counter at the start of each basic block,
and a table of the block's operations. Then clang++ optimises and compiles the result. When the
program runs, ../count adds up the counters for each kernel.

Only code in the user's files is counted. A call of a library function counts as the operation that
its name suggests (fmaf, rsqrtf, __shfl_sync), or as nothing.
"""
import hashlib
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

# Maps LLVM's names for operators to ours.
OPERATORS = {
    "fadd": "add",
    "fsub": "add",
    "fmul": "mul",
    "fdiv": "div",
    "frem": "function",
    "fcmp": "compare",
    "add": "add",
    "sub": "add",
    "mul": "mul",
    "sdiv": "div",
    "udiv": "div",
    "srem": "div",
    "urem": "div",
    "icmp": "compare",
    "shl": "logic",
    "lshr": "logic",
    "ashr": "logic",
    "and": "logic",
    "or": "logic",
    "xor": "logic",
}
CONVERSIONS = ("sitofp", "uitofp", "fptosi", "fptoui", "fpext", "fptrunc")
TYPES = {"float": "float32", "double": "float64", "half": "float16", "bfloat": "float16"}
# Maps names of functions to operations. The first pattern that matches a name applies.
FUNCTIONS = tuple((kind, re.compile(rf"(?:{names})$")) for kind, names in (
    ("shuffle", r"__shfl\w*|shfl\w*|__match_\w+|match_\w+|__reduce_\w+|reduce|\w+clusive_scan"),
    ("vote", r"__(?:ballot|any|all)(?:_sync)?|ballot|any|all|__activemask|coalesced_threads"),
    ("warp_barrier", r"__syncwarp"),
    ("barrier", r"__syncthreads\w*|__barrier_sync|sync|arrive_and_wait|barrier_wait"),
    ("rsqrt", r"rsqrtf?|__frsqrt_rn|hrsqrt|h2rsqrt"),
    ("sqrt", r"sqrtf?|__[fd]sqrt_\w+|hsqrt|h2sqrt"),
    ("fma", r"fmaf?|__fmaf_\w+|__fma_r\w|__hfma2?\w*|__hfma2?_relu"),
    ("add", r"__[fdh](?:add|sub)2?(?:_\w+)?|operator[-+]=?"),
    ("mul", r"__[fdh]mul2?(?:_\w+)?|__u?mul24|__u?mul(?:64)?hi|operator\*=?"),
    ("div", r"__[fd]?div_\w+|__fdividef|fdividef|__[fd]rcp_\w+|__h2?div2?|operator/=?"),
    ("compare", r"f(?:min|max)f?|u?min|u?max|clamp|__h(?:min|max|eq|ne|lt|le|gt|ge)2?|__saturatef|"
                r"operator(?:[<>]=?|[!=]=)"),
    ("function", r"r?(?:sin|cos|tan|sincos|exp|log|pow|cbrt|hypot|norm|erf|gamma|fmod|remainder|"
                 r"asin|acos|atan|sinh|cosh|tanh|j0|j1|y0|y1|lgamma|tgamma|powi|expm|fdim)\w*"),
))
SILENT = re.compile(r"lifetime|dbg|memcpy|memset|memmove|fabs|copysign|assume|expect|stack")
OF_HALF = re.compile(r"__h[a-z]|h2?(?:r?sqrt|exp|log)|operator")  # in hostcuda's headers

FUNCTION = re.compile(r'^define .*?@("[^"]+"|[\w.$]+)\(.*?(?:!dbg !(\d+))?[^!]*\{$')
DECLARED = re.compile(r'^declare (?:!dbg !(\d+) )?.*?@("[^"]+"|[\w.$]+)\(')
LABEL = re.compile(r'^(?:"[^"]+"|[\w.$-]+):')
OPERATOR = re.compile(r"^  (?:%\S+ = )?(" + "|".join((*OPERATORS, *CONVERSIONS)) +
                      r") ((?:(?!float|double|half|bfloat|ptr)[a-z]+ )*)(<[^>]+>|\S+) ")
CALL = re.compile(
    r'^  (?:%\S+ = )?(?:tail |musttail |notail )?(?:call|invoke) (.*?)@("[^"]+"|[\w.$]+)\('
)
OF_LANES = re.compile(
    r"lanes_group|thread_block_tile|coalesced_group"
)  # groups smaller than a block
STANDARD_TEMPLATE = re.compile(r"_ZSt\d[a-z_]+I([fd])E")
PLACE = re.compile(r"!dbg !(\d+)")
FIRST_OF_BLOCK = re.compile(r"^  (?:%\S+ = )?(?:phi|landingpad|cleanup|catch|filter)\b|^          ")
TYPED_POINTER = re.compile(
    r"^  %\S+ = load .*\* [%@]", re.M
)  # clang 14 and older write i64*; later versions write ptr, which may also be a variable's name
METADATA = re.compile(r"^!(\d+) = (?:distinct )?!DI(\w+)\((.*)\)$", re.M)
FIELD = re.compile(r'(\w+): (?:!(\d+)|"((?:[^"\\]|\\.)*)"|(\d+))')


class Notes:
    """The source locations in the IR: lines, files and function names."""

    def __init__(self, code):
        self.all = {
            number: {
                "kind": kind,
                **{
                    name: reference or text or value
                    for name, reference, text, value in FIELD.findall(fields)
                },
            }
            for number, kind, fields in METADATA.findall(code)
        }

    def name(self, number):
        found = self.all.get(number or "", {})
        return (
            re.sub(r"(?<=\w)<.*", "", found.get("name", ""))
            if found.get("kind") == "Subprogram"
            else ""
        )

    def file(self, number):
        note = self.all.get(number or "", {})
        while note and "file" not in note:
            note = self.all.get(note.get("scope", ""), {})
        named = self.all.get(note.get("file", ""), {})
        return os.path.join(named.get("directory", ""), named.get("filename", ""))

    def place(self, number):
        note = self.all[number]
        return self.file(note["scope"]), int(note["line"])


def operation(line, names):
    """Returns (type, operation) if the line of IR computes something, otherwise None."""
    if match := OPERATOR.match(line):
        word, flags, of = match.groups()
        if word in CONVERSIONS:
            return "conversion", "convert"
        if of == "i1" or "exact" in flags:  # booleans and pointer differences are not counted
            return None
        of = re.sub(r"[<>]|\d+ x ", "", of)
        return (TYPES.get(of, "integer"), OPERATORS[word])
    if match := CALL.match(line):
        returned, symbol = match.groups()
        if SILENT.search(symbol) and symbol.startswith("llvm."):
            return None
        if symbol.startswith("llvm."):
            name = symbol.split(".")[1].replace("num", "")
            name = {"minimum": "min", "maximum": "max", "smin": "min", "smax": "max"}.get(
                name, name
            )
            return kind_of_call(name, returned, False)
        if match := STANDARD_TEMPLATE.match(symbol):  # std::min returns a reference
            returned = {"f": "float", "d": "double"}[match[1]]
        name = names.get(symbol, symbol)
        if name == "sync" and OF_LANES.search(symbol):
            name = "__syncwarp"
        return kind_of_call(name, returned, symbol.startswith("_Z"))
    return None


def kind_of_call(name, returned, may_be_half):
    kind = next((kind for kind, pattern in FUNCTIONS if pattern.match(name)), None)
    if kind in ("shuffle", "vote", "barrier", "warp_barrier"):
        return "threads", kind
    of = next((TYPES[word] for word in returned.split() if word in TYPES), "integer")
    if of != "float32" and may_be_half and OF_HALF.match(name):
        of = "float16"
    return kind and (of, kind)


def counted(code, user_files, name):
    """Inserts counters into the IR; `name` distinguishes this file from other files of the
    program."""
    notes = Notes(code)
    users = {os.path.abspath(file) for file in user_files}
    lines = code.split("\n")
    # own: the user's functions. Their bodies are counted, so calls of them are not counted.
    names, own = {}, set()
    for line in lines:
        if match := FUNCTION.match(line):
            number = re.search(r"!dbg !(\d+)", line)
            names[match[1]] = notes.name(number and number[1])
            if number and os.path.abspath(notes.file(number[1])) in users:
                own.add(match[1])
        elif match := DECLARED.match(line):
            names[match[2]] = notes.name(match[1]) or match[2]
    marker = "hostcuda_counts_" + hashlib.sha256(name.encode()).hexdigest()[:16]
    output, table, blocks = [], [], 0
    block, inside, waiting = Counter(), False, False

    def end_block():
        table.extend(f"{blocks - 1}\t{line}\t{of}\t{kind}\t{number}\t{file}"
                     for (file, line, of, kind), number in block.items())
        block.clear()

    pointer = "i64*" if TYPED_POINTER.search(code) else "ptr"
    for line in lines:
        if match := FUNCTION.match(line):
            inside = waiting = match[1] in own
        elif line == "}":
            if inside:
                end_block()
            inside = False
        elif inside and LABEL.match(line):
            end_block()
            waiting = True
        elif inside and line.strip():
            if waiting and not FIRST_OF_BLOCK.match(line):
                output += increment(marker, blocks, pointer)
                blocks, waiting = blocks + 1, False
            note = PLACE.search(line)
            call = CALL.match(line)
            found = note and not (call and call[2] in own) and operation(line, names)
            if found and (place := notes.place(note[1]))[1]:
                block[(*place, *found)] += 1
        output.append(line)
    size = f"[{blocks} x i64]"
    return "\n".join(output).replace(f"[?{marker}]", size) + declarations(
        marker, size, "\n".join(table), pointer
    )


def increment(marker, number, pointer):
    base = "ptr" if pointer == "ptr" else f"[?{marker}]*"
    at = f"{pointer} getelementptr inbounds ([?{marker}], {base} @{marker}, i64 0, i64 {number})"
    value = f"%hostcuda.{number}"
    return [f"  {value} = load i64, {at}, align 8", f"  {value}.more = add i64 {value}, 1",
            f"  store i64 {value}.more, {at}, align 8"]


def declarations(marker, size, table, pointer):
    """Returns IR that declares the counters and a record that contains their address. The record is
    in a section whose bounds the linker defines."""
    text = table.encode() + b"\0"
    bytes_of_text = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else f"\\{byte:02X}" for byte in text
    )
    array = f"[{len(text)} x i8]"
    if pointer == "ptr":
        types, values = "{ ptr, i64, ptr, ptr }", (
            f"ptr @{marker}, i64 {size[1:].split()[0]}, ptr @{marker}.table, ptr "
            "@hostcuda_reads_counts")
    else:
        types, values = "{ i64*, i64, i8*, i8* }", (
            f"i64* getelementptr inbounds ({size}, {size}* @{marker}, i64 0, i64 0), "
            f"i64 {size[1:].split()[0]}, i8* getelementptr inbounds ({array}, {array}* "
            f"@{marker}.table, i64 0, i64 0), i8* @hostcuda_reads_counts")
    return f"""
@{marker} = hidden global {size} zeroinitializer, align 8
@{marker}.table = hidden constant {array} c"{bytes_of_text}", align 1
@{marker}.record = hidden global {types} {{ {values} }}, section "hostcuda_counts", align 8
@hostcuda_reads_counts = external global i8
"""


def compile_counted(compiler, options, rewritten, output, user_files):
    """Compiles `rewritten`, a file without CUDA syntax, to an object file whose code counts its
    operations; returns an exit code."""
    code = output + ".ll"
    quiet = ["-w", "-Qunused-arguments"]
    ended = subprocess.run(
        [
            compiler,
            *options,
            *quiet,
            "-O1",
            "-Xclang",
            "-disable-llvm-passes",
            "-ffp-contract=off",
            "-g1",
            "-x",
            "c++-cpp-output",
            "-S",
            "-emit-llvm",
            rewritten,
            "-o",
            code,
        ],
        check=False,
    )
    if ended.returncode:
        return ended.returncode
    as_it_is = {"encoding": "utf-8", "errors": "surrogateescape"}
    text = counted(Path(code).read_text(**as_it_is), user_files, os.path.abspath(output))
    Path(code).write_text(text, **as_it_is)
    return subprocess.run(
        [compiler, *options, *quiet, "-O2", "-g1", "-x", "ir", "-c", code, "-o", output],
        check=False,
    ).returncode
