// The code of modules (driver/module.h), which can leave memory while the program runs. The next
// module may get the same addresses, so whatever is known about code or constants by their address
// must be forgotten.
#ifndef HOSTCUDA_SRC_SUPPORT_MODULE_CODE_H
#define HOSTCUDA_SRC_SUPPORT_MODULE_CODE_H

#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace hostcuda {

// A module stays in memory while there is an owner.
using CodeOwner = std::shared_ptr<const void>;
void own_code(const char* begin, const char* end, const CodeOwner& owner);
// Returns the owner of the code at the address, or null if the code is the program's own.
CodeOwner owner_of_code(const void* address);

// Registers a function that forgets what refers to the addresses from `begin` to `end`.
using Forget = void (*)(const char* begin, const char* end);
bool forgets_code_with(Forget forget);
// Called before a module leaves memory.
void forget_code(const char* begin, const char* end);

// Source lines: a file's name, which the compiler has put among the constants, and a number. Each
// line is reported once.
class ReportedLines {
 public:
  bool is_new(const char* file, int line);
  void forget(const char* begin, const char* end);

 private:
  std::mutex mutex_;
  std::set<std::pair<const char*, int>> lines_;
};

}  // namespace hostcuda

#endif
