#pragma once
/// Which texts of a delimited file are numbers and which are missing values.
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv_scanner.hpp"

namespace subspectra {

class CsvNumbers {
 public:
  /// `na` are the texts and numbers that stand for missing values, too. All three live as long as this.
  CsvNumbers(const CsvScanner& scanner, const std::vector<std::string>& na) : scanner_(scanner), na_(na) {}

  /// Numbers are what they say: none is named by `na`, none has a decimal comma.
  [[nodiscard]] bool plain() const { return !scanner_.decimal_comma() && na_.empty(); }
  [[nodiscard]] bool is_in_na(std::string_view text) const;
  [[nodiscard]] bool is_missing(std::string_view text) const {
    return is_missing_token(text) || is_in_na(text);
  }
  [[nodiscard]] bool reads(std::string_view text, double& value) const {
    return parse_number(text, value) || (scanner_.decimal_comma() && parse_decimal_comma(text, value));
  }
  [[nodiscard]] bool is_number(const CsvField& field) const {
    double value = 0.0;
    return !is_missing(field.text) && reads(field.text, value);
  }
  /// A number, which `na` may name; those of one file have all a decimal point or all a comma. One that has
  /// the other is put into `misfit`, unless there is one already.
  bool store(std::string_view token, double& slot, long line, Index column, std::exception_ptr& misfit);

 private:
  const CsvScanner& scanner_;
  const std::vector<std::string>& na_;
  long point_line_ = 0, comma_line_ = 0;  ///< of the first number with a decimal point, with a comma
};

/// What memory is taken for while columns and texts are read.
[[nodiscard]] MemoryPurpose reading_columns_of(const std::string& name);
[[nodiscard]] MemoryPurpose reading_texts_in(const std::string& name);

}  // namespace subspectra
