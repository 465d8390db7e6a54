# NLopt, the optimizer of a Gaussian process's hyperparameters: a shared library with a C interface.
# Defines the target Nlopt::nlopt.
find_path(NLOPT_INCLUDE_DIR nlopt.h)
find_library(NLOPT_LIBRARY NAMES nlopt)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nlopt REQUIRED_VARS NLOPT_LIBRARY NLOPT_INCLUDE_DIR)
if(Nlopt_FOUND AND NOT TARGET Nlopt::nlopt)
  add_library(Nlopt::nlopt INTERFACE IMPORTED)
  target_include_directories(Nlopt::nlopt SYSTEM INTERFACE ${NLOPT_INCLUDE_DIR})
  target_link_libraries(Nlopt::nlopt INTERFACE ${NLOPT_LIBRARY})
endif()
mark_as_advanced(NLOPT_INCLUDE_DIR NLOPT_LIBRARY)
