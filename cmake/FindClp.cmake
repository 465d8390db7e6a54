# Clp, the linear programs of sulda: a shared library and CoinUtils below it, found through pkg-config.
# Linked to a module of its own alone (docs/building.md): its LAPACK and BLAS are the system's.
# Defines the target Clp::clp.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_CLP QUIET clp)
endif()
find_path(CLP_INCLUDE_DIR ClpSimplex.hpp HINTS ${PC_CLP_INCLUDE_DIRS} PATH_SUFFIXES coin)
find_library(CLP_LIBRARY NAMES Clp HINTS ${PC_CLP_LIBRARY_DIRS})
find_library(COINUTILS_LIBRARY NAMES CoinUtils HINTS ${PC_CLP_LIBRARY_DIRS})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Clp REQUIRED_VARS CLP_LIBRARY COINUTILS_LIBRARY CLP_INCLUDE_DIR
  VERSION_VAR PC_CLP_VERSION)
if(Clp_FOUND AND NOT TARGET Clp::clp)
  add_library(Clp::clp INTERFACE IMPORTED)
  target_include_directories(Clp::clp SYSTEM INTERFACE ${CLP_INCLUDE_DIR})
  target_link_libraries(Clp::clp INTERFACE ${CLP_LIBRARY} ${COINUTILS_LIBRARY})
endif()
mark_as_advanced(CLP_INCLUDE_DIR CLP_LIBRARY COINUTILS_LIBRARY)
