#pragma once
/// Options are plain structs; a static `visit` describes each field once and everything else is derived from
/// it: the command line's flags and --help, the parser, the `options` of every result file,
/// docs/reference/options.md, Python.
///
///     struct ThingOptions {
///       double tolerance = 1e-9;
///       template <class Self, class Visitor>
///       static void visit(Self& o, Visitor&& field) {
///         field("tolerance", o.tolerance, "stop when the relative change falls below it");
///       }
///     };
///
/// A field name is spelled with `_` here and in JSON, with `-` on the command line. How a type is written as
/// text is said once by OptionCodec<T>.
#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <subspectra/error.hpp>
#include <subspectra/options.hpp>
#include "core/types.hpp"

namespace subspectra {

/// What a user said, by field name: {"tolerance": "1e-6"}.
using OptionTexts = std::map<std::string, std::string, std::less<>>;

struct OptionDescription {
  std::string name;          ///< with underscores
  std::string hint;          ///< what may stand after it: "N", "auto|VALUE"; empty for a switch
  std::string default_text;  ///< "" where the default is "not given"
  std::string help;
  bool is_switch = false;  ///< takes no value on the command line
};

/// How a type is written. `parse` throws InvalidArgument with the rule alone; set_options adds name and
/// value. `format` gives what `parse` reads back, or "" for "not given".
template <class T, class = void>
struct OptionCodec;

#define SUBSPECTRA_OPTION_CODEC(T)              \
  template <>                                   \
  struct OptionCodec<T> {                       \
    static T parse(std::string_view text);      \
    static std::string format(const T& value);  \
    static nlohmann::json json(const T& value); \
    static std::string hint();                  \
  }
SUBSPECTRA_OPTION_CODEC(bool);
SUBSPECTRA_OPTION_CODEC(int);
SUBSPECTRA_OPTION_CODEC(std::int64_t);  // Index as well
SUBSPECTRA_OPTION_CODEC(std::uint64_t);
SUBSPECTRA_OPTION_CODEC(double);  // infinity is "not given": null in JSON
SUBSPECTRA_OPTION_CODEC(std::string);
SUBSPECTRA_OPTION_CODEC(std::vector<std::string>);  // comma-separated, or @FILE with one entry a line
SUBSPECTRA_OPTION_CODEC(KRange);
SUBSPECTRA_OPTION_CODEC(Ridge);
SUBSPECTRA_OPTION_CODEC(Shrinkage);
SUBSPECTRA_OPTION_CODEC(ByteSize);
SUBSPECTRA_OPTION_CODEC(Start);  // a name, or @FILE, which is read where it is used
#undef SUBSPECTRA_OPTION_CODEC

/// The option that would add just that: how results and model files write an amount.
[[nodiscard]] Ridge as_option(const RidgeAmount& amount);
/// The same for people: four digits.
[[nodiscard]] std::string shown(const RidgeAmount& amount);

template <class E>
struct OptionCodec<E, std::enable_if_t<std::is_enum_v<E>>> {
  static E parse(std::string_view text) {
    for (const auto& [value, name] : EnumNames<E>::kNames) {
      if (name == text) return value;
    }
    throw InvalidArgument("one of " + hint() + " is needed");
  }
  static std::string format(const E& value) {
    for (const auto& [candidate, name] : EnumNames<E>::kNames) {
      if (candidate == value) return std::string(name);
    }
    return {};
  }
  static nlohmann::json json(const E& value) { return format(value); }
  static std::string hint() {
    std::string text;
    for (const auto& entry : EnumNames<E>::kNames) {
      if (!text.empty()) text += '|';
      text += entry.second;
    }
    return text;
  }
};

namespace detail {
[[noreturn]] void rethrow_with_option(std::string_view name, std::string_view text,
                                      const InvalidArgument& cause);
[[noreturn]] void refuse_unknown_option(std::string_view name);
[[noreturn]] void refuse_value(std::string_view name, double value);
[[noreturn]] void refuse_value(std::string_view name, std::int64_t value, std::string_view names);
[[noreturn]] void refuse_value(std::string_view name, std::string_view text, const InvalidArgument& cause);
[[noreturn]] void refuse_value(std::string_view name, std::string_view text, std::string_view rule);
[[noreturn]] void refuse_kind(std::string_view name, std::int64_t kind);
/// The fields of a JSON object as texts; null is left out.
[[nodiscard]] OptionTexts texts_of_json(const nlohmann::json& object);
}  // namespace detail

/// InvalidArgument of `field` unless value >= least.
void require_at_least(Index value, Index least, std::string_view field);

/// Of a type with an enum `kind` and more: how many kinds there are. 0: it has none.
template <class T>
inline constexpr std::int64_t kKindsOf = 0;
template <>
inline constexpr std::int64_t kKindsOf<Start> = 3;

/// What a value must be like, where what its codec says of texts is no help to who wrote a struct. Empty: it
/// is.
template <class T>
inline constexpr std::string_view kRuleOfValues = {};
template <>
inline constexpr std::string_view kRuleOfValues<Ridge> = "a number from 0 up is needed";
template <>
inline constexpr std::string_view kRuleOfValues<Shrinkage> = "a number from 0 to 1 is needed";

/// Refuses a field that no text could have set: NaN, an enum that is none of its values, a value that its
/// codec does not read. Whole numbers, texts and `k` have rules of their own.
template <class Options>
void check_option_values(const Options& options) {
  Options::visit(options, [](std::string_view name, const auto& value, std::string_view) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, double>) {
      if (!(value > -kInfinity)) detail::refuse_value(name, value);
    } else if constexpr (std::is_enum_v<T>) {
      if (OptionCodec<T>::format(value).empty())
        detail::refuse_value(name, static_cast<std::int64_t>(value), OptionCodec<T>::hint());
    } else if constexpr (!std::is_integral_v<T> && !std::is_same_v<T, KRange> &&
                         !std::is_same_v<T, std::string> && !std::is_same_v<T, std::vector<std::string>>) {
      if constexpr (kKindsOf < T >> 0) {
        const auto kind = static_cast<std::int64_t>(value.kind);
        if (kind < 0 || kind >= kKindsOf<T>) detail::refuse_kind(name, kind);
      }
      const std::string text = OptionCodec<T>::format(value);
      if (text.empty()) return;  // not given
      try {
        (void)OptionCodec<T>::parse(text);
      } catch (const InvalidArgument& cause) {
        if constexpr (!kRuleOfValues<T>.empty()) detail::refuse_value(name, text, kRuleOfValues<T>);
        detail::refuse_value(name, text, cause);
      }
    }
  });
}

template <class Options>
[[nodiscard]] std::vector<OptionDescription> describe_options() {
  std::vector<OptionDescription> all;
  const Options defaults;
  Options::visit(defaults, [&](std::string_view name, const auto& value, std::string_view help) {
    using T = std::remove_cvref_t<decltype(value)>;
    all.push_back({.name = std::string(name),
                   .hint = OptionCodec<T>::hint(),
                   .default_text = OptionCodec<T>::format(value),
                   .help = std::string(help),
                   .is_switch = std::is_same_v<T, bool>});
  });
  return all;
}

/// Sets every field that `texts` names and ignores the names this struct does not have (they belong to
/// another one).
template <class Options>
void set_options(Options& options, const OptionTexts& texts) {
  Options::visit(options, [&](std::string_view name, auto& value, std::string_view) {
    using T = std::remove_cvref_t<decltype(value)>;
    const auto found = texts.find(name);
    if (found == texts.end()) return;
    try {
      value = OptionCodec<T>::parse(found->second);
    } catch (const InvalidArgument& cause) {
      detail::rethrow_with_option(name, found->second, cause);
    }
  });
}

/// Sets every field that a JSON object has, as options_json wrote it: null keeps the default ("not given"), a
/// list is one of texts or a range. Throws InvalidArgument for a name that the struct has not, and for a
/// value that is none.
template <class Options>
void set_options_from_json(Options& options, const nlohmann::json& object) {
  OptionTexts texts = detail::texts_of_json(object);
  Options::visit(options, [&](std::string_view name, auto& value, std::string_view) {
    using T = std::remove_cvref_t<decltype(value)>;
    const auto found = texts.find(name);
    if (found == texts.end()) return;
    try {
      value = OptionCodec<T>::parse(found->second);
    } catch (const InvalidArgument& cause) {
      detail::rethrow_with_option(name, found->second, cause);
    }
    texts.erase(found);
  });
  if (!texts.empty()) detail::refuse_unknown_option(texts.begin()->first);
}

/// The options of another struct that has the same ones: each field takes the value of the one of its name
/// and type. Throws std::logic_error where the structs differ.
template <class To, class From>
[[nodiscard]] To options_as(const From& from) {
  To to;
  int wanted = 0, taken = 0, given_ones = 0;
  To::visit(to, [&](std::string_view name, auto& value, std::string_view) {
    ++wanted;
    From::visit(from, [&](std::string_view other, const auto& given, std::string_view) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>,
                                   std::remove_cvref_t<decltype(given)>>) {
        if (other != name) return;
        value = given;
        ++taken;
      }
    });
  });
  From::visit(from, [&](std::string_view, const auto&, std::string_view) { ++given_ones; });
  if (taken != wanted || taken != given_ones)
    throw std::logic_error("options_as: the two structs do not have the same options");
  return to;
}

/// Every field with the value it has.
template <class Options>
[[nodiscard]] nlohmann::json options_json(const Options& options) {
  nlohmann::json object = nlohmann::json::object();
  Options::visit(options, [&](std::string_view name, const auto& value, std::string_view) {
    using T = std::remove_cvref_t<decltype(value)>;
    object[std::string(name)] = OptionCodec<T>::json(value);
  });
  return object;
}

}  // namespace subspectra
