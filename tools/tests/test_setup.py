"""The set-up's question whether something is there, asked of compilers that know only half of it."""

import os
import subprocess

from tests import fakes

# Stands for a compiler that finds every header but, among libraries, only those named.
COMPILER = """#!/bin/sh
for word in "$@"; do
  case $word in
    -l*) case " {libraries} " in *" ${{word#-l}} "*) ;; *) exit 1 ;; esac ;;
  esac
done
"""


class Presence(fakes.InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.program("python3", "#!/bin/sh\n")  # one that has every module, at once

    def set_up(self, command: str, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(["bash", "-euo", "pipefail", "-c", f"source '{fakes.TOOLS}/setup.sh'; {command}"],
                              env={**os.environ, "LC_ALL": "C", "PATH": f"{self.folder}:{os.environ['PATH']}", **variables},
                              check=False, capture_output=True, text=True)

    def is_there(self, package: str, libraries: str) -> bool:
        compiler = self.program("compiler", COMPILER.format(libraries=libraries))
        done = self.set_up("missing_for test", CXX=str(compiler))
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
        done = self.set_up("set_up build")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertRegex(done.stdout, r"cmake +configures .* 3\.25 or newer; \S+/cmake is 3\.22\.1")
