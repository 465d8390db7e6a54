#include "data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.hpp"

namespace subspectra {
namespace {

constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: above it two different numbers may print alike

/// Empty if one of the texts is not a number; else each text as a number, NaN for a missing one.
std::vector<double> numbers_of(const std::vector<std::string>& texts) {
  std::vector<double> numbers(texts.size(), std::nan(""));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    if (!parse_number(texts[i], numbers[i]) || !(std::abs(numbers[i]) < kExactIntegers)) return {};
  }
  return numbers;
}

}  // namespace

Labels Labels::from_texts(std::string name, const std::vector<std::string>& texts) {
  Labels labels;
  labels.name = std::move(name);
  labels.codes.assign(texts.size(), kMissing);
  const auto code_all = [&](const auto& keys, const auto& is_missing, const auto& class_name) {
    using Key = std::decay_t<decltype(keys[0])>;
    std::map<Key, int> code_of;
    for (const Key& key : keys) {
      if (!is_missing(key)) code_of.emplace(key, 0);
    }
    for (auto& [key, code] : code_of) {
      code = labels.class_count();
      labels.classes.push_back(class_name(key));
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!is_missing(keys[i])) labels.codes[i] = code_of.at(keys[i]);
    }
  };
  // "+1", "1" and "1.0" are one class when all classes are numbers.
  const std::vector<double> numbers = numbers_of(texts);
  if (!numbers.empty()) {
    code_all(
        numbers, [](double v) { return std::isnan(v); }, number_text);
  } else {
    code_all(
        texts, [](const std::string& t) { return t.empty(); }, [](const std::string& t) { return t; });
  }
  return labels;
}

std::string InfiniteCell::sentence() const {
  if (text.empty()) return "an infinite value";
  const bool has_digits = text.find_first_of("0123456789") != std::string::npos;
  return shown(text) + (has_digits ? " is too large for a double" : " is infinite");
}

std::vector<Index> Labels::counts() const {
  std::vector<Index> rows(classes.size(), 0);
  for (const int code : codes) {
    if (code != kMissing) ++rows[static_cast<std::size_t>(code)];
  }
  return rows;
}

namespace {

/// Parts that do not fit together are a mistake of the code that made them, or of the caller's arrays.
void check_lengths(const DatasetParts& parts) {
  const auto check = [&](const char* field, Index given, Index wanted, const char* what) {
    if (given == wanted) return;
    throw InvalidArgument({.field = field,
                           .value = fmt::to_string(given),
                           .rule = fmt::format(": {{value}} given for {} {}", wanted, what)});
  };
  const auto size = [](const auto& values) { return static_cast<Index>(values.size()); };
  const Index n = parts.rows();
  if (parts.labels) check("labels", size(parts.labels->codes), n, "rows");
  if (parts.weights.size() > 0) check("weights", parts.weights.size(), n, "rows");
  if (!parts.row_groups.empty()) check("groups", size(parts.row_groups), n, "rows");
  if (!parts.original_rows.empty()) check("original_rows", size(parts.original_rows), n, "rows");
  check("names", parts.names.size(), parts.features(), "columns");
}

}  // namespace

Dataset::Dataset() : parts_(std::make_shared<DatasetParts>()) {}

Dataset::Dataset(DatasetParts parts) : parts_(std::make_shared<DatasetParts>(std::move(parts))) {
  if (parts_->names.size() == 0) parts_->names = FeatureNames(parts_->features());
  check_lengths(*parts_);
}

DatasetParts Dataset::parts() && {
  if (parts_.use_count() > 1) return *parts_;
  DatasetParts taken = std::move(*parts_);
  parts_ = std::make_shared<DatasetParts>();
  return taken;
}

Dataset Dataset::with_rows(const std::vector<Index>& rows) const {
  const auto& [source, is_sparse, dense, sparse, names, labels, weights, row_groups, original_rows,
               first_missing, first_infinite, first_unlabelled, left_out, notes, warnings] = *parts_;
  DatasetParts part;
  part.source = source;
  part.is_sparse = is_sparse;
  part.names = names;
  part.first_missing = first_missing;
  part.first_infinite = first_infinite;
  part.first_unlabelled = first_unlabelled;
  part.left_out = left_out;
  part.notes = notes;
  part.warnings = warnings;
  const auto count = static_cast<Index>(rows.size());
  if (is_sparse) {
    // Where each old row goes: a linked list a row, since rows may repeat.
    std::vector<std::vector<Index>> targets(static_cast<std::size_t>(sparse.rows()));
    for (Index i = 0; i < count; ++i)
      targets[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])].push_back(i);
    Eigen::VectorXi sizes = Eigen::VectorXi::Zero(sparse.cols());
    for (Index j = 0; j < sparse.cols(); ++j) {
      for (SparseMatrix::InnerIterator it(sparse, j); it; ++it) {
        sizes[j] += static_cast<int>(targets[static_cast<std::size_t>(it.row())].size());
      }
    }
    part.sparse.resize(count, sparse.cols());
    part.sparse.reserve(sizes);
    std::vector<std::pair<Index, double>> entries;
    for (Index j = 0; j < sparse.cols(); ++j) {
      entries.clear();
      for (SparseMatrix::InnerIterator it(sparse, j); it; ++it) {
        for (const Index i : targets[static_cast<std::size_t>(it.row())]) entries.emplace_back(i, it.value());
      }
      std::sort(entries.begin(), entries.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [i, value] : entries) part.sparse.insert(i, j) = value;
    }
    part.sparse.makeCompressed();
  } else {
    part.dense = dense(rows, Eigen::all);
  }
  if (labels) {
    part.labels = Labels{.name = labels->name, .classes = labels->classes, .codes = {}};
    part.labels->codes.reserve(rows.size());
    for (const Index i : rows) part.labels->codes.push_back(labels->codes[static_cast<std::size_t>(i)]);
  }
  if (weights.size() > 0) part.weights = weights(rows);
  if (!row_groups.empty()) {
    for (const Index i : rows) part.row_groups.push_back(row_groups[static_cast<std::size_t>(i)]);
  }
  part.original_rows.reserve(rows.size());
  for (const Index i : rows) {
    part.original_rows.push_back(original_rows.empty() ? i : original_rows[static_cast<std::size_t>(i)]);
  }
  return part;
}

Dataset Dataset::with_features(const std::vector<Index>& features) const {
  const auto& [source, is_sparse, dense, sparse, names, labels, weights, row_groups, original_rows,
               first_missing, first_infinite, first_unlabelled, left_out, notes, warnings] = *parts_;
  DatasetParts part;
  part.source = source;
  part.is_sparse = is_sparse;
  part.names = names.selected(features);
  part.labels = labels;
  part.weights = weights;
  part.row_groups = row_groups;
  part.original_rows = original_rows;
  part.first_missing = first_missing;
  part.first_infinite = first_infinite;
  part.first_unlabelled = first_unlabelled;
  part.left_out = left_out;
  part.notes = notes;
  part.warnings = warnings;
  if (is_sparse) {
    Eigen::VectorXi sizes(static_cast<Index>(features.size()));
    for (Index k = 0; k < sizes.size(); ++k) {
      const Index j = features[static_cast<std::size_t>(k)];
      sizes[k] = sparse.outerIndexPtr()[j + 1] - sparse.outerIndexPtr()[j];
    }
    part.sparse.resize(sparse.rows(), sizes.size());
    part.sparse.reserve(sizes);
    for (Index k = 0; k < sizes.size(); ++k) {
      for (SparseMatrix::InnerIterator it(sparse, features[static_cast<std::size_t>(k)]); it; ++it) {
        part.sparse.insert(it.row(), k) = it.value();
      }
    }
    part.sparse.makeCompressed();
  } else {
    part.dense = dense(Eigen::all, features);
  }
  return part;
}

Vector Dataset::column(Index j) const {
  if (!is_sparse()) return dense().col(j);
  return sparse().col(j);
}

Matrix Dataset::columns(const std::vector<Index>& features) const {
  if (!is_sparse()) return dense()(Eigen::all, features);
  Matrix chosen = Matrix::Zero(rows(), static_cast<Index>(features.size()));
  for (Index k = 0; k < chosen.cols(); ++k) {
    for (SparseMatrix::InnerIterator it(sparse(), features[static_cast<std::size_t>(k)]); it; ++it) {
      chosen(it.row(), k) = it.value();
    }
  }
  return chosen;
}

bool does_not_vary(const Dataset& data, Index j) {
  if (!data.is_sparse()) {
    const auto column = data.dense().col(j);
    return (column.array() == column[0]).all();
  }
  const Index stored = data.sparse().col(j).nonZeros();
  double first = 0.0;
  bool started = stored < data.rows();  // an unstored entry is a zero
  for (SparseMatrix::InnerIterator it(data.sparse(), j); it; ++it) {
    if (!started) {
      first = it.value();
      started = true;
    } else if (it.value() != first) {
      return false;
    }
  }
  return true;
}

}  // namespace subspectra
