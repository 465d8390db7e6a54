#include "classify/model_reader.hpp"

#include <fmt/format.h>
#include <subspectra/error.hpp>

#include <cmath>

#include "core/options.hpp"

namespace subspectra {

using nlohmann::json;

bool ModelReader::is_count(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() < (1ULL << 62U);
  return value.is_number_integer() && value.get<std::int64_t>() >= 0;
}

Index ModelReader::length(const json& value) {
  return value.is_array() ? static_cast<Index>(value.size()) : 0;
}

Index ModelReader::width(const json& value) {
  return value.is_array() && !value.empty() ? length(value[0]) : 0;
}

void ModelReader::fail(std::string_view member, std::string_view rule) const {
  throw BadInput({.file = file_, .place = fmt::format("'{}'", member)},
                 fmt::format("{}; the model is damaged: fit it again", rule));
}

const json& ModelReader::at(std::string_view path) const {
  const json* value = &root_;
  for (std::string_view rest = path; !rest.empty();) {
    const auto dot = rest.find('.');
    const std::string key(rest.substr(0, dot));
    if (!value->is_object() || !value->contains(key)) fail(path, "is missing");
    value = &(*value)[key];
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  return *value;
}

std::string ModelReader::text(std::string_view path) const {
  const json& value = at(path);
  if (!value.is_string()) fail(path, "must be a text");
  return value.get<std::string>();
}

bool ModelReader::truth(std::string_view path) const {
  const json& value = at(path);
  if (!value.is_boolean()) fail(path, "must be true or false");
  return value.get<bool>();
}

Index ModelReader::count(std::string_view path) const {
  const json& value = at(path);
  if (!is_count(value)) fail(path, "must be a whole number from 0 up");
  return value.get<Index>();
}

double ModelReader::number(std::string_view path) const {
  const json& value = at(path);
  if (!value.is_number() || !std::isfinite(value.get<double>())) fail(path, "must be a finite number");
  return value.get<double>();
}

RidgeAmount ModelReader::ridge(std::string_view path) const {
  const json& value = at(path);
  if (!value.is_string()) {
    if (number(path) < 0.0) fail(path, "must not be negative");
    return number(path);
  }
  try {
    const Ridge asked = OptionCodec<Ridge>::parse(value.get_ref<const std::string&>());
    if (asked.fraction) return {0.0, *asked.fraction};
  } catch (const InvalidArgument&) {  // answered below
  }
  fail(path, "must be a number or rel:F");
}

double ModelReader::positive_number(std::string_view path) const {
  const double value = number(path);
  if (!(value > 0.0)) fail(path, "must be positive");
  return value;
}

std::vector<std::string> ModelReader::texts(std::string_view path) const {
  const json& value = at(path);
  if (!value.is_array()) fail(path, "must be a list of texts");
  std::vector<std::string> result;
  for (const auto& entry : value) {
    if (!entry.is_string()) fail(path, "must be a list of texts");
    result.push_back(entry.get<std::string>());
  }
  return result;
}

Vector ModelReader::numbers(std::string_view path, Index size) const { return row(at(path), path, size); }

Vector ModelReader::optional_numbers(std::string_view path, Index size) const {
  return at(path).is_null() ? Vector() : numbers(path, size);
}

Matrix ModelReader::matrix(std::string_view path, Index rows, Index columns) const {
  const json& value = at(path);
  if (!value.is_array() || static_cast<Index>(value.size()) != rows)
    fail(path, fmt::format("must have {} rows", rows));
  Matrix result(rows, columns);
  for (Index i = 0; i < rows; ++i)
    result.row(i) = row(value[static_cast<std::size_t>(i)], path, columns).transpose();
  return result;
}

Matrix ModelReader::counted_matrix(std::string_view path, Index rows, Index columns) const {
  const json& value = at(path);
  if (!value.is_array() || static_cast<Index>(value.size()) != rows)
    fail(path, fmt::format("must have {} rows", rows));
  for (const auto& line : value) {
    if (!line.is_array() || static_cast<Index>(line.size()) != columns)
      fail(path, fmt::format("must be {} numbers a row", columns));
  }
  return matrix(path, rows, columns);
}

Vector ModelReader::shares(std::string_view path, Index classes) const {
  Vector shares = numbers(path, classes);
  if ((shares.array() < 0.0).any() || std::abs(shares.sum() - 1.0) > 1e-6)
    fail(path, "must be probabilities that sum to 1");
  return shares;
}

void ModelReader::check_priors(const Vector& priors, const Vector& shares) const {
  if (((shares.array() > 0.0) && (priors.array() > 0.0)).count() == 0)
    fail("priors", "must leave a class that has a share of the training rows");
}

Vector ModelReader::row(const json& value, std::string_view path, Index size) const {
  if (!value.is_array() || static_cast<Index>(value.size()) != size)
    fail(path, fmt::format("must be {} numbers", size));
  Vector result(size);
  for (Index i = 0; i < size; ++i) {
    const auto& entry = value[static_cast<std::size_t>(i)];
    if (!entry.is_number() || !std::isfinite(entry.get<double>())) fail(path, "must hold finite numbers");
    result[i] = entry.get<double>();
  }
  return result;
}

}  // namespace subspectra
