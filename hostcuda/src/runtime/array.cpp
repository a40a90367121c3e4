// Pitched memory, arrays and boxes, in two and three dimensions. Boxes are copied row by row with
// the functions of copy.cpp, which check the memory and append the copies to the stream.
#include "runtime/array.h"

#include "graphs/add_by_call.h"
#include "runtime/api.h"
#include "runtime/device.h"

using namespace hostcuda;

// ---- rows that start a pitch apart; each is copied or filled separately ------------------------

namespace {

// Calls act(target's row, source's row) for each row.
template <class Act>
cudaError_t for_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t height, const Act& act) {
  if (height > 1 && (width > to_pitch || width > from_pitch))
    return fail(cudaErrorInvalidPitchValue);
  for (std::size_t i = 0; i < height; ++i)
    if (const cudaError_t error = act(static_cast<char*>(to) + i * to_pitch,
                                      static_cast<const char*>(from) + i * from_pitch))
      return error;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  constexpr std::size_t kPitch = 512;  // each row starts in its own sector, as on a GPU
  if (!pitch) return fail(cudaErrorInvalidValue);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cudaMalloc(pointer, *pitch * height);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  HOSTCUDA_API_CALL_OF_OTHERS_ALSO_OF_KERNELS;
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), from_pitch, width, height);
  p.dstPtr = make_cudaPitchedPtr(to, to_pitch, width, height);
  p.extent = make_cudaExtent(width, height, 1);
  p.kind = kind;
  return capture_rows(stream, p, [&] {
    return for_rows(to, to_pitch, from, from_pitch, width, height,
                    [&](char* row, const char* source) {
                      return cudaMemcpyAsync(row, source, width, kind, stream);
                    });
  });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  return for_rows(
      to, to_pitch, from, from_pitch, width, height,
      [&](char* row, const char* source) { return cudaMemcpy(row, source, width, kind); });
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  HOSTCUDA_API_CALL_OF_OTHERS_ALSO_OF_KERNELS;
  const cudaMemsetParams p{pointer, pitch, static_cast<unsigned char>(value), 1, width, height};
  return capture_rows(stream, p, [&] {
    return for_rows(pointer, pitch, pointer, pitch, width, height, [&](char* row, const char*) {
      return cudaMemsetAsync(row, value, width, stream);
    });
  });
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  return cudaMemset2DAsync(pointer, pitch, value, width, height, nullptr);
}

// ---- arrays and boxes ---------------------------------------------------------------------------

namespace {

// The source or the target of a copy of a box.
struct Side {
  char* begin = nullptr;
  std::size_t pitch = 0, rows = 0;  // bytes per row, rows per slice
  char* row(std::size_t y, std::size_t z) const { return begin + (z * rows + y) * pitch; }
};

Side side_of(cudaArray_t array, const cudaPitchedPtr& pointer, const cudaPos& at) {
  if (array) {
    Side side{array->data, array->pitch(), array->rows()};
    side.begin = side.row(at.y, at.z) + at.x * array->element();
    return side;
  }
  Side side{static_cast<char*>(pointer.ptr), pointer.pitch, pointer.ysize};
  side.begin = side.row(at.y, at.z) + at.x;
  return side;
}

template <class Copy>
cudaError_t for_each_row(const cudaMemcpy3DParms& p, const Copy& copy) {
  const cudaArray_t array = p.srcArray ? p.srcArray : p.dstArray;
  const std::size_t width = p.extent.width * (array ? array->element() : 1);
  const Side to = side_of(p.dstArray, p.dstPtr, p.dstPos);
  const Side from = side_of(p.srcArray, p.srcPtr, p.srcPos);
  const std::size_t depth = p.extent.depth ? p.extent.depth : 1;
  const bool one_piece = p.extent.height > 1 && to.pitch == width && from.pitch == width &&
                         (depth == 1 || (to.rows == p.extent.height && from.rows == to.rows));
  if (one_piece) return copy(to.begin, from.begin, width * p.extent.height * depth);
  for (std::size_t z = 0; z < depth; ++z)
    for (std::size_t y = 0; y < p.extent.height; ++y)
      if (const cudaError_t error = copy(to.row(y, z), from.row(y, z), width)) return error;
  return cudaSuccess;
}

bool inside(cudaArray_const_t array, const cudaPos& at, const cudaExtent& box) {
  return !array || (at.x + box.width <= array->extent.width && at.y + box.height <= array->rows() &&
                    at.z + box.depth <= array->slices());
}

// A row must not overlap the next one.
bool has_valid_pitch(const cudaPitchedPtr& pointer, const cudaMemcpy3DParms& p) {
  const cudaArray_t array = p.srcArray ? p.srcArray : p.dstArray;
  const std::size_t width = p.extent.width * (array ? array->element() : 1);
  return !pointer.ptr || pointer.pitch >= width || (p.extent.height < 2 && p.extent.depth < 2);
}

cudaError_t check(const cudaMemcpy3DParms* p) {
  if (!p || (!p->srcArray && !p->srcPtr.ptr) || (!p->dstArray && !p->dstPtr.ptr))
    return cudaErrorInvalidValue;
  if (!inside(p->srcArray, p->srcPos, p->extent) || !inside(p->dstArray, p->dstPos, p->extent))
    return cudaErrorInvalidValue;
  if (!has_valid_pitch(p->srcPtr, *p) || !has_valid_pitch(p->dstPtr, *p))
    return cudaErrorInvalidPitchValue;
  return cudaSuccess;
}

// Describes a copy between `array` and a box of `width` bytes that starts at byte x of row y.
cudaMemcpy3DParms box_of(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPos = p.dstPos = {x / array->element(), y, 0};
  p.extent = {width / array->element(), height, 1};
  p.kind = kind;
  return p;
}

// Returns the address of byte x of row y, or null if the array has fewer than `size` bytes from
// there on.
char* place_in(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t size) {
  const std::size_t first = y * array->pitch() + x;
  return first + size <= array->bytes() ? array->data + first : nullptr;
}

}  // namespace

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  if (!array || !format || !extent.width) return fail(cudaErrorInvalidValue);
  cudaArray made{*format, extent, flags, nullptr};
  if (!made.element()) return fail(cudaErrorInvalidValue);
  if (flags & cudaArrayCubemap) {
    const bool has_faces =
        flags & cudaArrayLayered ? extent.depth && extent.depth % 6 == 0 : extent.depth == 6;
    if (extent.width != extent.height || !has_faces)
      return fail(cudaErrorInvalidValue, "a cube map has six square faces (in each layer)");
  }
  if (const cudaError_t error = cudaMalloc(&made.data, made.bytes())) return error;
  *array = new cudaArray(made);
  return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  const cudaError_t error = cudaFree(array->data);
  delete array;
  return error;
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  if (!array) return fail(cudaErrorInvalidResourceHandle);
  if (format) *format = array->format;
  if (extent) *extent = array->extent;
  if (flags) *flags = array->flags;
  return cudaSuccess;
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (!pointer) return fail(cudaErrorInvalidValue);
  *pointer = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                         extent.height * extent.depth);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream) {
  HOSTCUDA_API_CALL_OF_OTHERS_ALSO_OF_KERNELS;
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* slice = static_cast<char*>(pointer.ptr) + z * pointer.ysize * pointer.pitch;
    if (const cudaError_t error =
            cudaMemset2DAsync(slice, pointer.pitch, value, extent.width, extent.height, stream))
      return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  return cudaMemset3DAsync(pointer, value, extent, nullptr);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  if (const cudaError_t error = check(p)) return fail(error);
  return for_each_row(*p, [&](char* to, const char* from, std::size_t size) {
    return cudaMemcpy(to, from, size, p->kind);
  });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  if (const cudaError_t error = check(p)) return fail(error);
  return capture_rows(stream, *p, [&] {
    return for_each_row(*p, [&](char* to, const char* from, std::size_t size) {
      return cudaMemcpyAsync(to, from, size, p->kind, stream);
    });
  });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (!p) return fail(cudaErrorInvalidValue);
  if (!valid_device(p->srcDevice) || !valid_device(p->dstDevice))
    return fail(cudaErrorInvalidDevice);
  const cudaMemcpy3DParms box{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                              p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  return cudaMemcpy3DAsync(&box, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  return cudaMemcpy3DPeerAsync(p, nullptr);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t size, cudaMemcpyKind kind) {
  if (!to) return fail(cudaErrorInvalidResourceHandle);
  char* place = place_in(to, x, y, size);
  return place ? cudaMemcpy(place, from, size, kind) : fail(cudaErrorInvalidValue);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t size, cudaMemcpyKind kind) {
  if (!from) return fail(cudaErrorInvalidResourceHandle);
  const char* place = place_in(from, x, y, size);
  return place ? cudaMemcpy(to, place, size, kind) : fail(cudaErrorInvalidValue);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!to) return fail(cudaErrorInvalidResourceHandle);
  char* place = place_in(to, x, y, size);
  return place ? cudaMemcpyAsync(place, from, size, kind, stream) : fail(cudaErrorInvalidValue);
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!from) return fail(cudaErrorInvalidResourceHandle);
  const char* place = place_in(from, x, y, size);
  return place ? cudaMemcpyAsync(to, place, size, kind, stream) : fail(cudaErrorInvalidValue);
}

namespace {

cudaMemcpy3DParms copy_to(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                          std::size_t pitch, std::size_t width, std::size_t height,
                          cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = box_of(to, x, y, width, height, kind);
  p.dstArray = to;
  p.srcPos = {};
  p.srcPtr = {const_cast<void*>(from), pitch, width, height};
  return p;
}

cudaMemcpy3DParms copy_from(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                            std::size_t y, std::size_t width, std::size_t height,
                            cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = box_of(from, x, y, width, height, kind);
  p.srcArray = const_cast<cudaArray_t>(from);
  p.dstPos = {};
  p.dstPtr = {to, pitch, width, height};
  return p;
}

}  // namespace

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  if (!to) return fail(cudaErrorInvalidResourceHandle);
  const cudaMemcpy3DParms p = copy_to(to, x, y, from, pitch, width, height, kind);
  return cudaMemcpy3D(&p);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  if (!to) return fail(cudaErrorInvalidResourceHandle);
  const cudaMemcpy3DParms p = copy_to(to, x, y, from, pitch, width, height, kind);
  return cudaMemcpy3DAsync(&p, stream);
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
  if (!from) return fail(cudaErrorInvalidResourceHandle);
  const cudaMemcpy3DParms p = copy_from(to, pitch, from, x, y, width, height, kind);
  return cudaMemcpy3D(&p);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  if (!from) return fail(cudaErrorInvalidResourceHandle);
  const cudaMemcpy3DParms p = copy_from(to, pitch, from, x, y, width, height, kind);
  return cudaMemcpy3DAsync(&p, stream);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (!to || !from) return fail(cudaErrorInvalidResourceHandle);
  if (to->element() != from->element()) return fail(cudaErrorInvalidValue);
  cudaMemcpy3DParms p = box_of(from, from_x, from_y, width, height, kind);
  p.srcArray = const_cast<cudaArray_t>(from);
  p.dstArray = to;
  p.dstPos = {to_x / to->element(), to_y, 0};
  return cudaMemcpy3D(&p);
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (!format) return fail(cudaErrorInvalidValue);
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}
