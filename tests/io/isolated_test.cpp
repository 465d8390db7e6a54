#include "io/isolated.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <csignal>
#include <numeric>

#include <fcntl.h>
#include "binary_files.hpp"
#include "core/memory.hpp"

namespace subspectra {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

/// Any readable file will do: the decoders here do not look at it.
const std::string kFile = SUBSPECTRA_SOURCE_DIR "/data/sonar.csv";

RawTable isolated(const Decoder& decode, IsolationLimits limits = {}) {
  return read_isolated(kFile, "test", decode, limits);
}
std::string sentence_of(const Decoder& decode, IsolationLimits limits = {}) {
  const std::string sentence = error_of([&] { static_cast<void>(isolated(decode, limits)); });
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left behind";
  return sentence;
}

TEST(Isolated, ATableArrivesAsItWasSent) {
  const RawTable table = isolated([](const std::string&, TableSink& sink) {
    sink.note("hello");
    sink.begin_dense(3, 2, TileOrder::kRows, "X");
    sink.dense_tile(2, 2, std::array<double, 4>{1, 2, 3, 4});
    sink.dense_tile(1, 1, std::array<double, 1>{5});
    sink.dense_tile(1, 1, std::array<double, 1>{6});
    sink.feature_names({"a", "b"});
    sink.side_column({.name = "y", .values = {"u", "", "w"}, .first = {}, .is_label = true});
  });
  expect_values(table, (Matrix(3, 2) << 1, 2, 3, 4, 5, 6).finished());
  EXPECT_EQ(table.names[1], "b");
  ASSERT_EQ(table.side.size(), 1U);
  EXPECT_EQ(table.side[0].values, (std::vector<std::string>{"u", "", "w"}));
  EXPECT_EQ(table.notes, (std::vector<std::string>{"hello"}));
}

TEST(Isolated, AnExceptionInTheChildReachesTheCaller) {
  EXPECT_EQ(sentence_of([](const std::string&, TableSink&) { throw BadInput("the sentence"); }),
            "the sentence");
  EXPECT_THROW(static_cast<void>(isolated([](const std::string&, TableSink&) { throw BadInput("x"); })),
               BadInput);
}

TEST(Isolated, ACrashBecomesBadInput) {
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGKILL}) {
    const std::string sentence = sentence_of([number](const std::string&, TableSink&) { ::raise(number); });
    EXPECT_NE(sentence.find("damaged test file"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("sonar.csv"), std::string::npos) << sentence;
  }
  EXPECT_NE(sentence_of([](const std::string&, TableSink&) { ::_exit(3); }).find("exit code 3"),
            std::string::npos);
}

TEST(Isolated, AnInterruptedChildIsNotCalledDamage) {
  const std::string sentence = sentence_of([](const std::string&, TableSink&) { ::raise(SIGINT); });
  EXPECT_NE(sentence.find("interrupted"), std::string::npos) << sentence;
}

TEST(Isolated, AnEndlessLoopAndAnEndlessSleepEnd) {
  for (const bool busy : {true, false}) {
    const auto start = std::chrono::steady_clock::now();
    const std::string sentence = sentence_of(
        [busy](const std::string&, TableSink&) {
          for (volatile bool forever = true; forever;) {
            if (!busy) ::sleep(1);
          }
        },
        {.patience_s = 1.0});
    EXPECT_NE(sentence.find("did not come to an end"), std::string::npos) << sentence;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  }
}

TEST(Isolated, AFloodOfMemoryIsCaught) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const std::string sentence = sentence_of(
      [](const std::string&, TableSink&) {
        std::vector<std::vector<double>> all;
        for (;;) all.emplace_back(1 << 20, 1.0);
      },
      {.memory_limit = std::uint64_t{200} << 20U});
  EXPECT_NE(sentence.find("memory"), std::string::npos) << sentence;
#endif
}

TEST(Isolated, ClaimsAreCheckedBeforeMemoryIsTaken) {
  EXPECT_NE(sentence_of([](const std::string&, TableSink& sink) {
              sink.begin_dense(1LL << 40, 1LL << 20, TileOrder::kRows, "X");
            }).find("more than the file can hold"),
            std::string::npos);
  EXPECT_NE(sentence_of([](const std::string&, TableSink& sink) {
              sink.begin_dense(100, 100, TileOrder::kRows, "X");
            }).find("fewer values"),
            std::string::npos);
  EXPECT_NE(sentence_of([](const std::string&, TableSink& sink) {
              sink.begin_dense(2, 2, TileOrder::kRows, "X");
              for (int i = 0; i < 2; ++i) sink.dense_tile(2, 2, std::array<double, 4>{});
            }).find("damaged"),
            std::string::npos);
  EXPECT_NE(sentence_of([](const std::string&, TableSink& sink) {
              sink.begin_sparse(2, 2, std::array<std::int32_t, 2>{1, 0}, "X");
              sink.sparse_entries(std::array<std::int32_t, 1>{5}, std::array<std::int32_t, 1>{0},
                                  std::array<double, 1>{});
            }).find("row 5"),
            std::string::npos);
  EXPECT_NE(sentence_of([](const std::string&, TableSink& sink) {
              sink.begin_sparse(2, 2, std::array<std::int32_t, 2>{1, 0}, "X");
              sink.sparse_entries(std::array<std::int32_t, 1>{1}, std::array<std::int32_t, 1>{1},
                                  std::array<double, 1>{});
            }).find("more entries"),
            std::string::npos);
}

TEST(Isolated, TheChildSeesNoOpenFilesOfItsParent) {
  const std::string sentence = sentence_of([](const std::string&, TableSink&) {
    int open = 0;
    for (int descriptor = 4; descriptor < 1000; ++descriptor)
      open += ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
    throw BadInput(std::to_string(open));
  });
  EXPECT_EQ(sentence, "0");
}

TEST(Isolated, LargeTablesFlowInBlocks) {
  constexpr Index kRows = 700;
  constexpr Index kColumns = 5000;
  const RawTable table = isolated([](const std::string&, TableSink& sink) {
    sink.begin_dense(kRows, kColumns, TileOrder::kColumns, "X");
    std::vector<double> column(kRows);
    for (Index j = 0; j < kColumns; ++j) {
      std::iota(column.begin(), column.end(), static_cast<double>(j * kRows));
      sink.dense_tile(kRows, 1, column);
    }
  });
  ASSERT_EQ(table.dense.size(), kRows * kColumns);
  EXPECT_EQ(table.dense(699, 4999), static_cast<double>(kRows * kColumns - 1));
  EXPECT_EQ(table.dense(1, 1), static_cast<double>(kRows + 1));
}

}  // namespace
}  // namespace subspectra
