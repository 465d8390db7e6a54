/// GEO series matrix files: lines that begin with ! describe the series and its samples, then a gene in every
/// row between !series_matrix_table_begin and !series_matrix_table_end.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/text.hpp"
#include "io/gene_table.hpp"
#include "io/raw_table.hpp"
#include "io/sample_labels.hpp"
#include "io/text_columns.hpp"

namespace subspectra {
namespace {

class SeriesMatrixReader {
 public:
  SeriesMatrixReader(ByteSource& bytes, const std::string& name, const ReadOptions& options,
                     std::size_t block_bytes, std::shared_ptr<MemoryBudget> memory)
      : name_(name),
        options_(options),
        memory_(std::move(memory)),
        for_texts_{.what = fmt::format("reading what {} says of its samples", name),
                   .advice = "check that the file is a GEO series matrix, or raise ⟨memory_limit⟩"},
        lines_(bytes, name, block_bytes, *memory_, for_texts_),
        rows_(name, memory_) {}

  RawTable read() {
    bool in_table = false, ended = false;
    while (!ended && lines_.next()) {
      if (in_table) {
        if (fields_[0] == "!series_matrix_table_end") {
          ended = true;
        } else if (!rows_.started()) {
          start();
        } else {
          take_values(rows_, fields_, 1, lines_.here(), options_.na);
          rows_.commit(fields_[0]);
        }
      } else if (fields_[0] == "!series_matrix_table_begin") {
        in_table = true;
      } else {
        read_description();
      }
    }
    if (!in_table)
      throw BadInput(
          {.file = name_},
          "has no !series_matrix_table_begin; a GEO series matrix is needed (GSE..._series_matrix.txt.gz)");
    if (!ended)
      throw BadInput(lines_.here(), "the file ends before !series_matrix_table_end; download it again");
    if (rows_.features() == 0) refuse_empty();
    rows_.note(fmt::format("GEO series matrix: {} features in rows, {} samples in columns", rows_.features(),
                           rows_.samples()));
    for (SideColumn& side : descriptions()) {
      if (static_cast<Index>(side.values.size()) == rows_.samples()) rows_.describe(std::move(side));
    }
    RawTable table = rows_.finish("geo_accession");
    table.na_is_done = true;
    return table;
  }

  /// The samples alone: their accessions and what is said of them.
  SampleTable read_samples() {
    while (lines_.next() && fields_[0] != "!series_matrix_table_begin") read_description();
    SampleTable table{.file = name_,
                      .names = {"geo_accession"},
                      .columns = {accessions_},
                      .first_line = {},
                      .in_order = false};
    table.first_line.emplace_back("geo_accession");
    for (SideColumn& side : descriptions()) {
      if (side.values.size() != accessions_.size()) continue;
      table.names.push_back(side.name);
      table.first_line.push_back(side.name);
      table.columns.push_back(std::move(side.values));
    }
    for (std::size_t c = 0; c < table.columns.size(); ++c)  // as in other files the first line is the header
      table.columns[c].insert(table.columns[c].begin(), table.names[c]);
    return table;
  }

 private:
  struct Description {
    std::string name;
    std::vector<std::string> values;
    Location first;
  };

  /// Values of sample s under `name`; a second one of the same name is another description.
  void describe(const std::string& name, std::size_t sample, std::string_view value) {
    constexpr int kMostOfAName = 20;
    for (int turn = 1; turn <= kMostOfAName; ++turn) {
      const std::string full = turn == 1 ? name : fmt::format("{} ({})", name, turn);
      const auto [at, is_new] = place_.try_emplace(full, described_.size());
      if (is_new) {
        memory_->grow(fields_.size() * sizeof(std::string) + 2 * MemoryBudget::on_heap(full.size()) +
                          sizeof(Description),
                      for_texts_);
        described_.push_back(
            {.name = full, .values = std::vector<std::string>(fields_.size() - 1), .first = lines_.here()});
      }
      Description& description = described_[at->second];
      if (sample >= description.values.size()) return;  // lines of different lengths: not the samples'
      std::string& slot = description.values[sample];
      if (!slot.empty() && slot != value) continue;
      memory_->grow(MemoryBudget::on_heap(value.size()), for_texts_);
      slot = is_missing_token(value) ? std::string_view() : value;
      return;
    }
  }

  void read_description() {
    const std::string_view key = fields_[0];
    if (!key.starts_with("!")) {
      throw BadInput(
          lines_.here(),
          fmt::format(
              "{} where a line of a GEO series matrix begins with !; other tables are read with ⟨format txt⟩",
              shown(key)));
    }
    constexpr std::string_view kSample = "!Sample_";
    if (!key.starts_with(kSample)) return;
    const std::string name(key.substr(kSample.size()));
    if (name == "geo_accession") {
      accessions_.clear();
      for (std::size_t s = 1; s < fields_.size(); ++s) memory_->append(accessions_, fields_[s], for_texts_);
      return;
    }
    const bool characteristics = name.starts_with("characteristics_");
    if (!characteristics && name != "title" && !name.starts_with("source_name_") && name != "description")
      return;
    for (std::size_t s = 1; s < fields_.size(); ++s) {
      if (fields_[s].empty()) continue;
      const std::size_t colon = characteristics ? fields_[s].find(": ") : std::string_view::npos;
      if (colon == std::string_view::npos || colon == 0) {
        describe(name, s - 1, fields_[s]);
      } else {
        describe(std::string(trimmed(fields_[s].substr(0, colon))), s - 1,
                 trimmed(fields_[s].substr(colon + 2)));
      }
    }
  }

  std::vector<SideColumn> descriptions() {
    std::vector<SideColumn> sides;
    for (Description& one : described_)
      sides.push_back(sample_description(std::move(one.name), std::move(one.values), one.first));
    return sides;
  }

  void start() {
    std::vector<std::string> ids;
    for (std::size_t s = 1; s < fields_.size(); ++s) memory_->append(ids, fields_[s], for_texts_);
    if (ids.empty())
      throw BadInput(lines_.here(),
                     "the table names no sample; a header ID_REF and sample accessions is needed");
    if (!accessions_.empty() && ids != accessions_)
      throw BadInput(
          lines_.here(),
          "the columns of the table are not those of !Sample_geo_accession; download the file again");
    rows_.start(std::move(ids));
  }

  [[noreturn]] void refuse_empty() {
    std::vector<std::string> names;
    for (const Description& one : described_) names.push_back(one.name);
    throw BadInput(
        {.file = name_},
        fmt::format(
            "holds no values, as of sequencing: they are in the series' supplementary files; give such a table as DATA, and this file by ⟨labels FILE:COLUMN⟩ (it describes the samples by {})",
            join_some(names)));
  }

  std::string name_;
  const ReadOptions& options_;
  std::shared_ptr<MemoryBudget> memory_;
  MemoryPurpose for_texts_;
  TabbedLines lines_;
  TransposedRows rows_;
  const std::vector<std::string_view>& fields_ = lines_.fields();
  std::vector<std::string> accessions_;
  std::vector<Description> described_;
  std::unordered_map<std::string, std::size_t> place_;  ///< of a name among them
};

}  // namespace

RawTable read_series_matrix_bytes(ByteSource& bytes, const std::string& name, const ReadOptions& options,
                                  std::size_t block_bytes) {
  return SeriesMatrixReader(bytes, name, options, block_bytes,
                            std::make_shared<MemoryBudget>(options.memory_limit.bytes))
      .read();
}

RawTable read_series_matrix(const std::string& path, const ReadOptions& options) {
  const auto bytes = open_bytes(path);
  return read_series_matrix_bytes(*bytes, path, options);
}

SampleTable read_series_samples(const std::string& path, const std::shared_ptr<MemoryBudget>& memory) {
  const auto bytes = open_bytes(path);
  const ReadOptions options;
  return SeriesMatrixReader(*bytes, path, options, kTextBlockBytes, memory).read_samples();
}

}  // namespace subspectra
