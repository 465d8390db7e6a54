#pragma once
/// What leaves the shared library; everything else is hidden.
#define SUBSPECTRA_EXPORT __attribute__((visibility("default")))
