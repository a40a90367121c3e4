// Two-dimensional memory: rows that begin a pitch apart. Each row is a copy or a fill of its own.
#include "runtime/api.h"

using namespace hostcuda;

namespace {

bool valid_rows(std::size_t pitch, std::size_t width, std::size_t height) {
  return width <= pitch || height <= 1;
}

template <class Row>
cudaError_t for_each_row(std::size_t height, const Row& row) {
  for (std::size_t i = 0; i < height; ++i)
    if (const cudaError_t error = row(i)) return error;
  return cudaSuccess;
}

char* at_row(void* begin, std::size_t pitch, std::size_t i) {
  return static_cast<char*>(begin) + i * pitch;
}
const char* at_row(const void* begin, std::size_t pitch, std::size_t i) {
  return static_cast<const char*>(begin) + i * pitch;
}

}  // namespace

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  constexpr std::size_t kPitch = 512;  // as on a GPU, so that rows begin in a sector of their own
  if (!pitch) return fail(cudaErrorInvalidValue);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cudaMalloc(pointer, *pitch * height);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (!valid_rows(to_pitch, width, height) || !valid_rows(from_pitch, width, height))
    return fail(cudaErrorInvalidPitchValue);
  return for_each_row(height, [&](std::size_t i) {
    return cudaMemcpyAsync(at_row(to, to_pitch, i), at_row(from, from_pitch, i), width, kind,
                           stream);
  });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (!valid_rows(to_pitch, width, height) || !valid_rows(from_pitch, width, height))
    return fail(cudaErrorInvalidPitchValue);
  return for_each_row(height, [&](std::size_t i) {
    return cudaMemcpy(at_row(to, to_pitch, i), at_row(from, from_pitch, i), width, kind);
  });
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (!valid_rows(pitch, width, height)) return fail(cudaErrorInvalidPitchValue);
  return for_each_row(height, [&](std::size_t i) {
    return cudaMemsetAsync(at_row(pointer, pitch, i), value, width, stream);
  });
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  return cudaMemset2DAsync(pointer, pitch, value, width, height, nullptr);
}
