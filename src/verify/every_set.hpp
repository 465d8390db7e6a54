#pragma once
/// Claims about all sets of a size: by trying every one where they are few, else by a branch and bound.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <subspectra/run_control.hpp>
#include "verify/drop_search.hpp"
#include "verify/enumeration.hpp"
#include "verify/row_search.hpp"

namespace subspectra::verify {

/// "No set of k units, but for those known (ascending places), is above the bound."
struct SetQuestion {
  Index k = 0;
  double bound = 0.0;
  std::set<std::vector<Index>> known;
};

struct SetAnswer {
  BoundAnswer answer;
  bool enumerated = false;  ///< else by branch and bound
  std::string why;          ///< kSpent: why it did not come to an end
};

class EverySet {
 public:
  /// Up to this many candidates (groups count as one) every set is tried, whatever the size.
  static constexpr Index kMostEnumerated = 24;
  [[nodiscard]] static Index most_features(bool identity) {
    return identity ? RowSearch::kMostFeatures : DropSearch::kMostFeatures;
  }

  /// `pair` has all candidates; it and `control` must outlive this.
  EverySet(const DensePair& pair, Choices choices, Criterion criterion, const RunControl& control);

  /// In the order of the questions. The searches spend `budget` in all, in rounds: every question gets a
  /// little, then those that are left eight times as much, so that one hard size does not keep the others
  /// from theirs.
  [[nodiscard]] std::vector<SetAnswer> answer(const std::vector<SetQuestion>& questions, SearchBudget budget);
  [[nodiscard]] double sets() const { return enumeration_.sets(); }
  [[nodiscard]] double nodes() const;
  [[nodiscard]] double work() const;

 private:
  [[nodiscard]] bool few(Index k) const;
  [[nodiscard]] BoundAnswer search(const SetQuestion& question, const SearchBudget& budget);
  [[nodiscard]] std::string refusal();

  const DensePair& pair_;
  Choices choices_;
  Criterion criterion_;
  const RunControl& control_;
  Enumeration enumeration_;
  std::optional<DropSearch> drop_;
  std::optional<RowSearch> row_;
};

}  // namespace subspectra::verify
