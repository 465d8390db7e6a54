#pragma once
/// Re-checks a result file against the data by another route than the one that made it: explicit covariance
/// matrices from two-pass means, plain solvers, and a branch and bound of its own. Nothing of spectral/ or
/// search/ is used, so that a mistake there cannot hide itself here.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <subspectra/run_control.hpp>
#include "data/groups.hpp"
#include "verify/claims.hpp"

namespace subspectra {

struct VerifyOptions {
  bool no_enumerate = false;
  std::uint64_t node_limit = 0;
  ByteSize memory_limit;
  bool timed = false;  ///< not an option: there is a time limit, and it alone says when a search ends
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("no_enumerate", o.no_enumerate,
          "leave out the test of the bounds on every set, by enumeration or branch and bound");
    field(
        "node_limit", o.node_limit,
        "stop the branch and bound after so many nodes in all; 0: after a minute's work or so, or when ⟨time_limit⟩ says so");
    field("memory_limit", o.memory_limit,
          "refuse work that needs more, for example 4G; default: what is free");
  }
};

enum class CheckKind {
  kSizes,
  kRidge,
  kFeatures,
  kConstraints,
  kObjective,
  kLoadings,
  kBounds,
  kPool,
  kEnumeration,
  kBranchAndBound,
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

/// What could not be checked, at which sizes, why, and what would help.
struct Unchecked {
  Index component = 1;
  std::vector<Index> sizes;  ///< none: the whole result
  std::string words;
};

enum class Verdict {
  kHolds,     ///< all that is claimed was checked and is so
  kFails,     ///< something is not as claimed
  kUnchecked  ///< nothing is wrong, but something could not be checked
};
[[nodiscard]] std::string_view verdict_name(Verdict verdict);  ///< "holds", "fails", "unchecked"

struct Verification {
  std::vector<Finding> findings;
  std::vector<Unchecked> unchecked;
  Index entries = 0;     ///< sets looked at
  Index candidates = 0;  ///< units that could be chosen
  /// Of `path`: sizes that were asked for, those of them that are possible, and those missing in spite of it.
  std::optional<KRange> asked, possible;
  std::vector<Index> missing;
  double sets_enumerated = 0.0, nodes = 0.0;
  RunControl::Stop stop = RunControl::Stop::kGoOn;  ///< why it ended before everything was checked

  [[nodiscard]] Index failures() const;
  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] std::vector<std::string> not_checked() const;  ///< sentences
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
