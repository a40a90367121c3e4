// The environment variables HOSTCUDA_*, read once and checked strictly.
#ifndef HOSTCUDA_SRC_SUPPORT_CONFIG_H
#define HOSTCUDA_SRC_SUPPORT_CONFIG_H

#include <cstddef>
#include <cstdint>

namespace hostcuda {

// random: threads run in a random order, or one warp runs ahead; skewed: one always runs ahead.
enum class Order { forward, reverse, random, skewed };
inline bool shuffles(Order order) { return order == Order::random || order == Order::skewed; }

enum class StreamMode { eager, lazy, random };

struct Config {
  Order order;               // HOSTCUDA_ORDER: threads between barriers, and blocks
  StreamMode streams;        // HOSTCUDA_STREAMS: when an operation runs
  std::uint64_t seed;        // HOSTCUDA_SEED: for every random choice
  int devices;               // HOSTCUDA_DEVICES
  int multiprocessors;       // HOSTCUDA_SMS: in the device properties
  std::size_t memory;        // HOSTCUDA_MEMORY: bytes per device
  bool strict_memory;        // HOSTCUDA_STRICT_MEM
  bool poison;               // HOSTCUDA_POISON
  bool divergence_is_error;  // HOSTCUDA_DIVERGENCE
  double watchdog;  // HOSTCUDA_WATCHDOG: seconds until a hanging thread is reported; 0: never
  std::uint64_t fail_call;    // HOSTCUDA_FAIL_CALL: the API call that fails; 0: none
  std::uint64_t lose_device;  // HOSTCUDA_LOSE_DEVICE: the API call from which on all fail; 0: none
};

// A wrong value ends the process with status 2 at the first use: a check that silently ran in
// another mode than the requested one would be worse than none.
const Config& config();

// Allows one more variable, read by a tool linked to the program. To be called before the first use
// of config().
void allow_variable(const char* name);

}  // namespace hostcuda

#endif
