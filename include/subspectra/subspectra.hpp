#pragma once
/// Subspectra: the few features that carry the signal, how far that choice can be from the best, and how well
/// it does on new rows. docs/cpp.md is the tour.
#include <subspectra/classifiers.hpp>
#include <subspectra/cluster.hpp>
#include <subspectra/dataset.hpp>
#include <subspectra/error.hpp>
#include <subspectra/evaluate.hpp>
#include <subspectra/export.hpp>
#include <subspectra/io.hpp>
#include <subspectra/method.hpp>
#include <subspectra/model.hpp>
#include <subspectra/options.hpp>
#include <subspectra/path.hpp>
#include <subspectra/qalpha.hpp>
#include <subspectra/rankers.hpp>
#include <subspectra/run_control.hpp>
#include <subspectra/scoring.hpp>
#include <subspectra/searches.hpp>
#include <subspectra/selection.hpp>
#include <subspectra/sparse_pca.hpp>
#include <subspectra/types.hpp>
