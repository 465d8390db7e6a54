#include "reproduce/patch_features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>

#include "core/random.hpp"
#include "reading.hpp"

namespace subspectra::reproduce {
namespace {

using subspectra::testing::contains;
using subspectra::testing::Folder;
using subspectra::testing::message_of;

/// The colour of a hue, saturation and value: the textbook's six cases, the other way round.
std::array<double, 3> from_hsv(double hue, double saturation, double value) {
  const double sixth = 6.0 * hue, chroma = value * saturation;
  const double second = chroma * (1.0 - std::abs(std::fmod(sixth, 2.0) - 1.0)), least = value - chroma;
  const std::array<std::array<double, 3>, 6> cases = {{{chroma, second, 0},
                                                       {second, chroma, 0},
                                                       {0, chroma, second},
                                                       {0, second, chroma},
                                                       {second, 0, chroma},
                                                       {chroma, 0, second}}};
  auto colour = cases[static_cast<std::size_t>(sixth) % 6];
  for (double& channel : colour) channel += least;
  return colour;
}

TEST(PatchFeatures, HueSaturationAndValueGoBackToTheColour) {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const double hue = random.uniform(), saturation = 0.01 + 0.99 * random.uniform(),
                 value = 0.01 + 0.99 * random.uniform();
    const auto [r, g, b] = from_hsv(hue, saturation, value);
    const auto back = hsv(r, g, b);
    EXPECT_NEAR(back[0], hue, 1e-9);
    EXPECT_NEAR(back[1], saturation, 1e-12);
    EXPECT_NEAR(back[2], value, 1e-12);
  }
  EXPECT_EQ(hsv(0.5, 0.5, 0.5), (std::array<double, 3>{0.0, 0.0, 0.5}));
  EXPECT_EQ(hsv(0.0, 0.0, 0.0), (std::array<double, 3>{0.0, 0.0, 0.0}));
}

using Pixel = std::array<int, 3>;

/// A binary PPM file of a colour for every pixel.
template <class Colour>
std::string ppm(Index height, Index width, Colour colour) {
  std::string bytes = "P6 " + std::to_string(width) + " " + std::to_string(height) + " 255\n";
  for (Index i = 0; i < height; ++i) {
    for (Index j = 0; j < width; ++j) {
      const Pixel pixel = colour(i, j);
      for (const int channel : pixel) bytes += static_cast<char>(std::clamp(channel, 0, 255));
    }
  }
  return bytes;
}

void write_image(const Folder& folder, const std::string& kind, const std::string& name,
                 const std::string& bytes) {
  std::filesystem::create_directories(folder.path(kind));
  static_cast<void>(folder.write(kind + '/' + name, bytes));
}

TEST(PatchFeatures, ColourImagesAreReadInEveryFormAndHostileOnesRefused) {
  const Folder folder;
  const auto read = [&](const std::string& bytes, ImageShape shape = {}, Index shortest = 0) {
    return read_colour_image(folder.write("a.ppm", bytes), shape, shortest);
  };
  Matrix want(2, 3);
  want << 1.0, 0.0, 0.2, 0.4, 0.6, 0.8;
  EXPECT_TRUE(read("P3 # text\n1 2 5\n5 0 1\n2 3 4\n").rgb.isApprox(want, 1e-15));
  EXPECT_TRUE(read(std::string("P6\n1 2\n5\n") + '\5' + '\0' + "\1\2\3\4").rgb.isApprox(want, 1e-15));
  const std::string wide =
      std::string("P6 1 1 1000\n") + "\x03\xe8" + std::string(1, '\0') + "\x64" + "\x01\xf4";
  EXPECT_TRUE(read(wide).rgb.isApprox((Matrix(1, 3) << 1.0, 0.1, 0.5).finished(), 1e-15));
  EXPECT_TRUE(read("P2 2 1 4\n1 4\n").rgb.isApprox((Matrix(2, 3) << 0.25, 0.25, 0.25, 1, 1, 1).finished()));
  const auto averaged = read("P3 2 2 1\n1 0 0 0 0 0  1 1 0 0 0 0\n", {1, 1});
  EXPECT_TRUE(averaged.rgb.isApprox((Matrix(1, 3) << 0.5, 0.25, 0.0).finished()));
  EXPECT_EQ(read(ppm(40, 20,
                     [](Index, Index) {
                       return Pixel{1, 2, 3};
                     }),
                 {}, 10)
                .shape,
            (ImageShape{20, 10}));
  EXPECT_TRUE(
      contains(message_of([&] { return read("P6 2 2 255\nABCDEFGHIJK").shape; }), "too short for 2 x 2"));
  EXPECT_TRUE(contains(message_of([&] { return read("P6 99999 1 255\nA").shape; }), "width above"));
  EXPECT_TRUE(contains(message_of([&] { return read("P3 1 1 9\n1 2 10\n").shape; }), "pixel above 9"));
  EXPECT_TRUE(contains(message_of([&] { return read("P3 1 1 9\n1 2 x  ").shape; }), "lacks its pixel"));
  EXPECT_TRUE(contains(message_of([&] { return read("P6 16384 16384 255\nA").shape; }), "too short"));
  EXPECT_TRUE(contains(message_of([&] { return read("\x89PNG").shape; }), "neither a PGM nor a PPM"));
}

/// Counts of bins by their numbers, from whole pixels and long division: no code of the library.
using Histogram = std::map<std::tuple<int, int, int>, double>;
Histogram histogram(const std::vector<std::vector<Pixel>>& image, Index top, Index left, Index side) {
  Histogram counts;
  for (Index i = top; i < top + side; ++i) {
    for (Index j = left; j < left + side; ++j) {
      const auto [r, g, b] = image[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      const int most = std::max({r, g, b}), range = most - std::min({r, g, b});
      double hue = 0.0;
      if (range > 0) {
        const double angle = std::atan2(std::sqrt(3.0) * (g - b), 2.0 * r - g - b);  // in the same sixth
        const int sixth = static_cast<int>(std::floor((angle < 0 ? angle + 2 * M_PI : angle) / (M_PI / 3)));
        const std::array<int, 3> sorted = {std::min({r, g, b}), r + g + b - most - std::min({r, g, b}), most};
        const double part = static_cast<double>(sorted[1] - sorted[0]) / range;
        hue = (sixth % 2 == 0 ? sixth + part : sixth + 1 - part) / 6.0;
      }
      const double saturation = most > 0 ? static_cast<double>(range) / most : 0.0;
      const auto cell = [](double x, int bins) { return std::min(bins - 1, static_cast<int>(x * bins)); };
      counts[{cell(hue, 8), cell(saturation, 4), cell(most / 255.0, 4)}] +=
          1.0 / static_cast<double>(side * side);
    }
  }
  return counts;
}

TEST(PatchFeatures, AgreeWithMatchingPatchByPatch) {
  const Folder folder;
  std::vector<std::vector<std::vector<Pixel>>> images;
  Random random(4);
  const std::array<ImageShape, 3> shapes = {{{20, 17}, {15, 31}, {16, 16}}};  // patches of 5 pixels
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    std::vector<std::vector<Pixel>> image;
    for (Index i = 0; i < shapes[n].height; ++i) {
      image.emplace_back();
      for (Index j = 0; j < shapes[n].width; ++j) {
        // Odd numbers far from each other: no hue on the edge of a bin.
        image.back().push_back({static_cast<int>(random.below(10)) * 25 + 3,
                                static_cast<int>(random.below(10)) * 25 + 8,
                                static_cast<int>(random.below(10)) * 25 + 14});
      }
    }
    write_image(folder, n < 2 ? "a" : "b", std::to_string(n) + ".ppm",
                ppm(shapes[n].height, shapes[n].width, [&](Index i, Index j) {
                  return image[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
                }));
    images.push_back(image);
  }
  const PatchTable patches = patch_matching(folder.path(""), {}, 2, RunControl());
  EXPECT_EQ(patches.side, 5);
  ASSERT_EQ(patches.table.rows(), 3);
  ASSERT_EQ(patches.table.features(), 27);
  EXPECT_EQ(patches.table.names()[9], "a/1:1,1");
  EXPECT_EQ(patches.table.labels()->codes, (std::vector<int>{0, 0, 1}));
  const Matrix distances = patches.table.parts().dense;
  for (std::size_t from = 0; from < 3; ++from) {
    for (Index t = 0; t < 9; ++t) {
      const auto wanted = histogram(images[from], (shapes[from].height - 15) / 2 + t / 3 * 5,
                                    (shapes[from].width - 15) / 2 + t % 3 * 5, 5);
      for (std::size_t to = 0; to < 3; ++to) {
        double best = 2.0;
        for (Index c = 0; c < 49; ++c) {
          const auto place = [](Index i, Index length) {
            return static_cast<Index>(std::floor(static_cast<double>(i * (length - 5)) / 6.0 + 0.5));
          };
          auto difference =
              histogram(images[to], place(c / 7, shapes[to].height), place(c % 7, shapes[to].width), 5);
          for (const auto& [bin, share] : wanted) difference[bin] -= share;
          double distance = 0.0;
          for (const auto& [bin, value] : difference) distance += std::abs(value);
          best = std::min(best, distance);
        }
        EXPECT_NEAR(distances(static_cast<Index>(to), static_cast<Index>(9 * from) + t), best, 1e-12);
      }
    }
  }
}

/// Two kinds: a blot of green or of brown in the middle, before backgrounds of every colour.
void write_kinds(const Folder& folder, int each) {
  Random random(7);
  for (const std::string kind : {"frog", "toad"}) {
    for (int n = 0; n < each; ++n) {
      const std::array<double, 3> ground = {255 * random.uniform(), 255 * random.uniform(),
                                            255 * random.uniform()};
      const std::array<double, 3> animal =
          kind == "frog" ? std::array<double, 3>{60, 170, 40} : std::array<double, 3>{150, 90, 50};
      const double y = 20 + 4 * random.normal(), x = 24 + 4 * random.normal();
      const auto bytes = ppm(40, 48, [&](Index i, Index j) {
        const double di = static_cast<double>(i) - y, dj = static_cast<double>(j) - x;
        const auto& colour = di * di + dj * dj < 121 ? animal : ground;
        Pixel pixel{};
        for (std::size_t c = 0; c < 3; ++c) pixel[c] = static_cast<int>(colour[c] + 20 * random.normal());
        return pixel;
      });
      write_image(folder, kind, std::to_string(n) + ".ppm", bytes);
    }
  }
}

TEST(Jmlr05Images, TwoKindsAreToldApartAndThreadsDoNotMatter) {
  const Folder folder;
  write_kinds(folder, 8);
  const auto run = [&](int threads) {
    return run_experiment(find_experiment("jmlr05-images"), {.data = folder.path(""), .threads = threads},
                          RunControl());
  };
  const Reproduction result = run(1);
  EXPECT_EQ(result.status, Status::kHeuristic);
  EXPECT_EQ(result.settings["patch_side"], 13);
  EXPECT_EQ(result.settings["templates"], 144);
  for (const Finding& finding : result.results) {
    if (finding.series.starts_with("accuracy")) {
      EXPECT_GE(finding.obtained.value(), finding.series.ends_with("all templates") ? 0.5 : 0.85)
          << finding.series;
    }
  }
  EXPECT_EQ(result.details["templates"].size(), 20U);
  EXPECT_EQ(reproduction_json(run(3))["results"], reproduction_json(result)["results"]);
}

TEST(Jmlr05Images, SaysWhatTheFolderLacks) {
  const auto message = [](const Folder& folder, const ReproduceOptions& options = {}) {
    ReproduceOptions asked = options;
    asked.data = folder.path("");
    return message_of(
        [&] { return run_experiment(find_experiment("jmlr05-images"), asked, RunControl()).id; });
  };
  const auto plain = [](Index side) {
    return ppm(side, side, [](Index i, Index j) {
      return Pixel{static_cast<int>(i), static_cast<int>(j), 9};
    });
  };
  const Folder empty, one, beside, tiny;
  EXPECT_TRUE(contains(message(empty), "holds no .pgm or .ppm image"));
  write_image(one, "a", "1.ppm", plain(20));
  EXPECT_TRUE(contains(message(one), "one folder alone"));
  write_image(beside, "a", "1.ppm", plain(20));
  static_cast<void>(beside.write("2.ppm", plain(20)));
  EXPECT_TRUE(contains(message(beside), "beside its folders"));
  write_image(tiny, "a", "1.ppm", plain(20));
  write_image(tiny, "b", "1.ppm", plain(11));
  EXPECT_TRUE(contains(message(tiny), "11x11 pixels, but 12"));
  EXPECT_TRUE(contains(message_of<InvalidArgument>([&] {
                         return run_experiment(find_experiment("jmlr05-images"), {.data = "x", .images = "y"},
                                               RunControl())
                             .id;
                       }),
                       "give one of them"));
  EXPECT_TRUE(contains(message_of<InvalidArgument>([&] {
                         return run_experiment(find_experiment("jmlr05-images"), {}, RunControl()).id;
                       }),
                       "needs data = DIR"));
}

}  // namespace
}  // namespace subspectra::reproduce
