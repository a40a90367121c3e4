// Compiles several versions of a function that loops over all bodies in float64, one per vector
// width. At run time the widest version that the machine supports is chosen. The versions add in
// different orders, but in float64 the difference is far below the limit of every check.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define NBODY_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NBODY_CLONES
#endif
