// Launches and other API calls by kernels.
#include "runtime/kernel_calls.h"

#include <cstring>
#include <string>
#include <utility>

#include "execution/block.h"
#include "execution/fiber.h"
#include "launch/checks.h"
#include "launch/children.h"
#include "launch/kernel_heap.h"
#include "records/finding.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "support/module_code.h"
#include "support/observer.h"

namespace hostcuda {

KernelHeap kernel_heap;

void report_free_of_others(const void* caller) {
  static std::mutex mutex;
  static auto* known = new std::set<const void*>;
  const std::lock_guard lock(mutex);
  if (!known->insert(caller).second) return;
  Finding finding(
      "bad free", "a kernel frees memory that no kernel allocated",
      "free it in host code: the cudaFree of a kernel only frees memory from cudaMalloc "
      "or malloc in a kernel");
  fill_in_culprit(finding);
  finding.place = CodePlace{caller}.text();
  report(std::move(finding));
}

namespace {

constexpr unsigned kMaxDepth = 24;  // of grids below a grid that host code launched

// All of these streams are the stream that the threads of a block share. The blocks of a gang have
// one list of operations, in which the block's address distinguishes this stream.
cudaStream_t without_synonyms(cudaStream_t stream) {
  const bool is_shared = !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return is_shared ? reinterpret_cast<cudaStream_t>(running_block) : stream;
}

// These streams cannot wait for an event or record one.
bool has_no_order(cudaStream_t stream) {
  return stream == cudaStreamTailLaunch || stream == cudaStreamFireAndForget;
}

// The work of a copy may begin when the block has ended, and with it these variables.
bool ends_with_block(const void* address) { return is_in_fiber(address) || is_shared(address); }

// The seed of a child's random orders depends on its parent, not on timing.
std::uint64_t number_of_child(const BlockRunner& block) {
  const std::uint64_t place = block.number() * kMaxThreads + block.current_number();
  return RandomNumbers(block.launch().number, place, block.launches()).next();
}

ReportedLines& local_pointers_reported() {
  static auto* lines = new ReportedLines;
  return *lines;
}
[[maybe_unused]] const bool forgets_local_pointers = forgets_code_with(
    [](const char* begin, const char* end) { local_pointers_reported().forget(begin, end); });

cudaError_t append(ChildOperation operation, cudaStream_t stream) {
  BlockRunner& block = *running_block;
  stream = without_synonyms(stream);
  if (stream == cudaStreamTailLaunch)
    block.launch().family->append_tail(std::move(operation));
  else
    block.children().append(std::move(operation), stream);
  return cudaSuccess;
}

}  // namespace

cudaError_t launch_from_kernel(const LaunchRequest& request, std::shared_ptr<const Work> body) {
  BlockRunner& block = *running_block;
  const Launch& parent = block.launch();
  if (!parent.family->has_stream(request.stream)) return fail(cudaErrorInvalidResourceHandle);
  std::string reason;
  if (const cudaError_t error = check_launch(request, reason)) return fail(error);
  if (request.cooperative) return fail(cudaErrorNotSupported);
  const bool is_tail = request.stream == cudaStreamTailLaunch;
  const unsigned depth = is_tail ? parent.depth : parent.depth + 1;
  if (depth > kMaxDepth) return fail(cudaErrorLaunchMaxDepthExceeded);
  if (block.launches() == pending_launches()) return fail(cudaErrorLaunchPendingCountExceeded);
  block.count_launch();
  Launch launch{request.site,
                request.grid,
                request.block,
                request.dynamic_shared_bytes,
                dynamic_shared_limit(request.function),
                std::move(body),
                parent.device,
                number_of_child(block),
                request.cluster,
                false,
                depth};
  return append({std::move(launch)}, request.stream);
}

void check_pointer_in_kernel(const Site& site, const volatile void* pointer) {
  void* address = const_cast<void*>(pointer);
  const bool is_local = is_in_fiber(address);
  if (!is_local && !is_shared(address)) return;
  if (!local_pointers_reported().is_new(site.file, site.line)) return;
  Finding finding("local pointer",
                  std::string("kernel ") + running_block->launch().site.kernel +
                      " passes the address of a " + (is_local ? "local" : "shared") +
                      " variable to kernel " + site.kernel + ", which cannot access this variable",
                  "let the kernel pass the value, or a pointer to global memory");
  finding.place = CodePlace{nullptr, site.file, site.line}.text();
  report(std::move(finding));
}

namespace in_kernels {

cudaError_t& last_error() { return running_block->last_error(); }
int device() { return running_block->launch().device; }

cudaError_t allocate(void** pointer, std::size_t size, const void* caller) {
  if (!pointer) return fail(cudaErrorInvalidValue);
  *pointer = size ? kernel_heap.allocate(size, caller) : nullptr;
  return *pointer || !size ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

cudaError_t release(void* pointer, const void* caller) {
  // The map of the host's memory can be read without the API's lock: it does not change while a
  // grid runs.
  if (classify(pointer, 1).kind == MemoryKind::pageable && !ends_with_block(pointer)) {
    kernel_heap.release(pointer, caller);
    return cudaSuccess;
  }
  kernel_heap.refuse(pointer, caller);
  return fail(cudaErrorInvalidValue);
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags) {
  // As on a GPU, a kernel's stream never waits for the stream of its block.
  if (!stream || flags != cudaStreamNonBlocking) return fail(cudaErrorInvalidValue);
  *stream = running_block->launch().family->create_stream();
  return cudaSuccess;
}

cudaError_t destroy_stream(cudaStream_t stream) {
  const bool known = running_block->launch().family->destroy_stream(stream);
  return known ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  if (!event || flags != cudaEventDisableTiming) return fail(cudaErrorInvalidValue);
  *event = running_block->launch().family->create_event();
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  const bool known = running_block->launch().family->destroy_event(event);
  return known ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
  Family& family = *running_block->launch().family;
  if (has_no_order(stream)) return fail(cudaErrorInvalidValue);
  if (!family.has_event(event) || !family.has_stream(stream))
    return fail(cudaErrorInvalidResourceHandle);
  running_block->children().record(event, without_synonyms(stream));
  return cudaSuccess;
}

cudaError_t wait(cudaStream_t stream, cudaEvent_t event) {
  Family& family = *running_block->launch().family;
  if (has_no_order(stream)) return fail(cudaErrorInvalidValue);
  if (!family.has_event(event) || !family.has_stream(stream))
    return fail(cudaErrorInvalidResourceHandle);
  running_block->children().wait(without_synonyms(stream), event);
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  if (!running_block->launch().family->has_stream(stream))
    return fail(cudaErrorInvalidResourceHandle);
  if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return fail(cudaErrorInvalidMemcpyDirection);
  if (size == 0) return cudaSuccess;
  if (!to || !from || ends_with_block(to) || ends_with_block(from))
    return fail(cudaErrorInvalidValue);
  const auto work = [=] {
    std::memmove(to, from, size);
    if (runtime_observer)
      runtime_observer->copied(static_cast<char*>(to), static_cast<const char*>(from), size);
  };
  return append({std::nullopt, work}, stream);
}

cudaError_t fill(void* to, int value, std::size_t size, cudaStream_t stream) {
  if (!running_block->launch().family->has_stream(stream))
    return fail(cudaErrorInvalidResourceHandle);
  if (size == 0) return cudaSuccess;
  if (!to || ends_with_block(to)) return fail(cudaErrorInvalidValue);
  const auto work = [=] {
    std::memset(to, value, size);
    if (runtime_observer) runtime_observer->copied(static_cast<char*>(to), nullptr, size);
  };
  return append({std::nullopt, work}, stream);
}

}  // namespace in_kernels
}  // namespace hostcuda
