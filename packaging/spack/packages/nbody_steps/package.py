# From the repository's folder:
#   spack repo add packaging/spack
#   spack develop --path "$PWD" nbody-steps@=1.0.0 && spack install nbody-steps
# A test compares the dependencies with packaging/packages.txt, and the version with the
# project's version.
# OpenMP is not a variant, because every program uses it.
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.python import PythonExtension, PythonPipBuilder

from spack.package import (
    conflicts,
    depends_on,
    extends,
    generator,
    license,
    requires,
    run_after,
    variant,
    version,
    when,
    which,
    working_dir,
)


class NbodySteps(CMakePackage, CudaPackage, PythonExtension):
    """All-pairs gravity, from an OpenMP loop to a tuned GPU program, one idea per step: a series
    of short programs, a library for programs of your own, and tools."""

    license("MIT")

    version("1.0.0")

    variant("hdf5", default=True, description="Gadget and SWIFT files in HDF5")
    variant("mpi", default=True, description="Step 14, which runs on several ranks")
    variant("python", default=False, description="The command nbody and its Python modules")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("git", type="build")
    depends_on("python@3.11:", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("boost@1.74:", when="+cuda", type="build")
    depends_on("boost@1.74: +context", when="~cuda")
    depends_on("openblas", when="~cuda")
    depends_on("hdf5", when="+hdf5")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl", when="+cuda +mpi")

    with when("+python"):
        extends("python@3.11:")
        depends_on("py-pip", type="build")
        depends_on("py-hatchling", type="build")
        depends_on("py-numpy", type="run")
        depends_on("py-matplotlib", type="run")
        depends_on("py-jinja2", type="run")

    requires("platform=linux", msg="hostcuda and the grader use Linux's system calls")
    conflicts("%gcc@:11", msg="C++20 needs g++ 12 or newer")
    conflicts("%clang@:14", msg="the live view's coroutines need clang 15 or newer")
    conflicts("cuda_arch=none", when="+cuda", msg="specify the GPU, for example cuda_arch=90")

    def cmake_args(self):
        args = [
            # Spack's compiler wrapper adds the flags of target=.
            self.define("NBODY_PORTABLE", True),
            self.define("NBODY_EXPERIMENTS", False),
            self.define("BUILD_TESTING", False),
            self.define_from_variant("NBODY_CUDA", "cuda"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_HDF5", self.spec.satisfies("~hdf5")),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", self.spec.satisfies("~mpi")),
        ]
        if self.spec.satisfies("+cuda"):
            architectures = self.spec.variants["cuda_arch"].value
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return args

    @run_after("install", when="+python")
    def install_tools(self):
        python = which("python3", required=True)
        with working_dir(self.stage.source_path):
            python("-m", "pip", *PythonPipBuilder.std_args(self), f"--prefix={self.prefix}", ".")
