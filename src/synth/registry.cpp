#include "synth/registry.hpp"

#include <fmt/format.h>

#include "core/text.hpp"

namespace subspectra::synth {
namespace {

template <class P>
SynthEntry synth_entry() {
  return {
      .traits = &P::kTraits, .options = describe_options<P>(), .from_texts = [](const OptionTexts& texts) {
        P problem;
        set_options(problem, texts);
        return AnySynth(std::move(problem));
      }};
}

template <class... P>
std::vector<SynthEntry> entries_of(const std::variant<P...>*) {
  return {synth_entry<P>()...};
}

Synthesized synthesized(Dataset table, const SynthTraits&) {
  return {.table = std::move(table), .matrices = {}};
}

Synthesized synthesized(std::pair<Matrix, Matrix> pair, const SynthTraits& traits) {
  return {.table = {},
          .matrices = {{.name = std::string(traits.matrices[0]), .values = std::move(pair.first)},
                       {.name = std::string(traits.matrices[1]), .values = std::move(pair.second)}}};
}

}  // namespace

const std::vector<SynthEntry>& synth_entries() {
  static const std::vector<SynthEntry> all = entries_of(static_cast<const AnySynth*>(nullptr));
  return all;
}

const SynthEntry& find_synth(std::string_view name) {
  std::vector<std::string> names;
  for (const SynthEntry& entry : synth_entries()) {
    if (entry.traits->name == name) return entry;
    names.emplace_back(entry.traits->name);
  }
  const auto near = near_names(name, names);
  throw InvalidArgument(
      {.field = "problem",
       .value = std::string(name),
       .subject = "there is no synthetic problem",
       .rule = near.empty() ? "'{value}'" : fmt::format("'{{value}}' (did you mean {}?)", join_some(near)),
       .way_out = fmt::format("the problems are {}", join_some(names, names.size()))});
}

Synthesized synthesize(const AnySynth& problem) {
  return std::visit([](const auto& own) { return synthesized(own.make(), own.kTraits); }, problem);
}

nlohmann::json synth_options_json(const AnySynth& problem) {
  return std::visit([](const auto& own) { return options_json(own); }, problem);
}

}  // namespace subspectra::synth
