"""Tests `cmake --install --component library`. After the prefix has been moved,
find_package(nbody) and pkg-config must still find the library, and the programs that are built with
their help must run.

usage: library_test.py BUILD COMPILER
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nbody_tools.arguments import ROOT
from nbody_tools.command_line.help import number_of_the_version

CONSUMER = Path(__file__).parent / "consumer"
NATIVE = re.compile(r"-m(arch|cpu)=native")
GRAVITY = "no error: 0.12 -0.024\n"  # printed by consumer/gravity.c
RUN = ("--scenario", "figure-eight", "--steps", "20")


def run(*words: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, **environment},
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="nbody library ")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        done = run("cmake", "--install", BUILD, "--prefix", cls.folder / "first", "--component",
                   "library", cwd=cls.folder)
        assert done.returncode == 0, done.stdout
        (cls.folder / "first").rename(cls.folder / "moved")
        cls.prefix = cls.folder / "moved"
        cls.package, = cls.prefix.glob("lib*/**/nbody.pc")

    def works(self, *words: object, **environment: str) -> str:
        done = run(*words, cwd=self.folder, **environment)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def run_consumer(self, program: Path, **environment: str) -> None:
        said = self.works(program, *RUN, **environment)
        self.assertRegex(said, r"(?s)^consumer on .*\n  verdict +pass \(full\)\n")

    def test_find_package(self) -> None:
        build = self.folder / "build"
        self.works("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", build,
                   f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCMAKE_CXX_COMPILER={COMPILER}",
                   f"-DWANTED={number_of_the_version()}")
        self.works("cmake", "--build", build)
        self.run_consumer(build / "consumer")
        if WITH_GRAVITY:
            self.assertEqual(self.works(build / "gravity"), GRAVITY)

    def test_another_major_version_is_not_found(self) -> None:
        (version,) = self.prefix.glob("lib*/**/nbodyConfigVersion.cmake")
        ask = self.folder / "ask.cmake"
        ask.write_text(
            'set(PACKAGE_FIND_VERSION 2.0)\nset(PACKAGE_FIND_VERSION_MAJOR 2)\n'
            f'include("{version}")\nmessage(STATUS "found ${{PACKAGE_VERSION_COMPATIBLE}}")\n',
            encoding="utf-8")
        self.assertIn("found FALSE", self.works("cmake", "-P", ask))

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config here")
    def test_pkg_config(self) -> None:
        where = {"PKG_CONFIG_PATH": str(self.package.parent)}
        version = self.works("pkg-config", "--modversion", "nbody", **where).strip()
        self.assertEqual(version, number_of_the_version())
        line = (f'"{COMPILER}" -O2 "{CONSUMER}/consumer.cpp" -o by_line '
                "$(pkg-config --cflags --libs nbody)")
        self.works("bash", "-c", f"eval {json.dumps(line)}", **where)
        self.run_consumer(self.folder / "by_line", LD_LIBRARY_PATH=str(self.package.parents[1]))
        if WITH_GRAVITY:
            line = f'cc "{CONSUMER}/gravity.c" -o gravity $(pkg-config --cflags --libs libnbody)'
            self.works("bash", "-c", f"eval {json.dumps(line)}", **where)
            folder = str(self.package.parents[1])
            found = self.works(self.folder / "gravity", LD_LIBRARY_PATH=folder)
            self.assertEqual(found, GRAVITY)

    def test_it_does_not_depend_on_this_machine(self) -> None:
        for file in self.prefix.rglob("*"):
            if file.suffix not in (".cmake", ".pc"):
                continue
            text = file.read_text(encoding="utf-8")
            self.assertNotIn(str(ROOT), text, file)
            self.assertNotIn(str(self.folder), text, file)
            self.assertIsNone(NATIVE.search(text), file)

    def test_public_headers_only(self) -> None:
        headers = {file.relative_to(self.prefix / "include")
                   for file in (self.prefix / "include").rglob("*") if file.is_file()}
        public = ROOT / "common" / "include"
        wanted = {file.relative_to(public) for file in public.rglob("*.h")}
        if WITH_GRAVITY:
            wanted |= {Path("nbody.h"), Path("nbody.hpp")}
        self.assertEqual(headers, wanted)
        self.assertFalse((self.prefix / "bin").exists())


class ForThisProcessor(unittest.TestCase):
    def test_a_build_for_this_processor_is_not_installed(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            entry = {"directory": str(BUILD), "file": "x.cpp", "command":
                     "c++ -march=native -o common/CMakeFiles/nbody_common.dir/x.cpp.o -c x.cpp"}
            (folder / "compile_commands.json").write_text(json.dumps([entry], indent=0))
            script = (BUILD / "packaging/cmake_install.cmake").read_text(encoding="utf-8")
            (folder / "install.cmake").write_text(script.replace(
                f'set(NBODY_BUILD "{BUILD}")', f'set(NBODY_BUILD "{folder}")'), encoding="utf-8")
            done = run("cmake", f"-DCMAKE_INSTALL_PREFIX={folder}/prefix",
                       "-DCMAKE_INSTALL_COMPONENT=library", "-P", folder / "install.cmake",
                       cwd=folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("for this machine's processor (-march=native) and are not installed",
                          " ".join(done.stdout.split()))
            self.assertFalse((folder / "prefix").exists())


if __name__ == "__main__":
    BUILD, COMPILER = Path(sys.argv[1]), sys.argv[2]
    WITH_GRAVITY = (BUILD / "library" / "libnbody.so").exists()  # needs Highway
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
