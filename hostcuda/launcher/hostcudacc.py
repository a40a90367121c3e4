#!/usr/bin/env python3
"""Compiles a .cu file with a plain host C++ compiler, for hostcuda.

    hostcudacc.py [--launcher=PATH] COMPILER ARGUMENTS...     as CMake's compiler launcher
    hostcudacc.py --count=CLANG COMPILER ARGUMENTS...         adds code that counts operations
                                                              (counting.py)
    hostcudacc.py --show COMPILER ARGUMENTS... file.cu        prints the rewritten user code

PATH is another launcher, such as ccache, which then runs each compilation.

First the compiler preprocesses the file. Then cuda_rewrite.py replaces what is not C++ in the text
that came from user files, and the compiler compiles the result. The line markers are kept, so
messages and debuggers refer to the .cu file. If the command line does not compile a .cu file, the
compiler runs with unchanged arguments.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

import cuda_rewrite
from counting import compile_counted
from missing import (INCLUDE_LINE, host_header, missing_header, missing_names, own_assertions,
                     toolkit_header, with_full_names)
from semantics import OF_NVCC, SemanticCheck, separated
from wrong_calls import one_line_each

# In this environment the compiler reports errors in English, so that this module recognises errors
# about features that hostcuda lacks. Only compilations of user code use this environment. If the
# builds of hostcuda's libraries used it too, ccache would notice that the locale has changed and
# would compile the libraries again.
ENGLISH = {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "en"}

INCLUDE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "include")
INCLUDES = (INCLUDE, os.path.join(INCLUDE, "names"), os.path.join(INCLUDE, "names", "cccl"))
SAMPLES = os.path.join(
    INCLUDE, "samples"
)  # searched last, because many programs have their own headers with these names

# Options for the preprocessor, which must not be passed to the second pass (compilation). Those in
# WITH_VALUE take the next word as their value.
WITH_VALUE = (
    "-MF",
    "-MT",
    "-MQ",
    "-I",
    "-D",
    "-U",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
)
ALONE = ("-MD", "-MMD", "-MP", "-MG")
JOINED = re.compile(r"-(I|D|U|isystem|iquote|idirafter)")


# In a traced object file, calls of these functions are replaced by calls of functions with the
# prefix hostcuda_, which trace/heap.cpp defines. All but the last three allocate or free memory,
# which must be device memory in kernels. (The names that begin with _Z are C++'s new and delete.)
# The last three functions print.
REPLACED = ("malloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm", "printf",
            "puts", "putchar")


def split_arguments(arguments, source=None):
    """Returns (options for both passes, options only for the preprocessor, source, object file)."""
    both, preprocessor, output = [], [], None
    rest = iter(arguments)
    for argument in rest:
        if argument == "-c":
            continue
        if argument == "-o":
            output = next(rest)
        elif argument == "-x":
            next(rest)  # each pass states its own language
        elif argument == source or (argument.endswith(".cu") and not argument.startswith("-")):
            source = argument
        elif argument in WITH_VALUE:
            preprocessor += [argument, next(rest)]
        elif argument in ALONE or JOINED.match(argument):
            preprocessor.append(argument)
        else:
            both.append(argument)
    return both, preprocessor, source, output


def options_of_both(both, preprocessor):
    """Returns the options that any compiler needs to read the source: the standard, include paths
    and macros."""
    options = iter(preprocessor)
    kept = [option for option in both if option.startswith("-std=")]
    for option in options:
        if option in ("-MF", "-MT", "-MQ"):
            next(options)
        elif option not in ALONE:
            kept.append(option)
    return kept


def decoded(preprocessor):
    """Returns the output of the preprocessor. Literals in another encoding keep their bytes."""
    return preprocessor.stdout.decode(errors="surrogateescape")


def include_folders(preprocessor):
    """Returns the folders in which the options let the preprocessor search for headers."""
    options, folders = iter(preprocessor), []
    for option in options:
        if found := re.match(r"-(?:I|isystem|iquote|idirafter)(.*)", option):
            folders.append(found[1] or next(options))
        elif option in WITH_VALUE:
            next(options)
    return folders


def is_clang(compiler):
    name = os.path.basename(compiler)
    if "clang" in name:
        return True
    if "g++" in name or "gcc" in name:
        return False
    # The command `c++` may be g++ or clang++.
    version = subprocess.run(
        [compiler, "--version"], stdout=subprocess.PIPE, text=True, check=False
    )
    return "clang" in version.stdout


def uses_address_sanitizer(options):
    return any(o.startswith("-fsanitize=") and "address" in o for o in options)


USES_ARCH = re.compile(
    r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b(?!.*!\s*defined\s*\(?\s*__CUDA_ARCH__).*"
    r"\b__CUDA_ARCH__\b",
    re.M,
)
# A comment, a literal, or a name or number, whose R or ' does not begin a literal.
COMMENT_OR_LITERAL = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/"""
    r"""|\b(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)\""""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|(?P<word>[^\W\d]\w*|\d(?:'?\w)*)""",
    re.S,
)


def without_literals(text):
    """Returns the text with its line ends, but without comments and literals. A raw string may
    contain a program for NVRTC."""
    return COMMENT_OR_LITERAL.sub(
        lambda found: found["word"] or " " + "\n" * found[0].count("\n"), text
    )


def warn_of_arch(files):
    """Warns if an #if tests __CUDA_ARCH__. Host code and kernels are compiled together here, so
    only one branch of the #if is compiled."""
    for file in files:
        try:
            text = without_literals(Path(file).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if found := USES_ARCH.search(text):
            line = text.count("\n", 0, found.start()) + 1
            print(
                f"{file}:{line}: warning: __CUDA_ARCH__ is not defined here, so the branch for the "
                "host is compiled, even in kernels; -D__CUDA_ARCH__=900 chooses the other branch",
                file=sys.stderr,
            )


def print_error(line):
    print(line, file=sys.stderr)


def compile_cu(
    compiler, arguments, ccache, show, source=None, clang=None, counts=False, warn=print_error
):
    """Compiles a .cu file and returns an exit code. clang: None, or a clang++ that checks, while
    the compiler runs, whether the file confuses host and device code. counts: True if
    the program must count its operations; `compiler` is then a clang++. warn: a function that is
    called with each warning of clang or of the rewriter."""
    both, preprocessor, source, output = split_arguments(arguments, source)
    if not show and not output:
        sys.exit("hostcudacc: compiling a .cu file needs -c and -o")
    by_clang = is_clang(compiler)
    # Switches off clang's warnings about loops that it cannot unroll and about g++'s options, and
    # g++'s notes about the conventions of old versions, which complex numbers cause.
    quiet = ["-Wno-pass-failed", "-Qunused-arguments"] if by_clang else ["-Wno-psabi"]
    read, quoted = separated(source) if by_clang else (source, ["-Wno-literal-suffix"])
    def preprocess(*headers):
        return subprocess.run(
            # hostcuda's headers come first, because a Makefile for nvcc may also pass the include
            # folder of the CUDA toolkit.
            [
                compiler,
                *(f"-I{folder}" for folder in INCLUDES),
                *both,
                *quiet,
                *preprocessor,
                "-x",
                "c++",
                "-E",
                *(["-dI"] if is_for_nvrtc else []),
                f"-idirafter{SAMPLES}",
                "-D__HOSTCUDA__=1",
                *OF_NVCC,
                "-DHOSTCUDA_MARKS=1",
                *(word for header in ("cuda_runtime.h", *headers)
                  for word in ("-include", os.path.join(INCLUDE, header))),
                *quoted,
                read,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENGLISH,
            check=False,
        )

    is_for_nvrtc = "-D__CUDACC_RTC__=1" in preprocessor
    is_module = any(option.startswith("-DHOSTCUDA_MODULE") for option in preprocessor)
    of_modules = ["hostcuda/driver/kernel.h"] if is_module else []
    text = preprocess(*of_modules)
    # clang needs the program's own #includes, of which instructions.h would hide some.
    of_program = decoded(text)
    if text.returncode == 0 and cuda_rewrite.uses_ptx(of_program, INCLUDE):
        text = preprocess("hostcuda/ptx/instructions.h", *of_modules)
    if read != source:
        os.unlink(read)
    errors = text.stderr.decode(errors="replace")
    sys.stderr.write(missing_header(errors) or errors)
    if text.returncode:
        return text.returncode
    preprocessed = decoded(text)
    if is_for_nvrtc:
        folders = (*INCLUDES, SAMPLES, *include_folders(preprocessor))
        if refusal := host_header(preprocessed, INCLUDE, folders):
            print(refusal, file=sys.stderr)
            return 1
        preprocessed = INCLUDE_LINE.sub("", preprocessed)
    if refusal := toolkit_header(preprocessed, INCLUDE):
        print(refusal, file=sys.stderr)
        return 1
    traced = any(option.startswith("-DHOSTCUDA_TRACE") for option in preprocessor)
    try:
        rewritten = cuda_rewrite.rewrite_translation_unit(
            preprocessed, not by_clang, uses_address_sanitizer(both), INCLUDE,
            traced, warn if "-w" not in both else lambda line: None)
    except cuda_rewrite.RewriteError as error:
        print(error, file=sys.stderr)
        return 1
    if not any(option.startswith("-D__CUDA_ARCH__") for option in preprocessor):
        warn_of_arch(cuda_rewrite.user_files(preprocessed, INCLUDE))
    if show:
        lines = cuda_rewrite.lines_of_file(rewritten, source) + "\n"
        sys.stdout.buffer.write(lines.encode(errors="surrogateescape"))
        return 0
    intermediate = output + ".ii"
    Path(intermediate).write_text(rewritten, encoding="utf-8", errors="surrogateescape")
    # As on a GPU, mathematical functions do not set errno. sqrtf is then a single CPU instruction.
    # nvcc also lets kernels access a value through a pointer to another type, which many do.
    as_for_kernels = ["-fno-math-errno", "-fno-strict-aliasing", *quiet]
    if counts:
        # Removes the sanitizers' options, because the code that sanitizers add is not in the source
        # but would be counted.
        plain = [option for option in both if not option.startswith("-fsanitize=")]
        return compile_counted(compiler, [*as_for_kernels, *plain], intermediate, output,
                               cuda_rewrite.user_files(preprocessed, INCLUDE))
    check = clang and SemanticCheck(clang, source, of_program, INCLUDES,
                                    [*options_of_both(both, preprocessor), f"-idirafter{SAMPLES}"])
    ended = subprocess.run(
        [
            *ccache,
            compiler,
            *as_for_kernels,
            *both,
            "-x",
            "c++-cpp-output",
            "-c",
            intermediate,
            "-o",
            output,
        ],
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=ENGLISH,
        check=False,
    )
    if traced and ended.returncode == 0:
        subprocess.run(
            ["objcopy", *(f"--redefine-sym={name}=hostcuda_{name}" for name in REPLACED), output],
            check=True,
        )
    mistakes, warnings = check.findings() if check else ([], [])
    if mistakes:
        print(*mistakes, sep="\n", file=sys.stderr)
        return 1
    if "-w" not in both:
        for warning in warnings:
            warn(warning)
    sys.stderr.write(
        ended.returncode
        and (missing_names(with_full_names(ended.stderr, rewritten))
             or own_assertions(ended.stderr, INCLUDE))
        or one_line_each(ended.stderr)
    )
    return ended.returncode


def main(arguments):
    ccache, show, counting_compiler = [], False, None
    while arguments and arguments[0].startswith("--"):
        option = arguments.pop(0)
        if option.startswith("--launcher="):
            ccache = [option[len("--launcher="):]]
        elif option.startswith("--count="):
            counting_compiler = option[len("--count="):]
        elif option == "--show":
            show = True
        else:
            sys.exit(f"hostcudacc: unknown option {option}")
    if not arguments:
        sys.exit(__doc__)
    compiler, arguments = arguments[0], arguments[1:]
    is_cu = any(a.endswith(".cu") and not a.startswith("-") for a in arguments)
    if is_cu and (show or "-c" in arguments):
        return compile_cu(counting_compiler or compiler, arguments, ccache, show,
                          counts=bool(counting_compiler))
    return subprocess.run([*ccache, compiler, *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
