#pragma once
/// Small aligned tables for people.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "terminal.hpp"

namespace subspectra::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
  int left_out = 0;  ///< 0: never. Others where the table is too wide, those of the largest number first
  /// Said for the column where it is left out; the title when empty. Columns of the same words are said once.
  std::string says = {};
};

/// Fits the terminal: columns that may be left out are (and are named below the table), the last column is
/// broken into several lines, names that are far too long are cut. Numbers never are.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell a column; what is unprintable in them is escaped. A last cell of several words is broken at
  /// blanks into as many lines as it takes.
  void add(std::vector<std::string> cells, Style style = Style::kPlain);
  /// The last cell is a list, which takes up to three lines; the entries beyond are counted.
  void add(std::vector<std::string> cells, std::vector<std::string> list, Style style = Style::kPlain);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Title row, then the rows; two blanks between columns, none at the end of a line.
  [[nodiscard]] std::string text(std::string_view indent = "",
                                 const Terminal& terminal = stdout_terminal()) const;

 private:
  struct Row {
    std::vector<std::string> cells;  ///< all but the list
    std::vector<std::string> list;
    bool has_list = false;
    Style style = Style::kPlain;
  };
  [[nodiscard]] std::vector<std::size_t> widths() const;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// `text` cut to `width` columns, the last of them an ellipsis where something is missing.
[[nodiscard]] std::string cut_to(std::string_view text, std::size_t width);

/// Lines of prose for standard output, broken at blanks to the width of the terminal, the second and later
/// ones after `margin` blanks. Ends with a line break.
[[nodiscard]] std::string prose(std::string_view text, std::size_t margin = 0,
                                const Terminal& terminal = stdout_terminal());
/// The same with every line after `margin` blanks.
[[nodiscard]] std::string indented(std::string_view text, std::size_t margin,
                                   const Terminal& terminal = stdout_terminal());

/// Columns that printable text takes on a terminal: two for a Chinese character, none for an accent of its
/// own.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` broken at blanks into lines of at most `width` columns; words that are longer stand alone.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// As many of `words`, made printable, as fit into `most_lines` lines of `width` columns, with "... (12
/// more)" for the rest.
[[nodiscard]] std::vector<std::string> listed_within(const std::vector<std::string>& words, std::size_t width,
                                                     std::size_t most_lines);

/// Of the ascending numbers `all` (values of k) those a person wants to see: all of a short list, else 1 2 3
/// 5 7 10 15 20 30 50 70 100 ..., the ends and those in `always`.
[[nodiscard]] std::set<Index> shown_steps(const std::vector<Index>& all, const std::set<Index>& always);

}  // namespace subspectra::cli
