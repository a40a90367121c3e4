// Calls the function of an assignment (course/assignments) and records its results and times:
// PROGRAM PROBLEMS RESULTS CALLS COPIES KEPT FILL. The grader compares the results with
// float64; this program does not know the right results. nbody_tools/assignments/tests.py writes
// PROBLEMS and reads RESULTS. For timing on a GPU, device memory holds COPIES copies of a problem's
// systems, one after the other. Only the result of copy KEPT is recorded, so that the files stay
// small. Before each call, every byte of the result is FILL. If a call failed in solve() and the
// GPU still works, the result counts, but the program ends with exit code 1 after all problems.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "assignment.h"
#include "refuse_exec.h"

namespace {

// Runs before the submission's static objects are constructed. Fails on a Linux kernel without
// seccomp; the grader reports this.
[[gnu::constructor(101)]] void start_no_program() { nbody::grading::refuse_exec(); }

void call([[maybe_unused]] void* const* a, int systems, int count, void* result) {
#include "glue.inc"
}

struct Head {
  std::int32_t systems, count, arrays, bytes;  // bytes of the result
};

bool read(std::FILE* file, void* to, std::size_t bytes) {
  return bytes == 0 || std::fread(to, bytes, 1, file) == 1;
}

bool failed(const char* what) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  return error != cudaSuccess;
}

// Says why the GPU cannot be used; timing.py looks for this message.
bool says_why() {
  std::fprintf(stderr, "before solve(): %s\n", cudaGetErrorString(cudaGetLastError()));
  return true;
}

struct Runs {
  int calls = 1, copies = 1, kept = 0, fill = 0;
};

// Reads an array and copies it `copies` times to device memory of exactly this size.
void* copied_array(std::FILE* file, int copies) {
  std::int64_t bytes = 0;
  if (!read(file, &bytes, sizeof bytes)) return nullptr;
  std::vector<char> host(bytes);
  char* device = nullptr;
  if (!read(file, host.data(), host.size()) || cudaMalloc(&device, bytes * copies) != cudaSuccess ||
      cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess)
    return nullptr;
  for (int k = 1; k < copies; ++k)
    if (cudaMemcpy(device + k * bytes, device, bytes, cudaMemcpyDeviceToDevice) != cudaSuccess)
      return nullptr;
  return device;
}

bool answer(const Head& head, std::FILE* problems, std::FILE* results, const Runs& runs,
            bool* has_failed) {
  std::vector<void*> arrays(head.arrays);
  for (void*& array : arrays)
    if ((array = copied_array(problems, runs.copies)) == nullptr) return !says_why();
  std::vector<char> host(head.bytes);
  const std::size_t bytes = host.size() * runs.copies;
  char* result = nullptr;
  cudaEvent_t begin, end;
  if (cudaMalloc(&result, bytes) != cudaSuccess) return !says_why();
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float least = 0;
  for (int k = 0; k < runs.calls; ++k) {
    cudaMemset(result, runs.fill, bytes);
    cudaDeviceSynchronize();
    cudaEventRecord(begin);
    call(arrays.data(), head.systems * runs.copies, head.count, result);
    cudaEventRecord(end);
    cudaDeviceSynchronize();
    // Asking for the error would stop hostcuda's tracer from naming the failed call and its line.
    if (!std::getenv("HOSTCUDA_TRACE")) *has_failed |= failed("after solve()");
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    if (k == 0 || milliseconds < least) least = milliseconds;
  }
  if (cudaMemcpy(host.data(), result + host.size() * runs.kept, host.size(),
                 cudaMemcpyDeviceToHost) != cudaSuccess)
    return false;
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaFree(result);
  for (void* array : arrays) cudaFree(array);
  const double seconds = least * 1e-3;
  return std::fwrite(&seconds, sizeof seconds, 1, results) == 1 &&
         std::fwrite(host.data(), host.size(), 1, results) == 1 && std::fflush(results) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Runs runs;
  if (argc != 7) return 2;
  int* const numbers[] = {&runs.calls, &runs.copies, &runs.kept, &runs.fill};
  for (int k = 0; k < 4; ++k)
    if (std::sscanf(argv[3 + k], "%d", numbers[k]) != 1) return 2;
  std::FILE* const problems = std::fopen(argv[1], "rb");
  std::FILE* const results = std::fopen(argv[2], "r+b");
  if (problems == nullptr || results == nullptr) return 2;
  Head head;
  bool has_failed = false;
  while (read(problems, &head, sizeof head))
    if (!answer(head, problems, results, runs, &has_failed)) return 1;
  std::fclose(results);
  std::fclose(problems);
  return has_failed;
}
