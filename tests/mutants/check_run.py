"""Compares variants of a step with their declarations:
check_run.py PROGRAM DECLARATION|FOLDER:STEP RECORDS

Runs one variant, or all variants of a step, in the declared mode of hostcuda and, if the variant is
wrong, in plain mode too. Compares the outcome with the declaration, and writes it to the folder
RECORDS as NAME.json. Quick and nightly tests have their own folders, because they may run the
same variant at the same time. Weak checks (weak_checks.h) run only for variants with an edit.
"""
import json
import os
import subprocess
import sys
from pathlib import Path


def shape_table(command, rank, environment, inputs, record):
    """Writes a table in the format of ./nbody tune, with one shape for this problem. Returns the
    options that make a run use the table."""
    subprocess.run([*command, "--validate", "off", "--json", record], cwd=inputs,
                   env=environment, stdout=subprocess.DEVNULL, check=True)
    of_rule = json.loads(record.read_text())
    record.unlink()
    entry = {key: of_rule[key] for key in ("step", "systems", "bodies")} | {"rank": rank}
    table = {"devices": {of_rule["device"]["name"]: {"date": "2026-11-23", "shapes": [entry]}}}
    file = record.with_suffix(".shapes")
    file.write_text(json.dumps(table))
    return ["--tuned", file]


def run(program, declared, mode, inputs, record, weak=None):
    """Returns the outcome of a run in the folder `inputs`: failed checks and weak checks, or why
    the run was stopped."""
    # The blocks of a grid run on one core, so that a race between them always has the same result.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("HOSTCUDA_")}
    environment.update(OMP_NUM_THREADS="1", **dict(setting.split("=") for setting in mode))
    record.unlink(missing_ok=True)
    if weak:
        environment["NBODY_WEAK_CHECKS"] = str(weak)
        weak.unlink(missing_ok=True)
    command = [program, declared["variant"], *declared["run"], "--quiet"]
    if declared["shape"] >= 0:
        command += shape_table(command, declared["shape"], environment, inputs, record)
    done = subprocess.run(
        [*command, "--json", record],
        cwd=inputs,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    found = {"exit": done.returncode, "said": done.stdout}
    if record.exists():
        data = json.loads(record.read_text())
        found |= {key: data[key] for key in ("verdict", "failed", "errors", "limits")}
        if declared["shape"] >= 0 and data["shape"]["rank"] != declared["shape"]:
            sys.exit(f"{declared['name']}: used another shape than {declared['shape']}: "
                     f"{data['shape']}")
        if weak:
            found["weak"] = json.loads(weak.read_text())
    return found


def passed(found):
    return found["exit"] == 0 and found.get("verdict") == "pass"


def describe(found):
    if "verdict" not in found:
        return f"exit code {found['exit']}: {found['said'].strip()}"
    checks = [
        f"{check} {found['errors'][check]} > {found['limits'][check]}" for check in found["failed"]
    ]
    return f"exit code {found['exit']}, " + ("; ".join(checks) if checks else "no check failed")


def problems(declared, found, plain):
    """Yields a line for every difference between the outcome and the declaration."""
    expected, failed = set(declared["caught_by"]), set(found.get("failed", []))
    if not declared["is_wrong"]:
        if not passed(found):
            yield f"it is right but fails: {describe(found)}"
        return
    if declared["says"]:
        if "verdict" in found or found["exit"] == 0 or declared["says"] not in found["said"]:
            yield f"hostcuda does not stop it with \"{declared['says']}\": {describe(found)}"
    elif found["exit"] != 1 or not expected <= failed:
        yield f"not rejected by {', '.join(sorted(expected))}: {describe(found)}"
    elif declared["only"] and failed != expected:
        yield f"not rejected by {', '.join(sorted(expected))} only: {describe(found)}"
    if passed(plain) != declared["passes_plain"]:
        yield f"in plain mode: {describe(plain)}"


def check(declaration, program, folder):
    """Runs a variant and writes its record to a folder. Returns a line for each difference from its
    declaration."""
    declared = json.loads(declaration.read_text())
    name = declared["name"]
    result = folder / f"{name}.json"
    result.unlink(missing_ok=True)
    found = run(program, declared, declared["mode"], declaration.parent, folder / f"{name}.record",
                None if name.startswith("right.") else folder / f"{name}.weak")
    plain = found
    if declared["is_wrong"] and declared["mode"]:
        plain = run(program, declared, [], declaration.parent, folder / f"{name}.plain.record")
    wrong = [f"{name}: {line}" for line in problems(declared, found, plain)]
    if not wrong:
        result.write_text(json.dumps({**declared, "found": found, "plain": plain}, indent=1) + "\n")
        print(f"{name}: {describe(found)}; plain: {describe(plain)}; "
              f"weak checks: {found.get('weak', 'did not run')}")
    return wrong


def declarations(which):
    """Returns the given declaration, or the declarations in FOLDER of all variants of STEP."""
    folder, _, step = which.rpartition(":")
    if not folder:
        return [Path(which)]
    return [file for file in sorted(Path(folder).glob("*.declared.json"))
            if json.loads(file.read_text())["step"] == step]


def main():
    program, which, folder = sys.argv[1:]
    Path(folder).mkdir(exist_ok=True)
    files = declarations(which)
    wrong = [line for file in files for line in check(file, program, Path(folder))]
    if wrong or not files:
        sys.exit("\n".join(wrong) or f"{which}: no variant is declared")


if __name__ == "__main__":
    main()
