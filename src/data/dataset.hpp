#pragma once
/// What the library itself knows of a Dataset. Readers know formats; nothing after this knows where the
/// numbers came from.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <subspectra/dataset.hpp>
#include <subspectra/error.hpp>

#include "core/types.hpp"
#include "data/feature_names.hpp"
#include "data/groups.hpp"
#include "data/values.hpp"

namespace subspectra {

using detail::DerivedFeature;

/// Class labels as codes into `classes`. Classes are sorted: by value if every one is a number, else by
/// bytes.
struct Labels {
  static constexpr int kMissing = -1;
  std::string name;  ///< of the label column or array
  std::vector<std::string> classes;
  std::vector<int> codes;  ///< one a row; kMissing for an empty or NA label

  /// `texts` one a row; "" is a missing label. `take` is told of every block of memory before it is taken.
  static Labels from_texts(std::string name, const std::vector<std::string>& texts,
                           const std::function<void(std::size_t bytes)>& take = {});
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

/// Everything about a table but its numbers.
struct DatasetDetails {
  std::string source;  ///< file name, "sonar", "-"
  FeatureNames names;  ///< none: x0, x1, ...
  std::optional<Labels> labels;
  Vector weights;                         ///< N sample weights >= 0, or empty: all 1
  std::vector<std::string> row_groups;    ///< N group names for `cv_groups`, or empty
  std::vector<Index> original_rows;       ///< row numbers in the file after rows were dropped; empty: 0..N-1
  std::optional<Location> first_missing;  ///< where the first missing value stood, when the reader knows
  std::optional<InfiniteCell> first_infinite;
  std::optional<Location> first_unlabelled;  ///< the first missing label
  std::string id_name;                       ///< of the column that names the rows; "" also where it has none
  /// The names of the file's rows (original_rows says which are here), or null.
  std::shared_ptr<const std::vector<std::string>> row_ids;
  std::vector<DerivedFeature> derived;  ///< those of the features that are made of columns of the file
  std::shared_ptr<const FeatureGroups>
      categories;                       ///< the features of one category together; null: all alone
  std::vector<std::string> understood;  ///< beyond rows, features and classes: "index 'Unnamed: 0' left out"
  std::string no_target;                ///< where no label was found: why, and what to do
  std::vector<std::string> left_out;    ///< text columns that ReadOptions::ignore named
  std::vector<std::string> notes;       ///< what the reader understood: "header row: yes", ...
  std::vector<std::string> warnings;    ///< duplicate names and the like; they go into the result
  bool gaps_are_means = false;  ///< genotypes: a missing value is the mean unless something else is asked
  bool in_memory = false;       ///< the caller's arrays and no file: messages name a row and a column
};

/// What a table is filled in by readers, generators and whoever changes its numbers; a Dataset is made from
/// it.
struct DatasetParts : DatasetDetails {
  bool is_sparse = false;
  Matrix dense;                                 ///< N x p if !is_sparse; NaN marks a missing value
  SparseMatrix sparse;                          ///< N x p, compressed, if is_sparse
  std::shared_ptr<const ColumnSource> columns;  ///< N x p in place of either, where it is read in blocks

  [[nodiscard]] Index rows() const {
    return columns ? columns->rows() : is_sparse ? sparse.rows() : dense.rows();
  }
  [[nodiscard]] Index features() const {
    return columns ? columns->columns() : is_sparse ? sparse.cols() : dense.cols();
  }
  [[nodiscard]] double weight(Index row) const { return weights.size() == 0 ? 1.0 : weights[row]; }
};

struct DatasetState {
  DatasetDetails details;
  Values values;
};

/// The groups of these features alone; null where each is alone.
[[nodiscard]] std::shared_ptr<const FeatureGroups> restricted(const FeatureGroups& groups,
                                                              const std::vector<Index>& features);

/// Refuses what stands in a table: of a file BadInput, with its place; of the caller's arrays, where there is
/// no file to name, InvalidArgument.
[[noreturn]] void refuse_table(const Dataset& data, const BadInput& of_file,
                               InvalidArgument::Parts of_arrays);

/// Column j has the same value in every row.
[[nodiscard]] bool does_not_vary(const Dataset& data, Index j);

/// A number for what a result says of a table: its size, the names of its features, its labels. Never 0.
[[nodiscard]] std::uint64_t identity_of(const Dataset& data);

/// Throws InvalidArgument where `data` is not the table of this identity, which `call` was given; 0: any.
void require_identity(const Dataset& data, std::uint64_t identity, std::string_view call);

/// 0, 1, ..., count - 1.
[[nodiscard]] std::vector<Index> first_features(Index count);

}  // namespace subspectra
