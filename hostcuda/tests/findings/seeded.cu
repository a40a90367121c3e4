// Seeded bugs, for the traced build.
//
//   seeded --list            prints a line for each bug: its name, a tab, the kind of its finding
//   seeded NAME [corrected]  runs the bug, or its correction
//   seeded --host-threads    runs host_threads.h, which has no bug
//   seeded --same-loads      runs same_loads.h, whose accesses are counted
//   seeded --warp-counts     runs warp_counts.h, whose atomics and shuffles are counted
//   seeded --skipped-atomics runs skipped_atomics.h, whose atomics may be without effect
#include <cstdio>
#include <cstring>

#include "async_bugs.h"
#include "children_bugs.h"
#include "group_bugs.h"
#include "heap_bugs.h"
#include "host_bugs.h"
#include "host_threads.h"
#include "library_bugs.h"
#include "memory_bugs.h"
#include "order_bugs.h"
#include "same_loads.h"
#include "silent_bugs.h"
#include "skipped_atomics.h"
#include "symbol_bugs.h"
#include "warp_counts.h"

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "--host-threads")) return seeded::host_threads(), 0;
  if (argc > 1 && !std::strcmp(argv[1], "--same-loads")) return seeded::same_loads(), 0;
  if (argc > 1 && !std::strcmp(argv[1], "--warp-counts")) return seeded::warp_counts(), 0;
  if (argc > 1 && !std::strcmp(argv[1], "--skipped-atomics")) return seeded::skipped_atomics(), 0;
  const bool lists = argc > 1 && !std::strcmp(argv[1], "--list");
  for (const seeded::Bug& bug : seeded::all_bugs()) {
    if (lists) std::printf("%s\t%s\n", bug.name, bug.kind);
    if (argc < 2 || std::strcmp(bug.name, argv[1])) continue;
    bug.run(argc < 3);
    return 0;
  }
  return lists ? 0 : 3;
}
