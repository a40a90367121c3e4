#include "runtime/symbol.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "runtime/api.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "support/config.h"
#include "support/module_code.h"

namespace hostcuda {
namespace {

struct Symbol {
  std::vector<std::vector<char>> contents;  // one per device; the resident device's entry is stale
  int resident;                             // the device whose content the variable now holds
  std::set<int> set_on;                     // devices for which host code has set the variable
  bool address_is_known = false;            // true once host code has queried the address
  std::vector<bool> is_set;                 // for each byte, true if host code has set it
};

struct Variable {
  std::size_t size;
  const char* name;
  bool is_unset;  // a constant without an initialiser
};

// Maps addresses to variables, which are registered before main().
std::map<const char*, Variable>& device_variables() {
  static auto* map = new std::map<const char*, Variable>;
  return *map;
}

void find_limits() {
  device_variables_begin = device_variables_end = nullptr;
  if (device_variables().empty()) return;
  const auto& [last, variable] = *device_variables().rbegin();
  device_variables_begin = device_variables().begin()->first;
  device_variables_end = last + variable.size;
}

std::map<char*, Symbol>& symbols() {
  static auto* map = new std::map<char*, Symbol>;
  return *map;
}

[[maybe_unused]] const bool forgets_variables =
    forgets_code_with([](const char* begin, const char* end) {
      auto& known = device_variables();
      known.erase(known.lower_bound(begin), known.lower_bound(end));
      symbols().erase(symbols().lower_bound(const_cast<char*>(begin)),
                      symbols().lower_bound(const_cast<char*>(end)));
      find_limits();
    });

// Returns the number of bytes from the address to the symbol's end, or 0 if the address is outside
// the symbol.
std::size_t bytes_left(const void* address, const char* begin, const Symbol& symbol) {
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - begin);
  const std::size_t size = symbol.contents.front().size();
  return offset < size ? size - offset : 0;
}

void remember(char* address, std::size_t size) {
  if (symbols().contains(address)) return;
  const std::vector<char> initial(address, address + size);
  symbols()[address] = {std::vector(static_cast<std::size_t>(config().devices), initial),
                        0,
                        {},
                        false,
                        std::vector<bool>(size)};
}

}  // namespace

void bring_in_symbols(int device) {
  for (auto& [address, symbol] : symbols()) {
    if (symbol.resident == device) continue;
    auto& outgoing = symbol.contents[static_cast<std::size_t>(symbol.resident)];
    const auto& incoming = symbol.contents[static_cast<std::size_t>(device)];
    std::memcpy(outgoing.data(), address, outgoing.size());
    std::memcpy(address, incoming.data(), incoming.size());
    symbol.resident = device;
  }
}

std::size_t bytes_of_symbol_at(const void* pointer) {
  for (const auto& [begin, symbol] : symbols())
    if (const std::size_t left = bytes_left(pointer, begin, symbol)) return left;
  return 0;
}

// False for a variable on the stack or the heap, such as a host pointer to device memory. The
// launcher registers neither static members nor variable templates, so any other static variable
// may be a symbol.
static bool is_symbol(const void* address) {
  Dl_info unused;
  return device_variable_at(address).name || dladdr(address, &unused) != 0;
}

cudaError_t know_symbol(void* symbol, std::size_t size) {
  HOSTCUDA_API_CALL;
  if (!is_symbol(symbol)) return fail(cudaErrorInvalidSymbol);
  remember(static_cast<char*>(symbol), size);
  symbols()[static_cast<char*>(symbol)].address_is_known = true;
  return cudaSuccess;
}

DeviceVariable::DeviceVariable(const volatile void* address, std::size_t size, const char* name,
                               bool is_unset) {
  const auto* begin = static_cast<const char*>(const_cast<const void*>(address));
  device_variables()[begin] = {size, name, is_unset};
  find_limits();
}

DeviceVariableRange device_variable_at(const void* address) {
  if (!in_device_variables(address)) return {};
  const auto* byte = static_cast<const char*>(address);
  const auto next = device_variables().upper_bound(byte);
  if (next == device_variables().begin()) return {};
  const auto& [begin, variable] = *std::prev(next);
  if (static_cast<std::size_t>(byte - begin) >= variable.size) return {};
  return {begin, variable.size, variable.name, variable.is_unset};
}

DeviceVariableRange device_variable_named(const char* name, const char* begin, const char* end) {
  auto& known = device_variables();
  for (auto next = known.lower_bound(begin); next != known.end() && next->first < end; ++next)
    if (const auto& [address, variable] = *next; !std::strcmp(variable.name, name))
      return {address, variable.size, variable.name, variable.is_unset};
  return {};
}

bool host_has_set(const void* address, std::size_t size) {
  for (const auto& [begin, symbol] : symbols()) {
    if (!bytes_left(address, begin, symbol)) continue;
    if (symbol.address_is_known) return true;  // then a copy to the address may have set the bytes
    const auto first = symbol.is_set.begin() + (static_cast<const char*>(address) - begin);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(size),
                       [](bool is) { return is; });
  }
  return false;
}

std::size_t bytes_set_by_host(const void* variable) {
  const auto found = symbols().find(static_cast<char*>(const_cast<void*>(variable)));
  if (found == symbols().end()) return 0;
  return static_cast<std::size_t>(std::ranges::count(found->second.is_set, true));
}

const char* variable_without_address(const void* address) {
  const char* name = device_variable_at(address).name;
  if (!name) return nullptr;
  for (const auto& [begin, symbol] : symbols())
    if (symbol.address_is_known && bytes_left(address, begin, symbol)) return nullptr;
  return name;
}

bool was_set_elsewhere_only(const void* address, int device) {
  for (const auto& [begin, symbol] : symbols())
    if (bytes_left(address, begin, symbol))
      return !symbol.set_on.empty() && !symbol.set_on.contains(device);
  return false;
}

cudaError_t copy_symbol(void* symbol, std::size_t symbol_size, void* other, std::size_t size,
                        std::size_t offset, SymbolCopy direction, cudaMemcpyKind kind,
                        cudaStream_t handle, bool asynchronous) {
  // The names of the functions that the program calls, because findings contain them.
  static constexpr const char* kNames[2][2] = {
      {"cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync"},
      {"cudaMemcpyFromSymbol", "cudaMemcpyFromSymbolAsync"}};
  HOSTCUDA_API_CALL_NAMED(kNames[direction == SymbolCopy::from_symbol][asynchronous]);
  CUstream_st* const stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  const cudaMemcpyKind with_host =
      direction == SymbolCopy::to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (kind != with_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return fail(cudaErrorInvalidMemcpyDirection);
  if (!is_symbol(symbol)) return fail(cudaErrorInvalidSymbol);
  if (offset > symbol_size || size > symbol_size - offset) return fail(cudaErrorInvalidValue);
  if (size == 0) return cudaSuccess;
  const MemoryRange range = classify(other, size);
  if (!range.valid) return fail(cudaErrorInvalidValue);
  if (!direction_matches(direction == SymbolCopy::to_symbol ? MemoryKind::device : range.kind,
                         direction == SymbolCopy::to_symbol ? range.kind : MemoryKind::device,
                         kind))
    return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = capture_error(*stream)) return fail(error);

  remember(static_cast<char*>(symbol), symbol_size);
  char* inside = static_cast<char*>(symbol) + offset;
  const bool pageable = range.kind == MemoryKind::pageable;
  OperationPointer operation;
  if (direction == SymbolCopy::from_symbol) {
    const auto work = [=] {
      std::memcpy(other, inside, size);
      if (runtime_observer) runtime_observer->copied(static_cast<char*>(other), nullptr, size);
    };
    operation = enqueue_transfer(*stream, work, cudaGraphNodeTypeMemcpy);
  } else {
    // As in copy.cpp, pageable memory is read before the call returns, and pinned memory when the
    // copy runs. A node of a graph reads the memory when it runs.
    const bool is_staged = pageable && !stream->capture;
    auto staged = std::make_shared<std::vector<char>>();
    if (is_staged) staged->assign(static_cast<char*>(other), static_cast<char*>(other) + size);
    const bool is_observed = range.kind == MemoryKind::device;  // other memory is the host's
    const auto work = [=, device = stream->device] {
      if (is_observed && runtime_observer)
        runtime_observer->copied(inside, static_cast<char*>(other), size);
      std::memcpy(inside, is_staged ? staged->data() : other, size);
      Symbol& known = symbols()[static_cast<char*>(symbol)];
      known.set_on.insert(device);
      std::fill_n(known.is_set.begin() + static_cast<std::ptrdiff_t>(offset), size, true);
    };
    operation = enqueue_transfer(*stream, work, cudaGraphNodeTypeMemcpy);
  }
  if (!asynchronous || (pageable && direction == SymbolCopy::from_symbol)) wait_for(operation);
  return cudaSuccess;
}

}  // namespace hostcuda
