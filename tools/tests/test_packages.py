"""Tests that the recipes for conda and Spack agree with the version and with the list of
packages."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import types
import unittest
from typing import Any, Iterator
from unittest import mock

from nbody_tools.arguments import ROOT
from nbody_tools.command_line.help import number_of_the_version

CONDA = ROOT / "packaging/conda-recipe/recipe.yaml"
SPACK = ROOT / "packaging/spack/packages/nbody_steps/package.py"
# Neither recipe builds the experiments, runs the tests or caches objects.
NOT_BUILT = {"libhwy", "highway", "ccache"}


def names(manager: str) -> set[str]:
    """Returns the packages that the programs in the containers need. The Python packages of the
    tools are not among them."""
    listed = subprocess.run(["sh", "packaging/names.sh", manager, "container"], cwd=ROOT,
                            check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return set(listed) - NOT_BUILT


def of_tools(manager: str) -> set[str]:
    rows = (ROOT / "packaging/packages.txt").read_text("utf-8").splitlines()
    rows = [row for row in rows if not row.startswith("#")]
    column = rows[0].split("|").index(manager)
    return {row.split("|")[column] for row in rows if row.startswith("python3")}


class Conda(unittest.TestCase):
    def setUp(self) -> None:
        self.text = CONDA.read_text(encoding="utf-8")

    def required(self, section: str) -> set[str]:
        part = self.text.partition("\nrequirements:\n")[2].partition("\ntests:\n")[0]
        lines = re.search(rf"  {section}:\n((?:    - .*\n)+)", part)
        assert lines is not None, section
        words = re.sub(r"\$\{\{ compiler\('cxx'\) \}\}", "cxx-compiler", lines[1])
        return set(re.findall(r"^    - ([\w-]+)$", words, re.M))

    def test_the_version(self) -> None:
        self.assertIn(f'\n  version: "{number_of_the_version()}"\n', self.text)

    def test_the_packages(self) -> None:
        build, host, run = map(self.required, ("build", "host", "run"))
        self.assertEqual((build | host) - {"pip", "hatchling"}, names("conda"))
        self.assertEqual(run, of_tools("conda") | {"openmpi"})


class Recipe:
    """Runs the recipe for Spack with stubs instead of Spack's directives. The stubs record their
    arguments."""

    def __init__(self) -> None:
        self.said: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.context: list[str] = []
        package = types.ModuleType("spack.package")
        for name in ("license", "version", "variant", "depends_on", "extends", "requires",
                     "conflicts", "generator"):
            setattr(package, name, self.directive(name))
        for name in ("which", "working_dir"):
            setattr(package, name, mock.Mock())
        setattr(package, "when", self.when)
        setattr(package, "run_after", lambda *_, **__: lambda function: function)
        bases = {"cmake": ("CMakePackage",), "cuda": ("CudaPackage",),
                 "python": ("PythonExtension", "PythonPipBuilder")}
        modules = {"spack": types.ModuleType("spack"), "spack.package": package}
        for name, classes in bases.items():
            module = types.ModuleType(name)
            for one in classes:
                setattr(module, one, type(one, (), {}))
            modules[f"spack_repo.builtin.build_systems.{name}"] = module
        for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
            modules[name] = types.ModuleType(name)
        found: dict[str, Any] = {}
        with mock.patch.dict(sys.modules, modules):
            exec(compile(SPACK.read_text("utf-8"), str(SPACK), "exec"), found)
        self.recipe = found["NbodySteps"]

    def directive(self, name: str) -> Any:
        def record(*words: Any, **more: Any) -> None:
            self.said.append((name, words, {**more, "context": tuple(self.context)}))
        return record

    @contextlib.contextmanager
    def when(self, condition: str) -> Iterator[None]:
        self.context.append(condition)
        yield
        self.context.pop()

    def first_words(self, *directives: str) -> set[str]:
        return {words[0].split("@")[0].split()[0].rstrip(":") for name, words, _ in self.said
                if name in directives}

    def arguments(self, *variants: str) -> set[str]:
        """Returns CMake's arguments for these variants, such as "+cuda" and "~mpi"."""
        package = self.recipe()
        package.spec = mock.Mock()
        package.spec.satisfies = lambda condition: condition in variants
        package.spec.variants = {"cuda_arch": mock.Mock(value=("90",))}
        package.define = lambda name, value: f"-D{name}={value}"
        package.define_from_variant = lambda name, of: f"-D{name}={'+' + of in variants}"
        return set(package.cmake_args())


class Spack(unittest.TestCase):
    def setUp(self) -> None:
        self.recipe = Recipe()

    def test_the_version(self) -> None:
        self.assertEqual(self.recipe.first_words("version"), {number_of_the_version()})

    def test_the_packages(self) -> None:
        said = self.recipe.first_words("depends_on", "extends")
        of_spack = {"c", "py-pip", "py-hatchling", "cuda", "nccl", "ninja"}  # generator adds ninja
        self.assertEqual(said - of_spack, (names("spack") | of_tools("spack")) - {"ninja"})

    def test_cmake_knows_what_it_is_told(self) -> None:
        files = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
        known = "\n".join(file.read_text(encoding="utf-8") for file in files)
        arguments = self.recipe.arguments("+cuda", "~mpi")
        for argument in arguments:
            name = argument[2:].partition("=")[0]
            if name.startswith("NBODY_"):
                self.assertRegex(known, rf"\boption\({name} ", argument)
        self.assertLessEqual({"-DNBODY_PORTABLE=True", "-DNBODY_CUDA=True",
                              "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=True",
                              "-DCMAKE_CUDA_ARCHITECTURES=('90',)"}, arguments)
        self.assertIn("-DNBODY_CUDA=False", self.recipe.arguments("~cuda"))


if __name__ == "__main__":
    unittest.main()
