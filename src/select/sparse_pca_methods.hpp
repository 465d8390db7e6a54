#pragma once
/// The rivals of sparse PCA, spca and dspca, as methods of the registry, and the bound of the semidefinite
/// relaxation for sets that others found. docs/methods/sparse-pca.md
#include <string>
#include <vector>

#include "search/dspca.hpp"
#include "search/spca.hpp"
#include "select/methods.hpp"
#include "select/scoring_methods.hpp"

namespace subspectra {

/// `l2` auto|inf|VALUE of spca.
struct SpcaRidge {
  bool automatic = true;
  double value = SpcaOptions{}.l2;  ///< infinity: soft thresholding
  bool operator==(const SpcaRidge&) const = default;
};
template <>
struct OptionCodec<SpcaRidge> {
  static SpcaRidge parse(std::string_view text);
  static std::string format(const SpcaRidge& ridge);
  static nlohmann::json json(const SpcaRidge& ridge);
  static std::string hint() { return "auto|inf|VALUE"; }
};

struct SpcaMethodOptions {
  LambdaOptions grid{.lambdas = 50, .lambda_ratio = 1e-3};
  SpcaRidge l2;
  Index max_iterations = SpcaOptions{}.max_iterations;
  double tolerance = SpcaOptions{}.tolerance;

  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    LambdaOptions::visit(o.grid, field);
    field(
        "l2", o.l2,
        "weight of the squared coefficients, each in the units of its feature; inf: soft thresholding in place of the regression; auto: 1e-06, and inf for a table with more features than rows");
    field("max_iterations", o.max_iterations, "rounds of regression and rotation for one lambda");
    field("tolerance", o.tolerance,
          "stop when no coefficient moves by more than this fraction of the largest");
  }
};

struct DspcaMethodOptions {
  double rho = kInfinity;
  Index max_iterations = DspcaOptions{}.max_iterations;
  double tolerance = DspcaOptions{}.tolerance;

  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "rho", o.rho,
        "weight of the absolute entries of X, which then decides the number of features; default: the one that goes with every size of ⟨k⟩");
    field("max_iterations", o.max_iterations, "steps for one size, an eigendecomposition each");
    field("tolerance", o.tolerance,
          "stop when primal and dual value differ by less than this fraction of the largest eigenvalue");
  }
};

[[nodiscard]] std::vector<MethodInfo> sparse_pca_methods();

/// `bounds` on single features of a covariance: for the sizes lo..hi the bound "sdp" on every set, as far as
/// a fixed amount of work goes; infinity where there is none.
[[nodiscard]] std::vector<double> sdp_bounds(const SelectionInput& input, const KRange& sizes,
                                             const RunControl& control);
/// Lists them (the first is of size `lo`) with the entries of the path; an entry's upper_bound follows where
/// it is smaller.
void offer_sdp_bounds(const SelectionInput& input, Index lo, const std::vector<double>& bounds,
                      Selection& selection);

}  // namespace subspectra
