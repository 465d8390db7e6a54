#pragma once
/// A table: N samples (rows) x p features (columns), with names, labels and weights. It is a view: the
/// numbers stay in the caller's memory, who keeps them alive and unchanged. A temporary matrix or std::vector
/// is moved in and owned, a temporary block or other expression is copied; a temporary span, Map, DenseView
/// or CscView is a view all the same. A copy shares everything with its original and costs nothing.
#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <subspectra/export.hpp>
#include <subspectra/types.hpp>

namespace subspectra {

// What only the library itself looks into.
class FeatureNames;
class Values;
struct DatasetDetails;
struct DatasetParts;
struct DatasetState;
struct InfiniteCell;
struct Labels;
struct Location;
struct MatrixProblem;

/// What may come with a table; what is left out has its default.
struct DatasetExtras {
  std::vector<std::string> names = {};   ///< of the features; x0, x1, ...
  std::vector<double> weights = {};      ///< of the samples, from 0 up; all 1
  std::vector<std::string> groups = {};  ///< of samples that cross-validation keeps together
  std::string source = "data";           ///< what messages and results call this table
};

namespace detail {

/// A feature that is made of a column of the file: 1 where the column holds `value` and 0 where it holds
/// another one; without a value, 1 where the column is missing and 0 elsewhere.
struct DerivedFeature {
  std::string name;    ///< of the feature: "stage=2", "age is missing"
  std::string column;  ///< of the file
  std::optional<std::string> value = {};
  bool operator==(const DerivedFeature&) const = default;
};

/// Numbers as plain pointers, and what keeps them alive where it is not the caller.
struct TableInput {
  std::variant<DenseView, CscView> view;
  std::shared_ptr<const void> owner;
};

/// One label a sample: texts ("" for none), or numbers.
struct LabelInput {
  std::variant<std::monostate, std::vector<std::string>, std::vector<double>> labels;
};

template <class T>
concept DenseObject = std::derived_from<T, Eigen::DenseBase<T>> && std::same_as<typename T::Scalar, double> &&
                      (T::Flags& Eigen::DirectAccessBit) != 0;

template <class T>
concept CscObject = std::derived_from<T, Eigen::SparseCompressedBase<T>> &&
                    std::same_as<typename T::Scalar, double> && !T::IsRowMajor &&
                    sizeof(typename T::StorageIndex) == 4;

template <DenseObject T>
DenseView view_of(const T& x) {
  return {x.derived().data(), x.rows(), x.cols(), x.derived().rowStride(), x.derived().colStride()};
}

template <CscObject T>
CscView view_of(const T& x) {
  const auto count = static_cast<std::size_t>(x.nonZeros());
  // An uncompressed matrix has gaps between its columns: no positions, which the constructor refuses.
  return {x.rows(),
          x.cols(),
          {x.outerIndexPtr(), x.isCompressed() ? static_cast<std::size_t>(x.cols()) + 1 : 0},
          {x.innerIndexPtr(), count},
          {x.valuePtr(), count}};
}
inline DenseView view_of(const DenseView& view) { return view; }
inline CscView view_of(const CscView& view) { return view; }
inline DenseView view_of(const DenseMatrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), 1, matrix.rows()};
}

template <class X>
concept Table = DenseObject<std::remove_cvref_t<X>> || CscObject<std::remove_cvref_t<X>> ||
    std::same_as<std::remove_cvref_t<X>, DenseView> || std::same_as<std::remove_cvref_t<X>, CscView> ||
    std::same_as<std::remove_cvref_t<X>, DenseMatrix>;

template <class X>
concept DenseTable =
    Table<X> && !CscObject<std::remove_cvref_t<X>> && !std::same_as<std::remove_cvref_t<X>, CscView>;

/// Holds numbers of its own, which go away with it.
template <class T>
concept OwnsNumbers = std::same_as<T, DenseMatrix> || std::derived_from<T, Eigen::PlainObjectBase<T>> ||
    std::derived_from<T, Eigen::SparseMatrix<double, Eigen::ColMajor, typename T::StorageIndex>>;

template <class T>
struct IsMap : std::false_type {};
template <class Plain, int options, class Stride>
struct IsMap<Eigen::Map<Plain, options, Stride>> : std::true_type {};

/// Says by its type that the numbers are somebody else's, even as a temporary. A block, a transpose or a Ref
/// does not: it may be of a temporary, or hold a copy of its own.
template <class T>
concept ViewByName = std::same_as<T, DenseView> || std::same_as<T, CscView> || IsMap<T>::value;

/// The numbers of a named object are viewed. Those of a temporary are moved in, or copied where they cannot
/// be moved.
template <class X>
TableInput table_input(X&& x) {
  using T = std::remove_cvref_t<X>;
  if constexpr (std::is_lvalue_reference_v<X> || ViewByName<T>) {
    return {view_of(x), nullptr};
  } else if constexpr (OwnsNumbers<T>) {
    auto kept = std::make_shared<T>();
    if constexpr (std::is_const_v<X>) {
      *kept = x;
    } else if constexpr (CscObject<T>) {
      kept->swap(x);  // Eigen 3.4 copies a sparse matrix that is moved
    } else {
      *kept = std::forward<X>(x);
    }
    return {view_of(*kept), kept};
  } else if constexpr (CscObject<T>) {
    auto kept = std::make_shared<Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>>(x);
    kept->makeCompressed();
    return {view_of(*kept), kept};
  } else {
    auto kept = std::make_shared<DenseMatrix>(x);
    return {view_of(*kept), kept};
  }
}

/// A temporary that holds doubles one after another, such as a std::vector.
template <class V>
concept OwnedNumbers = !std::is_lvalue_reference_v<V> && !Table<V> && std::ranges::contiguous_range<V> &&
                       std::same_as<std::ranges::range_value_t<V>, double> && !std::ranges::borrowed_range<V>;

template <class V>
concept Label = std::integral<V> || std::floating_point<V> || std::convertible_to<V, std::string_view>;

template <class Y>
using ElementOf = std::remove_cvref_t<decltype(*std::begin(std::declval<const Y&>()))>;

template <class Y>
concept LabelSequence = Label<ElementOf<Y>> && !std::convertible_to<Y, std::string_view>;

template <LabelSequence Y>
LabelInput label_input(const Y& y) {
  using Element = ElementOf<Y>;
  if constexpr (std::floating_point<Element>) {
    return {std::vector<double>(std::begin(y), std::end(y))};
  } else {
    std::vector<std::string> texts;
    for (const auto& label : y) {
      if constexpr (std::same_as<Element, char>) {
        texts.emplace_back(1, label);  // 'M', not 77
      } else if constexpr (std::integral<Element>) {
        texts.push_back(std::to_string(label));
      } else {
        texts.emplace_back(std::string_view(label));
      }
    }
    return {std::move(texts)};
  }
}

SUBSPECTRA_EXPORT std::shared_ptr<DatasetState> make_dataset(TableInput x, LabelInput y,
                                                             DatasetExtras extras);
/// The numbers of a span, column after column; throws InvalidArgument when they are not rows x cols.
SUBSPECTRA_EXPORT DenseView span_view(std::span<const double> values, Index rows, Index cols);

template <OwnedNumbers V>
TableInput owned_input(V&& numbers, Index rows, Index cols) {
  auto kept = std::make_shared<std::remove_cv_t<V>>(std::forward<V>(numbers));
  const DenseView view = span_view(*kept, rows, cols);
  return {view, std::move(kept)};
}

}  // namespace detail

class Dataset {
 public:
  /// No rows, no features.
  SUBSPECTRA_EXPORT Dataset();
  Dataset(const Dataset&) = default;
  Dataset& operator=(const Dataset&) = default;
  /// What is moved from has no rows and no features.
  SUBSPECTRA_EXPORT Dataset(Dataset&& other) noexcept;
  SUBSPECTRA_EXPORT Dataset& operator=(Dataset&& other) noexcept;
  ~Dataset() = default;

  /// `x` is an Eigen matrix, Map, Ref or block of doubles (either storage order, any strides), an Eigen
  /// sparse matrix or Map (compressed columns, 32-bit indices), a DenseView, a CscView or a DenseMatrix. NaN
  /// marks a missing value. `y` holds one label a row: integers, floating-point numbers or texts, "" for a
  /// row without one; classes are sorted by value if every one is a number, else by bytes. Throws
  /// InvalidArgument: lengths that differ, weights below zero, labels that are NaN, indices out of place,
  /// names that are not UTF-8.
  template <detail::Table X>
  Dataset(X&& x, DatasetExtras extras = {})  // NOLINT(google-explicit-constructor)
      : Dataset(detail::make_dataset(detail::table_input(std::forward<X>(x)), {}, std::move(extras))) {}
  template <detail::Table X, detail::LabelSequence Y>
  Dataset(X&& x, const Y& y, DatasetExtras extras = {})
      : Dataset(detail::make_dataset(detail::table_input(std::forward<X>(x)), detail::label_input(y),
                                     std::move(extras))) {}
  /// rows x cols numbers, column after column; a temporary std::vector is moved in.
  Dataset(std::span<const double> x, Index rows, Index cols, DatasetExtras extras = {})
      : Dataset(detail::span_view(x, rows, cols), std::move(extras)) {}
  template <detail::LabelSequence Y>
  Dataset(std::span<const double> x, Index rows, Index cols, const Y& y, DatasetExtras extras = {})
      : Dataset(detail::span_view(x, rows, cols), y, std::move(extras)) {}
  template <detail::OwnedNumbers V>
  Dataset(V&& x, Index rows, Index cols, DatasetExtras extras = {})
      : Dataset(detail::make_dataset(detail::owned_input(std::forward<V>(x), rows, cols), {},
                                     std::move(extras))) {}
  template <detail::OwnedNumbers V, detail::LabelSequence Y>
  Dataset(V&& x, Index rows, Index cols, const Y& y, DatasetExtras extras = {})
      : Dataset(detail::make_dataset(detail::owned_input(std::forward<V>(x), rows, cols),
                                     detail::label_input(y), std::move(extras))) {}
  /// The number (i, j) at x[i * row_stride + j * col_stride].
  Dataset(const double* x, Index rows, Index cols, Index row_stride, Index col_stride,
          DatasetExtras extras = {})
      : Dataset(DenseView{x, rows, cols, row_stride, col_stride}, std::move(extras)) {}
  template <detail::LabelSequence Y>
  Dataset(const double* x, Index rows, Index cols, Index row_stride, Index col_stride, const Y& y,
          DatasetExtras extras = {})
      : Dataset(DenseView{x, rows, cols, row_stride, col_stride}, y, std::move(extras)) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index features() const { return features_; }
  /// Zeros are not stored.
  [[nodiscard]] SUBSPECTRA_EXPORT bool is_sparse() const;
  [[nodiscard]] SUBSPECTRA_EXPORT const std::string& source() const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::vector<std::string> feature_names() const;
  [[nodiscard]] SUBSPECTRA_EXPORT bool has_labels() const;
  /// The names of the classes, sorted; none without labels.
  [[nodiscard]] SUBSPECTRA_EXPORT std::span<const std::string> classes() const;
  /// For every row the place of its class in classes(), -1 for a row without a label.
  [[nodiscard]] SUBSPECTRA_EXPORT std::span<const int> class_codes() const;
  /// N sample weights, or empty: all 1.
  [[nodiscard]] SUBSPECTRA_EXPORT std::span<const double> weights() const;
  /// What was understood in a way that the user may not have meant.
  [[nodiscard]] SUBSPECTRA_EXPORT const std::vector<std::string>& warnings() const;
  /// The numbers, made dense: a copy.
  [[nodiscard]] SUBSPECTRA_EXPORT DenseMatrix matrix() const;

  /// Only these rows, in any order, repeats allowed. The numbers are shared and not copied.
  [[nodiscard]] SUBSPECTRA_EXPORT Dataset with_rows(const std::vector<Index>& rows) const;
  /// A copy with only these columns.
  [[nodiscard]] SUBSPECTRA_EXPORT Dataset with_features(const std::vector<Index>& features) const;

  // --- for the library itself (data/dataset.hpp has the types) ---------------------------------------------
  Dataset(DatasetParts parts);  // NOLINT(google-explicit-constructor)
  Dataset(DatasetDetails details, Values values);
  [[nodiscard]] const Values& values() const;
  [[nodiscard]] const DatasetDetails& details() const;
  [[nodiscard]] const FeatureNames& names() const;
  [[nodiscard]] const Labels* labels() const;  ///< null without labels
  [[nodiscard]] double weight(Index row) const;
  [[nodiscard]] bool weights_are_equal() const;  ///< no row counts more than another
  [[nodiscard]] const std::vector<std::string>& row_groups() const;
  [[nodiscard]] const std::vector<Index>& original_rows() const;
  [[nodiscard]] const std::optional<Location>& first_missing() const;
  [[nodiscard]] const std::optional<InfiniteCell>& first_infinite() const;
  [[nodiscard]] const std::optional<Location>& first_unlabelled() const;
  [[nodiscard]] const std::vector<std::string>& left_out() const;
  [[nodiscard]] const std::vector<std::string>& notes() const;
  /// A copy of everything, the numbers too, to be changed and made a Dataset again.
  [[nodiscard]] DatasetParts parts() const&;
  /// The same without a copy where nobody else holds this table.
  [[nodiscard]] DatasetParts parts() &&;

 private:
  SUBSPECTRA_EXPORT explicit Dataset(std::shared_ptr<DatasetState> state);

  std::shared_ptr<DatasetState> state_;  ///< never changed while more than one Dataset holds it
  Index rows_ = 0, features_ = 0;
};

/// What may come with covariance matrices.
struct CovarianceExtras {
  std::vector<std::string> names = {};  ///< of the features; x0, x1, ...
  std::string source = "covariances";   ///< what messages and results call them
};

namespace detail {
SUBSPECTRA_EXPORT std::shared_ptr<const MatrixProblem> make_covariance(const DenseView& covariance,
                                                                       CovarianceExtras extras);
SUBSPECTRA_EXPORT std::shared_ptr<const MatrixProblem> make_covariance_pair(const DenseView& between,
                                                                            const DenseView& within,
                                                                            CovarianceExtras extras);
}  // namespace detail

/// Covariance matrices in place of a table, for the methods that take them (MethodTraits::takes_matrices):
/// a Covariance or a CovariancePair. They are copied when it is made, and checked: square, finite, symmetric
/// to 1e-8 (then made symmetric to the bit), positive semidefinite; InvalidArgument otherwise.
class Covariances {
 public:
  [[nodiscard]] SUBSPECTRA_EXPORT Index features() const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::vector<std::string> feature_names() const;
  [[nodiscard]] SUBSPECTRA_EXPORT const std::string& source() const;

  // --- for the library itself (select/problem.hpp has the type)
  [[nodiscard]] const MatrixProblem& problem() const { return *problem_; }

  // A move is a copy, which costs nothing: what is moved from stays what it was.
  Covariances(const Covariances&) = default;
  Covariances& operator=(const Covariances&) = default;
  ~Covariances() = default;

 protected:
  explicit Covariances(std::shared_ptr<const MatrixProblem> problem) : problem_(std::move(problem)) {}

 private:
  std::shared_ptr<const MatrixProblem> problem_;
};

/// One covariance or correlation matrix S, for the methods of principal components. A matrix is an Eigen
/// matrix, Map, Ref or block of doubles, a DenseView or a DenseMatrix.
class Covariance : public Covariances {
 public:
  template <detail::DenseTable S>
  explicit Covariance(const S& covariance, CovarianceExtras extras = {})
      : Covariances(detail::make_covariance(detail::view_of(covariance), std::move(extras))) {}
};

/// The pair (A, B) of discriminant analysis: the covariance between the classes, and that within them.
class CovariancePair : public Covariances {
 public:
  template <detail::DenseTable A, detail::DenseTable B>
  CovariancePair(const A& between, const B& within, CovarianceExtras extras = {})
      : Covariances(detail::make_covariance_pair(detail::view_of(between), detail::view_of(within),
                                                 std::move(extras))) {}
};

}  // namespace subspectra
