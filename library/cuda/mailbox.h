// Lets a kernel report to the host before the call's other kernels have ended. The kernel writes to
// page-locked host memory, which the host reads until the report is there.
#pragma once

#include <cuda_runtime.h>

namespace nbody::library {

// The findings of an examination of the values of a call.
struct Facts {
  double length, mass, speed;  // largest magnitudes
  int massive;                 // number of sources with mass
  int one_mass_tiles;          // number of step 12's tiles whose bodies all have the same mass
  // The device writes both numbers below in one store.
  alignas(8) int wrong;  // the first error of nbody.h that applies, or NBODY_OK, or kPending
  int as_expected;       // 1: the launches that the call began with are the right ones
};

constexpr int kPending = -1;  // the kernel has not reported yet

// Reports findings. The number in `wrong` is written last, because the host waits for it. If the
// findings are as expected, the host knows the others, so no fence delays the next kernel.
__device__ inline void post(const Facts& found, Facts* to) {
  if (found.as_expected == 0) {
    to->length = found.length, to->mass = found.mass, to->speed = found.speed;
    to->massive = found.massive, to->one_mass_tiles = found.one_mass_tiles;
    __threadfence_system();  // a host that sees `wrong` also sees the other findings
  }
  const auto bits = [](int value) {
    return static_cast<unsigned long long>(static_cast<unsigned>(value));
  };
  *reinterpret_cast<volatile unsigned long long*>(&to->wrong) =
      bits(found.as_expected) << 32 | bits(found.wrong);
}

// A call owns a mailbox until it ends. Mailboxes are kept for later calls.
class Mailbox {
 public:
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  Facts* facts() const { return slot_.facts; }         // written by kernels
  unsigned* arrived() const { return slot_.arrived; }  // on the device; 0 between kernels
  void begin();                            // call it before the launch of a kernel that posts
  const Facts& wait(cudaStream_t stream);  // returns when that kernel, in this stream, has posted

  struct Slot {
    int device = -1;
    Facts* facts = nullptr;
    unsigned* arrived = nullptr;
  };

 private:
  Slot slot_;
  bool is_in_use_ = false;
};

// Frees the mailboxes that no call owns.
void release_mailboxes();

}  // namespace nbody::library
