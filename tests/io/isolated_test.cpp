#include "io/isolated.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "binary_files.hpp"
#include "core/companion.hpp"
#include "core/memory.hpp"

namespace subspectra {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

/// Any readable file will do: the decoders here do not look at it (misbehaving_decoder.cpp).
const std::string kFile = SUBSPECTRA_SOURCE_DIR "/data/sonar.csv";

RawTable isolated(const std::string& decoder, IsolationLimits limits = {}) {
  return read_isolated(kFile, "test", {.path = SUBSPECTRA_TEST_DECODER, .format = decoder}, limits);
}
std::string sentence_of(const std::string& decoder, IsolationLimits limits = {}) {
  const std::string sentence = error_of([&] { static_cast<void>(isolated(decoder, limits)); });
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left behind";
  return sentence;
}

TEST(Isolated, ATableArrivesAsItWasSent) {
  const RawTable table = isolated("small table");
  expect_values(table, (Matrix(3, 2) << 1, 2, 3, 4, 5, 6).finished());
  EXPECT_EQ(table.names[1], "b");
  ASSERT_EQ(table.side.size(), 1U);
  EXPECT_EQ(table.side[0].values, (std::vector<std::string>{"u", "", "w"}));
  EXPECT_EQ(table.notes, (std::vector<std::string>{"hello"}));
}

TEST(Isolated, AnExceptionInTheChildReachesTheCaller) {
  EXPECT_EQ(sentence_of("throws"), "the sentence");
  EXPECT_THROW(static_cast<void>(isolated("throws")), BadInput);
}

TEST(Isolated, ACrashBecomesBadInput) {
  for (const char* signal : {"SIGSEGV", "SIGABRT", "SIGFPE", "SIGKILL"}) {
    const std::string sentence = sentence_of(signal);
    EXPECT_NE(sentence.find("damaged test file"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("sonar.csv"), std::string::npos) << sentence;
  }
  EXPECT_NE(sentence_of("exits").find("exit code 3"), std::string::npos);
}

TEST(Isolated, AnInterruptedChildIsNotCalledDamage) {
  const std::string sentence = sentence_of("SIGINT");
  EXPECT_NE(sentence.find("interrupted"), std::string::npos) << sentence;
}

TEST(Isolated, AnEndlessLoopAndAnEndlessSleepEnd) {
  for (const char* decoder : {"loops", "sleeps"}) {
    const auto start = std::chrono::steady_clock::now();
    const std::string sentence = sentence_of(decoder, {.patience_s = 1.0});
    EXPECT_NE(sentence.find("did not come to an end"), std::string::npos) << sentence;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  }
}

TEST(Isolated, AFloodOfMemoryIsCaught) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const std::string sentence = sentence_of("takes memory", {.memory_limit = std::uint64_t{200} << 20U});
  EXPECT_NE(sentence.find("memory"), std::string::npos) << sentence;
#endif
}

TEST(Isolated, ParentAndChildShareOneLimit) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // 120 MB of table leave the decoder less than 500 - 120, in MiB of 2^20.
  const std::uint64_t limit = memory_in_use() + 500'000'000;
  const int taken = std::stoi(sentence_of("takes memory beside a table", {.memory_limit = limit}));
  EXPECT_GT(taken, 200);
  EXPECT_LT(taken, 365);
#endif
}

TEST(Isolated, NotesAreFewAndShort) {
  const RawTable table = isolated("says too much");
  EXPECT_EQ(table.notes.size(), 1000U);
  EXPECT_EQ(table.notes.front().size(), 4096U);
  expect_values(table, (Matrix(3, 2) << 1, 2, 3, 4, 5, 6).finished());
}

TEST(Isolated, ClaimsAreCheckedBeforeMemoryIsTaken) {
  EXPECT_NE(sentence_of("claims too much").find("more than the file can hold"), std::string::npos);
  EXPECT_NE(sentence_of("sends too little").find("fewer values"), std::string::npos);
  EXPECT_NE(sentence_of("sends too much").find("damaged"), std::string::npos);
  EXPECT_NE(sentence_of("leaves the rows").find("row 5"), std::string::npos);
  EXPECT_NE(sentence_of("miscounts a column").find("more entries"), std::string::npos);
}

TEST(Isolated, TheChildSeesNoOpenFilesOfItsParent) {
  const int inherited = ::open("/dev/null", O_RDONLY);  // not marked to be closed
  EXPECT_EQ(sentence_of("counts descriptors"), "1") << "the file it decodes";
  ::close(inherited);
}

TEST(Isolated, TheChildMayNeitherWriteNorStartNorRise) {
  EXPECT_EQ(sentence_of("tells its limits", {.patience_s = 7.0}),
            "core=0 files=0 processes=0 cpu=8 no_new_privileges=1");
}

TEST(Isolated, ATakenOverChildCanReadItsFileAndNothingElse) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more system calls than a decoder";
#endif
  EXPECT_EQ(sentence_of("breaks out"), "nothing");
}

TEST(Isolated, ItWorksWithTheStandardStreamsClosed) {
  // In a process of its own: the descriptors of the pipe are then 0 and 1.
  const pid_t child = ::fork();
  if (child == 0) {
    for (int descriptor = 0; descriptor < 3; ++descriptor) ::close(descriptor);
    ::_exit(isolated("small table").dense(2, 1) == 6.0 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Isolated, LargeTablesFlowInBlocks) {
  constexpr Index kRows = 700;
  constexpr Index kColumns = 5000;
  const RawTable table = isolated("large table");
  ASSERT_EQ(table.dense.size(), kRows * kColumns);
  EXPECT_EQ(table.dense(699, 4999), static_cast<double>(kRows * kColumns - 1));
  EXPECT_EQ(table.dense(1, 1), static_cast<double>(kRows + 1));
}

TEST(Isolated, AProgramThatIsNotThereIsNamed) {
  const std::string sentence = error_of([&] {
    static_cast<void>(read_isolated(kFile, "test", {.path = "/nowhere/subspectra-decode", .format = "mat"}));
  });
  EXPECT_NE(sentence.find("sonar.csv: no process to decode it (/nowhere/subspectra-decode: No such file"),
            std::string::npos)
      << sentence;
}

TEST(Companion, StandsBesideTheProgramAndIsNamedWithItsPlacesWhenItDoesNot) {
  EXPECT_EQ(companion_file("test_decode", "why"), std::filesystem::canonical(SUBSPECTRA_TEST_DECODER));
  const std::string sentence = error_of(
      [] { static_cast<void>(companion_file("subspectra-nothing", "nothing is done by a program")); });
  EXPECT_EQ(sentence.find("nothing is done by a program, but subspectra-nothing was not found; looked for /"),
            0U)
      << sentence;
  for (const std::string& place : companion_places("subspectra-nothing")) {
    EXPECT_NE(sentence.find(place), std::string::npos) << sentence;
  }
}

}  // namespace
}  // namespace subspectra
