"""The set-up's question whether something is there, asked of compilers that know only half of it."""

import os
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests import fakes

# Stands for a compiler that finds every header but, among libraries, only those named.
COMPILER = """#!/bin/sh
for word in "$@"; do
  case $word in
    -l*) case " {libraries} " in *" ${{word#-l}} "*) ;; *) exit 1 ;; esac ;;
  esac
done
"""


class Presence(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program("python3", "#!/bin/sh\n")  # one that has every module, at once

    def program(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def is_there(self, package: str, libraries: str) -> bool:
        compiler = self.program("compiler", COMPILER.format(libraries=libraries))
        environment = {**os.environ, "LC_ALL": "C", "CXX": str(compiler),
                       "PATH": f"{self.folder}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-euo", "pipefail", "-c",
                               f"source '{fakes.TOOLS}/setup.sh'; missing_for test"],
                              env=environment, check=False, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return package not in [line.split("|")[0] for line in done.stdout.splitlines()]

    def test_a_header_of_another_package_is_not_the_library(self) -> None:
        # cblas.h comes with the reference BLAS too, Boost.Context's headers with all of Boost's.
        for package, library in (("libopenblas-dev", "openblas"),
                                 ("libboost-context-dev", "boost_context")):
            with self.subTest(package=package):
                self.assertFalse(self.is_there(package, libraries=""))
                self.assertFalse(self.is_there(package, libraries="blas boost_system"))
                self.assertTrue(self.is_there(package, libraries=f"blas {library}"))

    def test_headers_alone_are_enough_for_the_others(self) -> None:
        for package in ("libcli11-dev", "libboost-dev", "libgtest-dev"):
            self.assertTrue(self.is_there(package, libraries=""), package)

    def test_an_old_cmake_is_missing_and_its_version_named(self) -> None:
        self.program("cmake", "#!/bin/sh\necho cmake version 3.22.1\n")
        self.program("id", "#!/bin/sh\necho 1000\n")
        self.program("sudo", "#!/bin/sh\nexit 1\n")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c",
                               f"source '{fakes.TOOLS}/setup.sh'; set_up build"],
                              env={**os.environ, "LC_ALL": "C", "PATH": f"{self.folder}:{os.environ['PATH']}"},
                              check=False, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertRegex(done.stdout, r"cmake +configures .* 3\.25 or newer; \S+/cmake is 3\.22\.1")

