"""Translates inline PTX to calls of include/hostcuda/ptx/instructions.h.

An asm statement becomes a lambda. Its operands become references and values, its registers become
local variables, and each instruction becomes a call or an assignment. INSTRUCTIONS, below, lists
the known instructions, which are those that course programs use. Any other instruction is rejected
with a message that contains its name.
"""
import re

from cuda_tokens import RewriteError, Token, join, line_breaks, parenthesised, with_depth

PTX = "::hostcuda::ptx::"
TYPES = {"pred": "bool", "b8": "unsigned char", "u8": "unsigned char", "s8": "signed char",
         "b16": "unsigned short", "u16": "unsigned short", "s16": "short",
         "b32": "unsigned", "u32": "unsigned", "s32": "int", "b64": "unsigned long long",
         "u64": "unsigned long long", "s64": "long long", "f16": f"{PTX}Half",
         "bf16": f"{PTX}Bfloat16", "f16x2": f"{PTX}Half2", "bf16x2": f"{PTX}Bfloat162",
         "f32": "float", "f64": "double"}
WIDE = {"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}
TYPE = r"(?P<type>[usbf](?:8|16|32|64)|pred|bf16|f16x2|bf16x2)"
WORD = r"(?P<type>[us](?:32|64))"
SPACE = r"(?:\.(?P<space>global|shared|local|const|param))?(?:::\w+)?"
# Qualifiers for the order or the caching of an access, which the emulation ignores.
HOW = r"(?:\.(?:nc|weak|relaxed|acquire|release|acq_rel|sys|gpu|cta|cluster|ca|cg|cs|lu|cv|wb|wt|" \
      r"L1::\w+|L2::\w+))*"
ROUNDING = r"(?:\.(?:rn|rz|rm|rp|rna|approx|full|ftz|sat|satfinite))*"
COUNT = r"\.x(?P<count>[124])\b"


def matrices(name, *needed):
    """Returns the pattern of an instruction whose modifiers ptxas takes in any order."""
    needed = (r"\.sync\b", r"\.aligned\b", r"\.m8n8\b", r"\.b16\b", *needed)
    return (name + "".join(rf"(?=.*{one})" for one in needed)
            + r"(?=(?:.*\.(?P<trans>trans)\b)?)(?=(?:.*\.(?P<space>shared)\b)?)"
            + r"(?:\.(?:sync|aligned|m8n8|b16|x[124]|trans|shared(?:::cta)?))+")


SPECIAL = {
    "laneid": "::hostcuda::lane()", "warpid": f"({PTX}thread() / 32)", "nwarpid":
    "((::hostcuda::block_size() + 31) / 32)", "smid": "0u", "nsmid": "1u", "gridid": "0ull",
    "clock": "static_cast<unsigned>(clock64())", "clock64": "clock64()",
    "globaltimer": "clock64()", "globaltimer_lo": "static_cast<unsigned>(clock64())",
    "lanemask_eq": "(1u << ::hostcuda::lane())", "lanemask_lt": "((1u << ::hostcuda::lane()) - 1)",
    "lanemask_le": "((2u << ::hostcuda::lane()) - 1)", "lanemask_gt":
    "~((2u << ::hostcuda::lane()) - 1)", "lanemask_ge": "~((1u << ::hostcuda::lane()) - 1)",
    **{f"{short}.{axis}": f"{long}.{axis}" for axis in "xyz" for short, long in
       (("tid", "threadIdx"), ("ctaid", "blockIdx"), ("ntid", "blockDim"), ("nctaid", "gridDim"))},
}

# For each instruction, a pattern that matches its name, and the C++ code that replaces it: an
# expression, or a word in capitals, which stands for a function below. In an expression, {0}, {1},
# ... are the operands, {t} is the type, {w} is the type of twice that size, and other names in
# braces are groups of the pattern.
INSTRUCTIONS = [(re.compile(pattern + "$"), meaning) for pattern, meaning in (
    (rf"mov\.{TYPE}", "set({0}, {1})"),
    (rf"cvta(?:\.to)?{SPACE}\.u(?:32|64)", "CVTA"),
    (rf"cvt(?P<round>{ROUNDING})\.(?P<to>f16x2|bf16x2)\.f32", "set({0}, pack<{to}>({1}, {2}))"),
    (rf"cvt(?P<round>{ROUNDING})\.tf32\.f32", "set({0}, tf32({1}))"),
    (rf"cvt(?P<round>(?:\.r[nzmp]i?|\.sat|\.ftz)*)\.(?P<to>\w+)\.{TYPE}",
     "set({0}, convert<{to}>(as<{t}>({1}), {r}))"),
    (rf"(?P<op>add|sub)(?:(?P<reads>c)|(?=\.cc))(?P<sets>\.cc)?\.{WORD}",
     "set({0}, carry_{op}<{t}, {reads}, {sets}>({1}, {2}))"),
    (rf"mad(?:(?P<reads>c)|(?=\.(?:lo|hi)\.cc)|(?=\.hi))\.(?P<half>lo|hi)(?P<sets>\.cc)?\.{WORD}",
     "set({0}, carry_add<{t}, {reads}, {sets}>(mul_{half}<{t}>({1}, {2}), {3}))"),
    (rf"(?P<op>add|sub|div|rem|and|or|xor|min|max|shl|shr|mul(?:\.lo|\.hi)?){ROUNDING}\.{TYPE}",
     "set({0}, {op}<{t}>({1}, {2}))"),
    (r"mul24\.(?P<half>lo|hi)\.(?P<type>[us]32)", "set({0}, mul24_{half}<{t}>({1}, {2}))"),
    (r"mad24\.(?P<half>lo|hi)\.(?P<type>[us]32)",
     "set({0}, add<{t}>(mul24_{half}<{t}>({1}, {2}), {3}))"),
    (rf"mul\.wide\.{TYPE}", "set({0}, mul<{w}>(as<{t}>({1}), as<{t}>({2})))"),
    (rf"mad\.wide\.{TYPE}", "set({0}, mad<{w}>(as<{t}>({1}), as<{t}>({2}), {3}))"),
    (rf"(?P<op>mad|fma)(?:\.lo)?{ROUNDING}\.{TYPE}", "set({0}, {op}<{t}>({1}, {2}, {3}))"),
    (rf"(?P<op>not|neg|abs|popc|clz|brev|sqrt|rsqrt|rcp|ex2|lg2|sin|cos|tanh){ROUNDING}\.{TYPE}",
     "set({0}, op_{op}<{t}>({1}))"),
    (rf"bfind(?P<shift>\.shiftamt)?\.{TYPE}", "set({0}, find_bit<{t}>({1}, {shift}))"),
    (rf"setp\.(?P<op>eq|ne|lt|le|gt|ge|lo|ls|hi|hs)(?:\.ftz)?\.{TYPE}",
     "set({0}, {op}<{t}>({1}, {2}))"),
    (rf"selp\.{TYPE}", "set({0}, {3} ? as<{t}>({1}) : as<{t}>({2}))"),
    (rf"slct(?:\.ftz)?\.{TYPE}\.(?P<by>s32|f32)",
     "set({0}, as<{by}>({3}) >= 0 ? as<{t}>({1}) : as<{t}>({2}))"),
    (r"vabsdiff4\.(?:u32|s32)\.(?P<type>u32|s32)\.(?P<b>u32|s32)(?P<add>\.add)?", "VABSDIFF4"),
    (r"prmt\.b32", "set({0}, ::hostcuda::permuted_bytes({1}, {2}, {3}))"),
    (rf"bfe\.{TYPE}", "set({0}, bfe<{t}>({1}, {2}, {3}))"),
    (r"bfi\.(?P<type>b32|b64)", "set({0}, bfi<{t}>({1}, {2}, {3}, {4}))"),
    (r"shf\.(?P<op>[lr])\.wrap\.b32", "set({0}, __funnelshift_{op}({1}, {2}, {3}))"),
    (r"shf\.(?P<op>[lr])\.clamp\.b32", "set({0}, __funnelshift_{op}c({1}, {2}, {3}))"),
    (r"fns\.b32", "set({0}, __fns({1}, {2}, {3}))"),
    (r"dp4a\.(?P<type>u32|s32)\.(?P=type)",
     "set({0}, __dp4a(as<{t}>({1}), as<{t}>({2}), as<{t}>({3})))"),
    (rf"sad\.{TYPE}", "set({0}, sad<{t}>({1}, {2}, {3}))"),
    (r"lop3\.b32", "set({0}, lop3({1}, {2}, {3}, {4}))"),
    (rf"ld(?P<volatile>\.volatile)?{HOW}{SPACE}{HOW}(?:\.v[24])?\.{TYPE}", "LOAD"),
    (rf"st(?P<volatile>\.volatile)?{HOW}{SPACE}{HOW}(?:\.v[24])?\.{TYPE}", "STORE"),
    (rf"(?P<what>atom|red){HOW}{SPACE}{HOW}\.(?P<op>add|min|max|and|or|xor|exch|cas|inc|dec)"
     rf"(?:\.noftz)?\.{TYPE}", "ATOMIC"),
    (rf"cp\.async\.c[ag]\.shared(?:::\w+)?\.global{HOW}", "COPY"),
    (r"cp\.async\.commit_group", "commit_copies()"),
    (r"cp\.async\.wait_group", "wait_for_copies({0})"),
    (r"cp\.async\.wait_all", "wait_for_copies(0)"),
    (matrices("ldmatrix", COUNT), "LDMATRIX"),
    (matrices("stmatrix", COUNT), "STMATRIX"),
    (matrices("movmatrix", r"\.trans\b"), "set({0}, transposed(bits_of({1})))"),
    (r"mma\.sync\.aligned\.m16n8k(?P<k>\d+)\.row\.col(?:\.satfinite)?\.(?P<d>f16|f32|s32)\."
     r"(?P<a>f16|bf16|tf32|[su]8)\.(?P<b>f16|bf16|tf32|[su]8)\.(?P<c>f16|f32|s32)", "MMA"),
    (r"(?:bar|barrier)(?:\.cta)?\.sync(?:\.aligned)?", "BARRIER"),
    (r"bar\.warp\.sync", "__syncwarp({0})"),
    (r"membar\.cta|fence(?:\.(?:sc|acq_rel))?\.cta", "__threadfence_block()"),
    (r"membar\.(?:gl|sys)|fence(?:\.\w+)*", "__threadfence()"),
    (r"shfl\.sync\.(?P<op>up|down|bfly|idx)\.b32", "SHFL"),
    (r"match\.any\.sync\.(?P<type>b32|b64)", "set({0}, __match_any_sync({2}, as<{t}>({1})))"),
    (r"vote\.sync\.ballot\.b32", "set({0}, __ballot_sync({2}, {1}))"),
    (r"vote\.sync\.(?P<op>any|all)\.pred", "set({0}, __{op}_sync({2}, {1}) != 0)"),
    (r"redux\.sync\.(?P<op>add|min|max|and|or|xor)\.(?P<type>[usb]32)",
     "set({0}, __reduce_{op}_sync({2}, as<{t}>({1})))"),
    (r"activemask\.b32", "set({0}, __activemask())"),
    (r"nanosleep\.u32", "__nanosleep({0})"),
    (r"trap", "__trap()"),
    (r"brkpt|prefetchu?(?:\.\w+)*(?:::\w+)*|discard(?:\.\w+)*|griddepcontrol\.\w+|pmevent", ""),
)]
OURS = re.compile(r"\b(set|as|pack|tf32|convert|add|sub|div|rem|and_|or_|xor_|min|max|shl|shr|mul|"
                  r"mul_lo|mul_hi|mul24_\w+|mad|fma|carry_\w+|bfi|sad|flushed|op_\w+|find_bit|"
                  r"eq|ne|lt|le|gt|ge|bfe|lop3|commit_copies|wait_for_copies|bits_of|transposed|"
                  r"saturated)"
                  r"(?=[<(])")
WORDS = {"and": "and_", "or": "or_", "xor": "xor_", "mul.lo": "mul", "mul.hi": "mul_hi",
         "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
ROUNDS = {"rzi": "0", "rni": "1", "rmi": "2", "rpi": "3"}


class Operands:
    """The operands of an asm statement: their C++ declarations, and their names in the text."""

    def __init__(self, sections):
        self.declarations, self.names = [], {}
        for section, tokens in enumerate(sections[:2]):
            for operand in split(tokens, ","):
                text = join(operand).strip()
                match = re.match(r'(?:\[\s*(\w+)\s*\]\s*)?"([^"]*)"\s*\((.*)\)$', text, re.S)
                if not match:
                    if text:
                        raise RewriteError(f"inline PTX: cannot read the operand {text}")
                    continue
                name = f"hostcuda_{len(self.declarations)}"
                self.names[str(len(self.declarations))] = self.names[f"[{match[1]}]"] = name
                flat = " ".join(match[3].split())
                of = f"auto& {name} = {flat}" if section == 0 else f"const auto {name} = {flat}"
                self.declarations.append(of + ";")

    def replaced(self, text):
        """Returns the PTX with %0 and %[name] replaced by C++ names, and %% replaced by %."""
        if not self.declarations:
            return text.replace("%%", "%")
        return re.sub(r"%(%|\d+|\[\w+\])",
                      lambda m: "%" if m[1] == "%" else self.names.get(m[1], m[0]), text)


def split(tokens, separator):
    """Splits tokens at the separators that are outside all brackets."""
    parts, depth_before = [[]], 0
    for i, text, depth in with_depth(tokens, 0):
        if text == separator and depth == 0 == depth_before:
            parts.append([])
        else:
            parts[-1].append(tokens[i])
        depth_before = depth
    return parts


def string_of(tokens):
    """Returns the value of adjacent string literals."""
    value = ""
    for token in tokens:
        if token.kind != "text":
            continue
        raw = re.match(r'R"(.*?)\((.*)\)\1"$', token.text, re.S)
        value += raw[2] if raw else re.sub(
            r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), token.text[1:-1])
    return value


def separate_colons(tokens):
    """Splits each ::, which stands for an empty list of operands, into two colons."""
    separated, depth = [], 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if token == "::" and depth == 0:
            separated += [Token("operator", ":"), Token("operator", ":")]
        else:
            separated.append(token)
    return separated


def translate(tokens, i):
    """Returns (index after the asm statement, C++ code), or raises RewriteError. tokens[i] is the
    token before the statement's opening parenthesis."""
    end, _ = parenthesised(tokens, i)
    opening = next(k for k in range(i + 1, end) if tokens[k] == "(")
    sections = split(separate_colons(tokens[opening + 1:end - 1]), ":")
    operands = Operands(sections[1:])
    text = operands.replaced(string_of(sections[0]))
    body = "".join(statements(text))
    return end, (f"([&]() {{ {' '.join(operands.declarations)} {body} }}())"
                 f"{line_breaks(tokens[i:end])}")


def statements(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    # Braces at the beginning of a statement enclose a scope; all other braces enclose a vector.
    for part in re.findall(r"\s*(?:[{}](?=\s*[.@\w{}$%]|\s*$)|[\w$%]+\s*:(?!:)|[^;]*;)|\s*\S[^;]*$",
                           text):
        part = part.strip().rstrip(";").strip()
        if part in ("{", "}"):
            yield part + " "
        elif re.fullmatch(r"[\w$%]+\s*:", part):
            yield f"{name_of(part[:-1].strip())}: "
        elif part:
            yield statement(part)


def name_of(word):
    return re.sub(r"\W", "_", word if not word.startswith("%") else "ptx_" + word[1:])


def statement(part):
    if match := re.match(r"\.reg\s*\.(\w+)\s+(.*)$", part, re.S):
        return registers(match[1], match[2])
    guard = ""
    if match := re.match(r"@(!?)\s*(\S+)\s+(.*)$", part, re.S):
        guard, part = f"if ({match[1]}{operand(match[2])}) ", match[3]
    opcode, _, rest = part.partition(" ") if " " in part else part.partition("\t")
    if opcode.startswith("bra"):
        return f"{guard}goto {name_of(rest.strip())}; "
    if re.match(r"prefetchu?\.|discard\.", opcode):
        return f"{guard}{{ }} "
    arguments = [one.strip() for one in re.findall(r"(?:\{[^}]*\}|\[[^]]*\]|[^,{[])+", rest)]
    for pattern, meaning in INSTRUCTIONS:
        if match := pattern.match(opcode):
            return f"{guard}{{ {expression(match, meaning, arguments, opcode)}; }} "
    raise not_emulated(opcode)


def registers(kind, names):
    if kind not in TYPES:
        raise RewriteError(f"inline PTX: registers of type {kind} are not emulated")
    declared = ""
    for name in (one.strip() for one in names.split(",")):
        many = re.fullmatch(r"(\S+)<(\d+)>", name)
        each = [f"{many[1]}{k}" for k in range(int(many[2]))] if many else [name]
        declared += "".join(f"[[maybe_unused]] {TYPES[kind]} {name_of(one)}{{}}; " for one in each)
    return declared


def operand(word):
    """Returns the C++ expression of an operand that is neither a vector nor an address."""
    word = word.strip()
    if word.startswith("%") and word[1:] in SPECIAL:
        return SPECIAL[word[1:]]
    if match := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", word):
        return f"__uint_as_float(0x{match[1]}u)"
    if match := re.fullmatch(r"0[dD]([0-9a-fA-F]{16})", word):
        return f"__longlong_as_double(0x{match[1]})"
    if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)U?", word):
        return word.rstrip("U")
    if not re.fullmatch(r"[%$\w]+", word):
        raise RewriteError(f"inline PTX: cannot read the operand {word}")
    return name_of(word)


def vector(word):
    return [operand(one) for one in word.strip("{} \n\t").split(",")]


def address(word, space):
    inside = word.strip().strip("[]")
    base, plus, offset = inside.partition("+")
    of = f"{PTX}{'shared_address' if space == 'shared' else 'address'}({operand(base)})"
    return f"({of}{f' + {operand(offset)}' if plus else ''})"


# The instructions that are emulated for pairs of small floats.
OF_PAIRS = ("mov", "add", "sub", "mul", "fma", "neg", "atom", "red")


def expression(match, meaning, arguments, opcode):
    named = match.groupdict()
    if (named.get("type") or "").endswith("x2") and opcode.split(".")[0] not in OF_PAIRS:
        raise not_emulated(opcode)
    kind = TYPES.get(named.get("type") or "", "")
    if meaning == "CVTA":
        return of_cvta(match, arguments, opcode)
    if meaning in OF_MEMORY:
        return OF_MEMORY[meaning](named, kind, arguments)
    if opcode.startswith("mov.") and any(one.startswith("{") for one in arguments):
        if len(arguments) != 2 or kind not in ("unsigned", "unsigned long long"):
            raise not_emulated(opcode)
        to, of = arguments
        if of.startswith("{"):
            return f"{PTX}join({operand(to)}, {', '.join(vector(of))})"
        return f"{PTX}split({operand(of)}, {', '.join(vector(to))})"
    values = {str(k): operand(one) for k, one in enumerate(arguments)}
    op = named.get("op") or ""
    rounds = next((ROUNDS[one] for one in ROUNDS if one in (named.get("round") or "")), "-1")
    values.update(op=WORDS.get(op, op), t=kind, to=TYPES.get(named.get("to") or "", ""),
                  w=TYPES.get(WIDE.get(named.get("type") or "", ""), ""),
                  by=TYPES.get(named.get("by") or "", ""), r=rounds, half=named.get("half") or "",
                  **{one: "true" if named.get(one) else "false"
                     for one in ("shift", "reads", "sets")})
    meaning = with_modifiers(meaning, op, opcode)
    try:
        filled = re.sub(r"\{(\w+)\}", lambda m: values[m[1]], meaning)
    except KeyError:
        raise RewriteError(f"inline PTX: {opcode} needs more operands") from None
    return OURS.sub(lambda m: PTX + m[1], filled)


DIRECTIONS = {"rz": "rz", "rm": "rd", "rp": "ru"}


def with_modifiers(meaning, op, opcode):
    """Returns the meaning of an instruction whose name has .rz, .rm, .rp, .sat or .ftz."""
    name, *modifiers = opcode.split(".")
    direction = next((DIRECTIONS[one] for one in modifiers if one in DIRECTIONS), None)
    saturates, kind = "sat" in modifiers, modifiers[-1] if modifiers else ""
    if not direction and not saturates:
        return flushing(meaning, name) if "ftz" in modifiers else meaning
    letter = {"f32": "f", "f64": "d"}.get(kind)
    known = name in ("add", "sub", "mul", "div", "fma", "mad", "sqrt", "rcp")
    if name == "cvt":  # with integers, convert() limits the range as a GPU does
        if direction or not saturates or modifiers[-2:] not in (["f32", "f32"], ["f64", "f64"]):
            raise not_emulated(opcode)
    elif not known or not letter:
        raise not_emulated(opcode)
    if direction:
        function = {"fma": "fmaf" if letter == "f" else "fma"}.get("fma" if name == "mad" else name,
                                                                   letter + name)
        count = {"sqrt": 1, "rcp": 1, "fma": 3, "mad": 3}.get(name, 2)
        arguments = ", ".join(f"as<{{t}}>({{{k + 1}}})" for k in range(count))
        meaning = f"set({{0}}, __{function}_{direction}({arguments}))"
    if saturates:
        meaning = re.sub(r"^set\(\{0\}, (.*)\)$", r"set({0}, saturated(\1))", meaning)
    return flushing(meaning, name) if "ftz" in modifiers else meaning


def flushing(meaning, name):
    """Returns the meaning with .ftz: in operands and result, numbers that are too small for the
    format's usual precision (subnormal ones) count as zeros."""
    if name == "slct":
        return meaning.replace("as<{by}>({3})", "flushed<float>({3})")
    of = "{t}" if "{t}" in meaning else "float"
    meaning = re.sub(r"\{([1-9])\}", rf"flushed<{of}>({{\1}})", meaning)
    result = {"cvt": "{to}" if "{to}" in meaning else of, "setp": "bool"}.get(name, of)
    return re.sub(r"^set\(\{0\}, (.*)\)$", rf"set({{0}}, flushed<{result}>(\1))", meaning)


def not_emulated(opcode):
    return RewriteError(f"inline PTX: the instruction {opcode} is not emulated; put the CPU's "
                        "version of it between #ifdef __HOSTCUDA__ and #else")


def of_cvta(match, arguments, opcode):
    to, of = (operand(one) for one in arguments)
    if match["space"] != "shared":
        return f"{PTX}set({to}, {of})"
    if opcode.startswith("cvta.to"):
        return f"{PTX}set({to}, __cvta_generic_to_shared({PTX}address({of})))"
    return (f"{PTX}set({to}, reinterpret_cast<unsigned long long>("
            f"{PTX}shared_address({of})))")


def of_load(named, kind, arguments):
    how = "volatile " if named["volatile"] else ""
    targets = vector(arguments[0])
    at = address(arguments[1], named["space"])
    return "; ".join([f"const auto loaded = {PTX}load<{how}{kind}, {len(targets)}>({at})",
                      *(f"{PTX}set({one}, loaded.element[{k}])"
                        for k, one in enumerate(targets))])


def of_store(named, kind, arguments):
    how = "volatile " if named["volatile"] else ""
    values = ", ".join(f"{PTX}as<{kind}>({one})" for one in vector(arguments[1]))
    return f"{PTX}store<{how}{kind}>({address(arguments[0], named['space'])}, {values})"


ATOMICS = {"add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "and": "atomicAnd",
           "or": "atomicOr", "xor": "atomicXor", "exch": "atomicExch", "cas": "atomicCAS",
           "inc": "atomicInc", "dec": "atomicDec"}


def of_atomic(named, kind, arguments):
    target = arguments.pop(0) if named["what"] == "atom" else None
    at = address(arguments[0], named["space"])
    values = ", ".join(f"{PTX}as<{kind}>({operand(one)})" for one in arguments[1:])
    call = f"{ATOMICS[named['op']]}(reinterpret_cast<{kind}*>({at}), {values})"
    return f"{PTX}set({operand(target)}, {call})" if target and target != "_" else call


def of_vabsdiff4(named, _, arguments):
    byte = {"u32": "unsigned char", "s32": "signed char"}
    d, a, b, c = (operand(one) for one in arguments)
    add = "true" if named["add"] else "false"
    return (f"{PTX}set({d}, {PTX}absolute_differences<{byte[named['type']]}, {byte[named['b']]}, "
            f"{add}>({a}, {b}, {c}))")


def of_copy(_, __, arguments):
    to, of = address(arguments[0], "shared"), address(arguments[1], "global")
    sizes = ", ".join(operand(one) for one in arguments[2:4])
    return f"{PTX}copy_later({to}, {of}, {sizes})"


def fragments(named, word):
    """Returns the registers of ldmatrix or stmatrix."""
    registers_of_lane = vector(word)
    if len(registers_of_lane) != int(named["count"]):
        raise RewriteError(f"inline PTX: .x{named['count']} needs a vector of {named['count']} "
                           f"registers, not {len(registers_of_lane)}")
    return registers_of_lane


def of_ldmatrix(named, _, arguments):
    at = address(arguments[1], named["space"])
    return "; ".join([f"const auto loaded = {PTX}load_matrices<{named['count']}, "
                      f"{'true' if named['trans'] else 'false'}>({at})",
                      *(f"{PTX}set({one}, loaded.element[{k}])"
                        for k, one in enumerate(fragments(named, arguments[0])))])


def of_stmatrix(named, _, arguments):
    values = ", ".join(f"{PTX}bits_of({one})" for one in fragments(named, arguments[1]))
    return (f"{PTX}store_matrices<{named['count']}, {'true' if named['trans'] else 'false'}>"
            f"({address(arguments[0], named['space'])}, {{{values}}})")


ELEMENTS = {"f16": "Half", "bf16": "Bfloat16", "tf32": "float", "s8": "signed char",
            "u8": "unsigned char"}
SUMS = {"f32": "float", "s32": "int", "f16": "Half"}


def of_mma(named, _, arguments):
    d, a, b, c = (vector(one) for one in arguments)
    of = [f"{PTX}{one}" if one[0].isupper() else one
          for one in (ELEMENTS[named["a"]], ELEMENTS[named["b"]], SUMS[named["c"]])]
    inputs = ", ".join(f"{{{', '.join(f'{PTX}bits_of({one})' for one in each)}}}"
                       for each in (a, b, c))
    call = f"{PTX}multiply<{named['k']}, {', '.join(of)}>({inputs})"
    return "; ".join([f"const auto product = {call}",
                      *(f"{PTX}set_bits({one}, product.element[{k}])" for k, one in enumerate(d))])


def of_barrier(_, __, arguments):
    if len(arguments) > 1 or arguments[0].strip() != "0":
        raise RewriteError("inline PTX: only bar.sync 0, the barrier of all threads, is emulated")
    return "__syncthreads()"


SHUFFLES = {"up": "__shfl_up_sync", "down": "__shfl_down_sync", "bfly": "__shfl_xor_sync",
            "idx": "__shfl_sync"}


def of_shuffle(named, _, arguments):
    target, value, lane, clamp, mask = arguments
    width = f"(32 - ({operand(clamp)} >> 8 & 31))"
    return (f"{PTX}set({operand(target.partition('|')[0])}, {SHUFFLES[named['op']]}("
            f"{operand(mask)}, {operand(value)}, {operand(lane)}, {width}))")


OF_MEMORY = {"LOAD": of_load, "STORE": of_store, "ATOMIC": of_atomic, "COPY": of_copy,
             "VABSDIFF4": of_vabsdiff4, "LDMATRIX": of_ldmatrix, "STMATRIX": of_stmatrix,
             "MMA": of_mma, "BARRIER": of_barrier, "SHFL": of_shuffle}
