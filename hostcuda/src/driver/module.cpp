#include "driver/module.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

#include "driver/call.h"
#include "runtime/symbol.h"
#include "support/module_code.h"
#include "support/observer.h"

namespace hostcuda {
namespace {

CUmod_st* loading = nullptr;  // the module whose constructors are running

std::set<const CUmod_st*>& modules() {
  static auto* set = new std::set<const CUmod_st*>;
  return *set;
}

std::set<const CUfunc_st*>& functions() {
  static auto* set = new std::set<const CUfunc_st*>;
  return *set;
}

bool write_all(int file, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

// Returns a file that exists only in memory or, on systems without such files, on the disk without
// a name.
int open_unnamed_file() {
  if (const int file = memfd_create("hostcuda-module", MFD_CLOEXEC); file >= 0) return file;
  const char* folder = std::getenv("TMPDIR");
  std::string name = std::string(folder ? folder : "/tmp") + "/hostcuda-module-XXXXXX";
  const int file = mkstemp(name.data());
  if (file >= 0) unlink(name.c_str());
  return file;
}

// Finds the addresses of the library that contains the given one.
struct Range {
  std::uintptr_t address, begin, end;
};
int find_range(dl_phdr_info* object, std::size_t, void* searched) {
  auto& range = *static_cast<Range*>(searched);
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    begin = std::min<std::uintptr_t>(begin, object->dlpi_addr + segment.p_vaddr);
    end = std::max<std::uintptr_t>(end, object->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (range.address < begin || range.address >= end) return 0;
  range.begin = begin;
  range.end = end;
  return 1;
}

// The sentence that explains why dlopen failed.
std::string reason_of_failure(const std::string& said) {
  if (said.find("__tsan_") != said.npos || said.find("__asan_") != said.npos)
    return "the module was built by `hostcuda check` or with AddressSanitizer, and the program was "
           "not: build both in the same way";
  const bool lacks_runtime = said.find("undefined symbol: _ZN8hostcuda") != said.npos ||
                             said.find("undefined symbol: threadIdx") != said.npos ||
                             said.find("undefined symbol: block") != said.npos ||
                             said.find("undefined symbol: gridDim") != said.npos;
  if (lacks_runtime)
    return "the program does not export hostcuda's runtime: link it with hostcuda's nvcc and "
           "-lcuda, "
           "or with -rdynamic";
  return "the module cannot be loaded: " + said;
}

bool open_library(CUmod_st& module, Image& image) {
  ModuleLibrary& library = *module.library;
  library.file = open_unnamed_file();
  if (library.file < 0 || !write_all(library.file, image.library)) {
    image.error = CUDA_ERROR_OPERATING_SYSTEM;
    image.reason = std::string("cannot write the module to a file: ") + std::strerror(errno);
    return false;
  }
  // The path contains the process's number, so that addr2line can read the file too.
  const std::string& path = library.path =
      "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(library.file);
  loading = &module;
  library.handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  loading = nullptr;
  if (library.handle) return true;
  image.error = CUDA_ERROR_INVALID_IMAGE;
  std::string said = dlerror();
  if (said.compare(0, path.size(), path) == 0) said.erase(0, path.size() + 2);
  image.reason = reason_of_failure(said);
  return false;
}

}  // namespace

void register_module_kernel(const void* function, const char* name,
                            const KernelParameter* parameters, std::size_t count) {
  if (!loading) return;
  loading->functions.push_back({loading, function, name, parameters, count});
  functions().insert(&loading->functions.back());
}

void register_name_expression(const char* expression, const void* address) {
  if (loading) loading->expressions[expression] = address;
}

CUmod_st* load_module(Image& image) {
  if (image.error) return nullptr;
  auto module = std::make_unique<CUmod_st>();
  module->library = std::make_shared<ModuleLibrary>();
  if (!open_library(*module, image)) return nullptr;
  ModuleLibrary& library = *module->library;
  link_map* map = nullptr;
  dlinfo(library.handle, RTLD_DI_LINKMAP, &map);
  Range range{reinterpret_cast<std::uintptr_t>(map->l_ld), 0, 0};
  dl_iterate_phdr(find_range, &range);
  library.begin = reinterpret_cast<const char*>(range.begin);
  library.end = reinterpret_cast<const char*>(range.end);
  own_code(library.begin, library.end, module->library);
  modules().insert(module.get());
  return module.release();
}

void unload_module(CUmod_st* module) {
  for (const CUfunc_st& function : module->functions) functions().erase(&function);
  modules().erase(module);
  delete module;
}

ModuleLibrary::~ModuleLibrary() {
  const std::lock_guard lock(api_mutex());
  if (handle) {
    forget_code(begin, end);
    if (runtime_observer) return;  // which needs the module's names and lines until the end
    dlclose(handle);
    // Some libraries stay in memory. dlopen would find them again by the name of the file, which
    // contains the number of the open file, so this number must not be used again.
    if (void* const same = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      dlclose(same);
      return;
    }
  }
  if (file >= 0) close(file);
}

bool is_module(const CUmod_st* module) { return modules().contains(module); }

bool is_function(const CUfunc_st* function) { return functions().contains(function); }

namespace {

// Returns the address of the symbol, or null. dlsym also searches the libraries that the module
// needs.
const char* symbol_in(const ModuleLibrary& library, const char* name) {
  const auto* address = static_cast<const char*>(dlsym(library.handle, name));
  return address >= library.begin && address < library.end ? address : nullptr;
}

}  // namespace

CUfunc_st* find_function(CUmod_st& module, const char* name) {
  const void* address = symbol_in(*module.library, name);
  for (CUfunc_st& function : module.functions)
    if (address ? function.address == address
                : function.name == std::string(name) &&
                      symbol_at(function.address, name) == name)  // a static kernel
      return &function;
  return nullptr;
}

std::string symbol_at(const void* address, const std::string& otherwise) {
  Dl_info info{};
  const bool has_name = dladdr(address, &info) && info.dli_sname && info.dli_saddr == address;
  return has_name ? info.dli_sname : otherwise;
}

CUresult find_variable(CUmod_st& module, const char* name, CUdeviceptr* pointer,
                       std::size_t* size) {
  const char* address = symbol_in(*module.library, name);
  DeviceVariableRange variable = device_variable_at(address);
  if (!address) {  // a static variable
    variable = device_variable_named(name, module.library->begin, module.library->end);
    if (symbol_at(variable.begin, name) != name) variable = {};
  }
  if (!variable.begin && address) {  // managed memory, or a constant that host code may read
    Dl_info info{};
    const ElfW(Sym)* symbol = nullptr;
    dladdr1(address, &info, const_cast<void**>(reinterpret_cast<const void**>(&symbol)),
            RTLD_DL_SYMENT);
    if (symbol && ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT)
      variable = {address, symbol->st_size, name, false};
  } else if (variable.begin) {
    know_symbol(const_cast<char*>(variable.begin), variable.size);
  }
  if (!variable.begin) return CUDA_ERROR_NOT_FOUND;
  if (pointer) *pointer = address_of(variable.begin);
  if (size) *size = variable.size;
  return CUDA_SUCCESS;
}

}  // namespace hostcuda
