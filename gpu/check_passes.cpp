/// The plug-in's greedy passes, forward and backward, on matrices, factors and tables, against eliminations
/// in long double that share no code with it. usage: check_passes PLUGIN PROBLEMS CUBLAS|- [PART PARTS]
///
/// Every choice of the card is followed, and held against all others: its criterion must be the best to a
/// millionth of what it adds or loses and what roundings of the matrices would change, and where the best is
/// better than all others by that much it must be the best.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "device/plugin_abi.h"

namespace {

using Real = long double;
using Square = std::vector<std::vector<Real>>;

[[noreturn]] void fail(const char* what, const char* why) {
  std::printf("%s: %s\n", what, why);
  std::exit(1);
}

/// Eigenvalues by Jacobi's rotations.
std::vector<Real> eigenvalues(Square a) {
  const size_t n = a.size();
  for (int sweep = 0; sweep < 60; ++sweep) {
    Real off = 0.0L, all = 0.0L;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) (i == j ? all : off) += a[i][j] * a[i][j];
    if (!(off > 1e-38L * all)) break;
    for (size_t p = 0; p + 1 < n; ++p)
      for (size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0.0L) continue;
        const Real phi = 0.5L * std::atan2(2.0L * a[p][q], a[q][q] - a[p][p]), c = std::cos(phi),
                   s = std::sin(phi);
        for (size_t k = 0; k < n; ++k) {
          const Real x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y;
          a[k][q] = s * x + c * y;
        }
        for (size_t k = 0; k < n; ++k) {
          const Real x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y;
          a[q][k] = s * x + c * y;
        }
      }
  }
  std::vector<Real> values;
  for (size_t i = 0; i < n; ++i) values.push_back(a[i][i]);
  return values;
}

Real criterion(int kind, const Square& t) {
  Real trace = 0.0L;
  for (size_t i = 0; i < t.size(); ++i) trace += t[i][i];
  if (t.size() == 1 || kind == SUBSPECTRA_PASS_TRACE)
    return kind == SUBSPECTRA_PASS_WILKS ? std::log1p(trace) : trace;
  const auto values = eigenvalues(t);
  Real sum = 0.0L;
  for (const Real x : values) sum += std::log1p(std::max(x, 0.0L));
  return kind == SUBSPECTRA_PASS_WILKS ? sum : *std::max_element(values.begin(), values.end());
}

/// S, C and T of one pass.
struct State {
  Square s, c, t;
  Real sign;
  std::vector<char> gone;

  [[nodiscard]] Square after(size_t i) const {
    Square next = t;
    for (size_t e = 0; e < t.size(); ++e)
      for (size_t f = 0; f < t.size(); ++f) next[e][f] += sign * c[i][e] * c[i][f] / s[i][i];
    return next;
  }
  void take(size_t f) {
    t = after(f);
    gone[f] = 1;
    const auto row = s[f], own = c[f];
    for (size_t i = 0; i < s.size(); ++i) {
      if (gone[i] != 0) continue;
      const Real times = row[i] / row[f];
      for (size_t j = 0; j < s.size(); ++j) s[i][j] -= times * row[j];
      for (size_t e = 0; e < own.size(); ++e) c[i][e] -= times * own[e];
    }
  }
};

/// B^-1 and B^-1 M in place, by Gauss and Jordan.
void invert(Square& b, Square& m) {
  const size_t n = b.size();
  Square x(n, std::vector<Real>(n, 0.0L));
  for (size_t i = 0; i < n; ++i) x[i][i] = 1.0L;
  for (size_t k = 0; k < n; ++k) {
    const Real pivot = b[k][k];
    for (size_t j = 0; j < n; ++j) b[k][j] /= pivot, x[k][j] /= pivot;
    for (Real& y : m[k]) y /= pivot;
    for (size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Real times = b[i][k];
      for (size_t j = 0; j < n; ++j) b[i][j] -= times * b[k][j], x[i][j] -= times * x[k][j];
      for (size_t e = 0; e < m[i].size(); ++e) m[i][e] -= times * m[k][e];
    }
  }
  b = std::move(x);
}

struct Counts {
  long problems = 0, steps = 0, worse = 0, other = 0, lost = 0, unsuited = 0, dependent = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) fail("usage", "check_passes PLUGIN PROBLEMS CUBLAS|- [PART PARTS]");
  const long problems = std::atol(argv[2]), part = argc > 5 ? std::atol(argv[4]) : 0,
             parts = argc > 5 ? std::atol(argv[5]) : 1;
  void* library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(argv[1], ::dlerror());
  const auto entry = reinterpret_cast<SubspectraDeviceEntry>(::dlsym(library, SUBSPECTRA_DEVICE_ENTRY));
  if (entry == nullptr) fail(argv[1], ::dlerror());
  const SubspectraDeviceTable& table = *entry();
  if (table.abi != SUBSPECTRA_DEVICE_ABI) fail(argv[1], "another version of the table");
  char why[512] = "";
  SubspectraDevice* device = nullptr;
  if (table.open(0, std::strcmp(argv[3], "-") != 0 ? argv[3] : nullptr, &device, why, sizeof why) != 0)
    fail("open", why);
  Counts counts;
  const long most_features =
      std::getenv("MOST_FEATURES") != nullptr ? std::atol(std::getenv("MOST_FEATURES")) : 200;
  for (long number = part; number < problems; number += parts) {
    std::mt19937_64 random(static_cast<uint64_t>(number) * 7919 + 5);
    std::normal_distribution<double> normal;
    const size_t n = 2 + random() % static_cast<size_t>(number % 4 == 0 ? most_features : 24);
    const size_t r = random() % 3 == 0 ? 1 : 1 + random() % (number % 16 == 5 ? 12 : 4);
    const int kind = static_cast<int>(random() % 3);
    const int source = static_cast<int>(random() % 3);  // matrix, factor, table
    const bool backward = source != 2 && random() % 2 == 0, single = random() % 2 == 0;
    const size_t rows = 3 + random() % 60;
    const int class_count = 2 + static_cast<int>(random() % 3);
    // Now and then next to none: copies depend on each other, and backward the updates lose their digits.
    // (Few rows of a class leave columns without variance, of which rounding makes a little.)
    const double shift = number % 5 == 3 && (source != 2 || rows >= 30)
                             ? (backward ? 1e-7 : 0.0)
                             : std::pow(10.0, -static_cast<double>(random() % 4));
    // A table, columns that share causes, now and then a copy.
    std::vector<double> x(rows * n), weights(rows), unit(n, 1.0), diagonal(n), direction(n * r);
    std::vector<float> narrow(rows * n);
    std::vector<int32_t> classes(rows);
    for (size_t j = 0; j < n; ++j) {
      const size_t like = random() % (j + 1);
      const bool copy = like < j && random() % 8 == 0;
      for (size_t i = 0; i < rows; ++i) {
        double& own = x[j * rows + i];
        own = copy ? x[like * rows + i] : normal(random) + (like < j ? 0.7 * x[like * rows + i] : 0.0);
        narrow[j * rows + i] = static_cast<float>(own);
        if (single && source == 2) own = narrow[j * rows + i];
      }
      unit[j] = source == 2 && random() % 2 == 0 ? 0.5 + static_cast<double>(random() % 100) / 50.0 : 1.0;
    }
    for (double& y : direction) y = 0.5 * normal(random);
    for (size_t i = 0; i < rows; ++i) {
      weights[i] = (1.0 + static_cast<double>(random() % 3)) / static_cast<double>(2 * rows);
      classes[i] = static_cast<int32_t>(random() % static_cast<size_t>(class_count + 1)) - 1;
    }
    Square b(n, std::vector<Real>(n, 0.0L)), m(n, std::vector<Real>(r));
    if (source == 2) {
      Square means(n, std::vector<Real>(static_cast<size_t>(class_count), 0.0L));
      std::vector<Real> total(static_cast<size_t>(class_count), 0.0L);
      for (size_t i = 0; i < rows; ++i)
        if (classes[i] >= 0) total[static_cast<size_t>(classes[i])] += weights[i];
      for (size_t j = 0; j < n; ++j)
        for (size_t i = 0; i < rows; ++i)
          if (classes[i] >= 0)
            means[j][static_cast<size_t>(classes[i])] +=
                static_cast<Real>(weights[i]) * x[j * rows + i] / total[static_cast<size_t>(classes[i])];
      for (size_t j = 0; j < n; ++j)
        for (size_t l = 0; l <= j; ++l) {
          Real sum = 0.0L;
          for (size_t i = 0; i < rows; ++i) {
            if (classes[i] < 0) continue;
            const auto c = static_cast<size_t>(classes[i]);
            sum += weights[i] * (x[j * rows + i] - means[j][c]) * (x[l * rows + i] - means[l][c]);
          }
          b[j][l] = b[l][j] = sum * unit[j] * unit[l];
        }
      for (size_t j = 0; j < n; ++j) {
        diagonal[j] = static_cast<double>(b[j][j]) + shift;
        b[j][j] = diagonal[j];
      }
    } else {
      for (size_t j = 0; j < n; ++j)
        for (size_t l = 0; l <= j; ++l) {
          Real sum = 0.0L;
          for (size_t i = 0; i < rows; ++i) sum += static_cast<Real>(x[j * rows + i]) * x[l * rows + i];
          b[j][l] = b[l][j] = sum + (j == l ? shift : 0.0);
        }
    }
    std::vector<double> matrix(n * n);
    for (size_t j = 0; j < n; ++j)
      for (size_t l = 0; l < n; ++l) {
        matrix[j * n + l] = static_cast<double>(b[j][l]);
        if (source == 0) b[j][l] = matrix[j * n + l];
      }
    for (size_t j = 0; j < n; ++j)
      for (size_t e = 0; e < r; ++e) m[j][e] = direction[e * n + j];
    std::vector<int8_t> held(n, 0);
    std::vector<int32_t> forced;
    if (random() % 3 == 0) {
      const size_t count = 1 + random() % std::min<size_t>(n, 3);
      for (size_t x_ = 0; x_ < count; ++x_) {
        const auto j = static_cast<int32_t>(random() % n);
        if (std::find(forced.begin(), forced.end(), j) == forced.end()) forced.push_back(j);
      }
      if (backward) {
        for (const auto j : forced) held[static_cast<size_t>(j)] = 1;
        forced.clear();
      }
    }
    SubspectraPassProblem given{};
    given.criterion = kind;
    given.backward = backward ? 1 : 0;
    given.features = static_cast<int64_t>(n);
    if (source == 1) {
      given.rows = static_cast<int64_t>(rows);
      given.factor = x.data();
      given.factor_lead = static_cast<int64_t>(rows);
      given.shift = shift;
    }
    given.matrix = matrix.data();
    given.matrix_lead = static_cast<int64_t>(n);
    SubspectraTable* numbers = nullptr;
    if (source == 2) {
      if (table.table_open(device, static_cast<int64_t>(rows), given.features, single ? 4 : 8, &numbers, why,
                           sizeof why) != 0)
        fail("table_open", why);
      for (int64_t first = 0; first < given.features; first += 7) {
        const int64_t count = std::min<int64_t>(7, given.features - first);
        const size_t at = static_cast<size_t>(first) * rows;
        const void* const from =
            single ? static_cast<const void*>(narrow.data() + at) : static_cast<const void*>(x.data() + at);
        if (table.table_put(numbers, first, count, from, why, sizeof why) != 0) fail("table_put", why);
      }
      given.table = numbers;
      given.diagonal = diagonal.data();
      given.unit =
          random() % 2 == 0 || std::any_of(unit.begin(), unit.end(), [](double y) { return y != 1.0; })
              ? unit.data()
              : nullptr;
      given.weights = weights.data();
      given.classes = classes.data();
      given.class_count = class_count;
    }
    given.directions = static_cast<int64_t>(r);
    given.direction = direction.data();
    given.held = held.data();
    given.forced_count = static_cast<int64_t>(forced.size());
    given.forced = forced.data();
    const auto kept = static_cast<size_t>(std::count(held.begin(), held.end(), 1));
    if (kept == n) held[0] = 0;
    given.most = std::max<int64_t>(
        {1, given.forced_count,
         static_cast<int64_t>(random() % 3 == 0 ? 1 + random() % n : n - std::min(kept, n - 1))});
    given.dependent = 1e-10;
    given.singular = 0.0;
    given.digits_lost = 1e-5;
    given.tie = 1e-12;
    // Beside it the same with every number off by some roundings: what the two differ by is what rounding may
    // do.
    const auto begin = [&](Real off) {
      State state{b, m, Square(r, std::vector<Real>(r, 0.0L)), backward ? -1.0L : 1.0L,
                  std::vector<char>(n, 0)};
      for (size_t j = 0; j < n; ++j)
        for (size_t l = 0; l <= j; ++l)
          state.s[j][l] = state.s[l][j] = b[j][l] * (1.0L + ((j * 31 + l * 17) % 7 < 3 ? off : -off));
      if (!backward) return state;
      invert(state.s, state.c);
      for (size_t e = 0; e < r; ++e)
        for (size_t f = 0; f < r; ++f)
          for (size_t j = 0; j < n; ++j) state.t[e][f] += m[j][e] * state.c[j][f];
      return state;
    };
    State state = begin(0.0L), beside = begin(4e-16L);
    SubspectraPass* pass = nullptr;
    const int code = table.pass_open(device, &given, &pass, why, sizeof why);
    if (code == SUBSPECTRA_DEVICE_UNSUITED) {
      ++counts.unsuited;
    } else if (code != 0) {
      fail("pass_open", why);
    } else {
      ++counts.problems;
      int32_t end = SUBSPECTRA_PASS_RUNNING;
      int64_t at = 0;
      std::vector<int32_t> order(n);
      while (end == SUBSPECTRA_PASS_RUNNING) {
        int64_t done = 0;
        const auto ask = static_cast<int64_t>(1 + random() % 90);
        order.assign(static_cast<size_t>(ask), -1);
        if (table.pass_steps(pass, ask, order.data(), &done, &end, why, sizeof why) != 0)
          fail("pass_steps", why);
        for (int64_t x_ = 0; x_ < done; ++x_, ++at) {
          const auto f = static_cast<size_t>(order[static_cast<size_t>(x_)]);
          if (f >= n || state.gone[f] != 0 || held[f] != 0) fail("pass_steps", "a feature that cannot be");
          ++counts.steps;
          if (at < given.forced_count) {
            if (static_cast<int32_t>(f) != forced[static_cast<size_t>(at)])
              fail("pass_steps", "not what is forced");
            state.take(f);
            beside.take(f);
            continue;
          }
          const Real now = criterion(kind, state.t), own = criterion(kind, state.after(f));
          Real best = -1e300L, second = -1e300L;
          size_t best_of = n;
          for (size_t i = 0; i < n; ++i) {
            if (state.gone[i] != 0 || held[i] != 0) continue;
            if (i != f && !backward && !(state.s[i][i] > 2e-10L * b[i][i])) continue;
            if (!(state.s[i][i] > 0.0L)) continue;
            const Real value = criterion(kind, state.after(i));
            if (value > best) {
              second = best;
              best = value;
              best_of = i;
            } else if (value > second) {
              second = value;
            }
          }
          // What rounding may hide, of what a step adds or loses as well.
          const Real off = std::fabs(own - criterion(kind, beside.after(f))) +
                           std::fabs((best_of < n ? best : own) -
                                     criterion(kind, beside.after(best_of < n ? best_of : f)));
          const Real slack = 1e-9L * std::max(std::fabs(now), std::fabs(best)) +
                             1e-6L * std::fabs(best - now) + 100.0L * off;
          if (own < best - slack) {
            ++counts.worse;
            std::printf(
                "WORSE: problem %ld (source %d, criterion %d, backward %d, n %zu, r %zu) step %ld: %.15Lg, not %.15Lg\n",
                number, source, kind, backward ? 1 : 0, n, r, static_cast<long>(at), own, best);
          } else if (best > second + slack && f != best_of) {
            ++counts.other;
          }
          state.take(f);
          beside.take(f);
        }
        if (done == 0 && end == SUBSPECTRA_PASS_RUNNING) fail("pass_steps", "it goes nowhere");
      }
      if (end == SUBSPECTRA_PASS_DIGITS_LOST) ++counts.lost;
      if (end == SUBSPECTRA_PASS_DEPENDENT) ++counts.dependent;
      if (end == SUBSPECTRA_PASS_NONE_LEFT && at < given.most) {
        // Only what depends on the chosen ones may be left.
        for (size_t i = 0; i < n; ++i)
          if (state.gone[i] == 0 && held[i] == 0 && state.s[i][i] > 1e-5L * b[i][i] && !backward &&
              std::fabs(state.s[i][i] - beside.s[i][i]) < 1e-3L * state.s[i][i]) {
            ++counts.worse;
            std::printf("WORSE: problem %ld ends after %ld of %ld though %zu is free\n", number,
                        static_cast<long>(at), static_cast<long>(given.most), i);
          }
        std::vector<int8_t> dependent(n);
        if (table.pass_dependent(pass, dependent.data(), why, sizeof why) != 0) fail("pass_dependent", why);
        counts.dependent += std::count(dependent.begin(), dependent.end(), 1);
      }
      table.pass_close(pass);
    }
    if (numbers != nullptr) table.table_close(numbers);
  }
  table.close(device);
  std::printf(
      "passes   problems %ld steps %ld dependent %ld digits lost %ld not settled %ld other than the best %ld WORSE %ld\n",
      counts.problems, counts.steps, counts.dependent, counts.lost, counts.unsuited, counts.other,
      counts.worse);
  return counts.worse + counts.other == 0 ? 0 : 1;
}
