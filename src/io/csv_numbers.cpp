#include "io/csv_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace subspectra {

bool CsvNumbers::is_in_na(std::string_view text) const {
  return !na_.empty() && std::find(na_.begin(), na_.end(), text) != na_.end();
}

bool CsvNumbers::store(std::string_view token, double& slot, long line, Index column,
                       std::exception_ptr& misfit) {
  if (!reads(token, slot)) return false;
  if (plain()) return true;
  for (const std::string& text : na_) {
    double missing = 0.0;
    if (parse_number(text, missing) && missing == slot) slot = std::numeric_limits<double>::quiet_NaN();
  }
  if (!scanner_.decimal_comma()) return true;
  const bool comma = token.find(',') != std::string_view::npos;
  if (!comma && token.find('.') == std::string_view::npos) return true;
  long& first = comma ? comma_line_ : point_line_;
  const long other = comma ? point_line_ : comma_line_;
  if (other > 0 && misfit == nullptr) {
    misfit = std::make_exception_ptr(BadInput(
        scanner_.where(line, column),
        fmt::format("{} has a decimal {}, but a number on line {} has a decimal {}; write all of them alike",
                    shown(token), comma ? "comma" : "point", other, comma ? "point" : "comma")));
  }
  if (first == 0) first = line;
  return true;
}

MemoryPurpose reading_columns_of(const std::string& name) {
  return {.what = fmt::format("reading the columns of {}", name),
          .advice = "read fewer columns, or raise ⟨memory_limit⟩"};
}

MemoryPurpose reading_texts_in(const std::string& name) {
  return {.what = fmt::format("reading the texts in {}", name),
          .advice = "leave columns of text out of the file, or raise ⟨memory_limit⟩",
          .grows_with_file = true};
}

}  // namespace subspectra
