#include "../../fuzz/dialects_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(dialects);
