#pragma once
/// Files written by numpy, scipy, h5py and anndata (tests/io/make_binary_files.py), made once a test
/// program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <subspectra/error.hpp>
#include "io/raw_table.hpp"

namespace subspectra::test {

class BinaryFiles {
 public:
  static BinaryFiles& get() {
    static BinaryFiles files;
    return files;
  }
  /// Empty: the files are there. Otherwise why not.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::string path(const std::string& name) const { return (directory_ / name).string(); }

 private:
  BinaryFiles() {
    const std::string python = SUBSPECTRA_PYTHON;
    if (python.empty() || python.ends_with("-NOTFOUND")) {
      problem_ = "no Python to write the files";
      return;
    }
    // Beside the test program and named by what the script says, so that the many processes ctest starts
    // share one set.
    const std::string script = SUBSPECTRA_SOURCE_DIR "/tests/io/make_binary_files.py";
    const std::size_t version = std::hash<std::string>{}(content_of(script));
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    directory_ = here / ("binary_files-" + std::to_string(version));
    if (std::filesystem::exists(directory_)) return;
    const std::string imports = "'" + python + "' -c 'import numpy, scipy.io, h5py, anndata' 2>/dev/null";
    if (std::system(imports.c_str()) != 0) {  // NOLINT(*-command-processor,cert-*): paths of the build
      problem_ = "Python lacks numpy, scipy, h5py or anndata";
      return;
    }
    const auto work = here / ("binary_files-" + std::to_string(::getpid()));
    const std::string make = "'" + python + "' '" + script + "' '" + work.string() + "'";
    if (std::system(make.c_str()) != 0) {  // NOLINT(*-command-processor,cert-*)
      ADD_FAILURE() << "make_binary_files.py failed";
      problem_ = "make_binary_files.py failed";
    }
    std::error_code taken;
    std::filesystem::rename(work, directory_, taken);
    if (taken) std::filesystem::remove_all(work, taken);  // another process was quicker
  }
  BinaryFiles(const BinaryFiles&) = delete;
  BinaryFiles& operator=(const BinaryFiles&) = delete;

  static std::string content_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  std::filesystem::path directory_;
  std::string problem_;
};

/// Skips where there is no Python to write the files.
class BinaryFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!BinaryFiles::get().problem().empty()) GTEST_SKIP() << BinaryFiles::get().problem();
  }
  static std::string file(const std::string& name) { return BinaryFiles::get().path(name); }
};

inline std::string file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
inline void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// What the writer meant: NAME.expected.csv with hexadecimal numbers.
inline Matrix expected_values(const std::string& path) {
  std::ifstream in(path + ".expected.csv");
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(in, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) {
      rows.back().push_back(std::strtod(field.c_str(), nullptr));
    }
  }
  Matrix values(static_cast<Index>(rows.size()), rows.empty() ? 0 : static_cast<Index>(rows[0].size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      values(static_cast<Index>(i), static_cast<Index>(j)) = rows[i][j];
    }
  }
  return values;
}

/// Every value equal to the bit (NaN to NaN).
inline void expect_values(const RawTable& table, const Matrix& expected) {
  const Matrix values = table.is_sparse ? Matrix(table.sparse) : table.dense;
  ASSERT_EQ(values.rows(), expected.rows());
  ASSERT_EQ(values.cols(), expected.cols());
  for (Index j = 0; j < values.cols(); ++j) {
    for (Index i = 0; i < values.rows(); ++i) {
      const bool same =
          values(i, j) == expected(i, j) || (std::isnan(values(i, j)) && std::isnan(expected(i, j)));
      ASSERT_TRUE(same) << "row " << i << ", column " << j << ": " << values(i, j) << " for "
                        << expected(i, j);
    }
  }
}

inline const SideColumn* side_named(const RawTable& table, std::string_view name) {
  for (const SideColumn& column : table.side) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

/// The sentence of the Error that `read` throws; "" and a failure when it throws none.
inline std::string error_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// Reads the bytes as they are, cut at many lengths and with single bytes changed. Only Errors may come out;
/// anything else ends the test. Counts what was refused.
inline int refused_when_damaged(const std::string& bytes, int cuts, int flips,
                                const std::function<void(std::string_view)>& read) {
  int refused = 0;
  const auto attempt = [&](std::string_view damaged) {
    try {
      read(damaged);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "");
      ++refused;
    }
  };
  for (int c = 0; c < cuts; ++c) {
    attempt(std::string_view(bytes).substr(
        0, bytes.size() * static_cast<std::size_t>(c) / static_cast<std::size_t>(cuts)));
  }
  std::uint64_t state = 88172645463325252ULL;  // xorshift: the same bytes every time
  for (int f = 0; f < flips; ++f) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    std::string damaged = bytes;
    damaged[state % bytes.size()] = static_cast<char>(state >> 56U);
    attempt(damaged);
  }
  return refused;
}

}  // namespace subspectra::test
