#include "verify/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "core/text.hpp"

namespace subspectra::verify {
namespace {

std::string listed(const std::vector<Index>& sizes) {
  return join_some(sizes.size(), [&](std::size_t i) { return fmt::to_string(sizes[i]); });
}

std::string missing_sentence(const std::vector<Index>& sizes) {
  return fmt::format("k = {} {} missing", listed(sizes), sizes.size() == 1 ? "is" : "are");
}

std::set<Index> sizes_of(const std::vector<ClaimedEntry>& path) {
  std::set<Index> sizes;
  for (const auto& entry : path) sizes.insert(entry.k);
  return sizes;
}

std::string asked_sizes(const KRange& k) {
  return k.contiguous() ? fmt::format("{}:{}", k.lo, k.hi) : k.text();
}

/// A run that was stopped has the sizes it came to.
bool stopped(const ClaimedResult& claims) {
  return claims.status == "time_limit" || claims.status == "interrupted";
}

std::string nothing_to_check(std::string_view why) {
  return fmt::format("there is no set to check: {}", why);
}

/// Searches and rankings: every size that was asked for, as far as it is possible.
SizesFinding check_every_size(const ClaimedResult& claims, const std::vector<ClaimedEntry>& path,
                              const PossibleSizes& possible) {
  SizesFinding finding;
  if (!claims.k) {
    finding.wrong = "`options.k`, the sizes that were asked for, is missing";
    return finding;
  }
  const auto there = sizes_of(path);
  const auto expected = claims.k->within(possible.least, possible.most);
  for (const Index k : expected ? expected->sizes() : std::vector<Index>()) {
    if (!there.contains(k)) finding.missing.push_back(k);
  }
  if (finding.missing.empty()) {
    if (path.empty())
      finding.wrong = fmt::format("there is no set, and of the sizes {} that were asked for none is possible",
                                  asked_sizes(*claims.k));
    return finding;
  }
  if (stopped(claims)) {
    if (path.empty()) finding.unknown = nothing_to_check(fmt::format("the run ended by {}", claims.status));
    return finding;
  }
  // Where B is nearly singular a search ends at as many features as it holds for independent.
  const bool at_the_end = !path.empty() && finding.missing.front() > *there.rbegin();
  if (at_the_end && finding.missing.front() > possible.sure) {
    finding.unknown = fmt::format(
        "whether sets of {} exist: rounding decides how many of these nearly dependent features count as independent; ask with a ridge (⟨ridge⟩)",
        listed(finding.missing));
    return finding;
  }
  if (at_the_end && claims.status == "rank_limit" && possible.in_doubles &&
      finding.missing.front() > *possible.in_doubles) {
    finding.unknown = fmt::format(
        "whether the search could go on to {}: such sets exist, but their features are so nearly dependent that doubles, by which it ended (rank_limit), need not tell; ask with a ridge (⟨ridge⟩)",
        listed(finding.missing));
    return finding;
  }
  finding.wrong = missing_sentence(finding.missing);
  return finding;
}

/// Fits along lambda: the sizes they left, as far as they were asked for; where none was, or one size was
/// asked for, the largest one below.
SizesFinding check_fitted_sizes(const ClaimedResult& claims, const std::vector<ClaimedEntry>& path) {
  SizesFinding finding;
  if (!claims.fitted_sizes || !claims.k) {
    finding.wrong = claims.k
                        ? "the record of the fits along lambda, which says which sizes there are, is missing"
                        : "`options.k`, the sizes that were asked for, is missing";
    return finding;
  }
  std::set<Index> fitted;
  for (const Index size : *claims.fitted_sizes) {
    if (size > 0 && size <= claims.k->hi) fitted.insert(size);
  }
  const bool only_largest = !fitted.empty() && (claims.k->single() || *fitted.rbegin() < claims.k->lo);
  if (!claims.k->contiguous()) {  // for every size the largest fit of no more
    std::set<Index> largest_below;
    const auto possible = claims.k->within(1, claims.features);
    for (const Index k : possible ? possible->sizes() : std::vector<Index>()) {
      const auto above = fitted.upper_bound(k);
      if (above != fitted.begin()) largest_below.insert(*std::prev(above));
    }
    fitted = std::move(largest_below);
  } else if (only_largest) {
    fitted = {*fitted.rbegin()};
  } else {
    std::erase_if(fitted, [&](Index size) { return size < claims.k->lo; });
  }
  const auto there = sizes_of(path);
  std::set_difference(fitted.begin(), fitted.end(), there.begin(), there.end(),
                      std::back_inserter(finding.missing));
  std::vector<Index> extra;
  std::set_difference(there.begin(), there.end(), fitted.begin(), fitted.end(), std::back_inserter(extra));
  if (!finding.missing.empty()) {
    finding.wrong =
        fmt::format("{}, though a fit along lambda kept so many features", missing_sentence(finding.missing));
  } else if (!extra.empty()) {
    finding.wrong =
        fmt::format("no fit along lambda kept {} features, or so many were not asked for", listed(extra));
  } else if (path.empty()) {
    finding.unknown = nothing_to_check(
        fmt::format("no lambda left between 1 and {} features; ask for more with ⟨k⟩", claims.k->hi));
  }
  return finding;
}

/// One fit: its own size.
SizesFinding check_one_fit(const ClaimedResult& claims, const std::vector<ClaimedEntry>& path) {
  SizesFinding finding;
  std::optional<Index> size = claims.chosen_size;
  if (!size && claims.fitted_sizes && claims.fitted_sizes->size() == 1) size = claims.fitted_sizes->front();
  if (!size) {
    if (path.empty() && stopped(claims)) {
      finding.unknown = nothing_to_check(fmt::format("the run ended by {}", claims.status));
    } else {
      finding.wrong = "the record of the fit, which says how many features it kept, is missing";
    }
    return finding;
  }
  if (*size == 0 && path.empty()) {
    finding.unknown = nothing_to_check("the fit kept no feature; a smaller ⟨lambda⟩ keeps some");
  } else if (path.size() != 1 || path.front().k != *size) {
    finding.missing = {*size};
    finding.wrong = fmt::format("the fit kept {}, and the path has {}", counted(*size, "feature"),
                                path.empty() ? "no set" : fmt::format("k = {}", path.front().k));
  }
  return finding;
}

SizesFinding one_set(const std::vector<ClaimedEntry>& path, std::optional<Index> size) {
  SizesFinding finding;
  if (path.empty()) {
    finding.wrong = "there is no set";
  } else if (path.size() > 1) {
    finding.wrong = fmt::format("there are {} sets where the method gives one", path.size());
  } else if (size && path.front().k != *size) {
    finding.wrong = fmt::format("the set has {} of {} features that vary", path.front().k, *size);
  }
  return finding;
}

}  // namespace

SizesFinding check_sizes(const ClaimedResult& claims, const std::vector<ClaimedEntry>& path, Index component,
                         const PossibleSizes& possible) {
  const bool first = component == 1;
  switch (claims.sets_kind()) {
    case SetsKind::kEverySize:
      return check_every_size(claims, path, possible);
    case SetsKind::kRelaxation:
      return claims.rho_given ? one_set(path, std::nullopt) : check_every_size(claims, path, possible);
    case SetsKind::kAlongLambda:
      if (!first) break;  // of the later components the fits are not in the file
      return claims.lambda_given ? check_one_fit(claims, path) : check_fitted_sizes(claims, path);
    case SetsKind::kOneFit:
      return check_one_fit(claims, path);
    case SetsKind::kAll:
      return one_set(path, possible.most);
    case SetsKind::kNone: {
      SizesFinding finding;
      if (!path.empty())
        finding.wrong = fmt::format("method {} chooses no sets, but there are some", claims.method);
      if (path.empty())
        finding.unknown = nothing_to_check(fmt::format(
            "method {} gives components of all features, which are not looked at", claims.method));
      return finding;
    }
    case SetsKind::kGiven:
      break;
    case SetsKind::kUnknown: {
      SizesFinding finding;
      if (path.empty()) finding.wrong = "there is no set";
      finding.unknown = fmt::format(
          "which sizes there have to be: this program has no method '{}'; check it with the version that wrote the file",
          claims.method);
      return finding;
    }
  }
  SizesFinding finding;
  if (path.empty()) finding.wrong = "there is no set";
  return finding;
}

}  // namespace subspectra::verify
