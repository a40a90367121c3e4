// Modules. A module is a shared library that hostcuda's launcher made from a .cu file. While it is
// loaded, its constructors register its kernels and variables. It uses the runtime of the program,
// whose symbols must therefore be visible (launcher/libraries.py links such programs with
// -rdynamic).
#ifndef HOSTCUDA_SRC_DRIVER_MODULE_H
#define HOSTCUDA_SRC_DRIVER_MODULE_H

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "cuda.h"
#include "driver/image.h"
#include "hostcuda/driver/kernel.h"

struct CUfunc_st {
  CUmod_st* module;
  const void* address;
  const char* name;  // in the source
  const hostcuda::KernelParameter* parameters;
  std::size_t count;
};

namespace hostcuda {

// The library of a module. Queued launches and graphs own it too (support/module_code.h), so it
// stays in memory until they end, even if the module is unloaded.
struct ModuleLibrary {
  void* handle = nullptr;  // of dlopen
  int file = -1;
  std::string path = "";
  const char *begin = nullptr, *end = nullptr;  // its addresses
  ModuleLibrary() = default;
  ~ModuleLibrary();
  ModuleLibrary(const ModuleLibrary&) = delete;
  ModuleLibrary& operator=(const ModuleLibrary&) = delete;
};

}  // namespace hostcuda

struct CUmod_st {
  std::shared_ptr<hostcuda::ModuleLibrary> library;
  std::deque<CUfunc_st> functions;
  std::map<std::string, const void*> expressions;  // NVRTC's name expressions
};

namespace hostcuda {

// Loads the module of an image. Returns null, and sets the image's error, if that is impossible.
CUmod_st* load_module(Image& image);
// The program's queued operations may still use the module's variables, so wait for them before.
void unload_module(CUmod_st* module);

bool is_module(const CUmod_st* module);
bool is_function(const CUfunc_st* function);

// Returns the kernel with this name, as the compiler writes it into the library, or null.
CUfunc_st* find_function(CUmod_st& module, const char* name);
// Returns the name of a kernel or variable in the library; `otherwise` if it has no such name,
// because it is static.
std::string symbol_at(const void* address, const std::string& otherwise);

CUresult find_variable(CUmod_st& module, const char* name, CUdeviceptr* pointer, std::size_t* size);

}  // namespace hostcuda

#endif
