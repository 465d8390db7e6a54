/// AnnData files (.h5ad), decoded by libhdf5 in an isolated process. The layout is that of "On-disk format"
/// in anndata's documentation, with the older spellings (h5sparse_format, __categories) beside the current
/// ones.
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "isolated.hpp"
#include "text_columns.hpp"

namespace subspectra {
namespace {

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

constexpr std::size_t kBlock = 1 << 16;
constexpr hsize_t kMostTile = 1 << 20;  // what one message of the pipe takes
constexpr hsize_t kMostEntries = hsize_t{1} << 40;
using Extent = std::vector<std::uint64_t>;

Handle type_of(const Handle& dataset) { return {H5Dget_type(dataset.get()), H5Tclose}; }
Handle space_of(const Handle& dataset) { return {H5Dget_space(dataset.get()), H5Sclose}; }

/// H5T_class_t of the elements; an enumeration (h5py's bool) counts as the integer it is stored as.
H5T_class_t class_of(const Handle& dataset) {
  const H5T_class_t type_class = H5Tget_class(type_of(dataset).get());
  return type_class == H5T_ENUM ? H5T_INTEGER : type_class;
}
bool is_number(const Handle& dataset) {
  const H5T_class_t type_class = class_of(dataset);
  return type_class == H5T_INTEGER || type_class == H5T_FLOAT;
}

class H5adDecoder {
 public:
  H5adDecoder(const std::string& path, TableSink& sink) : path_(path), sink_(sink) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }

  void decode() {
    const Handle access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
    file_ = {H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
    if (!file_) {
      throw BadInput(
          {.file = path_},
          "not an HDF5 file that can be read, or one cut short; copy the file again or write it anew with "
          "adata.write_h5ad");
    }
    if (!exists(file_, "X")) {
      throw BadInput({.file = path_},
                     "has no X; an AnnData file with a matrix X is needed (adata.write_h5ad)");
    }
    read_table();
    read_feature_names();
    read_obs();
  }

 private:
  [[nodiscard]] Location where(const std::string& place) const { return {.file = path_, .place = place}; }
  [[noreturn]] void damaged(const std::string& place, const std::string& what) const {
    throw BadInput(where(place), fmt::format("damaged: {}; copy the file again or write it anew", what));
  }

  // --- objects
  // ---------------------------------------------------------------------------------------------------
  [[nodiscard]] static bool exists(const Handle& parent, const std::string& name) {
    return H5Lexists(parent.get(), name.c_str(), H5P_DEFAULT) > 0;
  }
  /// Refuses links to other files: a table must not pull in what its owner did not hand over.
  void check_link(const Handle& parent, const std::string& name, const std::string& place) const {
    H5L_info_t info{};
    if (H5Lget_info(parent.get(), name.c_str(), &info, H5P_DEFAULT) < 0) damaged(place, "it is not there");
    if (info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT) {
      throw BadInput(where(place), "is a link to another file, which is not followed; write one whole file");
    }
  }
  [[nodiscard]] bool is_group(const Handle& parent, const std::string& name, const std::string& place) const {
    check_link(parent, name, place);
    H5O_info_t info{};
    if (H5Oget_info_by_name(parent.get(), name.c_str(), &info, H5P_DEFAULT) < 0)
      damaged(place, "cannot be opened");
    return info.type == H5O_TYPE_GROUP;
  }
  [[nodiscard]] Handle open_group(const Handle& parent, const std::string& name,
                                  const std::string& place) const {
    check_link(parent, name, place);
    Handle group{H5Gopen2(parent.get(), name.c_str(), H5P_DEFAULT), H5Gclose};
    if (!group) damaged(place, "cannot be opened as a group");
    return group;
  }
  [[nodiscard]] Handle open_dataset(const Handle& parent, const std::string& name,
                                    const std::string& place) const {
    check_link(parent, name, place);
    Handle dataset{H5Dopen2(parent.get(), name.c_str(), H5P_DEFAULT), H5Dclose};
    if (!dataset) damaged(place, "cannot be opened as an array");
    const Handle creation{H5Dget_create_plist(dataset.get()), H5Pclose};
    if (!creation) damaged(place, "its layout cannot be read");
    if (H5Pget_layout(creation.get()) == H5D_VIRTUAL || H5Pget_external_count(creation.get()) != 0) {
      throw BadInput(where(place),
                     "keeps its values in other files, which are not read; write one whole file");
    }
    for (int f = 0; f < H5Pget_nfilters(creation.get()); ++f) {
      unsigned flags = 0;
      std::size_t values = 0;
      std::array<char, 64> filter_name{};
      const H5Z_filter_t filter = H5Pget_filter2(creation.get(), static_cast<unsigned>(f), &flags, &values,
                                                 nullptr, filter_name.size(), filter_name.data(), nullptr);
      if (filter >= 0 && H5Zfilter_avail(filter) <= 0) {
        throw BadInput(where(place),
                       fmt::format("is compressed by '{}' (filter {}), which libhdf5 here does not have; "
                                   "write the file again with compression='gzip'",
                                   filter_name.data(), filter));
      }
    }
    // What is stored must be able to grow into what the shape says.
    const Extent extent = extent_of(dataset, place);
    double bytes = static_cast<double>(H5Tget_size(type_of(dataset).get()));
    for (const std::uint64_t n : extent) bytes *= static_cast<double>(n);
    const auto stored = static_cast<double>(H5Dget_storage_size(dataset.get()));
    if (bytes > kMostExpansion * stored + 4096.0) {
      damaged(place, fmt::format("its header speaks of {} values but only {} bytes are stored",
                                 shape_text(extent), stored));
    }
    return dataset;
  }
  [[nodiscard]] Extent extent_of(const Handle& dataset, const std::string& place) const {
    const Handle space = space_of(dataset);
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank < 0 || rank > 32) damaged(place, "its shape cannot be read");
    std::array<hsize_t, 32> sizes{};
    H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
    Extent extent(sizes.begin(), sizes.begin() + rank);
    for (const std::uint64_t n : extent) {
      if (n > kMostEntries) damaged(place, fmt::format("its shape {} is absurd", shape_text(extent)));
    }
    return extent;
  }
  [[nodiscard]] std::uint64_t length_of(const Handle& dataset, const std::string& place) const {
    const Extent extent = extent_of(dataset, place);
    if (extent.size() != 1)
      damaged(place, fmt::format("has the shape {} where a vector is needed", shape_text(extent)));
    return extent.front();
  }

  // --- attributes
  // ------------------------------------------------------------------------------------------------
  [[nodiscard]] std::vector<std::string> text_attribute(const Handle& object, const char* name,
                                                        const std::string& place) const {
    std::vector<std::string> texts;
    if (H5Aexists(object.get(), name) <= 0) return texts;
    const Handle attribute{H5Aopen(object.get(), name, H5P_DEFAULT), H5Aclose};
    const Handle type{H5Aget_type(attribute.get()), H5Tclose};
    const Handle space{H5Aget_space(attribute.get()), H5Sclose};
    const hssize_t n = H5Sget_simple_extent_npoints(space.get());
    if (!attribute || !type || !space || n < 0 || n > 1000000)
      damaged(place, fmt::format("bad attribute '{}'", name));
    if (H5Tget_class(type.get()) != H5T_STRING || n == 0) return texts;
    if (H5Tis_variable_str(type.get()) > 0) {
      const Handle memory = variable_text(type);
      std::vector<char*> pointers(static_cast<std::size_t>(n), nullptr);
      if (H5Aread(attribute.get(), memory.get(), pointers.data()) < 0) {
        damaged(place, fmt::format("bad attribute '{}'", name));
      }
      for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
      H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, pointers.data());
      return texts;
    }
    const std::size_t size = H5Tget_size(type.get());
    if (size == 0 || size > 65536) damaged(place, fmt::format("bad attribute '{}'", name));
    std::string bytes(size * static_cast<std::size_t>(n), '\0');
    if (H5Aread(attribute.get(), type.get(), bytes.data()) < 0)
      damaged(place, fmt::format("bad attribute '{}'", name));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      texts.push_back(fixed_text(bytes.data() + i * size, size));
    return texts;
  }
  [[nodiscard]] std::string single_text_attribute(const Handle& object, const char* name,
                                                  const std::string& place) const {
    const auto texts = text_attribute(object, name, place);
    return texts.size() == 1 ? texts.front() : std::string();
  }
  [[nodiscard]] std::optional<std::array<std::int64_t, 2>> shape_attribute(const Handle& object,
                                                                           const char* name) const {
    if (H5Aexists(object.get(), name) <= 0) return std::nullopt;
    const Handle attribute{H5Aopen(object.get(), name, H5P_DEFAULT), H5Aclose};
    const Handle space{H5Aget_space(attribute.get()), H5Sclose};
    const Handle type{H5Aget_type(attribute.get()), H5Tclose};
    std::array<std::int64_t, 2> shape{};
    if (!attribute || H5Sget_simple_extent_npoints(space.get()) != 2 ||
        H5Tget_class(type.get()) != H5T_INTEGER ||
        H5Aread(attribute.get(), H5T_NATIVE_INT64, shape.data()) < 0) {
      damaged("X", fmt::format("bad attribute '{}'", name));
    }
    return shape;
  }

  // --- texts and numbers
  // -----------------------------------------------------------------------------------------
  /// Variable-length text in memory, in the character set it is stored in (HDF5 converts between none).
  static Handle variable_text(const Handle& stored) {
    Handle memory{H5Tcopy(H5T_C_S1), H5Tclose};
    H5Tset_size(memory.get(), H5T_VARIABLE);
    H5Tset_cset(memory.get(), H5Tget_cset(stored.get()));
    return memory;
  }
  static std::string fixed_text(const char* bytes, std::size_t size) {
    std::string text(bytes, size);
    while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
    return text;
  }
  /// Reads entries start .. start+n of a vector.
  void read_block(const Handle& dataset, hid_t memory_type, hsize_t start, hsize_t n, void* into,
                  const std::string& place) const {
    const Handle space = space_of(dataset);
    const Handle memory{H5Screate_simple(1, &n, nullptr), H5Sclose};
    if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &n, nullptr) < 0 ||
        H5Dread(dataset.get(), memory_type, memory.get(), space.get(), H5P_DEFAULT, into) < 0) {
      damaged(place, fmt::format("entries {} to {} cannot be read", start, start + n - 1));
    }
  }
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
  std::vector<std::string> read_strings(const Handle& dataset, const std::string& place) const {
    const std::uint64_t length = length_of(dataset, place);
    const Handle type = type_of(dataset);
    std::vector<std::string> texts;
    texts.reserve(static_cast<std::size_t>(length));
    if (H5Tis_variable_str(type.get()) > 0) {
      const Handle memory = variable_text(type);
      std::vector<char*> pointers;
      while (texts.size() < length) {
        const hsize_t n = std::min<hsize_t>(4096, length - texts.size());
        pointers.assign(static_cast<std::size_t>(n), nullptr);
        read_block(dataset, memory.get(), texts.size(), n, pointers.data(), place);
        for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
        const Handle space{H5Screate_simple(1, &n, nullptr), H5Sclose};
        H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, pointers.data());
      }
      return texts;
    }
    const std::size_t size = H5Tget_size(type.get());
    if (size == 0 || size > (std::size_t{1} << 20)) damaged(place, fmt::format("texts of {} bytes", size));
    std::vector<char> bytes;
    while (texts.size() < length) {
      const hsize_t n = std::min<hsize_t>(std::max<std::size_t>(1, kBlock / size), length - texts.size());
      bytes.assign(static_cast<std::size_t>(n) * size, '\0');
      read_block(dataset, type.get(), texts.size(), n, bytes.data(), place);
      for (std::size_t i = 0; i < n; ++i) texts.push_back(fixed_text(bytes.data() + i * size, size));
    }
    return texts;
  }

  struct Column {
    std::vector<std::string> values;
    bool is_numeric = false;
  };
  /// A vector of texts or numbers as texts; nullopt for what is neither.
  std::optional<Column> read_plain(const Handle& dataset, const std::string& place) const {
    const H5T_class_t type_class = class_of(dataset);
    Column column;
    column.is_numeric = true;
    if (type_class == H5T_STRING) return Column{.values = read_strings(dataset, place), .is_numeric = false};
    if (type_class == H5T_FLOAT) {
      for (const double v : read_vector<double>(dataset, H5T_NATIVE_DOUBLE, place)) {
        column.values.push_back(number_or_nothing(v));
      }
      return column;
    }
    if (type_class != H5T_INTEGER) return std::nullopt;
    const Handle type = type_of(dataset);
    if (H5Tget_class(type.get()) == H5T_ENUM) {
      // h5py writes bool so. Read by its own type: not every version converts an enumeration to a number.
      const std::size_t size = H5Tget_size(type.get());
      if (size != 1) return std::nullopt;
      std::vector<signed char> flags(static_cast<std::size_t>(length_of(dataset, place)));
      if (!flags.empty()) read_block(dataset, type.get(), 0, flags.size(), flags.data(), place);
      for (const signed char v : flags) column.values.push_back(fmt::format("{}", static_cast<int>(v)));
      return column;
    }
    if (H5Tget_sign(type.get()) == H5T_SGN_NONE) {
      for (const std::uint64_t v : read_vector<std::uint64_t>(dataset, H5T_NATIVE_UINT64, place)) {
        column.values.push_back(fmt::format("{}", v));
      }
    } else {
      for (const std::int64_t v : read_vector<std::int64_t>(dataset, H5T_NATIVE_INT64, place)) {
        column.values.push_back(fmt::format("{}", v));
      }
    }
    return column;
  }
  Column by_codes(const Handle& codes, const Handle& categories, const std::string& place) const {
    const auto names = read_plain(categories, place + "/categories");
    if (!names) damaged(place, "its categories are neither texts nor numbers");
    Column column;
    for (const std::int64_t code : read_vector<std::int64_t>(codes, H5T_NATIVE_INT64, place)) {
      if (code < -1 || code >= static_cast<std::int64_t>(names->values.size())) {
        damaged(place, fmt::format("code {} where {} categories exist", code, names->values.size()));
      }
      column.values.push_back(code < 0 ? std::string() : names->values[static_cast<std::size_t>(code)]);
    }
    return column;
  }
  /// A column of obs or var: plain, categorical (today's and the older layout) or with a mask of missing
  /// values.
  std::optional<Column> read_column(const Handle& frame, const std::string& name,
                                    const std::string& place) const {
    if (is_group(frame, name, place)) {
      const Handle group = open_group(frame, name, place);
      if (exists(group, "codes") && exists(group, "categories")) {
        return by_codes(open_dataset(group, "codes", place + "/codes"),
                        open_dataset(group, "categories", place + "/categories"), place);
      }
      if (!exists(group, "values") || !exists(group, "mask")) return std::nullopt;
      auto column = read_plain(open_dataset(group, "values", place + "/values"), place);
      const auto mask = read_plain(open_dataset(group, "mask", place + "/mask"), place);
      if (!column || !mask || column->values.size() != mask->values.size())
        damaged(place, "its mask does not fit");
      for (std::size_t i = 0; i < mask->values.size(); ++i) {
        if (mask->values[i] != "0") column->values[i].clear();
      }
      return column;
    }
    const Handle dataset = open_dataset(frame, name, place);
    if (extent_of(dataset, place).size() != 1) return std::nullopt;
    if (exists(frame, "__categories") && class_of(dataset) == H5T_INTEGER) {
      const Handle all = open_group(frame, "__categories", place);
      if (exists(all, name)) return by_codes(dataset, open_dataset(all, name, place), place);
    }
    return read_plain(dataset, place);
  }

  // --- X
  // ---------------------------------------------------------------------------------------------------------
  void read_table() {
    if (is_group(file_, "X", "X")) {
      read_sparse(open_group(file_, "X", "X"));
    } else {
      read_dense(open_dataset(file_, "X", "X"));
    }
  }

  void read_dense(const Handle& dataset) {
    const Extent extent = extent_of(dataset, "X");
    if (!is_number(dataset) || extent.size() != 2) {
      throw BadInput(
          where("X"),
          fmt::format("{} of shape {} where a matrix of numbers (cells x genes) is needed",
                      is_number(dataset) ? "numbers" : "values that are no numbers", shape_text(extent)));
    }
    const hsize_t rows = extent[0];
    const hsize_t columns = extent[1];
    rows_ = static_cast<Index>(rows);
    columns_ = static_cast<Index>(columns);
    sink_.note(fmt::format("X: dense, {} cells x {} genes", rows, columns));
    sink_.begin_dense(rows_, columns_, TileOrder::kRows, "X");
    if (rows == 0 || columns == 0) return;

    // Tiles follow the chunks, and a cache that holds one keeps every chunk from being decompressed twice.
    hsize_t band = std::max<hsize_t>(1, kBlock / columns);
    hsize_t width = std::min<hsize_t>(columns, kMostTile);
    const Handle creation{H5Dget_create_plist(dataset.get()), H5Pclose};
    const Handle access{H5Pcreate(H5P_DATASET_ACCESS), H5Pclose};
    if (H5Pget_layout(creation.get()) == H5D_CHUNKED) {
      std::array<hsize_t, 2> chunk{};
      if (H5Pget_chunk(creation.get(), 2, chunk.data()) != 2 || chunk[0] == 0 || chunk[1] == 0) {
        damaged("X", "its chunks cannot be read");
      }
      const double bytes = static_cast<double>(chunk[0]) * static_cast<double>(chunk[1]) *
                           static_cast<double>(H5Tget_size(type_of(dataset).get()));
      H5Pset_chunk_cache(access.get(), 521, static_cast<std::size_t>(std::min(bytes * 1.5 + 65536.0, 5e9)),
                         1.0);
      band = std::min({chunk[0], rows, kMostTile});
      width = std::min({chunk[1], columns, std::max<hsize_t>(1, kMostTile / band)});
    }
    const Handle reader{H5Dopen2(file_.get(), "X", access.get()), H5Dclose};
    if (!reader) damaged("X", "cannot be opened");
    const Handle space = space_of(reader);
    std::vector<double> values;
    for (hsize_t row = 0; row < rows; row += band) {
      const hsize_t n = std::min(band, rows - row);
      for (hsize_t column = 0; column < columns; column += width) {
        const hsize_t m = std::min(width, columns - column);
        values.resize(static_cast<std::size_t>(n * m));
        const std::array<hsize_t, 2> start{row, column};
        const std::array<hsize_t, 2> count{n, m};
        const Handle memory{H5Screate_simple(2, count.data(), nullptr), H5Sclose};
        if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) <
                0 ||
            H5Dread(reader.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT, values.data()) <
                0) {
          damaged("X", fmt::format("rows {} to {} cannot be read", row, row + n - 1));
        }
        sink_.dense_tile(static_cast<Index>(n), static_cast<Index>(m), values);
      }
    }
  }

  class SparseArrays final : public CompressedSource {
   public:
    SparseArrays(const H5adDecoder& decoder, const Handle& data, const Handle& indices)
        : decoder_(decoder), data_(data), indices_(indices) {}
    void rewind_indices() override { next_index_ = 0; }
    void read_indices(std::span<std::int64_t> into) override {
      decoder_.read_block(indices_, H5T_NATIVE_INT64, next_index_, into.size(), into.data(), "X/indices");
      next_index_ += into.size();
    }
    void read_values(std::span<double> into) override {
      decoder_.read_block(data_, H5T_NATIVE_DOUBLE, next_value_, into.size(), into.data(), "X/data");
      next_value_ += into.size();
    }

   private:
    const H5adDecoder& decoder_;
    const Handle& data_;
    const Handle& indices_;
    hsize_t next_index_ = 0, next_value_ = 0;
  };

  void read_sparse(const Handle& group) {
    std::string format = single_text_attribute(group, "encoding-type", "X");
    if (format.empty()) format = single_text_attribute(group, "h5sparse_format", "X");
    const bool by_rows = format == "csr_matrix" || format == "csr";
    if (!by_rows && format != "csc_matrix" && format != "csc") {
      throw BadInput(where("X"),
                     fmt::format("is a group of encoding '{}' where a dense, CSR or CSC matrix is needed; "
                                 "set adata.X = adata.X.tocsr() and write the file again",
                                 format.substr(0, 40)));
    }
    auto shape = shape_attribute(group, "shape");
    if (!shape) shape = shape_attribute(group, "h5sparse_shape");
    if (!shape) damaged("X", "its shape is missing");
    for (const char* part : {"data", "indices", "indptr"}) {
      if (!exists(group, part)) damaged("X", fmt::format("'{}' is missing", part));
    }
    const Handle data = open_dataset(group, "data", "X/data");
    const Handle indices = open_dataset(group, "indices", "X/indices");
    const Handle indptr = open_dataset(group, "indptr", "X/indptr");
    if (!is_number(data)) damaged("X/data", "numbers are needed");
    if (H5Tget_class(type_of(indices).get()) != H5T_INTEGER) damaged("X/indices", "whole numbers are needed");
    if (H5Tget_class(type_of(indptr).get()) != H5T_INTEGER) damaged("X/indptr", "whole numbers are needed");
    const std::uint64_t entries = length_of(data, "X/data");
    if (entries != length_of(indices, "X/indices")) damaged("X", "'data' and 'indices' differ in length");
    rows_ = (*shape)[0];
    columns_ = (*shape)[1];
    sink_.note(fmt::format("X: sparse ({}), {} cells x {} genes, {} stored values", by_rows ? "CSR" : "CSC",
                           rows_, columns_, entries));
    const CompressedShape compressed{
        .by_rows = by_rows,
        .rows = rows_,
        .columns = columns_,
        .indptr = read_vector<std::int64_t>(indptr, H5T_NATIVE_INT64, "X/indptr"),
        .entries = static_cast<std::int64_t>(entries),
        .where = where("X")};
    SparseArrays source(*this, data, indices);
    stream_compressed(compressed, source, sink_);
  }

  // --- obs and var
  // -----------------------------------------------------------------------------------------------
  void refuse_old_frame(const std::string& name) const {
    throw BadInput(where(name),
                   "is in the layout of anndata before 0.7; read the file with anndata in Python and write "
                   "it again with adata.write_h5ad");
  }

  void read_feature_names() {
    if (!exists(file_, "var")) return;
    if (!is_group(file_, "var", "var")) refuse_old_frame("var");
    const Handle var = open_group(file_, "var", "var");
    std::string index = single_text_attribute(var, "_index", "var");
    if (index.empty()) index = "_index";
    if (!exists(var, index)) return;
    const std::string place = fmt::format("var/{}", index);
    auto names = read_column(var, index, place);
    if (!names || static_cast<Index>(names->values.size()) != columns_) {
      throw BadInput(where(place), fmt::format("has {} names but X has {} columns; write the file again",
                                               names ? names->values.size() : 0, columns_));
    }
    sink_.feature_names(std::move(names->values));
  }

  static herr_t add_link(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* names) {
    auto& list = *static_cast<std::vector<std::string>*>(names);
    list.emplace_back(name);
    return list.size() > 100000 ? -1 : 0;
  }

  void read_obs() {
    if (!exists(file_, "obs")) return;
    if (!is_group(file_, "obs", "obs")) refuse_old_frame("obs");
    const Handle obs = open_group(file_, "obs", "obs");
    const std::string index = single_text_attribute(obs, "_index", "obs");
    std::vector<std::string> columns = text_attribute(obs, "column-order", "obs");
    if (columns.empty()) {
      if (H5Literate(obs.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_link, &columns) < 0) {
        damaged("obs", "its columns cannot be listed");
      }
    }
    for (const std::string& name : columns) {
      if (name == "__categories" || name == "_index" || name == index || !exists(obs, name)) continue;
      const std::string place = fmt::format("obs/{}", name);
      auto column = read_column(obs, name, place);
      if (!column) {
        sink_.note(fmt::format("{} is neither texts nor numbers and is not used", place));
        continue;
      }
      if (static_cast<Index>(column->values.size()) != rows_) {
        throw BadInput(where(place), fmt::format("has {} entries but X has {} rows; write the file again",
                                                 column->values.size(), rows_));
      }
      sink_.side_column({.name = name,
                         .values = std::move(column->values),
                         .first = where(place),
                         .is_label = false,
                         .may_be_ignored = true,
                         .is_numeric = column->is_numeric,
                         .may_be_target = !column->is_numeric});
    }
  }

  const std::string& path_;
  TableSink& sink_;
  Handle file_;
  Index rows_ = 0, columns_ = 0;
};

}  // namespace

RawTable read_h5ad(const std::string& path, const ReadOptions& options) {
  return read_isolated(path, "HDF5 (h5ad)",
                       [](const std::string& file, TableSink& sink) { H5adDecoder(file, sink).decode(); },
                       {.memory_limit = options.memory_limit.bytes});
}

}  // namespace subspectra
