// Tells LeakSanitizer which leaks are Open MPI's. Linked into the programs on ranks in the preset
// cpu-asan.
#include <sanitizer/asan_interface.h>

extern "C" {

// Its components, and those of PMIx, have no other name that all share than that of their folder.
const char* __lsan_default_suppressions() {
  return "leak:libmpi.so\n"
         "leak:libopen-pal.so\n"
         "leak:libopen-rte.so\n"
         "leak:libpmix.so\n"
         "leak:/openmpi/\n";
}

// Compiled without frame pointers, it is not in a stack that is unwound the fast way.
const char* __asan_default_options() { return "fast_unwind_on_malloc=0"; }

// The tests read what the ranks write.
const char* __lsan_default_options() { return "print_suppressions=0"; }

// It unloads its components before leaks are looked for, and their names are lost.
int dlclose(void*) { return 0; }
}
