#include "../../fuzz/h5ad_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(h5ad);
