#include "reproduce/experiments.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/random.hpp"
#include "reading.hpp"
#include "reproduce/images.hpp"

namespace subspectra::reproduce::experiments_test {
namespace {

using subspectra::testing::contains;
using subspectra::testing::Folder;
using subspectra::testing::message_of;

Reproduction run(const std::string& id, const ReproduceOptions& options) {
  return run_experiment(find_experiment(id), options, RunControl{});
}

double at(const Reproduction& result, const std::string& series, Index x) {
  for (const Finding& finding : result.results) {
    if (finding.series == series && finding.x == x) return finding.obtained.value();
  }
  ADD_FAILURE() << series << " " << x << " is missing";
  return 0.0;
}

TEST(Experiments, HaveNamesOfTheirOwnAndSayWhereTheyAreFrom) {
  std::set<std::string_view> ids;
  for (const Experiment& experiment : experiments()) {
    EXPECT_TRUE(ids.insert(experiment.id).second) << experiment.id;
    EXPECT_FALSE(experiment.source.empty());
    EXPECT_FALSE(experiment.summary.empty());
    EXPECT_EQ(&find_experiment(experiment.id), &experiment);
  }
  EXPECT_TRUE(contains(message_of<InvalidArgument>([] { return find_experiment("icml06-fig9").id; }),
                       "did you mean"));
}

TEST(Experiments, WithoutTheirDataSayWhatToGet) {
  for (const Experiment& experiment : experiments()) {
    if (experiment.needs.empty()) continue;
    const auto message = message_of<InvalidArgument>([&] {
      check_request(experiment, {});
      return 0;
    });
    const std::string what = experiment.id == "jmlr05-images" ? "DIR: " : "FILE: ";
    EXPECT_TRUE(contains(message, std::string(experiment.id) + " needs data = " + what));
  }
  EXPECT_TRUE(contains(message_of<InvalidArgument>([] {
                         check_request(find_experiment("iccv07-bounds"), {.runs = 3});
                         return 0;
                       }),
                       "runs is an option of icml06-fig1"));
}

TEST(MonteCarlo, NothingExceedsTheOptimumAndAllFeaturesReachIt) {
  const Reproduction result = run("icml06-fig1", {.runs = 6, .seed = 3});
  const auto exact = std::find_if(result.results.begin(), result.results.end(), [](const Finding& finding) {
    return finding.series.starts_with("eslda against");
  });
  ASSERT_NE(exact, result.results.end());
  EXPECT_LE(exact->obtained, 1e-9);
  EXPECT_EQ(result.status, Status::kHeuristic);
  for (const Finding& finding : result.results) {
    if (!finding.x) continue;
    EXPECT_LE(finding.obtained.value(), 1.0 + 1e-9) << result.name(finding);
    if (*finding.x == 16) {
      EXPECT_NEAR(finding.obtained.value(), 1.0, 1e-9) << result.name(finding);
    }
  }
  EXPECT_NEAR(at(result, "forward", 1), 1.0, 1e-9);
  for (Index k = 1; k <= 16; ++k) {
    EXPECT_GE(at(result, "dual pass", k),
              std::max(at(result, "forward", k), at(result, "backward", k)) - 1e-12);
  }
}

TEST(MonteCarlo, DoesNotDependOnTheNumberOfThreads) {
  const auto numbers = [](int threads) {
    return reproduction_json(run("icml06-fig1", {.runs = 9, .threads = threads}))["results"];
  };
  EXPECT_EQ(numbers(1), numbers(4));
}

TEST(MonteCarlo, StopsWhenItIsTold) {
  std::stop_source stop;
  stop.request_stop();
  const RunControl control(stop.get_token(), kInfinity);
  const Reproduction result = run_experiment(find_experiment("icml06-fig1"), {}, control);
  EXPECT_EQ(result.status, Status::kInterrupted);
  EXPECT_TRUE(result.results.empty());
}

TEST(ErrorCurves, SetThePublishedErrorBesideBothProtocols) {
  const Reproduction result = run("icml06-fig2", {.k = {29, 30}, .runs = 1});
  int published = 0;
  for (const Finding& finding : result.results) {
    if (finding.published) ++published;
    EXPECT_GT(finding.obtained.value(), 0.05);
  }
  EXPECT_EQ(published, 2);
  EXPECT_LT(at(result, "gslda, all rows", 30), 0.35);
  EXPECT_GT(at(result, "gslda, nested", 30), 0.15);
}

TEST(Bounds, HoldForEverySubsetAndThePrintedOneDoesNot) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    const Reproduction result = run("iccv07-bounds", {.seed = seed});
    for (Index k = 1; k <= 12; ++k) {
      EXPECT_LE(at(result, "bound, every", k), at(result, "worst subset", k) * (1.0 + 1e-12));
      EXPECT_LE(at(result, "bound, best only", k), at(result, "best subset", k) * (1.0 + 1e-12));
      EXPECT_LE(at(result, "greedy", k), at(result, "best subset", k) * (1.0 + 1e-9));
    }
    EXPECT_NEAR(at(result, "worst subset", 12), at(result, "best subset", 12), 1e-12);
    EXPECT_GT(at(result, "share below printed", 1), 0.0);
  }
}

TEST(Speed, BothWaysFindTheSameSetsAndTheFitIsThere) {
  const Reproduction result = run("iccv07-speed", {.quick = true, .sizes = {"6", "9", "12"}});
  EXPECT_LT(result.details["largest_relative_difference"].get<double>(), 1e-9);
  EXPECT_TRUE(result.details["fit"].contains("cholesky"));
  EXPECT_GT(at(result, "ratio", 1024), 0.0);
  EXPECT_GT(at(result, "eigenproblem s", 9), 0.0);
}

TEST(ExactTimes, TheSearchAgreesWithALookAtAllSubsets) {
  const Reproduction result = run("icml06-exact", {.runs = 2, .sizes = {"8", "12", "40"}, .seed = 3});
  EXPECT_EQ(result.status, Status::kHeuristic);
  EXPECT_LT(result.details["largest_relative_difference"].get<double>(), 1e-9);
  for (const Index n : {8, 12, 40}) {
    EXPECT_GT(at(result, "k = n/2, s", n), 0.0);
    EXPECT_GE(at(result, "all k, nodes", n), at(result, "k = n/2, nodes", n));
    EXPECT_GT(at(result, "greedy is best", n), 0.0);
    EXPECT_LE(at(result, "greedy is best", n), 1.0 + 1e-12);
  }
  int published = 0;
  for (const Finding& finding : result.results) {
    if (!finding.published) continue;
    ++published;
    EXPECT_EQ(finding.x, 40);
    EXPECT_LT(finding.obtained.value(), 0.01 * *finding.published);
  }
  EXPECT_EQ(published, 1);
}

TEST(ExactTimes, StoppedTheyCountNothingThatWasCut) {
  std::stop_source stop;
  stop.request_stop();
  const Reproduction result = run_experiment(find_experiment("icml06-exact"), {.sizes = {"30"}},
                                             RunControl(stop.get_token(), kInfinity));
  EXPECT_EQ(result.status, Status::kInterrupted);
  EXPECT_TRUE(result.results.empty());
}

TEST(ErrorCurves, IonosphereHasTheExactSearchBesideTheGreedyOne) {
  const Reproduction result = run("icml06-fig3", {.k = {15, 16}, .runs = 1});
  EXPECT_LT(at(result, "eslda, all rows", 16), 0.2);
  EXPECT_GT(at(result, "eslda, nested", 16), 0.05);
  EXPECT_GT(at(result, "gslda, nested", 16), 0.05);
  int published = 0;
  for (const Finding& finding : result.results) published += finding.published ? 1 : 0;
  EXPECT_EQ(published, 2);
}

TEST(Experiments, WriteTheSchemaOfTheContract) {
  const auto json = reproduction_json(run("iccv07-bounds", {}));
  EXPECT_EQ(json["schema"], "subspectra.reproduction/1");
  EXPECT_EQ(json["id"], "iccv07-bounds");
  EXPECT_EQ(json["status"], "heuristic");
  EXPECT_FALSE(json["protocol"]["text"].empty());
  ASSERT_FALSE(json["results"].empty());
  for (const auto& entry : json["results"]) {
    for (const char* field : {"name", "published", "obtained", "spread"})
      EXPECT_TRUE(entry.contains(field)) << field;
  }
}

/// Images of 3 people, 6 x 4 pixels: what tells them apart is the left half; the corner never changes.
std::string faces_csv() {
  std::string text;
  for (int j = 0; j < 24; ++j) text += "p" + std::to_string(j) + ",";
  text += "class\n";
  Random random(5);
  for (int i = 0; i < 18; ++i) {
    for (int j = 0; j < 24; ++j) {
      const double person = j % 4 < 2 ? 10.0 * (i % 3) : 0.0;
      text += (j == 0 ? std::string("7") : std::to_string(person + random.normal())) + ',';
    }
    text += 's' + std::to_string(i % 3) + '\n';
  }
  return text;
}

/// Three classes of 14 rows that three of 40 columns tell apart, as intensities, and a class that is too
/// small.
std::string intensities(const Folder& folder) {
  Random random(1);
  std::string csv;
  for (int j = 0; j < 40; ++j) csv += fmt::format("g{},", j);
  csv += "class\n";
  for (int i = 0; i < 45; ++i) {
    const int group = i < 42 ? i % 3 : 3;
    for (int j = 0; j < 40; ++j)
      csv += fmt::format("{},", 200.0 * std::exp2((j == group ? 2.0 : 0.0) + 0.7 * random.normal()));
    csv += fmt::format("c{}\n", group);
  }
  return folder.write("intensities.csv", csv);
}

TEST(SparseDiscriminants, DifferencesAreThoseOfTheSplitsWhateverTheThreads) {
  const Folder folder;
  const ReproduceOptions options{.data = intensities(folder), .runs = 12, .seed = 3, .threads = 1};
  const Reproduction result = run("aistats15-table1", options);
  EXPECT_TRUE(contains(result.protocol.front(), "42 rows of the 3 classes"));
  EXPECT_TRUE(contains(result.protocol.front(), "log2"));
  const auto& splits = result.details["splits"];
  ASSERT_EQ(splits.size(), 12U);
  const auto mean = [&](const std::string& name, const std::string& less, std::size_t most) {
    double sum = 0.0;
    std::size_t count = 0;
    for (const auto& split : splits) {
      if (!split.contains(name) || count == most) continue;
      sum += split[name]["error"].get<double>();
      if (!less.empty()) sum -= split[less]["error"].get<double>();
      ++count;
    }
    return sum / static_cast<double>(count);
  };
  const auto obtained = [&](const std::string& series) {
    for (const Finding& finding : result.results) {
      if (finding.series != series) continue;
      EXPECT_FALSE(finding.published.has_value()) << "the paper has no such table";
      return finding.obtained.value();
    }
    ADD_FAILURE() << series << " is missing";
    return 0.0;
  };
  EXPECT_FALSE(splits[11].contains("rvm-row em"));  // ten splits alone
  for (const std::string name : {"rvm-row", "rvm-entry", "gloss", "sda", "plda", "rvm-row em"}) {
    EXPECT_NEAR(obtained(name + ", error %"), mean(name, "", 12), 1e-9);
    EXPECT_LE(mean(name, "", 12), 30.0) << "a third of the rows by guessing is 67 %";
    if (name == "rvm-row") continue;
    EXPECT_NEAR(obtained(name + " less rvm-row, error %"), mean(name, "rvm-row", 12), 1e-9);
    EXPECT_NEAR(obtained(name + " less rvm-row cv, error %, first 10 splits"), mean(name, "rvm-row cv", 10),
                1e-9);
  }
  ReproduceOptions more = options;
  more.threads = 3;
  EXPECT_EQ(run("aistats15-table1", more).details, result.details);
}

TEST(SparseDiscriminants, StoppedItGivesTheSplitsThatWereDone) {
  const Folder folder;
  const ReproduceOptions options{.data = intensities(folder), .runs = 50, .threads = 2};
  std::stop_source stop;
  const RunControl control(
      stop.get_token(), kInfinity, [&](const Progress&) { stop.request_stop(); }, 0.0);
  const Reproduction result = run_experiment(find_experiment("aistats15-table1"), options, control);
  const auto& splits = result.details["splits"];
  EXPECT_GE(splits.size(), 1U);
  EXPECT_LT(splits.size(), 10U);
  EXPECT_EQ(result.settings["splits_done"], splits.size());
  EXPECT_EQ(result.status, Status::kInterrupted);
  EXPECT_TRUE(contains(result.notes.front(), "of 50 splits were done"));
  EXPECT_FALSE(result.results.empty());
}

TEST(Faces, ThePixelsThatVaryAreChosenAndDrawn) {
  const Folder folder;
  const std::string path = folder.write("faces.csv", faces_csv());
  const Reproduction result = run("iccv07-faces", {.data = path, .shape = {6, 4}, .k = {11, 11}});
  ASSERT_EQ(result.pictures.size(), 1U);
  EXPECT_EQ(result.pictures[0].second, " #..\n##..\n##..\n##..\n##..\n##..\n");
  EXPECT_NEAR(at(result, "backward", 23), 1.0, 1e-9);
  EXPECT_GT(at(result, "backward", 11), 0.99);
  EXPECT_TRUE(contains(message_of<InvalidArgument>([&] {
                         return run("iccv07-faces", {.data = path, .shape = {5, 4}}).id;
                       }),
                       "shape = 5x4 is 20 pixels"));
}

TEST(Verification, TellsThePeopleApart) {
  const Folder folder;
  const std::string path = folder.write("faces.csv", faces_csv());
  const Reproduction result = run("iccv07-verification", {.data = path, .k = {11, 11}, .components = 1});
  for (const Finding& finding : result.results) {
    if (finding.series.ends_with("equal error rate")) {
      EXPECT_LT(finding.obtained.value(), 0.02) << finding.series;
    }
  }
  EXPECT_EQ(result.settings["genuine_pairs"], 45);
  EXPECT_EQ(result.settings["impostor_pairs"], 108);
}

TEST(Images, AFolderOfPgmFilesIsATable) {
  const Folder folder;
  for (const std::string person : {"s1", "s2"}) {
    std::filesystem::create_directory(folder.path(person));
    static_cast<void>(folder.write(person + "/1.pgm", std::string("P5\n# a comment\n2 2\n255\n") + "ABCD"));
    static_cast<void>(folder.write(person + "/2.pgm", "P2 2 2 999\n1 2\n3 800\n"));
  }
  const ImageTable images = read_image_folder(folder.path(""), {});
  EXPECT_EQ(images.shape, (ImageShape{2, 2}));
  EXPECT_EQ(images.table.labels()->classes, (std::vector<std::string>{"s1", "s2"}));
  const Matrix pixels = images.table.parts().dense;
  EXPECT_EQ(pixels.row(2), Eigen::RowVector4d(65, 66, 67, 68));
  EXPECT_EQ(pixels.row(3), Eigen::RowVector4d(1, 2, 3, 800));
  const ImageTable small = read_image_folder(folder.path(""), {1, 2});
  EXPECT_EQ(small.table.parts().dense.row(3), Eigen::RowVector2d(2, 401));
  static_cast<void>(folder.write("s1/3.pgm", "P5 2 2 255\nAB"));
  EXPECT_TRUE(contains(message_of([&] { return read_image_folder(folder.path(""), {}).shape; }),
                       "too short for 2 x 2"));
  static_cast<void>(folder.write("s1/3.pgm", "P5 99999 2 255\nAB"));
  EXPECT_TRUE(
      contains(message_of([&] { return read_image_folder(folder.path(""), {}).shape; }), "width above"));
  static_cast<void>(folder.write("s1/3.pgm", "P5 3 2 255\nABCDEF"));
  EXPECT_TRUE(
      contains(message_of([&] { return read_image_folder(folder.path(""), {}).shape; }), "give shape"));
}

TEST(Shape, FindsThePartsThatMoveTogether) {
  const Folder folder;
  // 40 vertices on a line; 0..9 move together strongly, 20..29 less.
  std::string text;
  for (int v = 0; v < 40; ++v) {
    for (const char axis : {'x', 'y', 'z'})
      text += (v > 0 || axis > 'x' ? "," : "") + ("p" + std::to_string(v)) + "_" + axis;
  }
  text += '\n';
  Random random(8);
  for (int i = 0; i < 30; ++i) {
    const double first = 3.0 * random.normal();
    const double second = random.normal();
    for (int v = 0; v < 40; ++v) {
      const double move = v < 10 ? first : v >= 20 && v < 30 ? second : 0.0;
      for (int axis = 0; axis < 3; ++axis) {
        text +=
            (v + axis > 0 ? "," : "") + std::to_string((axis == 0 ? v : 0) + move + 0.01 * random.normal());
      }
    }
    text += '\n';
  }
  const Reproduction result =
      run("iccv07-shape",
          {.data = folder.write("shape.csv", text), .target = "none", .k = {10, 10}, .components = 2});
  ASSERT_EQ(result.details["parts"].size(), 2U);
  EXPECT_GT(result.settings["levels"].size(), 1U);
  for (int part = 0; part < 2; ++part) {
    std::vector<std::string> want;
    for (int v = 20 * part; v < 20 * part + 10; ++v) want.push_back("p" + std::to_string(v));
    EXPECT_EQ(result.details["parts"][part]["vertices"], want);
    EXPECT_GT(at(result, "variance kept", part + 1), 0.99);
  }
  EXPECT_TRUE(contains(
      message_of([&] {
        return run("iccv07-shape", {.data = folder.write("t.csv", "a,b\n1,2\n3,4\n"), .target = "none"}).id;
      }),
      "2 columns are no whole number of vertices"));
}

}  // namespace
}  // namespace subspectra::reproduce::experiments_test
