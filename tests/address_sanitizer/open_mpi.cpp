// Makes LeakSanitizer ignore the leaks of Open MPI. In the preset cpu-asan, programs with ranks are
// linked with this file.
#include <sanitizer/asan_interface.h>

extern "C" {

// The functions of Open MPI's and PMIx's components have only their directory in common, so the
// suppressions name the directory.
const char* __lsan_default_suppressions() {
  return "leak:libmpi.so\n"
         "leak:libopen-pal.so\n"
         "leak:libopen-rte.so\n"
         "leak:libpmix.so\n"
         "leak:/openmpi/\n";
}

// Open MPI is compiled without frame pointers, so the fast way to unwind a stack would miss Open
// MPI's functions.
const char* __asan_default_options() { return "fast_unwind_on_malloc=0"; }

// The tests read the ranks' output, which must not contain a list of the suppressions.
const char* __lsan_default_options() { return "print_suppressions=0"; }

// Never unloads Open MPI's components, because the leak check needs their names.
int dlclose(void*) { return 0; }
}
