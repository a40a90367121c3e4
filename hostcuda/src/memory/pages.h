// The system's pages.
#ifndef HOSTCUDA_SRC_MEMORY_PAGES_H
#define HOSTCUDA_SRC_MEMORY_PAGES_H

#include <unistd.h>

#include <cstddef>

namespace hostcuda {

inline std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

inline std::size_t whole_pages(std::size_t size) {  // rounds up
  return (size + page_size() - 1) / page_size() * page_size();
}

}  // namespace hostcuda

#endif
