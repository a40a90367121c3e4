"""Compiles and links programs with .cu files as nvcc would. bin/nvcc and `hostcuda cc` call this
module."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import hostcudacc
import modules
from libraries import COUNTED, FLAGS, INCLUDES, PLAIN, TRACED, ToolError, link_options
from semantics import find_clang
from toolkit import ANSWER, ASKING, announce


def is_cu(source, translation):
    return source.endswith(".cu") or translation.treats_all_as_cu


def compile_words(translation, variant):
    flags = list(translation.compile)
    if not any(flag.startswith("-std=") for flag in flags):
        flags.append("-std=gnu++17")
    if not any(flag.startswith("-O") for flag in flags):
        flags.insert(0, "-O2")
    if not any(flag.startswith("-g") for flag in flags):
        flags.insert(0, "-g1")  # so that messages contain line numbers
    return [
        *flags,
        *FLAGS[variant],
        *(f"-I{folder}" for folder in INCLUDES),
        f"-idirafter{hostcudacc.SAMPLES}",
    ]


def run(*words):
    return subprocess.run(words, check=False).returncode


def compile_one(translation, source, output, variant, warn):
    words = [*compile_words(translation, variant), "-c", source, "-o", output]
    if is_cu(source, translation):
        counts = variant == COUNTED
        return hostcudacc.compile_cu(
            counting_compiler() if counts else translation.compiler,
            words,
            ccache=[],
            show=False,
            source=source,
            counts=counts,
            clang=(find_clang() if translation.distinguishes and variant in (PLAIN, TRACED)
                   else None),
            warn=warn,
        )
    if source.endswith(".c"):
        return run(
            host_c(translation.compiler), *(word for word in words if not word.startswith("-std="))
        )
    if variant != PLAIN:
        words = [word for word in words if word not in FLAGS["traced"] or word.startswith("-g")]
    return run(translation.compiler, *words)


def counting_compiler():
    if clang := find_clang():
        return clang
    raise ToolError("counting operations needs clang++ 14 or newer, which is not on the PATH")


def host_c(compiler):
    """Returns the C compiler that goes with a C++ compiler."""
    return {"c++": "cc", "g++": "gcc", "clang++": "clang"}.get(os.path.basename(compiler), "cc")


def build(translation, variant=PLAIN, warn=hostcudacc.print_error):
    """Executes a translated command line and returns an exit code. warn: see compile_cu."""
    if translation.shows:
        announce(translation)
    if any(os.path.basename(source) in ASKING for source in translation.sources):
        translation.compile += ANSWER
    if translation.mode == "compile":
        for source in translation.sources:
            output = translation.output or Path(source).with_suffix(".o").name
            if code := compile_one(translation, source, output, variant, warn):
                return code
        return 0
    if translation.mode == "device_link":  # no device code to link, so write an empty object
        return run(
            translation.compiler,
            "-x",
            "c++",
            "-c",
            os.devnull,
            "-o",
            translation.output or "a_dlink.o",
        )
    if translation.mode == "module":
        return build_modules(translation, variant, warn)
    if translation.mode == "preprocess":
        of_cu = ["-D__HOSTCUDA__=1", "-include", f"{hostcudacc.INCLUDE}/cuda_runtime.h"]
        has_cu = any(is_cu(source, translation) for source in translation.sources)
        output = ["-o", translation.output] if translation.output else []
        return run(translation.compiler, *compile_words(translation, variant),
                   *(of_cu if has_cu else []), "-E", "-x", "c++", *translation.sources, *output)
    with tempfile.TemporaryDirectory(prefix="hostcuda-") as folder:
        objects = []
        for number, source in enumerate(translation.sources):
            objects.append(os.path.join(folder, f"{number}.o"))
            if code := compile_one(translation, source, objects[-1], variant, warn):
                return code
        return link(translation, objects, variant)


def build_modules(translation, variant, warn):
    """Makes a module of each source."""
    translation.treats_all_as_cu = True
    translation.compile += modules.compile_flags(not hostcudacc.is_clang(translation.compiler))
    with tempfile.TemporaryDirectory(prefix="hostcuda-") as folder:
        for source in translation.sources:
            made = os.path.join(folder, "module.o")
            if code := compile_one(translation, source, made, variant, warn):
                return code
            output = modules.output_of(translation.output, source, translation.module)
            if code := modules.link(translation.compiler, output, made, translation.module,
                                    variant):
                return code
    return 0


def link(translation, objects, variant):
    if translation.mode == "archive":
        return run("ar", "rcs", translation.output or "a.a", *objects, *translation.objects)
    inputs = [*objects, *translation.objects]
    exports = translation.asks_for_driver or modules.loads_modules(inputs)
    words = [translation.compiler, *inputs, *translation.link,
             *link_options(variant, translation.compiler, inputs, translation.asks_for_cublas,
                           exports),
             "-o", translation.output or "a.out"]
    if translation.shows:
        print(" ".join(words), file=sys.stderr)
    return run(*words)
