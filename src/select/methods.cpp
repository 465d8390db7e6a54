#include "subspectra/select/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "subspectra/core/text.hpp"
#include "subspectra/data/moments.hpp"
#include "subspectra/filters/filters.hpp"
#include "subspectra/select/score_path.hpp"
#include "subspectra/spectral/ridge.hpp"

namespace subspectra {
namespace {

/// A filter as a method: scores, and the ranking they give.
template <class Score>
auto filter_method(Score score) {
  return [score](const SelectionInput& input, const OptionTexts&, const RunControl& control,
                 Selection& selection) {
    selection.weights = score(input);
    selection.ranking = filters::ranking(selection.weights, input.candidates);
    selection.status = control.status_or(Status::kHeuristic);
  };
}

Moments diagonal_moments(const SelectionInput& input) {
  return compute_moments(input.data, Moments::SecondOrder::kDiagonal, input.options.threads);
}

/// Feature numbers of the names an option lists; a name that stands for several columns means all of them.
std::vector<Index> find_features(const Dataset& data, const std::vector<std::string>& names,
                                 std::string_view option) {
  std::vector<Index> features;
  const auto found_each = data.names.find_each(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const auto& found = found_each[i];
    if (found.empty()) {
      if (std::find(data.left_out.begin(), data.left_out.end(), name) != data.left_out.end()) continue;
      const auto near = data.names.near(name);
      throw BadInput(
          {.file = data.source},
          fmt::format("{} names '{}', but no feature has that name{}; names are matched exactly", option,
                      name, near.empty() ? "" : fmt::format(" (did you mean {}?)", join_some(near))));
    }
    features.insert(features.end(), found.begin(), found.end());
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

bool is_constant(const Dataset& data, Index j) {
  if (!data.is_sparse) {
    const auto column = data.dense.col(j);
    return (column.array() == column[0]).all();
  }
  const Index stored = data.sparse.col(j).nonZeros();
  double first = 0.0;
  bool started = stored < data.rows();  // an unstored entry is a zero
  for (SparseMatrix::InnerIterator it(data.sparse, j); it; ++it) {
    if (!started) {
      first = it.value();
      started = true;
    } else if (it.value() != first) {
      return false;
    }
  }
  return true;
}

void check_labels(const Dataset& data, const MethodInfo& method) {
  if (!data.labels) {
    std::vector<std::string> candidates;
    for (Index j = std::max<Index>(0, data.features() - 8); j < data.features(); ++j)
      candidates.push_back(data.names[j]);
    throw BadInput(
        {.file = data.source},
        fmt::format("method {} needs labels and no label column was found; name it with --target (the last "
                    "columns are {})",
                    method.name, join_some(candidates)));
  }
  const auto& labels = *data.labels;
  const auto missing = std::count(labels.codes.begin(), labels.codes.end(), Labels::kMissing);
  if (missing > 0) {
    throw BadInput(
        data.first_unlabelled.value_or(Location{.file = data.source}),
        fmt::format(
            "{} no label in '{}' and method {} needs one for every row; write the labels, or leave the "
            "rows out with --missing drop",
            missing == 1 ? "1 row has" : fmt::format("{} rows have", missing), labels.name, method.name));
  }
  const auto counts = labels.counts();
  const auto present = std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; });
  if (present < 2) {
    throw BadInput(
        {.file = data.source},
        fmt::format("'{}' holds one class only ('{}'); two or more are needed to tell apart: name the "
                    "label column with --target",
                    labels.name, labels.classes.empty() ? "" : labels.classes.front()));
  }
  if (method.two_classes_only && present != 2) {
    throw BadInput(
        {.file = data.source},
        fmt::format("method {} is for two classes and '{}' has {}; pearson and fisher take any number",
                    method.name, labels.name, present));
  }
}

/// Nothing can be learned of a class from one row; when every class is such, the column was hardly meant.
void warn_of_single_rows(const Dataset& data, std::vector<std::string>& warnings) {
  const auto counts = data.labels->counts();
  if (std::any_of(counts.begin(), counts.end(), [](Index count) { return count > 1; })) return;
  warnings.push_back(fmt::format(
      "every class of '{}' has one row: it looks like a continuous value or like sample ids; name "
      "the label column with --target",
      data.labels->name));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

const std::vector<MethodInfo>& methods() {
  static const std::vector<MethodInfo> all = {
      {.name = "pearson",
       .summary =
           "filter: correlation of the feature with the label (correlation ratio for more than two classes)",
       .options = {},
       .run = filter_method(
           [](const SelectionInput& input) { return filters::pearson(diagonal_moments(input)); })},
      {.name = "fisher",
       .summary = "filter: squared distance of the class means over the class variances",
       .options = {},
       .run = filter_method(
           [](const SelectionInput& input) { return filters::fisher(diagonal_moments(input)); })},
      {.name = "ks",
       .summary = "filter: Kolmogorov-Smirnov distance of the two class distributions",
       .two_classes_only = true,
       .options = {},
       .run = filter_method([](const SelectionInput& input) {
         return filters::kolmogorov_smirnov(input.data, input.options.threads);
       })},
      {.name = "snr",
       .summary = "filter: signal to noise, |mu1 - mu2|/(sigma1 + sigma2), for two classes",
       .two_classes_only = true,
       .options = {},
       .run = filter_method(
           [](const SelectionInput& input) { return filters::signal_to_noise(diagonal_moments(input)); })},
  };
  return all;
}

const MethodInfo& find_method(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& method : methods()) {
    if (method.name == name) return method;
    names.emplace_back(method.name);
  }
  const auto near = near_names(name, names);
  throw InvalidArgument(fmt::format("--method '{}' does not exist; {}", name,
                                    near.empty() ? fmt::format("there are {}", join_some(names, 100))
                                                 : fmt::format("did you mean {}?", join_some(near))));
}

std::string_view default_method(bool /*has_labels*/) { return "fisher"; }

Selection select_features(const Dataset& data, const MethodInfo& method, const SelectionOptions& options,
                          const OptionTexts& texts, const RunControl& control) {
  const auto start = std::chrono::steady_clock::now();
  options.validate();
  if (method.needs_labels) check_labels(data, method);
  Selection selection;
  selection.method = method.name;
  if (method.needs_labels) warn_of_single_rows(data, selection.warnings);
  SelectionInput input{.data = data, .options = options, .candidates = {}, .include = {}, .k = {}};

  const auto excluded = find_features(data, options.exclude, "--exclude");
  input.include = find_features(data, options.include, "--include");
  std::vector<Index> both;
  std::set_intersection(excluded.begin(), excluded.end(), input.include.begin(), input.include.end(),
                        std::back_inserter(both));
  if (!both.empty()) {
    throw Infeasible(
        fmt::format("{} is both included and excluded; take it out of one list", data.names.some(both)));
  }
  std::vector<Index> constant;
  for (Index j = 0; j < data.features(); ++j) {
    if (std::binary_search(excluded.begin(), excluded.end(), j)) continue;
    (is_constant(data, j) ? constant : input.candidates).push_back(j);
  }
  if (!constant.empty()) {
    selection.warnings.push_back(
        constant.size() == 1 ? fmt::format("1 constant column carries nothing and is never chosen: {}",
                                           data.names.some(constant))
                             : fmt::format("{} constant columns carry nothing and are never chosen: {}",
                                           constant.size(), data.names.some(constant)));
  }
  for (const Index j : input.include) {
    if (std::binary_search(constant.begin(), constant.end(), j)) {
      throw Infeasible(fmt::format("--include names '{}', which is constant; leave it out", data.names[j]));
    }
  }
  const auto available = static_cast<Index>(input.candidates.size());
  if (available == 0) {
    throw BadInput({.file = data.source},
                   constant.empty()
                       ? "every feature is excluded; take some out of --exclude"
                       : "no feature varies over the rows, so there is nothing to choose from; give "
                         "rows that differ, or exclude fewer columns");
  }
  input.k = options.k.resolved(data.features());
  const auto forced = static_cast<Index>(input.include.size());
  if (input.k.hi < forced) {
    throw Infeasible(fmt::format("{} included but k is at most {}; raise -k or include fewer",
                                 forced == 1 ? "1 feature is" : fmt::format("{} features are", forced),
                                 input.k.hi));
  }
  if (input.k.lo > available) {
    throw Infeasible(fmt::format(
        "k = {} asks for more than the {} that {} and {} not excluded; ask for fewer with -k", input.k.lo,
        counted(available, "feature"), available == 1 ? "varies" : "vary", available == 1 ? "is" : "are"));
  }
  input.k.lo = std::max(input.k.lo, forced);
  Status reachable = Status::kOptimal;
  if (input.k.hi > available) {
    if (options.k.given()) {
      selection.warnings.push_back(
          fmt::format("k stops at {}: no more features vary and are not excluded", available));
      reachable = Status::kRankLimit;
    }
    input.k.hi = available;
  }
  auto ridge =
      resolve_ridge(data, input.candidates, options.ridge, options.threads, options.memory_limit.bytes);
  selection.ridge = ridge.value;
  if (!ridge.note.empty()) selection.warnings.push_back(std::move(ridge.note));
  selection.prepare_s = seconds_since(start);

  const auto search_start = std::chrono::steady_clock::now();
  method.run(input, texts, control, selection);
  if (selection.path.empty() && !selection.ranking.empty()) {
    std::vector<Index> order = input.include;
    for (const Index j : selection.ranking) {
      if (!std::binary_search(input.include.begin(), input.include.end(), j)) order.push_back(j);
    }
    score_nested_path(input, order, selection.ridge, selection);
  }
  selection.status = worst(selection.status, reachable);
  selection.search_s = seconds_since(search_start);
  return selection;
}

}  // namespace subspectra
