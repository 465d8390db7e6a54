#pragma once
/// Brute force in 113 bits, for the certificate fuzzer: moments from the numbers of the table, and the
/// criterion of every set. It shares no code with src/, and the sums are the textbook's.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace subspectra::certificate_fuzzing {

__extension__ typedef __float128 Quad;

inline constexpr int kMostFeatures = 12;
inline constexpr int kMostClasses = 5;
/// A pivot below this fraction of its variance is a dependence, in 34 digits too.
inline constexpr double kSingular = 1e-27;

enum class Judged { kLargest, kTrace, kWilks };

/// The eigenvalues of a small symmetric matrix, n x n at stride n, by Jacobi's rotations. Doubles do: what is
/// asked for is a function of them that no rounding of the entries changes by more than a few 2^-52.
inline std::vector<double> jacobi_eigenvalues(std::vector<double> a, int n) {
  const auto at = [&](int i, int j) -> double& { return a[static_cast<std::size_t>(i * n + j)]; };
  for (int sweep = 0; sweep < 40; ++sweep) {
    bool rotated = false;
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        const double off = at(i, j);
        if (!(std::abs(off) > 1e-17 * (std::abs(at(i, i)) + std::abs(at(j, j))))) continue;
        rotated = true;
        const double theta = (at(j, j) - at(i, i)) / (2.0 * off);
        const double t = (theta < 0.0 ? -1.0 : 1.0) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1.0 / std::hypot(t, 1.0), s = t * c;
        for (int m = 0; m < n; ++m) {
          const double x = at(m, i), y = at(m, j);
          at(m, i) = c * x - s * y;
          at(m, j) = s * x + c * y;
        }
        for (int m = 0; m < n; ++m) {
          const double x = at(i, m), y = at(j, m);
          at(i, m) = c * x - s * y;
          at(j, m) = s * x + c * y;
        }
      }
    }
    if (!rotated) break;
  }
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(at(i, i));
  return values;
}

/// Of an n x n matrix T + D against D = diag(d): the largest eigenvalue of D^{-1/2} T D^{-1/2}, its trace, or
/// log det(I + it), the last one from pivots, since a small eigenvalue beside a huge one has no digit in
/// doubles.
inline double judged(Judged by, std::vector<Quad> t, const Quad* d, int n) {
  const auto at = [&](int i, int j) -> Quad& { return t[static_cast<std::size_t>(i * n + j)]; };
  if (by == Judged::kTrace) {
    Quad trace = 0;
    for (int i = 0; i < n; ++i) trace += at(i, i) / d[i];
    return static_cast<double>(trace);
  }
  if (by == Judged::kLargest) {
    std::vector<double> scaled(t.size());
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        scaled[static_cast<std::size_t>(i * n + j)] =
            static_cast<double>((at(i, j) + at(j, i)) / 2) /
            (std::sqrt(static_cast<double>(d[i])) * std::sqrt(static_cast<double>(d[j])));
      }
    }
    const std::vector<double> values = jacobi_eigenvalues(std::move(scaled), n);
    return *std::max_element(values.begin(), values.end());
  }
  double sum = 0.0;
  for (int i = 0; i < n; ++i) at(i, i) += d[i];
  for (int i = 0; i < n; ++i) {
    sum += std::log1p(static_cast<double>((at(i, i) - d[i]) / d[i]));
    for (int j = i + 1; j < n; ++j) {
      const Quad factor = at(j, i) / at(i, i);
      for (int l = i; l < n; ++l) at(j, l) -= factor * at(i, l);
    }
  }
  return sum;
}

/// log det(I + C'C), C with `width` columns, from the factor R of [I; C] = QR, its columns in the order of
/// their size: the product C'C would lose what is small beside its largest eigenvalue.
inline double log_det_of_one_more(std::vector<std::vector<Quad>> columns) {
  const std::size_t width = columns.size();
  for (std::size_t c = 0; c < width; ++c) {
    for (std::size_t e = 0; e < width; ++e) columns[c].push_back(c == e ? 1 : 0);
  }
  const auto inner = [](const std::vector<Quad>& x, const std::vector<Quad>& y) {
    Quad sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  };
  double sum = 0.0;
  while (!columns.empty()) {
    const auto largest = std::max_element(columns.begin(), columns.end(), [&](const auto& x, const auto& y) {
      return inner(x, x) < inner(y, y);
    });
    const std::vector<Quad> pivot = *largest;
    columns.erase(largest);
    const Quad square = inner(pivot, pivot);
    sum += std::log1p(static_cast<double>(square - 1));
    for (int again = 0; again < 2; ++again) {  // twice is enough
      for (auto& column : columns) {
        const Quad factor = inner(pivot, column) / square;
        for (std::size_t i = 0; i < column.size(); ++i) column[i] -= factor * pivot[i];
      }
    }
  }
  return sum;
}

/// A set of features, what it is worth, and the smallest pivot of B_S as a fraction of its variance; 0 where
/// the value is not known to all its digits.
struct Valued {
  double value = 0.0;
  double pivot = 1.0;
};

/// A and B of p features: A = M M' from a table with classes, or as given; B with what was added to it.
struct Truth {
  int p = 0, classes = 0;
  bool variance = false;  ///< PCA: the largest eigenvalue of A_S, B = I
  bool given = false;     ///< A is a matrix, not a factor
  std::array<std::array<Quad, kMostFeatures>, kMostFeatures> a{}, b{};
  std::array<std::array<Quad, kMostClasses>, kMostFeatures> m{};
  std::array<Quad, kMostFeatures> total{};  ///< total variances
  std::array<bool, kMostFeatures> varies_within{};
};

/// x: column after column; weights empty or one a row; classes 0..K-1.
inline Truth truth_of_table(std::span<const double> x, int rows, int p, std::span<const int> codes,
                            int classes, std::span<const double> weights, bool variance) {
  Truth truth{.p = p, .classes = variance ? 1 : classes, .variance = variance};
  const auto column = [&](int j) { return x.subspan(static_cast<std::size_t>(j * rows), rows); };
  const auto weight = [&](std::size_t i) { return weights.empty() ? Quad(1) : Quad(weights[i]); };
  const auto code = [&](std::size_t i) { return variance ? 0 : codes[i]; };
  std::array<Quad, kMostClasses> of_class{};
  Quad all = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    of_class[code(i)] += weight(i);
    all += weight(i);
  }
  std::vector<std::vector<Quad>> centred(static_cast<std::size_t>(p));
  for (int j = 0; j < p; ++j) {
    std::array<Quad, kMostClasses> mean{};
    Quad overall = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
      mean[code(i)] += weight(i) * Quad(column(j)[i]);
    for (int c = 0; c < truth.classes; ++c) {
      overall += mean[c];
      if (of_class[c] > 0) mean[c] /= of_class[c];
    }
    overall /= all;
    Quad between = 0;
    double largest_mean = 0.0;
    for (int c = 0; c < truth.classes; ++c) {
      if (!(of_class[c] > 0)) continue;
      largest_mean = std::max(largest_mean, std::abs(static_cast<double>(mean[c])));
      const Quad share = of_class[c] / all, away = mean[c] - overall;
      between += share * away * away;
      // The root need not be exact to the last of the 113 bits: one step of Newton after a double's.
      const double guess = std::sqrt(static_cast<double>(share));
      const Quad root = (Quad(guess) + share / Quad(guess)) / 2;
      truth.m[j][c] = (root + share / root) / 2 * away;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
      centred[j].push_back(Quad(column(j)[i]) - mean[code(i)]);
    Quad within = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
      within += weight(i) * centred[j][i] * centred[j][i];
    within /= all;
    truth.total[j] = within + between;
    // docs/safety.md: what rounding leaves of a class mean is no variance.
    const double rounding = 64.0 * std::numeric_limits<double>::epsilon() * largest_mean;
    truth.varies_within[j] = static_cast<double>(within) > rounding * rounding;
  }
  auto& square = variance ? truth.a : truth.b;
  for (int j = 0; j < p; ++j) {
    for (int l = 0; l <= j; ++l) {
      Quad sum = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
        sum += weight(i) * centred[j][i] * centred[l][i];
      square[j][l] = square[l][j] = sum / all;
    }
  }
  return truth;
}

/// Matrices as they are, p x p; `b` is empty for a covariance alone.
inline Truth truth_of_matrices(std::span<const double> a, std::span<const double> b, int p) {
  Truth truth{.p = p, .classes = 0, .variance = b.empty(), .given = true};
  for (int j = 0; j < p; ++j) {
    for (int l = 0; l < p; ++l) {
      truth.a[j][l] = a[static_cast<std::size_t>(j * p + l)];
      if (!b.empty()) truth.b[j][l] = b[static_cast<std::size_t>(j * p + l)];
    }
    truth.total[j] = truth.a[j][j] + truth.b[j][j];
    truth.varies_within[j] = truth.b[j][j] > 0;
  }
  return truth;
}

/// LDL' of B_S, grown one feature at a time, and L^{-1} M_S beside it. A copy of it is a place to come back
/// to.
class Growing {
 public:
  explicit Growing(const Truth& truth) : truth_(&truth) {}

  /// False where the feature depends on those before it.
  bool add(int j) {
    const Truth& t = *truth_;
    const int n = size_;
    features_[n] = j;
    if (t.variance) {
      ++size_;
      return true;
    }
    std::array<Quad, kMostFeatures> w;  // L w = B_Sj
    Quad pivot = t.b[j][j];
    for (int i = 0; i < n; ++i) {
      Quad sum = t.b[j][features_[i]];
      for (int l = 0; l < i; ++l) sum -= lower_[i][l] * w[l];
      w[i] = sum;
    }
    for (int i = 0; i < n; ++i) {
      lower_[n][i] = w[i] / d_[i];
      pivot -= lower_[n][i] * w[i];
    }
    if (!(pivot > Quad(kSingular) * t.b[j][j])) return false;
    least_ = std::min(least_, static_cast<double>(pivot / t.b[j][j]));
    d_[n] = pivot;
    for (int c = 0; c < t.classes; ++c) {
      Quad sum = t.m[j][c];
      for (int i = 0; i < n; ++i) sum -= lower_[n][i] * u_[i][c];
      u_[n][c] = sum;
    }
    for (int c = 0; c < t.classes; ++c) {
      for (int e = 0; e <= c; ++e) t_[c][e] += u_[n][c] * u_[n][e] / pivot;
    }
    ++size_;
    return true;
  }

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] Valued valued(Judged by) const {
    const Truth& t = *truth_;
    std::array<Quad, kMostFeatures> ones;
    ones.fill(1);
    if (!t.variance && !t.given) {
      std::vector<Quad> small(static_cast<std::size_t>(t.classes * t.classes));
      for (int c = 0; c < t.classes; ++c) {
        for (int e = 0; e < t.classes; ++e)
          small[static_cast<std::size_t>(c * t.classes + e)] = t_[std::max(c, e)][std::min(c, e)];
      }
      if (by == Judged::kWilks) {
        std::vector<std::vector<Quad>> columns(static_cast<std::size_t>(t.classes));
        for (int i = 0; i < size_; ++i) {
          const Quad guess = std::sqrt(static_cast<double>(d_[i]));
          const Quad once = (guess + d_[i] / guess) / 2, root = (once + d_[i] / once) / 2;
          for (int c = 0; c < t.classes; ++c) columns[static_cast<std::size_t>(c)].push_back(u_[i][c] / root);
        }
        return {log_det_of_one_more(std::move(columns)), least_};
      }
      // Of two classes T has rank one: its trace is its eigenvalue.
      const bool rank_one = t.classes == 2 && by == Judged::kLargest;
      return {judged(rank_one ? Judged::kTrace : by, std::move(small), ones.data(), t.classes), least_};
    }
    const int n = size_;
    std::vector<Quad> c(static_cast<std::size_t>(n * n));  // A_S, or L^{-1} A_S L^{-T}
    const auto at = [&](int i, int j) -> Quad& { return c[static_cast<std::size_t>(i * n + j)]; };
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) at(i, j) = t.a[features_[i]][features_[j]];
    }
    if (!t.variance) {
      for (int i = 0; i < n; ++i) {
        for (int l = 0; l < i; ++l) {
          for (int j = 0; j < n; ++j) at(i, j) -= lower_[i][l] * at(l, j);
        }
      }
      for (int i = 0; i < n; ++i) {
        for (int l = 0; l < i; ++l) {
          for (int j = 0; j < n; ++j) at(j, i) -= lower_[i][l] * at(j, l);
        }
      }
    }
    Quad trace = 0;
    for (int i = 0; i < n && !t.variance; ++i) trace += at(i, i) / d_[i];
    const double value =
        judged(t.variance ? Judged::kLargest : by, std::move(c), t.variance ? ones.data() : d_.data(), n);
    // Beside a huge eigenvalue of T a small one is not known from matrices, in 34 digits either.
    constexpr double kUnit = 1e-32, kMostDoubt = 1e-11;
    const bool known =
        by != Judged::kWilks || t.variance ||
        kUnit * n * static_cast<double>(trace) * std::max(1.0, condition()) < kMostDoubt * std::abs(value);
    return {value, known ? least_ : 0.0};
  }
  /// The trace of the inverse correlations: the condition of the correlations, up to a factor of |S|.
  [[nodiscard]] double condition() const {
    const Truth& t = *truth_;
    if (t.variance) return 1.0;
    Quad trace = 0;
    for (int j = 0; j < size_; ++j) {  // B^{-1}_jj = sum_i (L^{-1})_ij^2/d_i
      std::array<Quad, kMostFeatures> e{};
      e[j] = 1;
      for (int i = j; i < size_; ++i) {
        for (int l = j; l < i; ++l) e[i] -= lower_[i][l] * e[l];
        trace += e[i] * e[i] / d_[i] * t.b[features_[j]][features_[j]];
      }
    }
    return static_cast<double>(trace);
  }

 private:
  const Truth* truth_;
  int size_ = 0;
  double least_ = 1.0;
  std::array<int, kMostFeatures> features_{};
  std::array<std::array<Quad, kMostFeatures>, kMostFeatures> lower_;
  std::array<Quad, kMostFeatures> d_;
  std::array<std::array<Quad, kMostClasses>, kMostFeatures> u_;
  std::array<std::array<Quad, kMostClasses>, kMostClasses> t_{};
};

/// The value of every set of so many units that holds the forced ones; entry k has those of k units. Sets
/// whose features depend on each other have no value and are left out.
inline std::vector<std::vector<Valued>> all_sets(const Truth& truth,
                                                 const std::vector<std::vector<int>>& units,
                                                 const std::vector<bool>& forced, Judged by) {
  std::vector<std::vector<Valued>> values(units.size() + 1);
  const auto extend = [&](const auto& self, std::size_t next, std::size_t chosen,
                          const Growing& grown) -> void {
    if (next == units.size()) {
      if (chosen > 0) values[chosen].push_back(grown.valued(by));
      return;
    }
    if (!forced[next]) self(self, next + 1, chosen, grown);
    Growing larger = grown;
    for (const int j : units[next]) {
      if (!larger.add(j)) return;  // so do all larger sets
    }
    self(self, next + 1, chosen + 1, larger);
  };
  extend(extend, 0, 0, Growing(truth));
  for (auto& of_size : values)
    std::sort(of_size.begin(), of_size.end(),
              [](const Valued& l, const Valued& r) { return l.value > r.value; });
  return values;
}

}  // namespace subspectra::certificate_fuzzing
