#include "../../fuzz/csv_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(csv);
