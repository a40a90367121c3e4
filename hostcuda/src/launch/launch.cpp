// Launches: checks of the configuration, limits of individual kernels, occupancy.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "execution/block.h"
#include "launch/checks.h"
#include "records/finding.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "runtime/symbol.h"
#include "support/config.h"
#include "support/limits.h"
#include "support/module_code.h"
#include "support/observer.h"
#include "support/source_line.h"

namespace hostcuda {
namespace {

// For each kernel, the limit that cudaFuncSetAttribute set.
std::map<const void*, std::size_t>& dynamic_shared_limits() {
  static auto* map = new std::map<const void*, std::size_t>;
  return *map;
}

std::string shape_of(const dim3& d) {
  return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

// Says which limit the shape of a launch exceeds.
std::string reason_of_shape(const dim3& grid, const dim3& block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (!grid.x || !grid.y || !grid.z)
    return "a grid of " + shape_of(grid) +
           " blocks is empty (was the number of blocks rounded down?)";
  if (!threads) return "a block of " + shape_of(block) + " threads is empty";
  if (threads > limits::kThreadsPerBlock)
    return std::to_string(threads) + " threads per block are more than " +
           std::to_string(limits::kThreadsPerBlock) +
           (block.y * block.z == 1 ? "" : " (" + shape_of(block) + ")");
  if (block.z > limits::kBlockZ)
    return "a block of " + shape_of(block) + " threads is larger than " +
           std::to_string(limits::kBlockZ) + " in z";
  return "a grid of " + shape_of(grid) + " blocks is larger than " +
         shape_of(dim3(limits::kGridX, limits::kGridYZ, limits::kGridYZ));
}

bool valid_shape(const dim3& grid, const dim3& block) {
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z) return false;
  if (grid.x > limits::kGridX || grid.y > limits::kGridYZ || grid.z > limits::kGridYZ) return false;
  if (block.x > limits::kThreadsPerBlock || block.y > limits::kThreadsPerBlock ||
      block.z > limits::kBlockZ)
    return false;
  return block.x * block.y * block.z <= limits::kThreadsPerBlock;
}

// The kernels for which cudaFuncAttributeNonPortableClusterSizeAllowed was set.
std::set<const void*>& kernels_with_large_clusters() {
  static auto* set = new std::set<const void*>;
  return *set;
}

ReportedLines& pointers_reported() {
  static auto* lines = new ReportedLines;
  return *lines;
}

ReportedLines& references_reported() {
  static auto* lines = new ReportedLines;
  return *lines;
}

cudaError_t check_cluster(const LaunchRequest& request) {
  const dim3 &grid = request.grid, &cluster = request.cluster;
  if (!cluster.x || !cluster.y || !cluster.z) return cudaErrorInvalidClusterSize;
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return cudaErrorInvalidClusterSize;
  const unsigned allowed = kernels_with_large_clusters().count(request.function)
                               ? limits::kBlocksPerCluster
                               : limits::kBlocksPerPortableCluster;
  return cluster.x * cluster.y * cluster.z <= allowed ? cudaSuccess : cudaErrorInvalidClusterSize;
}

int blocks_per_multiprocessor(unsigned threads, std::size_t dynamic_shared_bytes) {
  const unsigned warps = (threads + warpSize - 1) / warpSize;
  const std::size_t shared = dynamic_shared_bytes + limits::kSharedReservedPerBlock;
  const int by_threads = limits::kThreadsPerMultiprocessor / static_cast<int>(warps * warpSize);
  const int by_shared = static_cast<int>(limits::kSharedPerMultiprocessor / shared);
  return std::min({limits::kBlocksPerMultiprocessor, by_threads, by_shared});
}

// True if all blocks of the grid can run at the same time, as a cooperative launch requires.
bool fits_cooperatively(const LaunchRequest& request) {
  const dim3 &grid = request.grid, &block = request.block;
  const int per_multiprocessor =
      blocks_per_multiprocessor(block.x * block.y * block.z, request.dynamic_shared_bytes);
  const auto room = static_cast<std::uint64_t>(per_multiprocessor) *
                    static_cast<std::uint64_t>(config().multiprocessors);
  return std::uint64_t{grid.x} * grid.y * grid.z <= room;
}

}  // namespace

// `function` is null if the kernel's name is overloaded, because then only the launch arguments
// decide which function is called. In this case, the largest limit of all kernels applies.
std::size_t dynamic_shared_limit(const void* function) {
  std::size_t limit = limits::kSharedPerBlock;
  for (const auto& [known, allowed] : dynamic_shared_limits())
    if (!function || known == function) limit = std::max(limit, allowed);
  return limit;
}

cudaError_t check_launch(const LaunchRequest& request, std::string& reason) {
  if (!valid_shape(request.grid, request.block)) {
    reason = reason_of_shape(request.grid, request.block);
    return cudaErrorInvalidConfiguration;
  }
  if (const std::size_t limit = dynamic_shared_limit(request.function);
      request.dynamic_shared_bytes > limit) {
    reason = std::to_string(request.dynamic_shared_bytes) +
             " bytes of dynamic shared memory are more than " + std::to_string(limit);
    return cudaErrorInvalidValue;
  }
  const cudaError_t error = check_cluster(request);
  if (error)
    reason = "a grid of " + shape_of(request.grid) + " blocks cannot be divided into clusters of " +
             shape_of(request.cluster);
  return error;
}

void* Work::operator new(std::size_t size) { return ::operator new(size); }
void Work::operator delete(void* work) { ::operator delete(work); }

Work* moved_work(const Work& work, std::size_t size) {
  void* moved = ::operator new(size);
  std::memcpy(moved, static_cast<const void*>(&work), size);
  return static_cast<Work*>(moved);
}

// If a header of Thrust or CUB makes the launch, returns the place of the program's call instead.
static Site site_in_program(const Site& site) {
  static auto* files = new std::set<std::string>;
  const std::string place = place_in_program({nullptr, site.file, site.line}).text();
  const std::size_t colon = place.rfind(':');
  if (colon == place.npos) return site;
  return {site.kernel, files->insert(place.substr(0, colon)).first->c_str(),
          std::atoi(place.c_str() + colon + 1)};
}

cudaError_t enqueue_kernel(const LaunchRequest& given, Work* work) {
  LaunchRequest request = given;
  // Shared, because a graph runs it repeatedly. Its destructor may be code of a module.
  std::shared_ptr<const Work> body(
      work, [code = owner_of_code(request.function)](const Work* done) { delete done; });
  if (running_block) return launch_from_kernel(request, std::move(body));
  static std::uint64_t launches = 0;
  // Only then, because it takes long.
  if (runtime_observer) request.site = site_in_program(request.site);
  const ApiCall api_call(request.site.kernel,
                         {__builtin_return_address(0), request.site.file, request.site.line});
  if (const cudaError_t error = api_call.error()) return fail(error);
  CUstream_st* stream = find_stream(request.stream);
  if (!stream) return fail(cudaErrorInvalidResourceHandle, "the stream does not exist");
  if (stream->device != current_device())
    return fail(cudaErrorInvalidResourceHandle,
                "the stream belongs to device " + std::to_string(stream->device) +
                    ", the current device is " + std::to_string(current_device()));
  std::string reason;
  if (const cudaError_t error = check_launch(request, reason)) return fail(error, reason);
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  if (request.cooperative && !fits_cooperatively(request))
    return fail(cudaErrorCooperativeLaunchTooLarge);
  std::shared_ptr<const Work> of_node = stream->capture ? body : nullptr;
  // Of this launch only: enqueue() may run older grids, and this grid may run later.
  const auto error_of_grid = std::make_shared<cudaError_t>(cudaSuccess);
  enqueue(*stream,
          [launch = Launch{request.site, request.grid, request.block, request.dynamic_shared_bytes,
                           dynamic_shared_limit(request.function), std::move(body), stream->device,
                           ++launches, request.cluster, request.cooperative},
           error_of_grid] { *error_of_grid = run_grid(launch); });
  if (of_node) describe_kernel_node(*stream, request, std::move(of_node));
  return *error_of_grid;  // success if the grid runs later
}

void check_pointer_argument(const Site& site, const volatile void* pointer) {
  if (running_block) return check_pointer_in_kernel(site, pointer);
  const char* name = variable_without_address(const_cast<const void*>(pointer));
  if (!name || !pointers_reported().is_new(site.file, site.line)) return;
  Finding finding("host pointer",
                  std::string("kernel ") + site.kernel +
                      " is given the address that the __device__ variable " + name +
                      " has in host code, which is not its address on the GPU",
                  "use the variable in the kernel, or get its address from cudaGetSymbolAddress");
  finding.place = CodePlace{nullptr, site.file, site.line}.text();
  finding.array = name;
  report(std::move(finding));
}

void check_reference_argument(const Site& site, const volatile void* object) {
  if (running_block) return check_pointer_in_kernel(site, object);
  check_pointer_argument(site, object);
  void* address = const_cast<void*>(object);
  if (variable_without_address(address)) return;  // reported already
  const std::lock_guard lock(api_mutex());
  if (classify(address, 1).kind != MemoryKind::pageable ||
      !references_reported().is_new(site.file, site.line))
    return;
  Finding finding(
      "host pointer",
      std::string("kernel ") + site.kernel +
          " is given a reference to a variable of host code, which a GPU cannot access",
      "pass the variable by value, or pass a reference to memory from cudaMallocManaged");
  finding.place = CodePlace{nullptr, site.file, site.line}.text();
  report(std::move(finding));
}

namespace {

struct ErasedKernel {
  const char* name;
  ErasedLaunch launch;
};
std::map<const void*, ErasedKernel>& erased_kernels() {
  static auto* map = new std::map<const void*, ErasedKernel>;
  return *map;
}
// The table has its own lock, because kernels launch too, and cannot take the API's lock.
std::mutex erased_mutex;

std::optional<ErasedKernel> erased_kernel(const void* function) {
  const std::lock_guard lock(erased_mutex);
  const auto known = erased_kernels().find(function);
  return known == erased_kernels().end() ? std::nullopt : std::optional(known->second);
}

[[maybe_unused]] const bool forgets_kernels =
    forgets_code_with([](const char* begin, const char* end) {
      const auto forget_in = [&](auto& known) {
        known.erase(known.lower_bound(begin), known.lower_bound(end));
      };
      forget_in(dynamic_shared_limits());
      forget_in(kernels_with_large_clusters());
      pointers_reported().forget(begin, end);
      references_reported().forget(begin, end);
      const std::lock_guard lock(erased_mutex);
      forget_in(erased_kernels());
    });

}  // namespace

void register_kernel(const void* function, const char* name, ErasedLaunch launch) {
  refuse_in_kernel("a function", __builtin_return_address(0));
  const std::lock_guard lock(erased_mutex);
  erased_kernels()[function] = {name, launch};
}

cudaError_t launch_configured(const void* function, const cudaLaunchConfig_t& config,
                              void** arguments, const char* file, int line) {
  const CodeOwner code = owner_of_code(function);
  const std::optional<ErasedKernel> known = erased_kernel(function);
  if (!known) return fail(cudaErrorInvalidDeviceFunction);
  LaunchRequest request{{known->name, file, line}, function,     config.gridDim, config.blockDim,
                        config.dynamicSmemBytes,   config.stream};
  if (const cudaError_t error = apply_attributes(request, config)) return error;
  return known->launch(request, arguments);
}

cudaError_t apply_attributes(LaunchRequest& request, const cudaLaunchConfig_t& config) {
  if (config.numAttrs && !config.attrs) return fail(cudaErrorInvalidValue);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttributeValue& value = config.attrs[i].val;
    switch (config.attrs[i].id) {
      case cudaLaunchAttributeClusterDimension:
        request.cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
        break;
      case cudaLaunchAttributeCooperative:
        request.cooperative = value.cooperative != 0;
        break;
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeSynchronizationPolicy:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributeProgrammaticStreamSerialization:
      case cudaLaunchAttributePriority:
        break;
      default:
        return fail(cudaErrorInvalidValue);
    }
  }
  return cudaSuccess;
}

cudaError_t enqueue_work(cudaStream_t handle, Work* to_do) {
  const std::shared_ptr<const Work> work(to_do);
  HOSTCUDA_API_CALL_ON(handle);
  if (runtime_observer) runtime_observer->has_other_results();
  enqueue(*stream, [work] {
    const DeviceMemoryAccess access;
    work->run();
    if (runtime_observer) runtime_observer->library_has_run();
  });
  return cudaSuccess;
}

cudaError_t set_function_attribute(const void* function, cudaFuncAttribute attribute, int value) {
  HOSTCUDA_API_CALL_NAMED("cudaFuncSetAttribute");
  if (!function) return fail(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)  // a hint, in per cent
    return value >= -1 && value <= 100 ? cudaSuccess : fail(cudaErrorInvalidValue);
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
    if (value)
      kernels_with_large_clusters().insert(function);
    else
      kernels_with_large_clusters().erase(function);
    return cudaSuccess;
  }
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      value > limits::kSharedPerBlockOptIn)
    return fail(cudaErrorInvalidValue);
  dynamic_shared_limits()[function] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

cudaError_t get_function_attributes(cudaFuncAttributes* attributes, const void* function) {
  HOSTCUDA_API_CALL_ALSO_OF_KERNELS;
  if (!attributes) return fail(cudaErrorInvalidValue);
  if (!function) return fail(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock = limits::kThreadsPerBlock;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(function));
  return cudaSuccess;
}

cudaError_t max_active_blocks(int* blocks, int block_size, std::size_t dynamic_shared_bytes) {
  HOSTCUDA_API_CALL_ALSO_OF_KERNELS;
  if (!blocks || block_size < 1) return fail(cudaErrorInvalidValue);
  *blocks = blocks_per_multiprocessor(static_cast<unsigned>(block_size), dynamic_shared_bytes);
  if (block_size > limits::kThreadsPerBlock) *blocks = 0;
  return cudaSuccess;
}

// Estimates how many clusters run at the same time, assuming that a cluster's blocks may run on any
// SMs.
cudaError_t max_active_clusters(int* clusters, const LaunchRequest& request) {
  HOSTCUDA_API_CALL_NAMED("cudaOccupancyMaxActiveClusters");
  if (!clusters || !valid_shape(request.grid, request.block)) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = check_cluster(request)) return fail(error);
  const dim3 &block = request.block, &cluster = request.cluster;
  *clusters = blocks_per_multiprocessor(block.x * block.y * block.z, request.dynamic_shared_bytes) *
              config().multiprocessors / static_cast<int>(cluster.x * cluster.y * cluster.z);
  return cudaSuccess;
}

cudaError_t available_shared_memory(std::size_t* bytes, int blocks, int block_size) {
  HOSTCUDA_API_CALL_NAMED("cudaOccupancyAvailableDynamicSMemPerBlock");
  int most = 0;
  if (!bytes || blocks < 1 || max_active_blocks(&most, block_size, 0))
    return fail(cudaErrorInvalidValue);
  if (blocks > most) return fail(cudaErrorInvalidValue, "so many blocks do not fit");
  const int share = limits::kSharedPerMultiprocessor / blocks - limits::kSharedReservedPerBlock;
  *bytes = static_cast<std::size_t>(std::min(share, limits::kSharedPerBlockOptIn)) / 128 * 128;
  return cudaSuccess;
}

cudaError_t max_potential_block_size(int* grid, int* block, std::size_t dynamic_shared_bytes,
                                     int limit) {
  constexpr int kProposal = 256;
  if (!grid || !block || limit < 0) return fail(cudaErrorInvalidValue);
  int blocks = 0;
  *block = limit ? std::min(limit, kProposal) : kProposal;
  if (const cudaError_t error = max_active_blocks(&blocks, *block, dynamic_shared_bytes))
    return error;
  *grid = blocks * config().multiprocessors;
  return cudaSuccess;
}

}  // namespace hostcuda
