#include "../../fuzz/options_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(options);
