#pragma once
/// A delimited table the other way round: a feature in every row, a sample in every column.
#include "io/csv_scanner.hpp"

namespace subspectra {

[[nodiscard]] RawTable read_transposed_csv(CsvScanner& scanner, const ReadOptions& options);

}  // namespace subspectra
