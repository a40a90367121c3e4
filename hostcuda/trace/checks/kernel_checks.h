// Reports accesses that a kernel must not make.
#ifndef HOSTCUDA_TRACE_CHECKS_KERNEL_CHECKS_H
#define HOSTCUDA_TRACE_CHECKS_KERNEL_CHECKS_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checks/arrays.h"
#include "races/races.h"
#include "records/finding.h"

namespace hostcuda::trace {

// One access, by the running thread or by host code.
struct Accessed {
  const char* address;
  unsigned bytes;
  Kind kind;
  const void* code;  // the instrumentation's return address
};

const char* name_of(Kind kind);  // returns "load", "store" or "atomic"

// Returns the name of a variable, or a phrase such as "the allocation of a.cu:12".
std::string name_of(const Array& array);
// Returns the array's name, its size in bytes and in elements of `element` bytes, and the line that
// allocated it.
std::string description_of(const Array& array, unsigned element);
// Sets the name of the finding's array, and adds the array's description to the finding.
void describe(Finding& finding, const Array& array, unsigned element = 1);

class KernelChecks {
 public:
  explicit KernelChecks(const Epochs& epochs) : epochs_(epochs) {}

  void out_of_bounds(const Array& array, const Accessed& accessed);
  // Reports that a thread reads an unwritten element. For shared memory, the finding is reported
  // only when the block has ended, and not if the read is part of a race, because the element might
  // be written first if the threads ran in another order.
  void unwritten(const Array& array, const Accessed& accessed, std::uint32_t site);
  void block_ended(const Races& races);
  void race(const Race& race, const SiteKey& earlier, const SiteKey& later);
  // Reports that a thread reads an element to which an unfinished asynchronous copy writes.
  void copy_in_flight(const Array& array, std::size_t offset, const SiteKey& copy,
                      const SiteKey& access, const Side& side);
  void block_has_ended(const Array& array, const Accessed& accessed);
  void wrong_device(const Array& array, const Accessed& accessed);
  void constant_of_other_device(const Accessed& accessed);
  // bytes_set: the number of the variable's bytes that host code has set.
  void constant_never_set(const Array& array, const Accessed& accessed, std::size_t bytes_set);
  // Reports that a kernel reads a number of several bytes after cudaMemset has set each of these
  // bytes to a value other than zero.
  void bytes_as_number(const Array& array, const Accessed& accessed);
  void misaligned(const Array* array, const Accessed& accessed, unsigned alignment);
  void host_memory(const Accessed& accessed);
  void device_memory(const Array& array, const Accessed& accessed);  // host code made the access
  void device_variable(const char* name, const Accessed& accessed);  // host code made the access
  void table_of_host(const Array& array, const Accessed& accessed, const std::string& of_class);
  // A lost partial sum: `threads` threads (an odd number) make partial sums, and half as many
  // threads, rounded down, add these sums in the next step. One of the sums is left out.
  bool knows_lost_partial(const void* code);
  void lost_partial(const Array& array, const void* code, unsigned threads);
  void memory_of_other_thread(const Accessed& accessed);
  void unordered(const Array& array, const Accessed& accessed, std::uint32_t operation);
  // Reports a finding of the compiler's own checks (bounds.cpp).
  void said_by_compiler(const std::string& kind, const std::string& what, const std::string& place,
                        const std::string& array, const long long* index, const std::string& advice,
                        const void* code);

 private:
  // If the same finding was reported before, counts it again and returns it; otherwise returns
  // null.
  Finding* begin(const char* kind, const void* first, const void* second);
  Finding of_access(const char* kind, const Accessed& accessed, std::string what) const;
  // Reports the finding unless the same line has already been reported for the same array.
  void finish(const char* kind, const void* first, const void* second, Finding finding);
  void describe(Finding& finding, const Array& array, const Accessed& accessed) const;

  const Epochs& epochs_;
  using Key = std::pair<std::string, std::pair<const void*, const void*>>;
  std::map<Key, Finding*> known_;
  std::map<std::string, Finding*> of_line_;
  struct Pending {
    Finding finding;
    std::uint32_t site;
    std::string pair;  // the source lines of a race's two accesses
  };
  std::vector<Pending> pending_;
};

}  // namespace hostcuda::trace

#endif
