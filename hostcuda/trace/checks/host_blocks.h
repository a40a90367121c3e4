// The blocks that the program's traced files allocated in the host's heap. With this list,
// a copy that is too large for its block is found before it damages the heap.
#ifndef HOSTCUDA_TRACE_CHECKS_HOST_BLOCKS_H
#define HOSTCUDA_TRACE_CHECKS_HOST_BLOCKS_H

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

namespace hostcuda::trace {

class HostBlocks {
 public:
  void allocated(void* begin, std::size_t size);
  void released(const void* begin);
  // Returns the number of bytes from the address to its block's end; SIZE_MAX if no block is known.
  std::size_t bytes_from(const void* address);

 private:
  struct Block {
    std::size_t size, usable;  // bytes that were requested, and that the C library provided
  };
  static bool is_still_there(const char* begin, const Block& block);
  std::mutex mutex_;
  std::map<const char*, Block> blocks_;
  std::atomic<std::size_t> count_ = 0;
};

HostBlocks& host_blocks();

}  // namespace hostcuda::trace

#endif
