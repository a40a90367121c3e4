// hostcuda: cuRAND's host API, which fills arrays with random numbers in stream order.
#pragma once

#include "hostcuda/random.h"

#define CURAND_H_  // headers of NVIDIA's samples test this macro

enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
typedef curandStatus curandStatus_t;
// The pseudo-random generators; quasi-random generators are not emulated.
enum curandRngType {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161
};
typedef curandRngType curandRngType_t;
enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102
};
typedef curandOrdering curandOrdering_t;

struct curandGenerator_st {
  unsigned long long seed = 0, generated = 0;
  cudaStream_t stream = nullptr;
  bool on_host = false;
};
typedef curandGenerator_st* curandGenerator_t;

namespace hostcuda {

// Fills the array when the stream reaches this operation. Each call continues the generator's
// sequence.
template <class Number, class Next>
curandStatus_t generate(curandGenerator_t generator, Number* out, std::size_t count,
                        const Next& next) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!out) return CURAND_STATUS_OUT_OF_RANGE;
  const auto fill = [=, seed = generator->seed, sequence = generator->generated++] {
    curandState state;
    curand_init(seed, sequence, 0, &state);
    for (std::size_t i = 0; i < count; ++i) out[i] = next(&state);
  };
  if (generator->on_host) return fill(), CURAND_STATUS_SUCCESS;
  return enqueue_work(generator->stream, fill) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                                              : CURAND_STATUS_LAUNCH_FAILURE;
}

}  // namespace hostcuda

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t) {
  *generator = new curandGenerator_st;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t) {
  *generator = new curandGenerator_st;
  (*generator)->on_host = true;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->seed = seed;
  generator->generated = 0;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->generated = offset;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) {
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
// Fills an array; `number` is an expression that draws one number from the state `s`.
#define HOSTCUDA_GENERATE(Name, number, ...)                                                  \
  inline curandStatus_t Name(curandGenerator_t generator, __VA_ARGS__) {                      \
    return hostcuda::generate(generator, out, count, [=](curandState* s) { return number; }); \
  }
HOSTCUDA_GENERATE(curandGenerate, curand(s), unsigned* out, std::size_t count)
HOSTCUDA_GENERATE(curandGenerateUniform, curand_uniform(s), float* out, std::size_t count)
HOSTCUDA_GENERATE(curandGenerateUniformDouble, curand_uniform_double(s), double* out,
                  std::size_t count)
HOSTCUDA_GENERATE(curandGenerateNormal, mean + deviation * curand_normal(s), float* out,
                  std::size_t count, float mean, float deviation)
HOSTCUDA_GENERATE(curandGenerateNormalDouble, mean + deviation * curand_normal_double(s),
                  double* out, std::size_t count, double mean, double deviation)
HOSTCUDA_GENERATE(curandGenerateLogNormal, curand_log_normal(s, mean, deviation), float* out,
                  std::size_t count, float mean, float deviation)
HOSTCUDA_GENERATE(curandGeneratePoisson, curand_poisson(s, mean), unsigned* out, std::size_t count,
                  double mean)
#undef HOSTCUDA_GENERATE
