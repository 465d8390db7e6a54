#include <fmt/format.h>
#include <subspectra/selection.hpp>

#include <algorithm>
#include <string>

#include <subspectra/error.hpp>
#include "core/options.hpp"
#include "device/plugin.hpp"

namespace subspectra {

void SelectOptions::validate() const {
  check_option_values(*this);
  check_option_values(prepare);
  (void)device::parse_wish(device);
  if (threads < 0)
    throw InvalidArgument({.field = "threads",
                           .value = fmt::to_string(threads),
                           .rule = "must not be negative",
                           .way_out = "0 uses every core"});
  if (components < 0)
    throw InvalidArgument({.field = "components",
                           .value = fmt::to_string(components),
                           .rule = "must not be negative",
                           .way_out = "0 is the default"});
  if ((ridge.value && ridge.fraction) || (ridge.cross_validated && (ridge.value || ridge.fraction))) {
    throw InvalidArgument({.field = "ridge",
                           .rule = !ridge.cross_validated
                                       ? "is given as a number and as a fraction"
                                       : fmt::format("is given as a {} and is to be chosen, too",
                                                     ridge.value ? "number" : "fraction"),
                           .way_out = "give one of them"});
  }
  if (!groups.empty() && !feature_group_names.empty()) {
    throw InvalidArgument({.field = "groups",
                           .value = groups,
                           .rule = "{value} and the names of groups by feature are both given",
                           .way_out = "give one of them"});
  }
}

const SizeBounds::Named* SizeBounds::best_upper() const {
  const auto found = std::min_element(upper.begin(), upper.end(),
                                      [](const Named& a, const Named& b) { return a.second < b.second; });
  return found == upper.end() ? nullptr : &*found;
}

const std::vector<PathEntry>& Selection::sets() const& {
  return std::visit([](const auto& of) -> const std::vector<PathEntry>& { return of.sets; }, answer);
}

std::vector<PathEntry>& Selection::sets() & {
  return std::visit([](auto& of) -> std::vector<PathEntry>& { return of.sets; }, answer);
}

std::vector<PathEntry> Selection::sets() && {
  Selection& named = *this;
  return std::move(named.sets());
}

const PathEntry& Selection::at(Index k) const& {
  for (const auto& set : sets()) {
    if (set.k() == k) return set;
  }
  throw InvalidArgument({.field = "k",
                         .value = std::to_string(k),
                         .rule = "{value}: the answer has no set of this size",
                         .way_out = "sets() has those there are"});
}

PathEntry Selection::at(Index k) && {
  const Selection& named = *this;
  return named.at(k);
}

const std::vector<FittedDiscriminants>& Selection::fits() const& {
  static const std::vector<FittedDiscriminants> kNone;
  if (const auto* path = std::get_if<PenaltyPath>(&answer)) return path->fits;
  if (const auto* components = std::get_if<Components>(&answer)) return components->fit;
  return kNone;
}

std::vector<FittedDiscriminants> Selection::fits() && {
  const Selection& named = *this;
  return named.fits();
}

const FittedDiscriminants* Selection::chosen_fit() const {
  if (const auto* path = std::get_if<PenaltyPath>(&answer))
    return path->chosen ? &path->fits[*path->chosen] : nullptr;
  if (const auto* components = std::get_if<Components>(&answer))
    return components->fit.empty() ? nullptr : &components->fit.front();
  return nullptr;
}

}  // namespace subspectra
