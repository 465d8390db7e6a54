#include "core/memory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

TEST(Memory, BudgetIsTheLimitLessWhatTheProcessHoldsOrPartOfWhatIsFree) {
  EXPECT_EQ(memory_budget(12345), 0U);  // no process is that small
  const std::uint64_t limit = std::uint64_t{1} << 30U;
  const std::vector<char> held(100'000'000, 'x');
  EXPECT_EQ(held.back(), 'x');
  EXPECT_GT(memory_in_use(), 100'000'000U);
  EXPECT_LT(memory_budget(limit), limit - 100'000'000U);
  EXPECT_GT(memory_budget(), std::uint64_t{1} << 20U);
  EXPECT_LT(memory_budget(), std::uint64_t{1} << 50U);
}

TEST(Memory, RefusalNamesTheNeedTheBudgetAndTheWayOut) {
  require_memory(1000.0, "the table", "use less", 1000);
  try {
    require_memory(18.64e9, "the table", "use a sparse format", 1'000'000'000);
    FAIL() << "no exception";
  } catch (const Error& e) {
    const std::string sentence = e.what();
    EXPECT_EQ(sentence.find("the table needs 18.6 GB but "), 0U) << sentence;
    EXPECT_NE(sentence.find(" MB may be used (memory_limit is 1.0 GB, and the process holds "),
              std::string::npos)
        << sentence;
    EXPECT_TRUE(sentence.ends_with(" already); use a sparse format")) << sentence;
  }
  EXPECT_THROW(require_memory(1e30, "everything", "ask for less"), Error);
}

TEST(Memory, WhatIsTakenIsCountedAndWhatIsGivenBackMayBeTakenAgain) {
  MemoryBudget budget(memory_in_use() + 1'000'000'000);
  const MemoryPurpose purpose{.what = "the table", .advice = "use less"};
  const std::uint64_t all = budget.left();
  budget.take(600e6, purpose);
  EXPECT_THROW(budget.take(600e6, purpose), Error) << "not every holder has the whole limit";
  EXPECT_THROW(budget.grow(600'000'000, purpose), Error);
  budget.give_back(600'000'000);
  {
    HeldMemory held(budget);
    held.grow(600'000'000, purpose);
    EXPECT_EQ(budget.left(), all - 600'000'000);
  }
  EXPECT_EQ(budget.left(), all);
  EXPECT_THROW(budget.take(std::nan(""), purpose), Error);
  EXPECT_THROW(budget.take(1e30, purpose), Error);
}

TEST(Memory, WhatGrowsWithAFileSaysWhatTheWholeNeedsNotWhatWasReached) {
  MemoryBudget budget(memory_in_use() + 100'000'000);
  const MemoryPurpose table{.what = "the table", .advice = "use less", .grows_with_file = true};
  const MemoryPurpose line{.what = "a line", .advice = "use less"};
  const auto refusal = [&](std::size_t bytes, const MemoryPurpose& purpose) {
    try {
      budget.grow(bytes, purpose);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("granted");
  };
  EXPECT_EQ(refusal(200'000'000, table).find("the table needs more than 200.0 MB but "), 0U)
      << refusal(200'000'000, table);
  const auto share = std::make_shared<double>(0.25);
  budget.expect(share);
  EXPECT_EQ(refusal(200'000'000, table)
                .find("the table needs about 800.0 MB, by the 25 % of the file that were read, but "),
            0U)
      << refusal(200'000'000, table);
  EXPECT_EQ(refusal(200'000'000, line).find("a line needs more than 200.0 MB but "), 0U)
      << "it says nothing of the rest";
  *share = 1.0;
  EXPECT_EQ(refusal(200'000'000, table).find("the table needs more than 200.0 MB but "), 0U);
}

TEST(Memory, AVectorThatGrowsIsCountedWithItsOldPlace) {
  MemoryBudget budget(memory_in_use() + 100'000'000);
  const MemoryPurpose purpose{.what = "the texts", .advice = "use less"};
  const std::uint64_t all = budget.left();
  std::vector<std::string> texts;
  budget.append(texts, "short", purpose);
  EXPECT_EQ(budget.left(), all - texts.capacity() * sizeof(std::string));
  const std::uint64_t before = budget.left();
  budget.append(texts, std::string(1000, 'x'), purpose);
  EXPECT_LE(budget.left(), before - 1001);
  EXPECT_GE(budget.left(), before - 1100);
  std::vector<double> many;
  budget.make_room(many, static_cast<std::size_t>(budget.left() / sizeof(double) / 2), purpose);
  many.resize(many.capacity());
  EXPECT_THROW(budget.make_room(many, purpose), Error)
      << "there is no room for it and a larger one beside it";
}

TEST(Memory, ALimitBelowTheProgramItselfIsRefused) {
  try {
    const MemoryBudget budget(1000);
    FAIL() << "no exception";
  } catch (const Error& e) {
    EXPECT_STREQ(
        e.what(),
        "memory_limit 1.0 kB: the program and its libraries alone take up to 32.0 MB; give 100M or more");
  }
}

/// Files as the kernel shows them, in a folder of the test's own.
class Groups : public ::testing::Test {
 protected:
  Groups() {
    std::string pattern = (std::filesystem::temp_directory_path() / "subspectra-groups-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~Groups() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << content;
  }
  [[nodiscard]] std::uint64_t left(const std::string& own_groups) const {
    return memory_left_in_groups(own_groups, root_.string());
  }
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::filesystem::path root_;
};

TEST_F(Groups, TheLeastOfAllLimitsUpToTheRootHolds) {
  EXPECT_EQ(left("0::/\n"), kNone);
  EXPECT_EQ(left(""), kNone);
  write("user/run/memory.max", "max\n");
  write("user/run/memory.current", "500\n");
  EXPECT_EQ(left("0::/user/run\n"), kNone);
  write("user/memory.max", "9000\n");
  write("user/memory.current", "4000\n");
  EXPECT_EQ(left("0::/user/run\n"), 5000U);
  write("user/memory.stat", "anon 2500\nfile 1500\ninactive_file 1000\nactive_file 400\n");
  EXPECT_EQ(left("0::/user/run\n"), 6400U) << "files that are cached make room";
  write("user/run/memory.max", "2500\n");
  EXPECT_EQ(left("0::/user/run\n"), 2000U);
  EXPECT_EQ(left("0::/user\n"), 6400U);
  write("user/run/memory.current", "3000\n");
  EXPECT_EQ(left("0::/user/run\n"), 0U);
  write("memory.max", "700\n");  // a container's own, where the path of the host is not seen
  EXPECT_EQ(left("0::/docker/1234\n"), 700U);
}

TEST_F(Groups, TheLargestNumberOfTheFirstVersionIsNoLimit) {
  write("memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory/job/memory.usage_in_bytes", "5000\n");
  EXPECT_EQ(left("4:memory:/job\n"), kNone);
  write("memory/job/memory.limit_in_bytes", "9000\n");
  EXPECT_EQ(left("4:memory:/job\n"), 4000U);
}

TEST_F(Groups, TheFirstVersionHasItsOwnNames) {
  write("memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory/a/memory.usage_in_bytes", "1000\n");
  EXPECT_GT(left("5:cpu:/b\n4:memory:/a\n0::/\n"), std::uint64_t{1} << 62U);
  write("memory/a/b/memory.limit_in_bytes", "8000\n");
  write("memory/a/b/memory.usage_in_bytes", "5000\n");
  write("memory/a/b/memory.stat",
        "cache 7\ninactive_file 1\ntotal_inactive_file 100\ntotal_active_file 10\n");
  EXPECT_EQ(left("4:hugetlb,memory:/a/b\n"), 3110U);
  EXPECT_EQ(left("4:cpu:/a/b\n"), kNone);
}

TEST(Memory, SizesAreWrittenInPowersOfAThousand) {
  EXPECT_EQ(readable_bytes(0.0), "0 B");
  EXPECT_EQ(readable_bytes(999.0), "999 B");
  EXPECT_EQ(readable_bytes(1000.0), "1.0 kB");
  EXPECT_EQ(readable_bytes(18.64e9), "18.6 GB");
  EXPECT_EQ(readable_bytes(999.96e6), "1.0 GB");  // rounding up to the next unit, not "1000.0 MB"
  EXPECT_EQ(readable_bytes(5e21), "5000.0 EB");
}

}  // namespace
}  // namespace subspectra
