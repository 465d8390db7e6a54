#pragma once
/// The rivals of sparse PCA, spca and dspca, as methods of the registry, and the bound of the semidefinite
/// relaxation for sets that others found. docs/methods/sparse-pca.md
#include <map>
#include <string>

#include <subspectra/sparse_pca.hpp>

#include "core/options.hpp"
#include "select/problem.hpp"
#include "select/scoring_methods.hpp"

namespace subspectra {

template <>
struct OptionCodec<SpcaRidge> {
  static SpcaRidge parse(std::string_view text);
  static std::string format(const SpcaRidge& ridge);
  static nlohmann::json json(const SpcaRidge& ridge);
  static std::string hint() { return "auto|inf|VALUE"; }
};

/// `bounds` on single features of a covariance: by size the bound "sdp" on every set, as far as a fixed
/// amount of work goes.
[[nodiscard]] std::map<Index, double> sdp_bounds(const Problem& problem, const KRange& sizes,
                                                 const RunControl& control);
/// Lists them with the entries of the path; an entry's upper_bound follows where it is smaller.
void offer_sdp_bounds(const Problem& problem, const std::map<Index, double>& bounds, Selection& selection);

}  // namespace subspectra
