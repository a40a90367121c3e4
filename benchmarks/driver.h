// Shared by the drivers of other projects' kernels: reads and writes bodies in the project's BIN
// format (docs/formats.md), warms up, times repeats with events, and writes a line of JSON.
#pragma once

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "nbody/cuda.h"

// The precision of the kernel. Files have float32 in both cases.
#ifndef REAL
#define REAL float
#endif

namespace benchmarks {

using Real = REAL;
struct alignas(32) Double4 {
  double x, y, z, w;
};
using Real4 = std::conditional_t<std::is_same_v<Real, float>, float4, Double4>;

struct Options {
  std::string input, output, json;
  float dt = 0, softening = 0;
  int steps = 0, repeat = 0, warmup = 0;
};

// Each option is --name value; ./nbody compare, which calls this program, passes all of them.
inline Options parse(int argc, char** argv) {
  Options options;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string name = argv[k], value = argv[k + 1];
    if (name == "--input") options.input = value;
    if (name == "--output") options.output = value;
    if (name == "--json") options.json = value;
    if (name == "--dt") options.dt = std::stof(value);
    if (name == "--softening") options.softening = std::stof(value);
    if (name == "--steps") options.steps = std::stoi(value);
    if (name == "--repeat") options.repeat = std::stoi(value);
    if (name == "--warmup") options.warmup = std::stoi(value);
  }
  return options;
}

struct Body {
  float x, y, z, vx, vy, vz, mass;
};

// One system in float32, read from a file with a header and then the bodies.
struct Bodies {
  static constexpr std::size_t kHeader = 144;
  std::vector<char> header;
  std::vector<Body> all;

  explicit Bodies(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.size() <= kHeader || std::memcmp(bytes.data(), "NBODYBIN", 8) != 0) {
      throw std::runtime_error(path + ": no bodies in the BIN format");
    }
    header.assign(bytes.begin(), bytes.begin() + kHeader);
    all.resize((bytes.size() - kHeader) / sizeof(Body));
    std::memcpy(all.data(), bytes.data() + kHeader, all.size() * sizeof(Body));
  }
  int count() const { return static_cast<int>(all.size()); }
  void write(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    file.write(header.data(), static_cast<std::streamsize>(header.size()));
    file.write(reinterpret_cast<const char*>(all.data()),
               static_cast<std::streamsize>(all.size() * sizeof(Body)));
    if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
  }

  // Arrays for the device: positions with the mass as w, and velocities with w = 0.
  std::vector<Real4> positions() const {
    std::vector<Real4> result;
    for (const Body& b : all) result.push_back({b.x, b.y, b.z, b.mass});
    return result;
  }
  std::vector<Real4> velocities() const {
    std::vector<Real4> result;
    for (const Body& b : all) result.push_back({b.vx, b.vy, b.vz, 0});
    return result;
  }
  void take(const std::vector<Real4>& positions, const std::vector<Real4>& velocities) {
    const auto rounded = [](Real x) { return static_cast<float>(x); };
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Real4 x = positions[i], v = velocities[i];
      all[i] = {rounded(x.x), rounded(x.y), rounded(x.z), rounded(v.x),
                rounded(v.y), rounded(v.z), all[i].mass};
    }
  }
};

// The input and output arrays of a kernel. There are always two arrays of positions, but
// `velocities` and `new_velocities` are the same array if the kernel updates them in place.
struct State {
  Real4 *positions, *velocities, *new_positions, *new_velocities;
  int count;
};
enum class Velocities { twice, in_place };

template <class Kernel>
std::vector<double> run(const Options& options, Bodies& bodies, Velocities kept,
                        const Kernel& kernel) {
  const auto count = static_cast<std::size_t>(bodies.count());
  auto host_positions = bodies.positions(), host_velocities = bodies.velocities();
  nbody::DeviceArray<Real4> positions[] = {nbody::DeviceArray<Real4>(count),
                                           nbody::DeviceArray<Real4>(count)};
  nbody::DeviceArray<Real4> velocities[] = {nbody::DeviceArray<Real4>(count),
                                            nbody::DeviceArray<Real4>(count)};
  nbody::Event start, stop;
  std::vector<double> seconds;
  for (int k = 0; k < options.warmup + options.repeat; ++k) {
    nbody::upload(host_positions, positions[0]);
    nbody::upload(host_velocities, velocities[0]);
    start.record();
    for (int step = 0; step < options.steps; ++step) {
      const int from = step % 2, to = 1 - from;
      const bool twice = kept == Velocities::twice;
      kernel(State{positions[from].get(), velocities[twice ? from : 0].get(), positions[to].get(),
                   velocities[twice ? to : 0].get(), bodies.count()});
    }
    stop.record();
    if (k >= options.warmup) seconds.push_back(nbody::seconds_between(start, stop));
    CUDA_CHECK(cudaGetLastError());
  }
  nbody::download(positions[options.steps % 2], host_positions);
  const int last = kept == Velocities::twice ? options.steps % 2 : 0;
  nbody::download(velocities[last], host_velocities);
  bodies.take(host_positions, host_velocities);
  return seconds;
}

inline void write_json(const std::string& path, const std::vector<double>& seconds) {
#if defined(__HOSTCUDA__)
  const char* const backend = "hostcuda";
#else
  const char* const backend = "cuda";
#endif
  cudaDeviceProp properties{};
  int runtime = 0;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  std::ofstream file(path);
  file << "{\"backend\": \"" << backend << "\", \"device\": \"" << properties.name
       << "\", \"version\": \"CUDA " << runtime / 1000 << "." << runtime % 1000 / 10
       << "\", \"seconds\": [";
  file.precision(9);
  for (std::size_t k = 0; k < seconds.size(); ++k) file << (k ? ", " : "") << seconds[k];
  file << "]}\n";
}

// `kernel_for` returns the kernel for n bodies, a time step and the softening squared.
template <class KernelFor>
int measure(int argc, char** argv, Velocities kept, const KernelFor& kernel_for) {
  try {
    const Options options = parse(argc, argv);
    Bodies bodies(options.input);
    const auto kernel =
        kernel_for(bodies.count(), options.dt, options.softening * options.softening);
    const auto seconds = run(options, bodies, kept, kernel);
    bodies.write(options.output);
    write_json(options.json, seconds);
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

// Throws (exit code 2) unless n is a multiple of `of`, because neither KTT's kernel nor the kernel
// of the CUDA sample handles an incomplete block.
inline void require_multiple(int n, int of) {
  if (n % of != 0) {
    throw std::invalid_argument(std::to_string(n) + " bodies are not a multiple of " +
                                std::to_string(of));
  }
}

}  // namespace benchmarks
