#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace subspectra::cli {

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
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
    const bool last = i + 1 == words.size();
    const std::size_t room = last ? width : width - std::min(width, kRoomForTheRest);
    if (!line.empty() && display_width(line) + 1 + display_width(words[i]) > room) {
      return fmt::format("{} ... ({} more)", line, words.size() - i);
    }
    if (!line.empty()) line += ' ';
    line += words[i];
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
