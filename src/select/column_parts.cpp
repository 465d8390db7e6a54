#include "select/column_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base64.hpp"
#include "io/part_file.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
static_assert(std::endian::native == std::endian::little, "packed numbers are little-endian");

/// The columns of one part.
struct ColumnRange {
  Index first = 0, last = 0;
  [[nodiscard]] Index count() const { return last - first; }
};

ColumnRange columns_of(Index features, Index owner, Index parts) {
  // Not features * owner, which may overflow.
  const auto border = [&](Index i) { return features / parts * i + std::min(i, features % parts); };
  return {border(owner), border(owner + 1)};
}

std::vector<Index> listed(const ColumnRange& columns) {
  std::vector<Index> all(static_cast<std::size_t>(columns.count()));
  std::iota(all.begin(), all.end(), columns.first);
  return all;
}

std::string packed_numbers(const Matrix& numbers) {
  return base64({reinterpret_cast<const char*>(numbers.data()),
                 static_cast<std::size_t>(numbers.size()) * sizeof(double)});
}

Matrix numbers_from(const JsonMember& member, Index rows, Index columns) {
  const auto bytes = bytes_of_base64(member.text());
  const auto expected = static_cast<std::size_t>(rows * columns) * sizeof(double);
  if (!bytes || bytes->size() != expected)
    member.fail(fmt::format("must hold {} x {} packed numbers", rows, columns));
  Matrix numbers(rows, columns);
  if (expected > 0) std::memcpy(numbers.data(), bytes->data(), expected);
  return numbers;
}

/// use(columns, what the part of these columns found)
template <class Use>
void each_part(const PartWork& work, Index features, const Use& use) {
  for (Index owner = 0; owner < work.count(); ++owner)
    use(columns_of(features, owner, work.count()), work.found("columns", owner));
}

ColumnRange own_columns(const PartWork& work, Index features) {
  return columns_of(features, work.part().number - 1, work.count());
}

}  // namespace

bool runs_one_part(const SelectOptions& options) {
  return options.part_work != nullptr && !options.part_work->merging();
}

Vector moment_scores(const Problem& problem, Vector (*score)(const Moments&)) {
  PartWork* const work = problem.options().part_work;
  if (work == nullptr) return score(problem.rows().class_moments());
  const Dataset& data = problem.data();
  const auto moments_of_columns = [&](const std::vector<Index>& columns) {
    return compute_moments(data, columns, Moments::SecondOrder::kDiagonal, problem.options().threads);
  };
  if (!work->merging()) {
    const auto sums = moments_of_columns(listed(own_columns(*work, data.features()))).column_sums();
    work->keep("columns", {{"means", packed_numbers(sums.means)},
                           {"low", packed_numbers(sums.low)},
                           {"squares", packed_numbers(sums.squares)}});
    return {};
  }
  const Moments none = moments_of_columns({});
  const Index p = data.features(), classes = none.classes();
  Moments::ColumnSums all{Matrix(p, classes), Matrix(p, classes), Matrix(p, classes)};
  each_part(*work, p, [&](const ColumnRange& columns, const JsonMember& member) {
    const auto rows = [&](Matrix& of) { return of.middleRows(columns.first, columns.count()); };
    rows(all.means) = numbers_from(member.at("means"), columns.count(), classes);
    rows(all.low) = numbers_from(member.at("low"), columns.count(), classes);
    rows(all.squares) = numbers_from(member.at("squares"), columns.count(), classes);
  });
  return score(Moments(none.class_weights(), std::move(all)));
}

Vector column_scores(const Problem& problem, const std::function<Vector(const Dataset&)>& score) {
  PartWork* const work = problem.options().part_work;
  const Dataset& data = problem.data();
  if (work == nullptr) return score(data);
  if (!work->merging()) {
    const ColumnRange own = own_columns(*work, data.features());
    const Vector scores = own.count() > 0 ? score(data.with_features(listed(own))) : Vector();
    work->keep("columns", {{"scores", packed_numbers(scores)}});
    return {};
  }
  Vector all(data.features());
  each_part(*work, data.features(), [&](const ColumnRange& columns, const JsonMember& member) {
    const Matrix scores = numbers_from(member.at("scores"), columns.count(), 1);
    if (!std::all_of(scores.reshaped().begin(), scores.reshaped().end(),
                     [](double value) { return std::isfinite(value); }))
      member.at("scores").fail("must hold finite numbers");
    all.segment(columns.first, columns.count()) = scores.reshaped();
  });
  return all;
}

}  // namespace subspectra
