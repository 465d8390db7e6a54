#include "core/options.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/json_io.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

template <class T>
T parse_whole_number(std::string_view text) {
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc::result_out_of_range) throw InvalidArgument("the number is out of range");
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw InvalidArgument(std::is_unsigned_v<T> ? "a whole number from 0 up is needed"
                                                : "a whole number is needed");
  }
  return value;
}

double parse_finite(std::string_view text) {
  double value = 0.0;
  const auto result = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || !std::isfinite(value)) {
    throw InvalidArgument("a finite number is needed");
  }
  return value;
}

std::string_view without_outer_blanks(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// The text of a list file. A directory can be opened and gives nothing, a device may never end.
std::string list_file(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{1} << 25U;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string block(std::size_t{1} << 16U, '\0');
  while (file && text.size() <= kMost) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad())
    throw InvalidArgument(
        fmt::format("the list file '{}' cannot be read; give one with a name a line", path));
  if (text.size() > kMost)
    throw InvalidArgument(fmt::format(
        "the list file '{}' has more than 32 MB; give one with a name a line, or patterns such as gene_*",
        path));
  return text;
}

}  // namespace

void require_at_least(Index value, Index least, std::string_view field) {
  if (value < least)
    throw InvalidArgument({.field = std::string(field),
                           .value = fmt::to_string(value),
                           .rule = fmt::format("{{value}}, but {} or more is needed", least)});
}

KRange KRange::steps(Index least, Index most, Index step) {
  if (step == 1) return {least, most};
  KRange k(least, most);
  k.shape_ = Shape::kSteps;
  k.step_ = step;
  return k;
}

KRange KRange::list(std::vector<Index> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  KRange k = sizes.empty() ? KRange(0, -1) : KRange(sizes.front(), sizes.back());
  if (!sizes.empty() && sizes.back() - sizes.front() == static_cast<Index>(sizes.size()) - 1) return k;
  k.shape_ = Shape::kList;
  k.list_ = std::move(sizes);
  return k;
}

KRange KRange::log() {
  KRange k(1, std::numeric_limits<Index>::max());
  k.shape_ = Shape::kLog;
  return k;
}

namespace {

constexpr std::array<Index, 18> kGrowing = {1,  2,  3,   5,   7,   10,  15,  20,  30,
                                            50, 70, 100, 150, 200, 300, 500, 700, 1000};

}  // namespace

bool KRange::contains(Index k) const {
  if (k < lo || k > hi) return false;
  switch (shape_) {
    case Shape::kDefault:
    case Shape::kRange:
      return true;
    case Shape::kSteps:
      return step_ > 0 && (k - lo) % step_ == 0;
    case Shape::kList:
      return std::binary_search(list_.begin(), list_.end(), k);
    case Shape::kLog:
      return std::binary_search(kGrowing.begin(), kGrowing.end(), k);
  }
  return false;
}

Index KRange::count() const {
  switch (shape_) {
    case Shape::kDefault:
    case Shape::kRange:
      return std::max<Index>(0, hi - lo + 1);
    case Shape::kSteps:
      return step_ > 0 && hi >= lo ? (hi - lo) / step_ + 1 : 0;
    case Shape::kList:
      return static_cast<Index>(list_.size());
    case Shape::kLog:
      break;
  }
  return static_cast<Index>(kGrowing.size());
}

std::vector<Index> KRange::sizes() const {
  if (shape_ == Shape::kList) return list_;
  if (shape_ == Shape::kLog) return {kGrowing.begin(), kGrowing.end()};
  std::vector<Index> all;
  const Index step = shape_ == Shape::kSteps ? step_ : 1;
  for (Index i = 0, number = count(); i < number; ++i) all.push_back(lo + i * step);
  return all;
}

std::optional<KRange> KRange::within(Index least, Index most) const {
  if (contiguous()) {
    const KRange part(std::max(lo, least), std::min(hi, most));
    return part.lo <= part.hi ? std::optional(part) : std::nullopt;
  }
  std::vector<Index> some;
  if (shape_ == Shape::kSteps) {
    if (step_ < 1 || least > hi || most < lo) return std::nullopt;
    Index k = least <= lo ? lo : lo + ((least - lo - 1) / step_ + 1) * step_;
    for (; k <= std::min(hi, most); k += step_) some.push_back(k);
  } else {
    some = sizes();
    std::erase_if(some, [&](Index k) { return k < least || k > most; });
  }
  return some.empty() ? std::nullopt : std::optional(list(std::move(some)));
}

KRange KRange::resolved(Index p, std::string_view noun) const {
  if (!given()) return {1, std::min<Index>(p, 50)};
  if (shape_ == Shape::kLog) return within(1, p).value_or(KRange(1));
  if (shape_ == Shape::kList && list_.empty())
    throw InvalidArgument({.field = "k", .rule = "is a list without a size", .way_out = "give one or more"});
  const bool inside = lo >= 1 && hi <= p && lo <= hi;
  if (inside && shape_ == Shape::kSteps && step_ > 0) return list(sizes());
  if (!inside || shape_ == Shape::kSteps) {
    throw InvalidArgument(
        {.field = "k",
         .value = text(),
         .rule =
             shape_ == Shape::kList
                 ? fmt::format("{{value}}, but sizes from 1 to {} are needed ({} can be chosen)", p,
                               counted(p, noun))
                 : fmt::format("{{value}}, but 1 <= LO <= HI <= {} is needed{} ({} can be chosen)", p,
                               shape_ == Shape::kSteps ? " and a step from 1 up" : "", counted(p, noun))});
  }
  return *this;
}

std::string KRange::text() const {
  switch (shape_) {
    case Shape::kLog:
      return "log";
    case Shape::kList:
      return fmt::format("{}", fmt::join(list_, ","));
    case Shape::kSteps:
      return fmt::format("{}:{}:{}", lo, hi, step_);
    case Shape::kDefault:
    case Shape::kRange:
      break;
  }
  if (!given()) return {};
  return lo == hi ? std::to_string(lo) : fmt::format("{}:{}", lo, hi);
}

bool OptionCodec<bool>::parse(std::string_view text) {
  if (text == "true" || text == "1" || text.empty()) return true;
  if (text == "false" || text == "0") return false;
  throw InvalidArgument("true or false is needed");
}
std::string OptionCodec<bool>::format(const bool& value) { return value ? "true" : "false"; }
json OptionCodec<bool>::json(const bool& value) { return value; }
std::string OptionCodec<bool>::hint() { return {}; }

int OptionCodec<int>::parse(std::string_view text) { return parse_whole_number<int>(text); }
std::string OptionCodec<int>::format(const int& value) { return std::to_string(value); }
json OptionCodec<int>::json(const int& value) { return value; }
std::string OptionCodec<int>::hint() { return "N"; }

std::int64_t OptionCodec<std::int64_t>::parse(std::string_view text) {
  return parse_whole_number<std::int64_t>(text);
}
std::string OptionCodec<std::int64_t>::format(const std::int64_t& value) {
  return value == kUnlimited ? std::string() : std::to_string(value);
}
json OptionCodec<std::int64_t>::json(const std::int64_t& value) {
  return value == kUnlimited ? nlohmann::json() : nlohmann::json(value);
}
std::string OptionCodec<std::int64_t>::hint() { return "N"; }

std::uint64_t OptionCodec<std::uint64_t>::parse(std::string_view text) {
  return parse_whole_number<std::uint64_t>(text);
}
std::string OptionCodec<std::uint64_t>::format(const std::uint64_t& value) { return std::to_string(value); }
json OptionCodec<std::uint64_t>::json(const std::uint64_t& value) { return value; }
std::string OptionCodec<std::uint64_t>::hint() { return "N"; }

double OptionCodec<double>::parse(std::string_view text) { return parse_finite(text); }
std::string OptionCodec<double>::format(const double& value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}
json OptionCodec<double>::json(const double& value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}
std::string OptionCodec<double>::hint() { return "VALUE"; }

std::string OptionCodec<std::string>::parse(std::string_view text) { return std::string(text); }
std::string OptionCodec<std::string>::format(const std::string& value) { return value; }
json OptionCodec<std::string>::json(const std::string& value) { return value; }
std::string OptionCodec<std::string>::hint() { return "NAME"; }

std::vector<std::string> OptionCodec<std::vector<std::string>>::parse(std::string_view text) {
  constexpr std::size_t kMostListed = 2'000'000;
  std::vector<std::string> entries;
  const auto add = [&](std::string_view entry) {
    entry = without_outer_blanks(entry);
    if (!entry.empty()) entries.emplace_back(entry);
  };
  if (text.starts_with('@')) {
    const std::string lines = list_file(std::string(text.substr(1)));
    for (std::string_view rest = lines; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      add(rest.substr(0, end));
      if (entries.size() > kMostListed)
        throw InvalidArgument(
            fmt::format("the list file '{}' has more than {} lines; give patterns such as gene_*",
                        text.substr(1), kMostListed));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return entries;
  }
  while (true) {
    const auto comma = text.find(',');
    add(text.substr(0, comma));
    if (comma == std::string_view::npos) return entries;
    text.remove_prefix(comma + 1);
  }
}
std::string OptionCodec<std::vector<std::string>>::format(const std::vector<std::string>& value) {
  return fmt::format("{}", fmt::join(value, ","));
}
json OptionCodec<std::vector<std::string>>::json(const std::vector<std::string>& value) { return value; }
std::string OptionCodec<std::vector<std::string>>::hint() { return "NAMES|@FILE"; }

Start OptionCodec<Start>::parse(std::string_view text) {
  if (!text.starts_with('@')) {
    try {
      return OptionCodec<StartKind>::parse(text);
    } catch (const InvalidArgument&) {
      throw InvalidArgument("one of " + hint() + " is needed");
    }
  }
  if (text.size() == 1) throw InvalidArgument("the name of a file is needed after @");
  return Start::from_file(std::string(text.substr(1)));
}
std::string OptionCodec<Start>::format(const Start& value) {
  if (!value.file.empty()) return '@' + value.file;
  return value.given() ? std::string() : OptionCodec<StartKind>::format(value.kind);
}
json OptionCodec<Start>::json(const Start& value) {
  return value.given() && value.file.empty() ? "a matrix" : format(value);
}
std::string OptionCodec<Start>::hint() { return OptionCodec<StartKind>::hint() + "|@FILE"; }

KRange OptionCodec<KRange>::parse(std::string_view text) {
  const auto numbers = [](std::string_view list, char between) {
    std::vector<Index> found;
    for (std::size_t from = 0; from <= list.size();) {
      const auto to = std::min(list.find(between, from), list.size());
      found.push_back(parse_whole_number<Index>(list.substr(from, to - from)));
      from = to + 1;
    }
    return found;
  };
  if (text == "log") return KRange::log();
  try {
    if (text.find(',') != std::string_view::npos) {
      KRange k = KRange::list(numbers(text, ','));
      if (k.lo >= 1) return k;
    } else if (std::count(text.begin(), text.end(), ':') <= 2) {
      const auto parts = numbers(text, ':');
      const Index lo = parts.front(), hi = parts.size() > 1 ? parts[1] : lo;
      const Index step = parts.size() > 2 ? parts[2] : 1;
      if (lo >= 1 && hi >= lo && step >= 1) return KRange::steps(lo, hi, step);
    }
  } catch (const InvalidArgument&) {  // answered below, with the whole rule
  }
  throw InvalidArgument(
      "N, LO:HI or LO:HI:STEP with 1 <= LO <= HI, a list of sizes or log is needed, for example 10, 1:20, 1:100:5 or 1,2,5,10,20");
}
std::string OptionCodec<KRange>::format(const KRange& value) { return value.text(); }
json OptionCodec<KRange>::json(const KRange& value) {
  if (!value.given()) return {};
  return value.contiguous() ? nlohmann::json::array({value.lo, value.hi}) : nlohmann::json(value.text());
}
std::string OptionCodec<KRange>::hint() { return "N|LO:HI|LO:HI:STEP|A,B,C|log"; }

Ridge OptionCodec<Ridge>::parse(std::string_view text) {
  constexpr std::string_view kFraction = "rel:";
  if (text == "auto") return {};
  if (text == "cv") return Ridge::by_cross_validation();
  const bool relative = text.starts_with(kFraction);
  try {
    const double number = parse_finite(relative ? text.substr(kFraction.size()) : text);
    if (number >= 0.0) {
      Ridge ridge;
      (relative ? ridge.fraction : ridge.value) = number;
      return ridge;
    }
  } catch (const InvalidArgument&) {  // answered below, with the whole rule
  }
  throw InvalidArgument(
      "auto, cv, rel:F (a fraction of each column's variance) or a number from 0 up is needed");
}
std::string OptionCodec<Ridge>::format(const Ridge& value) {
  if (value.fraction) return fmt::format("rel:{}", *value.fraction);
  if (value.cross_validated) return "cv";
  return value.value ? fmt::format("{}", *value.value) : "auto";
}
json OptionCodec<Ridge>::json(const Ridge& value) {
  if (value.value) return *value.value;
  return format(value);
}
std::string OptionCodec<Ridge>::hint() { return "auto|cv|rel:F|VALUE"; }

Shrinkage OptionCodec<Shrinkage>::parse(std::string_view text) {
  constexpr std::string_view kAutomatic = "auto";
  if (text == kAutomatic) return {};
  const bool beyond = text.starts_with(kAutomatic) && text.substr(kAutomatic.size()).starts_with(':');
  try {
    const double share = parse_finite(beyond ? text.substr(kAutomatic.size() + 1) : text);
    if (share >= 0.0 && share <= 1.0) {
      if (!beyond) return share;
      Shrinkage result;
      result.beyond = share;
      return result;
    }
  } catch (const InvalidArgument&) {  // answered below, with the whole rule
  }
  throw InvalidArgument("auto, auto:F or F is needed, F a number from 0 to 1");
}
std::string OptionCodec<Shrinkage>::format(const Shrinkage& value) {
  if (value.intensity) return fmt::format("{}", *value.intensity);
  return value.beyond > 0.0 ? fmt::format("auto:{}", value.beyond) : "auto";
}
json OptionCodec<Shrinkage>::json(const Shrinkage& value) {
  if (value.intensity) return *value.intensity;
  return format(value);
}
std::string OptionCodec<Shrinkage>::hint() { return "auto|auto:F|F"; }

Ridge as_option(const RidgeAmount& amount) {
  Ridge ridge;
  if (amount.fraction > 0.0) {
    ridge.fraction = amount.fraction;
  } else {
    ridge.value = amount.value;
  }
  return ridge;
}

std::string shown(const RidgeAmount& amount) {
  return amount.fraction > 0.0 ? fmt::format("rel:{:.4g}", amount.fraction)
                               : fmt::format("{:.4g}", amount.value);
}

ByteSize OptionCodec<ByteSize>::parse(std::string_view text) {
  static constexpr std::array<std::pair<char, double>, 5> kUnits = {
      {{'k', 0x1p10}, {'m', 0x1p20}, {'g', 0x1p30}, {'t', 0x1p40}, {'b', 1.0}}};
  const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string unit(text.substr(digits));
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
  double scale = unit.empty() ? 1.0 : 0.0;
  for (const auto& [letter, factor] : kUnits) {
    const bool is_byte = letter == 'b';
    if (unit == std::string(1, letter) ||
        (!is_byte && (unit == std::string{letter, 'b'} || unit == std::string{letter, 'i', 'b'}))) {
      scale = factor;
    }
  }
  try {
    const double bytes = parse_finite(text.substr(0, digits)) * scale;
    if (scale > 0.0 && bytes >= 1.0 && bytes < 0x1p62) return {static_cast<std::uint64_t>(bytes)};
  } catch (const InvalidArgument&) {  // answered below, with the whole rule
  }
  throw InvalidArgument("a size such as 500M, 2G or 1.5GiB is needed");
}
std::string OptionCodec<ByteSize>::format(const ByteSize& value) {
  return value.bytes == 0 ? std::string() : fmt::format("{}", value.bytes);
}
json OptionCodec<ByteSize>::json(const ByteSize& value) {
  return value.bytes == 0 ? nlohmann::json() : nlohmann::json(value.bytes);
}
std::string OptionCodec<ByteSize>::hint() { return "SIZE"; }

namespace detail {
void rethrow_with_option(std::string_view name, std::string_view text, const InvalidArgument& cause) {
  throw InvalidArgument(
      {.field = std::string(name), .value = std::string(text), .rule = "'{value}': " + cause.marked()});
}
void refuse_unknown_option(std::string_view name) {
  throw InvalidArgument({.field = std::string(name), .rule = "is no option here"});
}
void refuse_value(std::string_view name, double value) {
  throw InvalidArgument({.field = std::string(name),
                         .value = fmt::to_string(value),
                         .rule = "{value}, but a number is needed"});
}
void refuse_value(std::string_view name, std::int64_t value, std::string_view names) {
  std::string enumerators;  // only who writes structs gets here
  while (!names.empty()) {
    const auto end = std::min(names.find('|'), names.size());
    enumerators.append(enumerators.empty() ? "" : ", ").append(enumerator(names.substr(0, end)));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  throw InvalidArgument({.field = std::string(name),
                         .value = fmt::to_string(value),
                         .rule = fmt::format("{{value}}, but one of {} is needed", enumerators)});
}
void refuse_value(std::string_view name, std::string_view text, std::string_view rule) {
  throw InvalidArgument({.field = std::string(name),
                         .value = std::string(text),
                         .rule = fmt::format("{{value}}, but {}", rule)});
}
void refuse_kind(std::string_view name, std::int64_t kind) {
  throw InvalidArgument({.field = std::string(name),
                         .value = fmt::to_string(kind),
                         .rule = "has a kind, {value}, that its enum has not"});
}
void refuse_value(std::string_view name, std::string_view text, const InvalidArgument& cause) {
  throw InvalidArgument({.field = std::string(name),
                         .value = std::string(text),
                         .rule = fmt::format("{{value}}, but {}", cause.marked())});
}

OptionTexts texts_of_json(const nlohmann::json& object) {
  const auto text = [](const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : dump_json(value);
  };
  OptionTexts texts;
  for (const auto& [name, value] : object.items()) {
    if (value.is_null()) continue;
    if (!value.is_array()) {
      texts[name] = text(value);
      continue;
    }
    std::string list;
    const bool range = value.size() == 2 && value[0].is_number_integer();
    for (const auto& item : value) {
      if (!list.empty()) list += range ? ':' : ',';
      list += text(item);
    }
    texts[name] = list;
  }
  return texts;
}

}  // namespace detail

}  // namespace subspectra
