#pragma once
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/decoder_protocol.hpp"
#include "io/table_sink.hpp"

namespace subspectra::decoding {

/// Everything the decoder finds goes into the pipe; a parent that has gone ends the process.
class PipeSink final : public TableSink {
 public:
  explicit PipeSink(int descriptor) : descriptor_(descriptor) { buffer_.reserve(kBuffer); }

  void begin_dense(Index rows, Index columns, TileOrder order, const std::string& place) override {
    put(MessageTag::kDense);
    put(static_cast<std::int64_t>(rows));
    put(static_cast<std::int64_t>(columns));
    put(static_cast<std::uint8_t>(order));
    put_text(std::string_view(place).substr(0, kMostNote));
    flush();  // the parent takes its share of the memory before the values are loaded here
  }
  void dense_tile(Index rows, Index columns, std::span<const double> values) override {
    // A tile larger than a message goes along its band in parts: column-wise tiles cut by rows would have to
    // be gathered first, so decoders keep their tiles below the limit and this only checks.
    if (values.size() > kMostBlock) throw Error("a tile is too large for the pipe");
    put(MessageTag::kTile);
    put(static_cast<std::int64_t>(rows));
    put(static_cast<std::int64_t>(columns));
    put_array(values);
  }
  void begin_sparse(Index rows, Index columns, std::span<const std::int32_t> counts,
                    const std::string& place) override {
    put(MessageTag::kSparse);
    put(static_cast<std::int64_t>(rows));
    put(static_cast<std::int64_t>(columns));
    put_text(std::string_view(place).substr(0, kMostNote));
    while (!counts.empty()) {
      const auto block = counts.first(std::min<std::size_t>(counts.size(), kMostBlock));
      put(MessageTag::kSparseCounts);
      put_array(block);
      counts = counts.subspan(block.size());
    }
  }
  void sparse_entries(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                      std::span<const double> values) override {
    while (!values.empty()) {
      const std::size_t n = std::min<std::size_t>(values.size(), kMostBlock);
      put(MessageTag::kSparseEntries);
      put_array(rows.first(n));
      put_array(columns.first(n));
      put_array(values.first(n));
      rows = rows.subspan(n);
      columns = columns.subspan(n);
      values = values.subspan(n);
    }
  }
  void feature_names(std::vector<std::string> names) override {
    put(MessageTag::kNames);
    put_texts(names);
  }
  void side_column(SideColumn column) override {
    put(MessageTag::kSide);
    put_text(column.name);
    put_text(std::string_view(column.first.place).substr(0, kMostNote));
    put(static_cast<std::uint8_t>((column.is_label ? 1U : 0U) | (column.may_be_ignored ? 2U : 0U) |
                                  (column.is_numeric ? 4U : 0U) | (column.may_be_target ? 8U : 0U)));
    put_texts(column.values);
  }
  void note(std::string text) override {
    if (++notes_ > kMostNotes) return;
    put(MessageTag::kNote);
    put_text(std::string_view(text).substr(0, kMostNote));
  }
  void failure(MessageTag tag, std::string_view sentence) {
    // What was half-written before does not matter: the parent finds the tag only between messages, and a
    // decoder throws between them.
    put(tag);
    put_text(sentence.substr(0, kMostNote));
    flush();
  }
  void end() {
    put(MessageTag::kEnd);
    flush();
  }

 private:
  template <class T>
  void put(T value) {
    put_bytes(&value, sizeof(T));
  }
  template <class T>
  void put_array(std::span<const T> values) {
    put(static_cast<std::uint64_t>(values.size()));
    put_bytes(values.data(), values.size_bytes());
  }
  void put_text(std::string_view text) {
    if (text.size() > kMostText) throw BadInput("a text of more than 16 MB");
    put(static_cast<std::uint64_t>(text.size()));
    put_bytes(text.data(), text.size());
  }
  void put_texts(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (text.size() > kMostText) throw BadInput("a text of more than 16 MB");
    }
    put(static_cast<std::uint64_t>(texts.size()));
    for (std::size_t start = 0; start < texts.size(); start += kTextBlock) {
      const std::size_t n = std::min<std::size_t>(texts.size() - start, kTextBlock);
      put(MessageTag::kTexts);
      put(static_cast<std::uint64_t>(n));
      for (std::size_t i = start; i < start + n; ++i) put_text(texts[i]);
    }
  }
  void put_bytes(const void* bytes, std::size_t size) {
    if (size == 0) return;
    if (buffer_.size() + size > kBuffer) flush();
    if (size > kBuffer) {
      write_all(static_cast<const char*>(bytes), size);
    } else {
      const auto* first = static_cast<const char*>(bytes);
      buffer_.insert(buffer_.end(), first, first + size);
    }
  }
  void flush() {
    write_all(buffer_.data(), buffer_.size());
    buffer_.clear();
  }
  void write_all(const char* bytes, std::size_t size) const {
    while (size > 0) {
      const ssize_t put = ::write(descriptor_, bytes, size);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) ::_exit(1);  // the parent has gone
      bytes += put;
      size -= static_cast<std::size_t>(put);
    }
  }

  int descriptor_;
  int notes_ = 0;
  std::vector<char> buffer_;
};

}  // namespace subspectra::decoding
