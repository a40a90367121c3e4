// What it costs to start work on a device, and to wait for it: main.cpp measures the ways there
// are, the test proves that each of them waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/platform.h"

namespace latencies {

struct Shape {
  int blocks;
  int threads;      // per block
  int cluster = 1;  // blocks per cluster
};

// Operations that follow one another, each of which waits for the one before.
class Chain {
 public:
  virtual ~Chain() = default;
  // Of so many operations, with what it takes to begin and to end them.
  virtual double seconds(int operations) = 0;
  // How often something was not there that the operation before should have left.
  virtual unsigned wrong(int operations) = 0;
};

struct Latency {
  std::string name;
  Shape shape;
  std::function<std::unique_ptr<Chain>()> make;
};

// Those that the first device is able to do.
std::vector<Latency> all_latencies();

// The latencies of `repeat` pairs of a short and a long chain: by how much the long one took
// longer, divided by the operations that it has more. `warmup` such pairs come before.
std::vector<double> measure(Chain& chain, int operations, int warmup, int repeat);

nbody::Platform platform();

}  // namespace latencies
