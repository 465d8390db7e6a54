#include "io/part_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/fingerprint.hpp"
#include "core/json_io.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "io/json_file.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
constexpr const char* kPartSchema = "subspectra.part/1";

std::string part_checksum(const json& document) {
  Fingerprint hash;
  hash.add_text(dump_json_leniently(document));
  return hash.text();
}

[[noreturn]] void refuse_part(const PartFile& file, const std::string& why) {
  throw BadInput({.file = file.path}, why);
}

/// "with ⟨seed 1⟩", "without ⟨seed⟩"
std::string given_option(const OptionTexts& options, const std::string& name) {
  const auto found = options.find(name);
  if (found == options.end()) return "without " + marked_option(name);
  return "with " + (found->second == "true" ? marked_option(name) : marked_option(name, found->second));
}

/// Refuses a part that does not belong to the run of `first`.
void require_same_run(const PartFile& file, const PartFile& first) {
  if (file.part.count != first.part.count)
    refuse_part(file, fmt::format("it is one of {}, and {} is one of {}; give the parts of one run",
                                  counted(file.part.count, "part"), first.path, first.part.count));
  if (file.run.command != first.run.command)
    refuse_part(file, fmt::format("it is a part of {}, and {} is one of {}; give the parts of one run",
                                  shown(file.run.command), first.path, shown(first.run.command)));
  std::vector<std::string> names;
  for (const auto* options : {&file.run.options, &first.run.options}) {
    for (const auto& [name, text] : *options) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string here = given_option(file.run.options, name),
                      there = given_option(first.run.options, name);
    if (here != there)
      refuse_part(file, fmt::format("it was made {}, and {} {}; run one of them again as the other was", here,
                                    first.path, there));
  }
  if (file.run.files != first.run.files)
    refuse_part(
        file,
        fmt::format(
            "a file that its options name (@FILE) had other contents than for {}; run one of them again",
            first.path));
  if (file.run.table != first.run.table)
    refuse_part(file, fmt::format("it was made of other data than {}; run one of them again", first.path));
}

}  // namespace

std::string part_text(const PartFile& file) {
  json document = {
      {"schema", kPartSchema},       {"version", version()},
      {"command", file.run.command}, {"part", file.part.number},
      {"parts", file.part.count},    {"data", {{"source", file.run.data}, {"digest", file.run.table}}},
      {"options", file.run.options}, {"options_digest", file.run.files},
      {"items", file.items}};
  document["checksum"] = part_checksum(document);
  return dump_json_leniently(document) + "\n";
}

PartFile read_part(const std::string& path, std::uint64_t memory_limit) {
  return parse_part(json_file_text(path, std::numeric_limits<std::uint64_t>::max(), "", memory_limit), path);
}

PartFile parse_part(const std::string& text, const std::string& path) {
  const JsonSource source{path, "run that part again (⟨part I/N⟩)"};
  PartFile file;
  file.path = path;
  json document = parsed_json(text, source);
  if (!document.is_object() || document.value("schema", json()) != kPartSchema)
    refuse_part(file, "this is no part of a run; give files written under ⟨part I/N⟩");
  const json sum = document.value("checksum", json());
  document.erase("checksum");
  if (sum != part_checksum(document))
    refuse_part(file, "the checksum does not match: the file was damaged or changed; " + source.way_out);
  const JsonMember root(document, source);
  if (!root.at("version").is_text(version()))
    refuse_part(file, fmt::format("it was made by version {} of the program, and this is {}; {}",
                                  shown(root.at("version").text()), version(), source.way_out));
  file.part = {.number = root.at("part").count(), .count = root.at("parts").count()};
  if (file.part.count < 1 || file.part.count > kMostParts) root.at("parts").fail("must be a number of parts");
  if (file.part.number < 1 || file.part.number > file.part.count)
    root.at("part").fail("must be the number of a part");
  file.run.command = root.at("command").text();
  file.run.data = root.at("data").at("source").text();
  file.run.table = root.at("data").at("digest").text();
  file.run.files = root.at("options_digest").text();
  const JsonMember options = root.at("options");
  if (!options.value().is_object()) options.fail("must be an object of texts");
  for (const auto& [name, value] : options.value().items())
    file.run.options[name] = JsonMember(value, source, "options." + name).text();
  if (!root.at("items").value().is_object()) root.at("items").fail("must be an object");
  file.items = std::move(document["items"]);
  return file;
}

PartWork::PartWork(std::vector<PartFile> files) {
  if (files.empty()) throw InvalidArgument("there is no part to put together");
  const PartFile& first = files.front();
  std::map<Index, const PartFile*> by_number;
  for (const PartFile& file : files) {
    require_same_run(file, first);
    const auto [other, is_new] = by_number.try_emplace(file.part.number, &file);
    if (!is_new)
      refuse_part(file, fmt::format("it is part {} of {}, and so is {}; give one of them", file.part.number,
                                    file.part.count, other->second->path));
  }
  const Index count = first.part.count;
  std::vector<Index> missing;
  for (Index i = 1; i <= count; ++i) {
    if (!by_number.contains(i)) missing.push_back(i);
  }
  if (!missing.empty())
    throw BadInput(fmt::format(
        "part{} {} of {} {} missing; run {} with {} and the other options as they were, and give all",
        missing.size() == 1 ? "" : "s",
        join_some(missing.size(), [&](std::size_t i) { return std::to_string(missing[i]); }), count,
        missing.size() == 1 ? "is" : "are", missing.size() == 1 ? "it" : "each",
        marked_option("part", fmt::format("{}/{}", missing.front(), count))));
  std::sort(files.begin(), files.end(),
            [](const PartFile& a, const PartFile& b) { return a.part.number < b.part.number; });
  files_ = std::move(files);
  part_ = {.number = 1, .count = count};
  for (const PartFile& file : files_)
    sources_.push_back({file.path, fmt::format("run it again ({})",
                                               marked_option("part", OptionCodec<Part>::format(file.part)))});
}

void PartWork::keep(const std::string& key, nlohmann::json item) {
  const std::lock_guard lock(mutex_);
  kept_[key] = std::move(item);
}

JsonMember PartWork::found(const std::string& key, Index owner) const {
  const auto at = static_cast<std::size_t>(owner);
  const std::string place = fmt::format("items.{}", key);
  const json& items = files_[at].items;
  const auto item = items.find(key);
  if (item == items.end()) JsonMember(items, sources_[at], place).fail("is missing");
  return {*item, sources_[at], place};
}

}  // namespace subspectra
