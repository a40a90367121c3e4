#include "execution/block.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "execution/gang.h"
#include "execution/report.h"
#include "execution/watchdog.h"
#include "records/finding.h"
#include "runtime/api.h"
#include "support/config.h"
#include "support/fault.h"
#include "support/limits.h"
#include "support/module_code.h"
#include "support/progress.h"

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

namespace hostcuda {

__thread std::uint64_t progress;
__thread KernelArguments kernel_arguments;
KernelObserver* kernel_observer;
__thread unsigned block_sequence;
__thread unsigned spins;
__thread bool carry;

namespace {

struct FileScopeVariable {
  void* (*address)();
  std::size_t size;
  const char* name;
};
std::vector<FileScopeVariable>& file_scope_variables() {
  static auto* list = new std::vector<FileScopeVariable>;
  return *list;
}

[[maybe_unused]] const bool forgets_file_scope_variables =
    forgets_code_with([](const char* begin, const char* end) {
      std::erase_if(file_scope_variables(), [&](const auto& variable) {
        return variable.name >= begin && variable.name < end;
      });
    });

bool name_thread(const Fault&, char* text, std::size_t size) {
  if (!running_block) return false;
  const Launch& launch = running_block->launch();
  std::snprintf(
      text, size,
      "thread (%u,%u,%u) of block (%u,%u,%u) of kernel %s (launched at %s:%d) on device %d",
      threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z, launch.site.kernel,
      launch.site.file, launch.site.line, launch.device);
  return true;
}

bool name_wait(char* text, std::size_t size) {
  if (!running_block || !running_block->current().file) return false;
  const Thread& thread = running_block->current();
  std::snprintf(text, size, "thread (%u,%u,%u) of block (%u,%u,%u) last waited at %s:%d",
                thread.index.x, thread.index.y, thread.index.z, blockIdx.x, blockIdx.y, blockIdx.z,
                thread.file, thread.line);
  return true;
}

void fill_in(Finding& finding) {
  if (!running_block) return;
  name_block(finding, *running_block);
  finding.in_thread = true;
  finding.thread = threadIdx;
}

bool name_stack_overflow(const Fault& fault, char* text, std::size_t size) {
  if (!fault.in_kernel) return false;
  const char* stack = static_cast<const char*>(running_block->current().fiber->stack_low);
  if (fault.address >= stack || fault.address < stack - guard_size()) return false;
  std::snprintf(text, size, "it overflows the stack");
  return true;
}

void refuse_api_call(const char* function, const void* code) {
  if (running_block) report_api_call(*running_block, function, code);
}

// Shuffles the order of the warps, and the order of the lanes within each warp. The lanes of a warp
// stay together.
void shuffle_warps(std::vector<std::uint16_t>& order, RandomNumbers& random) {
  std::vector<std::uint16_t> warps((order.size() + kLanes - 1) / kLanes);
  std::iota(warps.begin(), warps.end(), std::uint16_t{0});
  random.shuffle(warps);
  std::size_t filled = 0;
  for (const std::uint16_t warp : warps) {
    const std::size_t first = std::size_t{warp} * kLanes;
    std::vector<std::uint16_t> lanes(std::min<std::size_t>(kLanes, order.size() - first));
    std::iota(lanes.begin(), lanes.end(), static_cast<std::uint16_t>(first));
    random.shuffle(lanes);
    for (const std::uint16_t thread : lanes) order[filled++] = thread;
  }
}

void prepare_for_faults() {
  prepare_thread_for_faults();
  watch_for_hangs();
  [[maybe_unused]] static const bool told = [] {
    refuse_kernels_with(refuse_api_call);
    name_fault_culprits_with(name_thread);
    describe_findings_with(fill_in);
    name_fault_causes_with(name_stack_overflow);
    tell_waits_with(name_wait);
    return true;
  }();
}

}  // namespace

SharedAtFileScope::SharedAtFileScope(void* (*address)(), std::size_t size, const char* name) {
  file_scope_variables().push_back({address, size, name});
}

void BlockRunner::run(const Launch& launch, std::uint64_t block_number) {
  begin(launch, block_number, nullptr);
  resume();
}

void BlockRunner::begin(const Launch& launch, std::uint64_t block_number, Gang* gang) {
  prepare_for_faults();
  gang_ = gang;
  children_ = gang ? &gang->children() : &own_children_;
  number_ = block_number;
  prepare(launch, block_number);
  static __thread unsigned sequence;
  sequence_ = ++sequence;
}

void BlockRunner::resume() {
  blockDim = launch_->block;
  gridDim = launch_->grid;
  blockIdx = launch_->block_index(number_);
  block_sequence = sequence_;
  running_block = this;
  idle_yields_ = 0;
  if (started_ == 0) {
    if (gang_) shared_.forget();  // discards what other blocks wrote before this block began
    if (kernel_observer) kernel_observer->block_begins(*this);
    for (const FileScopeVariable& variable : file_scope_variables())
      declare_shared(variable.address(), variable.size, variable.name);
  } else if (kernel_observer) {
    kernel_observer->block_resumes(*this);
  }
  shared_.enter();
  switch_fiber(main_, next_fiber());
  shared_.leave();
  if (is_done() && gang_) shared_.forget();
  if (kernel_observer) is_done() ? kernel_observer->block_ended() : kernel_observer->block_pauses();
  running_block = nullptr;
}

void BlockRunner::prepare(const Launch& launch, std::uint64_t block_number) {
  launch_ = &launch;
  count_ = launch.threads();
  arrived_true_ = 0;
  started_ = finished_ = at_barrier_ = 0;
  ready_.clear();
  static_shared_bytes_ = 0;
  wanted_cluster_.reset();
  if (idle_.size() != fibers_.size()) {  // the previous block was abandoned
    idle_ = fibers_;
    for (const Fiber* fiber : fibers_) forget_frames(*fiber);
  }
  const unsigned warps = (count_ + kLanes - 1) / kLanes;
  std::fill_n(lanes_waiting_.begin(), warps, 0u);
  std::fill_n(lanes_finished_.begin(), warps, 0u);
  const dim3& block = launch.block;
  const bool same_shape = block.x == shape_.x && block.y == shape_.y && block.z == shape_.z;
  if (!same_shape) {
    shape_ = block;
    for (unsigned i = 0; i < count_; ++i)
      threads_[i].index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
  }
  if (!same_shape || shuffles(config().order)) {
    order_.resize(count_);
    for (unsigned i = 0; i < count_; ++i)
      order_[i] = static_cast<std::uint16_t>(config().order == Order::reverse ? count_ - 1 - i : i);
  }
  for (unsigned i = 0; i < count_; ++i) {
    threads_[i].status = Status::fresh;
    threads_[i].last_error = cudaSuccess;
  }
  launches_ = 0;
  if (gang_)
    for (unsigned i = 0; i < count_; ++i) threads_[i].arrivals = {};
  // The seed depends only on the launch and the block, so that earlier blocks do not affect this
  // block.
  random_ = RandomNumbers(config().seed, launch.number, block_number);
  shuffle_order();
  shared_.begin(launch.dynamic_shared_bytes, gang_ != nullptr);
  dynamic_shared_ = shared_.dynamic();
}

// Chooses a schedule: either all warps progress together, or one warp runs ahead as far as it can.
void BlockRunner::shuffle_order() {
  if (!shuffles(config().order)) return;
  if (config().order == Order::skewed || random_.below(2) == 0) {
    shuffle_warps(order_, random_);
    ready_.skew(order_);
  } else {
    random_.shuffle(order_);
    ready_.take_turns();
  }
}

bool BlockRunner::declare_shared(void* address, std::size_t size, const char* name) {
  const SharedMemory::Variable* declared = shared_.declare(address, size);
  if (declared && kernel_observer)
    kernel_observer->shared_variable(address, size, declared->copy, name);
  return declared;
}

bool BlockRunner::begin_shared_variable(void* address, std::size_t size, const char* name,
                                        bool counts) {
  if (!declare_shared(address, size, name)) return false;
  if (!counts) return true;
  static_shared_bytes_ += size;
  if (static_shared_bytes_ > limits::kSharedPerBlock) report_too_much_shared(*this, name);
  const std::size_t all = static_shared_bytes_ + launch_->dynamic_shared_bytes;
  if (all > launch_->shared_limit) report_too_much_shared_in_all(*this, name, static_shared_bytes_);
  return true;
}

// The function with which a restarted fiber begins.
void BlockRunner::fiber_entry(context::transfer_t transfer) {
  BlockRunner& block = *running_block;
  Fiber& self = *block.starting_;
  hostcuda::arrive(self, transfer);
  block.run_fresh_threads(self);
}

void BlockRunner::run_fresh_threads(Fiber& self) {
  while (started_ < count_) {
    const unsigned i = order_[started_++];
    ++progress;
    threads_[i].fiber = &self;
    enter(i);
    launch_->body->run();
    // Other threads may have run in the meantime, but now current_ is `i` again, and thread `i`
    // runs on this fiber.
    threads_[i].status = Status::finished;
    lanes_finished_[i / kLanes] |= 1u << i % kLanes;
    ++finished_;
    if (gang_) gang_->thread_ended(*this, threads_[i]);
  }
  idle_.push_back(&self);
  switch_fiber(self, next_fiber(), Leave::for_good);
}

inline void BlockRunner::enter(unsigned i) {
  current_ = i;
  spins = 0;
  threads_[i].status = Status::running;
  threadIdx = threads_[i].index;
}

void BlockRunner::wait(Thread& thread) {
  ++progress;
  Fiber& self = *thread.fiber;
  const bool own_carry = carry;
  Fiber& next = next_fiber();
  if (&next != &self) switch_fiber(self, next);
  carry = own_carry;
}

// Picks the next fiber when the current thread cannot continue: the fiber of a thread that can
// resume or, if there is none, a fiber for a thread that has not started. If there is no such
// thread either, the block has ended or waits for other blocks of its gang.
inline Fiber& BlockRunner::next_fiber() {
  if (ready_.empty() && started_ == count_ && finished_ < count_ && !unblock()) return main_;
  if (!ready_.empty()) {
    const unsigned i = ready_.take();
    enter(i);
    return *threads_[i].fiber;
  }
  return started_ < count_ ? fresh_fiber() : main_;
}

Fiber& BlockRunner::fresh_fiber() {
  if (idle_.empty()) idle_.push_back(fibers_.emplace_back(create_fiber()));
  starting_ = idle_.back();
  idle_.pop_back();
  restart_fiber(*starting_, &BlockRunner::fiber_entry);
  return *starting_;
}

// Called when all threads have started and none can run. Returns true if a thread can run
// afterwards.
bool BlockRunner::unblock() {
  if (at_barrier_ == count_ - finished_) return release_barrier(), true;
  if (complete_any_warp_call()) return true;
  if (!gang_) report_deadlock(*this, 0);
  return false;
}

void BlockRunner::set_place(const char* file, int line) {
  threads_[current_].file = file;
  threads_[current_].line = line;
}

void BlockRunner::barrier(const char* file, int line) {
  Thread& thread = threads_[current_];
  set_place(file, line);
  thread.status = Status::at_barrier;
  thread.scope = Scope::block;
  ++at_barrier_;
  wait(thread);
}

unsigned BlockRunner::counting_barrier(bool predicate, const char* file, int line) {
  arrived_true_ += predicate;
  barrier(file, line);
  return counted_true_;
}

void BlockRunner::yield() {
  Fiber& self = *threads_[current_].fiber;
  ready_.add_last(current_);
  // If all threads have started and all of them spin, only another block can end the wait.
  const bool pause = gang_ && started_ == count_ && ++idle_yields_ >= ready_.size();
  Fiber& next = pause               ? main_
                : started_ < count_ ? fresh_fiber()  // a new thread may end the wait
                                    : next_fiber();
  const bool own_carry = carry;
  if (&next != &self) switch_fiber(self, next);
  carry = own_carry;
}

void BlockRunner::abandon() {
  Fiber& self = *threads_[current_].fiber;
  switch_fiber(self, main_, Leave::for_good);
  __builtin_unreachable();
}

void BlockRunner::release_barrier() {
  check_barrier(Scope::block);
  counted_true_ = std::exchange(arrived_true_, 0);
  if (kernel_observer) kernel_observer->barrier_passed(*this, Scope::block);
  at_barrier_ = 0;
  shuffle_order();
  for (const unsigned i : order_)
    if (threads_[i].status == Status::at_barrier) ready_.add(i);
}

void BlockRunner::check_barrier(Scope scope) const {
  const Thread* first = nullptr;
  bool same = true;
  for (unsigned i = 0; i < count_; ++i) {
    const Thread& thread = threads_[i];
    if (!waits_at(thread, scope)) continue;
    if (!first) first = &thread;
    same &= same_place(thread, *first);
  }
  if (!same) kernel_observer ? kernel_observer->barrier_diverged(*this) : report_divergence(*this);
  if (first && same && finished_) report_early_exit(*this, *first);
}

}  // namespace hostcuda
