#include "io/text_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include <subspectra/error.hpp>

namespace subspectra {

bool is_missing_token(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kTokens = {"na",   "n/a",  "nan", "null",
                                                              "#n/a", "<na>", "?",   "-nan"};
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  return std::any_of(kTokens.begin(), kTokens.end(),
                     [&](std::string_view token) { return equal_ignoring_case(text, token); });
}

std::string decimal_comma_hint(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.find(',', comma + 1) != std::string_view::npos ||
      text.size() > 40)
    return {};
  std::string repaired(text);
  repaired[comma] = '.';
  double value = 0.0;
  if (comma + 1 == text.size() || !is_digit(text[comma + 1]) || !parse_number(repaired, value)) return {};
  return fmt::format("; if {} has a decimal comma, write {}", text, repaired);
}

bool parse_decimal_comma(std::string_view text, double& value) {
  constexpr std::size_t kLongest = 63;
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.size() > kLongest) return false;
  if (text.find(',', comma + 1) != std::string_view::npos || text.find('.') != std::string_view::npos)
    return false;
  std::array<char, kLongest> repaired = {};
  std::copy(text.begin(), text.end(), repaired.begin());
  repaired[comma] = '.';
  return parse_number({repaired.data(), text.size()}, value);
}

std::vector<std::string> names_in_list(std::string_view list) {
  std::vector<std::string> names;
  if (list == "auto" || list == "none") return names;
  while (true) {
    const auto comma = list.find(',');
    if (const auto name = trimmed(list.substr(0, comma)); !name.empty()) names.emplace_back(name);
    if (comma == std::string_view::npos) return names;
    list.remove_prefix(comma + 1);
  }
}

std::size_t byte_order_mark(std::string_view text, const std::string& name) {
  if (text.starts_with("\xEF\xBB\xBF")) return 3;
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    throw BadInput({.file = name, .line = 1, .column = 1, .place = {}},
                   "the text is UTF-16; save it as UTF-8");
  }
  return 0;
}

GrowingBytes::GrowingBytes(std::size_t size, MemoryBudget& memory, MemoryPurpose purpose)
    : memory_(memory), purpose_(std::move(purpose)) {
  memory_.grow(size, purpose_);
  size_ = size;
  bytes_.reset(static_cast<char*>(std::malloc(size)));  // NOLINT(*-no-malloc,*-owning-memory)
  if (!bytes_) throw std::bad_alloc();
}

void GrowingBytes::grow() {
  // Large blocks are moved by the kernel, page by page; small ones are copied, old and new at once.
  constexpr std::size_t kMayBeCopied = std::size_t{1} << 26, kDoubled = std::size_t{1} << 24;
  const std::size_t more = size_ < kDoubled ? size_ : size_ / 4;
  memory_.grow(more + (size_ < kMayBeCopied ? size_ : 0), purpose_);
  char* const bytes =
      static_cast<char*>(std::realloc(bytes_.get(), size_ + more));  // NOLINT(*-no-malloc,*-owning-memory)
  if (size_ < kMayBeCopied) memory_.give_back(size_);
  if (bytes == nullptr) {
    memory_.give_back(more);
    throw std::bad_alloc();
  }
  static_cast<void>(bytes_.release());  // realloc has it
  bytes_.reset(bytes);
  size_ += more;
}

LineReader::LineReader(ByteSource& bytes, std::string name, std::size_t block_bytes, MemoryBudget& memory)
    : bytes_(bytes),
      name_(std::move(name)),
      buffer_(std::max<std::size_t>(block_bytes, 4), memory,
              {.what = fmt::format("a line of {}", name_),
               .advice = "check that the file has one row a line, or raise ⟨memory_limit⟩"}) {
  while (end_ < 3 && refill()) {
  }
  begin_ = byte_order_mark({buffer_.data(), end_}, name_);
}

bool LineReader::refill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::copy(buffer_.data() + begin_, buffer_.data() + end_, buffer_.data());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.grow();
  const std::size_t got = bytes_.read({buffer_.data() + end_, buffer_.size() - end_});
  end_ += got;
  at_end_ = got == 0;
  return got > 0;
}

bool LineReader::next(std::string_view& line) {
  if (begin_ == end_ && !refill()) return false;
  if (after_cr_ && buffer_[begin_] == '\n') {
    ++begin_;
    if (begin_ == end_ && !refill()) return false;
  }
  after_cr_ = false;
  ++number_;
  std::size_t length = 0;
  while (true) {
    const char* const text = buffer_.data() + begin_;
    const std::size_t available = end_ - begin_;
    while (length < available && text[length] != '\n' && text[length] != '\r') ++length;
    if (length < available) break;
    if (!refill()) {  // the last line has no end
      line = {buffer_.data() + begin_, end_ - begin_};
      begin_ = end_;
      return true;
    }
  }
  line = {buffer_.data() + begin_, length};
  after_cr_ = buffer_[begin_ + length] == '\r';
  begin_ += length + 1;
  return true;
}

}  // namespace subspectra
