#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text.hpp"

namespace subspectra::cli {

namespace {

/// After Unicode's East Asian Width, in ranges as coarse as terminals treat them.
std::size_t columns_of(char32_t code) {
  struct Range {
    char32_t from, to;
    std::size_t columns;
  };
  constexpr std::array<Range, 17> kRanges = {{{0x300, 0x36f, 0},
                                              {0x1100, 0x115f, 2},
                                              {0x1ab0, 0x1aff, 0},
                                              {0x1dc0, 0x1dff, 0},
                                              {0x200c, 0x200d, 0},
                                              {0x20d0, 0x20ff, 0},
                                              {0x2e80, 0xa4cf, 2},
                                              {0xac00, 0xd7a3, 2},
                                              {0xf900, 0xfaff, 2},
                                              {0xfe00, 0xfe0f, 0},
                                              {0xfe20, 0xfe2f, 0},
                                              {0xfe30, 0xfe6f, 2},
                                              {0xff00, 0xff60, 2},
                                              {0xffe0, 0xffe6, 2},
                                              {0x1f300, 0x1f64f, 2},
                                              {0x1f900, 0x1f9ff, 2},
                                              {0x20000, 0x3fffd, 2}}};
  for (const Range& range : kRanges) {
    if (code >= range.from && code <= range.to) return range.columns;
  }
  return 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    columns += columns_of(first.code);
    text.remove_prefix(first.bytes);
  }
  return columns;
}

void Table::add(std::vector<std::string> cells) {
  for (auto& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const auto& column : columns_) widths.push_back(display_width(column.title));
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::string result;
  const auto add_line = [&](const auto& cell) {
    std::string line(indent);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& content = cell(c);
      const std::string blanks(widths[c] - display_width(content), ' ');
      if (c > 0) line += "  ";
      line += columns_[c].align == Align::kRight ? blanks + content : content + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };
  add_line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) add_line([&](std::size_t c) -> const std::string& { return row[c]; });
  return result;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto blank = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (word.empty()) continue;
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line += ' ';
      line += word;
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

std::string joined_within(const std::vector<std::string>& words, std::size_t width) {
  constexpr std::size_t kRoomForTheRest = 16;
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = printable(words[i]);
    const bool last = i + 1 == words.size();
    const std::size_t room = last ? width : width - std::min(width, kRoomForTheRest);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > room) {
      return fmt::format("{} ... ({} more)", line, words.size() - i);
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line;
}

std::set<Index> shown_steps(const std::vector<Index>& all, const std::set<Index>& always) {
  constexpr std::size_t kShort = 12;
  if (all.size() <= kShort) return {all.begin(), all.end()};
  std::set<Index> shown = always;
  shown.insert({all.front(), all.back()});
  for (Index decade = 1; decade <= all.back(); decade *= 10) {
    for (const Index tenths : {10, 15, 20, 30, 50, 70}) {
      if (tenths * decade % 10 == 0) shown.insert(tenths * decade / 10);
    }
  }
  std::set<Index> present;
  for (const Index k : all) {
    if (shown.contains(k)) present.insert(k);
  }
  return present;
}

}  // namespace subspectra::cli
