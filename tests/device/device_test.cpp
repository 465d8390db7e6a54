#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is POSIX's

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>

#include "device/plugin.hpp"
#include "device/scan.hpp"

namespace subspectra::device {
namespace device_test {
namespace {

std::string fake(const std::string& kind) {
  return fmt::format("{}/fake_{}.so", SUBSPECTRA_FAKE_PLUGINS, kind);
}

template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "device_test_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(Plugin, IsLoadedByItsFileAndSaysItsCards) {
  const Plugin plugin = Plugin::load(fake("good"));
  EXPECT_EQ(plugin.file(), fake("good"));
  EXPECT_EQ(plugin.name(), "cuda");
  EXPECT_EQ(plugin.cards(), 2);
}

TEST(Plugin, IsTheOneTheVariableNames) {
  ::setenv("SUBSPECTRA_CUDA_PLUGIN", fake("good").c_str(), 1);
  EXPECT_EQ(Plugin::load().file(), fake("good"));
  ::setenv("SUBSPECTRA_CUDA_PLUGIN", "/nowhere/plugin.so", 1);
  const auto text = message_of([] { (void)Plugin::load(); });
  EXPECT_TRUE(holds(text, "/nowhere/plugin.so cannot be loaded")) << text;
  ::unsetenv("SUBSPECTRA_CUDA_PLUGIN");
}

TEST(Plugin, ThatIsNotThereIsNamedWithEveryPlaceThatWasLookedAt) {
  ::unsetenv("SUBSPECTRA_CUDA_PLUGIN");
  const auto text = message_of([] { (void)Plugin::load(); });
  EXPECT_TRUE(holds(text, "libsubspectra_cuda.so")) << text;
  EXPECT_TRUE(holds(text, "SUBSPECTRA_CUDA_PLUGIN")) << text;
  EXPECT_GE(std::count(text.begin(), text.end(), ','), 2) << text;
}

TEST(Plugin, OfAnotherVersionIsRefusedWithBothVersions) {
  const auto text = message_of([] { (void)Plugin::load(fake("other_version")); });
  EXPECT_TRUE(holds(text, fmt::format("speaks version {} ", SUBSPECTRA_DEVICE_ABI + 1))) << text;
  EXPECT_TRUE(holds(text, fmt::format("speaks version {};", SUBSPECTRA_DEVICE_ABI))) << text;
}

TEST(Plugin, ThatLacksAFunctionIsRefusedByItsName) {
  const auto text = message_of([] { (void)Plugin::load(fake("incomplete")); });
  EXPECT_TRUE(holds(text, "lacks the function scan_prepare")) << text;
}

TEST(Plugin, ThatIsSomeOtherLibraryIsRefused) {
  const auto text = message_of([] { (void)Plugin::load(fake("without_entry")); });
  EXPECT_TRUE(holds(text, "lacks subspectra_device_table")) << text;
}

TEST(Products, AreFoundInTheWheelBesideThePlugin) {
  const Folder folder;
  const auto packages = folder.path() / "lib/python3.11/site-packages";
  const auto wheel = packages / "nvidia/cu13/lib";
  std::filesystem::create_directories(packages / "subspectra");
  std::filesystem::create_directories(wheel);
  std::filesystem::copy_file(fake("good"), packages / "subspectra/plugin.so");
  std::filesystem::copy_file(fake("good"), wheel / "libcublas.so.13");
  const Search search = find_products((packages / "subspectra/plugin.so").string());
  if (holds(search.found, "/")) {
    EXPECT_EQ(search.found, (wheel / "libcublas.so.13").string());
  }
  EXPECT_FALSE(search.found.empty());
  const Device device(Plugin::load((packages / "subspectra/plugin.so").string()), 0);
  EXPECT_EQ(device.info().arithmetic, search.found);
  EXPECT_TRUE(device.notes().empty());
}

TEST(Products, OfAnEnvironmentAreFoundByItsVariable) {
  const Folder folder;
  const auto wheel = folder.path() / "lib/python3.12/site-packages/nvidia/cublas/lib";
  std::filesystem::create_directories(wheel);
  std::filesystem::copy_file(fake("good"), wheel / "libcublas.so.12");
  ::setenv("VIRTUAL_ENV", folder.path().c_str(), 1);
  const Search search = find_products(fake("good"));
  ::unsetenv("VIRTUAL_ENV");
  EXPECT_FALSE(search.found.empty());
  if (holds(search.found, "/")) {
    EXPECT_EQ(search.found, (wheel / "libcublas.so.12").string());
  }
}

TEST(Products, ThatAreNowhereAreNamedWithEveryPlace) {
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) ::unsetenv(name);
  ::setenv("CUDA_HOME", "/nowhere/cuda", 1);
  const Search search = find_products("/nowhere/plugin.so");
  ::unsetenv("CUDA_HOME");
  if (!search.found.empty()) GTEST_SKIP() << "there is a cuBLAS here: " << search.found;
  const auto has = [&](const std::string& file) {
    return std::find(search.looked_for.begin(), search.looked_for.end(), file) != search.looked_for.end();
  };
  for (const char* file : {"libcublas.so.13", "libcublas.so.12", "libcublas.so", "/nowhere/libcublas.so.13",
                           "/nowhere/cuda/lib64/libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.12"})
    EXPECT_TRUE(has(file)) << file;
  const Device device(Plugin::load(fake("good")), 0);
  ASSERT_EQ(device.notes().size(), 1U);
  EXPECT_TRUE(holds(device.notes().front(), "cuBLAS was not found")) << device.notes().front();
  EXPECT_TRUE(holds(device.notes().front(), "/usr/local/cuda/lib64/libcublas.so.13"));
  EXPECT_STREQ(device.info().arithmetic, "own loops");
}

TEST(Products, ThatDoNotStartAreLeftOutAndSaid) {
  const Folder folder;
  const auto place = folder.path() / "refused/lib64";
  std::filesystem::create_directories(place);
  std::filesystem::copy_file(fake("good"), place / "libcublas.so.13");
  ::setenv("CUDA_HOME", (folder.path() / "refused").c_str(), 1);
  const Device device(Plugin::load(fake("good")), 1);
  ::unsetenv("CUDA_HOME");
  if (!holds(find_products(fake("good")).found, "refused") && device.notes().empty())
    GTEST_SKIP() << "another cuBLAS comes first here";
  ASSERT_EQ(device.notes().size(), 1U);
  EXPECT_TRUE(holds(device.notes().front(), "is not used (it is refused)")) << device.notes().front();
  EXPECT_STREQ(device.info().arithmetic, "own loops");
}

TEST(Wish, IsOneOfFourWords) {
  EXPECT_TRUE(parse_wish("auto").automatic);
  EXPECT_FALSE(parse_wish("cpu").card || parse_wish("cpu").automatic);
  EXPECT_TRUE(parse_wish("cuda").card);
  EXPECT_EQ(parse_wish("cuda:3").number, 3);
  for (const char* text : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda1", "CPU"})
    EXPECT_THROW((void)parse_wish(text), InvalidArgument) << text;
}

TEST(Wish, ForACardThatIsNotThereIsAnErrorAndAnAutomaticOneIsAReason) {
  std::string why;
  ::setenv("SUBSPECTRA_CUDA_PLUGIN", fake("good").c_str(), 1);
  EXPECT_NE(open_wished(parse_wish("auto"), why), nullptr);
  EXPECT_EQ(why, "");
  EXPECT_EQ(open_wished(parse_wish("cpu"), why), nullptr);
  EXPECT_EQ(why, "");
  const auto text = message_of([&] { (void)open_wished(parse_wish("cuda:2"), why); });
  EXPECT_TRUE(holds(text, "the cards are cuda:0 to cuda:1")) << text;
  const std::map<std::string, std::string> broken = {{"without_card", "there is no cuda card"},
                                                     {"driverless", "no driver"},
                                                     {"other_version", "install both from one release"}};
  for (const auto& [kind, words] : broken) {
    ::setenv("SUBSPECTRA_CUDA_PLUGIN", fake(kind).c_str(), 1);
    EXPECT_EQ(open_wished(parse_wish("auto"), why), nullptr);
    EXPECT_TRUE(holds(why, words)) << why;
    EXPECT_THROW((void)open_wished(parse_wish("cuda"), why), Error);
  }
  ::unsetenv("SUBSPECTRA_CUDA_PLUGIN");
}

/// A problem and, by factorizations of Eigen's, what its sets are worth.
struct Problem {
  Matrix factor, m, b;
  int form = 0;

  Problem(std::uint64_t seed, int of_form, Index n, Index r) : form(of_form) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    const auto draw = [&](Index rows, Index columns) {
      return Matrix::NullaryExpr(rows, columns, [&] { return normal(random); });
    };
    factor = draw(30, n);
    for (Index j = 0; j < n; ++j) factor.col(j).normalize();
    m = draw(n, r) * 0.5;
    b = factor.transpose() * factor;
  }
  [[nodiscard]] SubspectraScanProblem given() const {
    SubspectraScanProblem problem{};
    problem.form = form;
    problem.features = b.rows();
    problem.rows = factor.rows();
    problem.factor = factor.data();
    problem.factor_lead = factor.rows();
    problem.directions = m.cols();
    problem.direction = m.data();
    problem.rounding = 1e-14;
    problem.dependent = 1e-12;
    return problem;
  }
  [[nodiscard]] double value(const std::vector<Index>& set) const {
    const Matrix own = m(set, Eigen::all);
    const Eigen::LLT<Matrix> factorized(Matrix(b(set, set)));
    const Matrix t = own.transpose() * factorized.solve(own);
    if (form == SUBSPECTRA_SCAN_TRACE) return t.trace();
    const Eigen::SelfAdjointEigenSolver<Matrix> pairs(t);
    if (form == SUBSPECTRA_SCAN_DEFINITE) return pairs.eigenvalues().maxCoeff();
    return (1.0 + pairs.eigenvalues().array()).log().sum();
  }
  /// All sets of k features, best first.
  [[nodiscard]] std::vector<std::pair<double, std::vector<Index>>> all(int k) const {
    std::vector<std::pair<double, std::vector<Index>>> result;
    std::vector<bool> in(static_cast<std::size_t>(b.rows()), false);
    std::fill(in.begin(), in.begin() + k, true);
    do {
      std::vector<Index> set;
      for (std::size_t j = 0; j < in.size(); ++j)
        if (in[j]) set.push_back(static_cast<Index>(j));
      result.emplace_back(value(set), set);
    } while (std::prev_permutation(in.begin(), in.end()));
    std::sort(result.begin(), result.end(), std::greater<>());
    return result;
  }
};

std::shared_ptr<const Device> fake_card(const std::string& kind = "good") {
  return std::make_shared<const Device>(Plugin::load(fake(kind)), 0);
}

/// Keeps the best sets it is offered, by its own arithmetic.
struct Best {
  const Problem& problem;
  std::size_t pool;
  double floor;
  std::map<std::vector<Index>, double> known = {};
  [[nodiscard]] double limit() const {
    std::vector<double> values;
    for (const auto& entry : known) values.push_back(entry.second);
    std::sort(values.begin(), values.end(), std::greater<>());
    return std::max(floor, values.size() < pool ? 0.0 : values[pool - 1]) * (1.0 - 1e-9);
  }
  SetSeeker seeker() {
    SetSeeker result;
    result.limit = [this] { return limit(); };
    result.offer = [this](const std::vector<Index>& set) { known[set] = problem.value(set); };
    return result;
  }
};

TEST(TryEverySet, FindsTheBestSetsOfEverySizeAndForm) {
  const auto card = fake_card();
  for (int form = 0; form < 3; ++form) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Problem problem(seed, form, 9 + static_cast<Index>(seed), form == 0 ? 1 : 3);
      Scan scan(card, problem.given(), 4);
      for (int k = 2; k <= 4; ++k) {
        SCOPED_TRACE(fmt::format("form {} seed {} k {}", form, seed, k));
        const auto all = problem.all(k);
        Best best{problem, 3, all[20].first};
        SetSeeker seeker = best.seeker();
        seeker.block_s = 1e-12;  // every first feature by itself
        const ScanReport report = try_every_set(scan, k, 0, seeker, RunControl());
        EXPECT_EQ(report.end, ScanEnd::kDone) << report.why;
        EXPECT_DOUBLE_EQ(report.sets, static_cast<double>(all.size()));
        for (std::size_t place = 0; place < 3; ++place)
          EXPECT_TRUE(best.known.count(all[place].second) > 0) << "place " << place;
      }
    }
  }
}

TEST(TryEverySet, OffersAllSetsOfAPairThatTheCardDoesNotSettle) {
  const Problem problem(1, SUBSPECTRA_SCAN_TRACE, 10, 2);
  Scan scan(fake_card(), problem.given(), 4);
  for (const int k : {3, 4}) {
    Best best{problem, 1, 1e6};  // nothing beats it
    const ScanReport report = try_every_set(scan, k, 0, best.seeker(), RunControl());
    EXPECT_EQ(report.end, ScanEnd::kDone);
    // 3 and 5 and every other one, those before them as well.
    EXPECT_EQ(best.known.size(), k == 3 ? 8U : 28U);
    for (const auto& entry : best.known)
      EXPECT_TRUE(std::binary_search(entry.first.begin(), entry.first.end(), 3) &&
                  std::binary_search(entry.first.begin(), entry.first.end(), 5));
  }
}

TEST(TryEverySet, NarrowsItsBlocksWhenTheListOverflows) {
  const Problem problem(2, SUBSPECTRA_SCAN_DEFINITE, 12, 1);
  Scan scan(fake_card(), problem.given(), 3);
  const auto all = problem.all(2);
  Best best{problem, 12, all[11].first};
  SetSeeker seeker = best.seeker();
  seeker.capacity = 6;
  const ScanReport report = try_every_set(scan, 2, 0, seeker, RunControl());
  ASSERT_EQ(report.end, ScanEnd::kDone) << report.why;
  EXPECT_GT(report.blocks, 1);
  for (std::size_t place = 0; place < 12; ++place)
    EXPECT_TRUE(best.known.count(all[place].second) > 0) << "place " << place;
}

TEST(TryEverySet, LeavesTheRestToTheProcessorWhenOneFirstFeatureIsTooMuch) {
  const Problem problem(3, SUBSPECTRA_SCAN_DEFINITE, 12, 1);
  Scan scan(fake_card(), problem.given(), 3);
  Best best{problem, 1, 1e-6};  // all beat it
  SetSeeker seeker = best.seeker();
  seeker.capacity = 4;
  const ScanReport report = try_every_set(scan, 3, 0, seeker, RunControl());
  EXPECT_EQ(report.end, ScanEnd::kUnable);
  EXPECT_EQ(report.next, 0);
  EXPECT_TRUE(holds(report.why, "more than 4 sets")) << report.why;
}

TEST(TryEverySet, AsksForAHigherLimitBeforeItGivesUp) {
  const Problem problem(3, SUBSPECTRA_SCAN_DEFINITE, 12, 1);
  Scan scan(fake_card(), problem.given(), 3);
  Best best{problem, 1, 1e-6};
  SetSeeker seeker = best.seeker();
  seeker.capacity = 4;
  seeker.too_many = [&] {
    best.floor = problem.all(3).front().first;
    return true;
  };
  const ScanReport report = try_every_set(scan, 3, 0, seeker, RunControl());
  EXPECT_EQ(report.end, ScanEnd::kDone) << report.why;
  EXPECT_TRUE(best.known.count(problem.all(3).front().second) > 0);
}

TEST(TryEverySet, ComesBackAfterItsTime) {
  const Problem problem(7, SUBSPECTRA_SCAN_TRACE, 12, 2);
  Scan scan(fake_card(), problem.given(), 2);
  Best best{problem, 1, 1e6};
  SetSeeker seeker = best.seeker();
  seeker.most_s = 0.0;
  seeker.block_s = 1e-12;
  Index next = 0;
  double sets = 0.0;
  for (int calls = 0; calls < 100; ++calls) {
    const ScanReport report = try_every_set(scan, 2, next, seeker, RunControl());
    next = report.next;
    sets += report.sets;
    if (report.end == ScanEnd::kDone) break;
  }
  EXPECT_LE(next, 11);
  seeker.most_s = 1e9;
  EXPECT_EQ(try_every_set(scan, 2, next, seeker, RunControl()).end, ScanEnd::kDone);
}

TEST(TryEverySet, GoesOnWhereItWasStopped) {
  const Problem problem(4, SUBSPECTRA_SCAN_RATIO, 14, 2);
  Scan scan(fake_card(), problem.given(), 3);
  const auto all = problem.all(3);
  Best best{problem, 1, all[30].first};
  std::stop_source stop;
  SetSeeker seeker = best.seeker();
  seeker.block_s = 1e-12;
  int limits = 0;
  const auto limit = seeker.limit;
  seeker.limit = [&] {
    if (++limits == 4) stop.request_stop();
    return limit();
  };
  const ScanReport first = try_every_set(scan, 3, 0, seeker, RunControl(stop.get_token(), 1e9));
  EXPECT_EQ(first.end, ScanEnd::kStopped);
  EXPECT_GT(first.next, 0);
  EXPECT_LT(first.next, 12);
  const ScanReport second = try_every_set(scan, 3, first.next, seeker, RunControl());
  EXPECT_EQ(second.end, ScanEnd::kDone);
  EXPECT_DOUBLE_EQ(first.sets + second.sets, static_cast<double>(all.size()));
  EXPECT_TRUE(best.known.count(all[0].second) > 0);
}

TEST(Scan, ThatDoesNotFitSaysSo) {
  const Problem problem(5, SUBSPECTRA_SCAN_DEFINITE, 8, 1);
  const auto card = fake_card("small");
  try {
    const Scan scan(card, problem.given(), 3);
    FAIL() << "it fits";
  } catch (const Unable& unable) {
    EXPECT_TRUE(holds(unable.what(), "of the card's memory")) << unable.what();
  }
}

TEST(Scan, OfACardThatLiesIsAnError) {
  const Problem problem(6, SUBSPECTRA_SCAN_DEFINITE, 8, 1);
  Scan scan(fake_card("lying"), problem.given(), 2);
  scan.prepare(1e6);
  const auto text = message_of([&] { (void)scan.sets(2, 0, 8, 100); });
  EXPECT_TRUE(holds(text, "it handed out feature 8 of 8")) << text;
}

}  // namespace
}  // namespace device_test
}  // namespace subspectra::device
