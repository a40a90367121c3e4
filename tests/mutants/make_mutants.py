#!/usr/bin/env python3
"""Makes programs and tests from the declarations in mutants.toml.

    make_mutants.py tests ROOT FOLDER            runs when the build is configured: checks every
        edit and writes FOLDER/mutants.cmake, which adds the tests and a program per step. Also
        writes to FOLDER/records the files that check_run.py reads: the runs' input files, and
        NAME.declared.json for each test
    make_mutants.py program STEP_SOURCE FILE    runs when the program is built: writes the program
        of a step with all its variants, each in its own namespace. Code that they share, mostly
        headers, is thus compiled only once
    make_mutants.py size_sweep STEP_SOURCE FILE  the same, to be linked with the tests common to all
        steps
"""
import hashlib
import json
import re
import sys
from dataclasses import dataclass, fields
from pathlib import Path

try:
    import tomllib
except ImportError:
    sys.exit(
        f"mutants.toml is read with tomllib, which Python has from 3.11 on; {sys.executable} is "
        f"{sys.version.split()[0]}: configure with -D Python3_EXECUTABLE=..., or without tests "
        "(-D BUILD_TESTING=OFF)"
    )

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
from inputs import write_inputs  # noqa: E402
from nbody_tools.edits import EditError, edited  # noqa: E402


@dataclass
class Mutant:
    """One table of mutants.toml. A table of `right` has no edit: it describes the unedited step."""
    step: str
    run: str
    name: str = ""
    find: str = ""
    replace: str = ""
    wrong: str = ""
    caught_by: tuple = ()
    caught_only_by: tuple = ()
    says: str = ""
    mode: str = ""
    passes_plain: bool = False
    define: str = ""
    size_sweep: bool = False
    shape: int = -1
    file: str = "nbody.*"

    @property
    def control(self):
        """Returns the name of the variant without the edit."""
        return re.sub(r"\W", "_", f"right_{self.define}")

    @property
    def variant(self):
        return self.name or self.control

    @property
    def macros(self):
        """Returns the (name, value) pairs that `define` sets."""
        return [setting.split("=", 1) for setting in self.define.split()]

    @property
    def edits(self):
        return [(self.find, self.replace)] if self.find else []


def read_mutants():
    tables = tomllib.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))
    default = {"run": tables.pop("default_run")}
    right = tables.pop("right", [])
    for table in right:
        check_keys("right", table, {"step", "run"})
    mutants = {}
    for step, of_step in tables.items():
        shared = {
            key: of_step.pop(key)
            for key, value in list(of_step.items())
            if not isinstance(value, dict)
        }
        check_keys(step, shared, set())
        for name, table in of_step.items():
            if not name.isidentifier() or name.startswith("right") or name in mutants:
                raise EditError(
                    f"{name}: a mutant's name must be a unique C++ identifier that does not "
                    "begin with right"
                )
            check_keys(name, table, {"find", "wrong"})
            mutants[name] = Mutant(**default | shared | table, step=step, name=name)
    return [*mutants.values(), *(Mutant(**default | table) for table in right)]


def check_keys(name, table, required):
    allowed = {field.name for field in fields(Mutant)} - {"name", "step"} | required
    for key in table.keys() - allowed:
        raise EditError(f"{name}: unknown key '{key}'; choose from {', '.join(sorted(allowed))}")
    for key in required - table.keys():
        raise EditError(f"{name}: {key} is missing")


def source_of(root, step):
    files = list((root / step).glob("nbody.c*"))
    if len(files) != 1:
        raise EditError(f"{step}: no step has this name")
    return files[0]


def as_in_the_reports(words):
    """Adds Euler's integrator to a scenario, which would otherwise use leapfrog."""
    named = "--integrator" in words or "--input" in words
    return words if named else [*words, "--integrator", "euler"]


def declarations(mutant):
    """Yields a mutant's tests: the test of the mutant itself, and the test that the unedited step
    is right."""
    caught_by = mutant.caught_only_by or mutant.caught_by
    record = {"step": mutant.step, "caught_by": caught_by, "only": bool(mutant.caught_only_by),
              "says": mutant.says, "passes_plain": mutant.passes_plain,
              "run": as_in_the_reports(mutant.run.split()), "shape": mutant.shape}
    mode = mutant.mode.split()
    if mutant.name:
        yield record | {"name": mutant.name, "variant": mutant.name, "mode": mode,
                        "is_wrong": bool(caught_by or mutant.says), "wrong": mutant.wrong}
    for mode in (mode, []):
        key = f"{mutant.control} {';'.join(mode)} {';'.join(record['run'])}"
        if mutant.shape >= 0:
            key += f" {mutant.shape}"
        yield record | {
            "name": f"right.{mutant.step}.{hashlib.md5(key.encode()).hexdigest()[:6]}",
            "variant": mutant.control, "mode": mode, "is_wrong": False, "wrong": "",
            "caught_by": [], "only": False, "says": "", "passes_plain": False}


def write_tests(root, folder):
    mutants = read_mutants()
    for mutant in mutants:
        edited_text(mutant, source_of(root, mutant.step))
    tests = {test["name"]: test for mutant in mutants for test in declarations(mutant)}
    records = folder / "records"
    records.mkdir(parents=True, exist_ok=True)
    write_inputs(records)
    for stale in set(records.glob("*.declared.json")) - {
        records / f"{n}.declared.json" for n in tests
    }:
        stale.unlink()
    for name, test in tests.items():
        (records / f"{name}.declared.json").write_text(json.dumps(test, indent=1) + "\n",
                                                       encoding="utf-8")
    steps = dict.fromkeys(mutant.step for mutant in mutants)
    lines = [f"nbody_mutant_program({step} \"{source_of(root, step)}\")" for step in steps]
    lines += [f"nbody_mutant_test({name} {test['step']})" for name, test in tests.items()]
    lines += [f"nbody_size_sweep_test({mutant.name} {mutant.step} {mutant.mode})"
              for mutant in mutants if mutant.size_sweep]
    (folder / "mutants.cmake").write_text("\n".join(lines) + "\n", encoding="utf-8")


def edited_text(mutant, source, main="nbody::step_main"):
    """Returns the edited step."""
    return text_of(mutant, source, mutant.variant, mutant.edits, main)


def text_of(mutant, source, name, edits, main):
    """Returns the step as the namespace `name`, with these edits and with the mutant's macros. The
    text of a header that is edited, or that uses such a macro, replaces the line that includes the
    header, and so does the text of a header that includes it. All variants of a step share the
    other headers."""
    text = edited(source, name, () if mutant.file != Mutant.file else edits, main=main)
    own = next((header for header in headers_of(source) if header.name == mutant.file), None)
    if own is None and mutant.file != Mutant.file:
        raise EditError(f"{source} does not include {mutant.file}, which is edited")

    def with_headers(text, file):
        for header in includes_of(file):
            if any(inner == own or has_a_macro(mutant, inner)
                   for inner in headers_of(header) | {header}):
                content = edited(header, name, edits if header == own else ())
                text = with_header(text, file, header, with_headers(content, header))
        return text

    return with_headers(text, source)


def includes_of(file):
    """Returns the headers of steps that a file includes directly."""
    root = file.parent.parent
    named = re.findall(r'^#include "(\w+/\w+\.h)"', file.read_text(encoding="utf-8"), re.M)
    return [root / name for name in named if (root / name).is_file()]


def headers_of(file):
    """Returns the headers of steps that a file, or one of these headers, includes."""
    direct = includes_of(file)
    return set(direct).union(*map(headers_of, direct))


def has_a_macro(mutant, header):
    text = header.read_text(encoding="utf-8")
    return any(f"TUNABLE({macro}," in text for macro, _ in mutant.macros)


def with_header(text, source, header, content):
    line = f'#include "{header.parent.name}/{header.name}"\n'
    begin = source.read_text(encoding="utf-8").partition(line)[0].count("\n")
    content = content.replace("#pragma once", "")
    return text.replace(
        line, f'#line 1 "{header}"\n{content}\n#line {begin + 2} "{source}"\n'
    )


def namespace(mutant, name, source, text):
    begin = "".join(f"#undef {macro}\n#define {macro} {value}\n" for macro, value in mutant.macros)
    end = "".join(f"#undef {macro}\n" for macro, _ in mutant.macros)
    # The compiler's messages must refer to the step's file, not to the file that is written.
    return f'{begin}namespace {name} {{\n#line 1 "{source}"\n{text}\n}}\n{end}'


def write_size_sweep(source, file):
    write_program(source, file, "nbody::step_main")


def write_program(source, file, main="nbody::test::mutant_main"):
    variants = {}
    for mutant in (m for m in read_mutants() if m.step == source.parent.name):
        variants[mutant.variant] = namespace(
            mutant, mutant.variant, source, edited_text(mutant, source, main)
        )
        variants[mutant.control] = namespace(
            mutant, mutant.control, source, text_of(mutant, source, mutant.control, (), main)
        )
    # Headers are included before the namespaces, so that their include guards skip them inside the
    # namespaces.
    headers = "\n".join(re.findall(r"^#include.*$", source.read_text(encoding="utf-8"), re.M))
    table = "\n".join(f'    {{"{name}", {name}::main}},' for name in variants)
    file.write_text(f"""{headers}
#include "mutant_main.h"

{''.join(variants.values())}
int main(int argc, char** argv) {{
  return nbody::test::main_of({{
{table}
  }}, argc, argv);
}}
""", encoding="utf-8")


def main(command, *paths):
    try:
        {"tests": write_tests, "program": write_program, "size_sweep": write_size_sweep}[command](
            *map(Path, paths)
        )
    except (EditError, tomllib.TOMLDecodeError) as error:
        sys.exit(f"{HERE.name}/mutants.toml: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
