#include "io/read.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "io/byte_source.hpp"
#include "io/file_ending.hpp"
#include "io/raw_table.hpp"
#include "io/readers.hpp"
#include "io/sample_labels.hpp"

namespace subspectra {
namespace {

constexpr Index kMostFeatures = 2147483646;  // 2^31 - 2: column numbers of a sparse table are 32-bit

[[noreturn]] void refuse_ending(const std::string& path) {
  std::vector<std::string> names;
  std::string all;
  for (const EmbeddedDataset& data : embedded_datasets()) {
    names.emplace_back(data.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  if (::access(path.c_str(), F_OK) != 0 && path.find_first_of("./") == std::string::npos) {
    const auto near = near_names(path, names, 1);
    throw BadInput({.file = path}, fmt::format("neither a file nor an embedded data set ({}){}", all,
                                               near.empty() ? "; check the name"
                                                            : fmt::format("; did you mean '{}'?", near[0])));
  }
  // A missing file or a directory is the better complaint; a pipe has no ending to correct.
  std::error_code ignored;
  if (!std::filesystem::is_fifo(path, ignored)) static_cast<void>(checked_file_size(path));
  throw BadInput(
      {.file = path},
      fmt::format(
          "the ending does not tell the format; say it with ⟨format NAME⟩ ({}), or rename the file to end in one of {}",
          table_format_names(), table_endings()));
}

RawTable read_table(const std::string& data, const ReadOptions& options) {
  for (const EmbeddedDataset& embedded : embedded_datasets()) {
    if (data == embedded.name) return read_csv_text(embedded.csv, data, {}, options);
  }
  if (!options.format.empty()) return table_format(options.format)(data, options);
  if (data == "-") return read_csv(data, kCsvFile, options);
  std::error_code ignored;
  if (std::filesystem::is_directory(data, ignored)) return read_tenx_folder(data, options);
  const auto [ending, zipped] = file_ending(data);
  if (const TableReader* reader = table_reader(ending, zipped)) return reader->read(data, options);
  refuse_ending(data);
}

}  // namespace

void ReadOptions::validate() const {
  if (!format.empty()) static_cast<void>(table_format(format));
  if (index_base != 0 && index_base != 1) {
    throw InvalidArgument({.field = "index_base",
                           .value = fmt::to_string(index_base),
                           .rule = "= {value}, but 0 or 1 is needed"});
  }
  if (features < 0 || features > kMostFeatures) {
    throw InvalidArgument(
        {.field = "features",
         .value = fmt::to_string(features),
         .rule = fmt::format("= {{value}}, but 0 <= features <= {} is needed", kMostFeatures)});
  }
  for (const auto& [field, column] : {std::pair("target", &target), std::pair("weights", &weights)}) {
    if (id.empty() || *column != id || id_optional) continue;
    throw InvalidArgument({.field = "id",
                           .value = id,
                           .rule = fmt::format("and ⟨{}⟩ both name '{{value}}'", field),
                           .way_out = "they must be different columns"});
  }
  if (!labels.empty() && !target.empty() && !target_optional) {
    throw InvalidArgument({.field = "labels",
                           .value = labels,
                           .rule = "and ⟨target⟩ both say what the label is",
                           .way_out = "a column of the file is ⟨labels FILE:COLUMN⟩"});
  }
  if (!weights.empty() && weights == target) {
    throw InvalidArgument({.field = "weights",
                           .value = weights,
                           .rule = "and ⟨target⟩ both name '{value}'",
                           .way_out = "they must be different columns"});
  }
  if (!weights.empty() && weights == cv_groups) {
    throw InvalidArgument({.field = "weights",
                           .value = weights,
                           .rule = "and ⟨cv_groups⟩ both name '{value}'",
                           .way_out = "they must be different columns"});
  }
}

Dataset read_dataset(const std::string& data, const ReadOptions& options) {
  options.validate();
  ReadOptions wide = options;  // of a sparse file without names, the list of names says how wide it is
  if (!options.names.empty() && options.features == 0) {
    static_cast<void>(checked_file_size(options.names));  // it is read twice
    MemoryBudget memory(options.memory_limit.bytes);
    wide.features = static_cast<Index>(read_feature_names(options.names, 0, memory).size());
  }
  const Dataset table = assemble(read_table(data, wide), options);
  DatasetDetails details = table.details();
  details.source = data;
  return {std::move(details), table.values()};
}

}  // namespace subspectra
