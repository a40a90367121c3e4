// hostcuda: cuRAND's host API, which fills arrays with random numbers in stream order.
#pragma once

#include <cstdio>

#include "hostcuda/random_numbers/sobol.h"

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
// Of the quasi-random generators, those without scrambling are emulated.
enum curandRngType {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
typedef curandRngType curandRngType_t;
enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201
};
typedef curandOrdering curandOrdering_t;
enum curandDirectionVectorSet {
  CURAND_DIRECTION_VECTORS_32_JOEKUO6 = 101,
  CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6 = 102,
  CURAND_DIRECTION_VECTORS_64_JOEKUO6 = 103,
  CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6 = 104
};
typedef curandDirectionVectorSet curandDirectionVectorSet_t;

struct curandGenerator_st {
  curandRngType type = CURAND_RNG_PSEUDO_DEFAULT;
  unsigned dimensions = 1;  // of a quasi-random generator
  // The number of calls or, for a quasi-random generator, of points.
  unsigned long long seed = 0, generated = 0;
  cudaStream_t stream = nullptr;
  bool on_host = false;
};
typedef curandGenerator_st* curandGenerator_t;

namespace hostcuda {

template <class Fill>
curandStatus_t run_fill(curandGenerator_t generator, const Fill& fill) {
  if (generator->on_host) return fill(), CURAND_STATUS_SUCCESS;
  return enqueue_work(generator->stream, fill) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                                              : CURAND_STATUS_LAUNCH_FAILURE;
}

// Writes the coordinates of `count` / dimensions points, first those along the first dimension.
template <class State, class Word, class Number, class Next>
curandStatus_t generate_points(curandGenerator_t generator, const Word* vectors, Number* out,
                               std::size_t count, const Next& next) {
  const unsigned dimensions = generator->dimensions;
  if (count % dimensions) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  if constexpr (std::is_integral_v<Number>)
    if (sizeof(Number) != sizeof(Word)) return CURAND_STATUS_TYPE_ERROR;
  const std::size_t points = count / dimensions;
  const auto fill = [=, first = static_cast<Word>(generator->generated)] {
    for (unsigned d = 0; d < dimensions; ++d) {
      State state;
      state.start(vectors + d * State::kBits, first);
      for (std::size_t i = 0; i < points; ++i) out[d * points + i] = next(&state);
    }
  };
  generator->generated += points;
  return run_fill(generator, fill);
}

// Fills the array when the stream reaches this operation. Each call continues the generator's
// sequence.
template <class Number, class Next>
curandStatus_t generate(curandGenerator_t generator, Number* out, std::size_t count,
                        const Next& next) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!out) return CURAND_STATUS_OUT_OF_RANGE;
  if (generator->type == CURAND_RNG_QUASI_SOBOL32)
    return generate_points<curandStateSobol32>(generator, sobol::vectors32(), out, count, next);
  if (generator->type == CURAND_RNG_QUASI_SOBOL64)
    return generate_points<curandStateSobol64>(generator, sobol::vectors64(), out, count, next);
  const auto fill = [=, seed = generator->seed, sequence = generator->generated++] {
    curandState state;
    curand_init(seed, sequence, 0, &state);
    for (std::size_t i = 0; i < count; ++i) out[i] = next(&state);
  };
  return run_fill(generator, fill);
}

inline bool is_quasi_random(curandRngType type) { return type >= CURAND_RNG_QUASI_DEFAULT; }
inline bool is_generator(curandRngType type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      return true;
    default:
      return type >= CURAND_RNG_QUASI_DEFAULT && type <= CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
  }
}
inline bool is_ordering_of(curandOrdering ordering, curandRngType type) {
  if (is_quasi_random(type)) return ordering == CURAND_ORDERING_QUASI_DEFAULT;
  return ordering >= CURAND_ORDERING_PSEUDO_BEST && ordering <= CURAND_ORDERING_PSEUDO_DYNAMIC;
}
inline bool is_scrambled(curandRngType type) {
  return type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 || type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}
inline curandStatus_t refuse_scrambling(const char* function) {
  std::fprintf(stderr,
               "hostcuda: %s: scrambled Sobol sequences are not emulated; those without "
               "scrambling are\n",
               function);
  return CURAND_STATUS_TYPE_ERROR;
}
inline curandStatus_t create_generator(curandGenerator_t* generator, curandRngType type,
                                       bool on_host) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!is_generator(type)) return CURAND_STATUS_TYPE_ERROR;
  if (is_scrambled(type)) return refuse_scrambling("curandCreateGenerator");
  *generator = new curandGenerator_st;
  (*generator)->type = type == CURAND_RNG_QUASI_DEFAULT ? CURAND_RNG_QUASI_SOBOL32 : type;
  (*generator)->on_host = on_host;
  return CURAND_STATUS_SUCCESS;
}

}  // namespace hostcuda

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return hostcuda::create_generator(generator, type, false);
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                curandRngType_t type) {
  return hostcuda::create_generator(generator, type, true);
}
inline curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                              unsigned dimensions) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!hostcuda::is_quasi_random(generator->type)) return CURAND_STATUS_TYPE_ERROR;
  if (dimensions > hostcuda::sobol::kDimensions)
    std::fprintf(stderr,
                 "hostcuda: curandSetQuasiRandomGeneratorDimensions: %u dimensions are "
                 "more than %u\n",
                 dimensions, hostcuda::sobol::kDimensions);
  if (dimensions < 1 || dimensions > hostcuda::sobol::kDimensions)
    return CURAND_STATUS_OUT_OF_RANGE;
  generator->dimensions = dimensions;
  generator->generated = 0;
  return CURAND_STATUS_SUCCESS;
}
// The tables have hostcuda::sobol::kDimensions dimensions; cuRAND's have 20,000.
inline curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t* vectors[],
                                                  curandDirectionVectorSet_t set) {
  if (set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6)
    return hostcuda::refuse_scrambling("curandGetDirectionVectors32");
  if (set != CURAND_DIRECTION_VECTORS_32_JOEKUO6) return CURAND_STATUS_OUT_OF_RANGE;
  *vectors = reinterpret_cast<curandDirectionVectors32_t*>(
      const_cast<unsigned*>(hostcuda::sobol::vectors32()));
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t* vectors[],
                                                  curandDirectionVectorSet_t set) {
  if (set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6)
    return hostcuda::refuse_scrambling("curandGetDirectionVectors64");
  if (set != CURAND_DIRECTION_VECTORS_64_JOEKUO6) return CURAND_STATUS_OUT_OF_RANGE;
  *vectors = reinterpret_cast<curandDirectionVectors64_t*>(
      const_cast<unsigned long long*>(hostcuda::sobol::vectors64()));
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (hostcuda::is_quasi_random(generator->type)) return CURAND_STATUS_TYPE_ERROR;
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
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
                                                 curandOrdering_t ordering) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  return hostcuda::is_ordering_of(ordering, generator->type) ? CURAND_STATUS_SUCCESS
                                                             : CURAND_STATUS_OUT_OF_RANGE;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
// Only a quasi-random generator of 64 bits returns such numbers, as in cuRAND.
inline curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* out,
                                             std::size_t count) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->type != CURAND_RNG_QUASI_SOBOL64) return CURAND_STATUS_TYPE_ERROR;
  return hostcuda::generate(generator, out, count,
                            [](auto* s) -> unsigned long long { return curand(s); });
}

namespace hostcuda {

// A pseudo-random generator makes normally distributed numbers in pairs.
inline curandStatus_t error_of_pairs(curandGenerator_t generator, std::size_t count) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  return is_quasi_random(generator->type) || count % 2 == 0 ? CURAND_STATUS_SUCCESS
                                                            : CURAND_STATUS_LENGTH_NOT_MULTIPLE;
}
inline curandStatus_t error_of_poisson(curandGenerator_t generator, double mean) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  return mean > 0 && mean <= 400000 ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}

}  // namespace hostcuda

// Fills an array if `error` is none; `number` is an expression that draws one number from the state
// `s`.
#define HOSTCUDA_GENERATE(Name, error, number, ...)                                    \
  inline curandStatus_t Name(curandGenerator_t generator, __VA_ARGS__) {               \
    if (const curandStatus_t wrong = error) return wrong;                              \
    return hostcuda::generate(generator, out, count, [=](auto* s) { return number; }); \
  }
HOSTCUDA_GENERATE(curandGenerate, CURAND_STATUS_SUCCESS, curand(s), unsigned* out,
                  std::size_t count)
HOSTCUDA_GENERATE(curandGenerateUniform, CURAND_STATUS_SUCCESS, curand_uniform(s), float* out,
                  std::size_t count)
HOSTCUDA_GENERATE(curandGenerateUniformDouble, CURAND_STATUS_SUCCESS, curand_uniform_double(s),
                  double* out, std::size_t count)
HOSTCUDA_GENERATE(curandGenerateNormal, hostcuda::error_of_pairs(generator, count),
                  mean + deviation * curand_normal(s), float* out, std::size_t count, float mean,
                  float deviation)
HOSTCUDA_GENERATE(curandGenerateNormalDouble, hostcuda::error_of_pairs(generator, count),
                  mean + deviation * curand_normal_double(s), double* out, std::size_t count,
                  double mean, double deviation)
HOSTCUDA_GENERATE(curandGenerateLogNormal, hostcuda::error_of_pairs(generator, count),
                  curand_log_normal(s, mean, deviation), float* out, std::size_t count, float mean,
                  float deviation)
HOSTCUDA_GENERATE(curandGenerateLogNormalDouble, hostcuda::error_of_pairs(generator, count),
                  curand_log_normal_double(s, mean, deviation), double* out, std::size_t count,
                  double mean, double deviation)
HOSTCUDA_GENERATE(curandGeneratePoisson, hostcuda::error_of_poisson(generator, mean),
                  curand_poisson(s, mean), unsigned* out, std::size_t count, double mean)
#undef HOSTCUDA_GENERATE
