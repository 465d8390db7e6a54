#include "evaluate/evaluation_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "core/base64.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
static_assert(std::endian::native == std::endian::little, "packed answers are little-endian");

std::vector<double> plain(const Vector& values) { return {values.begin(), values.end()}; }

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(); }

json exact_used_json(const UsedConfiguration& used) {
  return {{"method", used.method},
          {"lambda", used.lambda ? json(*used.lambda) : json()},
          {"ridge", used.ridge ? json{used.ridge->value, used.ridge->fraction} : json()},
          {"k", used.k ? json(*used.k) : json()},
          {"transform", OptionCodec<Transform>::json(used.transform)},
          {"shrinkage",
           {used.shrinkage.intensity ? json(*used.shrinkage.intensity) : json(), used.shrinkage.beyond}}};
}

RidgeAmount ridge_from(const JsonMember& member) {
  const auto numbers = member.numbers();
  if (numbers.size() != 2 || !std::isfinite(numbers[0]) || !std::isfinite(numbers[1]))
    member.fail("must be two finite numbers");
  return {numbers[0], numbers[1]};
}

UsedConfiguration used_from(const JsonMember& member) {
  UsedConfiguration used;
  used.method = member.at("method").text();
  if (!member.at("lambda").is_null()) used.lambda = member.at("lambda").number();
  if (!member.at("ridge").is_null()) used.ridge = ridge_from(member.at("ridge"));
  if (!member.at("k").is_null()) used.k = member.at("k").count();
  used.transform = member.at("transform").choice<Transform>();
  const auto shrinkage = member.at("shrinkage").numbers();
  if (shrinkage.size() != 2 || !std::isfinite(shrinkage[1]))
    member.at("shrinkage").fail("must be two numbers");
  if (!std::isnan(shrinkage[0])) used.shrinkage.intensity = shrinkage[0];
  used.shrinkage.beyond = shrinkage[1];
  return used;
}

/// The answers as bytes: the class named of every row, then the log posteriors row by row.
std::string packed_answers(const HeldOutAnswers& answers) {
  std::string bytes;
  for (const int predicted : answers.predicted) {
    const auto code = static_cast<std::int32_t>(predicted);
    bytes.append(reinterpret_cast<const char*>(&code), sizeof code);
  }
  bytes.append(reinterpret_cast<const char*>(answers.log_posteriors.data()),
               answers.log_posteriors.size() * sizeof(float));
  return base64(bytes);
}

std::shared_ptr<const HeldOutAnswers> answers_from(const JsonMember& member, std::size_t rows, int classes) {
  const auto bytes = bytes_of_base64(member.text());
  const std::size_t posteriors = rows * static_cast<std::size_t>(classes);
  if (!bytes || bytes->size() != rows * sizeof(std::int32_t) + posteriors * sizeof(float))
    member.fail("must hold the packed answers of the held-out rows");
  auto answers = std::make_shared<HeldOutAnswers>();
  for (std::size_t i = 0; i < rows; ++i) {
    std::int32_t code = 0;
    std::memcpy(&code, bytes->data() + i * sizeof code, sizeof code);
    if (code < 0 || code >= classes) member.fail("names a class that is none");
    answers->predicted.push_back(code);
  }
  answers->log_posteriors.resize(posteriors);
  if (posteriors > 0)
    std::memcpy(answers->log_posteriors.data(), bytes->data() + rows * sizeof(std::int32_t),
                posteriors * sizeof(float));
  constexpr float kMostLog = 1e-3F;  // of a probability of 1, rounded
  for (const float log : answers->log_posteriors) {
    if (!(log <= kMostLog)) member.fail("holds a probability above 1");
  }
  return answers;
}

json score_json(Index k, const HeldOutScore& score, bool permuted) {
  json out = {{"k", k}, {"rows", score.rows}, {"wrong", plain(score.wrong)}};
  if (permuted) return out;
  out["weight"] = plain(score.weight);
  out["log_loss"] = score.log_loss;
  out["features"] = score.features;
  out["entries"] = score.entries;
  out["lambda"] = number_or_null(score.lambda);
  if (score.used) out["used"] = exact_used_json(*score.used);
  if (score.answers) out["answers"] = packed_answers(*score.answers);
  return out;
}

json scores_json(const ScoresByK& scores, bool permuted) {
  json sizes = json::array();
  for (const auto& [k, score] : scores) sizes.push_back(score_json(k, score, permuted));
  return sizes;
}

double amount(const JsonMember& member) {
  const double value = member.number();
  if (!(value >= 0.0)) member.fail("must not be negative");
  return value;
}

/// K amounts, none above `most`.
Vector amounts(const JsonMember& member, int classes, double most) {
  const auto numbers = member.numbers();
  const bool sound = static_cast<int>(numbers.size()) == classes &&
                     std::all_of(numbers.begin(), numbers.end(),
                                 [&](double value) { return value >= 0.0 && value <= most; });
  if (!sound) member.fail("must be the weight of some rows for every class");
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

/// `most`: the weight of all rows.
ScoresByK scores_from(const JsonMember& sizes, const Dataset& data, double most, std::size_t rows,
                      bool permuted) {
  const int classes = data.labels()->class_count();
  ScoresByK scores;
  for (const JsonMember& member : sizes.list()) {
    const Index k = member.at("k").count();
    if (k > data.features() || (!scores.empty() && k <= scores.rbegin()->first))
      member.at("k").fail("must be a size that the table has, larger than the one before");
    HeldOutScore score;
    score.rows = amount(member.at("rows"));
    score.wrong = amounts(member.at("wrong"), classes, most);
    if (!permuted) {
      score.weight = amounts(member.at("weight"), classes, most);
      score.log_loss = amount(member.at("log_loss"));
      score.features = member.at("features").counts();
      const bool ascend = std::adjacent_find(score.features.begin(), score.features.end(),
                                             std::greater_equal<>()) == score.features.end();
      if (!ascend || (!score.features.empty() && score.features.back() >= data.features()))
        member.at("features").fail("must be features of the table, ascending");
      score.entries = amount(member.at("entries"));
      const JsonMember lambda = member.at("lambda");
      score.lambda = lambda.is_null() ? std::numeric_limits<double>::quiet_NaN() : lambda.number();
      if (member.has("used")) score.used = used_from(member.at("used"));
      if (member.has("answers")) score.answers = answers_from(member.at("answers"), rows, classes);
    }
    scores.emplace(k, std::move(score));
  }
  return scores;
}

std::string item_key(Index set, std::size_t method) { return fmt::format("{}/{}", set, method); }

}  // namespace

EvaluationParts::EvaluationParts(PartWork* work, const Dataset& data, std::size_t methods,
                                 Index held_out_sets)
    : work_(work),
      data_(data),
      methods_(methods),
      whole_sets_(work == nullptr || work->count() <= held_out_sets + 1) {
  constexpr double kRounding = 1.0 + 1e-6;
  for (Index i = 0; i < data.rows(); ++i) most_weight_ += data.weight(i) * kRounding;
}

Index EvaluationParts::owner(Index set, std::size_t method) const {
  const auto methods = static_cast<Index>(methods_);
  return (whole_sets_ ? set : set * methods + static_cast<Index>(method)) % work_->count();
}

std::vector<char> EvaluationParts::mine(Index set) const {
  std::vector<char> own(methods_, 1);
  for (std::size_t m = 0; m < methods_ && work_ != nullptr; ++m) own[m] = work_->mine(owner(set, m)) ? 1 : 0;
  return own;
}

bool EvaluationParts::any_mine(Index set) const {
  const auto own = mine(set);
  return std::any_of(own.begin(), own.end(), [](char is_own) { return is_own != 0; });
}

void EvaluationParts::keep(Index set, const std::vector<ScoresByK>& scores, bool permuted) const {
  const auto own = mine(set);
  for (std::size_t m = 0; m < methods_; ++m) {
    if (own[m] != 0) work_->keep(item_key(set, m), {{"sizes", scores_json(scores[m], permuted)}});
  }
}

void EvaluationParts::keep_all_rows(const std::vector<ScoresByK>& scores,
                                    const std::vector<ChoiceOnAllRows>& choices) const {
  const auto own = mine(kAllRows);
  for (std::size_t m = 0; m < methods_; ++m) {
    if (own[m] == 0) continue;
    const ChoiceOnAllRows& choice = choices[m];
    work_->keep(item_key(kAllRows, m),
                {{"sizes", scores_json(scores[m], false)},
                 {"ridge", choice.ridge_open ? json() : json{choice.ridge.value, choice.ridge.fraction}},
                 {"warnings", choice.warnings}});
  }
}

JsonMember EvaluationParts::item(Index set, std::size_t method) const {
  return work_->found(item_key(set, method), owner(set, method));
}

std::vector<ScoresByK> EvaluationParts::found(Index set, const std::vector<Index>& test,
                                              bool permuted) const {
  std::vector<ScoresByK> scores;
  scores.reserve(methods_);
  for (std::size_t m = 0; m < methods_; ++m)
    scores.push_back(scores_from(item(set, m).at("sizes"), data_, most_weight_, test.size(), permuted));
  return scores;
}

std::pair<std::vector<ScoresByK>, std::vector<ChoiceOnAllRows>> EvaluationParts::found_on_all_rows() const {
  std::vector<ScoresByK> scores;
  scores.reserve(methods_);
  std::vector<ChoiceOnAllRows> choices(methods_);
  for (std::size_t m = 0; m < methods_; ++m) {
    const JsonMember member = item(kAllRows, m);
    scores.push_back(scores_from(member.at("sizes"), data_, most_weight_, 0, false));
    choices[m].warnings = member.at("warnings").texts();
    if (member.at("ridge").is_null()) continue;
    choices[m].ridge_open = false;
    choices[m].ridge = ridge_from(member.at("ridge"));
  }
  return {std::move(scores), std::move(choices)};
}

}  // namespace subspectra
