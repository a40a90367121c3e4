// hostcuda: the extended interface of cuFFT: plans with 64-bit sizes, callbacks that load and store
// elements, and transforms on several devices.
//
// The data of several devices stays in natural order, also after a transform, where a GPU would
// shuffle it. A call on several devices waits for these devices' default streams before and after.
#pragma once

#include "cufft.h"
#include "library_types.h"

constexpr int MAX_CUDA_DESCRIPTOR_GPUS = 64;
typedef enum libFormat_t { LIB_FORMAT_CUFFT, LIB_FORMAT_UNDEFINED } libFormat;
typedef struct cudaXtDesc_t {
  int version, nGPUs;
  int GPUs[MAX_CUDA_DESCRIPTOR_GPUS];
  void* data[MAX_CUDA_DESCRIPTOR_GPUS];
  std::size_t size[MAX_CUDA_DESCRIPTOR_GPUS];  // in bytes
  void* cudaXtState;
} cudaXtDesc;
typedef struct cudaLibXtDesc_t {
  int version;
  cudaXtDesc* descriptor;
  libFormat library;
  int subFormat;
  void* libDescriptor;
} cudaLibXtDesc;

typedef enum cufftXtSubFormat_t {
  CUFFT_XT_FORMAT_INPUT,
  CUFFT_XT_FORMAT_OUTPUT,
  CUFFT_XT_FORMAT_INPLACE,
  CUFFT_XT_FORMAT_INPLACE_SHUFFLED,
  CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED,
  CUFFT_XT_FORMAT_DISTRIBUTED_INPUT,
  CUFFT_XT_FORMAT_DISTRIBUTED_OUTPUT,
  CUFFT_FORMAT_UNDEFINED
} cufftXtSubFormat;
typedef enum cufftXtCopyType_t {
  CUFFT_COPY_HOST_TO_DEVICE,
  CUFFT_COPY_DEVICE_TO_HOST,
  CUFFT_COPY_DEVICE_TO_DEVICE,
  CUFFT_COPY_UNDEFINED
} cufftXtCopyType;
typedef enum cufftXtCallbackType_t {
  CUFFT_CB_LD_COMPLEX,
  CUFFT_CB_LD_COMPLEX_DOUBLE,
  CUFFT_CB_LD_REAL,
  CUFFT_CB_LD_REAL_DOUBLE,
  CUFFT_CB_ST_COMPLEX,
  CUFFT_CB_ST_COMPLEX_DOUBLE,
  CUFFT_CB_ST_REAL,
  CUFFT_CB_ST_REAL_DOUBLE,
  CUFFT_CB_UNDEFINED
} cufftXtCallbackType;

#define HOSTCUDA_CALLBACK(Element, suffix)                                                   \
  typedef Element (*cufftCallbackLoad##suffix)(void* in, std::size_t offset, void* caller,   \
                                               void* shared);                                \
  typedef void (*cufftCallbackStore##suffix)(void* out, std::size_t offset, Element element, \
                                             void* caller, void* shared);
HOSTCUDA_CALLBACK(cufftComplex, C)
HOSTCUDA_CALLBACK(cufftDoubleComplex, Z)
HOSTCUDA_CALLBACK(cufftReal, R)
HOSTCUDA_CALLBACK(cufftDoubleReal, D)
#undef HOSTCUDA_CALLBACK

namespace hostcuda {
namespace fft {

// Returns the callback of the plan that `type` denotes, or null if the plan's elements have another
// type.
inline Callback* callback_of(Plan& plan, cufftXtCallbackType type) {
  cufftXtCallbackType loads = CUFFT_CB_LD_COMPLEX, stores = CUFFT_CB_ST_COMPLEX;
  if (plan.type == CUFFT_R2C || plan.type == CUFFT_D2Z) loads = CUFFT_CB_LD_REAL;
  if (plan.type == CUFFT_C2R || plan.type == CUFFT_Z2D) stores = CUFFT_CB_ST_REAL;
  const int is_double =
      plan.type == CUFFT_Z2Z || plan.type == CUFFT_D2Z || plan.type == CUFFT_Z2D ? 1 : 0;
  if (type == loads + is_double) return &plan.load;
  return type == stores + is_double ? &plan.store : nullptr;
}

inline bool type_of(cudaDataType in, cudaDataType out, cufftType& type) {
  const struct {
    cudaDataType in, out;
    cufftType type;
  } known[] = {{CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_32F, CUDA_C_32F, CUFFT_R2C},
               {CUDA_C_32F, CUDA_R_32F, CUFFT_C2R}, {CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
               {CUDA_R_64F, CUDA_C_64F, CUFFT_D2Z}, {CUDA_C_64F, CUDA_R_64F, CUFFT_Z2D}};
  for (const auto& one : known)
    if (one.in == in && one.out == out) return type = one.type, true;
  return false;
}

inline Plan* plan_on_devices(cufftHandle handle) {
  const auto found = plans().find(handle);
  return found == plans().end() || found->second.devices.empty() ? nullptr : &found->second;
}

// Calls act() with each device of the plan as the current device.
template <class Act>
cufftResult on_each(const std::vector<int>& devices, const Act& act) {
  int before = 0;
  if (cudaGetDevice(&before) != cudaSuccess) return CUFFT_INTERNAL_ERROR;
  cudaError_t error = cudaSuccess;
  for (std::size_t i = 0; i < devices.size() && !error; ++i) {
    error = cudaSetDevice(devices[i]);
    if (!error) error = act(i);
  }
  cudaSetDevice(before);
  return error ? CUFFT_EXEC_FAILED : CUFFT_SUCCESS;
}
inline cufftResult wait_for(const std::vector<int>& devices) {
  return on_each(devices, [](std::size_t) { return cudaStreamSynchronize(nullptr); });
}

// Copies between one array of host memory and the pieces that the devices have.
inline cufftResult copy_pieces(const cudaXtDesc& pieces, char* host, bool to_host) {
  const std::vector<int> devices(pieces.GPUs, pieces.GPUs + pieces.nGPUs);
  std::size_t at = 0;
  return on_each(devices, [&](std::size_t i) {
    char* mine = host + at;
    at += pieces.size[i];
    return to_host ? cudaMemcpy(mine, pieces.data[i], pieces.size[i], cudaMemcpyDeviceToHost)
                   : cudaMemcpy(pieces.data[i], mine, pieces.size[i], cudaMemcpyHostToDevice);
  });
}

inline std::size_t bytes_of(const cudaXtDesc& pieces) {
  std::size_t all = 0;
  for (int i = 0; i < pieces.nGPUs; ++i) all += pieces.size[i];
  return all;
}

template <class In, class Out>
cufftResult execute_pieces(cufftHandle handle, cufftType type, const cudaLibXtDesc* in,
                           cudaLibXtDesc* out, int direction) {
  Plan* found = plan_on_devices(handle);
  if (!found) return CUFFT_INVALID_PLAN;
  if (found->type != type) return CUFFT_INVALID_TYPE;
  if (!in || in != out) return CUFFT_INVALID_VALUE;  // as on a GPU, only in place
  Plan plan = *found;
  set_default_layout(plan, true);
  if (const cufftResult error = wait_for(plan.devices)) return error;
  std::vector<char> all(bytes_of(*in->descriptor));
  if (const cufftResult error = copy_pieces(*in->descriptor, all.data(), true)) return error;
  run(plan, reinterpret_cast<const In*>(all.data()), reinterpret_cast<Out*>(all.data()), direction);
  out->subFormat = out->subFormat == CUFFT_XT_FORMAT_INPLACE ? CUFFT_XT_FORMAT_INPLACE_SHUFFLED
                                                             : CUFFT_XT_FORMAT_INPLACE;
  return copy_pieces(*out->descriptor, all.data(), false);
}

}  // namespace fft
}  // namespace hostcuda

// ---- plans ------------------------------------------------------------------------------------

inline cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed,
                                       long long istride, long long idist, cudaDataType in,
                                       long long* onembed, long long ostride, long long odist,
                                       cudaDataType out, long long batch, std::size_t* work_size,
                                       cudaDataType /*execution*/) {
  cufftType type;
  if (!hostcuda::fft::type_of(in, out, type)) return CUFFT_INVALID_TYPE;
  if (rank < 1 || rank > 3 || !n) return CUFFT_INVALID_VALUE;
  int sizes[3][3] = {};
  const long long* given[] = {n, inembed, onembed};
  for (int which = 0; which < 3; ++which)
    for (int d = 0; given[which] && d < rank; ++d) {
      if (given[which][d] > 0x7fffffff) return CUFFT_INVALID_SIZE;
      sizes[which][d] = static_cast<int>(given[which][d]);
    }
  return cufftMakePlanMany(plan, rank, sizes[0], inembed ? sizes[1] : nullptr,
                           static_cast<int>(istride), static_cast<int>(idist),
                           onembed ? sizes[2] : nullptr, static_cast<int>(ostride),
                           static_cast<int>(odist), type, static_cast<int>(batch), work_size);
}
inline cufftResult cufftXtExec(cufftHandle plan, void* in, void* out, int direction) {
  const auto found = hostcuda::fft::plans().find(plan);
  if (found == hostcuda::fft::plans().end()) return CUFFT_INVALID_PLAN;
  switch (found->second.type) {
    case CUFFT_C2C:
      return cufftExecC2C(plan, static_cast<cufftComplex*>(in), static_cast<cufftComplex*>(out),
                          direction);
    case CUFFT_Z2Z:
      return cufftExecZ2Z(plan, static_cast<cufftDoubleComplex*>(in),
                          static_cast<cufftDoubleComplex*>(out), direction);
    case CUFFT_R2C:
      return cufftExecR2C(plan, static_cast<cufftReal*>(in), static_cast<cufftComplex*>(out));
    case CUFFT_C2R:
      return cufftExecC2R(plan, static_cast<cufftComplex*>(in), static_cast<cufftReal*>(out));
    case CUFFT_D2Z:
      return cufftExecD2Z(plan, static_cast<cufftDoubleReal*>(in),
                          static_cast<cufftDoubleComplex*>(out));
    case CUFFT_Z2D:
      return cufftExecZ2D(plan, static_cast<cufftDoubleComplex*>(in),
                          static_cast<cufftDoubleReal*>(out));
  }
  return CUFFT_INVALID_TYPE;
}

// ---- callbacks ----------------------------------------------------------------------------------

inline cufftResult cufftXtSetCallback(cufftHandle handle, void** function, cufftXtCallbackType type,
                                      void** information) {
  const auto found = hostcuda::fft::plans().find(handle);
  if (found == hostcuda::fft::plans().end()) return CUFFT_INVALID_PLAN;
  hostcuda::fft::Callback* callback = hostcuda::fft::callback_of(found->second, type);
  if (!callback || !function) return CUFFT_INVALID_VALUE;
  callback->function = *function;
  callback->information = information ? *information : nullptr;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftXtClearCallback(cufftHandle handle, cufftXtCallbackType type) {
  void* none = nullptr;
  return cufftXtSetCallback(handle, &none, type, nullptr);
}
inline cufftResult cufftXtSetCallbackSharedSize(cufftHandle handle, cufftXtCallbackType type,
                                                std::size_t bytes) {
  const auto found = hostcuda::fft::plans().find(handle);
  if (found == hostcuda::fft::plans().end()) return CUFFT_INVALID_PLAN;
  hostcuda::fft::Callback* callback = hostcuda::fft::callback_of(found->second, type);
  if (!callback) return CUFFT_INVALID_VALUE;
  callback->shared_bytes = bytes;
  return CUFFT_SUCCESS;
}

// ---- several devices ----------------------------------------------------------------------------

inline cufftResult cufftXtSetGPUs(cufftHandle handle, int count, int* devices) {
  const auto found = hostcuda::fft::plans().find(handle);
  if (found == hostcuda::fft::plans().end()) return CUFFT_INVALID_PLAN;
  int available = 0;
  if (cudaGetDeviceCount(&available) != cudaSuccess) return CUFFT_INTERNAL_ERROR;
  if (!devices || count < 1 || count > MAX_CUDA_DESCRIPTOR_GPUS) return CUFFT_INVALID_DEVICE;
  for (int i = 0; i < count; ++i)
    if (devices[i] < 0 || devices[i] >= available) return CUFFT_INVALID_DEVICE;
  found->second.devices.assign(devices, devices + count);
  return CUFFT_SUCCESS;
}

inline cufftResult cufftXtFree(cudaLibXtDesc* descriptor) {
  if (!descriptor) return CUFFT_INVALID_VALUE;
  cudaError_t error = cudaSuccess;
  for (int i = 0; i < descriptor->descriptor->nGPUs; ++i)
    if (const cudaError_t one = cudaFree(descriptor->descriptor->data[i])) error = one;
  delete descriptor->descriptor;
  delete descriptor;
  return error ? CUFFT_INTERNAL_ERROR : CUFFT_SUCCESS;
}

// Divides the transforms of a batch or, if there is only one, the lines of its first dimension.
inline cufftResult cufftXtMalloc(cufftHandle handle, cudaLibXtDesc** made,
                                 cufftXtSubFormat format) {
  hostcuda::fft::Plan* found = hostcuda::fft::plan_on_devices(handle);
  if (!found) return CUFFT_INVALID_PLAN;
  if (!made || format > CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED) return CUFFT_INVALID_VALUE;
  hostcuda::fft::Plan plan = *found;
  hostcuda::fft::set_default_layout(plan, true);
  // The devices cannot share half of a spectrum evenly.
  if (plan.batch == 1 && plan.shape.size() == 1 && plan.type != CUFFT_C2C && plan.type != CUFFT_Z2Z)
    return CUFFT_INVALID_TYPE;
  const bool is_double = plan.type == CUFFT_Z2Z || plan.type == CUFFT_D2Z || plan.type == CUFFT_Z2D;
  const hostcuda::fft::Layout& complex = hostcuda::fft::writes_half(plan.type) ? plan.out : plan.in;
  const std::size_t element = is_double ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex);
  const std::size_t bytes = plan.batch * complex.distance * element;
  const std::size_t parts = plan.batch > 1 ? plan.batch : plan.shape[0];
  const std::size_t count = plan.devices.size();
  auto* pieces = new cudaXtDesc{};
  pieces->nGPUs = static_cast<int>(count);
  auto* descriptor =
      new cudaLibXtDesc{0, pieces, LIB_FORMAT_CUFFT, static_cast<int>(format), nullptr};
  const cufftResult error = hostcuda::fft::on_each(plan.devices, [&](std::size_t i) {
    pieces->GPUs[i] = plan.devices[i];
    pieces->size[i] = ((i + 1) * parts / count - i * parts / count) * (bytes / parts);
    return cudaMalloc(&pieces->data[i], pieces->size[i]);
  });
  if (error) return cufftXtFree(descriptor), CUFFT_ALLOC_FAILED;
  *made = descriptor;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftXtMemcpy(cufftHandle handle, void* to, void* from, cufftXtCopyType type) {
  const hostcuda::fft::Plan* plan = hostcuda::fft::plan_on_devices(handle);
  if (!plan) return CUFFT_INVALID_PLAN;
  if (!to || !from) return CUFFT_INVALID_VALUE;
  if (const cufftResult error = hostcuda::fft::wait_for(plan->devices)) return error;
  const auto pieces = [](void* descriptor) -> const cudaXtDesc& {
    return *static_cast<cudaLibXtDesc*>(descriptor)->descriptor;
  };
  if (type == CUFFT_COPY_HOST_TO_DEVICE)
    return hostcuda::fft::copy_pieces(pieces(to), static_cast<char*>(from), false);
  if (type == CUFFT_COPY_DEVICE_TO_HOST)
    return hostcuda::fft::copy_pieces(pieces(from), static_cast<char*>(to), true);
  if (type != CUFFT_COPY_DEVICE_TO_DEVICE) return CUFFT_INVALID_VALUE;
  std::vector<char> all(hostcuda::fft::bytes_of(pieces(from)));
  if (all.size() != hostcuda::fft::bytes_of(pieces(to))) return CUFFT_INVALID_VALUE;
  if (const cufftResult error = hostcuda::fft::copy_pieces(pieces(from), all.data(), true))
    return error;
  static_cast<cudaLibXtDesc*>(to)->subFormat = CUFFT_XT_FORMAT_INPLACE;
  return hostcuda::fft::copy_pieces(pieces(to), all.data(), false);
}

#define HOSTCUDA_FFT(name, type, In, Out)                                             \
  inline cufftResult cufftXtExecDescriptor##name(cufftHandle plan, cudaLibXtDesc* in, \
                                                 cudaLibXtDesc* out, int direction) { \
    return hostcuda::fft::execute_pieces<In, Out>(plan, type, in, out, direction);    \
  }
#define HOSTCUDA_REAL_FFT(name, type, In, Out, direction)                             \
  inline cufftResult cufftXtExecDescriptor##name(cufftHandle plan, cudaLibXtDesc* in, \
                                                 cudaLibXtDesc* out) {                \
    return hostcuda::fft::execute_pieces<In, Out>(plan, type, in, out, direction);    \
  }
HOSTCUDA_FFT(C2C, CUFFT_C2C, cufftComplex, cufftComplex)
HOSTCUDA_FFT(Z2Z, CUFFT_Z2Z, cufftDoubleComplex, cufftDoubleComplex)
HOSTCUDA_REAL_FFT(R2C, CUFFT_R2C, cufftReal, cufftComplex, CUFFT_FORWARD)
HOSTCUDA_REAL_FFT(D2Z, CUFFT_D2Z, cufftDoubleReal, cufftDoubleComplex, CUFFT_FORWARD)
HOSTCUDA_REAL_FFT(C2R, CUFFT_C2R, cufftComplex, cufftReal, CUFFT_INVERSE)
HOSTCUDA_REAL_FFT(Z2D, CUFFT_Z2D, cufftDoubleComplex, cufftDoubleReal, CUFFT_INVERSE)
#undef HOSTCUDA_FFT
#undef HOSTCUDA_REAL_FFT
