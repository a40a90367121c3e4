// The shared memory of one block.
//
// A __shared__ variable has one address per operating-system thread. Blocks that run in turn on it
// exchange its content: what a block's variables hold while another block runs is in copies. Other
// blocks of its cluster reach the copy; it is the variable as long as they run.
#ifndef HOSTCUDA_SRC_EXECUTION_SHARED_MEMORY_H
#define HOSTCUDA_SRC_EXECUTION_SHARED_MEMORY_H

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace hostcuda {

class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Forgets the block before. shares: whether other blocks will run before this one ends.
  void begin(std::size_t dynamic_bytes, bool shares);
  // Fills everything with NaN: nobody may use the memory of a block that has ended.
  void end();
  char* dynamic() const { return dynamic_.get(); }
  // Bytes before and after each piece of shared memory that belong to nobody: an index that is a
  // little out of bounds hits them. AddressSanitizer has its own.
  static constexpr std::size_t kPadding = 1024;

  struct Variable {
    char* address;
    std::size_t size;
    char* copy;     // or the address itself, if no other block runs before this one ends
    bool declared;  // by the block itself, and not only used by others of its cluster
    bool contains(const char* p) const { return p >= address && p < address + size; }
  };
  // The block declares a variable. Null if it has before; else the variable was poisoned.
  const Variable* declare(void* address, std::size_t size);

  void enter();  // brings the content in from the copies
  void leave();

  // Where the block finds what has this address in `mapper`, another block; null: it is not shared.
  char* find_for(const SharedMemory& mapper, char* address);

 private:
  Variable& variable(char* address, std::size_t size);
  struct Free {
    void operator()(char* memory) const;
  };
  using Memory = std::unique_ptr<char, Free>;
  static Memory allocate(std::size_t size);

  bool shares_ = false;
  Memory dynamic_;
  std::size_t dynamic_bytes_ = 0, dynamic_capacity_ = 0;
  std::vector<Variable> variables_;
  std::vector<Memory> copies_;
};

}  // namespace hostcuda

#endif
