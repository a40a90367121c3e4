// Sums up, for each kernel, the counters that launcher/counting.py inserted into the program. When
// the process ends, writes the sums to the file whose path is in HOSTCUDA_COUNT.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "execution/block.h"
#include "execution/block_state.h"
#include "execution/warp_calls.h"
#include "records/json.h"
#include "support/config.h"
#include "support/fault.h"

// The data of one source file, in the layout that counting.py writes. Each line of the table
// describes one kind of operation in one basic block: the block's number, the source line, the
// operation's type and name, the number of such operations, and the file.
struct Module {
  std::uint64_t* counts;  // how often each basic block was entered
  std::uint64_t size;
  const char* table;
  const char* reader;
};

extern "C" {
extern char hostcuda_reads_counts;
char hostcuda_reads_counts;  // makes the linker include this file if the program has modules
extern Module __start_hostcuda_counts, __stop_hostcuda_counts;
}

namespace {

constexpr const char* kVariable = "HOSTCUDA_COUNT";

struct Kernel {
  std::string name;
  std::uint64_t launches = 0, blocks = 0, threads = 0;
  std::vector<std::uint64_t> counts;  // the modules' counts, one module after another
  hostcuda::WarpCounts warp_calls;
};

class Counter final : public hostcuda::KernelObserver {
 public:
  void grid_begins(const hostcuda::Launch& launch) override {
    const std::string name = launch.site.kernel;
    const auto known = std::find_if(kernels_.begin(), kernels_.end(),
                                    [&](const Kernel& kernel) { return kernel.name == name; });
    running_ = static_cast<std::size_t>(known - kernels_.begin());
    if (known == kernels_.end()) kernels_.emplace_back().name = name;
    Kernel& kernel = kernels_[running_];
    ++kernel.launches;
    kernel.blocks += launch.blocks();
    kernel.threads += launch.blocks() * launch.threads();
    take(nullptr);  // discards the counts of host code since the last block
  }
  void block_ended() override { take(&kernels_[running_].counts); }
  void block_begins(const hostcuda::BlockState&) override {}
  void block_pauses() override {}
  void block_resumes(const hostcuda::BlockState&) override {}
  void shared_variable(void*, std::size_t, const void*, const char*) override {}
  void barrier_passed(const hostcuda::BlockState&, hostcuda::Scope) override {}
  void barrier_diverged(const hostcuda::BlockState&) override {}
  void warp_met(unsigned, hostcuda::WarpOperation operation, unsigned lanes) override {
    kernels_[running_].warp_calls.add(operation, lanes);
  }

  const std::vector<Kernel>& kernels() const { return kernels_; }

 private:
  static void take(std::vector<std::uint64_t>* sums) {
    std::size_t at = 0;
    for (const Module* module = &__start_hostcuda_counts; module != &__stop_hostcuda_counts;
         ++module) {
      if (sums && sums->size() < at + module->size) sums->resize(at + module->size);
      for (std::uint64_t i = 0; i < module->size; ++i, ++at)
        if (sums) (*sums)[at] += module->counts[i];
      std::fill_n(module->counts, module->size, 0);
    }
  }

  std::vector<Kernel> kernels_;
  std::size_t running_ = 0;
};

Counter* counter;

hostcuda::Json operations(const Kernel& kernel) {
  std::map<std::tuple<std::string, int, std::string, std::string>, std::uint64_t> sums;
  std::size_t first = 0;
  for (const Module* module = &__start_hostcuda_counts; module != &__stop_hostcuda_counts;
       first += module->size, ++module) {
    std::istringstream table(module->table);
    for (std::string row; std::getline(table, row);) {
      std::istringstream cells(row);
      std::size_t block = 0;
      int line = 0;
      std::uint64_t number = 0;
      std::string type, operation, file;
      cells >> block >> line >> type >> operation >> number >> std::ws;
      std::getline(cells, file);
      const std::size_t at = first + block;
      if (at < kernel.counts.size() && kernel.counts[at])
        sums[{file, line, type, operation}] += number * kernel.counts[at];
    }
  }
  hostcuda::Json list = hostcuda::Json::array();
  for (const auto& [what, count] : sums)
    list.push_back({{"file", std::get<0>(what)},
                    {"line", std::get<1>(what)},
                    {"type", std::get<2>(what)},
                    {"operation", std::get<3>(what)},
                    {"count", count}});
  return list;
}

void write_record() {
  hostcuda::Json kernels = hostcuda::Json::array();
  for (const Kernel& kernel : counter->kernels())
    kernels.push_back({{"name", kernel.name},
                       {"launches", kernel.launches},
                       {"blocks", kernel.blocks},
                       {"threads", kernel.threads},
                       {"shuffles", kernel.warp_calls.shuffles.as_json()},
                       {"votes", kernel.warp_calls.votes.as_json()},
                       {"operations", operations(kernel)}});
  const char* path = std::getenv(kVariable);
  std::ofstream file(path);
  file << hostcuda::Json{{"kernels", kernels}}.text() << "\n" << std::flush;
  if (file) return;
  std::fprintf(stderr, "hostcuda: %s: cannot be written\n", path);
  std::_Exit(1);
}

__attribute__((constructor)) void start() {
  if (!std::getenv(kVariable)) return;
  hostcuda::allow_variable(kVariable);
  counter = new Counter;  // never destroyed, because it is used until the process ends
  hostcuda::kernel_observer = counter;
  std::atexit(write_record);
  hostcuda::call_before_death(
      write_record);  // if a kernel fails, writes the counts up to the error
}

}  // namespace
