#pragma once
/// Simple thresholding (ST): the features with the largest loadings of the global eigenvector of (A, B).
#include <array>
#include <vector>

#include "core/options.hpp"
#include "spectral/pencil.hpp"

namespace subspectra {

enum class ThresholdOn { kX, kY };
template <>
struct EnumNames<ThresholdOn> {
  static constexpr std::array<std::pair<ThresholdOn, std::string_view>, 2> kNames = {
      {{ThresholdOn::kX, "x"}, {ThresholdOn::kY, "y"}}};
};

struct ThresholdOptions {
  ThresholdOn threshold = ThresholdOn::kX;
  bool no_renormalize = false;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("threshold", o.threshold,
          "which vector is cut: the Fisher vector x (ICCV07), or y = B^{1/2} x (ICML06)");
    field(
        "no_renormalize", o.no_renormalize,
        "keep the loadings of the global vector instead of the best ones on the chosen set; the objective is then theirs");
  }
};

/// The leading generalized eigenvector of (A, B) over `features`: x with x'Bx = 1 (its rows in their order),
/// or y = B^{1/2} x. Tables with fewer rows than features are worked on through their rows. Throws Infeasible
/// when B is singular.   O(n^3), or O(N^2 n) through the rows.
[[nodiscard]] Vector global_vector(const Pencil& pencil, const std::vector<Index>& features,
                                   ThresholdOn which, int threads);

}  // namespace subspectra
