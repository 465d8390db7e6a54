#pragma once
#include "outcome.hpp"

/// The bytes as text whose separator is found out, cut into blocks of two sizes; samples in rows and in
/// columns, with further tokens for missing values.
inline void fuzz_dialects(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  for (const bool transpose : {false, true}) {
    ReadOptions options = fuzzing::small_memory();
    options.transpose = transpose;
    if (transpose) options.na = {"-9", "x"};
    for (const CsvFormat format : {CsvFormat{.detect = CsvDetect::kSeparator}, kCsvFile,
                                   CsvFormat{.separator = ';', .decimal_comma = true}}) {
      const auto read = [&](std::size_t block) {
        return fuzzing::outcome_of([&] {
          const auto source = memory_bytes(fuzzing::as_text(bytes));
          return assemble(read_csv_bytes(*source, "input", format, options, block), options);
        });
      };
      fuzzing::require_equal(read(4), read(fuzzing::kLargeBlock));
    }
  }
}
