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
#include "runtime/device.h"
#include "runtime/stream.h"
#include "runtime/symbol.h"
#include "support/config.h"

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
  module.file = open_unnamed_file();
  if (module.file < 0 || !write_all(module.file, image.library)) {
    image.error = CUDA_ERROR_OPERATING_SYSTEM;
    image.reason = std::string("cannot write the module to a file: ") + std::strerror(errno);
    return false;
  }
  // The path contains the process's number, so that addr2line can read the file too.
  const std::string path =
      "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(module.file);
  loading = &module;
  module.handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  loading = nullptr;
  if (module.handle) return true;
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
  auto* module = new CUmod_st;
  if (!open_library(*module, image)) {
    if (module->file >= 0) close(module->file);
    delete module;
    return nullptr;
  }
  link_map* map = nullptr;
  dlinfo(module->handle, RTLD_DI_LINKMAP, &map);
  Range range{reinterpret_cast<std::uintptr_t>(map->l_ld), 0, 0};
  dl_iterate_phdr(find_range, &range);
  module->begin = reinterpret_cast<const char*>(range.begin);
  module->end = reinterpret_cast<const char*>(range.end);
  modules().insert(module);
  return module;
}

void unload_module(CUmod_st* module) {
  for (int device = 0; device < config().devices; ++device) synchronize_device(device);
  forget_kernels(module->begin, module->end);
  forget_device_variables(module->begin, module->end);
  forget_shared_at_file_scope(module->begin, module->end);
  for (const CUfunc_st& function : module->functions) functions().erase(&function);
  modules().erase(module);
  // An observer needs the module's names and lines until the program ends.
  if (!runtime_observer) {
    dlclose(module->handle);
    close(module->file);
  }
  delete module;
}

bool is_module(const CUmod_st* module) { return modules().contains(module); }

bool is_function(const CUfunc_st* function) { return functions().contains(function); }

CUfunc_st* find_function(CUmod_st& module, const char* name) {
  const void* address = dlsym(module.handle, name);
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
  const auto* address = static_cast<const char*>(dlsym(module.handle, name));
  if (address && (address < module.begin || address >= module.end)) address = nullptr;
  DeviceVariableRange variable = device_variable_at(address);
  if (!address) {  // a static variable
    variable = device_variable_named(name, module.begin, module.end);
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
