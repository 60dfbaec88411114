-- An Lmod module for mend. Copy it to MODULEPATH/mend/VERSION.lua, and fill in the two prefixes.
help([[mend keeps MPI applications running when processes die: mend run -n 4 --spares 2 -- ./program]])
whatis("Name: mend")
whatis("Description: Keeps MPI applications running when processes die")

local prefix = "/opt/mend"             -- cmake --install build/release --prefix /opt/mend
local mpi = "/opt/openmpi"             -- the Open MPI that mend was built with (MPI_HOME in build/environment.sh)

conflict("mend")
family("mpi")
prepend_path("PATH", pathJoin(mpi, "bin"))
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("LD_LIBRARY_PATH", pathJoin(mpi, "lib"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
prepend_path("CMAKE_PREFIX_PATH", mpi)
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
setenv("MPI_HOME", mpi)
