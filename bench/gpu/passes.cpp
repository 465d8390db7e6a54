/// Seconds of the plug-in's greedy passes, start of the card and transfers told apart. One line of JSON.
///   passes PLUGIN CUBLAS|- dual FEATURES ROWS DIRECTIONS factor|matrix   forward, all k, then backward, all
///   k passes PLUGIN CUBLAS|- table FEATURES ROWS DIRECTIONS 4|8 K          forward from a table on the card
/// Columns are noise and two of twenty causes. A table is drawn in blocks of columns that come again.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
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

constexpr int kCauses = 20;

void draw_column(int64_t j, int64_t rows, const std::vector<double>& causes, double* column) {
  std::mt19937_64 random(static_cast<uint64_t>(j) * 1000003 + 11);
  const auto a = static_cast<int64_t>(random() % kCauses), b = static_cast<int64_t>(random() % kCauses);
  const double of_a = static_cast<double>(random() % 2000) / 1000.0 - 1.0,
               of_b = static_cast<double>(random() % 2000) / 1000.0 - 1.0;
  for (int64_t i = 0; i < rows; ++i) {
    const auto bits = random();
    const double noise = static_cast<double>(bits & 0xffff) + static_cast<double>(bits >> 16 & 0xffff) +
                         static_cast<double>(bits >> 32 & 0xffff) + static_cast<double>(bits >> 48) -
                         131070.0;
    column[i] = noise / 40000.0 + of_a * causes[static_cast<size_t>(a * rows + i)] +
                of_b * causes[static_cast<size_t>(b * rows + i)];
  }
}
template <class Body>
void on_all_cores(int64_t count, const Body& body) {
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> team;
  for (int64_t t = 0; t < cores; ++t)
    team.emplace_back([&, t] {
      for (int64_t i = count * t / cores; i < count * (t + 1) / cores; ++i) body(i);
    });
  for (auto& thread : team) thread.join();
}

struct Card {
  const SubspectraDeviceTable& plugin;
  SubspectraDevice* device = nullptr;
  char why[512] = "";
};

struct Timed {
  double open_s = 0.0, steps_s = 0.0, longest_s = 0.0;
  std::vector<int32_t> order;
  int32_t end = 0;
};
Timed run(Card& card, const SubspectraPassProblem& problem) {
  Timed timed;
  const double start = now();
  SubspectraPass* pass = nullptr;
  if (card.plugin.pass_open(card.device, &problem, &pass, card.why, sizeof card.why) != 0)
    fail("pass_open", card.why);
  const double opened = now();
  timed.open_s = opened - start;
  std::vector<int32_t> part(256);
  while (timed.end == SUBSPECTRA_PASS_RUNNING) {
    int64_t done = 0;
    const double begun = now();
    if (card.plugin.pass_steps(pass, static_cast<int64_t>(part.size()), part.data(), &done, &timed.end,
                               card.why, sizeof card.why) != 0)
      fail("pass_steps", card.why);
    timed.longest_s = std::max(timed.longest_s, now() - begun);
    timed.order.insert(timed.order.end(), part.begin(), part.begin() + done);
  }
  timed.steps_s = now() - opened;
  card.plugin.pass_close(pass);
  return timed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8)
    fail("usage", "passes PLUGIN CUBLAS|- dual|table FEATURES ROWS DIRECTIONS factor|matrix|4|8 [K]");
  void* library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(argv[1], ::dlerror());
  const auto entry = reinterpret_cast<SubspectraDeviceEntry>(::dlsym(library, SUBSPECTRA_DEVICE_ENTRY));
  if (entry == nullptr) fail(argv[1], ::dlerror());
  const bool dual = std::strcmp(argv[3], "dual") == 0;
  const int64_t n = std::atoll(argv[4]), rows = std::atoll(argv[5]), r = std::atoll(argv[6]);
  const std::string form = argv[7];
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> causes(static_cast<size_t>(kCauses * rows)), direction(static_cast<size_t>(n * r));
  for (double& x : causes) x = normal(random);
  for (double& x : direction) x = 0.05 * normal(random);
  SubspectraPassProblem problem{};
  problem.criterion = SUBSPECTRA_PASS_WILKS;
  problem.features = n;
  problem.directions = r;
  problem.direction = direction.data();
  problem.most = n;
  problem.dependent = 1e-10;
  problem.digits_lost = 1e-5;
  problem.tie = 1e-12;
  std::vector<double> factor, matrix, diagonal, weights;
  std::vector<int32_t> classes;
  if (dual) {
    factor.resize(static_cast<size_t>(n * rows));
    on_all_cores(n, [&](int64_t j) {
      double* const column = factor.data() + j * rows;
      draw_column(j, rows, causes, column);
      for (int64_t i = 0; i < rows; ++i) column[i] /= std::sqrt(static_cast<double>(rows));
    });
    problem.shift = 0.1;
    if (form == "matrix") {
      // What a matrix costs to carry over: entries as the factor's products are, from its first rows only.
      matrix.resize(static_cast<size_t>(n * n));
      const int64_t few = std::min<int64_t>(rows, 32);
      on_all_cores(n, [&](int64_t j) {
        for (int64_t l = 0; l < n; ++l) {
          double sum = j == l ? 1.0 : 0.0;
          for (int64_t i = 0; i < few; ++i)
            sum += factor[static_cast<size_t>(j * rows + i)] * factor[static_cast<size_t>(l * rows + i)];
          matrix[static_cast<size_t>(j * n + l)] = sum;
        }
      });
      problem.matrix = matrix.data();
      problem.matrix_lead = n;
    } else {
      problem.rows = rows;
      problem.factor = factor.data();
      problem.factor_lead = rows;
    }
  }
  const double start = now();
  Card card{*entry()};
  if (card.plugin.open(0, std::strcmp(argv[2], "-") != 0 ? argv[2] : nullptr, &card.device, card.why,
                       sizeof card.why) != 0)
    fail("open", card.why);
  const double opened = now();
  SubspectraDeviceInfo info;
  if (card.plugin.describe(card.device, &info, card.why, sizeof card.why) != 0) fail("describe", card.why);
  if (dual) {
    const Timed forward = run(card, problem);
    problem.backward = 1;
    problem.most = n - 1;
    const Timed backward = run(card, problem);
    std::printf(
        "{\"card\": \"%s\", \"what\": \"dual\", \"features\": %lld, \"rows\": %lld, \"directions\": %lld, \"from\": \"%s\", "
        "\"start_s\": %.3f, \"forward_load_s\": %.3f, \"forward_s\": %.3f, \"inverse_s\": %.3f, \"backward_s\": %.3f, "
        "\"whole_s\": %.3f, \"longest_call_s\": %.3f, \"forward\": %zu, \"backward\": %zu, \"ends\": [%d, %d], \"first\": [%d, %d]}\n",
        info.name, static_cast<long long>(n), static_cast<long long>(rows), static_cast<long long>(r),
        form.c_str(), opened - start, forward.open_s, forward.steps_s, backward.open_s, backward.steps_s,
        now() - start, std::max(forward.longest_s, backward.longest_s), forward.order.size(),
        backward.order.size(), forward.end, backward.end, forward.order.empty() ? -1 : forward.order[0],
        backward.order.empty() ? -1 : backward.order[0]);
  } else {
    const int bytes = std::atoi(form.c_str());
    SubspectraTable* table = nullptr;
    if (card.plugin.table_open(card.device, rows, n, bytes, &table, card.why, sizeof card.why) != 0)
      fail("table_open", card.why);
    const int64_t block = std::min<int64_t>(n, 20000);
    std::vector<double> columns(static_cast<size_t>(block * rows));
    std::vector<float> narrow(bytes == 4 ? columns.size() : 0);
    on_all_cores(block, [&](int64_t j) {
      double* const column = columns.data() + j * rows;
      draw_column(j, rows, causes, column);
      for (int64_t i = 0; i < rows; ++i) column[i] = static_cast<float>(column[i]);
      if (bytes == 4) std::copy(column, column + rows, narrow.begin() + j * rows);
    });
    classes.resize(static_cast<size_t>(rows));
    weights.assign(static_cast<size_t>(rows), 1.0 / static_cast<double>(rows));
    for (int64_t i = 0; i < rows; ++i) classes[static_cast<size_t>(i)] = static_cast<int32_t>(i % (r + 1));
    diagonal.resize(static_cast<size_t>(n));
    on_all_cores(block, [&](int64_t j) {
      const double* const column = columns.data() + j * rows;
      std::vector<double> mean(static_cast<size_t>(r + 1)), count(mean.size());
      for (int64_t i = 0; i < rows; ++i)
        mean[static_cast<size_t>(i % (r + 1))] += column[i], ++count[static_cast<size_t>(i % (r + 1))];
      double sum = 0.0;
      for (int64_t i = 0; i < rows; ++i) {
        const auto c = static_cast<size_t>(i % (r + 1));
        const double x = column[i] - mean[c] / count[c];
        sum += x * x;
      }
      diagonal[static_cast<size_t>(j)] = sum / static_cast<double>(rows) + 0.1;
    });
    for (int64_t j = block; j < n; ++j)
      diagonal[static_cast<size_t>(j)] = diagonal[static_cast<size_t>(j % block)];
    const double loading = now();
    for (int64_t first = 0; first < n; first += block) {
      const void* const from = bytes == 4 ? static_cast<const void*>(narrow.data()) : columns.data();
      if (card.plugin.table_put(table, first, std::min(block, n - first), from, card.why, sizeof card.why) !=
          0)
        fail("table_put", card.why);
    }
    const double loaded = now();
    problem.table = table;
    problem.diagonal = diagonal.data();
    problem.weights = weights.data();
    problem.classes = classes.data();
    problem.class_count = static_cast<int32_t>(r + 1);
    problem.most = argc > 8 ? std::atoll(argv[8]) : 50;
    const Timed forward = run(card, problem);
    std::printf(
        "{\"card\": \"%s\", \"what\": \"table\", \"features\": %lld, \"rows\": %lld, \"directions\": %lld, \"bytes\": %d, \"k\": %lld, "
        "\"start_s\": %.3f, \"load_s\": %.3f, \"open_s\": %.3f, \"forward_s\": %.3f, \"found\": %zu, \"end\": %d, \"first\": %d}\n",
        info.name, static_cast<long long>(n), static_cast<long long>(rows), static_cast<long long>(r), bytes,
        static_cast<long long>(problem.most), opened - start, loaded - loading, forward.open_s,
        forward.steps_s, forward.order.size(), forward.end, forward.order.empty() ? -1 : forward.order[0]);
    card.plugin.table_close(table);
  }
  card.plugin.close(card.device);
  return 0;
}
