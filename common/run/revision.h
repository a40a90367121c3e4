// The revision of the source tree, asked of git when it was built; alone in its file, because it
// changes with every commit and little should be compiled again for that.
#pragma once

namespace nbody {

const char* revision();

}  // namespace nbody
