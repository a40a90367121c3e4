#include "cluster/connection.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

#include "cluster/transport.h"
#include "nbody/error.h"
#include "nbody/stopwatch.h"

namespace nbody {
namespace {

constexpr int kMaxAddresses = 16;
constexpr int kPatience = 3000;      // milliseconds to try one address
constexpr double kForAllRanks = 30;  // seconds

// The port on which the root listens, and all addresses of the root, because the root does not know
// which of its addresses another rank can reach. The token shows that the listener is this run's
// root and not a program on another machine with the same port number.
struct Meeting {
  std::uint64_t token = 0;
  in_addr addresses[kMaxAddresses] = {};
  int count = 0;
  in_port_t port = 0;
};

struct Greeting {
  std::uint64_t token;
  int rank;
};

[[noreturn]] void failed(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

void add_addresses(Meeting& meeting) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) failed("cannot read the addresses of this machine");
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if (meeting.count < kMaxAddresses)
      meeting.addresses[meeting.count++] =
          reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
  }
  freeifaddrs(all);
}

int listen_at(Meeting& meeting) {
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in own{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {INADDR_ANY}, .sin_zero = {}};
  socklen_t length = sizeof own;
  if (listening < 0 || bind(listening, reinterpret_cast<sockaddr*>(&own), length) != 0 ||
      listen(listening, SOMAXCONN) != 0 ||
      getsockname(listening, reinterpret_cast<sockaddr*>(&own), &length) != 0)
    failed("cannot listen for the other ranks");
  std::random_device random;
  meeting.token = std::uint64_t{random()} << 32 | random();
  meeting.port = own.sin_port;
  return listening;
}

bool ready(int socket, short events, int milliseconds) {
  pollfd one{socket, events, 0};
  return poll(&one, 1, milliseconds) == 1;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  return ready(socket, POLLIN, kPatience) &&
         recv(socket, data, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
}

std::vector<Connection> accept_all(int listening, const Meeting& meeting, int others) {
  std::vector<Connection> connections;
  const Stopwatch stopwatch;
  while (static_cast<int>(connections.size()) < others) {
    if (stopwatch.seconds() > kForAllRanks)
      throw std::runtime_error(
          joined("only ", connections.size(), " of ", others, " ranks reached rank 0 by TCP"));
    if (!ready(listening, POLLIN, 1000)) continue;
    const int socket = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    Greeting greeting{};
    const bool ours = socket >= 0 && receive_all(socket, &greeting, sizeof greeting) &&
                      greeting.token == meeting.token &&
                      send(socket, &greeting, sizeof greeting, MSG_NOSIGNAL) == sizeof greeting;
    if (ours)
      connections.push_back({greeting.rank, socket});
    else if (socket >= 0)
      close(socket);
  }
  std::ranges::sort(connections, {}, &Connection::rank);
  return connections;
}

// Returns a connected socket, or -1 if no rank of this run answers.
int reach(in_addr address, const Meeting& meeting, int rank) {
  const int connecting = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_in there{
      .sin_family = AF_INET, .sin_port = meeting.port, .sin_addr = address, .sin_zero = {}};
  const Greeting greeting{meeting.token, rank};
  Greeting answer{};
  const bool begun =
      connect(connecting, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0 ||
      errno == EINPROGRESS;
  if (begun && ready(connecting, POLLOUT, kPatience) &&
      send(connecting, &greeting, sizeof greeting, MSG_NOSIGNAL) == sizeof greeting &&
      receive_all(connecting, &answer, sizeof answer) && answer.token == meeting.token)
    return connecting;
  close(connecting);
  return -1;
}

}  // namespace

std::vector<Connection> connect_to_root(MPI_Comm ranks) {
  const int rank = rank_in(ranks), others = count_of(ranks) - 1;
  Meeting meeting;
  int listening = -1;
  if (rank == 0) {
    add_addresses(meeting);
    listening = listen_at(meeting);
  }
  MPI_Bcast(&meeting, sizeof meeting, MPI_BYTE, 0, ranks);
  if (rank == 0) {
    std::vector<Connection> connections = accept_all(listening, meeting, others);
    close(listening);
    return connections;
  }
  for (int k = 0; k < meeting.count; ++k)
    if (const int socket = reach(meeting.addresses[k], meeting, rank); socket >= 0)
      return {{0, socket}};
  throw std::runtime_error(joined("rank ", rank, " cannot reach rank 0 by TCP"));
}

}  // namespace nbody
