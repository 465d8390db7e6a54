/// MATLAB files, versions 4, 5 (and 7, its compressed form) and 7.3, decoded by matio;
/// those of 7.3 that MATLAB did not write by mat_hdf5.cpp.
#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "companions/decode/decoders.hpp"
#include "companions/decode/mat_hdf5.hpp"
#include "companions/decode/mat_layout.hpp"
#include "companions/decode/run.hpp"
#include "io/text_columns.hpp"

namespace subspectra {
namespace {

struct CloseMat {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, CloseMat>;
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

bool is_numeric_class(const matvar_t& v) {
  return v.class_type >= MAT_C_DOUBLE && v.class_type <= MAT_C_UINT64;
}
std::size_t rows_of(const matvar_t& v) { return v.rank >= 1 ? v.dims[0] : 0; }
std::size_t columns_of(const matvar_t& v) { return v.rank >= 2 ? v.dims[1] : 1; }

std::string class_name(const matvar_t& v) {
  switch (v.class_type) {
    case MAT_C_CELL:
      return "cell array";
    case MAT_C_STRUCT:
      return "struct";
    case MAT_C_CHAR:
      return "char array";
    case MAT_C_SPARSE:
      return "sparse matrix";
    case MAT_C_DOUBLE:
      return v.isLogical != 0 ? "logical array" : "double array";
    case MAT_C_SINGLE:
      return "single array";
    case MAT_C_OBJECT:
    case MAT_C_OPAQUE:
      return "object (string, categorical or table)";
    case MAT_C_FUNCTION:
      return "function";
    case MAT_C_EMPTY:
      return "empty array";
    default:
      return v.isLogical != 0 ? "logical array" : "integer array";
  }
}

std::string description(const matvar_t& v) {
  std::vector<std::size_t> dims;
  if (v.rank > 0 && v.rank < 64 && v.dims != nullptr) dims.assign(v.dims, v.dims + v.rank);
  return fmt::format("{} {}", fmt::join(dims, " x "), class_name(v));
}

/// Element i of an array of matio's type as a double.
double element(const void* data, enum matio_types type, std::size_t i) {
  const auto load = [&](auto sample) {
    std::memcpy(&sample, static_cast<const char*>(data) + i * sizeof(sample), sizeof(sample));
    return static_cast<double>(sample);
  };
  switch (type) {
    case MAT_T_DOUBLE:
      return load(double{});
    case MAT_T_SINGLE:
      return load(float{});
    case MAT_T_INT8:
      return load(std::int8_t{});
    case MAT_T_UINT8:
      return load(std::uint8_t{});
    case MAT_T_INT16:
      return load(std::int16_t{});
    case MAT_T_UINT16:
      return load(std::uint16_t{});
    case MAT_T_INT32:
      return load(std::int32_t{});
    case MAT_T_UINT32:
      return load(std::uint32_t{});
    case MAT_T_INT64:
      return load(std::int64_t{});
    case MAT_T_UINT64:
      return load(std::uint64_t{});
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

/// The type of the values in memory: matio converts what is stored to the class.
enum matio_types type_in_memory(const matvar_t& v) {
  switch (v.class_type) {
    case MAT_C_DOUBLE:
      return MAT_T_DOUBLE;
    case MAT_C_SINGLE:
      return MAT_T_SINGLE;
    case MAT_C_INT8:
      return MAT_T_INT8;
    case MAT_C_UINT8:
      return MAT_T_UINT8;
    case MAT_C_INT16:
      return MAT_T_INT16;
    case MAT_C_UINT16:
      return MAT_T_UINT16;
    case MAT_C_INT32:
      return MAT_T_INT32;
    case MAT_C_UINT32:
      return MAT_T_UINT32;
    case MAT_C_INT64:
      return MAT_T_INT64;
    case MAT_C_UINT64:
      return MAT_T_UINT64;
    default:
      return v.data_type;
  }
}

/// The characters of a char array, column by column as MATLAB keeps them.
std::u32string characters(const matvar_t& v) {
  std::u32string text;
  if (v.data == nullptr) return text;
  const std::size_t n = v.nbytes;
  const auto* bytes = static_cast<const unsigned char*>(v.data);
  switch (v.data_type) {
    case MAT_T_UINT16:
    case MAT_T_UTF16: {
      std::u16string units(n / 2, u'\0');
      std::memcpy(units.data(), bytes, units.size() * 2);
      return decode_utf16(units);
    }
    case MAT_T_UINT32:
    case MAT_T_UTF32:
      text.resize(n / 4);
      std::memcpy(text.data(), bytes, text.size() * 4);
      return text;
    case MAT_T_UTF8:
      return decode_utf8({static_cast<const char*>(v.data), n});
    default:
      return {bytes, bytes + n};
  }
}

class MatDecoder {
 public:
  MatDecoder(const std::string& path, TableSink& sink) : path_(path), sink_(sink) {}

  void decode() {
    const auto bytes = open_random(path_);
    if (holds_hdf5(*bytes)) {
#if SUBSPECTRA_HDF5
      std::string header(6, '\0');
      bytes->read_at(0, header);
      const bool has_header = header == "MATLAB";
      if (!has_header || !is_marked_by_matlab(path_)) return decode_mat_hdf5(path_, sink_, has_header);
#else
      throw Error(fmt::format(
          "{}: a MAT file of version 7.3 is HDF5, which this Subspectra was built without (SUBSPECTRA_HDF5=OFF); save the table as '-v7' or as CSV",
          path_));
#endif
    }
    check_mat_layout(*bytes);
    file_.reset(Mat_Open(path_.c_str(), MAT_ACC_RDONLY));
    if (!file_) {
      throw BadInput(
          {.file = path_},
          "not a MAT file that can be read; write it in MATLAB with save(file, 'X', 'Y') or in Python with scipy.io.savemat");
    }
    list_variables();
    read_table();
    read_names();
    const std::string labels = has("Y") ? "Y" : "y";
    for (const std::string& name : names_) {
      if (name != "X" && name != "names") read_beside(name, name == labels);
    }
  }

 private:
  [[nodiscard]] Location where(const std::string& name) const {
    return {.file = path_, .place = fmt::format("array '{}'", name)};
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }

  void list_variables() {
    while (Variable variable{Mat_VarReadNextInfo(file_.get())}) {
      if (variable->name == nullptr) continue;
      std::string name = variable->name;
      if (has(name)) {
        throw BadInput(where(name),
                       "stands twice in the file; write the file again with save(file, 'X', 'Y')");
      }
      described_.push_back(fmt::format("'{}' ({})", name, description(*variable)));
      names_.push_back(std::move(name));
      if (names_.size() > 100000) throw BadInput({.file = path_}, "holds more than 100,000 arrays");
    }
    Mat_Rewind(file_.get());
  }

  Variable info(const std::string& name) {
    Mat_Rewind(file_.get());
    Variable variable{Mat_VarReadInfo(file_.get(), name.c_str())};
    if (!variable || variable->dims == nullptr || variable->rank < 1)
      damaged(name, "its header cannot be read");
    return variable;
  }
  void load(matvar_t& variable, const std::string& name) {
    double values = 1.0;
    for (int d = 0; d < variable.rank; ++d) values *= static_cast<double>(variable.dims[d]);
    if (is_numeric_class(variable) || variable.class_type == MAT_C_CHAR) {
      decoding::require_room(values * static_cast<double>(Mat_SizeOfClass(variable.class_type)), where(name),
                             description(variable));
    }
    if (Mat_VarReadDataAll(file_.get(), &variable) != 0) {
      decoding::check_room();
      damaged(name, "its values cannot be read");
    }
  }
  [[noreturn]] void damaged(const std::string& name, const char* what) const {
    throw BadInput(where(name), fmt::format("damaged: {}; write the file again from its source", what));
  }

  void read_table() {
    if (described_.empty()) {
      throw BadInput(
          {.file = path_},
          "holds no array that can be read; it is empty or truncated: write it again with save(file, 'X', 'Y')");
    }
    if (!has("X")) {
      throw BadInput({.file = path_},
                     fmt::format("has no array 'X'; it holds {}; write it with save(file, 'X', 'Y')",
                                 fmt::join(described_, ", ")));
    }
    const Variable table = info("X");
    if (table->class_type == MAT_C_EMPTY) {
      throw BadInput(
          where("X"),
          "does not say its MATLAB_class in a way MATLAB would; write it in MATLAB with save(file, 'X', 'Y', '-v7.3'), or in Python with scipy.io.savemat or np.savez");
    }
    if (table->isComplex != 0)
      throw BadInput(where("X"), "holds complex numbers; save real(X) or abs(X) instead");
    if ((!is_numeric_class(*table) && table->class_type != MAT_C_SPARSE) || table->rank != 2) {
      throw BadInput(
          where("X"),
          fmt::format(
              "is a {} where a matrix of samples x features is needed; save double(X) or table2array(X)",
              description(*table)));
    }
    rows_ = table->dims[0];
    columns_ = table->dims[1];
    if (rows_ == 0 || columns_ == 0)
      throw BadInput(where("X"), fmt::format("is empty ({})", description(*table)));
    sink_.note(fmt::format("array 'X': {}", description(*table)));
    if (table->class_type == MAT_C_SPARSE) {
      load(*table, "X");
      send_sparse(*table);
    } else {
      send_dense(*table);
    }
  }

  void send_dense(matvar_t& table) {
    // Said before the values are read: the reader at the other end refuses a size that the file cannot hold.
    sink_.begin_dense(static_cast<Index>(rows_), static_cast<Index>(columns_), TileOrder::kColumns,
                      "array 'X'");
    load(table, "X");
    const auto type = type_in_memory(table);
    if (table.data == nullptr || table.nbytes / rows_ / columns_ < Mat_SizeOf(type)) {
      damaged("X", "fewer values than its size says");
    }
    constexpr std::size_t kTile = 1 << 16;
    const std::size_t width = std::max<std::size_t>(1, kTile / rows_);
    std::vector<double> values;
    for (std::size_t column = 0; column < columns_; column += width) {
      const std::size_t n = std::min(width, columns_ - column);
      for (std::size_t row = 0; row < rows_;) {
        const std::size_t m = n == 1 ? std::min(rows_ - row, kTile) : rows_;
        values.resize(n * m);
        const std::size_t first = column * rows_ + row;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(table.data, type, first + i);
        sink_.dense_tile(static_cast<Index>(m), static_cast<Index>(n), values);
        row += m;
      }
    }
  }

  class SparseSource final : public CompressedSource {
   public:
    SparseSource(const mat_sparse_t& matrix, enum matio_types type) : matrix_(matrix), type_(type) {}
    void rewind_indices() override { next_index_ = 0; }
    void read_indices(std::span<std::int64_t> into) override {
      for (std::int64_t& index : into) index = matrix_.ir[next_index_++];
    }
    void read_values(std::span<double> into) override {
      for (double& value : into) value = element(matrix_.data, type_, next_value_++);
    }

   private:
    const mat_sparse_t& matrix_;
    enum matio_types type_;
    std::size_t next_index_ = 0, next_value_ = 0;
  };

  void send_sparse(const matvar_t& table) {
    const auto* matrix = static_cast<const mat_sparse_t*>(table.data);
    if (matrix == nullptr || matrix->jc == nullptr || matrix->njc < columns_ + 1) {
      damaged("X", "its column pointers are missing");
    }
    CompressedShape shape{.by_rows = false,
                          .rows = static_cast<Index>(rows_),
                          .columns = static_cast<Index>(columns_),
                          .indptr = {matrix->jc, matrix->jc + columns_ + 1},
                          .entries = 0,
                          .where = where("X")};
    shape.entries = shape.indptr.back();
    const auto entries = static_cast<std::size_t>(shape.entries);
    if (entries > matrix->nir || entries > matrix->ndata ||
        (entries > 0 && (matrix->ir == nullptr || matrix->data == nullptr))) {
      damaged("X", "fewer stored values than its column pointers say");
    }
    // A logical matrix keeps bytes, every other one doubles; data_type says which.
    SparseSource source(*matrix, table.data_type);
    stream_compressed(shape, source, sink_);
  }

  void read_names() {
    if (!has("names")) return;
    const Variable variable = info("names");
    load(*variable, "names");
    bool numeric = false;
    auto texts = texts_of(*variable, columns_, numeric);
    if (!texts) {
      throw BadInput(
          where("names"),
          fmt::format("is a {} but the table has {} features; a cell array with one name a feature is needed",
                      description(*variable), columns_));
    }
    sink_.feature_names(std::move(*texts));
  }

  /// One text for each of `count` entries: a numeric vector, a char matrix with a text a row, or a cell array
  /// of texts. nullopt: not such a thing.
  static std::optional<std::vector<std::string>> texts_of(const matvar_t& v, std::size_t count,
                                                          bool& numeric) {
    if (v.rank != 2 || v.isComplex != 0) return std::nullopt;
    const std::size_t rows = rows_of(v);
    const std::size_t columns = columns_of(v);
    const bool vector = (rows == 1 || columns == 1) && std::max(rows, columns) == count;
    std::vector<std::string> texts;
    numeric = false;
    if (is_numeric_class(v)) {
      const auto type = type_in_memory(v);
      if (!vector || v.data == nullptr || v.nbytes < count * Mat_SizeOf(type)) return std::nullopt;
      numeric = true;
      for (std::size_t i = 0; i < count; ++i) texts.push_back(number_or_nothing(element(v.data, type, i)));
      return texts;
    }
    if (v.class_type == MAT_C_CHAR) {
      if (rows != count || columns > (std::size_t{1} << 24)) return std::nullopt;
      const std::u32string all = characters(v);
      if (columns != 0 && all.size() / columns < rows) return std::nullopt;
      for (std::size_t i = 0; i < rows; ++i) {
        std::u32string text;
        for (std::size_t j = 0; j < columns; ++j) text += all[j * rows + i];
        texts.push_back(trimmed_utf8(text));
      }
      return texts;
    }
    if (v.class_type == MAT_C_CELL) {
      if (!vector || v.data == nullptr || v.nbytes / sizeof(matvar_t*) < count) return std::nullopt;
      matvar_t* const* cells = static_cast<matvar_t* const*>(v.data);
      for (std::size_t i = 0; i < count; ++i) {
        if (cells[i] == nullptr || cells[i]->rank < 1 || cells[i]->dims == nullptr ||
            cells[i]->dims[0] == 0) {
          texts.emplace_back();  // an empty cell is a missing text
          continue;
        }
        if (cells[i]->class_type == MAT_C_CHAR) {
          texts.push_back(trimmed_utf8(characters(*cells[i])));
          continue;
        }
        bool unused = false;
        const auto single = texts_of(*cells[i], 1, unused);
        if (!single || cells[i]->class_type == MAT_C_CELL) return std::nullopt;
        texts.push_back(single->front());
      }
      return texts;
    }
    return std::nullopt;
  }

  void read_beside(const std::string& name, bool labels) {
    const Variable variable = info(name);
    const bool plausible =
        std::max(rows_of(*variable), columns_of(*variable)) >= rows_ && variable->rank == 2 &&
        (rows_of(*variable) == rows_ || (rows_of(*variable) == 1 && columns_of(*variable) == rows_)) &&
        (is_numeric_class(*variable) || variable->class_type == MAT_C_CHAR ||
         variable->class_type == MAT_C_CELL);
    std::optional<std::vector<std::string>> texts;
    bool numeric = false;
    if (plausible &&
        (columns_of(*variable) == 1 || rows_of(*variable) == 1 || variable->class_type == MAT_C_CHAR)) {
      load(*variable, name);
      texts = texts_of(*variable, rows_, numeric);
    }
    if (!texts && labels) {
      throw BadInput(
          where(name),
          fmt::format(
              "is a {} but the table has {} rows; labels are a numeric vector, a char matrix or a cell array of texts with one entry a row (save cellstr({}) for strings and categories)",
              description(*variable), rows_, name));
    }
    if (!texts) {
      sink_.note(fmt::format("array '{}' ({}) is not used", name, description(*variable)));
      return;
    }
    sink_.side_column({.name = name,
                       .values = std::move(*texts),
                       .first = where(name),
                       .is_label = labels,
                       .may_be_ignored = true,
                       .is_numeric = numeric});
  }

  const std::string& path_;
  TableSink& sink_;
  MatFile file_;
  std::vector<std::string> names_, described_;
  std::size_t rows_ = 0, columns_ = 0;
};

}  // namespace

void decode_mat(const std::string& path, TableSink& sink) { MatDecoder(path, sink).decode(); }

}  // namespace subspectra
