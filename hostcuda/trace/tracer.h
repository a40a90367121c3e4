// The tracer counts how kernels access memory. The compiler's instrumentation and hostcuda's
// observer interfaces call it.
#ifndef HOSTCUDA_TRACE_TRACER_H
#define HOSTCUDA_TRACE_TRACER_H

#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "checks/absences.h"
#include "checks/halvings.h"
#include "checks/heap.h"
#include "checks/host_checks.h"
#include "checks/kernel_checks.h"
#include "counts/block_picture.h"
#include "counts/overlap.h"
#include "counts/sites.h"
#include "counts/warp_log.h"
#include "execution/block_state.h"
#include "execution/warp_calls.h"
#include "races/races.h"
#include "trail.h"

namespace hostcuda::trace {

struct Kernel {
  std::string name;
  std::uint64_t launches = 0, blocks = 0, threads = 0;
  std::uint64_t barriers = 0, grid_barriers = 0;  // passed by blocks, and by the whole grid
  WarpCounts warp_calls{};
  // Numbers of launches, blocks and threads with at least one load; the largest number of loads
  // that one thread makes in a launch, including loads from variables that the device has filled.
  std::uint64_t loading_launches = 0, loading_blocks = 0, loading_threads = 0, most_loads = 0;
  std::uint64_t variable_loads = 0;  // threads' loads from __constant__ and __device__ variables
  std::uint64_t filled_variable_loads = 0;  // of these, from variables that the device has filled
};

// The places at which the threads of a block waited when they did not all reach the same barrier.
struct Divergence {
  struct Place {
    std::string file;
    int line;
    unsigned threads;
    uint3 example;
  };
  std::uint32_t kernel;
  uint3 block;
  std::vector<Place> places;
};

// The state of a block that has begun but not ended.
struct RunningBlock {
  Epoch now;  // warp_calls and fences stay 0, because these counts differ between warps and threads
  std::array<std::uint32_t, kMaxThreads / kLanes> warp_calls{};
  // The epoch of those threads of a warp that have executed `fences` fences; 0 if this epoch does
  // not exist yet.
  struct OfWarp {
    std::uint32_t epoch = 0, fences = 0;
  };
  std::array<OfWarp, kMaxThreads / kLanes> epochs{};
  std::vector<Array*> shared;
  Halvings halvings;
  Absences absences;
  // Asynchronous copies that have begun but not completed.
  struct Copy {
    Array* array;
    std::size_t offset, bytes;
    unsigned thread;
    std::uint32_t site;
  };
  std::vector<Copy> copies;
  std::array<LoadsOfLanes, kMaxThreads / kLanes> loads{};  // loads of each warp's lanes
  // Loads from variables that the device has filled; they are not in `loads`.
  std::array<LoadsOfLanes, kMaxThreads / kLanes> variable_loads{};
};

// Facts that the instrumentation knows about an access besides its address. The struct must fit in
// a register: when it had five bytes, loads took twice as long.
struct How {
  Kind kind;
  bool is_volatile : 1 = false;
  bool is_atomic : 1 = kind == Kind::atomic;  // also true for a load or a store of cuda::atomic
  bool reads : 1 = kind != Kind::store;  // also false for an exchange, which ignores the old value
  bool releases : 1 = false;             // true if the access orders earlier ones, like a fence
  bool of_block : 1 = false;             // true if the scope of an atomic is the block
  bool compares : 1 = false;             // true if the program itself called compare-and-swap
  bool leads : 1 = false;                // true if other threads may follow this load (trail.h)
};

class Tracer final : public KernelObserver {
 public:
  Tracer()
      : races_(epochs_, fences_),
        checks_(epochs_),
        host_(arrays_, epochs_, races_, checks_),
        heap_(arrays_) {
    arrays_.reserve();
  }

  // Handles an access by the code at `code` to memory of any kind. An access that is too large for
  // one instruction of a GPU is split into parts of `piece` bytes.
  void access(const void* address, unsigned bytes, unsigned piece, How how, const void* code);
  // Does the same as access(), for the most frequent accesses by far: non-volatile loads of 4, 8 or
  // 16 bytes at once.
  template <unsigned kBytes>
  void load(const void* address, const void* code);
  void fence(bool of_block);
  KernelChecks& checks() { return checks_; }
  HostChecks& host() { return host_; }
  // Called when the code at `code` calls malloc, new, free or delete. These two functions return
  // false if the host's function must do the work.
  bool allocate(std::size_t size, const void* code, void*& pointer, bool by_api = false);
  bool release(const void* pointer, const void* code);

  const std::vector<Kernel>& kernels() const { return kernels_; }
  const Sites& sites() const { return sites_; }
  const std::optional<BlockPicture>& picture() const { return picture_; }
  void take_picture() { sites_.set_witness(&picture_.emplace()); }
  // Makes a random half of the atomic operations in shared memory count, but change nothing. A
  // program whose results are right nevertheless does not need them. Half of them, and not all: a
  // program that tries one operation cannot tell, and one that takes its work from a counter ends.
  void skip_shared_atomics() { skipping_.emplace(); }
  bool skips_atomic(const void* address);
  const Races& races() const { return races_; }
  const std::vector<Divergence>& divergences() const { return divergences_; }
  const Overlap& overlap() const { return overlap_; }
  std::uint64_t host_waits() const { return host_.waits(); }
  std::uint64_t bytes_to_host() const { return host_.bytes_to_host(); }

  void grid_begins(const Launch& launch) override;
  void block_begins(const BlockState& block) override;
  void block_ended() override;
  void block_pauses() override;
  void block_resumes(const BlockState& block) override;
  void shared_variable(void* address, std::size_t size, const void* identity,
                       const char* name) override;
  void barrier_passed(const BlockState& block, Scope scope) override;
  void barrier_diverged(const BlockState& block) override;
  void warp_met(unsigned warp, WarpOperation operation, unsigned lanes) override;
  void async_copy_begins(const void* to, unsigned bytes, const void* code) override;
  void async_copy_completes(const void* to) override;

 private:
  // A place in the code that accessed memory recently. Nearly every access comes from such a place
  // and is to the same array as the last access from that place.
  struct Recent {
    const void* code = nullptr;
    Array* array = nullptr;
    std::uint32_t stamp = 0, site = 0;
    Kind kind = Kind::load;  // a copy of a float4 is a load and a store at one place
  };
  Recent& recent_of(const void* code, Kind kind);
  Array* find_array(const char*& address, Kind kind, unsigned bytes, const void* code);
  Array* find_shared(const char* address) const;
  Array* find_device_variable(const Accessed& accessed);
  Array* find_shared_of_other_block(const char*& address) const;
  void look_at_what_is_no_array(const Accessed& accessed);
  void access_by_host(const Accessed& accessed);
  void look_at_device(Array& array, const Accessed& accessed);
  Array& own_array(const char* identity, std::size_t size);
  void change_thread(unsigned thread);
  void renew_epoch();
  void make_fence(bool of_block = false);  // makes a fence of the running thread
  template <unsigned kBytes>
  bool load_at_once(const Recent& recent, const char* address);
  bool is_right_for_all(const Array& array, std::size_t offset, unsigned bytes) const;
  void stop_thread();
  void look_for_reads_during(const RunningBlock::Copy& copy);
  void look_for_lost_partials();
  void count_loading_threads();
  void report_races(const std::vector<const Race*>& races);
  void count_variable_load(const Array& array, std::size_t offset);
  void count(Array& array, std::size_t offset, unsigned bytes, How how, std::uint32_t site);
  void look_at(Array& array, const Accessed& accessed, How how, std::uint32_t site);
  void look_for_virtual_call(const Array& array, const Accessed& accessed);
  void order(std::uint64_t address, How how);
  void order_by_variable(const char* address, How how);
  void access_to_program(const char* address, unsigned bytes, How how);
  void leave_warp(unsigned warp);
  void settle();
  void settle_warp(unsigned warp);
  void picture_block(const BlockState& block);

  std::vector<Kernel> kernels_;
  Sites sites_;
  std::optional<BlockPicture> picture_;
  Arrays arrays_;
  Epochs epochs_;
  Fences fences_;
  Races races_;
  Trail trail_;
  KernelChecks checks_;
  HostChecks host_;
  Heap heap_;
  std::vector<Divergence> divergences_;
  Overlap overlap_;

  std::uint32_t kernel_ = 0;              // the running kernel
  std::uint32_t operation_ = 0;           // the running kernel's launch
  bool has_loaded_ = false;               // a block of this launch has loaded something
  std::optional<std::mt19937> skipping_;  // chooses the atomic operations without effect
  std::uint32_t stamp_ = 0;  // an entry of recent_ is valid only if it has the same stamp
  static constexpr unsigned kNoThread = kMaxThreads;
  unsigned thread_ = kNoThread;  // thread of the last access
  unsigned warp_ = 0;
  std::uint32_t epoch_ = 0;  // epoch of the last access
  Epoch now_;
  std::array<WarpLog, kMaxThreads / kLanes> logs_;
  std::map<std::uint64_t, RunningBlock> blocks_;  // key: the block's number
  RunningBlock* block_ = nullptr;                 // the running block
  std::map<const char*, Array> variables_;        // shared variables; key: the address
  std::array<Recent, 4096> recent_{};
  std::map<int, Arrays> device_variables_;  // by device, because each device has its own copies
  Array program_;                           // represents all other variables of the program
  // Each host thread has its own flag, because another host thread may run a kernel.
  static constinit inline thread_local bool busy_ = false;
  // While such an object exists, accesses do not count as accesses by the program. This is
  // necessary because the tracer itself calls functions of the standard library, and the linker may
  // have chosen the program's instrumented copies of these functions.
  class Busy {
   public:
    Busy() : before_(std::exchange(busy_, true)) {}
    ~Busy() { busy_ = before_; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    bool before_;
  };
};

// The only tracer of the process, or null if nothing is traced.
extern Tracer* tracer;

// Starts tracing if the variable HOSTCUDA_TRACE contains the path of a file. The record is written
// to that file when the process ends.
void start();

// Returns the tracer's record as JSON. The record gives code locations as offsets in the
// executable; the tool that reads the record converts them to source lines with addr2line.
std::string record_of(const Tracer& tracer);

// Lets the tracer allocate and free the memory of cudaMalloc and cudaFree in kernels.
void observe_kernel_heap();

}  // namespace hostcuda::trace

#endif
