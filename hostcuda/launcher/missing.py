"""If a program needs a CUDA feature that hostcuda lacks, replaces the compiler's messages by one
line that gives the place, the feature's name and a remedy."""
import difflib
import os
import re
from pathlib import Path

import cuda_rewrite

ADVICE = (  # the first match counts
    (r"texture$", "texture references were removed in CUDA 12.0: use cudaCreateTextureObject"),
    (r"cudaLaunchParams|\w*MultiDevice", "removed in CUDA 13.0: launch one grid per device"),
    (r"__(any|all|ballot|shfl(_up|_down|_xor)?)$",
     "since Volta only the _sync form exists: append _sync to the name, and pass 0xffffffff as the "
     "first argument"),
    (r"nvcuda|wmma",
     "include <mma.h>; the only emulated functions of tensor cores are wmma and mma.sync"),
    (r"(?i)cufft|curand|cusparse|CUDA_[CR]_",
     "hostcuda/README.md lists the emulated parts of cuFFT, cuRAND and cuSPARSE"),
    (r"(?i)cublas", "this part of cuBLAS is not emulated; include/cublas_v2.h has the others"),
    (r"(?i)cu(solver|dnn|tensor)|npp|nvjpeg|nccl",
     "this library is not emulated: put a CPU library between #ifdef __HOSTCUDA__ and #else"),
    (r"nvtx3/nvtx3\.hpp", "use the C ranges of nvtx3/nvToolsExt.h"),
    (r"cu[A-Z]\w*|CU[a-z]\w*", "this part of the driver API is not emulated: put a replacement "
     "between #ifdef __HOSTCUDA__ and #else"),
    (r"thrust|cub\b",
     "this part of Thrust and CUB is not emulated; include/thrust and include/cub have the others"),
    (r"", "do not use it, or put a replacement between #ifdef __HOSTCUDA__ and #else"))
OF_CUDA = (
    r"(cuda[A-Z]\w*|tex(?:ture|[123]D\w*|Cubemap\w*)|surf(?:[123]D|Cubemap)\w*|curand\w*|"
    r"(?:cublas|cufft|cusparse|cusolver|cudnn|nvjpeg)\w*|(?:CUBLAS|CUFFT|CURAND|CUSPARSE)_\w+|"
    r"CUDA_[CR]_\w+|cu[A-Z]\w+|CU[a-z]\w+|nvcuda|wmma|cuda(?:::\w+)*|(?:thrust|cub)(?:::\w+)*|"
    r"__[a-z]\w+|h2?(?:sin|cos|exp|exp2|exp10|log|log2|log10|rcp|sqrt|rsqrt|"
    r"ceil|floor|rint|trunc|tanh))"
)
SPACE = r"((?:thrust|cub|cuda|cooperative_groups|nvcuda)(?:::\w+)*|(?:struct )?cuda[A-Z]\w*)"
PLACE = r"^(\S+:\d+:\d+: )(?:fatal )?error: "
# Messages of g++ and clang++ about a name that is undeclared or not a member.
UNKNOWN = re.compile(
    PLACE
    + r"(?:[‘']"
    + OF_CUDA
    + r"[’'].*(?:was not declared|has not been declared|does not name a type)|"
    r"there are no arguments to [‘']" + OF_CUDA + r"[’']|"
    r"(?:use of undeclared identifier|unknown type name|no template named) '" + OF_CUDA + r"')",
    re.M,
)
LACKS = re.compile(
    PLACE
    + r"(?:[‘'](?P<a>[\w:]+)[’'] (?:is not a member of|in (?:namespace|class|struct)) [‘']"
    + SPACE
    + r"[’']|"
    r"[‘'](?:[^’\n]*[’'] \{aka [‘'])?(?:class )?" + SPACE +
    r"(?:<[^’\n]*>)?[’']\}? has no member named [‘'](?P<b>\w+)[’']|"
    r"no (?:type|template|member|class template) named '(?P<c>\w+)' in (?:namespace )?'"
    + SPACE
    + r"')",
    re.M,
)
HEADER = re.compile(
    r"^(\S+:\d+):\d+: fatal error: [’']?((?:thrust|cub|cuda|nv|nvtx3|cooperative_groups)/\S+?|"
    r"cu\w+\.h|nv\w+\.h|mma\.h|npp\w*\.h)[’']?(?:: No such file| file not found).*$",
    re.M,
)

# Messages of g++ and clang++ about a failed assertion in hostcuda's headers, and about the line in
# the program that causes it.
ASSERTION = re.compile(r"error: (?:static assertion failed: |static_assert failed[^\"\n"
                       r"]*\")((?:kernel launch|a shuffle).*?)\"?$",
                       re.M)
ASKED_HERE = re.compile(
    r"^(\S+:\d+:\d+:) +(?:required from here|note: in instantiation of .* requested here)$", re.M
)

NEARLY, NEARLY_IN_A_WORD = 0.85, 0.7
DRIVER_API = Path(__file__).resolve().parents[1] / "include" / "hostcuda" / "driver"


def is_in_driver_api(name):
    """True if <cuda.h> declares the name."""
    return any(re.search(rf"\b{re.escape(name)}\b", file.read_text(encoding="utf-8"))
               for file in DRIVER_API.glob("*.h"))


def similarity(one, other):
    return difflib.SequenceMatcher(None, one, other).ratio()


def is_misspelt(name, meant):
    """True if the names are alike, and also each word of the one name and of the other:
    cudaGraphDestroyNode is not cudaGraphDestroy with a mistake, but another function. So is a name
    with another capital letter: cusparseSpSV is not cusparseSpMV."""
    if name.lower() == meant.lower():
        return True
    if re.findall("[A-Z]", name) != re.findall("[A-Z]", meant):
        return False
    words, others = (re.findall(r"[A-Z]*[a-z0-9_]+|[A-Z]+", one) for one in (name, meant))
    return (similarity(name, meant) > NEARLY and len(words) == len(others) and
            all(similarity(*pair) > NEARLY_IN_A_WORD for pair in zip(words, others)))


def line_about(place, name, said=""):
    """Formats the error about a missing feature. said: the compiler's message, which may suggest a
    similar name."""
    bare = name.strip("<>")
    if bare == "cuda":
        return (f"{place}error: namespace cuda is not declared: include the header of libcu++ that "
                "declares the name, such as <cuda/functional> or <cuda/std/utility>\n")
    advice = next(advice for pattern, advice in ADVICE if re.match(pattern, bare))
    if re.match(r"cu[A-Z]|CU[a-z]", bare) and is_in_driver_api(bare):
        advice = "include <cuda.h>, which has the emulated part of the driver API"
    meant = re.search(r"did you mean [‘'](\w+)[’']", said)
    if meant and is_misspelt(bare, meant[1]):
        advice = f"did you mean {meant[1]}?"
    return f"{place}error: {name} is not part of hostcuda: {advice}\n"


def missing_header(errors):
    """Returns a one-line message about a missing header, or "" if no header is missing."""
    found = HEADER.search(errors)
    return line_about(f"{found[1]}: ", f"<{found[2]}>") if found else ""


# An alias that a program declares for one of CUDA's namespaces: namespace cg = cooperative_groups;
ALIAS = re.compile(
    r"\bnamespace\s+(\w+)\s*=\s*(?:::)?"
    r"((?:cooperative_groups|nvcuda|thrust|cub|cuda)(?:::\w+)*)\s*;")


def with_full_names(errors, text):
    """Replaces the program's aliases of CUDA's namespaces in the compiler's messages. The alias of
    a header, thrust::system::cuda, is not the program's."""
    for short, full in ALIAS.findall(text):
        if full.endswith(f"::{short}"):
            continue
        errors = re.sub(rf"([‘']){short}(::\w+)*(?=[’'])", rf"\g<1>{full}\g<2>", errors)
    return errors


def missing_names(errors):
    """Returns one line for each name of CUDA that hostcuda lacks, or "" if there is no such name.
    Omits the errors that follow from such a name."""
    first = {}
    for match in UNKNOWN.finditer(errors):
        name = next(filter(None, match.groups()[1:]))
        said = errors[match.start():].partition("\n")[0]
        first.setdefault(name, (match.start(), line_about(match[1], name, said)))
    for match in LACKS.finditer(errors):
        name = match["a"] or match["b"] or match["c"]
        space = next(group for group in match.groups()[1:] if group and group != name)
        if "cuda" in first and space == "thrust::cuda":
            continue  # clang goes on as if the program had written thrust::cuda
        name = f"{space.removeprefix('struct ')}::{name}"
        first.setdefault(name, (match.start(), line_about(match[1], name)))
    return "".join(line for _, line in sorted(first.values()))


def own_assertions(errors, own):
    """Returns one line for each place in the program that a static assertion in hostcuda's headers
    rejects. Omits the compiler's lines about template instantiations."""
    lines = {}
    for match in ASSERTION.finditer(errors):
        before = [asked[1] for asked in ASKED_HERE.finditer(errors, 0, match.start())]
        after = [asked[1] for asked in ASKED_HERE.finditer(errors, match.end())]
        place = next((one for one in [*reversed(before), *after] if not one.startswith(own)), "")
        lines[f"{place} error: {match[1]}\n".lstrip()] = True
    return "".join(lines)


INCLUDE_LINE = re.compile(
    r"^#(?:include|include_next|import) *([<\"])([^>\"\n]+)[>\"][^\n]*$", re.M
)


def host_header(text, own, folders):
    """Returns a one-line message if a program for NVRTC, which was preprocessed with -dI, includes
    a header that is not in one of the folders. NVRTC finds no headers of the host."""
    for file, system, part in cuda_rewrite.segments(text):
        if system or file.startswith(("<", own)):
            continue
        first = int(cuda_rewrite.MARKER.match(part)[1]) - 1
        for found in INCLUDE_LINE.finditer(part):
            around = [os.path.dirname(file)] if found[1] == '"' else []
            if not any(os.path.exists(os.path.join(one, found[2])) for one in [*around, *folders]):
                line = first + part.count("\n", 0, found.start())
                return (f"{file}({line}): catastrophic error: could not open source file "
                        f'"{found[2]}" (NVRTC has no headers of the host; <cuda/std/...> replaces '
                        "some)")
    return ""


def toolkit_header(text, own):
    """Returns a one-line message if the program includes a header of NVIDIA's toolkit, which cannot
    be compiled here; otherwise ""."""
    for includer, line, file in cuda_rewrite.includes(text):
        folder = os.path.dirname(os.path.normpath(file))
        if folder.startswith(own) or os.path.basename(file) in ("stdio.h", "stdlib.h"):
            continue
        around = [folder, os.path.dirname(folder), os.path.dirname(os.path.dirname(folder))]
        if any(place and os.path.exists(os.path.join(place, "cuda_runtime_api.h")) and
               not is_system_folder(place, file) for place in around):
            name = os.path.relpath(file, next(p for p in reversed(around) if os.path.exists(
                os.path.join(p, "cuda_runtime_api.h"))))
            return line_about(f"{includer}:{line}: ", f"<{name.removeprefix('cccl/')}>").rstrip()
    return ""


def is_system_folder(place, file):
    """True if the file is not part of NVIDIA's toolkit. A folder such as /usr/local/include may
    contain other headers too, so in such a folder the file's name decides."""
    if "cuda" in place:
        return False
    names = (
        "cu",
        "nv",
        "thrust",
        "cub",
        "crt",
        "vector_",
        "device_",
        "driver_",
        "math_",
        "mma",
        "sm_",
        "texture",
        "surface",
        "host_",
        "builtin_types",
        "common_functions",
        "channel_",
        "npp",
        "cooperative_groups",
        "cccl",
    )
    return not os.path.relpath(file, place).startswith(names)
