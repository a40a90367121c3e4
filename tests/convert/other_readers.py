"""other_readers.py yt|h5py|pynbody PROGRAM: reads nbody-convert's output with another program.
other_readers.py install: installs all three from PyPI into ./readers/.

Exits with code 77, which ctest shows as skipped, if the reader is not installed or cannot be
installed, for example without a network. NBODY_YT_PYTHON specifies another Python interpreter that
has the readers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Two gas bodies, three dark ones and a star, already sorted by species.
GALAXY = """# time=0.5
# softening=0.1
# units=kpc-100kms
species,m,x,y,z,vx,vy,vz
gas,0.5,1,2,3,4,5,6
gas,0.75,-1,-2,-3,-4,-5,-6
dark,1,10,0,0,0,1,0
dark,1.5,-10,0,0,0,-1,0
dark,2,0,10,0,1,0,0
star,0.25,0,0,7,8,9,10
"""
COUNTS = {"gas": 2, "dark": 3, "star": 1}
# The units of kpc-100kms. Other programs' values of G and the solar mass differ from ours by at
# most 1e-4.
SOLAR_MASSES = 2.32508541e9
MYR = 9.77792222
TOLERANCE = 1e-4
# Tolerance in grams; larger than TOLERANCE, because pynbody's solar mass is 2.9e-4 less than
# Gadget's.
GRAMS = 4e-4


def rows(species: str) -> list[list[float]]:
    lines = [line.split(",") for line in GALAXY.splitlines() if line.startswith(species + ",")]
    return [[float(word) for word in words[1:]] for words in lines]


def expect(what: str, found: object, expected: object, tolerance: float = TOLERANCE,
           absolute: float = 0) -> None:
    import numpy
    found, expected = numpy.asarray(found, dtype=float), numpy.asarray(expected, dtype=float)
    if found.shape != expected.shape or not numpy.allclose(found, expected, rtol=tolerance,
                                                                   atol=absolute):
        sys.exit(f"{what}: {found.tolist()}, expected {expected.tolist()}")


def convert(program: str, folder: Path, name: str, *options: str) -> Path | None:
    """Writes one file to its own folder, because yt reads any .param file in the same
    folder."""
    folder.mkdir()
    (folder / "galaxy.csv").write_text(GALAXY)
    done = subprocess.run([program, folder / "galaxy.csv", folder / name, *options],
                          capture_output=True, text=True)
    if done.returncode == 2 and "without HDF5" in done.stderr:
        return None
    if done.returncode != 0:
        sys.exit(f"nbody-convert: {done.stderr}")
    return folder / name


def check_in_yt(file: Path, kind: str, types: dict[str, str]) -> None:
    import yt
    yt.set_log_level(50)
    dataset = yt.load(str(file))
    if type(dataset).__name__ != kind:
        sys.exit(f"{file.name}: yt reads it as {type(dataset).__name__}, not as {kind}")
    data = dataset.all_data()
    expect("time", dataset.current_time.to("Myr"), 0.5 * MYR)
    for species, name in types.items():
        what = f"{file.name}, {species}"
        bodies = rows(species)
        expect(f"{what}: bodies", dataset.particle_type_counts[name], COUNTS[species], 0)
        order = data[name, "particle_mass"].argsort()  # sorted like the rows of each species
        expect(f"{what}: masses", data[name, "particle_mass"].to("Msun")[order],
               [SOLAR_MASSES * row[0] for row in bodies])
        for k, axis in enumerate("xyz"):
            expect(f"{what}: {axis}", data[name, f"particle_position_{axis}"].to("kpc")[order],
                   [row[1 + k] for row in bodies])
            expect(f"{what}: v{axis}", data[name, f"particle_velocity_{axis}"].to("km/s")[order],
                   [100 * row[4 + k] for row in bodies])


def check_plot_in_yt(file: Path) -> None:
    """Plots the file around the origin as yt's manual does, and checks that the picture contains
    every mass in its place."""
    import numpy
    import yt
    dataset = yt.load(str(file))
    plot = yt.ParticlePlot(dataset, ("all", "particle_position_x"), ("all", "particle_position_y"),
                           ("all", "particle_mass"), center=[0, 0, 0], width=(30, "kpc"))
    [picture] = plot.save(str(file.with_suffix("")))
    if Path(picture).stat().st_size < 10_000:
        sys.exit(f"{picture}: no picture")
    image = numpy.nan_to_num(numpy.asarray(plot.frb["all", "particle_mass"].to("Msun")))
    expect("plot: mass", image.sum(), sum(SOLAR_MASSES * row[0] for s in COUNTS for row in rows(s)))
    y, x = numpy.unravel_index(image.argmax(), image.shape)
    expect("plot: place of the heaviest", [(x + 0.5) * 30 / 800 - 15, (y + 0.5) * 30 / 800 - 15],
           [0.0, 10.0], tolerance=0.0, absolute=0.04)


# The names of species in pynbody.
FAMILIES = {"gas": "gas", "dark": "dm", "star": "star"}


def check_in_pynbody(snapshot, softening_known: bool, positions_of: str) -> None:
    expect(f"{positions_of}: time", snapshot.properties["time"].in_units("Myr"), 0.5 * MYR)
    for species, family in FAMILIES.items():
        what, bodies, part = f"{positions_of}, {species}", rows(species), getattr(snapshot, family)
        expect(f"{what}: bodies", len(part), COUNTS[species], 0)
        order = part["mass"].argsort()
        expect(f"{what}: masses", part["mass"].in_units("Msol")[order],
               [SOLAR_MASSES * row[0] for row in bodies], GRAMS)
        expect(
            f"{what}: positions", part["pos"].in_units("kpc")[order], [row[1:4] for row in bodies]
        )
        expect(f"{what}: velocities", part["vel"].in_units("km s**-1")[order],
               [[100 * v for v in row[4:7]] for row in bodies])
        if softening_known:
            expect(f"{what}: eps", part["eps"].in_units("kpc"), [0.1] * len(part))


def check_pynbody(program: str, folder: Path) -> None:
    import numpy
    import pynbody
    file = convert(program, folder / "gadget", "galaxy.hdf5")
    if file is None:
        skip("nbody-convert was built without HDF5")
    snapshot = pynbody.load(str(file))
    check_in_pynbody(snapshot, softening_known=True, positions_of="Gadget HDF5")
    # Checks a profile: the mass within 8, 12 and 16 kpc.
    profile = pynbody.analysis.profile.Profile(
        snapshot, ndim=3, bins=numpy.array([0.0, 8.0, 12.0, 16.0])
    )
    radii = [(sum(x * x for x in row[1:4]) ** 0.5, row[0]) for s in COUNTS for row in rows(s)]
    expect("profile", profile["mass_enc"].in_units("Msol"),
           [SOLAR_MASSES * sum(m for r, m in radii if r < edge) for edge in (8, 12, 16)], GRAMS)
    # Tests the reverse direction: pynbody writes, and nbody-convert reads. In Gadget's format 2,
    # units are per h, so pynbody writes h = 1.
    snapshot.properties["h"] = 1.0
    for family in FAMILIES.values():
        for name in ("pos", "vel", "mass", "iord"):
            getattr(snapshot, family)[name]
    binary = folder / "gadget" / "binary"
    snapshot.write(fmt=pynbody.snapshot.gadget.GadgetSnap, filename=str(binary))
    done = subprocess.run([program, binary, folder / "back.csv"], capture_output=True, text=True)
    if done.returncode != 0 or "Gadget, format 2" not in done.stdout:
        sys.exit(f"nbody-convert of pynbody's file: {done.stdout} {done.stderr}")
    lines = [line.split(",") for line in (folder / "back.csv").read_text().splitlines()
             if not line.startswith(("#", "id"))]
    back = [[float(word) for word in words[2:]] for words in lines]
    expect(
        "back from pynbody",
        back,
        [row for species in COUNTS for row in rows(species)],
        absolute=1e-5,
    )
    print("pynbody: Gadget HDF5 has the right counts, units, time, softening and values, and a "
          "profile; its own binary file comes back")


def check_yt(program: str, folder: Path) -> None:
    for name, options in (("big.tipsy", ()), ("little", ("--to", "tipsy-little"))):
        file = convert(program, folder / name, name, *options)
        check_in_yt(file, "TipsyDataset", {"gas": "Gas", "dark": "DarkMatter", "star": "Stars"})
    file = convert(program, folder / "gadget", "galaxy.hdf5")
    if file is None:
        print("yt: Tipsy right; no Gadget file to look at: nbody-convert was built without HDF5")
        return
    check_in_yt(file, "GadgetHDF5Dataset",
                {"gas": "PartType0", "dark": "PartType1", "star": "PartType4"})
    check_plot_in_yt(file)
    print("yt: Tipsy in both byte orders and Gadget HDF5 have the right counts, units and values, "
          "and a plot")


def check_h5py(program: str, folder: Path) -> None:
    import h5py
    file = convert(program, folder / "gadget", "galaxy.hdf5")
    if file is None:
        skip("nbody-convert was built without HDF5")
    with h5py.File(file) as data:
        header = data["Header"].attrs
        expect("NumPart_ThisFile", header["NumPart_ThisFile"], [2, 3, 0, 0, 1, 0], 0)
        expect("NumPart_Total", header["NumPart_Total"], [2, 3, 0, 0, 1, 0], 0)
        expect("Time", header["Time"], 0.5 * MYR / 977.792222, 1e-8)  # in units of kpc / (km/s)
        expect(
            "UnitLength_in_cm",
            data["Units"].attrs["UnitLength_in_cm"],
            3.0856775814913673e21,
            1e-12,
        )
        if "HubbleParam" in header:
            sys.exit("HubbleParam is present, so readers would divide by it")
        for species, group, ids in (("gas", 0, [1, 2]), ("dark", 1, [3, 4, 5]), ("star", 4, [6])):
            part = data[f"PartType{group}"]
            bodies = rows(species)
            expect("ParticleIDs", part["ParticleIDs"], ids, 0)
            expect("Masses", part["Masses"], [0.232508541 * row[0] for row in bodies], 1e-8)
            expect("Coordinates", part["Coordinates"], [row[1:4] for row in bodies], 1e-12)
            expect("Velocities", part["Velocities"],
                   [[100 * v for v in row[4:7]] for row in bodies], 1e-12)
    print("h5py: the Gadget file has the right groups, attributes and values")


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(77)


def install() -> None:
    if os.environ.get("NBODY_YT_PYTHON"):
        return
    imports = [INSTALLED, "-c", f"import {', '.join(CHECKS)}"]
    if (
        INSTALLED.exists()
        and subprocess.run(imports, check=False, capture_output=True).returncode == 0
    ):
        return
    for command in ([sys.executable, "-m", "venv", "--clear", "readers"],
                    [str(INSTALLED), "-m", "pip", "install", "--quiet", *CHECKS]):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"{' '.join(command)}: {(done.stdout + done.stderr).strip()[-300:]}")


CHECKS = {"yt": check_yt, "pynbody": check_pynbody, "h5py": check_h5py}
INSTALLED = Path("readers", "bin", "python3").absolute()


def main() -> None:
    if sys.argv[1:] == ["install"]:
        return install()
    reader, program = sys.argv[1:]
    python = os.environ.get("NBODY_YT_PYTHON", str(INSTALLED) if INSTALLED.exists() else None)
    if python and os.path.abspath(python) != os.path.abspath(sys.executable):
        os.execv(python, [python, *sys.argv])
    try:
        __import__(reader)
    except ImportError:
        skip(f"{reader} is not installed for {sys.executable} (pip install {reader}; then set "
             "NBODY_YT_PYTHON to that interpreter)")
    with tempfile.TemporaryDirectory() as folder:
        CHECKS[reader](program, Path(folder))


if __name__ == "__main__":
    main()
