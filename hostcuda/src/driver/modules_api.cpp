// The functions for modules, libraries and linking.
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "driver/context.h"
#include "driver/jit.h"
#include "driver/module.h"
#include "runtime/stream.h"
#include "support/config.h"

namespace hostcuda {

bool is_valid(const JitOptions& options) {
  return options.count == 0 || (options.options && options.values);
}

void answer(const JitOptions& options, const std::string& error) {
  // A buffer's size is a separate option, before or after the buffer.
  const auto size_of = [&](CUjit_option wanted) -> void** {
    for (unsigned i = 0; i < options.count; ++i)
      if (options.options[i] == wanted) return &options.values[i];
    return nullptr;
  };
  const auto write = [&](void* buffer, CUjit_option option, const std::string& text) {
    void** const size = size_of(option);
    const std::size_t room = size ? static_cast<unsigned>(reinterpret_cast<std::size_t>(*size)) : 0;
    if (!buffer || !room) return;
    const std::size_t length = std::min(text.size(), room - 1);
    std::memcpy(buffer, text.data(), length);
    static_cast<char*>(buffer)[length] = '\0';
    *size = reinterpret_cast<void*>(length ? length + 1 : 0);
  };
  for (unsigned i = 0; i < options.count; ++i) {
    if (options.options[i] == CU_JIT_INFO_LOG_BUFFER)
      write(options.values[i], CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
    if (options.options[i] == CU_JIT_ERROR_LOG_BUFFER)
      write(options.values[i], CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error);
    if (options.options[i] == CU_JIT_WALL_TIME) options.values[i] = nullptr;  // 0 ms, as a float
  }
}

namespace {

// Loads an image and says why this is impossible, on standard error and to the program.
CUresult load(CUmodule* module, Image image, const char* function, const JitOptions& options) {
  if (!module || !is_valid(options)) return CUDA_ERROR_INVALID_VALUE;
  *module = load_module(image);
  answer(options, image.reason);
  if (image.error) explain(function, image.reason);
  return image.error;
}

CUmod_st* module_of(CUlibrary library) { return reinterpret_cast<CUmod_st*>(library); }

CUresult get_function(CUfunction* function, CUmod_st* module, const char* name,
                      const char* caller) {
  if (!function || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
  if ((*function = find_function(*module, name))) return CUDA_SUCCESS;
  const std::string of_template = std::string(name) + "<";
  for (const CUfunc_st& other : module->functions) {
    if (std::strcmp(other.name, name) &&
        std::strncmp(other.name, of_template.c_str(), of_template.size()))
      continue;
    explain(caller, std::string("the kernel ") + name + " is a C++ function, so its name is " +
                        symbol_at(other.address, name) +
                        "; declare it extern \"C\", or use this name");
    break;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult count_functions(unsigned* count, CUmod_st* module) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult list_functions(Handle* handles, unsigned count, CUmod_st* module) {
  if (!handles) return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
  for (CUfunc_st& function : module->functions)
    if (count-- > 0)
      *handles++ = reinterpret_cast<Handle>(&function);
    else
      break;
  return CUDA_SUCCESS;
}

CUresult get_global(CUdeviceptr* pointer, std::size_t* size, CUmod_st* module, const char* name) {
  if (!name || !*name || (!pointer && !size)) return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
  return find_variable(*module, name, pointer, size);
}

CUresult unload(CUmod_st* module) {
  if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
  for (int device = 0; device < config().devices; ++device) synchronize_device(device);
  unload_module(module);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  HOSTCUDA_CONTEXT_CALL;
  if (!file) return CUDA_ERROR_INVALID_VALUE;
  return load(module, read_image_file(file), __func__, {});
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  HOSTCUDA_CONTEXT_CALL;
  if (!image) return CUDA_ERROR_INVALID_VALUE;
  return load(module, read_image(image, 0), __func__, {});
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  HOSTCUDA_CONTEXT_CALL;
  if (!image) return CUDA_ERROR_INVALID_VALUE;
  return load(module, read_image(image, 0), __func__, {count, options, values});
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  HOSTCUDA_CONTEXT_CALL;
  if (!image) return CUDA_ERROR_INVALID_VALUE;
  return load(module, read_image(image, 0), __func__, {});
}

CUresult cuModuleUnload(CUmodule module) {
  HOSTCUDA_CONTEXT_CALL;
  return unload(module);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  HOSTCUDA_DRIVER_CALL;
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  HOSTCUDA_CONTEXT_CALL;
  return get_function(function, module, name, __func__);
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  HOSTCUDA_CONTEXT_CALL;
  return count_functions(count, module);
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  HOSTCUDA_CONTEXT_CALL;
  return list_functions(functions, count, module);
}

CUresult cuModuleGetGlobal(CUdeviceptr* pointer, std::size_t* size, CUmodule module,
                           const char* name) {
  HOSTCUDA_CONTEXT_CALL;
  return get_global(pointer, size, module, name);
}

CUresult cuModuleGetTexRef(CUtexref*, CUmodule, const char*) {
  HOSTCUDA_CONTEXT_CALL;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetSurfRef(CUsurfref*, CUmodule, const char*) {
  HOSTCUDA_CONTEXT_CALL;
  return CUDA_ERROR_NOT_FOUND;
}

// ---- libraries: modules that need no context ----------------------------------------------------

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  HOSTCUDA_DRIVER_CALL;
  if (!image) return CUDA_ERROR_INVALID_VALUE;
  return load(reinterpret_cast<CUmodule*>(library), read_image(image, 0), __func__,
              {count, options, values});
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option* options,
                               void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  HOSTCUDA_DRIVER_CALL;
  if (!file) return CUDA_ERROR_INVALID_VALUE;
  return load(reinterpret_cast<CUmodule*>(library), read_image_file(file), __func__,
              {count, options, values});
}

CUresult cuLibraryUnload(CUlibrary library) {
  HOSTCUDA_DRIVER_CALL;
  return unload(module_of(library));
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  HOSTCUDA_DRIVER_CALL;
  return get_function(reinterpret_cast<CUfunction*>(kernel), module_of(library), name, __func__);
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  HOSTCUDA_DRIVER_CALL;
  return count_functions(count, module_of(library));
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  HOSTCUDA_DRIVER_CALL;
  return list_functions(kernels, count, module_of(library));
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  HOSTCUDA_CONTEXT_CALL;
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module_of(library))) return CUDA_ERROR_INVALID_HANDLE;
  *module = module_of(library);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, std::size_t* size, CUlibrary library,
                            const char* name) {
  HOSTCUDA_CONTEXT_CALL;
  return get_global(pointer, size, module_of(library), name);
}

CUresult cuLibraryGetManaged(CUdeviceptr* pointer, std::size_t* size, CUlibrary library,
                             const char* name) {
  HOSTCUDA_DRIVER_CALL;
  return get_global(pointer, size, module_of(library), name);
}

// ---- linking ------------------------------------------------------------------------------------

struct CUlinkState_st {
  std::vector<CUjit_option> options;
  std::vector<void*> given;  // the values of the options, before results replaced them
  void** values = nullptr;   // the program's array, which must stay valid if it has results
  std::string library = "";  // the only module
  std::string errors = "";
};

namespace {

std::set<CUlinkState>& links() {
  static auto* set = new std::set<CUlinkState>;
  return *set;
}

bool is_result(CUjit_option option) {
  return option == CU_JIT_WALL_TIME || option == CU_JIT_INFO_LOG_BUFFER ||
         option == CU_JIT_ERROR_LOG_BUFFER;
}

void answer_link(const CUlinkState_st& state) {
  std::copy(state.given.begin(), state.given.end(), state.values);
  answer({static_cast<unsigned>(state.options.size()), state.options.data(), state.values},
         state.errors);
}

CUresult add_to_link(CUlinkState state, Image image, const char* function) {
  if (!links().contains(state)) return CUDA_ERROR_INVALID_HANDLE;
  if (!image.error && !state->library.empty()) {
    image.error = CUDA_ERROR_NOT_SUPPORTED;
    image.reason =
        "hostcuda cannot link several modules: put their sources into one .cu file with #include";
  }
  if (image.error) {
    explain(function, image.reason);
    state->errors += image.reason + "\n";
  } else {
    state->library = std::move(image.library);
  }
  answer_link(*state);
  return image.error;
}

}  // namespace

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  HOSTCUDA_CONTEXT_CALL;
  if (!state || !is_valid({count, options, values})) return CUDA_ERROR_INVALID_VALUE;
  *state = new CUlinkState_st{};
  if (std::any_of(options, options + count, is_result)) {
    (*state)->options.assign(options, options + count);
    (*state)->given.assign(values, values + count);
    (*state)->values = values;
  }
  links().insert(*state);
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType, void* data, std::size_t size, const char*,
                       unsigned, CUjit_option*, void**) {
  HOSTCUDA_DRIVER_CALL;
  if (!data || !size) return CUDA_ERROR_INVALID_VALUE;
  return add_to_link(state, read_image(data, size), __func__);
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType, const char* path, unsigned, CUjit_option*,
                       void**) {
  HOSTCUDA_DRIVER_CALL;
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  return add_to_link(state, read_image_file(path), __func__);
}

CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* size) {
  HOSTCUDA_DRIVER_CALL;
  if (!links().contains(state)) return CUDA_ERROR_INVALID_HANDLE;
  if (!image || state->library.empty()) return CUDA_ERROR_INVALID_VALUE;
  answer_link(*state);
  *image = state->library.data();
  if (size) *size = state->library.size();
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  HOSTCUDA_DRIVER_CALL;
  if (!links().erase(state)) return CUDA_ERROR_INVALID_HANDLE;
  delete state;
  return CUDA_SUCCESS;
}
