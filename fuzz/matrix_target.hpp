#pragma once
#include "io/read_groups.hpp"
#include "io/read_matrix.hpp"
#include "outcome.hpp"
#include "temporary_input.hpp"

/// The bytes as a square matrix in each format, and as a list of groups. What is accepted must keep its
/// promises.
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
  const fuzzing::TemporaryInput file(bytes, ".csv");
  try {
    const FeatureGroups groups = read_groups(file.path(), FeatureNames(20));
    Index members = 0;
    for (const auto& group : groups.members) members += static_cast<Index>(group.size());
    if (members != 20 || groups.names.size() != groups.members.size()) std::abort();
  } catch (const Error&) {  // refused with words
  }
}
