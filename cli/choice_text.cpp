#include "choice_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

constexpr std::size_t kMostClassesAsMatrix = 12;  ///< wider ones no terminal shows
constexpr std::size_t kMostLinesShown = 20;       ///< of classes or features

/// Of rows that weigh 1 in one repeat a whole number.
std::string rows_text(double rows) {
  return rows == std::floor(rows) && rows < 1e15 ? fmt::format("{:.0f}", rows) : fmt::format("{:.1f}", rows);
}

std::string rate_text(double rate) { return std::isfinite(rate) ? fmt::format("{:.4f}", rate) : "-"; }

/// "98 %"; never 100 for what is not always so.
std::string percent_text(double share) {
  const double percent = std::floor(100.0 * share + 0.5);
  return fmt::format("{:.0f} %", share < 1.0 ? std::min(percent, 99.0) : percent);
}

std::string class_table(const EvaluationChoice& choice, const std::vector<std::string>& classes) {
  Table table(
      {{.title = "class", .align = Align::kLeft}, {.title = "sensitivity"}, {.title = "specificity"}});
  for (std::size_t c = 0; c < std::min(classes.size(), kMostLinesShown); ++c)
    table.add({classes[c], rate_text(choice.sensitivity[c]), rate_text(choice.specificity[c])});
  std::string text = table.text("    ");
  if (classes.size() > kMostLinesShown)
    text += fmt::format("    ... ({} more)\n", classes.size() - kMostLinesShown);
  return text;
}

/// Instead of a matrix that no terminal shows: the most frequent mistakes.
std::string mistakes_text(const DenseMatrix& confusion, const std::vector<std::string>& truths,
                          const std::vector<std::string>& answers, std::string_view indent) {
  std::vector<std::pair<Index, Index>> cells;
  for (Index i = 0; i < confusion.rows(); ++i) {
    for (Index j = 0; j < confusion.cols(); ++j) {
      if (i != j && confusion(i, j) > 0.0) cells.emplace_back(i, j);
    }
  }
  std::stable_sort(cells.begin(), cells.end(), [&](const auto& a, const auto& b) {
    return confusion(a.first, a.second) > confusion(b.first, b.second);
  });
  const std::size_t all = cells.size();
  cells.resize(std::min(all, kMostLinesShown));
  Table table({{.title = "truth", .align = Align::kLeft},
               {.title = "taken for", .align = Align::kLeft},
               {.title = "rows"}});
  for (const auto& [i, j] : cells)
    table.add({truths[static_cast<std::size_t>(i)], answers[static_cast<std::size_t>(j)],
               rows_text(confusion(i, j))});
  std::string text = table.text(indent);
  if (cells.size() < all) text += fmt::format("{}... ({} more)\n", indent, all - cells.size());
  return text;
}

std::string calibration_text(const EvaluationChoice& choice, const std::vector<std::string>& classes) {
  Table table({{.title = "predicted"}, {.title = "observed"}, {.title = "rows"}});
  for (const CalibrationBin& bin : choice.calibration)
    table.add(
        {fmt::format("{:.3f}", bin.predicted), fmt::format("{:.3f}", bin.observed), rows_text(bin.rows)});
  const std::string of = classes.size() == 2 ? printable(classes[1]) : "each class against the rest";
  return indented(fmt::format("calibration, probability of {} and share of rows that were:", of), 2) +
         table.text("    ");
}

/// Nothing to choose among, or the same choice everywhere: the names are enough.
std::string same_everywhere_text(const EvaluationChoice& choice) {
  constexpr std::size_t kMargin = 4, kMostLines = 12;
  std::vector<std::string> names;
  names.reserve(choice.features.size());
  for (const ChosenFeature& feature : choice.features) names.push_back(feature.name);
  std::string text = fmt::format("  the model on all rows has {}, the same in every fold:\n",
                                 counted(choice.feature_count, "feature"));
  for (const auto& line : listed_within(names, stdout_terminal().width - kMargin, kMostLines))
    text += std::string(kMargin, ' ') + line + '\n';
  return text;
}

std::string features_text(const EvaluationChoice& choice) {
  if (std::all_of(choice.features.begin(), choice.features.end(),
                  [](const ChosenFeature& one) { return one.frequency == 1.0; }))
    return same_everywhere_text(choice);
  std::vector<const ChosenFeature*> order;
  order.reserve(choice.features.size());
  for (const ChosenFeature& feature : choice.features) order.push_back(&feature);
  std::stable_sort(order.begin(), order.end(), [](const ChosenFeature* a, const ChosenFeature* b) {
    return a->frequency.value_or(0.0) > b->frequency.value_or(0.0);
  });
  order.resize(std::min(order.size(), kMostLinesShown));
  const bool judged = std::any_of(order.begin(), order.end(),
                                  [](const ChosenFeature* one) { return one->frequency.has_value(); });
  std::vector<Column> columns = {{.title = "feature", .align = Align::kLeft}};
  if (judged)
    columns.insert(columns.end(), {{.title = "folds"}, {.title = "instead of it", .align = Align::kLeft}});
  Table table(columns);
  for (const ChosenFeature* feature : order) {
    if (!judged) {
      table.add({feature->name});
      continue;
    }
    std::vector<std::string> instead;
    for (const FeatureSubstitute& one : feature->substitutes)
      instead.push_back(fmt::format("{} ({})", one.name, percent_text(one.frequency)));
    table.add({feature->name, feature->frequency ? percent_text(*feature->frequency) : "-"},
              std::move(instead));
  }
  std::string text =
      indented(fmt::format("the model on all rows has {}{}", counted(choice.feature_count, "feature"),
                           judged ? "; how often the folds chose each, and what stood in its place:" : ":"),
               2) +
      table.text("    ");
  if (static_cast<std::size_t>(choice.feature_count) > order.size())
    text += fmt::format("    ... ({} more)\n", static_cast<std::size_t>(choice.feature_count) - order.size());
  return text;
}

}  // namespace

std::string with_error(double value, double standard_error) {
  if (!std::isfinite(standard_error)) return fmt::format("{:.4f} ± -", value);
  return fmt::format("{:.4f} ± {:.4f}", value, standard_error);
}

std::string cut_short_text(const Evaluation& evaluation) {
  if (evaluation.complete()) return {};
  std::string text = fmt::format("CUT SHORT ({}): {} of {} were run", status_name(evaluation.status),
                                 evaluation.folds_run, counted(evaluation.folds_planned, "fold"));
  if (evaluation.folds_run == evaluation.folds_planned) return text + ", and not every permutation\n";
  return text + (evaluation.chosen.empty() ? ", too few to name a size best; give more time\n"
                                           : "; the numbers are of these\n");
}

std::string confusion_text(const DenseMatrix& confusion, const std::vector<std::string>& truths,
                           const std::vector<std::string>& answers, std::string_view indent) {
  if (answers.size() > kMostClassesAsMatrix) return mistakes_text(confusion, truths, answers, indent);
  std::vector<Column> columns = {{.title = "truth", .align = Align::kLeft}};
  for (const auto& name : answers) columns.push_back({.title = printable(name)});
  Table table(columns);
  for (std::size_t i = 0; i < truths.size(); ++i) {
    std::vector<std::string> cells = {truths[i]};
    for (std::size_t j = 0; j < answers.size(); ++j)
      cells.push_back(rows_text(confusion(static_cast<Index>(i), static_cast<Index>(j))));
    table.add(std::move(cells));
  }
  return table.text(indent);
}

std::string choice_text(const EvaluationChoice& choice, const std::vector<std::string>& classes) {
  if (!choice.judged()) return {};
  std::string text =
      "\n" +
      prose(fmt::format("{}{}", choice.method,
                        choice.k_one_standard_error > 0
                            ? fmt::format(" at k = {}, the smallest within one standard error of the best",
                                          choice.k_one_standard_error)
                            : std::string(", which says itself how many features there are")));
  text += indented(fmt::format("error {}; always naming the largest class: {:.4f}",
                               with_error(choice.error, choice.stderr_), choice.trivial_error),
                   2);
  if (const std::string doubt = choice.doubt(); !doubt.empty()) text += indented("NOTE: " + doubt, 2);
  if (choice.p_value)
    text += indented(fmt::format("p = {:.4f}, from {} with the size chosen anew in each", *choice.p_value,
                                 counted(choice.permutations, "permutation")),
                     2);
  if (choice.auc)
    text += indented(fmt::format("AUC {:.4f}{}", *choice.auc,
                                 classes.size() > 2 ? ", the mean of one class against the rest" : ""),
                     2);
  text += indented(fmt::format("held-out rows by class and prediction{}:",
                               choice.averaged ? ", the mean of the repeats" : ""),
                   2) +
          confusion_text(choice.confusion, classes, classes, "    ");
  text += class_table(choice, classes);
  text += calibration_text(choice, classes);
  return text + features_text(choice);
}

std::string ranking_text(const Evaluation& evaluation) {
  Table table({{.title = "method", .align = Align::kLeft},
               {.title = "k"},
               {.title = "error"},
               {.title = "behind the first ± s.e."}});
  for (const MethodRank& rank : evaluation.ranking) {
    const bool first = &rank == &evaluation.ranking.front();
    table.add({rank.method, rank.k > 0 ? fmt::to_string(rank.k) : "-", fmt::format("{:.4f}", rank.error),
               first ? "" : with_error(rank.behind, rank.behind_stderr)});
  }
  return '\n' +
         prose("ranking, each method at its one-standard-error size, differences over the same folds:") +
         table.text("  ");
}

}  // namespace subspectra::cli
