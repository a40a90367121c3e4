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

// Open MPI has no frame pointers, so the fast way to unwind a stack would miss its functions.
const char* __asan_default_options() { return "fast_unwind_on_malloc=0"; }

// The tests read the ranks' output, which must not contain a list of the suppressions.
const char* __lsan_default_options() { return "print_suppressions=0"; }

// Keeps Open MPI's components loaded until the leak check, which needs their names.
int dlclose(void*) { return 0; }
}
