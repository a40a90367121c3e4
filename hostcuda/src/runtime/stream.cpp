#include "runtime/stream.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include "runtime/api.h"
#include "runtime/device.h"
#include "support/config.h"
#include "support/limits.h"
#include "support/random.h"

namespace hostcuda {
namespace {

struct DeviceStreams {
  CUstream_st default_stream;
  // All streams, oldest first, because an order by address would differ from run to run.
  std::vector<CUstream_st*> created;
  std::vector<OperationPointer> orphans;  // last operations of destroyed streams
};

// The streams are never destroyed, because operations may still be queued when the process ends.
std::vector<DeviceStreams>& all_streams() {
  static auto* const all = [] {
    auto* list = new std::vector<DeviceStreams>(static_cast<std::size_t>(config().devices));
    for (std::size_t i = 0; i < list->size(); ++i)
      (*list)[i].default_stream.device = static_cast<int>(i);
    return list;
  }();
  return *all;
}

DeviceStreams& streams_of(int device) { return all_streams()[static_cast<std::size_t>(device)]; }

RandomNumbers& random_numbers() {
  static auto* numbers = new RandomNumbers(config().seed, 0, 0);
  return *numbers;
}

bool pending(const OperationPointer& operation) { return operation && !operation->done; }

Clock clock_of_host;
std::atomic<const Operation*> running = nullptr;  // atomic, because other host threads read it

// Used in random mode: each new operation may make a queued operation of any stream run.
void run_something(const OperationPointer& newest) {
  static auto* waiting = new std::vector<OperationPointer>;
  waiting->push_back(newest);
  RandomNumbers& numbers = random_numbers();
  if (numbers.below(2)) complete((*waiting)[numbers.below(waiting->size())]);
  std::erase_if(*waiting, [](const OperationPointer& operation) { return operation->done; });
}

}  // namespace

void depend(Operation& operation, const OperationPointer& earlier) {
  if (runtime_observer && earlier) join(operation.clock, earlier->clock);
  if (pending(earlier)) operation.dependencies.push_back(earlier);
}

void append_to_clock(Operation& operation, unsigned stream) {
  if (!runtime_observer) return;
  operation.stream = stream;
  if (const CallSite* call = CallSite::current()) {
    operation.function = call->function();
    operation.place = call->place();
  }
  join(operation.clock, clock_of_host);
  join(operation.clock, Clock(stream + 1));
  ++operation.clock[stream];
}

bool is_default(const CUstream_st& stream) {
  return &stream == &streams_of(stream.device).default_stream;
}

OperationPointer enqueue(CUstream_st& stream, std::function<void()> work, cudaGraphNodeType type) {
  if (stream.capture) {
    stream.captured = {stream.capture->graph->add(type, std::move(work), stream.captured)};
    auto captured = std::make_shared<Operation>();
    captured->done = true;
    return captured;
  }
  DeviceStreams& device = streams_of(stream.device);
  auto operation = std::make_shared<Operation>();
  operation->work = std::move(work);
  depend(*operation, stream.last);
  for (const OperationPointer& earlier : stream.awaited) depend(*operation, earlier);
  stream.awaited.clear();
  // The default stream waits for every other stream of its device, and every other stream waits for
  // the default stream. Non-blocking streams are an exception in both directions.
  if (is_default(stream)) {
    for (const CUstream_st* other : device.created)
      if (other->with_default) depend(*operation, other->last);
    for (const OperationPointer& orphan : device.orphans) depend(*operation, orphan);
  } else if (stream.with_default) {
    depend(*operation, device.default_stream.last);
  }
  append_to_clock(*operation, stream.number);
  stream.last = operation;
  if (config().streams == StreamMode::eager) complete(operation);
  if (config().streams == StreamMode::random) run_something(operation);
  return operation;
}

// Uses an explicit stack instead of recursion, because a stream may hold thousands of operations.
void complete(const OperationPointer& wanted) {
  if (!pending(wanted)) return;
  std::vector<OperationPointer> stack{wanted};
  while (!stack.empty()) {
    const OperationPointer operation = stack.back();
    auto& dependencies = operation->dependencies;
    std::erase_if(dependencies, [](const OperationPointer& earlier) { return earlier->done; });
    if (operation->done) {
      stack.pop_back();
    } else if (!dependencies.empty()) {
      const bool any_order = config().streams == StreamMode::random;
      stack.push_back(dependencies[any_order ? random_numbers().below(dependencies.size()) : 0]);
    } else {
      stack.pop_back();
      operation->done = true;  // set before the work, because a host function may query its stream
      const std::function<void()> work = std::move(operation->work);
      operation->work = nullptr;
      const Operation* outer = running.exchange(operation.get());
      work();
      running = outer;
    }
  }
}

void wait_for(const OperationPointer& operation) {
  complete(operation);
  if (runtime_observer && operation) join(clock_of_host, operation->clock);
}

bool host_relies_on(const Operation& operation) {
  return operation.stream < clock_of_host.size() &&
         clock_of_host[operation.stream] >= operation.clock[operation.stream];
}

const Clock& host_clock() { return clock_of_host; }

const Operation* running_operation() { return running; }

std::unique_lock<std::recursive_mutex> lock_between_operations() {
  std::unique_lock lock(api_mutex(), std::try_to_lock);
  while (!lock && !running) {
    std::this_thread::yield();
    (void)lock.try_lock();
  }
  return lock;
}

unsigned number_of_new_stream() {
  static unsigned streams = 0;
  return streams++;
}

void host_waits() {
  if (runtime_observer) runtime_observer->host_waits();
}

bool poll(const OperationPointer& operation) {
  static unsigned queries = 0;
  host_waits();
  // On a GPU, the first query may well come too early. If there is an observer, the first query
  // therefore answers that the work is not done, which shows whether the program uses the answer.
  if (runtime_observer && operation && !host_relies_on(*operation) && !operation->was_queried) {
    operation->was_queried = true;
    return false;
  }
  if (pending(operation) && ++queries % 4 != 0) return false;
  wait_for(operation);
  return true;
}

// The default stream of this host thread on the current device, made when it is first used. It is
// never destroyed.
static CUstream_st* stream_of_thread() {
  thread_local std::map<int, CUstream_st*> streams;
  CUstream_st*& stream = streams[current_device()];
  if (!stream) {
    stream = new CUstream_st;
    stream->device = current_device();
    stream->with_default = true;
    streams_of(current_device()).created.push_back(stream);
  }
  return stream;
}

CUstream_st* find_stream(cudaStream_t handle) {
  if (handle == cudaStreamPerThread) return stream_of_thread();
  if (!handle || handle == cudaStreamLegacy) return &streams_of(current_device()).default_stream;
  for (const DeviceStreams& device : all_streams())
    if (std::ranges::find(device.created, handle) != device.created.end()) return handle;
  return nullptr;
}

void synchronize_device(int number) {
  DeviceStreams& device = streams_of(number);
  std::vector<OperationPointer> last{device.default_stream.last};
  for (const CUstream_st* stream : device.created) last.push_back(stream->last);
  last.insert(last.end(), device.orphans.begin(), device.orphans.end());
  // Any order is valid. The newest stream runs first: programs rarely expect this order, so a
  // missing synchronisation is likely to show.
  std::reverse(last.begin(), last.end());
  for (const OperationPointer& operation : last) wait_for(operation);
  device.orphans.clear();
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  HOSTCUDA_IN_KERNEL(create_stream(stream, flags));
  HOSTCUDA_API_CALL;
  if (!stream || flags > cudaStreamNonBlocking) return fail(cudaErrorInvalidValue);
  *stream = new CUstream_st;
  (*stream)->device = current_device();
  (*stream)->with_default = flags != cudaStreamNonBlocking;
  streams_of(current_device()).created.push_back(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

// A priority outside the range becomes the nearest one in it, as on a GPU.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (const cudaError_t error = cudaStreamCreateWithFlags(stream, flags)) return error;
  (*stream)->priority = std::clamp(priority, limits::kGreatestPriority, limits::kLeastPriority);
  return cudaSuccess;
}

// Queued work stays queued, as on a GPU. The device keeps the stream's last operation as an orphan.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  HOSTCUDA_IN_KERNEL(destroy_stream(handle));
  HOSTCUDA_API_CALL;
  CUstream_st* stream = find_stream(handle);
  if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread || !stream)
    return fail(cudaErrorInvalidResourceHandle);
  if (stream->capture) leave_capture(*stream);
  DeviceStreams& device = streams_of(stream->device);
  const bool may_be_relied_on = runtime_observer && stream->last;
  if (may_be_relied_on || pending(stream->last)) device.orphans.push_back(stream->last);
  std::erase(device.created, stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  HOSTCUDA_API_CALL_ON(handle);
  if (const cudaError_t error = refuse_waiting(*stream)) return fail(error);
  host_waits();
  wait_for(stream->last);
  return result_of_waiting();
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  HOSTCUDA_API_CALL_ON(handle);
  if (const cudaError_t error = refuse_waiting(*stream)) return fail(error);
  return poll(stream->last) ? cudaSuccess : cudaErrorNotReady;  // not an error: not recorded
}

cudaError_t cudaDeviceSynchronize() {
  HOSTCUDA_API_CALL;
  if (const cudaError_t error = refuse_waiting_for_all()) return fail(error);
  host_waits();
  synchronize_device(current_device());
  return result_of_waiting();
}

cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!function) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  enqueue(
      *stream, [=] { function(data); }, cudaGraphNodeTypeHost);
  describe_node(*stream, cudaHostNodeParams{function, data});
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!flags) return fail(cudaErrorInvalidValue);
  *flags = stream->with_default ? cudaStreamDefault : cudaStreamNonBlocking;
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!priority) return fail(cudaErrorInvalidValue);
  *priority = stream->priority;
  return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!id) return fail(cudaErrorInvalidValue);
  *id = stream->number;
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!device) return fail(cudaErrorInvalidValue);
  *device = stream->device;
  return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!callback || flags) return fail(cudaErrorInvalidValue);
  enqueue(*stream, [=] { callback(handle, result_of_waiting(), data); });
  return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!value) return fail(cudaErrorInvalidValue);
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
      if (!(value->accessPolicyWindow.hitRatio >= 0 && value->accessPolicyWindow.hitRatio <= 1))
        return fail(cudaErrorInvalidValue, "hitRatio must be between 0 and 1");
      stream->window = value->accessPolicyWindow;
      return cudaSuccess;
    case cudaLaunchAttributeSynchronizationPolicy:
      stream->waiting = value->syncPolicy;
      return cudaSuccess;
    case cudaLaunchAttributePriority:
      if (value->priority > limits::kLeastPriority || value->priority < limits::kGreatestPriority)
        return fail(cudaErrorInvalidValue);
      stream->priority = value->priority;
      return cudaSuccess;
    default:
      return fail(cudaErrorInvalidValue);
  }
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!value) return fail(cudaErrorInvalidValue);
  *value = {};
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
      value->accessPolicyWindow = stream->window;
      return cudaSuccess;
    case cudaLaunchAttributeSynchronizationPolicy:
      value->syncPolicy = stream->waiting;
      return cudaSuccess;
    case cudaLaunchAttributePriority:
      value->priority = stream->priority;
      return cudaSuccess;
    default:
      return fail(cudaErrorInvalidValue);
  }
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  HOSTCUDA_API_CALL_ON(to);
  const CUstream_st* source = find_stream(from);
  if (!source) return fail(cudaErrorInvalidResourceHandle);
  stream->window = source->window;
  stream->waiting = source->waiting;
  stream->priority = source->priority;
  return cudaSuccess;
}
