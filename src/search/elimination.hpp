#pragma once
/// Gaussian elimination of a symmetric positive definite matrix S and a right-hand side C, one pivot at a
/// time, the pivot chosen by the caller from what it sees: with m pivots done, L the Cholesky factor over
/// them, w_i = L^{-1} S_{pivots,i},
///     d_i = S_ii - |w_i|^2        (the pivot that i would be)
///     C_i = M_i - w_i' L^{-1} M_pivots   (an r-vector)
/// Forward selection is this with S = B, C = M and the pivot of largest gain; backward elimination is this
/// with S = P = B^{-1}, C = U = P M and the pivot of smallest loss, since deleting i from the inverse is
/// P <- P - q_i q_i'/P_ii, U <- U - q_i U_i'/P_ii: a Schur complement as well.
#include <memory>
#include <vector>

#include "core/types.hpp"
#include "linalg/blas.hpp"
#include "spectral/pencil.hpp"

namespace subspectra::search {

class Elimination {
 public:
  virtual ~Elimination() = default;
  Elimination(const Elimination&) = delete;
  Elimination& operator=(const Elimination&) = delete;

  /// Slots begin()..end()-1 hold what has not been eliminated, and what may not be (alive() == 0).
  [[nodiscard]] Index begin() const { return begin_; }
  [[nodiscard]] Index end() const { return static_cast<Index>(feature_.size()); }
  [[nodiscard]] Index feature(Index slot) const { return feature_[static_cast<std::size_t>(slot)]; }
  /// Where a feature is now; -1 for one that is not here or was eliminated.
  [[nodiscard]] Index slot(Index feature) const { return slot_[static_cast<std::size_t>(feature)]; }
  [[nodiscard]] bool alive(Index slot) const { return alive_[static_cast<std::size_t>(slot)] != 0; }
  [[nodiscard]] bool all_alive() const;                         ///< of the slots begin()..end()-1
  [[nodiscard]] const Vector& d() const { return d_; }          ///< by slot
  [[nodiscard]] const Vector& start() const { return start_; }  ///< diag(S) at the start, by slot
  [[nodiscard]] const Matrix& c() const { return c_; }          ///< slots x r
  void retire(Index slot) { alive_[static_cast<std::size_t>(slot)] = 0; }

  /// Makes `slot` the next pivot: 2 flops an entry of w and C beside what the column costs. `w` afterwards is
  /// column() over the slots begin()..end()-1 as they are now.
  void eliminate(Index slot);
  [[nodiscard]] double w(Index slot) const { return w_[slot]; }
  /// The Schur complement over a few slots, in full, as it is now.
  [[nodiscard]] virtual Matrix block(const std::vector<Index>& slots) const = 0;
  /// Counts how often d and C were made afresh instead of updated.
  [[nodiscard]] Index refreshed() const { return refreshed_; }

 protected:
  Elimination(std::vector<Index> features, Index universe, Vector d, Matrix c, bool swaps);
  /// Moves the pivot where the storage wants it and returns its new slot; slots may change for two features.
  virtual Index bring_forward(Index slot) { return slot; }
  /// w over begin()..end()-1 into w_: column of the Schur complement over sqrt(d_slot).
  virtual void residual_column(Index slot) = 0;
  virtual void after() {}
  void swap_slots(Index a, Index b);

  bool swaps_;  ///< bring_forward moves pivots to begin(), and begin() moves on
  Index begin_ = 0;
  std::vector<Index> feature_, slot_;
  std::vector<char> alive_;
  Vector d_, start_, w_;
  Index refreshed_ = 0;
  Matrix c_;
};

/// Right-looking and blocked: S is at hand (lower triangle of `s`, n x n, destroyed). Pivots are swapped to
/// the front as in LAPACK's DPSTRF; every 64 pivots the rest of S is updated by one rank-64 product in tiles,
/// so that a full elimination costs n^3/3 flops nearly all of which are DGEMM's.
[[nodiscard]] std::unique_ptr<Elimination> dense_elimination(Matrix s, std::vector<Index> features,
                                                             Index universe, Matrix c, int threads);

/// Left-looking: columns of B are asked of the pencil one at a time and w is kept for at most `most` pivots:
/// p x most numbers, O(p m) flops for pivot m beside the column. Slots are the pencil's positions.
[[nodiscard]] std::unique_ptr<Elimination> column_elimination(const Pencil& pencil,
                                                              const std::vector<Index>& candidates,
                                                              Index most, int threads);

/// The inverse side of B = Z'Z + eps I with more columns than rows, P = (I - Z'HZ)/eps, H = (eps I +
/// ZZ')^{-1} (Woodbury), over `features`; nothing p x p. Deleting i: H += h h'/(1 - z_i'h), h = H z_i. Digits
/// are lost on the way, so H, d and C are made afresh from the surviving columns every 50 pivots.
[[nodiscard]] std::unique_ptr<Elimination> woodbury_elimination(const Pencil& pencil,
                                                                const std::vector<Index>& features,
                                                                int threads);

}  // namespace subspectra::search
