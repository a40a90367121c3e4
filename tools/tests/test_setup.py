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
        # Nothing is in the package database, which is asked last.
        self.program("dpkg-query", "#!/bin/sh\nexit 1\n")

    def program(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def is_there(self, what: str, libraries: str) -> bool:
        compiler = self.program("compiler", COMPILER.format(libraries=libraries))
        environment = {**os.environ, "CXX": str(compiler),
                       "PATH": f"{self.folder}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", f"source {fakes.TOOLS}/setup.sh; is_there {what}"],
                              env=environment, check=False, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode == 0

    def test_a_header_of_another_package_is_not_the_library(self) -> None:
        # cblas.h comes with the reference BLAS too, Boost.Context's headers with all of Boost's.
        for what, library in (("OpenBLAS", "openblas"), ("Boost.Context", "boost_context")):
            with self.subTest(what=what):
                self.assertFalse(self.is_there(what, libraries=""))
                self.assertFalse(self.is_there(what, libraries="blas boost_system"))
                self.assertTrue(self.is_there(what, libraries=f"blas {library}"))

    def test_headers_alone_are_enough_for_the_others(self) -> None:
        for what in ("CLI11", "Boost.Beast", "GoogleTest"):
            self.assertTrue(self.is_there(what, libraries=""), what)

