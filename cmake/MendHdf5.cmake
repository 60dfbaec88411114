# The serial HDF5 library, only its C interface. A parallel one can be used too.
#   mend_hdf5   link this; its headers are system headers

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_search_module(MEND_HDF5 QUIET IMPORTED_TARGET hdf5-serial>=1.10.2 hdf5>=1.10.2)
endif()
if(NOT MEND_HDF5_FOUND)
  enable_language(C)  # needed by CMake's own search
  set(HDF5_PREFER_PARALLEL OFF)
  find_package(HDF5 1.10.2 REQUIRED COMPONENTS C)
endif()
if(NOT TARGET mend_hdf5)
  add_library(mend_hdf5 INTERFACE IMPORTED GLOBAL)
  if(TARGET PkgConfig::MEND_HDF5)
    set_target_properties(mend_hdf5 PROPERTIES INTERFACE_LINK_LIBRARIES PkgConfig::MEND_HDF5)
  else()
    set_target_properties(mend_hdf5 PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${HDF5_C_INCLUDE_DIRS}"
      INTERFACE_LINK_LIBRARIES "${HDF5_C_LIBRARIES}")
  endif()
endif()
