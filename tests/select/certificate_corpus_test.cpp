#include "../../fuzz/certificate_target.hpp"
#include "corpus.hpp"

SUBSPECTRA_REPLAY_CORPUS(certificate);
