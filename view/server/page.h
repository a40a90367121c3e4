// The page: view/page/page.html with its style and scripts (embed_page.cmake). It plays frames from
// a program, or frames stored in it.
#pragma once

#include <string>
#include <vector>

namespace nbody::view {

// A server's page, which connects to that server.
std::string live_page();

// A page that holds all its data and needs no network: `info` made by info_message, and frames.
std::string recorded_page(const std::string& info, const std::vector<std::string>& frames);

}  // namespace nbody::view
