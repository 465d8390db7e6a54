#include "data/genotypes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "data/dataset.hpp"
#include "data/genotype_kernels.hpp"
#include "data/moments.hpp"
#include "data/prepare.hpp"

namespace subspectra::genotypes_test {
namespace {

/// Codes drawn with a share of missing ones, packed four a byte; the last byte of a column is padded by codes
/// that a careless reader would count.
struct Drawn {
  Index samples, variants;
  std::vector<std::vector<int>> codes;  ///< by variant
  std::vector<std::uint8_t> bytes;
};

Drawn drawn(Index samples, Index variants, std::uint64_t seed, double missing = 0.05) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform;
  Drawn made{.samples = samples, .variants = variants, .codes = {}, .bytes = {}};
  for (Index j = 0; j < variants; ++j) {
    std::vector<int> column;
    for (Index i = 0; i < samples; ++i) {
      const double u = uniform(generator);
      column.push_back(uniform(generator) < missing ? 1 : u < 0.2 ? 0 : u < 0.6 ? 2 : 3);
    }
    for (Index i = 0; i < samples; i += 4) {
      unsigned byte = 0;
      for (Index k = 0; k < 4; ++k)
        byte |= static_cast<unsigned>(i + k < samples ? column[static_cast<std::size_t>(i + k)] : 1)
                << (2 * k);
      made.bytes.push_back(static_cast<std::uint8_t>(byte));
    }
    made.codes.push_back(std::move(column));
  }
  return made;
}

double value_of(int code) { return code == 0 ? 2.0 : code == 1 ? std::nan("") : code == 2 ? 1.0 : 0.0; }

Matrix decoded(const Drawn& of) {
  Matrix x(of.samples, of.variants);
  for (Index j = 0; j < of.variants; ++j) {
    for (Index i = 0; i < of.samples; ++i)
      x(i, j) = value_of(of.codes[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]);
  }
  return x;
}

/// In memory, or read piece by piece through a block of this many bytes.
std::shared_ptr<const Genotypes> source(const Drawn& of, Index block_bytes = 0) {
  Genotypes::Parts parts{.name = "drawn", .samples = of.samples, .variants = of.variants};
  if (block_bytes == 0) {
    parts.bytes = of.bytes;
  } else {
    parts.block_bytes = block_bytes;
    parts.first_byte = 3;
    parts.read_at = [bytes = of.bytes](std::uint64_t offset, std::span<char> into) {
      std::copy_n(reinterpret_cast<const char*>(bytes.data()) + offset - 3, into.size(), into.data());
    };
  }
  return std::make_shared<const Genotypes>(std::move(parts));
}

Vector normals(Index n, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  Vector v(n);
  for (double& value : v) value = normal(generator);
  return v;
}

TEST(GenotypeKernels, EveryInstructionSetGivesTheSameBitsAsTheSumSampleBySample) {
  for (const Index n : {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 500, 1025}) {
    for (const Index p : {1, 7, 8, 9, 31, 32, 45, 71}) {
      SCOPED_TRACE(fmt::format("{} samples, {} variants", n, p));
      const Drawn made = drawn(n, p, static_cast<std::uint64_t>(100 * n + p));
      const Index stride = Genotypes::bytes_of_variant(n), halves = 2 * stride;
      Vector v = normals(n, 5);
      std::vector<double> expected(static_cast<std::size_t>(p), 0.0);
      for (Index j = 0; j < p; ++j) {
        for (Index i = 0; i < n; i += 2) {  // pair by pair, from the first to the last
          const auto g = [&](Index at) {
            const double value =
                at < n ? value_of(made.codes[static_cast<std::size_t>(j)][static_cast<std::size_t>(at)])
                       : 0.0;
            return std::isnan(value) ? 0.0 : value;
          };
          expected[static_cast<std::size_t>(j)] += g(i) * v[i] + (i + 1 < n ? g(i + 1) * v[i + 1] : 0.0);
        }
      }
      for (const genotypes::Kernels* kernels : genotypes::all_kernels()) {
        SCOPED_TRACE(kernels->name);
        std::vector<double> sums(static_cast<std::size_t>(halves * genotypes::kHalfByteSums));
        kernels->tabulate(v.data(), n, 0, halves, sums.data());
        std::vector<double> out(static_cast<std::size_t>(p), 0.0);
        const Index cut = halves / 4 * 2;  // in two pieces
        kernels->add_copies(made.bytes.data(), stride, p, 0, cut, sums.data(), out.data());
        kernels->add_copies(made.bytes.data(), stride, p, cut, halves,
                            sums.data() + cut * genotypes::kHalfByteSums, out.data());
        for (Index j = 0; j < p; ++j) {
          EXPECT_NEAR(out[static_cast<std::size_t>(j)], expected[static_cast<std::size_t>(j)],
                      1e-13 * static_cast<double>(n));
        }
        std::vector<double> plain(static_cast<std::size_t>(p), 0.0);
        genotypes::all_kernels().front()->add_copies(made.bytes.data(), stride, p, 0, halves, sums.data(),
                                                     plain.data());
        EXPECT_EQ(out, plain);
      }
    }
  }
}

TEST(GenotypeKernels, CountsAreThoseOfCountingOneByOne) {
  for (const Index n : {1, 5, 32, 64, 333}) {
    const Drawn made = drawn(n, 3, static_cast<std::uint64_t>(n), 0.3);
    std::vector<std::uint64_t> mask(static_cast<std::size_t>(n + 31) / 32, 0);
    for (Index i = 0; i < n; i += 2)
      mask[static_cast<std::size_t>(i) / 32] |= std::uint64_t{1} << (2 * (i % 32));
    const Index stride = Genotypes::bytes_of_variant(n);
    for (Index j = 0; j < 3; ++j) {
      std::array<Index, 4> times{};
      for (Index i = 0; i < n; i += 2)
        ++times.at(
            static_cast<std::size_t>(made.codes[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]));
      for (const genotypes::Kernels* kernels : genotypes::all_kernels()) {
        std::int64_t low = -1, high = -1, both = -1;
        kernels->count(made.bytes.data() + j * stride, stride, mask.data(), &low, &high, &both);
        EXPECT_EQ(low, times[1] + times[3]) << kernels->name;
        EXPECT_EQ(high, times[2] + times[3]) << kernels->name;
        EXPECT_EQ(both, times[3]) << kernels->name;
      }
    }
  }
}

TEST(Genotypes, EveryValueIsDecodedInMemoryAndFromAFileInBlocksOfAnySize) {
  for (const Index n : {1, 4, 7, 50}) {
    const Drawn made = drawn(n, 23, static_cast<std::uint64_t>(n), 0.2);
    const Matrix x = decoded(made);
    for (const Index block : {0, 1, 13, 64, 1 << 20}) {
      const auto from = source(made, block);
      Matrix all(n, 23);
      from->read(0, 23, all.data());
      Vector part(n / 2);
      from->read_part(17, n - n / 2, n / 2, part.data());
      for (Index j = 0; j < 23; ++j) {
        for (Index i = 0; i < n; ++i) {
          if (std::isnan(x(i, j))) {
            EXPECT_TRUE(std::isnan(all(i, j)));
          } else {
            EXPECT_EQ(all(i, j), x(i, j));
          }
        }
      }
      for (Index i = 0; i < n / 2; ++i) {
        if (!std::isnan(x(n - n / 2 + i, 17))) {
          EXPECT_EQ(part[i], x(n - n / 2 + i, 17));
        }
      }
    }
  }
}

/// The table decoded, its gaps filled in by means and divided, as the preparation does it.
Dataset dense_of(const Drawn& made) {
  DatasetParts parts;
  parts.source = "dense";
  parts.dense = decoded(made);
  return parts;
}
Dataset packed_of(const Drawn& made, Index block_bytes) {
  DatasetParts parts;
  parts.source = "packed";
  parts.gaps_are_means = true;
  parts.columns = source(made, block_bytes);
  return parts;
}

TEST(Genotypes, PreparedProductsColumnsAndMomentsAreThoseOfTheDecodedTable) {
  const Drawn made = drawn(101, 64, 3);
  std::vector<int> codes(101);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<int>(i % 3) - (i % 11 == 0 ? 1 : 0);
  Labels labels{.name = "class", .classes = {"a", "b", "c"}, .codes = codes};
  std::vector<Index> some(60);
  std::iota(some.begin(), some.end(), 20);
  std::swap(some[3], some[40]);
  for (const bool standardize : {false, true}) {
    for (const Transform transform : {Transform::kNone, Transform::kAsinh}) {
      const PrepareOptions options{
          .missing = MissingPolicy::kMean, .standardize = standardize, .transform = transform};
      for (const Index block : {0, 1, 100, 1 << 20}) {
        SCOPED_TRACE(fmt::format("standardize {}, bent {}, block {}", standardize,
                                 transform == Transform::kAsinh, block));
        const auto prepared_of = [&](Dataset data) {
          data = check_values(std::move(data), options);
          return Preparation::learn(data, options).apply(data);
        };
        const Dataset dense = prepared_of(dense_of(made)), packed = prepared_of(packed_of(made, block));
        ASSERT_TRUE(packed.values().source() != nullptr);
        for (const bool subset : {false, true}) {
          const Dataset one = subset ? dense.with_rows(some) : dense,
                        other = subset ? packed.with_rows(some) : packed;
          EXPECT_LT((one.values().matrix() - other.values().matrix()).cwiseAbs().maxCoeff(), 1e-12);
          Matrix u(one.rows(), 2);
          u << normals(one.rows(), 1), normals(one.rows(), 2);
          Matrix expected(64, 2), obtained(64, 2);
          one.values().transposed_times(MatrixRef(u), expected, 1);
          other.values().transposed_times(MatrixRef(u), obtained, 2);
          EXPECT_LT((expected - obtained).cwiseAbs().maxCoeff(), 1e-11);
          const auto moments_of = [&](const Dataset& data) {
            DatasetDetails details = data.details();
            details.labels = labels;
            if (subset) {
              details.labels->codes.clear();
              for (const Index i : some) details.labels->codes.push_back(codes[static_cast<std::size_t>(i)]);
            }
            return compute_moments(Dataset(details, data.values()), Moments::SecondOrder::kDiagonal, 2);
          };
          const Moments a = moments_of(one), b = moments_of(other);
          EXPECT_EQ(a.class_weights(), b.class_weights());
          EXPECT_LT((a.class_means() - b.class_means()).cwiseAbs().maxCoeff(), 1e-12);
          EXPECT_LT((a.class_sums_of_squares() - b.class_sums_of_squares()).cwiseAbs().maxCoeff(), 1e-10);
        }
      }
    }
  }
}

TEST(Genotypes, RowsThatStandTwiceAreCountedTwice) {
  const Drawn made = drawn(30, 10, 9, 0.0);
  const std::vector<Index> twice = {0, 0, 5, 29, 5, 5, 17};
  const Dataset one = dense_of(made).with_rows(twice), other = packed_of(made, 16).with_rows(twice);
  EXPECT_EQ(one.values().matrix(), other.values().matrix());
  const Vector v = normals(7, 4);
  Vector expected(10), obtained(10);
  one.values().transposed_times(VectorRef(v), expected, 1);
  other.values().transposed_times(VectorRef(v), obtained, 1);
  EXPECT_LT((expected - obtained).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Genotypes, ChosenColumnsAreThoseAskedForAndKeepTheirValues) {
  const Drawn made = drawn(40, 20, 10, 0.1);
  const auto doubled =
      source(made, 32)->with_each_value([](Index j, double x) { return x * static_cast<double>(j); });
  const auto chosen = doubled->selected({19, 3, 4, 5, 0});
  Matrix all(40, 20), part(40, 5);
  doubled->read(0, 20, all.data());
  chosen->read(0, 5, part.data());
  const std::vector<Index> columns = {19, 3, 4, 5, 0};
  for (Index k = 0; k < 5; ++k) {
    for (Index i = 0; i < 40; ++i) {
      const double expected = all(i, columns[static_cast<std::size_t>(k)]);
      if (!std::isnan(expected)) {
        EXPECT_EQ(part(i, k), expected);
      }
    }
  }
}

TEST(Genotypes, AMissingGenotypeIsTheMeanUnlessSomethingElseIsAskedFor) {
  const Drawn made = drawn(50, 4, 12, 0.2);
  const Dataset checked = check_values(packed_of(made, 0), {});
  ASSERT_FALSE(checked.warnings().empty());
  EXPECT_NE(checked.warnings().front().find("replaced by training means"), std::string::npos)
      << checked.warnings().front();
  EXPECT_TRUE(Preparation::learn(checked, {}).apply(checked).values().matrix().allFinite());
  EXPECT_LT(check_values(packed_of(made, 0), {.missing = MissingPolicy::kDrop}).rows(), 50);
}

TEST(Genotypes, PassesAreCounted) {
  const Drawn made = drawn(40, 1000, 13, 0.0);
  const auto from = source(made, 64);
  Vector out(1000);
  const Vector v = normals(40, 1);
  Eigen::Map<Matrix> result(out.data(), 1000, 1);
  from->transposed_times(v, result, 2);
  EXPECT_EQ(from->traffic().bytes.load(), 10U * 1000U);
  EXPECT_EQ(from->traffic().pass, 10.0 * 1000.0);
}

}  // namespace
}  // namespace subspectra::genotypes_test
