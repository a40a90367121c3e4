#!/usr/bin/env python3
"""Compile a .cu file with a plain host C++ compiler, for hostcuda.

    hostcudacc.py [--launcher=PATH] COMPILER ARGUMENTS...     as CMake's compiler launcher
    hostcudacc.py --show COMPILER ARGUMENTS... file.cu        print the rewritten user code

--launcher names a launcher that runs each compilation in turn, ccache for instance.

The compiler preprocesses the file, cuda_rewrite.py replaces what C++ cannot express in the text that
came from user files, and the compiler compiles the result. Line markers survive, so messages and
debuggers name the .cu file. Any other compilation is passed through unchanged.
"""
import os
import re
import subprocess
import sys

import cuda_rewrite

# The compiler's errors are searched, in English, for what is not part of hostcuda.
os.environ.update(LC_ALL="C.UTF-8", LANGUAGE="en")

INCLUDE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "include")

# Options for the preprocessor, which the second pass must not see again.
WITH_VALUE = ("-MF", "-MT", "-MQ", "-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include")
ALONE = ("-MD", "-MMD", "-MP", "-MG")
JOINED = re.compile(r"-(I|D|U|isystem|iquote|idirafter)")


def split_arguments(arguments, source=None):
    """Return (options of both passes, of the preprocessor only, source, object)."""
    both, preprocessor, output = [], [], None
    rest = iter(arguments)
    for argument in rest:
        if argument == "-c":
            continue
        if argument == "-o":
            output = next(rest)
        elif argument == "-x":
            next(rest)  # each pass names its language
        elif argument == source or (argument.endswith(".cu") and not argument.startswith("-")):
            source = argument
        elif argument in WITH_VALUE:
            preprocessor += [argument, next(rest)]
        elif argument in ALONE or JOINED.match(argument):
            preprocessor.append(argument)
        else:
            both.append(argument)
    return both, preprocessor, source, output


def is_clang(compiler):
    name = os.path.basename(compiler)
    if "clang" in name:
        return True
    if "g++" in name or "gcc" in name:
        return False
    # `c++` may be either.
    version = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, text=True, check=False)
    return "clang" in version.stdout


def uses_address_sanitizer(options):
    return any(o.startswith("-fsanitize=") and "address" in o for o in options)


USES_ARCH = re.compile(r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b(?!.*!\s*defined\s*\(?\s*__CUDA_ARCH__).*"
                       r"\b__CUDA_ARCH__\b", re.M)


def warn_of_arch(files):
    """Host code and kernels are compiled together, so no branch of an #if is for one of them only."""
    for file in files:
        try:
            with open(file, encoding="utf-8", errors="replace") as stream:
                text = stream.read()
        except OSError:
            continue
        if found := USES_ARCH.search(text):
            line = text.count("\n", 0, found.start()) + 1
            print(f"{file}:{line}: warning: __CUDA_ARCH__ is not defined here, so the branch for the "
                  "host is compiled, in kernels too; -D__CUDA_ARCH__=900 chooses the other one",
                  file=sys.stderr)


UNKNOWN = re.compile(r"^(\S+:\d+:\d+: error: )[‘'](cuda[A-Z]\w*|tex(?:ture|[123]D\w*)|surf[123]D\w*|"
                     r"curand\w*|cublas\w*|cu[A-Z]\w+|CU[a-z]\w+|nvcuda|wmma|thrust|cub)[’'].*(?:was not declared|"
                     r"has not been declared|does not name a type).*$|"
                     r"^(\S+:\d+:\d+: error: )(?:use of undeclared identifier|unknown type name) "
                     r"'(cuda[A-Z]\w*|texture|tex[123]D\w*|nvcuda|thrust|cub)'.*$", re.M)


MISSING_HEADER = re.compile(r"^(\S+:\d+):\d+: fatal error: [’']?((?:thrust|cub|cuda|nv)/\S+?|cu\w+\.h|nv\w+\.h|"
                            r"mma\.h|npp\w*\.h)[’']?(?:: No such file| file not found).*$", re.M)


def name_missing_headers(errors):
    """The toolkit's headers in one line, as other things that are not here; other errors as they are."""
    found = MISSING_HEADER.search(errors)
    return f"{found[1]}: error: <{found[2]}> is not part of hostcuda\n" if found else errors


def names_of_cuda_that_are_missing(errors):
    """A line for each, in place of all that follows from them."""
    first = {}
    for match in UNKNOWN.finditer(errors):
        place, name = (match[1], match[2]) if match[1] else (match[3], match[4])
        first.setdefault(name, f"{place}{name} is not part of hostcuda (hostcuda/README.md: Missing)\n")
    return list(first.values())


def toolkit_header(text):
    """NVIDIA's own headers cannot be compiled here: one line instead of pages."""
    for includer, line, file in cuda_rewrite.includes(text):
        folder = os.path.dirname(os.path.normpath(file))
        if folder.startswith(INCLUDE) or os.path.basename(file) in ("stdio.h", "stdlib.h"):
            continue
        around = [folder, os.path.dirname(folder), os.path.dirname(os.path.dirname(folder))]
        if any(place and os.path.exists(os.path.join(place, "cuda_runtime_api.h")) and
               not is_system_folder(place, file) for place in around):
            name = os.path.relpath(file, next(p for p in reversed(around) if os.path.exists(
                os.path.join(p, "cuda_runtime_api.h"))))
            return (f"{includer}:{line}: error: <{name}> is not part of hostcuda: the CUDA toolkit's own "
                    "header cannot be compiled for a CPU")
    return ""


def is_system_folder(place, file):
    """/usr/local/include may hold the toolkit's headers among others: only its names count there."""
    if "cuda" in place:
        return False
    names = ("cu", "nv", "thrust", "cub", "crt", "vector_", "device_", "driver_", "math_", "mma", "sm_",
             "texture", "surface", "host_", "builtin_types", "common_functions", "channel_", "npp")
    return not os.path.relpath(file, place).startswith(names)


def compile_cu(compiler, arguments, ccache, show, source=None):
    both, preprocessor, source, output = split_arguments(arguments, source)
    if not show and not output:
        sys.exit("hostcudacc: a .cu file is compiled with -c and -o")
    text = subprocess.run(
        # Ours first: a Makefile for nvcc names the toolkit's folder, too.
        [compiler, "-I", INCLUDE, "-I", os.path.join(INCLUDE, "names"), *both, *preprocessor, "-x", "c++", "-E", "-D__HOSTCUDA__=1",
         "-include", os.path.join(INCLUDE, "cuda_runtime.h"), source],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    errors = text.stderr.decode(errors="replace")
    sys.stderr.write(name_missing_headers(errors))
    if text.returncode:
        return text.returncode
    if refusal := toolkit_header(text.stdout.decode()):
        print(refusal, file=sys.stderr)
        return 1
    clang = is_clang(compiler)
    try:
        rewritten = cuda_rewrite.rewrite_translation_unit(
            text.stdout.decode(), not clang, uses_address_sanitizer(both), INCLUDE,
            any(option.startswith("-DHOSTCUDA_TRACE") for option in preprocessor))
    except cuda_rewrite.RewriteError as error:
        print(error, file=sys.stderr)
        return 1
    if not any(option.startswith("-D__CUDA_ARCH__") for option in preprocessor):
        warn_of_arch(cuda_rewrite.user_files(text.stdout.decode(), INCLUDE))
    if show:
        print(cuda_rewrite.lines_of_file(rewritten, source))
        return 0
    intermediate = output + ".ii"
    with open(intermediate, "w", encoding="utf-8") as file:
        file.write(rewritten)
    # Mathematical functions set no errno on a GPU: a square root is one instruction then. A loop that
    # clang cannot unroll is no reason for a warning about the user's code.
    as_for_kernels = ["-fno-math-errno", *(["-Wno-pass-failed"] if clang else [])]
    ended = subprocess.run(
        [*ccache, compiler, *as_for_kernels, *both, "-x", "c++-cpp-output", "-c", intermediate,
         "-o", output], stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    missing = names_of_cuda_that_are_missing(ended.stderr) if ended.returncode else []
    sys.stderr.write("".join(missing) or ended.stderr)
    return ended.returncode


def main(arguments):
    ccache, show = [], False
    while arguments and arguments[0].startswith("--"):
        option = arguments.pop(0)
        if option.startswith("--launcher="):
            ccache = [option[len("--launcher="):]]
        elif option == "--show":
            show = True
        else:
            sys.exit(f"hostcudacc: unknown option {option}")
    if not arguments:
        sys.exit(__doc__)
    compiler, arguments = arguments[0], arguments[1:]
    is_cu = any(a.endswith(".cu") and not a.startswith("-") for a in arguments)
    if is_cu and (show or "-c" in arguments):
        return compile_cu(compiler, arguments, ccache, show)
    return subprocess.run([*ccache, compiler, *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
