#include "io/npy_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "io/text_columns.hpp"

namespace subspectra {
namespace {

constexpr std::size_t kConvertedBytes = 1 << 18;
constexpr std::size_t kMostHeader =
    1 << 20;  // NumPy itself refuses headers beyond 10,000 bytes unless told otherwise
static_assert(std::endian::native == std::endian::little,
              "the decoders below assume a little-endian machine");

/// The header is a Python dictionary literal with three known keys; this reads exactly that and nothing else.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  struct Header {
    std::optional<std::string> descr;  ///< "[" for a structured type
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::uint64_t>> shape;
  };

  /// nullopt: not such a dictionary.
  std::optional<Header> parse() {
    Header header;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':') || !value(*key, header)) return std::nullopt;
      if (!take(',')) {
        if (!take('}')) return std::nullopt;
        break;
      }
    }
    skip_space();
    if (!text_.empty() || !header.descr || !header.fortran_order || !header.shape) return std::nullopt;
    return header;
  }

 private:
  void skip_space() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t')) {
      text_.remove_prefix(1);
    }
  }
  bool take(char c) {
    skip_space();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    skip_space();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> string() {
    skip_space();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string content(text_.substr(1, end - 1));
    if (content.find('\\') != std::string::npos) return std::nullopt;
    text_.remove_prefix(end + 1);
    return content;
  }
  std::optional<std::uint64_t> integer() {
    skip_space();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    if (!text_.empty() && text_.front() == 'L') text_.remove_prefix(1);  // Python 2 wrote (3L, 4L)
    return number;
  }
  bool value(const std::string& key, Header& header) {
    if (key == "descr" && !header.descr) {
      header.descr = string();
      if (!header.descr && skip_list()) header.descr = "[";
      return header.descr.has_value();
    }
    if (key == "fortran_order" && !header.fortran_order) {
      if (take("True")) {
        header.fortran_order = true;
      } else if (take("False")) {
        header.fortran_order = false;
      }
      return header.fortran_order.has_value();
    }
    if (key == "shape" && !header.shape) return take('(') && tuple(header.shape.emplace());
    return false;
  }
  bool tuple(std::vector<std::uint64_t>& numbers) {
    while (!take(')')) {
      const auto number = integer();
      if (!number || numbers.size() == 32) return false;
      numbers.push_back(*number);
      if (!take(',')) return take(')');
    }
    return true;
  }
  /// Past a bracketed list of field descriptions, only to be able to say what it is.
  bool skip_list() {
    skip_space();
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '[' || text_[i] == '(') ++depth;
      if (depth == 0) return false;
      if ((text_[i] == ']' || text_[i] == ')') && --depth == 0) {
        text_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
};

/// "<f8", "|b1", ">U12"; nullopt for what NumPy does not write.
std::optional<NpyType> parse_type(const std::string& text) {
  if (text == "[") return NpyType{.kind = '[', .size = 1, .big_endian = false, .text = "structured"};
  std::string_view rest = text;
  NpyType type;
  type.text = text;
  if (!rest.empty() && std::string_view("<>|=").find(rest.front()) != std::string_view::npos) {
    type.big_endian = rest.front() == '>';
    rest.remove_prefix(1);
  }
  if (rest.empty() || std::string_view("biufcUSOVMm").find(rest.front()) == std::string_view::npos)
    return std::nullopt;
  type.kind = rest.front();
  rest.remove_prefix(1);
  std::size_t size = 8;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
  const bool bare = rest.empty() && type.kind == 'O';
  const bool dated = type.kind == 'M' || type.kind == 'm';  // "<M8[ns]"
  if (!bare && (error != std::errc() || (end != rest.data() + rest.size() && !dated))) return std::nullopt;
  if (size > (std::size_t{1} << 24)) return std::nullopt;
  type.size = type.kind == 'U' ? 4 * size : size;
  const bool whole = type.kind == 'i' || type.kind == 'u';
  if (type.kind == 'b' && size != 1) return std::nullopt;
  if (whole && size != 1 && size != 2 && size != 4 && size != 8) return std::nullopt;
  if (type.kind == 'f' && size != 2 && size != 4 && size != 8 && size != 12 && size != 16)
    return std::nullopt;
  return type;
}

std::string type_name(const NpyType& type) {
  const auto bits = type.size * 8;
  switch (type.kind) {
    case 'b':
      return "bool";
    case 'i':
      return fmt::format("int{}", bits);
    case 'u':
      return fmt::format("uint{}", bits);
    case 'f':
      return fmt::format("float{}", bits);
    case 'c':
      return fmt::format("complex{}", bits);
    case 'U':
    case 'S':
      return "text";
    case 'O':
      return "object";
    case 'M':
    case 'm':
      return "date";
    case '[':
      return "structured";
    default:
      return type.text;
  }
}

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

double half_to_double(std::uint16_t half) {
  const int exponent = (half >> 10U) & 0x1f;
  const int fraction = half & 0x3ff;
  double value = 0;
  if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else if (exponent == 31) {
    value = fraction == 0 ? kInfinity : std::numeric_limits<double>::quiet_NaN();
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (half & 0x8000U) != 0 ? -value : value;
}

template <class T, class Out>
void convert(std::span<const char> bytes, Out* into) {
  const std::size_t n = bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < n; ++i) into[i] = static_cast<Out>(load<T>(bytes.data() + i * sizeof(T)));
}

/// Whole numbers of any width; false for another type.
template <class Out>
bool convert_integers(const NpyType& type, std::span<const char> bytes, Out* into) {
  if (type.kind == 'b') {
    for (std::size_t i = 0; i < bytes.size(); ++i) into[i] = static_cast<Out>(bytes[i] != 0 ? 1 : 0);
    return true;
  }
  if (type.kind == 'i') {
    switch (type.size) {
      case 1:
        convert<std::int8_t>(bytes, into);
        return true;
      case 2:
        convert<std::int16_t>(bytes, into);
        return true;
      case 4:
        convert<std::int32_t>(bytes, into);
        return true;
      case 8:
        convert<std::int64_t>(bytes, into);
        return true;
      default:
        return false;
    }
  }
  if (type.kind == 'u') {
    switch (type.size) {
      case 1:
        convert<std::uint8_t>(bytes, into);
        return true;
      case 2:
        convert<std::uint16_t>(bytes, into);
        return true;
      case 4:
        convert<std::uint32_t>(bytes, into);
        return true;
      case 8:
        convert<std::uint64_t>(bytes, into);
        return true;
      default:
        return false;
    }
  }
  return false;
}

/// One element of type U or S; NumPy fills up with zeros.
std::string text_element(const NpyType& type, std::span<const char> bytes) {
  std::string text;
  if (type.kind == 'S') {
    text.assign(bytes.begin(), bytes.end());
    text.erase(std::find_if(text.rbegin(), text.rend(), [](char c) { return c != '\0'; }).base(), text.end());
    return text;
  }
  std::size_t characters = bytes.size() / 4;
  while (characters > 0 && load<std::uint32_t>(bytes.data() + 4 * (characters - 1)) == 0) --characters;
  for (std::size_t c = 0; c < characters; ++c) append_utf8(text, load<std::uint32_t>(bytes.data() + 4 * c));
  return text;
}

}  // namespace

bool NpyType::is_number() const { return is_integer() || (kind == 'f' && size <= 8); }

NpyArray::NpyArray(std::unique_ptr<ByteSource> bytes, std::uint64_t size, Location where)
    : bytes_(std::move(bytes)), where_(std::move(where)) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (size < 10) damaged("too short for a NumPy array");
  std::array<char, 12> start{};
  read_exactly(std::span(start).first(10));
  if (std::string_view(start.data(), kMagic.size()) != kMagic) {
    throw BadInput(
        where_, "not a NumPy array (it does not start with \\x93NUMPY); write it with np.save or np.savez");
  }
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3 || start[7] != 0) {
    throw BadInput(
        where_, fmt::format("NPY version {}.{} is not known (1.0 to 3.0 are); write it with np.save", version,
                            static_cast<unsigned char>(start[7])));
  }
  std::uint64_t used = 10;
  std::uint64_t header_size = load<std::uint16_t>(start.data() + 8);
  if (version > 1) {
    if (size < 12) damaged("too short for a NumPy array");
    read_exactly(std::span(start).subspan(10));
    header_size = load<std::uint32_t>(start.data() + 8);
    used = 12;
  }
  if (header_size > size - used) damaged("its header is longer than the file");
  if (header_size > kMostHeader) damaged("a header of more than a million bytes");
  std::string text(static_cast<std::size_t>(header_size), '\0');
  read_exactly(text);
  used += header_size;

  const auto header = HeaderParser(text).parse();
  if (!header) damaged("its header is not that of a NumPy array");
  const auto type = parse_type(*header->descr);
  if (!type) damaged(fmt::format("its type '{}' is not known", *header->descr));
  type_ = *type;
  fortran_order_ = *header->fortran_order;
  shape_ = *header->shape;
  count_ = 1;
  bool empty = false;
  for (const std::uint64_t n : shape_) empty = empty || n == 0;
  for (const std::uint64_t n : shape_) {
    if (empty) {
      count_ = 0;
    } else if (__builtin_mul_overflow(count_, n, &count_)) {
      damaged(fmt::format("its shape {} is absurd", shape_text(shape_)));
    }
  }
  if (type_.kind == 'O' || type_.kind == '[') return;  // not laid out as count x size; refused by require_...
  std::uint64_t needed = 0;
  if (__builtin_mul_overflow(count_, static_cast<std::uint64_t>(type_.size), &needed) ||
      needed > size - used) {
    damaged(fmt::format("its header speaks of a {} but only {} bytes follow", description(), size - used));
  }
  // Texts of no width need no bytes: their number would be bounded by nothing.
  if (type_.size == 0 && count_ > size) damaged(fmt::format("its header speaks of a {}", description()));
  trailing_ = size - used - needed;
}

std::string NpyArray::description() const {
  return fmt::format("{} array of {}", type_name(type_), shape_text(shape_));
}

void NpyArray::damaged(const std::string& what) const {
  throw BadInput(where_, fmt::format("damaged: {}; copy the file again or write it anew", what));
}

void NpyArray::require_numbers() const {
  if (type_.is_number()) return;
  switch (type_.kind) {
    case 'c':
      throw BadInput(where_, "holds complex numbers; save the real part or the modulus (np.abs) instead");
    case 'O':
      throw BadInput(
          where_,
          "is an array of Python objects, which only Python can read; save it with astype(float), or astype('U') for texts");
    case 'U':
    case 'S':
      throw BadInput(where_, "holds texts where numbers are needed; save it with astype(float)");
    default:
      throw BadInput(where_,
                     fmt::format("holds values of type {}; save a plain array of numbers with astype(float)",
                                 type_name(type_)));
  }
}

void NpyArray::require_numbers_or_texts() const {
  if (type_.kind == 'O') {
    throw BadInput(
        where_,
        "is an array of Python objects, which only Python can read; save it with dtype=str or astype('U')");
  }
  if (!type_.is_text()) require_numbers();
}

void NpyArray::read_exactly(std::span<char> into) {
  while (!into.empty()) {
    const std::size_t got = bytes_->read(into);
    if (got == 0) damaged("truncated");
    into = into.subspan(got);
  }
}

std::span<const char> NpyArray::next_elements(std::uint64_t most) {
  if (done_ >= count_) damaged("fewer values than needed");
  const std::uint64_t fit =
      std::max<std::uint64_t>(1, kConvertedBytes / std::max<std::size_t>(1, type_.size));
  const std::uint64_t n = std::min({most, fit, count_ - done_});
  block_.resize(static_cast<std::size_t>(n) * type_.size);
  read_exactly(block_);
  done_ += n;
  if (type_.big_endian) {
    const std::size_t unit = type_.kind == 'U' ? 4 : (type_.kind == 'S' ? 1 : type_.size);
    if (unit > 1) {
      for (std::size_t at = 0; at + unit <= block_.size(); at += unit) {
        std::reverse(block_.begin() + static_cast<std::ptrdiff_t>(at),
                     block_.begin() + static_cast<std::ptrdiff_t>(at + unit));
      }
    }
  }
  return block_;
}

void NpyArray::read_doubles(std::span<double> into) {
  require_numbers();
  while (!into.empty()) {
    const auto bytes = next_elements(into.size());
    if (!convert_integers(type_, bytes, into.data())) {
      if (type_.size == 8) {
        std::memcpy(into.data(), bytes.data(), bytes.size());
      } else if (type_.size == 4) {
        convert<float>(bytes, into.data());
      } else {
        for (std::size_t i = 0; 2 * i < bytes.size(); ++i) {
          into[i] = half_to_double(load<std::uint16_t>(bytes.data() + 2 * i));
        }
      }
    }
    into = into.subspan(bytes.size() / type_.size);
  }
}

void NpyArray::read_integers(std::span<std::int64_t> into) {
  if (!type_.is_integer()) {
    throw BadInput(where_, fmt::format("is a {} where whole numbers are needed", description()));
  }
  while (!into.empty()) {
    const auto bytes = next_elements(into.size());
    convert_integers(type_, bytes, into.data());
    into = into.subspan(bytes.size() / type_.size);
  }
}

std::vector<std::string> NpyArray::read_texts(MemoryBudget& memory) {
  require_numbers_or_texts();
  const MemoryPurpose purpose{.what = fmt::format("{}: reading its texts", where_.text()),
                              .advice = "save shorter ones or fewer, or raise ⟨memory_limit⟩"};
  HeldMemory block(memory);  // the raw element and what is made of it
  block.grow(2 * std::max(type_.size, kConvertedBytes), purpose);
  std::vector<std::string> texts;
  memory.take(static_cast<double>(count_) * sizeof(std::string), purpose);
  texts.reserve(static_cast<std::size_t>(count_));
  const auto add = [&](std::string text) {
    memory.grow(MemoryBudget::on_heap(text.capacity()), purpose);
    texts.push_back(std::move(text));
  };
  if (!type_.is_text()) {
    std::vector<double> values(4096);
    std::vector<std::int64_t> integers(type_.is_integer() ? 4096 : 0);
    while (texts.size() < count_) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(4096, count_ - texts.size()));
      if (type_.is_integer()) {
        read_integers(std::span(integers).first(n));
        for (std::size_t i = 0; i < n; ++i) {
          const std::int64_t v = integers[i];
          // uint64 comes as its bits.
          add(type_.kind == 'u' ? fmt::format("{}", static_cast<std::uint64_t>(v)) : fmt::format("{}", v));
        }
      } else {
        read_doubles(std::span(values).first(n));
        for (std::size_t i = 0; i < n; ++i) add(number_or_nothing(values[i]));
      }
    }
    return texts;
  }
  if (type_.size == 0) {
    texts.resize(static_cast<std::size_t>(count_));
    return texts;
  }
  while (texts.size() < count_) {
    const auto bytes = next_elements(count_);
    for (std::size_t at = 0; at < bytes.size(); at += type_.size) {
      add(text_element(type_, bytes.subspan(at, type_.size)));
    }
  }
  return texts;
}

void NpyArray::finish() {
  std::vector<char> rest(kConvertedBytes);
  while (bytes_->read(rest) > 0) {
  }
}

void stream_dense(NpyArray& array, TableSink& sink) {
  array.require_numbers();
  const auto rows = static_cast<Index>(array.shape().at(0));
  const auto columns = static_cast<Index>(array.shape().at(1));
  const TileOrder order = array.column_major() ? TileOrder::kColumns : TileOrder::kRows;
  sink.begin_dense(rows, columns, order, array.where().place);
  constexpr Index kTile = 1 << 16;  // values; with their raw bytes they stay in a core's cache
  const Index lines = array.column_major() ? columns : rows;
  const Index length = array.column_major() ? rows : columns;
  std::vector<double> values(
      static_cast<std::size_t>(std::min(kTile, std::min(lines, kTile) * std::min(length, kTile))));
  const Index width = std::max<Index>(1, kTile / length);
  for (Index line = 0; line < lines; line += width) {
    const Index n = std::min(width, lines - line);
    for (Index along = 0; along < length;) {
      const Index m = n == 1 ? std::min(length - along, kTile) : length;
      const auto tile = std::span(values).first(static_cast<std::size_t>(n * m));
      array.read_doubles(tile);
      sink.dense_tile(array.column_major() ? m : n, array.column_major() ? n : m, tile);
      along += m;
    }
  }
  array.finish();
}

}  // namespace subspectra
