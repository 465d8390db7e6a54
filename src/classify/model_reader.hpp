#pragma once
/// Members of a model file, checked before use.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <subspectra/options.hpp>
#include "core/types.hpp"

namespace subspectra {

/// Reads members of a model file; every failure names the file and the member.
class ModelReader {
 public:
  ModelReader(const nlohmann::json& root, std::string file) : root_(root), file_(std::move(file)) {}

  [[nodiscard]] const std::string& file() const { return file_; }
  [[noreturn]] void fail(std::string_view member, std::string_view rule) const;

  [[nodiscard]] bool has(const std::string& member) const { return root_.contains(member); }
  /// The value at a path of members with dots between.
  [[nodiscard]] const nlohmann::json& at(std::string_view path) const;
  [[nodiscard]] std::string text(std::string_view path) const;
  [[nodiscard]] bool truth(std::string_view path) const;
  [[nodiscard]] Index count(std::string_view path) const;
  [[nodiscard]] double number(std::string_view path) const;
  /// A number, or rel:F.
  [[nodiscard]] RidgeAmount ridge(std::string_view path) const;
  [[nodiscard]] double positive_number(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view path) const;
  [[nodiscard]] Vector numbers(std::string_view path, Index size) const;
  /// null means "not used".
  [[nodiscard]] Vector optional_numbers(std::string_view path, Index size) const;
  [[nodiscard]] Matrix matrix(std::string_view path, Index rows, Index columns) const;
  /// A matrix whose rows are counted one by one before anything of its size is set aside.
  [[nodiscard]] Matrix counted_matrix(std::string_view path, Index rows, Index columns) const;
  /// K shares that sum to 1.
  [[nodiscard]] Vector shares(std::string_view path, Index classes) const;
  /// Fails where no class has both a prior and a share of the rows.
  void check_priors(const Vector& priors, const Vector& shares) const;

  /// A whole number from 0 up that an Index holds; what the parser stores as unsigned may be larger.
  [[nodiscard]] static bool is_count(const nlohmann::json& value);
  /// Of a list; 0 for anything else.
  [[nodiscard]] static Index length(const nlohmann::json& value);
  /// Of the first row of a list of lists; 0 for anything else.
  [[nodiscard]] static Index width(const nlohmann::json& value);

 private:
  [[nodiscard]] Vector row(const nlohmann::json& value, std::string_view path, Index size) const;

  const nlohmann::json& root_;
  std::string file_;
};

}  // namespace subspectra
