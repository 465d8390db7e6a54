#include "data/digest.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "oracle.hpp"

namespace subspectra::digest_test {
namespace {

TEST(TableDigest, KnowsTheSameTableAgainWhateverTheThreadsAndTheStorage) {
  const DatasetParts data = oracle::random_classes(30, 200, 2, 1);
  const std::string digest = table_digest(data, nullptr, 1);
  EXPECT_EQ(digest, table_digest(data, nullptr, 5));
  DatasetParts renamed = data;
  renamed.source = "elsewhere.csv";  // a copy is the same table
  EXPECT_EQ(digest, table_digest(renamed, nullptr, 1));
  // Rows that stay where they are, and the same as a table of their own.
  const Dataset rows = Dataset(data).with_rows({4, 9, 2});
  EXPECT_EQ(table_digest(rows, nullptr, 2), table_digest(Dataset(rows.parts()), nullptr, 1));
}

TEST(TableDigest, SeesEveryChangeThatAnAnswerCouldDependOn) {
  const DatasetParts data = oracle::random_classes(30, 200, 2, 1);
  const std::string digest = table_digest(data, nullptr, 1);
  const std::vector<std::function<void(DatasetParts&)>> changes = {
      [](DatasetParts& d) { d.dense(29, 199) = std::nextafter(d.dense(29, 199), 1e9); },
      [](DatasetParts& d) { d.dense(0, 0) = -d.dense(0, 0); },
      [](DatasetParts& d) { std::swap(d.dense(3, 7), d.dense(4, 7)); },
      [](DatasetParts& d) { d.dense.col(1).swap(d.dense.col(2)); },
      [](DatasetParts& d) { d.labels->codes[5] = 1 - d.labels->codes[5]; },
      [](DatasetParts& d) { d.labels->classes[0] = "z"; },
      [](DatasetParts& d) { d.labels.reset(); },
      [](DatasetParts& d) { d.weights = Vector::Constant(30, 2.0); },
      [](DatasetParts& d) { d.row_groups.assign(30, "g"); },
      [](DatasetParts& d) {
        std::vector<std::string> names(200, "n");
        d.names = FeatureNames(std::move(names));
      }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    DatasetParts other = data;
    changes[i](other);
    EXPECT_NE(table_digest(other, nullptr, 1), digest) << i;
  }
  const FeatureGroups groups{.names = {"all"}, .members = {{}}, .group_of = std::vector<Index>(200, 0)};
  EXPECT_NE(table_digest(data, &groups, 1), digest);
}

}  // namespace
}  // namespace subspectra::digest_test
