#pragma once
/// The experiments' functions, each in a file of its own, and what they share.
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "reproduce/experiments.hpp"

namespace subspectra::reproduce {

void monte_carlo(const ReproduceOptions&, const RunControl&, Reproduction&);         // icml06-fig1
void sonar_errors(const ReproduceOptions&, const RunControl&, Reproduction&);        // icml06-fig2
void ionosphere_errors(const ReproduceOptions&, const RunControl&, Reproduction&);   // icml06-fig3
void colon_errors(const ReproduceOptions&, const RunControl&, Reproduction&);        // icml06-fig4
void exact_search_times(const ReproduceOptions&, const RunControl&, Reproduction&);  // icml06-exact
void greedy_speed(const ReproduceOptions&, const RunControl&, Reproduction&);        // iccv07-speed
void two_class_bounds(const ReproduceOptions&, const RunControl&, Reproduction&);    // iccv07-bounds
void sparse_eigenfaces(const ReproduceOptions&, const RunControl&, Reproduction&);   // iccv07-faces
void face_verification(const ReproduceOptions&, const RunControl&, Reproduction&);   // iccv07-verification
void sparse_eigenshapes(const ReproduceOptions&, const RunControl&, Reproduction&);  // iccv07-shape
void digit_pixels(const ReproduceOptions&, const RunControl&, Reproduction&);        // iccv07-usps
void gender_pixels(const ReproduceOptions&, const RunControl&, Reproduction&);       // iccv07-gender
void sparse_discriminants_table(const ReproduceOptions&, const RunControl&,
                                Reproduction&);                                         // aistats15-table1
void sparsest_solution(const ReproduceOptions&, const RunControl&, Reproduction&);      // aistats15-theorem3
void positive_eigenvectors(const ReproduceOptions&, const RunControl&, Reproduction&);  // jmlr05-fig2a
void positive_weights(const ReproduceOptions&, const RunControl&, Reproduction&);       // jmlr05-fig2b
void cluster_counts(const ReproduceOptions&, const RunControl&, Reproduction&);         // jmlr05-fig3b
void kernel_sessions(const ReproduceOptions&, const RunControl&, Reproduction&);        // jmlr05-fig6b
void expression_model(const ReproduceOptions&, const RunControl&, Reproduction&);       // jmlr05-bendor
void weston_problems(const ReproduceOptions&, const RunControl&, Reproduction&);        // jmlr05-fig3a
void gene_selection_table(const ReproduceOptions&, const RunControl&, Reproduction&);   // jmlr05-table1
void image_clusters(const ReproduceOptions&, const RunControl&, Reproduction&);         // jmlr05-images

/// `data`, or `embedded` where it was not given; values checked.
[[nodiscard]] Dataset load_table(const ReproduceOptions& options, const std::string& embedded = {});
/// The same, a sparse table made dense.
[[nodiscard]] Dataset load_dense_table(const ReproduceOptions& options);
/// Columns that are not constant, ascending.
[[nodiscard]] std::vector<Index> varying_columns(const Dataset& data);
/// The first k of `order`, ascending.
[[nodiscard]] std::vector<Index> first_of(const std::vector<Index>& order, Index k);

/// a = sqrt(n1 n2)/N (mu1 - mu2) and B = Sigma_w of a labelled table of two classes.
struct TwoClass {
  Vector a;
  Matrix b;
};
[[nodiscard]] TwoClass two_class_pair(const Dataset& data, int threads);

}  // namespace subspectra::reproduce
