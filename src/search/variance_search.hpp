#pragma once
/// The parts of search/variance_search.cpp, by what moves (features, groups) and by which way.
#include <utility>
#include <vector>

#include "search/greedy.hpp"

namespace subspectra::variance {

/// Values closer than this, relative to the larger, are the same value: the unit with the lowest index wins.
inline constexpr double kTie = 1e-12;
/// A candidate whose residual in B is at most this part of its diagonal entry is a combination of the chosen.
inline constexpr double kDependent = 1e-12;

/// Collects candidates and names the best, the lowest index among equals. Nothing depends on their order.
class Best {
 public:
  void offer(Index unit, double value) {
    all_.emplace_back(unit, value);
    if (all_.size() == 1 || value > value_) value_ = value;
  }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] double value() const { return value_; }
  /// Below this nothing can win any more.
  [[nodiscard]] double threshold() const {
    return empty() ? -kInfinity : value_ - kTie * (value_ < 0.0 ? -value_ : value_);
  }
  [[nodiscard]] Index unit() const {
    Index lowest = -1;
    for (const auto& [unit, value] : all_) {
      if (value >= threshold() && (lowest < 0 || unit < lowest)) lowest = unit;
    }
    return lowest;
  }

 private:
  std::vector<std::pair<Index, double>> all_;
  double value_ = -kInfinity;
};

[[nodiscard]] GreedyPass forward_features(const Pencil& pencil, const SearchUnits& units,
                                          const GreedyOptions& options, const RunControl& control);
[[nodiscard]] GreedyPass forward_groups(const Pencil& pencil, const SearchUnits& units,
                                        const GreedyOptions& options, const RunControl& control);
/// Features one at a time, B = I.
[[nodiscard]] GreedyPass backward_features(const Pencil& pencil, const SearchUnits& units,
                                           const GreedyOptions& options, const RunControl& control,
                                           RootLosses* root);
/// Groups, or any B: a full decomposition at every step.
[[nodiscard]] GreedyPass backward_decomposed(const Pencil& pencil, const SearchUnits& units,
                                             const GreedyOptions& options, const RunControl& control,
                                             RootLosses* root);

}  // namespace subspectra::variance
