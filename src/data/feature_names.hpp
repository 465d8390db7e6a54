#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace subspectra {

/// The names of p features: given ones, or x0, x1, ... made on demand (ten million of them take no memory).
class FeatureNames {
 public:
  FeatureNames() = default;
  explicit FeatureNames(Index size) : size_(size) {}
  explicit FeatureNames(std::vector<std::string> names)
      : size_(static_cast<Index>(names.size())),
        given_(std::make_shared<const std::vector<std::string>>(std::move(names))) {}

  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] bool given() const { return given_ != nullptr && !given_->empty(); }
  [[nodiscard]] std::string operator[](Index j) const;
  /// The given names where they stand; none where they are made.
  [[nodiscard]] std::span<const std::string> list() const {
    return given() ? std::span<const std::string>(*given_) : std::span<const std::string>();
  }
  /// Every feature of that name, ascending (duplicate names are legal).
  [[nodiscard]] std::vector<Index> find(std::string_view name) const;
  /// find() for each of `names`, in one pass over the features.
  [[nodiscard]] std::vector<std::vector<Index>> find_each(const std::vector<std::string>& names) const;
  /// Up to `most` existing names close to `name` in spelling, nearest first: for "did you mean".
  [[nodiscard]] std::vector<std::string> near(std::string_view name, std::size_t most = 3) const;
  [[nodiscard]] std::vector<std::string> all() const;  ///< every name, made where it was not given
  [[nodiscard]] FeatureNames selected(const std::vector<Index>& features) const;
  /// The names of the first few of `features`, for messages: "V3, V7 and 12 more".
  [[nodiscard]] std::string some(const std::vector<Index>& features) const;

 private:
  Index size_ = 0;
  std::shared_ptr<const std::vector<std::string>>
      given_;  ///< shared by the copies every fold makes; null: x0, x1, ...
};

/// The entries of `candidates` within a small edit distance of `name`, nearest first.
[[nodiscard]] std::vector<std::string> near_names(std::string_view name,
                                                  const std::vector<std::string>& candidates,
                                                  std::size_t most = 3);

/// Pos. of a set of duplicated names: "V3 (columns 2, 7)"; empty when all differ.
[[nodiscard]] std::vector<std::string> duplicate_name_reports(const FeatureNames& names);

}  // namespace subspectra
