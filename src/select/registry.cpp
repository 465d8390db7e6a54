#include "select/registry.hpp"

#include <fmt/format.h>

#include <subspectra/qalpha.hpp>
#include <subspectra/rankers.hpp>
#include <subspectra/scoring.hpp>
#include <subspectra/searches.hpp>
#include <subspectra/sparse_pca.hpp>
#include <utility>

#include "classify/gp.hpp"
#include "core/json_io.hpp"
#include "core/text.hpp"
#include "data/feature_names.hpp"
#include "qalpha/kernel.hpp"
#include "select/problem.hpp"
#include "select/scoring_methods.hpp"
#include "select/sparse_pca_methods.hpp"

namespace subspectra {

template <class M>
MethodEntry MethodRegistry::entry() {
  return {.traits = &M::kTraits,
          .options = describe_options<M>(),
          .from_texts =
              [](const OptionTexts& texts) {
                M own;
                set_options(own, texts);
                return Method(std::move(own));
              },
          .from_json =
              [](const nlohmann::json& object) {
                M own;
                set_options_from_json(own, object);
                return Method(std::move(own));
              },
          .changed =
              [](const void* own, const OptionTexts& texts) {
                M other = *static_cast<const M*>(own);
                set_options(other, texts);
                return Method(std::move(other));
              },
          .started = [](const void* own, const DenseMatrix& start) -> std::optional<Method> {
            if constexpr (requires(M method) { method.start = start; }) {
              M other = *static_cast<const M*>(own);
              other.start = start;
              return Method(std::move(other));
            }
            return std::nullopt;
          },
          .to_json = [](const void* own) { return subspectra::options_json(*static_cast<const M*>(own)); },
          .validate =
              [](const void* own) {
                const M& options = *static_cast<const M*>(own);
                check_option_values(options);
                if constexpr (requires { options.validate(); }) options.validate();
              },
          .fixes_size =
              [](const void* own) {
                if constexpr (requires(const M& method) { method.fixes_size(); })
                  return static_cast<const M*>(own)->fixes_size();
                return false;
              },
          .keeps_state =
              [](const void* own) {
                const M& options = *static_cast<const M*>(own);
                if constexpr (requires { options.checkpoint, options.resume; })
                  return !(options.checkpoint.empty() && options.resume.empty());
                return false;
              },
          .run = [](const void* own, const Problem& problem,
                    const RunControl& control) { return static_cast<const M*>(own)->run(problem, control); }};
}

const std::vector<MethodEntry>& MethodRegistry::entries() {
  // A new method is its struct, in a public header, its file, and one line here.
  static const std::vector<MethodEntry> all = {
      entry<Auto>(),
      entry<Gslda>(),
      entry<ForwardLda>(),
      entry<BackwardLda>(),
      entry<Gspca>(),
      entry<ForwardPca>(),
      entry<BackwardPca>(),
      entry<St>(),
      entry<Eslda>(),
      entry<Espca>(),
      entry<RvmRow>(),
      entry<RvmEntry>(),
      entry<Gloss>(),
      entry<Sda>(),
      entry<Plda>(),
      entry<Sulda>(),
      entry<Sfd>(),
      entry<JeffreysRow>(),
      entry<JeffreysEntry>(),
      entry<QAlpha>(),
      entry<QAlphaBasic>(),
      entry<QAlphaRitz>(),
      entry<QAlphaLaplacian>(),
      entry<QAlphaGap>(),
      entry<QAlphaSupervised>(),
      entry<QAlphaSemi>(),
      entry<QAlphaOfKernel>(),
      entry<Pearson>(),
      entry<Fisher>(),
      entry<Ks>(),
      entry<Snr>(),
      entry<MaxSurprise>(),
      entry<GpArd>(),
      entry<SvmRfe>(),
      entry<SvmRmb>(),
      entry<All>(),
      entry<Pca>(),
      entry<GeneShaving>(),
      entry<Spca>(),
      entry<Dspca>(),
  };
  return all;
}

const MethodEntry& MethodRegistry::find(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& one : entries()) {
    if (one.traits->name == name) return one;
    names.emplace_back(one.traits->name);
  }
  const auto near = near_names(name, names);
  throw InvalidArgument({.field = "method",
                         .value = std::string(name),
                         .rule = "'{value}' does not exist",
                         .way_out = near.empty() ? fmt::format("there are {}", join_some(names, 100))
                                                 : fmt::format("did you mean {}?", join_some(near))});
}

Method MethodRegistry::from_texts(std::string_view name, const OptionTexts& texts) {
  return find(name).from_texts(texts);
}

Method MethodRegistry::changed(const Method& method, const OptionTexts& texts) {
  return find(method.name()).changed(method.options_.get(), texts);
}

std::optional<Method> MethodRegistry::started(const Method& method, const DenseMatrix& start) {
  return find(method.name()).started(method.options_.get(), start);
}

nlohmann::json MethodRegistry::options_json(const Method& method) {
  return find(method.name()).to_json(method.options_.get());
}

void MethodRegistry::validate(const Method& method) { find(method.name()).validate(method.options_.get()); }

bool MethodRegistry::fixes_size(const Method& method) {
  return find(method.name()).fixes_size(method.options_.get());
}

bool MethodRegistry::keeps_state(const Method& method) {
  return find(method.name()).keeps_state(method.options_.get());
}

Selection MethodRegistry::run(const Method& method, const Problem& problem, const RunControl& control) {
  const MethodEntry& found = find(method.name());
  found.validate(method.options_.get());
  return found.run(method.options_.get(), problem, control);
}

std::string_view default_judged_method() { return Auto::kTraits.name; }

std::string_view default_method(bool has_labels) {
  return has_labels ? Gslda::kTraits.name : QAlpha::kTraits.name;
}

// --- the public face

namespace {

void require_option(const MethodEntry& method, std::string_view option, const std::string& text) {
  std::vector<std::string> known;
  for (const auto& one : method.options) known.push_back(one.name);
  if (std::find(known.begin(), known.end(), option) != known.end()) return;
  const auto near = near_names(option, known);
  throw InvalidArgument({.field = std::string(option),
                         .value = text,
                         .rule = fmt::format("is no option of method {}", method.traits->name),
                         .way_out = !near.empty()   ? fmt::format("did you mean {}?", join_some(near))
                                    : known.empty() ? std::string("it has none")
                                                    : fmt::format("there are {}", join_some(known, 100))});
}

}  // namespace

Method::Method(std::string_view name) : Method(MethodRegistry::from_texts(name, {})) {}

Method Method::parse(std::string_view name, const std::vector<std::pair<std::string, std::string>>& options) {
  const MethodEntry& found = MethodRegistry::find(name);
  OptionTexts texts;
  for (const auto& [option, text] : options) {
    require_option(found, option, text);
    texts[option] = text;
  }
  return found.from_texts(texts);
}

Method Method::from_json(std::string_view name, std::string_view options_json) {
  const MethodEntry& found = MethodRegistry::find(name);
  nlohmann::json object;
  try {
    object = parse_json(options_json);
  } catch (const nlohmann::json::parse_error& problem) {
    throw InvalidArgument({.field = "options",
                           .value = std::string(options_json),
                           .subject = fmt::format("the options of method {}", name),
                           .rule = fmt::format("are no JSON (from character {} on)", problem.byte)});
  }
  if (!object.is_object())
    throw InvalidArgument({.field = "options",
                           .value = std::string(options_json),
                           .subject = fmt::format("the options of method {}", name),
                           .rule = "are no JSON object"});
  for (const auto& [option, value] : object.items()) require_option(found, option, dump_json(value));
  return found.from_json(object);
}

const MethodTraits& Method::traits() const { return *MethodRegistry::find(name_).traits; }

std::string Method::options_json() const { return dump_json(MethodRegistry::options_json(*this)); }

void Method::validate() const { MethodRegistry::validate(*this); }

void Method::require_name(std::string_view name) const {
  if (name == name_) return;
  throw InvalidArgument({.field = "method",
                         .value = std::string(name_),
                         .subject = fmt::format("method {}", name_),
                         .rule = fmt::format("is not {}", name)});
}

std::vector<MethodTraits> method_list() {
  std::vector<MethodTraits> all;
  for (const auto& one : MethodRegistry::entries()) all.push_back(*one.traits);
  return all;
}

}  // namespace subspectra
