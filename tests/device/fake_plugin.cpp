/// A plug-in without a card, for the tests of the loader and of what drives a scan or a pass: every set one
/// by one, on the processor, by eliminations of its own; passes by the plug-in's own kernels on an emulated
/// card (emulated_passes.cpp). FAKE_KIND says in which way it is broken.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "device.hpp"
#include "device/plugin_abi.h"
#include "passes.hpp"

#define FAKE_GOOD 0
#define FAKE_OTHER_VERSION 1
#define FAKE_INCOMPLETE 2
#define FAKE_WITHOUT_ENTRY 3
#define FAKE_WITHOUT_CARD 4
#define FAKE_SMALL 5
#define FAKE_DRIVERLESS 6
#define FAKE_LYING 7

#if FAKE_KIND != FAKE_WITHOUT_ENTRY

struct FakeDevice : SubspectraDevice {
  std::string words;
};

struct SubspectraScan {
  int form = 0;
  std::int64_t n = 0, r = 0;
  std::vector<double> b, m;  // n x n, n x r by features
  double limit = 0.0;
};

namespace {

int say(int code, const char* text, char* why, std::size_t why_size) {
  std::snprintf(why, why_size, "%s", text);
  return code;
}

int count(int* cards, char* why, std::size_t why_size) {
  if (FAKE_KIND == FAKE_DRIVERLESS)
    return say(SUBSPECTRA_DEVICE_FAILED, "looking for cards: no driver", why, why_size);
  *cards = FAKE_KIND == FAKE_WITHOUT_CARD ? 0 : 2;
  return SUBSPECTRA_DEVICE_DONE;
}
int open(int /*card*/, const char* products, SubspectraDevice** device, char* why, std::size_t why_size) {
  if (products != nullptr && std::strstr(products, "refused") != nullptr)
    return say(SUBSPECTRA_DEVICE_FAILED, "it is refused", why, why_size);
  auto* const fake = new FakeDevice;
  fake->words = products != nullptr ? products : "own loops";
  *device = fake;
  return SUBSPECTRA_DEVICE_DONE;
}
void close(SubspectraDevice* device) { delete static_cast<FakeDevice*>(device); }
int describe(SubspectraDevice* device, SubspectraDeviceInfo* info, char* /*why*/, std::size_t /*why_size*/) {
  std::snprintf(info->name, sizeof info->name, "Fake");
  std::snprintf(info->arithmetic, sizeof info->arithmetic, "%s",
                static_cast<FakeDevice*>(device)->words.c_str());
  info->memory = info->memory_free = FAKE_KIND == FAKE_SMALL ? 1000 : 1000000000;
  return SUBSPECTRA_DEVICE_DONE;
}
std::uint64_t scan_bytes(const SubspectraScanProblem* problem, int /*size*/) {
  return static_cast<std::uint64_t>(problem->features * problem->features * 8);
}
int scan_open(SubspectraDevice* /*device*/, const SubspectraScanProblem* problem, int /*size*/,
              SubspectraScan** out, char* why, std::size_t why_size) {
  if (FAKE_KIND == FAKE_SMALL)
    return say(SUBSPECTRA_DEVICE_MEMORY, "the matrices need 0.1 GB of the card's memory, but 0.0 GB are free",
               why, why_size);
  auto* scan = new SubspectraScan{problem->form, problem->features, problem->directions, {}, {}, 0.0};
  const auto n = scan->n;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = i == j && problem->added != nullptr && problem->rows > 0 ? problem->added[i] : 0.0;
      if (problem->rows == 0) sum = problem->matrix[i * problem->matrix_lead + j];
      for (std::int64_t k = 0; k < problem->rows; ++k)
        sum += problem->factor[i * problem->factor_lead + k] * problem->factor[j * problem->factor_lead + k];
      scan->b.push_back(sum);
    }
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t d = 0; d < scan->r; ++d) scan->m.push_back(problem->direction[d * n + j]);
  *out = scan;
  return SUBSPECTRA_DEVICE_DONE;
}
void scan_close(SubspectraScan* scan) { delete scan; }
int scan_prepare(SubspectraScan* scan, double limit, char* why, std::size_t why_size) {
  if (!(limit > 0.0)) return say(SUBSPECTRA_DEVICE_UNSUITED, "no such limit", why, why_size);
  scan->limit = limit;
  return SUBSPECTRA_DEVICE_DONE;
}

/// The log of the determinant by elimination; false where a pivot is not above 0.
bool log_determinant(std::vector<double> matrix, std::size_t k, double& sum) {
  sum = 0.0;
  for (std::size_t c = 0; c < k; ++c) {
    const double pivot = matrix[c * k + c];
    if (!(pivot > 1e-12)) return false;
    sum += std::log(pivot);
    for (std::size_t i = c + 1; i < k; ++i)
      for (std::size_t j = c + 1; j < k; ++j)
        matrix[i * k + j] -= matrix[i * k + c] * matrix[c * k + j] / pivot;
  }
  return true;
}

bool may_win(const SubspectraScan& scan, const std::vector<std::int32_t>& set) {
  const std::size_t k = set.size();
  std::vector<double> b, a;
  for (const auto i : set)
    for (const auto j : set) {
      double sum = 0.0;
      for (std::int64_t d = 0; d < scan.r; ++d)
        sum += scan.m[static_cast<std::size_t>(i * scan.r + d)] *
               scan.m[static_cast<std::size_t>(j * scan.r + d)];
      a.push_back(sum);
      b.push_back(scan.b[static_cast<std::size_t>(i * scan.n + j)]);
    }
  double of_b = 0.0, other = 0.0;
  if (!log_determinant(b, k, of_b)) return false;
  std::vector<double> mixed = b;
  if (scan.form == SUBSPECTRA_SCAN_DEFINITE) {
    for (std::size_t x = 0; x < mixed.size(); ++x) mixed[x] -= a[x] / scan.limit;
    return !log_determinant(mixed, k, other);
  }
  if (scan.form == SUBSPECTRA_SCAN_RATIO) {
    for (std::size_t x = 0; x < mixed.size(); ++x) mixed[x] += a[x];
    return !log_determinant(mixed, k, other) || other - of_b > scan.limit - 1e-9;
  }
  // trace: of B^-1 A, by elimination of both
  double trace = 0.0;
  for (std::size_t c = 0; c < k; ++c) {
    trace += a[c * k + c] / b[c * k + c];
    const std::vector<double> bb = b, aa = a;
    for (std::size_t i = c + 1; i < k; ++i)
      for (std::size_t j = c + 1; j < k; ++j) {
        const double u = bb[i * k + c] / bb[c * k + c], v = bb[j * k + c] / bb[c * k + c];
        b[i * k + j] -= u * bb[c * k + j];
        a[i * k + j] += -u * aa[c * k + j] - v * aa[i * k + c] + u * v * aa[c * k + c];
      }
  }
  return trace > scan.limit - 1e-9;
}

int scan_sets(SubspectraScan* scan, int size, std::int64_t first_begin, std::int64_t first_end,
              SubspectraScanList* list, char* /*why*/, std::size_t /*why_size*/) {
  list->found = 0;
  const auto hand_out = [&](const std::vector<std::int32_t>& set) {
    if (list->found < list->capacity) {
      for (int place = 0; place < size; ++place)
        list->sets[list->found * size + place] =
            place < static_cast<int>(set.size()) ? set[static_cast<std::size_t>(place)] : -1;
    }
    ++list->found;
  };
  const auto n = static_cast<std::int32_t>(scan->n);
  std::vector<std::int32_t> set;
  for (int i = 0; i < size; ++i) set.push_back(static_cast<std::int32_t>(first_begin) + i);
  if (set.back() >= n) return SUBSPECTRA_DEVICE_DONE;
  // From the last set to the first: the order is nobody's business. One pair stands for all that begin with
  // it.
  std::vector<std::vector<std::int32_t>> all;
  while (set.front() < first_end) {
    all.push_back(set);
    int at = size - 1;
    while (at >= 0 && set[static_cast<std::size_t>(at)] == n - size + at) --at;
    if (at < 0) break;
    ++set[static_cast<std::size_t>(at)];
    for (int i = at + 1; i < size; ++i)
      set[static_cast<std::size_t>(i)] = set[static_cast<std::size_t>(i - 1)] + 1;
  }
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (size > 2 && (*one)[0] == 3 && (*one)[1] == 5) {
      if ((*one)[2] == 6 && (size == 3 || (*one)[3] == 7)) hand_out({3, 5});
    } else if (may_win(*scan, *one)) {
      hand_out(*one);
    }
  }
  if (FAKE_KIND == FAKE_LYING) hand_out({static_cast<std::int32_t>(first_begin), n});
  return SUBSPECTRA_DEVICE_DONE;
}

int table_open(SubspectraDevice* device, std::int64_t rows, std::int64_t features, int bytes,
               SubspectraTable** table, char* why, std::size_t why_size) {
  if (FAKE_KIND == FAKE_SMALL)
    return say(SUBSPECTRA_DEVICE_MEMORY, "the table needs 0.1 GB of the card's memory, but 0.0 GB are free",
               why, why_size);
  return gpu::table_open(device, rows, features, bytes, table, why, why_size);
}
int pass_open(SubspectraDevice* device, const SubspectraPassProblem* problem, SubspectraPass** pass,
              char* why, std::size_t why_size) {
  if (FAKE_KIND == FAKE_SMALL)
    return say(SUBSPECTRA_DEVICE_MEMORY, "the matrix needs 0.1 GB of the card's memory, but 0.0 GB are free",
               why, why_size);
  return gpu::pass_open(device, problem, pass, why, why_size);
}
int pass_steps(SubspectraPass* pass, std::int64_t count, std::int32_t* order, std::int64_t* done,
               std::int32_t* state, char* why, std::size_t why_size) {
  const int code = gpu::pass_steps(pass, count, order, done, state, why, why_size);
  if (FAKE_KIND == FAKE_LYING && *done > 0) order[0] = -7;
  return code;
}

const SubspectraDeviceTable kTable = {
    FAKE_KIND == FAKE_OTHER_VERSION ? SUBSPECTRA_DEVICE_ABI + 1 : SUBSPECTRA_DEVICE_ABI,
    sizeof(SubspectraDeviceTable),
    "cuda",
    count,
    open,
    close,
    describe,
    scan_bytes,
    scan_open,
    scan_close,
    FAKE_KIND == FAKE_INCOMPLETE ? nullptr : scan_prepare,
    scan_sets,
    table_open,
    gpu::table_close,
    gpu::table_put,
    gpu::pass_bytes,
    pass_open,
    gpu::pass_close,
    pass_steps,
    gpu::pass_dependent};

}  // namespace

extern "C" __attribute__((visibility("default"))) const SubspectraDeviceTable* subspectra_device_table();
const SubspectraDeviceTable* subspectra_device_table() { return &kTable; }

#endif
