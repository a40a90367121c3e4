// Shared by the programs of memory/: the command line, the bodies, the timing of a kernel, and the
// report. The programs themselves allocate, copy and launch, because this is what they teach.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace memory {

inline void check(cudaError_t error, const char* call, int line) {
  if (error == cudaSuccess) return;
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
    std::fprintf(stderr, "no device: %s\n", cudaGetErrorString(error));
    std::exit(77);
  }
  std::fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorString(error));
  std::exit(1);
}

// Every CUDA call returns an error code. Without a check, a failed launch looks infinitely fast.
#define CHECK(call) memory::check((call), #call, __LINE__)

struct Options {
  int bodies = 100000;
  int systems = 1;
  int repeat = 5;
};

inline int positive(const std::string& name, const char* word, int most) {
  char* end = nullptr;
  const long value = word ? std::strtol(word, &end, 10) : 0;
  if (!word || *end || end == word || value < 1 || value > most) {
    std::fprintf(stderr, "%s takes a number from 1 to %d, not '%s'\n", name.c_str(), most,
                 word ? word : "");
    std::exit(2);
  }
  return static_cast<int>(value);
}

inline Options options(int argc, char** argv) {
  Options read;
  for (int k = 1; k < argc; k += 2) {
    const std::string name = argv[k];
    const char* const word = k + 1 < argc ? argv[k + 1] : nullptr;
    if (name == "--bodies") {
      read.bodies = positive(name, word, 1 << 28);
    } else if (name == "--systems") {
      read.systems = positive(name, word, 1 << 20);
    } else if (name == "--repeat") {
      read.repeat = positive(name, word, 1000);
    } else {
      std::fprintf(stderr, "unknown option '%s'; allowed: --bodies N, --systems S, --repeat R\n",
                   name.c_str());
      std::exit(2);
    }
  }
  if (read.systems > (1 << 30) / read.bodies) {
    std::fprintf(stderr, "--systems %d x --bodies %d are more than 2^30 bodies\n", read.systems,
                 read.bodies);
    std::exit(2);
  }
  return read;
}

struct Body {
  float x, y, z, vx, vy, vz, mass;
};

// Returns a number from -1 to 1 that depends only on `k` (a hash of `k`), so that any thread can
// compute it.
inline float number(unsigned k) {
  k = (k ^ (k >> 16)) * 0x7feb352du;
  k = (k ^ (k >> 15)) * 0x846ca68bu;
  return static_cast<float>(static_cast<int>(k ^ (k >> 16))) * (1.0f / 2147483648.0f);
}

// Bodies whose density grows towards the middle, as in a galaxy. No two have the same mass.
inline std::vector<Body> bodies(int count) {
  std::vector<Body> made(count);
  for (int i = 0; i < count; ++i) {
    const unsigned k = 8u * static_cast<unsigned>(i);
    const float r = number(k) * number(k + 7);
    made[i] = {r * number(k + 1), r * number(k + 2), r * number(k + 3),          number(k + 4),
               number(k + 5),     number(k + 6),     1.0f + 0.5f * number(k + 7)};
  }
  return made;
}

// The largest error, in units of the last place of `scale`; with scale 0 any error is infinite.
struct WorstError {
  double worst = 0;

  void add(double value, double reference, double scale) {
    const double error = std::abs(value - reference);
    const double unit = scale * static_cast<double>(std::numeric_limits<float>::epsilon());
    const double units = error == 0 ? 0 : error / unit;
    if (!(units <= worst)) worst = std::isnan(units) ? INFINITY : units;
  }
};

#ifdef __HOSTCUDA__
constexpr bool kEmulated = true;
#else
constexpr bool kEmulated = false;
#endif

// Returns the median time in seconds of `repeat` calls of `launch`, after one call that is not
// timed. Without a GPU, returns 0, because emulated times mean nothing.
template <class Launch>
double seconds(int repeat, const Launch& launch) {
  if (kEmulated) return 0;
  launch();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> milliseconds(repeat);
  for (float& one : milliseconds) {
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&one, begin, end));
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::nth_element(milliseconds.begin(), milliseconds.begin() + repeat / 2, milliseconds.end());
  return 1e-3 * milliseconds[repeat / 2];
}

// The bandwidth of a copy within the device's memory: bytes read plus bytes written, per second.
inline double copy_bandwidth(std::size_t bytes, int repeat) {
  char *from = nullptr, *to = nullptr;
  CHECK(cudaMalloc(&from, bytes));
  CHECK(cudaMalloc(&to, bytes));
  CHECK(cudaMemset(from, 0, bytes));
  const double time =
      seconds(repeat, [&] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); });
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  return 2.0 * static_cast<double>(bytes) / time;
}

// Prints the result and returns the exit code. `bytes` is the number of bytes that the task must
// read and write.
inline int report(const char* name, const Options& run, double bytes, double time, double error,
                  double limit) {
  const bool right = error <= limit;
  std::printf("%s: %d x %d bodies, %.0f bytes\n", name, run.systems, run.bodies, bytes);
  std::printf("error   %.3g  limit %g  %s\n", error, limit, right ? "pass" : "FAIL");
  if (kEmulated) {
    std::printf("time    none: emulated\n");
  } else {
    const double copy = copy_bandwidth(static_cast<std::size_t>(bytes / 2) + 1, run.repeat);
    std::printf("time    %.4f ms, %.1f GB/s, %.1f %% of a copy (%.1f GB/s)\n", 1e3 * time,
                1e-9 * bytes / time, 100 * bytes / time / copy, 1e-9 * copy);
  }
  return right ? 0 : 1;
}

}  // namespace memory
