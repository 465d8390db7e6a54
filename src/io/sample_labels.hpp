#pragma once
/// A file beside the table that says something of every sample, found again by its id: `labels`.
#include <memory>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "io/table_sink.hpp"

namespace subspectra {

/// The columns of a small table of samples, all as texts; "" for a missing value.
struct SampleTable {
  std::string file;
  std::vector<std::string> names;                 ///< of the columns: the header, or x0, x1, ...
  std::vector<std::vector<std::string>> columns;  ///< without the header
  std::vector<std::string> first_line;            ///< the first record: a header, or not
};

/// FILE or FILE:COLUMN, whichever is there.
struct LabelsOption {
  std::string file, column;
};
[[nodiscard]] LabelsOption parse_labels_option(const std::string& option);

/// The records of a delimited text file (any separator), or what a GEO series matrix or a GCT file says of
/// its samples. Throws BadInput.
[[nodiscard]] SampleTable read_sample_table(const std::string& path, const std::vector<std::string>& na,
                                            MemoryBudget& memory);

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

/// The same for a table whose rows have no ids: a single column with as many labels as rows, in their order.
[[nodiscard]] SideColumn labels_in_order(SampleTable&& table, const LabelsOption& option, std::size_t rows);

/// The names in a file, one a line; the first line may be a heading when there is one more than `count`, and
/// of several columns the first one counts. `count` 0: any number.
[[nodiscard]] std::vector<std::string> read_feature_names(const std::string& path, std::size_t count,
                                                          MemoryBudget& memory);

}  // namespace subspectra
