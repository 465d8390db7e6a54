#include "data/feature_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_map>

#include "core/text.hpp"

namespace subspectra {
namespace {

constexpr Index kMostComparedNames =
    200'000;  // made-up names beyond this are not spelled out for "did you mean"

std::string folded(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// Edits (insert, delete, replace, exchange two neighbours) from a to b; above `limit` any larger number.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) return limit + 1;
  std::vector<std::size_t> before_previous(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_previous[j - 2] + 1);
      }
    }
    std::swap(before_previous, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string FeatureNames::operator[](Index j) const {
  return given() ? (*given_)[static_cast<std::size_t>(j)] : fmt::format("x{}", j);
}

std::vector<Index> FeatureNames::find(std::string_view name) const {
  std::vector<Index> found;
  if (given()) {
    for (std::size_t j = 0; j < given_->size(); ++j) {
      if ((*given_)[j] == name) found.push_back(static_cast<Index>(j));
    }
    return found;
  }
  if (name.size() < 2 || name[0] != 'x' || (name[1] == '0' && name.size() > 2)) return found;
  Index j = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), j);
  if (error == std::errc() && end == name.data() + name.size() && j >= 0 && j < size_) found.push_back(j);
  return found;
}

std::vector<std::string> FeatureNames::near(std::string_view name, std::size_t most) const {
  if (given()) return near_names(name, *given_, most);
  std::vector<std::string> made;
  for (Index j = 0; j < std::min(size_, kMostComparedNames); ++j) made.push_back((*this)[j]);
  return near_names(name, made, most);
}

std::vector<std::vector<Index>> FeatureNames::find_each(const std::vector<std::string>& names) const {
  std::vector<std::vector<Index>> found(names.size());
  if (!given()) {
    std::transform(names.begin(), names.end(), found.begin(),
                   [this](const std::string& name) { return find(name); });
    return found;
  }
  std::unordered_map<std::string_view, std::vector<Index>>
      wanted;  // ten thousand names of a list file: no p x m search
  for (const std::string& name : names) wanted.try_emplace(name);
  for (std::size_t j = 0; j < given_->size(); ++j) {
    const auto entry = wanted.find((*given_)[j]);
    if (entry != wanted.end()) entry->second.push_back(static_cast<Index>(j));
  }
  for (std::size_t i = 0; i < names.size(); ++i) found[i] = wanted.at(names[i]);
  return found;
}

std::vector<std::string> FeatureNames::all() const {
  if (given()) return *given_;
  std::vector<std::string> made;
  made.reserve(static_cast<std::size_t>(size_));
  for (Index j = 0; j < size_; ++j) made.push_back((*this)[j]);
  return made;
}

FeatureNames FeatureNames::selected(const std::vector<Index>& features) const {
  // Made-up names must keep their numbers, so a selection of them is spelled out.
  std::vector<std::string> chosen;
  chosen.reserve(features.size());
  for (const Index j : features) chosen.push_back((*this)[j]);
  return FeatureNames(std::move(chosen));
}

std::string FeatureNames::some(const std::vector<Index>& features) const {
  return join_some(features.size(), [&](std::size_t i) { return (*this)[features[i]]; });
}

std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& candidates,
                                    std::size_t most) {
  const std::string wanted = folded(name);
  const std::size_t limit = std::max<std::size_t>(1, wanted.size() / 3);
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // (distance, position)
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string candidate = folded(candidates[i]);
    std::size_t distance = edit_distance(wanted, candidate, limit);
    // A beginning or an ending typed on purpose ("alcal" for "alcalinity_of_ash") is near as well.
    if (distance > limit && wanted.size() >= 3 && candidate.find(wanted) != std::string::npos)
      distance = limit;
    if (distance <= limit) ranked.emplace_back(distance, i);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (const auto& [distance, i] : ranked) {
    if (nearest.size() == most) break;
    if (std::find(nearest.begin(), nearest.end(), candidates[i]) == nearest.end())
      nearest.push_back(candidates[i]);
  }
  return nearest;
}

std::vector<std::string> duplicate_name_reports(const FeatureNames& names) {
  // By their hashes: a map of the names would hold every one of them again.
  const std::span<const std::string> list = names.list();
  std::vector<std::pair<std::size_t, Index>> hashes;
  hashes.reserve(list.size());
  for (std::size_t j = 0; j < list.size(); ++j)
    hashes.emplace_back(std::hash<std::string>()(list[j]), static_cast<Index>(j));
  std::sort(hashes.begin(), hashes.end());
  std::map<Index, std::vector<Index>> repeated;  // in order of the second appearance
  for (auto first = hashes.begin(); first != hashes.end();) {
    const auto last =
        std::find_if(first, hashes.end(), [&](const auto& h) { return h.first != first->first; });
    if (last - first > 1) {
      std::map<std::string_view, std::vector<Index>> places;  // different names may have one hash
      for (; first != last; ++first)
        places[list[static_cast<std::size_t>(first->second)]].push_back(first->second);
      for (auto& [name, at] : places) {
        if (at.size() > 1) repeated.emplace(at[1], std::move(at));
      }
    }
    first = last;
  }
  std::vector<std::string> reports;
  reports.reserve(repeated.size());
  for (const auto& [second, at] : repeated) {
    reports.push_back(
        fmt::format("{} (columns {})", list[static_cast<std::size_t>(second)], fmt::join(at, ", ")));
  }
  return reports;
}

}  // namespace subspectra
