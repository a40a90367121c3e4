// The page, made of view/page/page.html with its style and scripts put in place
// (embed_page.cmake). It plays either what a program sends or what has been put into it.
#pragma once

#include <string>
#include <vector>

namespace nbody::view {

// For a server: connects to where it came from.
std::string live_page();

// Everything in one file, which needs no network: `info` as info_message makes it, and frames.
std::string recorded_page(const std::string& info, const std::vector<std::string>& frames);

}  // namespace nbody::view
