#include <subspectra/run_control.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace subspectra {
namespace {

TEST(RunControl, GoesOnWhenNothingAsksToStop) {
  const RunControl control;
  EXPECT_EQ(control.check_limits(), RunControl::Stop::kGoOn);
  EXPECT_FALSE(control.should_stop());
  EXPECT_EQ(control.status_or(Status::kOptimal), Status::kOptimal);
  control.report("nobody listens", 0.5);
}

TEST(RunControl, StopsAtTheTimeLimit) {
  const RunControl control({}, 0.02);
  EXPECT_FALSE(control.should_stop());
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
  EXPECT_EQ(control.check_limits(), RunControl::Stop::kTimeLimit);
  EXPECT_EQ(control.status_or(Status::kOptimal), Status::kTimeLimit);
  EXPECT_GE(control.elapsed_s(), 0.02);
}

TEST(RunControl, AnInterruptionComesBeforeTheTimeLimit) {
  std::stop_source source;
  const RunControl control(source.get_token(), 0.0);
  EXPECT_EQ(control.check_limits(), RunControl::Stop::kTimeLimit);
  source.request_stop();
  EXPECT_EQ(control.check_limits(), RunControl::Stop::kInterrupted);
  EXPECT_EQ(control.status_or(Status::kOptimal), Status::kInterrupted);
}

TEST(RunControl, ReportsAtMostOncePerIntervalAndMakesNoDetailInBetween) {
  std::vector<Progress> seen;
  int details = 0;
  const RunControl control(
      {}, kInfinity, [&](const Progress& p) { seen.push_back(p); }, 1000.0);
  for (int i = 0; i < 100; ++i) {
    control.report("work", 0.25, [&] {
      ++details;
      return std::string("step ") + std::to_string(i);
    });
  }
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(details, 1);
  EXPECT_EQ(seen[0].task, "work");
  EXPECT_EQ(seen[0].fraction, 0.25);
  EXPECT_EQ(seen[0].detail, "step 0");
}

TEST(RunControl, NeverCallsTheSinkFromTwoThreadsAtOnce) {
  std::atomic<int> inside = 0;
  std::atomic<bool> overlapped = false;
  int calls = 0;
  const RunControl control(
      {}, kInfinity,
      [&](const Progress&) {
        if (++inside > 1) overlapped = true;
        ++calls;
        --inside;
      },
      0.0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) control.report("work", -1.0);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(overlapped);
  EXPECT_GE(calls, 1);
}

TEST(Status, HasADifferentNameForEachAndAnOrder) {
  std::set<std::string_view> names;
  for (int s = 0; s <= static_cast<int>(Status::kInterrupted); ++s)
    names.insert(status_name(static_cast<Status>(s)));
  EXPECT_EQ(names.size(), 10U);
  EXPECT_EQ(status_name(Status::kGapReached), "gap_reached");
  EXPECT_EQ(status_name(Status::kInterrupted), "interrupted");
  EXPECT_EQ(worst(Status::kOptimal, Status::kTimeLimit), Status::kTimeLimit);
  EXPECT_EQ(worst(Status::kHeuristic, Status::kConverged), Status::kHeuristic);
}

}  // namespace
}  // namespace subspectra
