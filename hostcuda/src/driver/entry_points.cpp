// cuGetProcAddress: the functions by their names.
#include <cstring>
#include <string>

#include "driver/call.h"

using namespace hostcuda;

namespace {

struct EntryPoint {
  const char* name;
  void* function;
};

// The functions that know the line of their caller have two more parameters, which the program's
// type of the pointer lacks.
CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       CUstream stream, void** parameters, void** extra) {
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        stream, parameters, extra, nullptr, 0);
}
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  return cuLaunchKernelEx(config, function, parameters, extra, nullptr, 0);
}
CUresult launch_cooperative_kernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void** parameters) {
  return cuLaunchCooperativeKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                   shared_bytes, stream, parameters, nullptr, 0);
}

#define ENTRY(name) \
  { #name, reinterpret_cast < void*>(name) }
const EntryPoint kEntryPoints[] = {
    ENTRY(cuGetErrorName),
    ENTRY(cuGetErrorString),
    ENTRY(cuInit),
    ENTRY(cuDriverGetVersion),
    ENTRY(cuGetProcAddress),
    ENTRY(cuDeviceGet),
    ENTRY(cuDeviceGetCount),
    ENTRY(cuDeviceGetName),
    ENTRY(cuDeviceGetUuid),
    ENTRY(cuDeviceTotalMem),
    ENTRY(cuDeviceGetAttribute),
    ENTRY(cuDeviceGetProperties),
    ENTRY(cuDeviceComputeCapability),
    ENTRY(cuDeviceCanAccessPeer),
    ENTRY(cuDeviceGetPCIBusId),
    ENTRY(cuDeviceGetByPCIBusId),
    ENTRY(cuDevicePrimaryCtxRetain),
    ENTRY(cuDevicePrimaryCtxRelease),
    ENTRY(cuDevicePrimaryCtxReset),
    ENTRY(cuDevicePrimaryCtxSetFlags),
    ENTRY(cuDevicePrimaryCtxGetState),
    ENTRY(cuCtxCreate_v2),
    ENTRY(cuCtxCreate_v4),
    ENTRY(cuCtxDestroy),
    ENTRY(cuCtxPushCurrent),
    ENTRY(cuCtxPopCurrent),
    ENTRY(cuCtxSetCurrent),
    ENTRY(cuCtxGetCurrent),
    ENTRY(cuCtxGetDevice),
    ENTRY(cuCtxGetFlags),
    ENTRY(cuCtxGetId),
    ENTRY(cuCtxGetApiVersion),
    ENTRY(cuCtxSynchronize),
    ENTRY(cuCtxSetLimit),
    ENTRY(cuCtxGetLimit),
    ENTRY(cuCtxSetCacheConfig),
    ENTRY(cuCtxGetCacheConfig),
    ENTRY(cuCtxSetSharedMemConfig),
    ENTRY(cuCtxGetSharedMemConfig),
    ENTRY(cuCtxGetStreamPriorityRange),
    ENTRY(cuCtxEnablePeerAccess),
    ENTRY(cuCtxDisablePeerAccess),
    ENTRY(cuModuleLoad),
    ENTRY(cuModuleLoadData),
    ENTRY(cuModuleLoadDataEx),
    ENTRY(cuModuleLoadFatBinary),
    ENTRY(cuModuleUnload),
    ENTRY(cuModuleGetLoadingMode),
    ENTRY(cuModuleGetFunction),
    ENTRY(cuModuleGetFunctionCount),
    ENTRY(cuModuleEnumerateFunctions),
    ENTRY(cuModuleGetGlobal),
    ENTRY(cuModuleGetTexRef),
    ENTRY(cuModuleGetSurfRef),
    ENTRY(cuLibraryLoadData),
    ENTRY(cuLibraryLoadFromFile),
    ENTRY(cuLibraryUnload),
    ENTRY(cuLibraryGetKernel),
    ENTRY(cuLibraryGetKernelCount),
    ENTRY(cuLibraryEnumerateKernels),
    ENTRY(cuLibraryGetModule),
    ENTRY(cuLibraryGetGlobal),
    ENTRY(cuLibraryGetManaged),
    ENTRY(cuLinkCreate),
    ENTRY(cuLinkAddData),
    ENTRY(cuLinkAddFile),
    ENTRY(cuLinkComplete),
    ENTRY(cuLinkDestroy),
    ENTRY(cuKernelGetFunction),
    ENTRY(cuKernelGetLibrary),
    ENTRY(cuKernelGetName),
    ENTRY(cuKernelGetAttribute),
    ENTRY(cuKernelSetAttribute),
    ENTRY(cuKernelSetCacheConfig),
    ENTRY(cuKernelGetParamInfo),
    ENTRY(cuFuncGetModule),
    ENTRY(cuFuncGetName),
    ENTRY(cuFuncGetParamInfo),
    ENTRY(cuFuncGetAttribute),
    ENTRY(cuFuncSetAttribute),
    ENTRY(cuFuncSetCacheConfig),
    ENTRY(cuFuncSetSharedMemConfig),
    ENTRY(cuFuncLoad),
    ENTRY(cuLaunchHostFunc),
    ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor),
    ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags),
    ENTRY(cuOccupancyMaxPotentialBlockSize),
    ENTRY(cuOccupancyMaxPotentialBlockSizeWithFlags),
    ENTRY(cuOccupancyMaxActiveClusters),
    ENTRY(cuStreamCreate),
    ENTRY(cuStreamCreateWithPriority),
    ENTRY(cuStreamDestroy),
    ENTRY(cuStreamSynchronize),
    ENTRY(cuStreamQuery),
    ENTRY(cuStreamWaitEvent),
    ENTRY(cuStreamAddCallback),
    ENTRY(cuStreamGetFlags),
    ENTRY(cuStreamGetPriority),
    ENTRY(cuStreamGetCtx),
    ENTRY(cuStreamGetDevice),
    ENTRY(cuStreamAttachMemAsync),
    ENTRY(cuEventCreate),
    ENTRY(cuEventDestroy),
    ENTRY(cuEventRecord),
    ENTRY(cuEventRecordWithFlags),
    ENTRY(cuEventSynchronize),
    ENTRY(cuEventQuery),
    ENTRY(cuEventElapsedTime),
    ENTRY(cuMemGetInfo),
    ENTRY(cuMemAlloc),
    ENTRY(cuMemAllocPitch),
    ENTRY(cuMemAllocManaged),
    ENTRY(cuMemAllocAsync),
    ENTRY(cuMemFree),
    ENTRY(cuMemFreeAsync),
    ENTRY(cuMemGetAddressRange),
    ENTRY(cuMemAllocHost),
    ENTRY(cuMemHostAlloc),
    ENTRY(cuMemFreeHost),
    ENTRY(cuMemHostRegister),
    ENTRY(cuMemHostUnregister),
    ENTRY(cuMemHostGetDevicePointer),
    ENTRY(cuPointerGetAttribute),
    ENTRY(cuMemPrefetchAsync),
    ENTRY(cuMemAdvise),
    ENTRY(cuMemcpy),
    ENTRY(cuMemcpyAsync),
    ENTRY(cuMemcpyHtoD),
    ENTRY(cuMemcpyHtoDAsync),
    ENTRY(cuMemcpyDtoH),
    ENTRY(cuMemcpyDtoHAsync),
    ENTRY(cuMemcpyDtoD),
    ENTRY(cuMemcpyDtoDAsync),
    ENTRY(cuMemcpyPeer),
    ENTRY(cuMemcpyPeerAsync),
    ENTRY(cuMemcpyHtoA),
    ENTRY(cuMemcpyAtoH),
    ENTRY(cuMemcpyDtoA),
    ENTRY(cuMemcpyAtoD),
    ENTRY(cuMemcpy2D),
    ENTRY(cuMemcpy2DUnaligned),
    ENTRY(cuMemcpy2DAsync),
    ENTRY(cuMemcpy3D),
    ENTRY(cuMemcpy3DAsync),
    ENTRY(cuMemsetD8),
    ENTRY(cuMemsetD16),
    ENTRY(cuMemsetD32),
    ENTRY(cuMemsetD8Async),
    ENTRY(cuMemsetD16Async),
    ENTRY(cuMemsetD32Async),
    ENTRY(cuMemsetD2D8),
    ENTRY(cuMemsetD2D16),
    ENTRY(cuMemsetD2D32),
    ENTRY(cuArrayCreate),
    ENTRY(cuArrayGetDescriptor),
    ENTRY(cuArray3DCreate),
    ENTRY(cuArray3DGetDescriptor),
    ENTRY(cuArrayDestroy),
    ENTRY(cuTexObjectCreate),
    ENTRY(cuTexObjectDestroy),
    ENTRY(cuSurfObjectCreate),
    ENTRY(cuSurfObjectDestroy),
    ENTRY(cuMemGetAllocationGranularity),
    ENTRY(cuMemAddressReserve),
    ENTRY(cuMemAddressFree),
    ENTRY(cuMemCreate),
    ENTRY(cuMemRelease),
    ENTRY(cuMemRetainAllocationHandle),
    ENTRY(cuMemMap),
    ENTRY(cuMemUnmap),
    ENTRY(cuMemSetAccess),
    ENTRY(cuMemGetAccess),
    ENTRY(cuMemGetAllocationPropertiesFromHandle),
    ENTRY(cuMemExportToShareableHandle),
    ENTRY(cuMemImportFromShareableHandle),
    {"cuCtxCreate", reinterpret_cast<void*>(cuCtxCreate_v4)},
    {"cuLaunchKernel", reinterpret_cast<void*>(launch_kernel)},
    {"cuLaunchKernelEx", reinterpret_cast<void*>(launch_kernel_ex)},
    {"cuLaunchCooperativeKernel", reinterpret_cast<void*>(launch_cooperative_kernel)},
};
#undef ENTRY

// The form of cuCtxCreate with three arguments was replaced in CUDA 13.
constexpr int kOfNewForm = 13000;

void* find(const std::string& name, int version) {
  if (name == "cuCtxCreate" && version < kOfNewForm) return reinterpret_cast<void*>(cuCtxCreate_v2);
  for (const EntryPoint& entry : kEntryPoints)
    if (name == entry.name) return entry.function;
  return nullptr;
}

}  // namespace

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
  if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
  *function = find(symbol, version);
  if (status)
    *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  // Since CUDA 12, the status says that a function is missing, if the program asks for it.
  return *function || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
