#include "../../fuzz/sets_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(sets);
