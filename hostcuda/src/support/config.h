// The environment variables HOSTCUDA_*, which are read once and checked strictly.
#ifndef HOSTCUDA_SRC_SUPPORT_CONFIG_H
#define HOSTCUDA_SRC_SUPPORT_CONFIG_H

#include <cstddef>
#include <cstdint>

namespace hostcuda {

// random: threads run in random order, or one warp runs ahead. skewed: one warp always runs ahead.
enum class Order { forward, reverse, random, skewed };
inline bool shuffles(Order order) { return order == Order::random || order == Order::skewed; }

enum class StreamMode { eager, lazy, random };

struct Config {
  Order order;               // HOSTCUDA_ORDER: order of blocks, and of threads between barriers
  StreamMode streams;        // HOSTCUDA_STREAMS: when an operation runs
  std::uint64_t seed;        // HOSTCUDA_SEED: seed of every random choice
  int devices;               // HOSTCUDA_DEVICES: number of devices
  int multiprocessors;       // HOSTCUDA_SMS: the number of SMs in the device properties
  std::size_t memory;        // HOSTCUDA_MEMORY: bytes per device
  bool strict_memory;        // HOSTCUDA_STRICT_MEM: guard device memory
  bool poison;               // HOSTCUDA_POISON: fill new memory with NaN
  std::size_t room;          // HOSTCUDA_ROOM: zero bytes behind each allocation
  bool divergence_is_error;  // HOSTCUDA_DIVERGENCE: true means error, false means warning
  double watchdog;  // HOSTCUDA_WATCHDOG: seconds until a hanging thread is reported; 0: never
  std::uint64_t fail_call;    // HOSTCUDA_FAIL_CALL: the API call that fails; 0: none
  std::uint64_t lose_device;  // HOSTCUDA_LOSE_DEVICE: this API call and all later ones fail
};

// The first call ends the process with status 2 if a value is wrong, because a check that silently
// ran in another mode would be worse than no check.
const Config& config();

// Allows one more variable, which a tool linked to the program reads. Must be called before the
// first call of config().
void allow_variable(const char* name);

}  // namespace hostcuda

#endif
