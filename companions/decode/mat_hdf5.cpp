#include "companions/decode/mat_hdf5.hpp"

#include <fmt/format.h>

#include "companions/decode/hdf5_reader.hpp"
#include "io/text_columns.hpp"

namespace subspectra {
namespace {

constexpr const char* kClass = "MATLAB_class";

std::string array(const std::string& name) { return fmt::format("array '{}'", name); }
bool is_vector(const Extent& extent) {
  return !extent.empty() &&
         std::count_if(extent.begin(), extent.end(), [](std::uint64_t n) { return n != 1; }) <= 1;
}

class MatHdf5Decoder : Hdf5Reader {
 public:
  MatHdf5Decoder(const std::string& path, TableSink& sink, bool has_header)
      : Hdf5Reader(path, sink), has_header_(has_header) {}

  void decode() {
    open("save(file, 'X', 'Y', '-v7.3') in MATLAB");
    for (std::string& name : links(file_, "the root")) {
      if (!name.starts_with('#')) names_.push_back(std::move(name));  // #refs#: what cells point at
    }
    if (!has("X")) {
      throw BadInput({.file = path_},
                     fmt::format("has no array 'X'; it holds {}; write it with save(file, 'X', 'Y', '-v7.3')",
                                 names_.empty() ? "nothing" : fmt::format("{}", fmt::join(names_, ", "))));
    }
    const std::string labels = has("Y") ? "Y" : "y";
    if (is_group(file_, "X", array("X"))) {
      read_sparse();
    } else {
      read_dense(labels);
    }
    for (const std::string& name : names_) {
      if (name == "names") {
        read_names();
      } else if (name != "X") {
        read_beside(name, name == labels);
      }
    }
  }

 private:
  [[nodiscard]] bool has(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  [[nodiscard]] std::string class_name(const Handle& object, const std::string& place) const {
    return single_text_attribute(object, kClass, place);
  }
  [[nodiscard]] std::string description(const Handle& dataset, const std::string& place) const {
    return fmt::format("{} array", shape_text(extent_of(dataset, place)));
  }

  // --- X
  void read_dense(const std::string& labels) {
    const std::string place = array("X");
    const Handle dataset = open_dataset(file_, "X", place);
    const Extent extent = extent_of(dataset, place);
    const std::string kind = class_name(dataset, place);
    if (!is_number(dataset) || extent.size() != 2 || kind == "char") {
      throw BadInput(where(place),
                     fmt::format("is {}a {} where a matrix of samples x features is needed; save double(X)",
                                 is_number(dataset) && kind != "char" ? "" : "no numbers but ",
                                 description(dataset, place)));
    }
    bool transposed = has_header_ || !kind.empty();
    if (const auto n = has(labels) ? entries_of(labels) : std::nullopt; n && extent[0] != extent[1]) {
      if (*n == extent[0]) transposed = false;
      if (*n == extent[1]) transposed = true;
    }
    rows_ = static_cast<Index>(extent[transposed ? 1 : 0]);
    columns_ = static_cast<Index>(extent[transposed ? 0 : 1]);
    const TileOrder order = transposed ? TileOrder::kColumns : TileOrder::kRows;
    sink_.note(fmt::format("array 'X': {} x {}, stored {}", rows_, columns_,
                           transposed ? "transposed, as MATLAB does" : "with samples in rows"));
    sink_.begin_dense(rows_, columns_, order, place);
    stream_dense("X", order);
  }

  void read_sparse() {
    const std::string place = array("X");
    const Handle group = open_group(file_, "X", place);
    const auto rows = whole_attribute(group, "MATLAB_sparse", 1, place);
    if (!rows || !exists(group, "jc")) {
      throw BadInput(where(place),
                     "is a struct where a matrix of samples x features is needed; save double(X)");
    }
    for (const char* part : {"data", "ir"}) {
      if (!exists(group, part)) damaged(place, fmt::format("'{}' is missing", part));
    }
    const Handle data = open_dataset(group, "data", place);
    const Handle ir = open_dataset(group, "ir", place);
    const Handle jc = open_dataset(group, "jc", place);
    if (!is_number(data) || H5Tget_class(type_of(ir).get()) != H5T_INTEGER ||
        H5Tget_class(type_of(jc).get()) != H5T_INTEGER) {
      damaged(place, "its parts are no numbers");
    }
    const std::uint64_t entries = length_of(data, place);
    if (entries != length_of(ir, place)) damaged(place, "'data' and 'ir' differ in length");
    CompressedShape shape{.by_rows = false,
                          .rows = rows->front(),
                          .columns = 0,
                          .indptr = read_vector<std::int64_t>(jc, H5T_NATIVE_INT64, place),
                          .entries = static_cast<std::int64_t>(entries),
                          .where = where(place)};
    shape.columns = static_cast<Index>(shape.indptr.size()) - 1;
    rows_ = shape.rows;
    columns_ = shape.columns;
    SparseArrays source(*this, data, ir, place);
    stream_compressed(shape, source, sink_);
  }

  // --- texts and numbers beside it
  /// How many texts or numbers the array holds, if it is a vector or a char matrix.
  [[nodiscard]] std::optional<std::uint64_t> entries_of(const std::string& name) const {
    const std::string place = array(name);
    if (is_group(file_, name, place)) return std::nullopt;
    const Handle dataset = open_dataset(file_, name, place);
    const Extent extent = extent_of(dataset, place);
    if (class_name(dataset, place) == "char") {
      return extent.size() == 2 ? std::optional(extent[1]) : std::nullopt;
    }
    return is_vector(extent) ? std::optional(length_of(dataset, place)) : std::nullopt;
  }

  /// The characters of a MATLAB char array, in the order they are stored in.
  [[nodiscard]] std::u32string characters(const Handle& dataset, const std::string& place) const {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 28;
    std::uint64_t count = 1;
    for (const std::uint64_t n : extent_of(dataset, place)) {
      if (n > kMost || (count *= n) > kMost) damaged(place, "a char array of absurd size");
    }
    std::vector<std::uint32_t> units(static_cast<std::size_t>(count));
    if (H5Tget_class(type_of(dataset).get()) != H5T_INTEGER)
      damaged(place, "a char array without characters");
    if (count > 0 &&
        H5Dread(dataset.get(), H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, units.data()) < 0) {
      damaged(place, "its characters cannot be read");
    }
    return {units.begin(), units.end()};
  }
  /// Characters of two bytes are UTF-16, of which a text may need two.
  static std::string text_of(const std::u32string& units) {
    if (std::any_of(units.begin(), units.end(), [](char32_t c) { return c > 0xffff; })) {
      return trimmed_utf8(units);
    }
    return trimmed_utf8(decode_utf16(std::u16string(units.begin(), units.end())));
  }

  /// A char matrix of `count` rows, stored column after column: a text a row.
  [[nodiscard]] std::optional<Column> char_rows(const Handle& dataset, std::uint64_t count,
                                                const std::string& place) const {
    const Extent extent = extent_of(dataset, place);
    if (extent.size() != 2 || extent[1] != count) return std::nullopt;
    const std::u32string all = characters(dataset, place);
    Column column;
    for (std::size_t i = 0; i < count; ++i) {
      std::u32string row;
      for (std::size_t j = 0; j < extent[0]; ++j) row += all[j * static_cast<std::size_t>(count) + i];
      column.values.push_back(text_of(row));
    }
    return column;
  }

  /// A cell array: references to char arrays or single numbers.
  [[nodiscard]] std::optional<Column> cells(const Handle& dataset, std::uint64_t count,
                                            const std::string& place) const {
    if (H5Tequal(type_of(dataset).get(), H5T_STD_REF_OBJ) <= 0) return std::nullopt;
    std::vector<hobj_ref_t> references(static_cast<std::size_t>(count));
    read_block(dataset, H5T_STD_REF_OBJ, 0, count, references.data(), place);
    Column column;
    for (hobj_ref_t& reference : references) {
      const Handle cell{H5Rdereference2(dataset.get(), H5P_DEFAULT, H5R_OBJECT, &reference), H5Oclose};
      if (!cell || H5Iget_type(cell.get()) != H5I_DATASET) return std::nullopt;
      check_dataset(cell, place);
      const std::string kind = class_name(cell, place);
      if (H5Aexists(cell.get(), "MATLAB_empty") > 0) {
        column.values.emplace_back();
      } else if (kind == "char") {
        column.values.push_back(text_of(characters(cell, place)));
      } else {
        const Extent extent = extent_of(cell, place);
        if (kind == "cell" || !is_vector(extent) || length_of(cell, place) != 1) return std::nullopt;
        auto single = read_plain(cell, place);
        if (!single) return std::nullopt;
        column.values.push_back(std::move(single->values.front()));
      }
    }
    return column;
  }

  /// One text for each of `count` entries; nullopt: not such a thing.
  [[nodiscard]] std::optional<Column> texts_of(const Handle& dataset, std::uint64_t count,
                                               const std::string& place) const {
    if (class_name(dataset, place) == "char") return char_rows(dataset, count, place);
    if (!is_vector(extent_of(dataset, place)) || length_of(dataset, place) != count) return std::nullopt;
    if (H5Tget_class(type_of(dataset).get()) == H5T_REFERENCE) return cells(dataset, count, place);
    return read_plain(dataset, place);
  }

  void read_names() {
    const std::string place = array("names");
    std::optional<Column> column;
    if (!is_group(file_, "names", place)) {
      column = texts_of(open_dataset(file_, "names", place), static_cast<std::uint64_t>(columns_), place);
    }
    if (!column) {
      throw BadInput(
          where(place),
          fmt::format(
              "does not hold one name for each of the {} features; a cell array or a vector of texts is needed",
              columns_));
    }
    sink_.feature_names(std::move(column->values));
  }

  void read_beside(const std::string& name, bool labels) {
    const std::string place = array(name);
    std::optional<Column> column;
    std::string what = "struct";
    if (!is_group(file_, name, place)) {
      const Handle dataset = open_dataset(file_, name, place);
      what = description(dataset, place);
      column = texts_of(dataset, static_cast<std::uint64_t>(rows_), place);
    }
    if (!column && labels) {
      throw BadInput(
          where(place),
          fmt::format(
              "is a {} but the table has {} rows; labels are a numeric vector, a char matrix or a cell array of texts with one entry a row",
              what, rows_));
    }
    if (!column) {
      sink_.note(fmt::format("{} ({}) is not used", place, what));
      return;
    }
    sink_.side_column({.name = name,
                       .values = std::move(column->values),
                       .first = where(place),
                       .is_label = labels,
                       .may_be_ignored = true,
                       .is_numeric = column->is_numeric});
  }

  bool has_header_;
  std::vector<std::string> names_;
};

herr_t look_at_mark(hid_t group, const char* name, const H5L_info_t* info, void* marked) {
  if (name[0] == '#') return 0;
  const bool is_here = info->type == H5L_TYPE_HARD;  // other links are not followed before they are checked
  const Handle object{is_here ? H5Oopen(group, name, H5P_DEFAULT) : hid_t{-1}, H5Oclose};
  const Handle attribute{
      object && H5Aexists(object.get(), kClass) > 0 ? H5Aopen(object.get(), kClass, H5P_DEFAULT) : hid_t{-1},
      H5Aclose};
  const Handle type{attribute ? H5Aget_type(attribute.get()) : hid_t{-1}, H5Tclose};
  const bool is_so = type && H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0 &&
                     H5Tget_strpad(type.get()) == H5T_STR_NULLTERM;
  *static_cast<bool*>(marked) = is_so;
  return is_so ? 0 : 1;  // 1 ends the iteration
}

}  // namespace

bool is_marked_by_matlab(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  bool marked = true;
  if (file) H5Literate(file.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, look_at_mark, &marked);
  return marked;
}

void decode_mat_hdf5(const std::string& path, TableSink& sink, bool has_header) {
  MatHdf5Decoder(path, sink, has_header).decode();
}

}  // namespace subspectra
