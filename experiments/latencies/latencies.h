// The cost of starting work on a device and of waiting for that work. main.cpp measures each way to
// start work and to wait, and a test checks that each operation really waits for the one before it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/platform.h"

namespace latencies {

struct Shape {
  int blocks;
  int threads;      // threads per block
  int cluster = 1;  // blocks per cluster
};

// A chain of operations, each of which waits for the one before it.
class Chain {
 public:
  virtual ~Chain() = default;
  // Returns the time of `operations` operations in seconds, including the chain's start and end.
  virtual double seconds(int operations) = 0;
  // Returns the number of operations that did not find what the previous operation should have
  // written.
  virtual unsigned wrong(int operations) = 0;
};

struct Latency {
  std::string name;
  Shape shape;
  std::function<std::unique_ptr<Chain>()> make;
};

// Returns the latencies that can be measured on the first device.
std::vector<Latency> all_latencies();

// Measures a short and a long chain `repeat` times each, after `warmup` untimed runs. Returns the
// differences of their times, divided by the difference of their lengths.
std::vector<double> measure(Chain& chain, int operations, int warmup, int repeat);

nbody::Platform platform();

}  // namespace latencies
