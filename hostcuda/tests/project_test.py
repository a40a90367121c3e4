#!/usr/bin/env python3
"""Tests the tool on projects: `check -- make`, `run`, `env`, and the files that editors and GitHub
read."""
import json
import os
import re
import shutil
import sys
import unittest
from pathlib import Path
from unittest import mock

from tool_test import BIN, REVERSE, InFolder

import libraries  # tool_test has added its folder to sys.path

HOME = BIN.parent
TOOL = BIN / "hostcuda"
SCHEMA = json.loads((Path(__file__).parent / "sarif_schema.json").read_text(encoding="utf-8"))
MAKEFILE = """NVCC = /usr/local/cuda/bin/nvcc
program: program.o
\tc++ -o $@ $^ -L/usr/local/cuda/lib64 -lcudart -lcublas
%.o: %.cu
\t$(NVCC) -O3 -arch=sm_80 -c $< -o $@
test: program
\t./program >test.log 2>&1
"""
TYPES = {"string": str, "array": list, "object": dict, "integer": int, "null": type(None)}


def breaches(value, schema, where="$"):
    """Returns where `value` violates `schema`. Knows only the keywords that sarif_schema.json
    uses."""
    if "$ref" in schema:
        return breaches(value, SCHEMA["definitions"][schema["$ref"].split("/")[-1]], where)
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if types and not isinstance(value, tuple(TYPES[name] for name in types)):
        return [f"{where} is not of type {types}"]
    found = []
    if value not in schema.get("enum", [value]):
        found.append(f"{where} is {value}")
    if isinstance(value, int) and value < schema.get("minimum", value):
        found.append(f"{where} is {value}")
    if isinstance(value, list):
        for number, one in enumerate(value):
            found += breaches(one, schema["items"], f"{where}[{number}]")
    if isinstance(value, dict):
        found += [f"{where} lacks {name}" for name in schema.get("required", [])
                  if name not in value]
        for name, one in value.items():
            known = schema["properties"].get(name)
            found += breaches(one, known, f"{where}.{name}") if known else [f"{where} has {name}"]
    return found


class ProjectTest(InFolder):
    @classmethod
    def setUpClass(cls):
        libraries.libraries("plain")  # here, because the first use prints that they are built

    def write_project(self, barrier):
        self.write("program.cu", REVERSE % barrier)
        self.write("Makefile", MAKEFILE)

    def check(self, *words, **environment):
        return self.run_in_folder(TOOL, "check", *words, **environment)

    @unittest.skipUnless(shutil.which("make"), "there is no make")
    def test_a_project_of_make(self):
        self.write_project("")
        # Stands for an object that the real nvcc compiled after the last edit of the source.
        (self.folder / "program.o").write_bytes(b"\x7fELF of nvcc")
        by_nvcc = "nvcc -o program program.cu && ./program && ./program"
        for words in (["make", "test"], [by_nvcc]):
            said = self.check("--sarif", "found.sarif", "--", *words)
            self.assertEqual(1, said.returncode, said.stdout + said.stderr)
            self.assertRegex(said.stdout, r"RACE in kernel reverse: .* at program\.cu:4 and "
                                          r"program\.cu:6  \[traced\]")
        # If clang++ is not installed, one more line says so.
        self.assertIn("1 finding(s) in 2 run(s) of program\n", said.stdout)
        sarif = json.loads((self.folder / "found.sarif").read_text(encoding="utf-8"))
        self.assertEqual([], breaches(sarif, SCHEMA))
        result, = sarif["runs"][0]["results"]
        self.assertEqual("race", result["ruleId"])
        where = result["locations"][0]["physicalLocation"]
        self.assertEqual(("program.cu", 4),
                         (where["artifactLocation"]["uri"], where["region"]["startLine"]))
        # The check leaves no other files.
        self.assertEqual({"Makefile", "program.cu", "program.o", "found.sarif"},
                         {file.name for file in self.folder.iterdir()})
        self.write_project("__syncthreads();")
        said = self.check("--sarif", "found.sarif", "--", "make")
        self.assertEqual((0, "make: nothing was found in 1 run(s) of program"),
                         (said.returncode, said.stdout.splitlines()[0]), said.stderr)
        sarif = json.loads((self.folder / "found.sarif").read_text(encoding="utf-8"))
        self.assertEqual(([], []), (breaches(sarif, SCHEMA), sarif["runs"][0]["results"]))

    def test_the_schema_is_used(self):
        self.assertEqual(["$ lacks version", "$ has made", "$.runs[0] lacks tool"],
                         breaches({"made": 1, "runs": [{}]}, SCHEMA))
        self.assertEqual(["$.version is 2", "$.runs is not of type ['array', 'null']"],
                         breaches({"version": "2", "runs": {}}, SCHEMA))

    def test_wrong_command_lines(self):
        self.write("a.cu", "int main() {}\n")
        self.write("text", "")
        for words, message in (
            (("check", "--sarif"), "check: --sarif needs a value"),
            (("check", "--sarif", "no/f", "a.cu"), "check: --sarif no/f: cannot be written"),
            (("check", "--json", ".", "a.cu"), r"check: --json \.: cannot be written"),
            (("check", "--timeout", "soon", "a.cu"), "check: --timeout soon: seconds must be a .*"),
            (("check", "--timeout", "-1", "--", "make"), "check: --timeout -1: seconds must be .*"),
            (("check", "--timeout", "nan", "a.cu"), "check: --timeout nan: seconds must be a .*"),
            (("check", "--"), "check: -- must follow a source file or precede a command"),
            (("check", "--", "no-such-command"), "check: no-such-command: No such file .*"),
            (("check", "--", "./text"), r"check: \./text: Permission denied"),
            (("check", "--", "true"), "check: 'true' built no program with nvcc; .*"),
            (("check", "--", "false"), "check: 'false' ended with exit status 1"),
            (("run",), "run: no source file"),
            (("run", "--json", "f", "a.cu"), "run: --all, --json, --sarif and --timeout are .*"),
            (("env", "no-such-command"), "env: no-such-command: No such file or directory"),
            (("prefix",), r"prefix: this hostcuda is not installed; use add_subdirectory\(.*"),
            (("clangd", "x"), "clangd: takes no arguments, not 'x'"),
            (("gdb", "--x"), "gdb: takes no arguments, not '--x'"),
            (("--version", "2"), "--version: takes no arguments, not '2'"),
            (("checks",), "'checks' is not a command; use cc, run, check, .*"),
        ):
            said = self.run_in_folder(TOOL, *words)
            self.assertEqual((2, ""), (said.returncode, said.stdout), words)
            self.assertRegex(said.stderr, rf"^hostcuda: {message}\n$")
        self.assertEqual({"a.cu", "text"}, {file.name for file in self.folder.iterdir()})

    def test_run_env_and_version(self):
        self.write("a.cu", """__global__ void k(int* p) { *p = 41; }
int main(int count, char**) {
  int* p;
  cudaMallocManaged(&p, sizeof(int));
  k<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  return *p + count;
}
""")
        said = self.run_in_folder(TOOL, "run", "a.cu", "--", "x", "y")
        self.assertEqual((44, "", ""), (said.returncode, said.stdout, said.stderr))
        shell = 'nvcc --version; command -v nvcc; ls "$CUDA_HOME"'
        nvcc = self.works(TOOL, "env", "sh", "-c", shell)
        self.assertIn("hostcuda, a stand-in", nvcc)
        self.assertIn(f"{BIN / 'nvcc'}\nbin\ninclude\nlib64\n", nvcc)
        for_shell = self.works("sh", "-c", f'eval "$("{TOOL}" env)"; command -v nvcc')
        self.assertEqual(f"{BIN / 'nvcc'}\n", for_shell)
        # FindCUDA calls nvcc in this way to find the files that a source includes.
        self.works(BIN / "nvcc", "-M", "a.cu", "-o", "a.d", "-ccbin", shutil.which("cc"),
                   "-Xcompiler", ',"-O3","-DNDEBUG"')
        self.assertRegex((self.folder / "a.d").read_text(encoding="utf-8"), r"^a\.o: a\.cu")
        version = re.search(r"hostcuda VERSION ([0-9.]+)",
                            (HOME / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertEqual(f"hostcuda {version}\n", self.works(TOOL, "--version"))

    def test_only_cublas_needs_openblas(self):
        plain, calling = str(self.folder / "plain.o"), str(self.folder / "calling.o")
        self.write("plain.o", "_Z9cudaMallocPPvm")
        self.write("calling.o", "cublasCreate_v2")
        options = libraries.link_options
        with mock.patch.multiple(libraries, libraries=lambda _: ["core.a"], cublas=lambda: None):
            self.assertNotIn("-lopenblas", options("plain", "c++", [plain], True))
            with self.assertRaisesRegex(libraries.ToolError, "install it .*libopenblas-dev"):
                options("plain", "c++", [plain, calling], False)
        with mock.patch.multiple(libraries, libraries=lambda _: ["core.a"],
                                 cublas_options=lambda _: ["cublas.a", "-lopenblas"]):
            self.assertNotIn("-lopenblas", options("plain", "c++", [plain], False))
            linked = options("plain", "c++", [calling], False)
            self.assertLess(linked.index("cublas.a"), linked.index("core.a"))

    @unittest.skipUnless(shutil.which("clang++"), "there is no clang++")
    def test_clangd_reads_launches(self):
        self.write("a.cu", REVERSE % "__syncthreads();")
        self.write("wrong.cu", "__global__ void k(int*) {}\nint main() { k<<<1, 2>>>(3, 4); }\n")
        written = self.works(TOOL, "clangd")
        self.write(".clangd", written)
        options = re.findall(r'^    - "(.*)"$', written, re.M)
        for file, is_right in (("a.cu", True), ("wrong.cu", False)):
            command = (["clangd", f"--check={file}"] if shutil.which("clangd") else
                       ["clang++", *options, "-fsyntax-only", "-w", file])
            said = self.run_in_folder(*command)
            self.assertEqual(is_right, said.returncode == 0, said.stderr)
            self.assertEqual(is_right, "too many arguments" not in said.stderr, said.stderr)

    @unittest.skipUnless(shutil.which("gdb"), "there is no gdb")
    def test_the_launch_file_of_vs_code(self):
        text = (HOME / "editors" / "vscode" / "launch.json").read_text(encoding="utf-8")
        launch, = json.loads(re.sub(r"(?m)(^|\s)//.*$", "", text))["configurations"]
        commands = [one["text"] for one in launch["setupCommands"] if one["text"][0] != "-"]
        tasks = json.loads((HOME / "editors" / "vscode" / "tasks.json").read_text(encoding="utf-8"))
        build = next(task for task in tasks["tasks"] if task["label"] == launch["preLaunchTask"])
        self.write("a.cu", REVERSE % "__syncthreads();")

        def named(text):
            return (text.replace("${fileDirname}/${fileBasenameNoExtension}", "./a")
                    .replace("${file}", "a.cu"))
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        self.works(build["command"], *map(named, build["args"]), PATH=path)
        said = self.works("gdb", "-batch", "-nx", *(f"--eval-command={one}" for one in commands),
                          "-ex", "break a.cu:6 if threadIdx.x == 5", "-ex", "run", "-ex",
                          "info cuda threads", named(launch["program"]), PATH=path)
        self.assertRegex(said, r"a\.cu:6")
        self.assertNotIn("Undefined", said)

    def test_the_action_of_github(self):
        text = (HOME / "action.yml").read_text(encoding="utf-8")
        scripts = [re.sub(r"(?m)^ {8}", "", block)
                   for block in re.findall(r"      run: \|\n((?: {8}.*\n)+)", text)]
        self.assertEqual(2, len(scripts))
        for script in scripts:
            self.works("bash", "-n", "-c", script)
        self.write("program.cu", REVERSE % "")
        said = self.run_in_folder("bash", "-e", "-c", scripts[1], RUNNER_TEMP=".",
                                  COMMAND="nvcc program.cu -o p && ./p",
                                  PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}")
        self.assertEqual(1, said.returncode, said.stderr)
        self.assertIn("RACE", (self.folder / "hostcuda.sarif").read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(unittest.main())
