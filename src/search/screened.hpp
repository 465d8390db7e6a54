#pragma once
/// A wide table's columns that are worth a second look after the forward pass: those it took and those that
/// are best alone, a few times as many as the largest set has. Searches from them cost what a small table
/// does.
#include <memory>
#include <vector>

#include "search/greedy.hpp"
#include "search/swaps.hpp"

namespace subspectra {

class ScreenedColumns {
 public:
  /// As many units as a backward pass can start from for no more work than the forward pass took: at most
  /// some four times the largest set that is asked for. Keeps a reference to `units`.
  ScreenedColumns(const Pencil& pencil, const SearchUnits& units, const GreedyPass& forward,
                  const GreedyOptions& options);

  [[nodiscard]] Index count() const { return static_cast<Index>(features_.size()); }  ///< columns
  [[nodiscard]] const std::vector<Index>& features() const { return features_; }      ///< ascending

  /// Backward from all of them; the order is one of the units given. Throws Infeasible when B over them is
  /// singular.
  [[nodiscard]] GreedyPass backward_pass(const GreedyOptions& options, const RunControl& control) const;
  /// Exchanges with them, of single features; features of the table.
  [[nodiscard]] SwapResult improve(const std::vector<Index>& support, const std::vector<Index>& include,
                                   Index most, const GreedyOptions& options, const RunControl& control) const;

 private:
  [[nodiscard]] std::vector<Index> places(const std::vector<Index>& features) const;

  std::vector<Index> unit_;      ///< by unit here, the one of the search; ascending
  std::vector<Index> features_;  ///< by column here, the one of the table
  SearchUnits units_;
  std::unique_ptr<const Pencil> pencil_;
};

}  // namespace subspectra
