#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <subspectra/io.hpp>
#include "binary_files.hpp"
#include "data/genotypes.hpp"
#include "io/raw_table.hpp"
#include "io/read.hpp"

namespace subspectra::bed_test {
namespace {

/// Five samples and three variants, packed by hand: codes 00 two copies of A1, 10 one, 11 none, 01 missing,
/// the first sample in the lowest bits.
const std::string kBed = std::string("\x6c\x1b\x01", 3) + std::string("\xe4\x00", 2) +  // 0 1 2 3, 0
                         std::string("\xff\x02", 2) +                                   // 3 3 3 3, 2
                         std::string("\x88\x03", 2);                                    // 0 2 0 2, 3
const std::string kBim = "1\trs1\t0\t1000\tA\tC\n1 rs2 0 2000 G T\r\n2\t.\t0\t77\tA\tG\n";
const std::string kFam = "F1 a 0 0 1 1\nF1 b 0 0 2 2\nF2 c 0 0 1 2\n\nF3\td\t0\t0\t0\t-9\nF3 e 0 0 2 1\n";

Dataset read(const std::string& bed = kBed, const std::string& bim = kBim, const std::string& fam = kFam,
             const ReadOptions& options = {}) {
  return assemble(read_bed_bytes(bed, bim, fam, "t", options), options);
}

std::string refusal(const std::string& bed, const std::string& bim = kBim, const std::string& fam = kFam) {
  try {
    static_cast<void>(read(bed, bim, fam));
  } catch (const BadInput& why) {
    return why.what();
  }
  return "it was read";
}

TEST(Bed, AFilesetPackedByHandIsReadAsPlinkCountsIt) {
  const Dataset data = read();
  EXPECT_EQ(data.rows(), 5);
  EXPECT_EQ(data.feature_names(), (std::vector<std::string>{"rs1", "rs2", "2:77"}));
  EXPECT_EQ(std::vector<std::string>(data.classes().begin(), data.classes().end()),
            (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(std::vector<int>(data.class_codes().begin(), data.class_codes().end()),
            (std::vector<int>{0, 1, 1, -1, 0}));
  ASSERT_TRUE(data.details().row_ids != nullptr);
  EXPECT_EQ(*data.details().row_ids, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  const Matrix x = data.values().matrix();
  EXPECT_TRUE(std::isnan(x(1, 0)));
  const std::vector<std::vector<double>> expected = {{2, -1, 1, 0, 2}, {0, 0, 0, 0, 1}, {2, 1, 2, 1, 0}};
  for (Index j = 0; j < 3; ++j) {
    for (Index i = 0; i < 5; ++i) {
      const double value = expected[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
      if (value >= 0.0) {
        EXPECT_EQ(x(i, j), value) << i << ' ' << j;
      }
    }
  }
  EXPECT_TRUE(data.values().source() != nullptr);  // it stays packed
}

TEST(Bed, AFilesetThatIsDamagedIsRefusedWithTheFileAndTheRule) {
  EXPECT_EQ(
      refusal(kBed.substr(0, 8)),
      "t.bed: has 8 bytes, but 5 samples of its .fam and 3 variants of its .bim need 9; it was cut short: copy it again");
  EXPECT_EQ(
      refusal(kBed + "x"),
      "t.bed: has 10 bytes, but 5 samples of its .fam and 3 variants of its .bim need 9; the three files are not of one set: give those that belong together");
  EXPECT_NE(refusal(std::string("\x6c\x1b\0", 3) + kBed.substr(3)).find("samples one after another"),
            std::string::npos);
  EXPECT_NE(refusal("PK\1" + kBed.substr(3)).find("6c 1b"), std::string::npos);
  EXPECT_NE(refusal(std::string("\x6c\x1b\x07", 3) + kBed.substr(3)).find("07 as its third byte"),
            std::string::npos);
  EXPECT_NE(refusal("").find("too short"), std::string::npos);
  EXPECT_EQ(
      refusal(kBed, kBim + "1 rs3 0 5\n"),
      "t.bim:4:1: 4 fields where 6 are needed (chromosome, id, centimorgans, position, two alleles); write the fileset anew with PLINK's make-bed");
  EXPECT_NE(refusal(kBed, kBim, "a b c d e\n").find("t.fam:1:1: 5 fields where 6"), std::string::npos);
  EXPECT_NE(refusal(kBed, "").find("holds no variants"), std::string::npos);
  EXPECT_NE(refusal(kBed, kBim, "\n \n").find("holds no samples"), std::string::npos);
  EXPECT_NE(refusal(kBed, kBim + std::string("1 r\0 0 5 A C\n", 13)).find("zero byte"), std::string::npos);
}

TEST(Bed, AMeasuredPhenotypeIsNoClassAndIdsWithinFamiliesAreJoined) {
  const std::string measured = "F1 a 0 0 1 1.5\nF1 b 0 0 2 2\nF2 a 0 0 1 3.25\nF3 d 0 0 0 -9\nF3 e 0 0 2 1\n";
  const Dataset data = read(kBed, kBim, measured);
  EXPECT_FALSE(data.has_labels());
  EXPECT_EQ(data.details().row_ids->at(2), "F2_a");
  ReadOptions by_sex;
  by_sex.target = "sex";
  EXPECT_EQ(read(kBed, kBim, measured, by_sex).classes().size(), 2U);
}

TEST(Bed, TheOtherFilesOfASetAreNamedWhereTheyAreMissing) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("subspectra-bed-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "alone.bed").string();
  std::ofstream(path, std::ios::binary) << kBed;
  try {
    static_cast<void>(read_dataset(path));
    ADD_FAILURE() << "it was read";
  } catch (const BadInput& why) {
    EXPECT_NE(std::string(why.what()).find("alone.bim"), std::string::npos) << why.what();
    EXPECT_NE(std::string(why.what()).find("three files"), std::string::npos) << why.what();
  }
  std::filesystem::remove_all(folder);
}

/// PLINK itself makes a fileset and decodes it.
class BedByPlink : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("plink1.9 --version >/dev/null 2>&1") != 0)  // NOLINT(*-command-processor,cert-*)
      GTEST_SKIP() << "plink1.9 is not there (Debian's package of that name)";
    folder_ = std::filesystem::temp_directory_path() / fmt::format("subspectra-plink-{}", ::getpid());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  void plink(const std::string& words) const {
    const std::string command =
        fmt::format("cd '{}' && plink1.9 {} >/dev/null 2>&1", folder_.string(), words);
    ASSERT_EQ(std::system(command.c_str()), 0) << words;  // NOLINT(*-command-processor,cert-*)
  }
  std::filesystem::path folder_;
};

TEST_F(BedByPlink, ValuesNamesAndPhenotypesAreThoseOfRecodeA) {
  plink("--dummy 37 211 0.06 acgt --seed 7 --make-bed --out set");
  plink("--bfile set --recode A --out set");
  const Dataset data = read_dataset((folder_ / "set.bed").string());
  std::ifstream raw(folder_ / "set.raw");
  std::string line;
  std::getline(raw, line);  // FID IID PAT MAT SEX PHENOTYPE snp0_A ...
  std::istringstream head(line);
  std::vector<std::string> names;
  for (std::string name; head >> name;) names.push_back(name);
  ASSERT_EQ(names.size(), 6U + 211U);
  for (Index j = 0; j < 211; ++j)
    EXPECT_TRUE(names[static_cast<std::size_t>(j) + 6].starts_with(data.names()[j] + "_"));
  const Matrix x = data.values().matrix();
  Index missing = 0;
  for (Index i = 0; i < 37; ++i) {
    ASSERT_TRUE(std::getline(raw, line));
    std::istringstream fields(line);
    std::vector<std::string> words;
    for (std::string word; fields >> word;) words.push_back(word);
    ASSERT_EQ(words.size(), names.size());
    EXPECT_EQ(data.details().row_ids->at(static_cast<std::size_t>(i)), words[1]);
    const int code = data.class_codes()[static_cast<std::size_t>(i)];
    EXPECT_EQ(code < 0 ? "-9" : data.classes()[static_cast<std::size_t>(code)], words[5]);
    for (Index j = 0; j < 211; ++j) {
      const std::string& word = words[static_cast<std::size_t>(j) + 6];
      EXPECT_EQ(std::isnan(x(i, j)) ? "NA" : fmt::format("{:g}", x(i, j)), word);
      missing += word == "NA" ? 1 : 0;
    }
  }
  EXPECT_GT(missing, 0);
}

}  // namespace
}  // namespace subspectra::bed_test
