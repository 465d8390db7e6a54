#include "io/read.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "io/byte_source.hpp"
#include "io/file_ending.hpp"
#include "io/raw_table.hpp"
#include "io/readers.hpp"

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
  static_cast<void>(checked_file_size(path));  // a missing file or a directory is the better complaint
  throw BadInput({.file = path},
                 fmt::format("the ending does not tell the format; rename the file to end in one of {}",
                             table_endings()));
}

RawTable read_table(const std::string& data, const ReadOptions& options) {
  for (const EmbeddedDataset& embedded : embedded_datasets()) {
    if (data == embedded.name) return read_csv_text(embedded.csv, data, {}, options);
  }
  if (data == "-") return read_csv(data, {}, options);
  const auto [ending, zipped] = file_ending(data);
  if (const TableReader* reader = table_reader(ending, zipped)) return reader->read(data, options);
  refuse_ending(data);
}

}  // namespace

void ReadOptions::validate() const {
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
  const Dataset table = assemble(read_table(data, options), options);
  DatasetDetails details = table.details();
  details.source = data;
  return {std::move(details), table.values()};
}

}  // namespace subspectra
