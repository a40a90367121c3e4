// Lets a kernel report to the host before the call's other kernels have ended. The kernel writes to
// page-locked host memory, and the host waits for an event.
#pragma once

#include <cuda_runtime.h>

namespace nbody::library {

// The findings of an examination of the values of a call.
struct Facts {
  static constexpr int kNone = -10000;  // an exponent: all magnitudes are 0
  // All lengths are below 2^length, and the largest is at least half of that. The same for masses
  // and speeds.
  int length, mass, speed;
  int massive;         // number of sources with mass
  int one_mass_tiles;  // number of step 12's tiles in which all bodies have one mass
  int wrong;           // bits: 1 a position is not allowed, 2 a velocity, 4 a mass
  int as_expected;     // 1: the launches that the call began with are the right ones
};
__host__ __device__ inline Facts no_facts() {
  return {Facts::kNone, Facts::kNone, Facts::kNone, 0, 0, 0, 0};
}

// The blocks of an examination add up their findings here, on the device.
struct Sums {
  Facts facts;
  unsigned arrived;  // number of blocks
};

// A call owns a mailbox until it ends. Mailboxes are kept for later calls.
class Mailbox {
 public:
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  Facts* facts() const { return slot_.facts; }  // kernels write it
  Sums* sums() const { return slot_.sums; }     // no_facts() between examinations
  void begin() { is_in_use_ = true; }           // call it before the first kernel that writes,
  void end(cudaStream_t stream);                // and this after the last
  const Facts& wait();                          // returns when these kernels have ended

  struct Slot {
    int device = -1;
    Facts* facts = nullptr;
    Sums* sums = nullptr;
    cudaEvent_t event = nullptr;
  };

 private:
  Slot slot_;
  bool is_in_use_ = false;
};

// Frees the mailboxes that no call owns.
void release_mailboxes();

}  // namespace nbody::library
