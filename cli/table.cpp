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

void Table::add(std::vector<std::string> cells, Style style) {
  for (auto& cell : cells) cell = printable(cell);
  rows_.push_back({.cells = std::move(cells), .list = {}, .has_list = false, .style = style});
}

void Table::add(std::vector<std::string> cells, std::vector<std::string> list, Style style) {
  add(std::move(cells), style);
  rows_.back().list = std::move(list);
  rows_.back().has_list = true;
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> all;
  for (const auto& column : columns_) all.push_back(display_width(column.title));
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) all[c] = std::max(all[c], display_width(row.cells[c]));
    if (!row.has_list || row.list.empty()) continue;
    std::size_t own = row.list.size() - 1;
    for (const auto& word : row.list) own += display_width(printable(word));
    all.back() = std::max(all.back(), own);
  }
  return all;
}

std::string Table::text(std::string_view indent, const Terminal& terminal) const {
  constexpr std::size_t kBetween = 2, kMostLines = 3;
  constexpr std::size_t kLeastLast = 24, kLeastName = 12;  // narrower is not worth reading
  std::vector<std::size_t> width = widths();
  std::vector<bool> shown(columns_.size(), true);
  const std::size_t last = columns_.size() - 1;
  const bool breaks = columns_[last].align == Align::kLeft && columns_[last].left_out == 0;
  // Of all columns side by side, the last one as narrow as `least` where it may be broken.
  const auto total = [&](std::size_t least) {
    std::size_t sum = indent.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c]) continue;
      sum += c == last && breaks ? std::min(width[c], std::max(least, display_width(columns_[c].title)))
                                 : width[c];
      if (c > 0) sum += kBetween;
    }
    return sum;
  };
  std::vector<std::string> missing;
  while (total(kLeastLast) > terminal.width) {
    const auto next =
        std::max_element(columns_.begin(), columns_.end(), [&](const Column& a, const Column& b) {
          const auto rank = [&](const Column& column) {
            return shown[static_cast<std::size_t>(&column - columns_.data())] ? column.left_out : 0;
          };
          return rank(a) < rank(b);
        });
    const auto at = static_cast<std::size_t>(next - columns_.begin());
    if (!shown[at] || next->left_out == 0) break;
    shown[at] = false;
    const std::string& words = next->says.empty() ? next->title : next->says;
    if (std::find(missing.begin(), missing.end(), words) == missing.end()) missing.push_back(words);
  }
  while (total(kLeastLast) > terminal.width) {  // names that are too long, the longest first
    std::size_t longest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c] || columns_[c].align != Align::kLeft || (c == last && breaks)) continue;
      if (width[c] <= std::max(kLeastName, display_width(columns_[c].title))) continue;
      if (longest == columns_.size() || width[c] > width[longest]) longest = c;
    }
    if (longest == columns_.size()) break;
    const std::size_t excess = total(kLeastLast) - terminal.width;
    const std::size_t least = std::max(kLeastName, display_width(columns_[longest].title));
    width[longest] = std::max(least, width[longest] - std::min(width[longest], excess));
  }
  if (breaks) {
    const std::size_t others = total(0) - std::min(width[last], display_width(columns_[last].title));
    const std::size_t room = terminal.width > others ? terminal.width - others : 0;
    width[last] = std::min(width[last], std::max(room, kLeastLast));
  }

  std::string result;
  const auto add_line = [&](const auto& cell, Style style) {
    std::string line;
    bool first = true;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c]) continue;
      std::string content = cell(c);
      if (c != last || !breaks) content = cut_to(content, width[c]);
      const std::size_t own = display_width(content);
      const std::string blanks(width[c] > own ? width[c] - own : 0, ' ');
      if (!first) line += "  ";
      first = false;
      line += columns_[c].align == Align::kRight ? blanks + content : content + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += std::string(line.empty() ? std::string_view() : indent) + styled(line, style, terminal) + '\n';
  };
  add_line([&](std::size_t c) { return columns_[c].title; }, Style::kTitle);
  for (const Row& row : rows_) {
    std::vector<std::string> lines(1);
    if (row.has_list) {
      lines = listed_within(row.list, width[last], kMostLines);
    } else if (breaks) {
      lines = wrapped(row.cells[last], width[last]);
    }
    add_line(
        [&](std::size_t c) { return c == last && (breaks || row.has_list) ? lines.front() : row.cells[c]; },
        row.style);
    for (std::size_t more = 1; more < lines.size(); ++more)
      add_line([&](std::size_t c) { return c == last ? lines[more] : std::string(); }, row.style);
  }
  if (!missing.empty()) {
    const std::string note =
        fmt::format("(no room for {}: see --json, or a wider terminal)", join_some(missing));
    for (const auto& line : wrapped(note, terminal.width - std::min(terminal.width, indent.size())))
      result += std::string(indent) + line + '\n';
  }
  return result;
}

std::string cut_to(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string result;
  std::size_t columns = 1;  // the ellipsis
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    columns += columns_of(first.code);
    if (columns > width) break;
    result.append(text.substr(0, first.bytes));
    text.remove_prefix(first.bytes);
  }
  return result + "…";
}

std::string prose(std::string_view text, std::size_t margin, const Terminal& terminal) {
  std::string result;
  for (const auto& line : wrapped(text, terminal.width - std::min(terminal.width, margin))) {
    if (!result.empty()) result.append(margin, ' ');
    result += line + '\n';
  }
  return result.empty() ? "\n" : result;
}

std::string indented(std::string_view text, std::size_t margin, const Terminal& terminal) {
  return std::string(margin, ' ') + prose(text, margin, terminal);
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

std::vector<std::string> listed_within(const std::vector<std::string>& words, std::size_t width,
                                       std::size_t most_lines) {
  constexpr std::size_t kRoomForTheRest = 16;
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = cut_to(printable(words[i]), width);
    std::string& line = lines.back();
    const bool last_line = lines.size() == most_lines, last_word = i + 1 == words.size();
    const std::size_t room = last_line && !last_word ? width - std::min(width, kRoomForTheRest) : width;
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= room) {
      line += ' ' + word;
    } else if (!last_line) {
      lines.push_back(word);
    } else {
      line += fmt::format(" ... ({} more)", words.size() - i);
      break;
    }
  }
  return lines;
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
