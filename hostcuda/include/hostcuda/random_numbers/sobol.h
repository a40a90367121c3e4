// hostcuda: cuRAND's quasi-random numbers, the Sobol sequences. They are the same as cuRAND's, for
// the first dimensions; scrambled sequences are not emulated.
#pragma once

#include "normal_quantile.h"
#include "philox.h"

typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

namespace hostcuda {
namespace sobol {

constexpr unsigned kDimensions = 53;
// Tables of the direction vectors of all dimensions, 32 or 64 for each dimension.
const unsigned* vectors32();
const unsigned long long* vectors64();

inline float uniform(unsigned x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
inline float uniform(unsigned long long x) { return uniform(static_cast<unsigned>(x >> 32)); }
inline double uniform_double(unsigned x) { return x * 0x1p-32 + 0x1p-32; }
inline double uniform_double(unsigned long long x) {
  return static_cast<double>(x >> 11) * 0x1p-53 + 0x1p-54;
}

// The probability is (x + 1/2) / 2^bits. Numbers in the upper half are mirrored, as in cuRAND.
inline double normal(unsigned x) {
  return x > 0x80000000u ? -quantile((~x + 0.5) * 0x1p-32) : quantile((x + 0.5) * 0x1p-32);
}
inline double normal_double(unsigned long long x) {
  x >>= 11;
  const unsigned long long mirrored = 0x1fffffffffffffull - x;
  return x > 0x10000000000000ull ? -quantile((static_cast<double>(mirrored) + 0.5) * 0x1p-53)
                                 : quantile((static_cast<double>(x) + 0.5) * 0x1p-53);
}
inline double normal_double(unsigned x) { return normal(x); }
// The smallest count whose distribution function reaches the probability. The normal distribution
// replaces Poisson's where exp(-mean) would be 0.
inline unsigned poisson(double mean, double probability, double normal) {
  if (mean > 700) return static_cast<unsigned>(fmax(0.0, floor(mean + sqrt(mean) * normal + 0.5)));
  double term = exp(-mean), sum = term;
  unsigned count = 0;
  for (; sum < probability && term > 0; sum += term) term *= mean / ++count;
  return count;
}
inline double normal(unsigned long long x) { return normal(static_cast<unsigned>(x >> 32)); }

template <class Word>
struct State {
  static constexpr unsigned kBits = 8 * sizeof(Word);
  Word i, x, c;
  Word direction_vectors[kBits];

  void start(const Word* vectors, Word offset) {
    i = x = c = 0;
    for (unsigned bit = 0; bit < kBits; ++bit) direction_vectors[bit] = vectors[bit];
    skip(offset);
  }
  // The x of a position is the sum of the vectors of the bits of the position's Gray code.
  void skip(Word count) {
    i += count;
    x = c;
    const Word gray = i ^ i >> 1;
    for (unsigned bit = 0; bit < kBits; ++bit)
      if (gray >> bit & 1) x ^= direction_vectors[bit];
  }
  Word next() {
    const Word result = x;
    unsigned bit = 0;
    while (bit < kBits - 1 && i >> bit & 1) ++bit;
    x ^= direction_vectors[bit];
    ++i;
    return result;
  }
};

}  // namespace sobol
}  // namespace hostcuda

typedef hostcuda::sobol::State<unsigned> curandStateSobol32, curandStateSobol32_t;
typedef hostcuda::sobol::State<unsigned long long> curandStateSobol64, curandStateSobol64_t;

inline void curand_init(curandDirectionVectors32_t vectors, unsigned offset,
                        curandStateSobol32* state) {
  state->start(vectors, offset);
}
inline void curand_init(curandDirectionVectors64_t vectors, unsigned long long offset,
                        curandStateSobol64* state) {
  state->start(vectors, offset);
}

// Each function draws one number, so that the sequence stays a Sobol sequence.
#define HOSTCUDA_SOBOL(State, Word)                                                             \
  inline Word curand(State* state) { return state->next(); }                                    \
  inline void skipahead(Word n, State* state) { state->skip(n); }                               \
  inline float curand_uniform(State* state) { return hostcuda::sobol::uniform(state->next()); } \
  inline double curand_uniform_double(State* state) {                                           \
    return hostcuda::sobol::uniform_double(state->next());                                      \
  }                                                                                             \
  inline float curand_normal(State* state) {                                                    \
    return static_cast<float>(hostcuda::sobol::normal(state->next()));                          \
  }                                                                                             \
  inline double curand_normal_double(State* state) {                                            \
    return hostcuda::sobol::normal_double(state->next());                                       \
  }                                                                                             \
  inline unsigned curand_poisson(State* state, double mean) {                                   \
    const Word x = state->next();                                                               \
    return hostcuda::sobol::poisson(mean, hostcuda::sobol::uniform_double(x),                   \
                                    hostcuda::sobol::normal(x));                                \
  }                                                                                             \
  inline float curand_log_normal(State* state, float mean, float deviation) {                   \
    return expf(mean + deviation * curand_normal(state));                                       \
  }                                                                                             \
  inline double curand_log_normal_double(State* state, double mean, double deviation) {         \
    return exp(mean + deviation * curand_normal_double(state));                                 \
  }
HOSTCUDA_SOBOL(curandStateSobol32, unsigned)
HOSTCUDA_SOBOL(curandStateSobol64, unsigned long long)
#undef HOSTCUDA_SOBOL
