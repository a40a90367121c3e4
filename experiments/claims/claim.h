// Helpers for the programs of this directory: error checks, comparison with float64, JSON output.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace claim {

inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}
#define CHECKED(call) ::claim::check((call), #call)

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& host) : count_(host.size()) {
    CHECKED(cudaMalloc(&data_, bytes()));
    CHECKED(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(data_); }
  T* get() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> values(count_);
    CHECKED(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }
  std::size_t count_;
  T* data_ = nullptr;
};

// Calls work() once untimed and then five times. Returns the shortest of the five times, in
// seconds.
template <class Work>
double seconds_of(const Work& work) {
  double shortest = INFINITY;
  for (int k = 0; k < 6; ++k) {
    CHECKED(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();
    work();
    CHECKED(cudaGetLastError());  // a launch returns no error; a bad configuration shows here
    CHECKED(cudaDeviceSynchronize());
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (k > 0 && time.count() < shortest) shortest = time.count();
  }
  return shortest;
}

// Random numbers in [0, 1), the same on every machine.
class Random {
 public:
  float next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<float>(state_ >> 40) * 0x1p-24f;
  }

 private:
  unsigned long long state_ = 1;
};

// The RMS of the differences between found and correct values, divided by the RMS of the correct
// values.
class Error {
 public:
  void add(double found, double right) {
    difference_ += (found - right) * (found - right);
    size_ += right * right;
  }
  double rms() const { return std::sqrt(difference_ / size_); }

 private:
  double difference_ = 0, size_ = 0;
};

// One line of JSON that says what was found, on which device, and whether it is right.
class Line {
 public:
  explicit Line(const std::string& program) {
    cudaDeviceProp device;
    CHECKED(cudaGetDeviceProperties(&device, 0));
    add("program", program);
    add("device", std::string(device.name));
#ifdef __HOSTCUDA__
    add("backend", std::string("hostcuda"));
#else
    add("backend", std::string("cuda"));
#endif
  }
  void add(const std::string& name, const std::string& value) { put(name, '"' + value + '"'); }
  void add(const std::string& name, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    put(name, std::isfinite(value) ? text : "null");
  }
  // Prints the line and returns the exit code.
  int print(bool right) {
    add("verdict", std::string(right ? "pass" : "fail"));
    std::printf("{%s}\n", text_.c_str());
    return right ? 0 : 1;
  }

 private:
  void put(const std::string& name, const std::string& value) {
    text_ += (text_.empty() ? "\"" : ", \"") + name + "\": " + value;
  }
  std::string text_;
};

}  // namespace claim
