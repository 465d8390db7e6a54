/// iccv07-usps and -gender: pixels that tell two kinds of images apart; pictures; every experiment in one
/// run.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/random.hpp"
#include "reading.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/png.hpp"

namespace subspectra::reproduce {
namespace {

using subspectra::testing::contains;
using subspectra::testing::Folder;
using subspectra::testing::message_of;

/// 3 x 4 images of two kinds: pixel 5 tells them apart, pixel 6 a little, the others are noise, pixel 0 is
/// constant.
std::string image_table(Index rows) {
  constexpr Index kPixels = 12;
  Random random(4);
  std::string csv;
  for (Index j = 0; j < kPixels; ++j) csv += "p" + std::to_string(j) + ",";
  csv += "kind\n";
  for (Index i = 0; i < rows; ++i) {
    const double sign = i % 2 == 0 ? 1.0 : -1.0;
    for (Index j = 0; j < kPixels; ++j) {
      const double shift = j == 5 ? 1.6 : j == 6 ? 0.6 : 0.0;
      csv += std::to_string(j == 0 ? 1.0 : sign * shift + random.normal()) + ",";
    }
    csv += i % 2 == 0 ? "woman\n" : "man\n";
  }
  return csv;
}

double value_of(const Reproduction& result, const std::string& series, std::optional<Index> x = {}) {
  for (const Finding& finding : result.results) {
    if (finding.series.starts_with(series) && finding.x == x) return finding.obtained.value();
  }
  ADD_FAILURE() << series << " is missing";
  return 0.0;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Pixels, TheBestOneIsFoundAndDrawnAndTheClassifiersLearn) {
  const Folder folder;
  const ReproduceOptions options{.quick = true,
                                 .data = folder.write("faces.csv", image_table(120)),
                                 .images = folder.path("pictures"),
                                 .shape = {.height = 3, .width = 4},
                                 .threads = 1};
  const Reproduction result = run_experiment(find_experiment("iccv07-gender"), options, RunControl{});
  EXPECT_EQ(result.status, Status::kHeuristic);
  EXPECT_EQ(result.details["best_pixel"], 5);
  EXPECT_EQ(result.settings["pixels"], 11);  // one is constant
  for (const char* classifier : {"Laplace", "EP"}) {
    const std::string who = std::string(classifier) + ", GSLDA: ";
    EXPECT_LT(value_of(result, who + "error", 1), 0.2);
    EXPECT_GT(value_of(result, who + "bits", 1), 0.3);
    EXPECT_LT(value_of(result, who + "bits", 1), 1.0);
    EXPECT_LT(value_of(result, who + "log Z", 5), 0.0);
  }
  // Thresholding cannot capture more than the dual pass's better half; with every pixel all are one.
  EXPECT_NEAR(value_of(result, "objective, forward", 11), value_of(result, "objective, Fisher", 11), 1e-9);
  EXPECT_GT(value_of(result, "soft ARD, EP: seconds"), 0.0);
  EXPECT_GT(result.details["soft_ard_evaluations"]["EP"], 0);
  for (const Finding& finding : result.results) EXPECT_LE(finding.series.size(), 32U) << finding.series;
  std::vector<std::string> names;
  for (const auto& name : result.details["pictures"]) {
    names.push_back(name);
    EXPECT_EQ(bytes_of(folder.path("pictures/" + names.back())).substr(1, 3), "PNG");
  }
  EXPECT_EQ(names.size(), 6U);  // two means, Fisher's vector, the best pixel, two relevance maps
}

TEST(Pixels, RefuseWhatHasNotTwoKinds) {
  const Folder folder;
  const std::string three = folder.write("t.csv", "a,b,kind\n1,2,x\n2,1,y\n3,3,z\n4,1,x\n");
  const auto refused = [&](const char* id, const std::string& data) {
    return message_of<Error>(
        [&] { return run_experiment(find_experiment(id), {.quick = true, .data = data}, RunControl{}).id; });
  };
  EXPECT_TRUE(contains(refused("iccv07-gender", three), "has 3 classes in 'kind' where two are needed"));
  EXPECT_TRUE(contains(refused("iccv07-usps", three), "the classes '3' and '5'"));
  const std::string few = folder.write("f.csv", "a,b,kind\n1,2,x\n2,1,y\n3,3,x\n4,1,x\n");
  EXPECT_TRUE(contains(refused("iccv07-gender", few), "give more images"));
  const auto message = message_of<InvalidArgument>([&] {
    const ReproduceOptions options{
        .quick = true, .data = folder.write("n.csv", image_table(40)), .images = folder.path("x")};
    return run_experiment(find_experiment("iccv07-gender"), options, RunControl{}).id;
  });
  EXPECT_TRUE(contains(message, "shape = HxW"));  // 12 pixels are no square
  EXPECT_FALSE(std::filesystem::exists(folder.path("x")));
}

/// What a PNG row's filter predicts for a byte from those to the left, above, and above to the left.
int predicted(int filter, int left, int above, int corner) {
  if (filter == 1) return left;
  if (filter == 2) return above;
  if (filter == 3) return (left + above) / 2;
  if (filter != 4) return 0;
  const int guess = left + above - corner;  // Paeth's: the nearest of the three
  const int a = std::abs(guess - left), b = std::abs(guess - above), c = std::abs(guess - corner);
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

/// The rows of an 8-bit grey PNG, by zlib alone.
std::vector<std::string> decoded(const std::string& png, std::size_t& width) {
  const auto number = [&](std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>(png[at + i]);
    return value;
  };
  std::string packed;
  std::size_t height = 0;
  for (std::size_t at = 8; at + 12 <= png.size(); at += 12 + number(at)) {
    const std::string type = png.substr(at + 4, 4);
    if (type == "IHDR") {
      width = number(at + 8);
      height = number(at + 12);
    }
    if (type == "IDAT") packed += png.substr(at + 8, number(at));
  }
  std::string raw(height * (width + 1), '\0');
  uLongf size = raw.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(raw.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < height; ++i) {
    const char filter = raw[i * (width + 1)];
    std::string row = raw.substr(i * (width + 1) + 1, width);
    const auto byte = [&](std::size_t r, std::size_t j) {
      return static_cast<int>(static_cast<unsigned char>(r == i ? row[j] : rows[r][j]));
    };
    for (std::size_t j = 0; j < width; ++j) {
      const int left = j > 0 ? byte(i, j - 1) : 0, above = i > 0 ? byte(i - 1, j) : 0;
      const int corner = i > 0 && j > 0 ? byte(i - 1, j - 1) : 0;
      row[j] = static_cast<char>(byte(i, j) + predicted(filter, left, above, corner));
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(Png, TheSmallestValueIsBlackAndTheLargestWhite) {
  Vector pixels(6);
  pixels << -2.0, 0.5, 3.0, 3.0, -2.0, 0.5;
  std::size_t width = 0;
  const auto rows = decoded(png_bytes({.height = 2, .width = 3}, pixels), width);
  const std::size_t side = 256 / 3;
  ASSERT_EQ(width, 3 * side);
  ASSERT_EQ(rows.size(), 2 * side);
  const auto grey = [&](std::size_t i, std::size_t j) {
    return static_cast<int>(static_cast<unsigned char>(rows[i * side + side / 2][j * side + side / 2]));
  };
  EXPECT_EQ(grey(0, 0), 0);
  EXPECT_EQ(grey(0, 1), 128);
  EXPECT_EQ(grey(0, 2), 255);
  EXPECT_EQ(grey(1, 0), 255);
  EXPECT_EQ(grey(1, 1), 0);
  const auto flat = decoded(png_bytes({.height = 1, .width = 1}, Vector::Constant(1, 7.0)), width);
  EXPECT_EQ(flat.front().front(), 0);
}

TEST(Png, AFolderThatCannotBeMadeIsNamed) {
  const Folder folder;
  const std::string file = folder.write("file", "");
  const auto message = message_of<Error>([&] {
    write_png(file + "/sub", "a.png", {.height = 1, .width = 1}, Vector::Zero(1));
    return 0;
  });
  EXPECT_TRUE(contains(message, file + "/sub: the folder cannot be made"));
}

TEST(AllExperiments, StoppedAtOnceRunNothingAndSayHow) {
  std::stop_source stop;
  stop.request_stop();
  const auto result = run_all_experiments({.quick = true}, stop.get_token(), kInfinity);
  EXPECT_EQ(result.status, Status::kInterrupted);
  EXPECT_TRUE(result.details["experiments"].empty());
}

TEST(AllExperiments, TakeFilesByTheirNamesAndRefuseOptionsOfOne) {
  const auto message =
      message_of<InvalidArgument>([] { return run_all_experiments({.runs = 3}, {}, kInfinity).id; });
  EXPECT_TRUE(contains(message, "runs is an option of single experiments"));
  EXPECT_TRUE(contains(
      message_of<BadInput>([] { return run_all_experiments({.data = "no-such-folder"}, {}, kInfinity).id; }),
      "data of `all` is a folder"));
  // Which file an experiment is given shows in what it says of a broken one.
  const Folder folder;
  static_cast<void>(folder.write("colon.csv", "broken\n"));
  // The limit is for slow machines: a fast one has done everything before it, and both are right.
  const auto result = run_all_experiments({.quick = true, .data = folder.path("."), .threads = 1}, {}, 6.0);
  bool seen = false;
  for (const auto& one : result.details["experiments"]) {
    if (one["id"] != "icml06-fig4") continue;
    seen = true;
    EXPECT_EQ(one["status"], "failed");
    EXPECT_TRUE(contains(one["error"], "colon.csv"));
  }
  for (const Finding& finding : result.results)
    EXPECT_FALSE(finding.x) << finding.series << ": a point of a curve";
  if (!seen) GTEST_SKIP() << "the time ran out before icml06-fig4";
}

}  // namespace
}  // namespace subspectra::reproduce
