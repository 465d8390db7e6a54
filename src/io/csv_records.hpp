#pragma once
/// The records of a CSV file as texts, for the small files that are no tables of samples: matrices, lists.
#include <functional>
#include <string>
#include <vector>

#include "io/raw_table.hpp"

namespace subspectra {

struct CsvField {
  std::string text;  ///< without quotes and outer blanks
  bool quoted = false;
};

struct CsvRecord {
  std::vector<CsvField> fields;
  long line = 0;  ///< of its first field, from 1
};

/// Calls `each` for every record that is not blank, in file order; a record may be moved from. Quotes, line
/// ends, byte-order marks and gzip are those of read_csv. Returns how many there were. Throws BadInput
/// (unreadable file, open quote, zero byte, the wrong separator), Error where a record is more than `memory`
/// leaves.
Index for_each_csv_record(const std::string& path, CsvFormat format,
                          const std::shared_ptr<MemoryBudget>& memory,
                          const std::function<void(CsvRecord&)>& each);

}  // namespace subspectra
