#pragma once
/// How our copy of OpenBLAS starts: one thread, kernels that fit the CPU, the environment left alone
/// (docs/blas.md).
#include <string>

namespace subspectra::linalg {

struct CoreChoice {
  std::string openblas_alone;  ///< what OpenBLAS detected, empty when the user chose
  bool by_user = false;
  bool by_us = false;
};

/// Chooses the kernels at the first call, whichever thread makes it; every call of BLAS comes after one of
/// these. A later call costs the reading of one flag.
const CoreChoice& start_blas();

}  // namespace subspectra::linalg
