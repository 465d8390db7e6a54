#include "io/read.hpp"

#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::Folder;
using testing::message_of;

TEST(ReadDataset, EmbeddedSetsHaveTheirPublishedSizes) {
  const DatasetParts sonar = read_dataset("sonar").parts();
  EXPECT_EQ(sonar.source, "sonar");
  EXPECT_EQ(sonar.rows(), 208);
  EXPECT_EQ(sonar.features(), 60);
  EXPECT_EQ(sonar.labels->classes, (std::vector<std::string>{"M", "R"}));
  EXPECT_EQ(sonar.labels->counts(), (std::vector<Index>{111, 97}));
  EXPECT_EQ(sonar.dense(0, 1), 0.0371);
  const DatasetParts ionosphere = read_dataset("ionosphere").parts();
  EXPECT_EQ(ionosphere.rows(), 351);
  EXPECT_EQ(ionosphere.features(), 34);
  EXPECT_EQ(ionosphere.labels->counts(), (std::vector<Index>{126, 225}));
}

TEST(ReadDataset, TheEndingPicksTheReader) {
  const Folder folder;
  EXPECT_EQ(read_dataset(folder.write("a.csv", "a,class\n1,x\n2,y\n")).rows(), 2);
  EXPECT_EQ(read_dataset(folder.write("A.TSV", "a\tclass\n1\tx\n2\ty\n")).rows(), 2);
  EXPECT_TRUE(read_dataset(folder.write("a.svm", "1 1:2\n2 1:3\n")).is_sparse());
  EXPECT_TRUE(read_dataset(folder.write("a.libsvm", "1 1:2\n2 1:3\n")).is_sparse());
  EXPECT_EQ(read_dataset(folder.write("a.arff", "@attribute a real\n@data\n1\n")).rows(), 1);
  const std::string path = folder.write("b.csv", "a\n1\n");
  EXPECT_EQ(read_dataset(path).source(), path);
}

TEST(ReadDataset, OtherNamesAreRefusedWithWhatIsKnown) {
  const Folder folder;
  const std::string unknown = message_of([&] { return read_dataset(folder.write("a.xlsx", "x")); });
  EXPECT_TRUE(contains(unknown, "the ending does not tell the format"));
  EXPECT_TRUE(contains(unknown, ".csv .tsv .txt .gct .svm .libsvm .arff .mtx"));
  EXPECT_TRUE(contains(unknown, "(each also with .gz) .npy .npz .bed .mat .h5ad .h5"));
  EXPECT_TRUE(contains(message_of([] { return read_dataset("sonra"); }), "did you mean 'sonar'?"));
  EXPECT_TRUE(
      contains(message_of([&] { return read_dataset(folder.path("no.csv")); }), "there is no such file"));
  EXPECT_TRUE(
      contains(message_of([&] { return read_dataset(folder.path("")); }), "is a folder without matrix.mtx"));
  EXPECT_TRUE(
      contains(message_of([&] { return read_dataset(folder.write("a.npy.gz", "x")); }), "the ending"));
  EXPECT_TRUE(
      contains(message_of([&] { return read_dataset(folder.write("a.csv.gz", "a,b\n1,2\n")); }), "not gzip"));
  EXPECT_TRUE(contains(message_of([&] { return read_dataset(folder.write("e.csv", "")); }),
                       "e.csv: the file is empty"));
}

TEST(ReadOptions, AreChecked) {
  const auto said = [](const ReadOptions& options) {
    return message_of<InvalidArgument>([&] {
      options.validate();
      return 0;
    });
  };
  ReadOptions options;
  options.index_base = 2;
  EXPECT_TRUE(contains(said(options), "index_base = 2"));
  options = {};
  options.features = -1;
  EXPECT_TRUE(contains(said(options), "features = -1"));
  options = {};
  options.features = 1LL << 40;
  EXPECT_TRUE(contains(said(options), "features"));
  options = {};
  options.weights = options.target = "w";
  EXPECT_TRUE(contains(said(options), "both name 'w'"));
}

}  // namespace
}  // namespace subspectra
