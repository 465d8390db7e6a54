/// PLINK 1 binary filesets: FILE.bed holds genotypes of two bits, variant after variant, FILE.fam the samples
/// and FILE.bim the variants. The genotypes stay as they are; docs/formats/plink.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "data/genotypes.hpp"
#include "io/random_bytes.hpp"
#include "io/readers.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

constexpr std::size_t kHead = 3;  // two bytes of magic, one that says what is packed side by side
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 31;  // samples, and variants

/// A line's fields between blanks.
std::vector<std::string_view> blank_fields(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> fields;
  for (auto at = line.find_first_not_of(kBlanks); at < line.size();
       at = line.find_first_not_of(kBlanks, at)) {
    const auto end = std::min(line.find_first_of(kBlanks, at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
  return fields;
}

/// The lines of .fam or .bim, each of `wanted` fields.
template <class Take>
void each_record(ByteSource& bytes, const std::string& name, std::size_t wanted, std::string_view what,
                 std::size_t block_bytes, MemoryBudget& memory, const Take& take) {
  LineReader lines(bytes, name, block_bytes, memory);
  std::uint64_t count = 0;
  for (std::string_view line; lines.next(line);) {
    const Location here{.file = name, .line = lines.number(), .column = 1, .place = {}};
    if (line.find('\0') != std::string_view::npos)
      throw BadInput(here, "a zero byte in a text file; give the fileset as PLINK wrote it");
    const auto fields = blank_fields(line);
    if (fields.empty()) continue;
    if (fields.size() != wanted)
      throw BadInput(here,
                     fmt::format("{} where {} are needed ({}); write the fileset anew with PLINK's make-bed",
                                 counted(fields.size(), "field"), wanted, what));
    if (++count > kMostCounted)
      throw BadInput(here, fmt::format("more than {} lines; split the fileset", kMostCounted));
    take(fields);
  }
}

struct Samples {
  std::vector<std::string> families, ids, sexes, phenotypes;
};

bool is_missing_phenotype(std::string_view text) {
  return text == "0" || text == "-9" || is_missing_token(text);
}

Samples read_fam(ByteSource& bytes, const std::string& name, std::size_t block_bytes, MemoryBudget& memory) {
  const MemoryPurpose purpose{.what = fmt::format("reading the samples in {}", name),
                              .advice = "raise ⟨memory_limit⟩"};
  Samples samples;
  each_record(bytes, name, 6, "family, id, father, mother, sex, phenotype", block_bytes, memory,
              [&](const std::vector<std::string_view>& fields) {
                memory.append(samples.families, fields[0], purpose);
                memory.append(samples.ids, fields[1], purpose);
                memory.append(samples.sexes, fields[4] == "0" ? std::string_view() : fields[4], purpose);
                memory.append(samples.phenotypes,
                              is_missing_phenotype(fields[5]) ? std::string_view() : fields[5], purpose);
              });
  if (samples.ids.empty())
    throw BadInput({.file = name}, "holds no samples; a fileset has one a line in .fam");
  return samples;
}

/// The names of the variants: their ids, or where there is none (".") their places.
std::vector<std::string> read_bim(ByteSource& bytes, const std::string& name, std::size_t block_bytes,
                                  MemoryBudget& memory) {
  const MemoryPurpose purpose{.what = fmt::format("reading the variants in {}", name),
                              .advice = "take fewer variants (PLINK's extract), or raise ⟨memory_limit⟩"};
  std::vector<std::string> names;
  each_record(bytes, name, 6, "chromosome, id, centimorgans, position, two alleles", block_bytes, memory,
              [&](const std::vector<std::string_view>& fields) {
                memory.append(
                    names,
                    fields[1] == "." ? fmt::format("{}:{}", fields[0], fields[3]) : std::string(fields[1]),
                    purpose);
              });
  if (names.empty()) throw BadInput({.file = name}, "holds no variants; a fileset has one a line in .bim");
  return names;
}

/// Checks the head and the size of a .bed.
void check_bed(const RandomBytes& bed, std::uint64_t samples, std::uint64_t variants) {
  const auto refuse = [&](const std::string& what) { throw BadInput({.file = bed.name()}, what); };
  if (bed.size() < kHead)
    refuse(fmt::format("is too short for a PLINK .bed: {} bytes; copy it again", bed.size()));
  std::array<char, kHead> head{};
  bed.read_at(0, head);
  if (head[0] != '\x6c' || head[1] != '\x1b')
    refuse("is no PLINK 1 .bed file, which begins with the bytes 6c 1b; write one with PLINK's make-bed");
  if (head[2] == '\0')
    refuse(
        "packs samples one after another (its third byte is 00); write it variant after variant with plink1.9's make-bed");
  if (head[2] != '\1')
    refuse(
        fmt::format("has {:02x} as its third byte, where 01 is needed; write it anew with PLINK's make-bed",
                    static_cast<unsigned char>(head[2])));
  const std::uint64_t stride = (samples + 3) / 4;  // neither product overflows: both counts are below 2^32
  const std::uint64_t needed = kHead + stride * variants;
  if (bed.size() != needed)
    refuse(fmt::format("has {} bytes, but {} of its .fam and {} of its .bim need {}; {}", bed.size(),
                       counted(samples, "sample"), counted(variants, "variant"), needed,
                       bed.size() < needed
                           ? "it was cut short: copy it again"
                           : "the three files are not of one set: give those that belong together"));
}

RawTable read_fileset(const std::shared_ptr<const RandomBytes>& bed, ByteSource& bim,
                      const std::string& bim_name, ByteSource& fam, const std::string& fam_name,
                      const ReadOptions& options, std::size_t block_bytes) {
  auto memory = std::make_shared<MemoryBudget>(options.memory_limit.bytes);
  Samples samples = read_fam(fam, fam_name, block_bytes, *memory);
  std::vector<std::string> names = read_bim(bim, bim_name, block_bytes, *memory);
  check_bed(*bed, samples.ids.size(), names.size());

  RawTable table;
  table.source = bed->name();
  table.samples_in_rows = !options.transpose;  // which is refused
  table.gaps_are_means = true;
  table.memory = memory;
  Genotypes::Parts parts{
      .name = bed->name(),
      .samples = static_cast<Index>(samples.ids.size()),
      .variants = static_cast<Index>(names.size()),
      .read_at = [bed](std::uint64_t offset, std::span<char> into) { bed->read_at(offset, into); },
      .first_byte = kHead,
      .memory_limit = options.memory_limit.bytes};
  constexpr double kShareForBytes = 0.5;  // of the memory; a method needs some, too
  const std::uint64_t packed = bed->size() - kHead;
  const bool stays = static_cast<double>(packed) <= kShareForBytes * static_cast<double>(memory->left());
  if (stays) {
    memory->take(static_cast<double>(packed),
                 {.what = fmt::format("the genotypes of {}", bed->name()), .advice = ""});
    parts.bytes.resize(static_cast<std::size_t>(packed));
    bed->read_at(kHead, {reinterpret_cast<char*>(parts.bytes.data()), parts.bytes.size()});
  }
  table.columns = std::make_shared<const Genotypes>(std::move(parts));
  table.notes.push_back(fmt::format(
      "PLINK fileset: {} x {}, copies of the first allele of {} (2, 1, 0); missing ones are means; {}",
      counted(samples.ids.size(), "sample"), counted(names.size(), "variant"), bim_name,
      stays ? "the genotypes stay packed in memory" : "the genotypes are read from the file in blocks"));
  table.names = FeatureNames(std::move(names));

  const auto beside = [&](std::string name, std::vector<std::string>&& values) {
    SideColumn column;
    column.name = std::move(name);
    column.values = std::move(values);
    column.first = {.file = fam_name, .line = 1, .column = 1, .place = {}};
    column.may_be_ignored = true;
    return column;
  };
  const std::unordered_set<std::string_view> different(samples.ids.begin(), samples.ids.end());
  if (different.size() < samples.ids.size()) {  // ids within families; as PLINK joins them
    for (std::size_t i = 0; i < samples.ids.size(); ++i)
      samples.ids[i] = fmt::format("{}_{}", samples.families[i], samples.ids[i]);
  }
  SideColumn ids = beside("IID", std::move(samples.ids));
  ids.is_id = true;
  SideColumn phenotype = beside("phenotype", std::move(samples.phenotypes));
  const auto& values = phenotype.values;
  const auto is_class = [](const std::string& value) {
    return value.empty() || value == "1" || value == "2";
  };
  // 1 is a control and 2 a case; other numbers are measured, and no classes.
  phenotype.is_label =
      std::all_of(values.begin(), values.end(), is_class) &&
      std::any_of(values.begin(), values.end(), [](const auto& value) { return !value.empty(); });
  phenotype.is_numeric = !phenotype.is_label;
  table.side.push_back(std::move(ids));
  table.side.push_back(beside("FID", std::move(samples.families)));
  table.side.push_back(beside("sex", std::move(samples.sexes)));
  table.side.push_back(std::move(phenotype));
  return table;
}

RawTable read_bed(const std::string& path, const ReadOptions& options) {
  const std::string stem = path.ends_with(".bed") ? path.substr(0, path.size() - 4) : path;
  const auto beside = [&](const char* ending) {
    const std::string name = stem + ending;
    try {
      return std::pair(name, open_bytes(name));
    } catch (const BadInput& why) {
      throw BadInput(
          {.file = name},
          fmt::format(
              "a PLINK fileset is three files, {0}.bed, {0}.bim and {0}.fam, and this one cannot be read: {1}",
              stem, why.what()));
    }
  };
  const std::shared_ptr<const RandomBytes> bed = open_random(path);
  const auto [bim_name, bim] = beside(".bim");
  const auto [fam_name, fam] = beside(".fam");
  return read_fileset(bed, *bim, bim_name, *fam, fam_name, options, kTextBlockBytes);
}

}  // namespace

RawTable read_bed_bytes(std::string_view bed, std::string_view bim, std::string_view fam,
                        const std::string& name, const ReadOptions& options, std::size_t block_bytes) {
  const auto variants = memory_bytes(bim), samples = memory_bytes(fam);
  return read_fileset(std::shared_ptr<const RandomBytes>(memory_random(bed, name + ".bed")), *variants,
                      name + ".bim", *samples, name + ".fam", options, block_bytes);
}

extern const TableReader bed_reader = {.endings = ".bed", .read = read_bed};

}  // namespace subspectra
