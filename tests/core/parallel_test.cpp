#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/random.hpp"

namespace subspectra {
namespace {

TEST(ParallelFor, RunsEveryItemOnce) {
  for (const int threads : {0, 1, 2, 8}) {
    for (const Index items : {0, 1, 2, 3, 1000}) {
      std::vector<int> runs(static_cast<std::size_t>(items));
      parallel_for(items, threads, [&](Index i) { ++runs[static_cast<std::size_t>(i)]; });
      EXPECT_EQ(runs, std::vector<int>(static_cast<std::size_t>(items), 1)) << threads << " threads";
    }
  }
  parallel_for(-3, 2, [](Index) { FAIL() << "there is nothing to do"; });
}

TEST(ParallelFor, ReallyRunsOnSeveralThreads) {
  // Two items that wait for each other can only end if both run at once, also on one core.
  std::atomic<int> arrived = 0;
  parallel_for(2, 2, [&](Index) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ParallelFor, RethrowsTheFirstExceptionInItemOrder) {
  for (const int threads : {1, 2, 8}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::atomic<int> before = 0;
      try {
        parallel_for(200, threads, [&](Index i) {
          if (i < 57) ++before;
          if (i == 57 || i == 58 || i % 50 == 49) {
            if (i > 56) throw std::runtime_error(std::to_string(i));
          }
        });
        FAIL() << "no exception";
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "57") << threads << " threads";
      }
      EXPECT_EQ(before, 57);
    }
  }
}

TEST(ParallelFor, CarriesAnExceptionOutOfANestedLoop) {
  EXPECT_THROW(parallel_for(4, 2,
                            [](Index i) {
                              parallel_for(4, 2, [i](Index j) {
                                if (i == 2 && j == 1) throw std::logic_error("inner");
                              });
                            }),
               std::logic_error);
}

TEST(ParallelFor, NestsWithoutStartingAnotherItemInsideAWaitingOne) {
  for (const int threads : {1, 2, 8}) {
    std::vector<std::vector<int>> runs(20, std::vector<int>(50));
    std::atomic<bool> interleaved = false;
    parallel_for(20, threads, [&](Index i) {
      thread_local int depth = 0;
      if (++depth > 1) interleaved = true;
      parallel_for(50, threads,
                   [&](Index j) { ++runs[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]; });
      --depth;
    });
    for (const auto& row : runs) EXPECT_EQ(row, std::vector<int>(50, 1));
    EXPECT_FALSE(interleaved);
  }
}

TEST(ParallelFor, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto total = [](int threads) {
    std::vector<double> slots(500);
    parallel_for(500, threads, [&](Index i) {
      Random random(3, static_cast<std::uint64_t>(i));
      double sum = 0.0;
      for (int k = 0; k < 100; ++k) sum += std::sin(random.normal());
      slots[static_cast<std::size_t>(i)] = sum;
    });
    double sum = 0.0;
    for (const double slot : slots) sum += slot;
    return sum;
  };
  const double once = total(1);
  for (const int threads : {2, 8, 0}) EXPECT_EQ(total(threads), once);
}

TEST(ParallelFor, WritesOfTheItemsAreSeenAfterwardsAndReadsOfWhatCameBefore) {
  // Plain memory on purpose: under the thread sanitizer this is the test of the orderings that parallel_for
  // promises.
  std::vector<std::vector<double>> tables(64);
  for (int round = 0; round < 20; ++round) {
    const std::vector<double> source(100, round);
    parallel_for(64, 4, [&](Index i) { tables[static_cast<std::size_t>(i)] = source; });
    parallel_for(64, 4, [&](Index i) {  // reads what other threads wrote in the loop before
      tables[static_cast<std::size_t>(i)][0] += tables[static_cast<std::size_t>(63 - i)][1];
    });
    for (const auto& table : tables) EXPECT_EQ(table[0], 2.0 * round);
  }
}

TEST(ParallelFor, MayBeCalledFromSeveralThreadsAtOnce) {
  std::vector<std::thread> callers;
  std::vector<int> sums(4);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    callers.emplace_back([&sums, c] {
      std::vector<int> slots(200);
      parallel_for(200, 2, [&](Index i) { slots[static_cast<std::size_t>(i)] = static_cast<int>(i); });
      for (const int slot : slots) sums[c] += slot;
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sums, std::vector<int>(4, 19900));
}

TEST(ResolveThreads, TakesAPositiveNumberAndElseCountsCores) {
  EXPECT_EQ(resolve_threads(3), 3);
  EXPECT_GE(resolve_threads(0), 1);
  EXPECT_EQ(resolve_threads(-1), resolve_threads(0));
}

}  // namespace
}  // namespace subspectra
