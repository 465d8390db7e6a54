#include "part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/fingerprint.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/digest.hpp"
#include "help.hpp"
#include "output.hpp"
#include "report/csv.hpp"

namespace subspectra::cli {
namespace {

/// No answer depends on these.
constexpr std::array<std::string_view, 8> kOfTheRun = {"threads", "quiet", "verbose", "progress",
                                                       "json",    "o",     "part",    "device"};
constexpr std::string_view kOfTheResult =
    "is of the whole result, and --part runs a part of it; give it to subspectra merge, which puts the parts together";
constexpr std::string_view kOfOneSearch =
    "is of one search that is run whole, and --part runs a part of it; leave it out";
/// What a part cannot have beside it, and why.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kNotInParts = {
    {{"json", kOfTheResult},
     {"details", kOfTheResult},
     {"report", kOfTheResult},
     {"figures", kOfTheResult},
     {"shape", kOfTheResult},
     {"csv_safe", kOfTheResult},
     {"write_table", kOfTheResult},
     {"write_names", kOfTheResult},
     {"require_optimal", kOfTheResult},
     {"require_gap", kOfTheResult},
     {"checkpoint", kOfOneSearch},
     {"resume", kOfOneSearch},
     {"events", kOfOneSearch},
     {"refit", kOfOneSearch},
     {"node_limit",
      "counts the nodes of one search, and --part runs a part of it; take more and smaller parts"},
     {"time_limit", "would cut parts short that are put together as one run; take more and smaller parts"}}};

/// Of the files whose contents are options.
std::string files_digest(const OptionTexts& options) {
  Fingerprint hash;
  bool any = false;
  for (const auto& [name, text] : options) {
    if (!text.starts_with('@')) continue;
    any = true;
    std::ifstream file(text.substr(1), std::ios::binary);
    hash.add_text(name);
    hash.add_text({std::istreambuf_iterator<char>(file), {}});
  }
  return any ? hash.text() : std::string();
}

/// What an option or DATA names where a file is read: behind @, or before the column of a file of labels.
bool names_device(const std::string& text) {
  std::vector<std::string> paths = {text.starts_with('@') ? text.substr(1) : text};
  if (const auto colon = text.rfind(':'); colon != std::string::npos) paths.push_back(text.substr(0, colon));
  return std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    return std::filesystem::exists(status) && std::filesystem::is_other(status);
  });
}

}  // namespace

void require_harmless(const PartWork& work, bool with_data) {
  const PartRun& run = work.run();
  const auto refuse = [&](const std::string& why) { throw BadInput({.file = work.first_path()}, why); };
  const auto command = std::find_if(commands().begin(), commands().end(),
                                    [&](const Command& one) { return one.page.name == run.command; });
  std::vector<std::string> known;
  if (command != commands().end()) {
    for (const auto& option : listed_options(command->page)) known.push_back(option.name);
  }
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  if (!is_known("part"))
    refuse(fmt::format("there are no parts of {}; give files written under --part", shown(run.command)));
  for (const auto& [name, text] : run.options) {
    const std::string_view option = name;
    const bool of_the_run = std::find(kOfTheRun.begin(), kOfTheRun.end(), option) != kOfTheRun.end();
    const bool not_in_parts = std::any_of(kNotInParts.begin(), kNotInParts.end(),
                                          [&](const auto& refusal) { return refusal.first == option; });
    if (!is_known(name) || of_the_run || not_in_parts)
      refuse(fmt::format("it names {}, which no part has; run that part again", shown(name)));
    if (names_device(text))
      refuse(fmt::format("its option {} names {}, which is no file; run that part again", shown(name),
                         shown(text)));
  }
  if (with_data && names_device(run.data))
    refuse(fmt::format("its table {} is no file; name the table with --data", shown(run.data)));
}

RunInParts::RunInParts(std::string command, const Arguments& arguments, PartWork* merged) : merged_(merged) {
  PartOptions options;
  set_options(options, arguments.texts);
  if (merged != nullptr || !options.part.given()) return;
  part_ = options.part;
  for (const auto& [name, why] : kNotInParts) {
    if (arguments.texts.contains(name)) throw InvalidArgument(fmt::format("{} {}", option_flag(name), why));
  }
  const auto file = arguments.texts.find("o");
  if (file == arguments.texts.end()) throw InvalidArgument("--part needs -o FILE, the file of the part");
  if (is_csv_name(file->second))
    throw InvalidArgument(fmt::format("-o {}: a part is JSON; end its name in .json", file->second));
  if (arguments.operands.empty())
    throw InvalidArgument("--part needs DATA, a table: matrices are not cut into parts");
  run_ = {.command = std::move(command), .data = arguments.operands.front(), .options = arguments.texts};
  for (const auto name : kOfTheRun) run_.options.erase(std::string(name));
  own_ = std::make_unique<PartWork>(part_);
}

void RunInParts::begin(const Job& job, const Dataset& data) {
  if (work() == nullptr) return;
  const std::string table =
      table_digest(data, job.selection.feature_groups.get(), resolve_threads(job.selection.threads));
  if (one_part()) {
    run_.table = table;
    run_.files = files_digest(run_.options);
    return;
  }
  if (table != merged_->run().table)
    throw BadInput(
        {.file = data.source()},
        fmt::format(
            "this is not the table that {} was made of; name that one with --data, or run the parts again",
            merged_->first_path()));
  if (files_digest(merged_->run().options) != merged_->run().files)
    throw BadInput(
        {.file = merged_->first_path()},
        "a file that its options name (@FILE) has other contents now; put them back, or run the parts again");
}

int RunInParts::finish(bool complete, const Job& job, const Signals& signals) {
  const std::string name = OptionCodec<Part>::format(part_);
  if (!complete)
    throw Error(fmt::format("part {} was not finished, and nothing was written; run it again", name));
  const PartFile file{.path = job.output.o, .part = part_, .run = run_, .items = own_->take_items()};
  const std::size_t pieces = file.items.size();
  write_result(job.output.o, part_text(file), signals.token());
  if (job.output.o != "-" && !job.output.quiet)
    write_stdout(fmt::format("part {} written to {}: {} of work\n", name, printable(job.output.o),
                             counted(pieces, "piece")));
  return signals.exit_code();
}

}  // namespace subspectra::cli
