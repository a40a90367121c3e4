#include "address_space.h"

#include <cxxabi.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <typeinfo>

// The tables of virtual functions of three kinds of type_info: for classes with no base, with one
// base and with several bases.
extern "C" {
extern const char _ZTVN10__cxxabiv117__class_type_infoE[];
extern const char _ZTVN10__cxxabiv120__si_class_type_infoE[];
extern const char _ZTVN10__cxxabiv121__vmi_class_type_infoE[];
}

namespace hostcuda::trace {
namespace {

// True if the address is in a segment of the program or one of its libraries, or is a thread-local
// variable of this operating-system thread.
bool is_static(const char* address) {
  const auto visit = [](dl_phdr_info* object, std::size_t, void* data) {
    const auto wanted = *static_cast<std::uintptr_t*>(data);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = object->dlpi_phdr[i];
      std::uintptr_t begin = 0;
      if (segment.p_type == PT_LOAD) begin = object->dlpi_addr + segment.p_vaddr;
      if (segment.p_type == PT_TLS) begin = reinterpret_cast<std::uintptr_t>(object->dlpi_tls_data);
      if (begin && wanted - begin < segment.p_memsz) return 1;
    }
    return 0;
  };
  auto wanted = reinterpret_cast<std::uintptr_t>(address);
  return dl_iterate_phdr(visit, &wanted) != 0;
}

bool is_mapped(const char* address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  auto* begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) / page * page);
  return mincore(begin, 1, &resident) == 0;
}

bool is_in(const char* address, const void* begin, std::size_t size) {
  return static_cast<std::size_t>(address - static_cast<const char*>(begin)) < size;
}

}  // namespace

void AddressSpace::begin_grid() {
  // The program itself is the first object in the list.
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void*) {
        std::uintptr_t end = 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = object->dlpi_phdr[i];
          if (segment.p_type == PT_TLS)
            thread_locals = {static_cast<const char*>(object->dlpi_tls_data), segment.p_memsz};
          if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_vaddr + segment.p_memsz);
        }
        image = {reinterpret_cast<const char*>(object->dlpi_addr), end};
        return 1;
      },
      nullptr);
}

AddressSpace::Kind AddressSpace::kind_of(const char* address) {
  const Launch& launch = running_block->launch();
  if (of_program(address) || is_in(address, &launch, sizeof launch) ||
      is_in(address, kernel_arguments.begin, kernel_arguments.size) || is_static(address))
    return Kind::allowed;
  if (is_in_fiber(address)) return Kind::of_other_thread;
  return is_mapped(address) ? Kind::of_host : Kind::nothing;
}

// Before a table of virtual functions there is a pointer to the type_info of its class, and the
// type_info's own table is one of the three above.
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
