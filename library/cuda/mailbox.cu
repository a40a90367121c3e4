// The mailboxes of all devices.
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "library/cuda/failure.h"
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
  if (is_in_use_) {  // after an error, the kernel may still be writing
    (void)cudaDeviceSynchronize();
    free_slot(slot_);
    return;
  }
  const std::lock_guard lock(idle().mutex);
  idle().slots.push_back(slot_);
}

void Mailbox::begin() {
  slot_.facts->wrong = kPending;
  slot_.facts->as_expected = 0;
  is_in_use_ = true;
}

const Facts& Mailbox::wait(cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  constexpr int kLooks = 512;  // a small kernel reports before the host has looked so often
  constexpr std::chrono::microseconds kBetweenChecks(200);  // for failed kernels
  const std::atomic_ref<int> wrong(slot_.facts->wrong);
  const auto is_pending = [&wrong] { return wrong.load(std::memory_order_acquire) == kPending; };
  for (int looks = 1; looks < kLooks && is_pending(); ++looks) continue;
  for (Clock::time_point checked = Clock::now(); is_pending();) {
    std::this_thread::yield();  // on a busy machine, this may take milliseconds
    if (Clock::now() - checked < kBetweenChecks) continue;
    checked = Clock::now();
    const cudaError_t state = cudaStreamQuery(stream);
    if (state == cudaErrorNotReady) continue;
    CUDA_CHECK(state);
    if (is_pending()) throw CudaFailure{NBODY_CUDA_FAILED};
  }
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
