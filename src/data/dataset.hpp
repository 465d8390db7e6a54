#pragma once
/// A table: N samples (rows) x p features (columns), dense or sparse, with names, labels and weights.
/// Readers know formats; nothing after this knows where the numbers came from.
#include <optional>
#include <string>
#include <vector>

#include <subspectra/error.hpp>
#include "core/types.hpp"
#include "data/feature_names.hpp"

namespace subspectra {

/// Class labels as codes into `classes`. Classes are sorted: by value if every one is a number, else by
/// bytes.
struct Labels {
  static constexpr int kMissing = -1;
  std::string name;  ///< of the label column or array
  std::vector<std::string> classes;
  std::vector<int> codes;  ///< one a row; kMissing for an empty or NA label

  /// `texts` one a row; "" is a missing label.
  static Labels from_texts(std::string name, const std::vector<std::string>& texts);
  [[nodiscard]] int class_count() const { return static_cast<int>(classes.size()); }
  [[nodiscard]] std::vector<Index> counts() const;  ///< rows of each class
};

/// The first value that no finite double holds, as far as the reader knows.
struct InfiniteCell {
  Location where;
  std::string text;  ///< as written ("inf", "1e400"), "" in a binary file
  /// "'inf' is infinite", "'1e400' is too large for a double", "an infinite value".
  [[nodiscard]] std::string sentence() const;
};

struct Dataset {
  std::string source;  ///< file name, "sonar", "-"
  bool is_sparse = false;
  Matrix dense;         ///< N x p if !is_sparse; NaN marks a missing value
  SparseMatrix sparse;  ///< N x p, compressed, if is_sparse
  FeatureNames names;
  std::optional<Labels> labels;
  Vector weights;                         ///< N sample weights >= 0, or empty: all 1
  std::vector<std::string> row_groups;    ///< N group names for `cv_groups`, or empty
  std::vector<Index> original_rows;       ///< row numbers in the file after rows were dropped; empty: 0..N-1
  std::optional<Location> first_missing;  ///< where the first missing value stood, when the reader knows
  std::optional<InfiniteCell> first_infinite;
  std::optional<Location> first_unlabelled;  ///< the first missing label
  std::vector<std::string> left_out;         ///< text columns that ReadOptions::ignore named
  std::vector<std::string> notes;            ///< what the reader understood: "header row: yes", ...
  std::vector<std::string> warnings;         ///< duplicate names and the like; they go into the result

  [[nodiscard]] Index rows() const { return is_sparse ? sparse.rows() : dense.rows(); }
  [[nodiscard]] Index features() const { return is_sparse ? sparse.cols() : dense.cols(); }
  [[nodiscard]] double weight(Index row) const { return weights.size() == 0 ? 1.0 : weights[row]; }
  /// A copy with only these rows (any order, repeats allowed) or these columns.
  [[nodiscard]] Dataset with_rows(const std::vector<Index>& rows) const;
  [[nodiscard]] Dataset with_features(const std::vector<Index>& features) const;
  /// Column j as a dense vector.
  [[nodiscard]] Vector column(Index j) const;
  /// These columns as a dense N x |features| matrix.
  [[nodiscard]] Matrix columns(const std::vector<Index>& features) const;
};

}  // namespace subspectra
