// hostcuda: cuFFT's transforms of complex and real numbers, in one, two or three dimensions. The
// transforms are computed in double, by splitting a length into its prime factors.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "cuComplex.h"
#include "hostcuda/launch.h"

#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1
#define CUFFT_API_H_
#define _CUFFT_H_  // headers of NVIDIA's samples test this macro

typedef enum cufftResult_t {
  CUFFT_SUCCESS,
  CUFFT_INVALID_PLAN,
  CUFFT_ALLOC_FAILED,
  CUFFT_INVALID_TYPE,
  CUFFT_INVALID_VALUE,
  CUFFT_INTERNAL_ERROR,
  CUFFT_EXEC_FAILED,
  CUFFT_SETUP_FAILED,
  CUFFT_INVALID_SIZE,
  CUFFT_UNALIGNED_DATA,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_NOT_SUPPORTED = 16,
  CUFFT_MISSING_DEPENDENCY,
  CUFFT_NVRTC_FAILURE,
  CUFFT_NVJITLINK_FAILURE,
  CUFFT_NVSHMEM_FAILURE
} cufftResult;
typedef enum {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
} cufftType;
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;

namespace hostcuda {
namespace fft {

struct Number {
  double re = 0, im = 0;
};
using Numbers = std::vector<Number>;
inline Number operator*(Number a, Number b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// Transforms `numbers`; their count must divide the count of the roots of unity.
inline Numbers transformed(const Numbers& numbers, const Numbers& roots) {
  const std::size_t n = numbers.size();
  if (n == 1) return numbers;
  std::size_t factor = 2;
  while (n % factor != 0) factor = factor * factor > n ? n : factor + 1;
  const std::size_t length = n / factor, step = roots.size() / n;
  std::vector<Numbers> parts(factor, Numbers(length));
  for (std::size_t i = 0; i < n; ++i) parts[i % factor][i / factor] = numbers[i];
  for (Numbers& part : parts) part = transformed(part, roots);
  Numbers result(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t part = 0; part < factor; ++part) {
      const Number term = parts[part][i % length] * roots[part * i % n * step];
      result[i].re += term.re;
      result[i].im += term.im;
    }
  return result;
}

inline Numbers roots_of_unity(std::size_t n, int direction) {
  Numbers roots(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = direction * 2 * M_PI * static_cast<double>(i) / static_cast<double>(n);
    roots[i] = {cos(angle), sin(angle)};
  }
  return roots;
}

using Shape = std::vector<std::size_t>;
inline std::size_t product(const Shape& shape) {
  std::size_t all = 1;
  for (const std::size_t one : shape) all *= one;
  return all;
}

// Transforms along each dimension; the last dimension is contiguous in memory.
inline void transform(Numbers& all, const Shape& shape, int direction) {
  std::size_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::size_t n = shape[d];
    const Numbers roots = roots_of_unity(n, direction);
    Numbers line(n);
    for (std::size_t first = 0; first < all.size(); ++first) {
      if (first / stride % n != 0) continue;
      for (std::size_t i = 0; i < n; ++i) line[i] = all[first + i * stride];
      line = transformed(line, roots);
      for (std::size_t i = 0; i < n; ++i) all[first + i * stride] = line[i];
    }
    stride *= n;
  }
}

// The memory layout of a transform's input or output, in elements.
struct Layout {
  Shape embed;  // the extents of the array that contains the data
  std::size_t stride = 1, distance = 0;
  std::size_t offset(std::size_t index, const Shape& shape) const {
    std::size_t at = 0, size = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += index % shape[d] * size;
      index /= shape[d];
      size *= embed[d];
    }
    return at * stride;
  }
};

// A function of the program that replaces the loads of a transform's input or the stores of its
// output (cufftXt.h). Its type depends on the type of the elements.
struct Callback {
  void* function = nullptr;
  void* information = nullptr;
  std::size_t shared_bytes = 0;
};

struct Plan {
  cufftType type;
  Shape shape;
  Layout in, out;
  std::size_t batch;
  bool default_layout;
  cudaStream_t stream = nullptr;
  std::vector<int> devices = {};  // if several devices share the work (cufftXt.h)
  Callback load = {}, store = {};
};

inline std::map<cufftHandle, Plan>& plans() {
  static auto* all = new std::map<cufftHandle, Plan>;
  return *all;
}

inline bool reads_half(cufftType type) { return type == CUFFT_C2R || type == CUFFT_Z2D; }
inline bool writes_half(cufftType type) { return type == CUFFT_R2C || type == CUFFT_D2Z; }

inline Number read(const float* from) { return {*from, 0}; }
inline Number read(const double* from) { return {*from, 0}; }
template <class Complex>
Number read(const Complex* from) {
  return {from->x, from->y};
}
inline void write(float* to, Number value) { *to = static_cast<float>(value.re); }
inline void write(double* to, Number value) { *to = value.re; }
template <class Complex>
void write(Complex* to, Number value) {
  using Real = decltype(to->x);
  *to = Complex{static_cast<Real>(value.re), static_cast<Real>(value.im)};
}

// For real numbers, only the first half of the spectrum is stored, because the second half has the
// conjugates of the first half. Returns the index of an element's conjugate.
inline std::size_t mirrored(std::size_t index, const Shape& shape) {
  std::size_t at = 0, size = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    at += (shape[d] - index % shape[d]) % shape[d] * size;
    index /= shape[d];
    size *= shape[d];
  }
  return at;
}

template <class In, class Out>
void run(const Plan& plan, const In* in, Out* out, int direction) {
  const std::size_t count = product(plan.shape), last = plan.shape.back();
  const auto in_half = [last](std::size_t i) { return i % last <= last / 2; };
  std::vector<char> load_shared(plan.load.shared_bytes), store_shared(plan.store.shared_bytes);
  const auto load = [&](std::size_t at) {
    if (!plan.load.function) return read(in + at);
    using Load = In (*)(void*, std::size_t, void*, void*);
    const In value = reinterpret_cast<Load>(plan.load.function)(
        const_cast<In*>(in), at, plan.load.information, load_shared.data());
    return read(&value);
  };
  const auto store = [&](std::size_t at, Number number) {
    if (!plan.store.function) return write(out + at, number);
    using Store = void (*)(void*, std::size_t, Out, void*, void*);
    Out value{};
    write(&value, number);
    reinterpret_cast<Store>(plan.store.function)(out, at, value, plan.store.information,
                                                 store_shared.data());
  };
  for (std::size_t b = 0; b < plan.batch; ++b) {
    const std::size_t from = b * plan.in.distance, to = b * plan.out.distance;
    Numbers all(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!reads_half(plan.type) || in_half(i)) {
        all[i] = load(from + plan.in.offset(i, plan.shape));
      } else {
        all[i] = load(from + plan.in.offset(mirrored(i, plan.shape), plan.shape));
        all[i].im = -all[i].im;
      }
    }
    transform(all, plan.shape, direction);
    for (std::size_t i = 0; i < count; ++i)
      if (!writes_half(plan.type) || in_half(i)) store(to + plan.out.offset(i, plan.shape), all[i]);
  }
}

// The layout of a whole array. If is_half is true, only the first half of the last dimension is
// stored. In a transform in place, the real numbers of a line take as much room as the line's
// complex numbers.
inline Layout default_layout(const Shape& shape, bool is_half, bool has_room_for_complex) {
  Layout layout{shape, 1, 0};
  std::size_t& last = layout.embed.back();
  if (is_half) last = last / 2 + 1;
  if (has_room_for_complex) last = 2 * (last / 2 + 1);
  layout.distance = product(layout.embed);
  return layout;
}

inline void set_default_layout(Plan& plan, bool in_place) {
  if (!plan.default_layout) return;
  const bool reads = reads_half(plan.type), writes = writes_half(plan.type);
  plan.in = default_layout(plan.shape, reads, in_place && writes);
  plan.out = default_layout(plan.shape, writes, in_place && reads);
}

template <class In, class Out>
cufftResult execute(cufftHandle handle, cufftType type, In* in, Out* out, int direction) {
  const auto found = plans().find(handle);
  if (found == plans().end()) return CUFFT_INVALID_PLAN;
  Plan plan = found->second;
  if (plan.shape.empty()) return CUFFT_INVALID_PLAN;
  if (plan.type != type) return CUFFT_INVALID_TYPE;
  if (!in || !out || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE))
    return CUFFT_INVALID_VALUE;
  set_default_layout(plan, static_cast<void*>(in) == static_cast<void*>(out));
  const auto work = [plan, in, out, direction] { run(plan, in, out, direction); };
  return enqueue_work(plan.stream, work) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

inline bool is_type(cufftType type) {
  return type == CUFFT_R2C || type == CUFFT_C2R || type == CUFFT_C2C || type == CUFFT_D2Z ||
         type == CUFFT_Z2D || type == CUFFT_Z2Z;
}

inline cufftResult make(cufftHandle handle, int rank, const int* n, const int* in_embed,
                        int in_stride, int in_distance, const int* out_embed, int out_stride,
                        int out_distance, cufftType type, int batch) {
  if (!plans().count(handle) || !plans()[handle].shape.empty()) return CUFFT_INVALID_PLAN;
  if (!is_type(type)) return CUFFT_INVALID_TYPE;
  if (rank < 1 || rank > 3 || !n || !in_embed != !out_embed) return CUFFT_INVALID_VALUE;
  if (in_embed && (in_stride < 1 || out_stride < 1 || in_distance < 0 || out_distance < 0))
    return CUFFT_INVALID_VALUE;
  if (batch < 1) return CUFFT_INVALID_SIZE;
  Plan plan{type,
            {},
            {},
            {},
            static_cast<std::size_t>(batch),
            !in_embed,
            plans()[handle].stream,
            plans()[handle].devices};
  for (int d = 0; d < rank; ++d) {
    if (n[d] < 1) return CUFFT_INVALID_SIZE;
    plan.shape.push_back(static_cast<std::size_t>(n[d]));
  }
  if (!plan.default_layout) {
    const auto layout = [rank](const int* embed, int stride, int distance) {
      return Layout{Shape(embed, embed + rank), static_cast<std::size_t>(stride),
                    static_cast<std::size_t>(distance)};
    };
    plan.in = layout(in_embed, in_stride, in_distance);
    plan.out = layout(out_embed, out_stride, out_distance);
  }
  plans()[handle] = plan;
  return CUFFT_SUCCESS;
}

}  // namespace fft
}  // namespace hostcuda

inline cufftResult cufftCreate(cufftHandle* plan) {
  if (!plan) return CUFFT_INVALID_VALUE;
  static int last = 0;
  hostcuda::fft::plans()[*plan = ++last] = {};
  return CUFFT_SUCCESS;
}
inline cufftResult cufftDestroy(cufftHandle plan) {
  return hostcuda::fft::plans().erase(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
inline cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  if (!hostcuda::fft::plans().count(plan)) return CUFFT_INVALID_PLAN;
  hostcuda::fft::plans()[plan].stream = stream;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride,
                                     int idist, int* onembed, int ostride, int odist,
                                     cufftType type, int batch, std::size_t* work_size) {
  const auto known = hostcuda::fft::plans().find(plan);
  const std::size_t devices =
      known == hostcuda::fft::plans().end() ? 1 : known->second.devices.size();
  for (std::size_t i = 0; work_size && i < (devices ? devices : 1); ++i) work_size[i] = 0;
  return hostcuda::fft::make(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                             batch);
}
inline cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride,
                                 int idist, int* onembed, int ostride, int odist, cufftType type,
                                 int batch) {
  if (const cufftResult error = cufftCreate(plan)) return error;
  return cufftMakePlanMany(*plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                           batch, nullptr);
}
inline cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch,
                                   std::size_t* work_size) {
  return cufftMakePlanMany(plan, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch, work_size);
}
inline cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type,
                                   std::size_t* work_size) {
  int n[] = {nx, ny};
  return cufftMakePlanMany(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_size);
}
inline cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                                   std::size_t* work_size) {
  int n[] = {nx, ny, nz};
  return cufftMakePlanMany(plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_size);
}
inline cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  if (const cufftResult error = cufftCreate(plan)) return error;
  return cufftMakePlan1d(*plan, nx, type, batch, nullptr);
}
inline cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  if (const cufftResult error = cufftCreate(plan)) return error;
  return cufftMakePlan2d(*plan, nx, ny, type, nullptr);
}
inline cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  if (const cufftResult error = cufftCreate(plan)) return error;
  return cufftMakePlan3d(*plan, nx, ny, nz, type, nullptr);
}
inline cufftResult cufftGetSize(cufftHandle, std::size_t* size) {
  *size = 0;
  return CUFFT_SUCCESS;
}

#define HOSTCUDA_FFT(name, type, In, Out)                                                 \
  inline cufftResult cufftExec##name(cufftHandle plan, In* in, Out* out, int direction) { \
    return hostcuda::fft::execute(plan, type, in, out, direction);                        \
  }
#define HOSTCUDA_REAL_FFT(name, type, In, Out, direction)                  \
  inline cufftResult cufftExec##name(cufftHandle plan, In* in, Out* out) { \
    return hostcuda::fft::execute(plan, type, in, out, direction);         \
  }
HOSTCUDA_FFT(C2C, CUFFT_C2C, cufftComplex, cufftComplex)
HOSTCUDA_FFT(Z2Z, CUFFT_Z2Z, cufftDoubleComplex, cufftDoubleComplex)
HOSTCUDA_REAL_FFT(R2C, CUFFT_R2C, cufftReal, cufftComplex, CUFFT_FORWARD)
HOSTCUDA_REAL_FFT(D2Z, CUFFT_D2Z, cufftDoubleReal, cufftDoubleComplex, CUFFT_FORWARD)
HOSTCUDA_REAL_FFT(C2R, CUFFT_C2R, cufftComplex, cufftReal, CUFFT_INVERSE)
HOSTCUDA_REAL_FFT(Z2D, CUFFT_Z2D, cufftDoubleComplex, cufftDoubleReal, CUFFT_INVERSE)
#undef HOSTCUDA_FFT
#undef HOSTCUDA_REAL_FFT
