#pragma once
/// Which rows are held out: stratified folds, leave-one-out, random splits, with groups kept together.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "core/random.hpp"
#include "data/dataset.hpp"

namespace subspectra {

template <>
struct OptionCodec<FoldCount> {
  static FoldCount parse(std::string_view text);
  static std::string format(const FoldCount& value);
  static nlohmann::json json(const FoldCount& value);
  static std::string hint() { return "N|loo"; }
};

/// Which rows a repeat holds out.
struct SplitOptions {
  FoldCount cv;
  double test_fraction = 0.0;  ///< instead of folds, where it is not 0: this share of each class, once
  bool small_classes = false;  ///< a class may have fewer rows than there are folds: some hold none of it
};

/// The held-out rows of every split of one repeat, each ascending. Rows of a group (`row_groups`, or empty)
/// stay together; `source` stands for the data in messages. Folds: the units of each class (rows, or groups)
/// are shuffled and dealt out one by one to the fold that has fewest rows of that class, then fewest rows,
/// then the lowest number. Throws BadInput when a class has fewer rows than folds.
[[nodiscard]] std::vector<std::vector<Index>> make_splits(const Labels& labels,
                                                          const std::vector<std::string>& row_groups,
                                                          const std::string& source,
                                                          const SplitOptions& options, Random random);

/// 0..rows-1 without `held_out` (ascending).
[[nodiscard]] std::vector<Index> complement(const std::vector<Index>& held_out, Index rows);

}  // namespace subspectra
