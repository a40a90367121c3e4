#include "address.h"

#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <sstream>
#include <string>

namespace nbody::view {
namespace {

// The name by which an ssh client has reached this machine is not known here; its address is.
std::string this_host() {
  if (const char* connection = std::getenv("SSH_CONNECTION")) {
    std::string client, client_port, server;
    if (std::istringstream(connection) >> client >> client_port >> server) return server;
  }
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "HOST";
  return name;
}

std::string this_user() {
  const char* user = std::getenv("USER");
  return user == nullptr || *user == '\0' ? "" : std::string(user) + "@";
}

}  // namespace

void print_address(std::ostream& out, int port) {
  out << "  view         http://127.0.0.1:" << port << "/\n"
      << "               from another machine: ssh -L " << port << ":127.0.0.1:" << port << ' '
      << this_user() << this_host() << "\n"
      << std::flush;
}

}  // namespace nbody::view
