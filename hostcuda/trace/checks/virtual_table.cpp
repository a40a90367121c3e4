#include "checks/virtual_table.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <typeinfo>

#include "address_space.h"

// The tables of the classes that describe classes: of one without a base, with one, with several.
extern "C" {
extern const char _ZTVN10__cxxabiv117__class_type_infoE[];
extern const char _ZTVN10__cxxabiv120__si_class_type_infoE[];
extern const char _ZTVN10__cxxabiv121__vmi_class_type_infoE[];
}

namespace hostcuda::trace {

// Before the first function stands the class's description, whose own table is one of those.
std::string class_of_virtual_table(const void* address) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(void*) != 0) return "";
  const auto* description = static_cast<const char* const*>(address)[-1];
  if (reinterpret_cast<std::uintptr_t>(description) % sizeof(void*) != 0 ||
      !AddressSpace::of_program(description))
    return "";
  const auto* table = *reinterpret_cast<const char* const*>(description);
  const char* const tables[] = {_ZTVN10__cxxabiv117__class_type_infoE,
                                _ZTVN10__cxxabiv120__si_class_type_infoE,
                                _ZTVN10__cxxabiv121__vmi_class_type_infoE};
  if (std::none_of(std::begin(tables), std::end(tables),
                   [&](const char* known) { return table == known + 2 * sizeof(void*); }))
    return "";
  const char* mangled = reinterpret_cast<const std::type_info*>(description)->name();
  int status = 0;
  char* name = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  const std::string text = status == 0 ? name : mangled;
  std::free(name);
  return text;
}

}  // namespace hostcuda::trace
