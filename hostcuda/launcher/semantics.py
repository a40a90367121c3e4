"""Runs clang++ to find programs that confuse host code with device code. nvcc reports such errors,
but a host compiler cannot find them, because it treats all functions alike.

clang reads the file as CUDA, with the declarations of include/hostcuda/semantics.h, but does not
compile it. Only the kinds of errors below are reported, and only in the user's own files, because
the host compiler reports all other errors. clang also finds local variables that are used before
they have a value.
"""
import os
import re
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import cuda_rewrite

MESSAGE = re.compile(r"^(\S.*?:\d+:\d+): (error|warning|note): (.*?)(?: \[-W[^\]]*\])?$")
KINDS = re.compile(
    r"reference to __(host|device|global)__ |call to global function|kernel function type|"
    r"__shared__ local variables not allowed|initialization is not supported for __shared__|"
    r"execution configuration arguments|cannot use 'throw'|cannot use 'try'|variable-length arrays "
    r"in __|"
    r"dynamic initialization is not supported for __device__")
# The message about a call that fits no overload. The message is reported only if the overloads
# belong to the other side (host or device), or if the call is a launch.
NO_MATCH = re.compile(
    r"no matching (?:member )?(?:function for call to|constructor for initialization of) '(.*)'"
)
OTHER_SIDE = re.compile(
    r"candidate \w+(?: template)? not viable: call to (__\w+__) function from (__[\w ]+__) function"
)
NOT_VIABLE = re.compile(r"candidate \w+(?: template)? not viable: (.*)")
ARGUMENTS = re.compile(
    r"too (?:few|many) arguments to function call|cannot initialize a parameter of type|"
    r"no viable conversion from"
)
NOT_CONFIGURED = re.compile(r"call to global function '?([^' ]+)'? not configured")
# Not an error: clang does not know dynamic parallelism.
LAUNCH_IN_KERNEL = re.compile(
    r"reference to __global__ function '(.*)' in __(?:global|device)__ function"
)

STANDARD_HEADER = re.compile(r"/c\+\+/[\w.]+/([\w.]+)$")
# clang 15 and later versions have the keyword __noinline__.
KEYWORD = """#if __clang_major__ < 15
#define __noinline__ __attribute__((noinline))
#endif
"""
# Variables that exist only in kernels. For clang they are declared as device functions, because
# clang rejects a device function in host code but accepts a device variable.
OF_KERNELS = {"threadIdx": "uint3", "blockIdx": "uint3", "blockDim": "dim3", "gridDim": "dim3"}
WARNINGS = (
    "-Wno-everything",
    "-Wuninitialized",
    "-Wno-uninitialized-const-reference",
    "-Wno-static-self-init",
)
# Macros that nvcc defines while it compiles a .cu file.
OF_NVCC = ("-D__CUDACC__=1", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
           "-D__CUDACC_VER_BUILD__=0")
ONLY = "hostcuda_only_"
PATIENCE = 20  # seconds of processor time, because clang 14 hangs if a kernel launches itself


def find_clang():
    """Returns the newest installed clang++, or None; 14 is the oldest known to work."""
    for name in ("clang++", *(f"clang++-{version}" for version in range(30, 13, -1))):
        if path := shutil.which(name):
            return path
    return None


# nvcc and g++ read extern "C"__global__ as two tokens, but clang reads "C"__global__ as a literal
# with a suffix.
GLUED = re.compile(r'(\bextern\s*"C")(__\w+__)')


def separated(source):
    """Returns (file, options), with which clang reads the source. The file is a temporary copy if
    the source contains a match of GLUED."""
    text = Path(source).read_text(encoding="utf-8", errors="surrogateescape")
    if not GLUED.search(text):
        return source, []
    with tempfile.NamedTemporaryFile("w", suffix=".cu", delete=False, encoding="utf-8",
                                     errors="surrogateescape") as copy:
        copy.write(f'# 1 "{source}"\n' + GLUED.sub(r"\1 \2", text))
    return copy.name, ["-iquote", os.path.dirname(os.path.abspath(source))]


class SemanticCheck:
    """Runs clang while the host compiler compiles the file. findings() waits until clang has
    ended."""

    def __init__(self, clang, source, text, include_folders, options):
        own = include_folders[0]
        self.files = set(cuda_rewrite.user_files(text, own))
        with tempfile.NamedTemporaryFile(
            "w", suffix=".h", delete=False, encoding="utf-8"
        ) as header:
            header.write(preamble(text, own))
        self.header = header.name
        self.source = source
        self.read, quoted = separated(source)
        self.process = subprocess.Popen(
            [clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc",
             "-nocudalib", "-fsyntax-only", "-ferror-limit=0", *WARNINGS, "-Xclang",
             "-fcuda-allow-variadic-functions", "-fno-caret-diagnostics", "-fno-crash-diagnostics",
             "-D__HOSTCUDA__=1", *OF_NVCC, *(f"-I{folder}" for folder in include_folders),
             *options, *quoted, "-include", self.header, self.read],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE)))

    def findings(self):
        """Returns two lists of lines: errors, and warnings about variables that are used before
        they have a value. Both lists are empty if this clang cannot check the file."""
        errors = self.process.communicate()[1]
        os.unlink(self.header)
        if self.read != self.source:
            os.unlink(self.read)
        messages = [match.groups() for match in map(MESSAGE.match, errors.splitlines()) if match]
        warnings = {f"{place}: warning: {text}": True
                    for number, (place, kind, text) in enumerate(messages)
                    if kind == "warning" and place.rsplit(":", 2)[0] in self.files
                    and not is_shuffled(notes_after(messages, number))}
        return list(mistakes(messages, self.files)), list(warnings)


def notes_after(messages, number):
    """Returns (place, text) of the notes that explain a message."""
    notes = []
    for place, kind, text in messages[number + 1:]:
        if kind != "note":
            break
        notes.append((place, text))
    return notes


def is_shuffled(notes):
    """True if a variable is used without a value only as an argument of a shuffle. If one lane sets
    a variable and the others receive it from this lane, the others need no value of their own."""
    for place, text in notes:
        if text == "uninitialized use occurs here":
            before = text_around(place)[0]
            call = re.search(r"shfl\w*\s*\(([^;{}]*)$", before)
            return bool(call) and call[1].count("(") >= call[1].count(")")
    return False


def preamble(text, own):
    """Returns a header for clang, which includes all headers of the standard library and then all
    headers of hostcuda that the program uses. The functions in hostcuda's headers count as both
    host and device code. (The standard headers must come first, because clang cannot read them
    after __noinline__ has become a macro.)"""
    ours, standard = {}, {}  # dicts keep the order
    for includer, _, file in cuda_rewrite.includes(text):
        if file.startswith(own) and not includer.startswith((own, "<")):
            ours[file] = True
        elif match := STANDARD_HEADER.search(file):
            if not STANDARD_HEADER.search(includer):
                standard[match[1]] = True
    engines = ""
    if any(file.endswith("/thrust/random.h") for file in ours):  # its engines are those of <random>
        # What <random> includes is host code.
        engines = ("#include <istream>\n#include <numeric>\n#include <ostream>\n"
                   "#include <string>\n#include <vector>\n"
                   "#pragma clang force_cuda_host_device begin\n#include <random>\n"
                   "#pragma clang force_cuda_host_device end\n")
    return "".join([
        f'#include "{own}/hostcuda/semantics.h"\n', engines,
        *(f"#include <{name}>\n" for name in standard),
        "#pragma clang force_cuda_host_device begin\n", *(f'#include "{file}"\n' for file in ours),
        "#pragma clang force_cuda_host_device end\n", KEYWORD,
        *(f"__device__ const {of}& {ONLY}{name}();\n#define {name} {ONLY}{name}()\n"
          for name, of in OF_KERNELS.items())])


def mistakes(messages, files):
    """Yields the errors in these files, in the words of nvcc. In `messages`, the notes after an
    error explain that error."""
    seen = set()
    for number, (place, kind, text) in enumerate(messages):
        if kind != "error" or place.rsplit(":", 2)[0] not in files:
            continue
        said = in_words(place, text, [note for _, note in notes_after(messages, number)])
        if said and (built_in := re.search(ONLY + r"(\w+)", said)):
            said = f"'{built_in[1]}' exists only in kernels, but host code uses it"
        if said and (place, said) not in seen:
            seen.add((place, said))
            yield f"{place}: error: {said}"


def in_words(place, text, notes):
    if LAUNCH_IN_KERNEL.match(text):
        return None
    if match := NOT_CONFIGURED.match(text):
        return (
            f"a __global__ function call must be configured: {match[1]}<<<blocks, threads>>>(...)"
        )
    if match := NO_MATCH.match(text):
        for note in notes:
            if side := OTHER_SIDE.match(note):
                if match[1] == "cudaDeviceSynchronize":
                    return ("a kernel calls cudaDeviceSynchronize, which CUDA 12 removed from "
                            "kernels: launch what needs the children's results into "
                            "cudaStreamTailLaunch")
                if side[1] == "__global__" and is_launch(place):
                    return None  # a launch by a kernel
                return (
                    f"calling a {side[1]} function ('{match[1]}') from a {side[2]} function is not "
                    "allowed"
                )
        if is_launch(place):
            reasons = [viable[1] for viable in map(NOT_VIABLE.match, notes) if viable]
            return f"launch of '{match[1]}': {reasons[0]}" if reasons else None
        return None
    if KINDS.search(text) or (ARGUMENTS.match(text) and is_launch(place)):
        return text
    return None


def text_around(place):
    """Returns the text of the file before the place, and four lines from the place on."""
    file, line, column = place.rsplit(":", 2)
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return "", ""
    at, from_here = lines[int(line) - 1], int(column) - 1
    return ("\n".join([*lines[:int(line) - 1], at[:from_here]]),
            "\n".join([at[from_here:], *lines[int(line):int(line) + 3]]))


def is_launch(place):
    """True if the place is in a launch statement, at or after the kernel's name."""
    before, after = text_around(place)
    return "<<<" in re.split(r"[;{}]", before)[-1] or "<<<" in after.partition("(")[0]
