#pragma once
/// The values that options are made of. An option struct is plain data with its defaults; its static `visit`
/// names and describes every field once, and everything else follows from that: the command line's flags and
/// --help, JSON, the reference page, keywords in other languages.
///
///     struct Thing {
///       double tolerance = 1e-9;
///       template <class Self, class Visitor>
///       static void visit(Self& o, Visitor&& field) {
///         field("tolerance", o.tolerance, "stop when the relative change falls below it");
///       }
///     };
///
/// A help text names another option as ⟨field_name⟩, which every language spells in its own way.
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <subspectra/export.hpp>
#include <subspectra/types.hpp>

namespace subspectra {

/// The words for the values of an enum: `static constexpr std::array<std::pair<E, std::string_view>, n>
/// kNames`.
template <class E>
struct EnumNames;

/// The sizes asked for: one, all from lo to hi, every so many of them, a list, a series that grows by about
/// a half each time, or (not given: KRange{}, an empty optional) 1 to min(p, 50).
struct KRange {
  Index lo = 0;  ///< the smallest one
  Index hi = 0;  ///< the largest one; of a series that knows its end only by resolved(), the largest Index
  KRange() = default;
  KRange(Index k)
      : lo(k),
        hi(k),
        shape_(Shape::kRange) {}  // NOLINT(google-explicit-constructor): {.k = 10} is what people write
  KRange(Index least, Index most) : lo(least), hi(most), shape_(Shape::kRange) {}
  /// Nothing: not given. So {.k = cv.k_best()} is right for a method that has no size, too.
  KRange(std::optional<Index> k)  // NOLINT(google-explicit-constructor)
      : lo(k.value_or(0)), hi(lo), shape_(k ? Shape::kRange : Shape::kDefault) {}
  /// least, least + step, ... up to most.
  [[nodiscard]] SUBSPECTRA_EXPORT static KRange steps(Index least, Index most, Index step);
  /// These, in any order.
  [[nodiscard]] SUBSPECTRA_EXPORT static KRange list(std::vector<Index> sizes);
  /// 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, ... up to the number of candidates, at most 1,000.
  [[nodiscard]] SUBSPECTRA_EXPORT static KRange log();

  /// A size was asked for, be it one that cannot be, such as 0.
  [[nodiscard]] bool given() const { return shape_ != Shape::kDefault || lo != 0 || hi != 0; }
  /// As far as there are candidates: not given, or log().
  [[nodiscard]] bool open_ended() const { return !given() || shape_ == Shape::kLog; }
  /// One size and no other.
  [[nodiscard]] bool single() const { return given() && lo == hi; }
  /// All sizes from lo to hi, or not given.
  [[nodiscard]] bool contiguous() const { return shape_ == Shape::kDefault || shape_ == Shape::kRange; }
  /// Whether the size is one of those asked for.
  [[nodiscard]] SUBSPECTRA_EXPORT bool contains(Index k) const;
  /// How many they are. O(1) but for a series that resolved() has not ended.
  [[nodiscard]] SUBSPECTRA_EXPORT Index count() const;
  /// All of them, ascending; call resolved() first, or there may be very many.
  [[nodiscard]] SUBSPECTRA_EXPORT std::vector<Index> sizes() const;
  /// Those from least to most; nothing where none lies there.
  [[nodiscard]] SUBSPECTRA_EXPORT std::optional<KRange> within(Index least, Index most) const;
  /// The sizes for p candidates, which `noun` names in messages; throws InvalidArgument outside 1..p.
  [[nodiscard]] SUBSPECTRA_EXPORT KRange resolved(Index p, std::string_view noun = "feature") const;
  /// As it is written: "10", "1:20", "1:100:5", "1,2,5,10,20", "log"; "" where not given.
  [[nodiscard]] SUBSPECTRA_EXPORT std::string text() const;
  bool operator==(const KRange& other) const {
    return lo == other.lo && hi == other.hi && given() == other.given() &&
           contiguous() == other.contiguous() && (contiguous() || shape_ == other.shape_) &&
           step_ == other.step_ && list_ == other.list_;
  }

 private:
  enum class Shape { kDefault, kRange, kSteps, kList, kLog };
  Shape shape_ = Shape::kDefault;  ///< 0 that was written is not the 0 of nothing
  Index step_ = 1;                 ///< kSteps
  std::vector<Index> list_;        ///< kList: ascending
};

/// What is asked to be added to the diagonal of the within-class covariance: a number, a fraction of each
/// column's own variance, the fraction with the smallest cross-validated error, or (none of them) the
/// fraction that the data need.
struct Ridge {
  std::optional<double> value = {};     ///< the same for every column, in squared units of the table
  std::optional<double> fraction = {};  ///< of each column's own variance: no answer depends on units
  bool cross_validated = false;         ///< the fraction is chosen inside the training rows (fit, evaluate)
  [[nodiscard]] static Ridge by_cross_validation() {
    Ridge ridge;
    ridge.cross_validated = true;
    return ridge;
  }
  [[nodiscard]] bool automatic() const { return !value && !fraction && !cross_validated; }
  bool operator==(const Ridge&) const = default;
};

/// What was added to the within-class covariance B: B + value I + fraction diag(B). A column that does not
/// vary within any class gets the fraction of its total variance.
struct RidgeAmount {
  double value = 0.0;
  double fraction = 0.0;
  constexpr RidgeAmount() = default;
  constexpr RidgeAmount(double number, double of_variances = 0.0)  // NOLINT(google-explicit-constructor)
      : value(number), fraction(of_variances) {}
  auto operator<=>(const RidgeAmount&) const = default;
};

/// How far the within-class correlations of a rule are pulled towards 0, from 0 (not at all) to 1; not given:
/// as far as their own uncertainty says (docs/models.md).
struct Shrinkage {
  std::optional<double> intensity = {};
  double beyond =
      0.0;  ///< of what `intensity` not given leaves of a correlation, the share to take away, too
  constexpr Shrinkage() = default;
  constexpr Shrinkage(double share) : intensity(share) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool automatic() const { return !intensity; }
  bool operator==(const Shrinkage&) const = default;
};

/// Bytes, written 512M, 2G, 1.5GiB (powers of 1024).
struct ByteSize {
  std::uint64_t bytes = 0;  ///< 0: no limit given
  bool operator==(const ByteSize&) const = default;
};

/// The weight of a penalty: a falling path of them, one chosen by cross-validation, a fraction of the
/// largest, or a number.
struct LambdaChoice {
  enum class Kind { kPath, kCv, kCvMin, kAuto, kValue };
  Kind kind = Kind::kPath;
  double value = 0.0;  ///< kValue: lambda; kAuto: the fraction of the largest one, 0: the method's own
  constexpr LambdaChoice() = default;
  constexpr LambdaChoice(double lambda)
      : kind(Kind::kValue), value(lambda) {}  // NOLINT(google-explicit-constructor)
  constexpr LambdaChoice(Kind how, double number = 0.0)
      : kind(how), value(number) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool cross_validated() const { return kind == Kind::kCv || kind == Kind::kCvMin; }
  bool operator==(const LambdaChoice&) const = default;
};

/// The start of an iteration by its name: of Q (Q-alpha), the leading eigenvectors at equal weights, random,
/// or the former behind a column of ones. Optimal scoring has the first alone: the scores that the features
/// tell apart best at equal weights.
enum class StartKind { kEqual, kRandom, kOnes };
template <>
struct EnumNames<StartKind> {
  static constexpr std::array<std::pair<StartKind, std::string_view>, 3> kNames = {
      {{StartKind::kEqual, "equal"}, {StartKind::kRandom, "random"}, {StartKind::kOnes, "ones"}}};
};

/// Where an iteration starts: by a name, or at a matrix that is given, by its numbers or by the .npy, .csv or
/// .tsv file that holds them.
struct Start {
  StartKind kind = StartKind::kEqual;
  DenseMatrix matrix;
  std::string file;
  Start() = default;
  Start(StartKind name) : kind(name) {}  // NOLINT(google-explicit-constructor): {.start = StartKind::kRandom}
  Start(DenseMatrix numbers)             // NOLINT(google-explicit-constructor)
      : matrix(std::move(numbers)) {}
  [[nodiscard]] static Start from_file(std::string path) {
    Start start;
    start.file = std::move(path);
    return start;
  }
  [[nodiscard]] bool given() const { return !matrix.empty() || !file.empty(); }
  [[nodiscard]] bool is(StartKind name) const { return !given() && kind == name; }
  bool operator==(const Start&) const = default;
};

/// What a set S is judged by, T = M_S' B_S^-1 M_S: its largest eigenvalue, its trace, or log det(I + T); auto
/// is the first where T has one eigenvalue (two classes) and for matrices, and the last for more classes, all
/// of whose discriminants count then.
enum class Criterion { kLargest, kTrace, kWilks, kAuto };
template <>
struct EnumNames<Criterion> {
  static constexpr std::array<std::pair<Criterion, std::string_view>, 4> kNames = {
      {{Criterion::kAuto, "auto"},
       {Criterion::kLargest, "largest"},
       {Criterion::kTrace, "trace"},
       {Criterion::kWilks, "wilks"}}};
};

/// What to do with a missing value (NaN).
enum class MissingPolicy { kError, kMean, kMedian, kIndicator, kDrop };
template <>
struct EnumNames<MissingPolicy> {
  static constexpr std::array<std::pair<MissingPolicy, std::string_view>, 5> kNames = {
      {{MissingPolicy::kError, "error"},
       {MissingPolicy::kMean, "mean"},
       {MissingPolicy::kMedian, "median"},
       {MissingPolicy::kIndicator, "indicator"},
       {MissingPolicy::kDrop, "drop"}}};
};

/// What to do with columns in which a few values lie far from all others.
enum class Transform { kAuto, kNone, kAsinh };
template <>
struct EnumNames<Transform> {
  static constexpr std::array<std::pair<Transform, std::string_view>, 3> kNames = {
      {{Transform::kAuto, "auto"}, {Transform::kNone, "none"}, {Transform::kAsinh, "asinh"}}};
};

struct PrepareOptions {
  MissingPolicy missing = MissingPolicy::kError;
  bool standardize = false;
  Transform transform = Transform::kAuto;  ///< auto: a composite method compares, all others leave it
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "missing", o.missing,
        "what to do with missing values: refuse, put the column's training mean or median, put the mean and add a 0/1 feature that says where it was missing, or drop the row");
    field("standardize", o.standardize,
          "divide every column by its standard deviation (learned on training rows)");
    field(
        "transform", o.transform,
        "asinh takes of every column asinh((x - median)/spread), which draws far values in (learned on training rows); auto: method auto compares, others leave the columns");
  }
};

/// Into how many parts the rows are cut, each held out once; 0: every row by itself (leave one out). Not
/// given (FoldCount{}) they are 5, and fewer where a class has fewer rows.
struct FoldCount {
  Index folds = 5;
  bool given = false;  ///< a number that was asked for is taken or refused
  constexpr FoldCount() = default;
  constexpr FoldCount(Index count)
      : folds(count), given(true) {}  // NOLINT(google-explicit-constructor): {.folds = 10}
  bool operator==(const FoldCount& other) const { return folds == other.folds; }
};
inline constexpr FoldCount kLeaveOneOut{0};

}  // namespace subspectra
