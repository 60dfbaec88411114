# Spack's recipe for the Open MPI that jobs/setup.sh builds: fault tolerance, bundled PMIx and PRRTE, and mend's
# corrections (docs/open-mpi.md). The patches are those of the checkout that holds this recipe.

import glob
import os

from spack.package import *

_patches = os.path.join(*[os.pardir] * 4, "jobs", "setup", "patches")  # from the folder of this recipe
_corrections = sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), _patches, "*.patch")))


class OpenmpiMend(AutotoolsPackage):
    """Open MPI with fault tolerance (ULFM), corrected for mend."""

    homepage = "https://www.open-mpi.org"
    url = "https://download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.7.tar.bz2"

    license("BSD-3-Clause-Open-MPI")

    version("5.0.7", sha256="119f2009936a403334d0df3c0d74d5595a32d99497f9b1d41e90019fee2fc2dd")

    variant("corrected", default=True, description="Apply mend's corrections")
    variant("libfabric", default=False, description="Transport over libfabric (mend run --network ofi)")
    variant("ucx", default=False, description="Transport over UCX (mend run --network uct)")

    provides("mpi@:3.1")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("perl", type="build")
    depends_on("flex", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("zlib-api")
    depends_on("libfabric", when="+libfabric")
    depends_on("ucx", when="+ucx")

    filter_compiler_wrappers("openmpi/*-wrapper-data*", relative_root="share")

    # So that they are part of the package's hash.
    for correction in _corrections:
        patch(os.path.join(_patches, os.path.basename(correction)), when="+corrected")

    def configure_args(self):
        spec = self.spec
        args = [
            "--with-ft=ulfm",
            "--with-pmix=internal",
            "--with-prrte=internal",
            "--with-hwloc=internal",
            "--with-libevent=internal",
            "--disable-oshmem",
            "--disable-man-pages",
            "--disable-sphinx",
            "--disable-io-romio",
            "--disable-debug",
            "--disable-rsmi",
            "--disable-nvml",
            "--disable-opencl",
            "--disable-gl",
            "--enable-mpi-fortran=all",
            "CFLAGS=-O2",
        ]
        args += [f"--with-ofi={spec['libfabric'].prefix}" if spec.satisfies("+libfabric") else "--without-ofi"]
        args += [f"--with-ucx={spec['ucx'].prefix}" if spec.satisfies("+ucx") else "--without-ucx"]
        if spec.satisfies("+libfabric") or spec.satisfies("+ucx"):
            args += ["--enable-mca-no-build=pml-ucx,pml-cm,mtl-ofi,osc-ucx,btl-usnic"]
        return args

    @run_after("install")
    def name_corrections(self):
        if self.spec.satisfies("~corrected"):
            return
        mkdirp(self.prefix.share.mend.corrections)
        for correction in _corrections:
            install(correction, self.prefix.share.mend.corrections)

    def setup_run_environment(self, env):
        env.set("MPI_HOME", self.prefix)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = join_path(self.prefix.bin, "mpicc")
        self.spec.mpicxx = join_path(self.prefix.bin, "mpic++")
        self.spec.mpifc = join_path(self.prefix.bin, "mpifort")
        self.spec.mpif77 = join_path(self.prefix.bin, "mpif77")
