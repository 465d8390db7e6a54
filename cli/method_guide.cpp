#include "method_guide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command.hpp"
#include "help.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace subspectra::cli {
namespace {

constexpr std::string_view kSparseLda =
    "B. Moghaddam, Y. Weiss, S. Avidan, Generalized Spectral Bounds for Sparse LDA, ICML 2006";
constexpr std::string_view kSparsePca =
    "B. Moghaddam, Y. Weiss, S. Avidan, Spectral Bounds for Sparse PCA, NIPS 2005; the same, Fast Pixel/Part Selection with Sparse Eigenvectors, ICCV 2007";
constexpr std::string_view kRvm =
    "Y. Wu, D. Wipf, J. Yun, Understanding and Evaluating Sparse Linear Discriminant Analysis, AISTATS 2015";
constexpr std::string_view kQalpha =
    "L. Wolf, A. Shashua, Feature Selection for Unsupervised and Supervised Inference: the Emergence of Sparsity in a Weight-Based Approach, JMLR 2005";

constexpr std::array
    kGuides =
        {MethodGuide{
             "all", "Keeps every feature that varies and chooses nothing.",
             "As the bar that a selection has to reach: in evaluate, beside the methods you consider.",
             "subspectra evaluate sonar --method fisher,all -k 1:10 --cv 3", "", "components.md"},
         MethodGuide{
             "auto",
             "Compares a few methods that have done well (a forward search with a ridge, a group lasso, a filter), each over its own sizes, on rows held out inside the training rows, and takes of the best the one with fewest features.",
             "When you do not know which method suits the table: it is what fit and evaluate do when none is named. Where you know, or have no time, name one. select has no rows to hold out and refuses it.",
             "subspectra fit sonar --method auto -o model.json", "", "auto.md"},
         MethodGuide{
             "gslda",
             "Builds sets of features step by step: one pass adds the feature that separates the classes best together with those already in, another starts from many and drops the one that is missed least. At every size the better of the two sets is kept, with a bound on what any set of that size could reach.",
             "Your first choice with labels: it sees what features do together, which filters do not, and costs little. For a proof that nothing is better, eslda; for tens of thousands of columns forward-lda does the same in less time.",
             "subspectra select sonar --method gslda -k 1:10", kSparseLda, "greedy.md"},
         MethodGuide{
             "forward-lda",
             "Starts with no feature and adds, one at a time, the one that separates the classes best together with those already in.",
             "Very many columns: each step costs one look at every column, and nothing features x features is formed. gslda adds the pass from the other side where that pays.",
             "subspectra select sonar --method forward-lda -k 10", kSparseLda, "greedy.md"},
         MethodGuide{
             "backward-lda",
             "Starts with all features and drops, one at a time, the one that is missed least.",
             "Larger sets of at most a few thousand columns, where features matter only together. It needs more rows than features, or a ridge.",
             "subspectra select sonar --method backward-lda -k 20", kSparseLda, "greedy.md"},
         MethodGuide{
             "eslda",
             "Goes through all sets of a size, leaving out whatever a bound rules out, and ends with the best one and a proof. Stopped early it has the best set so far and says how far from the best it can be.",
             "Up to about a hundred columns, or few features of more, when the best set itself is wanted. Give it --time-limit: what it has by then is still bounded.",
             "subspectra select sonar --method eslda -k 5", kSparseLda, "exact.md"},
         MethodGuide{
             "gspca",
             "Finds, without labels, the features whose first principal component has the most variance: forward and backward passes, at every size the better set, with a bound.",
             "Without labels, when a component should be made of few columns; also on a covariance matrix (--covariance). For features that make rows cluster, qalpha.",
             "subspectra select ionosphere --method gspca -k 5", kSparsePca, "greedy.md"},
         MethodGuide{"forward-pca",
                     "Adds, one at a time, the feature that raises the variance of the first component most.",
                     "As gspca, for very many columns.",
                     "subspectra select ionosphere --method forward-pca -k 5", kSparsePca, "greedy.md"},
         MethodGuide{
             "backward-pca",
             "Starts with all features and drops, one at a time, the one the first component misses least.",
             "As gspca, when large sets of moderately many columns are wanted.",
             "subspectra select ionosphere --method backward-pca -k 20", kSparsePca, "greedy.md"},
         MethodGuide{
             "espca",
             "Looks through all sets of a size for the one whose first principal component has the most variance, skips what bounds rule out, and ends with a proof.",
             "Without labels or on a covariance matrix, when the best set itself is wanted; hundreds of columns where the covariance has structure.",
             "subspectra select ionosphere --method espca -k 5", kSparsePca, "exact.md"},
         MethodGuide{
             "st",
             "Computes the discriminant (without labels: the first component) over all features, keeps the k largest loadings and fits again on these features alone.",
             "As the simple thing to compare with. Searches find better sets at little more cost.",
             "subspectra select sonar --method st -k 5", kSparseLda, "greedy.md"},
         MethodGuide{
             "pearson",
             "Scores every feature by itself: the share of its variance that the classes explain (for two classes the correlation with the label).",
             "Millions of columns, a first look, or a long list to cut elsewhere. Blind to redundancy: two copies of a good feature both rank high.",
             "subspectra select sonar --method pearson -k 10", "", "filters.md"},
         MethodGuide{
             "fisher",
             "Scores every feature by itself: squared distance of the class means over the variances within the classes.",
             "As pearson; with classes of very different sizes it counts every class alike. Many features of it with a shrunken rule are a strong, if long, answer on gene tables.",
             "subspectra evaluate sonar --method fisher -k 1:20 --cv 3", "", "filters.md"},
         MethodGuide{
             "ks",
             "Scores every feature by the largest distance between the distribution functions of its two classes.",
             "Two classes that differ in spread or shape and not only in the mean, or values with outliers: it looks at the order of values alone.",
             "subspectra select sonar --method ks -k 10", "", "filters.md"},
         MethodGuide{
             "snr",
             "Scores every feature by the distance of the two class means over the sum of the standard deviations.",
             "Two classes, to compare with the gene-expression literature, where it is common.",
             "subspectra select sonar --method snr -k 10",
             "T. R. Golub et al., Molecular classification of cancer, Science 286:531, 1999", "filters.md"},
         MethodGuide{
             "max-surprise",
             "Counts the rows that the best single threshold on a feature gets wrong, and turns that into how surprising so few errors are. Without labels it looks for the division of the rows under which surprisingly many features are informative.",
             "To discover two classes in a table without labels; with labels, a filter that thresholds cannot fool.",
             "subspectra select sonar --method max-surprise -k 10",
             "A. Ben-Dor, N. Friedman, Z. Yakhini, Class Discovery in Gene Expression Data, RECOMB 2001",
             "filters.md"},
         MethodGuide{
             "svm-rfe",
             "Trains a linear support vector machine, takes out the features with the smallest weights, and trains again until none is left.",
             "When the classifier will be a support vector machine (--classifier svm); on gene tables with few rows.",
             "subspectra select sonar --method svm-rfe --C 1 -k 10",
             "I. Guyon, J. Weston, S. Barnhill, V. Vapnik, Gene Selection for Cancer Classification using Support Vector Machines, Machine Learning 46, 2002",
             "svm.md"},
         MethodGuide{
             "svm-rmb",
             "Scales every feature so that the bound radius^2 x margin^-2 on the errors of a linear machine falls; what is scaled towards zero does not matter.",
             "As svm-rfe, when features should be judged all at once and not one elimination after the other. Dearer.",
             "subspectra select sonar --method svm-rmb --C 1 -k 10",
             "J. Weston et al., Feature Selection for SVMs, NIPS 2000", "svm.md"},
         MethodGuide{
             "rvm-row",
             "Fits discriminants by regression on class scores, where every feature has a variance of its own that is learned from the data; the variance of a useless feature goes to zero.",
             "Few features without tuning (--lambda auto), any number of classes, many more columns than rows.",
             "subspectra fit sonar --method rvm-row --lambda auto -o model.json", kRvm, "scoring.md"},
         MethodGuide{
             "rvm-entry",
             "As rvm-row, with a variance for every entry: each discriminant has features of its own.",
             "More than two classes whose discriminants use different features.",
             "subspectra select sonar --method rvm-entry -k 10", kRvm, "scoring.md"},
         MethodGuide{
             "gloss",
             "Fits all discriminants at once with a group lasso: a feature is in all of them or in none. The problem is convex, and a duality gap says how exactly it is solved.",
             "A safe, fast answer of somewhat more features than rvm-row gives; wide tables, any number of classes.",
             "subspectra fit sonar --method gloss --lambda auto -o model.json",
             "L. F. Sanchez Merchante, Y. Grandvalet, G. Govaert, An Efficient Approach to Sparse Linear Discriminant Analysis, ICML 2012",
             "scoring.md"},
         MethodGuide{
             "sda",
             "Fits one discriminant after another by an elastic net, with class scores that follow the fit.",
             "To compare with published results; discriminants with features of their own.",
             "subspectra select sonar --method sda -k 10",
             "L. Clemmensen, T. Hastie, D. Witten, B. Ersboll, Sparse Discriminant Analysis, Technometrics 53, 2011",
             "scoring.md"},
         MethodGuide{
             "plda",
             "Maximizes Fisher's criterion with a lasso penalty, taking the features for uncorrelated within the classes.",
             "Very wide tables whose features hardly correlate; it often keeps thousands.",
             "subspectra select sonar --method plda -k 10",
             "D. Witten, R. Tibshirani, Penalized Classification using Fisher's Linear Discriminant, JRSS B 73, 2011",
             "scoring.md"},
         MethodGuide{
             "sulda",
             "Of all discriminants that separate the training classes perfectly and are uncorrelated, takes those with the smallest sum of absolute entries (linear programs).",
             "More columns than rows, when a reference without any tuning is wanted; it keeps up to rank(X) features a discriminant.",
             "subspectra synth bendor --seed 3 -o t.csv && subspectra select t.csv --method sulda",
             "X. Zhang, D. Chu, Sparse Uncorrelated Linear Discriminant Analysis, ICML 2013", "scoring.md"},
         MethodGuide{
             "sfd", "A lasso on labels of +1 and -1.",
             "Two classes, as the plainest sparse regression to compare with.",
             "subspectra select sonar --method sfd -k 10",
             "S. Mika, G. Raetsch, K.-R. Mueller, A Mathematical Programming Approach to the Kernel Fisher Algorithm, NIPS 2001",
             "scoring.md"},
         MethodGuide{
             "jeffreys-row",
             "As rvm-row with Jeffreys' prior in place of learned variances: the logarithm of every row's size is penalized.",
             "To compare with rvm-row: as sparse, with more local optima.",
             "subspectra select sonar --method jeffreys-row -k 10",
             "M. Figueiredo, Adaptive Sparseness using Jeffreys Prior, NIPS 2001", "scoring.md"},
         MethodGuide{"jeffreys-entry", "As jeffreys-row, entry by entry.", "To compare with rvm-entry.",
                     "subspectra select sonar --method jeffreys-entry -k 10",
                     "M. Figueiredo, Adaptive Sparseness using Jeffreys Prior, NIPS 2001", "scoring.md"},
         MethodGuide{
             "qalpha",
             "Gives every feature a weight such that the features together make the rows fall into clusters; the weights of irrelevant features fall away, and where they fall most is where to cut.", "Without labels, when groups of rows are expected: cell types, topics, sessions. `subspectra cluster` goes on to the clusters. Linear in the number of columns.",
             "subspectra select ionosphere --target none --exclude class --method qalpha", kQalpha,
             "qalpha.md"},
         MethodGuide{"qalpha-basic", "As qalpha, with its directions computed anew in every step.",
                     "To check qalpha: fewer steps, each dearer.",
                     "subspectra select ionosphere --target none --exclude class --method qalpha-basic -k 5",
                     kQalpha, "qalpha.md"},
         MethodGuide{"qalpha-ritz", "As qalpha, with the directions in order of their strength.",
                     "When the directions themselves are looked at; the weights are those of qalpha.",
                     "subspectra select ionosphere --target none --exclude class --method qalpha-ritz -k 5",
                     kQalpha, "qalpha.md"},
         MethodGuide{
             "qalpha-laplacian", "As qalpha on the Laplacian of the affinities between rows.",
             "Values that are never negative (counts, intensities), with --no-normalize.",
             "subspectra synth clusters -o t.csv && subspectra select t.csv --target none --exclude class --method qalpha-laplacian -k 5",
             kQalpha, "qalpha.md"},
         MethodGuide{"qalpha-gap",
                     "As qalpha, for the energy of the leading directions less that of all others.",
                     "Small tables, for sharper falls of the weights: it forms rows x rows numbers.",
                     "subspectra select ionosphere --target none --exclude class --method qalpha-gap -k 5",
                     kQalpha, "qalpha.md"},
         MethodGuide{
             "qalpha-supervised",
             "Weighs features so that rows of one class are alike and rows of two classes are not.",
             "Labels for all rows and classes that are clusters; for plain separation gslda does better.",
             "subspectra select sonar --method qalpha-supervised -k 10", kQalpha, "qalpha.md"},
         MethodGuide{"qalpha-semi",
                     "A mixture of qalpha over all rows and qalpha-supervised over those with a label.",
                     "Labels for some of the rows; an empty label is an unlabelled row.",
                     "subspectra select sonar --method qalpha-semi --supervision 0.7 -k 10", kQalpha,
                     "qalpha.md"},
         MethodGuide{"qalpha-kernel",
                     "As qalpha with a kernel between features in place of their inner products.",
                     "Features that matter through interactions which no single product shows.",
                     "subspectra select ionosphere --target none --exclude class --method qalpha-kernel -k 5",
                     kQalpha, "qalpha.md"},
         MethodGuide{
             "gp-ard",
             "Fits a Gaussian process with a length-scale for every feature; a long one means that the feature hardly matters.",
             "Up to some hundred rows and features, when the dependence may be anything but linear. Use --standardize where units differ.",
             "subspectra select sonar --method gp-ard --standardize -k 10 --time-limit 5",
             "B. Moghaddam, Y. Weiss, S. Avidan, Fast Pixel/Part Selection with Sparse Eigenvectors, ICCV 2007",
             "gp.md"},
         MethodGuide{
             "spca",
             "Writes the first component as a regression on itself with an elastic-net penalty, over a path of penalties.",
             "To compare with published sparse PCA. gspca finds sets of at least the same variance, with a bound.",
             "subspectra select ionosphere --method spca -k 5",
             "H. Zou, T. Hastie, R. Tibshirani, Sparse Principal Component Analysis, J. Comput. Graph. Stat. 15, 2006",
             "sparse-pca.md"},
         MethodGuide{
             "dspca",
             "Solves a semidefinite program that contains every sparse component; its dual bounds what any set can reach.",
             "Up to some hundred columns, for a bound beside gspca's.",
             "subspectra select ionosphere --method dspca -k 5",
             "A. d'Aspremont, L. El Ghaoui, M. Jordan, G. Lanckriet, A Direct Formulation for Sparse PCA using Semidefinite Programming, SIAM Review 49, 2007",
             "sparse-pca.md"},
         MethodGuide{"pca", "The k first principal components, each over all features: k counts components.",
                     "As a bar without selection, in evaluate.",
                     "subspectra evaluate sonar --method pca -k 1:10 --cv 3", "", "components.md"},
         MethodGuide{
             "gene-shaving",
             "Finds k sets of features that vary together, by shaving off the features least like the leading component, and takes their means.",
             "Without labels, when clusters of like features are wanted: k counts sets.",
             "subspectra select ionosphere --method gene-shaving -k 2",
             "T. Hastie et al., 'Gene shaving' as a Method for Identifying Distinct Sets of Genes with Similar Expression Patterns, Genome Biology 1(2), 2000",
             "components.md"}};

std::string abilities(const MethodTraits& traits) {
  std::string text = traits.proves ? "Proves its sets." : "";
  const auto say = [&](bool can, std::string_view sentence) {
    if (!can) return;
    if (!text.empty()) text += ' ';
    text += sentence;
  };
  say(traits.takes_matrices, traits.needs_labels ? "Runs on a pair of matrices too (--between A --within B)."
                                                 : "Runs on a covariance matrix too (--covariance S).");
  say(traits.takes_groups, "Takes whole groups of features (--groups FILE).");
  say(traits.own_rule, "Comes with a rule of its own, which fit and evaluate use.");
  say(traits.clusters_rows, "Its weights serve `subspectra cluster`.");
  say(traits.ranks_when_stopped, "Stopped early it still ranks every feature.");
  return text;
}

}  // namespace

const MethodGuide* guide_to(std::string_view method) {
  const auto found = std::find_if(kGuides.begin(), kGuides.end(),
                                  [&](const MethodGuide& guide) { return guide.name == method; });
  return found == kGuides.end() ? nullptr : &*found;
}

std::string method_needs(const MethodTraits& traits) {
  if (!traits.needs_labels) return traits.two_classes_only ? "no labels, or two classes" : "no labels";
  return traits.two_classes_only ? "labels of two classes" : "labels, of any number of classes";
}

std::string method_page(const MethodEntry& method) {
  const MethodTraits& traits = *method.traits;
  const MethodGuide* const guide = guide_to(traits.name);
  std::string text = prose(fmt::format("{}: {}", traits.name, in_flags(traits.summary)));
  if (guide != nullptr) text += help_paragraph("What it does", guide->does);
  if (guide != nullptr) text += help_paragraph("When to use it", guide->when);
  std::string needs = "Needs " + method_needs(traits) + ".";
  if (const std::string more = abilities(traits); !more.empty()) needs += ' ' + more;
  text += help_paragraph("Needs and abilities", needs);
  if (guide != nullptr)
    text += fmt::format("\n{}\n  $ {}\n", styled("Example:", Style::kTitle), guide->example);
  text += method.options.empty() ? "\nIt has no options of its own.\n"
                                 : help_options("Its own options", method.options);
  text += '\n' + prose("Options of all methods (-k, --include, --ridge, ...): subspectra select --help-all");
  if (guide == nullptr) return text;
  if (!guide->reference.empty()) text += help_paragraph("Reference", guide->reference);
  return text + help_paragraph("More", fmt::format("docs/methods/{}", guide->page));
}

std::string method_options_page(const MethodEntry& method, std::string_view command) {
  std::string text = prose(fmt::format("{}: {}", method.traits->name, in_flags(method.traits->summary)));
  text += method.options.empty()
              ? "\nIt has no options of its own.\n"
              : help_options("Options of --method " + std::string(method.traits->name), method.options);
  return text + '\n' +
         prose(fmt::format(
             "More: subspectra methods {} explains it; subspectra {} --help-all has the other options.",
             method.traits->name, command.empty() ? "select" : command));
}

}  // namespace subspectra::cli
