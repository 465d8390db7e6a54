#pragma once
/// A JSON file that may come from anybody, read member by member: every type, size and number is looked at
/// before it is used, and what is refused is refused with the file and the place in it.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <subspectra/error.hpp>
#include "core/options.hpp"
#include "core/types.hpp"

namespace subspectra {

struct JsonSource {
  std::string file;
  std::string way_out;  ///< how every refusal ends: "give a result as ..."
};

/// Throws BadInput where it is no JSON, is too deep, has a member twice or a number beyond a double.
[[nodiscard]] nlohmann::json parsed_json(std::string_view text, const JsonSource& source);

/// A whole number from 0 up that every later sum can hold.
inline bool json_is_count(const nlohmann::json& value) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() < kMost;
  return value.is_number_integer() && value.get<std::int64_t>() >= 0;
}

inline bool json_is_finite(const nlohmann::json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

/// A member of a file with its place in words ("path[3].objective"); every failure names both.
class JsonMember {
 public:
  JsonMember(const nlohmann::json& value, const JsonSource& source, std::string place = {})
      : value_(value), source_(source), place_(std::move(place)) {}

  [[noreturn]] void fail(std::string_view rule) const {
    throw BadInput({.file = source_.file, .place = fmt::format("'{}'", place_)},
                   fmt::format("{}; {}", rule, source_.way_out));
  }

  [[nodiscard]] bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  [[nodiscard]] JsonMember at(const char* key) const {
    if (!value_.is_object()) fail("must be an object");
    const auto found = value_.find(key);
    const std::string place = place_.empty() ? key : fmt::format("{}.{}", place_, key);
    if (found == value_.end()) JsonMember(value_, source_, place).fail("is missing");
    return {*found, source_, place};
  }
  [[nodiscard]] const nlohmann::json& value() const { return value_; }
  [[nodiscard]] bool is_null() const { return value_.is_null(); }
  [[nodiscard]] bool is_text() const { return value_.is_string(); }
  [[nodiscard]] bool is_text(std::string_view text) const {
    return is_text() && value_.get_ref<const std::string&>() == text;
  }

  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) fail("must be a text");
    return value_.get<std::string>();
  }
  [[nodiscard]] bool truth() const {
    if (!value_.is_boolean()) fail("must be true or false");
    return value_.get<bool>();
  }
  [[nodiscard]] double number() const {
    if (!json_is_finite(value_)) fail("must be a finite number");
    return value_.get<double>();
  }
  /// NaN for null, which is how JSON writes what overflowed.
  [[nodiscard]] std::vector<double> numbers() const {
    if (!value_.is_array()) fail("must be a list of finite numbers");
    std::vector<double> result;
    result.reserve(value_.size());
    for (const auto& entry : value_) {
      if (!json_is_finite(entry) && !entry.is_null()) fail("must be a list of finite numbers");
      result.push_back(entry.is_null() ? std::numeric_limits<double>::quiet_NaN() : entry.get<double>());
    }
    return result;
  }
  [[nodiscard]] Index count() const {
    if (!json_is_count(value_)) fail("must be a whole number from 0 up");
    return value_.get<Index>();
  }
  [[nodiscard]] JsonMember entry(std::size_t i) const {
    return {value_[i], source_, fmt::format("{}[{}]", place_, i)};
  }
  [[nodiscard]] std::vector<JsonMember> list() const {
    if (!value_.is_array()) fail("must be a list");
    std::vector<JsonMember> members;
    members.reserve(value_.size());
    for (std::size_t i = 0; i < value_.size(); ++i) {
      members.emplace_back(value_[i], source_, fmt::format("{}[{}]", place_, i));
    }
    return members;
  }
  // Without a Member for each: there may be millions.
  [[nodiscard]] std::vector<std::string> texts() const {
    if (!value_.is_array()) fail("must be a list of texts");
    std::vector<std::string> result;
    result.reserve(value_.size());
    for (const auto& entry : value_) {
      if (!entry.is_string()) fail("must be a list of texts");
      result.push_back(entry.get<std::string>());
    }
    return result;
  }
  [[nodiscard]] std::vector<Index> counts() const {
    if (!value_.is_array()) fail("must be a list of whole numbers");
    std::vector<Index> result;
    result.reserve(value_.size());
    for (const auto& entry : value_) {
      if (!json_is_count(entry)) fail("must be a list of whole numbers from 0 up");
      result.push_back(entry.get<Index>());
    }
    return result;
  }
  [[nodiscard]] std::vector<std::pair<std::string, double>> named_numbers() const {
    if (!value_.is_object()) fail("must be an object of numbers");
    std::vector<std::pair<std::string, double>> result;
    for (const auto& [key, entry] : value_.items()) {
      result.emplace_back(key, JsonMember(entry, source_, fmt::format("{}.{}", place_, key)).number());
    }
    return result;
  }
  [[nodiscard]] Matrix matrix() const {
    if (!value_.is_array()) fail("must be a list of rows");
    const std::size_t columns = value_.empty() || !value_[0].is_array() ? 0 : value_[0].size();
    Matrix result(static_cast<Index>(value_.size()), static_cast<Index>(columns));
    for (std::size_t i = 0; i < value_.size(); ++i) {
      if (!value_[i].is_array() || value_[i].size() != columns) fail("must be rows of equal length");
      for (std::size_t j = 0; j < columns; ++j) {
        if (!json_is_finite(value_[i][j])) fail("must hold finite numbers");
        result(static_cast<Index>(i), static_cast<Index>(j)) = value_[i][j].get<double>();
      }
    }
    return result;
  }
  /// One of an enum's names.
  template <class E>
  [[nodiscard]] E choice() const {
    try {
      return OptionCodec<E>::parse(text());
    } catch (const InvalidArgument& rule) {
      fail(rule.marked());
    }
  }

 private:
  const nlohmann::json& value_;
  const JsonSource& source_;
  std::string place_;
};

}  // namespace subspectra
