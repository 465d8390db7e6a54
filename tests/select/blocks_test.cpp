#include <fmt/format.h>
#include <gtest/gtest.h>
#include <subspectra/subspectra.hpp>

#include <cmath>
#include <cstring>
#include <random>

#include "data/genotypes.hpp"
#include "data/prepare.hpp"
#include "io/npy_columns.hpp"
#include "oracle.hpp"
#include "scoring/gloss.hpp"
#include "scoring/sfd.hpp"

namespace subspectra::blocks_test {
namespace {

/// The bytes of a table as an NPY file has them behind its header of 5 bytes, which stands for a longer one.
class TableBytes final : public RandomBytes {
 public:
  TableBytes(const Matrix& x, bool single, bool column_major) : RandomBytes("table.npy"), bytes_(5, '?') {
    const Index lines = column_major ? x.cols() : x.rows(), length = column_major ? x.rows() : x.cols();
    for (Index line = 0; line < lines; ++line) {
      for (Index at = 0; at < length; ++at) {
        const double value = column_major ? x(at, line) : x(line, at);
        single ? append(static_cast<float>(value)) : append(value);
      }
    }
  }
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read_at(std::uint64_t offset, std::span<char> into) const override {
    ASSERT_LE(offset + into.size(), bytes_.size());
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
  }

 private:
  template <class T>
  void append(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string bytes_;
};

Dataset in_blocks(const DatasetParts& table, bool single, bool column_major, Index block_values) {
  DatasetParts parts;
  static_cast<DatasetDetails&>(parts) = table;
  parts.columns = npy_columns(std::make_shared<const TableBytes>(table.dense, single, column_major),
                              {.rows = table.dense.rows(),
                               .columns = table.dense.cols(),
                               .single = single,
                               .column_major = column_major,
                               .first_byte = 5,
                               .block_values = block_values});
  return parts;
}

constexpr Index kCopied = 2, kCopy = 13;

/// Three classes; a column far from zero, a constant one, a copy, and numbers that float32 holds.
DatasetParts mixed_table() {
  DatasetParts table = oracle::random_classes(60, 41, 3, 8, 0.9);
  table.dense.col(7).array() += 4096.0 * 8.0;
  table.dense.col(11).setConstant(3.0);
  table.dense.col(kCopy) = table.dense.col(kCopied);
  table.dense = table.dense.cast<float>().cast<double>();
  return table;
}

void expect_same(const Selection& one, const Selection& other) {
  EXPECT_EQ(one.ranking, other.ranking);
  EXPECT_EQ(one.status, other.status);
  ASSERT_EQ(one.weights.size(), other.weights.size());
  for (std::size_t j = 0; j < one.weights.size(); ++j)
    EXPECT_NEAR(one.weights[j], other.weights[j], 1e-9 * (1.0 + std::abs(one.weights[j])));
  ASSERT_EQ(one.sets().size(), other.sets().size());
  for (std::size_t s = 0; s < one.sets().size(); ++s) {
    EXPECT_EQ(one.sets()[s].features, other.sets()[s].features);
    EXPECT_NEAR(one.sets()[s].objective, other.sets()[s].objective, 1e-9 * std::abs(one.sets()[s].objective));
  }
  ASSERT_EQ(one.fits().size(), other.fits().size());
  for (std::size_t f = 0; f < one.fits().size(); ++f)
    EXPECT_EQ(one.fits()[f].features, other.fits()[f].features);
}

std::vector<Method> methods_of_any_classes() {
  return {Pearson{}, Fisher{}, ForwardLda{}, ForwardPca{}, Gslda{}, Gloss{}, QAlpha{}};
}

TEST(TablesInBlocks, GiveWhatTheSameTableInMemoryGivesWhateverTheBlocks) {
  for (const Method& method : methods_of_any_classes()) {
    DatasetParts table = mixed_table();
    // Of two equal columns a group lasso takes one or shares between both: the optimum is not unique, and
    // rounding says which is found.
    if (method.name() == "gloss") table.dense.col(kCopy) = table.dense.col(kCopied).reverse();
    const Dataset whole(table);
    for (const bool standardize : {false, true}) {
      const SelectOptions options{.k = {1, 6}, .prepare = {.standardize = standardize}};
      const Selection expected = select(whole, method, options);
      for (const bool column_major : {true, false}) {
        for (const bool single : {true, false}) {
          for (const Index block : {1, 50, 700, 1 << 16}) {
            SCOPED_TRACE(fmt::format("{}, standardize {}, {} order, {}, blocks of {}", method.name(),
                                     standardize, column_major ? "Fortran" : "C",
                                     single ? "float32" : "float64", block));
            expect_same(expected, select(in_blocks(table, single, column_major, block), method, options));
          }
        }
      }
    }
  }
}

TEST(TablesInBlocks, TwoClassFiltersAndRowWeightsAreTheSame) {
  DatasetParts table = oracle::random_classes(40, 30, 2, 3);
  table.weights = Vector::LinSpaced(40, 0.5, 2.0);
  const Dataset whole(table);
  for (const Method& method : std::vector<Method>{Ks{}, Snr{}, ForwardLda{}}) {
    const Selection expected = select(whole, method, {.k = {1, 5}});
    for (const bool column_major : {true, false}) {
      SCOPED_TRACE(fmt::format("{}, {} order", method.name(), column_major ? "Fortran" : "C"));
      expect_same(expected, select(in_blocks(table, false, column_major, 90), method, {.k = {1, 5}}));
    }
  }
}

TEST(TablesInBlocks, GapsAreFilledInAsInMemory) {
  DatasetParts table = oracle::random_classes(40, 12, 2, 4);
  for (Index i = 0; i < 40; i += 3) table.dense(i, i % 12) = std::nan("");
  const Dataset whole(table);
  for (const MissingPolicy missing : {MissingPolicy::kMean, MissingPolicy::kMedian, MissingPolicy::kDrop}) {
    for (const bool column_major : {true, false}) {
      const SelectOptions options{.k = {1, 4}, .prepare = {.missing = missing, .standardize = true}};
      expect_same(select(whole, ForwardLda{}, options),
                  select(in_blocks(table, false, column_major, 64), ForwardLda{}, options));
    }
  }
}

TEST(TablesInBlocks, CrossValidationTakesRowsOfThemAsOfATableInMemory) {
  const DatasetParts table = mixed_table();
  const EvaluateOptions options{.folds = 4};
  const auto expected = evaluate(Dataset(table), {ForwardLda{}, Fisher{}}, options);
  for (const bool column_major : {true, false}) {
    const auto obtained =
        evaluate(in_blocks(table, false, column_major, 200), {ForwardLda{}, Fisher{}}, options);
    ASSERT_EQ(expected.rows.size(), obtained.rows.size());
    for (std::size_t r = 0; r < expected.rows.size(); ++r)
      EXPECT_DOUBLE_EQ(expected.rows[r].error, obtained.rows[r].error);
  }
}

/// Genotypes with some missing, as a packed table and as the doubles they stand for.
std::pair<DatasetParts, DatasetParts> genotypes(Index n, Index p) {
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> uniform;
  DatasetParts dense = oracle::random_classes(n, p, 2, 1), packed;
  Genotypes::Parts parts{.name = "drawn.bed", .samples = n, .variants = p};
  for (Index j = 0; j < p; ++j) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(Genotypes::bytes_of_variant(n)), 0);
    for (Index i = 0; i < n; ++i) {
      const double shift = j < 4 && dense.labels->codes[static_cast<std::size_t>(i)] == 1 ? 0.3 : 0.0;
      const double u = uniform(generator) - shift;
      const unsigned code = uniform(generator) < 0.03 ? 1U : u < 0.15 ? 0U : u < 0.5 ? 2U : 3U;
      dense.dense(i, j) = code == 1 ? std::nan("") : code == 0 ? 2.0 : code == 2 ? 1.0 : 0.0;
      bytes[static_cast<std::size_t>(i / 4)] |= static_cast<std::uint8_t>(code << (2 * (i % 4)));
    }
    parts.bytes.insert(parts.bytes.end(), bytes.begin(), bytes.end());
  }
  static_cast<DatasetDetails&>(packed) = dense;
  packed.gaps_are_means = true;
  packed.columns = std::make_shared<const Genotypes>(std::move(parts));
  return {std::move(dense), std::move(packed)};
}

TEST(PackedGenotypes, EveryMethodGivesWhatTheDecodedTableGives) {
  const auto [dense, packed] = genotypes(120, 90);
  const Dataset decoded(dense), of_codes(packed);
  for (const Method& method :
       std::vector<Method>{Pearson{}, Fisher{}, Ks{}, Snr{}, ForwardLda{}, BackwardLda{}, Gslda{},
                           ForwardPca{}, Gspca{}, Gloss{}, QAlpha{}, SvmRfe{}}) {
    for (const bool standardize : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, standardize {}", method.name(), standardize));
      const SelectOptions options{.k = {1, 5},
                                  .prepare = {.missing = MissingPolicy::kMean, .standardize = standardize}};
      expect_same(select(decoded, method, options), select(of_codes, method, options));
    }
  }
}

TEST(PackedGenotypes, AGroupLassoThatReadsThemInBlocksFindsTheSameFitsAndGaps) {
  const auto [dense, packed] = genotypes(150, 400);
  const PrepareOptions options{.missing = MissingPolicy::kMean};
  const Dataset checked = check_values(Dataset(packed), options),
                decoded = check_values(Dataset(dense), options);
  const Dataset one = Preparation::learn(decoded, options).apply(decoded),
                other = Preparation::learn(checked, options).apply(checked);
  const std::vector<Index> all = first_features(400);
  constexpr std::uint64_t kNoMemory = 1;
  const ScoringProblem in_memory = make_scoring_problem(one, all, 2),
                       in_blocks = make_scoring_problem(other, all, 2, kNoMemory, true);
  ASSERT_TRUE(in_blocks.blocks != nullptr);
  EXPECT_LT((in_memory.scales - in_blocks.scales).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_NEAR(largest_product(in_memory, 1), largest_product(in_blocks, 1), 1e-12);
  for (const auto make : {+[](const ScoringProblem& of) { return gloss_solver(of); },
                          +[](const ScoringProblem& of) { return sfd_solver(of, {}); }}) {
    const auto expected = make(in_memory), obtained = make(in_blocks);
    EXPECT_NEAR(expected->lambda_max(), obtained->lambda_max(), 1e-10 * expected->lambda_max());
    for (const double fraction : {0.9, 0.6, 0.4, 0.25}) {
      SCOPED_TRACE(fraction);
      const ScoringFit a = expected->fit(fraction * expected->lambda_max(), RunControl()),
                       b = obtained->fit(fraction * expected->lambda_max(), RunControl());
      EXPECT_TRUE(b.converged);
      EXPECT_LE(b.gap, 1e-7);
      EXPECT_EQ(a.b.rows, b.b.rows);
      EXPECT_NEAR(a.objective, b.objective, 2e-7 * in_memory.targets.squaredNorm());
      EXPECT_LT((fitted_values(in_memory, a.b) - fitted_values(in_blocks, b.b)).cwiseAbs().maxCoeff(), 1e-3);
    }
  }
}

TEST(PackedGenotypes, AMethodThatNeedsThemAllAsNumbersSaysSoAndWhichDoNot) {
  DatasetParts limited;
  limited.source = "set.bed";
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(100 * 3000), 0x3b);
  limited.columns = std::make_shared<const Genotypes>(Genotypes::Parts{.name = "set.bed",
                                                                       .samples = 400,
                                                                       .variants = 3000,
                                                                       .bytes = std::move(bytes),
                                                                       .memory_limit = 1'000'000});
  try {
    static_cast<void>(Dataset(limited).matrix());
    ADD_FAILURE() << "it was unpacked";
  } catch (const Error& why) {
    const std::string words = why.what();
    EXPECT_NE(words.find("set.bed: 400 x 3000 numbers at once"), std::string::npos) << words;
    EXPECT_NE(words.find("forward-lda"), std::string::npos) << words;
  }
}

}  // namespace
}  // namespace subspectra::blocks_test
