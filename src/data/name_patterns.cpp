#include "data/name_patterns.hpp"

#include <algorithm>
#include <optional>

#include "core/text.hpp"

namespace subspectra {
namespace {

/// A character class: where the pattern goes on after it, and whether `code` is in it. Nothing where [ opens
/// none.
struct Bracket {
  std::size_t length = 0;
  bool holds = false;
};
std::optional<Bracket> bracket_at(std::string_view pattern, char32_t code) {
  std::size_t at = 1;  // after [
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;
  bool in = false;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) return Bracket{at + 1, in != negated};
    const CodePoint low = first_code_point(pattern.substr(at));
    at += low.bytes;
    CodePoint high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = first_code_point(pattern.substr(at + 1));
      at += 1 + high.bytes;
    }
    in = in || (low.code <= code && code <= high.code);
  }
  return std::nullopt;
}

}  // namespace

bool is_name_pattern(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

bool matches_name_pattern(std::string_view pattern, std::string_view name) {
  // After the last * what follows is tried at every later place of the name; no earlier * needs another look.
  std::optional<std::string_view> pattern_after_star;
  std::string_view name_after_star;
  while (true) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      pattern_after_star = pattern;
      name_after_star = name;
      continue;
    }
    if (pattern.empty() && name.empty()) return true;
    bool fits = false;
    if (!pattern.empty() && !name.empty()) {
      const CodePoint here = first_code_point(name);
      std::size_t taken = 1;
      const auto bracket = pattern.front() == '[' ? bracket_at(pattern, here.code) : std::nullopt;
      if (bracket) {
        fits = bracket->holds;
        taken = bracket->length;
      } else if (pattern.front() == '?') {
        fits = true;
      } else {
        taken = here.bytes;
        fits = pattern.substr(0, taken) == name.substr(0, taken);
      }
      if (fits) {
        pattern.remove_prefix(taken);
        name.remove_prefix(here.bytes);
      }
    }
    if (fits) continue;
    if (!pattern_after_star || name_after_star.empty()) return false;
    name_after_star.remove_prefix(first_code_point(name_after_star).bytes);
    pattern = *pattern_after_star;
    name = name_after_star;
  }
}

std::vector<std::vector<Index>> columns_named(const FeatureNames& names,
                                              const std::vector<std::string>& wanted) {
  auto found = names.find_each(wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!found[i].empty() || !is_name_pattern(wanted[i])) continue;
    for (Index j = 0; j < names.size(); ++j) {
      if (matches_name_pattern(wanted[i],
                               names.given() ? names.list()[static_cast<std::size_t>(j)] : names[j]))
        found[i].push_back(j);
    }
  }
  return found;
}

std::vector<std::string> spelled_out(const std::vector<std::string>& wanted, Index count,
                                     const std::function<std::string(Index)>& name) {
  if (std::none_of(wanted.begin(), wanted.end(), is_name_pattern)) return wanted;
  std::vector<std::vector<std::string>> fitting(wanted.size());
  for (Index j = 0; j < count; ++j) {
    const std::string own = name(j);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (is_name_pattern(wanted[i]) && matches_name_pattern(wanted[i], own)) fitting[i].push_back(own);
      if (wanted[i] == own) fitting[i].assign(1, own);
    }
  }
  std::vector<std::string> all;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool literal = std::find(fitting[i].begin(), fitting[i].end(), wanted[i]) != fitting[i].end();
    if (literal || fitting[i].empty()) {
      all.push_back(wanted[i]);
    } else {
      all.insert(all.end(), fitting[i].begin(), fitting[i].end());
    }
  }
  return all;
}

}  // namespace subspectra
