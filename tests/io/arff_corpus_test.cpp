#include "../../fuzz/arff_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(arff);
