#pragma once
/// Replays the inputs kept in fuzz/corpus/<target>/ through the body of that fuzz target, in the ordinary
/// test run:
///
///     #include "../../fuzz/npy_target.hpp"
///     SUBSPECTRA_REPLAY_CORPUS(npy)
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace subspectra::testing {

inline std::vector<std::string> corpus_files(const std::string& target) {
  std::vector<std::string> files;
  const std::filesystem::path folder =
      std::filesystem::path(SUBSPECTRA_SOURCE_DIR) / "fuzz" / "corpus" / target;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

inline std::vector<std::uint8_t> bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string corpus_test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).filename().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace subspectra::testing

#define SUBSPECTRA_REPLAY_CORPUS(target)                                                    \
  class target##_corpus : public ::testing::TestWithParam<std::string> {};                  \
  TEST_P(target##_corpus, IsReadOrRefusedWithWords) {                                       \
    const std::vector<std::uint8_t> bytes = subspectra::testing::bytes_of_file(GetParam()); \
    EXPECT_NO_THROW(fuzz_##target(bytes));                                                  \
  }                                                                                         \
  INSTANTIATE_TEST_SUITE_P(Replay, target##_corpus,                                         \
                           ::testing::ValuesIn(subspectra::testing::corpus_files(#target)), \
                           subspectra::testing::corpus_test_name)
