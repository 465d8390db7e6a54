/// The plug-in against every set, one by one, on problems small enough for that: on a card, with nothing of
/// the library. usage: check PLUGIN PROBLEMS [CUBLAS|- [PART PARTS]]
///
/// Its oracle shares no formula with the scans: long doubles, a Cholesky factor of every set's own matrices.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "device/plugin_abi.h"

namespace {

using Real = long double;
const char* const kForms[] = {"definite", "ratio", "trace"};

struct Problem {
  int form = 0;
  int64_t n = 0, rows = 0, r = 0;
  std::vector<double> factor, added, direction;
  std::vector<Real> b;  // n x n
  [[nodiscard]] Real at(int64_t i, int64_t j) const { return b[static_cast<size_t>(i * n + j)]; }
};

/// B = F'F + diag(added) with a unit diagonal.
Problem draw(std::mt19937_64& random, int form, int64_t n) {
  std::normal_distribution<double> normal;
  const auto below = [&](int64_t k) { return static_cast<int64_t>(random() % static_cast<uint64_t>(k)); };
  Problem problem;
  problem.form = form;
  problem.n = n;
  problem.rows = std::max<int64_t>(6, n / 3) + below(40);
  problem.r = form == SUBSPECTRA_SCAN_DEFINITE ? 1 + below(3) : 1 + below(4);
  const int64_t factors = 1 + below(4);  // columns that share a few causes, as genes do
  std::vector<double> causes(static_cast<size_t>(factors * problem.rows));
  for (double& x : causes) x = normal(random);
  const double own = below(3) == 0 ? 0.05 : 1.0;
  problem.factor.resize(static_cast<size_t>(n * problem.rows));
  for (int64_t j = 0; j < n; ++j) {
    std::vector<double> weights(static_cast<size_t>(factors));
    for (double& w : weights) w = normal(random);
    for (int64_t i = 0; i < problem.rows; ++i) {
      double x = own * normal(random);
      for (int64_t c = 0; c < factors; ++c)
        x += weights[static_cast<size_t>(c)] * causes[static_cast<size_t>(c * problem.rows + i)];
      problem.factor[static_cast<size_t>(j * problem.rows + i)] = x;
    }
  }
  const int kind = static_cast<int>(below(5));
  if (kind == 1 || kind == 2) {  // copies, and near-copies
    for (int copies = 0; copies < 3; ++copies) {
      const int64_t from = below(n), to = below(n);
      for (int64_t i = 0; i < problem.rows; ++i)
        problem.factor[static_cast<size_t>(to * problem.rows + i)] =
            problem.factor[static_cast<size_t>(from * problem.rows + i)] +
            (kind == 2 ? 1e-4 * normal(random) : 0.0);
    }
  }
  const double ridge = below(2) == 0 ? 0.0 : 0.3;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0.0;
    for (int64_t i = 0; i < problem.rows; ++i)
      sum += std::pow(problem.factor[static_cast<size_t>(j * problem.rows + i)], 2);
    const double scale = std::sqrt((1.0 - ridge) / sum);
    for (int64_t i = 0; i < problem.rows; ++i)
      problem.factor[static_cast<size_t>(j * problem.rows + i)] *= scale;
  }
  if (ridge > 0.0) problem.added.assign(static_cast<size_t>(n), ridge);
  const double strength = below(2) == 0 ? 0.2 : 1.0;
  problem.direction.resize(static_cast<size_t>(n * problem.r));
  for (double& x : problem.direction) x = strength * normal(random);
  if (kind == 1) {  // what is a copy in B is one in M, or it would separate perfectly
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < j; ++i) {
        bool same = true;
        for (int64_t k = 0; k < problem.rows && same; ++k)
          same = problem.factor[static_cast<size_t>(i * problem.rows + k)] ==
                 problem.factor[static_cast<size_t>(j * problem.rows + k)];
        for (int64_t d = 0; same && d < problem.r; ++d)
          problem.direction[static_cast<size_t>(d * n + j)] =
              problem.direction[static_cast<size_t>(d * n + i)];
      }
  }
  problem.b.resize(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      Real sum = i == j && ridge > 0.0 ? ridge : 0.0;
      for (int64_t k = 0; k < problem.rows; ++k)
        sum += static_cast<Real>(problem.factor[static_cast<size_t>(i * problem.rows + k)]) *
               problem.factor[static_cast<size_t>(j * problem.rows + k)];
      problem.b[static_cast<size_t>(i * n + j)] = problem.b[static_cast<size_t>(j * n + i)] = sum;
    }
  return problem;
}

/// Lower Cholesky factor in place; the smallest pivot over the diagonal entry it came from, or <= 0.
Real factorize(std::vector<Real>& m, int k) {
  Real smallest = 1.0;
  for (int c = 0; c < k; ++c) {
    const Real own = m[static_cast<size_t>(c * k + c)];
    Real pivot = own;
    for (int d = 0; d < c; ++d)
      pivot -= m[static_cast<size_t>(c * k + d)] * m[static_cast<size_t>(c * k + d)];
    if (!(pivot > 0.0)) return 0.0;
    smallest = std::min(smallest, pivot / own);
    m[static_cast<size_t>(c * k + c)] = std::sqrt(pivot);
    for (int i = c + 1; i < k; ++i) {
      Real x = m[static_cast<size_t>(i * k + c)];
      for (int d = 0; d < c; ++d) x -= m[static_cast<size_t>(i * k + d)] * m[static_cast<size_t>(c * k + d)];
      m[static_cast<size_t>(i * k + c)] = x / m[static_cast<size_t>(c * k + c)];
    }
  }
  return smallest;
}

/// What the set is worth; nothing (-1) where its features depend on each other.
Real value(const Problem& problem, const std::vector<int>& set) {
  const int k = static_cast<int>(set.size()), r = static_cast<int>(problem.r);
  std::vector<Real> b(static_cast<size_t>(k * k));
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j)
      b[static_cast<size_t>(i * k + j)] =
          problem.at(set[static_cast<size_t>(i)], set[static_cast<size_t>(j)]);
  if (factorize(b, k) < 1e-9L) return -1.0;
  std::vector<Real> w(static_cast<size_t>(k * r));  // L^-1 M
  for (int d = 0; d < r; ++d)
    for (int i = 0; i < k; ++i) {
      Real x = problem.direction[static_cast<size_t>(d * problem.n + set[static_cast<size_t>(i)])];
      for (int c = 0; c < i; ++c) x -= b[static_cast<size_t>(i * k + c)] * w[static_cast<size_t>(c * r + d)];
      w[static_cast<size_t>(i * r + d)] = x / b[static_cast<size_t>(i * k + i)];
    }
  if (problem.form == SUBSPECTRA_SCAN_TRACE) {
    Real sum = 0.0;
    for (const Real x : w) sum += x * x;
    return sum;
  }
  std::vector<Real> t(static_cast<size_t>(k * k));  // W W'
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) {
      Real sum = 0.0;
      for (int d = 0; d < r; ++d)
        sum += w[static_cast<size_t>(i * r + d)] * w[static_cast<size_t>(j * r + d)];
      t[static_cast<size_t>(i * k + j)] = sum;
    }
  if (problem.form == SUBSPECTRA_SCAN_RATIO) {
    for (int i = 0; i < k; ++i) t[static_cast<size_t>(i * k + i)] += 1.0L;
    (void)factorize(t, k);
    Real sum = 0.0;
    for (int i = 0; i < k; ++i) sum += 2.0L * std::log(t[static_cast<size_t>(i * k + i)]);
    return sum;
  }
  // The largest eigenvalue by bisection: above it x I - T is positive definite.
  Real low = 0.0, high = 0.0;
  for (int i = 0; i < k; ++i) high += t[static_cast<size_t>(i * k + i)];
  high = high * 1.000001L + 1e-30L;
  for (int step = 0; step < 60; ++step) {
    const Real middle = (low + high) / 2.0L;
    std::vector<Real> rest(t.size());
    for (int i = 0; i < k * k; ++i) rest[static_cast<size_t>(i)] = -t[static_cast<size_t>(i)];
    for (int i = 0; i < k; ++i) rest[static_cast<size_t>(i * k + i)] += middle;
    (factorize(rest, k) > 0.0L ? high : low) = middle;
  }
  return high;
}

template <class Body>
void each_set(int64_t n, int k, const Body& body) {
  std::vector<int> set(static_cast<size_t>(k));
  for (int i = 0; i < k; ++i) set[static_cast<size_t>(i)] = i;
  for (;;) {
    body(set);
    int at = k - 1;
    while (at >= 0 && set[static_cast<size_t>(at)] == static_cast<int>(n) - k + at) --at;
    if (at < 0) return;
    ++set[static_cast<size_t>(at)];
    for (int i = at + 1; i < k; ++i) set[static_cast<size_t>(i)] = set[static_cast<size_t>(i - 1)] + 1;
  }
}

struct Counts {
  long problems = 0, scans = 0, sets = 0, winners = 0, handed_out = 0, below = 0, wild = 0, missing = 0,
       wrong = 0, unsuited = 0;
};

void fail(const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", what, why);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) fail("usage", "check PLUGIN PROBLEMS [CUBLAS|- [PART PARTS]]");
  void* library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(argv[1], ::dlerror());
  const auto entry = reinterpret_cast<SubspectraDeviceEntry>(::dlsym(library, SUBSPECTRA_DEVICE_ENTRY));
  if (entry == nullptr) fail(argv[1], ::dlerror());
  const SubspectraDeviceTable& table = *entry();
  char why[512] = "";
  int cards = 0;
  if (table.count(&cards, why, sizeof why) != 0 || cards < 1) fail("count", why);
  SubspectraDevice* device = nullptr;
  if (table.open(0, argc > 3 && std::string(argv[3]) != "-" ? argv[3] : nullptr, &device, why, sizeof why) !=
      0)
    fail("open", why);
  SubspectraDeviceInfo info;
  if (table.describe(device, &info, why, sizeof why) != 0) fail("describe", why);
  std::printf("%s: %s\n", info.name, info.arithmetic);

  Counts all[3];
  const long problems = std::atol(argv[2]);
  const long part = argc > 5 ? std::atol(argv[4]) : 0, parts = argc > 5 ? std::atol(argv[5]) : 1;
  for (long number = part; number < problems; number += parts) {
    std::mt19937_64 random(static_cast<uint64_t>(number) + 1);
    const int form = static_cast<int>(number % 3);
    Counts& counts = all[form];
    // Most are small; some reach over the edges of tiles.
    const int most = number % 4 == 3 ? 4 : 3;
    int64_t n = 5 + static_cast<int64_t>(random() % 36);
    if (number % 10 == 9)
      n = most == 4 ? 50 + static_cast<int64_t>(random() % 20) : 120 + static_cast<int64_t>(random() % 30);
    const Problem problem = draw(random, form, n);
    const bool as_matrix = random() % 4 == 0;
    std::vector<double> matrix(problem.b.begin(), problem.b.end());
    SubspectraScanProblem given{};
    given.form = form;
    given.features = n;
    given.rows = as_matrix ? 0 : problem.rows;
    given.factor = problem.factor.data();
    given.factor_lead = problem.rows;
    given.added = problem.added.empty() ? nullptr : problem.added.data();
    given.matrix = matrix.data();
    given.matrix_lead = n;
    given.directions = problem.r;
    given.direction = problem.direction.data();
    given.rounding = static_cast<double>(problem.rows + 16) * 0x1p-53;
    given.dependent = 1e-12;
    SubspectraScan* scan = nullptr;
    if (table.scan_open(device, &given, most, &scan, why, sizeof why) != 0) fail("scan_open", why);
    ++counts.problems;
    for (int k = 2; k <= most; ++k) {
      // Of the best values one is drawn as the limit, or a number between two of them.
      std::vector<std::pair<Real, std::vector<int>>> valued;
      each_set(n, k, [&](const std::vector<int>& set) {
        const Real x = value(problem, set);
        if (x >= 0.0L) valued.emplace_back(x, set);
      });
      counts.sets += static_cast<long>(valued.size());
      if (valued.empty()) continue;
      std::sort(valued.begin(), valued.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
      size_t place = 0;
      switch (random() % 4) {
        case 0:
          break;
        case 1:
          place = random() % std::min<size_t>(valued.size(), 10);
          break;
        default:
          place = random() % std::min<size_t>(valued.size(), 400);
      }
      const double limit = static_cast<double>(valued[place].first) * (1.0 - 1e-9);
      const int code = table.scan_prepare(scan, limit, why, sizeof why);
      if (code == SUBSPECTRA_DEVICE_UNSUITED) {
        ++counts.unsuited;
        continue;
      }
      if (code != 0) fail("scan_prepare", why);
      std::set<std::vector<int>> sets, wild;
      const int64_t step = random() % 2 == 0 ? n : 1 + static_cast<int64_t>(random() % 20);
      std::vector<int32_t> memory(static_cast<size_t>(200000 * k));
      bool complete = true;
      for (int64_t first = 0; first < n; first += step) {
        SubspectraScanList list{200000, 0, memory.data()};
        if (table.scan_sets(scan, k, first, std::min(n, first + step), &list, why, sizeof why) != 0)
          fail("scan_sets", why);
        ++counts.scans;
        if (list.found > list.capacity) {
          complete = false;
          continue;
        }
        for (int64_t x = 0; x < list.found; ++x) {
          std::vector<int> set;
          for (int c = 0; c < k; ++c)
            if (list.sets[x * k + c] >= 0) set.push_back(list.sets[x * k + c]);
          if (!std::is_sorted(set.begin(), set.end())) fail("scan_sets", "a set is not ascending");
          (static_cast<int>(set.size()) == k ? sets : wild).insert(set);
        }
      }
      if (!complete) {
        ++counts.unsuited;
        continue;
      }
      counts.wild += static_cast<long>(wild.size());
      counts.handed_out += static_cast<long>(sets.size());
      std::set<std::vector<int>> known;
      for (const auto& [x, set] : valued) {
        if (x < limit * (1.0L - 1e-6L)) break;
        known.insert(set);
        if (x < static_cast<Real>(limit)) continue;
        ++counts.winners;
        bool found = sets.count(set) > 0;
        for (auto w = wild.begin(); !found && w != wild.end(); ++w)
          found = std::includes(set.begin(), set.end(), w->begin(), w->end());
        if (found) continue;
        ++counts.missing;
        std::printf("MISSING: problem %ld, %s, %d of %ld, value %.15Lg, limit %.15g:", number, kForms[form],
                    k, static_cast<long>(n), x, limit);
        for (const int j : set) std::printf(" %d", j);
        std::printf("\n");
      }
      for (const auto& set : sets) {
        if (known.count(set) > 0) continue;
        const Real x = value(problem, set);
        if (x < 0.0L) {
          ++counts.below;  // its features depend on each other, which the library finds
          continue;
        }
        ++counts.wrong;
        if (counts.wrong < 10) {
          std::printf("far below: problem %ld, %s, %d of %ld, value %.15Lg, limit %.15g:", number,
                      kForms[form], k, static_cast<long>(n), x, limit);
          for (const int j : set) std::printf(" %d", j);
          std::printf("\n");
        }
      }
    }
    table.scan_close(scan);
  }
  table.close(device);
  long missing = 0;
  for (int form = 0; form < 3; ++form) {
    const Counts& c = all[form];
    missing += c.missing;
    std::printf(
        "%-8s problems %ld scans %ld sets %ld winners %ld handed out %ld (dependent %ld, far below %ld, pairs for all supersets %ld) not settled %ld MISSING %ld\n",
        kForms[form], c.problems, c.scans, c.sets, c.winners, c.handed_out, c.below, c.wrong, c.wild,
        c.unsuited, c.missing);
  }
  return missing == 0 ? 0 : 1;
}
