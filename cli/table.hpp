#pragma once
/// Small aligned tables for people.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace subspectra::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell a column; what is unprintable in them is escaped.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Title row, then the rows; two blanks between columns, none at the end of a line.
  [[nodiscard]] std::string text(std::string_view indent = "") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns that printable text takes on a terminal: two for a Chinese character, none for an accent of its
/// own.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` broken at blanks into lines of at most `width` columns; words that are longer stand alone.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// As many of `words`, made printable, as fit into `width` columns, with "... (12 more)" for the rest.
[[nodiscard]] std::string joined_within(const std::vector<std::string>& words, std::size_t width);

/// Of the ascending numbers `all` (values of k) those a person wants to see: all of a short list, else 1 2 3
/// 5 7 10 15 20 30 50 70 100 ..., the ends and those in `always`.
[[nodiscard]] std::set<Index> shown_steps(const std::vector<Index>& all, const std::set<Index>& always);

}  // namespace subspectra::cli
