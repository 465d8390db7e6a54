#pragma once
/// A set that a search came to, against the bound that it looks above.
#include <optional>
#include <set>
#include <vector>

#include "verify/dense_pair.hpp"

namespace subspectra::verify {

/// A claim "no set is above the bound" is tested up to this fraction beyond it.
inline constexpr double kBeyond = 1e-9;

struct Exceeding {
  std::vector<Index> places;
  DenseValue value;
};

/// What a search may spend.
struct SearchBudget {
  double work = kInfinity;  ///< operations, roughly
  double nodes = kInfinity;
};

/// Whether some set of a size is above a bound.
struct BoundAnswer {
  enum class End {
    kNone,       ///< there is none
    kFound,      ///< `found`
    kUndecided,  ///< none, but for sets whose value has too few digits to tell: `condition`
    kSpent,      ///< the work that was allowed did not suffice
    kStopped     ///< the control said so
  };
  End end = End::kNone;
  std::optional<Exceeding> found;
  double condition = 0.0;  ///< of the worst of the undecided sets
};

/// Sets above the bound are looked for: one that a search came to, judged by its dense value.
class SetJudge {
 public:
  SetJudge(const DensePair& pair, Criterion criterion) : pair_(pair), criterion_(criterion) {}
  /// Starts over; sets in `known` (ascending places) do not count.
  void begin(double bound, std::set<std::vector<Index>> known);
  /// Judges a set of places in any order. True: it is above the bound beyond its tolerance.
  bool judge(const std::vector<Index>& places);
  /// What was found, or `otherwise` when nothing was and no set is undecided.
  [[nodiscard]] BoundAnswer answer(BoundAnswer::End otherwise) const;

 private:
  [[nodiscard]] bool has_dependent(std::vector<Index> places) const;
  void remember_dependent(std::vector<Index> places);

  const DensePair& pair_;
  Criterion criterion_;
  double bound_ = 0.0;
  std::set<std::vector<Index>> known_;
  std::optional<Exceeding> found_;
  double condition_ = 0.0;
  std::vector<std::vector<Index>> dependent_;  ///< ascending places
};

}  // namespace subspectra::verify
