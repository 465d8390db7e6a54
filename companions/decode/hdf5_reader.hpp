#pragma once
/// What the decoders of formats on top of HDF5 share: objects that belong to this file alone, attributes,
/// vectors as texts, matrices in tiles. Whatever does not hold becomes BadInput with its place.
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/table_sink.hpp"

namespace subspectra {

/// An HDF5 identifier and how to close it.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

using Extent = std::vector<std::uint64_t>;

[[nodiscard]] Handle type_of(const Handle& dataset);
[[nodiscard]] Handle space_of(const Handle& dataset);
/// H5T_class_t of the elements; an enumeration (h5py's bool) counts as the integer it is stored as.
[[nodiscard]] H5T_class_t class_of(const Handle& dataset);
[[nodiscard]] bool is_number(const Handle& dataset);

class Hdf5Reader {
 protected:
  Hdf5Reader(const std::string& path, TableSink& sink);
  ~Hdf5Reader() = default;
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  [[nodiscard]] Location where(const std::string& place) const { return {.file = path_, .place = place}; }
  [[noreturn]] void damaged(const std::string& place, const std::string& what) const;
  /// `way_out` says how such a file is written.
  void open(std::string_view way_out);

  // --- objects
  [[nodiscard]] static bool exists(const Handle& parent, const std::string& name);
  /// Refuses links to other files: a table must not pull in what its owner did not hand over.
  void check_link(const Handle& parent, const std::string& name, const std::string& place) const;
  [[nodiscard]] bool is_group(const Handle& parent, const std::string& name, const std::string& place) const;
  [[nodiscard]] Handle open_group(const Handle& parent, const std::string& name,
                                  const std::string& place) const;
  [[nodiscard]] Handle open_dataset(const Handle& parent, const std::string& name,
                                    const std::string& place) const;
  /// What open_dataset() refuses of a dataset: values in other files, unknown filters, absurd sizes.
  void check_dataset(const Handle& dataset, const std::string& place) const;
  [[nodiscard]] std::vector<std::string> links(const Handle& group, const std::string& place) const;
  [[nodiscard]] Extent extent_of(const Handle& dataset, const std::string& place) const;
  /// Of a vector, which may be written as a matrix of one row or one column.
  [[nodiscard]] std::uint64_t length_of(const Handle& dataset, const std::string& place) const;

  // --- attributes
  [[nodiscard]] std::vector<std::string> text_attribute(const Handle& object, const char* name,
                                                        const std::string& place) const;
  [[nodiscard]] std::string single_text_attribute(const Handle& object, const char* name,
                                                  const std::string& place) const;
  /// `count` whole numbers; nullopt when there is no such attribute.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> whole_attribute(const Handle& object,
                                                                         const char* name, hssize_t count,
                                                                         const std::string& place) const;

  // --- texts and numbers
  struct Column {
    std::vector<std::string> values;
    bool is_numeric = false;
  };
  /// Reads entries start .. start+n of a vector.
  void read_block(const Handle& dataset, hid_t memory_type, hsize_t start, hsize_t n, void* into,
                  const std::string& place) const;
  template <class T>
  std::vector<T> read_vector(const Handle& dataset, hid_t memory_type, const std::string& place) const {
    if (!is_number(dataset)) damaged(place, "numbers are needed");
    const std::uint64_t length = length_of(dataset, place);
    std::vector<T> values(static_cast<std::size_t>(length));
    for (std::size_t start = 0; start < values.size(); start += kBlock) {
      const std::size_t n = std::min(kBlock, values.size() - start);
      read_block(dataset, memory_type, start, n, values.data() + start, place);
    }
    return values;
  }
  [[nodiscard]] std::vector<std::string> read_strings(const Handle& dataset, const std::string& place) const;
  /// A vector of texts or numbers as texts; nullopt for what is neither.
  [[nodiscard]] std::optional<Column> read_plain(const Handle& dataset, const std::string& place) const;

  // --- X
  /// The matrix `name` of the root as the sink's dense table: its rows are the table's rows (kRows) or the
  /// table's columns (kColumns). begin_dense() has been called.
  void stream_dense(const std::string& name, TileOrder order);

  /// `data` and `indices` of a compressed sparse matrix.
  class SparseArrays final : public CompressedSource {
   public:
    SparseArrays(const Hdf5Reader& reader, const Handle& data, const Handle& indices, std::string place)
        : reader_(reader), data_(data), indices_(indices), place_(std::move(place)) {}
    void rewind_indices() override { next_index_ = 0; }
    void read_indices(std::span<std::int64_t> into) override {
      reader_.read_block(indices_, H5T_NATIVE_INT64, next_index_, into.size(), into.data(), place_);
      next_index_ += into.size();
    }
    void read_values(std::span<double> into) override {
      reader_.read_block(data_, H5T_NATIVE_DOUBLE, next_value_, into.size(), into.data(), place_);
      next_value_ += into.size();
    }

   private:
    const Hdf5Reader& reader_;
    const Handle& data_;
    const Handle& indices_;
    std::string place_;
    hsize_t next_index_ = 0, next_value_ = 0;
  };

  static constexpr std::size_t kBlock = 1 << 16;
  const std::string& path_;
  TableSink& sink_;
  Handle file_;
  Index rows_ = 0, columns_ = 0;
};

}  // namespace subspectra
