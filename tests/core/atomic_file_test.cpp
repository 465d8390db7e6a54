#include "core/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class AtomicFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "subspectra_atomic.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string failure_of(const fs::path& path) {
    try {
      write_file_atomically(path.string(), "text");
    } catch (const Error& e) {
      return e.what();
    }
    return "no exception";
  }
  long entries() const { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); }

  fs::path folder;
};

TEST_F(AtomicFile, IsWrittenAndReplacedWithNothingLeftBehind) {
  const auto path = folder / "result.json";
  const std::string binary("a\0b\n", 4);
  write_file_atomically(path.string(), binary);
  EXPECT_EQ(content_of(path), binary);
  write_file_atomically(path.string(), "");
  EXPECT_EQ(content_of(path), "");
  write_file_atomically(path.string(), std::string(3'000'000, 'x'));
  EXPECT_EQ(fs::file_size(path), 3'000'000U);
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFile, IsReplacedByRenameSoThatAReaderKeepsTheOldOne) {
  const auto path = folder / "result.json";
  write_file_atomically(path.string(), "old");
  std::ifstream reader(path);
  write_file_atomically(path.string(), "new content");
  std::string word;
  reader >> word;
  EXPECT_EQ(word, "old");
  EXPECT_EQ(content_of(path), "new content");
}

TEST_F(AtomicFile, HasTheModeOfTheOldFileOrWhatTheUmaskAllows) {
  const auto path = folder / "result.json";
  const mode_t mask = ::umask(0027);
  write_file_atomically(path.string(), "x");
  ::umask(mask);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  fs::permissions(path, fs::perms(0604));
  write_file_atomically(path.string(), "y");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0604));
}

TEST_F(AtomicFile, BehindASymbolicLinkIsReplacedAndTheLinkStays) {
  fs::create_directory(folder / "real");
  fs::create_symlink("real/target", folder / "relative");
  fs::create_symlink(folder / "relative", folder / "absolute");
  write_file_atomically((folder / "absolute").string(), "one");  // the target does not exist yet
  EXPECT_TRUE(fs::is_symlink(folder / "relative"));
  EXPECT_TRUE(fs::is_symlink(folder / "absolute"));
  EXPECT_EQ(content_of(folder / "real" / "target"), "one");
  write_file_atomically((folder / "relative").string(), "two");
  EXPECT_TRUE(fs::is_symlink(folder / "relative"));
  EXPECT_EQ(content_of(folder / "real" / "target"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "real"), fs::directory_iterator()), 1);
}

TEST_F(AtomicFile, FailsWithPathAndReason) {
  write_file_atomically((folder / "file").string(), "x");
  fs::create_symlink("loop", folder / "loop");
  for (const auto& [path, reason] : std::vector<std::pair<fs::path, std::string>>{
           {folder / "missing" / "result.json", "No such file or directory"},
           {folder / "file" / "result.json", "Not a directory"},
           {folder, "Is a directory"},
           {folder / "loop", "Too many levels of symbolic links"}}) {
    const std::string message = failure_of(path);
    EXPECT_NE(message.find(path.string() + ": cannot be written: " + reason), std::string::npos) << message;
  }
  EXPECT_EQ(entries(), 2);
  EXPECT_EQ(content_of(folder / "file"), "x");
}

TEST_F(AtomicFile, SaysThatTheDiskIsFull) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  const std::string message = failure_of("/dev/full");
  EXPECT_NE(message.find("/dev/full: cannot be written: No space left on device"), std::string::npos)
      << message;
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(AtomicFile, GoesStraightIntoAPipe) {
  const auto path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = content_of(path); });
  write_file_atomically(path.string(), "through the pipe");
  reader.join();
  EXPECT_EQ(received, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(AtomicFile, GoesToStandardOutputAsItIsOpen) {
  const auto path = folder / "log";
  std::ofstream(path) << "before ";
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const int saved = ::dup(STDOUT_FILENO);
  ::fflush(stdout);
  ::dup2(file, STDOUT_FILENO);
  write_file_atomically("/dev/stdout", "after");
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(file);
  EXPECT_EQ(content_of(path), "before after");
}

TEST_F(AtomicFile, IsNotTakenForAStaleOneWhileItIsWritten) {
  // Writers and cleaners in one folder: no write may lose its file.
  const auto path = (folder / "result").string();
  std::jthread cleaner([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) remove_stale_temporaries(folder.string());
  });
  for (int i = 0; i < 300; ++i) {
    const std::string text = std::to_string(i);
    write_file_atomically(path, text);
    ASSERT_EQ(content_of(path), text);
  }
}

TEST_F(AtomicFile, MakesRoomForTheLongestNames) {
  const auto path = folder / std::string(255, 'n');
  write_file_atomically(path.string(), "x");
  EXPECT_EQ(content_of(path), "x");
}

}  // namespace
}  // namespace subspectra
