// The mailboxes of all devices.
#include <mutex>
#include <vector>

#include "library/cuda/mailbox.h"
#include "nbody/cuda.h"

namespace nbody::library {
namespace {

struct Idle {
  std::mutex mutex;
  std::vector<Mailbox::Slot> slots;
};
Idle& idle() {
  static Idle idle;
  return idle;
}

void free_slot(const Mailbox::Slot& slot) {
  if (slot.event != nullptr) (void)cudaEventDestroy(slot.event);
  if (slot.arrived != nullptr) (void)cudaFree(slot.arrived);
  if (slot.facts != nullptr) (void)cudaFreeHost(slot.facts);
}

Mailbox::Slot make_slot(int device) {
  Mailbox::Slot slot{device};
  try {
    CUDA_CHECK(cudaHostAlloc(&slot.facts, sizeof(Facts), cudaHostAllocMapped));
    CUDA_CHECK(cudaMalloc(&slot.arrived, sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(slot.arrived, 0, sizeof(unsigned)));
    CUDA_CHECK(cudaDeviceSynchronize());  // a stream might not wait for the default stream
    CUDA_CHECK(cudaEventCreateWithFlags(&slot.event, cudaEventDisableTiming));
  } catch (...) {
    free_slot(slot);
    throw;
  }
  return slot;
}

Mailbox::Slot take_slot() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  {
    const std::lock_guard lock(idle().mutex);
    std::vector<Mailbox::Slot>& slots = idle().slots;
    for (Mailbox::Slot& slot : slots) {
      if (slot.device != device) continue;
      const Mailbox::Slot taken = slot;
      slot = slots.back();
      slots.pop_back();
      return taken;
    }
  }
  return make_slot(device);
}

}  // namespace

Mailbox::Mailbox() : slot_(take_slot()) {}

Mailbox::~Mailbox() {
  if (is_in_use_) {  // after an error, some of the kernels may be missing or still write
    (void)cudaDeviceSynchronize();
    free_slot(slot_);
    return;
  }
  const std::lock_guard lock(idle().mutex);
  idle().slots.push_back(slot_);
}

void Mailbox::end(cudaStream_t stream) { CUDA_CHECK(cudaEventRecord(slot_.event, stream)); }

const Facts& Mailbox::wait() {
  CUDA_CHECK(cudaEventSynchronize(slot_.event));
  is_in_use_ = false;
  return *slot_.facts;
}

void release_mailboxes() {
  std::vector<Mailbox::Slot> slots;
  {
    const std::lock_guard lock(idle().mutex);
    slots.swap(idle().slots);
  }
  for (const Mailbox::Slot& slot : slots) free_slot(slot);
}

}  // namespace nbody::library
