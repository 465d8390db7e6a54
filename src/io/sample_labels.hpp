#pragma once
/// A file beside the table that says something of every sample, found again by its id: `labels`.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "core/types.hpp"
#include "io/table_sink.hpp"

namespace subspectra {

/// The columns of a small table of samples, all as texts; "" for a missing value.
struct SampleTable {
  std::string file;
  std::vector<std::string> names;                 ///< of the columns: the header, or x0, x1, ...
  std::vector<std::vector<std::string>> columns;  ///< without the header
  std::vector<std::string> first_line;            ///< the first record: a header, or not
  bool in_order = false;                          ///< it has no ids: its lines are the table's rows
};

/// FILE or FILE:COLUMN, whichever is there.
struct LabelsOption {
  std::string file, column;
};
[[nodiscard]] LabelsOption parse_labels_option(const std::string& option);

/// The records of a delimited text file (any separator), the labels of a class file, or what a GEO series
/// matrix says of its samples. Throws BadInput.
[[nodiscard]] SampleTable read_sample_table(const std::string& path, const std::vector<std::string>& na,
                                            MemoryBudget& memory);

/// The labels of a class file (.cls), in the order of the samples (io/class_file.cpp).
[[nodiscard]] SampleTable read_class_file(const std::string& path, MemoryBudget& memory);

/// What a GEO series matrix says of its samples (io/series_matrix.cpp).
[[nodiscard]] SampleTable read_series_samples(const std::string& path,
                                              const std::shared_ptr<MemoryBudget>& memory);

/// Which column of the file holds ids, by how many of `ids` stand in it.
struct IdMatch {
  std::size_t column = 0;
  std::size_t found = 0;
};
[[nodiscard]] IdMatch match_ids(const SampleTable& table, const std::vector<std::string>& ids);

/// One label for every id, "" where the file has none. Throws BadInput where no column is the label, or where
/// two lines say different things of one id; `notes` gets what was not matched.
[[nodiscard]] SideColumn labels_of(SampleTable&& table, const LabelsOption& option, const IdMatch& match,
                                   const std::vector<std::string>& ids, std::vector<std::string>& notes);

/// Ids of rows that no text names, where the file calls its samples by numbers.
struct NumberIds {
  Index feature = -1;            ///< the column of numbers that are the ids; -1: the rows are counted
  std::vector<std::string> ids;  ///< of the rows
};
/// A column of `columns` whose numbers all stand in one column of the file, or rows counted from 0 or 1 if
/// these numbers do; nothing where neither is so. A file of labels alone calls nobody by a number.
[[nodiscard]] std::optional<NumberIds> numbers_as_ids(const SampleTable& table, const Matrix& columns,
                                                      std::size_t rows);

/// The same as labels_of() where one of both has no ids: as many labels as rows, in their order. `notes` gets
/// a warning where the file has ids that nobody can look for.
[[nodiscard]] SideColumn labels_in_order(SampleTable&& table, const LabelsOption& option, std::size_t rows,
                                         std::vector<std::string>& notes);

/// The names in a file, one a line; the first line may be a heading when there is one more than `count`, and
/// of several columns the first one counts. `count` 0: any number.
[[nodiscard]] std::vector<std::string> read_feature_names(const std::string& path, std::size_t count,
                                                          MemoryBudget& memory);

}  // namespace subspectra
