# The serial HDF5 library, its C interface alone; a parallel one serves as well.
#   mend_hdf5   link this: its headers as system headers

set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 1.10 REQUIRED COMPONENTS C)
if(NOT TARGET mend_hdf5)
  add_library(mend_hdf5 INTERFACE IMPORTED GLOBAL)
  set_target_properties(mend_hdf5 PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${HDF5_C_INCLUDE_DIRS}"
    INTERFACE_LINK_LIBRARIES "${HDF5_C_LIBRARIES}")
endif()
