#include "io/write.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/atomic_file.hpp"
#include "core/memory.hpp"
#include "io/file_ending.hpp"
#include "io/raw_table.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

constexpr double kBytesANumber = 20.0;  // -1.234567890123456, and a separator

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c;
    if (c == '"') result += c;
  }
  return result + '"';
}

bool needs_quotes(std::string_view text, char separator) {
  return text.find_first_of("\"\r\n") != std::string_view::npos ||
         text.find(separator) != std::string_view::npos || trimmed(text).size() != text.size();
}

/// A text that could be taken for a number or for a missing value is quoted as well: that is how the reader
/// tells a name from a value.
std::string name_field(const std::string& name, char separator) {
  double value = 0.0;
  const bool misleading = is_missing_token(name) || parse_number(name, value);
  return misleading || needs_quotes(name, separator) ? in_quotes(name) : name;
}

std::string label_field(const std::string& label, char separator) {
  return is_missing_token(label) || needs_quotes(label, separator) ? in_quotes(label) : label;
}

void append_number(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "NA";
  } else {
    fmt::format_to(std::back_inserter(text), "{}", value == 0.0 ? 0.0 : value);  // not "-0"
  }
}

void append_names(std::string& text, const FeatureNames& names, Index columns, char separator) {
  if (names.size() != columns) {
    throw Error(fmt::format("{} names for {} columns; one name a column is needed", names.size(), columns));
  }
  for (Index j = 0; j < columns; ++j) {
    if (j > 0) text += separator;
    text += name_field(names[j], separator);
  }
}

void require_text_memory(Index rows, Index columns) {
  require_memory(kBytesANumber * static_cast<double>(rows) * static_cast<double>(columns),
                 fmt::format("the text of {} x {} numbers", rows, columns), "write fewer rows or columns");
}

bool is_text_ending(const FileEnding& ending) { return ending.text == ".csv" || ending.text == ".tsv"; }
char separator_of(const FileEnding& ending) { return ending.text == ".tsv" ? '\t' : ','; }

[[noreturn]] void refuse_output_ending(const std::string& path, std::string_view endings) {
  throw InvalidArgument(fmt::format(
      "{}: the ending does not tell the format to write; end the name in one of {}", path, endings));
}

void require_text_ending(const std::string& path) {
  if (!is_text_ending(file_ending(path))) refuse_output_ending(path, ".csv .tsv .csv.gz .tsv.gz");
}

bool is_npz_ending(const FileEnding& ending) { return ending.text == ".npz" && !ending.zipped; }

/// Magic, version 1.0, a 16-bit header length, then a Python dictionary filled up with blanks so that the
/// values begin at a multiple of 64 bytes, as NumPy does it.
std::string npy_header(std::string_view type, bool by_columns, std::string_view shape) {
  constexpr std::size_t kPreamble = 10;
  constexpr std::size_t kAlignment = 64;
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type,
                                   by_columns ? "True" : "False", shape);
  header.append(kAlignment - (kPreamble + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xffU);
  bytes += static_cast<char>(header.size() >> 8U);
  return bytes + header;
}

/// The code points of UTF-8; bytes that are none stand for themselves (Latin-1).
std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80U ? 1 : first >= 0xf0U ? 4 : first >= 0xe0U ? 3 : 2;
    bool whole = first < 0x80U || (first >= 0xc2U && first < 0xf5U && i + length <= text.size());
    auto point = static_cast<char32_t>(length == 1 ? first : first & (0xffU >> (length + 1)));
    for (std::size_t j = 1; whole && j < length; ++j) {
      const auto next = static_cast<unsigned char>(text[i + j]);
      whole = (next & 0xc0U) == 0x80U;
      point = (point << 6U) | (next & 0x3fU);
    }
    points += whole ? point : static_cast<char32_t>(first);
    i += whole ? length : 1;
  }
  return points;
}

/// A 1-D array of texts of one width, in UTF-32, as NumPy has them.
std::string npy_texts(const std::vector<std::string>& texts) {
  std::vector<std::u32string> points;
  points.reserve(texts.size());
  std::size_t width = 1;
  for (const auto& text : texts) {
    points.push_back(code_points(text));
    width = std::max(width, points.back().size());
  }
  std::string bytes = npy_header(fmt::format("<U{}", width), false, fmt::format("({},)", texts.size()));
  const std::size_t begin = bytes.size();
  bytes.resize(begin + 4 * width * texts.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    std::memcpy(bytes.data() + begin + 4 * width * i, points[i].data(), 4 * points[i].size());
  return bytes;
}

void append_little(std::string& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i, value >>= 8U) bytes += static_cast<char>(value & 0xffU);
}

/// A ZIP archive of members that are stored as they are, without a time (1 January 1980): the same bytes for
/// the same content.
std::string zip_bytes(const std::vector<std::pair<std::string, std::string>>& members) {
  constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
  constexpr std::uint64_t kFirstDay = 0x0021, kMost = 0xffffffffU;
  std::string bytes, directory;
  for (const auto& [name, content] : members) {
    if (bytes.size() + content.size() + 1024 > kMost)
      throw Error("the table does not fit into the 4 GiB of an .npz file; write .csv.gz, or fewer rows");
    std::string fields;  // version, flags, method, time, day, checksum, sizes, lengths of name and extra
    append_little(fields, 20, 2);
    append_little(fields, 0, 6);
    append_little(fields, kFirstDay, 2);
    append_little(fields, crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()),
                  4);  // NOLINT
    append_little(fields, content.size(), 4);
    append_little(fields, content.size(), 4);
    append_little(fields, name.size(), 2);
    append_little(fields, 0, 2);
    append_little(directory, kCentral, 4);
    append_little(directory, 20, 2);
    directory += fields;
    append_little(directory, 0, 10);  // comment, disk, attributes
    append_little(directory, bytes.size(), 4);
    directory += name;
    append_little(bytes, kLocal, 4);
    bytes += fields + name;
    bytes += content;
  }
  const std::size_t begin = bytes.size();
  bytes += directory;
  append_little(bytes, kEnd, 4);
  append_little(bytes, 0, 4);
  append_little(bytes, members.size(), 2);
  append_little(bytes, members.size(), 2);
  append_little(bytes, directory.size(), 4);
  append_little(bytes, begin, 4);
  append_little(bytes, 0, 2);
  return bytes;
}

void write_text(const std::string& path, const FileEnding& ending, const std::string& text,
                const std::stop_token& stop = {}) {
  write_file_atomically(path, ending.zipped ? gzip_bytes(text) : text, stop);
}

}  // namespace

std::string csv_text_field(const std::string& text) { return label_field(text, ','); }

std::string csv_text(const Dataset& data, char separator) {
  require_text_memory(data.rows(), data.features());
  std::string text;
  append_names(text, data.names(), data.features(), separator);
  if (data.labels()) {
    const std::string& name = data.labels()->name;
    text += separator + name_field(name.empty() ? "class" : name, separator);
  }
  text += '\n';
  std::vector<std::string> classes;
  if (data.labels()) {
    for (const std::string& name : data.labels()->classes) classes.push_back(label_field(name, separator));
  }
  data.values().each_row([&](Index i, const Vector& row) {
    for (Index j = 0; j < row.size(); ++j) {
      if (j > 0) text += separator;
      append_number(text, row[j]);
    }
    if (data.labels()) {
      text += separator;
      const int code = data.labels()->codes[static_cast<std::size_t>(i)];
      if (code != Labels::kMissing) text += classes[static_cast<std::size_t>(code)];
    }
    text += '\n';
  });
  return text;
}

std::string csv_text(const MatrixRef& matrix, const FeatureNames& names, char separator) {
  require_text_memory(matrix.rows(), matrix.cols());
  std::string text;
  append_names(text, names, matrix.cols(), separator);
  text += '\n';
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (j > 0) text += separator;
      append_number(text, matrix(i, j));
    }
    text += '\n';
  }
  return text;
}

std::string npy_bytes(const MatrixRef& matrix) {
  static_assert(std::endian::native == std::endian::little, "the values are copied as they lie in memory");
  std::string bytes = npy_header("<f8", true, fmt::format("({}, {})", matrix.rows(), matrix.cols()));
  const std::size_t column_bytes = static_cast<std::size_t>(matrix.rows()) * sizeof(double);
  const std::size_t begin = bytes.size();
  bytes.resize(begin + column_bytes * static_cast<std::size_t>(matrix.cols()));
  if (column_bytes == 0) return bytes;
  for (Index j = 0; j < matrix.cols(); ++j) {
    std::memcpy(bytes.data() + begin + static_cast<std::size_t>(j) * column_bytes, matrix.col(j).data(),
                column_bytes);
  }
  return bytes;
}

std::string gzip_bytes(std::string_view content) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error("the compressor cannot be started: not enough memory");
  }
  std::string bytes;
  std::string block(1U << 18U, '\0');
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && !content.empty()) {  // zlib counts in 32 bits
      const std::size_t part = std::min<std::size_t>(content.size(), std::numeric_limits<uInt>::max());
      stream.next_in =
          reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));  // NOLINT: zlib's C interface
      stream.avail_in = static_cast<uInt>(part);
      content.remove_prefix(part);
    }
    stream.next_out = reinterpret_cast<Bytef*>(block.data());  // NOLINT(*-reinterpret-cast)
    stream.avail_out = static_cast<uInt>(block.size());
    state = deflate(&stream, content.empty() ? Z_FINISH : Z_NO_FLUSH);
    bytes.append(block, 0, block.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return bytes;
}

std::string npz_bytes(const Dataset& data) {
  require_memory(24.0 * static_cast<double>(data.rows()) * static_cast<double>(data.features()),
                 fmt::format("an .npz file of {} x {} numbers", data.rows(), data.features()),
                 "write fewer rows or columns");
  std::vector<std::pair<std::string, std::string>> members;
  members.emplace_back("X.npy", npy_bytes(data.values().matrix()));
  if (data.labels()) {
    std::vector<std::string> labels;
    for (const int code : data.labels()->codes) {
      labels.push_back(code == Labels::kMissing ? std::string()
                                                : data.labels()->classes[static_cast<std::size_t>(code)]);
    }
    members.emplace_back("y.npy", npy_texts(labels));
  }
  if (data.names().given()) members.emplace_back("names.npy", npy_texts(data.names().all()));
  return zip_bytes(members);
}

void write_npz(const std::string& path, const Dataset& data, const std::stop_token& stop) {
  if (!is_npz_ending(file_ending(path))) refuse_output_ending(path, ".npz");
  write_file_atomically(path, npz_bytes(data), stop);
}

void write_table(const std::string& path, const Dataset& data, const std::stop_token& stop) {
  require_table_ending(path);
  if (is_npz_ending(file_ending(path))) {
    write_npz(path, data, stop);
  } else {
    write_csv(path, data, stop);
  }
}

void write_csv(const std::string& path, const Dataset& data, const std::stop_token& stop) {
  require_text_ending(path);
  const FileEnding ending = file_ending(path);
  write_text(path, ending, csv_text(data, separator_of(ending)), stop);
}

void write_csv_matrix(const std::string& path, const MatrixRef& matrix, const FeatureNames& names) {
  require_text_ending(path);
  const FileEnding ending = file_ending(path);
  write_text(path, ending, csv_text(matrix, names, separator_of(ending)));
}

void write_npy(const std::string& path, const MatrixRef& matrix) {
  const FileEnding ending = file_ending(path);
  if (ending.text != ".npy" || ending.zipped) refuse_output_ending(path, ".npy");
  write_file_atomically(path, npy_bytes(matrix));
}

void write_matrix(const std::string& path, const MatrixRef& matrix, const FeatureNames& names) {
  require_matrix_ending(path);
  if (is_text_ending(file_ending(path))) {
    write_csv_matrix(path, matrix, names);
  } else {
    write_npy(path, matrix);
  }
}

void require_table_ending(const std::string& path) {
  const FileEnding ending = file_ending(path);
  if (!is_text_ending(ending) && !is_npz_ending(ending))
    refuse_output_ending(path, ".csv .tsv .csv.gz .tsv.gz .npz");
}

void require_matrix_ending(const std::string& path) {
  const FileEnding ending = file_ending(path);
  if (!is_text_ending(ending) && (ending.text != ".npy" || ending.zipped)) {
    refuse_output_ending(path, ".npy .csv .tsv .csv.gz .tsv.gz");
  }
}

}  // namespace subspectra
