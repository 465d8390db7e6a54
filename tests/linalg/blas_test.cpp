#include "linalg/blas.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <subspectra/error.hpp>
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/version.hpp"
#include "report/build_info.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace subspectra::linalg::blas_test {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

Matrix random_matrix(Index rows, Index cols, Random& random) {
  Matrix m(rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) m(i, j) = random.normal();
  }
  return m;
}

/// A block inside a larger matrix of NaN: a kernel that reads or writes outside of it shows.
struct Framed {
  Framed(const Matrix& content)  // NOLINT(google-explicit-constructor)
      : all(Matrix::Constant(content.rows() + 3, content.cols() + 2, std::nan(""))),
        rows(content.rows()),
        cols(content.cols()) {
    block() = content;
  }
  Eigen::Block<Matrix> block() { return all.block(2, 1, rows, cols); }
  [[nodiscard]] bool frame_is_untouched() {
    return (all.array() != all.array()).count() == all.size() - rows * cols;
  }
  Matrix all;
  Index rows, cols;
};

// Oracle: the definition, one entry after the other.
Matrix naive_product(const Matrix& a, const Matrix& b) {
  Matrix c = Matrix::Zero(a.rows(), b.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < b.cols(); ++j) {
      for (Index k = 0; k < a.cols(); ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

double tolerance(Index inner) {
  return 20.0 * kEps * static_cast<double>(inner + 2);
}  // entries are of order 1

const std::vector<Index> kSizes = {0, 1, 2, 3, 7, 8, 17, 33, 64, 101};

TEST(Gemm, AgreesWithTheDefinitionForAllShapesTransposesAndStrides) {
  Random random(1);
  for (const Index m : kSizes) {
    for (const Index n : {0, 1, 2, 5, 24, 65}) {
      for (const Index k : kSizes) {
        for (const Op op_a : {Op::kNone, Op::kTranspose}) {
          for (const Op op_b : {Op::kNone, Op::kTranspose}) {
            SCOPED_TRACE(fmt::format("{} x {} x {}, op_a {}, op_b {}", m, n, k, static_cast<int>(op_a),
                                     static_cast<int>(op_b)));
            const Matrix a = random_matrix(m, k, random);
            const Matrix b = random_matrix(k, n, random);
            const Matrix c = random_matrix(m, n, random);
            Framed framed_a(op_a == Op::kNone ? a : Matrix(a.transpose()));
            Framed framed_b(op_b == Op::kNone ? b : Matrix(b.transpose()));
            Framed framed_c(c);
            gemm(0.5, op_a, framed_a.block(), op_b, framed_b.block(), -2.0, framed_c.block());
            const Matrix expected = 0.5 * naive_product(a, b) - 2.0 * c;
            EXPECT_LE((framed_c.block() - expected).cwiseAbs().sum(),
                      tolerance(k) * static_cast<double>(m * n + 1));
            EXPECT_TRUE(framed_c.frame_is_untouched());
          }
        }
      }
    }
  }
}

TEST(Gemm, WithBetaZeroDoesNotReadTheResult) {
  for (const Index k : {0, 1, 40}) {
    Matrix c = Matrix::Constant(20, 30, std::nan(""));
    gemm(1.0, Op::kNone, Matrix::Ones(20, k), Op::kNone, Matrix::Ones(k, 30), 0.0, c);
    EXPECT_EQ(c, Matrix::Constant(20, 30, static_cast<double>(k)));
    Matrix s = Matrix::Constant(20, 20, std::nan(""));
    syrk(1.0, Op::kNone, Matrix::Ones(20, k), 0.0, s);
    EXPECT_EQ(s, Matrix::Constant(20, 20, static_cast<double>(k)));
    Vector y = Vector::Constant(20, std::nan(""));
    gemv(1.0, Op::kNone, Matrix::Ones(20, k), Vector::Ones(k), 0.0, y);
    EXPECT_EQ(y, Vector::Constant(20, static_cast<double>(k)));
  }
}

TEST(Gemm, RefusesSizesThatDoNotFit) {
  Matrix c(2, 2);
  EXPECT_THROW(gemm(1.0, Op::kNone, Matrix::Ones(2, 3), Op::kNone, Matrix::Ones(2, 2), 0.0, c), Error);
  EXPECT_THROW(syrk(1.0, Op::kNone, Matrix::Ones(3, 3), 0.0, c), Error);
  Vector y(2);
  EXPECT_THROW(gemv(1.0, Op::kTranspose, Matrix::Ones(2, 3), Vector::Ones(2), 0.0, y), Error);
}

TEST(Gemm, GivesTheSameBitsFromManyThreadsAtOnce) {
  Random random(2);
  const Matrix a = random_matrix(150, 170, random);
  const Matrix b = random_matrix(170, 130, random);
  Matrix once(150, 130);
  gemm(1.0, Op::kNone, a, Op::kNone, b, 0.0, once);
  std::vector<Matrix> results(8, Matrix(150, 130));
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat) gemm(1.0, Op::kNone, a, Op::kNone, b, 0.0, result);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, once);
}

TEST(Gemv, AgreesWithTheDefinition) {
  Random random(3);
  for (const Index m : kSizes) {
    for (const Index n : kSizes) {
      for (const Op op : {Op::kNone, Op::kTranspose}) {
        const Matrix a = random_matrix(m, n, random);
        const Vector x = random_matrix(n, 1, random);
        Framed framed(op == Op::kNone ? a : Matrix(a.transpose()));
        Vector y = random_matrix(m, 1, random);
        const Vector expected = -1.5 * naive_product(a, x) + 3.0 * y;
        gemv(-1.5, op, framed.block(), x, 3.0, y);
        EXPECT_LE((y - expected).cwiseAbs().sum(), tolerance(n) * static_cast<double>(m + 1))
            << m << " x " << n;
      }
    }
  }
}

TEST(Syrk, AgreesWithTheDefinitionAndIsExactlySymmetric) {
  Random random(4);
  for (const Index n : {0, 1, 2, 5, 31, 32, 33, 64, 100, 130}) {
    for (const Index k : kSizes) {
      for (const Op op : {Op::kNone, Op::kTranspose}) {
        const Matrix a = random_matrix(n, k, random);
        Matrix c = random_matrix(n, n, random);
        c = (c + c.transpose()).eval();
        Framed framed_a(op == Op::kNone ? a : Matrix(a.transpose()));
        Framed framed_c(c);
        syrk(2.0, op, framed_a.block(), 0.25, framed_c.block());
        const Matrix expected = 2.0 * naive_product(a, a.transpose()) + 0.25 * c;
        EXPECT_LE((framed_c.block() - expected).cwiseAbs().sum(),
                  tolerance(k) * static_cast<double>(n * n + 1));
        EXPECT_EQ(Matrix(framed_c.block()), Matrix(framed_c.block().transpose()));
        EXPECT_TRUE(framed_c.frame_is_untouched());
      }
    }
  }
}

TEST(Cholesky, FactorsReproduceTheMatrixAndSolve) {
  Random random(5);
  for (const Index n : kSizes) {
    const Matrix x = random_matrix(n, 2 * n + 1, random);
    const Matrix a = x * x.transpose();
    Framed framed(a);
    ASSERT_TRUE(cholesky(framed.block()));
    const Matrix l = framed.block();
    EXPECT_EQ(l, Matrix(l.triangularView<Eigen::Lower>()));
    EXPECT_LE((l * l.transpose() - a).norm(), 10.0 * kEps * static_cast<double>(n + 1) * (a.norm() + 1.0));
    const Matrix b = random_matrix(n, 3, random);
    for (const Op op : {Op::kNone, Op::kTranspose}) {
      Framed solution(b);
      solve_lower(framed.block(), op, solution.block());
      const Matrix back =
          op == Op::kNone ? Matrix(l * solution.block()) : Matrix(l.transpose() * solution.block());
      EXPECT_LE((back - b).norm(), 1e3 * kEps * (b.norm() + 1.0));  // cond(L) stays far below 1e3 / n
      EXPECT_TRUE(solution.frame_is_untouched());
    }
  }
}

TEST(Cholesky, SaysSoWhenAPivotIsNotPositive) {
  Matrix indefinite = Matrix::Identity(90, 90);
  indefinite(80, 80) = -1.0;
  EXPECT_FALSE(cholesky(indefinite));
  Matrix singular = Matrix::Zero(3, 3);
  EXPECT_FALSE(cholesky(singular));
  for (const double bad : {std::nan(""), kInfinity}) {
    for (const Index at : {0, 1, 40}) {
      Matrix a = Matrix::Identity(41, 41);
      a(40, at) = bad;
      EXPECT_FALSE(cholesky(a)) << bad << " at " << at;
    }
  }
  Matrix only_upper_is_bad = Matrix::Identity(3, 3);
  only_upper_is_bad(0, 2) = std::nan("");  // not read
  EXPECT_TRUE(cholesky(only_upper_is_bad));
  EXPECT_EQ(only_upper_is_bad, Matrix::Identity(3, 3));
}

// --- the choice of kernels at start: seen from fresh processes
// ----------------------------------------------------

constexpr const char* kReport = "SUBSPECTRA_TEST_REPORT_BLAS";

/// Not a test of its own: what the child processes below print.
TEST(BlasStart, ReportsForTheParentTest) {
  if (std::getenv(kReport) == nullptr) GTEST_SKIP() << "run by the other BlasStart tests";
  const auto info = blas_info();
  const char* variable = std::getenv("OPENBLAS_CORETYPE");
  fmt::print("core={};by={};env={};\n", info.core_type, info.chosen_by,
             variable == nullptr ? "(unset)" : variable);
}

/// Nor is this one. Whole numbers up to 8: every kernel gives the same product, to the last bit. Oracle: of a
/// wrong C and a random x of whole numbers Cx is hardly ever A(Bx), in integers.
TEST(BlasStart, MultipliesForTheParentTest) {
  if (std::getenv(kReport) == nullptr) GTEST_SKIP() << "run by the other BlasStart tests";
  constexpr Index kSize = 1024;
  Random random(5);
  Matrix a(kSize, kSize), b(kSize, kSize), c(kSize, kSize);
  const auto whole = [&](Matrix& m) {
    for (double& entry : m.reshaped()) entry = std::round(16.0 * random.uniform() - 8.0);
  };
  whole(a);
  whole(b);
  gemm(1.0, Op::kNone, a, Op::kNone, b, 0.0, c);
  using Whole = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;
  const auto times = [](const Matrix& m, const Whole& x) {
    Whole y = Whole::Zero(m.rows());
    for (Index j = 0; j < m.cols(); ++j) {
      for (Index i = 0; i < m.rows(); ++i) y[i] += static_cast<std::int64_t>(m(i, j)) * x[j];
    }
    return y;
  };
  bool right = true;
  for (int trial = 0; trial < 4; ++trial) {
    Whole x(kSize);
    for (std::int64_t& entry : x) entry = static_cast<std::int64_t>(std::floor(1024.0 * random.uniform()));
    right = right && times(c, x) == times(a, times(b, x));
  }
  fmt::print("core={};product={};\n", blas_info().core_type, right ? "right" : "wrong");
}

std::string run_child(const char* core_type, const char* test = "ReportsForTheParentTest") {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "OPENBLAS_CORETYPE=", 18) != 0) environment.emplace_back(*entry);
  }
  environment.push_back(std::string(kReport) + "=1");
  if (core_type != nullptr) environment.push_back(std::string("OPENBLAS_CORETYPE=") + core_type);
  std::vector<char*> pointers;
  for (auto& entry : environment) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::array<char, 4096> self{};
  if (::readlink(program.c_str(), self.data(), self.size() - 1) > 0) program = self.data();
  std::string filter = fmt::format("--gtest_filter=BlasStart.{}", test);
  std::array<char*, 3> arguments = {program.data(), filter.data(), nullptr};

  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  const int failure =
      ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string output;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; failure == 0 && (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    output.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (failure == 0) ::waitpid(child, nullptr, 0);
  return output;
}

#if defined(__x86_64__)
TEST(BlasStart, RespectsTheUsersCoreType) {
  const std::string output = run_child("Prescott");
  EXPECT_NE(output.find("core=Prescott;by=OPENBLAS_CORETYPE;env=Prescott;"), std::string::npos) << output;
}

// 0.3.33 and 0.3.34 of OpenBLAS crash in this product where Haswell's kernels are chosen on a Zen 4.
TEST(BlasStart, AProductOf1024RowsIsRightUnderEveryKernelSetOfThisCpu) {
  std::vector<const char*> kernels = {"Prescott"};
  if (__builtin_cpu_supports("avx")) kernels.push_back("Sandybridge");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    kernels.insert(kernels.end(), {"Haswell", "Zen"});
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd"))
    kernels.push_back("SkylakeX");
  for (const char* const kernel : kernels) {
    const std::string output = run_child(kernel, "MultipliesForTheParentTest");
    EXPECT_NE(output.find(fmt::format("core={};product=right;", kernel)), std::string::npos)
        << kernel << ": " << output;
  }
}

TEST(BlasStart, ChoosesKernelsThatFitTheCpuAndLeavesTheEnvironmentAlone) {
  const std::string output = run_child(nullptr);
  EXPECT_NE(output.find("env=(unset);"), std::string::npos) << output;
  const auto names_one_of = [&](std::initializer_list<const char*> cores) {
    for (const char* core : cores) {
      if (output.find(fmt::format("core={};", core)) != std::string::npos) return true;
    }
    return false;
  };
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd")) {
    EXPECT_TRUE(names_one_of({"SkylakeX", "Cooperlake", "SapphireRapids"})) << output;
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_TRUE(names_one_of({"Haswell", "Zen"})) << output;
  }
}

TEST(BlasStart, TreatsAnEmptyVariableAsNotSetAndKeepsIt) {
  const std::string output = run_child("");
  EXPECT_NE(output.find("env=;"), std::string::npos) << output;
  EXPECT_EQ(output.find("by=OPENBLAS_CORETYPE"), std::string::npos) << output;
}
#endif

TEST(BuildInfo, NamesTheKernelsTheThreadsAndTheCompiler) {
  const std::string text = build_info();
  EXPECT_NE(text.find("OpenBLAS 0."), std::string::npos) << text;
  EXPECT_NE(text.find(blas_info().core_type + " kernels"), std::string::npos) << text;
  EXPECT_NE(text.find("threads: "), std::string::npos) << text;
  EXPECT_NE(text.find("compiler: "), std::string::npos) << text;
  EXPECT_EQ(version().find_first_not_of("0123456789."), std::string::npos);
}

// Oracle: the same call made alone. A BLAS without locks around its work buffers passes every serial test and
// fails here within seconds.
TEST(Blas, GivesTheSameBitsWhenManyThreadsCallItAtOnce) {
  const auto work = [](Index item) {
    Random random(1, static_cast<std::uint64_t>(item));
    const Index n = 30 + item % 170;
    Matrix a = random_matrix(n, n, random);
    Matrix c(n, n);
    syrk(1.0, Op::kNone, a, 0.0, c);
    c.diagonal().array() += 1.0;
    EXPECT_TRUE(cholesky(c));
    solve_lower(c, Op::kNone, a);
    return a;
  };
  constexpr Index kItems = 3000;
  std::vector<double> alone(kItems);
  std::vector<double> together(kItems);
  for (Index i = 0; i < kItems; ++i) alone[static_cast<std::size_t>(i)] = work(i).sum();
  parallel_for(kItems, 4, [&](Index i) { together[static_cast<std::size_t>(i)] = work(i).sum(); });
  EXPECT_EQ(alone, together);
}

}  // namespace
}  // namespace subspectra::linalg::blas_test
