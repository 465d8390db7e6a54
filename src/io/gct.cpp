/// GCT, versions 1.2 and 1.3: a line with the version, one with the sizes, a header, a gene in every row.
/// Version 1.3 has columns that describe the genes and rows that describe the samples.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/text.hpp"
#include "io/gene_table.hpp"
#include "io/readers.hpp"

namespace subspectra {
namespace {

class GctReader {
 public:
  GctReader(ByteSource& bytes, const std::string& name, const ReadOptions& options, std::size_t block_bytes)
      : options_(options),
        memory_(std::make_shared<MemoryBudget>(options.memory_limit.bytes)),
        for_texts_{.what = fmt::format("reading the names in {}", name),
                   .advice = "check that the file is a GCT table, or raise ⟨memory_limit⟩"},
        lines_(bytes, name, block_bytes, *memory_, for_texts_),
        rows_(name, memory_) {}

  RawTable read() {
    read_sizes();
    read_header();
    for (std::size_t d = 0; d < sizes_[3]; ++d) read_description();
    while (lines_.next()) {
      take_values(rows_, fields_, first_sample_, lines_.here(), options_.na);
      rows_.commit(fields_[0]);
    }
    if (static_cast<std::size_t>(rows_.features()) != sizes_[0]) {
      throw BadInput(lines_.here(),
                     fmt::format("the second line speaks of {}, but there are {}; the file may have been cut",
                                 counted(sizes_[0], "row"), rows_.features()));
    }
    rows_.note(fmt::format("GCT {}: {} features in rows, {} samples in columns", version_, rows_.features(),
                           rows_.samples()));
    RawTable table = rows_.finish("sample");
    table.na_is_done = true;
    return table;
  }

 private:
  void need_line(std::string_view what) {
    if (!lines_.next())
      throw BadInput(lines_.here(), fmt::format("the file ends before {}; a GCT table has it", what));
  }
  void read_sizes() {
    need_line("the version");
    version_ = std::string(fields_[0].substr(0, 8));
    if (version_ != "#1.2" && version_ != "#1.3")
      throw BadInput(
          lines_.here(),
          fmt::format(
              "{} where #1.2 or #1.3 is needed; a GCT table begins with its version, and other tables are read with ⟨format txt⟩",
              shown(fields_[0])));
    need_line("the sizes");
    const std::size_t count = version_ == "#1.3" ? 4 : 2;
    if (fields_.size() < count) throw BadInput(lines_.here(), fmt::format("{} sizes are needed here", count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto [end, error] =
          std::from_chars(fields_[i].data(), fields_[i].data() + fields_[i].size(), sizes_[i]);
      if (error != std::errc() || end != fields_[i].data() + fields_[i].size())
        throw BadInput(lines_.here(), fmt::format("{} is no size; the numbers of rows and columns stand here",
                                                  shown(fields_[i])));
    }
  }
  void read_header() {
    need_line("the header");
    first_sample_ = version_ == "#1.3" ? 1 + std::min(sizes_[2], fields_.size()) : 2;
    if (sizes_[1] == 0 || sizes_[1] > fields_.size() || fields_.size() != first_sample_ + sizes_[1]) {
      throw BadInput(
          lines_.here(),
          fmt::format("the header has {} where {} names and {} are needed; check the second line",
                      counted(fields_.size(), "field"), first_sample_, counted(sizes_[1], "sample")));
    }
    std::vector<std::string> ids;
    for (std::size_t s = first_sample_; s < fields_.size(); ++s) memory_->append(ids, fields_[s], for_texts_);
    rows_.start(std::move(ids));
  }
  void read_description() {
    need_line("the descriptions of the samples");
    if (fields_.size() != first_sample_ + static_cast<std::size_t>(rows_.samples()))
      throw BadInput(lines_.here(), fmt::format("{} describe the samples where {} are needed",
                                                counted(fields_.size(), "field"),
                                                first_sample_ + static_cast<std::size_t>(rows_.samples())));
    std::vector<std::string> values;
    for (std::size_t s = first_sample_; s < fields_.size(); ++s) {
      const bool missing = is_missing_token(fields_[s]);
      memory_->append(values, missing ? std::string_view() : fields_[s], for_texts_);
    }
    rows_.describe(sample_description(std::string(fields_[0]), std::move(values), lines_.here()));
  }

  const ReadOptions& options_;
  std::shared_ptr<MemoryBudget> memory_;
  MemoryPurpose for_texts_;
  TabbedLines lines_;
  TransposedRows rows_;
  const std::vector<std::string_view>& fields_ = lines_.fields();
  std::string version_;
  std::array<std::size_t, 4> sizes_ = {};  ///< rows, columns, descriptions of a row, of a column
  std::size_t first_sample_ = 2;
};

}  // namespace

RawTable read_gct_bytes(ByteSource& bytes, const std::string& name, const ReadOptions& options,
                        std::size_t block_bytes) {
  return GctReader(bytes, name, options, block_bytes).read();
}

extern const TableReader gct_reader = {.endings = ".gct",
                                       .reads_compressed = true,
                                       .read = [](const std::string& path, const ReadOptions& options) {
                                         const auto bytes = open_bytes(path);
                                         return read_gct_bytes(*bytes, path, options);
                                       }};

}  // namespace subspectra
