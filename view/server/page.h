// The page: view/page/page.html with its style and scripts (embed_page.cmake). It plays either what
// a program sends or the frames stored in it.
#pragma once

#include <string>
#include <vector>

namespace nbody::view {

// The page of a server, to which it connects.
std::string live_page();

// A page that holds all its data and needs no network: `info` made by info_message, and frames.
std::string recorded_page(const std::string& info, const std::vector<std::string>& frames);

}  // namespace nbody::view
