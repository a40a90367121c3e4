// Tests the order of operations that streams, events and host functions guarantee.
#include <vector>

#include "support.h"

namespace {

__global__ void append(int* log, int value) { log[++log[0]] = value; }
__global__ void nothing() {}

class StreamTest : public testing::Test {
 protected:
  // Returns the values that append() has written. The copy is in the default stream, so it runs
  // after the work of first_ and second_.
  std::vector<int> log() const {
    const std::vector<int> all = log_.get();
    return std::vector<int>(all.begin() + 1, all.begin() + 1 + all[0]);
  }
  DeviceArray<int> log_{16, 0};
  const Stream first_, second_;
  const Event event_;
};

TEST_F(StreamTest, OperationsOfAStreamRunInOrder) {
  for (int i = 0; i < 10; ++i) append<<<1, 1, 0, first_>>>(log_, i);
  EXPECT_EQ((std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), log());
}

TEST_F(StreamTest, EventOrdersStreams) {
  append<<<1, 1, 0, first_>>>(log_, 1);
  EXPECT_CUDA(cudaEventRecord(event_, first_));
  EXPECT_CUDA(cudaStreamWaitEvent(second_, event_));
  append<<<1, 1, 0, second_>>>(log_, 2);
  EXPECT_CUDA(cudaStreamSynchronize(second_));
  EXPECT_EQ((std::vector<int>{1, 2}), log());
}

TEST_F(StreamTest, LaterRecordingsDoNotMoveAWait) {
  append<<<1, 1, 0, first_>>>(log_, 1);
  EXPECT_CUDA(cudaEventRecord(event_, first_));
  EXPECT_CUDA(cudaStreamWaitEvent(second_, event_));
  append<<<1, 1, 0, first_>>>(log_, 2);
  EXPECT_CUDA(cudaEventRecord(event_, first_));
  append<<<1, 1, 0, second_>>>(log_, 3);
  EXPECT_CUDA(cudaStreamSynchronize(second_));
  if (streams_are_lazy()) {
    EXPECT_EQ(cudaErrorNotReady, cudaStreamQuery(first_));
  }
  EXPECT_CUDA(cudaDeviceSynchronize());
  cudaGetLastError();
}

TEST_F(StreamTest, DefaultStreamWaitsForOthersAndTheyForIt) {
  append<<<1, 1, 0, first_>>>(log_, 1);
  append<<<1, 1>>>(log_, 2);
  append<<<1, 1, 0, second_>>>(log_, 3);
  EXPECT_CUDA(cudaStreamSynchronize(second_));
  EXPECT_EQ((std::vector<int>{1, 2, 3}), log());
}

TEST_F(StreamTest, NonBlockingStreamDoesNot) {
  cudaStream_t free_stream = nullptr;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking));
  append<<<1, 1, 0, free_stream>>>(log_, 1);
  nothing<<<1, 1>>>();
  EXPECT_CUDA(cudaStreamSynchronize(nullptr));
  if (streams_are_lazy()) {
    EXPECT_TRUE(log().empty());
    EXPECT_EQ(cudaErrorNotReady, cudaStreamQuery(free_stream));
    EXPECT_CUDA(cudaGetLastError());  // CUDA 13 on an H200 does not record this state as an error
  }
  EXPECT_CUDA(cudaStreamDestroy(free_stream));  // the stream's work is not lost
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ((std::vector<int>{1}), log());
}

TEST_F(StreamTest, LazyRunsOnlyWhatIsWaitedFor) {
  if (!streams_are_lazy()) GTEST_SKIP();
  append<<<1, 1, 0, first_>>>(log_, 1);
  append<<<1, 1, 0, second_>>>(log_, 2);
  EXPECT_CUDA(cudaStreamSynchronize(second_));
  EXPECT_EQ(cudaErrorNotReady, cudaStreamQuery(first_));
  EXPECT_EQ((std::vector<int>{2, 1}), log());
  cudaGetLastError();
}

TEST_F(StreamTest, PollingEnds) {
  append<<<1, 1, 0, first_>>>(log_, 1);
  EXPECT_CUDA(cudaEventRecord(event_, first_));
  int polls = 0;
  while (cudaEventQuery(event_) == cudaErrorNotReady) ASSERT_LT(++polls, 100);
  EXPECT_EQ(cudaSuccess, cudaStreamQuery(first_));
  EXPECT_CUDA(cudaGetLastError());
}

TEST_F(StreamTest, ElapsedTime) {
  const Event end;
  cudaEvent_t untimed = nullptr;
  EXPECT_CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  float milliseconds = -1;
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, event_, end));
  EXPECT_CUDA(cudaEventRecord(event_, first_));
  append<<<1, 1, 0, first_>>>(log_, 1);
  EXPECT_CUDA(cudaEventRecord(end, first_));
  if (streams_are_lazy()) {
    EXPECT_EQ(cudaErrorNotReady, cudaEventElapsedTime(&milliseconds, event_, end));
  }
  EXPECT_CUDA(cudaEventSynchronize(end));
  EXPECT_CUDA(cudaEventElapsedTime(&milliseconds, event_, end));
  EXPECT_GE(milliseconds, 0);
  EXPECT_LT(milliseconds, 10000);
  EXPECT_CUDA(cudaEventRecord(untimed, first_));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, event_, untimed));
  EXPECT_CUDA(cudaEventDestroy(untimed));
  cudaGetLastError();
}

void add_to_host(void* data) { *static_cast<int*>(data) += 10; }

TEST_F(StreamTest, HostFunctionsRunInOrder) {
  int* host = nullptr;
  EXPECT_CUDA(cudaMallocHost(&host, sizeof *host));
  *host = 1;
  EXPECT_CUDA(cudaLaunchHostFunc(first_, add_to_host, host));
  EXPECT_CUDA(cudaMemcpyAsync(log_, host, sizeof *host, cudaMemcpyHostToDevice, first_));
  EXPECT_CUDA(cudaStreamSynchronize(first_));
  EXPECT_EQ(11, *host);
  EXPECT_EQ(11, log_.get()[0]);
  EXPECT_CUDA(cudaFreeHost(host));
}

TEST_F(StreamTest, LibrariesAppendWorkOfTheirOwn) {
  append<<<1, 1, 0, first_>>>(log_, 1);
  int* log = log_;
  EXPECT_CUDA(hostcuda::enqueue_work(first_, [log] { log[1] += 5; }));
  EXPECT_CUDA(cudaStreamSynchronize(first_));
  EXPECT_EQ((std::vector<int>{6}), this->log());
}

TEST_F(StreamTest, ThousandsOfOperationsMayBeQueued) {
  DeviceArray<int> counter(2, 0);
  for (int i = 0; i < 20000; ++i)
    EXPECT_CUDA(cudaMemsetAsync(counter, i % 7, sizeof(int), i % 2 ? first_ : second_));
  EXPECT_CUDA(cudaDeviceSynchronize());
}

TEST_F(StreamTest, HasANumberAndADevice) {
  const Stream one, other;
  unsigned long long ids[3] = {};
  EXPECT_CUDA(cudaStreamGetId(one, &ids[0]));
  EXPECT_CUDA(cudaStreamGetId(other, &ids[1]));
  EXPECT_CUDA(cudaStreamGetId(nullptr, &ids[2]));
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[0], ids[2]);
  int current = 0, device = -1;
  EXPECT_CUDA(cudaGetDevice(&current));
  EXPECT_CUDA(cudaStreamGetDevice(one, &device));
  EXPECT_EQ(current, device);
}

TEST_F(StreamTest, HasAPriorityWithinTheRange) {
  int least = 1, greatest = 1, supported = 0;
  EXPECT_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);  // as on an H200
  EXPECT_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrStreamPrioritiesSupported, 0));
  EXPECT_EQ(supported, 1);
  for (const auto& [asked, expected] : {std::pair(0, 0), {-3, -3}, {-9, greatest}, {4, least}}) {
    cudaStream_t stream = nullptr;
    int priority = 1;
    EXPECT_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, asked));
    EXPECT_CUDA(cudaStreamGetPriority(stream, &priority));
    EXPECT_EQ(priority, expected) << asked;
    cudaStreamAttrValue value = {};
    EXPECT_CUDA(cudaStreamGetAttribute(stream, cudaStreamAttributePriority, &value));
    EXPECT_EQ(value.priority, expected);
    EXPECT_CUDA(cudaStreamDestroy(stream));
  }
}

TEST_F(StreamTest, UnknownHandlesAreRefused) {
  cudaStream_t gone = nullptr;
  EXPECT_CUDA(cudaStreamCreate(&gone));
  EXPECT_CUDA(cudaStreamDestroy(gone));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(gone));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaEventRecord(event_, gone));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaEventSynchronize(nullptr));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaStreamDestroy(nullptr));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

TEST_F(StreamTest, AttributesAreKept) {
  cudaStreamAttrValue value = {}, got = {};
  value.accessPolicyWindow.num_bytes = 100;
  value.accessPolicyWindow.hitRatio = 0.5f;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  EXPECT_CUDA(cudaStreamSetAttribute(first_, cudaStreamAttributeAccessPolicyWindow, &value));
  EXPECT_CUDA(cudaStreamCopyAttributes(second_, first_));
  EXPECT_CUDA(cudaStreamGetAttribute(second_, cudaStreamAttributeAccessPolicyWindow, &got));
  EXPECT_EQ(100u, got.accessPolicyWindow.num_bytes);
  EXPECT_EQ(cudaAccessPropertyPersisting, got.accessPolicyWindow.hitProp);
  value.accessPolicyWindow.hitRatio = 1.5f;
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaStreamSetAttribute(first_, cudaStreamAttributeAccessPolicyWindow, &value));
  cudaGetLastError();
}

TEST_F(StreamTest, EachThreadHasADefaultStream) {
  DeviceArray<int> out(1);
  EXPECT_CUDA(cudaMemsetAsync(out, 1, sizeof(int), cudaStreamPerThread));
  EXPECT_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT_EQ(0x01010101, out.get()[0]);
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaStreamDestroy(cudaStreamPerThread));
}

}  // namespace
