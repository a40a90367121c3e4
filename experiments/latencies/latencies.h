// The cost of starting work on a device and of waiting for it: main.cpp measures every way to do
// this, a test checks that each of them really waits.
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

// A chain of operations, each of which waits for the one before.
class Chain {
 public:
  virtual ~Chain() = default;
  // Returns the seconds of this many operations, including the start and the end of the chain.
  virtual double seconds(int operations) = 0;
  // Returns how often an operation did not find what the one before should have written.
  virtual unsigned wrong(int operations) = 0;
};

struct Latency {
  std::string name;
  Shape shape;
  std::function<std::unique_ptr<Chain>()> make;
};

// Returns the latencies that the first device supports.
std::vector<Latency> all_latencies();

// Measures a short and a long chain `repeat` times, after `warmup` more times, and returns the
// difference of their times divided by the difference of their lengths.
std::vector<double> measure(Chain& chain, int operations, int warmup, int repeat);

nbody::Platform platform();

}  // namespace latencies
