#include "../../fuzz/bed_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(bed);
