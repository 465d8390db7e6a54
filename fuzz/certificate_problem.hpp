#pragma once
/// Random small problems for the certificate fuzzer: tables that are hard on rounding, and the options of one
/// run. Everything follows from a seed, or from the bytes of an input.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <subspectra/selection.hpp>

#include "certificate_oracle.hpp"

namespace subspectra::certificate_fuzzing {

/// Choices come from the bytes while there are any, one each, so that a mutation changes one of them; the
/// numbers of the table come from the seed.
class Choices {
 public:
  explicit Choices(std::uint64_t seed, std::span<const std::uint8_t> bytes = {})
      : state_(seed * 0x9e3779b97f4a7c15ULL + 1), bytes_(bytes) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;  // splitmix64
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  /// 0 to n - 1.
  int pick(int n) {
    if (bytes_.empty()) return static_cast<int>(next() % static_cast<std::uint64_t>(n));
    const int byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte % n;
  }
  int between(int lo, int hi) { return lo + pick(hi - lo + 1); }
  bool percent(int share) { return pick(100) < share; }

 private:
  std::uint64_t state_;
  std::span<const std::uint8_t> bytes_;
};

/// A ridge that is a fraction of the variances, where the library has one.
template <class AnyRidge>
void set_fraction(AnyRidge& ridge, double fraction) {
  if constexpr (requires { ridge.fraction; }) ridge.fraction = fraction;
}
template <class AnyRidge>
std::string ridge_words(const AnyRidge& ridge) {
  if constexpr (requires { ridge.fraction; }) {
    const std::optional<double> fraction = ridge.fraction;
    if (fraction && *fraction > 0.0) return fmt::format(" --ridge rel:{:.17g}", *fraction);
  }
  return ridge.value ? fmt::format(" --ridge {:.17g}", *ridge.value) : "";
}

enum class Stopping { kNever, kAtOnce, kAtEvent };

struct SmallProblem {
  std::uint64_t seed = 0;
  int rows = 0, p = 0, classes = 0;
  std::vector<double> x;  ///< column after column
  std::vector<int> codes;
  std::vector<double> weights;
  bool sparse = false, matrices = false;
  int still = -1;       ///< of matrices: the feature whose row and column of B are 0
  bool copied = false;  ///< column 2 is nearly column 0

  std::string method;
  int swaps = 0, pool = 1;
  double gap = 0.0;
  std::uint64_t node_limit = 0;
  bool resumed = false;  ///< stopped by the limit of nodes with a checkpoint, and gone on with
  bool sweeps = false;   ///< an exact search that tries all sets, and no tree
  Stopping stopping = Stopping::kNever;
  int stop_event = 0;
  SelectOptions options;
  std::vector<int> include, exclude;

  [[nodiscard]] bool variance() const { return method.find("pca") != std::string::npos; }
  [[nodiscard]] bool exact() const { return method == "eslda" || method == "espca"; }
  [[nodiscard]] std::span<double> column(int j) {
    return std::span(x).subspan(static_cast<std::size_t>(j * rows), static_cast<std::size_t>(rows));
  }
};

inline std::string name_of(int j) { return fmt::format("x{}", j); }

/// The columns: fresh ones, near-copies whose condition is spread evenly over its decades, sums, duplicates,
/// the same quantity in another unit, constants, columns without variance within the classes.
inline void fill_table(SmallProblem& problem, Choices& choose) {
  const int n = problem.rows;
  // A copy that differs by d makes a condition of about 4/d^2.
  const double target = choose.uniform(choose.percent(40) ? 9.0 : 0.0, 17.5);
  const auto difference = [&] {
    return choose.percent(80) ? 2.0 * std::pow(10.0, -0.5 * (target + choose.uniform(-0.5, 0.5)))
                              : std::pow(10.0, choose.uniform(-16.0, -2.0));
  };
  constexpr double kSpread[] = {0.0, 0.1, 0.5, 1.0, 4.0};
  const double spread = kSpread[choose.pick(5)];
  problem.copied = choose.percent(85);
  const int calm = choose.pick(3);  // shares of columns that depend on others
  std::vector<double> factor(static_cast<std::size_t>(n));
  for (double& value : factor) value = choose.normal();
  const double loading = choose.percent(40) ? choose.uniform(0.0, 3.0) : 0.0;
  for (int j = 0; j < problem.p; ++j) {
    const auto x = problem.column(j);
    double mean[kMostClasses];
    for (double& value : mean) value = spread * choose.normal();
    const auto fresh = [&] {
      for (int i = 0; i < n; ++i) x[i] = mean[problem.codes[i]] + loading * factor[i] + choose.normal();
    };
    const auto noisy = [&](auto&& value) {
      const double d = difference();
      for (int i = 0; i < n; ++i) x[i] = value(i) + d * choose.normal();
    };
    // The first copy, of the first column, is there in most problems, and often included with it.
    const int kind = j < 2                      ? 0
                     : j == 2 && problem.copied ? 1
                                                : choose.pick(calm == 0   ? 40
                                                              : calm == 1 ? 24
                                                                          : 18);
    const int other = j < 2 || (j == 2 && problem.copied) ? 0 : choose.pick(j),
              third = j == 0 ? 0 : choose.pick(j);
    const auto y = problem.column(other), z = problem.column(third);
    switch (kind) {
      case 1:
      case 2:
      case 3:
        noisy([&](int i) { return y[i]; });
        break;
      case 4:
        noisy([&](int i) { return -y[i]; });
        break;
      case 5:
      case 6:
        noisy([&](int i) { return y[i] + z[i]; });
        break;
      case 7:
        noisy([&](int i) { return y[i] - 0.5 * z[i] + factor[i]; });
        break;
      case 8: {  // another unit: rounded below as a file has it
        for (int i = 0; i < n; ++i) x[i] = 1.8 * y[i] + 32.0;
        break;
      }
      case 9:
        std::copy(y.begin(), y.end(), x.begin());
        break;
      case 10:
        std::fill(x.begin(), x.end(), choose.normal());
        break;
      case 11:
        for (int i = 0; i < n; ++i) x[i] = mean[problem.codes[i]];
        break;
      case 12:
        noisy([&](int i) { return mean[problem.codes[i]]; });
        break;
      case 13:
        for (int i = 0; i < n; ++i) x[i] = choose.uniform() < 0.1 ? 1.0 : 0.0;
        break;
      default:
        fresh();
    }
  }
  if (choose.percent(15)) {  // many zeros
    for (double& value : problem.x) {
      if (std::abs(value) < 0.7) value = 0.0;
    }
    problem.sparse = choose.percent(60);
  }
  if (choose.percent(25)) {
    for (int j = 0; j < problem.p; ++j) {
      const double offset = std::pow(10.0, choose.uniform(0.0, 6.0)) * choose.normal();
      for (double& value : problem.column(j)) value += offset;
    }
  }
  if (choose.percent(50)) {
    for (int j = 0; j < problem.p; ++j) {
      const double unit = std::pow(10.0, choose.uniform(-6.0, 6.0));
      for (double& value : problem.column(j)) value *= unit;
    }
  }
  if (choose.percent(25)) {  // as a file with few decimals has it
    const double decimals = std::pow(10.0, choose.between(1, 8));
    for (double& value : problem.x) {
      const double rounded = std::nearbyint(value * decimals) / decimals;
      if (std::isfinite(rounded)) value = rounded;
    }
  }
}

inline void choose_options(SmallProblem& problem, Choices& choose) {
  static const char* const kMethods[] = {"gslda", "eslda", "forward-lda", "backward-lda",
                                         "gslda", "eslda", "gslda",       "eslda",
                                         "gspca", "espca", "forward-pca", "backward-pca"};
  problem.method = kMethods[choose.pick(12)];
  SelectOptions& options = problem.options;
  const int p = problem.p;
  if (choose.percent(25)) {
    const int lo = choose.between(1, p - 2);
    options.k = {lo, choose.between(std::max(lo, 2), p)};
  } else {
    options.k = {1, p};
  }
  options.criterion = static_cast<Criterion>(choose.percent(50) ? 0 : choose.pick(3));
  options.bounds = choose.percent(25);
  options.threads = 1;
  if (!problem.variance()) {
    const int kind = choose.pick(20);  // the others: auto
    if (kind < 7) {
      options.ridge.value = 0.0;
    } else if (kind < 9) {
      options.ridge.value = std::pow(10.0, choose.uniform(-16.0, 1.0));
    } else if (kind < 12) {
      set_fraction(options.ridge, std::pow(10.0, choose.uniform(-15.0, -1.0)));
    }
  }
  if (problem.method == "gslda" && choose.percent(30)) problem.swaps = 20;
  if (problem.copied && choose.percent(55)) {
    problem.include = {0, 2};
  } else if (choose.percent(12)) {
    problem.include.push_back(choose.pick(p));
  }
  if (choose.percent(15)) {
    const int j = choose.pick(p);
    if (std::find(problem.include.begin(), problem.include.end(), j) == problem.include.end())
      problem.exclude.push_back(j);
  }
  for (const int j : problem.include) options.include.push_back(name_of(j));
  for (const int j : problem.exclude) options.exclude.push_back(name_of(j));
  if (choose.percent(12)) {
    for (int j = 0; j < p; ++j) {
      const int group = choose.pick(p);
      options.feature_group_names.push_back(group < p / 2 ? fmt::format("g{}", group) : "");
    }
    options.k = KRange();
  }
  if (problem.exact()) {
    if (choose.percent(30)) problem.pool = choose.between(2, 12);
    if (choose.percent(15)) problem.gap = std::pow(10.0, choose.uniform(-12.0, -0.5));
    if (choose.percent(20)) problem.node_limit = static_cast<std::uint64_t>(choose.between(1, 60));
    if (problem.node_limit == 0 && choose.percent(6)) problem.resumed = true;
  }
  if (choose.percent(6)) {
    problem.stopping = choose.percent(30) ? Stopping::kAtOnce : Stopping::kAtEvent;
    problem.stop_event = choose.between(1, 6);
  }
  problem.matrices = options.feature_group_names.empty() && choose.percent(10);
  if (problem.matrices && !problem.variance() && choose.percent(25)) problem.still = choose.pick(p);
}

inline SmallProblem make_problem(Choices choose) {
  SmallProblem problem;
  problem.sweeps = (Choices(choose).next() & 1) != 0;  // of a copy: what follows stays what it was
  const int size = choose.pick(100);
  problem.p = size < 82 ? choose.between(4, 8) : size < 97 ? choose.between(9, 10) : choose.between(11, 12);
  problem.classes = choose.percent(55) ? 2 : choose.between(3, kMostClasses);
  problem.rows = choose.percent(10) ? choose.between(problem.classes + 2, problem.p + problem.classes)
                                    : choose.between(8, 60);
  problem.rows = std::max(problem.rows, problem.classes + 2);
  const bool alone = choose.percent(10);  // a class of one row
  for (int i = 0; i < problem.rows; ++i) {
    problem.codes.push_back(i < problem.classes ? i
                                                : choose.pick(alone ? problem.classes - 1 : problem.classes));
  }
  problem.x.resize(static_cast<std::size_t>(problem.rows * problem.p));
  fill_table(problem, choose);
  if (choose.percent(20)) {
    const int kind = choose.pick(3);
    for (int i = 0; i < problem.rows; ++i) {
      problem.weights.push_back(kind == 0   ? choose.uniform(0.1, 3.0)
                                : kind == 1 ? std::ceil(choose.uniform(0.0, 5.0))
                                            : std::floor(choose.uniform(0.3, 3.0)));
    }
  }
  choose_options(problem, choose);
  return problem;
}

/// As words of the command line, as far as there are any.
inline std::string described(const SmallProblem& problem) {
  const SelectOptions& o = problem.options;
  std::string text =
      fmt::format("{} x {} of {} classes{}{}{}; --method {}", problem.rows, problem.p, problem.classes,
                  problem.sparse ? ", sparse" : "", problem.matrices ? ", as matrices" : "",
                  problem.weights.empty() ? "" : ", weighted", problem.method);
  if (o.k.given()) text += fmt::format(" -k {}:{}", o.k.lo, o.k.hi);
  static const char* const kCriteria[] = {"largest", "trace", "wilks"};
  text += fmt::format(" --criterion {}", kCriteria[static_cast<int>(o.criterion)]);
  text += ridge_words(o.ridge);
  if (problem.swaps > 0) text += fmt::format(" --swaps {}", problem.swaps);
  if (problem.pool > 1) text += fmt::format(" --pool {}", problem.pool);
  if (problem.gap > 0.0) text += fmt::format(" --gap {:.17g}", problem.gap);
  if (problem.node_limit > 0) text += fmt::format(" --node-limit {}", problem.node_limit);
  if (o.bounds) text += " --bounds";
  for (const auto& name : o.include) text += " --include " + name;
  for (const auto& name : o.exclude) text += " --exclude " + name;
  if (!o.feature_group_names.empty()) text += " --groups GROUPS.csv";
  if (problem.sweeps) text += " (all sets tried)";
  if (problem.resumed) text += " (stopped and resumed)";
  if (problem.stopping == Stopping::kAtOnce) text += " (stopped at once)";
  if (problem.stopping == Stopping::kAtEvent)
    text += fmt::format(" (stopped at event {})", problem.stop_event);
  return text;
}

/// The table as CSV: label, the columns, and the weights where there are any; its groups beside it.
inline void write_csv(const SmallProblem& problem, const std::string& path) {
  std::ofstream file(path);
  file << "class";
  for (int j = 0; j < problem.p; ++j) file << ',' << name_of(j);
  file << (problem.weights.empty() ? "\n" : ",weight\n");
  for (int i = 0; i < problem.rows; ++i) {
    file << 'c' << problem.codes[static_cast<std::size_t>(i)];
    for (int j = 0; j < problem.p; ++j)
      file << fmt::format(",{:.17g}", problem.x[static_cast<std::size_t>(j * problem.rows + i)]);
    if (!problem.weights.empty())
      file << fmt::format(",{:.17g}", problem.weights[static_cast<std::size_t>(i)]);
    file << '\n';
  }
  if (problem.options.feature_group_names.empty()) return;
  std::ofstream groups(path + ".groups");
  groups << "feature,group\n";
  for (int j = 0; j < problem.p; ++j) {
    const auto& name = problem.options.feature_group_names[static_cast<std::size_t>(j)];
    groups << name_of(j) << ',' << (name.empty() ? name_of(j) : name) << '\n';
  }
}

}  // namespace subspectra::certificate_fuzzing
