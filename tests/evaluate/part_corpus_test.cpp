#include "../../fuzz/part_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(part);
