# Spack's recipe for mend. From a checkout:
#     spack repo add packaging/spack
#     spack dev-build mend@main          (with an Open MPI as distributed: mend@main ~corrected)
# or, in an environment to which mend@main has been added:
#     spack develop --no-clone --path CHECKOUT mend@main
#     spack install

from spack.package import *


class Mend(CMakePackage):
    """Keeps MPI applications running when processes die."""

    license("BSD-3-Clause")

    version("main")  # the checkout from which it is built, so there is nothing to fetch

    variant("corrected", default=True, description="Open MPI with mend's corrections, built for it")
    variant("kokkos", default=True, description="Protect Kokkos Views, and build the mini-apps")
    variant("benchmarks", default=False, description="The benchmarks, and the simulations of mend simulate")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("openmpi-mend@5.0.7", when="+corrected")
    depends_on("openmpi@5:", when="~corrected")
    depends_on("pmix", when="~corrected")
    depends_on("mpi")
    depends_on("asio@1.22:", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:")
    depends_on("nlohmann-json@3.11:")
    depends_on("xxhash@0.8:")
    depends_on("isa-l@2.30:")
    depends_on("hdf5@1.10:~mpi")
    depends_on("kokkos@3.7:5", when="+kokkos")
    depends_on("libpng", when="+kokkos")

    generator("ninja")
    build_targets = ["mend_installed"]

    def cmake_args(self):
        return [
            self.define("MEND_BUILD_TESTS", False),
            self.define_from_variant("MEND_BUILD_APPS", "kokkos"),
            self.define_from_variant("MEND_BUILD_BENCHMARKS", "benchmarks"),
        ]

    def setup_run_environment(self, env):
        env.set("MEND_MPIRUN", join_path(self.spec["mpi"].prefix.bin, "mpirun"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def a_killed_rank_is_survived(self):
        if self.spec.satisfies("+kokkos"):
            program = ["stencil", "--nx", "16", "--ny", "16", "--nz", "16", "--steps", "4", "--kill", "1@2"]
        else:
            program = ["mend-doctor-probe", "dies"]
        program[0] = join_path(self.prefix.bin, program[0])
        mend = Executable(join_path(self.prefix.bin, "mend"))
        mend("run", "-n", "2", "--spares", "1", "--", *program)
