#pragma once
/// A table: N samples (rows) x p features (columns), dense or sparse, with names, labels and weights.
/// Readers know formats; nothing after this knows where the numbers came from.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
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

/// What a Dataset is made from: filled by readers, generators and whoever changes a table, then handed over.
struct DatasetParts {
  std::string source;  ///< file name, "sonar", "-"
  bool is_sparse = false;
  Matrix dense;         ///< N x p if !is_sparse; NaN marks a missing value
  SparseMatrix sparse;  ///< N x p, compressed, if is_sparse
  FeatureNames names;   ///< none: x0, x1, ...
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
};

/// An immutable table. A copy shares everything with its original.
class Dataset {
 public:
  Dataset();  ///< no rows, no features
  /// Checks once that the parts fit together; throws InvalidArgument. Implicit, so that what has been put
  /// together can be handed on as it is.
  Dataset(DatasetParts parts);  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Index rows() const { return parts_->rows(); }
  [[nodiscard]] Index features() const { return parts_->features(); }
  [[nodiscard]] const std::string& source() const { return parts_->source; }
  [[nodiscard]] const FeatureNames& names() const { return parts_->names; }
  [[nodiscard]] const Labels* labels() const { return parts_->labels ? &*parts_->labels : nullptr; }
  /// N sample weights, or empty: all 1.
  [[nodiscard]] std::span<const double> weights() const {
    return {parts_->weights.data(), static_cast<std::size_t>(parts_->weights.size())};
  }
  [[nodiscard]] double weight(Index row) const { return parts_->weight(row); }
  /// No row counts more than another.
  [[nodiscard]] bool weights_are_equal() const {
    return std::all_of(weights().begin(), weights().end(), [&](double w) { return w == weights()[0]; });
  }
  /// N names of groups that cross-validation keeps together, or empty.
  [[nodiscard]] const std::vector<std::string>& row_groups() const { return parts_->row_groups; }
  [[nodiscard]] const std::vector<Index>& original_rows() const { return parts_->original_rows; }
  [[nodiscard]] const std::optional<Location>& first_missing() const { return parts_->first_missing; }
  [[nodiscard]] const std::optional<InfiniteCell>& first_infinite() const { return parts_->first_infinite; }
  [[nodiscard]] const std::optional<Location>& first_unlabelled() const { return parts_->first_unlabelled; }
  [[nodiscard]] const std::vector<std::string>& left_out() const { return parts_->left_out; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return parts_->notes; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return parts_->warnings; }
  [[nodiscard]] bool is_sparse() const { return parts_->is_sparse; }
  [[nodiscard]] const Matrix& dense() const { return parts_->dense; }
  [[nodiscard]] const SparseMatrix& sparse() const { return parts_->sparse; }

  /// A copy of everything, to be changed and made a Dataset again.
  [[nodiscard]] DatasetParts parts() const& { return *parts_; }
  /// The same without a copy where nobody else holds this table.
  [[nodiscard]] DatasetParts parts() &&;
  /// A copy with only these rows (any order, repeats allowed) or these columns.
  [[nodiscard]] Dataset with_rows(const std::vector<Index>& rows) const;
  [[nodiscard]] Dataset with_features(const std::vector<Index>& features) const;
  /// Column j as a dense vector.
  [[nodiscard]] Vector column(Index j) const;
  /// These columns as a dense N x |features| matrix.
  [[nodiscard]] Matrix columns(const std::vector<Index>& features) const;

 private:
  std::shared_ptr<DatasetParts> parts_;  ///< never changed while more than one Dataset holds it
};

}  // namespace subspectra
