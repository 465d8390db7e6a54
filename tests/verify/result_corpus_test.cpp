#include "../../fuzz/result_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(result);
