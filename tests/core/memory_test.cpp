#include "core/memory.hpp"

#include <gtest/gtest.h>

#include <string>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

TEST(Memory, BudgetIsTheLimitOrPartOfWhatIsFree) {
  EXPECT_EQ(memory_budget(12345), 12345U);
  EXPECT_GT(memory_budget(), std::uint64_t{1} << 20U);
  EXPECT_LT(memory_budget(), std::uint64_t{1} << 50U);
}

TEST(Memory, RefusalNamesTheNeedTheBudgetAndTheWayOut) {
  require_memory(1000.0, "the table", "use less", 1000);
  try {
    require_memory(18.64e9, "the table", "use a sparse format", 12'000'000'000);
    FAIL() << "no exception";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "the table needs 18.6 GB but 12.0 GB may be used; use a sparse format");
  }
  EXPECT_THROW(require_memory(1e30, "everything", "ask for less"), Error);
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
