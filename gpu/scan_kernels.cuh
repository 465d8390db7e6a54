#pragma once
/// Every pair, triple or four of n features against a limit, without a division a set.
///
/// A level is what is left of two matrices P and Q after a pivot on the features before (none at the base),
/// scaled so that P has a unit diagonal:
///   definite  P = B - A/limit (Q unused). S beats the limit exactly if P_S is not positive definite.
///   ratio     P = A + B, Q = B:           exactly if det P_S > e^limit det Q_S.
///   trace     P = B, Q = A:               exactly if tr P_S^-1 Q_S > limit.
/// With i as pivot a pair (j, l) has, of what i leaves (one line a form, sums as they are computed):
///   definite  |P_jl - v_j v_l| > t_j t_l                                  v = P_i., t = sqrt(1 - v v)
///   ratio     (g_j g_l - (P_jl - x_j x_l)^2) > K (b_j b_l - (Q_jl - y_j y_l)^2)     K = e^limit Q_ii
///   trace     (e_j - T m_j) m_l + e_l m_j + b (T b - 2 a) > 0             b, a: what is left of P_jl, Q_jl
/// since no pair that beats the limit leaves P_S two negative eigenvalues. That is 2, 7 and 7 operations in
/// double precision a triple. The sign of the result is looked at by the integer units, and so is |.|.
///
/// Cost: 64 operations a cycle and multiprocessor: 32 triples for `definite`, 9.1 for the others. On an H200
/// (132 multiprocessors, 1.98 GHz) that is at most 8.4e12, and 2.4e12, a second. Measured there: 3.6e12 and
/// 1.1e12, 43 and 45 percent of it. With two warps a scheduler (8 x 8 pairs a thread in 255 registers) the
/// rest goes to operands that wait for the register file and to the latency of what depends on what; loading
/// a first feature's terms from a block's memory, 32 numbers for 64 triples, takes a third of that memory's
/// rate and stalls nothing.
///
/// Rounding: every entry of P and Q is known to eta (level_eta). Whatever cannot be settled with that margin
/// is handed out: as a candidate, or, where a pivot is so small that the margin says nothing any more, as a
/// pair that stands for all its supersets ("loose"). The determinant of Q in `ratio` is multiplied by what
/// may be huge (classes that a set separates), so it has a margin of its own: with entries off by at most eta
/// sqrt(Q_jj Q_ll), Q - 4 eta diag(Q) is below the true Q of any four features, and so is what pivots leave
/// of it. kDown does the same for the roundings of the scan itself.
#include "portable.hpp"

namespace gpu {

enum Form { kDefinite = 0, kRatio = 1, kTrace = 2 };

inline constexpr int kMaxSize = 4;
/// The side of a tile of pairs, and rows are padded to it.
inline constexpr int kPadding = 128;
/// Terms that stand for "never": numbers that make any test false.
inline constexpr double kNever = 1e30;
/// Roundings of a few operations, as a fraction of the numbers that went into them.
inline constexpr double kDown = 0x1p-49;

/// Sets handed out: `capacity` of `size` places; more are counted and lost.
struct SetList {
  int32_t* sets;
  unsigned long long* found;
  unsigned long long capacity;
  int size;
};

__device__ inline void hand_out(const SetList& list, int h, int i, int j, int l) {
  const unsigned long long at = atomicAdd(list.found, 1ULL);
  if (at >= list.capacity) return;
  int32_t* set = list.sets + at * list.size;
  int place = 0;
  if (h >= 0) set[place++] = h;
  set[place++] = i;
  if (place < list.size) set[place++] = j;
  if (place < list.size) set[place++] = l;
  while (place < list.size) set[place++] = -1;
}

/// What the base knows about pairs of features that depend on each other.
struct Base {
  const double* p;
  const double* q;
  const double* scale;      ///< definite: P's entries are those of B - A/limit times scale_j scale_l
  const double* direction;  ///< M, r numbers a feature
  int r;
  double inverse_limit;
  double dependent;
  int64_t lead;
};

struct Level {
  double* p;
  double* q;
  double* q_diagonal;
  int8_t* left_out;   ///< features that no set of this level holds
  double* smallest;   ///< on the card: the smallest pivot that scaled this level; null at the base
  double* q_largest;  ///< on the card: the largest diagonal entry of Q
  double* limit;      ///< on the card
  double eta;         ///< of the base
  int64_t n, lead;
  int first;  ///< features before it are not in the level
  int pivot;  ///< the feature that was taken out to get here, or -1
};

__device__ inline double level_eta(const Level& level) {
  return level.smallest == nullptr ? level.eta : 16.0 * level.eta / *level.smallest;
}

template <int kForm>
__device__ inline bool depend(const Base& base, int j, int l) {
  const int low = j < l ? j : l, high = j < l ? l : j;
  double own = 1.0, other = 1.0, entry = base.p[low * base.lead + high];
  if (kForm == kDefinite) {
    const double *mj = base.direction + int64_t{low} * base.r, *ml = base.direction + int64_t{high} * base.r;
    double jj = 0.0, ll = 0.0, jl = 0.0;
    for (int d = 0; d < base.r; ++d) {
      jj += mj[d] * mj[d];
      ll += ml[d] * ml[d];
      jl += mj[d] * ml[d];
    }
    const double sj = 1.0 / base.scale[low], sl = 1.0 / base.scale[high];
    own = sj * sj + jj * base.inverse_limit;
    other = sl * sl + ll * base.inverse_limit;
    entry = entry * sj * sl + jl * base.inverse_limit;
  } else if (kForm == kRatio) {
    own = base.q[low * base.lead + low];
    other = base.q[high * base.lead + high];
    entry = base.q[low * base.lead + high];
  }
  return own * other - entry * entry <= base.dependent * (own * other);
}

/// What a pivot on i makes of j > i.
struct PairTerms {
  double p, q;  ///< what the pivot multiplies rows by: P_jl - p_j p_l; trace: Q_jl - p_j q_l - q_j p_l
  double p_left, q_left;  ///< the diagonals: of P and of Q
  bool wins;              ///< the pair itself, as far as the margin can tell
};

template <int kForm>
__device__ inline PairTerms pair_terms(const Level& level, double eta, double limit, int i, int j) {
  PairTerms t;
  t.p = level.p[i * level.lead + j];
  t.p_left = 1.0 - t.p * t.p;
  t.q = t.q_left = 0.0;
  if (kForm == kDefinite) {
    t.wins = t.p_left <= 4.0 * eta;
  } else if (kForm == kRatio) {
    const double own = level.q_diagonal[i], kappa = exp(limit) * own;
    t.q = level.q[i * level.lead + j] / sqrt(own);
    t.q_left = level.q_diagonal[j] * (1.0 - kDown) - t.q * t.q;
    t.wins = t.p_left - kappa * t.q_left > -8.0 * eta;
  } else {
    const double own = level.q_diagonal[i], more = limit - own;
    const double entry = level.q[i * level.lead + j];
    t.q = entry - 0.5 * t.p * own;
    t.q_left = level.q_diagonal[j] - 2.0 * t.p * t.q;
    t.wins = t.q_left - more * t.p_left > -8.0 * eta * (fabs(more) + *level.q_largest);
  }
  return t;
}

/// Whether i alone is at the limit already: then it stands for all sets with it.
template <int kForm>
__device__ inline bool single_wins(const Level& level, double eta, double limit, int i) {
  if (kForm == kRatio) return !(exp(limit) * level.q_diagonal[i] > 1.0 + 8.0 * eta);
  if (kForm == kTrace) return limit - level.q_diagonal[i] <= 8.0 * eta * (1.0 + *level.q_largest);
  return false;
}

/// Pairs: i in [begin, end), l > i.
template <int kForm>
__global__ void pairs_kernel(Level level, Base base, int begin, int end, SetList list) {
  const int i = begin + static_cast<int>(blockIdx.y);
  if (i >= end || level.left_out[i]) return;
  const double eta = level_eta(level), limit = *level.limit;
  if (single_wins<kForm>(level, eta, limit, i)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) hand_out(list, level.pivot, i, -1, -1);
    return;
  }
  for (int64_t j = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; j < level.n;
       j += int64_t{blockDim.x} * gridDim.x) {
    if (j <= i || level.left_out[j]) continue;
    if (pair_terms<kForm>(level, eta, limit, i, static_cast<int>(j)).wins &&
        !depend<kForm>(base, i, static_cast<int>(j)))
      hand_out(list, level.pivot, i, static_cast<int>(j), -1);
  }
}

/// Arrays of terms: for each of them `rows` rows (one a first feature) of `lead` numbers.
struct Terms {
  double* at;
  double2* factors;  ///< of a first feature: K or T, and what a result may be below 0
  int64_t rows, lead;
  __host__ __device__ double* row(int array, int64_t i) const { return at + (array * rows + i) * lead; }
};
template <int kForm>
struct Shape;
/// Which arrays a pair needs of its j and of its l.
template <>
struct Shape<kDefinite> {  // 0 v, 1 t
  static constexpr int kArrays = 2, kOfJ = 2, kOfL = 2, kMatrices = 1, kTile = 128;
  __host__ __device__ static constexpr int of_j(int a) { return a; }
  __host__ __device__ static constexpr int of_l(int a) { return a; }
};
template <>
struct Shape<kRatio> {  // 0 x, 1 y, 2 g, 3 b
  static constexpr int kArrays = 4, kOfJ = 4, kOfL = 4, kMatrices = 2, kTile = 64;
  __host__ __device__ static constexpr int of_j(int a) { return a; }
  __host__ __device__ static constexpr int of_l(int a) { return a; }
};
template <>
struct Shape<kTrace> {  // 0 u, 1 2 p, 2 m, 3 e - T m, 4 e
  static constexpr int kArrays = 5, kOfJ = 4, kOfL = 4, kMatrices = 2, kTile = 64;
  __host__ __device__ static constexpr int of_j(int a) { return a; }
  __host__ __device__ static constexpr int of_l(int a) { return a < 3 ? a : 4; }
};

/// The terms of first features [begin, begin + gridDim.y).
template <int kForm>
__global__ void terms_kernel(Level level, Base base, int begin, Terms terms, SetList list) {
  const int row = static_cast<int>(blockIdx.y), i = begin + row;
  const int64_t j64 = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (j64 >= level.lead) return;
  const int j = static_cast<int>(j64);
  const double eta = level_eta(level), limit = *level.limit;
  bool never = i >= level.n || j >= level.n || j <= i;
  if (!never) never = level.left_out[i] || level.left_out[j];
  if (i < level.n && !level.left_out[i] && single_wins<kForm>(level, eta, limit, i)) {
    if (j == 0) hand_out(list, level.pivot, i, -1, -1);
    never = true;
  }
  PairTerms t{};
  if (!never) {
    t = pair_terms<kForm>(level, eta, limit, i, j);
    never = depend<kForm>(base, i, j);
  }
  if (kForm == kDefinite) {
    // Below loose the margin says nothing. Above it the factor takes 4.2 eta of every product, or more.
    const double loose = sqrt(eta), left = t.p_left - 4.0 * eta;
    if (!never && left < loose) {
      hand_out(list, level.pivot, i, j, -1);
      never = true;
    }
    terms.row(0, row)[j] = never ? 0.0 : t.p;
    terms.row(1, row)[j] = never ? kNever : sqrt(left) * (1.0 - 2.1 * loose);
    return;
  }
  if (kForm == kRatio) {
    if (!never && !(t.q_left > 0.0)) {
      hand_out(list, level.pivot, i, j, -1);
      never = true;
    }
    terms.row(0, row)[j] = never ? 0.0 : t.p;
    terms.row(1, row)[j] = never ? 0.0 : t.q;
    terms.row(2, row)[j] = never ? 0.0 : t.p_left;
    terms.row(3, row)[j] = never ? kNever : t.q_left * (1.0 - kDown);
    if (j == 0) {
      // Above 1 where i is not at the limit by itself; where it is, its row says never, and has to stay so.
      const double kappa = i < level.n ? fmax(exp(limit) * level.q_diagonal[i], 1.0) : 1.0;
      terms.factors[row] = make_double2(kappa, 8.0 * eta);
    }
    return;
  }
  const double more = i < level.n ? limit - level.q_diagonal[i] : 1.0;
  terms.row(0, row)[j] = never ? 0.0 : t.p;
  terms.row(1, row)[j] = never ? 0.0 : 2.0 * t.q;
  terms.row(2, row)[j] = never ? 1.0 : t.p_left;
  terms.row(3, row)[j] = never ? -kNever : t.q_left - more * t.p_left;
  terms.row(4, row)[j] = never ? -kNever : t.q_left;
  if (j == 0) terms.factors[row] = make_double2(more, 16.0 * eta * (fabs(more) + *level.q_largest));
}

/// Above 0 where the triple may win. tile: P_jl (and Q_jl; trace: 2 Q_jl); j, l: the terms in their order.
template <int kForm>
__device__ inline double triple_margin(const double* tile, const double* j, const double* l,
                                       double2 factors) {
  if (kForm == kDefinite) return fma(-j[1], l[1], magnitude(fma(-j[0], l[0], tile[0])));
  if (kForm == kRatio) {
    const double g = fma(-j[0], l[0], tile[0]), b = fma(-j[1], l[1], tile[1]);
    const double of_q = fma(-b, b, j[3] * l[3]);
    return fma(-factors.x, of_q, fma(-g, g, fma(j[2], l[2], factors.y)));
  }
  const double b = fma(-j[0], l[0], tile[0]), a = fma(-j[1], l[0], fma(-j[0], l[1], tile[1]));
  return fma(b, fma(factors.x, b, -a), fma(j[3], l[2], fma(l[3], j[2], factors.y)));
}

/// A thread's part of a tile that has, with one of the first features of a batch, a triple worth a second
/// look.
struct Hit {
  int32_t row, tile_j, tile_l, thread;  ///< row: the first of the batch
};
struct HitList {
  Hit* hits;
  unsigned int* found;
  unsigned int capacity;
};

/// Threads of a block stand 16 x 16, those of a warp 4 x 8: a load for its j serves 8 of them, one for its
/// l 4. Each has kTile/16 of the j and of the l of the tile, in pairs, so that loads are of 16 bytes.
__device__ inline int place_of(int thread_place, int a) { return (a >> 1) * 32 + thread_place * 2 + (a & 1); }
__device__ inline int place_j(int thread) { return (thread >> 6) * 4 + ((thread >> 3) & 3); }
__device__ inline int place_l(int thread) { return ((thread >> 5) & 1) * 8 + (thread & 7); }

inline constexpr int kThreads = 256, kStages = 3;
/// First features whose terms are in a block's memory at a time.
inline constexpr int kBatch = 16;
template <int kForm>
inline constexpr int kStageNumbers = kBatch*(Shape<kForm>::kOfJ + Shape<kForm>::kOfL) * Shape<kForm>::kTile;

/// The x-th pair of tiles (tj, tl), first <= tj <= tl < tiles, by rows from the last one.
__device__ inline void tile_pair(int64_t x, int tiles, int& tj, int& tl) {
  const int64_t from_end = static_cast<int64_t>((sqrt(8.0 * static_cast<double>(x) + 1.0) - 1.0) / 2.0);
  int64_t row = from_end;
  while (row * (row + 1) / 2 > x) --row;
  while ((row + 1) * (row + 2) / 2 <= x) ++row;
  tj = tiles - 1 - static_cast<int>(row);
  tl = tj + static_cast<int>(x - row * (row + 1) / 2);
}

struct Yes {
  static constexpr bool value = true;
};
struct No {
  static constexpr bool value = false;
};

/// One tile of pairs against the first features [begin + part y, ...) of `part` rows each.
template <int kForm>
__global__ void __launch_bounds__(kThreads)
    triples_kernel(Level level, int begin, int rows, int part, Terms terms, int tiles, HitList hits,
                   SetList list) {
  using S = Shape<kForm>;
  constexpr int kSide = S::kTile / 16, kVectors = S::kOfJ + S::kOfL, kNumbers = kStageNumbers<kForm>;
  extern __shared__ __align__(16) double stage_memory[];
  int tj, tl;
  tile_pair(blockIdx.x, tiles, tj, tl);
  const int row_begin = static_cast<int>(blockIdx.y) * part;
  // A first feature stands before its j.
  int row_end = min(min(rows, row_begin + part), (tj + 1) * S::kTile - begin);
  if (row_begin >= row_end || *list.found > list.capacity) return;
  const int thread = static_cast<int>(threadIdx.x), pj = place_j(thread), pl = place_l(thread);
  const bool diagonal = tj == tl;

  const auto load = [&](int batch, int stage) {
    double* to = stage_memory + stage * kNumbers;
    const int first = row_begin + batch * kBatch;
    constexpr int kCopies = kNumbers / 2, kOfVector = S::kTile / 2;
    for (int c = thread; c < kCopies; c += kThreads) {
      const int vector = c / kOfVector, within = c % kOfVector, row = vector / kVectors,
                v = vector % kVectors;
      const int at = min(first + row, rows - 1);
      const double* from = v < S::kOfJ ? terms.row(S::of_j(v), at) + tj * S::kTile
                                       : terms.row(S::of_l(v - S::kOfJ), at) + tl * S::kTile;
      gpu_copy16(to + 2 * c, from + 2 * within);
    }
    gpu_commit();
  };
  const int batches = (row_end - row_begin + kBatch - 1) / kBatch;
  load(0, 0);
  if (batches > 1) load(1, 1);

  double tile[kSide][kSide][S::kMatrices];
#pragma unroll
  for (int a = 0; a < kSide; ++a) {
    const int64_t j = int64_t{tj} * S::kTile + place_of(pj, a);
#pragma unroll
    for (int b = 0; b < kSide; b += 2) {
      const int64_t l = int64_t{tl} * S::kTile + place_of(pl, b);
      const double2 p = *reinterpret_cast<const double2*>(level.p + j * level.lead + l);
      tile[a][b][0] = p.x;
      tile[a][b + 1][0] = p.y;
      if (S::kMatrices == 2) {
        const double2 q = *reinterpret_cast<const double2*>(level.q + j * level.lead + l);
        constexpr double kTimes = kForm == kTrace ? 2.0 : 1.0;
        tile[a][b][S::kMatrices - 1] = kTimes * q.x;
        tile[a][b + 1][S::kMatrices - 1] = kTimes * q.y;
      }
    }
  }

  for (int batch = 0; batch < batches; ++batch) {
    if (batch + 1 < batches) {
      gpu_wait<1>();
    } else {
      gpu_wait<0>();
    }
    __syncthreads();  // the batch is there, and nobody reads the one before it any more
    if (batch + 2 < batches) load(batch + 2, (batch + 2) % kStages);
    const double* stage = stage_memory + (batch % kStages) * kNumbers;
    const int first = row_begin + batch * kBatch;
    int all_below = -1;  // the sign bit stays while every result is negative
    const auto look = [&](auto is_diagonal) {
#pragma unroll 2
      for (int r = 0; r < kBatch; ++r, stage += kVectors * S::kTile) {
        double2 factors = make_double2(0.0, 0.0);
        if (kForm != kDefinite) factors = terms.factors[min(first + r, rows - 1)];
        double of_j[kSide][S::kOfJ], of_l[kSide][S::kOfL];
#pragma unroll
        for (int v = 0; v < S::kOfJ; ++v) {
#pragma unroll
          for (int a = 0; a < kSide; a += 2) {
            const double2 x = *reinterpret_cast<const double2*>(stage + v * S::kTile + place_of(pj, a));
            of_j[a][v] = x.x;
            of_j[a + 1][v] = x.y;
          }
        }
#pragma unroll
        for (int v = 0; v < S::kOfL; ++v) {
#pragma unroll
          for (int b = 0; b < kSide; b += 2) {
            const double2 x =
                *reinterpret_cast<const double2*>(stage + (S::kOfJ + v) * S::kTile + place_of(pl, b));
            of_l[b][v] = x.x;
            of_l[b + 1][v] = x.y;
          }
        }
#pragma unroll
        for (int b = 0; b < kSide; ++b)
#pragma unroll
          for (int a = 0; a < kSide; ++a) {
            const int half = upper_half(triple_margin<kForm>(tile[a][b], of_j[a], of_l[b], factors));
            all_below &= !decltype(is_diagonal)::value || place_of(pj, a) < place_of(pl, b) ? half : -1;
          }
      }
    };
    if (diagonal) {
      look(Yes());
    } else {
      look(No());
    }
    if (all_below >= 0) {
      const unsigned int at = atomicAdd(hits.found, 1U);
      if (at < hits.capacity) hits.hits[at] = {first, tj, tl, thread};
    }
  }
}

/// The second look: every triple of a hit by itself, with the margin as it is.
template <int kForm>
__global__ void expand_kernel(Level level, Base base, int begin, int rows, Terms terms, HitList hits,
                              SetList list) {
  using S = Shape<kForm>;
  constexpr int kSide = S::kTile / 16, kSets = kSide * kSide * kBatch;
  const unsigned int found = *hits.found;
  if (found > hits.capacity) {
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(list.found, list.capacity + 1);
    return;
  }
  const double eta = level_eta(level);
  const uint64_t all = uint64_t{found} * kSets;
  for (uint64_t x = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; x < all;
       x += uint64_t{blockDim.x} * gridDim.x) {
    const Hit hit = hits.hits[x / kSets];
    const int within = static_cast<int>(x % kSets), row = hit.row + within / (kSide * kSide);
    const int a = within / kSide % kSide, b = within % kSide;
    const int j = hit.tile_j * S::kTile + place_of(place_j(hit.thread), a),
              l = hit.tile_l * S::kTile + place_of(place_l(hit.thread), b);
    if (j >= l || l >= level.n || row >= rows) continue;
    double tile[2] = {level.p[j * level.lead + l], 0.0}, of_j[S::kOfJ], of_l[S::kOfL];
    if (S::kMatrices == 2) tile[1] = (kForm == kTrace ? 2.0 : 1.0) * level.q[j * level.lead + l];
    for (int v = 0; v < S::kOfJ; ++v) of_j[v] = terms.row(S::of_j(v), row)[j];
    for (int v = 0; v < S::kOfL; ++v) of_l[v] = terms.row(S::of_l(v), row)[l];
    double2 factors = make_double2(0.0, 0.0);
    if (kForm != kDefinite) factors = terms.factors[row];
    if (!(triple_margin<kForm>(tile, of_j, of_l, factors) >= 0.0)) continue;
    if (kForm == kDefinite) {  // the fast look took more off than need be
      if (of_j[1] >= kNever || of_l[1] >= kNever) continue;
      const double left_j = fmax(0.0, 1.0 - of_j[0] * of_j[0] - 4.0 * eta),
                   left_l = fmax(0.0, 1.0 - of_l[0] * of_l[0] - 4.0 * eta);
      if (!(fabs(tile[0] - of_j[0] * of_l[0]) + 4.0 * eta > sqrt(left_j * left_l))) continue;
    }
    if (depend<kForm>(base, j, l)) continue;
    hand_out(list, level.pivot, begin + row, j, l);
  }
}

/// What a pivot on h leaves of the base: first its vectors, of features after h, ...
template <int kForm>
__global__ void reduce_vectors_kernel(Level from, Base base, int h, Level to, double* p_row, double* q_row,
                                      double* scale, SetList list) {
  const int64_t j64 = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (j64 >= from.n) return;
  const int j = static_cast<int>(j64);
  const double eta = from.eta, limit = *from.limit;
  if (j == h) {
    double next = limit;
    if (kForm == kRatio) next = limit + log(from.q_diagonal[h]);
    if (kForm == kTrace) next = limit - from.q_diagonal[h];
    *to.limit = next;
  }
  bool out = j <= h || from.left_out[h] || from.left_out[j];
  if (!from.left_out[h] && single_wins<kForm>(from, eta, limit, h)) {
    if (j == 0) hand_out(list, -1, h, -1, -1);
    out = true;
  }
  if (!out) out = depend<kForm>(base, h, j);
  PairTerms t{};
  if (!out) {
    constexpr double kLoose = 1e-6;  // below it the rest is known too badly
    t = pair_terms<kForm>(from, eta, limit, h, j);
    if (t.p_left < kLoose || (kForm == kRatio && !(t.q_left > kDown * from.q_diagonal[j]))) {
      hand_out(list, -1, h, j, -1);
      out = true;
    }
    if (kForm == kRatio) t.q_left -= kDown * from.q_diagonal[j];
  }
  to.left_out[j] = out ? 1 : 0;
  const double s = out ? 0.0 : 1.0 / sqrt(t.p_left);
  p_row[j] = t.p * s;
  q_row[j] = t.q * s;
  scale[j] = s;
  to.q_diagonal[j] = fmax(t.q_left, 0.0) * s * s;
  if (!out) {
    atomic_smallest(to.smallest, t.p_left);
    atomic_largest(to.q_largest, fmax(t.q_left, 0.0) * s * s);
  }
}
/// ... then the matrices, rows and columns after h.
template <int kForm>
__global__ void reduce_matrix_kernel(Level from, int h, Level to, const double* p_row, const double* q_row,
                                     const double* scale) {
  const int64_t l = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  const int64_t j = h + 1 + static_cast<int64_t>(blockIdx.y);
  if (j >= from.n || l <= j || l >= from.n) return;
  const int64_t at = j * from.lead + l;
  const double s = scale[j] * scale[l];
  to.p[at] = fma(-p_row[j], p_row[l], from.p[at] * s);
  if (kForm == kRatio) to.q[at] = fma(-q_row[j], q_row[l], from.q[at] * s);
  if (kForm == kTrace) to.q[at] = fma(-q_row[j], p_row[l], fma(-p_row[j], q_row[l], from.q[at] * s));
}

/// The base's diagonal: scale_j = P_jj^(-1/2), the diagonal of Q so scaled, features at the limit by
/// themselves.
struct BaseFacts {
  double smallest;  ///< of P's diagonal
  double q_largest;
  unsigned int broken;  ///< entries that are no numbers
};
template <int kForm>
__global__ void base_diagonal_kernel(Level level, double* scale, BaseFacts* facts) {
  const int64_t j = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (j >= level.n) return;
  constexpr double kLoose = 1e-6;
  const double own = level.p[j * level.lead + j];
  if (!isfinite(own)) atomicAdd(&facts->broken, 1U);
  const bool loose = !(own >= kLoose);
  level.left_out[j] = loose ? 1 : 0;
  scale[j] = loose ? 1.0 : 1.0 / sqrt(own);
  if (loose) return;
  atomic_smallest(&facts->smallest, own);
  if (kForm == kDefinite) return;
  const double other = fmax(level.q[j * level.lead + j], 0.0) / own;
  level.q_diagonal[j] = kForm == kRatio ? other * (1.0 - 4.0 * level.eta) : other;
  atomic_largest(&facts->q_largest, other);
}
template <int kForm>
__global__ void base_scale_kernel(Level level, const double* scale, BaseFacts* facts) {
  const int64_t l = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  const int64_t j = blockIdx.y + int64_t{65535} * blockIdx.z;
  if (j >= level.n || l < j || l >= level.n) return;
  const int64_t at = j * level.lead + l;
  const double s = scale[j] * scale[l], p = level.p[at] * s;
  if (!isfinite(p)) atomicAdd(&facts->broken, 1U);
  level.p[at] = p;
  if (kForm == kDefinite) return;
  const double q = level.q[at] * s;
  if (!isfinite(q)) atomicAdd(&facts->broken, 1U);
  level.q[at] = q;
}
static __global__ void add_diagonal_kernel(double* matrix, int64_t lead, int64_t n, const double* added) {
  const int64_t j = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (j < n) matrix[j * lead + j] += added[j];
}

/// out_jl = times F_j'F_l + before out_jl for j <= l: the plug-in's own product, where no library is at hand.
static __global__ void product_kernel(const double* factor, int64_t k, int64_t factor_lead, int64_t n,
                                      double times, double before, double* out, int64_t lead) {
  constexpr int kTile = 64, kDepth = 16;
  __shared__ double of_j[kDepth][kTile + 1], of_l[kDepth][kTile + 1];
  const int tj = static_cast<int>(blockIdx.y), tl = static_cast<int>(blockIdx.x);
  if (tl < tj) return;
  const int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
  double sum[4][4] = {};
  for (int64_t at = 0; at < k; at += kDepth) {
    for (int c = static_cast<int>(threadIdx.x); c < kDepth * kTile; c += 256) {
      const int d = c % kDepth, f = c / kDepth;
      const int64_t j = int64_t{tj} * kTile + f, l = int64_t{tl} * kTile + f;
      of_j[d][f] = at + d < k && j < n ? factor[j * factor_lead + at + d] : 0.0;
      of_l[d][f] = at + d < k && l < n ? factor[l * factor_lead + at + d] : 0.0;
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d)
#pragma unroll
      for (int a = 0; a < 4; ++a)
#pragma unroll
        for (int b = 0; b < 4; ++b) sum[a][b] = fma(of_j[d][y + 16 * a], of_l[d][x + 16 * b], sum[a][b]);
    __syncthreads();
  }
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      const int64_t j = int64_t{tj} * kTile + y + 16 * a, l = int64_t{tl} * kTile + x + 16 * b;
      if (j > l || l >= n) continue;
      double& entry = out[j * lead + l];
      entry = fma(times, sum[a][b], before == 0.0 ? 0.0 : before * entry);
    }
}

}  // namespace gpu
