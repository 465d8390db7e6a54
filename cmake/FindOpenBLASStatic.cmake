# OpenBLAS as a static archive, linked into the library with its symbols hidden. Why static: docs/blas.md.
# The threaded build is taken although we call it from our own threads only: Debian's serial build has no locks around
# its work buffers, and two threads inside it at once get wrong numbers now and then.
# Defines the target OpenBLAS::static.
find_library(OPENBLAS_STATIC_LIBRARY NAMES libopenblas.a PATH_SUFFIXES openblas-pthread)
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-pthread)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASStatic REQUIRED_VARS OPENBLAS_STATIC_LIBRARY OPENBLAS_INCLUDE_DIR)
if(OpenBLASStatic_FOUND AND NOT TARGET OpenBLAS::static)
  # The archive's LAPACK is Fortran: its run-time library comes from the compiler that is installed.
  find_library(GFORTRAN_LIBRARY NAMES libgfortran.so.5 libgfortran.so gfortran)
  if(NOT GFORTRAN_LIBRARY)
    message(FATAL_ERROR "libgfortran was not found; install libgfortran5")
  endif()
  add_library(OpenBLAS::static INTERFACE IMPORTED)
  target_include_directories(OpenBLAS::static SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIR})
  target_link_libraries(OpenBLAS::static INTERFACE ${OPENBLAS_STATIC_LIBRARY} ${GFORTRAN_LIBRARY})
  get_filename_component(openblas_archive_name ${OPENBLAS_STATIC_LIBRARY} NAME)
  get_filename_component(openblas_real ${OPENBLAS_STATIC_LIBRARY} REALPATH)
  get_filename_component(openblas_real_name ${openblas_real} NAME)
  target_link_options(OpenBLAS::static INTERFACE
    "LINKER:--exclude-libs,${openblas_archive_name}:${openblas_real_name}")
endif()
mark_as_advanced(OPENBLAS_STATIC_LIBRARY OPENBLAS_INCLUDE_DIR GFORTRAN_LIBRARY)
