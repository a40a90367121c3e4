"""Translates nvcc's command line for a host compiler."""
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from libraries import ToolError
from modules import KINDS

# These options select a GPU, tune code for it or change nvcc's output, and are ignored here. Those
# in the second list take the next word as their value.
IGNORED = re.compile(
    r"-(arch|code|gencode|sm|maxrregcount|use_fast_math|ftz|prec-(div|sqrt)|fmad|restrict|rdc|m64|"
    r"expt-(relaxed-constexpr|extended-lambda)|extended-lambda|res-usage|keep|cudart|cudadevrt|"
    r"generate-line-info|gpu-architecture|gpu-code|generate-code|ptxas-options|"
    r"relocatable-device-code|jobserver|no-odr-checks|"
    r"Wno-deprecated-gpu-targets|diag-suppress|default-stream|threads|split-compile|"
    r"objdir-as-tempdir|"
    r"forward-unknown-to-host-(compiler|linker)|dlto|lto|source-in-ptx|no-align-double|time|"
    r"allow-unsupported-compiler|src-in-ptx|extra-device-vectorization|gen-opt-lto|"
    r"relocatable-ptx|"
    r"brief-diagnostics|device-stack-protector|no-compress|compress-(all|mode)|fdevice-time-trace|"
    r"(no|use)-local-env|no-exceptions|no-host-device-(initializer-list|move-forward)|nohd\w+|"
    r"Wdefault-stream-launch|Wmissing-launch-bounds|static-global-template-stub|"
    r"device-entity-has-hidden-visibility|split-compile-extended|jump-table-density|Ofc|"
    r"ofast-compile|"
    r"opt-info|optimization-info|no-display-error-number|fdevice-syntax-only|minimal|ewp|"
    r"extensible-whole-program|clean-targets|host-relocatable-link|nodlink|no-device-link|"
    r"dump-callgraph|random-seed|save-temps|"
    r"Wreorder|Wext-lambda-captures-this|display-error-number|disable-warnings|resource-usage)"
    r"(=.*)?$")
IGNORED_WITH_VALUE = ("-arch", "-code", "-gencode", "-gpu-architecture", "-gpu-code",
                      "-generate-code", "-maxrregcount", "-Xptxas", "-ptxas-options", "-Xnvlink",
                      "-Xcudafe", "-threads", "-t", "-diag-suppress", "-cudart", "-keep-dir",
                      "-default-stream", "-odir", "-Xfatbin", "-archive-options", "-dopt",
                      "-diag-error", "-diag-warn", "-diag-once", "-err-no", "-target-dir",
                      "-target-directory", "-ldir", "-libdevice-directory", "-nvlink-options",
                      "-fatbin-options", "-opt-info", "-optimization-info", "-ofast-compile",
                      "-Ofc", "-split-compile-extended", "-static-global-template-stub",
                      "-compress-mode", "-jump-table-density", "-random-seed", "-machine", "-m")
# Kinds of warnings that may follow nvcc's -Werror as the next word.
WARNINGS = re.compile(r"(all-warnings|cross-execution-space-call|reorder|default-stream-launch|"
                      r"missing-launch-bounds|ext-lambda-captures-this|deprecated-declarations)"
                      r"(,[\w-]+)*$")
# The toolkit's libraries that are part of hostcuda or need no linking.
OURS = (
    "cudart",
    "cudart_static",
    "cuda",
    "cublas",
    "cublasLt",
    "cudadevrt",
    "nvrtc",
    "nvrtc_static",
    "nvrtc-builtins_static",
    "nvptxcompiler_static",
    "nvToolsExt",
    "curand",
    "cufft",
    "cusparse",
    "culibos",
)
NOT_EMULATED = (
    "cufftXt",
    "cufftw",
    "cusolver",
    "cudnn",
    "nccl",
    "npp",
    "nvjpeg",
    "cutensor",
    "nvgraph",
    "nvml",
    "nvidia-ml",
)
SOURCE = re.compile(r"\.(cu|cpp|cc|cxx|c|C)$")


@dataclass
class Translation:
    sources: list = field(default_factory=list)
    objects: list = field(default_factory=list)  # .o, .a, .so
    compile: list = field(default_factory=list)
    link: list = field(default_factory=list)
    output: str = ""
    compiler: str = "c++"
    mode: str = "link"  # or compile, preprocess, archive, device_link, module, version
    treats_all_as_cu: bool = False
    distinguishes: bool = True  # clang checks host and device code
    shows: bool = False  # set by --verbose and --dryrun
    asks_for_cublas: bool = False
    asks_for_driver: bool = False  # -lcuda or -lnvrtc: the program may load modules
    module: str = ""  # for the mode "module": the suffix of the file (modules.KINDS)


def normalised(word):
    """Turns --long-option into -long-option, because nvcc accepts both."""
    if word.startswith("--") and len(word) > 3 and not word.startswith("--param"):
        return word[1:]
    return word


MODES = {
    "-c": "compile",
    "-dc": "compile",
    "-dw": "compile",
    "-E": "preprocess",
    "-dlink": "device_link",
    "-lib": "archive",
    "-version": "version",
    "-V": "version",
}
LONG_NAMES = {
    "-compile": "-c",
    "-output-file": "-o",
    "-compiler-options": "-Xcompiler",
    "-linker-options": "-Xlinker",
    "-include-path": "-I",
    "-define-macro": "-D",
    "-undefine-macro": "-U",
    "-library": "-l",
    "-library-path": "-L",
    "-compiler-bindir": "-ccbin",
    "-optimize": "-O",
    "-debug": "-g",
    "-device-debug": "-G",
    "-device-c": "-dc",
    "-device-w": "-dc",
    "-device-link": "-dlink",
    "-pre-include": "-include",
    "-verbose": "-v",
    "-dryrun": "-v",
    "-preprocess": "-E",
    "-generate-line-info": "-lineinfo",
    "-profile": "-pg",
}


def with_files(words):
    """Replaces each --options-file by the words in the files that it lists."""
    rest = iter(words)
    for word in rest:
        name, has_value, value = normalised(word).partition("=")
        if name not in ("-optf", "-options-file"):
            yield word
            continue
        file = value if has_value else next(rest, "")
        try:
            yield from with_files(shlex.split(Path(file).read_text(encoding="utf-8")))
        except OSError:
            raise ToolError(f"{word} {file}: cannot be read") from None


def without_kinds(words):
    """Drops the kinds of warnings that follow -Werror, as in `-Werror all-warnings`."""
    before = ""
    for word in words:
        if not (before in ("-Werror", "--Werror") and WARNINGS.match(word)):
            yield word
        before = word


def translate(words):
    """Parses an nvcc command line. Raises ToolError for options that cannot work here."""
    result = Translation()
    rest = iter(list(without_kinds(with_files(words))))

    def value_of(option):
        try:
            return next(rest)
        except StopIteration:
            raise ToolError(f"{option} needs a value") from None

    for original in rest:
        word = normalised(original)
        name, has_value, value = word.partition("=")
        if not word.startswith("-"):
            (result.sources if SOURCE.search(original) else result.objects).append(original)
            continue
        name = LONG_NAMES.get(name, name)
        if name in ("-std", "-x", "-ccbin"):
            value = value if has_value else value_of(original)
            if name == "-std":
                result.compile.append(f"-std={at_least_17(value)}")
            elif name == "-ccbin":
                result.compiler = of_cpp(value)
            else:
                result.treats_all_as_cu = value in ("cu", "cuda")
        elif name in ("-Xcompiler", "-Xlinker"):
            # FindCUDA puts the values in quotes: ,\"-O3\". nvcc also splits at spaces.
            listed = re.split(r"[,\s]", value if has_value else value_of(original))
            values = [one.strip('"') for one in listed if one.strip('"')]
            if name == "-Xlinker":
                result.link += [f"-Wl,{one}" for one in values]
            else:
                result.compile += values
                result.link += [
                    one for one in values if one.startswith(("-fopenmp", "-fsan", "-pthr"))
                ]
        elif name == "-o":
            result.output = value if has_value else value_of(original)
        elif name in MODES:
            result.mode = MODES[name]
        elif name in ("-M", "-MM"):  # the files that a source includes, as a rule for make
            result.mode = "preprocess"
            result.compile.append(name)
        elif name in ("-run", "-run-args"):
            raise ToolError(f"{original}: hostcuda run builds a program and runs it")
        elif name in KINDS:
            result.mode, result.module = "module", KINDS[name]
        elif name in ("-optix-ir", "-ltoir", "-arch-ls", "-code-ls", "-list-gpu-arch",
                      "-list-gpu-code"):
            raise ToolError(f"{original}: hostcuda does not generate GPU code")
        elif name in ("-lineinfo", "-g", "-pg"):
            result.compile.append("-g")
        elif name == "-G":
            result.compile += ["-g", "-O0"]
        elif name in ("-I", "-D", "-U", "-isystem", "-include", "-MF", "-MT", "-MQ"):
            result.compile += [name, value if has_value else value_of(original)]
        elif name in ("-L", "-l"):
            add_library(result, name + (value if has_value else value_of(original)))
        elif name in ("-v", "-#"):
            result.shows = True
        elif original.startswith(("-l", "-L", "-Wl,")):
            add_library(result, original)
        elif name in IGNORED_WITH_VALUE and not has_value:
            value_of(original)
        elif (name in IGNORED_WITH_VALUE or name == "-Werror"  # its values are warnings of nvcc
              or IGNORED.match(word) or re.match(r"-(arch|code)=?", word)):
            pass
        elif name in ("-shared", "-static"):
            result.link.append(name)
        elif name == "-O":
            result.compile.append(f"-O{value if has_value else value_of(original)}")
        else:
            result.compile.append(original)  # -O3, -DNAME, -Idir, -Wall, -w, -MD, ...
    return result


OF_CPP = {"cc": "c++", "gcc": "g++", "clang": "clang++"}


def of_cpp(compiler):
    """Returns the C++ compiler for a C compiler, because nvcc accepts either."""
    path = Path(compiler)
    name, dash, number = path.name.partition("-")
    return str(path.with_name(OF_CPP[name] + dash + number)) if name in OF_CPP else compiler


def add_library(result, word):
    name = word[2:] if word.startswith("-l") else ""
    if name in OURS:
        result.asks_for_cublas |= name.startswith("cublas")
        result.asks_for_driver |= name == "cuda" or name.startswith("nvrtc")
        return
    if name.startswith(NOT_EMULATED):
        raise ToolError(f"{word}: this library of the CUDA toolkit is not emulated")
    result.link.append(word)


def at_least_17(standard):
    """Replaces an older standard by C++17, nvcc's default, which hostcuda's headers need."""
    match = re.match(r"(c|gnu)\+\+(\d+|\d[a-z])$", standard)
    if match and match[2] in ("98", "03", "0x", "11", "1y", "14", "1z"):
        return f"{match[1]}++17"
    return standard
