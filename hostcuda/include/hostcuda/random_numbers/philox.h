// hostcuda: random numbers in kernels, shared by curand_kernel.h and curand.h.
//
// Here every generator uses Philox 4x32-10, which is as good as cuRAND's other algorithms and gives
// each thread a separate sequence. Only curandStatePhilox4_32_10_t returns the same numbers as
// cuRAND.
#pragma once

#include "../cuda_runtime.h"

namespace hostcuda {

struct PhiloxState {
  unsigned key[2];
  unsigned long long block;     // index of a block of four numbers in the sequence
  unsigned long long sequence;  // the upper half of the counter
  unsigned numbers[4];          // the numbers of this block
  unsigned next;                // index in `numbers` of the number to return next
  float normal;                 // the second number of a pair, if `has_normal` is true
  double normal_double;
  bool has_normal, has_normal_double;
};

inline void philox_block(const PhiloxState& state, unsigned (&x)[4]) {
  constexpr unsigned kMultiply[2] = {0xd2511f53u, 0xcd9e8d57u};
  constexpr unsigned kWeyl[2] = {0x9e3779b9u, 0xbb67ae85u};
  unsigned key[2] = {state.key[0], state.key[1]};
  x[0] = static_cast<unsigned>(state.block);
  x[1] = static_cast<unsigned>(state.block >> 32);
  x[2] = static_cast<unsigned>(state.sequence);
  x[3] = static_cast<unsigned>(state.sequence >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = static_cast<unsigned long long>(kMultiply[0]) * x[0];
    const unsigned long long b = static_cast<unsigned long long>(kMultiply[1]) * x[2];
    const unsigned mixed[4] = {
        static_cast<unsigned>(b >> 32) ^ x[1] ^ key[0], static_cast<unsigned>(b),
        static_cast<unsigned>(a >> 32) ^ x[3] ^ key[1], static_cast<unsigned>(a)};
    for (int i = 0; i < 4; ++i) x[i] = mixed[i];
    key[0] += kWeyl[0];
    key[1] += kWeyl[1];
  }
}

}  // namespace hostcuda

typedef hostcuda::PhiloxState curandStatePhilox4_32_10_t, curandStateXORWOW_t,
    curandStateMRG32k3a_t, curandStateMtgp32_t, curandState_t, curandState, curandStateXORWOW,
    curandStateMRG32k3a, curandStatePhilox4_32_10;

inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandState* state) {
  *state = {};
  state->key[0] = static_cast<unsigned>(seed);
  state->key[1] = static_cast<unsigned>(seed >> 32);
  state->sequence = sequence;
  state->block = offset / 4;
  state->next = static_cast<unsigned>(offset % 4);
  hostcuda::philox_block(*state, state->numbers);
}

inline unsigned curand(curandState* state) {
  const unsigned number = state->numbers[state->next++];
  if (state->next == 4) {
    state->next = 0;
    ++state->block;
    hostcuda::philox_block(*state, state->numbers);
  }
  return number;
}

inline void skipahead(unsigned long long n, curandState* state) {
  const unsigned long long at = state->block * 4 + state->next + n;
  state->block = at / 4;
  state->next = static_cast<unsigned>(at % 4);
  hostcuda::philox_block(*state, state->numbers);
}
inline void skipahead_sequence(unsigned long long n, curandState* state) {
  state->sequence += n;
  hostcuda::philox_block(*state, state->numbers);
}

// Returns a number in (0, 1], never 0.
inline float curand_uniform(curandState* state) {
  constexpr float kScale = 2.3283064e-10f;  // 2^-32
  return static_cast<float>(curand(state)) * kScale + kScale / 2;
}
inline double curand_uniform_double(curandState* state) {
  const unsigned long long low = curand(state), high = curand(state);
  constexpr double kScale = 1.1102230246251565e-16;  // 2^-53
  return static_cast<double>((low ^ high << 21) & 0x1fffffffffffffull) * kScale + kScale / 2;
}

#define HOSTCUDA_NORMAL(Real, suffix, f)                                                 \
  inline Real##2 curand_normal2##suffix(curandState* state) {                            \
    const Real radius = sqrt##f(Real(-2) * log##f(curand_uniform##suffix(state)));       \
    const Real angle = Real(6.283185307179586) * curand_uniform##suffix(state);          \
    return make_##Real##2(radius * sin##f(angle), radius * cos##f(angle));               \
  }                                                                                      \
  inline Real curand_normal##suffix(curandState* state) {                                \
    if (state->has_normal##suffix)                                                       \
      return state->has_normal##suffix = false, state->normal##suffix;                   \
    const Real##2 pair = curand_normal2##suffix(state);                                  \
    state->has_normal##suffix = true;                                                    \
    state->normal##suffix = pair.y;                                                      \
    return pair.x;                                                                       \
  }                                                                                      \
  inline Real curand_log_normal##suffix(curandState* state, Real mean, Real deviation) { \
    return exp##f(mean + deviation * curand_normal##suffix(state));                      \
  }
HOSTCUDA_NORMAL(float, , f)
HOSTCUDA_NORMAL(double, _double, )
#undef HOSTCUDA_NORMAL
inline uint4 curand4(curandState* state) {
  const unsigned a = curand(state), b = curand(state), c = curand(state);
  return make_uint4(a, b, c, curand(state));
}
inline float4 curand_uniform4(curandState* state) {
  const float a = curand_uniform(state), b = curand_uniform(state), c = curand_uniform(state);
  return make_float4(a, b, c, curand_uniform(state));
}
inline float4 curand_normal4(curandState* state) {
  const float2 first = curand_normal2(state), second = curand_normal2(state);
  return make_float4(first.x, first.y, second.x, second.y);
}
// Knuth's method multiplies uniform numbers; the mean is split so that exp() does not underflow.
inline unsigned curand_poisson(curandState* state, double mean) {
  unsigned events = 0;
  for (double left = mean; left > 0; left -= 500) {
    const double end = exp(-fmin(left, 500.0));
    for (double product = curand_uniform_double(state); product > end;
         product *= curand_uniform_double(state))
      ++events;
  }
  return events;
}
