/// Reads a file as `subspectra select` would and prints one line of JSON: seconds of the best of `repeats`
/// readings, peak resident memory, and enough of the values for csv_bench.py to compare. Not a Google
/// Benchmark program: the peak memory is that of the process, so each process reads one file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

#include "io/read.hpp"

int main(int argc, char** argv) {
  try {
    if (argc < 2) {
      fmt::print(stderr, "usage: {} FILE [REPEATS]\n", argv[0]);
      return 2;
    }
    // Not getrusage: its peak includes that of the program that started this one.
    const auto peak_kib = [] {
      std::ifstream status("/proc/self/status");
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) return std::strtol(line.c_str() + 6, nullptr, 10);
      }
      return 0L;
    };
    const long before = peak_kib();
    const int repeats = argc > 2 ? std::max(1, std::stoi(argv[2])) : 1;
    subspectra::ReadOptions options;
    options.target = "none";
    double best = 1e300;
    for (int i = 0; i < repeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const auto data = subspectra::read_dataset(argv[1], options);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      if (i + 1 < repeats) continue;
      const auto n = data.rows();
      const auto p = data.features();
      fmt::print(
          "{{\"seconds\": {:.6f}, \"rows\": {}, \"features\": {}, \"peak_bytes\": {}, \"start_bytes\": {}, \"first\": {:.17g}, \"last\": {:.17g}, \"sum\": {:.17g}}}\n",
          best, n, p, peak_kib() * 1024, before * 1024, data.values().packed()(0, 0),
          data.values().packed()(n - 1, p - 1), data.values().packed().sum());
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "csv_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
