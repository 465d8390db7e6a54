#include "io/part_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "run_program.hpp"

namespace subspectra::part_file_test {
namespace {

using testing::ScratchDirectory;

PartFile part(Index number, Index count) {
  return {.path = fmt::format("{}-of-{}.json", number, count),
          .part = {.number = number, .count = count},
          .run = {.command = "evaluate",
                  .data = "t.csv",
                  .options = {{"k", "1:3"}, {"standardize", "true"}},
                  .table = "0123",
                  .files = ""},
          .items = {{fmt::format("{}/0", number), {{"sizes", {1.0 / 3.0, 1e-300, -0.0}}}}}};
}

std::string refusal(std::vector<PartFile> files) {
  try {
    const PartWork work(std::move(files));
  } catch (const BadInput& problem) {
    return problem.text(Spelling::kCommandLine);
  }
  return "taken";
}

TEST(PartFile, IsReadAsItWasWritten) {
  const ScratchDirectory scratch;
  const PartFile written = part(2, 3);
  const PartFile read = read_part(scratch.write("p", part_text(written)));
  EXPECT_EQ(read.part, written.part);
  EXPECT_EQ(read.run.command, "evaluate");
  EXPECT_EQ(read.run.data, "t.csv");
  EXPECT_EQ(read.run.options, written.run.options);
  EXPECT_EQ(read.run.table, "0123");
  EXPECT_EQ(read.items.dump(), written.items.dump());
}

TEST(PartFile, RefusesEveryDamagedByteAndEveryCut) {
  const ScratchDirectory scratch;
  const std::string text = part_text(part(1, 2));
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const std::string cut = text.substr(0, at);
    if (at + 1 == text.size()) break;  // the end of the line says nothing
    EXPECT_THROW((void)read_part(scratch.write("d", damaged)), BadInput) << at;
    EXPECT_THROW((void)read_part(scratch.write("c", cut)), BadInput) << at;
  }
}

TEST(PartFile, PutsPartsTogetherInAnyOrder) {
  for (const auto& order : std::vector<std::vector<Index>>{{1, 2, 3}, {3, 1, 2}, {2, 3, 1}}) {
    std::vector<PartFile> files;
    for (const Index number : order) files.push_back(part(number, 3));
    const PartWork work(std::move(files));
    EXPECT_TRUE(work.merging());
    EXPECT_EQ(work.count(), 3);
    EXPECT_FALSE(work.mine(0));
    EXPECT_EQ(work.first_path(), "1-of-3.json");
    EXPECT_EQ(work.found("2/0", 1).at("sizes").list().size(), 3U);
    EXPECT_THROW((void)work.found("2/0", 2), BadInput);
  }
}

TEST(PartFile, NamesWhatIsMissingDoubledOrForeign) {
  EXPECT_EQ(refusal({part(1, 1)}), "taken");
  EXPECT_EQ(
      refusal({part(1, 3), part(3, 3)}),
      "part 2 of 3 is missing; run it with --part 2/3 and the other options as they were, and give all");
  EXPECT_EQ(
      refusal({part(3, 4)}),
      "parts 1, 2, 4 of 4 are missing; run each with --part 1/4 and the other options as they were, and give all");
  PartFile again = part(2, 2);
  again.path = "again.json";
  EXPECT_EQ(refusal({part(1, 2), part(2, 2), again}),
            "again.json: it is part 2 of 2, and so is 2-of-2.json; give one of them");
  EXPECT_EQ(refusal({part(1, 2), part(2, 3)}),
            "2-of-3.json: it is one of 3 parts, and 1-of-2.json is one of 2; give the parts of one run");
  PartFile other = part(2, 2);
  other.run.options["k"] = "1:4";
  EXPECT_EQ(
      refusal({part(1, 2), other}),
      "2-of-2.json: it was made with -k 1:4, and 1-of-2.json with -k 1:3; run one of them again as the other was");
  other = part(2, 2);
  other.run.options.erase("standardize");
  EXPECT_EQ(
      refusal({part(1, 2), other}),
      "2-of-2.json: it was made without --standardize, and 1-of-2.json with --standardize; run one of them "
      "again as the other was");
  other = part(2, 2);
  other.run.table = "4567";
  EXPECT_EQ(refusal({part(1, 2), other}),
            "2-of-2.json: it was made of other data than 1-of-2.json; run one of them again");
  other = part(2, 2);
  other.run.files = "89";
  EXPECT_EQ(
      refusal({part(1, 2), other}),
      "2-of-2.json: a file that its options name (@FILE) had other contents than for 1-of-2.json; run one of "
      "them again");
  other = part(2, 2);
  other.run.command = "select";
  EXPECT_EQ(
      refusal({part(1, 2), other}),
      "2-of-2.json: it is a part of 'select', and 1-of-2.json is one of 'evaluate'; give the parts of one run");
}

TEST(PartOption, TakesIOfNAndNothingElse) {
  const Part found = OptionCodec<Part>::parse("2/8");
  EXPECT_EQ(found.number, 2);
  EXPECT_EQ(found.count, 8);
  EXPECT_EQ(OptionCodec<Part>::format(found), "2/8");
  EXPECT_EQ(OptionCodec<Part>::format({}), "");
  for (const char* wrong : {"", "2", "/", "2/", "/8", "0/8", "9/8", "-1/8", "1/0", "2/8/", "2 /8", "1.5/8",
                            "1/1000001", "1/99999999999999999999"})
    EXPECT_THROW((void)OptionCodec<Part>::parse(wrong), InvalidArgument) << wrong;
}

}  // namespace
}  // namespace subspectra::part_file_test
