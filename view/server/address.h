// Where to look, in words.
#pragma once

#include <iosfwd>

namespace nbody::view {

// The URL, and the line that brings the port to another machine through ssh.
void print_address(std::ostream& out, int port);

}  // namespace nbody::view
