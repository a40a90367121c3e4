#include "execution/shared_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "execution/block_state.h"
#include "execution/fiber.h"
#include "support/config.h"
#include "support/poison.h"

namespace hostcuda {
namespace {

std::size_t padding_of_allocations() { return kAddressSanitizer ? 0 : SharedMemory::kPadding; }

// Fills the memory with NaN or, if poison is switched off, with zeros, so that it does not hold an
// earlier block's values.
void poison(char* address, std::size_t size) {
  if (!size) return;
  if (config().poison)
    fill_with_poison(address, size);
  else
    std::memset(address, 0, size);
}

}  // namespace

SharedMemory::Memory SharedMemory::allocate(std::size_t size) {
  constexpr std::size_t kAlignment = 128;
  static_assert(kPadding % kAlignment == 0);
  const std::size_t padding = padding_of_allocations();
  if (!size && !kernel_observer) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, size + 2 * padding) != 0) std::abort();
  return Memory(static_cast<char*>(memory) + padding);
}

void SharedMemory::Free::operator()(char* memory) const {
  std::free(memory - padding_of_allocations());
}

void SharedMemory::begin(std::size_t dynamic_bytes, bool shares) {
  shares_ = shares;
  variables_.clear();
  next_window_ = kFirstWindow;
  copies_.clear();
  // Under AddressSanitizer the size must be exact, so that the redzone begins directly after the
  // last byte.
  const bool fits =
      kAddressSanitizer ? dynamic_bytes == dynamic_capacity_ : dynamic_bytes <= dynamic_capacity_;
  // An observer must know even about an array of 0 bytes, to find accesses to memory that was not
  // requested.
  if (!fits || (kernel_observer && !dynamic_)) {
    dynamic_ = allocate(dynamic_bytes);
    dynamic_capacity_ = dynamic_bytes;
  }
  dynamic_bytes_ = dynamic_bytes;
  poison(dynamic_.get(), dynamic_bytes);
}

void SharedMemory::forget() {
  for (const Variable& variable : variables_) poison(variable.copy, variable.size);
  poison(dynamic_.get(), dynamic_bytes_);
}

SharedMemory::Variable& SharedMemory::variable(char* address, std::size_t size) {
  const auto known = std::ranges::find(variables_, address, &Variable::address);
  if (known != variables_.end()) return *known;
  if (shares_) copies_.push_back(allocate(size));
  char* copy = shares_ ? copies_.back().get() : address;
  poison(copy, size);
  // The last bits of a variable's address and of its window address are equal, because programs use
  // these bits for alignment and swizzling.
  constexpr std::uintptr_t kLastBits = 1023;
  const auto bits = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) & kLastBits);
  const unsigned window = next_window_ + bits;
  next_window_ = (window + static_cast<unsigned>(size) + 2 * 1024) & ~1023u;
  return variables_.emplace_back(Variable{address, size, copy, false, window});
}

unsigned SharedMemory::to_window(const char* address) const {
  if (dynamic_bytes_ && address >= dynamic() && address <= dynamic() + dynamic_bytes_)
    return kDynamicWindow + static_cast<unsigned>(address - dynamic());
  for (const Variable& variable : variables_)
    if (address >= variable.address && address <= variable.address + variable.size)
      return variable.window + static_cast<unsigned>(address - variable.address);
  return 0;
}

char* SharedMemory::from_window(unsigned window) const {
  if (window >= kDynamicWindow) return dynamic() ? dynamic() + (window - kDynamicWindow) : nullptr;
  const Variable* found = nullptr;
  for (const Variable& variable : variables_)
    if (variable.window <= window) found = &variable;
  return found ? found->address + (window - found->window) : nullptr;
}

const SharedMemory::Variable* SharedMemory::declare(void* address, std::size_t size) {
  const std::size_t before = variables_.size();
  Variable& declared = variable(static_cast<char*>(address), size);
  if (std::exchange(declared.declared, true)) return nullptr;
  const bool is_new = variables_.size() != before;
  if (shares_ && is_new) poison(declared.address, size);
  return &declared;
}

void SharedMemory::enter() {
  if (!shares_) return;
  for (const Variable& variable : variables_)
    std::memcpy(variable.address, variable.copy, variable.size);
}

void SharedMemory::leave() {
  if (!shares_) return;
  for (const Variable& variable : variables_)
    std::memcpy(variable.copy, variable.address, variable.size);
}

char* SharedMemory::find_for(const SharedMemory& mapper, char* address) {
  if (mapper.dynamic_bytes_ && address >= mapper.dynamic() &&
      address < mapper.dynamic() + mapper.dynamic_bytes_)
    return dynamic() + (address - mapper.dynamic());
  for (const Variable& theirs : mapper.variables_)
    if (theirs.contains(address))
      return variable(theirs.address, theirs.size).copy + (address - theirs.address);
  return nullptr;
}

}  // namespace hostcuda
