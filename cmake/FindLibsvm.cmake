# LIBSVM, the kernel support vector machine: a shared library without a pkg-config file, and without BLAS.
# Defines the target Libsvm::libsvm.
find_path(LIBSVM_INCLUDE_DIR libsvm/svm.h)
find_library(LIBSVM_LIBRARY NAMES svm)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libsvm REQUIRED_VARS LIBSVM_LIBRARY LIBSVM_INCLUDE_DIR)
if(Libsvm_FOUND AND NOT TARGET Libsvm::libsvm)
  add_library(Libsvm::libsvm INTERFACE IMPORTED)
  target_include_directories(Libsvm::libsvm SYSTEM INTERFACE ${LIBSVM_INCLUDE_DIR})
  target_link_libraries(Libsvm::libsvm INTERFACE ${LIBSVM_LIBRARY})
endif()
mark_as_advanced(LIBSVM_INCLUDE_DIR LIBSVM_LIBRARY)
