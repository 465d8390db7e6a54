#include "tables.hpp"

#include <memory>
#include <tuple>
#include <utility>

#include "data/dataset.hpp"

namespace subspectra::python {
namespace nb = nanobind;

namespace {

/// Keeps arrays alive until the library lets go of them, whichever thread that happens in.
template <class Arrays>
std::shared_ptr<const void> kept(Arrays arrays) {
  return {new Arrays(std::move(arrays)), [](const Arrays* held) {
            if (!nb::is_alive()) return;  // the interpreter is gone, and its arrays with it
            const nb::gil_scoped_acquire locked;
            delete held;
          }};
}

detail::LabelInput labels_of(const Beside& beside) {
  if (!beside.codes) return {};
  std::vector<std::string> texts;
  texts.reserve(beside.codes->size());
  for (std::size_t i = 0; i < beside.codes->size(); ++i) {
    const std::int32_t code = beside.codes->data()[i];
    texts.push_back(code < 0 ? std::string() : beside.classes.at(static_cast<std::size_t>(code)));
  }
  return {std::move(texts)};
}

DatasetExtras extras_of(const Beside& beside) {
  DatasetExtras extras{.names = beside.names, .groups = beside.groups};
  if (beside.weights)
    extras.weights.assign(beside.weights->data(), beside.weights->data() + beside.weights->size());
  if (!beside.source.empty()) extras.source = beside.source;
  return extras;
}

Dataset table_of(detail::TableInput input, const Beside& beside) {
  const auto state = detail::make_dataset(std::move(input), labels_of(beside), extras_of(beside));
  return {state->details, state->values};
}

}  // namespace

DenseView view_of(const DenseArray& x) {
  return {x.data(), static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1)), x.stride(0), x.stride(1)};
}

DenseMatrix copy_of(const DenseArray& x) {
  DenseMatrix matrix(static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1)));
  for (Index j = 0; j < matrix.cols(); ++j) {
    for (Index i = 0; i < matrix.rows(); ++i) matrix(i, j) = x.data()[i * x.stride(0) + j * x.stride(1)];
  }
  return matrix;
}

Dataset dense_table(const DenseArray& x, const Beside& beside) {
  return table_of({.view = view_of(x), .owner = kept(x)}, beside);
}

Dataset sparse_table(Index rows, Index cols, const Integers& outer, const Integers& inner,
                     const Doubles& values, const Beside& beside) {
  const CscView view{
      rows, cols, {outer.data(), outer.size()}, {inner.data(), inner.size()}, {values.data(), values.size()}};
  return table_of({.view = view, .owner = kept(std::tuple(outer, inner, values))}, beside);
}

NumpyMatrix numpy_of(DenseMatrix matrix) {
  auto* const held = new DenseMatrix(std::move(matrix));
  const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<DenseMatrix*>(p); });
  return {held->data(),
          {static_cast<std::size_t>(held->rows()), static_cast<std::size_t>(held->cols())},
          owner,
          {1, held->rows()}};
}

NumpyIntegers numpy_of(std::vector<std::int32_t> numbers) {
  auto* const held = new std::vector<std::int32_t>(std::move(numbers));
  const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
  return {held->data(), {held->size()}, owner};
}

}  // namespace subspectra::python
