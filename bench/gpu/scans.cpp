/// Seconds of the plug-in's scans, whole: from rows in the host's memory to the list of sets, start of the
/// card and transfers told apart. usage: scans PLUGIN CUBLAS|- FORM FEATURES ROWS SIZE [SECONDS]; one line of
/// JSON.
///
/// The table is synthetic: rows in two classes, columns that share twenty causes. The limit is the value of
/// the best set a short search of its own finds: pairs by the plug-in, then the best features added to them.
/// With SECONDS only so many first features are tried as fit into that time, and `complete` says so.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "device/plugin_abi.h"

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
[[noreturn]] void fail(const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", what, why);
  std::exit(1);
}

struct Table {
  int64_t n, rows, r;
  std::vector<double> factor, direction;
  [[nodiscard]] double b(int64_t i, int64_t j) const {
    double sum = 0.0;
    for (int64_t k = 0; k < rows; ++k)
      sum += factor[static_cast<size_t>(i * rows + k)] * factor[static_cast<size_t>(j * rows + k)];
    return sum;
  }
};

Table draw(int64_t n, int64_t rows, int64_t r) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Table table{n, rows, r, std::vector<double>(static_cast<size_t>(n * rows)),
              std::vector<double>(static_cast<size_t>(n * r))};
  constexpr int64_t kCauses = 20;
  std::vector<double> causes(static_cast<size_t>(kCauses * rows));
  for (double& x : causes) x = normal(random);
  for (int64_t j = 0; j < n; ++j) {
    double* column = table.factor.data() + j * rows;
    double w[2] = {normal(random), normal(random)}, sum = 0.0;
    const int64_t c[2] = {static_cast<int64_t>(random() % kCauses), static_cast<int64_t>(random() % kCauses)};
    // Cheap noise: a table of 54,613 columns is drawn in a second or two.
    for (int64_t i = 0; i < rows; ++i) {
      const auto bits = random();
      const double noise = static_cast<double>(bits & 0xffff) + static_cast<double>(bits >> 16 & 0xffff) +
                           static_cast<double>(bits >> 32 & 0xffff) + static_cast<double>(bits >> 48) -
                           131070.0;
      column[i] = noise / 40000.0 + 0.6 * (w[0] * causes[static_cast<size_t>(c[0] * rows + i)] +
                                           w[1] * causes[static_cast<size_t>(c[1] * rows + i)]);
      sum += column[i] * column[i];
    }
    for (int64_t i = 0; i < rows; ++i) column[i] /= std::sqrt(sum);
    for (int64_t d = 0; d < r; ++d) table.direction[static_cast<size_t>(d * n + j)] = 0.4 * normal(random);
  }
  return table;
}

/// Value of a set, two classes (r = 1), trace or ratio: by elimination.
double value(const Table& t, int form, const std::vector<int32_t>& set) {
  const auto k = set.size(), r = static_cast<size_t>(t.r);
  std::vector<double> b(k * k), g(k * k);
  std::vector<double> w(k * r);
  double log_ratio = 0.0, trace = 0.0;
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < k; ++j) {
      b[i * k + j] = t.b(set[i], set[j]);
      g[i * k + j] = b[i * k + j];
      for (size_t d = 0; d < r; ++d)
        g[i * k + j] += t.direction[d * static_cast<size_t>(t.n) + static_cast<size_t>(set[i])] *
                        t.direction[d * static_cast<size_t>(t.n) + static_cast<size_t>(set[j])];
    }
  for (size_t i = 0; i < k; ++i)
    for (size_t d = 0; d < r; ++d)
      w[i * r + d] = t.direction[d * static_cast<size_t>(t.n) + static_cast<size_t>(set[i])];
  for (size_t c = 0; c < k; ++c) {
    if (!(b[c * k + c] > 1e-9)) return -1.0;
    log_ratio += std::log(g[c * k + c] / b[c * k + c]);
    for (size_t d = 0; d < r; ++d) trace += w[c * r + d] * w[c * r + d] / b[c * k + c];
    for (size_t i = c + 1; i < k; ++i) {
      const double fb = b[i * k + c] / b[c * k + c], fg = g[i * k + c] / g[c * k + c];
      for (size_t j = 0; j < k; ++j) {
        b[i * k + j] -= fb * b[c * k + j];
        g[i * k + j] -= fg * g[c * k + j];
      }
      for (size_t d = 0; d < r; ++d) w[i * r + d] -= fb * w[c * r + d];
    }
  }
  return form == SUBSPECTRA_SCAN_RATIO ? log_ratio : trace;  // definite is timed with one direction
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) fail("usage", "scans PLUGIN CUBLAS|- FORM FEATURES ROWS SIZE [SECONDS]");
  const int form = std::atoi(argv[3]), size = std::atoi(argv[6]);
  const Table table =
      draw(std::atoll(argv[4]), std::atoll(argv[5]), form == SUBSPECTRA_SCAN_DEFINITE ? 1 : 3);
  const double most_seconds = argc > 7 ? std::atof(argv[7]) : 1e9;
  const double start = now();
  void* library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(argv[1], ::dlerror());
  const auto entry = reinterpret_cast<SubspectraDeviceEntry>(::dlsym(library, SUBSPECTRA_DEVICE_ENTRY));
  if (entry == nullptr) fail(argv[1], ::dlerror());
  const SubspectraDeviceTable& plugin = *entry();
  char why[512] = "";
  SubspectraDevice* device = nullptr;
  if (plugin.open(0, std::strcmp(argv[2], "-") != 0 ? argv[2] : nullptr, &device, why, sizeof why) != 0)
    fail("open", why);
  const double opened = now();
  SubspectraScanProblem problem{};
  problem.form = form;
  problem.features = table.n;
  problem.rows = table.rows;
  problem.factor = table.factor.data();
  problem.factor_lead = table.rows;
  problem.directions = table.r;
  problem.direction = table.direction.data();
  problem.rounding = static_cast<double>(table.rows + 16) * 0x1p-53;
  problem.dependent = 1e-12;
  SubspectraScan* scan = nullptr;
  if (plugin.scan_open(device, &problem, size, &scan, why, sizeof why) != 0) fail("scan_open", why);
  const double loaded = now();

  // A greedy set of the size: the limit to begin with.
  std::vector<int32_t> best;
  double best_value = 0.0;
  while (static_cast<int>(best.size()) < size) {
    int32_t take = -1;
    double taken = -1.0;
    for (int32_t j = 0; j < table.n; ++j) {
      if (std::find(best.begin(), best.end(), j) != best.end()) continue;
      auto set = best;
      set.push_back(j);
      const double x = value(table, form, set);
      if (x > taken) taken = x, take = j;
    }
    best.push_back(take);
    best_value = taken;
  }
  std::sort(best.begin(), best.end());
  const double greedy = now(), greedy_value = best_value;

  if (plugin.scan_prepare(scan, best_value * (1.0 - 1e-9), why, sizeof why) != 0) fail("scan_prepare", why);
  const double prepared = now();
  constexpr int64_t kMost = 100000;
  std::vector<int32_t> memory(static_cast<size_t>(kMost * size));
  int64_t handed_out = 0, wild = 0, raised = 0, calls = 0;
  double longest = 0.0, tried = 0.0, total = 0.0;
  const auto sets_of = [&](int64_t first) {
    double product = 1.0;
    for (int i = 1; i < size; ++i) product *= static_cast<double>(table.n - 1 - first - (i - 1)) / i;
    return std::max(product, 0.0);
  };
  for (int64_t first = 0; first < table.n; ++first) total += sets_of(first);
  int64_t first = 0;
  const double begun = now();
  bool overflow = false;
  while (first < table.n && now() - begun < most_seconds) {
    // Blocks of about a tenth of a second, by what has been tried so far.
    const double rate = tried > 0.0 ? tried / (now() - begun) : 1e12;
    int64_t end = first;
    for (double block = 0.0; end < table.n && (block == 0.0 || block < 0.1 * rate); ++end)
      block += sets_of(end);
    const double called = now();
    SubspectraScanList list{kMost, 0, memory.data()};
    if (plugin.scan_sets(scan, size, first, end, &list, why, sizeof why) != 0) fail("scan_sets", why);
    ++calls;
    longest = std::max(longest, now() - called);
    if (list.found > list.capacity) {
      overflow = true;
      break;
    }
    handed_out += list.found;
    bool better = false;
    for (int64_t x = 0; x < list.found; ++x) {
      const std::vector<int32_t> set(list.sets + x * size, list.sets + (x + 1) * size);
      if (set.back() < 0) {
        ++wild;
        continue;
      }
      const double v = value(table, form, set);
      if (v > best_value) {
        better = v > best_value * (1.0 + 1e-12);
        best_value = v;
        best = set;
      }
    }
    for (; first < end; ++first) tried += sets_of(first);
    if (better) {
      ++raised;
      if (plugin.scan_prepare(scan, best_value * (1.0 - 1e-9), why, sizeof why) != 0)
        fail("scan_prepare", why);
    }
  }
  const double ended = now();
  SubspectraDeviceInfo info;
  if (plugin.describe(device, &info, why, sizeof why) != 0) fail("describe", why);
  const char* const forms[] = {"two classes", "wilks", "trace"};
  std::printf(
      "{\"card\": \"%s\", \"arithmetic\": \"%s\", \"criterion\": \"%s\", \"features\": %lld, \"rows\": %lld, \"k\": %d, \"complete\": %s, "
      "\"sets\": %.4g, \"tried\": %.4g, \"open_s\": %.3f, \"load_s\": %.3f, \"greedy_s\": %.3f, \"matrices_s\": %.3f, \"scan_s\": %.3f, \"whole_s\": %.3f, "
      "\"sets_per_s\": %.4g, \"calls\": %lld, \"longest_call_s\": %.3f, \"handed_out\": %lld, \"wild\": %lld, \"raised\": %lld, "
      "\"greedy\": %.6f, \"best\": %.6f, \"set\": [",
      info.name, info.arithmetic, forms[form], static_cast<long long>(table.n),
      static_cast<long long>(table.rows), size, first >= table.n && !overflow ? "true" : "false", total,
      tried, opened - start, loaded - opened, greedy - loaded, prepared - greedy, ended - begun,
      ended - start, tried / (ended - begun), static_cast<long long>(calls), longest,
      static_cast<long long>(handed_out), static_cast<long long>(wild), static_cast<long long>(raised),
      greedy_value, best_value);
  for (size_t i = 0; i < best.size(); ++i) std::printf(i == 0 ? "%d" : ", %d", best[i]);
  std::printf("]}\n");
  plugin.scan_close(scan);
  plugin.close(device);
  return 0;
}
