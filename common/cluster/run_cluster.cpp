// The main program of a step on several ranks: the root runs it, the others help.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <thread>

#include "cluster/transport.h"
#include "cluster/watchdog.h"
#include "nbody/cuda.h"
#include "nbody/error.h"
#include "nbody/tuning.h"
#include "run/program.h"

namespace nbody {
namespace {

// What the ranks tell one another before they begin.
struct Identity {
  char host[64] = {};
  int pid = 0;
  std::size_t arguments = 0;
  char build[64] = {};
  char device[192] = {};
  char place[32] = {};       // of the device on its host; "" where devices are not shared
  char no_device[192] = {};  // why not

  std::string name(int rank) const {
    return "rank " + std::to_string(rank) + " (" + host + ", process " + std::to_string(pid) + ")";
  }
};

template <std::size_t kSize>
void set(char (&field)[kSize], const std::string& text) {
  std::strncpy(field, text.c_str(), kSize - 1);
}

// Every process has its own device: by Slurm it sees no other, otherwise it takes the one that its
// number on this host says.
void take_device(MPI_Comm comm) {
  MPI_Comm host;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0)
    CUDA_CHECK(cudaSetDevice(rank_in(host) % devices));
  MPI_Comm_free(&host);
}

Identity identity(const QueryPlatform query, int argc, char** argv, std::string& backend) {
  Identity own;
  gethostname(own.host, sizeof own.host - 1);
  own.pid = getpid();
  std::string arguments;
  for (int k = 1; k < argc; ++k) arguments += std::string(argv[k]) + '\0';
  own.arguments = std::hash<std::string>()(arguments);
  try {
    const Platform platform = query();
    backend = platform.backend;
    set(own.build, std::string(revision()) + ", " + backend + platform.cuda);
    set(own.device, platform.device_name + ", " +
                        std::to_string(device_attribute(cudaDevAttrMultiProcessorCount)) +
                        " multiprocessors");
    if (backend == "cuda") {
      int device = 0;
      cudaDeviceProp properties{};
      CUDA_CHECK(cudaGetDevice(&device));
      CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
      set(own.place, "PCI device " + std::to_string(properties.pciDomainID) + ":" +
                         std::to_string(properties.pciBusID) + ":" +
                         std::to_string(properties.pciDeviceID));
    }
  } catch (const NoDevice& error) {
    set(own.no_device, error.what());
  }
  return own;
}

std::vector<Identity> all_identities(MPI_Comm comm, const Identity& own) {
  std::vector<Identity> all(static_cast<std::size_t>(count_of(comm)));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm);
  return all;
}

// On all ranks alike, so that all end together.
void require_agreement(const std::vector<Identity>& all) {
  std::set<std::string> taken;
  bool some_device = false;
  for (const Identity& one : all) some_device = some_device || one.no_device[0] == '\0';
  for (std::size_t r = 0; r < all.size(); ++r) {
    const Identity &one = all[r], &root = all[0];
    const std::string name = one.name(static_cast<int>(r));
    if (!some_device) throw NoDevice(one.no_device);
    if (one.no_device[0] != '\0') throw std::runtime_error(name + " has " + one.no_device);
    if (one.arguments != root.arguments)
      throw UsageError(name + " was started with other arguments than rank 0");
    if (std::strcmp(one.build, root.build) != 0)
      throw std::runtime_error(name + " is another build (" + one.build + ") than rank 0 (" +
                               root.build + ")");
    if (std::strcmp(one.device, root.device) != 0)
      throw std::runtime_error(name + " has another device (" + one.device + ") than rank 0 (" +
                               root.device + "): their sums would differ");
    if (one.place[0] != '\0' && !taken.insert(std::string(one.host) + one.place).second)
      throw std::runtime_error(name + " has no device of its own: " + one.place +
                               " is another rank's");
  }
}

struct Order {
  bool simulate = false;  // otherwise the run has ended
  int exit_code = 0;
  Run run{};
  int systems = 0, bodies = 0;
  Distribution asked = Distribution::automatic;
  std::size_t shapes = 0;
};

// What run_step's plain functions need.
struct State {
  MPI_Comm comm = MPI_COMM_WORLD;
  Simulate simulate = nullptr;
  std::unique_ptr<Cluster> cluster;
  std::optional<Watchdog> watchdog;
  bool given_up = false;
};
State& state() {
  static State state;
  return state;
}

// Waits without taking a core from the root, which may be busy with its validation.
void receive(void* data, std::size_t bytes) {
  MPI_Request request;
  MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, 0, state().comm, &request);
  const Stopwatch stopwatch;
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;)
    if (stopwatch.seconds() > 2e-3) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void give(Order order) {
  std::vector<TunedShape>& shapes = tuning().shapes;
  order.shapes = shapes.size();
  receive(&order, sizeof order);
  if (order.shapes > 0) receive(shapes.data(), order.shapes * sizeof shapes[0]);
}

Order take() {
  Order order;
  receive(&order, sizeof order);
  tuning().shapes.resize(order.shapes);
  if (order.shapes > 0) receive(tuning().shapes.data(), order.shapes * sizeof(TunedShape));
  return order;
}

Timing simulate_on_all(const Run& run, Systems& systems) {
  try {
    give({.simulate = true,
          .run = run,
          .systems = systems.count,
          .bodies = systems.bodies_per_system,
          .asked = ranks().asked});
    return state().simulate(run, systems);
  } catch (const std::exception& error) {
    state().given_up = true;
    state().watchdog->give_up(error.what());
    throw;
  }
}

int help() {
  while (true) {
    const Order order = take();
    if (!order.simulate) return order.exit_code;
    ranks().asked = order.asked;
    Systems sizes;
    sizes.count = order.systems;
    sizes.bodies_per_system = order.bodies;
    state().simulate(order.run, sizes);
  }
}

int run(StepInfo info, Simulate simulate, QueryPlatform query, int argc, char** argv) {
  State& own = state();
  take_device(own.comm);
  std::string backend;
  const auto all = all_identities(own.comm, identity(query, argc, argv, backend));
  require_agreement(all);
  std::set<std::string> hosts;
  std::vector<std::string> names;
  for (const Identity& one : all) {
    hosts.insert(one.host);
    names.push_back(std::string(one.host) + ", process " + std::to_string(one.pid));
  }
  ranks().count = static_cast<int>(all.size());
  ranks().hosts = static_cast<int>(hosts.size());
  own.simulate = simulate;
  own.watchdog.emplace(own.comm, info.name, names);
  const bool root = rank_in(own.comm) == 0;
  int code = kFailed;
  try {
    own.cluster = choose_transport(own.comm, backend);
    own.watchdog->on_end([&own] { own.cluster->abort(); });
    if (!root) code = help();
  } catch (const UsageError&) {
    throw;  // alike on all ranks
  } catch (const std::exception& error) {
    own.given_up = true;
    own.watchdog->give_up(error.what());
    throw;
  }
  if (!root) return code;
  code = run_step(info, simulate_on_all, query, argc, argv);
  if (!own.given_up) give({.exit_code = code});
  return code;
}

}  // namespace

Cluster& cluster() { return *state().cluster; }

int run_cluster(StepInfo info, Simulate simulate, QueryPlatform query, int argc, char** argv) {
  block_termination();
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const bool root = rank_in(MPI_COMM_WORLD) == 0;
  info.cluster = true;
  int code = kFailed;
  if (root) {
    code = run_program(info.name, [&] { return run(info, simulate, query, argc, argv); });
  } else {
    std::signal(SIGINT, SIG_IGN);  // the root's to heed; it ends the others
    // What is wrong on all ranks alike, the root says.
    std::streambuf* const stderr_before = std::cerr.rdbuf(nullptr);
    code = run_program(info.name, [&] { return run(info, simulate, query, argc, argv); });
    std::cerr.rdbuf(stderr_before);
  }
  State& own = state();
  if (own.given_up) {
    std::fflush(nullptr);
    std::_Exit(code);  // the others are not waiting for the end of MPI
  }
  if (own.watchdog) own.watchdog->dismiss();
  own.watchdog.reset();
  own.cluster.reset();
  MPI_Finalize();
  return code;
}

}  // namespace nbody
