#pragma once
/// An evaluation in parts: which training sets are whose, and what was found on them as JSON.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.hpp"
#include "evaluate/score.hpp"
#include "io/part_file.hpp"

namespace subspectra {

/// A method on a training set is one piece of work. Set 0 is all rows; the held-out sets of every repeat and
/// permutation follow in their order. Where there are fewer sets than parts the methods of one set go to
/// different parts, else they share what is computed from its rows.
class EvaluationParts {
 public:
  static constexpr Index kAllRows = 0;

  /// `work` null: one run does everything. `held_out_sets`: about as many as there will be, the same in every
  /// part and when they are put together.
  EvaluationParts(PartWork* work, const Dataset& data, std::size_t methods, Index held_out_sets);

  [[nodiscard]] bool merging() const { return work_ != nullptr && work_->merging(); }
  [[nodiscard]] bool one_part() const { return work_ != nullptr && !work_->merging(); }
  /// By method: whether this run is to do it.
  [[nodiscard]] std::vector<char> mine(Index set) const;
  [[nodiscard]] bool any_mine(Index set) const;

  /// Of one part: the scores of what was its own. `permuted`: under permuted labels, of which less is needed.
  void keep(Index set, const std::vector<ScoresByK>& scores, bool permuted) const;
  void keep_all_rows(const std::vector<ScoresByK>& scores, const std::vector<ChoiceOnAllRows>& choices) const;

  /// Put together: the scores by method. `test` are the rows that were held out. Throws BadInput.
  [[nodiscard]] std::vector<ScoresByK> found(Index set, const std::vector<Index>& test, bool permuted) const;
  [[nodiscard]] std::pair<std::vector<ScoresByK>, std::vector<ChoiceOnAllRows>> found_on_all_rows() const;

 private:
  [[nodiscard]] Index owner(Index set, std::size_t method) const;
  [[nodiscard]] JsonMember item(Index set, std::size_t method) const;

  PartWork* work_;
  const Dataset& data_;
  std::size_t methods_;
  bool whole_sets_;           ///< every method of a set to one part
  double most_weight_ = 0.0;  ///< of all rows, and a little for rounding
};

}  // namespace subspectra
