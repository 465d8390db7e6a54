#pragma once
/// Greedy passes on a card: Gaussian elimination of a symmetric positive definite S (B forward, B^-1
/// backward) and of C (M, or B^-1 M), one pivot at a time, the pivot chosen on the card from what it sees:
///     w_i = (S_if - sum over the pivots before of w w)/sqrt(d_f),   d_i -= w_i^2,   C_i -= w_i
///     C_f/sqrt(d_f), criterion with i: that of T + sign C_i'C_i/d_i.
/// A step is two kernels: choose_kernel, one block, names the pivot and brings T forward; advance_kernel
/// takes it out of d and C and scores what is left. Of a matrix kPanel pivots are kept as a panel, then the
/// rest of S is made anew by one product and the places of the chosen are filled from the end. Of a table a
/// column is made a step (column_kernel), and w of all pivots is kept.
///
/// B^-1 comes by sweeps of kPanel features K at a time, after which S is -B^-1:
///     Y_i = L^-1 S_Ki with S_KK = L L':   S_ij -= Y_i'Y_j,   S_iK = Y_i'L^-1,   S_KK = -L^-T L^-1,
/// n^3 operations, all but n^2 kPanel of them in one product a sweep.
///
/// Everything here is double precision; which numbers are read may be single (a table's).
#include "device/plugin_abi.h"
#include "portable.hpp"

namespace gpu {

inline constexpr int kPanel = 64;
inline constexpr int kMostDirections = SUBSPECTRA_PASS_DIRECTIONS;
/// Steps between two looks at the digits that are left.
inline constexpr int kCheckDigits = 32;
/// A score that none is.
inline constexpr double kNone = -1.79e308;

enum Rule {
  kScalar = 0,      ///< r = 1, or trace: |C_i|^2/d_i
  kWhitened = 1,    ///< wilks: |L^-1 C_i|^2/d_i, I + T = L L'
  kEigenvalue = 2,  ///< the largest eigenvalue, r > 1
};
enum SlotState : int8_t { kAlive = 0, kHeld = 1, kGone = 2, kDependent = 3 };

struct Pivot {
  int32_t feature, slot;
};

/// What a pass is at.
struct Step {
  int32_t slot;       ///< the pivot that comes out next; -1: none
  int32_t in_panel;   ///< pivots whose w are kept, the one in `slot` apart
  int32_t end;        ///< SUBSPECTRA_PASS_...
  int32_t log_scale;  ///< 1: the criterion of T is log(1 + T), r = 1
  int64_t pivots;
  double d;                   ///< of the pivot
  double value;               ///< of the criterion
  double c[kMostDirections];  ///< C of the pivot over sqrt(d)
  double t[kMostDirections * kMostDirections];
  double basis[kMostDirections *
               kMostDirections];   ///< L by rows; eigenvectors by columns, a column after another
  double values[kMostDirections];  ///< eigenvalues, descending
};

struct PassView {
  double* s;      ///< upper triangle by rows of `lead`; null: of a table
  double* panel;  ///< w: of a matrix kPanel a slot, of a table `lead` a pivot
  double *c, *d, *start;
  double *scores, *best, *ratio;  ///< by slot; by block
  double* row;                    ///< w of the pivot
  int8_t* state;
  int32_t* feature;
  Step* step;
  Pivot* order;
  const double* column;  ///< of the table, by slot
  const double* unit;
  int64_t lead;
  int r;
  double sign, tie, dependent, digits_lost;
};

template <class Pick>
__device__ inline double over_block(double x, double* shared, const Pick& pick) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  shared[thread] = x;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] = pick(shared[thread], shared[thread + half]);
    __syncthreads();
  }
  const double result = shared[0];
  __syncthreads();
  return result;
}
struct Larger {
  __device__ double operator()(double a, double b) const { return a > b ? a : b; }
};
struct Smaller {
  __device__ double operator()(double a, double b) const { return a < b ? a : b; }
};
struct Sum {
  __device__ double operator()(double a, double b) const { return a + b; }
};

/// The largest eigenvalue of diag(t) + sign z z', t descending, squares = z_j^2.
///   +: t_1 + x with 1 = sum squares_j/(x + g_j), g_j = t_1 - t_j; Newton for 1/h = 1 from the left.
///   -: t_1 - x with x (1 + sum_{j >= 2} squares_j/(g_j - x)) = squares_1, 0 <= x <= g_2; Newton, kept
///   within.
__device__ inline double largest_after(const double* t, const double* squares, int r, double sign) {
  constexpr int kMostIterations = 100;
  constexpr double kDone = 1e-15;
  if (sign > 0.0) {
    double total = 0.0;
    for (int j = 0; j < r; ++j) total += squares[j];
    if (!(total > 0.0)) return t[0];
    double x = squares[0];
    for (int i = 0; i < kMostIterations; ++i) {
      double h = 0.0, slope = 0.0;
      for (int j = 0; j < r; ++j) {
        if (squares[j] == 0.0) continue;
        const double distance = x + (t[0] - t[j]);
        if (!(distance > 0.0)) return t[0] + x;
        const double term = squares[j] / distance;
        h += term;
        slope += term / distance;
      }
      if (!(h > 1.0)) break;
      double next = x + (h - 1.0) * h / slope;
      if (!(next < total)) next = total;
      if (!(next - x > kDone * next)) return t[0] + next;
      x = next;
    }
    return t[0] + x;
  }
  if (!(squares[0] > 0.0)) return t[0];
  const double gap = t[0] - t[1];
  double low = 0.0, high = squares[0] < gap ? squares[0] : gap, x = high;
  for (int i = 0; i < kMostIterations && high - low > kDone * high; ++i) {
    double sum = 1.0, slope = 1.0;
    bool pole = false;
    for (int j = 1; j < r && !pole; ++j) {
      if (squares[j] == 0.0) continue;
      const double distance = (t[0] - t[j]) - x;
      pole = !(distance > 0.0);
      const double term = squares[j] / distance;
      sum += term;
      slope += term + x * term / distance;
    }
    if (pole) {
      high = x;
      x = 0.5 * (low + high);
      continue;
    }
    const double psi = x * sum - squares[0];
    if (psi == 0.0 || (psi < 0.0 && x == gap)) return t[0] - x;
    (psi < 0.0 ? low : high) = x;
    const double next = x - psi / slope;
    if (fabs(next - x) <= kDone * x) return t[0] - next;
    x = next > low && next < high ? next : 0.5 * (low + high);
  }
  return t[0] - x;
}

/// What slot i would make of the criterion: increasing in it, and for kEigenvalue the criterion itself.
template <int kRule>
__device__ inline double score_of(const PassView& pass, const Step& step, int64_t i, double d) {
  const int r = pass.r;
  if constexpr (kRule == kScalar) {
    double sum = 0.0;
    for (int e = 0; e < r; ++e) {
      const double c = pass.c[e * pass.lead + i];
      sum += c * c;
    }
    return pass.sign * sum / d;
  } else if constexpr (kRule == kWhitened) {
    double y[kMostDirections], sum = 0.0;
    for (int e = 0; e < r; ++e) {
      double left = pass.c[e * pass.lead + i];
      for (int f = 0; f < e; ++f) left -= step.basis[e * kMostDirections + f] * y[f];
      y[e] = left / step.basis[e * kMostDirections + e];
      sum += y[e] * y[e];
    }
    return pass.sign * sum / d;
  } else {
    double squares[kMostDirections];
    for (int e = 0; e < r; ++e) {
      double along = 0.0;
      for (int f = 0; f < r; ++f) along += step.basis[e * kMostDirections + f] * pass.c[f * pass.lead + i];
      squares[e] = along * along / d;
    }
    return largest_after(step.values, squares, r, pass.sign);
  }
}

/// The criterion after a score.
template <int kRule>
__device__ inline double value_after(const Step& step, double score) {
  if (kRule == kEigenvalue) return score;
  if (kRule == kScalar && step.log_scale == 0) return step.value + score;
  const double part = score / (kRule == kScalar ? 1.0 + step.t[0] : 1.0);
  return step.value + log1p(part > -1.0 ? part : -1.0);
}

/// Takes the pivot that step.slot names out of d and C, and scores what is left.
template <int kRule, bool kOfTable>
__global__ void advance_kernel(PassView pass, int64_t slots) {
  __shared__ double shared[kPassThreads];
  const Step& step = *pass.step;
  if (step.end != SUBSPECTRA_PASS_RUNNING) return;
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  double score = kNone, ratio = -kNone;
  if (i < slots && pass.state[i] != kGone) {
    double d = pass.d[i];
    const int64_t pivot = step.slot;
    if (pivot >= 0) {
      const int in_panel = step.in_panel;
      double left;
      if (kOfTable) {
        left = pass.column[i];
        if (pass.unit != nullptr) left *= pass.unit[i] * pass.unit[pivot];
        for (int k = 0; k < in_panel; ++k) left -= pass.panel[k * pass.lead + i] * pass.row[k];
      } else {
        left = pivot < i ? pass.s[pivot * pass.lead + i] : pass.s[i * pass.lead + pivot];
        const double* const own = pass.panel + i * kPanel;
        double sum = 0.0;
        for (int k = 0; k < in_panel; ++k) sum += own[k] * pass.row[k];
        left -= sum;
      }
      const double w = left / sqrt(step.d);
      pass.panel[kOfTable ? in_panel * pass.lead + i : i * kPanel + in_panel] = w;
      d -= w * w;
      pass.d[i] = d;
      for (int e = 0; e < pass.r; ++e) pass.c[e * pass.lead + i] -= step.c[e] * w;
    }
    ratio = d / pass.start[i];
    if (pass.state[i] == kAlive) {
      if (!(d > pass.dependent * pass.start[i])) {
        if (pass.dependent > 0.0) pass.state[i] = kDependent;
      } else if (d > 0.0) {
        score = score_of<kRule>(pass, step, i, d);
        if (!(score >= kNone)) score = kNone;
      }
    }
    if (!(ratio >= kNone)) ratio = kNone;
  }
  if (i < slots) pass.scores[i] = score;
  const double best = over_block(score, shared, Larger()), least = over_block(ratio, shared, Smaller());
  if (threadIdx.x == 0) {
    pass.best[blockIdx.x] = best;
    pass.ratio[blockIdx.x] = least;
  }
}

/// The value of T, r = 1 or trace. One block, as the next two.
__device__ inline void take_trace(Step& step, int r) {
  if (threadIdx.x == 0) {
    double trace = 0.0;
    for (int e = 0; e < r; ++e) trace += step.t[e * kMostDirections + e];
    trace = trace > 0.0 ? trace : 0.0;
    step.value = step.log_scale != 0 ? log1p(trace) : trace;
  }
  __syncthreads();
}

/// I + T = L L' and its log determinant; no pivot is below 1. a: kMostDirections^2 numbers of shared memory.
__device__ inline void take_whitener(Step& step, int r, double* a) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  constexpr int kLead = kMostDirections;
  for (int x = thread; x < r * r; x += threads) {
    const int i = x / r, j = x % r;
    // The lower triangle counts.
    a[i * kLead + j] = step.t[i > j ? i * kLead + j : j * kLead + i];
    if (i == j) a[i * kLead + j] += 1.0;
  }
  __syncthreads();
  double value = 0.0;
  for (int k = 0; k < r; ++k) {
    const double pivot = a[k * kLead + k], root = sqrt(pivot > 1.0 ? pivot : 1.0);
    value += 2.0 * log(root);
    __syncthreads();
    for (int i = k + thread; i < r; i += threads) a[i * kLead + k] = i == k ? root : a[i * kLead + k] / root;
    __syncthreads();
    for (int x = thread; x < (r - k - 1) * (r - k - 1); x += threads) {
      const int i = k + 1 + x / (r - k - 1), j = k + 1 + x % (r - k - 1);
      if (j <= i) a[i * kLead + j] -= a[i * kLead + k] * a[j * kLead + k];
    }
    __syncthreads();
  }
  for (int x = thread; x < r * r; x += threads) step.basis[x / r * kLead + x % r] = a[x / r * kLead + x % r];
  if (thread == 0) step.value = value;
  __syncthreads();
}

/// Eigenvalues and eigenvectors of T. a, v: kMostDirections^2 numbers of shared memory each.
__device__ inline void take_eigenpairs(Step& step, int r, double* a, double* v) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  constexpr int kLead = kMostDirections;
  for (int x = thread; x < r * r; x += threads) {
    const int i = x / r, j = x % r;
    // The lower triangle counts.
    a[i * kLead + j] = step.t[i > j ? i * kLead + j : j * kLead + i];
    v[i * kLead + j] = i == j ? 1.0 : 0.0;
  }
  __syncthreads();
  // Jacobi's rotations; every thread computes the angle, which is the same for all.
  constexpr int kMostSweeps = 40;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0.0, all = 0.0;
    for (int i = 0; i < r; ++i)
      for (int j = 0; j < r; ++j) {
        const double square = a[i * kLead + j] * a[i * kLead + j];
        all += square;
        if (i != j) off += square;
      }
    __syncthreads();
    if (!(off > 1e-34 * all)) break;
    for (int p = 0; p < r - 1; ++p)
      for (int q = p + 1; q < r; ++q) {
        const double apq = a[p * kLead + q], app = a[p * kLead + p], aqq = a[q * kLead + q];
        __syncthreads();
        if (apq == 0.0) continue;
        const double theta = (aqq - app) / (2.0 * apq);
        const double tangent = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
        const double cosine = 1.0 / sqrt(tangent * tangent + 1.0), sine = tangent * cosine;
        for (int k = thread; k < r; k += threads) {
          const double kp = a[k * kLead + p], kq = a[k * kLead + q];
          a[k * kLead + p] = cosine * kp - sine * kq;
          a[k * kLead + q] = sine * kp + cosine * kq;
          const double vp = v[p * kLead + k], vq = v[q * kLead + k];  // eigenvector p: v[p][.]
          v[p * kLead + k] = cosine * vp - sine * vq;
          v[q * kLead + k] = sine * vp + cosine * vq;
        }
        __syncthreads();
        for (int k = thread; k < r; k += threads) {
          const double pk = a[p * kLead + k], qk = a[q * kLead + k];
          a[p * kLead + k] = cosine * pk - sine * qk;
          a[q * kLead + k] = sine * pk + cosine * qk;
        }
        __syncthreads();
        if (thread == 0) a[p * kLead + q] = a[q * kLead + p] = 0.0;
        __syncthreads();
      }
  }
  __syncthreads();
  for (int e = thread; e < r; e += threads) {
    const double own = a[e * kLead + e];
    int place = 0;
    for (int f = 0; f < r; ++f) {
      const double other = a[f * kLead + f];
      place += other > own || (other == own && f < e) ? 1 : 0;
    }
    step.values[place] = own > 0.0 ? own : 0.0;
    for (int k = 0; k < r; ++k) step.basis[place * kLead + k] = v[e * kLead + k];
    if (place == 0) step.value = own > 0.0 ? own : 0.0;
  }
  __syncthreads();
}

/// What the criterion needs of T, by one block.
template <int kRule>
__device__ inline void take_basis(Step& step, int r) {
  if constexpr (kRule == kScalar) {
    take_trace(step, r);
  } else if constexpr (kRule == kWhitened) {
    __shared__ double a[kMostDirections * kMostDirections];
    take_whitener(step, r, a);
  } else {
    __shared__ double a[kMostDirections * kMostDirections], v[kMostDirections * kMostDirections];
    take_eigenpairs(step, r, a, v);
  }
}

/// The basis of the T that a pass begins with. One block.
template <int kRule>
__global__ void begin_kernel(PassView pass) {
  take_basis<kRule>(*pass.step, pass.r);
}

/// Names the next pivot, the slot `forced` or, where that is negative, the best by its score. One block.
template <int kRule, bool kOfTable>
__global__ void choose_kernel(PassView pass, int64_t slots, int forced) {
  __shared__ double shared[kPassThreads];
  Step& step = *pass.step;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if (step.end != SUBSPECTRA_PASS_RUNNING) return;
  const int64_t pivots = step.pivots;
  const int in_panel = step.in_panel + (step.slot >= 0 ? 1 : 0);
  const int64_t blocks = (slots + threads - 1) / threads;
  double best = kNone, ratio = -kNone;
  for (int64_t b = thread; b < blocks; b += threads) {
    best = best > pass.best[b] ? best : pass.best[b];
    ratio = ratio < pass.ratio[b] ? ratio : pass.ratio[b];
  }
  best = over_block(best, shared, Larger());
  ratio = over_block(ratio, shared, Smaller());
  if (pass.digits_lost > 0.0 && (pivots + 1) % kCheckDigits == 0 && !(ratio > pass.digits_lost)) {
    if (thread == 0) step.end = SUBSPECTRA_PASS_DIGITS_LOST;
    return;
  }
  int64_t slot = forced;
  if (forced < 0) {
    if (!(best > kNone)) {
      if (thread == 0) step.end = SUBSPECTRA_PASS_NONE_LEFT;
      return;
    }
    const double value = value_after<kRule>(step, best), least = value - pass.tie * fabs(value);
    // What ties has a score of nearly `best`; a block without one is passed over.
    double floor = least;
    if (kRule != kEigenvalue) {
      const double slope = kRule == kWhitened    ? 1.0 + fabs(best)
                           : step.log_scale != 0 ? 1.0 + step.t[0] + fabs(best)
                                                 : 1.0;
      floor = best - 2.0 * pass.tie * (fabs(value) + fabs(step.value)) * slope;
    }
    // Features, and so the slots of one, are below 2^31: exact in a double.
    double lowest = -kNone;
    int64_t own = -1;
    for (int64_t b = thread; b < blocks; b += threads) {
      if (!(pass.best[b] >= floor)) continue;
      for (int64_t i = b * threads; i < slots && i < (b + 1) * threads; ++i) {
        const double score = pass.scores[i];
        if (!(score > kNone) || !(score >= floor)) continue;
        if (!(score >= best) && !(value_after<kRule>(step, score) >= least)) continue;
        const double feature = pass.feature[i];
        if (feature < lowest) {
          lowest = feature;
          own = i;
        }
      }
    }
    const double chosen = over_block(lowest, shared, Smaller());
    // One thread has it: features are told apart by their numbers.
    slot = static_cast<int64_t>(
        over_block(own >= 0 && lowest == chosen ? static_cast<double>(own) : -1.0, shared, Larger()));
  }
  const double d = pass.d[slot];
  if (!(d > pass.dependent * pass.start[slot]) || !(d > 0.0)) {
    if (thread == 0) step.end = forced >= 0 ? SUBSPECTRA_PASS_DEPENDENT : SUBSPECTRA_PASS_NONE_LEFT;
    return;
  }
  for (int k = thread; k < in_panel; k += threads)
    pass.row[k] = pass.panel[kOfTable ? k * pass.lead + slot : slot * kPanel + k];
  for (int x = thread; x < pass.r * pass.r; x += threads) {
    const int e = x / pass.r, f = x % pass.r;
    step.t[e * kMostDirections + f] +=
        pass.sign * pass.c[e * pass.lead + slot] * pass.c[f * pass.lead + slot] / d;
  }
  for (int e = thread; e < pass.r; e += threads) step.c[e] = pass.c[e * pass.lead + slot] / sqrt(d);
  __syncthreads();
  if (thread == 0) {
    pass.state[slot] = kGone;
    step.slot = static_cast<int32_t>(slot);
    step.in_panel = in_panel;
    step.d = d;
    pass.order[pivots] = {pass.feature[slot], static_cast<int32_t>(slot)};
    step.pivots = pivots + 1;
  }
  __syncthreads();
  take_basis<kRule>(step, pass.r);
}

/// The panel has become part of S. One thread.
static __global__ void empty_panel_kernel(Step* step) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    step->slot = -1;
    step->in_panel = 0;
  }
}

/// Slots holes[x] < left receive what slots sources[x] >= left hold: S, by pairs ...
static __global__ void move_matrix_kernel(double* s, int64_t lead, int64_t left, const int32_t* holes,
                                          const int32_t* sources, int count) {
  const int64_t all = left * count;
  for (int64_t x = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; x < all;
       x += int64_t{blockDim.x} * gridDim.x) {
    const int64_t j = x % left, hole = holes[x / left], from = sources[x / left];
    if (j == hole) continue;
    int64_t other = j;
    for (int h = 0; h < count; ++h) other = holes[h] == j ? sources[h] : other;
    if (other != j && j < hole) continue;  // of two holes the lower one does it
    const double value = from < other ? s[from * lead + other] : s[other * lead + from];
    s[hole < j ? hole * lead + j : j * lead + hole] = value;
  }
}
/// ... and all that stands by slot. One block.
static __global__ void move_slots_kernel(PassView pass, const int32_t* holes, const int32_t* sources,
                                         int count) {
  for (int h = static_cast<int>(threadIdx.x); h < count; h += static_cast<int>(blockDim.x)) {
    const int64_t to = holes[h], from = sources[h];
    pass.d[to] = pass.d[from];
    pass.start[to] = pass.start[from];
    pass.state[to] = pass.state[from];
    pass.feature[to] = pass.feature[from];
    for (int e = 0; e < pass.r; ++e) pass.c[e * pass.lead + to] = pass.c[e * pass.lead + from];
  }
}

// --- B

/// Slots in the order of features; d and start: the diagonal of S plus `shift`, or as it is given.
static __global__ void slots_kernel(PassView pass, int64_t n, double shift, const double* diagonal) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i >= n) return;
  if (shift != 0.0) pass.s[i * pass.lead + i] += shift;
  pass.d[i] = pass.start[i] = diagonal != nullptr ? diagonal[i] : pass.s[i * pass.lead + i];
  pass.feature[i] = static_cast<int32_t>(i);
}

/// g_ik = S_i,first+k.
static __global__ void sweep_take_kernel(const double* s, int64_t lead, int64_t n, int64_t first, int width,
                                         double* g) {
  const int64_t all = n * kPanel;
  for (int64_t x = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; x < all;
       x += int64_t{blockDim.x} * gridDim.x) {
    const int64_t i = x / kPanel, j = first + x % kPanel;
    g[x] = x % kPanel >= width ? 0.0 : i < j ? s[i * lead + j] : s[j * lead + i];
  }
}

/// S_KK = L L'; L^-1 by rows and by columns, and L^-1 C_K, kPanel a direction. One block.
static __global__ void sweep_factor_kernel(const double* g, int64_t first, int width, double singular,
                                           const double* diagonal, int* broken, double* by_rows,
                                           double* by_columns, const double* c, int64_t lead, int r,
                                           double* of_c) {
  constexpr int kLead = kPanel + 1;
  __shared__ double l[kPanel * kLead];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int x = thread; x < kPanel * kPanel; x += threads) {
    const int i = x / kPanel, j = x % kPanel;
    l[i * kLead + j] = i < width && j < width ? g[(first + i) * kPanel + j] : i == j ? 1.0 : 0.0;
  }
  __syncthreads();
  for (int k = 0; k < kPanel; ++k) {
    const double pivot = l[k * kLead + k];
    const bool fits = k >= width || (pivot > singular * diagonal[first + k] && pivot > 0.0);
    const double root = fits ? sqrt(pivot) : 1.0;
    __syncthreads();
    if (thread == 0 && !fits) *broken = 1;
    for (int i = k + thread; i < kPanel; i += threads)
      l[i * kLead + k] = i == k ? root : l[i * kLead + k] / root;
    __syncthreads();
    const int rest = kPanel - k - 1;
    for (int x = thread; x < rest * rest; x += threads) {
      const int i = k + 1 + x / rest, j = k + 1 + x % rest;
      if (j <= i) l[i * kLead + j] -= l[i * kLead + k] * l[j * kLead + k];
    }
    __syncthreads();
  }
  for (int column = thread; column < kPanel; column += threads) {
    double* const x = by_columns + column * kPanel;
    for (int i = 0; i < kPanel; ++i) {
      double sum = i == column ? 1.0 : 0.0;
      for (int q = column; q < i; ++q) sum -= l[i * kLead + q] * x[q];
      x[i] = i < column ? 0.0 : sum / l[i * kLead + i];
      by_rows[i * kPanel + column] = x[i];
    }
  }
  __syncthreads();
  for (int x = thread; x < r * kPanel; x += threads) {
    const int e = x / kPanel, k = x % kPanel;
    double sum = 0.0;
    for (int q = 0; q <= k && q < width; ++q) sum += by_rows[k * kPanel + q] * c[e * lead + first + q];
    of_c[x] = k < width ? sum : 0.0;
  }
}

inline constexpr int kSweepRows = 4;
/// Y, 0 for K itself; g becomes what S_iK is afterwards, C what the sweep makes of it. kSweepRows slots a
/// block.
static __global__ void sweep_solve_kernel(double* g, int64_t n, int64_t first, int width,
                                          const double* by_rows, const double* by_columns, double* y,
                                          double* c, int64_t lead, int r, const double* of_c) {
  __shared__ double from[kSweepRows * kPanel], own[kSweepRows * kPanel];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int64_t base = int64_t{blockIdx.x} * kSweepRows;
  const auto within = [&](int64_t i) { return i >= first && i < first + width; };
  for (int x = thread; x < kSweepRows * kPanel; x += threads) {
    const int64_t i = base + x / kPanel;
    from[x] = i < n ? g[i * kPanel + x % kPanel] : 0.0;
  }
  __syncthreads();
  for (int x = thread; x < kSweepRows * kPanel; x += threads) {
    const int64_t i = base + x / kPanel;
    const int k = x % kPanel;
    double sum = 0.0;
    for (int q = 0; q <= k; ++q) sum += by_columns[q * kPanel + k] * from[x / kPanel * kPanel + q];
    own[x] = within(i) ? 0.0 : sum;
    if (i < n) y[i * kPanel + k] = own[x];
  }
  __syncthreads();
  for (int x = thread; x < kSweepRows * kPanel; x += threads) {
    const int64_t i = base + x / kPanel;
    if (i >= n) continue;
    const int l = x % kPanel;
    double sum = 0.0;
    if (within(i)) {
      for (int k = 0; k < width; ++k) sum -= by_rows[k * kPanel + l] * by_rows[k * kPanel + (i - first)];
    } else {
      for (int k = l; k < kPanel; ++k) sum += by_rows[k * kPanel + l] * own[x / kPanel * kPanel + k];
    }
    g[i * kPanel + l] = sum;
  }
  for (int x = thread; x < kSweepRows * r; x += threads) {
    const int row = x / r, e = x % r;
    const int64_t i = base + row;
    if (i >= n) continue;
    double sum = 0.0;
    for (int k = 0; k < width; ++k)
      sum += (within(i) ? by_rows[k * kPanel + (i - first)] : own[row * kPanel + k]) * of_c[e * kPanel + k];
    double& entry = c[e * lead + i];
    entry = within(i) ? sum : entry - sum;
  }
}

/// S_iK = g_i.
static __global__ void sweep_put_kernel(double* s, int64_t lead, int64_t n, int64_t first, int width,
                                        const double* g) {
  const int64_t all = n * kPanel;
  for (int64_t x = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; x < all;
       x += int64_t{blockDim.x} * gridDim.x) {
    const int64_t i = x / kPanel, j = first + x % kPanel;
    if (x % kPanel >= width || (i >= first && i < first + width && i > j)) continue;
    s[i < j ? i * lead + j : j * lead + i] = g[x];
  }
}

static __global__ void negate_kernel(double* s, int64_t count) {
  for (int64_t x = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; x < count;
       x += int64_t{blockDim.x} * gridDim.x)
    s[x] = -s[x];
}

// --- columns of a table

/// v_i = w_i (x_i - m_c(i)) of the pivot's column; 0 from `rows` to `lead`. One block.
template <class Number>
__global__ void direction_kernel(PassView pass, const Number* x, int64_t lead, int64_t rows,
                                 const double* weights, const int32_t* classes, int class_count, double* v) {
  __shared__ double shared[kPassThreads];
  if (pass.step->end != SUBSPECTRA_PASS_RUNNING || pass.step->slot < 0) return;
  const Number* const own = x + pass.step->slot * lead;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int64_t i = thread; i < lead; i += threads) v[i] = 0.0;
  for (int c = 0; c < class_count; ++c) {
    double sum = 0.0, weight = 0.0;
    for (int64_t i = thread; i < rows; i += threads) {
      if (classes[i] != c) continue;
      sum += weights[i] * static_cast<double>(own[i]);
      weight += weights[i];
    }
    sum = over_block(sum, shared, Sum());
    weight = over_block(weight, shared, Sum());
    const double mean = weight > 0.0 ? sum / weight : 0.0;
    for (int64_t i = thread; i < rows; i += threads)
      if (classes[i] == c) v[i] = weights[i] * (static_cast<double>(own[i]) - mean);
  }
}

/// Sixteen bytes of a column.
template <class Number>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(Number);
  Number at[kCount];
};
inline constexpr int kColumnsEach = 4;

/// out_j = sum_i x_ij v_i, kColumnsEach columns a warp.
template <class Number>
__global__ void column_kernel(const Step* step, const Number* x, int64_t lead, int64_t n, const double* v,
                              double* out) {
  if (step->end != SUBSPECTRA_PASS_RUNNING) return;
  constexpr int kCount = Pack<Number>::kCount;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t warp = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) / kWarp;
  const int64_t first = warp * kColumnsEach;
  if (first >= n) return;
  double sum[kColumnsEach] = {};
  const Pack<Number>* column[kColumnsEach];
  for (int j = 0; j < kColumnsEach; ++j)  // beyond the last one the last one again
    column[j] = reinterpret_cast<const Pack<Number>*>(x + (first + j < n ? first + j : n - 1) * lead);
  for (int64_t at = lane; at < lead / kCount; at += kWarp) {
    Pack<Number> pack[kColumnsEach];
    for (int j = 0; j < kColumnsEach; ++j) pack[j] = column[j][at];
    for (int k = 0; k < kCount; ++k) {
      const double along = v[at * kCount + k];
      for (int j = 0; j < kColumnsEach; ++j) sum[j] += static_cast<double>(pack[j].at[k]) * along;
    }
  }
  for (int j = 0; j < kColumnsEach; ++j) {
    const double whole = sum_over_warp(sum[j]);
    if (lane == 0 && first + j < n) out[first + j] = whole;
  }
}

}  // namespace gpu
