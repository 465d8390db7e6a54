/// certificate_fuzzer [--problems N] [--seed S] [--seconds T] [--threads N] [--write DIR] [--json FILE]
/// [--verbose]
/// Random problems against brute force, without libFuzzer: problem i has the seed S + i, so that a finding is
/// repeated by --seed and --problems 1. Ends with 1 where there is a finding.
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "certificate_target.hpp"

namespace {

using namespace subspectra::certificate_fuzzing;

struct Arguments {
  long problems = 1000;
  std::uint64_t seed = 0;
  double seconds = 0.0;  ///< 0: no limit
  int threads = 1;       ///< of the library
  std::string write, json;
  bool verbose = false;
};

Arguments parsed(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--verbose") {
      arguments.verbose = true;
      continue;
    }
    const char* const value = i + 1 < argc ? argv[++i] : nullptr;
    if (value != nullptr && word == "--problems") {
      arguments.problems = std::atol(value);
    } else if (value != nullptr && word == "--seed") {
      arguments.seed = std::strtoull(value, nullptr, 10);
    } else if (value != nullptr && word == "--seconds") {
      arguments.seconds = std::atof(value);
    } else if (value != nullptr && word == "--threads") {
      arguments.threads = std::atoi(value);
    } else if (value != nullptr && word == "--write") {
      arguments.write = value;
    } else if (value != nullptr && word == "--json") {
      arguments.json = value;
    } else {
      std::fprintf(
          stderr,
          "usage: %s [--problems N] [--seed S] [--seconds T] [--threads N] [--write DIR] [--json FILE] [--verbose]\n",
          argv[0]);
      std::exit(2);
    }
  }
  return arguments;
}

std::string decade_name(int d) {
  return d == kDecades ? "variance" : fmt::format("1e{}{}", d, d + 1 == kDecades ? "+" : "");
}

void print(const Report& report, double seconds) {
  fmt::print("\n{:<9} {:>9} {:>9} {:>9} {:>9}  worst error certified (seed), uncertified (seed)\n",
             "condition", "entries", "certified", "given up", "findings");
  for (int d = 0; d <= kDecades; ++d) {
    const Decade& decade = report.decades[static_cast<std::size_t>(d)];
    fmt::print("{:<9} {:>9} {:>9} {:>9} {:>9}  {:.2g} ({}), {:.2g} ({})\n", decade_name(d), decade.entries,
               decade.certified, decade.given_up, decade.findings, decade.worst_certified,
               decade.seed_certified, decade.worst_uncertified, decade.seed_uncertified);
  }
  fmt::print(
      "\nproblems {}, entries {}, certified {}, uncertified {}, refused {}, findings {}, seconds {:.1f}\n",
      report.problems, report.entries, report.certified, report.entries - report.certified, report.refused,
      report.findings, seconds);
  for (const auto& [kind, count] : report.kinds) fmt::print("  {}: {}\n", kind, count);
}

/// For scripts/update-safety-doc.
void write_json(const Report& report, double seconds, const std::string& path) {
  nlohmann::json decades = nlohmann::json::array();
  for (int d = 0; d <= kDecades; ++d) {
    const Decade& decade = report.decades[static_cast<std::size_t>(d)];
    decades.push_back({{"from", decade_name(d)},
                       {"entries", decade.entries},
                       {"certified", decade.certified},
                       {"worst_certified", decade.worst_certified},
                       {"worst_uncertified", decade.worst_uncertified},
                       {"findings", decade.findings}});
  }
  const nlohmann::json document = {
      {"problems", report.problems}, {"entries", report.entries},   {"certified", report.certified},
      {"refused", report.refused},   {"findings", report.findings}, {"seconds", seconds},
      {"decades", decades}};
  std::ofstream(path) << document.dump(1) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parsed(argc, argv);
  constexpr long kShown = 5;  // of one kind
  Report report;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (long i = 0; i < arguments.problems && !(arguments.seconds > 0.0 && elapsed() > arguments.seconds);
       ++i) {
    const std::uint64_t seed = arguments.seed + static_cast<std::uint64_t>(i);
    SmallProblem problem = make_problem(Choices(seed));
    problem.seed = seed;
    problem.options.threads = arguments.threads;
    const Checked checked = check_problem(problem, report);
    bool shown = arguments.verbose;
    for (const auto& finding : checked.findings) shown = shown || report.kinds[finding.kind] <= kShown;
    if (!shown) continue;
    fmt::print("seed {}: {}\n", seed, described(problem));
    if (arguments.verbose) fmt::print("{}", checked.path);
    for (const auto& finding : checked.findings) fmt::print("  {}: {}\n", finding.kind, finding.text);
    if (!checked.refusal.empty()) fmt::print("  refused: {}\n", checked.refusal);
    if (!checked.findings.empty())
      fmt::print("  again: certificate_fuzzer --seed {} --problems 1 --write DIR\n", seed);
    if (!arguments.write.empty()) {
      const std::string path = fmt::format("{}/{}", arguments.write, seed);
      write_csv(problem, path + ".csv");
      if (problem.matrices) Runner(problem).write_matrices(path);
    }
  }
  print(report, elapsed());
  if (!arguments.json.empty()) write_json(report, elapsed(), arguments.json);
  if (arguments.verbose || report.refused > 0) {
    for (const auto& [words, count] : report.refusals) {
      if (arguments.verbose || count >= 5) fmt::print("  refused {}: {}\n", count, words);
    }
  }
  return report.findings > 0 ? 1 : 0;
}
