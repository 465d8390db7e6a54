#pragma once
/// The inner loops of the Perron explorer: passes over one row of a symmetric matrix, compiled for the vector
/// units at hand. Rows are padded with zeros to a multiple of kLanes.
#include "core/types.hpp"

namespace subspectra::search::rows {

inline constexpr Index kLanes = 8;
[[nodiscard]] constexpr Index padded(Index n) { return (n + kLanes - 1) / kLanes * kLanes; }

/// Of the weights w_j = |c_j| d_j: those above t, and the two that are next to t.
struct Above {
  double sum = 0.0;
  double count = 0.0;
  double least_above = 0.0;  ///< infinity when there is none
  double most_below = 0.0;   ///< of those <= t; 0 when there is none
};
void weights_above(const double* c, const double* d, Index n, double t, Above* out);

/// out_j = a_j + f b_j.
void add_scaled(const double* a, const double* b, double f, Index n, double* out);

/// max_j |c_j| with - max(t_j, |c_j| without) - slack_j.
double largest_excess(const double* c, const double* t, const double* slack, double with, double without,
                      Index n);

/// max_j c_j^2 - f g_j.
double largest_square_excess(const double* c, const double* g, double f, Index n);

/// sum_j c_j x_j, in the same order everywhere.
double dot(const double* c, const double* x, Index n);

}  // namespace subspectra::search::rows
