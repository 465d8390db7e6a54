#include "data/leaks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "core/text.hpp"

namespace subspectra {
namespace {

constexpr double kExpectedByChance = 0.01;

/// Without the global that std::lgamma leaves the sign in.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

struct ClassRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  Index rows = 0;
};

enum class Separates { kNot, kIntervals, kOneValueEach };

class LeakFinder {
 public:
  explicit LeakFinder(const DatasetParts& data)
      : data_(data), codes_(data.labels->codes), counts_(data.labels->counts()), ranges_(counts_.size()) {}

  Separates look_at(Index j) {
    std::fill(ranges_.begin(), ranges_.end(), ClassRange());
    if (data_.is_sparse) {
      for (SparseMatrix::InnerIterator it(data_.sparse, j); it; ++it) add(it.row(), it.value());
      for (std::size_t c = 0; c < counts_.size(); ++c) {  // the zeros that are not stored
        const Index zeros = counts_[c] - stored(c, j);
        if (zeros == 0) continue;
        widen(ranges_[c], 0.0);
        ranges_[c].rows += zeros - 1;
      }
    } else {
      for (Index i = 0; i < data_.dense.rows(); ++i) add(i, data_.dense(i, j));
    }
    return judge(ranges_);
  }

  /// All columns of a table that is read in blocks, for found(). Few bytes a column stay: what it is, and
  /// where the table stands by rows its ranges until the last row.
  void look_at_source() {
    const ColumnSource& source = *data_.columns;
    found_.assign(static_cast<std::size_t>(source.columns()), Separates::kNot);
    const auto classes = counts_.size();
    if (const auto tallies = source.tallies(codes_, static_cast<int>(classes))) {
      ColumnTally tally;
      for (Index j = 0; j < source.columns(); ++j) {
        tallies->count(j, tally);
        std::fill(ranges_.begin(), ranges_.end(), ClassRange());
        for (std::size_t c = 0; c < classes; ++c) {
          for (Index v = 0; v < ColumnTally::kValues; ++v) {
            const Index rows = tally.counts(v, static_cast<Index>(c));
            const double value = tally.values.at(static_cast<std::size_t>(v));
            if (rows == 0 || std::isnan(value)) continue;
            widen(ranges_[c], value);
            ranges_[c].rows += rows - 1;
          }
        }
        found_[static_cast<std::size_t>(j)] = judge(ranges_);
      }
      return;
    }
    std::vector<std::vector<ClassRange>> open(source.stands_by_rows() ? found_.size() : 0,
                                              std::vector<ClassRange>(classes));
    source.each_block(1, [&](Index row, Index column, const MatrixRef& block) {
      std::vector<ClassRange> here(classes);
      for (Index k = 0; k < block.cols(); ++k) {
        const auto j = static_cast<std::size_t>(column + k);
        auto& ranges = open.empty() ? here : open[j];
        if (open.empty()) std::fill(here.begin(), here.end(), ClassRange());
        for (Index i = 0; i < block.rows(); ++i) {
          const int code = codes_[static_cast<std::size_t>(row + i)];
          if (code != Labels::kMissing && !std::isnan(block(i, k)))
            widen(ranges[static_cast<std::size_t>(code)], block(i, k));
        }
        if (open.empty()) found_[j] = judge(here);
      }
    });
    for (std::size_t j = 0; j < open.size(); ++j) found_[j] = judge(open[j]);
  }
  [[nodiscard]] Separates found(Index j) const { return found_[static_cast<std::size_t>(j)]; }

 private:
  static void widen(ClassRange& range, double value) {
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
    ++range.rows;
  }
  void add(Index row, double value) {
    const int code = codes_[static_cast<std::size_t>(row)];
    if (code == Labels::kMissing || std::isnan(value)) return;
    widen(ranges_[static_cast<std::size_t>(code)], value);
  }
  [[nodiscard]] Index stored(std::size_t c, Index j) const {
    Index count = 0;
    for (SparseMatrix::InnerIterator it(data_.sparse, j); it; ++it) {
      if (codes_[static_cast<std::size_t>(it.row())] == static_cast<int>(c)) ++count;
    }
    return count;
  }
  [[nodiscard]] Separates judge(std::vector<ClassRange>& ranges) const {
    // A class without values says nothing, and one that hardly has any little.
    for (std::size_t c = 0; c < counts_.size(); ++c) {
      if (counts_[c] > 0 && 2 * ranges[c].rows < counts_[c]) return Separates::kNot;
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const ClassRange& a, const ClassRange& b) { return a.low < b.low; });
    bool one_value = true;
    const ClassRange* before = nullptr;
    for (const ClassRange& range : ranges) {
      if (range.rows == 0) continue;
      if (before != nullptr && !(before->high < range.low)) return Separates::kNot;
      one_value = one_value && range.low == range.high;
      before = &range;
    }
    return one_value ? Separates::kOneValueEach : Separates::kIntervals;
  }

  const DatasetParts& data_;
  const std::vector<int>& codes_;
  std::vector<Index> counts_;
  std::vector<ClassRange> ranges_;
  std::vector<Separates> found_;
};

std::string sentence(const DatasetParts& data, const std::vector<Index>& columns, std::string_view what) {
  const std::string names = join_some(
      columns.size(), [&](std::size_t i) { return shown(data.names[columns[i]]); }, 5);
  const bool one = columns.size() == 1;
  return fmt::format("{} {} {}: a possible leak; if {} known only with the label, leave {} out with {}",
                     one ? "column" : "columns", names, what, one ? "it is" : "they are", one ? "it" : "them",
                     one ? fmt::format("⟨exclude {}⟩", data.names[columns[0]]) : std::string("⟨exclude⟩"));
}

}  // namespace

double log_expected_separating(const std::vector<Index>& class_counts, Index columns) {
  double rows = 0.0;
  double classes = 0.0;
  double result = std::log(static_cast<double>(columns));
  for (const Index count : class_counts) {
    if (count == 0) continue;
    rows += static_cast<double>(count);
    classes += 1.0;
    result += log_gamma(static_cast<double>(count) + 1.0);
  }
  return result + log_gamma(classes + 1.0) - log_gamma(rows + 1.0);
}

std::vector<std::string> leak_warnings(const DatasetParts& data, const std::vector<std::string>& excluded) {
  std::vector<std::string> warnings;
  if (!data.labels) return warnings;
  const std::vector<Index> counts = data.labels->counts();
  if (std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; }) < 2) return warnings;
  if (log_expected_separating(counts, data.features()) >= std::log(kExpectedByChance)) return warnings;
  std::unordered_set<Index> passed_over;
  for (const auto& columns : data.names.find_each(excluded))
    passed_over.insert(columns.begin(), columns.end());
  std::vector<Index> intervals, disguises;
  LeakFinder finder(data);
  if (data.columns) finder.look_at_source();
  for (Index j = 0; j < data.features(); ++j) {
    if (passed_over.contains(j)) continue;
    const Separates found = data.columns ? finder.found(j) : finder.look_at(j);
    if (found == Separates::kIntervals) intervals.push_back(j);
    if (found == Separates::kOneValueEach) disguises.push_back(j);
  }
  if (!disguises.empty())
    warnings.push_back(sentence(data, disguises,
                                disguises.size() == 1
                                    ? "has one value for each class, the label in disguise"
                                    : "have one value for each class, the label in disguise"));
  if (!intervals.empty())
    warnings.push_back(sentence(data, intervals,
                                intervals.size() == 1 ? "alone separates the classes perfectly"
                                                      : "each alone separate the classes perfectly"));
  return warnings;
}

}  // namespace subspectra
