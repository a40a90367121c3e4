// The page: view/page/page.html with its style and scripts (embed_page.cmake). The page plays
// frames from a program, or frames stored in the page.
#pragma once

#include <string>
#include <vector>

namespace nbody::view {

// Returns the page of a server, which connects to that server.
std::string live_page();

// Returns a page that needs no network, because it contains all frames. `info` is an
// info_message().
std::string recorded_page(const std::string& info, const std::vector<std::string>& frames);

}  // namespace nbody::view
