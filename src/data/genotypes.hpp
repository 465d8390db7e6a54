#pragma once
/// Genotypes as PLINK packs them: two bits a sample, variant after variant. They stay packed, in memory or in
/// the file; a variant is decoded when its values are asked for, and products are taken from the codes.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/column_source.hpp"

namespace subspectra {

class Genotypes final : public ColumnSource {
 public:
  using ReadAt = std::function<void(std::uint64_t offset, std::span<char> into)>;
  struct Parts {
    std::string name;  ///< of the file
    Index samples = 0, variants = 0;
    /// variants x bytes_of_variant(samples), or empty: they are read where they are asked for.
    std::vector<std::uint8_t> bytes = {};
    ReadAt read_at = {};           ///< for any number of threads
    std::uint64_t first_byte = 0;  ///< of the first variant
    std::uint64_t memory_limit = 0;
    Index block_bytes = kBlockBytes;
  };
  static constexpr Index kBlockBytes = 1 << 18;
  [[nodiscard]] static constexpr Index bytes_of_variant(Index samples) { return (samples + 3) / 4; }

  explicit Genotypes(Parts parts);

  void read(Index first, Index count, double* out) const override;
  void read_part(Index j, Index row, Index count, double* out) const override;
  void transposed_times(const MatrixRef& u, linalg::MutableMatrix out, int threads) const override;
  [[nodiscard]] std::shared_ptr<const ColumnSource> with_each_value(EachValue change) const override;
  [[nodiscard]] std::shared_ptr<const ColumnSource> selected(
      const std::vector<Index>& features) const override;
  [[nodiscard]] std::unique_ptr<const ColumnTallies> tallies(std::span<const int> codes,
                                                             int classes) const override;

 private:
  friend class GenotypeTallies;
  struct Packed {
    std::uint64_t id = 0;  ///< of this table among all
    Index samples = 0, variants = 0, stride = 0, block = 1;
    std::vector<std::uint8_t> bytes;
    ReadAt read_at;
    std::uint64_t first_byte = 0;
  };
  using CodeValues = Eigen::Matrix<double, 4, Eigen::Dynamic>;
  Genotypes(const Genotypes& of, std::shared_ptr<const std::vector<Index>> variants,
            std::shared_ptr<const CodeValues> values);

  [[nodiscard]] Index variant(Index j) const {
    return variants_ ? (*variants_)[static_cast<std::size_t>(j)] : j;
  }
  [[nodiscard]] const double* values(Index j) const;  ///< of the four codes
  /// The bytes of column j; they stand until the thread asks for another's.
  [[nodiscard]] const std::uint8_t* bytes_of(Index j) const;
  /// Those of `count` columns from `first` on, one after another, in `scratch` where they do not stand so.
  [[nodiscard]] const std::uint8_t* block(Index first, Index count, std::vector<std::uint8_t>& scratch) const;
  void fetch(Index variant, Index count, std::uint8_t* out) const;

  std::shared_ptr<const Packed> packed_;
  std::shared_ptr<const std::vector<Index>> variants_;  ///< which these are; null: all
  std::shared_ptr<const CodeValues> values_;            ///< null: 2, missing, 1, 0 in every column
};

}  // namespace subspectra
