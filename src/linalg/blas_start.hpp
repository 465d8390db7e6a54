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

/// Chooses the kernels at the first call, whichever thread makes it.
const CoreChoice& start_blas();

/// Stands around every call of BLAS and LAPACK: the kernels are chosen, and where the address space is
/// limited there is room for the call, else it waits or throws Error. Elsewhere it costs the reading of two
/// flags. Not to be nested.
class InBlas {
 public:
  InBlas();
  InBlas(const InBlas&) = delete;
  InBlas& operator=(const InBlas&) = delete;
  ~InBlas();
};

}  // namespace subspectra::linalg
