#pragma once
#include "io/read_matrix.hpp"
#include "outcome.hpp"
#include "temporary_input.hpp"

/// The bytes as a square matrix in each format. What is accepted must keep its promises.
inline void fuzz_matrix(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  for (const char* ending : {".csv", ".tsv", ".npy"}) {
    const fuzzing::TemporaryInput file(bytes, ending);
    try {
      const SquareMatrix matrix = read_square_matrix(file.path(), fuzzing::small_memory().memory_limit.bytes);
      const Matrix& a = matrix.values;
      if (a.rows() != a.cols() || a.rows() == 0 || a != a.transpose() || !a.allFinite() ||
          a.diagonal().minCoeff() < 0.0 || matrix.names.size() != a.cols()) {
        std::abort();
      }
    } catch (const Error&) {  // refused with words
    }
  }
}
