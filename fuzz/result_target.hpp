#pragma once
#include <numeric>

#include "outcome.hpp"
#include "verify/check.hpp"

/// The bytes as a result file that `verify` is given; one that is accepted is checked against a small table
/// and matrices of the shape it claims, so that hostile numbers reach every check.
inline void fuzz_result(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  try {
    const ClaimedResult claims = parse_claims(fuzzing::as_text(bytes), "input");
    const Index p = claims.features;
    if (p < 1 || p > 8 || claims.rows > 40) return;
    const FeatureNames names = claims.names ? FeatureNames(*claims.names) : FeatureNames(p);
    FeatureGroups groups;
    for (Index j = 0; j < p; ++j) {
      if (j % 2 == 0) {
        groups.names.push_back(names[j]);
        groups.members.emplace_back();
      }
      groups.members.back().push_back(j);
      groups.group_of.push_back(groups.size() - 1);
    }
    DatasetParts data;
    data.source = "table";
    data.names = names;
    data.dense.resize(std::max<Index>(claims.rows, 1), p);
    std::uint64_t state = 1;
    for (double& x : data.dense.reshaped()) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      x = static_cast<double>(state >> 40U) * 0x1p-24;
    }
    const RunControl control({}, 5.0);
    if (claims.from_matrices()) {
      const Matrix a = data.dense.transpose() * data.dense;
      const Matrix b = a + Matrix::Identity(p, p);
      for (const Matrix* within : {&b, static_cast<const Matrix*>(nullptr)}) {
        (void)verify_claims(claims, VerifyMatrices{"matrices", names, a, within}, &groups, {}, control);
      }
      return;
    }
    if (claims.classes) {
      data.labels.emplace();
      data.labels->name = "class";
      data.labels->classes = *claims.classes;
      for (std::size_t c = 0; c < claims.class_counts.size(); ++c) {
        for (Index i = 0; i < claims.class_counts[c] && i < 40; ++i)
          data.labels->codes.push_back(static_cast<int>(c));
      }
      if (static_cast<Index>(data.labels->codes.size()) != data.rows()) return;
    }
    (void)verify_claims(claims, data, &groups, {}, control);
  } catch (const Error&) {  // refused with words
  }
}
