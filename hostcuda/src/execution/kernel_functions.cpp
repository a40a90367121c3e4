// The functions that kernels call: each finds the running block, and ends the process in host code.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cooperative_groups.h"
#include "execution/block.h"
#include "execution/report.h"
#include "runtime/api.h"
#include "support/source_line.h"

namespace hostcuda {
namespace {

BlockRunner& require_block(const char* what, const char* file, int line) {
  if (!running_block) report_outside_kernel(what, file, line);
  return *running_block;
}

}  // namespace

void block_barrier(const char* file, int line) {
  require_block("__syncthreads()", file, line).barrier(file, line);
}

void warp_call(WarpRequest& request, const char* file, int line) {
  require_block("a warp function", file, line).warp_call(request, file, line);
}

unsigned counting_barrier(bool predicate, const char* file, int line) {
  return require_block("__syncthreads_count()", file, line).counting_barrier(predicate, file, line);
}

void yield() {
  if (running_block) running_block->yield();
  spins = 0;
}

void sync_blocks(Scope scope, const char* file, int line) {
  require_block(barrier_name(scope), file, line).sync(scope, file, line);
}

void arrive_at(Scope scope, const char* file, int line) {
  require_block(barrier_name(scope), file, line).arrive(scope, file, line);
}

void wait_at(Scope scope, const char* file, int line) {
  require_block(barrier_name(scope), file, line).wait_for(scope, file, line);
}

void require_cluster(dim3 cluster) { require_block("a kernel", "?", 0).require_cluster(cluster); }

std::size_t to_window(const void* address, const char* file, int line) {
  return require_block("__cvta_generic_to_shared", file, line).to_window(address, file, line);
}
void* from_window(std::size_t window, const char* file, int line) {
  return require_block("__cvta_shared_to_generic", file, line).from_window(window, file, line);
}
bool is_shared(const void* address) { return running_block && running_block->is_shared(address); }
void* map_shared(void* address, unsigned rank, const char* file, int line) {
  return require_block("map_shared_rank", file, line).map_shared(address, rank, file, line);
}

dim3 cluster_shape() { return require_block("a cluster", "?", 0).launch().cluster; }

bool launch_is_cooperative() { return require_block("a grid", "?", 0).launch().cooperative; }

// Nobody waits for the error of a grid that a kernel has launched, so such a grid ends the process.
void refuse_launch_bounds(unsigned allowed) {
  BlockRunner& block = require_block("a kernel", "?", 0);
  if (block.launch().depth > 0) report_launch_bounds(block, allowed);
  block.launch().family->refuse(allowed);
  block.abandon();
}

void refuse_block_size(const char* what, unsigned threads) {
  report_block_size(require_block(what, "?", 0), what, threads);
}

void trap(const char* file, int line) {
  BlockRunner& block = require_block("__trap()", file, line);
  report_trap(block, file, line);
  break_context(cudaErrorLaunchFailure);
  block.abandon();
}

void leave_surface(long x_bytes, long y, long z, const Texture& surface) {
  const CodePlace place = place_in_program({__builtin_return_address(0)});
  BlockRunner& block = require_block("a surface", place.text().c_str(), 0);
  const auto text = [](const char* width, auto x, auto row, auto slice) {
    return std::to_string(x) + width + std::to_string(row) + ", " + std::to_string(slice);
  };
  report_outside_surface(
      block, place.text(), text(" bytes, ", x_bytes, y, z),
      text(" bytes, ", surface.width * surface.texel, surface.height, surface.depth));
  break_context(cudaErrorLaunchFailure);
  block.abandon();
}

long long clock_ticks() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

int lane() { return require_block("a warp function", "?", 0).lane(); }
bool in_kernel() { return running_block != nullptr; }

bool begin_shared_variable(void* address, std::size_t size, const char* name, bool counts) {
  BlockRunner& block = require_block("a __shared__ variable", name, 0);
  return block.begin_shared_variable(address, size, name, counts);
}

void* dynamic_shared_memory() {
  return require_block("extern __shared__", "declared outside a kernel", 0).dynamic_shared();
}

}  // namespace hostcuda

using namespace hostcuda;

// assert() of <assert.h> calls this function, which replaces the C library's. A failed assertion in
// a kernel ends the grid, not the process.
extern "C" void __assert_fail(const char* expression, const char* file, unsigned line,
                              const char* function) noexcept {
  if (!running_block) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    std::abort();
  }
  report_assertion(*running_block, expression, file, line, function);
  break_context(cudaErrorAssert);
  running_block->abandon();
}
