/// iccv07-usps and -gender: pixels that tell two kinds of images apart; pictures, those of iccv07-faces too;
/// every experiment in one run.
#include <gtest/gtest.h>
#include <zlib.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>

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

/// The rows of an 8-bit grey or RGB PNG, by zlib alone.
struct Picture {
  std::size_t width = 0, channels = 0;
  std::vector<std::string> rows;
  /// In the middle of the square of an image's pixel, the image being `columns` wide: one number, or three.
  [[nodiscard]] std::vector<int> at(std::size_t i, std::size_t j, std::size_t columns) const {
    const std::size_t side = width / columns;
    const std::string& row = rows[i * side + side / 2];
    std::vector<int> values;
    for (std::size_t c = 0; c < channels; ++c)
      values.push_back(static_cast<unsigned char>(row[(j * side + side / 2) * channels + c]));
    return values;
  }
};

Picture decoded(const std::string& png) {
  Picture picture;
  std::size_t& width = picture.width;
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
      EXPECT_EQ(png[at + 16], 8);  // bits
      picture.channels = png[at + 17] == 2 ? 3 : 1;
    }
    if (type == "IDAT") packed += png.substr(at + 8, number(at));
  }
  const std::size_t stride = width * picture.channels;
  std::string raw(height * (stride + 1), '\0');
  uLongf size = raw.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(raw.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  auto& rows = picture.rows;
  for (std::size_t i = 0; i < height; ++i) {
    const char filter = raw[i * (stride + 1)];
    std::string row = raw.substr(i * (stride + 1) + 1, stride);
    const auto byte = [&](std::size_t r, std::size_t j) {
      return static_cast<int>(static_cast<unsigned char>(r == i ? row[j] : rows[r][j]));
    };
    for (std::size_t j = 0; j < stride; ++j) {
      const bool first = j < picture.channels;
      const int left = first ? 0 : byte(i, j - picture.channels), above = i > 0 ? byte(i - 1, j) : 0;
      const int corner = i > 0 && !first ? byte(i - 1, j - picture.channels) : 0;
      row[j] = static_cast<char>(byte(i, j) + predicted(filter, left, above, corner));
    }
    rows.push_back(row);
  }
  return picture;
}

using Levels = std::vector<int>;
const Levels kBlue(kBlankColour.begin(), kBlankColour.end());

TEST(Png, TheSmallestValueIsBlackAndTheLargestWhite) {
  Vector pixels(6);
  pixels << -2.0, 0.5, 3.0, 3.0, -2.0, 0.5;
  const Picture picture = decoded(png_bytes({.height = 2, .width = 3}, pixels));
  const std::size_t side = 256 / 3;
  ASSERT_EQ(picture.width, 3 * side);
  ASSERT_EQ(picture.rows.size(), 2 * side);
  EXPECT_EQ(picture.at(0, 0, 3), Levels{0});
  EXPECT_EQ(picture.at(0, 1, 3), Levels{128});
  EXPECT_EQ(picture.at(0, 2, 3), Levels{255});
  EXPECT_EQ(picture.at(1, 0, 3), Levels{255});
  EXPECT_EQ(picture.at(1, 1, 3), Levels{0});
  const Picture flat = decoded(png_bytes({.height = 1, .width = 1}, Vector::Constant(1, 7.0)));
  EXPECT_EQ(flat.at(0, 0, 1), Levels{0});
  const Eigen::Vector2d huge(-1.7e308, 1.7e308);  // their difference overflows
  EXPECT_EQ(decoded(png_bytes({.height = 1, .width = 2}, huge)).at(0, 1, 2), Levels{255});
}

TEST(Png, AroundZeroTheMiddleGreyIsZeroAndWhatIsBlankHasAColourOfItsOwn) {
  const Eigen::Vector4d pixels(-1.0, 0.0, 4.0, kBlank);
  const Picture picture = decoded(png_bytes({.height = 2, .width = 2}, pixels, GreyScale::kAroundZero));
  ASSERT_EQ(picture.channels, 3U);
  EXPECT_EQ(picture.at(0, 0, 2), Levels(3, 96));  // 255 (1 - 1/4)/2 = 95.6
  EXPECT_EQ(picture.at(0, 1, 2), Levels(3, 128));
  EXPECT_EQ(picture.at(1, 0, 2), Levels(3, 255));
  EXPECT_EQ(picture.at(1, 1, 2), kBlue);
  const Picture nothing =
      decoded(png_bytes({.height = 1, .width = 1}, Vector::Zero(1), GreyScale::kAroundZero));
  EXPECT_EQ(nothing.at(0, 0, 1), Levels{128});
}

TEST(Png, AFolderThatCannotBeWrittenIsNamedAtOnce) {
  const Folder folder;
  const std::string file = folder.write("file", "");
  const auto refused = [](const std::string& where) {
    return message_of<Error>([&] {
      Reproduction result;
      return Album(where, {.height = 1, .width = 1}, result).wanted();
    });
  };
  EXPECT_TRUE(contains(refused(file + "/sub"), file + "/sub: the folder cannot be made"));
  EXPECT_TRUE(contains(refused("/proc"), "/proc: no file can be made in the folder"));
  // Before any work is done, not when the first picture is ready.
  std::stop_source stop;
  stop.request_stop();
  const ReproduceOptions options{
      .quick = true, .data = folder.write("n.csv", image_table(40)), .images = "/proc", .shape = {3, 4}};
  for (const char* id : {"iccv07-faces", "iccv07-gender"}) {
    EXPECT_TRUE(
        contains(message_of<Error>([&] {
                   return run_experiment(find_experiment(id), options, RunControl(stop.get_token(), 9.0)).id;
                 }),
                 "/proc: no file can be made"))
        << id;
  }
}

/// Unit eigenvectors of the covariance of these columns, largest eigenvalue first, the largest entry
/// positive.
Matrix dense_eigenfaces(const Matrix& rows, const std::vector<Index>& columns, Index count) {
  const Matrix x = rows(Eigen::all, columns);
  const Matrix centred = x.rowwise() - x.colwise().mean();
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(centred.transpose() * centred);
  Matrix faces = eigen.eigenvectors().rightCols(count).rowwise().reverse();
  for (Index c = 0; c < count; ++c) {
    Index largest = 0;
    faces.col(c).cwiseAbs().maxCoeff(&largest);
    if (faces(largest, c) < 0.0) faces.col(c) *= -1.0;
  }
  return faces;
}

TEST(Eigenfaces, AreDrawnOnAllPixelsAndOnTheChosenOnesAndSoIsTheMeanFace) {
  const Folder folder;
  constexpr std::size_t kWidth = 4;
  const ReproduceOptions options{.data = folder.write("faces.csv", image_table(60)),
                                 .images = folder.path("pictures"),
                                 .shape = {.height = 3, .width = 4},
                                 .k = {5, 5},
                                 .components = 2,
                                 .threads = 1};
  const Reproduction result = run_experiment(find_experiment("iccv07-faces"), options, RunControl{});
  EXPECT_EQ(result.details["pictures"],
            (std::vector<std::string>{
                "iccv07-faces-mean.png", "iccv07-faces-mean-chosen.png", "iccv07-faces-eigenface-1-full.png",
                "iccv07-faces-eigenface-2-full.png", "iccv07-faces-eigenface-1-sparse.png",
                "iccv07-faces-eigenface-2-sparse.png"}));
  const auto chosen = result.details["chosen_pixels"].get<std::vector<Index>>();
  ASSERT_EQ(chosen.size(), 5U);
  std::vector<Index> varying(11);
  std::iota(varying.begin(), varying.end(), Index{1});  // pixel 0 is constant
  Matrix rows(60, 12);
  std::istringstream lines(image_table(60));
  std::string line;
  std::getline(lines, line);
  for (Index i = 0; std::getline(lines, line); ++i) {
    std::istringstream fields(line);
    for (Index j = 0; j < 12; ++j) {
      std::getline(fields, line, ',');
      rows(i, j) = std::stod(line);
    }
  }
  // One level of grey more or less: a value may lie between two.
  const auto expect_level = [&](const Picture& picture, Index pixel, double share) {
    const auto p = static_cast<std::size_t>(pixel);
    EXPECT_NEAR(picture.at(p / kWidth, p % kWidth, kWidth).front(), 255.0 * share, 0.501) << pixel;
  };
  const auto picture_of = [&](const std::string& name) {
    return decoded(bytes_of(folder.path("pictures/iccv07-faces-" + name + ".png")));
  };
  const Vector mean = rows.colwise().mean();
  const Picture average = picture_of("mean");
  EXPECT_EQ(average.channels, 1U);
  for (Index j = 0; j < 12; ++j)
    expect_level(average, j, (mean[j] - mean.minCoeff()) / (mean.maxCoeff() - mean.minCoeff()));
  for (const auto& [name, pixels] : {std::pair{"full", varying}, std::pair{"sparse", chosen}}) {
    const Matrix faces = dense_eigenfaces(rows, pixels, 2);
    for (Index c = 0; c < 2; ++c) {
      SCOPED_TRACE(std::string(name) + std::to_string(c));
      const Picture picture = picture_of("eigenface-" + std::to_string(c + 1) + '-' + name);
      const double most = faces.col(c).cwiseAbs().maxCoeff();
      Index shown = 0;
      for (Index j = 0; j < 12; ++j) {
        const auto place = std::lower_bound(pixels.begin(), pixels.end(), j);
        if (place == pixels.end() || *place != j) {
          EXPECT_EQ(
              picture.at(static_cast<std::size_t>(j) / kWidth, static_cast<std::size_t>(j) % kWidth, kWidth),
              kBlue);
          continue;
        }
        expect_level(picture, j, 0.5 + 0.5 * faces(place - pixels.begin(), c) / most);
        ++shown;
      }
      EXPECT_EQ(shown, static_cast<Index>(pixels.size()));
    }
  }
  // Variances of the sparse ones are below those of the full ones (interlacing), all as shares of one total.
  const auto& shares = result.details["eigenface_variances"];
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_LE(shares["sparse"][c].get<double>(), shares["full"][c].get<double>());
    EXPECT_GT(shares["sparse"][c].get<double>(), 0.0);
  }
}

TEST(Eigenfaces, OfPixelsThatComeColumnByColumnStandUpright) {
  const Folder folder;
  // 2 x 3 images: pixel (i, j) varies by 1 + 10 i + j; in the file it is column 2 j + i.
  std::string csv = "a,b,c,d,e,f,who\n";
  for (int row = 0; row < 8; ++row) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) csv += std::to_string((row + 1) * (1 + 10 * i + j)) + ",";
    }
    csv += "x\n";
  }
  ReproduceOptions options{.data = folder.write("f.csv", csv),
                           .images = folder.path("pictures"),
                           .shape = {.height = 2, .width = 3},
                           .by_columns = true,
                           .k = {1, 1},
                           .threads = 1};
  const Reproduction result = run_experiment(find_experiment("iccv07-faces"), options, RunControl{});
  const Picture mean = decoded(bytes_of(folder.path("pictures/iccv07-faces-mean.png")));
  EXPECT_EQ(mean.at(0, 0, 3), Levels{0});
  EXPECT_EQ(mean.at(0, 1, 3), Levels{21});  // 255 (2 - 1)/(13 - 1)
  EXPECT_EQ(mean.at(1, 2, 3), Levels{255});
  EXPECT_EQ(result.details["chosen_pixels"], std::vector<Index>{5});
  const auto message = [&] {
    return message_of<InvalidArgument>(
        [&] { return run_experiment(find_experiment("iccv07-faces"), options, RunControl{}).id; });
  };
  options.images.clear();
  options.shape = {};
  EXPECT_TRUE(contains(message(), "by_columns needs the height and width"));
  options.data = folder.path("");
  EXPECT_TRUE(contains(message(), "is about the columns of a table"));
}

TEST(Eigenfaces, OfAFolderOfImagesAreDrawnToAnotherFolder) {
  const Folder folder;
  std::filesystem::create_directory(folder.path("faces"));
  Random random(5);
  for (int i = 0; i < 12; ++i) {
    std::string image = "P2 3 3 255";
    for (int j = 0; j < 9; ++j) image += ' ' + std::to_string(random.below(256));
    static_cast<void>(folder.write("faces/" + std::to_string(i) + ".pgm", image));
  }
  const ReproduceOptions options{
      .data = folder.path("faces"), .images = folder.path("pictures"), .threads = 1};
  const Reproduction result = run_experiment(find_experiment("iccv07-faces"), options, RunControl{});
  EXPECT_EQ(result.settings["images"], 12);
  EXPECT_EQ(result.details["pictures"].size(), 2U + 6U + 4U);  // four pixels have four components
  ReproduceOptions without = options;
  without.images.clear();
  EXPECT_FALSE(
      run_experiment(find_experiment("iccv07-faces"), without, RunControl{}).details.contains("pictures"));
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
