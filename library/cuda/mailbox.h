// Lets a kernel report to the host before the call's other kernels have ended. The kernel writes to
// page-locked host memory, and the host waits for an event.
#pragma once

#include <cuda_runtime.h>

namespace nbody::library {

// The findings of an examination of the values of a call.
struct Facts {
  double length, mass, speed;  // largest magnitudes
  int massive;                 // number of sources with mass
  int one_mass_tiles;          // number of step 12's tiles whose bodies all have the same mass
  int wrong;                   // the first result of nbody.h that applies, or NBODY_OK
  int as_expected;             // 1: the launches that the call began with are the right ones
};

// A call owns a mailbox until it ends. Mailboxes are kept for later calls.
class Mailbox {
 public:
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  Facts* facts() const { return slot_.facts; }         // kernels write it
  unsigned* arrived() const { return slot_.arrived; }  // on the device; 0 between kernels
  void begin() { is_in_use_ = true; }  // call it before the first kernel that writes,
  void end(cudaStream_t stream);       // and this after the last
  const Facts& wait();                 // returns when these kernels have ended

  struct Slot {
    int device = -1;
    Facts* facts = nullptr;
    unsigned* arrived = nullptr;
    cudaEvent_t event = nullptr;
  };

 private:
  Slot slot_;
  bool is_in_use_ = false;
};

// Frees the mailboxes that no call owns.
void release_mailboxes();

}  // namespace nbody::library
