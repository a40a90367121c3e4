// Tells LeakSanitizer to ignore Open MPI's leaks. Linked into the programs with ranks in the preset
// cpu-asan.
#include <sanitizer/asan_interface.h>

extern "C" {

// The functions of Open MPI's components and of PMIx's have no name in common except their
// directory.
const char* __lsan_default_suppressions() {
  return "leak:libmpi.so\n"
         "leak:libopen-pal.so\n"
         "leak:libopen-rte.so\n"
         "leak:libpmix.so\n"
         "leak:/openmpi/\n";
}

// Compiled without frame pointers, it is missing in stacks that are unwound the fast way.
const char* __asan_default_options() { return "fast_unwind_on_malloc=0"; }

// The tests read the output of the ranks.
const char* __lsan_default_options() { return "print_suppressions=0"; }

// It unloads its components before the leak check, and their names would be lost.
int dlclose(void*) { return 0; }
}
