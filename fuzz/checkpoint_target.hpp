#pragma once
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>

#include "core/fingerprint.hpp"
#include "core/json_io.hpp"
#include "outcome.hpp"
#include "search/checkpoint.hpp"
#include "search/exact.hpp"
#include "temporary_input.hpp"

namespace subspectra::fuzzing {

/// A small problem that searches go on with: `units` of rank 2 with a criterion of LDA, or of PCA.
class ResumedSearch {
 public:
  explicit ResumedSearch(Index n, bool variance) : units_(units_of(n)) {
    std::uint64_t state = static_cast<std::uint64_t>(n);
    const auto random = [&] {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<double>(state >> 40U) * 0x1p-23 - 1.0;
    };
    const Matrix rows = Matrix::NullaryExpr(3 * n, n, random);
    const Matrix b = rows.transpose() * rows;
    if (variance) {
      pencil_ = covariance_pencil(b);
    } else {
      pencil_ = factor_pencil(Matrix::NullaryExpr(n, 2, random), b);
    }
    options_ = {.k = {2, n - 2}, .asked = {.pool = 2}, .threads = 1};
    // The name of the problem, as a checkpoint of it has it.
    const TemporaryInput file({}, ".checkpoint");
    ExactRun stopped = options_;
    stopped.asked.node_limit = 1;
    stopped.asked.checkpoint = file.path();
    (void)exact_search(*pencil_, units_, {}, stopped, {});
    std::ifstream written(file.path(), std::ios::binary);
    first_ = std::string(std::istreambuf_iterator<char>(written), {});
    problem_ = parse_json(first_).at("problem").get<std::string>();
  }
  [[nodiscard]] Index units() const { return units_.count(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& first() const { return first_; }  ///< a checkpoint after the first node

  /// Goes on from the file, to the end. Throws BadInput.
  void go_on(const std::string& path) const {
    ExactRun options = options_;
    options.asked.resume = path;
    const ExactResult result = exact_search(*pencil_, units_, {}, options, RunControl({}, 5.0));
    Index k = options.k.lo;
    for (const ExactSize& size : result.sizes) {
      for (const RankedSet& set : size.pool) {
        const bool ascends =
            std::adjacent_find(set.units.begin(), set.units.end(), std::greater_equal<>()) == set.units.end();
        if (static_cast<Index>(set.units.size()) != k || !ascends || set.units.front() < 0 ||
            set.units.back() >= units()) {
          std::abort();
        }
      }
      ++k;
    }
  }

 private:
  static SearchUnits units_of(Index n) {
    std::vector<Index> all(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
    return SearchUnits::singles(all, {});
  }

  SearchUnits units_;
  std::unique_ptr<Pencil> pencil_;
  ExactRun options_;
  std::string problem_, first_;
};

inline const ResumedSearch& resumed_lda() {
  static const ResumedSearch search(8, false);
  return search;
}
inline const ResumedSearch& resumed_pca() {
  static const ResumedSearch search(9, true);
  return search;
}

}  // namespace subspectra::fuzzing

/// The bytes as a checkpoint: as they are, and with the checksum and the problem made right, as somebody
/// would who forges one. What is accepted is gone on with: a forged file may win, but not crash or hang a
/// search.
inline void fuzz_checkpoint(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  nlohmann::json document;
  try {
    document = parse_shallow_json(fuzzing::as_text(bytes));
  } catch (const std::exception&) {  // no JSON: only refused
  }
  if (!document.is_object()) {
    const fuzzing::TemporaryInput file(bytes, ".checkpoint");
    const ExactRun options{.k = {1, 2}};
    search::SearchState state(options, search::Cutoff(0.0, 0.0));
    try {
      search::read_checkpoint(file.path(), "", 4, state);
      std::abort();
    } catch (const Error&) {  // refused with words
    }
    return;
  }
  const auto units = document.find("units");
  const bool variance = units != document.end() && *units == fuzzing::resumed_pca().units();
  const fuzzing::ResumedSearch& search = variance ? fuzzing::resumed_pca() : fuzzing::resumed_lda();
  document["problem"] = search.problem();
  document.erase("checksum");
  std::string text;
  try {
    text = dump_json(document);
  } catch (const nlohmann::json::exception&) {  // texts that are no UTF-8
    return;
  }
  Fingerprint checksum;
  checksum.add(text.data(), text.size());
  document["checksum"] = checksum.text();
  text = dump_json(document);
  const fuzzing::TemporaryInput file({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                                     ".checkpoint");
  try {
    search.go_on(file.path());
  } catch (const Error&) {  // refused with words
  }
}
