#include "io/read_groups.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "core/text.hpp"
#include "io/csv_records.hpp"
#include "io/file_ending.hpp"
#include "io/text_columns.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

constexpr std::string_view kForm =
    "the first line is feature,group and every other one names a feature and its group";

struct Line {
  std::string feature, group;
  long number = 0;
};

std::vector<Line> read_lines(const std::string& path, std::uint64_t memory_limit) {
  const auto memory = std::make_shared<MemoryBudget>(memory_limit);
  const MemoryPurpose purpose{.what = fmt::format("the groups in {}", path),
                              .advice = "list every feature once, or raise ⟨memory_limit⟩",
                              .grows_with_file = true};
  std::vector<Line> lines;
  bool has_header = false;
  const auto where = [&](const CsvRecord& record, long column) {
    return Location{.file = path, .line = record.line, .column = column, .place = {}};
  };
  const CsvFormat format{.separator = file_ending(path).text == ".tsv" ? '\t' : ','};
  for_each_csv_record(path, format, memory, [&](CsvRecord& record) {
    if (record.fields.size() != 2) {
      throw BadInput(where(record, std::min<long>(static_cast<long>(record.fields.size()), 3)),
                     fmt::format("the line has {} field{} where 2 are needed: {}", record.fields.size(),
                                 record.fields.size() == 1 ? "" : "s", kForm));
    }
    std::string& feature = record.fields[0].text;
    std::string& group = record.fields[1].text;
    if (!has_header) {
      has_header = true;
      if (equal_ignoring_case(feature, "feature") && equal_ignoring_case(group, "group")) return;
      throw BadInput(where(record, 1), fmt::format("the header is {},{} where feature,group is needed: {}",
                                                   shown(feature), shown(group), kForm));
    }
    for (const long column : {1L, 2L}) {
      if (!record.fields[static_cast<std::size_t>(column) - 1].text.empty()) continue;
      throw BadInput(
          where(record, column),
          fmt::format(
              "the {} is empty; name it, or leave the line out (a feature that is not listed is a group of its own)",
              column == 1 ? "feature" : "group"));
    }
    make_utf8(feature);  // as the names of the table
    make_utf8(group);
    memory->make_room(lines, purpose);
    // The name stands twice while the features are looked up, beside the places that are found.
    memory->grow(sizeof(std::string) + sizeof(std::vector<Index>) +
                     2 * MemoryBudget::on_heap(feature.size()) + MemoryBudget::on_heap(group.size()),
                 purpose);
    lines.push_back({.feature = std::move(feature), .group = std::move(group), .number = record.line});
  });
  if (lines.empty()) {
    throw BadInput({.file = path}, fmt::format("no feature is listed: {}", kForm));
  }
  return lines;
}

}  // namespace

FeatureGroups read_groups(const std::string& path, const FeatureNames& names, std::uint64_t memory_limit) {
  const std::vector<Line> lines = read_lines(path, memory_limit);
  const auto where = [&](const Line& line, long column) {
    return Location{.file = path, .line = line.number, .column = column, .place = {}};
  };
  std::vector<std::string> listed;
  listed.reserve(lines.size());
  for (const Line& line : lines) listed.push_back(line.feature);
  const auto found = names.find_each(listed);

  constexpr auto kOwn = static_cast<std::size_t>(-1);
  std::vector<std::size_t> line_of(static_cast<std::size_t>(names.size()), kOwn);
  std::unordered_map<std::string_view, std::size_t> first_line_of_group;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    if (found[i].empty()) {
      const auto near = names.near(line.feature);
      throw BadInput(where(line, 1),
                     fmt::format("no feature is named {}{}; names are matched exactly", shown(line.feature),
                                 near.empty() ? "" : fmt::format(" (did you mean {}?)", join_some(near))));
    }
    for (const Index j : found[i]) {
      std::size_t& taken = line_of[static_cast<std::size_t>(j)];
      if (taken != kOwn) {
        throw BadInput(
            where(line, 1),
            fmt::format(
                "feature {} is listed twice, first on line {}; a feature is in one group, so list it once",
                shown(line.feature), lines[taken].number));
      }
      taken = i;
    }
    first_line_of_group.try_emplace(line.group, i);
  }

  FeatureGroups groups;
  groups.group_of.resize(static_cast<std::size_t>(names.size()));
  std::unordered_map<std::string_view, std::size_t> position;
  for (Index j = 0; j < names.size(); ++j) {
    const std::size_t i = line_of[static_cast<std::size_t>(j)];
    std::size_t g = groups.names.size();
    if (i == kOwn) {
      const std::string name = names[j];
      if (const auto taken = first_line_of_group.find(name); taken != first_line_of_group.end()) {
        throw BadInput(
            where(lines[taken->second], 2),
            fmt::format(
                "the group {} has the name of a feature that is not listed and so is a group of its own; rename the group, or list the feature",
                shown(name)));
      }
      groups.names.push_back(name);
      groups.members.emplace_back();
    } else {
      const auto [entry, is_new] = position.try_emplace(lines[i].group, g);
      g = entry->second;
      if (is_new) {
        groups.names.push_back(lines[i].group);
        groups.members.emplace_back();
      }
    }
    groups.members[g].push_back(j);
    groups.group_of[static_cast<std::size_t>(j)] = static_cast<Index>(g);
  }
  return groups;
}

}  // namespace subspectra
