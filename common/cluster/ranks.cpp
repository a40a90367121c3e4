#include "cluster/ranks.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <set>
#include <string_view>

#include "nbody/cuda.h"
#include "nbody/error.h"
#include "run/program.h"
#include "support/platform.h"

namespace nbody {
namespace {

// A string of fixed size, whose bytes can be sent to another rank.
template <std::size_t kSize>
struct Text {
  char bytes[kSize] = {};
  Text& operator=(const std::string& text) {
    std::strncpy(bytes, text.c_str(), kSize - 1);
    return *this;
  }
  operator std::string_view() const { return bytes; }
  bool empty() const { return bytes[0] == '\0'; }
  bool operator==(const Text&) const = default;
};

// The data that the ranks exchange before they start.
struct Identity {
  Text<64> host;
  int pid = 0;
  std::size_t arguments = 0;
  Text<64> transport;
  Text<192> refusal;  // why the rank's environment is wrong; "" if it is right
  Text<64> build;
  Text<192> device;
  Text<32> place;       // PCI address of the device; "" if ranks may share the device
  Text<256> no_device;  // why the rank has no device

  std::string process() const { return joined(host, ", process ", pid); }
  std::string name(std::size_t rank) const { return joined("rank ", rank, " (", process(), ")"); }
};

// Gives every process its own device. Under Slurm, each process sees only its own device.
// Elsewhere, a process takes the device whose index is the rank of the process on this host.
void take_device(MPI_Comm comm) {
  MPI_Comm host;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0)
    CUDA_CHECK(cudaSetDevice(rank_in(host) % devices));
  MPI_Comm_free(&host);
}

// A launcher of processes, and the environment variable in which it stores the number of processes.
struct Launcher {
  const char *name, *variable, *remedy;
};
constexpr const char* kSameMpi = "start this program with the MPI that it was built with";
constexpr Launcher kLaunchers[] = {
    {"Slurm", "SLURM_STEP_NUM_TASKS", "srun --mpi=pmix"},
    {"Flux", "FLUX_JOB_SIZE", "flux run -o pmi=pmix, or mpirun in a job of flux batch"},
    {"jsrun", "JSM_NAMESPACE_SIZE", kSameMpi},
    {"mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE", kSameMpi},
    // This mpiexec comes with HPE's PALS, MPICH or an MPI derived from MPICH.
    {"mpiexec", "PMI_SIZE", kSameMpi},
};

// Throws unless MPI knows all processes that the launcher started. If MPI does not know them, every
// process is the only rank of its own run, and all processes write the same files.
void require_count(const std::string& count) {
  if (const char* const asked = std::getenv("NBODY_RANKS")) {
    if (asked != count)
      throw UsageError("NBODY_RANKS is ", asked, ", but MPI started ", count,
                       " (srun: --mpi=pmix)");
    return;
  }
  if (count != "1") return;
  for (const Launcher& launcher : kLaunchers) {
    const char* const tasks = std::getenv(launcher.variable);
    if (tasks != nullptr && std::atoi(tasks) > 1)
      throw UsageError(launcher.name, " started ", tasks,
                       " tasks, but MPI started only 1: ", launcher.remedy,
                       " (to run just 1: NBODY_RANKS=1)");
  }
  const char* const number = std::getenv("PALS_RANKID");
  if (number != nullptr && std::atoi(number) > 0)
    throw UsageError("PALS started task ", number, ", but MPI started only 1");
}

// Returns the part of the identity that can be determined without a device.
Identity identity(MPI_Comm comm, int argc, char** argv) {
  Identity own;
  gethostname(own.host.bytes, sizeof own.host - 1);
  own.pid = getpid();
  std::string arguments;
  for (int k = 1; k < argc; ++k) arguments += std::string(argv[k]) + '\0';
  own.arguments = std::hash<std::string>()(arguments);
  try {
    require_count(std::to_string(count_of(comm)));
    own.transport = wanted_transport();
    longest_silence();
  } catch (const UsageError& error) {
    own.refusal = error.what();
  }
  return own;
}

void add_device(Identity& own, const QueryDevice query, std::string& backend) {
  try {
    const Platform platform = platform_of(query());
    backend = platform.backend;
    own.build = joined(revision(), ", ", backend, platform.cuda);
    own.device = joined(platform.device_name, ", ",
                        device_attribute(cudaDevAttrMultiProcessorCount), " multiprocessors");
    if (backend == "cuda") {
      int device = 0;
      cudaDeviceProp properties{};
      CUDA_CHECK(cudaGetDevice(&device));
      CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
      own.place = joined("PCI device ", properties.pciDomainID, ":", properties.pciBusID, ":",
                         properties.pciDeviceID);
    }
  } catch (const NoDevice& error) {
    own.no_device = error.what();
  }
}

std::vector<Identity> all_identities(MPI_Comm comm, const Identity& own) {
  std::vector<Identity> all(static_cast<std::size_t>(count_of(comm)));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm);
  return all;
}

// All ranks call this with the same data, so either all ranks stop here or none does.
void require_same_wishes(const std::vector<Identity>& all) {
  const Identity& root = all[0];
  const auto as_root = [&](const Identity& one) { return one.refusal == root.refusal; };
  if (!root.refusal.empty() && std::ranges::all_of(all, as_root)) throw UsageError(root.refusal);
  for (std::size_t r = 0; r < all.size(); ++r) {
    const Identity& one = all[r];
    const std::string name = one.name(r);
    if (!one.refusal.empty()) throw UsageError(name, ": ", one.refusal);
    if (one.arguments != root.arguments)
      throw UsageError(name, " was started with other arguments than rank 0");
    if (one.transport != root.transport)
      throw UsageError(name, " uses a different transport (", one.transport, ") than rank 0 (",
                       root.transport, "): NBODY_TRANSPORT must be the same on all ranks");
  }
}

void require_same_devices(const std::vector<Identity>& all) {
  std::set<std::string> taken;
  const auto no_device = [](const Identity& one) { return !one.no_device.empty(); };
  if (std::ranges::all_of(all, no_device)) throw NoDevice(std::string(all[0].no_device));
  for (std::size_t r = 0; r < all.size(); ++r) {
    const Identity &one = all[r], &root = all[0];
    const auto refuse_if = [&](bool wrong, const auto&... what) {
      if (wrong) throw std::runtime_error(joined(one.name(r), what...));
    };
    refuse_if(no_device(one), " has ", one.no_device);
    refuse_if(one.build != root.build, " runs a different build (", one.build, ") than rank 0 (",
              root.build, ")");
    refuse_if(one.device != root.device, " has a different device (", one.device, ") than rank 0 (",
              root.device, "): their sums would differ");
    refuse_if(!one.place.empty() && !taken.insert(joined(one.host, one.place)).second,
              " has no separate device: ", one.place, " belongs to another rank");
  }
}

// True for --help and --version, which must also work on a cluster's login node, without a device.
bool asks_about_the_program(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view word) {
    return word == "--help" || word == "-h" || word == "--version";
  });
}

// Runs `work` on every rank, after the ranks have compared their identities and are connected.
int run(const std::string& name, QueryDevice query, int argc, char** argv,
        const std::function<int()>& work) {
  RankState& own = rank_state();
  Identity self = identity(own.comm, argc, argv);
  require_same_wishes(all_identities(own.comm, self));
  if (asks_about_the_program(argc, argv)) return work();
  take_device(own.comm);
  std::string backend;
  add_device(self, query, backend);
  const auto all = all_identities(own.comm, self);
  require_same_devices(all);
  std::set<std::string_view> hosts;
  std::vector<std::string> names;
  for (const Identity& one : all) {
    hosts.insert(one.host);
    names.push_back(one.process());
  }
  ranks().count = static_cast<int>(all.size());
  ranks().hosts = static_cast<int>(hosts.size());
  own.watchdog.emplace(own.comm, name, names);
  try {
    own.cluster = choose_transport(own.comm, backend);
    own.watchdog->on_end([&own] { own.cluster->abort(); });
    return work();
  } catch (const UsageError&) {
    throw;  // thrown on all ranks
  } catch (const std::exception& error) {
    own.given_up = true;
    own.watchdog->give_up(error.what());
    throw;
  }
}

}  // namespace

RankState& rank_state() {
  static RankState state;
  return state;
}

bool Cluster::any(bool of_this_rank) const {
  MPI_Allreduce(MPI_IN_PLACE, &of_this_rank, 1, MPI_C_BOOL, MPI_LOR, rank_state().comm);
  return of_this_rank;
}

Cluster& cluster() { return *rank_state().cluster; }

int run_on_ranks(const std::string& name, QueryDevice query, int argc, char** argv,
                 const std::function<int()>& work) {
  block_endings();
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  std::streambuf* const errors = std::cerr.rdbuf();
  if (rank_in(MPI_COMM_WORLD) != 0) {
    std::cerr.rdbuf(nullptr);  // only the root reports errors that occur on all ranks
  }
  const int code = run_program(name, [&] { return run(name, query, argc, argv, work); });
  std::cerr.rdbuf(errors);
  RankState& own = rank_state();
  if (own.given_up) {
    std::fflush(nullptr);
    std::_Exit(code);  // skips MPI_Finalize, which the other ranks do not call
  }
  if (own.watchdog) own.watchdog->dismiss();
  own.watchdog.reset();
  own.cluster.reset();
  MPI_Finalize();
  return code;
}

}  // namespace nbody
