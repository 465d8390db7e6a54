#pragma once
/// One random problem, run and held against brute force in extended precision: every set, every bound, every
/// certificate. What is promised stands in docs/safety.md.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <subspectra/error.hpp>
#include <subspectra/searches.hpp>
#include <subspectra/selection.hpp>

#include "certificate_oracle.hpp"
#include "certificate_problem.hpp"
#include "select/exact_methods.hpp"
#include "select/select.hpp"

namespace subspectra::certificate_fuzzing {

/// What a certificate promises, as a fraction of the objective; and what an objective without one may be off
/// by before a warning has to say so.
inline constexpr double kPromised = 1e-9 * (1.0 + 1e-6);
inline constexpr double kTold = 1e-3;
/// Sets without a ridge that doubles cannot tell from dependent ones (a pivot below this fraction of its
/// variance): a bound or an optimum that leaves them out is a finding of a kind of its own.
inline constexpr double kDependent = 1e-13;

struct Finding {
  std::string kind, text;
};

/// By decade of the condition of a set's correlations; the last is "1e17 and more", and behind it stand the
/// sets of PCA, which have no B.
inline constexpr int kDecades = 18;
struct Decade {
  long entries = 0, certified = 0, given_up = 0;  ///< given up: an exact search that nobody stopped
  double worst_certified = 0.0, worst_uncertified = 0.0;
  std::uint64_t seed_certified = 0, seed_uncertified = 0;
  long findings = 0;
};

struct Report {
  long problems = 0, entries = 0, certified = 0, refused = 0, findings = 0;
  std::array<Decade, kDecades + 1> decades;
  std::map<std::string, long> kinds, refusals;
};

struct Checked {
  std::vector<Finding> findings;
  std::string refusal;
  std::string path;  ///< what the selection says of every size, and what is true
};

/// What was added to the variance of every column, by what the selection reports: one number, or a fraction
/// of each variance (of the total one, for a column that does not vary within the classes).
template <class AnySelection>
std::vector<Quad> additions_of(const AnySelection& selection, const Truth& truth) {
  std::vector<Quad> additions(static_cast<std::size_t>(truth.p), Quad(0));
  double value = 0.0, fraction = 0.0;
  if constexpr (requires { selection.ridge.fraction; }) {
    value = std::optional<double>(selection.ridge.value).value_or(0.0);
    fraction = std::optional<double>(selection.ridge.fraction).value_or(0.0);
  } else {
    value = selection.ridge;
  }
  for (int j = 0; j < truth.p; ++j) {
    additions[static_cast<std::size_t>(j)] =
        Quad(value) + Quad(fraction) * (truth.varies_within[j] ? truth.b[j][j] : truth.total[j]);
  }
  return additions;
}

inline Method method_of(const SmallProblem& problem, const std::string& checkpoint, const std::string& resume,
                        std::uint64_t node_limit) {
  if (problem.exact()) {
    const auto filled = [&](auto own) {
      own.pool = problem.pool;
      own.gap = problem.gap;
      own.node_limit = node_limit;
      own.checkpoint = checkpoint;
      own.resume = resume;
      return Method(own);
    };
    return problem.method == "eslda" ? filled(Eslda{}) : filled(Espca{});
  }
  if (problem.method == "gslda") return Gslda{.swaps = problem.swaps};
  return Method(problem.method);
}

/// The numbers that the library is given, and the selection it makes of them.
class Runner {
 public:
  explicit Runner(const SmallProblem& problem) : problem_(problem) {
    const auto n = problem.rows, p = problem.p;
    std::vector<std::string> names;
    for (int j = 0; j < p; ++j) names.push_back(name_of(j));
    if (problem.matrices) {
      const Eigen::Map<const Eigen::MatrixXd> x(problem.x.data(), n, p);
      Eigen::MatrixXd means = Eigen::MatrixXd::Zero(problem.classes, p);
      Eigen::VectorXd counts = Eigen::VectorXd::Zero(problem.classes);
      for (int i = 0; i < n; ++i) {
        means.row(problem.codes[i]) += x.row(i);
        counts[problem.codes[i]] += 1.0;
      }
      means = (counts.cwiseInverse().asDiagonal() * means).eval();
      const Eigen::RowVectorXd mean = x.colwise().mean();
      Eigen::MatrixXd centred = x;
      for (int i = 0; i < n; ++i)
        centred.row(i) -= problem.variance() ? mean : Eigen::RowVectorXd(means.row(problem.codes[i]));
      b_ = centred.transpose() * centred / n;
      means.rowwise() -= mean;
      a_ = means.transpose() * (counts / n).asDiagonal() * means;
      a_ = (0.5 * (a_ + a_.transpose())).eval();
      b_ = (0.5 * (b_ + b_.transpose())).eval();
      if (problem.variance()) std::swap(a_, b_);
      if (problem.still >= 0) {
        b_.row(problem.still).setZero();
        b_.col(problem.still).setZero();
      }
      return;
    }
    DatasetExtras extras{.names = names, .weights = problem.weights, .source = "table"};
    if (problem.sparse) {
      Eigen::SparseMatrix<double> x(n, p);
      for (int j = 0; j < p; ++j) {
        for (int i = 0; i < n; ++i) {
          const double value = problem.x[static_cast<std::size_t>(j * n + i)];
          if (value != 0.0) x.insert(i, j) = value;
        }
      }
      x.makeCompressed();
      table_ = Dataset(std::move(x), problem.codes, std::move(extras));
    } else {
      table_ = Dataset(std::span<const double>(problem.x), n, p, problem.codes, std::move(extras));
    }
  }

  [[nodiscard]] Selection run(const std::string& checkpoint, const std::string& resume,
                              std::uint64_t node_limit, Stopping stopping) const {
    std::stop_source stop;
    if (stopping == Stopping::kAtOnce) stop.request_stop();
    RunControl control(stop.get_token(), kInfinity);
    int events = 0;
    if (stopping == Stopping::kAtEvent) {
      control.listen([&](const SearchEvent&) {
        if (++events >= problem_.stop_event) stop.request_stop();
      });
    }
    const Method method = method_of(problem_, checkpoint, resume, node_limit);
    MethodRun run = nullptr;
    if (problem_.sweeps && problem_.method == "eslda") {  // these problems are so small that it is soon done
      run = [&](const Problem& problem, const RunControl& by) {
        return search_exactly(method.as<Eslda>(), problem, by, {.search = ExactSearch::kSweep});
      };
    }
    if (!problem_.matrices) return select(table_, method, problem_.options, control, run);
    std::vector<std::string> names;
    for (int j = 0; j < problem_.p; ++j) names.push_back(name_of(j));
    if (problem_.variance())
      return select(Covariance(a_, {.names = names}), method, problem_.options, control, run);
    return select(CovariancePair(a_, b_, {.names = names}), method, problem_.options, control, run);
  }

  /// A and B (of a covariance alone: the covariance) as the library is given them.
  void write_matrices(const std::string& path) const {
    const auto write = [&](const Eigen::MatrixXd& m, const char* name) {
      if (m.size() == 0) return;
      std::ofstream file(path + name);
      for (int j = 0; j < problem_.p; ++j) file << (j > 0 ? "," : "") << name_of(j);
      for (int i = 0; i < problem_.p; ++i) {
        for (int j = 0; j < problem_.p; ++j) file << fmt::format("{}{:.17g}", j > 0 ? "," : "\n", m(i, j));
      }
      file << '\n';
    };
    write(a_, ".a.csv");
    write(b_, ".b.csv");
  }

  [[nodiscard]] Truth truth() const {
    if (!problem_.matrices) {
      return truth_of_table(problem_.x, problem_.rows, problem_.p, problem_.codes, problem_.classes,
                            problem_.weights, problem_.variance());
    }
    const auto numbers = [](const Eigen::MatrixXd& m) {
      return std::span<const double>(m.data(), static_cast<std::size_t>(m.size()));
    };
    return truth_of_matrices(numbers(a_), problem_.variance() ? std::span<const double>() : numbers(b_),
                             problem_.p);
  }

 private:
  const SmallProblem& problem_;
  Dataset table_;
  Eigen::MatrixXd a_, b_;
};

class Checker {
 public:
  Checker(const SmallProblem& problem, Truth truth, const Selection& selection, bool stopped, Report& report)
      : problem_(problem),
        truth_(std::move(truth)),
        selection_(selection),
        stopped_(stopped),
        report_(report) {
    by_ = problem.options.criterion == Criterion::kLargest ? Judged::kLargest
          : problem.options.criterion == Criterion::kTrace ? Judged::kTrace
                                                           : Judged::kWilks;
  }

  Checked run() {
    make_units();
    if (!truth_.variance) {
      const auto additions = additions_of(selection_, truth_);
      for (int j = 0; j < truth_.p; ++j) truth_.b[j][j] += additions[static_cast<std::size_t>(j)];
    } else {  // variances have units: what is nothing beside the largest is not compared
      for (const auto& unit : units_) {
        for (const int j : unit) scale_ = std::max(scale_, static_cast<double>(truth_.a[j][j]));
      }
    }
    sets_ = all_sets(truth_, units_, forced_, by_);
    for (const PathEntry& entry : selection_.sets()) check(entry);
    check_status();
    for (const std::string& warning : selection_.warnings) path_ += "  warning: " + warning + "\n";
    path_ += fmt::format("  status {}\n", status_name(selection_.status));
    return {.findings = std::move(findings_), .path = std::move(path_)};
  }

 private:
  /// Candidates: not constant, not excluded, and without a ridge not without variance within the classes.
  void make_units() {
    const auto& groups = problem_.options.feature_group_names;
    std::map<std::string, std::size_t> places;
    for (int j = 0; j < problem_.p; ++j) {
      if (std::find(problem_.exclude.begin(), problem_.exclude.end(), j) != problem_.exclude.end()) continue;
      if (constant(j)) continue;
      if (!truth_.variance && problem_.options.ridge.value == 0.0 && !truth_.varies_within[j]) continue;
      const bool is_forced =
          std::find(problem_.include.begin(), problem_.include.end(), j) != problem_.include.end();
      if (!groups.empty() && !groups[static_cast<std::size_t>(j)].empty()) {
        const auto [place, fresh] = places.try_emplace(groups[static_cast<std::size_t>(j)], units_.size());
        if (!fresh) {
          units_[place->second].push_back(j);
          if (is_forced) forced_[place->second] = true;
          continue;
        }
      }
      units_.push_back({j});
      forced_.push_back(is_forced);
    }
  }
  [[nodiscard]] bool constant(int j) const {
    if (truth_.given) return !(truth_.a[j][j] > 0) && (truth_.variance || !(truth_.b[j][j] > 0));
    const auto x =
        std::span(problem_.x)
            .subspan(static_cast<std::size_t>(j * problem_.rows), static_cast<std::size_t>(problem_.rows));
    std::optional<double> first;  // of the rows that count
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!problem_.weights.empty() && problem_.weights[i] == 0.0) continue;
      if (first && x[i] != *first) return false;
      first = x[i];
    }
    return true;
  }

  void found(std::string kind, std::string text) {
    ++report_.decades[static_cast<std::size_t>(decade_)].findings;
    findings_.push_back({std::move(kind), std::move(text)});
  }
  /// Values of nothing but rounding are compared with 1, the within-class variance.
  [[nodiscard]] double floor() const { return 1e-14 * scale_; }

  /// Sets, as the features of the result have them, grown by brute force; nothing where they depend on each
  /// other.
  [[nodiscard]] std::optional<Growing> grown(const std::vector<Index>& features) const {
    Growing set(truth_);
    for (const Index j : features) {
      if (!set.add(static_cast<int>(j))) return std::nullopt;
    }
    return set;
  }

  void check_shape(const PathEntry& entry) {
    std::size_t holds = 0;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      std::size_t members = 0;
      for (const int j : units_[u])
        members += static_cast<std::size_t>(std::count(entry.features.begin(), entry.features.end(), j));
      if (members != 0 && members != units_[u].size())
        found("shape", fmt::format("k = {}: half a group", entry.k()));
      if (members == 0 && forced_[u])
        found("shape", fmt::format("k = {}: an included feature is missing", entry.k()));
      holds += members;
    }
    if (holds != entry.features.size())
      found("shape", fmt::format("k = {}: a feature twice, or one that may not be chosen", entry.k()));
  }

  void check(const PathEntry& entry) {
    ++report_.entries;
    const auto k = static_cast<std::size_t>(entry.k());
    const auto set = grown(entry.features);
    decade_ = truth_.variance ? kDecades : kDecades - 1;
    if (set && !truth_.variance) {
      const double condition = set->condition();
      decade_ = std::clamp(static_cast<int>(std::log10(std::max(1.0, condition))), 0, kDecades - 1);
    }
    Decade& decade = report_.decades[static_cast<std::size_t>(decade_)];
    ++decade.entries;
    if (entry.certified()) {
      ++decade.certified;
      ++report_.certified;
    } else if (problem_.exact() && !stopped_ && problem_.gap == 0.0) {
      ++decade.given_up;
    }
    check_shape(entry);
    if (k >= sets_.size()) return;
    if (!set) {
      if (entry.certified())
        found("dependent", fmt::format("k = {}: certified, and its features depend on each other", k));
      return;
    }
    const Valued truly = set->valued(by_);
    if (truly.pivot == 0.0) return;
    const double error = off(entry.objective, truly.value);
    double& worst = entry.certified() ? decade.worst_certified : decade.worst_uncertified;
    if (error > worst) {
      worst = error;
      (entry.certified() ? decade.seed_certified : decade.seed_uncertified) = problem_.seed;
    }
    if (!(error <= (entry.certified() ? kPromised : kTold)) && (entry.certified() || !told())) {
      found(entry.certified() ? "objective" : "objective-untold",
            fmt::format("k = {}: objective {:.17g}, truly {:.17g} (off by {:.3g}), {}", k, entry.objective,
                        truly.value, error,
                        entry.certified() ? "certified" : "not certified, and no warning says why"));
    }
    path_ +=
        fmt::format("  k = {} {{{}}}: objective {:.12g}, truly {:.12g}; bound {} {}, best {:.12g}{}\n", k,
                    fmt::join(entry.features, ","), entry.objective, truly.value,
                    entry.upper_bound ? fmt::format("{:.12g}", *entry.upper_bound) : "none", entry.bound,
                    sets_[k].empty() ? 0.0 : sets_[k].front().value, entry.certified() ? ", certified" : "");
    check_bounds(entry, truly.value);
    check_pool(entry);
  }
  [[nodiscard]] double off(double value, double truth) const {
    const double difference = std::abs(value - truth);
    return difference <= floor() ? 0.0 : difference / std::max(std::abs(truth), floor());
  }
  /// A warning about digits.
  [[nodiscard]] bool told() const {
    return std::any_of(
        selection_.warnings.begin(), selection_.warnings.end(), [](const std::string& warning) {
          return warning.find("digits") != std::string::npos || warning.find("near-cop") != std::string::npos;
        });
  }

  void check_bounds(const PathEntry& entry, double value) {
    const auto k = static_cast<std::size_t>(entry.k());
    if (sets_[k].empty()) return;
    const double best = sets_[k].front().value;
    // The best and the least of those that doubles can tell from dependent ones.
    const auto can_be_told = [](const Valued& set) { return set.pivot > kDependent; };
    const auto told_apart = std::find_if(sets_[k].begin(), sets_[k].end(), can_be_told);
    const bool apart = told_apart != sets_[k].end();
    const double least =
        apart ? std::find_if(sets_[k].rbegin(), sets_[k].rend(), can_be_told)->value : kInfinity;
    const auto below = [&](double bound, double truth) {
      return bound < truth * (1.0 - kPromised) - floor();
    };
    const auto check_upper = [&](const std::string& name, double bound) {
      if (apart && below(bound, told_apart->value)) {
        found(name == "upper_bound" ? "bound" : "named-bound",
              fmt::format("k = {}: {} ({}) {:.17g}, but a set has {:.17g} (off by {:.3g}), {}", k, name,
                          entry.bound, bound, told_apart->value, off(bound, told_apart->value),
                          entry.certified() ? "certified" : "not certified"));
      } else if (sets_[k].front().pivot > 0.0 && below(bound, best)) {
        found("bound-of-dependent",
              fmt::format("k = {}: {} {:.17g}, but a nearly dependent set has {:.17g}, {}", k, name, bound,
                          best, entry.certified() ? "certified" : "not certified"));
      }
    };
    if (entry.upper_bound) {
      check_upper("upper_bound", *entry.upper_bound);
      if (*entry.upper_bound < entry.objective)
        found("bound", fmt::format("k = {}: upper bound {:.17g} below the objective {:.17g}", k,
                                   *entry.upper_bound, entry.objective));
    }
    if (entry.bounds) {
      for (const auto& [name, bound] : entry.bounds->upper) check_upper(name, bound);
      for (const auto& [name, bound] : entry.bounds->lower_any) {
        if (bound * (1.0 - kPromised) - floor() > least)
          found("lower-bound",
                fmt::format("k = {}: {} {:.17g}, but a set has {:.17g}", k, name, bound, least));
      }
      for (const auto& [name, bound] : entry.bounds->lower_best) {
        if (bound * (1.0 - kPromised) - floor() > best)
          found("lower-bound",
                fmt::format("k = {}: {} {:.17g}, but the best set has {:.17g}", k, name, bound, best));
      }
    }
    // The objective within 1e-9 of the truth, and the bound within 1e-9 of the objective.
    if (entry.certified() && apart && value < told_apart->value * (1.0 - 2.0 * kPromised) - floor()) {
      found("optimum",
            fmt::format("k = {}: certified, and truly {:.17g}, but a set has {:.17g} (better by {:.3g})", k,
                        value, told_apart->value, off(value, told_apart->value)));
    }
  }

  void check_pool(const PathEntry& entry) {
    if (entry.pool.empty()) return;
    const auto k = static_cast<std::size_t>(entry.k());
    if (entry.pool.front().features != entry.features)
      found("pool", fmt::format("k = {}: the pool begins with another set", k));
    for (std::size_t i = 0; i < entry.pool.size(); ++i) {
      const auto& member = entry.pool[i];
      for (std::size_t l = 0; l < i; ++l) {
        if (entry.pool[l].features == member.features) found("pool", fmt::format("k = {}: a set twice", k));
      }
      if (i > 0 && member.objective > entry.pool[i - 1].objective * (1.0 + 1e-9) + floor())
        found("pool", fmt::format("k = {}: set {} is better than the one before it", k, i + 1));
      const auto set = grown(member.features);
      if (!set) continue;
      const auto [truly, pivot] = set->valued(by_);
      if (pivot == 0.0) continue;
      const double error = off(member.objective, truly);
      const bool sure = entry.certified();
      if (!(error <= (sure ? kPromised : kTold)) && (sure || !told())) {
        found(sure ? "pool-objective" : "objective-untold",
              fmt::format("k = {}: set {} of the pool has {:.17g}, truly {:.17g} (off by {:.3g})", k, i + 1,
                          member.objective, truly, error));
      }
      // Proven when the search is: the i-th best of all.
      if (sure && selection_.status == Status::kOptimal && i < sets_[k].size() &&
          sets_[k][i].pivot > kDependent && truly < sets_[k][i].value * (1.0 - 2.0 * kPromised) - floor()) {
        found("pool", fmt::format("k = {}: set {} of the pool has {:.17g}, but the {}th best {:.17g}", k,
                                  i + 1, truly, i + 1, sets_[k][i].value));
      }
    }
    const auto told_apart = static_cast<std::size_t>(std::count_if(
        sets_[k].begin(), sets_[k].end(), [](const Valued& set) { return set.pivot > kDependent; }));
    if (entry.certified() && selection_.status == Status::kOptimal &&
        entry.pool.size() < std::min(static_cast<std::size_t>(problem_.pool), told_apart))
      found("pool", fmt::format("k = {}: {} sets, but there are {}", k, entry.pool.size(), told_apart));
  }

  void check_status() {
    decade_ = truth_.variance ? kDecades : 0;
    const auto& sets = selection_.sets();
    if (selection_.status == Status::kOptimal) {
      for (const auto& entry : sets) {
        if (!entry.certified())
          found("status", fmt::format("optimal, but k = {} is not certified", entry.k()));
      }
      if (static_cast<Index>(sets.size()) != selection_.sizes.hi - selection_.sizes.lo + 1)
        found("status", fmt::format("optimal, but there are {} sets for sizes {} to {}", sets.size(),
                                    selection_.sizes.lo, selection_.sizes.hi));
    }
    if (selection_.status == Status::kGapReached) {
      for (const auto& entry : sets) {
        if (!(entry.gap() <= problem_.gap * (1.0 + 1e-9) + 1e-9))
          found("status",
                fmt::format("gap_reached, but the gap of k = {} is {:.3g}", entry.k(), entry.gap()));
      }
    }
  }

  const SmallProblem& problem_;
  Truth truth_;
  const Selection& selection_;
  bool stopped_;
  Report& report_;
  Judged by_ = Judged::kLargest;
  double scale_ = 1.0;
  int decade_ = 0;
  std::vector<std::vector<int>> units_;
  std::vector<bool> forced_;
  std::vector<std::vector<Valued>> sets_;
  std::vector<Finding> findings_;
  std::string path_;
};

/// A search that was stopped and gone on with gives what it gives in one go, up to which of two sets that tie
/// it met first. With a gap that may be left open what is looked at depends on where it was stopped; whatever
/// it was, each of the two has been checked.
inline void check_resumed(const SmallProblem& problem, const Selection& whole, const Selection& resumed,
                          std::vector<Finding>& findings) {
  // Another limit (of the rank) may stand in the status in place of the gap.
  if (problem.gap > 0.0 && (whole.status != Status::kOptimal || resumed.status != Status::kOptimal)) return;
  const auto same_value = [](double x, double y) { return std::abs(x - y) <= 1e-9 * std::abs(x); };
  bool same = whole.sets().size() == resumed.sets().size() && whole.status == resumed.status;
  for (std::size_t i = 0; same && i < whole.sets().size(); ++i) {
    const auto &a = whole.sets()[i], &b = resumed.sets()[i];
    same = same_value(a.objective, b.objective) && a.certified() == b.certified() &&
           a.pool.size() == b.pool.size();
    for (std::size_t l = 0; same && l < a.pool.size(); ++l)
      same = same_value(a.pool[l].objective, b.pool[l].objective);
  }
  if (!same) findings.push_back({"resume", "resumed, the search ends with another result"});
}

/// Runs and checks one problem.
inline Checked check_problem(const SmallProblem& problem, Report& report) {
  Checked checked;
  ++report.problems;
  const Runner runner(problem);
  try {
    const bool stopped = problem.stopping != Stopping::kNever || problem.node_limit > 0;
    const Selection selection = runner.run({}, {}, problem.node_limit, problem.stopping);
    checked = Checker(problem, runner.truth(), selection, stopped, report).run();
    if (problem.resumed && !stopped) {
      const std::string path = fmt::format("/tmp/subspectra-certificate-{}.checkpoint", ::getpid());
      const Selection part = runner.run(path, {}, 2, Stopping::kNever);
      if (part.status == Status::kNodeLimit)
        check_resumed(problem, selection, runner.run({}, path, 0, Stopping::kNever), checked.findings);
      ::unlink(path.c_str());
    }
  } catch (const Error& refusal) {
    checked.refusal = refusal.what();
    ++report.refused;
    ++report.refusals[problem.method + ": " + checked.refusal];
  } catch (const std::exception& failure) {
    checked.findings.push_back({"exception", failure.what()});
  }
  report.findings += static_cast<long>(checked.findings.size());
  for (const auto& finding : checked.findings) ++report.kinds[finding.kind];
  return checked;
}

}  // namespace subspectra::certificate_fuzzing

/// The bytes as the choices of one problem; the first eight are the seed of its numbers.
inline void fuzz_certificate(std::span<const std::uint8_t> bytes) {
  using namespace subspectra::certificate_fuzzing;
  std::uint64_t seed = 0;
  for (const std::uint8_t byte : bytes.first(std::min<std::size_t>(8, bytes.size()))) seed = seed << 8 | byte;
  const SmallProblem problem =
      make_problem(Choices(seed, bytes.subspan(std::min<std::size_t>(8, bytes.size()))));
  Report report;
  const Checked checked = check_problem(problem, report);
  if (checked.findings.empty()) return;
  std::fprintf(stderr, "%s\n", described(problem).c_str());
  for (const auto& finding : checked.findings)
    std::fprintf(stderr, "%s: %s\n", finding.kind.c_str(), finding.text.c_str());
  std::abort();
}
