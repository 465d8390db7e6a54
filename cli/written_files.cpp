#include "written_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <subspectra/error.hpp>

namespace subspectra::cli {
namespace {

constexpr std::array<std::string_view, 7> kWritten = {"o",           "checkpoint",  "events", "details",
                                                      "write_table", "write_names", "report"};

struct Named {
  std::string says;    ///< "DATA", "--groups"
  std::string option;  ///< empty for an operand
  std::string path;
};

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

}  // namespace

void refuse_overwriting(const CommandPage& page, const Arguments& arguments) {
  std::vector<Named> names;
  for (std::size_t i = 0; i < arguments.operands.size(); ++i) {
    names.push_back({page.operands[std::min(i, page.operands.size() - 1)].name, "", arguments.operands[i]});
  }
  for (const auto& [option, text] : arguments.texts) {
    names.push_back({option_flag(option), option, text.starts_with('@') ? text.substr(1) : text});
  }
  const auto written = [](const Named& name) {
    return std::find(kWritten.begin(), kWritten.end(), name.option) != kWritten.end();
  };
  for (const auto& output : names) {
    if (!written(output)) continue;
    if (output.path.empty()) throw InvalidArgument(fmt::format("{} is empty; name a file", output.says));
    if (output.path == "-") continue;
    for (const auto& other : names) {
      if (&other == &output || (output.option == "checkpoint" && other.option == "resume")) continue;
      // A file that is not there yet can only be meant twice by two outputs.
      if (same_file(output.path, other.path) || (written(other) && output.path == other.path)) {
        throw InvalidArgument(fmt::format("{} {} is the file of {}, too; choose another name", output.says,
                                          output.path, other.says));
      }
    }
  }
}

}  // namespace subspectra::cli
