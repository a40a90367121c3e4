// Launches, attributes of kernels, occupancy.
#include <algorithm>
#include <memory>
#include <vector>

#include "driver/context.h"
#include "driver/module.h"

namespace hostcuda {
namespace {

CUresult find_attribute(int* value, CUfunction_attribute attribute, const CUfunc_st& function) {
  cudaFuncAttributes attributes;
  if (const cudaError_t error = get_function_attributes(&attributes, function.address))
    return result_of(error);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = attributes.maxThreadsPerBlock;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = attributes.maxDynamicSharedSizeBytes;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 90;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = CU_SHAREDMEM_CARVEOUT_DEFAULT;
      break;
    default:  // the others depend on a GPU's compiler
      *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult get_attribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  if (!value || attribute < 0 || attribute > CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
  return find_attribute(value, attribute, *function);
}

CUresult set_attribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
  // Both APIs use the same numbers.
  return result_of(
      set_function_attribute(function->address, static_cast<cudaFuncAttribute>(attribute), value));
}

CUresult get_name(const char** name, CUfunction function) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
  static auto* names = new std::map<CUfunction, std::string>;
  std::string& known = (*names)[function];
  known = symbol_at(function->address, function->name);
  *name = known.c_str();
  return CUDA_SUCCESS;
}

CUresult get_parameter(CUfunction function, std::size_t index, std::size_t* offset,
                       std::size_t* size) {
  if (!offset) return CUDA_ERROR_INVALID_VALUE;
  if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
  if (index >= function->count) return CUDA_ERROR_INVALID_VALUE;
  *offset = function->parameters[index].offset;
  if (size) *size = function->parameters[index].size;
  return CUDA_SUCCESS;
}

// Finds the buffer of parameters in cuLaunchKernel's argument `extra`. Returns null if there is
// none.
char* buffer_in(void** extra, std::size_t* size) {
  char* buffer = nullptr;
  *size = 0;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<char*>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      *size = *static_cast<std::size_t*>(extra[1]);
    else
      return nullptr;
  }
  return buffer;
}

// The size that a buffer of parameters needs at least. Padding at its end is not needed.
std::size_t size_of_buffer(const CUfunc_st& function) {
  return function.parameters[function.count].offset;
}

// A copy of a buffer of parameters. The program may put its buffer at any address.
class AlignedCopy {
 public:
  void assign(const char* buffer, std::size_t size) {
    constexpr std::size_t kAlignment = 128;
    bytes_.resize(size + kAlignment);
    void* begin = bytes_.data();
    std::size_t room = bytes_.size();
    begin_ = static_cast<char*>(std::align(kAlignment, size, begin, room));
    std::copy_n(buffer, size, begin_);
  }
  char* at(std::size_t offset) const { return begin_ + offset; }

 private:
  std::vector<char> bytes_;
  char* begin_ = nullptr;
};

// The line of a launch. Its file's name stays valid, because graphs and messages refer to it.
struct Line {
  std::string file = "?";
  int number = 0;
};
const Line& line_of(const void* return_address) {
  static auto* known = new std::map<const void*, Line>;
  const auto [entry, is_new] = known->try_emplace(return_address);
  if (!is_new) return entry->second;
  const std::string text = CodePlace{return_address}.text();
  if (const std::size_t colon = text.rfind(':'); colon != text.npos)
    entry->second = {text.substr(0, colon), std::atoi(text.c_str() + colon + 1)};
  return entry->second;
}

CUresult launch(CUfunction function, const cudaLaunchConfig_t& config, void** parameters,
                void** extra) {
  if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
  const CallSite& call = *CallSite::current();
  std::vector<void*> from_buffer;
  AlignedCopy copy;
  if (extra) {
    std::size_t size = 0;
    char* const buffer = buffer_in(extra, &size);
    if (parameters || (!buffer && function->count)) return CUDA_ERROR_INVALID_VALUE;
    if (size < size_of_buffer(*function)) {
      explain(call.function(), std::string("the buffer for the parameters of ") + function->name +
                                   " has " + std::to_string(size) + " bytes and needs " +
                                   std::to_string(size_of_buffer(*function)));
      return CUDA_ERROR_INVALID_VALUE;
    }
    copy.assign(buffer, size_of_buffer(*function));
    for (std::size_t i = 0; i < function->count; ++i)
      from_buffer.push_back(copy.at(function->parameters[i].offset));
    parameters = from_buffer.data();
  }
  if (!parameters && function->count) return CUDA_ERROR_INVALID_VALUE;
  const Line& line = line_of(call.place().return_address);
  return result_of(
      launch_configured(function->address, config, parameters, line.file.c_str(), line.number));
}

struct Configuration {
  cudaLaunchConfig_t config{};
  std::vector<cudaLaunchAttribute> attributes;
};

Configuration configuration_of(const CUlaunchConfig& wanted) {
  Configuration made;
  made.config.gridDim = dim3(wanted.gridDimX, wanted.gridDimY, wanted.gridDimZ);
  made.config.blockDim = dim3(wanted.blockDimX, wanted.blockDimY, wanted.blockDimZ);
  made.config.dynamicSmemBytes = wanted.sharedMemBytes;
  made.config.stream = wanted.hStream;
  for (unsigned i = 0; wanted.attrs && i < wanted.numAttrs; ++i) {
    cudaLaunchAttribute attribute{static_cast<cudaLaunchAttributeID>(wanted.attrs[i].id), {}};
    __builtin_memcpy(&attribute.val, &wanted.attrs[i].value, sizeof attribute.val);
    made.attributes.push_back(attribute);
  }
  made.config.attrs = made.attributes.data();
  made.config.numAttrs = static_cast<unsigned>(made.attributes.size());
  return made;
}

CUresult potential_block_size(int* grid, int* block, CUfunction function,
                              CUoccupancyB2DSize dynamic_of_block, std::size_t dynamic_shared,
                              int limit) {
  if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
  if (!grid || !block) return CUDA_ERROR_INVALID_VALUE;
  cudaError_t error = max_potential_block_size(grid, block, dynamic_shared, limit);
  if (!error && dynamic_of_block)
    error = max_potential_block_size(grid, block, dynamic_of_block(*block), limit);
  return result_of(error);
}

CUfunction function_of(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  HOSTCUDA_CONTEXT_CALL;
  const cudaLaunchConfig_t config{dim3(grid_x, grid_y, grid_z),
                                  dim3(block_x, block_y, block_z),
                                  shared_bytes,
                                  stream,
                                  nullptr,
                                  0};
  return launch(function, config, parameters, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  HOSTCUDA_CONTEXT_CALL;
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  return launch(function, configuration_of(*config).config, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void** parameters) {
  HOSTCUDA_CONTEXT_CALL;
  cudaLaunchAttribute cooperative{cudaLaunchAttributeCooperative, {}};
  cooperative.val.cooperative = 1;
  const cudaLaunchConfig_t config{dim3(grid_x, grid_y, grid_z),
                                  dim3(block_x, block_y, block_z),
                                  shared_bytes,
                                  stream,
                                  &cooperative,
                                  1};
  return launch(function, config, parameters, nullptr);
}

// ---- attributes and names -----------------------------------------------------------------------

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  HOSTCUDA_DRIVER_CALL;
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
  *module = function->module;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  HOSTCUDA_DRIVER_CALL;
  return get_name(name, function);
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* size) {
  HOSTCUDA_DRIVER_CALL;
  return get_parameter(function, index, offset, size);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  HOSTCUDA_CONTEXT_CALL;
  return get_attribute(value, attribute, function);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  HOSTCUDA_CONTEXT_CALL;
  return set_attribute(function, attribute, value);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  HOSTCUDA_CONTEXT_CALL;
  return is_function(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  HOSTCUDA_CONTEXT_CALL;
  return is_function(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncLoad(CUfunction function) {
  HOSTCUDA_CONTEXT_CALL;
  return is_function(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  HOSTCUDA_CONTEXT_CALL;
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  if (!is_function(function_of(kernel))) return CUDA_ERROR_INVALID_HANDLE;
  *function = function_of(kernel);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  HOSTCUDA_DRIVER_CALL;
  if (!library) return CUDA_ERROR_INVALID_VALUE;
  if (!is_function(function_of(kernel))) return CUDA_ERROR_INVALID_HANDLE;
  *library = reinterpret_cast<CUlibrary>(function_of(kernel)->module);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  HOSTCUDA_DRIVER_CALL;
  return get_name(name, function_of(kernel));
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice) {
  HOSTCUDA_DRIVER_CALL;
  return get_attribute(value, attribute, function_of(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice) {
  HOSTCUDA_DRIVER_CALL;
  return set_attribute(function_of(kernel), attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
  HOSTCUDA_DRIVER_CALL;
  return is_function(function_of(kernel)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* size) {
  HOSTCUDA_DRIVER_CALL;
  return get_parameter(function_of(kernel), index, offset, size);
}

// ---- occupancy ----------------------------------------------------------------------------------

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_size, std::size_t dynamic_shared) {
  HOSTCUDA_CONTEXT_CALL;
  if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
  return result_of(max_active_blocks(blocks, block_size, dynamic_shared));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size,
                                                              std::size_t dynamic_shared,
                                                              unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, dynamic_shared);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize dynamic_of_block,
                                          std::size_t dynamic_shared, int limit) {
  HOSTCUDA_CONTEXT_CALL;
  return potential_block_size(grid, block, function, dynamic_of_block, dynamic_shared, limit);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize dynamic_of_block,
                                                   std::size_t dynamic_shared, int limit,
                                                   unsigned) {
  HOSTCUDA_CONTEXT_CALL;
  return potential_block_size(grid, block, function, dynamic_of_block, dynamic_shared, limit);
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* wanted) {
  HOSTCUDA_CONTEXT_CALL;
  if (!wanted) return CUDA_ERROR_INVALID_VALUE;
  if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
  const Configuration made = configuration_of(*wanted);
  LaunchRequest request{{function->name, nullptr, 0}, function->address,
                        made.config.gridDim,          made.config.blockDim,
                        made.config.dynamicSmemBytes, made.config.stream};
  if (const cudaError_t error = apply_attributes(request, made.config)) return result_of(error);
  return result_of(max_active_clusters(clusters, request));
}
