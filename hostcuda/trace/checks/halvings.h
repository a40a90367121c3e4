// Finds reductions that leave out an element because they halve an odd number of threads: 96
// threads halve to 48, 24, 12, 6, 3 and 1, and no thread adds the third element.
#ifndef HOSTCUDA_TRACE_CHECKS_HALVINGS_H
#define HOSTCUDA_TRACE_CHECKS_HALVINGS_H

#include <cstdint>
#include <optional>
#include <vector>

#include "checks/arrays.h"

namespace hostcuda::trace {

// The stores of one block to shared memory, counted for each code location and barrier interval.
class Halvings {
 public:
  void store(const void* code, Array& array, std::uint32_t interval);

  struct Lost {
    const void* code;
    Array* array;
    unsigned threads;  // the odd number of threads that stored before the number was halved
  };
  std::vector<Lost> lost() const;

 private:
  struct Stores {
    const void* code;
    Array* array;
    std::uint32_t interval;
    std::vector<unsigned> counts;  // one per interval with stores
  };
  static std::optional<unsigned> odd_count(const std::vector<unsigned>& counts);
  std::vector<Stores> stores_;
};

}  // namespace hostcuda::trace

#endif
