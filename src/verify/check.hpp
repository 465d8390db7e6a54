#pragma once
/// Re-checks a result file against the data by another route than the one that made it: explicit covariance
/// matrices from two-pass means and plain Eigen solvers. Nothing of spectral/ or search/ is used, so that a
/// mistake there cannot hide itself here.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/run_control.hpp"
#include "data/groups.hpp"
#include "verify/claims.hpp"

namespace subspectra {

/// Up to this many candidates (groups count as one) the claims of optimality are tested on every set.
inline constexpr Index kMostEnumerated = 24;

struct VerifyOptions {
  bool no_enumerate = false;
  ByteSize memory_limit;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("no_enumerate", o.no_enumerate,
          "leave out the test of the bounds on every set (which is made for at most 24 candidates)");
    field("memory_limit", o.memory_limit,
          "refuse work that needs more, for example 4G; default: what is free");
  }
};

enum class CheckKind {
  kFeatures,
  kConstraints,
  kObjective,
  kLoadings,
  kBounds,
  kPool,
  kEnumeration,
  kPoolComplete,
  kStatus
};
struct CheckDescription {
  CheckKind kind;
  std::string_view name;
  std::string_view says;  ///< what holds when it passes
};
[[nodiscard]] const std::vector<CheckDescription>& check_descriptions();  ///< in the order of the kinds

/// One check of one entry.
struct Finding {
  CheckKind kind = CheckKind::kFeatures;
  Index component = 1;  ///< of `components`; 1 is `path`
  Index k = 0;          ///< 0: the whole result
  bool ok = true;
  std::string words;  ///< what is wrong; "" when nothing is
  // The numbers it turned on, where there are any:
  std::optional<double> claimed, recomputed;
  std::optional<double> deviation;  ///< relative
  std::optional<double> tolerance;  ///< what the deviation may be
};

struct Verification {
  std::vector<Finding> findings;
  std::vector<std::string> not_checked;  ///< sentences
  Index entries = 0;                     ///< sets looked at
  Index candidates = 0;                  ///< units that could be chosen
  double sets_enumerated = 0.0;
  RunControl::Stop stop = RunControl::Stop::kGoOn;  ///< why it ended before everything was checked

  [[nodiscard]] Index failures() const;
  [[nodiscard]] bool holds() const { return failures() == 0; }
};

/// `data` is read and prepared as `claims.read` and `claims.prepare` say. Throws BadInput when it is not the
/// table of the result: other rows, features, names or classes. `groups` may be null when the result names no
/// groups.
[[nodiscard]] Verification verify_claims(const ClaimedResult& claims, const Dataset& data,
                                         const FeatureGroups* groups, const VerifyOptions& options,
                                         const RunControl& control);

/// The same against matrices: a pair (A, B), or A alone (B = I).
struct VerifyMatrices {
  std::string source;
  const FeatureNames& names;
  const Matrix& a;
  const Matrix* b = nullptr;
};
[[nodiscard]] Verification verify_claims(const ClaimedResult& claims, const VerifyMatrices& matrices,
                                         const FeatureGroups* groups, const VerifyOptions& options,
                                         const RunControl& control);

}  // namespace subspectra
