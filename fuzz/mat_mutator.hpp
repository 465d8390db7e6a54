#pragma once
/// Mutations of MAT files of version 5 as trees of elements: what is compressed is unpacked, changed and
/// compressed again, so that sizes and checksums are right wherever they are not what was changed.
#include <zlib.h>

#include <bit>
#include <optional>
#include <string>

#include "mutation.hpp"

namespace subspectra::fuzzing {

/// An element of a MAT file: values, or an array, which is a list of elements.
struct MatElement {
  std::uint32_t type = 0;
  bool compressed = false;
  bool in_tag = false;  ///< at most four bytes, in the tag itself
  Bytes data;
  std::vector<MatElement> parts;         ///< of an array
  std::optional<std::uint32_t> claimed;  ///< the size in the tag, where it is not the true one
};

class MatFile {
 public:
  static constexpr std::uint32_t kMatrix = 14, kCompressed = 15;
  static constexpr std::size_t kHeader = 128;

  /// Nothing where the bytes are no version 5.
  static std::optional<MatFile> parsed(std::span<const std::uint8_t> bytes) {
    if (bytes.size() < kHeader) return std::nullopt;
    MatFile file;
    file.header_.assign(bytes.begin(), bytes.begin() + kHeader);
    file.big_ = file.header_[126] == 'M';
    file.elements = file.elements_of(bytes.subspan(kHeader), 0);
    return file;
  }
  static MatFile empty(bool big) {
    MatFile file;
    file.big_ = big;
    file.header_.assign(kHeader, ' ');
    const std::string words = "MATLAB 5.0 MAT-file";
    std::copy(words.begin(), words.end(), file.header_.begin());
    const std::array<std::uint8_t, 4> little = {0, 1, 'I', 'M'}, large = {1, 0, 'M', 'I'};
    std::copy_n((big ? large : little).begin(), 4, file.header_.begin() + 124);
    return file;
  }
  [[nodiscard]] Bytes bytes() const {
    Bytes out = header_;
    for (const MatElement& element : elements) append(out, element, false);
    return out;
  }

  // --- what can be written
  [[nodiscard]] Bytes words(const std::vector<std::uint32_t>& values) const {
    Bytes out;
    for (const std::uint32_t value : values) append_word(out, value);
    return out;
  }
  [[nodiscard]] MatElement array(Chance& chance, const std::string& name, std::uint32_t rows,
                                 std::uint32_t columns, int depth = 0) const {
    // cell, struct, object, char, sparse, double, single, and the integers to uint64; function, opaque
    const std::uint32_t array_class = 1 + static_cast<std::uint32_t>(below(chance, depth > 1 ? 15 : 17));
    const std::uint32_t count = rows * columns;
    const auto values = [&](std::uint32_t n) {
      static constexpr std::array<std::uint32_t, 11> kTypes = {9, 7, 1, 2, 3, 4, 5, 6, 12, 13, 9};
      static constexpr std::array<std::size_t, 14> kSizes = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
      MatElement element{.type = kTypes[below(chance, kTypes.size())]};
      element.data.resize(n * kSizes[element.type]);
      for (auto& byte : element.data)
        byte = static_cast<std::uint8_t>(below(chance, 4) == 0 ? chance() >> 8U : 0);
      return element;
    };
    const std::uint32_t flags =
        (below(chance, 8) == 0 ? 0x0200U : 0U) | (below(chance, 12) == 0 ? 0x0800U : 0U);
    MatElement made{.type = kMatrix, .compressed = depth == 0 && below(chance, 2) == 0};
    made.parts.push_back({.type = 6, .data = words({array_class | flags, count})});
    made.parts.push_back({.type = 5, .data = words({rows, columns})});
    made.parts.push_back(
        {.type = 1, .in_tag = name.size() <= 4 && !name.empty(), .data = Bytes(name.begin(), name.end())});
    switch (array_class) {
      case 1:
        for (std::uint32_t i = 0; i < std::min<std::uint32_t>(count, 12); ++i)
          made.parts.push_back(
              array(chance, "", 1, 1 + static_cast<std::uint32_t>(below(chance, 3)), depth + 1));
        break;
      case 2:
      case 3: {
        if (array_class == 3) made.parts.push_back({.type = 1, .data = {'c'}});
        made.parts.push_back({.type = 5, .in_tag = true, .data = words({8})});
        made.parts.push_back({.type = 1, .data = Bytes{'a', 0, 0, 0, 0, 0, 0, 0}});
        made.parts.push_back(array(chance, "", 1, 1, depth + 1));
        break;
      }
      case 4: {
        MatElement text{.type =
                            below(chance, 2) == 0 ? 4U : 16U + static_cast<std::uint32_t>(below(chance, 3))};
        text.data.resize(count * (text.type == 16 ? 1 : text.type == 18 ? 4 : 2), 0);
        for (std::size_t i = 0; i < text.data.size(); i += text.type == 16 ? 1 : 2)
          text.data[i] = static_cast<std::uint8_t>('a' + below(chance, 20));
        made.parts.push_back(std::move(text));
        break;
      }
      case 5: {
        std::vector<std::uint32_t> places, pointers = {0};
        for (std::uint32_t j = 0; j < columns; ++j) {
          for (std::uint32_t i = 0; i < rows; ++i) {
            if (below(chance, 2) == 0) places.push_back(i);
          }
          pointers.push_back(static_cast<std::uint32_t>(places.size()));
        }
        made.parts.push_back({.type = 5, .data = words(places)});
        made.parts.push_back({.type = 5, .data = words(pointers)});
        made.parts.push_back(values(static_cast<std::uint32_t>(places.size())));
        break;
      }
      default:
        made.parts.push_back(values(count));
        if ((flags & 0x0800U) != 0) made.parts.push_back(values(count));
    }
    return made;
  }
  /// X, labels and names that fit together, or nearly.
  void fill(Chance& chance) {
    const auto rows = static_cast<std::uint32_t>(1 + below(chance, 5)),
               columns = static_cast<std::uint32_t>(1 + below(chance, 4));
    elements.push_back(array(chance, "X", rows, columns));
    if (below(chance, 4) != 0) elements.push_back(array(chance, below(chance, 2) == 0 ? "Y" : "y", rows, 1));
    if (below(chance, 2) != 0) elements.push_back(array(chance, "names", 1, columns));
  }

  void mutate(Chance& chance) {
    if (elements.empty()) return fill(chance);
    std::vector<MatElement>* siblings = &elements;
    std::size_t at = below(chance, siblings->size());
    while (!(*siblings)[at].parts.empty() && below(chance, 5) != 0) {
      siblings = &(*siblings)[at].parts;
      at = below(chance, siblings->size());
    }
    MatElement& element = (*siblings)[at];
    switch (below(chance, 12)) {
      case 0:
        siblings->erase(siblings->begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        if (siblings->size() < 32)
          siblings->insert(siblings->begin() + static_cast<std::ptrdiff_t>(at), MatElement(element));
        break;
      case 2:
        std::swap(element, (*siblings)[below(chance, siblings->size())]);
        break;
      case 3:
        element.type = static_cast<std::uint32_t>(below(chance, 20));
        break;
      case 4:
        element.compressed = !element.compressed;
        break;
      case 5:
        element.in_tag = !element.in_tag;
        break;
      case 6: {
        const std::array<std::uint8_t, 1> which = {static_cast<std::uint8_t>(chance())};
        element.claimed = static_cast<std::uint32_t>(ByteChoices(which).absurd());
        break;
      }
      case 7:
        element =
            array(chance, below(chance, 2) == 0 ? "X" : "", static_cast<std::uint32_t>(below(chance, 4)),
                  static_cast<std::uint32_t>(1 + below(chance, 3)));
        break;
      case 8:  // the same, stored otherwise
        element.claimed.reset();
        break;
      default:
        if (element.parts.empty()) {
          if (below(chance, 2) == 0) {
            mutate_bytes(element.data, element.data.size() + 16);
          } else {
            poke(element.data, element.data.size(), chance);
          }
        } else {
          element.parts.push_back(array(chance, "", 1, 1, 1));
        }
    }
  }

  std::vector<MatElement> elements;

 private:
  [[nodiscard]] std::uint32_t word(std::span<const std::uint8_t> bytes, std::size_t at) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return big_ ? __builtin_bswap32(value) : value;
  }
  void append_word(Bytes& out, std::uint32_t value) const {
    if (big_) value = __builtin_bswap32(value);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  }
  [[nodiscard]] std::vector<MatElement> elements_of(std::span<const std::uint8_t> bytes, int depth) const {
    std::vector<MatElement> found;
    while (bytes.size() >= 8 && found.size() < 64) {
      const std::uint32_t first = word(bytes, 0);
      MatElement element;
      std::span<const std::uint8_t> data;
      std::size_t whole = 8;
      if (depth > 0 && (first >> 16U) != 0) {
        element.type = first & 0xffffU;
        element.in_tag = true;
        data = bytes.subspan(4, std::min<std::size_t>(4, first >> 16U));
      } else {
        element.type = first;
        const std::size_t size = std::min<std::size_t>(word(bytes, 4), bytes.size() - 8);
        if (size != word(bytes, 4)) element.claimed = word(bytes, 4);
        data = bytes.subspan(8, size);
        whole += depth > 0 ? (size + 7) / 8 * 8 : size;
      }
      bytes = bytes.subspan(std::min(whole, bytes.size()));
      if (element.type == kCompressed && depth == 0) {
        const Bytes inner = unpacked(data);
        auto inside = elements_of(inner, 1);
        if (!inside.empty()) {
          found.push_back(std::move(inside.front()));
          found.back().compressed = true;
          continue;
        }
      }
      element.data.assign(data.begin(), data.end());
      if (element.type == kMatrix && depth < 6) element.parts = elements_of(data, depth + 1);
      if (!element.parts.empty()) element.data.clear();
      found.push_back(std::move(element));
    }
    return found;
  }
  void append(Bytes& out, const MatElement& element, bool padded) const {
    if (element.compressed && !padded) {
      MatElement plain = element;
      plain.compressed = false;
      Bytes inner;
      append(inner, plain, true);
      const Bytes packed = deflated(inner);
      append_word(out, kCompressed);
      append_word(out, static_cast<std::uint32_t>(packed.size()));
      out.insert(out.end(), packed.begin(), packed.end());
      return;
    }
    Bytes data = element.data;
    for (const MatElement& part : element.parts) append(data, part, true);
    const std::uint32_t size = element.claimed.value_or(static_cast<std::uint32_t>(data.size()));
    if (element.in_tag && data.size() <= 4) {
      append_word(out, element.type | size << 16U);
      data.resize(4);
      out.insert(out.end(), data.begin(), data.end());
      return;
    }
    append_word(out, element.type);
    append_word(out, size);
    if (padded) data.resize((data.size() + 7) / 8 * 8);
    out.insert(out.end(), data.begin(), data.end());
  }
  static Bytes unpacked(std::span<const std::uint8_t> packed) {
    Bytes out(std::size_t{1} << 16U);
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) return {};
    stream.next_in = const_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    inflate(&stream, Z_FINISH);
    out.resize(out.size() - stream.avail_out);
    inflateEnd(&stream);
    return out;
  }
  static Bytes deflated(const Bytes& plain) {
    uLongf size = compressBound(plain.size());
    Bytes out(size);
    compress2(out.data(), &size, plain.data(), plain.size(), 1);
    out.resize(size);
    return out;
  }

  Bytes header_;
  bool big_ = false;
};

inline std::size_t mutate_mat(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Chance chance(seed);
  const std::size_t dice = below(chance, 16);
  if (dice < 2) return LLVMFuzzerMutate(data, size, most);
  Bytes bytes(data, data + size);
  if (dice < 4) {
    poke(bytes, bytes.size(), chance);
    return mutated(bytes, data, size, most);
  }
  const bool version_5 = size >= MatFile::kHeader && (data[126] == 'I' || data[126] == 'M');
  if (!version_5 && dice < 12) {  // version 4: a header of five words, a name, the values
    poke(bytes, std::min<std::size_t>(bytes.size(), 28), chance);
    return mutated(bytes, data, size, most);
  }
  auto file = version_5 && dice > 4 ? MatFile::parsed(bytes) : std::nullopt;
  if (!file) {
    file = MatFile::empty(below(chance, 4) == 0);
    file->fill(chance);
  }
  for (std::size_t times = below(chance, 3); times > 0; --times) file->mutate(chance);
  file->mutate(chance);
  return mutated(file->bytes(), data, size, most);
}

}  // namespace subspectra::fuzzing
