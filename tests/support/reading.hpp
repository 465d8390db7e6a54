#pragma once
/// What the tests of the readers share: files that vanish, and the message of the error a call must end in.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <subspectra/error.hpp>
#include "io/raw_table.hpp"

namespace subspectra::testing {

/// A directory of this test's own, removed with everything in it.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "subspectra-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error("cannot make " + pattern);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string write(const std::string& name, std::string_view contents) const {
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

/// The message of the E that `call` throws; "" and a failed test if it throws none.
template <class E = BadInput, class Call>
std::string message_of(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// As gtest's HasSubstr, with both texts in the failure.
inline ::testing::AssertionResult contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

inline ReadOptions with_target(std::string target) {
  ReadOptions options;
  options.target = std::move(target);
  return options;
}

inline DatasetParts csv(std::string_view text, const ReadOptions& options = {}, char separator = ',') {
  return assemble(read_csv_text(text, "t.csv", {.separator = separator}, options), options).parts();
}

}  // namespace subspectra::testing
