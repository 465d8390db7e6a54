#pragma once
/// The scalar, vector and matrix types everything here is written in.
#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <cstdint>
#include <limits>

namespace subspectra {

using Index = Eigen::Index;      ///< signed; rows, columns, feature numbers (0-based)
using Matrix = Eigen::MatrixXd;  ///< dense, column-major
using Vector = Eigen::VectorXd;
using SparseMatrix = Eigen::SparseMatrix<double>;  ///< compressed columns (CSC)
using MatrixRef = Eigen::Ref<const Matrix>;
using VectorRef = Eigen::Ref<const Vector>;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

}  // namespace subspectra
