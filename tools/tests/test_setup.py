"""Tests how the set-up detects packages, with fake compilers that find only some of them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests import fakes

ROOT = fakes.TOOLS.parent

# A fake compiler that finds every header, but only some libraries.
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
        self.program("python3", "#!/bin/sh\n")  # a fake Python with every module

    def set_up(self, command: str, **variables: str) -> subprocess.CompletedProcess:
        path = f"{self.folder}:{os.environ['PATH']}"
        script = f"source tools/setup.sh; {command}"
        return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=ROOT, check=False,
                              capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C", "PATH": path, **variables})

    def is_there(self, package: str, libraries: str) -> bool:
        compiler = self.program("compiler", COMPILER.format(libraries=libraries))
        done = self.set_up("missing_for test", CXX=str(compiler))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return package not in [line.split("|")[0] for line in done.stdout.splitlines()]

    def test_a_header_of_another_package_is_not_the_library(self) -> None:
        # Other packages also contain the headers that are looked for: the reference BLAS has
        # cblas.h, and the package of all Boost headers has those of Boost.Context.
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

    def test_another_system_has_its_own_names(self) -> None:
        for name in ("bash", "awk", "cut", "env", "grep", "id", "sed", "sort"):
            (self.folder / name).symlink_to(shutil.which(name) or name)
        commands = {"dnf": ("dnf install -y", "gcc-c++", "boost-devel"),
                    "pacman": ("pacman -S --needed", "gcc", "boost")}
        for manager, (line, compiler, boost) in commands.items():
            self.program(manager, "#!/bin/sh\n")
            done = self.set_up("set_up build", PATH=str(self.folder), CXX="none")
            (self.folder / manager).unlink()
            self.assertEqual((done.returncode, done.stderr), (1, ""))
            said = next(text for text in done.stdout.splitlines() if text.startswith(line)).split()
            self.assertIn(compiler, said)
            self.assertEqual(said.count(boost), 1, "a package of two rows is named once")
            self.assertNotIn("apt-get", done.stdout)

    def test_a_daemon_and_a_file_are_found(self) -> None:
        self.assertEqual(self.set_up("is_there cat /etc/passwd").returncode, 0)
        self.assertEqual(self.set_up("is_there /etc/no_such_file").returncode, 1)
        # Users do not have /usr/sbin on their PATH.
        daemon = next(file.name for file in Path("/usr/sbin").iterdir()
                      if not shutil.which(file.name, path="/usr/bin:/bin"))
        done = self.set_up(f"PATH=/usr/bin:/bin; is_there {daemon}")
        self.assertEqual(done.returncode, 0, daemon)

    def test_an_optional_package_of_the_distribution_is_kept(self) -> None:
        # apt-cache still writes when the line that answers has been read.
        self.program("apt-cache", "#!/bin/sh\necho '  Candidate: 4.1'\nseq 100000 || exit 1\n")
        self.assertEqual(self.set_up("apt_has 'ccache|ccache|optional|keeps files'").stdout,
                         "ccache|ccache|optional|keeps files\n")
        self.program("apt-cache", "#!/bin/sh\necho '  Candidate: (none)'\n")
        self.assertEqual(self.set_up("apt_has 'ccache|ccache|optional|keeps files'").stdout, "")

    def test_the_command_says_what_it_did(self) -> None:
        nothing = "missing_for() { :; }; run_setup_command"
        self.assertRegex(self.set_up(nothing).stdout, "^Nothing to install: ")
        installed = (
            "missing_for() { [ -e '%s' ] || echo 'git|git||revisions'; }; "
            "phase() { shift 2; touch '%s'; }; run_setup_command"
        ) % ((self.folder / "done",) * 2)
        self.program("apt-get", "#!/bin/sh\n")
        self.program("id", "#!/bin/sh\necho 0\n")
        self.program("sudo", "#!/bin/sh\n")
        self.program("env", "#!/bin/sh\n")
        done = self.set_up("as_root=(); " + installed)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(
            done.stdout, r"(?s)^Missing, to be installed with apt-get:.*git.*Installed: "
        )


class Lists(fakes.InFolder):
    """Tests that every list of packages agrees with packaging/packages.txt."""

    @staticmethod
    def names(manager: str, command: str) -> list[str]:
        return subprocess.run(["sh", "packaging/names.sh", manager, command], cwd=ROOT, check=True,
                              stdout=subprocess.PIPE, text=True).stdout.split()

    def test_a_row_has_a_name_for_each_manager(self) -> None:
        for manager in ("apt", "dnf", "pacman", "conda", "spack"):
            self.assertIn("git", self.names(manager, "setup"))
        lines = (ROOT / "packaging/packages.txt").read_text("utf-8").splitlines()
        rows = [row.split("|") for row in lines if not row.startswith("#")]
        self.assertEqual({len(row) for row in rows}, {8})
        self.assertEqual([row for row in rows if not all(row[:6]) or not row[7]], [])

    def test_only_the_night_needs_other_systems(self) -> None:
        nightly, ci = self.names("apt", "nightly"), self.names("apt", "ci")
        self.assertEqual(nightly[:len(ci)], ci)
        more = set(nightly[len(ci):])
        self.assertLessEqual({"mmdebstrap", "slurmd", "clang", "python3-venv"}, more)
        for manager in ("dnf", "pacman", "conda", "spack"):
            self.assertNotIn("-", self.names(manager, "nightly"))

    def test_the_containers_read_it(self) -> None:
        for recipe, wanted in ((".devcontainer/Dockerfile", "names.sh apt setup"),
                               ("packaging/Dockerfile", "names.sh apt container"),
                               ("packaging/nbody-steps.def", "names.sh apt container")):
            text = (ROOT / recipe).read_text("utf-8")
            self.assertIn(wanted, text)
            building = text.partition("FROM nvidia/cuda:13.0.1-base")[0]
            commands = {"cmake", "git", "ccache", "python3"}
            again = (
                set(re.findall(r"\b[\w+.-]+", building))
                & set(self.names("apt", "setup")) - commands
            )
            self.assertEqual(again, set(), recipe)

    def test_conda_has_the_same(self) -> None:
        text = (ROOT / "environment.yml").read_text("utf-8")
        self.assertEqual(re.findall(r"^  - (\S+)$", text, re.M), self.names("conda", "setup"))
