/// A certificate is a promise: where rounding leaves too few digits for one, none is given.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "run_program.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
using testing::run_program;

const std::string kInputs = SUBSPECTRA_SOURCE_DIR "/tests/replay/inputs/";

/// Two columns agree to seven digits and more: in doubles the pair was off by 16 and by 21 percent, and
/// certified. Oracle: every set in quadruple precision.
class NearCopies {
 public:
  explicit NearCopies(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    columns_ = static_cast<int>(std::count(line.begin(), line.end(), ','));
    while (std::getline(file, line)) {
      std::vector<std::string> fields;
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
      std::vector<Quad> row;
      for (int j = 0; j < columns_; ++j) row.push_back(std::stod(fields[static_cast<std::size_t>(j)]));
      (classes_.empty() || fields.back() == classes_.front() ? first_ : second_).push_back(row);
      classes_.push_back(fields.back());
    }
  }
  [[nodiscard]] int columns() const { return columns_; }

  /// a'B^{-1}a by elimination.
  [[nodiscard]] double value(const std::vector<int>& set, double fraction) const {
    const std::size_t k = set.size();
    std::vector<std::vector<Quad>> m(k, std::vector<Quad>(k + 1));
    std::vector<Quad> a(k);
    const Quad n1 = static_cast<double>(first_.size()), n2 = static_cast<double>(second_.size());
    for (std::size_t i = 0; i < k; ++i) {
      a[i] = m[i][k] = mean(first_, set[i]) - mean(second_, set[i]);
      for (std::size_t j = 0; j < k; ++j) {
        m[i][j] = (scatter(first_, set[i], set[j]) + scatter(second_, set[i], set[j])) / (n1 + n2);
        if (i == j) m[i][i] *= Quad(1) + Quad(fraction);
      }
    }
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t r = 0; r < k; ++r) {
        if (r == c) continue;
        const Quad factor = m[r][c] / m[c][c];
        for (std::size_t j = c; j <= k; ++j) m[r][j] -= factor * m[c][j];
      }
    }
    Quad value = 0;
    for (std::size_t i = 0; i < k; ++i) value += a[i] * m[i][k] / m[i][i];
    return static_cast<double>(value * n1 * n2 / ((n1 + n2) * (n1 + n2)));
  }
  [[nodiscard]] double best(std::size_t k, double fraction) const {
    double best = 0.0;
    for (unsigned bits = 0; bits < 1U << static_cast<unsigned>(columns_); ++bits) {
      std::vector<int> set;
      for (int j = 0; j < columns_; ++j) {
        if ((bits >> static_cast<unsigned>(j) & 1U) != 0) set.push_back(j);
      }
      if (set.size() == k) best = std::max(best, value(set, fraction));
    }
    return best;
  }

 private:
  __extension__ using Quad = __float128;
  using Rows = std::vector<std::vector<Quad>>;
  static Quad mean(const Rows& rows, int j) {
    Quad sum = 0;
    for (const auto& row : rows) sum += row[static_cast<std::size_t>(j)];
    return sum / static_cast<double>(rows.size());
  }
  static Quad scatter(const Rows& rows, int i, int j) {
    const Quad mi = mean(rows, i), mj = mean(rows, j);
    Quad sum = 0;
    for (const auto& row : rows)
      sum += (row[static_cast<std::size_t>(i)] - mi) * (row[static_cast<std::size_t>(j)] - mj);
    return sum;
  }
  int columns_ = 0;
  std::vector<std::string> classes_;
  Rows first_, second_;
};

TEST(Certificates, OfNearCopiesAreRight) {
  for (const std::string table : {"celsius.csv", "copy.csv"}) {
    const NearCopies truth(kInputs + table);
    for (const std::string method : {"gslda", "forward-lda", "backward-lda", "eslda", "all", "fisher"}) {
      for (const std::string ridge : {"auto", "0", "rel:1e-13"}) {
        SCOPED_TRACE(table + ' ' + method + ' ' + ridge);
        const auto run =
            run_program({"select", kInputs + table, "--method", method, "--ridge", ridge, "--json"});
        if (run.code == 4) {  // without a ridge B may be singular to doubles, which is said
          EXPECT_NE(ridge, "auto") << run.err;
          continue;
        }
        const json result = run.json();
        double fraction = 0.0;
        if (result["options"]["ridge"].is_string())
          fraction = std::stod(result["options"]["ridge"].get<std::string>().substr(4));
        if (ridge == "auto") {
          EXPECT_GT(fraction, 0.0);
          EXPECT_EQ(result["ridge"]["fraction"], fraction);
          EXPECT_EQ(result["ridge"]["variances"].size(), static_cast<std::size_t>(truth.columns()));
          EXPECT_NE(result["warnings"].dump().find("copies"), std::string::npos) << result["warnings"];
        }
        for (const auto& entry : result["path"]) {
          const auto set = entry["features"].get<std::vector<int>>();
          const double best = truth.best(set.size(), fraction);
          EXPECT_NEAR(entry["objective"], truth.value(set, fraction), 1e-9 * best) << entry;
          if (entry.contains("upper_bound")) {
            EXPECT_GE(entry["upper_bound"], best * (1.0 - 1e-9)) << entry;
          }
          if (entry.value("certified", false)) {
            EXPECT_GE(entry["objective"], best * (1.0 - 1e-9)) << entry;
          }
        }
      }
    }
    EXPECT_EQ(run_program({"select", kInputs + table, "--method", "eslda", "--require-optimal"}).code, 0);
  }
}

TEST(Certificates, StayWhereFeaturesAreNoCopies) {
  const json plain = run_program({"select", "sonar", "--method", "eslda", "-k", "1:4", "--json"}).json();
  EXPECT_EQ(plain["status"], "optimal");
  for (const auto& entry : plain["path"]) EXPECT_TRUE(entry["certified"]) << entry;
}

/// With weights the class means of a column that is constant in each class are rounded, and 1e-17 of it was
/// taken for variance: 4.75e+46, certified.
TEST(Certificates, RoundingOfAClassMeanIsNoVariance) {
  const std::string table = kInputs + "sepcol.csv";
  for (const std::vector<std::string>& weights : {std::vector<std::string>{}, {"--weights", "w"}}) {
    std::vector<std::string> words = {"select", table, "--ridge", "0", "--json"};
    words.insert(words.end(), weights.begin(), weights.end());
    const auto run = run_program(words);
    const json result = run.json();
    ASSERT_FALSE(result["path"].empty());
    for (const auto& entry : result["path"]) {
      EXPECT_LT(entry["objective"], 10.0);
      for (const auto& name : entry["names"]) EXPECT_NE(name, "same");
    }
    EXPECT_NE(result["warnings"].dump().find("perfectly"), std::string::npos) << result["warnings"];
  }
  const auto forced = run_program({"select", table, "--ridge", "0", "--include", "same"});
  EXPECT_EQ(forced.code, 4);
  EXPECT_NE(forced.err.find("--ridge auto"), std::string::npos) << forced.err;
  const json automatic = run_program({"select", table, "-k", "1", "--json"}).json();
  EXPECT_EQ(automatic["path"][0]["names"][0], "same");  // a ridge lets it be chosen
}

TEST(Certificates, ATableOfNothingButSuchColumnsIsRefusedInWords) {
  const testing::ScratchDirectory scratch;
  const std::string table = scratch.file("t.csv");
  ASSERT_EQ(testing::run_shell("printf 'a,class\\n1,u\\n1,u\\n2,v\\n2,v\\n' > " + table).code, 0);
  const auto run = run_program({"select", table, "--ridge", "0"});
  EXPECT_EQ(run.code, 4);
  EXPECT_NE(run.err.find("no feature varies within a class"), std::string::npos) << run.err;
}

std::string written(const testing::ScratchDirectory& scratch, const std::string& name,
                    const std::string& text) {
  const std::string path = scratch.file(name);
  std::ofstream(path) << text;
  return path;
}

/// Beside a feature that is worth 1e19 times as much, the search took rounding for the values of the rest,
/// and certified a pool without the second best of them. `verify` tries all sets.
TEST(Certificates, APoolBesideAnOverwhelmingFeatureIsComplete) {
  const testing::ScratchDirectory scratch;
  const std::string a = written(scratch, "a.csv",
                                "14,6,-8,-8,-1.2e10\n6,18,6,-6,-6e9\n-8,6,15,3,3e9\n-8,-6,3,5,7e9\n"
                                "-1.2e10,-6e9,3e9,7e9,1.4e19\n");
  const std::string b = written(
      scratch, "b.csv", "71,71,-22,7,16\n71,71,-22,7,16\n-22,-22,74,10,7\n7,7,10,66,11\n16,16,7,11,61\n");
  const std::string result = scratch.file("r.json");
  const auto run = run_program({"select", "--between", a, "--within", b, "--method", "eslda", "-k", "1",
                                "--pool", "4", "--require-optimal", "-o", result});
  EXPECT_EQ(run.code, 0) << run.err;
  const auto verified = run_program({"verify", result, "--between", a, "--within", b});
  EXPECT_EQ(verified.code, 0) << verified.err << verified.out;
}

/// What rounding leaves of the mean of equal values, some 1e-32 of them in 31 digits, was the variance beside
/// a ridge that is smaller still: 4.6e62 instead of 2.5e80, certified.
TEST(Certificates, EqualValuesDoNotVaryBesideATinyRidge) {
  const testing::ScratchDirectory scratch;
  std::ifstream file(kInputs + "sepcol.csv");
  std::string line, large;
  std::getline(file, line);
  large = line + "\n";
  while (std::getline(file, line)) {
    const auto comma = line.find(',');
    large += line.substr(0, comma) + "e40" + line.substr(comma) + "\n";
  }
  struct Case {
    std::string table, ridge;
    double value;
  };
  for (const auto& [table, ridge, value] : {Case{written(scratch, "large.csv", large), "0.001", 2.49389e80},
                                            Case{kInputs + "sepcol.csv", "1e-60", 2.49389e57}}) {
    for (const std::string method : {"eslda", "gslda"}) {
      SCOPED_TRACE(ridge + " " + method);
      const std::string result = scratch.file("r.json");
      const auto run = run_program({"select", table, "--weights", "w", "--method", method, "--ridge", ridge,
                                    "-k", "1", "-o", result, "--json"});
      ASSERT_EQ(run.code, 0) << run.err;
      EXPECT_NEAR(run.json()["path"][0]["objective"].get<double>() / value, 1.0, 1e-5);
      EXPECT_EQ(run.json()["path"][0]["certified"], true);
      const auto verified = run_program({"verify", result, table});
      EXPECT_EQ(verified.code, 0) << verified.err << verified.out;
    }
  }
}

/// The matrix that an exact search copies from a table forgot that a number was added to its diagonal, and
/// was refused as singular where there are more features than rows less classes.
TEST(Certificates, BoundsOfAWideTableKnowOfItsRidge) {
  const testing::ScratchDirectory scratch;
  const std::string table = written(scratch, "t.csv",
                                    "f0,f1,f2,f3,f4,class\n-1,0,5,9,-9,a\n-7,6,9,-5,-4,b\n7,-1,-4,6,-5,c\n"
                                    "-2,3,1,-8,-9,a\n7,5,6,1,6,b\n-3,-1,5,-7,-4,c\n");
  for (const std::string ridge : {"0.1", "0.001", "rel:0.001"}) {
    const auto run = run_program({"select", table, "--method", "eslda", "--ridge", ridge, "-k", "1:3",
                                  "--bounds", "--require-optimal", "--json"});
    ASSERT_EQ(run.code, 0) << ridge << run.err;
    for (const auto& entry : run.json()["path"]) EXPECT_TRUE(entry.contains("bounds")) << entry;
  }
}

/// Ten rows of three classes; f3 is a copy of f0.
std::string with_a_copy() {
  return "f0,f1,f2,f3,class\n-1,0,5,-1,a\n-7,6,9,-7,b\n7,-1,-4,7,c\n-2,3,1,-2,a\n7,5,6,7,b\n-3,-1,5,-3,c\n"
         "4,2,-3,4,a\n0,8,2,0,b\n1,-6,3,1,c\n5,1,1,5,a\n";
}

/// The covariance of copies and a tiny ridge is singular to doubles and has digits enough in 31.
TEST(Certificates, ATinyRidgeIsSearchedInMoreDigits) {
  const testing::ScratchDirectory scratch;
  const std::string table = written(scratch, "t.csv", with_a_copy());
  const std::string groups = written(scratch, "g.csv", "feature,group\nf0,g\nf1,g\nf2,h\nf3,i\n");
  const std::string result = scratch.file("r.json");
  for (const std::string ridge : {"rel:1.5e-13", "3e-12"}) {
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"-k", "1:4"},
          {"-k", "1:4", "--pool", "2"},
          {"-k", "2", "--pool", "20"},
          {"-k", "1:3", "--groups", groups},
          {"-k", "1:3", "--groups", groups, "--pool", "2"},
          {"-k", "1:3", "--criterion", "wilks", "--include", "f3", "--pool", "3"}}) {
      std::vector<std::string> words = {"select", table,    "--method",          "eslda", "--ridge",
                                        ridge,    "--json", "--require-optimal", "-o",    result};
      words.insert(words.end(), more.begin(), more.end());
      SCOPED_TRACE(::testing::PrintToString(words));
      const auto run = run_program(words);
      ASSERT_EQ(run.code, 0) << run.err;
      const auto verified = run_program({"verify", result, table});
      // Extended precision has few digits for the pair of copies, or none, and says so.
      EXPECT_TRUE(verified.code == 0 || verified.err.find("nothing is wrong") != std::string::npos)
          << verified.err << verified.out;
    }
  }
}

/// Where 31 digits are too few as well, nobody who has given a ridge is told to give one; where a greedy
/// search finds sets, they are the answer, not certified.
TEST(Certificates, AHopelessRidgeIsNotAdvised) {
  const testing::ScratchDirectory scratch;
  const std::string table = written(scratch, "t.csv", with_a_copy());
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"-k", "1:4"}, {"-k", "2", "--pool", "3"}}) {
    std::vector<std::string> words = {"select", table, "--method", "eslda", "--ridge", "1e-40"};
    words.insert(words.end(), more.begin(), more.end());
    const auto refused = run_program(words);
    EXPECT_EQ(refused.code, 4);
    EXPECT_EQ(refused.err.find("or a number"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("larger ridge"), std::string::npos) << refused.err;
  }
  std::istringstream lines(with_a_copy());
  std::string line, large;
  std::getline(lines, line);
  large = line + "\n";
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');)
      large += cells.eof() ? cell + "\n" : cell + ".123456789e60,";
  }
  const auto run = run_program({"select", written(scratch, "large.csv", large), "--method", "eslda",
                                "--ridge", "3.8e-13", "-k", "1:2", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["path"][0]["certified"], true);
}

/// A group of two copies: an empty path was written with the code 0.
TEST(Certificates, NoSetAtAllIsAnError) {
  const testing::ScratchDirectory scratch;
  const std::string table =
      written(scratch, "t.csv", "a,b,class\n1,1,u\n2,2,v\n5,5,u\n-3,-3,v\n4,4,u\n0,0,v\n");
  const std::string groups = written(scratch, "g.csv", "feature,group\na,g\nb,g\n");
  const auto run = run_program(
      {"select", table, "--groups", groups, "--ridge", "0", "--method", "forward-lda", "-k", "1"});
  EXPECT_EQ(run.code, 4);
  EXPECT_NE(run.err.find("linearly dependent"), std::string::npos) << run.err;
  EXPECT_EQ(run_program({"select", table, "--groups", groups, "--method", "forward-lda", "-k", "1"}).code, 0);
}

}  // namespace
}  // namespace subspectra
