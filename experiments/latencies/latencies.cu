// latencies -- measures the times of three things: starts of kernels, graph nodes and dependent
// launches; barriers of a grid, a cluster and a block; and loads from another SM, from L2 and from
// shared memory.
//
// Where possible, one kernel executes all operations in sequence. The cost of launching that kernel
// cancels out, because measure() takes differences.
#include <algorithm>
#include <map>
#include <utility>

#include "barriers.cuh"
#include "issue.cuh"
#include "latencies.h"
#include "launches.cuh"
#include "loads.cuh"
#include "nbody/cuda.h"
#include "nbody/stopwatch.h"

namespace latencies {
namespace {

using Kernel = void (*)(unsigned* words, unsigned* wrong, int operations);
using Launched = void (*)(unsigned* words, unsigned* wrong, unsigned number);

// Holds the kernels' data: words, the initial values of these words, and a count of errors.
class Words {
 public:
  explicit Words(std::vector<unsigned> first) : first_(std::move(first)), words_(first_.size()) {}
  void reset() {
    nbody::upload(first_, words_);
    nbody::upload({0}, wrong_);
  }
  std::vector<unsigned> now() const {
    std::vector<unsigned> words(first_.size());
    nbody::download(words_, words);
    return words;
  }
  unsigned* get() const { return words_.get(); }
  unsigned* wrong() const { return wrong_.get(); }
  unsigned count() const {
    std::vector<unsigned> count(1);
    nbody::download(wrong_, count);
    return count[0];
  }

 private:
  std::vector<unsigned> first_;
  nbody::DeviceArray<unsigned> words_, wrong_{1};
};

std::vector<unsigned> boards(unsigned parties) { return std::vector<unsigned>(1 + 2 * parties); }

// The launch configuration of a kernel, with one attribute or none.
struct Attributed {
  explicit Attributed(const Shape& shape, cudaStream_t stream = nullptr) {
    config.gridDim = dim3(static_cast<unsigned>(shape.blocks));
    config.blockDim = dim3(static_cast<unsigned>(shape.threads));
    config.stream = stream;
    config.attrs = &attribute;
  }
  Attributed(const Attributed&) = delete;
  Attributed& operator=(const Attributed&) = delete;
  void cooperative() {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.numAttrs = 1;
  }
  void clusters_of(int blocks) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.numAttrs = 1;
  }
  void dependent() {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.numAttrs = 1;
  }
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
};

enum class Together { no, grid, cluster };  // which blocks must be resident at the same time

// One kernel executes all operations.
class InOneKernel : public Chain {
 public:
  InOneKernel(const Shape& shape, Together together, Kernel timed, Kernel checked,
              std::vector<unsigned> words)
      : launch_(shape), timed_(timed), checked_(checked), words_(std::move(words)) {
    if (together == Together::grid) launch_.cooperative();
    if (together == Together::cluster) launch_.clusters_of(shape.cluster);
    if (shape.cluster <= kPortableCluster) return;
    for (const Kernel kernel : {timed, checked}) {
      CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    }
  }
  // True if the device has room for a cluster of this size.
  bool fits() {
    int clusters = 0;
    const bool answered =
        cudaOccupancyMaxActiveClusters(&clusters, timed_, &launch_.config) == cudaSuccess;
    if (!answered) cudaGetLastError();  // clears the error for the next check
    return answered && clusters > 0;
  }
  double seconds(int operations) override {
    words_.reset();
    start_.record();
    run(timed_, operations);
    stop_.record();
    return nbody::seconds_between(start_, stop_);
  }
  unsigned wrong(int operations) override {
    words_.reset();
    run(checked_, operations);
    return words_.count();
  }

 private:
  static constexpr int kPortableCluster = 8;
  void run(Kernel kernel, int operations) {
    CUDA_CHECK(
        cudaLaunchKernelEx(&launch_.config, kernel, words_.get(), words_.wrong(), operations));
  }
  Attributed launch_;
  Kernel timed_, checked_;
  Words words_;
  nbody::Event start_, stop_;
};

// Each operation is the launch of a kernel in the same stream.
class Launches : public Chain {
 public:
  Launches(const Shape& shape, bool dependent)
      : launch_(shape, stream_.get()),
        timed_(dependent ? launched<true, false> : launched<false, false>),
        checked_(dependent ? launched<true, true> : launched<false, true>),
        words_(boards(static_cast<unsigned>(shape.blocks))) {
    if (dependent) launch_.dependent();
  }
  double seconds(int operations) override {
    words_.reset();
    prepare(timed_, operations);
    start_.record(stream_.get());
    run(timed_, operations);
    stop_.record(stream_.get());
    return nbody::seconds_between(start_, stop_);
  }
  unsigned wrong(int operations) override {
    words_.reset();
    prepare(checked_, operations);
    run(checked_, operations);
    CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    // The last launch must have written its number as well.
    const auto last = static_cast<unsigned>(operations);
    const bool all = std::ranges::count(words_.now(), last) == launch_.config.gridDim.x;
    return words_.count() + (all ? 0 : 1);
  }

 protected:
  virtual void prepare(Launched, int) {}
  virtual void run(Launched kernel, int operations) {
    for (int number = 1; number <= operations; ++number) launch(kernel, number);
  }
  void launch(Launched kernel, int number) {
    CUDA_CHECK(cudaLaunchKernelEx(&launch_.config, kernel, words_.get(), words_.wrong(),
                                  static_cast<unsigned>(number)));
  }
  cudaStream_t stream() const { return stream_.get(); }

 private:
  nbody::Stream stream_;
  Attributed launch_;
  Launched timed_, checked_;
  Words words_;
  nbody::Event start_, stop_;
};

// The host waits for each launch before it makes the next one. The host's clock measures the time.
class LaunchesAndWaits : public Launches {
 public:
  explicit LaunchesAndWaits(const Shape& shape) : Launches(shape, false) {}
  double seconds(int operations) override {
    CUDA_CHECK(cudaDeviceSynchronize());
    const nbody::Stopwatch stopwatch;
    Launches::seconds(operations);
    return stopwatch.seconds();
  }

 private:
  void run(Launched kernel, int operations) override {
    for (int number = 1; number <= operations; ++number) {
      launch(kernel, number);
      CUDA_CHECK(cudaStreamSynchronize(stream()));
    }
  }
};

// Captures the same launches as one graph and times the launch of the graph.
class GraphNodes : public Launches {
 public:
  using Launches::Launches;

 private:
  using Graph = nbody::Owner<cudaGraphExec_t, cudaGraphExecDestroy>;

  void prepare(Launched kernel, int operations) override {
    Graph& graph = graphs_[{kernel, operations}];
    if (graph.get() == nullptr) graph = captured(kernel, operations);
  }
  void run(Launched kernel, int operations) override {
    CUDA_CHECK(cudaGraphLaunch(graphs_.at({kernel, operations}).get(), stream()));
  }
  Graph captured(Launched kernel, int operations) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
    Launches::run(kernel, operations);
    CUDA_CHECK(cudaStreamEndCapture(stream(), &graph));
    const nbody::Owner<cudaGraph_t, cudaGraphDestroy> captured(graph);
    CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    return Graph(executable);
  }
  std::map<std::pair<Launched, int>, Graph> graphs_;
};

template <class Barrier>
Latency barrier(const std::string& name, const Shape& shape, Together together, int parties) {
  return {name, shape, [=] {
            return std::make_unique<InOneKernel>(shape, together, barriers<Barrier, false>,
                                                 barriers<Barrier, true>,
                                                 boards(static_cast<unsigned>(parties)));
          }};
}

// The timed kernel also serves as the check, because its result shows whether it ran correctly.
Latency checks_itself(const std::string& name, const Shape& shape, Together together, Kernel kernel,
                      const std::vector<unsigned>& words) {
  return {name, shape,
          [=] { return std::make_unique<InOneKernel>(shape, together, kernel, kernel, words); }};
}

template <class Kind, class... Arguments>
Latency launches(const std::string& name, const Shape& shape, Arguments... arguments) {
  return {name, shape, [=] { return std::make_unique<Kind>(shape, arguments...); }};
}

std::vector<unsigned> global_links() {
  std::vector<unsigned> links(kGlobalLinks);
  for (unsigned i = 0; i < kGlobalLinks; ++i) links[i] = (i + kGlobalStride) % kGlobalLinks;
  return links;
}

void add_those_of_clusters(std::vector<Latency>& all) {
  for (const int size : {2, 4, 8, 16}) {
    const Shape shape{.blocks = size, .threads = 128, .cluster = size};
    InOneKernel probe(shape, Together::cluster, barriers<ClusterBarrier, false>,
                      barriers<ClusterBarrier, true>, boards(1));
    if (!probe.fits()) continue;
    all.push_back(barrier<ClusterBarrier>("cluster_barrier", shape, Together::cluster, size));
  }
  for (const int size : {2, 8}) {
    const Shape shape{.blocks = size, .threads = 128, .cluster = size};
    all.push_back(checks_itself("distributed_shared_load", shape, Together::cluster,
                                shared_loads<true>, boards(1)));
  }
}

// Occupies all SMs with eight warps per scheduler. An operation is one iteration of the loop.
template <int kFma, int kRoots, int kShuffles>
Latency issued(int sms) {
  const std::string name = "issue_" + std::to_string(kFma) + "_fma_" + std::to_string(kRoots) +
                           "_mufu_" + std::to_string(kShuffles) + "_shfl";
  return checks_itself(name, {sms, 1024}, Together::no, issue<kFma, kRoots, kShuffles>,
                       {0x3f800000u, 0u});
}

}  // namespace

std::vector<Latency> all_latencies() {
  const int sms = nbody::device_attribute(cudaDevAttrMultiProcessorCount);
  const bool clusters = nbody::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
  const Shape one_per_sm{.blocks = sms, .threads = 128}, two_per_sm{2 * sms, 128};
  std::vector<Latency> all{launches<Launches>("launch", one_per_sm, false),
                           launches<LaunchesAndWaits>("launch_and_wait", one_per_sm),
                           launches<GraphNodes>("graph_node", one_per_sm, false)};
  if (clusters) {
    all.push_back(launches<Launches>("dependent_launch", one_per_sm, true));
    all.push_back(launches<GraphNodes>("dependent_graph_node", one_per_sm, true));
  }
  for (const Shape& shape : {one_per_sm, two_per_sm}) {
    all.push_back(barrier<GridBarrier>("grid_barrier", shape, Together::grid, shape.blocks));
    all.push_back(barrier<OwnBarrier>("own_grid_barrier", shape, Together::grid, shape.blocks));
  }
  if (clusters) add_those_of_clusters(all);
  for (const int threads : {128, 512, 1024}) {
    all.push_back(barrier<BlockBarrier>("block_barrier", {1, threads}, Together::no, threads));
  }
  all.push_back(
      checks_itself("shared_load", {1, 128}, Together::no, shared_loads<false>, boards(1)));
  all.push_back(checks_itself("global_load", {1, 128}, Together::no, global_loads, global_links()));
  all.push_back(checks_itself("global_round_trip", {2, 32}, Together::grid, round_trips,
                              std::vector<unsigned>(128)));
  for (const Latency& mix : {issued<16, 0, 0>(sms), issued<16, 1, 0>(sms), issued<12, 1, 0>(sms),
                             issued<8, 1, 0>(sms), issued<16, 0, 1>(sms), issued<16, 0, 2>(sms)}) {
    all.push_back(mix);
  }
  return all;
}

std::vector<double> measure(Chain& chain, int operations, int warmup, int repeat) {
  const int few = operations / 10 + 1;
  std::vector<double> latencies;
  for (int k = 0; k < warmup + repeat; ++k) {
    const double shorter = chain.seconds(few), longer = chain.seconds(few + operations);
    if (k >= warmup) latencies.push_back((longer - shorter) / operations);
  }
  return latencies;
}

nbody::Platform platform() { return nbody::platform_of(nbody::query_device()); }

}  // namespace latencies
