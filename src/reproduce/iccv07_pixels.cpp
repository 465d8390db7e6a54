/// ICCV07, Section 6.1 (Figures 7 to 16): pixels for telling two kinds of images apart, chosen by GSLDA
/// ("hard ARD"), by thresholding Fisher's vector and by the length-scales of a Gaussian process ("soft ARD"),
/// judged by Gaussian-process classifiers on rows that were not trained on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include <subspectra/rankers.hpp>

#include "classify/gp.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "filters/filters.hpp"
#include "reproduce/images.hpp"
#include "reproduce/papers.hpp"
#include "reproduce/png.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"
#include "spectral/fitted_discriminants.hpp"

namespace subspectra::reproduce {
namespace {

/// What the two experiments differ in.
struct Task {
  std::array<std::string, 2> classes;  ///< taken out of a table with more; empty: the table has two
  Index paper_rows = 0;                ///< of the paper's table, and how many of them it trains on
  Index paper_training = 0;
  std::string figures;              ///< "7 to 11"
  std::string statement;            ///< about the pixel sets
  std::string time_statement = {};  ///< about the times
  std::optional<double> search_s = {}, laplace_s = {}, ep_s = {};
};

struct Plan {
  std::vector<Index> sizes;          ///< of pixel sets with a classifier of their own
  Index most_evaluations = 40;       ///< of the likelihood, with a common length-scale
  Index most_ard_evaluations = 100;  ///< with one a pixel
};

Dataset two_kinds(const Dataset& all, const Task& task) {
  if (!all.labels()) {
    throw BadInput({.file = all.source()},
                   "has no label column that says what an image shows; name it with ⟨target⟩");
  }
  const auto& names = all.labels()->classes;
  std::array<int, 2> kinds = {0, 1};
  if (names.size() != 2) {
    for (std::size_t c = 0; c < kinds.size(); ++c) {
      const auto found = std::find(names.begin(), names.end(), task.classes[c]);
      if (task.classes[c].empty() || found == names.end()) {
        throw BadInput(
            {.file = all.source()},
            fmt::format(
                "has {} in '{}' where two are needed{}; name another label column with ⟨target⟩, or leave rows out",
                counted(static_cast<Index>(names.size()), "class", "classes"), all.labels()->name,
                task.classes[c].empty() ? std::string()
                                        : fmt::format(", or the classes '{}' and '{}' of the digits",
                                                      task.classes[0], task.classes[1])));
      }
      kinds[c] = static_cast<int>(found - names.begin());
    }
  }
  std::vector<Index> rows;
  std::vector<std::string> texts;
  for (Index i = 0; i < all.rows(); ++i) {
    const int code = all.labels()->codes[static_cast<std::size_t>(i)];
    if (code != kinds[0] && code != kinds[1]) continue;
    rows.push_back(i);
    texts.push_back(names[static_cast<std::size_t>(code)]);
  }
  const Dataset data = all.with_rows(rows);
  DatasetDetails details = data.details();
  details.labels = Labels::from_texts(all.labels()->name, texts);
  return {std::move(details), data.values()};
}

struct Halves {
  Dataset training, test;
};

/// A seeded shuffle; the paper's share of the rows trains, of another table half of them.
Halves split(const Dataset& data, const Task& task, const ReproduceOptions& options) {
  constexpr Index kQuickTraining = 150, kQuickTest = 300;
  std::vector<Index> order(static_cast<std::size_t>(data.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  Random random(options.seed);
  random.shuffle(std::span<Index>(order));
  Index training = data.rows() == task.paper_rows ? task.paper_training : (data.rows() + 1) / 2;
  Index end = data.rows();
  if (options.quick) {
    training = std::min(training, kQuickTraining);
    end = std::min(end, training + kQuickTest);
  }
  const auto part = [&](Index from, Index to) {
    std::vector<Index> rows(order.begin() + from, order.begin() + to);
    std::sort(rows.begin(), rows.end());
    return data.with_rows(rows);
  };
  Halves halves{.training = part(0, training), .test = part(training, end)};
  for (const Dataset* half : {&halves.training, &halves.test}) {
    const auto counts = half->labels()->counts();
    if (*std::min_element(counts.begin(), counts.end()) < 2) {
      throw BadInput({.file = data.source()},
                     "each half needs two images or more of each class; give more images");
    }
  }
  return halves;
}

Plan plan_for(const ReproduceOptions& options, Index pixels) {
  Plan plan;
  std::set<Index> sizes;
  const KRange wanted = options.k.given() ? options.k.resolved(pixels, "pixel") : KRange{1, pixels};
  const std::vector<Index> usual = options.quick ? std::vector<Index>{1, 5, 20, 50, 150}
                                                 : std::vector<Index>{1,  2,  3,  4,  5,  7,   10,  15,  20,
                                                                      25, 30, 40, 50, 75, 100, 125, 150, 200};
  for (const Index k : wanted.contiguous() ? usual : wanted.sizes()) {
    if (wanted.contains(k)) sizes.insert(k);
  }
  if (options.k.given()) sizes.insert(wanted.lo);
  sizes.insert(wanted.hi);
  plan.sizes.assign(sizes.begin(), sizes.end());
  if (options.quick) {
    plan.most_evaluations = 12;
    plan.most_ard_evaluations = 15;
  }
  return plan;
}

/// On held-out rows.
struct Score {
  double error = 0.0;
  double information = 0.0;  ///< bits: 1 + mean log2 p(true class)
  double log_evidence = 0.0;
};

class Judge {
 public:
  Judge(const Halves& halves, const Plan& plan, const ReproduceOptions& options, const RunControl& control)
      : halves_(halves), plan_(plan), options_(options), control_(control) {}

  [[nodiscard]] GpRule train(const std::vector<Index>& pixels, GpApproximation approximation,
                             bool ard) const {
    const auto fitted = [&](const auto& gp) {
      return fit_gp(halves_.training.values().columns(pixels), halves_.training.labels()->codes, 2, gp,
                    {.seed = options_.seed, .threads = options_.threads}, control_.silent());
    };
    if (ard)
      return fitted(GpArd{.approximation = approximation, .max_iterations = plan_.most_ard_evaluations});
    if (approximation == GpApproximation::kLaplace)
      return fitted(GpLaplace{.restarts = 1, .max_iterations = plan_.most_evaluations});
    return fitted(GpEp{.restarts = 1, .max_iterations = plan_.most_evaluations});
  }

  /// Nothing when the run was stopped before the classifier had been trained.
  [[nodiscard]] std::optional<Score> operator()(const std::vector<Index>& pixels,
                                                GpApproximation approximation) const {
    if (control_.should_stop()) return {};
    const GpRule rule = train(pixels, approximation, false);
    if (control_.should_stop()) return {};
    return score(rule, pixels);
  }

  [[nodiscard]] Score score(const GpRule& rule, const std::vector<Index>& pixels) const {
    const Matrix log_p = rule.log_posteriors(halves_.test.values().columns(pixels));
    const auto& codes = halves_.test.labels()->codes;
    Score score{.log_evidence = rule.log_marginal_likelihood()};
    for (Index i = 0; i < log_p.rows(); ++i) {
      const int truth = codes[static_cast<std::size_t>(i)];
      Index predicted = 0;
      log_p.row(i).maxCoeff(&predicted);
      score.error += predicted == truth ? 0.0 : 1.0;
      score.information += log_p(i, truth) / std::log(2.0);
    }
    const auto n = static_cast<double>(log_p.rows());
    score.error /= n;
    score.information = 1.0 + score.information / n;
    return score;
  }

 private:
  const Halves& halves_;
  const Plan& plan_;
  const ReproduceOptions& options_;
  const RunControl& control_;
};

struct PixelSets {
  Selection forward, backward, dual, thresholded;
  double seconds = 0.0;  ///< of the dual pass, every k
};

Selection choose(const Dataset& training, std::string_view method, Index pixels,
                 const ReproduceOptions& options, const RunControl& control) {
  SelectOptions selection{.k = {1, pixels},
                          .criterion = Criterion::kLargest,
                          .certify = false,
                          .seed = options.seed,
                          .threads = options.threads};
  return select_features(training, Method(method), selection, control.silent());
}

const PathEntry* entry_of(const Selection& selection, Index k) {
  for (const PathEntry& entry : selection.sets()) {
    if (entry.k() == k) return &entry;
  }
  return nullptr;
}

void add_objectives(const PixelSets& sets, Reproduction& result) {
  Index worse = 0, above = 0, sizes = 0;
  for (const PathEntry& backward : sets.backward.sets()) {
    const Index k = backward.k();
    const PathEntry* const forward = entry_of(sets.forward, k);
    const PathEntry* const cut = entry_of(sets.thresholded, k);
    if (forward == nullptr || cut == nullptr) continue;
    constexpr double kRounding = 1e-9;
    ++sizes;
    if (backward.objective < forward->objective * (1.0 - kRounding)) ++worse;
    if (cut->objective > std::min(forward->objective, backward.objective) * (1.0 + kRounding)) ++above;
  }
  result.settings["sizes_compared"] = sizes;
  result.results.push_back({.series = "sizes, forward above backward",
                            .statement = "backward search yields better solutions than the forward search",
                            .obtained = static_cast<double>(worse)});
  result.results.push_back(
      {.series = "sizes, Fisher above the lower",
       .statement = "Fisher thresholding is uniformly inferior to GSLDA in terms of the captured variance",
       .obtained = static_cast<double>(above)});
  const auto curve = [&](const char* name, const Selection& selection) {
    for (const PathEntry& entry : selection.sets())
      result.results.push_back({.series = name, .x = entry.k(), .obtained = entry.objective});
  };
  curve("objective, forward", sets.forward);
  curve("objective, backward", sets.backward);
  curve("objective, Fisher", sets.thresholded);
}

void add_score(const std::string& who, Index k, const Score& score, Reproduction& result) {
  result.results.push_back({.series = who + ": error", .x = k, .obtained = score.error});
  result.results.push_back({.series = who + ": bits", .x = k, .obtained = score.information});
  result.results.push_back({.series = who + ": log Z", .x = k, .obtained = score.log_evidence});
}

struct Approximation {
  GpApproximation value;
  const char* name;
};
constexpr std::array<Approximation, 2> kApproximations = {
    {{GpApproximation::kLaplace, "Laplace"}, {GpApproximation::kEp, "EP"}}};

/// `values` one a pixel that varies; the others are as the least of them.
void add_picture(Album& album, const std::string& name, const std::vector<Index>& pixels,
                 const Vector& values) {
  album.add(name, pixels, values, values.minCoeff());
}

void add_class_means(const Dataset& training, const std::vector<Index>& pixels, Album& album) {
  const Matrix rows = training.values().columns(pixels);
  for (int c = 0; c < 2; ++c) {
    Vector sum = Vector::Zero(rows.cols());
    for (Index i = 0; i < rows.rows(); ++i) {
      if (training.labels()->codes[static_cast<std::size_t>(i)] == c) sum += rows.row(i).transpose();
    }
    add_picture(album, fmt::format("mean-{}", c + 1), pixels,
                sum / static_cast<double>(training.labels()->counts()[static_cast<std::size_t>(c)]));
  }
}

/// |x| of Fisher's vector on all pixels.
Vector fisher_loadings(const PixelSets& sets, const std::vector<Index>& pixels) {
  const PathEntry& all = sets.thresholded.sets().back();
  Vector loadings = Vector::Zero(static_cast<Index>(pixels.size()));
  for (std::size_t i = 0; i < all.features.size(); ++i) {
    const auto place = std::lower_bound(pixels.begin(), pixels.end(), all.features[i]) - pixels.begin();
    loadings[place] = std::abs(all.loadings(static_cast<Index>(i), 0));
  }
  return loadings;
}

void add_best_pixel(const PixelSets& sets, const ImageTable& images, const std::vector<Index>& pixels,
                    Album& album, Reproduction& result) {
  const PathEntry* const single = entry_of(sets.dual, 1);
  if (single == nullptr) return;
  const Index best = single->features.front();
  result.details["best_pixel"] = best;
  Vector spot = Vector::Zero(static_cast<Index>(pixels.size()));
  spot[std::lower_bound(pixels.begin(), pixels.end(), best) - pixels.begin()] = 1.0;
  add_picture(album, "best-pixel", pixels, spot);
  if (!images.shape.given()) return;
  result.pictures.emplace_back(fmt::format("The best single pixel (#): row {}, column {}, counted from 1",
                                           best / images.shape.width + 1, best % images.shape.width + 1),
                               mask_picture(images.shape, {best}, {}));
}

void run_pixels(const ReproduceOptions& options, const Task& task, const RunControl& control,
                Reproduction& result) {
  constexpr Index kSparse = 50;  // up to here the paper compares the ways of choosing
  ReproduceOptions reading = options;
  reading.images.clear();  // here it is where pictures go
  const ImageTable images = load_images(reading);
  const Halves halves = split(two_kinds(images.table, task), task, options);
  const auto pixels = varying_columns(halves.training);
  if (pixels.size() < 2) throw BadInput({.file = images.table.source()}, "fewer than two pixels vary");
  const auto p = static_cast<Index>(pixels.size());
  const Plan plan = plan_for(options, p);
  Album album(options.images, images.shape, result);
  const auto& classes = halves.training.labels()->classes;
  result.protocol = {
      fmt::format("{}: '{}' against '{}', {} that vary; {} train and {} test, a shuffle by the seed.",
                  images.table.source(), classes[0], classes[1], counted(p, "pixel"),
                  counted(halves.training.rows(), "image"), counted(halves.test.rows(), "image")),
      fmt::format(
          "Pixels: the dual pass of GSLDA on the training rows, ridge as in ⟨ridge auto⟩; thresholding of Fisher's vector; the length-scales of a Gaussian process with one a pixel (soft ARD). Classifiers: Gaussian processes with the probit likelihood, Laplace and EP, on the pixels as they are; a common length-scale and a signal deviation by L-BFGS on the log marginal likelihood, at most {} evaluations for every set, {} for soft ARD.",
          plan.most_evaluations, plan.most_ard_evaluations),
      "Titles name the classifier, whose pixels it sees and what is given: the test error; the test information in bits, 1 + mean log2 of the probability of the true class; or log Z, the log marginal likelihood. Fisher is thresholding of Fisher's vector."};
  result.settings = {{"training", halves.training.rows()},
                     {"test", halves.test.rows()},
                     {"pixels", p},
                     {"classes", classes},
                     {"sizes", plan.sizes}};
  result.notes.push_back(fmt::format(
      "Figures {} of the paper are curves; its text gives the statements that are quoted, and times on a 3.2 GHz Pentium 4.",
      task.figures));
  result.status = control.status_or(Status::kHeuristic);
  if (control.should_stop()) return;

  PixelSets sets;
  control.report(result.id, -1.0, [] { return std::string("pixels by GSLDA"); });
  sets.forward = choose(halves.training, "forward-lda", p, options, control);
  sets.backward = choose(halves.training, "backward-lda", p, options, control);
  sets.dual = choose(halves.training, "gslda", p, options, control);
  sets.seconds = sets.dual.prepare_s + sets.dual.search_s;
  sets.thresholded = choose(halves.training, "st", p, options, control);
  result.status = control.status_or(Status::kHeuristic);
  if (control.should_stop() || sets.thresholded.sets().empty()) return;
  std::vector<Finding> headlines;
  headlines.push_back({.series = "GSLDA, every k: seconds",
                       .published = task.search_s,
                       .statement = task.time_statement,
                       .obtained = sets.seconds});
  add_objectives(sets, result);
  add_class_means(halves.training, pixels, album);
  add_picture(album, "fisher-loadings", pixels, fisher_loadings(sets, pixels));
  add_best_pixel(sets, images, pixels, album, result);

  const Judge judge(halves, plan, options, control);
  const auto judge_sets = [&](const std::string& who, const Selection& selection,
                              GpApproximation approximation, Index largest) {
    for (const Index k : plan.sizes) {
      const PathEntry* const entry = entry_of(selection, k);
      if (entry == nullptr || k > largest) continue;
      control.report(result.id, -1.0, [&] { return fmt::format("{}, k = {}", who, k); });
      const auto score = judge(entry->features, approximation);
      if (!score) return;
      add_score(who, k, *score, result);
    }
  };
  const auto soft_ard = [&](const Approximation& approximation) {
    if (control.should_stop()) return;
    control.report(result.id, -1.0, [&] { return fmt::format("soft ARD, {}", approximation.name); });
    const GpRule rule = judge.train(pixels, approximation.value, true);
    const bool laplace = approximation.value == GpApproximation::kLaplace;
    result.details["soft_ard_evaluations"][approximation.name] =
        rule.machines.empty() ? 0 : rule.machines.front().evaluations;
    headlines.push_back({.series = fmt::format("soft ARD, {}: seconds", approximation.name),
                         .published = laplace ? task.laplace_s : task.ep_s,
                         .statement = task.time_statement,
                         .obtained = rule.seconds});
    const Score whole = judge.score(rule, pixels);
    headlines.push_back(
        {.series = fmt::format("soft ARD, {}: error", approximation.name), .obtained = whole.error});
    headlines.push_back(
        {.series = fmt::format("soft ARD, {}: bits", approximation.name), .obtained = whole.information});
    headlines.push_back(
        {.series = fmt::format("soft ARD, {}: log Z", approximation.name), .obtained = whole.log_evidence});
    const Vector relevance = rule.lengthscales().cwiseInverse();
    add_picture(album, fmt::format("soft-ard-{}", laplace ? "laplace" : "ep"), pixels, relevance);
    // Its sets: the k pixels with the smallest length-scales.
    std::vector<Index> places(pixels.size());
    std::iota(places.begin(), places.end(), Index{0});
    const auto order = filters::ranking(to_vector(relevance), places);
    Selection ranked;
    for (const Index k : plan.sizes) {
      PathEntry entry;
      for (const Index place : first_of(order, k))
        entry.features.push_back(pixels[static_cast<std::size_t>(place)]);
      ranked.sets().push_back(std::move(entry));
    }
    if (laplace) judge_sets("Laplace, soft ARD", ranked, GpApproximation::kLaplace, p);
  };
  judge_sets("Laplace, GSLDA", sets.dual, GpApproximation::kLaplace, p);
  judge_sets("Laplace, Fisher", sets.thresholded, GpApproximation::kLaplace, kSparse);
  soft_ard(kApproximations[0]);
  judge_sets("EP, GSLDA", sets.dual, GpApproximation::kEp, p);
  soft_ard(kApproximations[1]);
  if (!task.statement.empty()) {
    const auto last = std::find_if(result.results.begin(), result.results.end(), [&](const Finding& finding) {
      return finding.series == "Laplace, GSLDA: error" && finding.x == plan.sizes.back();
    });
    if (last != result.results.end()) last->statement = task.statement;
  }
  result.results.insert(result.results.begin(), headlines.begin(), headlines.end());
  result.status = control.status_or(Status::kHeuristic);
}

}  // namespace

void digit_pixels(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  run_pixels(
      options,
      {.classes = {"3", "5"},
       .paper_rows = 1540,
       .paper_training = 767,
       .figures = "7 to 11",
       .statement =
           "pixel sets of size k = 150 suffice in terms of test error and test information; it is mostly for the sparsest regimes (k < 50) that performance seriously degrades",
       .time_statement = "soft ARD took 4 minutes with Laplace and 21 with EP, GSLDA 2 seconds for all k",
       .search_s = 2.0,
       .laplace_s = 240.0,
       .ep_s = 1260.0},
      control, result);
}

void gender_pixels(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  run_pixels(
      options,
      {.classes = {},
       .paper_rows = 1755,
       .paper_training = 878,
       .figures = "12 to 16",
       .statement =
           "far fewer than n = 252 pixels suffice; only in the sparsest regimes (k < 50) does performance seriously degrade; the best error is 4.5 % with EP",
       .time_statement = "GSLDA took less than 2 seconds",
       .search_s = 2.0},
      control, result);
}

}  // namespace subspectra::reproduce
