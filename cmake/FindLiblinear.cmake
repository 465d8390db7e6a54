# LIBLINEAR, the linear support vector machine: a shared library without a pkg-config file. Linked to a module
# of its own alone (docs/building.md): its BLAS is the system's.
# Defines the target Liblinear::liblinear.
find_path(LIBLINEAR_INCLUDE_DIR linear.h PATH_SUFFIXES liblinear)
find_library(LIBLINEAR_LIBRARY NAMES linear)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Liblinear REQUIRED_VARS LIBLINEAR_LIBRARY LIBLINEAR_INCLUDE_DIR)
if(Liblinear_FOUND AND NOT TARGET Liblinear::liblinear)
  add_library(Liblinear::liblinear INTERFACE IMPORTED)
  target_include_directories(Liblinear::liblinear SYSTEM INTERFACE ${LIBLINEAR_INCLUDE_DIR})
  target_link_libraries(Liblinear::liblinear INTERFACE ${LIBLINEAR_LIBRARY})
endif()
mark_as_advanced(LIBLINEAR_INCLUDE_DIR LIBLINEAR_LIBRARY)
