/// Tables with genes in rows and samples in columns.
#include <fmt/format.h>

#include "io/raw_table.hpp"
#include "io/sample_labels.hpp"
#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::Folder;
using testing::message_of;

ReadOptions transposed() {
  ReadOptions options;
  options.transpose = true;
  return options;
}

DatasetParts csv_of(std::string_view text, const ReadOptions& options, std::size_t block = kTextBlockBytes) {
  const auto bytes = memory_bytes(text);
  return assemble(read_csv_bytes(*bytes, "t.csv", kCsvFile, options, block), options).parts();
}

const Matrix kExpected = (Matrix(3, 2) << 1, 4, 2.5, 5, 3, 6).finished();
const std::string kGenes = "gene,s1,s2,s3\ng1,1,2.5,3\ng2,4,5,6\n";

void expect_genes(const DatasetParts& data) {
  EXPECT_EQ(data.dense, kExpected);
  EXPECT_EQ(data.names.all(), (std::vector<std::string>{"g1", "g2"}));
  ASSERT_TRUE(data.row_ids);
  EXPECT_EQ(*data.row_ids, (std::vector<std::string>{"s1", "s2", "s3"}));
}

TEST(Transposed, SamplesStandInColumns) {
  for (const std::size_t block : {4, 7, 1000}) expect_genes(csv_of(kGenes, transposed(), block));
  expect_genes(csv_of("s1,s2,s3\ng1,1,2.5,3\ng2,4,5,6\n", transposed()));
  expect_genes(csv_of(",s1,s2,s3\n\"g1\",1,2.5,3\n\"g2\",4,5,6\n", transposed()));
  expect_genes(csv_of("gene;s1;s2;s3\ng1;1;2,5;3\ng2;4;5;6\n", transposed()));
  expect_genes(csv_of("gene,about,s1,s2,s3\ng1,a kinase,1,2.5,3\ng2,unknown,4,5,6\n", transposed()));
}

TEST(Transposed, ARowOfTextsDescribesTheSamples) {
  const DatasetParts data = csv_of("gene,s1,s2,s3\nclass,u,v,u\ng1,1,2.5,3\ng2,4,5,6\n", transposed());
  expect_genes(data);
  EXPECT_EQ(data.labels->name, "class");
  EXPECT_EQ(data.labels->codes, (std::vector<int>{0, 1, 0}));
}

TEST(Transposed, NamesThatAreNumbersAreTakenBySayingSo) {
  ReadOptions options = transposed();
  options.id = "key";
  const DatasetParts data = csv_of("key,s1,s2,s3\n10,1,2.5,3\n20,4,5,6\n", options);
  EXPECT_EQ(data.dense, kExpected);
  EXPECT_EQ(data.names[1], "20");
  EXPECT_EQ(csv_of("entrez_id,s1,s2\n10,1,2\n20,4,5\n", transposed()).names[0], "10")
      << "or by their heading";
}

TEST(Transposed, NewSamplesOfAModelAreRecognised) {
  ReadOptions options;  // as predict reads for a model that was trained on such a table
  options.needed = {"g2", "g1"};
  options.id = "sample";
  options.id_optional = true;
  const DatasetParts data = csv_of(kGenes, options);
  expect_genes(data);
  EXPECT_TRUE(contains(data.understood.front(), "the features stand in column 'gene'"));
  options.transpose = true;
  expect_genes(csv_of(kGenes, options));
}

TEST(Transposed, FlawsHaveTheirPlace) {
  EXPECT_TRUE(contains(message_of([] { return csv_of("gene,s1,s2\ng1,1,2\ng2,x,5\n", transposed()); }),
                       "t.csv:3:2: 'x' is not a number in the row of 'g2'"));
  EXPECT_TRUE(
      contains(message_of([] { return csv_of("gene,s1,s2\ng1,1,2\ng2,5\n", transposed()); }), "t.csv:3:"));
  EXPECT_EQ(csv_of("gene,s1,s2\ng1,1,2\ng2,NA,5\n", transposed()).first_missing->text(), "t.csv:3:2");
  EXPECT_TRUE(
      contains(message_of([] { return csv_of("gene,s1\n", transposed()); }), "header row of sample names"));
}

TEST(Transposed, OtherFormatsAreTurned) {
  for (const bool sparse : {false, true}) {
    RawTable raw;
    raw.source = "t.npz";
    raw.is_sparse = sparse;
    const Matrix as_stored = kExpected.transpose();
    if (sparse) {
      raw.sparse = as_stored.sparseView();
      raw.sparse.makeCompressed();
    } else {
      raw.dense = as_stored;
    }
    raw.names = FeatureNames(std::vector<std::string>{"s1", "s2", "s3"});
    SideColumn genes;
    genes.name = "gene";
    genes.values = {"g1", "g2"};
    raw.side = {genes};
    DatasetParts data = assemble(std::move(raw), transposed()).parts();
    if (sparse) data.dense = Matrix(data.sparse);
    expect_genes(data);
  }
}

TEST(Labels, AreMatchedByTheIdsOfTheRows) {
  const Folder folder;
  ReadOptions options;
  options.labels =
      folder.write("pheno.csv", "sample,age,group\ns3,50,u\ns1,40,u\ns9,1,w\ns2,20,v\n") + ":group";
  const DatasetParts data = csv_of("id,a\ns1,1\ns2,2\ns3,3\n", options);
  EXPECT_EQ(data.labels->name, "group");
  EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"u", "v"}));
  EXPECT_EQ(data.labels->codes, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(data.warnings.size(), 1U) << "one line is of none of the samples";
  options.labels = folder.write("two.tsv", "s1\tu\ns2\tv\ns3\tu\n");  // without a header
  EXPECT_EQ(csv_of("id,a\ns1,1\ns2,2\ns3,3\n", options).labels->codes, (std::vector<int>{0, 1, 0}));
  options.labels = folder.write("short.txt", "s1 u\ns2 v\n");
  const DatasetParts gap = csv_of("id,a\ns1,1\ns2,2\ns3,3\n", options);
  EXPECT_EQ(gap.labels->codes.back(), Labels::kMissing);
  EXPECT_TRUE(contains(gap.warnings.front(), "1 sample without a line"));
}

TEST(Labels, AFileOfGenesIsTurnedWhereTheIdsAreNamesOfColumns) {
  const Folder folder;
  ReadOptions options;
  options.labels = folder.write("pheno.csv", "sample,group\ns3,u\ns1,u\ns2,v\n");
  const DatasetParts data = csv_of(kGenes, options);
  expect_genes(data);
  EXPECT_EQ(data.labels->codes, (std::vector<int>{0, 1, 0}));
  EXPECT_TRUE(contains(data.understood.front(), "transposed"));
}

TEST(Labels, WhatIsMissingIsNamedWithItsCandidates) {
  const Folder folder;
  ReadOptions options;
  const std::string table = "id,a\ns1,1\ns2,2\ns3,3\ns4,3\n";
  const std::string file = folder.write("p.csv", "sample,sex,arm\ns1,f,x\ns2,m,y\ns3,f,y\ns4,m,x\n");
  options.labels = file;
  const std::string several = message_of([&] { return csv_of(table, options); });
  EXPECT_TRUE(contains(several, "'sex' (f, m), 'arm' (x, y)")) << several;
  EXPECT_TRUE(contains(several, fmt::format("labels = {}:sex", file))) << several;
  options.labels = file + ":ram";
  EXPECT_TRUE(contains(message_of([&] { return csv_of(table, options); }), "'ram'; columns: arm"));
  options.labels = folder.write("o.csv", "sample,arm\nt1,x\nt2,y\n");
  EXPECT_TRUE(contains(message_of([&] { return csv_of(table, options); }), "s1, s2, s3"));
  options.labels = folder.write("d.csv", "sample,arm\ns1,x\ns1,y\ns2,x\n");
  EXPECT_TRUE(contains(message_of([&] { return csv_of(table, options); }), "sample 's1' has two labels"));
  options.labels = folder.path("none.csv");
  EXPECT_TRUE(contains(message_of([&] { return csv_of(table, options); }), "none.csv"));
  options.labels = file;
  options.target = "a";
  EXPECT_TRUE(contains(message_of<InvalidArgument>([&] {
                         options.validate();
                         return 0;
                       }),
                       "both say"));
}

TEST(Labels, OfATableWithoutIdsStandInTheOrderOfItsRows) {
  const Folder folder;
  RawTable raw;
  raw.source = "t.npy";
  raw.dense = Matrix::Random(3, 2);
  raw.names = FeatureNames(2);
  ReadOptions options;
  options.labels = folder.write("y.txt", "u\nv\nu\n");
  RawTable again = raw;
  EXPECT_EQ(assemble(std::move(again), options).labels()->codes, (std::vector<int>{0, 1, 0}));
  options.labels = folder.write("y.csv", "kind\nu\nv\nu\n");
  again = raw;
  EXPECT_EQ(assemble(std::move(again), options).labels()->name, "kind");
  options.labels = folder.write("z.csv", "u\nv\n");
  EXPECT_TRUE(contains(message_of([&] { return assemble(std::move(raw), options); }), "2 lines for 3 rows"));
}

TEST(Labels, AreMatchedByNumbersToo) {
  const Folder folder;
  ReadOptions options;
  options.labels = folder.write("p.csv", ",group\n2,u\n0,u\n1,v\n");
  for (const char* head : {",a,b\n", "index,a,b\n", "patient,a,b\n"}) {
    const DatasetParts data = csv_of(std::string(head) + "0,1,5\n1,2,4\n2,3,9\n", options);
    EXPECT_EQ(data.labels->codes, (std::vector<int>{0, 1, 0})) << head;
    EXPECT_EQ(data.names.size(), 2) << "the ids are no feature";
    EXPECT_TRUE(contains(data.understood.front(), "by the numbers in")) << data.understood.front();
  }
  // No column has them: rows are counted from the number that the file begins with.
  EXPECT_EQ(csv_of("a,b\n.5,5\n2,4\n3,9\n", options).labels->codes, (std::vector<int>{0, 1, 0}));
  options.labels = folder.write("q.csv", "row,group\n3,u\n1,v\n2,v\n");
  const DatasetParts counted = csv_of("a,b\n.5,5\n2,4\n3,9\n", options);
  EXPECT_EQ(counted.labels->codes, (std::vector<int>{1, 1, 0}));
  EXPECT_TRUE(contains(counted.understood.front(), "the number of the row, from 1"));
  options.labels = folder.write("r.csv", "sample,group\ns3,u\ns1,v\ns2,v\ns4,u\n");
  const DatasetParts blind = csv_of("a,b\n.5,5\n2,4\n3,9\n7,7\n", options);
  EXPECT_EQ(blind.labels->codes, (std::vector<int>{0, 1, 1, 0}));
  ASSERT_FALSE(blind.warnings.empty());
  EXPECT_TRUE(contains(blind.warnings.front(), "its ids (s3, s1, s2")) << blind.warnings.front();
}

TEST(Labels, OfAClassFileStandInTheOrderOfTheSamples) {
  const Folder folder;
  ReadOptions options;
  const auto labels_by = [&](const std::string& text) {
    options.labels = folder.write("t.cls", text);
    return *csv_of("id,a\ns1,1\ns2,2\ns3,3\n", options).labels;
  };
  const Labels coded = labels_by("3 2 1\n# tumour normal\n0 1 0\n");
  EXPECT_EQ(coded.classes, (std::vector<std::string>{"normal", "tumour"}));
  EXPECT_EQ(coded.codes, (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(labels_by("3\t2\t1\r\n#tumour normal\r\n\r\ntumour normal tumour\r\n").codes, coded.codes);
  // The first sample is of the class named second, or of the first one: programs differ, and no name is
  // given.
  EXPECT_EQ(labels_by("3 2 1\n# tumour normal\n1 0 1\n").classes, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(labels_by("3 2 1\n# tumour normal\nT N T\n").classes, (std::vector<std::string>{"N", "T"}));
  const auto said = [&](const std::string& text) { return message_of([&] { return labels_by(text); }); };
  EXPECT_TRUE(contains(said("3 2 1\n# a b\n0 1\n"), "t.cls:3:1: 2 labels where the first line speaks of 3"));
  EXPECT_TRUE(contains(said("2 2 1\n# a b\n0 1\n"), "2 labels for a table of 3 rows"));
  EXPECT_TRUE(contains(said("3 2 1\n0 1 0\n"), "three lines"));
  EXPECT_TRUE(contains(said("3 2 1\na b\n0 1 0\n"), "t.cls:2:1"));
  EXPECT_TRUE(contains(said("s1 a\ns2 b\ns3 a\n"), "t.cls:1:1"));
  EXPECT_TRUE(contains(said("#numeric\n#age\n1 2 3\n"), "t.cls:1:1"));
}

TEST(Names, OfATableWithoutThemComeFromAFile) {
  const Folder folder;
  ReadOptions options;
  options.names = folder.write("names.txt", "g1\ng2\ng3\n");
  EXPECT_EQ(read_dataset(folder.write("t.svm", "u 1:5\nv 2:1\n"), options).feature_names(),
            (std::vector<std::string>{"g1", "g2", "g3"}))
      << "and with them how wide a sparse table is";
  RawTable raw;
  raw.source = "t.npy";
  raw.dense = Matrix::Random(3, 2);
  raw.names = FeatureNames(2);
  RawTable again = raw;
  options.names = folder.write("more.txt", "g1\ng2\ng3\ng4\n");
  EXPECT_TRUE(
      contains(message_of([&] { return assemble(std::move(again), options); }), "4 names for the 2 columns"));
  options.names = folder.write("headed.tsv", "gene\tabout\ng1\tx\ng2\ty\n");
  EXPECT_EQ(assemble(std::move(raw), options).names()[1], "g2");
  EXPECT_TRUE(
      contains(message_of([&] { return csv_of("a,b\n1,2\n", options); }), "names its features itself"));
}

// --- GCT ---------------------------------------------------------------------------------------------------

DatasetParts gct(std::string_view text, const ReadOptions& options = {},
                 std::size_t block = kTextBlockBytes) {
  const auto bytes = memory_bytes(text);
  return assemble(read_gct_bytes(*bytes, "t.gct", options, block), options).parts();
}

TEST(Gct, OfBothVersions) {
  const std::string old = "#1.2\n2\t3\nName\tDescription\ts1\ts2\ts3\ng1\tx\t1\t2.5\t3\ng2\t\t4\t5\t6\n";
  for (const std::size_t block : {4, 9, 1000}) expect_genes(gct(old, {}, block));
  const DatasetParts data = gct(
      "#1.3\n2\t3\t1\t2\nid\tabout\ts1\ts2\ts3\narm\tna\tx\ty\tx\nage\tna\t50\t60\t70\ng1\tk\t1\t2.5\t3\ng2\tk\t4\t5\t6\n");
  expect_genes(data);
  EXPECT_FALSE(data.labels) << "two of three samples: 'arm' has too many values for so few";
  EXPECT_EQ(gct("#1.3\n1\t4\t0\t1\nid\ts1\ts2\ts3\ts4\narm\tx\ty\tx\ty\ng1\t1\t2\t3\t4\n").labels->name,
            "arm");
}

TEST(Gct, IsStrict) {
  const auto said = [](std::string_view text) { return message_of([&] { return gct(text); }); };
  EXPECT_TRUE(contains(said("Name\ts1\n"), "'Name' where #1.2 or #1.3 is needed"));
  EXPECT_TRUE(contains(said("#1.2\n"), "ends before the sizes"));
  EXPECT_TRUE(contains(said("#1.2\nx\t3\n"), "'x' is no size"));
  EXPECT_TRUE(contains(said("#1.2\n2\t3\nName\tDescription\ts1\n"), "the header has 3 fields"));
  EXPECT_TRUE(
      contains(said("#1.2\n2\t1\nName\tDescription\ts1\ng1\t\t5\n"), "speaks of 2 rows, but there are 1"));
  EXPECT_TRUE(
      contains(said("#1.2\n1\t1\nName\tDescription\ts1\ng1\t\tx\n"), "t.gct:4:3: 'x' is not a number"));
  EXPECT_TRUE(
      contains(said("#1.2\n1\t1\nName\tDescription\ts1\ng1\t5\n"), "t.gct:4:1: the row has 2 fields"));
}

// --- GEO series matrix -------------------------------------------------------------------------------------

const std::string kSeries =
    "!Series_title\t\"A \"quoted\" study\"\n!Series_summary\t\"5' ends\"\n\n"
    "!Sample_title\t\"p1\"\t\"p2\"\t\"p3\"\t\"p4\"\n"
    "!Sample_geo_accession\t\"GSM1\"\t\"GSM2\"\t\"GSM3\"\t\"GSM4\"\n"
    "!Sample_characteristics_ch1\t\"disease state: tumor\"\t\"disease state: normal\"\t\"disease state: tumor\"\t\"disease state: normal\"\n"
    "!Sample_characteristics_ch1\t\"age: 50\"\t\"\"\t\"age: 61\"\t\"age: 70\"\n"
    "%s"
    "!series_matrix_table_begin\n"
    "\"ID_REF\"\t\"GSM1\"\t\"GSM2\"\t\"GSM3\"\t\"GSM4\"\n"
    "\"1007_s_at\"\t1\t2\t3.5\t4\n\"1053_at\"\t5\t\t7\tnull\n"
    "!series_matrix_table_end\n";

std::string series(const std::string& more) {
  std::string text = kSeries;
  return text.replace(text.find("%s"), 2, more);
}

DatasetParts series_matrix(std::string_view text, const ReadOptions& options = {},
                           std::size_t block = kTextBlockBytes) {
  const auto bytes = memory_bytes(text);
  return assemble(read_series_matrix_bytes(*bytes, "s.txt", options, block), options).parts();
}

TEST(SeriesMatrix, GivesSamplesInRowsWithWhatIsSaidOfThem) {
  for (const std::size_t block : {4, 50, 100000}) {
    const DatasetParts data = series_matrix(series(""), {}, block);
    EXPECT_EQ(data.names.all(), (std::vector<std::string>{"1007_s_at", "1053_at"}));
    EXPECT_EQ(*data.row_ids, (std::vector<std::string>{"GSM1", "GSM2", "GSM3", "GSM4"}));
    EXPECT_EQ(data.dense.col(0), (Vector(4) << 1, 2, 3.5, 4).finished());
    EXPECT_TRUE(std::isnan(data.dense(1, 1)) && std::isnan(data.dense(3, 1)));
    EXPECT_EQ(data.labels->name, "disease state") << "the only one with few values";
    EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"normal", "tumor"}));
  }
}

TEST(SeriesMatrix, SeveralCharacteristicsAreNamedWithTheirValues) {
  const std::string text = series(
      "!Sample_characteristics_ch1\t\"Sex: F\"\t\"Sex: M\"\t\"Sex: M\"\t\"Sex: F\"\n"
      "!Sample_source_name_ch1\t\"colon\"\t\"colon\"\t\"colon\"\t\"colon\"\n");
  const DatasetParts data = series_matrix(text);
  EXPECT_FALSE(data.labels);
  EXPECT_TRUE(contains(data.no_target, "'disease state' ('normal' 2, 'tumor' 2)")) << data.no_target;
  EXPECT_TRUE(contains(data.no_target, "'Sex' ('F' 2, 'M' 2)"));
  EXPECT_TRUE(contains(data.no_target, "⟨target 'disease state'⟩"));
  ReadOptions options;
  options.target = "Sex";
  EXPECT_EQ(series_matrix(text, options).labels->codes, (std::vector<int>{0, 1, 1, 0}));
}

TEST(SeriesMatrix, CharacteristicsInDifferentLinesAreFoundByTheirKeys) {
  ReadOptions options;
  options.target = "arm";
  const DatasetParts data =
      series_matrix(series("!Sample_characteristics_ch1\t\"arm: x\"\t\"dose: 1\"\t\"arm: y\"\t\"arm: x\"\n"
                           "!Sample_characteristics_ch1\t\"dose: 2\"\t\"arm: y\"\t\"\"\t\"\"\n"),
                    options);
  EXPECT_EQ(data.labels->codes, (std::vector<int>{0, 1, 1, 0}));
}

TEST(SeriesMatrix, IsStrict) {
  const auto said = [](std::string text, std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
    return message_of([&] { return series_matrix(text); });
  };
  EXPECT_TRUE(
      contains(said(series(""), "!series_matrix_table_end\n", ""), "ends before !series_matrix_table_end"));
  EXPECT_TRUE(contains(said(series(""), "!series_matrix_table_begin\n", ""), "begins with !"));
  EXPECT_TRUE(contains(said(series(""), "\t7\t", "\tx\t"), "'x' is not a number in the row of '1053_at'"));
  EXPECT_TRUE(contains(said(series(""), "\t7\tnull", "\t7"), "the row has 4 fields where the header has 5"));
  EXPECT_TRUE(contains(said(series(""), "\"1007_s_at\"\t1\t2\t3.5\t4\n\"1053_at\"\t5\t\t7\tnull\n", ""),
                       "supplementary files"));
}

TEST(SeriesMatrix, IsFoundOutInATextFileAndLabelsAnotherTable) {
  const Folder folder;
  const std::string path = folder.write("GSE1_series_matrix.txt", series(""));
  EXPECT_EQ(read_dataset(path).features(), 2);
  ReadOptions options;
  options.labels = path + ":disease state";
  const Dataset counts =
      read_dataset(folder.write("counts.csv", "gene,GSM1,GSM2,GSM3,GSM4\ng1,1,2,3,5\ng2,4,5,6,5\n"), options);
  EXPECT_EQ(counts.rows(), 4);
  EXPECT_EQ(counts.labels()->codes, (std::vector<int>{1, 0, 1, 0}));
}

}  // namespace
}  // namespace subspectra
