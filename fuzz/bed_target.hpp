#pragma once
#include "outcome.hpp"

/// A fileset: the bytes to the first 0xff are .fam, those to the second .bim, the rest is .bed.
inline void fuzz_bed(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const ReadOptions options = fuzzing::small_memory();
  std::string_view rest = fuzzing::as_text(bytes);
  const auto next = [&] {
    const std::string_view file = rest.substr(0, rest.find('\xff'));
    rest.remove_prefix(std::min(rest.size(), file.size() + 1));
    return file;
  };
  const std::string_view fam = next(), bim = next(), bed = rest;
  const auto read = [&](std::size_t block) {
    return fuzzing::outcome_of([&] {
      const Dataset data = assemble(read_bed_bytes(bed, bim, fam, "input", options, block), options);
      // What counts and multiplies the codes agrees with what decodes them.
      const Values& values = data.values();
      Vector product(values.features());
      values.transposed_times(VectorRef(Vector::Ones(values.rows())), product, 1);
      for (Index j = 0; j < values.features(); ++j) {
        const Vector column = values.column(j);
        const bool finite = column.allFinite();
        if (values.all_finite(j) != finite || (finite && product[j] != column.sum())) {
          std::fprintf(stderr, "column %ld is not what it was decoded to\n", static_cast<long>(j));
          std::abort();
        }
      }
      return data;
    });
  };
  fuzzing::require_equal(read(4), read(fuzzing::kLargeBlock));
}
