// The shared memory of one block. A __shared__ variable has one address per operating-system
// thread, so blocks that alternate on such a thread swap the variable's content. While a block
// is suspended, its values are in copies, which the other blocks of its cluster access.
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

  // Forgets the previous block. shares: true if other blocks run before this block ends.
  void begin(std::size_t dynamic_bytes, bool shares);
  // Fills the memory with NaN. Called before the block begins and after it has ended, because other
  // blocks may not use its shared memory then.
  void forget();
  char* dynamic() const { return dynamic_.get(); }
  // Padding before and after each shared variable, so that an index slightly out of bounds does not
  // reach another variable. AddressSanitizer adds its own redzones.
  static constexpr std::size_t kPadding = 1024;

  struct Variable {
    char* address;
    std::size_t size;
    char* copy;       // equals `address` if no other block runs before this block ends
    bool declared;    // true once this block has declared the variable
    unsigned window;  // the variable's address in PTX's window of shared memory
    bool contains(const char* p) const { return p >= address && p < address + size; }
  };
  // Returns the variable, newly poisoned, or null if the block has already declared it.
  const Variable* declare(void* address, std::size_t size);

  void enter();  // restores the content from the copies
  void leave();

  // to_window() returns PTX's 32-bit address of a byte in shared memory; from_window() returns the
  // pointer for such an address. They return 0 or null if the address is not in this block's shared
  // memory. The 32-bit addresses form a window, in which, as on a GPU, __shared__ variables come
  // before dynamic shared memory.
  unsigned to_window(const char* address) const;
  char* from_window(unsigned window) const;

  // Returns the address in this block that corresponds to `address` in `mapper`, another block's
  // shared memory, or null if `address` is not in shared memory.
  char* find_for(const SharedMemory& mapper, char* address);

 private:
  Variable& variable(char* address, std::size_t size);
  struct Free {
    void operator()(char* memory) const;
  };
  using Memory = std::unique_ptr<char, Free>;
  static Memory allocate(std::size_t size);

  static constexpr unsigned kFirstWindow = 1024, kDynamicWindow = 1u << 24;
  bool shares_ = false;
  unsigned next_window_ = kFirstWindow;
  Memory dynamic_;
  std::size_t dynamic_bytes_ = 0, dynamic_capacity_ = 0;
  std::vector<Variable> variables_;
  std::vector<Memory> copies_;
};

}  // namespace hostcuda

#endif
