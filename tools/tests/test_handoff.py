"""Tests ./nbody handoff: the parameters, the bodies as h5py reads them back, and the messages."""

import contextlib
import importlib.util
import os
import re
import subprocess
import unittest
from unittest import mock

import numpy

from nbody_tools.handoff import gadget4, hdf5, swift
from tests import fakes

HAS_H5PY = importlib.util.find_spec("h5py") is not None
BODIES = """# time=2.5
# softening=0.02
# dt=0.001
# units=kpc-100kms
m,x,y,z,vx,vy,vz,species
1.5,0,0,0,0,0,0,dark
0.25,1,2,3,0.1,0.2,0.3,star
0.5,-1,-2,-3.5,0,0.25,0,disk
0.125,7,0,0,0,0,1,gas
"""
# The parameters that GADGET-4 requires whatever Config.sh contains (its src/data/allvars.cc).
GADGET4 = """InitCondFile OutputDir SnapshotFileBase OutputListFilename OutputListOn Omega0
OmegaBaryon OmegaLambda Hubble HubbleParam BoxSize MaxMemSize TimeOfFirstSnapshot
CpuTimeBetRestartFile TimeBetStatistics TimeBegin TimeMax TimeBetSnapshot
UnitVelocity_in_cm_per_s UnitLength_in_cm UnitMass_in_g GravityConstantInternal ErrTolIntAccuracy
ErrTolTheta ErrTolThetaMax ErrTolForceAcc
MaxSizeTimestep MinSizeTimestep ArtBulkViscConst CourantFac DesNumNgb TopNodeFactor
ActivePartFracForNewDomainDecomp MaxNumNgbDeviation ComovingIntegrationOn ICFormat SnapFormat
NumFilesPerSnapshot MaxFilesWithConcurrentIO TypeOfOpeningCriterion TimeLimitCPU InitGasTemp
MinEgySpec SofteningComovingClass0 SofteningMaxPhysClass0""".split()


class Handoff(fakes.InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.bodies = self.file("a.csv", BODIES)
        self.to = self.folder / "run"

    def hand_over(self, engine: str, *words: object) -> str:
        """Returns what the command prints. Without h5py, the bodies are not written."""
        with contextlib.ExitStack() as stack:
            if not HAS_H5PY:
                stack.enter_context(mock.patch.object(hdf5, "require_h5py"))
                stack.enter_context(mock.patch.object(hdf5, "write"))
            return self.done("handoff", engine, self.bodies, "--to", self.to, *words)

    def rejected(self, *words: object) -> str:
        with mock.patch.object(hdf5, "require_h5py"):
            code, out, errors = self.call("handoff", *words)
        self.assertEqual((code, out, errors.count("\n")), (2, "", 1), errors)
        return errors

    def of_gadget4(self) -> dict[str, str]:
        lines = (self.to / "param.txt").read_text().splitlines()
        return {line.split()[0]: line.split()[1] for line in lines if line and line[0] != "%"}

    def of_swift(self, name: str) -> str:
        found = re.search(rf"^ +{name}: +(\S.*?)(?: +#.*)?$", (self.to / "swift.yml").read_text(),
                          re.MULTILINE)
        assert found, name
        return found[1]

    def test_gadget4_gets_every_parameter_and_no_other(self) -> None:
        self.hand_over("gadget4")
        found = self.of_gadget4()
        classes = [f"SofteningClassOfPartType{kind}" for kind in range(6)]
        self.assertEqual(sorted(found), sorted(GADGET4 + classes))
        self.assertEqual(found["GravityConstantInternal"], "1.0")
        self.assertEqual((found["TimeBegin"], found["TimeMax"]), ("2.5", "3.5"))
        self.assertEqual(found["SofteningComovingClass0"], "0.02")
        self.assertEqual(found["MaxSizeTimestep"], "0.001")
        self.assertIn("NSOFTCLASSES=1\n", (self.to / "Config.sh").read_text())

    def test_swift_gets_a_box_around_the_bodies(self) -> None:
        self.hand_over("swift", "--time", 4, "--snapshots", 8)
        self.assertEqual(self.of_swift("G"), "1.0")
        self.assertEqual(self.of_swift("time_end"), "6.5")
        self.assertEqual(self.of_swift("delta_time"), "0.5")
        shift = [float(one) for one in self.of_swift("shift").strip("[]").split(",")]
        self.assertEqual(shift, [37.0, 40.0, 40.25])

    def test_units_give_g_its_value(self) -> None:
        """Converts each engine's G from cgs to these units; the result must be 1 within 3e-4."""
        for engine, g in ((swift, 6.67430e-8), (gadget4, 6.6738e-8)):
            for text in ("kpc-100kms", "au-msun-yr2pi", "kpc-msun", "2.5 kpc, 1e10 Msun"):
                one = engine.units_of(text, engine.SOLAR_MASS)
                self.assertEqual(one.name, text)
                internal = g * one.mass / (one.length * one.velocity ** 2)
                self.assertAlmostEqual(internal, 1, delta=3e-4)
            for text in ("", "henon", "0 kpc, 1 Msun", "x kpc, 1 Msun", "nan kpc, 1 Msun"):
                self.assertEqual(engine.units_of(text, engine.SOLAR_MASS), swift.Units())

    def test_the_job_script_is_valid_bash(self) -> None:
        for engine in ("swift", "gadget4"):
            self.to = self.folder / engine
            self.hand_over(engine)
            script = self.to / "job.sh"
            subprocess.run(["bash", "-n", str(script)], check=True)
            self.assertTrue(os.access(script, os.X_OK))
            log = self.folder / f"{engine}.log"
            for name in ("swift", "mpirun"):
                self.program(f"bin/{name}", f'#!/bin/sh\necho "$0 $@" >> {log}\n')
            subprocess.run([str(script)], check=True,
                           env={"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "RANKS": "3"})
            self.assertRegex(log.read_text(), {"swift": r"/swift --self-gravity --threads=\d+ swift"
                                               r"\.yml", "gadget4": "/mpirun -np 3 ./Gadget4 "
                                               r"param\.txt"}[engine])

    def test_invalid_requests_get_one_line(self) -> None:
        self.assertIn("choose from", self.rejected("gadget2", self.bodies))
        self.assertIn("needs either FILE or --scenario", self.rejected("swift"))
        self.assertIn("needs either FILE or --scenario",
                      self.rejected("swift", self.bodies, "--scenario", "plummer"))
        self.assertIn("--seed needs --scenario", self.rejected("swift", self.bodies, "--seed", 1))
        self.assertIn("there is no file", self.rejected("swift", self.folder / "nothing.bin"))
        self.assertIn("not a number greater than 0",
                      self.rejected("swift", self.bodies, "--time", "-1"))
        self.to.mkdir()
        (self.to / "mine").touch()
        self.assertIn("not an empty folder", self.rejected("swift", self.bodies, "--to", self.to))
        self.assertEqual([one.name for one in self.to.iterdir()], ["mine"])

    def test_bodies_that_an_engine_would_reject(self) -> None:
        self.bodies.write_text(BODIES.replace("0.5,-1", "0,-1"))
        self.assertIn("body 3 has the mass 0", self.rejected("gadget4", self.bodies))
        self.bodies.write_text(re.sub("# time=.*", "# time=1", BODIES))
        self.assertIn("would end at 1: set it with --time",
                      self.rejected("swift", self.bodies, "--time", "1e-30"))
        self.bodies.write_text(BODIES.replace("# softening=0.02\n", ""))
        self.assertIn("set it with --softening", self.rejected("gadget4", self.bodies))
        self.bodies.write_text("# systems=2\n" + BODIES)
        self.assertIn("--system 0 to 1", self.rejected("swift", self.bodies))
        self.assertIn("numbered from 0", self.rejected("swift", self.bodies, "--system", 2))
        self.bodies.write_text("x,y\n1,2\n")
        self.rejected("swift", self.bodies)
        self.assertFalse(self.to.exists())

    def test_without_h5py(self) -> None:
        with mock.patch.dict("sys.modules", {"h5py": None}):
            code, _, errors = self.call("handoff", "swift", self.bodies)
        self.assertEqual(code, 77)
        self.assertIn("lacks the Python package h5py: apt-get install python3-h5py", errors)
        self.assertEqual(errors.count("\n"), 1)

    @unittest.skipUnless(HAS_H5PY, "needs the Python package h5py")
    def test_h5py_reads_the_bodies(self) -> None:
        import h5py

        self.hand_over("gadget4")
        with h5py.File(self.to / "bodies.hdf5") as file:
            self.assertEqual(list(file["Header"].attrs["NumPart_ThisFile"]), [0, 2, 1, 0, 1, 0])
            self.assertEqual(list(file["PartType1/ParticleIDs"]), [1, 4])
            self.assertEqual(file["PartType4/Velocities"][0].tolist(), [0.1, 0.2, 0.3])
            self.assertEqual(list(file["PartType2/Masses"]), [0.5])
        self.to = self.folder / "second"
        self.hand_over("swift", "--system", 0)
        shift = numpy.array([37.0, 40.0, 40.25])
        with h5py.File(self.to / "bodies.hdf5") as file:
            header, dark = file["Header"].attrs, file["PartType1"]
            self.assertEqual(list(header["NumPart_Total"]), [0, 4, 0, 0, 0, 0])
            inside = dark["Coordinates"] + shift
            self.assertTrue(((inside > 0) & (inside < header["BoxSize"])).all())
            self.assertEqual(list(dark["ParticleIDs"]), [1, 2, 3, 4])
            units = file["Units"].attrs
            self.assertAlmostEqual(units["Unit length in cgs (U_L)"][0] /
                                   units["Unit time in cgs (U_t)"][0], 1e7)


if __name__ == "__main__":
    unittest.main()
