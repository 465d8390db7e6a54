#include "io/text_kinds.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "core/text.hpp"

namespace subspectra {

bool all_differ(const std::vector<std::string>& texts, MemoryBudget& memory, const MemoryPurpose& purpose) {
  constexpr std::size_t kNode = 7 * sizeof(void*);  // with its bucket, and the old buckets while it grows
  HeldMemory held(memory);
  std::unordered_set<std::string_view> seen;
  for (const std::string& text : texts) {
    held.grow(kNode, purpose);
    if (text.empty() || !seen.insert(text).second) return false;
  }
  return !texts.empty();
}

std::optional<std::map<std::string_view, std::size_t>> values_of_category(
    const std::vector<std::string>& texts, std::size_t most) {
  std::map<std::string_view, std::size_t> values;
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    ++values[text];
    if (values.size() > most) return std::nullopt;
  }
  return values;
}

bool is_date(std::string_view text) {
  text = trimmed(text);
  std::array<int, 3> digits = {};
  std::size_t part = 0;
  char separator = 0;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (is_digit(c)) {
      if (++digits[part] > 4) return false;
    } else if ((c == '-' || c == '/' || c == '.') && part < 2 && digits[part] > 0) {
      if (separator != 0 && c != separator) return false;
      separator = c;
      ++part;
    } else {
      break;
    }
  }
  if (part != 2 || digits[2] == 0) return false;
  const bool year_first = digits[0] == 4 && digits[1] <= 2 && digits[2] <= 2;
  const bool year_last = digits[0] <= 2 && digits[1] <= 2 && (digits[2] == 4 || digits[2] == 2);
  if (!year_first && !year_last) return false;
  // A time of day may follow: "T10:30:00Z", " 10:30".
  return i == text.size() || ((text[i] == 'T' || text[i] == ' ') && i + 1 < text.size() &&
                              is_digit(text[i + 1]) && text.find(':', i) != std::string_view::npos);
}

bool are_dates(const std::vector<std::string>& texts) {
  bool some = false;
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    if (!is_date(text)) return false;
    some = true;
  }
  return some;
}

std::optional<std::pair<std::string, std::string>> truth_values(
    const std::map<std::string_view, std::size_t>& values) {
  if (values.size() != 2) return std::nullopt;
  const std::string_view no = values.begin()->first;
  const std::string_view yes = values.rbegin()->first;
  if (!equal_ignoring_case(no, "false") || !equal_ignoring_case(yes, "true")) return std::nullopt;
  return std::pair(std::string(no), std::string(yes));
}

bool is_name_of_target(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"label", "y", "target", "class", "outcome"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return equal_ignoring_case(name, known); });
}

bool is_name_of_features(std::string_view name) {
  constexpr std::array<std::string_view, 13> kNames = {
      "id",    "gene",     "gene_id", "geneid", "entrez",  "entrez_id", "symbol",
      "probe", "probe_id", "id_ref",  "name",   "feature", "row.names"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return equal_ignoring_case(name, known); });
}

bool is_name_of_index(std::string_view name) {
  return equal_ignoring_case(name, "index") || name.starts_with("Unnamed: ");
}

}  // namespace subspectra
