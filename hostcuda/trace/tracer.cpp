#include "tracer.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "address_space.h"
#include "execution/block.h"
#include "execution/report.h"
#include "runtime/api.h"
#include "support/config.h"
#include "support/fault.h"

namespace hostcuda::trace {

void Tracer::grid_begins(const Launch& launch) {
  const Busy busy;
  const auto known = std::ranges::find(kernels_, launch.site.kernel, &Kernel::name);
  kernel_ = static_cast<std::uint32_t>(known - kernels_.begin());
  if (known == kernels_.end()) kernels_.push_back({.name = launch.site.kernel});
  Kernel& kernel = kernels_[kernel_];
  ++kernel.launches;
  kernel.blocks += launch.blocks();
  kernel.threads += launch.blocks() * launch.threads();
  blocks_.clear();
  has_loaded_ = false;
  const Operation* running = running_operation();
  OperationRecord record = running ? OperationRecord(*running) : OperationRecord();
  record.what = std::string("kernel ") + launch.site.kernel;
  record.place = {nullptr, launch.site.file, launch.site.line};
  record.grid = launch.grid;
  record.block = launch.block;
  record.kernel = kernel_;
  record.is_kernel = true;
  overlap_.kernel_begins(record);
  operation_ = epochs_.begin_operation(std::move(record));
  fences_.begin_grid();
  AddressSpace::begin_grid();
  program_.begin = AddressSpace::program_begin();
  program_.size = AddressSpace::program_size();
  program_.of_program = true;
  ++stamp_;
}

void Tracer::block_begins(const BlockState& block) {
  const Busy busy;
  block_ = &blocks_[block.number()];
  *block_ = {};
  Epoch& now = block_->now;
  now.operation = operation_;
  now.block = static_cast<std::uint32_t>(block.number());
  now.cluster = static_cast<std::uint32_t>(block.launch().cluster_of(block.number()));
  if (block.dynamic_shared())
    shared_variable(block.dynamic_shared(), block.launch().dynamic_shared_bytes,
                    block.dynamic_shared(), "");
  thread_ = kNoThread;
  picture_block(block);
  if (block.launch().cooperative || block.launch().cluster_size() > 1) ++stamp_;
}

void Tracer::settle() {
  for (unsigned warp = 0; warp < logs_.size(); ++warp) settle_warp(warp);
}

void Tracer::settle_warp(unsigned warp) {
  if (picture_) picture_->turn_to(block_->now.barriers, warp);
  block_->absences.settle(*running_block, warp, logs_[warp], sites_);
  sites_.set_warp(&block_->loads[warp]);
  logs_[warp].settle(sites_);
}

void Tracer::picture_block(const BlockState& block) {
  if (picture_) picture_->block_runs(kernel_, kernels_[kernel_].launches, block);
}

// Called if another thread makes the next access, or after an event that orders accesses.
void Tracer::stop_thread() {
  trail_.end();
  thread_ = kNoThread;
}

void Tracer::report_races(const std::vector<const Race*>& races) {
  for (const Race* race : races)
    checks_.race(*race, sites_.all()[race->earlier.access.site].key,
                 sites_.all()[race->later.access.site].key);
}

void Tracer::block_pauses() {
  const Busy busy;
  stop_thread();
  races_.settle_stores();
  report_races(races_.take_new());
  settle();
}

void Tracer::block_resumes(const BlockState& block) {
  const Busy busy;
  block_ = &blocks_[block.number()];
  thread_ = kNoThread;
  picture_block(block);
  ++stamp_;  // another block's variable may have the same address
}

void Tracer::block_ended() {
  const Busy busy;
  stop_thread();
  settle();
  races_.settle_stores();
  report_races(races_.take_new());
  report_races(races_.take_same_values());
  checks_.block_ended(races_);
  for (const RunningBlock::Copy& copy : block_->copies) look_for_reads_during(copy);
  look_for_lost_partials();
  count_loading_threads();
  blocks_.erase(block_->now.block);
}

// Considers only lines that both load and store shared memory, as a reduction does. Ignores other
// loops that fewer and fewer threads enter.
void Tracer::look_for_lost_partials() {
  for (const Halvings::Lost& lost : block_->halvings.lost()) {
    if (checks_.knows_lost_partial(lost.code)) continue;
    const std::string line = CodePlace{lost.code}.text();
    const bool loads = std::ranges::any_of(sites_.all(), [&](const Site& site) {
      return site.key.space == Space::shared && site.key.kind == Kind::load &&
             CodePlace{reinterpret_cast<const void*>(site.key.code)}.text() == line;
    });
    if (loads) checks_.lost_partial(*lost.array, lost.code, lost.threads);
  }
}

void Tracer::count_loading_threads() {
  Kernel& kernel = kernels_[kernel_];
  std::uint64_t threads = 0;
  for (unsigned thread = 0; thread < kMaxThreads; ++thread) {
    const std::uint64_t loads = block_->loads[thread / kLanes][thread % kLanes];
    threads += loads > 0;
    kernel.most_loads = std::max(kernel.most_loads,
                                 loads + block_->variable_loads[thread / kLanes][thread % kLanes]);
  }
  if (threads == 0) return;
  kernel.loading_threads += threads;
  ++kernel.loading_blocks;
  if (!std::exchange(has_loaded_, true)) ++kernel.loading_launches;
}

// Returns the record of a block's shared variable. Called when the block begins to use the
// variable, which then counts as unwritten.
Array& Tracer::own_array(const char* identity, std::size_t size) {
  Array& array = variables_[identity];
  if (array.full_size != size || !array.writers.get()) array.resize(size);
  if (size) std::memset(array.writers.get(), kNobody, size);
  return array;
}

bool Tracer::allocate(std::size_t size, const void* code, void*& pointer, bool by_api) {
  if (busy_) return false;
  const Busy busy;
  if (!by_api && !heap_.serves(code)) return false;
  pointer = heap_.allocate(size, code);
  return true;
}

bool Tracer::release(const void* pointer, const void* code) {
  if (busy_ || !arrays_.provided(static_cast<const char*>(pointer))) return false;
  const Busy busy;
  // If host code calls this function, it waits for the API's lock, so that every free is recorded.
  std::unique_lock lock(api_mutex(), std::defer_lock);
  if (!running_block)
    lock.lock();
  else
    trail_.end();
  return heap_.release(pointer, code);
}

void Tracer::shared_variable(void* address, std::size_t size, const void* identity,
                             const char* name) {
  const Busy busy;
  trail_.end();
  Array& array = own_array(static_cast<const char*>(identity), size);
  array.begin = static_cast<const char*>(address);
  array.identity = reinterpret_cast<std::uint64_t>(identity);
  array.space = Space::shared;
  array.name = name;
  block_->shared.push_back(&array);
}

void Tracer::barrier_passed(const BlockState& block, Scope scope) {
  const Busy busy;
  stop_thread();
  settle();
  if (picture_) picture_->barrier_passed(block);
  RunningBlock& passed = blocks_[block.number()];
  if (fences_.any()) fences_.barrier(passed.now.block, passed.now.barriers);
  ++passed.now.barriers;
  Kernel& kernel = kernels_[kernel_];
  ++(scope == Scope::grid ? kernel.grid_barriers : kernel.barriers);
  if (scope == Scope::cluster) ++passed.now.cluster_barriers;
  if (scope == Scope::grid) ++passed.now.grid_barriers;
  passed.epochs.fill({});
}

void Tracer::warp_met(unsigned warp, WarpOperation operation, unsigned lanes) {
  const Busy busy;
  kernels_[kernel_].warp_calls.add(operation, lanes);
  if (operation == WarpOperation::converge) return;
  stop_thread();
  block_->absences.warp_met(*running_block, warp, lanes, logs_[warp]);
  ++block_->warp_calls[warp];
  block_->epochs[warp] = {};
}

// From its beginning to its completion, the copy may write at any time. Therefore the copy counts
// as a store here, and every read before the copy's completion races with it, even after a barrier.
void Tracer::async_copy_begins(const void* to, unsigned bytes, const void* code) {
  if (busy_) return;
  const Busy busy;
  const auto* address = static_cast<const char*>(to);
  Array* const array = find_shared(address);
  if (!array || !array->contains(address, bytes)) return;  // reported when the copy completes
  const unsigned thread = running_block->current_number();
  trail_.end();
  change_thread(thread);
  const CodePlace place = place_in_program({code});
  Access access;
  access.epoch = epoch_;
  access.thread = thread;
  access.site = sites_.number_of({reinterpret_cast<std::uint64_t>(place.return_address), kernel_, 0,
                                  kWordBytes, Space::shared, Kind::store});
  const std::size_t begin = array->offset_of(address);
  for (std::size_t offset = begin; offset < begin + bytes;) {
    const auto first = static_cast<unsigned>(offset % kWordBytes);
    const auto size =
        static_cast<unsigned>(std::min<std::size_t>(begin + bytes - offset, kWordBytes - first));
    access.bytes = ((1u << size) - 1) << first;
    races_.access(*array, offset, access, now_, true);
    Cell& cell = array->cells[offset / kWordBytes];
    cell.reads[0] = cell.reads[1] = {};
    offset += size;
  }
  if (races_.has_new()) report_races(races_.take_new());
  block_->copies.push_back({array, begin, bytes, thread, access.site});
}

void Tracer::async_copy_completes(const void* to) {
  const unsigned thread = running_block->current_number();
  const auto copy = std::ranges::find_if(block_->copies, [&](const RunningBlock::Copy& one) {
    return one.thread == thread && one.array->begin + one.offset == to;
  });
  if (copy == block_->copies.end()) return;
  const Busy busy;
  trail_.end();
  look_for_reads_during(*copy);
  block_->copies.erase(copy);
}

void Tracer::look_for_reads_during(const RunningBlock::Copy& copy) {
  for (std::size_t word = copy.offset / kWordBytes; word * kWordBytes < copy.offset + copy.bytes;
       ++word)
    for (const Access& read : copy.array->cells[word].reads)
      if (read.epoch)
        return checks_.copy_in_flight(*copy.array, std::max(copy.offset, word * kWordBytes),
                                      sites_.all()[copy.site].key, sites_.all()[read.site].key,
                                      races_.side(read));
}

void Tracer::barrier_diverged(const BlockState& block) {
  const Busy busy;
  Divergence found{kernel_, block.launch().block_index(block.number()), {}};
  for (unsigned i = 0; i < block.count(); ++i) {
    const Thread& thread = block.thread(i);
    if (thread.status != Status::at_barrier) continue;
    const auto place = std::ranges::find_if(found.places, [&](const Divergence::Place& known) {
      return known.line == thread.line && known.file == thread.file;
    });
    if (place == found.places.end())
      found.places.push_back({thread.file, thread.line, 1, thread.index});
    else
      ++place->threads;
  }
  // Divergence at the same barriers is reported once, not for every block.
  const auto is_same_place = [](const Divergence::Place& a, const Divergence::Place& b) {
    return a.line == b.line && a.file == b.file;
  };
  for (const Divergence& known : divergences_)
    if (known.kernel == kernel_ && std::ranges::equal(known.places, found.places, is_same_place))
      return;
  Finding finding("barrier divergence",
                  std::string("BARRIER DIVERGENCE in kernel ") + block.launch().site.kernel +
                      ": threads of one block wait at different barriers",
                  "move the barrier to a line that all threads of the block reach");
  name_block(finding, block);
  for (const Divergence::Place& place : found.places) {
    const std::string where = place.file + ":" + std::to_string(place.line);
    if (finding.place.empty()) finding.place = where;
    finding.details.push_back(std::to_string(place.threads) +
                              (place.threads == 1 ? " thread, " : " threads, for example ") +
                              text_of(place.example) + ", at " + where);
  }
  report(std::move(finding));
  divergences_.push_back(std::move(found));
}

// ---- the process's only tracer ------------------------------------------------------------------

namespace {

constexpr const char* kVariable = "HOSTCUDA_TRACE";
constexpr const char* kPicture = "HOSTCUDA_TRACE_BLOCK";  // if set, records one block per kernel
constexpr const char* kSkip = "HOSTCUDA_TRACE_SKIP_SHARED_ATOMICS";  // see skip_shared_atomics()

bool is_written = false;

void write_record() {
  is_written = true;
  const char* path = std::getenv(kVariable);
  std::ofstream file(path);
  file << record_of(*tracer) << std::flush;
  if (file) return;
  std::fprintf(stderr, "hostcuda: %s: cannot be written\n", path);
  std::_Exit(1);
}

// A failed assertion or an uncaught exception of host code ends the process without exit(). abort()
// sends the signal to the thread that calls it, and ends the process when this handler returns.
void on_abort(int) {
  if (is_written) return;
  alarm(kSecondsToDie);  // abort() may have been called while a lock was held
  tracer->host().program_ends(EXIT_FAILURE);
  before_death();
}

void record_aborted_runs() {
  struct sigaction action = {};
  action.sa_handler = on_abort;
  sigemptyset(&action.sa_mask);
  sigaction(SIGABRT, &action, nullptr);
}

}  // namespace

Tracer* tracer;

void start() {
  if (tracer || !std::getenv(kVariable)) return;
  allow_variable(kVariable);
  allow_variable(kPicture);
  allow_variable(kSkip);
  tracer = new Tracer;  // never destroyed, because instrumented code runs until the very end
  if (std::getenv(kPicture)) tracer->take_picture();
  if (std::getenv(kSkip)) tracer->skip_shared_atomics();
  kernel_observer = tracer;
  runtime_observer = &tracer->host();
  observe_kernel_heap();
  on_exit(
      [](int status, void*) {
        tracer->host().program_ends(status);
        write_record();
      },
      nullptr);
  call_before_death(write_record);  // if a kernel fails, writes what was recorded so far
  record_aborted_runs();
}

namespace {

// A program whose kernels are all in modules may have no file that calls __tsan_init.
[[maybe_unused]] const bool is_started = (start(), true);

}  // namespace
}  // namespace hostcuda::trace
