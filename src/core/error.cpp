#include <subspectra/error.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/spelling.hpp"

namespace subspectra {
namespace {

constexpr std::string_view kValuePlace = "{value}";

std::string with_value(std::string text, const std::string& value) {
  for (auto at = text.find(kValuePlace); at != std::string::npos;
       at = text.find(kValuePlace, at + value.size()))
    text.replace(at, kValuePlace.size(), value);
  return text;
}

std::string sentence_of(const InvalidArgument::Parts& parts) {
  std::string sentence;
  std::string rule = parts.rule;
  if (!parts.subject.empty()) {
    sentence = parts.subject + ' ';
  } else if (!parts.field.empty()) {
    const bool shows_value = rule.starts_with(kValuePlace);
    sentence = shows_value ? marked_option(parts.field, parts.value) : marked_option(parts.field);
    if (shows_value) rule.erase(0, kValuePlace.size());
    constexpr std::string_view kJoinedWithoutBlank = ",:;";
    if (!shows_value && !rule.empty() && kJoinedWithoutBlank.find(rule.front()) == std::string_view::npos)
      sentence += ' ';
  }
  sentence += with_value(std::move(rule), parts.value);
  if (!parts.way_out.empty()) sentence += "; " + parts.way_out;
  return sentence;
}

/// The rule by itself: of "{value}, but a positive number is needed" what comes after "but".
InvalidArgument::Parts kept(InvalidArgument::Parts parts) {
  constexpr std::array<std::string_view, 5> kBefore = {"{value}, but ", "= {value}, but ",
                                                       "'{value}': ", "{value}: ", ": "};
  for (const std::string_view before : kBefore) {
    if (!parts.rule.starts_with(before)) continue;
    parts.rule.erase(0, before.size());
    break;
  }
  parts.rule = with_value(std::move(parts.rule), parts.value);
  return parts;
}

}  // namespace

Error::Error(const std::string& marked)
    : std::runtime_error(spelled(marked, Spelling::kCpp)),
      marked_(std::make_shared<const std::string>(marked)) {}

std::string Error::text(Spelling spelling) const { return spelled(*marked_, spelling); }

InvalidArgument::InvalidArgument(Parts parts) : Error(sentence_of(parts)) {
  parts = kept(std::move(parts));
  field = std::move(parts.field);
  value = spelled_value(field, parts.value);
  rule = spelled(parts.rule, Spelling::kCpp);
  way_out = spelled(parts.way_out, Spelling::kCpp);
}

InvalidArgument::InvalidArgument(const char* sentence)
    : Error(sentence), rule(spelled(sentence, Spelling::kCpp)) {}

std::string Location::text() const {
  if (!place.empty()) return fmt::format("{}: {}", file, place);
  if (line > 0 && column > 0) return fmt::format("{}:{}:{}", file, line, column);
  if (line > 0) return fmt::format("{}:{}", file, line);
  return file;
}

BadInput::BadInput(const Location& where, std::string_view what_is_wrong)
    : Error(fmt::format("{}: {}", where.text(), what_is_wrong)) {}

}  // namespace subspectra
