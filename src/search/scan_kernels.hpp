#pragma once
/// The inner loops of the exact search on single features, built for several instruction sets and chosen at
/// run time. Plain functions on raw pointers: nothing inline or templated is shared with the rest.
#include <cstdint>

namespace subspectra::search::kernels {

/// out(i, j) = a(at_i, at_j) - (q_at_i scale) q_at_j for i, j < count: the block of a rank-one change, in a
/// new order. `packed` receives q in that order. Bytes: one gathered read and one write an entry; about one
/// entry a cycle.
void gather_rank_one(const double* a, std::int64_t lead, const std::int32_t* at, std::int64_t count,
                     const double* q, double scale, double* packed, double* out, std::int64_t out_lead);

/// out(i, j) = a(at_i, at_j).
void gather(const double* a, std::int64_t lead, const std::int32_t* at, std::int64_t count, double* out,
            std::int64_t out_lead);

/// a(i, j) -= a(p, i) a(p, j)/a(p, p) for i, j in p + 1..count - 1: what is left after pivot p.
void pivot(double* a, std::int64_t lead, std::int64_t p, std::int64_t count);

/// x_i -= factor q_i.
void subtract(double* x, const double* q, double factor, std::int64_t count);

/// What dropping t makes of diag(P): out_i = diag_i - q_i^2 inverse.
void drop_diagonal(const double* diag, const double* q, double inverse, double* out, std::int64_t count);

/// The largest of sign (num_j - limit den_j) over j < count, with rho = g_j s_j s, den = 1 - rho^2 and num =
/// x
/// + xs_j - 2 rho dot_j: above 0 when a pair's value (x + x_j - 2 rho x.x_j)/(1 - rho^2) beats the limit
/// (sign +1) or stays below it (sign -1). Six operations a pair, no division.
double best_pair_margin(const double* g, const double* s, const double* xs, const double* dot, double s_i,
                        double x_i, double limit, double sign, std::int64_t count);

/// The largest of sign (h h_j - e^2) - theta (1 - rho^2) over j < count, with rho = g_j s_j s and e = rho +
/// dot_j: what a 2 x 2 determinant has over theta times another (sign +1), or lacks (sign -1).
double best_determinant_margin(const double* g, const double* s, const double* h, const double* dot,
                               double s_i, double h_i, double sign, double theta, std::int64_t count);

}  // namespace subspectra::search::kernels
