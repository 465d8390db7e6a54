#include "../../fuzz/report_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(report);
