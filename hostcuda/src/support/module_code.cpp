#include "support/module_code.h"

#include <climits>
#include <iterator>
#include <map>
#include <vector>

namespace hostcuda {
namespace {

struct OwnedCode {
  const char* end;
  std::weak_ptr<const void> owner;
};
std::map<const char*, OwnedCode>& owned_code() {
  static auto* map = new std::map<const char*, OwnedCode>;
  return *map;
}
// A launch looks for its owner before it takes the API's lock.
std::mutex& owned_code_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

std::vector<Forget>& forgetting() {
  static auto* list = new std::vector<Forget>;
  return *list;
}

}  // namespace

void own_code(const char* begin, const char* end, const CodeOwner& owner) {
  const std::lock_guard lock(owned_code_mutex());
  owned_code()[begin] = {end, owner};
}

CodeOwner owner_of_code(const void* address) {
  const auto* byte = static_cast<const char*>(address);
  const std::lock_guard lock(owned_code_mutex());
  const auto next = owned_code().upper_bound(byte);
  if (next == owned_code().begin()) return nullptr;
  const OwnedCode& code = std::prev(next)->second;
  return byte < code.end ? code.owner.lock() : nullptr;
}

bool forgets_code_with(Forget forget) {
  forgetting().push_back(forget);
  return true;
}

void forget_code(const char* begin, const char* end) {
  for (const Forget forget : forgetting()) forget(begin, end);
  const std::lock_guard lock(owned_code_mutex());
  owned_code().erase(begin);
}

bool ReportedLines::is_new(const char* file, int line) {
  const std::lock_guard lock(mutex_);
  return lines_.insert({file, line}).second;
}

void ReportedLines::forget(const char* begin, const char* end) {
  const std::lock_guard lock(mutex_);
  lines_.erase(lines_.lower_bound({begin, INT_MIN}), lines_.lower_bound({end, INT_MIN}));
}

}  // namespace hostcuda
