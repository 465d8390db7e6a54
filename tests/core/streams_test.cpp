#include "core/streams.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace subspectra::streams {
namespace {

/// The lines of the table of docs/random.md whose head is `| stream | used for |`.
std::vector<std::string> documented() {
  std::ifstream file(std::string(SUBSPECTRA_SOURCE_DIR) + "/docs/random.md");
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "| stream | used for |") {
      inside = true;
      std::getline(file, line);  // the rule below the head
    } else if (inside && !line.starts_with("| ")) {
      break;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

TEST(Streams, TheDocumentedTableIsThisOne) {
  std::vector<std::string> lines;
  for (const Use& use : kUses) lines.push_back(fmt::format("| {} | {} |", use.streams, use.what));
  EXPECT_EQ(documented(), lines);
}

TEST(Streams, EveryNameDrawsFromItsOwnRange) {
  const auto inside = [](const Range& range, std::uint64_t stream) {
    return range.first <= stream && stream <= range.last;
  };
  constexpr Index kMany = Index{1} << 31U;
  for (const Index i : {Index{0}, Index{1}, kMany}) {
    EXPECT_TRUE(inside(kRepeats, repeat_folds(i)));
    EXPECT_TRUE(inside(kNull, null_labels(i)));
    EXPECT_TRUE(inside(kNull, null_folds(i)));
    EXPECT_TRUE(inside(kSynth, synth_item(i)));
    EXPECT_TRUE(inside(kSynth, synth_item(i) + kSecondSynth));
    EXPECT_TRUE(inside(kIccv07Bounds, iccv07_row(i)));
    EXPECT_TRUE(inside(kQAlphaStarts, qalpha_start(i)));
    EXPECT_TRUE(inside(kKMeansRestarts, kmeans_restart(i)));
  }
  EXPECT_TRUE(inside(kGpRestarts, gp_restart(Index{1} << 20U, 1000)));
  EXPECT_TRUE(inside(kGeneShaving, gene_shaving(Index{1} << 19U, kMany)));
}

// Recorded answers depend on these numbers: they are written out here once more.
TEST(Streams, AreWhereTheyAlwaysWere) {
  EXPECT_EQ(repeat_folds(3), 3U);
  EXPECT_EQ(null_labels(1), 1099511627778U);
  EXPECT_EQ(null_folds(1), 1099511627779U);
  EXPECT_EQ(synth_parameters(), 2199023255552U);
  EXPECT_EQ(iccv07_means(), 4398046511104U);
  EXPECT_EQ(qalpha_start(0), 8796093022208U);
  EXPECT_EQ(kmeans_restart(0), 17592186044416U);
  EXPECT_EQ(cluster_eigenvectors(), 35184372088832U);
  EXPECT_EQ(lambda_folds(), 1125899906842624U);
  EXPECT_EQ(inner_folds(), 2251799813685248U);
  EXPECT_EQ(gp_restart(2, 1), 4503599627370496U + 2049U);
  EXPECT_EQ(gene_shaving(1, 5), 9007199254740992U + 4294967296U + 5U);
}

}  // namespace
}  // namespace subspectra::streams
